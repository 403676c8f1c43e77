"""Workbooks of Office Open XML (.xlsx, .xlsm, and templates): a container.

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Positions
from ....errors import FormatError
from ....loops import Doubles
from ...workbooks import MOST_ROWS, without_escapes
from ..package.parts import Package
from ..package.relations import RELATION_SPACES, Relations
from .book_part import read_without_names
from .cells import (
    BOOLEAN,
    FAULT,
    LONG,
    LONGEST_EXACT,
    MOMENT,
    NUMBER,
    PENDING,
    TEXT,
    CellRun,
    Kinds,
    row_width,
)
from .formats import Formats, read_formats
from .raw import ERROR, INLINE, ISO, LOGICAL, PLAIN, RESULT, SHARED, RawCells
from .references import PlainReference, find_references
from .serials import mark_plain_doubles
from .strings import SharedStrings
from .titles import Titles
from .worksheet import ALL_ROWS, Room, SheetRows

if TYPE_CHECKING:
    import polars as pl

_KINDS = np.zeros(7, dtype=np.uint8)  # the kind of a cell (`cells`) by its type in XML (`raw`)
_KINDS[[PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO]] = NUMBER, TEXT, TEXT, TEXT, BOOLEAN, FAULT, MOMENT


class OoxmlBook:
    """A workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Attributes:
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
        parts: of the worksheets, by their titles.

    Raises:
        FormatError: the part is no workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self.reads_numbers = False
        self._room = Room()
        self._sheets: dict[str, SheetRows] = {}
        root = read_without_names(package, part)
        listed = root.child_named("sheets") if root.name == "workbook" else None
        if listed is None:
            raise FormatError("the part is no workbook: it lists no sheets", location=part)
        self._relations = Relations(package, part)
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        for sheet in listed.children_named("sheet"):
            title, id_ = without_escapes(sheet.get("name")), sheet.get_in(RELATION_SPACES, "id")
            titles.add_related(title, id_, targets)
        self.parts = titles.places
        self.titles = list(self.parts)
        settings = root.child_named("workbookPr")
        self.from_1904 = settings is not None and settings.get("date1904") in ("1", "true")

    def close(self) -> None:
        """Do nothing: the package's bytes are the caller's."""

    @property
    def sheet_bytes(self) -> int:
        """The bytes of all worksheets when inflated, as the package's directory says."""
        return sum(self._package.member(part).size for part in self.parts.values() if part in self._package)

    @property
    def package(self) -> Package:
        """The package that the workbook is."""
        return self._package

    @property
    def strings_part(self) -> str | None:
        """The name of the part with the shared strings; None if the workbook names no such part."""
        return self._relations.target("sharedStrings")

    @cached_property
    def _strings(self) -> SharedStrings:
        return SharedStrings(self._package, self.strings_part)

    @cached_property
    def _formats(self) -> Formats:
        return read_formats(self._package, self._relations.present_target("styles"))

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:
        """Yield the cells of a worksheet."""
        for raw in self._sheet(title).blocks(texts=() if numeric else ALL_ROWS):
            yield self._cells(raw, numeric=numeric)

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet for an ordinary table.

        Numbers, dates and truth values are Float64 if doubles hold them for certain; the rest is text.
        """
        for raw in self._sheet(title).blocks(texts=()):
            plain = raw.numeral & ~raw.pending & ((raw.types == PLAIN) | (raw.types == LOGICAL))
            plain &= mark_plain_doubles(raw.numbers)
            plain &= (raw.types == PLAIN) | (raw.numbers == 0) | (raw.numbers == 1)
            if plain.all():
                yield CellRun(raw.rows, raw.columns, self._kinds(raw), _series(raw.numbers), raw.width)
                continue
            yield replace(self._texts(raw, np.flatnonzero(~plain)), formulas=None, areas=())
            if (places := np.flatnonzero(plain)).size:
                rows, columns, kinds = raw.rows[places], raw.columns[places], self._kinds(raw)[places]
                yield CellRun(rows, columns, kinds, _series(raw.numbers[places]), row_width(rows, columns))

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:
        """Yield the cells of blocks with rows of some spans, until a block begins below the last of them."""
        starts, ends = np.array(spans, np.int64).T
        for raw in self._sheet(title).blocks(texts=spans):
            first, last = int(raw.rows.min()), int(raw.rows.max())
            if first >= ends[-1]:
                return
            index = int(np.searchsorted(starts, last, side="right")) - 1
            if index >= 0 and ends[index] > first:
                yield self._cells(raw, numeric=False)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells that may hold one of some texts, in any case and between spaces."""
        words = None
        for raw in self._sheet(title).blocks(texts=(), numbers_alone=self.reads_numbers):
            literal = (raw.types == RESULT) | (raw.types == INLINE)
            shared = np.flatnonzero((raw.types == SHARED) & raw.numeral)
            if len(shared):
                words = self._strings.words(texts) if words is None else words
                numbers = np.minimum(raw.numbers[shared], len(words)).astype(np.int64)
                literal[shared[np.append(words, False)[numbers]]] = True
            if literal.any():
                yield replace(self._texts(raw, np.flatnonzero(literal)), areas=())

    def references(self, title: str) -> Iterator[PlainReference]:
        """Yield the formulas of a worksheet that are one plain reference."""
        yield from find_references(self._sheet(title).blocks())

    def _sheet(self, title: str) -> SheetRows:
        """Return the rows of a worksheet."""
        if title not in self._sheets:
            self._sheets[title] = SheetRows(self._package, self.parts[title], self._room)
        return self._sheets[title]

    def _kinds(self, raw: RawCells) -> Kinds:
        """Return the kinds of cells, by their types and styles."""
        kinds = _KINDS[raw.types]
        if raw.styles.any():
            kinds = self._formats.kinds_as_shown(kinds, raw.styles)
        if raw.pending.any():
            kinds[raw.pending] = PENDING
        return kinds

    def _cells(self, raw: RawCells, *, numeric: bool) -> CellRun:
        """Return cells whose types, styles and shared strings are looked up, with values of text or Float64."""
        import polars as pl

        if not numeric:
            return self._texts(raw, np.arange(len(raw)))
        kinds, values = self._kinds(raw), _series(raw.numbers)
        shared = np.flatnonzero((raw.types == SHARED) & ~raw.pending)
        if len(shared):
            numbers, long = self._strings.look_up_cells(raw, shared, numeric=True)
            values = values.scatter(shared, numbers)
            kinds[long] = LONG
        others = np.flatnonzero(~raw.numeral & (raw.types != SHARED) | raw.pending)
        if len(others):
            values = values.scatter(others, raw.texts(others).cast(pl.Float64, strict=False))
            types, is_long = raw.types[others], raw.text_lengths(others) > LONGEST_EXACT
            kinds[others[is_long & ((types == RESULT) | (types == INLINE))]] = LONG
        return CellRun(raw.rows, raw.columns, kinds, values, raw.width, raw.formulas, raw.areas)

    def _texts(self, raw: RawCells, places: Positions) -> CellRun:
        """Return some cells, by their indices, with values of text."""
        whole = len(places) == len(raw)
        rows, columns = (raw.rows, raw.columns) if whole else (raw.rows[places], raw.columns[places])
        is_shared = (raw.types[places] == SHARED) & ~raw.pending[places]
        shared = np.flatnonzero(is_shared)
        strings = self._strings.look_up_cells(raw, places[shared], numeric=False)[0] if len(shared) else None
        if strings is not None and len(shared) == len(places):
            values = strings
        else:
            values = raw.texts(places)  # of shared strings their numbers, for the moment
            values = values if strings is None else values.scatter(shared, strings)
        kinds = self._kinds(raw)[places]
        formulas = None if raw.formulas is None else raw.formulas[places]
        width = raw.width if whole else row_width(rows, columns)
        return CellRun(rows, columns, kinds, values, width, formulas, raw.areas)


def _series(numbers: Doubles) -> pl.Series:
    import polars as pl

    return pl.Series(numbers)
