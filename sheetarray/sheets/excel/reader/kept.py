"""The blocks of rows of a worksheet, inflated once and kept for the next pass, if there is room for all of them.

A reader of arrays goes over a sheet three times: for the words of headers, for the headers, and for the elements.
Of regular blocks (`regular`) only the numbers are kept, if it is known beforehand that they will be wanted; of all
others the XML is kept.
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

_MOST_BYTES, _MOST_NUMBERS = 2**25, 2**25  # bytes of XML, and numbers, that are kept of a workbook
MOST_CELLS = 2**19  # parsed cells that are kept of a workbook: those of the headers of very many arrays
_ROW_ENDS = b"</row>"
_FEWEST_BYTES = 2**13  # of rows without texts that are worth a block of their own
SHORT = 2**18  # bytes of a part for which no second thread is started, and whose parsed cells are always kept


@dataclass
class RowBlock:
    """Some rows of a sheet.

    Attributes:
        text: the XML of the rows; None if only the numbers are kept.
        rows: the first and the last row, from 0; None if the XML does not say their numbers.
        regular: the numbers of the rows, if they were asked for and the block is regular; otherwise None.
        cells: the cells that an earlier pass parsed (None for no cells), and the row below the last one; None until a
            pass has parsed the text and there was room.
        repetition: the columns in which the only cell of the text stands, if it stands for a whole uniform row.
    """

    text: bytes | None
    rows: tuple[int, int] | None
    regular: RegularRows | None = None
    cells: tuple[CellRun | None, int] | None = None
    repetition: Repetition | None = None

    def widen(self, cells: CellRun) -> CellRun:
        """Return the cells of the block, given those of its text: of a uniform row that is the first cell alone."""
        return cells if self.repetition is None else self.repetition.repeat(cells)


@dataclass
class Room:
    """The room that is left for what is kept of a workbook: bytes of XML, numbers of regular blocks, parsed cells."""

    bytes: int = _MOST_BYTES
    numbers: int = _MOST_NUMBERS
    cells: int = MOST_CELLS

    def take(self, block: RowBlock) -> bool:
        """Take the room for a block and return True; False if there is too little, and `reclaim` is to be called."""
        if block.regular is not None:
            self.numbers -= len(block.regular.values)
        else:
            self.bytes -= len(block.text or b"")
        return self.bytes >= 0 and self.numbers >= 0

    def take_cells(self, count: int) -> bool:
        """Take the room for some parsed cells and return True; take nothing and return False if there is too little."""
        if count <= self.cells:
            self.cells -= count
            return True
        return False

    def reclaim(self, blocks: list[RowBlock]) -> None:
        """Give back the room that blocks have taken."""
        self.numbers += sum(len(block.regular.values) for block in blocks if block.regular is not None)
        self.bytes += sum(len(block.text) for block in blocks if block.text is not None)


class SheetBlocks:
    """The blocks of one worksheet.

    Args:
        package: of the workbook.
        part: of the worksheet.
        room: that is left in the workbook for blocks that are kept.

    Attributes:
        is_short: whether the part has at most `SHORT` bytes.
    """

    def __init__(self, package: Package, part: str, room: Room) -> None:
        self._package, self._part, self._room = package, part, room
        self._kept: list[RowBlock] | None = None
        self.is_short = package.member(part).size <= SHORT if part in package else True

    @property
    def kept(self) -> list[RowBlock] | None:
        """All blocks of the sheet, if a pass has kept them; otherwise None."""
        return self._kept

    def blocks(self, *, numbers: bool = False) -> Iterator[RowBlock]:
        """Yield the blocks, inflated anew, and keep them if there is room for all of them.

        Args:
            numbers: make regular blocks of numbers, which hold these instead of their XML.
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
        """Return the blocks that are kept, and keep them no longer."""
        kept, self._kept = self._kept or [], None
        self._room.reclaim(kept)
        return kept


def _block_of_text(piece: tuple[bytes, Repetition | None]) -> RowBlock:
    text, repetition = piece
    return RowBlock(text, rows_of_block(text), repetition=repetition)


def _block_of_numbers(piece: tuple[bytes, Repetition | None]) -> RowBlock:
    """Return a block of numbers in place of its XML, if it is regular and holds nothing but numbers and truth values.

    Any other block keeps its XML, in which texts will be looked for.
    """
    regular = regular_rows(piece[0], numeric=True, types=NUMBERS) if piece[1] is None else None
    return _block_of_text(piece) if regular is None else RowBlock(None, (regular.first, regular.after - 1), regular)


def _cut_first(texts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks, the first of them cut in two after its last row with text.

    A sheet begins with names and headers. In one block with them, the numbers below would not be regular and be read
    slowly, and a search for words would go over them cell by cell.
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
    """Yield blocks, the first of them cut in two after its first row: the names of a table, unlike the rows below."""
    first = next(blocks, None)
    if first is not None:
        text = first.text or b""
        end = text.find(_ROW_ENDS) + len(_ROW_ENDS)
        if len(_ROW_ENDS) <= end < len(text) - len(PAD):
            yield RowBlock(text[:end] + PAD, None)
            first = RowBlock(text[end:], None)
        yield first
    yield from blocks
