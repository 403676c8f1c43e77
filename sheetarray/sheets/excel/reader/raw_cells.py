"""Cells as the compiled loop or the XML parser has read them, as runs whose styles and shared strings are not looked up
yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask
from ....errors import FormatError
from ....loops import Doubles, texts_to_series
from ...formula_texts import TRUTHS
from ...workbooks import MOST_COLUMNS, MOST_ROWS

if TYPE_CHECKING:
    import polars as pl
from .cells import (
    BOOLEAN,
    DURATION,
    FAULT,
    MOMENT,
    NUMBER,
    PENDING,
    SHARED,
    TEXT,
    CellRun,
    Kinds,
    LoopTexts,
    row_width,
)

_KINDS: Kinds = np.array(
    [NUMBER, SHARED, TEXT, TEXT, BOOLEAN, FAULT, MOMENT, DURATION], np.uint8
)  # by the loop's types
FORMULA, WAITING, NUMERAL = 8, 16, 32  # what the compiled loop adds to types
CELL = np.dtype(
    [  # as the compiled loop makes it
        ("number", np.float64),
        ("row", np.uint32),
        ("style", np.uint32),  # of .ods, how often the cell stands in its row
        ("column", np.uint16),
        ("type", np.uint8),
    ],
    align=True,
)
_NUMERAL = r"^-?[0-9]+(?:\.[0-9]+)?(?:\.?[eE][-+]?[0-9]+)?$"
_NOT_ZERO = "^-?[0.]*[1-9]"
TYPES = {"": NUMBER, "n": NUMBER, "s": SHARED, "str": TEXT, "inlineStr": TEXT, "b": BOOLEAN, "e": FAULT, "d": MOMENT}
"""Kinds by the types of cells in XML, of which `str` alone has escapes."""
_TRUTHS = (*TRUTHS, *(f"of:={text}" for text in TRUTHS))
_NUMERALS = (NUMBER, SHARED, BOOLEAN)  # the text is a numeral


ParsedCell = tuple[int, int, int, int, str | None]
"""A cell that the XML parser has read: its row and column from 0, its kind, its style, and its value as it is written,
which is None for a formula without one."""

_ESCAPE = re.compile(b"_x")  # with which the escape of a character begins


def position_error(row: int, column: int) -> FormatError:
    """Return the error to raise for a cell beyond the last row or column that a sheet can have."""
    return FormatError(
        f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has",
        location=cell_address(row, column),
    )


def too_many_cells_error(location: str) -> FormatError:
    """Return the error to raise for a workbook with more cells than a file of its size is expected to hold."""
    return FormatError(
        "the workbook has more cells than files of its size hold, so it may be meant to fill the memory",
        location=location,
        hint="if this is intended, save its sheets as workbooks of their own",
    )


def cells_of_loop(
    cells: bytes, texts: tuple[Any, Any, Any], formulas: tuple[Any, Any, Any], size: int, *, has_escapes: bool
) -> CellRun:
    """Return cells that the compiled loop has made of XML.

    `texts`: of each cell. `formulas`: of each that is marked as a formula. `size`: of the XML in bytes. `has_escapes`:
    whether `_xHHHH_` stands for a character in text.
    """
    read = np.frombuffer(cells, CELL)
    rows, columns = read["row"].astype(np.int64), read["column"].astype(np.int64)
    marks = read["type"].copy()  # bytes one after another take a tenth of the time of bytes that are far apart
    is_formula, kinds, numbers = marks & FORMULA != 0, _KINDS[marks & np.uint8(FORMULA - 1)], read["number"].copy()
    has_formulas, is_numeral = bool(is_formula.any()), marks & NUMERAL != 0
    escaped = (kinds == TEXT) & has_escapes
    if escaped.any() and _ESCAPE.search(texts[2]) is None:  # once a block, not for each look at some of its cells
        escaped[:] = False
    if not is_numeral.all():
        numbers[~is_numeral] = np.nan
    if has_formulas:
        kinds[marks & WAITING != 0] = PENDING
    raw = CellRun(
        rows=rows,
        columns=columns,
        kinds=kinds,
        numbers=numbers,
        values=LoopTexts(texts, escaped, size),
        width=row_width(rows, columns) if len(rows) else 0,
        formulas=is_formula if has_formulas else None,
        sources=texts_to_series(formulas) if has_formulas else None,
        styles=read["style"].astype(np.int64),
    )
    return settle_constants(raw) if has_formulas else raw


def cells_of_parser(cells: Sequence[ParsedCell], formulas: Sequence[tuple[int, str]]) -> CellRun:
    """Return cells that the XML parser has read: their kinds, positions and texts as columns.

    `formulas`: the index of each cell that is a formula, and its text where that is short and its own.
    """
    import polars as pl

    rows, columns, kinds_read, styles, texts = zip(*cells, strict=True)
    places = np.array(rows, np.int64), np.array(columns, np.int64)
    kinds, values = np.array(kinds_read, np.uint8), pl.Series(texts, dtype=pl.String)
    numbers, has_number = parse_numerals(values)
    is_formula = np.zeros(len(cells), np.bool_)
    is_formula[[index for index, _ in formulas]] = True
    raw = CellRun(
        rows=places[0],
        columns=places[1],
        kinds=np.where(values.is_null().to_numpy(), np.uint8(PENDING), kinds),
        numbers=np.where(has_number & np.isin(kinds, _NUMERALS), numbers, np.nan),
        values=values,
        width=row_width(*places),
        formulas=is_formula if formulas else None,
        sources=pl.Series([source for _, source in formulas], dtype=pl.String) if formulas else None,
        styles=np.array(styles, np.int64),
    )
    return settle_constants(raw) if formulas else raw


def parse_numerals(values: pl.Series) -> tuple[Doubles, Mask]:
    """Return the numbers of texts that are numerals of XML, and a mask of those; other numbers are anything.

    A number beyond the range of doubles, or so near to 0 that it becomes 0, is not known by its double.
    """
    import polars as pl

    numbers = values.cast(pl.Float64, strict=False).fill_null(math.inf)
    is_numeral = values.str.contains(_NUMERAL) & numbers.is_finite()
    is_numeral &= (numbers != 0) | ~values.str.contains(_NOT_ZERO)
    return numbers.to_numpy(), is_numeral.fill_null(value=False).to_numpy()


def settle_constants(cells: CellRun) -> CellRun:
    """Return cells, some of them formulas, in which TRUE() and FALSE() are what they give: programs write booleans so.

    openpyxl drops the values of formulas; LibreOffice gives booleans of an .xlsx the value 1 or 0 in .ods.
    """
    import polars as pl

    assert cells.formulas is not None
    assert cells.sources is not None
    is_constant = cells.sources.is_in(list(_TRUTHS))
    if not is_constant.any():
        return cells
    places = np.flatnonzero(cells.formulas)[is_constant.to_numpy()]
    sources = cells.sources.filter(is_constant)
    truths, is_open = sources.str.contains("TRUE", literal=True).to_numpy(), sources.str.starts_with("of").to_numpy()
    kinds, numbers, formulas = cells.kinds.copy(), cells.numbers.copy(), cells.formulas.copy()
    is_one = (kinds[places] == BOOLEAN) | (
        (kinds[places] == NUMBER) & ((numbers[places] == 0) | (numbers[places] == 1))
    )
    is_made = (kinds[places] == PENDING) | is_open
    new_truths, truths = places[is_made], truths[is_made]
    formulas[places[is_one | is_made]] = False
    kinds[new_truths], numbers[new_truths] = BOOLEAN, truths
    values = cells.written()
    return replace(
        cells,
        kinds=kinds,
        numbers=numbers,
        values=None if values is None else values.scatter(new_truths, pl.Series(np.where(truths, "1", "0"))),
        formulas=formulas if formulas.any() else None,
        sources=cells.sources.filter(pl.Series(formulas[cells.formulas])),
    )
