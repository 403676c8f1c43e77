"""Finds the cells of a delimited text that hold a word of headers, and nothing else."""

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
_OTHER, _SPACE, _HIGH, _MARK = range(4)  # kinds of bytes: any other, ASCII white space, not ASCII, a mark
_LONGEST_SPACE = 2**12  # bytes of white space around a word
_SHORT, _MOST_KNOWN = 64, 2**14  # bytes of a cell whose word is remembered, and the number of such cells


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
        for positions, codes_here in find_words(self._content, self._start, report):
            numbers = self._blocks.numbers_of(positions)
            bounds = np.searchsorted(numbers, np.arange(int(numbers[0]), int(numbers[-1]) + 2))
            for index, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
                if low < high:
                    row, column, which = self._words_of(
                        int(numbers[0]) + index, positions[low:high], codes_here[low:high]
                    )
                    rows.append(row)
                    columns.append(column)
                    codes.append(which)
        if not rows:
            return Words.from_positions([], [], [])
        return Words.from_positions(np.concatenate(rows), np.concatenate(columns), np.concatenate(codes))

    def _words_of(self, number: int, positions: Positions, codes: WordCodes) -> tuple[Positions, Positions, WordCodes]:
        """Return the rows, columns and codes of those words of a block that are whole cells."""
        block, (first, end) = self._blocks.block(number), self._blocks.bounds(number)
        self._blocks.block(number + 1)
        quotes = self._blocks.quotes(first, end, block.quoted)
        within = are_within(positions - first, quotes, block.quoted)
        whole = self._are_cells(positions, positions + LENGTHS[codes], within, codes, first, end)
        positions, codes = positions[whole], codes[whole]
        if not len(positions):
            return positions, positions, codes
        starts = np.append(block.start, self._blocks.starts(number))
        record = np.searchsorted(starts, positions, side="right") - 1
        if self._blocks.mark < 0:
            return block.row + record, np.zeros(len(record), np.int64), codes
        marks = self._blocks.marks(number, quotes)
        columns = np.searchsorted(marks, positions - first) - np.searchsorted(marks, starts[record] - first)
        columns += np.where(record == 0, block.delimiters, 0)
        return block.row + record, columns, codes

    def _are_cells(
        self,
        positions: Positions,
        ends: Positions,
        within: Mask,
        codes: WordCodes,
        first: int,
        last: int,
    ) -> Mask:
        """Return a mask of the words that fill their cells, but for white space and quotes."""
        begin, stop = max(first - _LONGEST_SPACE, self._start), min(last + _LONGEST_SPACE, len(self._content))
        kinds = self._kinds()[self._content[begin:stop]]
        before, after = positions - 1, ends
        kind_before = np.where(before >= self._start, kinds[before - begin], _MARK)
        kind_after = np.where(after < stop, kinds[np.minimum(after, stop - 1) - begin], _MARK)
        alone = (kind_before != _OTHER) & (kind_after != _OTHER)
        plain = (kind_before == _MARK) & (kind_after == _MARK)
        whole: Mask = plain & ~within
        quoted, spaced = np.flatnonzero(alone & within), np.flatnonzero(alone & ~plain & ~within)
        if len(quoted):
            whole[quoted] = self._are_quoted(positions[quoted], ends[quoted], codes[quoted], kinds, begin)
        if len(spaced):
            whole[spaced] = self._are_spaced(positions[spaced], ends[spaced], codes[spaced], kinds, begin)
        return whole

    def _are_quoted(self, positions: Positions, ends: Positions, codes: WordCodes, kinds: Units, begin: int) -> Mask:
        """Return a mask of the words within quotes that fill their cells, but for white space and line ends."""
        ink = np.flatnonzero((kinds == _OTHER) | (self._content[begin : begin + len(kinds)] == QUOTE)) + begin
        left, right = _beside(ink, positions, ends, begin - 1, begin + len(kinds))
        whole: Mask = (self._unit(left) == QUOTE) & (self._unit(right) == QUOTE)
        whole &= (self._unit(left - 1) != QUOTE) & (self._unit(right + 1) != QUOTE)
        odd = kinds == _HIGH
        if self._blocks.mark >= 0:
            odd |= self._content[begin : begin + len(kinds)] == self._blocks.mark
        return self._look_closer(whole, _any_between(odd, left - begin, right - begin), left, right, codes)

    def _are_spaced(self, positions: Positions, ends: Positions, codes: WordCodes, kinds: Units, begin: int) -> Mask:
        """Return a mask of the words with white space beside them that fill their cells."""
        stop = begin + len(kinds)
        left, right = _beside(
            np.flatnonzero((kinds == _OTHER) | (kinds == _MARK)) + begin, positions, ends, begin - 1, stop
        )
        whole = (left < self._start) | ((left >= begin) & (kinds[np.maximum(left - begin, 0)] == _MARK))
        whole &= (right >= len(self._content)) | (
            (right < stop) & (kinds[np.minimum(right, stop - 1) - begin] == _MARK)
        )
        # A word with nothing but ASCII white space, or with no mark, on either side needs no closer look.
        odd = _any_between(kinds == _HIGH, left - begin, np.minimum(right, stop) - begin)
        marks = [RETURN, FEED, *([self._blocks.mark] if self._blocks.mark >= 0 else [])]
        whole &= ~odd | (np.isin(self._unit(left), marks) & np.isin(self._unit(right), marks))
        return self._look_closer(whole, odd, left, right, codes)

    def _look_closer(self, whole: Mask, odd: Mask, left: Positions, right: Positions, codes: WordCodes) -> Mask:
        """Return the mask `whole` without the odd words whose cells, trimmed, hold more than the word."""
        known: dict[bytes, str] = {}
        some = np.flatnonzero(whole & odd)
        for index, low, high, code in zip(
            some.tolist(), left[some].tolist(), right[some].tolist(), codes[some].tolist(), strict=True
        ):
            text = self._content[low + 1 : high].tobytes()
            key = known.get(text)
            if key is None:
                key = normalize_key(text.decode("utf-8", "replace"))
                if len(text) < _SHORT and len(known) < _MOST_KNOWN:
                    known[text] = key
            whole[index] = key == WORDS[code]
        return whole

    def _unit(self, positions: Positions) -> Units:
        """Return the bytes at some positions; positions before or after the text have a line feed."""
        inside = (positions >= self._start) & (positions < len(self._content))
        return np.where(inside, self._content[np.where(inside, positions, 0)], np.uint8(FEED)).astype(np.uint8)

    def _kinds(self) -> Units:
        kinds = np.zeros(256, np.uint8)
        kinds[list(_SPACES)] = _SPACE
        kinds[128:] = _HIGH
        kinds[[RETURN, FEED, QUOTE]] = _MARK
        if self._blocks.mark >= 0:
            kinds[self._blocks.mark] = _MARK
        return kinds


def _beside(ink: Positions, positions: Positions, ends: Positions, low: int, high: int) -> tuple[Positions, Positions]:
    """Return the positions of the nearest bytes that are no blanks before and after each word; `low` and `high` if
    there are none.
    """
    index = np.searchsorted(ink, positions)
    left = np.where(index > 0, ink[np.maximum(index - 1, 0)], low)
    index = np.searchsorted(ink, ends)  # the word itself is ink: what stands after it is the first beyond its end
    return left, np.where(index < len(ink), ink[np.minimum(index, len(ink) - 1)], high)


def _any_between(marks: Mask, left: Positions, right: Positions) -> Mask:
    """Return a mask of the pairs of positions, `left` and `right`, that have a marked byte between them."""
    counts = np.concatenate([[0], np.cumsum(marks)])
    between: Mask = counts[right] != counts[left + 1]
    return between
