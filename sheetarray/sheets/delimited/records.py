"""Where the records and cells of a delimited text are: the one rule by which head and body, rows and columns are split.

A record ends at a line feed that stands in no quotes, and a cell at a delimiter. Quotes are sound where each opens a
cell, closes one, or is one of a pair within, and no carriage return stands alone outside of them: then every reader
splits alike. A text that is not sound is made so first (`sound`), and only then split.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...columns import Words, Zone
from ...columns.words import WORDS, WordCodes
from ...dtypes import Mask, Positions
from ...elements import Cell
from ...header import normalize_key
from .dialect import cells_of_record
from .search import LENGTHS, Units, find_words

BLOCK = 2**20  # bytes that are split at once
_RETURN, _FEED, _QUOTE = ord("\r"), ord("\n"), ord('"')
_SPACES = b" \t\v\f\x1c\x1d\x1e\x1f"
_OTHER, _SPACE, _HIGH, _MARK = range(4)  # what a byte beside a word is
_LONG_RECORD = 2**16  # bytes of a record that is not split anew each time
_MOST_KEPT = 2**22  # cells of it
_MANY_ZONES = 8  # that are worth a look at how they lie
_LONGEST_SPACE = 2**12  # bytes of white space around a word


class UnsoundError(Exception):
    """Readers would differ on where the records of the text end."""


@dataclass(frozen=True, slots=True)
class _Block:
    """What is known of a block of bytes, and of all before it.

    Attributes:
        row: the record that it begins in.
        quoted: whether it begins within quotes.
        delimiters: how many stand before it in its first record.
        start: where that record begins.
    """

    row: int
    quoted: bool
    delimiters: int
    start: int


class Records:
    """The records of a text of sound quotes, found block by block and only as far as asked.

    Args:
        content: the text in UTF-8.
        start: where it begins, after a byte order mark.
        delimiter: between cells; "" where each record is one cell.
    """

    def __init__(self, content: Units, start: int, delimiter: str) -> None:
        self.content, self.start, self.delimiter = content, start, delimiter
        self._mark = ord(delimiter) if delimiter else -1
        self._blocks = [_Block(0, False, 0, start)]
        self._last_starts: tuple[int, Positions] = -1, np.zeros(0, np.int64)
        self._long: tuple[int, int | None, list[str]] = -1, None, []  # the last long record: start, cells asked for

    # Blocks --------------------------------------------------------------------------------------------------

    def _bounds(self, index: int) -> tuple[int, int]:
        first = self.start + index * BLOCK
        return first, min(first + BLOCK, len(self.content))

    def _block(self, index: int) -> _Block:
        """Return a block, after all before it have been looked at.

        Raises:
            UnsoundError: before the end of the one before it.
        """
        while len(self._blocks) <= index:
            number = len(self._blocks) - 1
            last, (first, end) = self._blocks[-1], self._bounds(number)
            units = self.content[first:end]
            quotes = self._quotes(first, end, last.quoted)
            ends = self._ends(first, end, quotes, last.quoted)
            start, delimiters = last.start, last.delimiters
            if len(ends):
                start, delimiters = first + int(ends[-1]) + 1, 0
            if self._mark >= 0:
                since = max(start - first, 0)
                marks = units[since:] == self._mark
                if len(quotes) or last.quoted:
                    marks &= ~_within(np.arange(since, len(units)), quotes, last.quoted)
                delimiters += int(np.count_nonzero(marks))
            quoted = last.quoted ^ bool(len(quotes) % 2)
            self._blocks.append(_Block(last.row + len(ends), quoted, delimiters, start))
        return self._blocks[index]

    def _quotes(self, first: int, end: int, quoted: bool) -> Positions:
        """Return the quotes of a block, from its beginning on."""
        units = self.content[first:end]
        marks = units == _QUOTE
        if not marks.any():
            return np.zeros(0, np.int64)
        quotes = np.flatnonzero(marks)
        opening, closing = quotes[int(quoted) :: 2] + first, quotes[1 - int(quoted) :: 2] + first
        before = self.content[opening[opening > self.start] - 1]
        after = self.content[closing[closing < len(self.content) - 1] + 1]
        if not (self._stands_around(before).all() and self._stands_around(after).all()):
            raise UnsoundError
        return quotes

    def _stands_around(self, units: Units) -> Mask:
        around: Mask = (units == _QUOTE) | (units == _FEED) | (units == _RETURN) | (units == self._mark)
        return around

    def _ends(self, first: int, end: int, quotes: Positions, quoted: bool) -> Positions:
        """Return the line feeds that end records, from the block's beginning on."""
        units = self.content[first:end]
        ends = np.flatnonzero(units == _FEED)
        returns = units == _RETURN
        if returns.any():
            after = np.append(units[1:], self.content[end] if end < len(self.content) else 0)
            alone = np.flatnonzero(returns & (after != _FEED))
            if len(alone) and not _within(alone, quotes, quoted).all():
                raise UnsoundError
        if (len(quotes) or quoted) and len(ends):
            ends = ends[~_within(ends, quotes, quoted)]
        return ends

    def check_sound(self) -> None:
        """Look at all of the text.

        Raises:
            UnsoundError: readers would differ on it.
        """
        count = -(-(len(self.content) - self.start) // BLOCK)
        if self._block(count).quoted:
            raise UnsoundError

    # Records -------------------------------------------------------------------------------------------------

    def place_of(self, row: int) -> int | None:
        """Return where a record begins; None where the text has no such record."""
        return next((start for start, _ in self._spans([row])), None)

    def starts_of(self, rows: Iterable[int]) -> Iterator[int]:
        """Yield where some records begin, in ascending order; they end with the text."""
        return (start for start, _ in self._spans(rows))

    def _spans(self, rows: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield where records begin and end, their line ends included; rows ascend, and end with the text."""
        number = 0
        known = -1, np.zeros(0, np.int64)
        places, first = np.zeros(0, np.int64).data, 0  # of the block at hand: where records begin, and its first row
        for row in rows:
            if 0 < row - first < len(places):
                yield places[row - first - 1], places[row - first]
                continue
            number = max(number, bisect_right(self._blocks, row - 1, key=lambda block: block.row) - 1)
            while self._bounds(number)[0] < len(self.content) and self._block(number + 1).row < row:
                number += 1
            if row == 0:
                start = self.start
            else:
                if known[0] != number:
                    known = number, self._starts(number)
                place = row - self._block(number).row - 1
                if place >= len(known[1]):
                    return
                start = int(known[1][place])
            if start >= len(self.content):
                return
            if known[0] != number:
                known = number, self._starts(number)
            places, first = known[1].data, self._block(number).row
            place = row - first
            if place < len(known[1]):
                yield start, int(known[1][place])
            else:
                yield start, self._end_of(row, number)

    def _starts(self, number: int) -> Positions:
        """Return where records begin after the line feeds of a block."""
        first, end = self._bounds(number)
        quoted = self._block(number).quoted
        if first >= len(self.content):
            return np.zeros(0, np.int64)
        if self._last_starts[0] != number:
            starts = self._ends(first, end, self._quotes(first, end, quoted), quoted) + (first + 1)
            self._last_starts = number, starts
        return self._last_starts[1]

    def _end_of(self, row: int, number: int) -> int:
        """Return where a record ends that goes on after a block."""
        while self._bounds(number)[0] < len(self.content):
            if self._block(number + 1).row > row:
                return int(self._starts(number)[row - self._block(number).row])
            number += 1
        return len(self.content)

    def record(self, start: int, end: int, most: int | None = None) -> list[str]:
        """Return the cells of a record; only the first ones, where not all are needed."""
        if end - start < _LONG_RECORD:
            return cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter, most)
        known, width, cells = self._long
        if known != start or (width is not None and (most is None or width < most)):
            width = None if most is None else 2 * most  # whoever asks for more asks for a little more, many times
            cells = cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter, width)
            if len(cells) <= _MOST_KEPT:
                self._long = start, width, cells
        return cells

    def rows_from(self, row: int, most: int | None) -> Iterator[list[str]]:
        """Return the first cells of every record from one on."""
        spans = self._spans(range(row, 2**62))
        return (self.record(start, end, most) for start, end in spans)

    def records_of(self, rows: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Yield some records in ascending order, each with its number; they end with the text."""
        for row, (start, end) in zip(rows, self._spans(rows), strict=False):
            yield row, self.record(start, end)

    def size(self) -> tuple[int, int]:
        """Return how many records there are, and how many cells the widest has."""
        count = -(-(len(self.content) - self.start) // BLOCK)
        last, width = self._block(count), 0
        for number in range(count):
            first, end = self._bounds(number)
            block = self._block(number)
            quotes = self._quotes(first, end, block.quoted)
            feeds = self._ends(first, end, quotes, block.quoted)
            marks = self.content[first:end] == self._mark
            if len(quotes) or block.quoted:
                places = np.flatnonzero(marks)
                marks[places[_within(places, quotes, block.quoted)]] = False
            if not len(feeds):
                continue
            counts = np.add.reduceat(marks, np.concatenate([[0], feeds[:-1]]), dtype=np.int64)
            counts[0] += block.delimiters
            width = max(width, int(counts.max()))
        width = max(width, last.delimiters)
        return last.row + (last.start < len(self.content)), width + 1

    def filled_cells(self) -> Iterator[tuple[Positions, Positions, Positions, Positions, Positions]]:
        """Yield the cells that hold a byte or more, as rows, columns, beginnings and ends; then rows of one cell."""
        row = column = 0
        start = self.start
        for number in range(-(-(len(self.content) - self.start) // BLOCK)):
            first, end = self._bounds(number)
            quoted = self._block(number).quoted
            quotes = self._quotes(first, end, quoted)
            feeds = self._ends(first, end, quotes, quoted)
            marks = np.flatnonzero(self.content[first:end] == self._mark)
            if len(quotes) or quoted:
                marks = marks[~_within(marks, quotes, quoted)]
            stops = np.sort(np.concatenate([feeds, marks])) + first
            is_feed = self.content[stops] == _FEED
            if end == len(self.content) and (not len(stops) or stops[-1] + 1 < end):
                stops, is_feed = np.append(stops, end), np.append(is_feed, True)  # the last line may lack its end
            if not len(stops):
                continue
            starts = np.concatenate([[start], stops[:-1] + 1])
            rows = row + np.cumsum(is_feed) - is_feed
            index = np.arange(len(stops))
            line = np.maximum.accumulate(np.where(np.append(False, is_feed[:-1]), index, -1))  # where the row begins
            columns = np.where(line < 0, index + column, index - line)
            returns = is_feed & (stops > starts) & (self.content[stops - 1] == _RETURN)
            ends = stops - returns
            held = np.flatnonzero(ends > starts)
            alone = np.flatnonzero(is_feed & (columns == 0))
            yield rows[held], columns[held], starts[held], ends[held], rows[alone]
            row, column, start = int(rows[-1] + is_feed[-1]), int(columns[-1]) + 1, int(stops[-1]) + 1
            column = 0 if is_feed[-1] else column

    def text_of(self, start: int, end: int) -> str:
        """Return the text of a cell, by where it begins and ends."""
        return cells_of_record(self.content[start:end].tobytes().decode("utf-8"), self.delimiter)[0]

    # Zones and words -----------------------------------------------------------------------------------------

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone; it ends with the text."""
        results = self._zones_alone(zones)
        waiting = sorted((index for index in range(len(zones)) if index not in results), key=lambda i: zones[i].row)
        waiting.reverse()
        results |= {index: [] for index in waiting}
        going: list[int] = []
        for row, (start, end) in self._rows_of([zones[index] for index in waiting]):
            while waiting and zones[waiting[-1]].row == row:
                going.append(waiting.pop())
            widths = [
                zones[index].column + (zones[index].count if zones[index].orient == "rows" else 1) for index in going
            ]
            cells = self.record(start, end, max(widths))
            still: list[int] = []
            for index in going:
                zone, result = zones[index], results[index]
                if zone.orient == "rows":
                    result += cells[zone.column : zone.column + zone.count]
                else:
                    result.append(cells[zone.column] if zone.column < len(cells) else None)
                    if len(result) < zone.count:
                        still.append(index)
            going = still
        return [results[index] for index in range(len(zones))]

    def _zones_alone(self, zones: Sequence[Zone]) -> dict[int, list[Cell]]:
        """Return the cells of zones in whose rows no other zone lies, where their lines are short and hold no quotes.

        A sheet may hold very many arrays one below the other: the lines of each are decoded at once.
        """
        order = sorted(range(len(zones)), key=lambda index: zones[index].row)
        spans = [(zones[i].row, zones[i].row + (zones[i].count if zones[i].orient == "columns" else 1)) for i in order]
        alone: list[tuple[int, int, int]] = []
        after = 0
        for place, (first, end) in enumerate(spans):
            following = spans[place + 1][0] if place + 1 < len(spans) else end
            if first >= after and end <= following and first < end:
                alone.append((order[place], first, end - 1))
            after = max(after, end)
        results: dict[int, list[Cell]] = {}
        if len(alone) < _MANY_ZONES:
            return results
        ends = self._spans(row for _, first, last in alone for row in (first, last))
        for (index, _, _), (start, _), (_, end) in zip(alone, ends, ends, strict=False):
            if end - start >= _LONG_RECORD:
                continue
            text = self.content[start:end].tobytes()
            if _QUOTE not in text:
                results[index] = self._cells_of_lines(text.decode("utf-8"), zones[index])
        return results

    def _cells_of_lines(self, text: str, zone: Zone) -> list[Cell]:
        """Return the cells of a zone that has some lines without quotes for itself."""
        lines = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
        column, mark = zone.column, self.delimiter
        if zone.orient == "rows":
            return [*lines[0].split(mark, column + zone.count)[column : column + zone.count]]
        if mark not in text:
            return [*lines] if column == 0 else [None] * len(lines)
        rows = [line.split(mark, column + 1) for line in lines]
        return [cells[column] if column < len(cells) else None for cells in rows]

    def _rows_of(self, zones: Sequence[Zone]) -> Iterator[tuple[int, tuple[int, int]]]:
        """Return the rows that zones need, ascending, with their places."""
        spans = sorted((zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones)
        rows: list[int] = []
        after = 0
        for first, end in spans:
            rows += range(max(first, after), end)
            after = max(after, end)
        return zip(rows, self._spans(rows), strict=False)

    def words(self) -> Words:
        """Return every cell that is a word of a header.

        Raises:
            UnsoundError: readers would differ on where they are.
        """
        rows, columns, codes = [], [], []
        for places, codes_here in find_words(self.content, self.start):
            numbers = (places - self.start) // BLOCK
            bounds = np.searchsorted(numbers, np.arange(int(numbers[0]), int(numbers[-1]) + 2))
            for index, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
                if low < high:
                    row, column, which = self._words_of(int(numbers[0]) + index, places[low:high], codes_here[low:high])
                    rows.append(row)
                    columns.append(column)
                    codes.append(which)
        if not rows:
            return Words.from_positions([], [], [])
        return Words.from_positions(np.concatenate(rows), np.concatenate(columns), np.concatenate(codes))

    def _words_of(self, number: int, places: Positions, codes: WordCodes) -> tuple[Positions, Positions, WordCodes]:
        """Rows, columns and codes of those words of a block that are whole cells."""
        block, (first, end) = self._block(number), self._bounds(number)
        self._block(number + 1)
        quotes = self._quotes(first, end, block.quoted)
        within = _within(places - first, quotes, block.quoted)
        whole = self._are_cells(places, places + LENGTHS[codes], within, codes, first, end)
        places, codes = places[whole], codes[whole]
        if not len(places):
            return places, places, codes
        starts = np.append(block.start, self._starts(number))
        record = np.searchsorted(starts, places, side="right") - 1
        if self._mark < 0:
            return block.row + record, np.zeros(len(record), np.int64), codes
        marks = np.flatnonzero(self.content[first:end] == self._mark)
        if len(quotes) or block.quoted:
            marks = marks[~_within(marks, quotes, block.quoted)]
        columns = np.searchsorted(marks, places - first) - np.searchsorted(marks, starts[record] - first)
        columns += np.where(record == 0, block.delimiters, 0)
        return block.row + record, columns, codes

    def _are_cells(
        self,
        places: Positions,
        ends: Positions,
        within: Mask,
        codes: WordCodes,
        first: int,
        last: int,
    ) -> Mask:
        """Return which words are all that their cells hold, but for white space and quotes."""
        begin, stop = max(first - _LONGEST_SPACE, self.start), min(last + _LONGEST_SPACE, len(self.content))
        kinds = self._kinds()[self.content[begin:stop]]
        before, after = places - 1, ends
        kind_before = np.where(before >= self.start, kinds[before - begin], _MARK)
        kind_after = np.where(after < stop, kinds[np.minimum(after, stop - 1) - begin], _MARK)
        wide = (
            (kind_before == _SPACE)
            | (kind_before == _HIGH)
            | (kind_after == _SPACE)
            | (kind_after == _HIGH)
            | (within & (kind_before == _MARK))
        )
        wide &= (kind_before != _OTHER) & (kind_after != _OTHER)
        whole: Mask = (kind_before == _MARK) & (kind_after == _MARK)
        quoted = np.flatnonzero(whole & within)
        whole[quoted] = (self._unit(before[quoted]) == _QUOTE) & (self._unit(after[quoted]) == _QUOTE)
        whole[quoted] &= (self._unit(before[quoted] - 1) != _QUOTE) & (self._unit(after[quoted] + 1) != _QUOTE)
        if wide.any():
            ink = np.flatnonzero((kinds == _OTHER) | (kinds == _MARK)) + begin
            selected = np.flatnonzero(wide)
            index = np.searchsorted(ink, places[selected])
            left = np.where(index > 0, ink[np.maximum(index - 1, 0)], begin - 1)
            # the word itself is ink: what stands after it is the first that is beyond its end
            index = np.searchsorted(ink, ends[selected])
            right = np.where(index < len(ink), ink[np.minimum(index, len(ink) - 1)], stop)
            # what has nothing but ASCII spaces up to a mark on either side, or no mark, needs no closer look
            foreign = np.concatenate([[0], np.cumsum(kinds == _HIGH)])
            plain = ~within[selected] & (foreign[np.minimum(right, stop) - begin] == foreign[left + 1 - begin])
            marks = (left < self.start) | ((left >= begin) & (kinds[np.maximum(left - begin, 0)] == _MARK))
            marks &= (right >= len(self.content)) | (
                (right < stop) & (kinds[np.minimum(right, stop - 1) - begin] == _MARK)
            )
            whole[selected[plain]] = marks[plain]
            closer = ~plain & (within[selected] | marks)
            whole[selected[~plain]] = False
            for place, low, high in zip(
                selected[closer].tolist(), left[closer].tolist(), right[closer].tolist(), strict=True
            ):
                whole[place] = self._is_cell(low, high, bool(within[place]), int(codes[place]))
        return whole

    def _is_cell(self, left: int, right: int, within: bool, code: int) -> bool:
        """Return whether the cell around a word holds nothing else, where bytes before and after it may be
        white space.
        """
        content = self.content
        if within:  # line ends may be part of its white space
            while left > self.start and content[left] in (_RETURN, _FEED, *_SPACES, self._mark):
                left -= 1
            while right < len(content) and content[right] in (_RETURN, _FEED, *_SPACES, self._mark):
                right += 1
            around = [int(content[place]) for place in (left, right) if self.start <= place < len(content)]
            if around != [_QUOTE, _QUOTE]:
                return False
            if self._unit(np.array([left - 1, right + 1])).tolist().count(_QUOTE):
                return False
        elif any(
            self.start <= place < len(content) and content[place] not in (_RETURN, _FEED, self._mark)
            for place in (left, right)
        ):
            return False
        text = content[left + 1 : right].tobytes().decode("utf-8", "replace")
        return normalize_key(text) == WORDS[code]

    def _unit(self, places: Positions) -> Units:
        """Return the bytes at some places; a line feed beyond the ends of the text."""
        inside = (places >= self.start) & (places < len(self.content))
        return np.where(inside, self.content[np.where(inside, places, 0)], np.uint8(_FEED)).astype(np.uint8)

    def _kinds(self) -> Units:
        kinds = np.zeros(256, np.uint8)
        kinds[list(_SPACES)] = _SPACE
        kinds[128:] = _HIGH
        kinds[[_RETURN, _FEED, _QUOTE]] = _MARK
        if self._mark >= 0:
            kinds[self._mark] = _MARK
        return kinds


def _within(places: Positions, quotes: Positions, quoted: bool) -> Mask:
    """Return which places stand within quotes."""
    if not len(quotes):
        return np.full(len(places), quoted)
    within: Mask = (np.searchsorted(quotes, places) + quoted) % 2 == 1
    return within


def has_lone_returns(content: Units, start: int) -> bool:
    """Return whether a carriage return stands without a line feed after it."""
    for first in range(start, len(content), BLOCK // 4):
        units = content[first : first + BLOCK // 4 + 1]
        returns = units[:-1] == _RETURN
        if returns.any() and (returns > (units[1:] == _FEED)).any():
            return True
    return len(content) > start and int(content[-1]) == _RETURN
