"""Cells as they come out of a workbook: runs of them, what a cell can be, and what a reader of a workbook gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ....columns import Request
from ....columns.words import Words
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ....loops import Doubles, texts_to_series
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ...xml_texts import without_escapes
from ..package.package import Package

if TYPE_CHECKING:
    import polars as pl


Kinds = np.ndarray[tuple[int], np.dtype[np.uint8]]
ROW = 2**31  # the position of a cell is its row times this, plus its column
ALL_ROWS = ((0, ROW),)  # as spans

SHARED = 0  # text that is not looked up yet: the number of the cell is that of a shared string
NUMBER = 1
TEXT = 2
BOOLEAN = 3  # the number is 1 or 0
SERIAL = 4  # a number that the cell's format shows as a date: days, as the workbook counts them
MOMENT = 5  # a date in ISO 8601
DURATION = 6  # a number that the cell's format shows as hours or minutes
FAULT = 7  # an error; the text is its name
PENDING = 8  # a formula that has not been calculated
LARGE = 9  # a number stored as a double of 2^53 or more: which of several integers was meant is unknown
TextsOf = Literal["all", "inexact", "others"]
"""The cells of which texts are wanted: all; those that are no numbers, and numbers that a double may not hold; or those
that are no numbers alone."""

ROUNDED = 2.0**53  # from here on a double may stand for several integers, this one among them

_ZEROS = np.zeros(MOST_ROWS, np.int64)  # whose memory all lines share
_ZEROS.flags.writeable = False
_MANY_TEXTS = 2**17  # of which most are null; fewer are taken as they stand
_CELLS_LOOKED_AT = 20_000  # among which the second row begins: no row has more cells
_USUAL_COLUMNS, _WEIGHT_OF_COLUMN = 1000, 350  # of a table; cells that take as long as each column beyond
_MORE_FOR_ERROR, _MORE_FOR_PENDING = 5, 10  # times what a number takes, beyond the two of text
LONGEST_TEXT = 2**20  # characters of a cell that are read; Excel and LibreOffice keep 32,767


def encrypted_error() -> FormatError:
    """Return the error for a workbook that cannot be read without its password."""
    return FormatError("the workbook is encrypted with a password", hint="save it without one first")


def missing_text_error(number: object, count: int, location: str) -> FormatError:
    """Return the error for a cell that refers to a shared text that the workbook lacks: it has `count` of them."""
    return FormatError(f"a cell refers to string {number} of a table of {count}", location=location)


def are_exact_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def mark_plain_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that tell all that was written: not -0, nor so large that it may be rounded."""
    mask = are_exact_doubles(numbers)
    zeros = np.flatnonzero(numbers == 0)
    mask[zeros[np.signbit(numbers[zeros])]] = False
    return mask


def row_width(rows: Positions, columns: Positions) -> int:
    """Return the number of cells in each row, if all rows have cells in the same columns; otherwise 0."""
    first_rows = rows[:_CELLS_LOOKED_AT]
    changes = np.flatnonzero(first_rows[1:] != first_rows[:-1])
    width = int(changes[0]) + 1 if len(changes) else len(rows)
    if len(rows) % width:
        return 0
    firsts, across = rows[::width], columns[:width]
    if not (firsts[1:] > firsts[:-1]).all() or not (across[1:] > across[:-1]).all():
        return 0
    alike = width == 1 or (rows.reshape(-1, width) == firsts[:, None]).all()
    alike = alike and (columns.reshape(-1, width) == across).all()
    return width if alike else 0


@dataclass
class LoopTexts:
    """Texts that the compiled loop has made, which become a Series only for whoever asks for them."""

    texts: tuple[Any, Any, Any]  # as `loops.texts_to_series` takes them
    escaped: Mask  # those in which `_xHHHH_` stands for a character, if it is there
    most_bytes: int  # that they take at most
    places: Positions | None = None  # the indices of those that count, among all that were made; None for all

    @cached_property
    def series(self) -> pl.Series:
        """The texts as a polars Series."""
        series = texts_to_series(self.texts, self.places)
        return unescape(series, self.escaped) if self.escaped.any() else series

    def __getitem__(self, chosen: Positions | slice) -> LoopTexts | pl.Series:
        if "series" in vars(self):
            return self.series[chosen]
        among_all = np.arange(len(self.escaped)) if self.places is None else self.places
        return LoopTexts(self.texts, self.escaped[chosen], self.most_bytes, among_all[chosen])


