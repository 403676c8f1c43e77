"""A workbook whose sheets are XML: cells as XML says them get the kinds of their styles, and the texts that are wanted.

`XmlBook` is what .xlsx and .ods share; `OoxmlCells` are those of Office Open XML, and `opendocument` has the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....dtypes import Mask, Positions
from ...workbooks import MOST_COLUMNS
from ..package.package import Package
from .cells import ALL_ROWS, NUMBER, PENDING, SHARED, TEXT, CellRun, TextsOf, WorkbookReader, nulls, row_width
from .number_formats import Formats
from .shared_strings import SharedStrings

_USUAL_COLUMNS, _WEIGHT_OF_COLUMN = 1000, 350  # of a table; cells that take as long as each column beyond
MOST_REFERENCES = 2**20  # of a sheet that are followed


class XmlBook(WorkbookReader):
    """A workbook whose sheets are XML; `cells.WorkbookReader` says what each method is for.

    Attributes:
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
        strings: to which cells refer by number.
        formats: what the styles of cells show numbers as.
    """

    package: Package
    reads_numbers = False
    strings: SharedStrings
    formats: Formats

    @abstractmethod
    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[CellRun]:
        """Yield the cells of a sheet, block by block, before styles and shared strings are looked up.

        `texts`: spans of rows whose numbers may be asked for as texts; other rows of numbers alone may have no texts.
        `numbers_alone`: keep nothing but numbers of rows of numbers.
        """

    @abstractmethod
    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""

    def cells(self, title: str, texts: TextsOf = "all", *, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a worksheet.

        Cells above the first row that is wanted are left out where that saves work: in blocks of numbers without
        formulas, which somebody may count.
        """
        weight, is_used = 0, np.zeros(MOST_COLUMNS, np.bool_)
        for raw in self.blocks(title, texts=ALL_ROWS if texts == "all" else ()):
            bare = places = None
            if texts == "others":
                bare = ~np.isnan(raw.numbers)
                if raw.formulas is None and int(raw.rows[0]) < first:
                    places = np.flatnonzero(raw.rows >= first)
            elif texts == "inexact":  # a table
                bare = raw.mark_plain()
                large = ~bare & ~np.isnan(raw.numbers) & (raw.kinds != SHARED)
                weight += raw.weigh() + int(np.count_nonzero(large))
                is_used[raw.columns] = True
                beyond = max(0, int(np.count_nonzero(is_used)) - _USUAL_COLUMNS)
                self.count_cells(title, weight + _WEIGHT_OF_COLUMN * beyond)
            if places is None or len(places):
                yield self._look_up(raw, places, bare)

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
                yield self._look_up(raw, in_rows)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells that may hold one of some texts, in any case and between spaces, and perhaps others."""
        words = None
        for raw in self.blocks(title, texts=(), numbers_alone=self.reads_numbers):
            may_be_words = raw.kinds == TEXT
            shared = np.flatnonzero((raw.kinds == SHARED) & ~np.isnan(raw.numbers))
            if len(shared):
                words = self.strings.words(texts) if words is None else words
                numbers = raw.numbers[shared]
                numbers = np.where((numbers >= 0) & (numbers < len(words)), numbers, len(words)).astype(np.int64)
                may_be_words[shared[np.append(words, False)[numbers]]] = True
            if may_be_words.any():
                yield self._look_up(raw, np.flatnonzero(may_be_words))

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

    def _look_up(self, raw: CellRun, places: Positions | None, bare: Mask | None = None) -> CellRun:
        """Return some cells, by their indices, or all, with the kinds of their styles, their texts and shared strings.

        `bare`: a mask of the cells of which nobody wants the text.
        """
        cells = raw
        if places is not None and len(places) < len(raw):
            if bare is None and 2 * len(places) > len(raw):
                raw.written()  # all texts, for whoever asks next
            cells = raw.gather(places)
            cells = replace(cells, width=row_width(cells.rows, cells.columns))
            bare = None if bare is None else bare[places]
        kinds, numbers, values = cells.kinds, cells.numbers, None
        is_shared = kinds == SHARED
        has_text = ~is_shared & (kinds != PENDING)
        if bare is not None:
            has_text &= ~bare
        if len(shared := np.flatnonzero(is_shared)):
            values = self.strings.look_up_cells(cells, shared)
            numbers, kinds = np.where(is_shared, np.nan, numbers), np.where(is_shared, np.uint8(TEXT), kinds)
            values = values if len(shared) == len(cells) else nulls(len(cells), values.dtype).scatter(shared, values)
        if len(literal := np.flatnonzero(has_text)):
            written = cells.written(literal)
            assert written is not None, "whoever wants texts does not take cells whose numbers alone were kept"
            if len(literal) < len(cells):
                values = nulls(len(cells), written.dtype) if values is None else values
            values = written if values is None else values.scatter(literal, written)
        if cells.styles is not None and ((kinds == NUMBER) & (cells.styles != 0)).any():
            kinds = self.formats.kinds_as_shown(kinds, cells.styles)
        return CellRun(cells.rows, cells.columns, kinds, numbers, values, cells.width, cells.formulas)
