"""JSON text of flat lists: where lists stand in it, without parsing their data; parsed, and written.

orjson parses and prints where its result is the same as that of Python's `json`; otherwise `json` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple, NoReturn

from ...columns import MOST_ADDRESSES, MOST_ARRAYS, ArrayInfo, column_letters, too_many_arrays
from ...dtypes import Buffer, DType
from ...elements import Cell, ComplexForm, encode
from ...errors import DTypeError, FormatError
from ...files import BytesLike, refuse_empty, release_pages, repeated_key
from ...linear.header import MAX_HEADER_CELLS, Header, NoteFinding
from ...linear.json_text import faults_as_format_errors
from ...linear.parsing import count_blanks_before, parse_header, warn_of_finding

NO_ARRAY = "no array of the exchange format here (a flat list that begins with version, 1.0.0, ndarray)"

# Where lists stand in a text: their headers are parsed, their data passed over ---------------------------------------

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
    """Return the position after the bracket that ends a list; 0 for a list that does not end, or holds another list.

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


# JSON text, by orjson if its result is the same as that of Python's `json`, else by `json` ---------------------------
#
# orjson accepts a key that stands twice, makes a double of an integer beyond 64 bits, and refuses NaN, lone
# surrogates and UTF-16. Texts that may have one of these are left to `json`, whose results and errors count.

_LONGEST_EXACT = 18  # digits that an integer of 64 bits always has room for
_OUTLINES = bytes.maketrans(b"123456789[: \t\r\n", b"0" * 9 + b"," * 6)  # makes zeros after a comma of each numeral
_LONG_INTEGER = b"," + b"0" * (_LONGEST_EXACT + 1)
_KEY_ENDS = re.compile(rb'"[ \t\r\n]*:')


def dump_elements(buffer: Buffer, dtype: DType, *, complex: ComplexForm = "text") -> bytes:
    """Return the elements of a 1-D buffer as JSON values with commas between them.

    Raises:
        DTypeError: text that is not valid Unicode.
    """
    import orjson

    if dtype.name == "float64" and buffer.flags.c_contiguous:
        numbers = orjson.dumps(buffer, option=orjson.OPT_SERIALIZE_NUMPY)
        if b"n" not in numbers:  # NaN and infinities are null
            return numbers[1:-1]
    return dump_cells(encode(buffer, dtype, complex=complex))


def dump_cells(cells: Sequence[Cell]) -> bytes:
    """Return cells as JSON values with commas between them.

    Raises:
        DTypeError: text that is not valid Unicode.

    Example:
        >>> dump_cells([1.5, "NaN", True])
        b'1.5,"NaN",true'
    """
    import orjson

    try:
        return orjson.dumps(cells)[1:-1]
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or half a character
        pass
    try:
        return json.dumps(cells, ensure_ascii=False, allow_nan=False, separators=(",", ":"))[1:-1].encode()
    except UnicodeEncodeError as error:
        raise DTypeError(f"text that is not valid Unicode, and no file can hold: {error.reason}") from error


def parse_text(text: bytes) -> Any:
    """Return the content of a JSON text.

    Raises:
        FormatError: it is not JSON, or a key stands twice in one object.
    """
    import orjson

    if _LONG_INTEGER not in text.translate(_OUTLINES, b"-"):
        with suppress(orjson.JSONDecodeError):  # `json` may read it, or says what is wrong
            content = orjson.loads(text)
            keys = len(content) if isinstance(content, dict) else 0
            # A key that stands twice gives one name, but two colons: as many colons as names mean that none does
            if text.count(b":") == keys or sum(1 for _ in _KEY_ENDS.finditer(text)) == keys:
                return content
    with faults_as_format_errors():
        return json.loads(text, object_pairs_hook=_reject_duplicates, parse_int=_parse_integer)


def text_to_utf8(text: BytesLike) -> BytesLike:
    """Return the text in UTF-8, whichever encoding of Unicode it is in.

    Raises:
        FormatError: it is not in the encoding that its first bytes show.
    """
    encoding = json.detect_encoding(bytes(text[:4]))  # as `json.loads` finds it
    if encoding.startswith("utf-8"):
        return text
    try:
        return bytes(text).decode(encoding).encode()
    except UnicodeError as error:
        raise FormatError(f"not JSON: the text is not {encoding}") from error


def _parse_integer(numeral: str) -> int | str:
    """Return an integer; the numeral itself if no dtype has room for it, so that an error can name its cell."""
    return int(numeral) if len(numeral) <= 400 else numeral


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if (name := repeated_key(pairs)) is not None:
        keys = [f"key {index + 1}" for index, (other, _) in enumerate(pairs) if other == name]
        more = [f"{len(keys) - MOST_ADDRESSES:,} more"] if len(keys) > MOST_ADDRESSES else []
        listed = " and ".join(keys[:MOST_ADDRESSES] + more)
        raise FormatError(f"two arrays have the name {name!r}, {listed}", location=name)
    return mapping
