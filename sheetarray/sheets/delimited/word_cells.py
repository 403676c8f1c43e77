"""The cells of a delimited text that are words of headers, and nothing but that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...columns import Words
from ...columns.words import WORDS, WordCodes
from ...dtypes import Mask, Positions
from ...header import normalize_key
from .blocks import FEED, QUOTE, RETURN, Blocks, are_within
from .search import LENGTHS, Units, find_words

_SPACES = b" \t\v\f\x1c\x1d\x1e\x1f"
_OTHER, _SPACE, _HIGH, _MARK = range(4)  # what a byte beside a word is
_LONGEST_SPACE = 2**12  # bytes of white space around a word


class WordCells:
    """The search for the words of headers in the blocks of a text."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._content, self._start = blocks.content, blocks.start

    def find(self, report: Callable[[float], None] | None = None) -> Words:
        """Return every cell that is a word of a header; `report` is called with the share of the text searched.

        Raises:
            UnsoundError: readers would differ on where they are.
        """
        rows, columns, codes = [], [], []
        for places, codes_here in find_words(self._content, self._start, report):
            numbers = self._blocks.numbers_of(places)
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
        """Return the rows, columns and codes of those words of a block that are whole cells."""
        block, (first, end) = self._blocks.block(number), self._blocks.bounds(number)
        self._blocks.block(number + 1)
        quotes = self._blocks.quotes(first, end, block.quoted)
        within = are_within(places - first, quotes, block.quoted)
        whole = self._are_cells(places, places + LENGTHS[codes], within, codes, first, end)
        places, codes = places[whole], codes[whole]
        if not len(places):
            return places, places, codes
        starts = np.append(block.start, self._blocks.starts(number))
        record = np.searchsorted(starts, places, side="right") - 1
        if self._blocks.mark < 0:
            return block.row + record, np.zeros(len(record), np.int64), codes
        marks = self._blocks.marks(number, quotes)
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
        """Return a mask of the words that fill their cells, but for white space and quotes."""
        begin, stop = max(first - _LONGEST_SPACE, self._start), min(last + _LONGEST_SPACE, len(self._content))
        kinds = self._kinds()[self._content[begin:stop]]
        before, after = places - 1, ends
        kind_before = np.where(before >= self._start, kinds[before - begin], _MARK)
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
        whole[quoted] = (self._unit(before[quoted]) == QUOTE) & (self._unit(after[quoted]) == QUOTE)
        whole[quoted] &= (self._unit(before[quoted] - 1) != QUOTE) & (self._unit(after[quoted] + 1) != QUOTE)
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
            marks = (left < self._start) | ((left >= begin) & (kinds[np.maximum(left - begin, 0)] == _MARK))
            marks &= (right >= len(self._content)) | (
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
        content = self._content
        if within:  # line ends may be part of its white space
            while left > self._start and content[left] in (RETURN, FEED, *_SPACES, self._blocks.mark):
                left -= 1
            while right < len(content) and content[right] in (RETURN, FEED, *_SPACES, self._blocks.mark):
                right += 1
            around = [int(content[place]) for place in (left, right) if self._start <= place < len(content)]
            if around != [QUOTE, QUOTE]:
                return False
            if self._unit(np.array([left - 1, right + 1])).tolist().count(QUOTE):
                return False
        elif any(
            self._start <= place < len(content) and content[place] not in (RETURN, FEED, self._blocks.mark)
            for place in (left, right)
        ):
            return False
        text = content[left + 1 : right].tobytes().decode("utf-8", "replace")
        return normalize_key(text) == WORDS[code]

    def _unit(self, places: Positions) -> Units:
        """Return the bytes at some places; a line feed beyond the ends of the text."""
        inside = (places >= self._start) & (places < len(self._content))
        return np.where(inside, self._content[np.where(inside, places, 0)], np.uint8(FEED)).astype(np.uint8)

    def _kinds(self) -> Units:
        kinds = np.zeros(256, np.uint8)
        kinds[list(_SPACES)] = _SPACE
        kinds[128:] = _HIGH
        kinds[[RETURN, FEED, QUOTE]] = _MARK
        if self._blocks.mark >= 0:
            kinds[self._blocks.mark] = _MARK
        return kinds
