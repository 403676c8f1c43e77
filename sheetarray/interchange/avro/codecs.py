"""Compressed blocks of Avro containers."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from typing import Any

from ...errors import FormatError
from ...files import fast_zlib
from ..fed_stream import DICTIONARY, FedStream
from ..untrusted import damage_as_format_error, load_package
from .wire import Wire

STEP = 2**20  # bytes of elements that are written, or compressed, at once

CODECS = ("deflate", "bzip2", "xz", "zstandard", "snappy")  # that are read, besides null
_LEAST = 4096  # bytes that are inflated at once
_SNAPPY_TIMES = 22  # three bytes stand for 64 at most
_CHECKSUM = 4  # bytes of CRC-32 after a Snappy block


def _open_stream(codec: str, data: memoryview) -> Any:
    """Return a stream that gives the content of a block, inflated as far as it is read."""
    if codec == "deflate":
        return FedStream(data, fast_zlib.decompressor(fast_zlib.RAW))
    if codec == "bzip2":
        return FedStream(data, bz2.BZ2Decompressor())
    if codec == "xz":
        return FedStream(data, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY))
    if codec == "zstandard":
        inflater = fast_zlib.load_zstandard().ZstdDecompressor(max_window_size=DICTIONARY)
        return inflater.stream_reader(data, read_across_frames=True)
    snappy = load_package("cramjam", "Snappy blocks of Avro files are read by cramjam", "'sheetarray[avro]'").snappy
    packed, checksum = bytes(data[:-_CHECKSUM]), bytes(data[-_CHECKSUM:])
    if (size := snappy.decompress_raw_len(packed)) > _SNAPPY_TIMES * len(packed):
        raise ValueError(f"{len(packed)} bytes cannot stand for {size}")
    content = bytes(snappy.decompress_raw(packed))
    if zlib.crc32(content) != int.from_bytes(checksum, "big"):
        raise ValueError("its checksum is wrong")
    return io.BytesIO(content)


class PackedWire(Wire):
    """The bytes of a compressed block, taken one value after the other: inflated as far as asked, never further.

    Locations count the inflated bytes, `byte 50 of the block at byte 200`.

    Attributes:
        inflated: the bytes that were inflated so far, taken or not.
    """

    def __init__(self, data: memoryview, block: int, codec: str, most: int) -> None:
        super().__init__(data, 0, most)
        self.inflated = 0
        self._block, self._codec = block, codec
        self._stream: Any = None
        self._waiting = bytearray()

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at} of the block at byte {self._block}"

    def read(self, count: int, what: str) -> bytearray:
        """Return the next bytes, in a buffer of their own."""
        if not 0 <= count <= self.end - self.at:
            raise FormatError(
                f"{what} of {count} bytes; at most {self.end - self.at} are read at once",
                location=self.location(),
                hint="if this is intended, read fewer arrays at a time with names=",
            )
        taken, self._waiting = self._waiting, bytearray()
        while len(taken) < count:
            more = self._inflate(count - len(taken))
            if not more:
                raise FormatError(f"{what} of {count} bytes, but {len(taken)} are left", location=self.location())
            taken += more
        if len(taken) > count:
            self._waiting = taken[count:]
            del taken[count:]
        self.at += count
        return taken

    def skip(self, count: int, what: str) -> None:
        """Inflate bytes, and forget them."""
        while count > STEP:
            self.read(STEP, what)
            count -= STEP
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether all bytes have been read."""
        if not self._waiting:
            self._waiting = bytearray(self._inflate(1))
        return not self._waiting

    def _inflate(self, most: int) -> bytes:
        """Return some more bytes, at most so many (a few at least, to spare calls); none at the end."""
        with damage_as_format_error(f"damaged {self._codec} data", self.location()):
            if self._stream is None:
                self._stream = _open_stream(self._codec, self._data)
            more: bytes = self._stream.read(max(most, _LEAST))
        self.inflated += len(more)
        return more
