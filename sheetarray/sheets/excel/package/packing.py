"""Writes a zip package: parts given as a whole, parts copied from another package, and parts that are streamed.

A reader takes for a bomb what has far more cells than files of its size hold (`Package.most_cells`). Millions of equal
cells take next to no bytes, so a part with them is padded with empty blocks of deflate, which stand for nothing.

Source: APPNOTE 6.3.10. Equal content makes an equal package: every part that is made here is dated 1980-01-01. The
zip64 fields appear only where a size or an offset needs them, since some readers refuse them.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
import zlib
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, NamedTuple, cast

import numpy as np

from ....files import Sink, fast_zlib, size_for_values
from ....files.zip_headers import LOCAL_HEADER
from .package import Package
from .parts import DEFLATED, UTF8_NAME, ZIP64

_WAITING = 2  # chunks that may wait to be compressed
_TOGETHER = 2**16  # bytes of chunks that a thread takes at once, at least
_SHORT = 2**16  # bytes that are compressed without a second thread
_UNCOUNTED = 2**26  # bytes of content whose cells are estimated, as so few cannot be too many
_BYTES_A_CELL, _BYTES_OF_COPY = 15, 30  # that the shortest cell of a number takes; one that was not made here
_SLACK = 1.1  # times the cells, as they are counted roughly
_EMPTY_BLOCK = b"\0\0\0\xff\xff"  # of a deflate stream: stored, not the last one, of no bytes (RFC 1951, 3.2.4)


class PackedSizes(NamedTuple):
    """The CRC-32 of a member's content, the bytes of the content, and the bytes that it takes when compressed.

    `cells`: about how many it has, if it is a worksheet; text counts as two.
    """

    crc: int
    size: int
    packed: int
    cells: int = 0


class Deflater:
    """A deflate stream that is written into a sink, compressed with the fastest library that is installed.

    An OSError of the sink passes through, if need be with a later chunk.

    The caller makes the next chunk while a second thread compresses the one before. Only a few chunks may wait, so that
    memory stays bounded.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with Deflater(file) as deflater:
        ...     deflater.write(b"<row/>" * 1000)
        ...     sizes = deflater.finish()
        >>> sizes.size, sizes.packed == len(file.getvalue())
        (6000, True)
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._packer, self._crc32 = fast_zlib.compressor(fast_zlib.RAW_NEAR), fast_zlib.crc32()
        self._crc = self._size = self._packed = self._cells = 0
        self._thread: ThreadPoolExecutor | None = None  # of long streams; a short one is compressed before it would run
        self._waiting: deque[Future[None]] = deque()
        self._gathered: list[bytes | memoryview] = []  # short chunks, which are handed over together
        self._gathered_size = 0

    def __enter__(self) -> Deflater:
        return self

    def __exit__(self, *_: object) -> None:
        for waiting in self._waiting:
            waiting.cancel()
        if self._thread is not None:
            self._thread.shutdown()

    def write(self, chunk: bytes | memoryview) -> None:
        """Pass on a chunk to be compressed. The caller must not change it afterwards."""
        if self._thread is None and not self._gathered and self._size + len(chunk) <= _SHORT:
            self._compress(chunk)
            return
        self._gathered.append(chunk)
        self._gathered_size += len(chunk)
        if self._gathered_size >= _TOGETHER:
            self._hand_over()

    def _hand_over(self) -> None:
        """Have a thread compress the chunks that are gathered."""
        chunk = self._gathered[0] if len(self._gathered) == 1 else b"".join(self._gathered)
        self._gathered, self._gathered_size = [], 0
        self._thread = self._thread or ThreadPoolExecutor(1, "sheetarray-deflate")
        while len(self._waiting) >= _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._compress, chunk))

    def finish(self, size_before: int = 0, cells_before: int = 0) -> PackedSizes:
        """Write the chunks that wait and the end of the stream, and return its sizes.

        `size_before`, `cells_before`: what stands before in the same package: bytes, and cells as `PackedSizes` counts
        them.
        """
        if self._gathered:
            self._hand_over()
        while self._waiting:
            self._waiting.popleft().result()
        count = _count_blocks(size_before + self._packed, cells_before + self._cells)
        if count:
            self._write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        for start in range(0, count, _BLOCKS_AT_ONCE):
            self._write(_EMPTY_BLOCK * min(_BLOCKS_AT_ONCE, count - start))
        self._write(self._packer.flush())
        return PackedSizes(self._crc, self._size, self._packed, self._cells)

    def _compress(self, chunk: bytes | memoryview) -> None:
        self._crc = self._crc32(chunk, self._crc)
        self._size += len(chunk)
        self._cells += _count_cells(chunk) if self._size > _UNCOUNTED else len(chunk) // _BYTES_A_CELL
        self._write(self._packer.compress(chunk))

    def _write(self, packed: bytes) -> None:
        self._packed += len(packed)
        self._sink.write(packed)


