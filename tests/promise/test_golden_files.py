"""Files that earlier versions wrote: what was in them comes back, their records are understood, newer ones are refused.

Nobody writes these files again: a version that changes a record, a guard or a view adds files of its own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from adapters_deleted import needing

import sheetarray as sa

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted(path.name for path in GOLDEN.iterdir() if path.suffix != ".npz")
BOOKS = [name for name in FILES if name.endswith(".xlsx")]


def written(name: str) -> dict[str, np.ndarray]:
    """The arrays that a file was written from."""
    with np.load(GOLDEN / ("many.npz" if "many" in name else "arrays.npz")) as arrays:
        return dict(arrays)


def same(arrays: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    return list(arrays) == list(others) and all(
        array.dtype == others[name].dtype and array.tobytes() == others[name].tobytes()
        for name, array in arrays.items()
    )


@needing("npz")
@pytest.mark.parametrize("name", FILES)
def test_what_an_earlier_version_wrote_comes_back_and_nothing_is_found_wrong(name: str) -> None:
    assert same(written(name), sa.read(GOLDEN / name))
    assert [str(finding) for finding in sa.check(GOLDEN / name)] == []
    assert list(sa.scan(GOLDEN / name)) == list(written(name))


@pytest.mark.parametrize("name", BOOKS)
def test_their_records_tell_an_edit(tmp_path: Path, name: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(GOLDEN / name)
    edited = "a17" if "many" in name else "temperature"
    named = next(defined for name, defined in book.defined_names.items() if name.strip("_") == edited)
    column = named.attr_text.replace("$", "").partition("!")
    cells = [cell for row in book[column[0].strip("'")][column[2]] for cell in row]
    if isinstance(cells[1].value, str):  # a formula into a view for editing
        title, _, place = cells[1].value.removeprefix("=").partition("!")
        cells[1] = book[title.strip("'")][place]
    cells[1].value = 77.5
    book.save(tmp_path / name)
    findings = [finding for finding in sa.check(tmp_path / name) if finding.array == edited]
    assert any("edited" in finding.message for finding in findings), findings


@needing("csv", "json")
@pytest.mark.parametrize("name", ["2026-11-21.csv", "2026-11-21.json"])
def test_a_newer_major_version_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text.replace("1.0.0", "2.0.0"), encoding="utf-8")
    with pytest.raises(sa.FormatError, match=r"2\.0\.0"):
        sa.read(tmp_path / name)
