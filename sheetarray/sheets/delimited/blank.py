"""Drops very many blank lines from the text of a table, and remembers the row of each line that is left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...dtypes import Positions
from .search import Units

_MANY = 10_000  # blank lines; fewer take no time
_BLOCK = 2**22  # bytes
_LOOKED_AT = 2**16  # bytes that are looked at for line feeds: they stay in the processor's cache
_QUOTE, _FEED, _HIGHEST_WHITE = ord('"'), ord("\n"), ord(" ")


def drop_blank_lines(content: Units, start: int, delimiter: str) -> tuple[bytes, Positions] | None:
    """Return a text without its blank lines, and the row of each line that is left; None if the lines matter or are
    few.

    They matter in a text of one column, where each may be a missing value. In a text with quotes only blank lines above
    the first quote and below the last one are dropped: others may be part of a cell.

    Args:
        content: a text of sound quotes and line ends, in UTF-8.
        start: where it begins.
        delimiter: between cells.
    """
    if not _may_have_many(content, start):
        return None
    first, last = _find_quotes(content, start)
    unquoted = [content[start:first], content[last + 1 :]]
    if not any((units == ord(delimiter)).any() for units in unquoted):
        return None
    is_ink = np.ones(256, np.bool_)
    is_ink[list(b" \t\v\f\r\n")] = False
    is_ink[ord(delimiter)] = True
    kept: list[Units] = []
    rows: list[Positions] = []
    row = dropped = 0
    for position, end in _split_lines(content, start):
        units = content[position:end]
        ends = np.flatnonzero(units == _FEED) + 1
        if not len(ends) or ends[-1] < len(units):
            ends = np.append(ends, len(units))  # the last line may lack its end
        starts = np.concatenate([[0], ends[:-1]])
        ink = np.concatenate([[0], np.cumsum(is_ink[units], dtype=np.int64)])
        blank = ink[ends] == ink[starts]
        blank &= (position + ends <= first) | (position + starts > last)
        kept.append(units[np.repeat(~blank, ends - starts)])
        rows.append(np.flatnonzero(~blank) + row)
        row += len(ends)
        dropped += int(np.count_nonzero(blank))
    return (np.concatenate(kept).tobytes(), np.concatenate(rows)) if dropped > _MANY else None


def _may_have_many(content: Units, start: int) -> bool:
    """Return whether very many lines may be blank: only the byte after each line feed is looked at, which in a blank
    line is white space or another line end.
    """
    count = 1  # the first line follows none
    for position in range(start, len(content), _LOOKED_AT):
        feeds = np.flatnonzero(content[position : position + _LOOKED_AT] == _FEED) + (position + 1)
        if len(feeds) and feeds[-1] == len(content):
            feeds = feeds[:-1]
        count += int(np.count_nonzero(content[feeds] <= _HIGHEST_WHITE))
    return count > _MANY


def _split_lines(content: Units, start: int) -> Iterator[tuple[int, int]]:
    """Yield the first byte of each block of whole lines, and the byte after its last."""
    position = start
    while position < len(content):
        end = min(position + _BLOCK, len(content))
        while end < len(content) and content[end - 1] != _FEED:
            feeds = np.flatnonzero(content[end : end + _BLOCK] == _FEED)
            end = end + int(feeds[0]) + 1 if len(feeds) else min(end + _BLOCK, len(content))
        yield position, end
        position = end


def _find_quotes(content: Units, start: int) -> tuple[int, int]:
    """Return the positions of the first and of the last quote; the end of the text if it has no quotes."""
    blocks = range(start, len(content), _BLOCK)
    quotes = [position + np.flatnonzero(content[position : position + _BLOCK] == _QUOTE) for position in blocks]
    ends = [int(position) for some in quotes if len(some) for position in (some[0], some[-1])]
    return (min(ends), max(ends)) if ends else (len(content), len(content))
