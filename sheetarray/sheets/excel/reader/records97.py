"""The records of a workbook of Excel 5 to 2003: one by one, or the places where thousands of them begin.

Source: MS-XLS 2.1.4 (records), 2.3 (their numbers).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cache

import numpy as np

from ....dtypes import Positions
from ....errors import FormatError

BEGINS = (0x0809, 0x0409, 0x0209, 0x0009)
END, CONTINUE, ENCRYPTED, CODE_PAGE, DATE_MODE = 0x000A, 0x003C, 0x002F, 0x0042, 0x0022
SHEET, FORMAT, STYLE, STRINGS = 0x0085, 0x041E, 0x00E0, 0x00FC
REAL, PACKED, PACKED_ROW, SHARED, LABEL, RICH_LABEL = 0x0203, 0x027E, 0x00BD, 0x00FD, 0x0204, 0x00D6
BOOLEAN_OR_ERROR, FORMULA, RESULT, SHARED_FORMULA = 0x0205, 0x0006, 0x0207, 0x04BC
HEAD = 4  # bytes of a record before its content: the number of its kind, and the size of the content

_MOST_CONTINUED = 2**20  # records, of about 8,000 bytes each where a program writes them
_FIRST_PIECE, _PIECE = 2**16, 2**20  # bytes of records whose places are yielded together
_REPEATED = (0x000A_00FD, 0x000A_027E, 0x000E_0203, 0x0006_0201)  # heads of cells that often come one after another

_U16, _U32, _HEADER = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<2H")


def iter_records(stream: bytes, at: int) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield the records of a stream: the kind of each, its content, and the contents of the records that continue it.

    Args:
        stream: all bytes of the workbook.
        at: the byte at which the first of these records begins.

    Raises:
        FormatError: the stream breaks off within a record, or a record goes on in too many others.
    """
    end = len(stream)
    while at + HEAD <= end:
        kind, size = _HEADER.unpack_from(stream, at)
        start, at = at + HEAD, at + HEAD + size
        if at > end:
            raise FormatError(f"the workbook breaks off within a record at byte {start}")
        continued: list[bytes] = []
        while at + HEAD <= end and stream[at : at + 2] == b"\x3c\0":
            more = at + HEAD + _U16.unpack_from(stream, at + 2)[0]
            if more > end:
                raise FormatError(f"the workbook breaks off within a record at byte {at}")
            continued.append(stream[at + HEAD : more])
            if len(continued) > _MOST_CONTINUED:
                raise FormatError(f"a record that goes on in more than {_MOST_CONTINUED} others")
            at = more
        yield kind, stream[start : start + size], continued


def walk_records(stream: bytes, at: int) -> Iterator[Positions]:
    """Yield the bytes at which records begin, thousands at a time, from the record at the byte `at` on.

    Raises:
        FormatError: the stream breaks off within a record, and all records before it have been yielded.
    """
    end, most, unpack = len(stream) - HEAD, _FIRST_PIECE, _U32.unpack_from
    while at <= end:
        starts: list[int] = []
        limit, last = min(end, at + most), 0
        while at <= limit:
            head = unpack(stream, at)[0]
            if head == last and head in _REPEATED and (run := _run_of(head).match(stream, at)) is not None:
                starts += range(at, run.end(), (head >> 16) + HEAD)
                at, last = run.end(), 0
                continue
            starts.append(at)
            at += (head >> 16) + HEAD
            last = head
        whole = at <= len(stream)
        yield np.array(starts if whole else starts[:-1], dtype=np.int64)
        if not whole:
            raise FormatError(f"the workbook breaks off within a record at byte {starts[-1] + HEAD}")
        most = min(most * 2, _PIECE)


@cache
def _run_of(head: int) -> re.Pattern[bytes]:
    """Return a pattern of records of one kind and size that come one after another, up to 4,096 of them."""
    return re.compile(b"(?s:%s.{%d}){1,4096}+" % (re.escape(_U32.pack(head)), head >> 16))
