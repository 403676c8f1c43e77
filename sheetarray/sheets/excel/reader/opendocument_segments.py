"""The content of an OpenDocument spreadsheet cut into segments: what stands before rows, and whole rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .opendocument_rows import END_OF_ROW, ROW_TAG


class Segment(NamedTuple):
    """A piece of a document: what stands before rows, and whole rows, or none."""

    before: bytes
    rows: bytes


def split_segments(blocks: Iterator[bytes]) -> Iterator[Segment]:
    """Yield the segments of a document."""
    waiting = b""  # the beginning of a row
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
