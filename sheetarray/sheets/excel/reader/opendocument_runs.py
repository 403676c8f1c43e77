"""Runs of cells of an OpenDocument table: values read from attributes, and rows that stand several times."""

from __future__ import annotations

import re
from collections.abc import Generator

import numpy as np

from ....dtypes import Positions
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import (
    BOOLEAN,
    DURATION,
    FAULT,
    MOMENT,
    NUMBER,
    PENDING,
    TEXT,
    CellRun,
    FormulaArea,
    join_masks,
    row_width,
)

SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
TABLE_SPACE, OFFICE_SPACE, TEXT_SPACE = f"{SPACE}table:1.0 ", f"{SPACE}office:1.0 ", f"{SPACE}text:1.0 "
ERROR_TYPE = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 value-type"
TRUTHS = {"of:=TRUE()": "1", "of:=FALSE()": "0"}  # LibreOffice's booleans of an .xlsx, whose value is a float
TRUTH_VALUES = {"true": "1", "false": "0"}  # of boolean cells
_VALUES = {
    "float": (NUMBER, f"{OFFICE_SPACE}value"),
    "percentage": (NUMBER, f"{OFFICE_SPACE}value"),
    "currency": (NUMBER, f"{OFFICE_SPACE}value"),
    "boolean": (BOOLEAN, f"{OFFICE_SPACE}boolean-value"),
    "date": (MOMENT, f"{OFFICE_SPACE}date-value"),
    "time": (DURATION, f"{OFFICE_SPACE}time-value"),
    "string": (TEXT, f"{OFFICE_SPACE}string-value"),
}
_FAULT = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:[0-9]{3}")
_ELAPSED = re.compile(r"(-?)P(?:([0-9]+)D)?T?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.,][0-9]+)?)S)?")
_COUNT = re.compile("[0-9]+")
CELLS_A_RUN = 2**16
LONG_TEXT = 32  # bytes of text that count as one cell where they are repeated
FORMULA = 0x80  # is added to the kind of a cell that is a formula


def merge_runs(runs: list[CellRun]) -> CellRun:
    """Return the cells of some runs as one run, row by row."""
    import polars as pl

    if len(runs) == 1:
        return runs[0]
    rows = np.concatenate([run.rows for run in runs])
    order = np.argsort(rows, kind="stable")
    columns = np.concatenate([run.columns for run in runs])[order]
    formulas = join_masks([run.formulas for run in runs], [len(run) for run in runs])
    return CellRun(
        rows[order],
        columns,
        np.concatenate([run.kinds for run in runs])[order],
        pl.concat([run.values for run in runs]).gather(order),
        row_width(rows[order], columns),
        None if formulas is None else formulas[order],
        tuple(area for run in runs for area in run.areas),
    )


def repeat_row(once: CellRun, repeats: int) -> Generator[CellRun]:
    """Yield the cells of a row's repetitions."""
    rows_per_run = max(1, CELLS_A_RUN // len(once))
    for first in range(1, repeats, rows_per_run):
        times = min(rows_per_run, repeats - first)
        places = np.tile(np.arange(len(once)), times)
        rows = np.repeat(np.arange(first, first + times), len(once)) + once.rows[0]
        formulas = None if once.formulas is None else once.formulas[places]
        yield CellRun(rows, once.columns[places], once.kinds[places], once.values.gather(places), 0, formulas)


def make_run(rows: Positions, cells: list[tuple[int, int, str]], areas: list[FormulaArea]) -> CellRun:
    """Return cells that were collected one by one as a run.

    `cells`: the column, the kind and the value of each; `FORMULA` is added to the kinds of formulas.
    """
    import polars as pl

    columns, kinds, values = zip(*cells, strict=True)
    given = np.array(kinds, dtype=np.uint8)
    formulas = given >= FORMULA
    return CellRun(
        rows,
        np.array(columns, dtype=np.int64),
        given & np.uint8(FORMULA - 1),
        pl.Series(values, dtype=pl.String),
        0,
        formulas if formulas.any() else None,
        tuple(areas),
    )


def find_formula_area(attributes: dict[str, str], row: int, column: int) -> list[FormulaArea]:
    """Return the range of a cell's array formula; nothing if it fills that cell alone, or goes beyond the sheet."""
    rows = count_of(attributes.get(f"{TABLE_SPACE}number-matrix-rows-spanned"))
    columns = count_of(attributes.get(f"{TABLE_SPACE}number-matrix-columns-spanned"))
    if rows == columns == 1 or row + rows > MOST_ROWS or column + columns > MOST_COLUMNS:
        return []
    return [(row, column, row + rows - 1, column + columns - 1)]


def expand_space(match: re.Match[str]) -> str:
    """Return white space as it counts in text: spaces as they are, since LibreOffice writes them so between spans."""
    return " " if match[0].strip(" ") else match[0]


def count_of(text: str | None) -> int:
    """Return the number of times that a cell or row stands, as an attribute says; 1 if it says no integer."""
    return max(1, int(text[:20])) if text is not None and _COUNT.fullmatch(text) else 1


def parse_value(attributes: dict[str, str], text: str | None) -> tuple[int, str]:
    """Return the kind and the value of a cell; the kind of a blank is 0.

    `text`: of the cell's paragraphs; None if it has no paragraph.
    """
    formula = attributes.get(f"{TABLE_SPACE}formula", "")
    if formula in TRUTHS:
        return BOOLEAN, TRUTHS[formula]
    calculated = bool(formula)
    kind, key = _VALUES.get(attributes.get(f"{OFFICE_SPACE}value-type", ""), (0, ""))
    if attributes.get(ERROR_TYPE) == "error" or (calculated and text is not None and _FAULT.fullmatch(text)):
        return FAULT, text or "#N/A"
    if not kind:
        if text or (calculated and text is not None):  # LibreOffice writes empty text as a paragraph of no type
            return TEXT, text
        return (PENDING, "") if calculated else (0, "")
    value = attributes.get(key, text if kind == TEXT else None)
    if value is None:
        return (TEXT, "") if kind == TEXT else (PENDING, "") if calculated else (0, "")
    if kind == BOOLEAN:
        value = TRUTH_VALUES.get(value, value)
    return kind, _parse_duration(value) if kind == DURATION else value


def _parse_duration(text: str) -> str:
    """Return a duration in days, as a numeral; the text itself if it is no duration."""
    match = _ELAPSED.fullmatch(text)
    if match is None:
        return text
    days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.groups()[1:])
    return f"{match[1]}{days + hours / 24 + minutes / 1440 + seconds / 86400!r}"
