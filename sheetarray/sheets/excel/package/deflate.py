"""Compresses the content of a part in a second thread, with the fastest library that is installed.

The caller makes the next chunk while the one before is compressed. Only a few chunks may wait, so that memory stays
bounded.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple

from ....files import Sink, fast_zlib

_WAITING = 2  # chunks that may wait to be compressed


class PackedSizes(NamedTuple):
    """The CRC-32 of a member's content, the bytes of the content, and the bytes that it takes when compressed."""

    crc: int
    size: int
    packed: int


class Deflater:
    """A deflate stream that is written into a sink.

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
        self._packer, self._crc32 = fast_zlib.compressor(fast_zlib.RAW), fast_zlib.crc32()
        self._crc = self._size = self._packed = 0
        self._thread = ThreadPoolExecutor(1, "sheetarray-deflate")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> Deflater:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for waiting in self._waiting:
            waiting.cancel()
        self._thread.shutdown()

    def write(self, chunk: bytes | memoryview) -> None:
        """Hand over a chunk to be compressed; the caller must not change it any more.

        Raises:
            OSError: writing an earlier chunk failed.
        """
        while len(self._waiting) >= _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._compress, chunk))

    def finish(self) -> PackedSizes:
        """Write the chunks that wait and the end of the stream, and return its sizes.

        Raises:
            OSError: writing failed.
        """
        while self._waiting:
            self._waiting.popleft().result()
        self._write(self._packer.flush())
        self._thread.shutdown()
        return PackedSizes(self._crc, self._size, self._packed)

    def _compress(self, chunk: bytes | memoryview) -> None:
        self._crc = self._crc32(chunk, self._crc)
        self._size += len(chunk)
        self._write(self._packer.compress(chunk))

    def _write(self, packed: bytes) -> None:
        self._packed += len(packed)
        self._sink.write(packed)
