"""Workbooks as programs save them: `.ods` and `.xls` of LibreOffice, and `.xlsb`, read beside python-calamine.

No package at hand writes these kinds, so that only reading is timed. Numbers have 14 digits: of 15 LibreOffice
rounds a few to others.
"""

from __future__ import annotations

import io
import struct
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from .contenders import Arrays, Contender
from .wide import make_table
from .workbooks import _by_column, _read_calamine, _read_columns, _write_rustpy

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
OFFICE = "soffice"
_REAL, _TEXT = 5, 6  # records of cells
_CELLS, _SIZE, _SHEETS, _END_OF_SHEETS = 145, 148, 143, 144  # without these records calamine reads nothing
_END_OF_BOOK = 132
_SAVED: dict[tuple[Any, ...], bytes] = {}


def make_numbers(columns: int) -> Any:
    """Return what makes columns of doubles with 14 digits."""

    def make(rows: int) -> Arrays:
        numbers = np.random.default_rng(20240229).standard_normal((columns, rows))
        digits = np.array([float(f"{number:.14g}") for number in numbers.ravel().tolist()])
        return {f"x{place}": column for place, column in enumerate(digits.reshape(columns, rows))}

    return make


def make_mixture(rows: int) -> Arrays:
    """Return an ordinary table, its numbers with 14 digits, its days as days."""
    table = dict(make_table(rows))
    table["value"] = make_numbers(1)(rows)["x0"]
    return table


@cache
def _profile() -> str:
    return Path(tempfile.mkdtemp(prefix="sheetarray-benchmarks-")).resolve().as_uri()


def _write_by_office(path: Path, arrays: Arrays) -> None:
    """Have LibreOffice save a workbook under another kind; the same arrays once for all who read them."""
    import subprocess

    key = path.suffix, *((name, len(array)) for name, array in arrays.items())
    if key not in _SAVED:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "saved.xlsx"
            _write_rustpy(source, arrays)
            settings = f"-env:UserInstallation={_profile()}"
            command = [OFFICE, "--headless", settings, "--convert-to", path.suffix[1:], "--outdir", folder, str(source)]
            subprocess.run(command, check=True, capture_output=True)
            _SAVED[key] = source.with_suffix(path.suffix).read_bytes()
    path.write_bytes(_SAVED[key])


def _write_binary(path: Path, arrays: Arrays) -> None:
    """Write numbers into an `.xlsb`, record by record."""
    from foreign_books import binary_book, binary_cell, record, wide

    rows = {0: [binary_cell(_TEXT, column, wide(name)) for column, name in enumerate(arrays)]}
    table = np.column_stack(list(arrays.values())).tolist()
    for row, numbers in enumerate(table, 1):
        rows[row] = [binary_cell(_REAL, column, struct.pack("<d", number)) for column, number in enumerate(numbers)]
    size = record(_SIZE, struct.pack("<4I", 0, len(rows) - 1, 0, len(arrays) - 1))
    with ZipFile(io.BytesIO(binary_book(rows))) as plain, ZipFile(path, "w", ZIP_DEFLATED) as book:
        for name in plain.namelist():
            content = plain.read(name)
            if name == "xl/worksheets/sheet1.bin":
                content = content.replace(record(_CELLS), size + record(_CELLS), 1)
            elif name == "xl/workbook.bin":
                content = record(_SHEETS) + content + record(_END_OF_SHEETS) + record(_END_OF_BOOK)
            book.writestr(name, content)


def _pair(suffix: str, write: Any) -> tuple[Contender, Contender]:
    kind = suffix[1:]
    return (
        Contender(f"sheetarray read_columns, {kind}", write, _read_columns, suffix=suffix, verbs=("read",), ours=True),
        Contender(f"python-calamine, {kind}", write, _read_calamine, _by_column, suffix=suffix, verbs=("read",)),
    )


def _read_after_start(path: Path) -> Any:
    """Start a process that imports python-calamine, as sheetarray does for old workbooks, then read in this one."""
    import subprocess

    import python_calamine

    places = Path(str(python_calamine.__file__)).parents[1]
    code = f"import sys; sys.path.append({str(places)!r}); import python_calamine"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
    return _read_calamine(path)


def _started(suffix: str, write: Any) -> tuple[Contender, Contender, Contender]:
    """Return the contenders of a kind that sheetarray reads in a process of its own."""
    ours, peer = _pair(suffix, write)
    return ours, peer, replace(peer, label=f"start of a process and {peer.label}", read=_read_after_start)


ODS = _pair(".ods", _write_by_office)
XLS, XLSB = _started(".xls", _write_by_office), _started(".xlsb", _write_binary)