def unescape(texts: pl.Series, escaped: Mask | bool = True) -> pl.Series:
    """Return texts without their escapes of characters `_xHHHH_`."""
    places = np.flatnonzero(texts.str.contains("_x", literal=True).to_numpy() & escaped)
    if not len(places):
        return texts
    return texts.scatter(places, as_series(list(map(without_escapes, texts.gather(places).to_list()))))


@dataclass(frozen=True)
class CellRun:
    """Some cells of a sheet, in any order, none of them blank; the arrays run in parallel.

    Attributes:
        rows: of each cell, from 0.
        columns: of each cell, from 0.
        kinds: of each cell, one of the constants of this module.
        numbers: of each cell; NaN where it has none, or one that no double holds.
        values: the text of each cell as it is written, with null where nobody wants more than the number, and for a
            formula without a value; None if that is all cells.
        width: the number of cells in each row, if they come row by row and all rows have cells in the same columns;
            otherwise 0.
        formulas: a mask of the cells that are formulas, whose results the values are; None if no cell is a formula. Of
            an array formula, only the first cell is marked.
        sources: of each cell under `formulas` the formula, "" where that is not short and its own; None if nobody
            wants them.
        styles: of each cell, the index of its style; None if kinds say what the styles say.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    numbers: Doubles
    values: pl.Series | LoopTexts | None
    width: int = 0
    formulas: Mask | None = None
    sources: pl.Series | None = None
    styles: Positions | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> int:
        """The number of the row below the lowest cell; 0 without cells."""
        return int(self.rows[-1] if self.width else self.rows.max()) + 1 if len(self) else 0

    @cached_property
    def positions(self) -> Positions:
        """The position of each cell; ascending after `by_position`."""
        return self.rows * ROW + self.columns

    @classmethod
    def of_line(
        cls, places: Positions, kinds: Kinds, numbers: Doubles, values: pl.Series | LoopTexts | None, *, width: int = 0
    ) -> CellRun:
        """Return cells of one column, or of one row, in their order: `rows` says how far from its first each stands."""
        columns = _ZEROS[: len(places)] if len(places) <= len(_ZEROS) else np.zeros(len(places), np.int64)
        return cls(places, columns, kinds, numbers, values, width)

    @classmethod
    def none(cls) -> CellRun:
        """Return a run without cells."""
        return cls.of_line(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0), None)

    @property
    def height(self) -> int:
        """The number of cells from the first one of a line to the last one that is not blank."""
        return int(self.rows[-1]) + 1 if len(self) else 0

    def put_nulls(self, series: pl.Series) -> pl.Series:
        """Return a series with one value for each cell of a line, at their places, with nulls for blanks between."""
        return put_at(series, self.rows, self.height)

    def mark_plain(self) -> Mask:
        """Return a mask of the cells whose number tells all that was written."""
        plain = mark_plain_doubles(self.numbers)
        if (odd := (self.kinds == BOOLEAN) | (self.kinds == SHARED)).any():
            plain &= ~odd | (self.kinds == BOOLEAN) & ((self.numbers == 0) | (self.numbers == 1))
        return plain

    def written(self, places: Positions | None = None) -> pl.Series | None:
        """Return the texts of some cells, by their indices, or of all, as far as they are kept."""
        values = self.values
        if values is not None and places is not None and len(places) < len(self):
            values = values[places]
        return values.series if isinstance(values, LoopTexts) else values

    def texts(self) -> pl.Series:
        """Return the text of each cell, the shortest one of a number whose own text nobody wanted."""
        import polars as pl

        texts = self.written()
        if texts is not None and not texts.null_count():
            return texts
        bare = ~np.isnan(self.numbers) if texts is None else texts.is_null().to_numpy() & ~np.isnan(self.numbers)
        shortest = pl.Series(self.numbers[bare]).cast(pl.String).str.strip_suffix(".0")
        return put_at(shortest, np.flatnonzero(bare), len(self), texts)

    def texts_of(self, kind: int) -> pl.Series:
        """Return the texts of all cells of a kind, such as those of errors."""
        import polars as pl

        texts = None if self.values is None else self.written(np.flatnonzero(self.kinds == kind))
        return pl.Series([], dtype=pl.String) if texts is None else texts

    def first(self, count: int) -> CellRun:
        """Return the first cells, at most `count`."""
        return self if len(self) <= count else self.take(slice(0, count))

    def gather(self, places: Positions) -> CellRun:
        """Return the cells at some places; those that stand together are not copied."""
        span = int(places[-1] - places[0]) + 1 if len(places) else -1
        if span == len(places) and (places[1:] > places[:-1]).all():
            return self.take(slice(int(places[0]), int(places[-1]) + 1))
        return self.take(places)

    def select(self, mask: Mask) -> CellRun:
        """Return the cells under a mask, without a copy where they stand together."""
        return self if mask.all() else self.gather(np.flatnonzero(mask))

    def take(self, chosen: Positions | slice) -> CellRun:
        """Return the cells of a slice, which are not copied, or at some places; whatever their width, it is 0."""
        return CellRun(
            self.rows[chosen],
            self.columns[chosen],
            self.kinds[chosen],
            self.numbers[chosen],
            None if self.values is None else take_texts(self.values, chosen),
            0,
            None if self.formulas is None else self.formulas[chosen],
            None,
            None if self.styles is None else self.styles[chosen],
        )

    def by_position(self) -> CellRun:
        """Return the cells sorted by row and column, so that any of them can be looked up."""
        if (self.positions[1:] > self.positions[:-1]).all():  # programs write cells in their order
            return self
        return self.gather(np.argsort(self.positions, kind="stable"))

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells; only after `by_position`."""
        index = np.searchsorted(self.positions, positions)
        nearest = np.minimum(index, max(len(self) - 1, 0))
        match = np.flatnonzero(self.positions[nearest] == positions) if len(self) else index[:0]
        return match, self.gather(nearest[match])

    def in_row(self, request: Request) -> CellRun:
        """Return the requested cells of a row: how far from the first requested one each stands, and what it is.

        Only after `by_position`.
        """
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self.positions, [first, end]).tolist()
        cells = self.take(slice(low, high))
        return CellRun.of_line(self.positions[low:high] - first, cells.kinds, cells.numbers, cells.written())

    def columns_between(self, first: int, end: int) -> CellRun:
        """Return the cells of some columns side by side, which count from the first of these; all stand by column."""
        cells = self.take(slice(*np.searchsorted(self.columns, [first, end]).tolist()))
        return replace(cells, columns=cells.columns - first)

    def find_formulas(self) -> Iterator[tuple[int, str]]:
        """Yield the index of each cell with a short formula of its own, and the formula."""
        if self.formulas is not None and self.sources is not None:
            indexed_sources = zip(np.flatnonzero(self.formulas).tolist(), self.sources.to_list(), strict=True)
            yield from ((index, source) for index, source in indexed_sources if source)

    def weigh(self, times: Positions | None = None) -> int:
        """Return how many cells of numbers would take as much time and memory: text takes that of two, an error that of
        seven, and a formula without a value that of twelve, as findings tell of them.

        `times`: how often each cell stands; None for once.
        """
        masks = np.isnan(self.numbers) | (self.kinds == SHARED), self.kinds == FAULT, self.kinds == PENDING
        not_numbers, errors, pending = (
            int(np.count_nonzero(mask) if times is None else times[mask].sum()) for mask in masks
        )
        cells = len(self) if times is None else int(times.sum())
        return cells + not_numbers + _MORE_FOR_ERROR * errors + _MORE_FOR_PENDING * pending

    @property
    def cost(self) -> int:
        """The room that the cells take where they are kept (`worksheet.Room`): four times their bytes, about."""
        texts = self.values.most_bytes if isinstance(self.values, LoopTexts) else 0
        return 4 * (65 * len(self) + texts)


