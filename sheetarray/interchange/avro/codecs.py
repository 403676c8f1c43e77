"""The codecs of an object container: they inflate the bytes of a block, only as far as is asked for.

Source: https://avro.apache.org/docs/1.12.0/specification/#required-codecs. A compressed block does not say how large
its content is, so every codec gives a stream that inflates a few bytes at a time; only Snappy has its size in front,
which is compared with the most that so many bytes can stand for before any memory is taken.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from ...errors import FormatError, MissingDependencyError
from ...files import fast_zlib

_FED = 2**16  # bytes of a block that are handed to a decompressor at once
_DICTIONARY = 2**27  # bytes of memory that xz and Zstandard may take for what they refer back to
_SNAPPY_TIMES = 22  # three bytes stand for 64 at most
_CHECKSUM = 4  # bytes of CRC-32 after a Snappy block


class BlockStream(Protocol):
    """The content of a block."""

    def read(self, most: int, /) -> bytes:
        """Return some more bytes, at most `most`; none at the end.

        Raises:
            FormatError: the block is damaged.
        """


class _FedStream:
    """A stream out of a decompressor that is fed piece by piece, such as those of bz2, lzma and zlib."""

    def __init__(self, data: memoryview, decompressor: Any, name: str) -> None:
        self._data, self._decompressor, self._name = data, decompressor, name
        self._errors: tuple[type[Exception], ...] = (*fast_zlib.errors(), lzma.LZMAError, OSError, ValueError)
        self._position = 0

    def read(self, most: int, /) -> bytes:
        while self._data and not self._decompressor.eof:
            piece = self._next_piece()
            try:
                content: bytes = self._decompressor.decompress(piece, most)
            except self._errors as error:
                raise FormatError(f"damaged {self._name} data ({error})") from error
            if content:
                return content
            if not piece:
                raise FormatError(f"damaged {self._name} data (they break off)")
        return b""

    def _next_piece(self) -> bytes:
        rest: bytes = getattr(self._decompressor, "unconsumed_tail", b"")  # what zlib had no room for
        if rest or not getattr(self._decompressor, "needs_input", True):
            return rest
        piece = bytes(self._data[self._position : self._position + _FED])
        self._position += len(piece)
        return piece


class _ZstandardStream:
    """A stream out of Zstandard frames."""

    def __init__(self, data: memoryview) -> None:
        import zstandard

        decompressor = zstandard.ZstdDecompressor(max_window_size=_DICTIONARY)
        self._reader = decompressor.stream_reader(data, read_across_frames=True)
        self._error = zstandard.ZstdError

    def read(self, most: int, /) -> bytes:
        try:
            return self._reader.read(most)
        except self._error as error:
            raise FormatError(f"damaged zstandard data ({error})") from error


class _SnappyStream:
    """The content of one Snappy block, which is small: it is decompressed at once, and compared with its checksum."""

    def __init__(self, data: memoryview) -> None:
        packed, checksum = data[:-_CHECKSUM], bytes(data[-_CHECKSUM:])
        size, shift = 0, 0
        for byte in packed[:5]:
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if size > _SNAPPY_TIMES * len(packed):
            raise FormatError(f"damaged snappy data ({len(packed)} bytes cannot stand for {size})")
        try:
            self._content = memoryview(_snappy_decompress()(bytes(packed)))
        except MissingDependencyError:
            raise
        except Exception as error:  # each of the libraries has errors of its own
            raise FormatError(f"damaged snappy data ({error})") from error
        if zlib.crc32(self._content) != int.from_bytes(checksum, "big"):
            raise FormatError("damaged snappy data (its checksum is another one)")
        self._position = 0

    def read(self, most: int, /) -> bytes:
        content = bytes(self._content[self._position : self._position + most])
        self._position += len(content)
        return content


def _snappy_decompress() -> Callable[[bytes], Any]:
    try:
        from cramjam import snappy
    except ImportError as error:
        raise MissingDependencyError(
            "Snappy blocks of Avro files are read by cramjam: pip install 'sheetarray[avro]'"
        ) from error
    decompress: Callable[[bytes], Any] = snappy.decompress_raw
    return decompress


CODECS: dict[str, Callable[[memoryview], BlockStream]] = {
    "deflate": lambda data: _FedStream(data, fast_zlib.decompressor(fast_zlib.RAW), "deflate"),
    "bzip2": lambda data: _FedStream(data, bz2.BZ2Decompressor(), "bzip2"),
    "xz": lambda data: _FedStream(data, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_DICTIONARY), "xz"),
    "zstandard": _ZstandardStream,
    "snappy": _SnappyStream,
}
"""The functions that open the content of a block, by the codec's name in the metadata; "null" needs none."""
