"""JSON text of flat lists: parsed and written, headers found, and lists cut, without parsing the data.

orjson parses and prints where its result is the same as that of Python's `json`; otherwise `json` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ...columns import MOST_ADDRESSES, ArrayInfo, column_letters
from ...dtypes import Buffer, DType, Positions
from ...elements import Cell, ComplexForm, encode
from ...errors import DTypeError, Finding, FormatError
from ...files import BytesLike, refuse_empty, release_pages, repeated_key
from ...header import MAX_HEADER_CELLS, Header, NoteFinding, count_blanks_before, parse_header, warn_of_finding

# Writes and parses JSON text: by orjson if its result is the same as that of Python's `json`, else by `json`.
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
    parsed = _parse_in_bulk(text)
    if parsed is not None:
        return parsed
    try:
        try:
            return json.loads(text, object_pairs_hook=_reject_duplicates)
        except ValueError as error:
            if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, FormatError)):
                raise
            return json.loads(
                text, object_pairs_hook=_reject_duplicates, parse_int=_parse_integer
            )  # an integer too long for int()
    except json.JSONDecodeError as error:
        raise FormatError(f"no JSON: {error.msg}", location=f"line {error.lineno}, column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"no JSON: byte {error.start} is no {error.encoding}") from error
    except RecursionError as error:
        raise FormatError("no flat list: nested too deeply") from error


def _parse_in_bulk(text: bytes) -> Any:
    """Return the content of a JSON text by orjson; None if `json` may read it in another way, or has to raise the
    error.
    """
    import orjson

    if _has_long_integer(text):
        return None
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    keys = len(content) if isinstance(content, dict) else 0
    if sum(1 for _ in _KEY_ENDS.finditer(text)) != keys:  # a key stands twice, or deeper, or text looks like a key
        return None
    return content


def _has_long_integer(text: bytes) -> bool:
    """Return whether a text may hold an integer that needs more than 64 bits."""
    return _LONG_INTEGER in text.translate(_OUTLINES, b"-")


def to_utf8(text: BytesLike) -> BytesLike:
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
        raise FormatError(f"no JSON: no {encoding} text") from error


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


# The headers in a JSON text of flat lists, found without parsing the data: numbers are skipped to the next bracket.

_SHORT = 64  # bytes of a token that is parsed once for all headers
_parse_short = lru_cache(maxsize=1024)(json.loads)
_TOKEN = re.compile(rb'[\s,:]*([\[\]{}]|"(?:[^"\\]++|\\.)*+"|[^\s,:\[\]{}"]+)', re.DOTALL)


def walk_headers(text: BytesLike, alone: str, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in a JSON text, by name.

    `text`: JSON in UTF-8. `alone`: the name of a list that stands by itself.

    Raises:
        FormatError: no flat list, or a broken header.
    """
    return _Walk(text, strict).walk(alone)


def find_header_spans(text: BytesLike, alone: str) -> dict[str, list[tuple[int, int]]]:
    """Return the first byte, and the one after the last, of each header's items in a JSON text, by the list's name.

    Raises:
        FormatError: no flat list, or a broken header.
    """
    walk = _Walk(text, False)
    walk.walk(alone)
    return walk.spans


@dataclass(frozen=True)
class FlatList:
    """A flat list in a JSON text.

    Attributes:
        header: as it was parsed.
        cells: the cells of the header.
        start: the index of the first data cell.
        at: the position in the text, in bytes, at which the cells of the header end.
        end: the position of the bracket that ends the list.
    """

    header: Header
    cells: list[Cell]
    start: int
    at: int
    end: int


def find_lists(text: BytesLike, alone: str, note: NoteFinding = warn_of_finding) -> dict[str, FlatList]:
    """Return the header and the position of each list in a JSON text, by name.

    Raises:
        FormatError: no flat list, or a broken header.
    """
    walk = _Walk(text, False, note)
    walk.walk(alone)
    return walk.lists


