"""Finds the ends of lists in a JSON text, and positions at which they can be cut, without parsing long lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ...dtypes import Positions
from ...files import BytesLike, release_pages

_FIRST_BLOCK, _BLOCK = 2**10, 2**22  # bytes that are searched at once: most lists of very many are short
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _COMMA, _OPENS, _CLOSES = (ord(mark) for mark in '",[]')


def find_list_end(text: BytesLike, at: int, *, textual: bool) -> int:
    """Return the position after the bracket that ends a list; 0 for a list that does not end, or holds another list.

    Args:
        text: JSON in UTF-8.
        at: a position in the list, between two of its items.
        textual: whether the list holds strings, in which brackets mean nothing.
    """
    within, size = False, min(_FIRST_BLOCK, _BLOCK)
    while at < len(text):
        block = _block_from(text, at, size)
        size = min(8 * size, _BLOCK)
        if not textual:
            end = block.find(b"]")
            if end >= 0:
                return at + end + 1
        else:
            units, outside, within = _outside(block, within)
            brackets = np.flatnonzero(((units == _OPENS) | (units == _CLOSES)) & outside)
            if len(brackets):
                first = int(brackets[0])
                return at + first + 1 if units[first] == _CLOSES else 0
        release_pages(text, at, at + len(block))
        at += len(block)
    return 0


def cut_items(text: BytesLike, start: int, end: int, size: int) -> Iterator[bytes]:
    """Yield the items of a list some at a time, as text, without the commas around them.

    Args:
        text: JSON in UTF-8.
        start: the position at which the first item begins.
        end: the position of the bracket that ends the list.
        size: of a piece, in bytes; a single item may be longer.
    """
    while start < end:
        most = size
        while True:
            block = _block_from(text, start, min(most, end - start))
            if start + len(block) >= end:
                stop = after = end
                break
            units, outside, _ = _outside(block, within=False)
            commas = np.flatnonzero((units == _COMMA) & outside)
            if len(commas):
                stop = start + int(commas[-1])
                after = stop + 1
                break
            most *= 4
        yield bytes(text[start:stop])
        release_pages(text, start, after)
        start = after
        if start == end and stop < end:
            yield b""  # a comma with nothing after it is no JSON


def _block_from(text: BytesLike, at: int, size: int) -> bytes:
    """Return about `size` bytes of a text, so that no escape such as \\" is cut in two."""
    block = bytes(text[at : at + size])
    slashes = len(block) - len(block.rstrip(b"\\"))
    return block + bytes(text[at + len(block) : at + len(block) + 1]) if slashes % 2 else block


def _outside(block: bytes, within: bool) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint8]], Positions, bool]:
    """Return the bytes of a block, the positions of those that are in no string, and whether it ends in a string.

    Args:
        block: of JSON; no escape is cut in two.
        within: whether it begins in a string.
    """
    plain = _ESCAPE.sub(b"__", block) if b"\\" in block else block
    units = np.frombuffer(plain, np.uint8)
    quotes = units == _QUOTE
    if not quotes.any():
        return units, np.full(len(units), not within), within
    odd = np.logical_xor.accumulate(quotes)
    return units, ~odd if not within else odd, bool(odd[-1]) ^ within
