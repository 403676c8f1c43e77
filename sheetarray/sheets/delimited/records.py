"""The records and cells of a delimited text: the one rule by which head and body, rows and columns are split."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...dtypes import Positions
from .blocks import FEED, RETURN, Blocks, are_within
from .search import Units
from .splitting import cells_of_record

LONG_RECORD = 2**16  # bytes; the cells of the last longer record are kept, so that it is not split again each time
_MOST_KEPT = 2**22  # cells of such a record that are kept


class Records:
    """The records of a text of sound quotes, found block by block and only as far as asked.

    Args:
        content: the text in UTF-8.
        start: where it begins, after a byte order mark.
        delimiter: between cells; "" where each record is one cell.
    """

    def __init__(self, content: Units, start: int, delimiter: str) -> None:
        self.content, self.start, self.delimiter = content, start, delimiter
        self.blocks = Blocks(content, start, delimiter)
        self._long: tuple[int, int | None, list[str]] = -1, None, []  # the last long record: start, cells asked for

    def position_of(self, row: int) -> int | None:
        """Return the first byte of a record; None if the text has no such record."""
        return next((start for start, _ in self.spans([row])), None)

    def starts_of(self, rows: Iterable[int]) -> Iterator[int]:
        """Yield the positions at which some records begin; rows ascend, and those beyond the text are left out."""
        return (start for start, _ in self.spans(rows))

    def spans(self, rows: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield the positions at which some records begin and end, line ends included; rows ascend, and those beyond
        the text are left out.
        """
        number = 0
        known = -1, np.zeros(0, np.int64)
        starts, first = np.zeros(0, np.int64).data, 0  # of the current block: where its records begin, its first row
        for row in rows:
            if 0 < row - first < len(starts):
                yield starts[row - first - 1], starts[row - first]
                continue
            number = max(number, bisect_right(self.blocks.known, row - 1, key=lambda block: block.row) - 1)
            while self.blocks.bounds(number)[0] < len(self.content) and self.blocks.block(number + 1).row < row:
                number += 1
            if row == 0:
                start = self.start
            else:
                if known[0] != number:
                    known = number, self.blocks.starts(number)
                index = row - self.blocks.block(number).row - 1
                if index >= len(known[1]):
                    return
                start = int(known[1][index])
            if start >= len(self.content):
                return
            if known[0] != number:
                known = number, self.blocks.starts(number)
            starts, first = known[1].data, self.blocks.block(number).row
            index = row - first
            if index < len(known[1]):
                yield start, int(known[1][index])
            else:
                yield start, self._end_of(row, number)

    def _end_of(self, row: int, number: int) -> int:
        """Return the end of a record that goes on after a block."""
        while self.blocks.bounds(number)[0] < len(self.content):
            if self.blocks.block(number + 1).row > row:
                return int(self.blocks.starts(number)[row - self.blocks.block(number).row])
            number += 1
        return len(self.content)

    def record(self, start: int, end: int, most: int | None = None) -> list[str]:
        """Return the cells of a record; only the first ones, where not all are needed."""
        if end - start < LONG_RECORD:
            return cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter, most)
        known, width, cells = self._long
        if known != start or (width is not None and (most is None or width < most)):
            width = None if most is None else 2 * most  # as a rule a few more cells are asked for next, again and again
            cells = cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter, width)
            if len(cells) <= _MOST_KEPT:
                self._long = start, width, cells
        return cells

    def rows_from(self, row: int, most: int | None) -> Iterator[list[str]]:
        """Return the first cells of every record from one on."""
        spans = self.spans(range(row, 2**62))
        return (self.record(start, end, most) for start, end in spans)

    def records_of(self, rows: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Yield some records in ascending order, each with its number; they end with the text."""
        for row, (start, end) in zip(rows, self.spans(rows), strict=False):
            yield row, self.record(start, end)

    def size(self) -> tuple[int, int]:
        """Return the number of records, and of the cells in the widest."""
        last, width = self.blocks.block(self.blocks.count), 0
        for number in range(self.blocks.count):
            first, end = self.blocks.bounds(number)
            block = self.blocks.block(number)
            quotes = self.blocks.quotes(first, end, block.quoted)
            feeds = self.blocks.ends(first, end, quotes, block.quoted)
            marks = self.content[first:end] == self.blocks.mark
            if len(quotes) or block.quoted:
                positions = np.flatnonzero(marks)
                marks[positions[are_within(positions, quotes, block.quoted)]] = False
            if not len(feeds):
                continue
            counts = np.add.reduceat(marks, np.concatenate([[0], feeds[:-1]]), dtype=np.int64)
            counts[0] += block.delimiters
            width = max(width, int(counts.max()))
        width = max(width, last.delimiters)
        return last.row + (last.start < len(self.content)), width + 1

    def filled_cells(self) -> Iterator[tuple[Positions, Positions, Positions, Positions, Positions]]:
        """Yield for each block the rows, the columns, the beginnings and the ends of cells that hold a byte or more,
        and the rows that are a single cell.
        """
        row = column = 0
        start = self.start
        for number in range(self.blocks.count):
            first, end = self.blocks.bounds(number)
            quoted = self.blocks.block(number).quoted
            quotes = self.blocks.quotes(first, end, quoted)
            feeds = self.blocks.ends(first, end, quotes, quoted)
            marks = self.blocks.marks(number, quotes)
            stops = np.sort(np.concatenate([feeds, marks])) + first
            is_feed = self.content[stops] == FEED
            if end == len(self.content) and (not len(stops) or stops[-1] + 1 < end):
                stops, is_feed = np.append(stops, end), np.append(is_feed, True)  # the last line may lack its end
            if not len(stops):
                continue
            starts = np.concatenate([[start], stops[:-1] + 1])
            rows = row + np.cumsum(is_feed) - is_feed
            index = np.arange(len(stops))
            line = np.maximum.accumulate(np.where(np.append(False, is_feed[:-1]), index, -1))  # where the row begins
            columns = np.where(line < 0, index + column, index - line)
            returns = is_feed & (stops > starts) & (self.content[stops - 1] == RETURN)
            ends = stops - returns
            held = np.flatnonzero(ends > starts)
            alone = np.flatnonzero(is_feed & (columns == 0))
            yield rows[held], columns[held], starts[held], ends[held], rows[alone]
            row, column, start = int(rows[-1] + is_feed[-1]), int(columns[-1]) + 1, int(stops[-1]) + 1
            column = 0 if is_feed[-1] else column

    def text_of(self, start: int, end: int) -> str:
        """Return the text of a cell, by the positions at which it begins and ends."""
        return cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter)[0]