def _count_cells(chunk: bytes | memoryview) -> int:
    """Return about how many cells a piece of a worksheet has; those with a type, such as text, count as two."""
    units = np.frombuffer(chunk, np.uint8)
    tags = np.count_nonzero(units == ord("<"))  # four of a number, three of an empty text
    types = np.count_nonzero((units[:-1] == ord("t")) & (units[1:] == ord("=")))
    return 2 * int(types) + max(0, int(tags) // 4 - int(types)) + 1


def _count_blocks(size: int, cells: int) -> int:
    """Return how many empty blocks a package needs whose bytes are too few for its cells."""
    return -(-max(0, size_for_values(int(_SLACK * cells)) - size) // len(_EMPTY_BLOCK))


_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q4sIQI")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_DATED = 0x0021_0000  # 1980-01-01 00:00, in the format of DOS
_KEPT_FLAGS = 0x0006 | UTF8_NAME  # flags that a copy keeps: the level of compression, and the encoding of the name
_BLOCKS_AT_ONCE = 2**18
_IN_MEMORY = 2**23  # compressed bytes of a part that wait in memory until its sizes are known; more go to a file


class PackageWriter:
    """A zip package that is written into a sink, which need not be one to seek in; its OSErrors pass through.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> writer = PackageWriter(file)
        >>> writer.write_part("xl/workbook.xml", b"<workbook/>")
        >>> with writer.stream_part("xl/worksheets/sheet1.xml") as sheet:
        ...     sheet.write(b"<row/>" * 1000)
        >>> writer.finish()
        >>> Package(file.getvalue()).names()
        ['xl/workbook.xml', 'xl/worksheets/sheet1.xml']
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._offset = self._cells = 0
        self._directory: list[bytes] = []
        self._written: dict[str, PackedSizes] = {}

    def write_part(self, name: str, content: bytes) -> None:
        """Write a part whose content is given as a whole."""
        packed, crc = fast_zlib.compress(content, fast_zlib.RAW), fast_zlib.crc32()(content, 0)
        cells = _count_cells(content) if len(content) > _UNCOUNTED else len(content) // _BYTES_A_CELL
        packed = _EMPTY_BLOCK * _count_blocks(self._offset + len(packed), self._cells + cells) + packed
        self._sink.write(self._add(name, PackedSizes(crc, len(content), len(packed), cells)) + packed)

    def copy_parts(self, package: Package, replaced: Mapping[str, bytes], left_out: Collection[str] = ()) -> None:
        """Write copies of all parts of another package, compressed as they are: some with other content, and without
        some.
        """
        for name in package.names():
            if name in replaced:
                self.write_part(name, replaced[name])
            elif name not in left_out:
                member = package.member(name)
                sizes = PackedSizes(member.crc, member.size, member.packed, member.size // _BYTES_OF_COPY)
                flags = member.flags & _KEPT_FLAGS
                self._sink.write(self._add(name, sizes, method=member.method, flags=flags, when=member.when))
                for block in package.iter_packed(name):
                    self._sink.write(block)

    @contextmanager
    def stream_part(self, name: str) -> Iterator[Sink]:
        """Write a part chunk by chunk: yield a sink for its content, which is compressed in a second thread.

        The local header before the content holds its sizes, so the compressed bytes wait until these are known, those
        of a long part in a file.
        """
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            with Deflater(spool) as deflater:
                yield cast("Sink", deflater)
                sizes = deflater.finish(self._offset, self._cells)
            self._sink.write(self._add(name, sizes))
            spool.seek(0)
            shutil.copyfileobj(spool, cast("IO[bytes]", self._sink), 2**20)

    def content_of(self, name: str) -> tuple[int, int]:
        """Return the CRC-32 and the number of bytes of the content of a part that has been written."""
        return self._written[name][:2]

    def finish(self) -> None:
        """Write the directory, with which the package is complete."""
        directory = b"".join(self._directory)
        start, size, count = self._offset, len(directory), len(self._directory)
        if max(start, size) >= ZIP64 or count >= 0xFFFF:
            directory += _END64.pack(
                b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start, b"PK\6\7", 0, start + size, 1
            )
        few = min(count, 0xFFFF)
        self._sink.write(directory + _END.pack(b"PK\5\6", 0, 0, few, few, min(size, ZIP64), min(start, ZIP64), 0))

    def _add(
        self, name: str, sizes: PackedSizes, *, method: int = DEFLATED, flags: int = 0, when: int = _DATED
    ) -> bytes:
        """Put a part into the directory, and return the local header, which stands before its compressed bytes."""
        assert name not in self._written, f"the part {name} a second time"
        raw, flags = name.encode(), flags | (0 if name.isascii() else UTF8_NAME)
        numbers = [sizes.size, sizes.packed] if max(sizes.size, sizes.packed) >= ZIP64 else []
        version, extra = _zip64_extra(numbers)
        packed, size = (ZIP64, ZIP64) if numbers else (sizes.packed, sizes.size)
        fields = flags, method, when & 0xFFFF, when >> 16, sizes.crc, packed, size, len(raw)
        header = LOCAL_HEADER.pack(b"PK\3\4", version, *fields, len(extra)) + raw + extra
        made_by, extra = _zip64_extra(numbers + [self._offset] * (self._offset >= ZIP64))
        place = min(self._offset, ZIP64)
        entry = _ENTRY.pack(b"PK\1\2", made_by, version, *fields, len(extra), 0, 0, 0, 0, place)
        self._directory.append(entry + raw + extra)
        self._written[name] = sizes
        self._offset += len(header) + sizes.packed
        self._cells += sizes.cells
        return header


def rewrite_package(
    sink: Sink, package: Package, replaced: Mapping[str, bytes], left_out: Collection[str] = ()
) -> None:
    """Write a copy of a package: some parts with other content, some new ones, and without some."""
    writer = PackageWriter(sink)
    writer.copy_parts(package, replaced, left_out)
    for name in replaced:
        if name not in package:
            writer.write_part(name, replaced[name])
    writer.finish()


def _zip64_extra(numbers: Sequence[int]) -> tuple[int, bytes]:
    """Return the version of the zip format that some numbers of 64 bits need, and the extra field that holds them."""
    return (45, struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers)) if numbers else (20, b"")
