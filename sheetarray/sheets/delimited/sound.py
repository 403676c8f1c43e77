"""Makes a text sound: changes quotes and line ends that readers understand differently, so that all split it alike.

A text that does not follow RFC 4180 is read tolerantly: a quote opens a cell only as its first character; text after a
closing quote belongs to the cell; a lone carriage return ends a record. A quote that is never closed is an error, since
every row after it would be lost in one cell. The text keeps its length, so that positions in it stay the same: a quote
that is only a character is replaced by a character that the text does not have.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

import numpy as np

from ...dtypes import Mask, Positions
from ...errors import FormatError
from .search import Units

_QUOTE, _FEED, _RETURN = ord('"'), ord("\n"), ord("\r")
_STAND_INS = b"\x07\x06\x05\x04\x03\x02\x01\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a"
_BLOCK = 2**22


def make_sound(content: Units, start: int, delimiter: str) -> tuple[bytearray, str]:
    """Return the text with sound quotes and line ends, and the character that stands for quotes in it ("" for none).

    Args:
        content: the text in UTF-8.
        start: where it begins, after a byte order mark.
        delimiter: between cells.

    Raises:
        FormatError: a quote is never closed; or there are stray quotes, and every control character stands in the
            text.
    """
    text = bytearray(content)
    units = np.frombuffer(text, np.uint8)
    opening, closing, unclosed = _quoted_cells(units, start, ord(delimiter))
    _end_records(units, opening, closing)
    if unclosed:
        raise FormatError(
            "a quote opens a cell here, and is never closed",
            location=f"line {np.count_nonzero(units[: opening[-1]] == _FEED) + 1}",
            hint="the text is cut off, or a quote is missing; one that is a character of its cell is written as two "
            "within quotes",
        )
    stand_in = _replace_strays(text, units, opening, closing, delimiter)
    del units
    _move_closing_quotes(text, closing, delimiter)
    return text, stand_in


def _find_positions(units: Units, unit: int) -> Positions:
    return np.concatenate(
        [np.flatnonzero(units[first : first + _BLOCK] == unit) + first for first in range(0, len(units) or 1, _BLOCK)]
    )


def _quoted_cells(units: Units, start: int, mark: int) -> tuple[Positions, Positions, bool]:
    """Return the positions of the quotes that open cells, of those that close them, and whether the last one is never
    closed.
    """
    quotes = _find_positions(units, _QUOTE)
    quotes = quotes[quotes >= start]
    if not len(quotes):
        return quotes, quotes, False
    first = np.flatnonzero(np.diff(quotes, prepend=-2) > 1)  # of each run of quotes
    begins, lengths = quotes[first], np.diff(first, append=len(quotes))
    before = units[begins - 1]
    opens = (begins == start) | (before == mark) | (before == _FEED) | (before == _RETURN)
    is_odd = lengths % 2 == 1
    count = len(begins)
    next_odd, next_open = _next(is_odd, count), _next(opens, count)
    del before, quotes
    opening, closing = array("q"), array("q")  # there may be millions
    run = int(next_open[0])
    odd, odd_after, open_after = memoryview(is_odd.data), memoryview(next_odd.data), memoryview(next_open.data)
    while run < count:
        opening.append(run)
        end = odd_after[run + 1] if odd[run] else run
        closing.append(end)
        run = open_after[end + 1] if end < count else count
    unclosed = bool(closing) and closing[-1] == count
    ends = begins + lengths - 1
    opened = begins[np.frombuffer(opening, np.int64)]
    closed = np.append(ends, len(units))[np.frombuffer(closing, np.int64)]
    return opened, closed, unclosed


def _next(marks: Mask, count: int) -> np.ndarray[tuple[int], np.dtype[Any]]:
    """Return for each index the next one, itself included, at which `marks` is True; `count` after the last."""
    small = np.int32 if count < 2**31 - 1 else np.int64
    index = np.full(count + 2, count, small)
    index[:count][marks] = np.flatnonzero(marks)
    return np.minimum.accumulate(index[::-1])[::-1].copy()


def _end_of_quoted(
    positions: Positions,
    opening: Positions,
    closing: Positions,
) -> Mask:
    """Return a mask of the positions that lie in quoted cells, from one quote to the other."""
    if not len(opening):
        return np.zeros(len(positions), np.bool_)
    index = np.searchsorted(opening, positions, side="right") - 1
    inside: Mask = (index >= 0) & (positions <= closing[np.maximum(index, 0)])
    return inside


def _end_records(
    units: Units,
    opening: Positions,
    closing: Positions,
) -> None:
    """Make line feeds of lone carriage returns that stand in no quotes."""
    for first in range(0, len(units), _BLOCK):
        returns = np.flatnonzero(units[first : first + _BLOCK] == _RETURN) + first
        after = units[np.minimum(returns + 1, len(units) - 1)]
        alone = returns[(after != _FEED) | (returns == len(units) - 1)]
        units[alone[~_end_of_quoted(alone, opening, closing)]] = _FEED


def _replace_strays(
    text: bytearray,
    units: Units,
    opening: Positions,
    closing: Positions,
    delimiter: str,
) -> str:
    """Replace the quotes that neither open nor close a cell, nor are one of a pair within; return the character that
    stands for them.
    """
    stand_in = ""
    for first in range(0, len(units), _BLOCK):
        quotes = np.flatnonzero(units[first : first + _BLOCK] == _QUOTE) + first
        strays = quotes[~_end_of_quoted(quotes, opening, closing)]
        if len(strays):
            stand_in = stand_in or next(
                (chr(byte) for byte in _STAND_INS if byte not in text and chr(byte) != delimiter), ""
            )
            if not stand_in:
                raise FormatError(
                    "quotes within cells, and every control character stands in the text",
                    hint="write the text with quotes as RFC 4180 has it",
                )
            units[strays] = ord(stand_in)
    return stand_in


def _move_closing_quotes(text: bytearray, closing: Positions, delimiter: str) -> None:
    """Move each closing quote to the end of its cell, if text follows it."""
    stop = re.compile(rb"[\r\n" + re.escape(delimiter).encode() + rb"]|\Z")
    around = np.frombuffer(f"\r\n{delimiter}".encode(), np.uint8)
    within = closing[closing + 1 < len(text)]
    units = np.frombuffer(text, np.uint8)
    early = within[~np.isin(units[within + 1], around)].tolist()
    del units
    for position in early:
        match = stop.search(text, position + 1)
        assert match is not None
        end = match.start()
        text[position : end - 1] = text[position + 1 : end]
        text[end - 1] = _QUOTE
