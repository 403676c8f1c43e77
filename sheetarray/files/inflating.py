"""Inflates gzip and Zstandard files piece by piece; a file may have several frames (gzip's members) in a row."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol

from .fast_zlib import load_zstandard

_INFLATED_ALWAYS = 900_000_000  # bytes to which every compressed file may inflate, however small it is
_INFLATED_TIMES = 100  # a larger one may inflate to so many times its size
_TEXT_ALWAYS, _TEXT_TIMES = 2**28, 30  # the same for text, which takes several times as much memory once it is parsed
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1024  # bytes that are inflated at once: of Zstandard they make 32 MiB at most, of deflate 1 MiB
_MOST_FRAMES = 100_000  # of a file: an empty frame takes nine bytes of it, and 20 microseconds of ours

DAMAGE = (EOFError, zlib.error)
"""The errors that reading raises if the data end within a frame, or are damaged."""


def max_inflated_size(size: int, *, text: bool = False) -> int:
    """Return the bytes to which a compressed file of `size` bytes may inflate, before it is taken for a bomb.

    `size`: of the compressed file, in bytes. `text`: whether the content is text that will be parsed, and not elements
    that are used as they lie.
    """
    return max(_TEXT_ALWAYS, _TEXT_TIMES * size) if text else max(_INFLATED_ALWAYS, _INFLATED_TIMES * size)


class FrameInflater(Protocol):
    """A decompressor of one frame."""

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""

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
