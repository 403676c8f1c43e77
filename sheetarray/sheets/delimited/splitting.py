"""Splits a text in memory into records and cells: RFC 4180, read tolerantly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

MOST_ROWS = 1200  # records that `read_first_records` returns at most


def split_records(text: str, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yield the records of a text, each with the index of the character after it; RFC 4180, read tolerantly.

    A quote that is never closed runs to the end of the text, as in other readers; no cell is too long.
    """
    if '"' not in text and "\r" not in text.replace("\r\n", ""):
        yield from _split_unquoted(text, delimiter)
        return
    field = field_pattern(delimiter)
    cells: list[str] = []
    at, end = 0, len(text)
    while at < end:
        match = field.match(text, at)
        assert match is not None  # an empty cell matches anywhere
        quoted, rest, plain, stop = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"') + (rest or ""))
        at = match.end()
        if stop != delimiter:
            yield cells, at
            cells = []
        elif at == end:
            cells.append("")
    if cells:
        yield cells, at


def _split_unquoted(text: str, delimiter: str) -> Iterator[tuple[list[str], int]]:
    at = 0
    while at < len(text):  # as a rule, only the first are asked for
        end = text.find("\n", at)
        line, at = (text[at:], len(text)) if end < 0 else (text[at:end], end + 1)
        yield line.removesuffix("\r").split(delimiter), at


@lru_cache(maxsize=16)
def field_pattern(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a cell; its groups are the quoted text, text after the closing quote, text of a cell
    without quotes, and the delimiter or line end.
    """
    mark = re.escape(delimiter)
    body = r'[^"]*+(?:""[^"]*+)*+'  # possessive: nothing to go back to, and no memory for it
    return re.compile(rf'(?:"({body})(?:"([^{mark}\r\n]*)|\Z)|([^{mark}\r\n]*))({mark}|\r\n|\n|\r|\Z)')


def read_first_records(text: str, delimiter: str, *, ended: bool, most: int = MOST_ROWS) -> list[tuple[list[str], int]]:
    """Return the first records of a text; if it is not `ended`, without the last cell, which may be cut."""
    rows = list(islice(split_records(text, delimiter), most))
    if not ended and rows and rows[-1][1] == len(text):
        cells, end = rows.pop()
        if len(cells) > 1:
            rows.append((cells[:-1], end))
    return rows
