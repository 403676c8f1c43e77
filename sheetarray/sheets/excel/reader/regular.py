"""Blocks of rows that hold nothing but numbers, all rows in the same columns: read by comparing bytes.

Such are most of the bytes of a large workbook, whoever wrote it. Quotes are found all at once; then every row must
have as many as the first one, and between them, eight bytes at a time, what the first one has, but for row numbers,
which count up, and for values, which the columnar engine parses meanwhile in another thread. As many tags as the first
row has, times the rows, and as many values as cells: so nothing else can stand anywhere. Any other block is none of
this module's (`worksheet`).

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

import re
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....columns.grid import column_number
from ....dtypes import Positions
from .cells import MOST_COLUMNS, MOST_ROWS
from .raw import RawCells
from .tags import TagWords, texts_after_tags

if TYPE_CHECKING:
    import polars as pl

_FEWEST_ROWS = 4
_LONGEST_ROW_TAG = 256  # bytes
_LONGEST_TAIL = 24  # bytes between the reference of a cell and its value
_WORD = 8  # bytes
_TAGS_OF_CELL, _TAGS_OF_ROW = 4, 2
_ROW_BEGINS, _ROW_ENDS, _CELL_ENDS, _CELL_BEGINS = b'<row r="', b"</row>", b"</v></c>", b'<c r="'
_ROW = re.compile(rb'<row r="([1-9][0-9]{0,6})(?:"[^"<>&]*+){1,64}?>(?=<c )')
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})((?:" s="([0-9]{1,6})|" t="n)*+"><v>)[-+.0-9Ee]++</v></c>')
_END = re.compile(rb"[-+.0-9Ee]++</v></c></row>\s*+")
_LESS, _GREATER, _QUOTE = (ord(mark) for mark in '<>"')
_THREE_DIGITS = np.array([int.from_bytes(b"%03d" % number, "little") for number in range(1000)], np.uint64)
_POWERS = 10 ** np.arange(1, 8)


@dataclass(frozen=True)
class RegularRows:
    """Rows of numbers, one under another, each with cells of the same columns and styles.

    Attributes:
        first: the first row, from 0.
        count: how many rows.
        columns: of the cells of a row, from 0.
        styles: of the cells of a row.
        values: of all cells, row by row: text or Float64.
    """

    first: int
    count: int
    columns: Positions
    styles: Positions
    values: pl.Series

    @property
    def after(self) -> int:
        """Return the row after the last one."""
        return self.first + self.count

    def cells(self) -> RawCells:
        """Return the cells, as those of any other block."""
        width, size = len(self.columns), len(self.values)
        return RawCells(
            np.repeat(np.arange(self.first, self.after), width),
            np.tile(self.columns, self.count),
            np.zeros(size, np.uint8),
            np.tile(self.styles, self.count),
            np.zeros(size, np.bool_),
            self.values,
            self.after,
            width,
        )


@dataclass(frozen=True)
class _FirstRow:
    """The row that all others of a block are compared with.

    Attributes:
        number: its number, from 1.
        quotes: how many there are in its tag.
        head: from the quote after its number up to that before the reference of its first cell.
        letters: of the column of each cell.
        tails: what stands between the digits of each cell's reference and its value.
        styles: of each cell.
    """

    number: int
    quotes: int
    head: bytes
    letters: list[bytes]
    tails: list[bytes]
    styles: list[int]


def regular_rows(block: bytes, *, numeric: bool, thread: Executor) -> RegularRows | None:
    """Return the rows of a block that is regular; None for any other.

    Args:
        block: from the tag of a row on, with at least 64 spaces at its end.
        numeric: give values as Float64.
        thread: where the columnar engine works meanwhile.
    """
    row = _first_row(block)
    if row is None:
        return None
    width = len(row.letters)
    columns = np.array([column_number(letters.decode()) for letters in row.letters])
    units = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(units == _QUOTE)
    count, rest = divmod(len(quotes), row.quotes + sum(1 + tail.count(b'"') for tail in row.tails))
    if rest or count < _FEWEST_ROWS or row.number + count - 1 > MOST_ROWS or columns.max() >= MOST_COLUMNS:
        return None
    texts = thread.submit(texts_after_tags, block, numeric)
    if not _Comparison(block, row, quotes.reshape(count, -1)).is_regular():
        return None
    tags = count * (_TAGS_OF_CELL * width + _TAGS_OF_ROW)
    if np.count_nonzero(units == _LESS) != tags or np.count_nonzero(units == _GREATER) != tags:
        return None
    values = texts.result()
    if values is None:
        return None
    values = values.drop_nulls()
    if len(values) == count * width + 1 and not numeric and not values[-1].strip():
        values = values[:-1]  # the spaces at the end of the block
    if len(values) != count * width:
        return None
    return RegularRows(row.number - 1, count, columns, np.array(row.styles), values)


def _first_row(block: bytes) -> _FirstRow | None:
    """Return the tags of the first row of a block; None if it is not a row of numbers."""
    row = _ROW.match(block)
    if row is None or row.end() > _LONGEST_ROW_TAG:
        return None
    letters, tails, styles = [], [], []
    place = row.end()
    while not block.startswith(_ROW_ENDS, place):
        cell = _CELL.match(block, place)
        if cell is None or cell[2] != row[1] or len(cell[3]) > _LONGEST_TAIL:
            return None
        letters.append(cell[1])
        tails.append(cell[3])
        styles.append(int(cell[4] or 0))
        place = cell.end()
    head = block[row.end(1) : row.end()] + _CELL_BEGINS
    return _FirstRow(int(row[1]), row[0].count(b'"'), head, letters, tails, styles)


class _Comparison:
    """Compares all rows of a block with its first one.

    Args:
        block: the rows.
        row: the first of them.
        quotes: where the quotes of each row are.
    """

    def __init__(self, block: bytes, row: _FirstRow, quotes: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> None:
        self._block, self._row, self._quotes = block, row, quotes
        self._words: TagWords = np.ndarray((len(block) - 7,), np.dtype("<u8"), block, 0, (1,))
        numbers = np.arange(row.number, row.number + len(quotes))
        self._digits = np.searchsorted(_POWERS, numbers, side="right") + 1
        self._unused = ((7 - self._digits) << 3).astype(np.uint64)  # bits of a word before the number and its quote
        millions, rest = np.divmod(numbers, 10**6)
        thousands, ones = np.divmod(rest, 1000)
        padded = (millions + ord("0")).astype(np.uint64) | _THREE_DIGITS[thousands] << np.uint64(8)
        padded |= _THREE_DIGITS[ones] << np.uint64(32) | np.uint64(_QUOTE << 56)
        self._numbers = padded >> self._unused

    def is_regular(self) -> bool:
        """Return whether every row is like the first one."""
        return self._rows_begin() and self._rows_end() and self._references() and self._tails()

    def _rows_begin(self) -> bool:
        """Return whether each row begins with its tag, with the number after the last one's, and with a cell."""
        opening, closing, first = (self._quotes[:, place] for place in (0, 1, self._row.quotes))
        head = self._row.head
        if (closing - opening != self._digits + 1).any() or (first - closing != len(head) - 1).any():
            return False
        begins = opening - (len(_ROW_BEGINS) - 1)
        if begins[0] != 0 or (self._words[begins] != _word(_ROW_BEGINS)).any():
            return False
        if ((self._words[closing - 7] >> self._unused) != self._numbers).any():
            return False
        starts = [*range(0, len(head) - _WORD, _WORD), len(head) - _WORD]
        return not any((self._words[closing + start] != _word(head[start : start + _WORD])).any() for start in starts)

    def _rows_end(self) -> bool:
        """Return whether each row ends with a cell and its own end tag, right before the next row."""
        ends = _CELL_ENDS + _ROW_ENDS
        begins = self._quotes[1:, 0] - (len(_ROW_BEGINS) - 1)
        if (self._words[begins - _WORD] != _word(ends[-_WORD:])).any():
            return False
        if (self._words[begins - len(ends)] != _word(ends[:_WORD])).any():
            return False
        last = int(self._quotes[-1, -1]) + self._row.tails[-1].rfind(b">") - self._row.tails[-1].rfind(b'"') + 1
        return _END.fullmatch(self._block, last) is not None

    def _references(self) -> bool:
        """Return whether each cell follows the one before at once, and begins with the reference that is due."""
        row = self._row
        quotes = np.array([1 + tail.count(b'"') for tail in row.tails])
        self._opening = row.quotes + np.cumsum(quotes) - quotes
        length = np.array([len(letters) for letters in row.letters])
        opening, closing = self._quotes[:, self._opening], self._quotes[:, self._opening + 1]
        if (closing - opening != self._digits[:, None] + (length + 1)).any():
            return False
        if ((self._words[closing - 7] >> self._unused[:, None]) != self._numbers[:, None]).any():
            return False
        before = [row.head, *[_CELL_ENDS + _CELL_BEGINS] * (len(row.letters) - 1)]
        texts = [text + letters for text, letters in zip(before, row.letters, strict=True)]
        if (self._words[opening + (length - 7)] != np.array([_word(text[-_WORD:]) for text in texts])).any():
            return False
        further = [text[-2 * _WORD : -_WORD] for text in texts[1:]]  # that before the first cell has been compared
        shifts = np.array([8 * (_WORD - len(text)) for text in further], np.uint64)
        words = self._words[opening[:, 1:] + (length[1:] - 15)] >> shifts
        return not (words != np.array([_word(text) for text in further], np.uint64)).any()

    def _tails(self) -> bool:
        """Return whether what follows each reference is what follows it in the first row."""
        tails = self._row.tails
        lengths = np.array([len(tail) for tail in tails])
        closing = self._quotes[:, self._opening + 1]
        for start in range(0, int(lengths.max()), _WORD):
            longer = np.flatnonzero(lengths > start)
            starts = np.maximum(np.minimum(lengths[longer] - _WORD, start), 0)
            pieces = [tails[place][at : at + _WORD] for place, at in zip(longer.tolist(), starts.tolist(), strict=True)]
            masks = np.array([2 ** (8 * len(piece)) - 1 for piece in pieces], np.uint64)
            words = self._words[(closing if start == 0 else closing[:, longer]) + starts] & masks
            if (words != np.array([_word(piece) for piece in pieces], np.uint64)).any():
                return False
        return True


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))
