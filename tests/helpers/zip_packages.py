"""Small zip packages for the tests of reading and writing them: their parts, fields of their structures, a sink."""

from __future__ import annotations

import random
import struct

import sheetarray as sa
from sheetarray.sheets.excel.package.parts import Package

LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
TEXT = {"[Content_Types].xml": b"<Types/>" * 40, "xl/workbook.xml": b"<workbook/>", "xl/empty.xml": b""}


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


class OnlyWrite:
    """A sink that cannot be sought in."""

    def __init__(self) -> None:
        self.content = bytearray()

    def write(self, chunk: bytes | memoryview, /) -> int:
        self.content += chunk
        return len(chunk)

    def flush(self) -> None:
        """There is nothing to flush."""


def field(content: bytes, signature: bytes, at: int, layout: str, value: int) -> bytes:
    """The content with one field of the first structure of a kind changed."""
    start = content.index(signature) + at
    return content[:start] + struct.pack(layout, value) + content[start + struct.calcsize(layout) :]


def survive(content: bytes) -> bool:
    """Whether all parts could be read; only a FormatError may come out."""
    try:
        package = Package(content)
    except sa.FormatError:
        return False
    for name in package.names():
        try:
            package.read(name)
        except sa.FormatError as error:
            assert error.location  # noqa: PT017  (no error is right too)
            return False
    return True
