"""Text of Excel 97 workbooks that may go on over several records, such as their table of shared strings.

Source: MS-XLS 2.4.265 (SST), 2.5.293 (XLUnicodeRichExtendedString).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....errors import FormatError
from .binary import decode_utf16

if TYPE_CHECKING:
    import polars as pl

WIDE, _EXTENDED, _RICH = 0x01, 0x04, 0x08  # flags of a text
_STRINGS_A_PIECE = 2**15

_U16, _U32, _HEAD = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<HB")


def read_strings(segments: Sequence[bytes]) -> pl.Series:
    """Return the strings of a table.

    Args:
        segments: the contents of the table's record and of the records that continue it.

    Raises:
        FormatError: the table breaks off.
    """
    import polars as pl

    reader = StringReader(segments)
    pieces = [pl.Series([], dtype=pl.String)]
    texts: list[str] = []
    while reader.has_more():
        texts += reader.whole_strings() or [reader.string()]
        if len(texts) >= _STRINGS_A_PIECE:
            pieces.append(pl.Series(texts, dtype=pl.String))
            texts = []
    return pl.concat([*pieces, pl.Series(texts, dtype=pl.String)])


class StringReader:
    """Reads strings that go on over several records; each record says anew whether characters have one byte or two.

    Args:
        segments: the contents of these records.
    """

    def __init__(self, segments: Sequence[bytes]) -> None:
        self._segments, self._index, self._at = segments, 0, 0

    def has_more(self) -> bool:
        """Return whether any bytes are left, and go to the segment in which the next one stands."""
        while self._index < len(self._segments) and self._at >= len(self._segments[self._index]):
            self._index, self._at = self._index + 1, 0
        return self._index < len(self._segments)

    def whole_strings(self) -> list[str]:
        """Return the next strings up to one that goes on in the next segment; their formats are skipped."""
        segment, at = self._segments[self._index], self._at
        end, texts = len(segment), []
        while (start := at + 3) <= end:
            flags, more = segment[at + 2], 0
            if flags > WIDE:
                start, more = _skip_heads(segment, start, flags)
            after = start + ((segment[at] | segment[at + 1] << 8) << (flags & WIDE))
            if after + more > end:
                break
            raw = segment[start:after]
            texts.append(raw.decode("utf-16-le", "replace") if flags & WIDE else raw.decode("latin-1"))
            at = after + more
        self._at = at
        return texts

    def string(self) -> str:
        """Return the next string, which may go on in the next segments.

        Raises:
            FormatError: the table breaks off.
        """
        count, flags = _HEAD.unpack(self._bytes(3))
        runs = _U16.unpack(self._bytes(2))[0] if flags & _RICH else 0
        extended = _U32.unpack(self._bytes(4))[0] if flags & _EXTENDED else 0
        text = self.characters(count, wide=bool(flags & WIDE))
        self._bytes(4 * runs)
        self._bytes(extended)
        return text

    def _bytes(self, count: int) -> bytes:
        pieces = []
        while count:
            if not self.has_more():
                raise FormatError("the table of strings breaks off")
            piece = self._segments[self._index][self._at : self._at + count]
            self._at += len(piece)
            count -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def characters(self, count: int, *, wide: bool) -> str:
        """Return a number of characters.

        Args:
            count: the number.
            wide: whether the characters have two bytes each, until the next segment says otherwise.

        Raises:
            FormatError: the text breaks off.
        """
        pieces = []
        while count:
            if self._at >= len(self._segments[self._index]):
                if not self.has_more():
                    raise FormatError("the table of strings breaks off")
                wide = bool(self._bytes(1)[0] & WIDE)
            segment = self._segments[self._index]
            size = min(count * (2 if wide else 1), len(segment) - self._at)
            piece = segment[self._at : self._at + size]
            self._at += size
            count -= size // 2 if wide else size
            if wide and size < 2 and count:
                raise FormatError("the table of strings breaks off within a character")
            pieces.append(piece if wide else piece.decode("latin-1").encode("utf-16-le"))
        return decode_utf16(b"".join(pieces))


def _skip_heads(segment: bytes, start: int, flags: int) -> tuple[int, int]:
    """Return the first byte of a string's characters, and the number of bytes after them that are not characters.

    Bytes beyond the end of the segment count as zeros; the characters then lie beyond it as well.
    """
    more = 0
    if flags & _RICH:
        more += 4 * int.from_bytes(segment[start : start + 2], "little")
        start += 2
    if flags & _EXTENDED:
        more += int.from_bytes(segment[start : start + 4], "little")
        start += 4
    return start, more
