"""The blocks of rows of a worksheet, inflated once and kept, as far as there is room, for those who look again.

Whoever reads arrays goes over a sheet three times: for the words of headers, for the headers, and for the elements.
Of blocks that are regular (`regular`) only the numbers are kept, where it is known beforehand that they will be wanted;
of all others the XML.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..package.parts import Package
from .blocks import inflate_blocks, map_ahead, run_ahead, to_utf8
from .cells import CellRun
from .cutting import PAD, split_elements
from .picking import find_end_of_texts, rows_of_block
from .regular import NUMBERS, RegularRows, regular_rows
from .uniform import Repetition, cut_uniform

_MOST_BYTES, _MOST_NUMBERS = 2**25, 2**25  # that are kept of a workbook
MOST_CELLS = 2**19  # of a workbook, that passes share: headers of very many arrays are looked at again and again
_ROW_ENDS = b"</row>"
_FEWEST_BYTES = 2**13  # of rows without texts that are worth a block of their own
SHORT = 2**18  # bytes: a part that needs no second thread, and of which all passes share the cells


@dataclass
class RowBlock:
    """Some rows of a sheet.

    Attributes:
        text: their XML; None where only the numbers are kept.
        rows: the first and the last one, from 0; None where they have to be counted.
        regular: their numbers, where they were asked for and the block is regular.
        cells: what another pass made of the text, and the row after its last one; None where nothing was.
        repetition: of the only cell of the text, where it stands for a whole row.
    """

    text: bytes | None
    rows: tuple[int, int] | None
    regular: RegularRows | None = None
    cells: tuple[CellRun | None, int] | None = None
    repetition: Repetition | None = None

    def widen(self, cells: CellRun) -> CellRun:
        """Return its cells, of those of its text."""
        return cells if self.repetition is None else self.repetition.repeat(cells)


@dataclass
class Room:
    """The room that is left for blocks of a workbook that are kept."""

    bytes: int = _MOST_BYTES
    numbers: int = _MOST_NUMBERS
    cells: int = MOST_CELLS

    def take(self, block: RowBlock) -> bool:
        """Make room for a block; False where there is too little."""
        if block.regular is not None:
            self.numbers -= len(block.regular.values)
        else:
            self.bytes -= len(block.text or b"")
        return self.bytes >= 0 and self.numbers >= 0

    def take_cells(self, count: int) -> bool:
        """Make room for the cells of a block beside its text; False where there is too little."""
        if count <= self.cells:
            self.cells -= count
            return True
        return False

    def reclaim(self, blocks: list[RowBlock]) -> None:
        """Have the room of blocks that are kept no longer."""
        self.numbers += sum(len(block.regular.values) for block in blocks if block.regular is not None)
        self.bytes += sum(len(block.text) for block in blocks if block.text is not None)


class SheetBlocks:
    """The blocks of one worksheet.

    Args:
        package: of the workbook.
        part: of the worksheet.
        room: for what is kept.
    """

    def __init__(self, package: Package, part: str, room: Room) -> None:
        self._package, self._part, self._room = package, part, room
        self._kept: list[RowBlock] | None = None
        self.is_short = package.member(part).size <= SHORT if part in package else True

    @property
    def kept(self) -> list[RowBlock] | None:
        """Return all blocks, where they are kept; otherwise None."""
        return self._kept

    def blocks(self, *, numbers: bool = False) -> Iterator[RowBlock]:
        """Inflate the blocks, and keep them if there is room for all of them.

        Args:
            numbers: take the numbers of regular blocks instead of their XML.
        """
        self.release()
        texts = split_elements(
            to_utf8(inflate_blocks(self._package, self._part), self._part), self._part, around=b"sheetData", tag=b"row"
        )
        kept: list[RowBlock] | None = []
        if not self.is_short:
            texts = run_ahead(texts)
        parses = numbers and not self.is_short  # which is worth threads
        make = _block_of_numbers if parses else _block_of_text
        for _, block in map_ahead(make, cut_uniform(_cut_first(texts)), ahead=parses):
            if kept is not None:
                kept.append(block)
                if not self._room.take(block):
                    self._room.reclaim(kept)
                    kept = None
            yield block
        self._kept = kept

    def release(self) -> list[RowBlock]:
        """Keep the blocks no longer, and return them."""
        kept, self._kept = self._kept or [], None
        self._room.reclaim(kept)
        return kept


def _block_of_text(piece: tuple[bytes, Repetition | None]) -> RowBlock:
    text, repetition = piece
    return RowBlock(text, rows_of_block(text), repetition=repetition)


def _block_of_numbers(piece: tuple[bytes, Repetition | None]) -> RowBlock:
    """Return a block without its text where it is regular and has nothing but numbers and truth values.

    In any other block texts will be looked for in the XML.
    """
    regular = regular_rows(piece[0], numeric=True, types=NUMBERS) if piece[1] is None else None
    return _block_of_text(piece) if regular is None else RowBlock(None, (regular.first, regular.after - 1), regular)


def _cut_first(texts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks, of which the first is cut after its texts.

    A sheet begins with names and headers. They would take the numbers that follow them the slower way; and whoever
    looks for words would look at these numbers, or formulas, cell by cell.
    """
    first = next(texts, None)
    if first is not None:
        begin = find_end_of_texts(first)
        if begin and len(first) - begin >= _FEWEST_BYTES:
            yield first[:begin] + PAD
            first = first[begin:]
        yield first
    yield from texts


def cut_first_row(blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """Yield blocks, of which the first is cut after a row: a table has its names there, and other rows below."""
    first = next(blocks, None)
    if first is not None:
        text = first.text or b""
        end = text.find(_ROW_ENDS) + len(_ROW_ENDS)
        if len(_ROW_ENDS) <= end < len(text) - len(PAD):
            yield RowBlock(text[:end] + PAD, None)
            first = RowBlock(text[end:], None)
        yield first
    yield from blocks
