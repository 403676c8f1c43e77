"""A workbook whose sheets are XML: cells as XML says them become runs, with the values that their kinds ask for.

`XmlBook` is what .xlsx and .ods share; `OoxmlCells` are those of Office Open XML, and `opendocument` has the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Positions
from ....loops import Doubles
from ...workbooks import MOST_COLUMNS
from ..package.package import Package
from .cells import (
    ALL_ROWS,
    BOOLEAN,
    DURATION,
    FAULT,
    LONG,
    LONGEST_EXACT,
    MOMENT,
    NUMBER,
    PENDING,
    TEXT,
    CellRun,
    Kinds,
    WorkbookReader,
    mark_plain_doubles,
    row_width,
)
from .number_formats import Formats
from .raw_cells import ELAPSED, ERROR, INLINE, ISO, LOGICAL, PLAIN, RESULT, SHARED, RawCells
from .shared_strings import SharedStrings

if TYPE_CHECKING:
    import polars as pl


_KINDS = np.zeros(8, dtype=np.uint8)  # the kind of a cell (`cells`) by its type in XML (`raw`)
_KINDS[[PLAIN, SHARED, RESULT, INLINE]] = NUMBER, TEXT, TEXT, TEXT
_KINDS[[LOGICAL, ERROR, ISO, ELAPSED]] = BOOLEAN, FAULT, MOMENT, DURATION
ALL_CELLS = slice(None)
_USUAL_COLUMNS, _WEIGHT_OF_COLUMN = 1000, 350  # of a table; cells that take as long as each column beyond
MOST_REFERENCES = 2**20  # of a sheet that are followed


class XmlBook(WorkbookReader):
    """A workbook whose sheets are XML; `cells.WorkbookReader` says what each method is for.

    Attributes:
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
    """

    package: Package
    reads_numbers = False

    @abstractmethod
    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[RawCells]:
        """Yield the cells of a sheet, block by block.

        `texts`: spans of rows whose numbers may be asked for as texts; other rows of numbers alone may have no texts.
        `numbers_alone`: keep nothing but numbers of rows of numbers.
        """

    @property
    @abstractmethod
    def strings(self) -> SharedStrings:
        """The strings to which cells refer by number."""

    @abstractmethod
    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""

    @property
    def formats(self) -> Formats | None:
        """What the styles of cells show numbers as; None where they say nothing."""
        return None

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a worksheet.

        Cells above the first row that is wanted are left out where that saves work: in blocks of numbers without
        formulas, which somebody may count.
        """
        for raw in self.blocks(title, texts=() if numeric else ALL_ROWS):
            cells = raw
            if numeric and raw.formulas is None and int(raw.rows[0]) < first:
                cells = raw.take(np.flatnonzero(raw.rows >= first))
            if len(cells):
                yield self._numbers(cells) if numeric else self._texts(cells, np.arange(len(cells)))

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet for an ordinary table.

        Numbers, dates and truth values are Float64 if doubles hold them for certain; the rest is text.
        """
        weight, is_used = 0, np.zeros(MOST_COLUMNS, np.bool_)
        for raw in self.blocks(title, texts=()):
            plain = raw.numeral & ~raw.pending & ((raw.types == PLAIN) | (raw.types == LOGICAL))
            plain &= mark_plain_doubles(raw.numbers)
            plain &= (raw.types == PLAIN) | (raw.numbers == 0) | (raw.numbers == 1)
            weight += raw.weigh() + int(np.count_nonzero(raw.numeral & (raw.types != SHARED) & ~plain))
            is_used[raw.columns] = True
            beyond = max(0, int(np.count_nonzero(is_used)) - _USUAL_COLUMNS)
            self.count_cells(title, weight + _WEIGHT_OF_COLUMN * beyond)
            if plain.all():
                yield CellRun(raw.rows, raw.columns, self._kinds(raw), _series(raw.numbers), raw.width)
                continue
            yield replace(self._texts(raw, np.flatnonzero(~plain)), formulas=None)
            if (places := np.flatnonzero(plain)).size:
                rows, columns, kinds = raw.rows[places], raw.columns[places], self._kinds(raw, places)
                yield CellRun(rows, columns, kinds, _series(raw.numbers[places]), row_width(rows, columns))

    def count_cells(self, title: str, weight: int) -> None:
        """Refuse a table that takes more time than one is expected to that a file of this size holds."""

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:
        """Yield the cells of some rows, until rows begin below the last of them."""
        starts, ends = np.array(spans, np.int64).T
        for raw in self.blocks(title, texts=spans):
            if int(raw.rows.min()) >= ends[-1]:
                return
            index = np.searchsorted(starts, raw.rows, side="right") - 1
            in_rows = np.flatnonzero((index >= 0) & (raw.rows < ends[index]))
            if len(in_rows):
                yield self._texts(raw, in_rows)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells that may hold one of some texts, in any case and between spaces, and perhaps others."""
        words = None
        for raw in self.blocks(title, texts=(), numbers_alone=self.reads_numbers):
            literal = (raw.types == RESULT) | (raw.types == INLINE)
            shared = np.flatnonzero((raw.types == SHARED) & raw.numeral)
            if len(shared):
                words = self.strings.words(texts) if words is None else words
                numbers = raw.numbers[shared]
                numbers = np.where((numbers >= 0) & (numbers < len(words)), numbers, len(words)).astype(np.int64)
                literal[shared[np.append(words, False)[numbers]]] = True
            if literal.any():
                yield self._texts(raw, np.flatnonzero(literal))

    def references(self, title: str) -> Iterator[tuple[int, int, str, int, int]]:
        """Yield the formulas of a worksheet that repeat a cell, at most `MOST_REFERENCES`.

        Each by its row and column, the title of the other cell's sheet in lower case (empty for the formula's own), and
        the row and column of that cell.
        """
        count = 0
        for block in self.blocks(title):
            for index, formula in block.find_formulas() if block.formulas is not None else ():
                if (reference := self.parse_formula(formula)) is not None:
                    count += 1
                    if count > MOST_REFERENCES:
                        return
                    yield int(block.rows[index]), int(block.columns[index]), *reference

    def _kinds(self, raw: RawCells, places: Positions | slice = ALL_CELLS) -> Kinds:
        """Return the kinds of some cells, by their types and styles."""
        kinds, styles = _KINDS[raw.types[places]], raw.styles[places]
        may_be_dates = (kinds == NUMBER) & (styles != 0)  # next to no styles are read for names and headers
        if may_be_dates.any() and (formats := self.formats) is not None:
            kinds = formats.kinds_as_shown(kinds, styles)
        if raw.pending.any():
            kinds[raw.pending[places]] = PENDING
        return kinds

    def _numbers(self, raw: RawCells) -> CellRun:
        """Return cells whose types, styles and shared strings are looked up, with values of Float64."""
        import polars as pl

        kinds, values = self._kinds(raw), _series(raw.numbers)
        shared = np.flatnonzero((raw.types == SHARED) & ~raw.pending)
        if len(shared):
            numbers, long = self.strings.look_up_cells(raw, shared, numeric=True)
            values = values.scatter(shared, numbers)
            kinds[long] = LONG
        as_texts = np.flatnonzero(~raw.numeral & (raw.types != SHARED) | raw.pending)
        if len(as_texts):
            texts = raw.texts(as_texts)
            values = values.scatter(as_texts, texts.cast(pl.Float64, strict=False))
            types, is_long = raw.types[as_texts], texts.str.len_bytes().fill_null(0).to_numpy() > LONGEST_EXACT
            kinds[as_texts[is_long & ((types == RESULT) | (types == INLINE))]] = LONG
        return CellRun(raw.rows, raw.columns, kinds, values, raw.width, raw.formulas)

    def _texts(self, raw: RawCells, places: Positions) -> CellRun:
        """Return some cells, by their indices, with values of text."""
        whole = len(places) == len(raw)
        rows, columns = (raw.rows, raw.columns) if whole else (raw.rows[places], raw.columns[places])
        is_shared = (raw.types == SHARED) & ~raw.pending
        is_shared = is_shared if whole else is_shared[places]
        shared = np.flatnonzero(is_shared)
        strings = self.strings.look_up_cells(raw, places[shared], numeric=False)[0] if len(shared) else None
        if strings is not None and len(shared) == len(places):
            values = strings
        else:
            values = raw.texts(places)  # of shared strings their numbers, for the moment
            values = values if strings is None else values.scatter(shared, strings)
        kinds = self._kinds(raw, ALL_CELLS if whole else places)
        formulas = None if raw.formulas is None else raw.formulas[places]
        width = raw.width if whole else row_width(rows, columns)
        return CellRun(rows, columns, kinds, values, width, formulas)


def _series(numbers: Doubles) -> pl.Series:
    import polars as pl

    return pl.Series(numbers)