class _Walk:
    def __init__(self, text: BytesLike, strict: bool, note: NoteFinding = warn_of_finding) -> None:
        self.text, self.strict, self.note = text, strict, note
        self.at = 3 if text[:3] == b"\xef\xbb\xbf" else 0
        self.infos: dict[str, ArrayInfo] = {}
        self.lists: dict[str, FlatList] = {}
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.token_span = (0, 0)
        self.last: tuple[list[bytes], Header, int] | None = None  # the tokens of the last header, and the header itself

    def walk(self, alone: str) -> dict[str, ArrayInfo]:
        first = self.next_token()
        if first == b"{":
            while (key := self.next_token()) != b"}":
                name = self.parse_scalar(key)
                if not isinstance(name, str) or self.next_token() != b"[":
                    raise FormatError("expected a flat list", location=str(name))
                self.add_header(name, [])
        elif first == b"[":
            start = self.next_token()
            if start != b"[":
                self.add_header(alone, [self.parse_scalar(start)])
                return self.infos
            while start == b"[":
                self.add_header(column_letters(len(self.infos)), [])
                start = self.next_token()
        if not self.infos:
            raise FormatError(
                "no array of the exchange format here (a flat list that begins with version, 1.0.0, ndarray)"
            )
        return self.infos

    def next_token(self) -> bytes:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.syntax_error()
        self.at, self.token_span = match.end(), match.span(1)
        return match[1]

    def parse_scalar(self, token: bytes) -> Cell:
        if token in (b"{", b"["):
            kind = "an object" if token == b"{" else "a list"
            line = self.text[: self.at].count(b"\n") + 1
            raise FormatError(f"expected a flat list, found {kind} in it", location=f"line {line}")
        try:
            return _parse_short(token) if len(token) <= _SHORT else json.loads(token)
        except ValueError:
            self.syntax_error()

    def syntax_error(self) -> NoReturn:
        if not self.text[:].strip():
            refuse_empty(self.text[:])
            raise FormatError("the file is empty: it holds nothing but white space")
        line = self.text[: self.at].count(b"\n") + 1
        raise FormatError("no JSON", location=f"line {line}")

    def add_header(self, name: str, cells: list[Cell]) -> None:
        if name in self.infos:
            raise FormatError(f"two arrays have the name {name!r}", location=name)
        spans = self.spans[name] = [self.token_span] if cells else []
        tokens: list[bytes] = []
        while len(cells) < 4 * MAX_HEADER_CELLS and not (cells and cells[-1] == "data" and len(cells) > 12):
            token = self.next_token()
            if token in (b"]", b"[", b"{"):
                self.at -= 1
                break
            spans.append(self.token_span)
            tokens.append(token)
            cells.append(self.parse_scalar(token))
        header, start = self.read_header(name, cells, tokens)
        end = find_list_end(self.text, self.at, textual=header.dtype.kind in ("string", "generic"))
        if not end:
            raise FormatError("the list does not end", location=name)
        self.lists[name] = FlatList(header, cells, start, self.at, end - 1)
        self.at = end
        self.infos[name] = ArrayInfo.from_header(header, f"{name}[0]", start)

    def read_header(self, name: str, cells: list[Cell], tokens: list[bytes]) -> tuple[Header, int]:
        """Return a header, and the index of the first data cell; those of the last array if the tokens are the same."""
        if self.last is not None and len(tokens) == len(cells) and self.last[0] == tokens:
            return self.last[1:]
        notes: list[Finding] = []
        first = count_blanks_before(cells)
        header, start = parse_header(
            cells[first:], strict=self.strict, address=lambda index: f"{name}[{first + index}]", note=notes.append
        )
        start += first
        self.last = (tokens, header, start) if len(tokens) == len(cells) and not notes else None
        for note in notes:
            self.note(note)
        return header, start


# Finds the ends of lists in a JSON text, and positions at which they can be cut, without parsing long lists.

_FIRST_BLOCK, _BLOCK = 2**10, 2**22  # bytes that are searched at once: most lists of very many are short
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _COMMA, _OPENS, _CLOSES = (ord(mark) for mark in '",[]')


def find_list_end(text: BytesLike, at: int, *, textual: bool) -> int:
    """Return the position after the bracket that ends a list; 0 for a list that does not end, or holds another list.

    `text`: JSON in UTF-8. `at`: a position in the list, between two of its items. `textual`: whether the list holds
    strings, in which brackets mean nothing.
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

    `text`: JSON in UTF-8. `start`: the position at which the first item begins. `end`: the position of the bracket
    that ends the list. `size`: of a piece, in bytes; a single item may be longer.
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
            yield b""  # a comma with nothing after it is not JSON


def _block_from(text: BytesLike, at: int, size: int) -> bytes:
    """Return about `size` bytes of a text, so that no escape such as \\" is cut in two."""
    block = bytes(text[at : at + size])
    slashes = len(block) - len(block.rstrip(b"\\"))
    return block + bytes(text[at + len(block) : at + len(block) + 1]) if slashes % 2 else block


def _outside(block: bytes, within: bool) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint8]], Positions, bool]:
    """Return the bytes of a block, the positions of those that are in no string, and whether it ends in a string.

    `block`: of JSON; no escape is cut in two. `within`: whether it begins in a string.
    """
    plain = _ESCAPE.sub(b"__", block) if b"\\" in block else block
    units = np.frombuffer(plain, np.uint8)
    quotes = units == _QUOTE
    if not quotes.any():
        return units, np.full(len(units), not within), within
    odd = np.logical_xor.accumulate(quotes)
    return units, ~odd if not within else odd, bool(odd[-1]) ^ within
