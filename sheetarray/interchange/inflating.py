"""Compressed data inflated piece by piece, never further than asked: blocks of Avro, blobs of awkward arrays."""

from __future__ import annotations

import lzma
from typing import Any

from ..errors import FormatError
from ..files import fast_zlib

DICTIONARY = 2**27  # bytes of memory that xz and Zstandard may take for what they refer back to
_FED = 2**16  # bytes that are handed to a decompressor at once


class FedStream:
    """A stream out of a decompressor that is fed piece by piece, such as those of bz2, lzma and zlib."""

    def __init__(self, data: memoryview, decompressor: Any, name: str) -> None:
        self._data, self._decompressor, self._name = data, decompressor, name
        self._errors: tuple[type[Exception], ...] = (*fast_zlib.errors(), lzma.LZMAError, OSError, ValueError, EOFError)
        self._position = 0

    @property
    def is_complete(self) -> bool:
        """Whether the data have come to their end, and nothing follows it."""
        return self._decompressor.eof and not self._decompressor.unused_data and self._position == len(self._data)

    def read(self, most: int, /) -> bytes:
        """Return some more bytes, at most `most`; none at the end."""
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
