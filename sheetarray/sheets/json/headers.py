"""The headers in a JSON text of flat lists, found without parsing the data: numbers are skipped to the next bracket."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from ...columns import ArrayInfo, letters
from ...elements import Cell
from ...errors import FormatError
from ...files import Bytes
from ...header import LONGEST, parse_header

_TOKEN = re.compile(rb'[\s,:]*([\[\]{}]|"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"]+)', re.DOTALL)
_TO_THE_END = re.compile(rb'(?:[^"\[\]{}]|"(?:[^"\\]|\\.)*"|\{[^{}\[\]]*\})*\]', re.DOTALL)


def walk(text: Bytes, alone: str, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """What each header says, by name.

    Args:
        text: JSON in UTF-8.
        alone: the name of a list that stands by itself.
        strict: refuse lists without a version.

    Raises:
        FormatError: no flat list, or a broken header.
    """
    return _Walk(text, strict).read(alone)


class _Walk:
    def __init__(self, text: Bytes, strict: bool) -> None:
        self.text, self.strict = text, strict
        self.at = 3 if text[:3] == b"\xef\xbb\xbf" else 0
        self.found: dict[str, ArrayInfo] = {}

    def read(self, alone: str) -> dict[str, ArrayInfo]:
        first = self.token()
        if first == b"{":
            while (key := self.token()) != b"}":
                name = self.scalar(key)
                if not isinstance(name, str) or self.token() != b"[":
                    raise FormatError("expected a flat list", location=str(name))
                self.add(name, [])
        elif first == b"[":
            start = self.token()
            if start != b"[":
                self.add(alone, [self.scalar(start)])
                return self.found
            while start == b"[":
                self.add(letters(len(self.found)), [])
                start = self.token()
        if not self.found:
            raise FormatError(
                "no array of the exchange format here (a flat list that begins with version, 1.0.0, ndarray)"
            )
        return self.found

    def token(self) -> bytes:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.fail()
        self.at = match.end()
        return match[1]

    def scalar(self, token: bytes) -> Cell:
        try:
            return json.loads(token)
        except ValueError:
            self.fail()

    def fail(self) -> NoReturn:
        line = self.text[: self.at].count(b"\n") + 1
        raise FormatError("no JSON", location=f"line {line}")

    def add(self, name: str, cells: list[Cell]) -> None:
        if name in self.found:
            raise FormatError(f"two arrays have the name {name!r}", location=name)
        while len(cells) < 4 * LONGEST and not (cells and cells[-1] == "data" and len(cells) > 12):
            token = self.token()
            if token in (b"]", b"[", b"{"):
                self.at -= 1
                break
            cells.append(self.scalar(token))
        header, start = parse_header(cells, strict=self.strict, address=lambda index: f"{name}[{index}]")
        if header.dtype.kind in ("string", "generic"):
            match = _TO_THE_END.match(self.text, self.at)
            end = match.end() if match else 0
        else:
            end = self.text.find(b"]", self.at) + 1
        if not end:
            raise FormatError("the list does not end", location=name)
        self.at = end
        self.found[name] = ArrayInfo(
            header.shape, header.dtype.name, header.order, header.strides, f"{name}[0]", start + header.capacity,
            header.offset, header.capacity,
        )  # fmt: skip
