"""Compressed files, of gzip and Zstandard: read and written piece by piece.

A file may have several frames (gzip's members) in a row. What inflates to far more than files of its size hold is taken
for a bomb; what we write is padded, so that it never is.
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol, cast

import numpy as np

from .fast_zlib import load_zstandard

PROMISED = 2**25
"""Bytes: a file of up to this size takes no more time and memory than SECURITY.md promises; a larger one may."""

_INFLATED_ALWAYS, _INFLATED_TIMES = 900_000_000, 100  # bytes of any file, and for each byte beyond `PROMISED`
_TEXT_ALWAYS, _TEXT_TIMES = 2**27, 30  # the same for text, beside the size of the file: parsed, it takes more memory
_VALUES_ALWAYS, _BYTES_OF_VALUE = 14 * 2**20, 32  # values, and the bytes of the file below `PROMISED` for one more
_DELIMITERS = b",;\t| "
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1024  # bytes that are inflated at once: of Zstandard they make 32 MiB at most, of deflate 1 MiB
_MOST_FRAMES = 100_000  # of a file: an empty frame takes nine bytes of it, and 20 microseconds of ours

# Frames that stand for nothing: an empty member of gzip with an extra field (RFC 1952, 2.3.1.1), and a frame of
# Zstandard that readers skip (RFC 8878, 3.1.2)
_PADDING = 2**16 - 1
_EMPTY_MEMBER = (
    b"".join(
        (b"\x1f\x8b\x08\x04\0\0\0\0\0\xff", struct.pack("<H2sH", _PADDING, b"sa", _PADDING - 4), bytes(_PADDING - 4))
    )
    + b"\x03\0"
    + bytes(8)
)
_SKIPPABLE_FRAME = struct.pack("<II", 0x184D2A50, _PADDING) + bytes(_PADDING)

DAMAGE = (EOFError, zlib.error)
"""The errors that reading raises if the data end within a frame, or are damaged."""


def max_inflated_size(size: int, *, text: bool = False) -> int:
    """Return the bytes to which a compressed file of `size` bytes may inflate, before it is taken for a bomb.

    `size`: of the compressed file, in bytes. `text`: whether the content is text that will be parsed, and not elements
    that are used as they lie.
    """
    beyond = max(0, size - PROMISED)
    if text:
        return _TEXT_ALWAYS + min(size, PROMISED) + _TEXT_TIMES * beyond
    return _INFLATED_ALWAYS + _INFLATED_TIMES * beyond


def max_values(size: int) -> int:
    """Return the number of values that a compressed file of `size` bytes may hold, before it is taken for a bomb: those
    of a text, or cells of a workbook.

    Example:
        >>> max_values(0), max_values(2**25) - max_values(0), max_values(2**25 + 5) - max_values(2**25)
        (14680064, 1048576, 5)
    """
    return _VALUES_ALWAYS + min(size, PROMISED) // _BYTES_OF_VALUE + max(0, size - PROMISED)


def size_for_values(values: int) -> int:
    """Return the bytes that a compressed file must have to hold so many values; see `max_values`.

    Example:
        >>> size_for_values(max_values(100)), size_for_values(max_values(2**25 + 100)) - 2**25
        (96, 100)
    """
    more = max(0, values - _VALUES_ALWAYS)
    return min(more * _BYTES_OF_VALUE, PROMISED) + max(0, more - PROMISED // _BYTES_OF_VALUE)


def size_for_text(size: int) -> int:
    """Return the bytes that a compressed file must have to hold a text of `size` bytes; see `max_inflated_size`.

    Example:
        >>> [size_for_text(max_inflated_size(size, text=True)) for size in (0, 100, 2**25 + 100)]
        [0, 100, 33554532]
    """
    more = max(0, size - _TEXT_ALWAYS)
    return min(more, PROMISED) + -(-max(0, more - PROMISED) // _TEXT_TIMES)


class ValueCount:
    """The number of values in a text that comes block by block: those that lines and the commonest delimiter end.

    Example:
        >>> count = ValueCount()
        >>> count.add(b"1,2;3")
        >>> count.add(b",4")
        >>> count.total
        2
    """

    def __init__(self) -> None:
        self._lines, self._delimiters = [0, 0], [0] * len(_DELIMITERS)

    def add(self, block: bytes | memoryview) -> None:
        """Count the values of a block."""
        units = np.frombuffer(block, np.uint8)  # NumPy counts them in a tenth of the time of `bytes.count`
        for index, end in enumerate(b"\n\r"):
            self._lines[index] += int(np.count_nonzero(units == end))
        for index, delimiter in enumerate(_DELIMITERS):
            self._delimiters[index] += int(np.count_nonzero(units == delimiter))

    @property
    def total(self) -> int:
        """The number of values so far."""
        return max(self._lines) + max(self._delimiters)


class FrameInflater(Protocol):
    """A decompressor of one frame."""

    @property
    def eof(self) -> bool:
        """Whether the end of the frame has been read."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after its end."""

    def decompress(self, piece: bytes, /) -> bytes:
        """Inflate some bytes."""


