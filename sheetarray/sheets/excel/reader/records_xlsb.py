"""The records of a binary part of a package: one by one, or the places of all records of a block.

Source: MS-XLSB 2.1.4 (records), 2.5.168 (text).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Generator, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from ....dtypes import Positions
from ....errors import FormatError
from ..package.parts import Package
from .binary import decode_utf16
from .blocks import inflate_blocks, run_ahead

NO_TEXT = 0xFFFFFFFF  # in the place of the count of characters
_LONGEST = 2**24  # bytes of a record
_LAST_REPEATED, _LONGEST_REPEATED = 11, 64  # kinds, and bytes, of records of which many are passed over together

_U32 = struct.Struct("<I")


class RecordBlock(NamedTuple):
    """Records of a part that lie in one block of bytes.

    Attributes:
        block: the bytes.
        kinds: of the records.
        starts: the byte of the block at which the content of each record begins.
        sizes: the bytes of each content.
    """

    block: bytes
    kinds: Positions
    starts: Positions
    sizes: Positions

    def select(self, places: Positions) -> RecordBlock:
        """Return the records at some indices."""
        return RecordBlock(self.block, self.kinds[places], self.starts[places], self.sizes[places])


def iter_part_records(package: Package, part: str) -> Generator[tuple[int, bytes]]:
    """Yield the records of a part: the kind and the content of each.

    Raises:
        FormatError: the part breaks off within a record, or a record is longer than any that programs write.
    """
    for block, kinds, starts, sizes in walk_part(package, part):
        for kind, start, size in zip(kinds.tolist(), starts.tolist(), sizes.tolist(), strict=True):
            yield kind, block[start : start + size]


def walk_part(package: Package, part: str) -> Iterator[RecordBlock]:
    """Yield the records of a part, block by block.

    Raises:
        FormatError: the part breaks off within a record, or a record is longer than any that programs write; all
            records before it have been yielded.
    """
    waiting = b""
    for block in run_ahead(inflate_blocks(package, part)):
        waiting += block
        records, after, size = _records_of(waiting)
        yield records
        if size > _LONGEST:
            raise FormatError(f"a record of {size} bytes", location=part)
        waiting = waiting[after:]
    if waiting:
        raise FormatError("the part breaks off within a record", location=part)


def read_text(record: bytes, at: int) -> tuple[str, int]:
    """Return the text that begins at a byte of a record, and the byte after it.

    Raises:
        FormatError: the text is longer than the record.
    """
    if at + 4 > len(record):
        raise FormatError("a record breaks off before its text")
    count = _U32.unpack_from(record, at)[0]
    if count == NO_TEXT:
        return "", at + 4
    end = at + 4 + 2 * count
    if end > len(record):
        raise FormatError(f"a text of {count} characters in a record of {len(record)} bytes")
    return decode_utf16(record[at + 4 : end]), end


def _records_of(block: bytes) -> tuple[RecordBlock, int, int]:
    """Return the complete records of a block, the byte at which the incomplete one after them begins, and its size.

    The size is 0 where the block ends within the head of that record, which says it.
    """
    kinds: list[int] = []
    starts: list[int] = []
    sizes: list[int] = []
    at, end, last, size = 0, len(block), (-1, -1), 0
    while at + 2 <= end:
        kind, size, start = block[at], block[at + 1], at + 2
        if kind >= 128 > size and start < end and block[start] < 128:  # a kind of two bytes
            kind, size, start = kind & 0x7F | size << 7, block[start], start + 1
        elif kind >= 128 or size >= 128:
            if (head := _read_head(block, at)) is None:
                size = 0
                break
            kind, start, size = head
        elif (kind, size) == last and _may_repeat(kind, size) and (run := _run_of(kind, size).match(block, at)):
            count = (run.end() - at) // (size + 2)
            kinds += [kind] * count
            sizes += [size] * count
            starts += range(start, start + count * (size + 2), size + 2)
            at, last, size = run.end(), (-1, -1), 0
            continue
        if start + size > end:
            break
        kinds.append(kind)
        starts.append(start)
        sizes.append(size)
        at, last, size = start + size, (kind, size), 0
    as_arrays = (np.array(numbers, dtype=np.int64) for numbers in (kinds, starts, sizes))
    return RecordBlock(block, *as_arrays), at, size


def _may_repeat(kind: int, size: int) -> bool:
    return kind <= _LAST_REPEATED and size <= _LONGEST_REPEATED


@cache
def _run_of(kind: int, size: int) -> re.Pattern[bytes]:
    """Return a pattern of records of one kind and size that come one after another, up to 4,096 of them."""
    return re.compile(b"(?s:%s.{%d}){1,4096}+" % (re.escape(bytes([kind, size])), size))


def _read_head(content: bytes, at: int) -> tuple[int, int, int] | None:
    """Return the kind, the start of the content and its size, of the record at a byte; None if its head is incomplete.

    Kind and size are numbers of seven bits a byte; the highest bit says that another byte follows.
    """
    if at + 2 > len(content):
        return None
    kind = content[at]
    at += 1
    if kind & 0x80:
        if at >= len(content):
            return None
        kind = kind & 0x7F | (content[at] & 0x7F) << 7
        at += 1
    size = 0
    for shift in (0, 7, 14, 21):
        if at >= len(content):
            return None
        unit = content[at]
        at += 1
        size |= (unit & 0x7F) << shift
        if not unit & 0x80:
            break
    return kind, at, size
