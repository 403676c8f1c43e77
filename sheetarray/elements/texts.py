"""Lists of texts -> arrays of text: NumPy's fixed width (`<U`), or its `StringDType` where the padding would be absurd.

`<U` gives every element four bytes for each character of the longest. Where that would take more than MOST_PADDING
bytes and more than MOST_RATIO times the text itself, counted in bytes of UTF-8, the array is one of `StringDType`,
whose elements take what they need. `<U` also drops NULs at the end of an element, so texts that have one there are of
`StringDType` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError

MOST_PADDING = 64_000_000  # bytes of an `<U` array, up to which nobody asks what they are for
MOST_RATIO = 8  # bytes of an `<U` array for each byte of text
_SURROGATES = 0xD800, 0xDFFF
_UNITS_AT_ONCE = 2**20  # characters
_ENDS_WITH_NUL = methodcaller("endswith", "\0")


def is_mostly_padding(count: int, longest: int, size: int) -> bool:
    """Return whether texts would take too much memory as `<U`: padded to the longest, much more than they hold."""
    padded = 4 * count * longest
    return padded > MOST_PADDING and padded > MOST_RATIO * size


def text_array(texts: Sequence[str]) -> Array:
    """Return the 1-D array of texts: `<U`, or `StringDType` where `<U` would be mostly padding, or drop a final NUL.

    Example:
        >>> text_array(["a", "bcd"])
        array(['a', 'bcd'], dtype='<U3')
    """
    if not texts:
        return np.empty(0, dtype="<U1")
    longest = max(map(len, texts))
    if any(map(_ENDS_WITH_NUL, texts)):
        return to_variable_width(texts)
    if 4 * len(texts) * longest > MOST_PADDING and is_mostly_padding(len(texts), longest, _size(texts)):
        return to_variable_width(texts)
    return np.array(texts, dtype=f"<U{max(longest, 1)}")


def to_variable_width(texts: Sequence[str]) -> Array:
    """Return the 1-D `StringDType` array of texts."""
    return np.array(texts, dtype=np.dtypes.StringDType())


def blank_missing(array: Array) -> Array:
    """Return the texts of a `StringDType` array, missing ones blank: `<U`, or `StringDType` where `<U` would be mostly
    padding.
    """
    column_major = array.flags.f_contiguous and not array.flags.c_contiguous
    flat = array.ravel(order="F" if column_major else "C").tolist()
    texts = text_array(check_texts(flat))
    return texts.reshape(array.shape, order="F" if column_major else "C")


def check_texts(texts: Sequence[Any]) -> Sequence[str]:
    """Return the texts themselves, once each is one that an array of fixed width keeps.

    Raises:
        DTypeError: an element is missing, or ends with NUL.
    """
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise DTypeError(
                f"a StringDType array with missing values (element {index}): fill them first, or write Python objects, "
                "a.astype(object), with None for each missing value"
            )
        if text.endswith("\0"):
            raise DTypeError(f"element {index} ends with NUL, which text of fixed width drops: strip it first")
    return texts


def to_fixed_width(array: Array) -> Array:
    """Return the same texts as a `StringDType` array, `<U`, for containers that have nothing else.

    Raises:
        DTypeError: it would be mostly padding, an element is missing, or ends with NUL.
    """
    texts = blank_missing(array)
    if texts.dtype.kind == "T":
        longest = max(map(len, texts.ravel().tolist()))
        raise DTypeError(
            f"this format would pad a StringDType array to {4 * texts.size * longest / 1e6:.0f} MB, because one text "
            f"has {longest} characters: write CSV, JSON or a workbook, or pad it yourself, a.astype('U{longest}')"
        )
    return texts


def _size(texts: Sequence[str]) -> int:
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


def is_unicode(text: str) -> bool:
    """Return whether a text has no lone surrogates: half a character each, which no encoding of files has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_surrogate(buffer: Array) -> tuple[int, str] | None:
    """Return the first text of a 1-D buffer that is not valid Unicode: its index, and the fault; None if all are."""
    if buffer.dtype.kind == "T" or not buffer.dtype.itemsize:
        return None  # NumPy keeps no others
    if buffer.dtype.kind == "U":
        buffer = np.ascontiguousarray(buffer)
        units = buffer.view(np.dtype(np.uint32).newbyteorder(buffer.dtype.byteorder))
        return _find_half(buffer, units) if len(units) and units.max() >= _SURROGATES[0] else None
    for index, text in enumerate(buffer.tolist()):
        if isinstance(text, str) and not text.isascii() and not is_unicode(text):
            return index, _describe_surrogate(text)
    return None


def _find_half(buffer: Array, units: Array) -> tuple[int, str] | None:
    width = len(units) // len(buffer)
    for first in range(0, len(buffer), step := max(1, _UNITS_AT_ONCE // width)):
        piece = units[first * width : (first + step) * width]
        wrong = np.flatnonzero((piece >= _SURROGATES[0]) & (piece <= _SURROGATES[1]))
        if len(wrong):
            index = first + int(wrong[0]) // width
            return index, _describe_surrogate(str(buffer[index]))
    return None


def _describe_surrogate(text: str) -> str:
    half = next(sign for sign in text if _SURROGATES[0] <= ord(sign) <= _SURROGATES[1])
    return f"is text that is not valid Unicode ({half!r} is half a character), and no file can hold it"
