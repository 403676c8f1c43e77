"""The content of an OpenDocument spreadsheet cut into segments: what stands before rows, and whole rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .opendocument_rows import END_OF_ROW, ROW_TAG

_WHITE = (b" ", b"\t", b"\n", b"\r", b"\v", b"\f")
_NO_ELEMENTS = (b"<!", b"<?", b"-->", b"?>")  # begin or end what may hold something that looks like a tag
_ESCAPED = frozenset("&<>\"'")


class Segment(NamedTuple):
    """A piece of a document: the bytes before rows, and the bytes of whole rows; either may be empty."""

    before: bytes
    rows: bytes


def split_segments(blocks: Iterator[bytes]) -> Iterator[Segment]:
    """Yield the segments of a document."""
    waiting = b""  # the beginning of a row whose end is in a later block
    for block in blocks:
        stop = block.rfind(END_OF_ROW) + len(END_OF_ROW)
        text = b"".join((waiting, memoryview(block)[:stop])) if stop >= len(END_OF_ROW) else b""  # copied once
        if text.startswith(ROW_TAG):
            yield Segment(b"", text)
            waiting = block[stop:]
            continue
        text = waiting + block
        begin, end = text.find(ROW_TAG), text.rfind(END_OF_ROW) + len(END_OF_ROW)
        if 0 <= begin < end:
            yield Segment(text[:begin], text[begin:end])
            waiting = text[end:]
        else:
            yield Segment(text, b"")
            waiting = b""
    yield Segment(waiting, b"")


def may_hold_tables(text: bytes) -> bool:
    """Return whether the name of a tag may end with `table`: a quick search for an `e` and white space after it."""
    return any(white in text and _holds_pair(text, b"e" + white) for white in _WHITE)


def _holds_pair(text: bytes, pair: bytes) -> bool:
    """Return whether two bytes stand side by side in a text.

    Pairs are compared as numbers of 16 bits, which is quick even where each of the two bytes stands in every cell.
    """
    units = int.from_bytes(pair, "little")
    if (np.frombuffer(text, "<u2", len(text) // 2) == units).any():
        return True
    return len(text) > 2 and bool((np.frombuffer(text, "<u2", (len(text) - 1) // 2, 1) == units).any())


def may_pass_by(rows: bytes, title: str) -> bool:
    """Return whether rows are those of other tables for certain, so that nobody needs to see their elements.

    Every element that begins in the rows must end there, and no table of the title may begin.
    """
    if any(mark in rows for mark in _NO_ELEMENTS):
        return False
    tags = rows.count(b"<")
    if tags != rows.count(b">") or tags - 2 * rows.count(b"</") - rows.count(b"/>"):
        return False
    if not may_hold_tables(rows):
        return True
    name = title.encode()
    return not (_ESCAPED & set(title) or b"&#" in rows or b'"%s"' % name in rows or b"'%s'" % name in rows)
