"""Sizes that an Arrow file claims, compared with its bytes before memory is taken for them.

The footer and the head of each batch are tables of FlatBuffers, of which only what says sizes is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...errors import FormatError

_MAGIC = b"ARROW1"
_BATCH, _DICTIONARY = 3, 2  # kinds of messages


class _Flat:
    """A table of FlatBuffers in some bytes: its fields by number."""

    def __init__(self, content: memoryview, place: int) -> None:
        self.content, self.place = content, place
        self._names = place - self.read("<i", place)
        self._end = self.read("<H", self._names)

    def read(self, mark: str, place: int) -> int:
        if place < 0:
            raise struct.error("before the first byte")
        value: int = struct.unpack_from(mark, self.content, place)[0]
        return value

    def find(self, number: int) -> int:
        """Return the position of a field; 0 if it is not there."""
        at = 4 + 2 * number
        offset = self.read("<H", self._names + at) if at + 2 <= self._end else 0
        return self.place + offset if offset else 0

    def table(self, number: int) -> _Flat | None:
        """Return a field that is a table; None if it is not there."""
        place = self.find(number)
        return _Flat(self.content, place + self.read("<I", place)) if place else None

    def items(self, number: int, mark: str) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of each item of a list."""
        place = self.find(number)
        if place:
            start = place + self.read("<I", place)
            for index in range(self.read("<I", start)):
                yield struct.unpack_from(mark, self.content, start + 4 + index * struct.calcsize(mark))


def check_claims(content: memoryview, room: int) -> None:
    """Refuse an Arrow file whose batches claim more bytes than there are, or inflate to more than `room` bytes."""
    if content[:6] != _MAGIC or content[-6:] != _MAGIC or len(content) < 24:
        raise FormatError("not an Arrow file: it does not begin and end with ARROW1", location="byte 0")
    try:
        footer = len(content) - 10 - struct.unpack_from("<i", content, len(content) - 10)[0]
        if not 8 <= footer <= len(content) - 10:
            raise FormatError("the footer lies outside of the file")
        root = _Flat(content, footer + struct.unpack_from("<I", content, footer)[0])
        stored = inflated = 0
        for number in (2, 3):
            for start, head, body in root.items(number, "<qi4xq"):
                stored += head + body
                if min(start, head, body) < 0 or start + head + body > len(content) or stored > len(content):
                    raise FormatError(
                        f"a batch of {head + body:,} bytes at byte {start:,} does not fit into the file of "
                        f"{len(content):,} bytes"
                    )
                inflated += _check_batch(content, start, head, body, room)
                if inflated > room:
                    raise FormatError(f"its batches claim {inflated:,} bytes: more than is read at once of this file")
    except (struct.error, OverflowError) as error:
        raise FormatError(f"not an Arrow file, or damaged: {error}") from error


def _check_batch(content: memoryview, start: int, head: int, body: int, room: int) -> int:
    """Return the bytes to which the compressed buffers of a batch claim to inflate."""
    marked = struct.unpack_from("<I", content, start)[0] == 0xFFFFFFFF
    begin = start + (8 if marked else 4)
    message = _Flat(content, begin + struct.unpack_from("<I", content, begin)[0])
    batch = message.table(2)
    kind = message.read("<B", message.find(1))
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is None or kind not in (_BATCH, _DICTIONARY):
        raise FormatError("not a record batch")
    compressed, buffers, inflated = batch.find(3) != 0, 0, 0
    for offset, size in batch.items(2, "<qq"):
        buffers += 1
        if min(offset, size) < 0 or offset + size > body:
            raise FormatError(f"a buffer of {size:,} bytes does not fit into its batch of {body:,}")
        if compressed and size >= 8:
            inflated += max(0, struct.unpack_from("<q", content, start + head + offset)[0])
    lengths = [length for length, _ in batch.items(1, "<qq")] + [
        batch.read("<q", place) for place in [batch.find(0)] if place
    ]
    if any(not 0 <= length <= room for length in lengths):
        raise FormatError(f"a batch claims {max(lengths):,} rows: more than is read at once of this file")
    if sum(abs(count) for (count,) in batch.items(4, "<q")) > buffers:
        raise FormatError("a batch claims more buffers than it has")
    return inflated
