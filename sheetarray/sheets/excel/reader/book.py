"""A workbook whose sheets are XML: cells as XML says them get the kinds of their styles, and the texts that are wanted.

`XmlBook` is what .xlsx and .ods share; `OoxmlCells` are those of Office Open XML, and `opendocument` has the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....dtypes import Mask, Positions
from ..package.package import Package
from .cells import NUMBER, PENDING, SHARED, TEXT, CellRun, WorkbookReader, put_at, row_width
from .number_formats import Formats
from .shared_strings import SharedStrings

MOST_REFERENCES = 2**20  # of a sheet that are followed


class XmlBook(WorkbookReader):
    """A workbook whose sheets are XML; `cells.WorkbookReader` says what each method is for.

    Attributes:
        strings: to which cells refer by number.
        formats: what the styles of cells show numbers as.
    """

    package: Package
    strings: SharedStrings
    formats: Formats

    @abstractmethod
    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""

    def mark_words(self, block: CellRun) -> Mask:
        """Return a mask of the cells that may hold words of headers: all texts in the cells themselves, and some of the
        shared strings.
        """
        marks = super().mark_words(block)
        if len(shared := np.flatnonzero(block.kinds == SHARED)):
            words, numbers = self.strings.words, block.numbers[shared]
            numbers = np.where((numbers >= 0) & (numbers < len(words)), numbers, len(words)).astype(np.int64)
            marks[shared[np.append(words, False)[numbers]]] = True
        return marks

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

    def look_up(self, block: CellRun, places: Positions | None = None, bare: Mask | None = None) -> CellRun:
        """Return some cells, by their indices, or all, with the kinds of their styles, their texts and shared strings.

        `bare`: a mask of the cells of which nobody wants the text.
        """
        cells = block
        if places is not None and len(places) < len(block):
            if bare is None and 2 * len(places) > len(block):
                block.written()  # all texts, for whoever asks next
            cells = block.gather(places)
            cells = replace(cells, width=row_width(cells.rows, cells.columns))
            bare = None if bare is None else bare[places]
        kinds, numbers, values = cells.kinds, cells.numbers, None
        is_shared = kinds == SHARED
        has_text = ~is_shared & (kinds != PENDING)
        if bare is not None:
            has_text &= ~bare
        if len(shared := np.flatnonzero(is_shared)):
            values = put_at(self.strings.look_up(cells, shared), shared, len(cells))
            numbers, kinds = np.where(is_shared, np.nan, numbers), np.where(is_shared, np.uint8(TEXT), kinds)
        if len(literal := np.flatnonzero(has_text)):
            written = cells.written(literal)
            assert written is not None, "whoever wants texts does not take cells whose numbers alone were kept"
            values = put_at(written, literal, len(cells), values)
        if cells.styles is not None and ((kinds == NUMBER) & (cells.styles != 0)).any():
            kinds = self.formats.kinds_as_shown(kinds, cells.styles)
        return CellRun(cells.rows, cells.columns, kinds, numbers, values, cells.width, cells.formulas)
