"""Strings in UTF-8, one after the other <-> arrays of text; all at once, without a step for each string.

An array of text is NumPy's `<U`, or `StringDType` where padding to the longest would be out of proportion. NumPy drops
NULs at the end of a text: strings that end in one have no such array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError

_PADDING_ALWAYS = 64_000_000  # bytes that padding may take
_PADDING_TIMES = 8  # and this many times the text
WIDE = 4  # bytes of a character in `<U`
_BLOCK = 2**24  # characters of a padded block that is worked on at once
_FIRST_OF_PAIR = 0xF0  # bytes from here on begin a character that is two units of UTF-16
_FIRST_OF = (0x80, 0x800, 0x10000)  # characters from here on take one byte more in UTF-8


def text_lengths(offsets: Array, content: Array) -> Array:
    """Return the number of characters in each string.

    Args:
        offsets: where each begins in the content, in bytes; one more for the end of the last.
        content: valid UTF-8, as bytes.

    Example:
        >>> text_lengths(np.array([0, 1, 4]), np.frombuffer("a€".encode(), "u1")).tolist()
        [1, 1]
    """
    before = np.zeros(len(content) + 1, np.int64)
    np.cumsum(content & 0xC0 != 0x80, out=before[1:])
    lengths: Array = np.diff(before[offsets])
    return lengths


def is_cell_text(offsets: Array, content: Array, longest: int) -> bool:
    """Return whether an array of text, and the cells of a spreadsheet, hold these strings.

    Args:
        offsets: as for `text_lengths`.
        content: likewise.
        longest: a text may be, in units of UTF-16, as spreadsheets count.

    Example:
        >>> is_cell_text(np.array([0, 2]), np.array([97, 0], "u1"), 100)
        False
    """
    lasts = offsets[1:][np.diff(offsets) > 0] - 1
    if not content[lasts].all():
        return False
    if int(np.diff(offsets).max(initial=0)) <= longest:  # bytes are no fewer than units
        return True
    pairs = np.zeros(len(content) + 1, np.int64)
    np.cumsum(content >= _FIRST_OF_PAIR, out=pairs[1:])
    return bool((text_lengths(offsets, content) + np.diff(pairs[offsets])).max() <= longest)


def decode_utf8(offsets: Array, content: Array, *, padded: bool = True) -> Array:
    """Return strings as an array of text.

    Args:
        offsets: as for `text_lengths`.
        content: likewise; with `padded` no string ends in a NUL.
        padded: `<U`, unless padding is out of proportion; else `StringDType`.

    Example:
        >>> decode_utf8(np.array([0, 1, 1, 4]), np.frombuffer("a€".encode(), "u1")).tolist()
        ['a', '', '€']
    """
    lengths = text_lengths(offsets, content)
    width = max(int(lengths.max(initial=1)), 1)
    size = int(lengths.sum())
    text = content[offsets[0] : offsets[-1]].tobytes().decode("utf-8")
    taken = WIDE * width * len(lengths)
    if not padded or (taken > _PADDING_ALWAYS and taken > _PADDING_TIMES * WIDE * size):
        ends = np.cumsum(lengths).tolist()
        texts = [text[start:stop] for start, stop in zip([0, *ends[:-1]], ends, strict=True)]
        return np.array(texts, dtype=np.dtypes.StringDType())
    characters = np.frombuffer(text.encode("utf-32-le"), "<u4")
    points = np.zeros((len(lengths), width), "<u4")
    first = 0
    for start, stop in _blocks(len(lengths), width):
        here = lengths[start:stop]
        last = first + int(here.sum())
        points[start:stop][np.arange(width) < here[:, None]] = characters[first:last]
        first = last
    array: Array = points.view(f"<U{width}").reshape(-1)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def encode_utf8(array: Array) -> tuple[Array, Array]:
    """Return the offsets and the content of the strings in an array of text; inverse of `decode_utf8`.

    Raises:
        FormatError: half a character, or missing text.

    Example:
        >>> offsets, content = encode_utf8(np.array(["a", "", "€"]))
        >>> offsets.tolist(), content.tobytes()
        ([0, 1, 1, 4], b'a\\xe2\\x82\\xac')
    """
    if array.dtype.kind == "T":
        return _join(array.tolist())
    wide = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    width = wide.itemsize // WIDE
    offsets = np.zeros(len(wide) + 1, np.int64)
    pieces: list[bytes] = []
    if not width:
        return offsets, np.zeros(0, np.uint8)
    lengths = np.strings.str_len(wide).astype(np.int64, copy=False)
    block = wide.view("<u4").reshape(len(wide), width)
    for start, stop in _blocks(len(wide), width):
        here = lengths[start:stop]
        characters = block[start:stop][np.arange(width) < here[:, None]]
        try:
            pieces.append(characters.tobytes().decode("utf-32-le").encode("utf-8"))
        except UnicodeError as error:
            raise FormatError("text that is no Unicode") from error
        before = np.arange(len(characters) + 1)
        if len(pieces[-1]) > len(characters):
            for first in _FIRST_OF:
                before[1:] += np.cumsum(characters >= first)
        offsets[start + 1 : stop + 1] = offsets[start] + before[np.cumsum(here)]
    return offsets, np.frombuffer(b"".join(pieces), np.uint8)


def bytes_in(array: Array) -> tuple[Array, Array]:
    """Return the offsets and the content of an array of bytes (`S`), without the NULs at their ends."""
    width = array.dtype.itemsize
    lengths = np.strings.str_len(array).astype(np.int64, copy=False)
    block = (
        np.ascontiguousarray(array).view(np.uint8).reshape(len(array), width)
        if width
        else np.zeros((len(array), 0), "u1")
    )
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, block[np.arange(width) < lengths[:, None]]


def _join(texts: Sequence[Any]) -> tuple[Array, Array]:
    if not all(isinstance(text, str) for text in texts):
        raise FormatError("an array of text with missing values")
    encoded = [text.encode("utf-8") for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return offsets, np.frombuffer(b"".join(encoded), np.uint8)


def _blocks(count: int, width: int) -> list[tuple[int, int]]:
    """Return the rows of a padded block, in parts of a bounded size: where each begins and ends."""
    step = max(_BLOCK // max(width, 1), 1)
    return [(start, min(start + step, count)) for start in range(0, count, step)]
