"""Compares all rows of a block with its first one: only row numbers, which count up, and values may differ.

Between two values stands a gap: tags, with the number of the row in one place or two. Rows whose numbers have the same
number of digits have gaps of equal length. So all gaps of some columns are copied at once, each as one item of that
length, and an exclusive or with the gap of the first row, eight bytes at a time, must leave nothing but zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....dtypes import Positions
from .first_row import ROW_BEGINS, FirstRow

Places = np.ndarray[tuple[int, int], np.dtype[np.int64]]
_Words = np.ndarray[tuple[int], np.dtype[np.uint64]]

_WORD = 8  # bytes
_ZERO = ord("0")
_THREE_DIGITS = np.array([int.from_bytes(b"%03d" % number, "little") for number in range(1000)], np.uint64)
_LAST_DIGITS = _THREE_DIGITS << np.uint64(32)
_MOST_DIGITS = 7
_COMPARED_AT_ONCE = 2**20  # bytes, which stay in the processor's cache
_LONG_STRETCH = 64  # words; NumPy is slow with shorter ones


class RowComparison:
    """Compares all rows of a block with its first one.

    Args:
        block: the rows, with at least 64 spaces at its end.
        row: the first of them.
        marks: the places of the byte `row.mark`, row by row, from which the places of gaps follow.

    Attributes:
        row: the first of the rows.
        count: the number of rows.
        begins: the byte at which the tag of each row begins.
    """

    def __init__(self, block: bytes, row: FirstRow, marks: Places) -> None:
        self._block, self.row, self._marks = block, row, marks
        self.count = len(marks)
        self.begins = marks[:, 0] - ROW_BEGINS.index(row.mark)
        counts = [b"".join(gap).count(row.mark) for gap in row.gaps]
        self._first_marks = np.cumsum([0, *counts[:-1]])
        self._starts: Places = np.empty((len(marks), len(row.gaps)), np.int64)
        self._ends: Places = np.empty_like(self._starts)

    def is_regular(self) -> bool:
        """Return whether every row is like the first one."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for column, gap in enumerate(self.row.gaps):
            shapes.setdefault(tuple(map(len, gap)), []).append(column)
        most = max(_COMPARED_AT_ONCE // sum(_MOST_DIGITS + sum(map(len, gap)) for gap in self.row.gaps), 1)
        alike = all(
            self._are_alike(start, stop, digits, columns)
            for start, stop, digits in _equal_digits(self.row.number, len(self._marks), most)
            for columns in shapes.values()
        )
        starts, ends = self._starts.ravel(), self._ends.ravel()
        return alike and bool((starts[1:] > ends[:-1]).all()) and self.row.ends_at(self._block, int(ends[-1]))

    def find_values(self) -> Places:
        """Return the byte at which each cell's value begins, row by row; only after `is_regular` has returned True."""
        return self._ends

    def find_ends(self) -> Places:
        """Return the byte after each cell's value, row by row; only after `is_regular` has returned True."""
        last = self._block.index(b"<", int(self._ends[-1, -1]))
        return np.append(self._starts.ravel()[1:], last).reshape(self._ends.shape)

    def _are_alike(self, start: int, stop: int, digits: int, columns: list[int]) -> bool:
        """Return whether some gaps of some rows are those of the first row, except the rows' numbers.

        Args:
            start: the index of the first of these rows.
            stop: the index after the last of them.
            digits: the number of digits of their row numbers.
            columns: the indices of the gaps in a row; the pieces of all these gaps must have the same lengths.
        """
        gaps = [self.row.gaps[column] for column in columns]
        hole = b"\0" * digits
        texts = [hole.join(gap) for gap in gaps]
        length = len(texts[0])
        marks = self._marks[start:stop, _as_slice(self._first_marks[columns])]
        places = np.ascontiguousarray(marks) - texts[0].index(self.row.mark)  # an index array gives transposed copies
        where = _as_slice(np.array(columns))
        self._starts[start:stop, where] = places
        self._ends[start:stop, where] = places + length
        first = start + (start == 0 == columns[0])  # the gap before the first row is not in the block
        places = places[first - start :]
        words = -(-length // _WORD)
        if not places.size:
            return True
        if places[0, 0] < 0 or places[-1, -1] + words * _WORD > len(self._block):
            return False
        items = np.ndarray((len(self._block) - words * _WORD + 1,), f"V{words * _WORD}", self._block, 0, (1,))
        copies: _Words = items[places].view(np.uint64).ravel()
        _remove(copies, np.frombuffer(b"".join(text.ljust(words * _WORD, b"\0") for text in texts), np.uint64))
        numbers = _digits_of(self.row.number + first, self.row.number + stop, digits)[:, None]
        cells = copies.reshape(*places.shape, words)
        at = 0
        for piece in gaps[0][:-1]:
            at += len(piece)
            word, shift = at // _WORD, 8 * (at % _WORD)
            cells[:, :, word] ^= numbers << np.uint64(shift)
            if shift + 8 * digits > 8 * _WORD:
                cells[:, :, word + 1] ^= numbers >> np.uint64(8 * _WORD - shift)
            at += digits
        if length % _WORD:
            cells[:, :, -1] &= np.uint64(2 ** (8 * (length % _WORD)) - 1)
        return not copies.max()


def _equal_digits(number: int, count: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield stretches of rows whose row numbers have the same number of digits.

    Of each stretch come the index of its first row, the index after its last row, and that number of digits.

    Args:
        number: of the first row, from 1.
        count: the number of rows.
        most: rows that a stretch may have.
    """
    start = 0
    while start < count:
        digits = len(str(number + start))
        stop = min(count, start + most, 10**digits - number)
        yield start, stop, digits
        start = stop


def _digits_of(first: int, after: int, digits: int) -> _Words:
    """Return the decimal digits of successive numbers as words, with the first digit in the lowest byte.

    The last three digits are looked up in a table for each number; those before them, once for a thousand numbers.

    Args:
        first: the first number.
        after: the number after the last one.
        digits: the number of digits that all of them have.
    """
    begin = first - first % 1000
    millions, thousands = np.divmod(np.arange(begin // 1000, -(-after // 1000)), 1000)
    upper = (millions + _ZERO).astype(np.uint64) | _THREE_DIGITS[thousands] << np.uint64(8)
    padded = (upper[:, None] | _LAST_DIGITS).ravel()[first - begin : after - begin]
    digits_first: _Words = padded >> np.uint64(8 * (_MOST_DIGITS - digits))
    return digits_first


def _remove(copies: _Words, pattern: _Words) -> None:
    """Put the exclusive or of words and of a pattern, repeated as often as they need it, in place of the words."""
    pattern = np.tile(pattern, -(-_LONG_STRETCH // len(pattern)))
    whole = len(copies) - len(copies) % len(pattern)
    stretches = copies[:whole].reshape(-1, len(pattern))
    stretches ^= pattern
    copies[whole:] ^= pattern[: len(copies) - whole]


def _as_slice(places: Positions) -> slice | Positions:
    """Return a slice for places that are equally far apart, since indexing by it takes no copy; others unchanged."""
    steps = np.diff(places)
    if len(steps) and (steps == steps[0]).all():
        return slice(int(places[0]), int(places[-1]) + 1, int(steps[0]))
    return places