def take_texts(texts: pl.Series | LoopTexts, chosen: Positions | slice) -> pl.Series | LoopTexts | None:
    """Return some texts; None if all of them are null. Mostly nulls, as of tables of numbers, are soon passed by."""
    if isinstance(texts, LoopTexts):
        return texts[chosen]
    few = max(_MANY_TEXTS, len(texts) // 8)
    if isinstance(chosen, slice) or len(chosen) < few or 2 * texts.null_count() < len(texts):
        taken = texts[chosen]
        return None if taken.null_count() == len(taken) else taken
    places = np.flatnonzero(texts.is_not_null().to_numpy()[chosen])
    return put_at(texts[chosen[places]], places, len(chosen)) if len(places) else None


def join_cells(runs: Sequence[CellRun], columns: Positions | None = None) -> CellRun:
    """Return the cells of some runs as one, without their formulas.

    `columns`: of all cells; None for those that they have.
    """
    import polars as pl

    if not runs:
        return CellRun.none()
    if len(runs) == 1:
        return replace(runs[0], columns=runs[0].columns if columns is None else columns, width=0, formulas=None)
    rows, kinds, numbers = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("rows", "kinds", "numbers")
    )
    texts = [run.written() for run in runs]
    joined = None
    if any(series is not None for series in texts):
        blank = pl.Series([None], dtype=pl.String)
        pieces = zip(texts, runs, strict=True)
        joined = pl.concat([blank.new_from_index(0, len(run)) if own is None else own for own, run in pieces])
    columns = np.concatenate([run.columns for run in runs]) if columns is None else columns
    return CellRun(rows, columns, kinds, numbers, joined)


