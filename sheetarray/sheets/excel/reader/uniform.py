"""Uniform rows: long ones in which the same cell stands over and over, in one column after the other.

In a sheet of very many arrays, most rows of headers are such rows. A uniform row is known by its first cell, its first
column and the number of cells: if the letters of these columns, joined by the bytes between the first two of them, give
the bytes of the row, it is uniform, and no other cell needs to be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ....columns.grid import column_letters, column_number
from .cells import MOST_COLUMNS, CellRun
from .cutting import PAD

SHORTEST_ROW = 2**14  # bytes that the first row of a block has, at least, for uniform rows to be looked for in it
FEWEST_CELLS = 64  # of a row
_LONGEST_TAG = 256  # bytes of the tag of a row
_CELL, _ROW_END = b'<c r="', b"</row>"
_FIRST = re.compile(rb'<row r="([1-9][0-9]{0,6})"[^<>]{0,%d}><c r="([A-Z]{1,3})\1"' % _LONGEST_TAG)
_LETTERS = re.compile(rb"[A-Z]{1,3}(?=[1-9])")


@dataclass(frozen=True, slots=True)
class Repetition:
    """The columns of a uniform row, one after the other.

    Attributes:
        column: the first of them, from 0.
        count: the number of columns.
    """

    column: int
    count: int

    def repeat(self, cell: CellRun) -> CellRun:
        """Return the cells of the row, given its first cell."""
        return replace(
            cell,
            rows=np.repeat(cell.rows, self.count),
            columns=np.arange(self.column, self.column + self.count),
            kinds=np.repeat(cell.kinds, self.count),
            values=cell.values.new_from_index(0, self.count),
            width=self.count,
            is_uniform=True,
        )


def cut_uniform(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, Repetition | None]]:
    """Yield blocks of rows; each uniform row becomes a block with its first cell alone, and the columns of the row.

    Blocks of short rows are passed on unchanged.
    """
    for block in blocks:
        if block.find(_ROW_END, 0, SHORTEST_ROW) >= 0:
            yield block, None
        else:
            yield from _cut_block(block)


def _cut_block(block: bytes) -> Iterator[tuple[bytes, Repetition | None]]:
    begin = start = 0  # the first byte of rows that are not uniform, and of the row at hand
    while (end := block.find(_ROW_END, start)) >= 0:
        end += len(_ROW_END)
        row = _read_uniform(block, start, end)
        if row is not None:
            if begin < start:
                yield block[begin:start] + PAD, None
            yield row
            begin = end
        start = end
    if begin == 0:
        yield block, None
    elif block[begin:].strip():
        yield block[begin:], None


def _read_uniform(block: bytes, start: int, end: int) -> tuple[bytes, Repetition] | None:
    """Return the first cell of a row as a block, and the columns of the row; None for a row that is not uniform."""
    first = _FIRST.match(block, start, end)
    if first is None:
        return None
    begin, after = first.start(2), first.end(2)
    second, last = block.find(_CELL, after, end), block.rfind(_CELL, after, end)
    last_letters = _LETTERS.match(block, last + len(_CELL), end) if second > 0 else None
    if last_letters is None:
        return None
    between = block[after : second + len(_CELL)]
    column = column_number(first[2].decode())
    count = column_number(last_letters[0].decode()) + 1 - column
    stop = last_letters.end()
    if count < FEWEST_CELLS or column + count > MOST_COLUMNS or b"<f" in between:
        return None
    letters = _all_letters()[column : column + count]
    if stop - begin != sum(map(len, letters)) + (count - 1) * len(between):
        return None
    cell_end = between.removesuffix(_CELL)
    if block[stop:end] != cell_end + _ROW_END or block[begin:stop] != between.join(letters):
        return None
    return block[start:after] + cell_end + _ROW_END + PAD, Repetition(column, count)


@cache
def _all_letters() -> list[bytes]:
    return [column_letters(column).encode() for column in range(MOST_COLUMNS)]
