"""Compressed data that are decompressed piece by piece, no further than somebody reads."""

from __future__ import annotations

from typing import Any

DICTIONARY = 2**27  # bytes of memory that xz and Zstandard may take for what they refer back to
_FED = 2**16  # bytes that are handed to a decompressor at once


class FedStream:
    """A stream out of a decompressor that is fed piece by piece, such as those of bz2, lzma and zlib."""

    def __init__(self, data: memoryview, decompressor: Any) -> None:
        self._data, self._decompressor = data, decompressor
        self._position = 0

    @property
    def is_complete(self) -> bool:
        """Whether the data have come to their end, and nothing follows it."""
        return self._decompressor.eof and not self._decompressor.unused_data and self._position == len(self._data)

    def read(self, most: int, /) -> bytes:
        """Return some more bytes, at most `most`; none at the end. What is damaged raises the decompressor's errors."""
        while self._data and not self._decompressor.eof:
            piece: bytes = getattr(self._decompressor, "unconsumed_tail", b"")  # what zlib had no room for
            if not piece and getattr(self._decompressor, "needs_input", True):
                piece = bytes(self._data[self._position : self._position + _FED])
                self._position += len(piece)
            content: bytes = self._decompressor.decompress(piece, most)
            if content:
                return content
            if not piece:
                raise EOFError("they break off")
        return b""
