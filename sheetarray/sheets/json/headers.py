"""The headers in a JSON text of flat lists, found without parsing the data: numbers are skipped to the next bracket."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from ...columns import ArrayInfo, column_letters
from ...elements import Cell
from ...errors import Finding, FormatError
from ...files import BytesLike, refuse_empty
from ...header import MAX_HEADER_CELLS, Header, NoteFinding, count_blanks_before, parse_header, warn_of_finding
from .skipping import find_list_end

_SHORT = 64  # bytes of a token that is parsed once for all headers
_parse_short = lru_cache(maxsize=1024)(json.loads)
_TOKEN = re.compile(rb'[\s,:]*([\[\]{}]|"(?:[^"\\]++|\\.)*+"|[^\s,:\[\]{}"]+)', re.DOTALL)


def walk_headers(text: BytesLike, alone: str, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in a JSON text, by name.

    Args:
        text: JSON in UTF-8.
        alone: the name of a list that stands by itself.
        strict: refuse lists without a version.

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
