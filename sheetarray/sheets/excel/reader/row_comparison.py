"""Whether all rows of a block are like its first one, but for row numbers, which count up, and for values."""

from __future__ import annotations

import numpy as np

from ....dtypes import Positions
from .first_row import CELL_BEGINS, ROW_BEGINS, ROW_ENDS, FirstRow
from .tags import TagWords

Places = np.ndarray[tuple[int, int], np.dtype[np.int64]]

_WORD = 8  # bytes
_QUOTE = ord('"')
_THREE_DIGITS = np.array([int.from_bytes(b"%03d" % number, "little") for number in range(1000)], np.uint64)
_POWERS = 10 ** np.arange(1, 8)


class RowComparison:
    """Compares all rows of a block with its first one.

    Args:
        block: the rows.
        row: the first of them.
        quotes: where the quotes of each row are.

    Attributes:
        row: the first of the rows.
        count: how many there are.
        begins: where the tag of each row begins.
    """

    def __init__(self, block: bytes, row: FirstRow, quotes: Places) -> None:
        self._block, self.row, self._quotes = block, row, quotes
        self.count = len(quotes)
        self.begins = quotes[:, 0] - (len(ROW_BEGINS) - 1)
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

    def find_values(self) -> Positions:
        """Return the place of each cell's value, row by row, in a block that is regular."""
        places: Positions = (self._closing + np.array([len(tail) for tail in self.row.tails])).ravel()
        return places

    def find_ends(self) -> Places:
        """Return the place of the tag after each cell's value, in a block that is regular, with one line a row."""
        after = [len(tags) for tags in self.row.ends]
        ends = np.empty(self._opening.shape, np.int64)
        ends[:, :-1] = self._opening[:, 1:] - (np.array(after[:-1], np.int64) + len(CELL_BEGINS) - 1)
        ends[:-1, -1] = self.begins[1:] - (after[-1] + len(ROW_ENDS))
        ends[-1, -1] = self._block.rindex(self.row.ends[-1] + ROW_ENDS)
        return ends

    def _rows_begin(self) -> bool:
        """Return whether each row begins with its tag, with the number after the last one's, and with a cell."""
        opening, closing, first = (self._quotes[:, place] for place in (0, 1, self.row.quotes))
        head = self.row.head
        if (closing - opening != self._digits + 1).any() or (first - closing != len(head) - 1).any():
            return False
        if self.begins[0] != 0 or (self._words[self.begins] != _word(ROW_BEGINS)).any():
            return False
        if ((self._words[closing - 7] >> self._unused) != self._numbers).any():
            return False
        starts = [*range(0, len(head) - _WORD, _WORD), len(head) - _WORD]
        return not any((self._words[closing + start] != _word(head[start : start + _WORD])).any() for start in starts)

    def _rows_end(self) -> bool:
        """Return whether each row ends with a cell and its own end tag, right before the next row."""
        ends = self.row.ends[-1] + ROW_ENDS
        begins = self.begins[1:]
        for stop in range(len(ends), 0, -_WORD):
            piece = ends[max(stop - _WORD, 0) : stop]
            words = self._words[begins - (len(ends) - stop + _WORD)]
            if (words >> np.uint64(8 * (_WORD - len(piece))) != _word(piece)).any():
                return False
        tail = self.row.tails[-1]
        return self.row.ends_at(self._block, int(self._quotes[-1, -1]) + len(tail) - tail.rfind(b'"'))

    def _references(self) -> bool:
        """Return whether each cell follows the one before at once, and begins with the reference that is due."""
        row = self.row
        quotes = np.array([1 + tail.count(b'"') for tail in row.tails])
        which = row.quotes + np.cumsum(quotes) - quotes
        length = np.array([len(letters) for letters in row.letters])
        opening, closing = self._select(which), self._select(which + 1)
        self._opening, self._closing = opening, closing
        if (closing - opening != self._digits[:, None] + (length + 1)).any():
            return False
        if ((self._words[closing - 7] >> self._unused[:, None]) != self._numbers[:, None]).any():
            return False
        texts = [b"", *(ends + CELL_BEGINS for ends in row.ends[:-1])]
        texts[0] = row.head[-_WORD:]  # all of it has been compared
        return self._stand_before(
            [text + letters for text, letters in zip(texts, row.letters, strict=True)], opening + length + 1
        )

    def _select(self, which: Positions) -> Places:
        """Return the places of some quotes of each row, without a copy where they are equally far apart."""
        steps = np.diff(which)
        if len(steps) and (steps == steps[0]).all():
            return self._quotes[:, which[0] : which[-1] + 1 : steps[0]]
        return self._quotes[:, which]

    def _stand_before(self, texts: list[bytes], places: Places) -> bool:
        """Return whether in each row, before each place, stands the text of its column."""
        for back in range(0, max(map(len, texts)), _WORD):
            longer = [column for column, text in enumerate(texts) if len(text) > back]
            pieces = [texts[column][: len(texts[column]) - back][-_WORD:] for column in longer]
            shifts = np.array([8 * (_WORD - len(piece)) for piece in pieces], np.uint64)
            some = places if len(longer) == len(texts) else places[:, longer]
            words = self._words[some - (back + _WORD)]
            if shifts.any():
                words >>= shifts
            if (words != np.array([_word(piece) for piece in pieces], np.uint64)).any():
                return False
        return True

    def _tails(self) -> bool:
        """Return whether what follows each reference is what follows it in the first row."""
        tails = self.row.tails
        lengths = np.array([len(tail) for tail in tails])
        closing = self._closing
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