def put_at(series: pl.Series, places: Positions, count: int, among: pl.Series | None = None) -> pl.Series:
    """Return a series of `count` values: those of another at some ascending places, and nulls, or the values `among`
    which they are put.
    """
    import polars as pl

    if len(series) == count:
        return series
    among = pl.Series([None], dtype=series.dtype).new_from_index(0, count) if among is None else among.clone()
    return among.scatter(places, series)


def as_series(values: Any) -> pl.Series:
    """Return values as a Series of the engine."""
    import polars as pl

    return pl.Series(values)


class WorkbookReader(ABC):
    """An open workbook of any kind, whose sheets can be read cell by cell.

    Attributes:
        titles: of its worksheets, in the order of their tabs.
        max_rows: the number of rows that a sheet of this kind of workbook can have.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.
        package: the zip package that the workbook is; None for an .xls.
        words: those of headers, by the title of the sheet and the number of first rows that were searched.
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
    """

    titles: list[str]
    words: dict[tuple[str, int | None], Words]
    package: Package | None = None
    max_rows = MOST_ROWS
    from_1904 = reads_numbers = False

    def is_small(self, title: str) -> bool:  # noqa: ARG002  (nobody knows)
        """Return whether a sheet has so few cells that all of them are looked at as quickly as some."""
        return False

    @abstractmethod
    def blocks(
        self, title: str, *, spans: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Generator[CellRun]:
        """Yield the cells of a sheet, block by block, from its first rows on, for `look_up`.

        `spans`: of rows whose numbers may be asked for as texts, ascending, without overlap; other rows of
        numbers alone may have no texts. `numbers_alone`: keep nothing but numbers of rows of numbers.
        """

    @abstractmethod
    def look_up(self, block: CellRun, places: Positions | None = None, bare: Mask | None = None) -> CellRun:
        """Return some cells of a block, by their indices, or all, with their kinds and texts.

        `bare`: a mask of the cells of the block of which nobody wants the text.
        """

    def mark_words(self, block: CellRun) -> Mask:
        """Return a mask of the cells that may hold words of headers."""
        marks: Mask = block.kinds == TEXT
        return marks

    def count_cells(self, title: str, weight: int) -> None:  # noqa: B027  (by default nobody counts)
        """Refuse a table that takes more time than one is expected to that a file of this size holds."""

    def cells(self, title: str, texts: TextsOf = "all", *, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a sheet, block by block.

        `texts`: the cells of which texts are wanted; a number of any other cell may come without. `first`: the first
        row that is wanted; without texts of all cells, those of blocks with formulas come too, as somebody may count
        formulas.
        """
        weight, is_used = 0, np.zeros(MOST_COLUMNS, np.bool_)
        for block in self.blocks(title, spans=((first, ROW),) if texts == "all" else ()):
            bare = places = None
            if first and (texts == "all" or block.formulas is None) and int(block.rows.min()) < first:
                places = np.flatnonzero(block.rows >= first)
            if texts == "others":
                bare = ~np.isnan(block.numbers)
            elif texts == "inexact":  # a table
                bare = block.mark_plain()
                large = ~bare & ~np.isnan(block.numbers) & (block.kinds != SHARED)
                weight += block.weigh() + int(np.count_nonzero(large))
                is_used[block.columns] = True
                beyond = max(0, int(np.count_nonzero(is_used)) - _USUAL_COLUMNS)
                self.count_cells(title, weight + _WEIGHT_OF_COLUMN * beyond)
            if places is None or len(places):
                yield self.look_up(block, places, bare)
