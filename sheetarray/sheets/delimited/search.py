"""Finds the words of headers in bytes, whatever stands around them.

Text without the letters of the words, such as numbers, is passed over at the speed of memory; other text is searched
for all words at once by the columnar engine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

import numpy as np

from ...columns.words import LONGEST_WORD, NONE, WORDS, WordCodes
from ...dtypes import Positions
from ...files import BytesLike

Units = np.ndarray[tuple[int], np.dtype[np.uint8]]

_BLOCK = 2**16  # bytes that are looked at for letters: a block stays in the processor's cache
_MOST_AT_ONCE = 2**24  # bytes that are searched for words
_FEW, _FEW_UNLOADED = 2**14, 2**21  # bytes that are searched without the engine, which takes a while to be imported
_LETTERS = [bytes([byte]) for byte in b"dpogDPOG"]  # every word has one of them, and no number has
_HIGHEST_DIGIT = ord("9")
_QUOTE = ord('"')
_INNER = np.array([(chr(byte).isalnum() and byte < 128) or byte == ord("_") for byte in range(256)])
_LOWER = bytes(byte + 32 if 65 <= byte <= 90 else byte if byte < 128 else 1 for byte in range(256))
_PATTERN = re.compile("|".join(WORDS).encode())
LENGTHS = np.array([len(word) for word in WORDS], np.int64)
_FIRST_TWO = np.full(2**16, NONE, np.uint8)
for _code, _word in enumerate(WORDS):
    _FIRST_TWO[ord(_word[0]) << 8 | ord(_word[1])] = _code


def find_words(
    content: Units, start: int = 0, report: Callable[[float], None] | None = None
) -> Iterator[tuple[Positions, WordCodes]]:
    """Yield the positions of the words and their codes in some bytes, in their order, piece by piece.

    `content`: the bytes of a text in UTF-8. `start`: where to begin. `report`: is called with the share of the text,
    from 0 to 1, that has been searched; None for no call.
    """
    for first, end in _spans(content, start, report):
        text = content[first : min(end + LONGEST_WORD, len(content))].tobytes().translate(_LOWER)
        positions = _find_positions(text)
        positions = positions[positions < end - first]
        if len(positions):
            units = np.frombuffer(text, np.uint8)
            pairs = units[positions].astype(np.uint16) << 8 | units[positions + 1]
            yield positions + first, _FIRST_TWO[pairs]


def has_words(content: BytesLike | Units, start: int) -> bool:
    """Return whether a word occurs in the bytes of a text, from a position on."""
    return next(find_words(np.frombuffer(content, np.uint8), start), None) is not None


def may_be_cells(content: Units, positions: Positions, codes: WordCodes, *, quotes: bool) -> bool:
    """Return whether one of some words may be the whole content of its cell: no letter or digit stands beside it.

    `content`: the bytes of the text, in which no word is at the very beginning. `quotes`: whether all quotes are
    sound, so that two quotes before a word are a character of its cell.
    """
    after = positions + LENGTHS[codes]
    inner = _INNER[content[positions - 1]]
    inner |= _INNER[content[np.minimum(after, len(content) - 1)]] & (after < len(content))
    if quotes:
        inner |= (content[positions - 1] == _QUOTE) & (content[positions - 2] == _QUOTE)
    return not bool(inner.all())


def _spans(content: Units, start: int, report: Callable[[float], None] | None) -> Iterator[tuple[int, int]]:
    """Yield the spans of bytes that may hold words; the arguments are those of `find_words`."""
    first = start
    for position in range(start, len(content), _BLOCK):
        if report is not None and (position - start) % _MOST_AT_ONCE == 0:
            report(min(first, position) / len(content))
        end = min(position + _BLOCK, len(content))
        block = content[position : end + LONGEST_WORD]  # a word may begin in one block and end in the next
        if block.max() <= _HIGHEST_DIGIT or not _has_letters(block.tobytes()):
            if first < position:
                yield first, position
            first = end
        elif end - first >= _MOST_AT_ONCE:
            yield first, end
            first = end
    if first < len(content):
        yield first, len(content)


def _has_letters(block: bytes) -> bool:
    return any(letter in block for letter in _LETTERS)


def _find_positions(text: bytes) -> Positions:
    if len(text) <= (_FEW if "polars" in sys.modules else _FEW_UNLOADED):
        return np.array([match.start() for match in _PATTERN.finditer(text)], np.int64)
    import polars as pl

    positions: Positions = pl.Series([text.decode("ascii")]).str.find_many(list(WORDS))[0].to_numpy().astype(np.int64)
    return positions
