"""Workbooks of Office Open XML (.xlsx, .xlsm, and templates): a container.

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property

import numpy as np

from ....errors import FormatError
from ..package.parts import Package
from ..package.relations import RELATION_SPACES, Relations
from .blocks import helper, map_ahead
from .book_part import read_without_names
from .cells import BOOLEAN, FAULT, LONG, MOMENT, MOST_ROWS, NUMBER, PENDING, TEXT, AlikeRows, CellRun
from .events import MarkupBudget
from .formats import Formats, read_formats
from .kept import Room, RowBlock, SheetBlocks, cut_first_row
from .order import OrderCheck
from .picking import Pick, pick_texts
from .raw import ERROR, INLINE, ISO, LOGICAL, LONG_TEXT, PLAIN, RESULT, SHARED, RawCells
from .references import PlainReference, find_references
from .regular import RegularRows, regular_rows
from .regular_columns import RegularColumns, regular_columns
from .row_events import MOST_IN_ROWS
from .serials import are_plain_doubles
from .strings import SharedStrings
from .texts import without_escapes
from .titles import Titles
from .worksheet import parse_block, try_regular

_NO_END = 2**31  # beyond all rows that XML can name, with numbers of seven digits
_KINDS = np.zeros(8, dtype=np.uint8)  # the kind of a cell (`cells`) by its type in XML (`raw`)
_KINDS[[PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO]] = NUMBER, TEXT, TEXT, TEXT, BOOLEAN, FAULT, MOMENT
_KINDS[LONG_TEXT] = LONG


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
        self._sheets: dict[str, SheetBlocks] = {}
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
        """Yield the cells of a worksheet; values of a short sheet are text, also if `numeric`."""
        sheet = self._sheet(title)
        numeric = numeric and not sheet.is_short
        with helper("text") as thread:
            if sheet.kept is not None and (numeric or all(block.regular is None for block in sheet.kept)):
                # blocks of numbers are released: the caller takes their cells, and nobody reads them again
                blocks = iter(sheet.release() if any(block.regular for block in sheet.kept) else sheet.kept)
            else:
                blocks = sheet.blocks()
            yield from self._runs(title, blocks, thread, numeric=numeric)

    def cells_of_table(self, title: str) -> Generator[CellRun | AlikeRows]:
        """Yield the cells of a worksheet for an ordinary table.

        Regular rows give numbers, dates and truth values as Float64 if doubles hold them for certain; the rest is text.
        """
        sheet = self._sheet(title)
        after, order, budget, part = 0, OrderCheck(), MarkupBudget(MOST_IN_ROWS), self.parts[title]
        blocks = sheet.blocks() if sheet.is_short else cut_first_row(sheet.blocks())

        def look(block: RowBlock) -> RegularRows | RegularColumns | None:
            if sheet.is_short or block.repetition is not None:
                return None
            text = block.text or b""
            return regular_columns(text) or regular_rows(text, numeric=True)

        with helper("text") as thread:
            for block, regular in map_ahead(look, blocks, ahead=not sheet.is_short):
                alike = self._look_up_rows(regular) if isinstance(regular, RegularColumns) else None
                if alike is not None:
                    after = order.check_rows(alike.first, alike.count, alike.columns)
                    yield alike
                    continue
                runs = self._table_cells(regular) if isinstance(regular, RegularRows) else []
                if isinstance(regular, RegularRows) and runs:
                    raw, after = regular.cells(), regular.after
                    order.check(raw.rows, raw.columns, raw.width)
                    yield from runs
                    continue
                rows = try_regular(block.text or b"", numeric=False)
                cells, after = self._cells_of_block(block, rows, after, order, budget, thread, part=part, numeric=False)
                if cells is not None:
                    yield cells

    def _look_up_rows(self, regular: RegularColumns) -> AlikeRows | None:
        """Return regular rows with shared strings in place of their numbers; None if a number is not in the table."""
        values = list(regular.values)
        for place in np.flatnonzero(regular.types == SHARED).tolist():
            if (values[place] >= len(self._strings)).any():
                return None
            values[place] = self._strings.look_up(values[place])
        kinds = self._formats.kinds_as_shown(_KINDS[regular.types], regular.styles)
        return AlikeRows(regular.first, regular.count, regular.columns, kinds, values)

    def _table_cells(self, regular: RegularRows) -> list[CellRun]:
        """Return a run of the numbers of regular rows as Float64, and one of their strings; none if in doubt."""
        import polars as pl

        of_strings = (regular.types == SHARED) | (regular.types == INLINE)
        runs = []
        if not of_strings.all():
            raw = regular.select(~of_strings).cells()
            if raw.values.dtype == pl.String:
                raw = replace(raw, values=raw.values.cast(pl.Float64, strict=False))
            if raw.values.null_count() or not are_plain_doubles(raw.values.to_numpy()):
                return []
            numbers = self._cells(raw, numeric=True)
            truths = numbers.values.to_numpy()[numbers.kinds == BOOLEAN]
            if not ((truths == 0) | (truths == 1)).all():
                return []
            runs.append(numbers)
        if of_strings.any():
            runs.append(self._cells(regular.select(of_strings).cells(), numeric=False))
        return runs

    def cells_of_blocks(self, title: str, pick: Pick, end: int = MOST_ROWS) -> Generator[CellRun]:
        """Yield the cells of those blocks of rows that `pick` chooses, until one begins at the row `end` or below.

        The other blocks are only inflated.
        """
        sheet = self._sheet(title)
        with helper("text") as thread:
            kept = sheet.kept
            if kept is None or any(block.text is None and block.rows and pick(b"", block.rows) for block in kept):
                yield from self._runs(title, sheet.blocks(), thread, pick=pick, end=end)
            else:
                yield from self._runs(title, iter(kept), thread, pick=pick, end=end)

    def _runs(
        self,
        title: str,
        blocks: Iterator[RowBlock],
        thread: Executor,
        *,
        numeric: bool = False,
        pick: Pick | None = None,
        end: int = _NO_END,
    ) -> Generator[CellRun]:
        """Yield the cells of those blocks that `pick` chooses, or of all, until one begins at `end` or below."""
        part, share = self.parts[title], self._sheet(title).is_short
        after, order, budget = 0, OrderCheck(), MarkupBudget(MOST_IN_ROWS)

        def look(block: RowBlock) -> tuple[bool, RegularRows | None]:
            """Return whether a block is picked, and its rows if it is regular."""
            if block.rows and pick is not None and not pick(block.text or b"", block.rows):
                return False, None
            if block.regular is not None or (block.cells is not None and (share or not numeric)):
                return True, block.regular
            return True, try_regular(block.text or b"", numeric=numeric)

        for block, (is_picked, regular) in map_ahead(look, blocks, ahead=not share):
            if (block.rows[0] if block.rows else after) >= end:
                return
            if block.rows and not is_picked:
                after = block.rows[1] + 1
                continue
            if block.cells is not None and (share or not numeric):
                cells, after = block.cells
            else:
                cells, after = self._cells_of_block(
                    block, regular, after, order, budget, thread, part=part, numeric=numeric
                )
                if share or (not numeric and self._room.take_cells(len(cells or ()))):
                    block.cells = (cells, after)
            if cells is not None:
                yield cells

    def _cells_of_block(
        self,
        block: RowBlock,
        regular: RegularRows | None,
        after: int,
        order: OrderCheck,
        budget: MarkupBudget,
        thread: Executor,
        *,
        part: str,
        numeric: bool,
    ) -> tuple[CellRun | None, int]:
        """Return the cells of a block, None for no cells, and the row below its last one.

        Args:
            block: of rows.
            regular: its rows, if it is regular.
            after: the row below the block before.
            order: to which the cells are shown, so that it finds any that comes twice.
            budget: the elements that the XML parser may still read of the sheet.
            thread: where the columnar engine works meanwhile.
            part: of the worksheet, for messages.
            numeric: give values as Float64.
        """
        if regular is not None:
            raw = regular.cells()
        else:
            text = block.text or b""
            raw = parse_block(text, after=after, numeric=numeric, name=part, thread=thread, budget=budget)
        if not len(raw):
            return None, raw.after
        cells = block.widen(self._cells(raw, numeric))
        order.check(cells.rows, cells.columns, cells.width)
        return cells, raw.after

    def references(self, title: str) -> Iterator[PlainReference]:
        """Yield the formulas of a worksheet that are one plain reference."""
        yield from find_references(block.text or b"" for block in self._sheet(title).blocks())

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells of those blocks of rows that may hold one of some texts, in any case and between spaces."""
        sheet, pick = self._sheet(title), pick_texts(self._strings.texts, texts)

        def may_hold(text: bytes, rows: tuple[int, int]) -> bool:
            return text != b"" and pick(text, rows)  # a block of numbers has no XML, and holds no text

        with helper("text") as thread:
            blocks = sheet.blocks(numbers=self.reads_numbers)
            yield from self._runs(title, blocks, thread, pick=may_hold)

    def _sheet(self, title: str) -> SheetBlocks:
        """Return the blocks of a worksheet."""
        if title not in self._sheets:
            self._sheets[title] = SheetBlocks(self._package, self.parts[title], self._room)
        return self._sheets[title]

    def _cells(self, raw: RawCells, numeric: bool) -> CellRun:
        """Return cells whose types, styles and shared strings are looked up."""
        kinds = _KINDS[raw.types]
        values = raw.values
        if raw.styles.any():
            kinds = self._formats.kinds_as_shown(kinds, raw.styles)
        if raw.types.any() and (shared := np.flatnonzero((raw.types == SHARED) & ~raw.pending)).size:
            values, long = self._strings.look_up_cells(raw, shared, numeric)
            if numeric and len(long):
                kinds[long] = LONG
        if raw.pending.any():
            kinds[raw.pending] = PENDING
        return CellRun(raw.rows, raw.columns, kinds, values, raw.width, raw.formulas, raw.areas)
