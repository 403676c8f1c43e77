"""The blocks of a delimited text, which are looked at one by one and only as far as asked.

A record ends at a line feed that stands in no quotes, and a cell at a delimiter. Quotes are sound where each opens a
cell, closes one, or is one of a pair within, and no carriage return stands alone outside of them: then every reader
splits alike. A text that is not sound is made so first (`sound`), and only then split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...dtypes import Mask, Positions
from ...files import BytesLike
from .search import Units

BLOCK = 2**20  # bytes that are split at once
_LOOKED_AT = 2**17  # bytes that are looked at for returns: they and what is made of them stay in the processor's cache
RETURN, FEED, QUOTE = ord("\r"), ord("\n"), ord('"')


class UnsoundError(Exception):
    """Readers would differ on where the records of the text end."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The state of a text before one of its blocks of bytes.

    Attributes:
        row: the number of the record in which the block begins, counted from 0.
        quoted: whether it begins within quotes.
        delimiters: the number of delimiters of that record that stand before the block.
        start: the position at which that record begins.
    """

    row: int
    quoted: bool
    delimiters: int
    start: int


class Blocks:
    """The blocks of a text of sound quotes: the number of records in each, and the positions at which they begin.

    Args:
        content: the text in UTF-8.
        start: the position at which it begins, after a byte order mark.
        delimiter: between cells; "" where each record is one cell.

    Attributes:
        report: is called with the share of the text, from 0 to 1, that has been looked at; None for no call.
    """

    def __init__(self, content: Units, start: int, delimiter: str) -> None:
        self.content, self.start, self.delimiter = content, start, delimiter
        self.mark = ord(delimiter) if delimiter else -1
        self.known = [TextBlock(0, False, 0, start)]
        self.report: Callable[[float], None] | None = None
        self._last_starts: tuple[int, Positions] = -1, np.zeros(0, np.int64)

    @property
    def count(self) -> int:
        """Return the number of blocks in the text."""
        return -(-(len(self.content) - self.start) // BLOCK)

    def numbers_of(self, positions: Positions) -> Positions:
        """Return the number of the block in which each of some positions of the text lies."""
        return (positions - self.start) // BLOCK

    def bounds(self, index: int) -> tuple[int, int]:
        """Return the first byte of a block in the text, and the one after its last."""
        first = self.start + index * BLOCK
        return first, min(first + BLOCK, len(self.content))

    def block(self, index: int) -> TextBlock:
        """Return a block, after all before it have been looked at.

        Raises:
            UnsoundError: the text is unsound before this block.
        """
        while len(self.known) <= index:
            number = len(self.known) - 1
            last, (first, end) = self.known[-1], self.bounds(number)
            units = self.content[first:end]
            quotes = self.quotes(first, end, last.quoted)
            ends = self.ends(first, end, quotes, last.quoted)
            start, delimiters = last.start, last.delimiters
            if len(ends):
                start, delimiters = first + int(ends[-1]) + 1, 0
            if self.mark >= 0:
                since = max(start - first, 0)
                marks = units[since:] == self.mark
                if len(quotes) or last.quoted:
                    marks &= ~are_within(np.arange(since, len(units)), quotes, last.quoted)
                delimiters += int(np.count_nonzero(marks))
            quoted = last.quoted ^ bool(len(quotes) % 2)
            self.known.append(TextBlock(last.row + len(ends), quoted, delimiters, start))
            if self.report is not None:
                self.report(number / self.count)
        return self.known[index]

    def quotes(self, first: int, end: int, quoted: bool) -> Positions:
        """Return the positions of the quotes in some bytes, counted from their first."""
        units = self.content[first:end]
        marks = units == QUOTE
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
        around: Mask = (units == QUOTE) | (units == FEED) | (units == RETURN) | (units == self.mark)
        return around

    def ends(self, first: int, end: int, quotes: Positions, quoted: bool) -> Positions:
        """Return the positions of the line feeds that end records in some bytes, counted from their first."""
        units = self.content[first:end]
        ends = np.flatnonzero(units == FEED)
        returns = units == RETURN
        if returns.any():
            after = np.append(units[1:], self.content[end] if end < len(self.content) else 0)
            alone = np.flatnonzero(returns & (after != FEED))
            if len(alone) and not are_within(alone, quotes, quoted).all():
                raise UnsoundError
        if (len(quotes) or quoted) and len(ends):
            ends = ends[~are_within(ends, quotes, quoted)]
        return ends

    def check_sound(self) -> None:
        """Look at the whole text.

        Raises:
            UnsoundError: readers would differ on where its records end.
        """
        if self.block(self.count).quoted:
            raise UnsoundError

    def starts(self, number: int) -> Positions:
        """Return the positions at which records begin after the line feeds of a block."""
        first, end = self.bounds(number)
        quoted = self.block(number).quoted
        if first >= len(self.content):
            return np.zeros(0, np.int64)
        if self._last_starts[0] != number:
            starts = self.ends(first, end, self.quotes(first, end, quoted), quoted) + (first + 1)
            self._last_starts = number, starts
        return self._last_starts[1]

    def marks(self, number: int, quotes: Positions) -> Positions:
        """Return the positions of the delimiters in a block, counted from its first byte."""
        first, end = self.bounds(number)
        marks = np.flatnonzero(self.content[first:end] == self.mark)
        quoted = self.block(number).quoted
        return marks[~are_within(marks, quotes, quoted)] if len(quotes) or quoted else marks


def are_within(positions: Positions, quotes: Positions, quoted: bool) -> Mask:
    """Return a mask of the positions that stand within quotes."""
    if not len(quotes):
        return np.full(len(positions), quoted)
    within: Mask = (np.searchsorted(quotes, positions) + quoted) % 2 == 1
    return within


def end_of_rows(content: BytesLike, start: int, size: int, delimiter: str) -> int:
    """Return the end of the record in which a piece of a text ends.

    Args:
        content: the text in UTF-8.
        start: the position at which the piece begins, and a record with it.
        size: of the piece, in bytes.
        delimiter: between cells; "" where each record is one cell.

    Raises:
        UnsoundError: readers would differ on where records end.
    """
    end = start + size
    while True:
        end = content.find(b"\n", end) + 1 or len(content)
        if content.find(b'"', start, end) < 0:
            return end
        blocks = Blocks(np.frombuffer(content, np.uint8)[start:end], 0, delimiter)
        last = blocks.block(blocks.count)
        if not last.quoted:
            return end
        if last.start:
            return start + last.start
        if end == len(content):
            raise UnsoundError  # a quote that is never closed
        end += size


def has_lone_returns(content: Units, start: int) -> bool:
    """Return whether a carriage return stands without a line feed after it."""
    returns, others = np.empty(_LOOKED_AT, np.bool_), np.empty(_LOOKED_AT, np.bool_)
    for first in range(start, len(content) - 1, _LOOKED_AT):
        units = content[first : first + _LOOKED_AT + 1]
        count = len(units) - 1
        np.equal(units[:-1], RETURN, out=returns[:count])
        np.not_equal(units[1:], FEED, out=others[:count])
        if np.logical_and(returns[:count], others[:count], out=returns[:count]).any():
            return True
    return len(content) > start and int(content[-1]) == RETURN
