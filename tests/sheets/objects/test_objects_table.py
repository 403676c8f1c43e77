"""The table in docs/objects.md, of which object each function takes, is the one that trying makes."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import xlsxwriter
from adapters_deleted import needing

import sheetarray as sa
from sheets_emulator import SheetsServer

PAGE = Path(sa.__file__).parents[1] / "docs" / "objects.md"
TABLE = {"a": np.array([1, 2]), "b": np.array([0.5, 1.5])}


Fill = Callable[[Any], Any]


def loaded(fill: Fill, **options: Any) -> Any:
    """A workbook that openpyxl has loaded, with one sheet."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    fill(book.active)
    book.save(file)
    return openpyxl.load_workbook(file, **options)


def filled(target: Any, fill: Fill) -> Any:
    """An object that holds something, if it can."""
    with suppress(sa.DTypeError):
        fill(target)
    return target


def spreadsheet(server: SheetsServer) -> Any:
    return server.client().open_by_key(server.create())


OBJECTS: dict[str, Callable[[Fill, SheetsServer], Any]] = {
    "openpyxl `Workbook`": lambda fill, _: loaded(fill),
    "openpyxl `Worksheet`": lambda fill, _: loaded(fill).active,
    "openpyxl `Workbook`, `read_only=True`": lambda fill, _: loaded(fill, read_only=True),
    "openpyxl `Worksheet`, `read_only=True`": lambda fill, _: loaded(fill, read_only=True).active,
    "openpyxl `Workbook`, `write_only=True`": lambda _, __: openpyxl.Workbook(write_only=True),
    "openpyxl `Worksheet`, `write_only=True`": lambda _, __: openpyxl.Workbook(write_only=True).create_sheet(),
    "XlsxWriter `Workbook`": lambda fill, _: filled(xlsxwriter.Workbook(io.BytesIO()), fill),
    "XlsxWriter `Worksheet`": lambda fill, _: filled(xlsxwriter.Workbook(io.BytesIO()).add_worksheet(), fill),
    "`pandas.ExcelWriter`, openpyxl": lambda fill, _: filled(pd.ExcelWriter(io.BytesIO(), engine="openpyxl"), fill),
    "`pandas.ExcelWriter`, XlsxWriter": lambda fill, _: filled(pd.ExcelWriter(io.BytesIO(), engine="xlsxwriter"), fill),
    "gspread `Spreadsheet`": lambda fill, server: filled(spreadsheet(server), fill),
    "gspread `Worksheet`": lambda fill, server: filled(spreadsheet(server).sheet1, fill),
}
WRITES: dict[str, Fill] = {
    "write": lambda target: sa.write(target, {"x": np.arange(2), "y": np.array([0.1, 0.2])}),
    "write_table": lambda target: sa.write_table(target, TABLE),
    'at="D5"': lambda target: sa.write(target, {"x": np.arange(2)}, at="D5"),
}
READS: dict[str, Fill] = {
    "read": sa.read,
    "scan": sa.scan,
    "check": lambda source: list(sa.check(source)),
    "read_dataset": sa.read_dataset,
    "read_frame": sa.read_frame,
    "read_columns": lambda source: sa.read_columns(source, **worksheet_of(source)),
    'range="x"': lambda source: sa.read_columns(source, range="x"),  # a defined name, or a named range
}


def worksheet_of(source: Any) -> dict[str, str]:
    return {"sheet": "table"} if hasattr(source, "worksheets") and hasattr(source, "client") else {}


def result(name: str, verb: str, server: SheetsServer) -> str:
    """`yes` where an object is taken, `no` where it is refused by name."""
    writes = verb in WRITES
    fill = (lambda _: None) if writes else WRITES["write_table" if verb == "read_columns" else "write"]
    target = OBJECTS[name](fill, server)
    try:
        assert (WRITES | READS)[verb](target) is not None or writes
    except (sa.DTypeError, ValueError) as error:
        return "no" if len(str(error)) > 40 else f"no: {error}"
    finally:
        with suppress(Exception):
            target.save(io.BytesIO()) if hasattr(target, "save") else target.parent.save(io.BytesIO())
    return "yes"


@needing("gsheet")
def test_the_table_in_the_documentation_is_the_one_that_trying_makes(server: SheetsServer) -> None:
    verbs = [*WRITES, *READS]
    lines = [f"| | {' | '.join(f'`{verb}`' for verb in verbs)} |", "|---" * (len(verbs) + 1) + "|"]
    for name in OBJECTS:
        results = [result(name, verb, server) for verb in verbs]
        lines.append(f"| {name} | {' | '.join(results)} |")
    table = "\n".join(lines)
    assert table in PAGE.read_text(encoding="utf-8"), f"paste into docs/objects.md:\n\n{table}\n"