def inflater_of(head: bytes) -> Callable[[], FrameInflater] | None:
    """Return a function that makes a decompressor for a file that begins with `head`; None if it is not compressed."""
    if head.startswith(_GZIP):
        return lambda: zlib.decompressobj(wbits=31)
    if head.startswith(_ZSTANDARD):
        zstandard = load_zstandard()

        begin = zstandard.ZstdDecompressor().decompressobj
        return lambda: _ZstandardFrame(begin(), zstandard.ZstdError)
    return None


class _ZstandardFrame:
    """The decompressor of one frame of Zstandard, which raises `zlib.error` for damaged data as that of gzip does."""

    def __init__(self, frame: Any, error: type[Exception]) -> None:
        self._frame, self._error = frame, error

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data)

    def decompress(self, piece: bytes, /) -> bytes:
        try:
            return bytes(self._frame.decompress(piece))
        except self._error as error:
            raise zlib.error(str(error)) from error


class InflatedStream(io.RawIOBase):
    """The content of compressed frames; zeros between and after them are padding, as for gzip itself.

    `head`: the first bytes, which have been read from `packed` already.

    Raises:
        EOFError: the data end within a frame.
        zlib.error: they are damaged, or of too many frames.
    """

    def __init__(self, head: bytes, packed: IO[bytes], inflater: Callable[[], FrameInflater]) -> None:
        self._packed, self._inflater = packed, inflater
        self._frame, self._frames = inflater(), 1
        self._begun = False
        self._waiting, self._ready, self._at = head, b"", 0

    def read(self, size: int = -1) -> bytes:
        """Return some bytes, at most `size` of them where it is not negative; none at the end."""
        while self._at == len(self._ready):
            piece = self._waiting[:_PIECE] or self._packed.read(_PIECE) or b""
            self._waiting = self._waiting[_PIECE:]
            if not piece and self._begun:
                raise EOFError("the last frame is incomplete")
            if not piece:
                return b""
            if not self._begun and self._frames > 1 and not (piece := piece.lstrip(b"\0")):
                continue
            self._ready, self._at, self._begun = self._frame.decompress(piece), 0, True
            if self._frame.eof:
                self._next()
        start, self._at = self._at, len(self._ready) if size < 0 else min(self._at + size, len(self._ready))
        return self._ready[start : self._at]

    def _next(self) -> None:
        self._waiting = self._frame.unused_data + self._waiting
        self._begun, self._frame, self._frames = False, self._inflater(), self._frames + 1
        if self._frames > _MOST_FRAMES:
            raise zlib.error(f"more than {_MOST_FRAMES:,} frames")


class Sink(Protocol):
    """A file, or anything else, to which bytes are written."""

    def write(self, chunk: bytes | memoryview, /) -> Any:
        """Take the next bytes."""


@contextmanager
def compressing(file: IO[bytes], suffix: str) -> Iterator[Sink]:
    """Give a sink that compresses into a file as its suffix says; the file itself for a suffix of no compression.

    A reader takes for a bomb what inflates to far more than files of its size hold. What is so much and so much alike
    is padded at the end with frames that stand for nothing.
    """
    packed = _Packed(file)  # which counts what is written
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", 6, cast("IO[bytes]", packed), mtime=0) as packer:
            content = _Content(packer)
            yield content
        _pad(packed, content, _EMPTY_MEMBER)
    elif suffix == ".zst":
        with load_zstandard().ZstdCompressor(level=3, threads=-1).stream_writer(packed, closefd=False) as packer:
            content = _Content(packer)
            yield content
        _pad(packed, content, _SKIPPABLE_FRAME)
    else:
        yield file


class _Content:
    """What goes into a compressed file: its bytes, and the values that it has if it is text."""

    def __init__(self, packer: Any) -> None:
        self._packer, self.size, self.values = packer, 0, ValueCount()

    def write(self, chunk: bytes | memoryview) -> None:
        """Compress a chunk."""
        self.size += len(chunk)
        self.values.add(chunk)
        self._packer.write(chunk)


class _Packed:
    """A compressed file whose bytes are counted."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.size = file, 0

    def write(self, packed: bytes | memoryview) -> int:
        """Write compressed bytes."""
        self._file.write(packed)
        self.size += len(packed)
        return len(packed)

    def flush(self) -> None:
        """Do nothing: whoever opened the file flushes it."""


def _pad(packed: _Packed, content: _Content, frame: bytes) -> None:
    """Write a frame that stands for nothing until a file has the bytes that its content needs."""
    needed = max(size_for_text(content.size), size_for_values(content.values.total))
    while packed.size < needed:
        packed.write(frame)
