"""JSON text of flat lists: where lists stand in it; their headers are parsed, their data passed over.

orjson parses and prints where its result is the same as that of Python's `json`; otherwise `json` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple, NoReturn

from ...columns import MOST_ARRAYS, ArrayInfo, column_letters, too_many_arrays
from ...elements import Cell
from ...errors import FormatError
from ...files import BytesLike, refuse_empty, release_pages
from ...linear.header import MAX_HEADER_CELLS, Header, NoteFinding
from ...linear.parsing import count_blanks_before, parse_header, warn_of_finding

NO_ARRAY = "no array of the exchange format here (a flat list that begins with version, 1.0.0, ndarray)"


_BLOCK = 2**22  # bytes that are searched at once
_SHORT = 64  # bytes of a token that is parsed once for all headers
_parse_short = lru_cache(maxsize=1024)(json.loads)
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_TOKEN = re.compile(rb"[\s,:]*([\[\]{}]|%b|[^\s,:\[\]{}\"]+)" % _STRING, re.DOTALL)
_NO_BRACKET = re.compile(rb'(?:[^"\[\]]++|%b)*+' % _STRING, re.DOTALL)  # a bracket in a string means nothing
_WHOLE_ITEMS = re.compile(rb'(?:(?:[^",]++|%b)*+,)*+' % _STRING, re.DOTALL)


class FlatList(NamedTuple):
    """A flat list in a JSON text."""

    header: Header  # as it was parsed
    info: ArrayInfo  # of the array
    start: int  # the index of the first data cell
    spans: list[tuple[int, int]]  # the first byte of each item of the header, and the one after its last
    at: int  # the position in the text, in bytes, at which the items of the header end
    end: int  # the position of the bracket that ends the list


def find_lists(
    text: BytesLike, alone: str, *, strict: bool = False, note: NoteFinding = warn_of_finding
) -> dict[str, FlatList]:
    """Return the flat lists in a JSON text by name, in the order in which they stand there.

    `text`: JSON in UTF-8. `alone`: the name of a list that stands by itself.
    """
    walk, lists = _Walk(text, strict, note), dict[str, FlatList]()
    for name in walk.iter_names(alone):
        if name in lists:
            raise FormatError(f"two arrays have the name {name!r}", location=name)
        lists[name] = walk.take_list(name)
        if len(lists) > MOST_ARRAYS:
            raise too_many_arrays()
    if not lists:
        raise FormatError(NO_ARRAY)
    return lists


class _Walk:
    """A walk through a text from list to list."""

    def __init__(self, text: BytesLike, strict: bool, note: NoteFinding) -> None:
        self._text, self._strict, self._note = text, strict, note
        self._at = 3 if text[:3] == b"\xef\xbb\xbf" else 0
        self._span = (0, 0)  # of the last token

    def iter_names(self, alone: str) -> Iterator[str]:
        """Yield the name of each list when its first item is next; `take_list` then goes to its end."""
        first = self._next_token()
        if first == b"{":
            while (key := self._next_token()) != b"}":
                name = self._parse_scalar(key)
                if not isinstance(name, str) or self._next_token() != b"[":
                    raise FormatError("expected a flat list", location=str(name))
                yield name
        elif first == b"[":
            at, start = self._at, self._next_token()
            if start != b"[":
                if start != b"]":
                    self._at = at
                    yield alone
                return
            for number in count():
                yield column_letters(number)
                if self._next_token() != b"[":
                    return

    def take_list(self, name: str) -> FlatList:
        """Return the list whose first item is next."""
        cells: list[Cell] = []
        spans: list[tuple[int, int]] = []
        while len(cells) < 4 * MAX_HEADER_CELLS and not (cells and cells[-1] == "data" and len(cells) > 12):
            token = self._next_token()
            if token == b"]" or (cells and token in (b"[", b"{")):
                self._at -= 1
                break
            cells.append(self._parse_scalar(token))
            spans.append(self._span)
        _, header, start = read_header(cells, name, strict=self._strict, note=self._note)
        at, self._at = self._at, find_list_end(self._text, self._at)
        if not self._at:
            raise FormatError("the list has no end", location=name)
        info = ArrayInfo.from_header(header, f"{name}[0]", start)
        return FlatList(header, info, start, spans, at, self._at - 1)

    def _next_token(self) -> bytes:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._fail()
        self._at, self._span = match.end(), match.span(1)
        return match[1]

    def _parse_scalar(self, token: bytes) -> Cell:
        if token in (b"{", b"["):
            kind = "an object" if token == b"{" else "a list"
            raise FormatError(f"expected a flat list, found {kind} in it", location=self._say_line())
        try:
            return _parse_short(token) if len(token) <= _SHORT else json.loads(token)
        except ValueError:
            self._fail()

    def _fail(self) -> NoReturn:
        if not self._text[:].strip():
            refuse_empty(self._text[:])
            raise FormatError("the file is empty: it holds nothing but white space")
        raise FormatError("not JSON", location=self._say_line())

    def _say_line(self) -> str:
        line = self._text[: self._at].count(b"\n") + 1
        return f"line {line}"


def read_header(cells: Sequence[Cell], name: str, *, strict: bool, note: NoteFinding) -> tuple[int, Header, int]:
    """Return the number of blanks before the header of a flat list, the header, and the index of the first data cell.

    `name`: of the list, for errors. `note`: is called with each finding about the header.
    """
    first = count_blanks_before(cells)
    rest = cells[first:] if first else cells  # very long lists are not copied
    header, start = parse_header(rest, strict=strict, address=lambda index: f"{name}[{first + index}]", note=note)
    return first, header, first + start


def find_list_end(text: BytesLike, at: int) -> int:
    """Return the position after the bracket that closes a list; 0 if the list does not end, or holds another list.

    `text`: JSON in UTF-8. `at`: a position in the list, between two of its items.
    """
    size = _BLOCK
    while at < len(text):
        limit = min(at + size, len(text))
        match = _NO_BRACKET.match(text, at, limit)
        assert match is not None  # it matches nothing, too
        end = match.end()
        if end < limit and text[end : end + 1] in (b"]", b"["):
            return end + 1 if text[end : end + 1] == b"]" else 0
        if end == at:  # a string that is longer than a block, or does not end
            if limit == len(text):
                return 0
            size *= 4
        release_pages(text, at, end)
        at = end
    return 0


def cut_items(text: BytesLike, start: int, end: int, size: int) -> Iterator[bytes]:
    """Yield the items of a list some at a time, as text, without the commas around them.

    `text`: JSON in UTF-8. `start`: the position at which the first item begins. `end`: the position of the bracket
    that ends the list. `size`: of a piece, in bytes.
    """
    while start < end:
        limit, after = start + size, start
        while after == start and limit < end:
            match = _WHOLE_ITEMS.match(text, start, limit)
            assert match is not None  # it matches nothing, too
            after = match.end()
            limit += 3 * (limit - start)  # where an item is longer
        stop = after - 1 if after > start else end
        yield bytes(text[start:stop])
        release_pages(text, start, stop)
        if after == end:
            yield b""  # a comma with nothing after it is not JSON
        start = max(after, stop)
