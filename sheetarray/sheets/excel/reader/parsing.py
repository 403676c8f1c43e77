"""A part of a package, inflated block by block, and threads that work ahead of whoever takes the blocks.

Parts are inflated by isal where it is installed, which is about three times as fast as Python's zlib. The first
blocks are small, so that looking at the first rows of a large sheet costs next to nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ....errors import FormatError
from ....files import fast_zlib
from ..package.package import Package
from ..package.parts import STORED, Member

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_FIRST_BLOCK, _BLOCK = 2**16, 2**22  # bytes
_FIRST_PIECE = 2**15  # compressed bytes that are inflated first
_LARGE_PIECE = 31 * 2**20  # bytes: from one of more than 32 MiB glibc learns nothing (`_keep_freed_memory`)
# Bytes that any part may have, and how many more for each compressed byte. One text over and over deflates to a
# thousandth of its size, rows of one number to a fifteenth
_INFLATED_ALWAYS, _INFLATED_TIMES = 2**28, 100
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']""")


def inflate_blocks(package: Package, name: str) -> Iterator[bytes]:
    """Yield the content of a part, in blocks that grow; its size and its CRC-32 are checked at the end.

    Raises:
        FormatError: the package has no such part, the part is damaged, or it inflates to so much more than its
            compressed bytes that it can only be meant to fill the memory.
    """
    member = package.member(name)
    limit = _INFLATED_ALWAYS + _INFLATED_TIMES * member.packed
    if member.size > limit:
        raise FormatError(
            f"the part inflates from {member.packed} bytes to {member.size}; at most {limit} are read",
            location=member.name,
            hint="if this is intended, save the workbook again",
        )
    inflater, crc32 = fast_zlib.decompressor(fast_zlib.RAW), fast_zlib.crc32()
    crc, left = 0, member.size
    blocks = package.iter_packed(name) if member.method == STORED else _inflate_member(package, member, inflater)
    for block in blocks:
        crc, left = crc32(block, crc), left - len(block)
        if left < 0:
            raise FormatError(f"the part inflates to more than its {member.size} bytes", location=member.name)
        yield block
    if left:
        raise FormatError(
            f"the part is {left} bytes shorter than the {member.size} bytes that the file states", location=member.name
        )
    if crc != member.crc:
        raise FormatError("the part is damaged: its checksum is wrong", location=member.name)


def _inflate_member(package: Package, member: Member, inflater: Any) -> Iterator[bytes]:
    """Yield the inflated bytes of a member in blocks that grow from `_FIRST_BLOCK` to `_BLOCK` bytes."""
    most = _FIRST_BLOCK
    for waiting in _packed_pieces(package, member.name):
        more = True
        while more and not inflater.eof:
            try:
                block = inflater.decompress(waiting, most)
            except fast_zlib.errors() as error:
                raise FormatError(f"the part is damaged ({error})", location=member.name) from error
            waiting = inflater.unconsumed_tail
            more = bool(waiting) or len(block) == most
            most = min(most * 4, _BLOCK)
            if block:
                yield block
    if not inflater.eof:
        raise FormatError("the part breaks off", location=member.name)


def _packed_pieces(package: Package, name: str) -> Iterator[bytes]:
    """Yield the compressed bytes of a member, the first ones in small pieces that grow."""
    blocks = package.iter_packed(name)
    first, start, size = next(blocks, b""), 0, _FIRST_PIECE
    while start < len(first):
        yield first[start : start + size]
        start, size = start + size, size * 4
    yield from blocks


@contextmanager
def helper(name: str, count: int = 1) -> Iterator[Executor]:
    """Yield an executor of one thread, or of `count` threads, whose names begin with `sheetarray-` and a name.

    On leaving, nobody waits for the threads to end. A generator that was not run to its end may be cleared away within
    a thread that is just starting, and a thread that waits there for others would wait for ever.
    """
    threads = ThreadPoolExecutor(count, f"sheetarray-{name}")
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


@cache
def _keep_freed_memory() -> None:
    """Let the C library keep what blocks free for the blocks that follow.

    glibc gives a large piece of memory back at once until it has seen a larger one freed; then the system has to clear
    the same pages for every block, which took a fifth of the time.
    """
    np.empty(_LARGE_PIECE, np.uint8)


def run_ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same blocks, each made in a second thread while the caller is busy with the one before."""
    _keep_freed_memory()
    with helper("inflate") as thread:
        waiting = thread.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = thread.submit(next, blocks, None)
            yield block


def blocks_to_utf8(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Yield blocks of XML in UTF-8, without a byte order mark.

    `blocks`: the XML as it stands in the package, in UTF-8 or UTF-16.

    Raises:
        FormatError: the part is in another encoding.
    """
    first = next(blocks, b"")
    if first.startswith(_UTF16):
        yield from _utf16_to_utf8(chain([first], blocks), name)
        return
    declared = _ENCODING.match(first)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
        raise FormatError(
            f"the part is in {declared[1].decode('ascii', 'replace')!r:.40}: UTF-8 and UTF-16 are read", location=name
        )
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    for block in chain([first.removeprefix(codecs.BOM_UTF8)], blocks):
        try:
            if not block.isascii() or decoder.getstate()[0]:
                decoder.decode(block)
        except UnicodeError:
            raise FormatError("the part is not UTF-8", location=name) from None
        yield block


def _utf16_to_utf8(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield blocks of XML in UTF-8, given in UTF-16."""
    decoder = codecs.getincrementaldecoder("utf-16")("strict")
    try:
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise FormatError("the part is not UTF-16", location=name) from None


def part_blocks(package: Package, name: str, short: int) -> Iterator[bytes]:
    """Return the blocks of a part in UTF-8, inflated ahead of the caller if it has more than `short` bytes."""
    if name in package and package.member(name).size > short:
        return run_ahead(blocks_to_utf8(inflate_blocks(package, name), name))
    return blocks_to_utf8(iter([package.read(name, limit=short)]), name)
