"""Cells as worksheet XML says them, before their shared strings, styles and types are looked up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ....loops import Doubles, texts_to_series
from ...formula_texts import TRUTHS
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ...xml_texts import without_escapes

if TYPE_CHECKING:
    import polars as pl
from .cells import Kinds, as_series, row_width

PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, ELAPSED = range(8)
FORMULA, WAITING, NUMERAL = 8, 16, 32  # what the compiled loop adds to types: `RawCells` has a mask of each
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
_MORE_FOR_ERROR, _MORE_FOR_PENDING = 5, 10  # times what a number takes, beyond the two of text
_NUMERAL = r"^-?[0-9]+(?:\.[0-9]+)?(?:\.?[eE][-+]?[0-9]+)?$"
_NOT_ZERO = "^-?[0.]*[1-9]"
TYPES = {"": PLAIN, "n": PLAIN, "s": SHARED, "str": RESULT, "inlineStr": INLINE, "b": LOGICAL, "e": ERROR, "d": ISO}
TEXTS = (RESULT, INLINE)  # the value is the text itself, and may be empty
_TRUTHS = (*TRUTHS, *(f"of:={text}" for text in TRUTHS))
NUMERALS = (PLAIN, SHARED, LOGICAL)  # the value is a numeral


ParsedCell = tuple[int, int, int, int, str | None]
"""A cell that the XML parser has read: its row and column from 0, its type, its style, and its value as it is written,
which is None for a formula without one."""

_ESCAPE = re.compile(b"_x")  # with which the escape of a character begins


@dataclass
class LoopTexts:
    """Texts that the compiled loop has made."""

    texts: tuple[Any, Any, Any]  # as `loops.texts_to_series` takes them
    escaped: Mask  # those in which `_xHHHH_` stands for a character, if it is there
    most_bytes: int  # that they take at most
    places: Positions | None = None  # the indices of those that count, among all that were made; None for all

    @cached_property
    def series(self) -> pl.Series:
        """The texts as a polars Series."""
        series = texts_to_series(self.texts, self.places)
        return unescape(series, self.escaped) if self.escaped.any() else series

    def select(self, places: Positions) -> LoopTexts:
        """Return some of the texts, by their indices; they become a Series later, or never."""
        among_all = places if self.places is None else self.places[places]
        return LoopTexts(self.texts, self.escaped[places], self.most_bytes, among_all)


def unescape(texts: pl.Series, escaped: Mask | bool = True) -> pl.Series:
    """Return texts without their escapes of characters `_xHHHH_`."""
    places = np.flatnonzero(texts.str.contains("_x", literal=True).to_numpy() & escaped)
    if not len(places):
        return texts
    return texts.scatter(places, as_series(list(map(without_escapes, texts.gather(places).to_list()))))


@dataclass(frozen=True)
class RawCells:
    """Some cells of a worksheet: those that have a value or a formula.

    Attributes:
        rows, columns: of each cell, from 0.
        types: of each cell, one of the constants of this module.
        styles: of each cell, the index of its style; 0 where the XML names no style.
        pending: a mask of the cells that have a formula and no value.
        numbers: the number of each cell under `numeral`; anything for other cells.
        numeral: a mask of the cells of `NUMERALS` whose number is known.
        values: of each cell as it is written; None if only the numbers were kept. The loop's become a Series only for
            whoever asks for texts.
        width: the number of cells in each row, if all rows have cells in the same columns; otherwise 0.
        formulas: a mask of the cells that are formulas; None if no cell is a formula.
        sources: of each cell under `formulas` the formula, "" where that is not short and its own.
    """

    rows: Positions
    columns: Positions
    types: Kinds
    styles: Positions
    pending: Mask
    numbers: Doubles
    numeral: Mask
    values: pl.Series | LoopTexts | None
    width: int = 0
    formulas: Mask | None = None
    sources: pl.Series | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, places: Positions) -> pl.Series:
        """Return the values of some cells, by their indices, as they are written; null for a formula without one."""
        import polars as pl

        values = self.values
        assert values is not None, "whoever wants texts does not take cells whose numbers alone were kept"
        if isinstance(values, pl.Series):
            return values[places]
        if "series" in vars(values) or 2 * len(places) > len(self):  # all texts, for whoever asks next
            texts = values.series if len(places) == len(self) else values.series[places]
        else:
            texts = values.select(places).series
        blank = self.pending[places]
        return texts.scatter(np.flatnonzero(blank), pl.Series([None], dtype=pl.String)) if blank.any() else texts

    def find_formulas(self) -> Iterator[tuple[int, str]]:
        """Yield the index of each cell with a short formula of its own, and the formula."""
        if self.formulas is not None and self.sources is not None:
            indexed_sources = zip(np.flatnonzero(self.formulas).tolist(), self.sources.to_list(), strict=True)
            yield from ((index, source) for index, source in indexed_sources if source)

    def take(self, places: Positions, rows: Positions | None = None, columns: Positions | None = None) -> RawCells:
        """Return some cells, by their indices; with `rows` and `columns` put into others, each perhaps several times.

        The formula of a cell that is taken several times has no text any more.
        """
        values, formulas, sources = self.values, None, None
        if rows is not None:  # in batches, for which all texts are made once
            values = self.texts(places)
        elif values is not None:
            values = values.select(places) if isinstance(values, LoopTexts) else values[places]
        rows, columns = (
            self.rows[places] if rows is None else rows,
            self.columns[places] if columns is None else columns,
        )
        if self.formulas is not None and self.sources is not None:
            import polars as pl

            formulas = self.formulas[places]
            index = (np.cumsum(self.formulas) - 1)[places[formulas]]
            is_repeated = (np.bincount(index, minlength=len(self.sources)) > 1)[index]
            sources = self.sources.gather(index).zip_with(pl.Series(~is_repeated), pl.Series([""]))
        return RawCells(
            rows=rows,
            columns=columns,
            types=self.types[places],
            styles=self.styles[places],
            pending=self.pending[places],
            numbers=self.numbers[places],
            numeral=self.numeral[places],
            values=values,
            width=row_width(rows, columns) if len(rows) else 0,
            formulas=formulas,
            sources=sources,
        )

    def weigh(self, times: Positions | None = None) -> int:
        """Return how many cells of numbers would take as much time and memory: text takes that of two, an error that of
        seven, and a formula without a value that of twelve, as findings tell of them.

        `times`: how often each cell stands; None for once.
        """
        masks = ~self.numeral | (self.types == SHARED), self.types == ERROR, self.pending
        not_numbers, errors, pending = (
            int(np.count_nonzero(mask) if times is None else times[mask].sum()) for mask in masks
        )
        cells = len(self) if times is None else int(times.sum())
        return cells + not_numbers + _MORE_FOR_ERROR * errors + _MORE_FOR_PENDING * pending

    @property
    def cost(self) -> int:
        """The room that the cells take where they are kept (`worksheet.Room`): four times their bytes, about."""
        arrays = (self.rows, self.columns, self.types, self.styles, self.pending, self.numbers, self.numeral)
        values = 32 * len(self) + self.values.most_bytes if isinstance(self.values, LoopTexts) else 32 * len(self)
        return 4 * (sum([array.nbytes for array in arrays]) + values)


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
) -> RawCells:
    """Return cells that the compiled loop has made of XML.

    `texts`: of each cell. `formulas`: of each that is marked as a formula. `size`: of the XML in bytes. `has_escapes`:
    whether `_xHHHH_` stands for a character in text.
    """
    read = np.frombuffer(cells, CELL)
    rows, columns = read["row"].astype(np.int64), read["column"].astype(np.int64)
    marks = read["type"].copy()  # bytes one after another take a tenth of the time of bytes that are far apart
    is_formula, types = marks & FORMULA != 0, marks & np.uint8(FORMULA - 1)
    has_formulas = bool(is_formula.any())
    escaped = ((types == RESULT) | (types == INLINE)) & has_escapes
    if escaped.any() and _ESCAPE.search(texts[2]) is None:  # once a block, not for each look at some of its cells
        escaped[:] = False
    raw = RawCells(
        rows=rows,
        columns=columns,
        types=types,
        styles=read["style"].astype(np.int64),
        pending=marks & WAITING != 0,
        numbers=read["number"].copy(),
        numeral=marks & NUMERAL != 0,
        values=LoopTexts(texts, escaped, size),
        width=row_width(rows, columns) if len(rows) else 0,
        formulas=is_formula if has_formulas else None,
        sources=texts_to_series(formulas) if has_formulas else None,
    )
    return settle_constants(raw) if has_formulas else raw


def cells_of_parser(cells: Sequence[ParsedCell], formulas: Sequence[tuple[int, str]]) -> RawCells:
    """Return cells that the XML parser has read: their kinds, positions and texts as columns.

    `formulas`: the index of each cell that is a formula, and its text where that is short and its own.
    """
    import polars as pl

    rows, columns, types, styles, texts = zip(*cells, strict=True)
    places = np.array(rows, np.int64), np.array(columns, np.int64)
    kinds, values = np.array(types, np.uint8), pl.Series(texts, dtype=pl.String)
    numbers, has_number = parse_numerals(values)
    is_formula = np.zeros(len(cells), np.bool_)
    is_formula[[index for index, _ in formulas]] = True
    raw = RawCells(
        rows=places[0],
        columns=places[1],
        types=kinds,
        styles=np.array(styles, np.int64),
        pending=values.is_null().to_numpy(),
        numbers=numbers,
        numeral=has_number & np.isin(kinds, NUMERALS),
        values=values,
        width=row_width(*places),
        formulas=is_formula if formulas else None,
        sources=pl.Series([source for _, source in formulas], dtype=pl.String) if formulas else None,
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


def settle_constants(cells: RawCells) -> RawCells:
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
    types, numbers = cells.types[places], cells.numbers[places]
    is_one = (types == LOGICAL) | ((types == PLAIN) & cells.numeral[places] & ((numbers == 0) | (numbers == 1)))
    is_made = cells.pending[places] | is_open
    new_truths, truths = places[is_made], truths[is_made]
    formulas, pending, numeral = cells.formulas.copy(), cells.pending.copy(), cells.numeral.copy()
    types, numbers = cells.types.copy(), cells.numbers.copy()
    formulas[places[is_one | is_made]] = False
    pending[new_truths], numeral[new_truths], types[new_truths], numbers[new_truths] = False, True, LOGICAL, truths
    values = cells.texts(np.arange(len(cells)))
    return replace(
        cells,
        types=types,
        pending=pending,
        numbers=numbers,
        numeral=numeral,
        values=values.scatter(new_truths, pl.Series(np.where(truths, "1", "0"))),
        formulas=formulas if formulas.any() else None,
        sources=cells.sources.filter(pl.Series(formulas[cells.formulas])),
    )
