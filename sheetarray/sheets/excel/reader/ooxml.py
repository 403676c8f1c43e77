"""Workbooks of Office Open XML (.xlsx, .xlsm, and templates): a container.

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ....errors import FormatError
from ..package.markup import Markup
from ..package.parts import Package
from ..package.relations import RELATION_SPACES, Relations
from .blocks import helper, inflate_blocks, run_ahead, to_utf8
from .cells import BOOLEAN, FAULT, LONG, LONGEST_EXACT, MOMENT, MOST_ROWS, NUMBER, PENDING, TEXT, CellRun
from .cutting import split_elements
from .events import MOST_IN_ROWS, MarkupBudget
from .formats import Formats, read_formats
from .order import OrderCheck
from .picking import Pick, picker, rows_of_block
from .raw import ERROR, INLINE, ISO, LOGICAL, LONG_TEXT, PLAIN, RESULT, SHARED, RawCells
from .strings import SharedStrings
from .texts import without_escapes
from .titles import Titles
from .worksheet import parse_block

if TYPE_CHECKING:
    import polars as pl

_MOST_BYTES = 2**24
_KINDS = np.zeros(8, dtype=np.uint8)
_KINDS[[PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO]] = NUMBER, TEXT, TEXT, TEXT, BOOLEAN, FAULT, MOMENT
_KINDS[LONG_TEXT] = LONG


class OoxmlBook:
    """A workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: no workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        root = Markup(package.read(part, limit=_MOST_BYTES), location=part).root
        listed = root.child_named("sheets") if root.name == "workbook" else None
        if listed is None:
            raise FormatError("the part is no workbook: it lists no sheets", location=part)
        self._relations = Relations(package, part)
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        for sheet in listed.children_named("sheet"):
            title, id_ = without_escapes(sheet.get("name")), sheet.get_in(RELATION_SPACES, "id")
            if not id_:
                continue  # a module of macros, kept from a workbook of Excel 95
            relation = targets.get(id_)
            if relation is None or relation.target is None:
                raise FormatError(f"the sheet {title!r:.80} refers to no part of the package", location=part)
            if relation.kind == "worksheet":
                titles.add(title, relation.target)
        self._parts = titles.places
        self.titles = list(self._parts)
        settings = root.child_named("workbookPr")
        self.from_1904 = settings is not None and settings.get("date1904") in ("1", "true")

    def close(self) -> None:
        """Nothing is held: the package's bytes are the caller's."""

    @cached_property
    def _strings(self) -> SharedStrings:
        return SharedStrings(self._package, self._relations.target("sharedStrings"))

    @cached_property
    def _formats(self) -> Formats:
        return read_formats(self._package, self._relations.present_target("styles"))

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:
        """Yield the cells of a worksheet."""
        part = self._parts[title]
        blocks = run_ahead(
            split_elements(to_utf8(inflate_blocks(self._package, part), part), part, around=b"sheetData", tag=b"row")
        )
        after, order, budget = 0, OrderCheck(), MarkupBudget(MOST_IN_ROWS)
        with helper("text") as thread:
            for block in blocks:
                raw = parse_block(block, after=after, numeric=numeric, name=part, thread=thread, budget=budget)
                after = raw.after
                if len(raw):
                    order.check(raw.rows, raw.columns, raw.width)
                    yield self._cells(raw, numeric)

    def cells_of_blocks(self, title: str, pick: Pick, end: int = MOST_ROWS) -> Generator[CellRun]:
        """Yield the cells of those blocks of rows that are picked, up to a row; the others are only inflated."""
        part = self._parts[title]
        blocks = run_ahead(
            split_elements(to_utf8(inflate_blocks(self._package, part), part), part, around=b"sheetData", tag=b"row")
        )
        after, order, budget = 0, OrderCheck(), MarkupBudget(MOST_IN_ROWS)
        with helper("text") as thread:
            for block in blocks:
                rows = rows_of_block(block)
                if (after if rows is None else rows[0]) >= end:
                    return
                if rows is not None and not pick(block, rows):
                    after = rows[1] + 1
                    continue
                raw = parse_block(block, after=after, numeric=False, name=part, thread=thread, budget=budget)
                after = raw.after
                if len(raw):
                    order.check(raw.rows, raw.columns, raw.width)
                    yield self._cells(raw, numeric=False)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Return the cells of those blocks of rows that may hold one of some texts, in any case and between spaces."""
        return self.cells_of_blocks(title, picker(self._strings.texts, texts))

    def _cells(self, raw: RawCells, numeric: bool) -> CellRun:
        kinds = _KINDS[raw.types]
        values = raw.values
        if raw.styles.any():
            kinds = self._formats.kinds_as_shown(kinds, raw.styles)
        if raw.types.any() and (shared := np.flatnonzero((raw.types == SHARED) & ~raw.pending)).size:
            values, long = self._look_up_strings(raw, shared, numeric)
            if numeric and len(long):
                kinds[long] = LONG
        if raw.pending.any():
            kinds[raw.pending] = PENDING
        return CellRun(raw.rows, raw.columns, kinds, values, raw.width, raw.formulas, raw.areas)

    def _look_up_strings(self, raw: RawCells, shared: Positions, numeric: bool) -> tuple[pl.Series, Positions]:
        """Return the values of cells, shared strings in the place of their indices, and which of them are long."""
        import polars as pl

        everyone = len(shared) == len(raw)
        indices = raw.values if everyone else raw.values.gather(shared)
        places = indices.cast(pl.UInt32, strict=False)
        wrongs = places.is_null() | (places >= len(self._strings))
        if numeric:
            wrongs |= indices != places
        if wrongs.any():
            wrong = int(wrongs.arg_true()[0])
            place = shared[wrong]
            raise FormatError(
                f"a cell refers to string {indices[wrong]} of a table of {len(self._strings)}",
                location=cell_address(int(raw.rows[place]), int(raw.columns[place])),
            )
        strings = (self._strings.numbers if numeric else self._strings.texts).gather(places)
        long = self._strings.texts.gather(places).str.len_bytes() > LONGEST_EXACT if numeric else None
        values = strings if everyone else raw.values.scatter(shared, strings)
        return values, shared[:0] if long is None else shared[long.to_numpy()]
