"""The rows of a worksheet: read block by block, and kept for the next pass over them if there is room for all of them.

A reader of arrays goes over the cells of a sheet three times: for the words of headers, for the headers, and for the
elements. The XML is read once, unless it is large.

Source: ECMA-376 part 1, 18.3.1.73 (row), 18.3.1.4 (c).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....loops import COMPILED, scan
from ...workbooks import MOST_ROWS
from ..package.parts import Package
from .blocks import inflate_blocks, run_ahead, to_utf8
from .cells import row_width
from .cutting import Scope, read_elements
from .events import NO_END, MarkupBudget
from .order import OrderCheck
from .raw import CELL, FORMULA, LOGICAL, NUMERAL, PLAIN, WAITING, RawCells, XmlTexts
from .row_events import MOST_IN_ROWS, parse_rows
from .serials import are_plain_doubles

SHORT = 2**18  # bytes of a part for which no second thread is started
_MOST_BYTES, _MOST_NUMBERS = 2**26, 2**25  # of all that is kept of a workbook, and of cells that are numbers alone
ALL_ROWS = ((0, MOST_ROWS),)


@dataclass
class Room:
    """The room that is left for what is kept of a workbook."""

    bytes: int = _MOST_BYTES
    numbers: int = _MOST_NUMBERS


@dataclass(frozen=True)
class Numbers:
    """Rows of numbers alone, all with cells in the same columns, in less memory than `RawCells`.

    Attributes:
        first: the first cell of each row, and the cells of the first row, of which all others have types and styles.
        rows: of the first cell of each row.
    """

    first: RawCells
    rows: Any
    numbers: Any
    after: int

    def __len__(self) -> int:
        return len(self.numbers)

    def widen(self) -> RawCells:
        """Return the cells."""
        width, count = len(self.first), len(self.rows)
        one = self.first
        return RawCells(
            np.repeat(self.rows, width),
            np.tile(one.columns, count),
            np.tile(one.types, count),
            np.tile(one.styles, count),
            np.zeros(len(self), np.bool_),
            self.numbers,
            np.ones(len(self), np.bool_),
            None,
            self.after,
            width,
        )


class SheetRows:
    """The rows of one worksheet.

    `room`: that is left in the workbook for cells that are kept.

    Attributes:
        is_short: whether the part has at most `SHORT` bytes.
    """

    def __init__(self, package: Package, part: str, room: Room) -> None:
        self._package, self._part, self._room = package, part, room
        self._kept: list[RawCells | Numbers] | None = None
        self.is_short = package.member(part).size <= SHORT if part in package else True

    def blocks(self, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False) -> Iterator[RawCells]:
        """Yield the cells, block by block, and keep them if there is room for all of them.

        `texts`: spans of rows whose numbers may be asked for as texts; other rows of numbers alone may have no texts.

        Raises:
            FormatError: the part is damaged or hostile, or a cell comes twice.
        """
        if self._kept is not None and not any(
            isinstance(block, Numbers) and any(first < block.after and block.rows[0] < end for first, end in texts)
            for block in self._kept
        ):
            for block in self._kept:
                yield block.widen() if isinstance(block, Numbers) else block
            return
        self.release()
        order, taken, kept = OrderCheck(), _Taken(self._room), None
        try:
            for block in self._read():
                if len(block):
                    order.check(block.rows, block.columns, block.width)
                    taken.keep(block, numbers_alone=numbers_alone and not self.is_short)
                    yield block
            kept = taken.blocks
        finally:
            if kept is None:
                taken.give_back()
        self._kept = kept

    def release(self) -> None:
        """Keep the cells no longer."""
        if self._kept is not None:
            _Taken(self._room, self._kept).give_back()
        self._kept = None

    def _read(self) -> Iterator[RawCells]:
        blocks = to_utf8(inflate_blocks(self._package, self._part), self._part)
        if not self.is_short:
            blocks = run_ahead(blocks)
        after, budget = 0, MarkupBudget(MOST_IN_ROWS if COMPILED else NO_END)

        def read(text: bytes, scope: Scope) -> tuple[RawCells, int]:
            nonlocal after
            cells, end = scan_rows(text, scope, after)
            after = cells.after
            return cells, end

        def parse(text: bytes, scope: Scope) -> tuple[RawCells, int, bool]:
            nonlocal after
            cells, end, has_ended = parse_rows(text, scope, after=after, name=self._part, budget=budget)
            after = cells.after
            return cells, end, has_ended

        yield from read_elements(blocks, self._part, around="sheetData", tag="row", scan=read, parse=parse)


@dataclass
class _Taken:
    """Blocks that are kept, and the room that they take; None instead of blocks once there is too little."""

    room: Room
    blocks: list[RawCells | Numbers] | None = field(default_factory=list)

    def keep(self, block: RawCells, *, numbers_alone: bool) -> None:
        if self.blocks is None:
            return
        kept = _numbers_of(block) if numbers_alone else None
        self.blocks.append(kept or block)
        self._change(self.blocks[-1], -1)
        if self.room.bytes < 0 or self.room.numbers < 0:
            self.give_back()

    def give_back(self) -> None:
        for block in self.blocks or ():
            self._change(block, 1)
        self.blocks = None

    def _change(self, block: RawCells | Numbers, sign: int) -> None:
        if isinstance(block, Numbers):
            self.room.numbers += sign * len(block)
        else:
            self.room.bytes += sign * block.nbytes


def _numbers_of(block: RawCells) -> Numbers | None:
    """Return a block as numbers alone; None if it is none of regular rows of numbers."""
    width = block.width
    if not width or block.formulas is not None or not block.numeral.all() or not _is_alike(block.types, width):
        return None
    first = slice(0, width)
    if not np.isin(block.types[first], (PLAIN, LOGICAL)).all() or not _is_alike(block.styles, width):
        return None
    if not are_plain_doubles(block.numbers):
        return None
    row = RawCells(
        block.rows[first].copy(),
        block.columns[first].copy(),
        block.types[first].copy(),
        block.styles[first].copy(),
        block.pending[first].copy(),
        block.numbers[first].copy(),
        block.numeral[first].copy(),
        None,
        block.after,
    )
    return Numbers(row, block.rows[::width].copy(), block.numbers, block.after)


def _is_alike(items: Any, width: int) -> bool:
    return bool((items[width:] == items[:-width]).all())


def scan_rows(text: bytes, scope: Scope, after: int) -> tuple[RawCells, int]:
    """Return the cells of whole rows by the compiled loop, and the byte after the last row.

    Args:
        text: from a row on; it may break off.
        scope: the elements around the rows.
        after: the number of the row below those before, from 0, for a row that does not say its own.
    """
    end, after, cells, extra, _ = scan.scan_rows(text, 0, *scope.known, after, MOST_ROWS)
    made = np.frombuffer(cells, CELL)
    rows, columns = made["row"].astype(np.int64), made["column"].astype(np.int64)
    is_formula = made["type"] & FORMULA != 0

    def find_formulas() -> Iterator[tuple[int, str]]:
        places = np.flatnonzero(made["formula_length"])
        sources = XmlTexts(text, extra, made["formula"], made["formula_length"])[places]
        yield from zip(places.tolist(), sources.to_list(), strict=True)

    raw = RawCells(
        rows,
        columns,
        made["type"] & np.uint8(FORMULA - 1),
        made["style"].astype(np.int64),
        made["type"] & WAITING != 0,
        made["number"].copy(),
        made["type"] & NUMERAL != 0,
        XmlTexts(text, extra, made["start"].copy(), made["length"].copy()),
        after,
        row_width(rows, columns) if len(rows) else 0,
        is_formula if is_formula.any() else None,
        find_formulas=find_formulas,
    )
    return raw, end
