"""Elements as bytes that a browser turns into the same elements.

Numbers go as they lie in memory, little-endian, so that no digit is lost; integers of 64 bits become BigInts there. All
else goes as text in UTF-16, which is what JavaScript's strings are, with the length of each.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Array
from ..elements import Cell, dates_to_iso, format_bool, to_scalar
from ..errors import DTypeError

_LEVEL = 6  # of deflate; more takes twice the time for 2 % less


@dataclass(frozen=True, slots=True)
class Encoded:
    """The elements of an array in row-major order, ready for a page."""

    kind: str  # of the dtype: float, int, bool, complex, string, datetime, timedelta, generic
    layout: str  # the type of the numbers in the buffer, such as `f8` or `i8`; `text` for text
    # the bytes of the numbers; or three: of the lengths of texts, of the texts, and of the kinds of generic elements,
    # which only generic arrays have
    buffers: tuple[bytes, ...]


def encode_elements(array: Array) -> Encoded:
    """Return the elements of an array of any dtype as bytes; dtypes are those of `list_texts`."""
    if array.dtype.kind in "VOM" or array.dtype.kind in "UT":
        dtype = None if array.dtype.kind == "V" else dtypes.from_numpy(array.dtype)
        encoded = _encode_texts(dtype.kind if dtype else "string", list_texts(array))
        if array.dtype.kind != "O":
            return encoded
        kinds = bytes(_describe_scalar(to_scalar(value))[1] for value in array.reshape(-1).tolist())
        return Encoded("generic", "text", (*encoded.buffers, kinds))
    kind = dtypes.from_numpy(array.dtype).kind
    number = np.dtype(np.uint8 if kind == "bool" else np.int64) if kind in ("bool", "timedelta") else None
    native = np.ascontiguousarray(array.reshape(-1))  # row-major, whatever the order in memory
    native = native.astype(native.dtype.newbyteorder("<"), copy=False)
    stored = native if number is None else native.view(number.newbyteorder("<"))
    return Encoded(kind, stored.dtype.str[1:], (stored.tobytes(),))


def list_texts(array: Array) -> list[str]:
    """Return the elements of an array that holds no numbers as a page shows them, in row-major order.

    Raises:
        DTypeError: a dtype that the format does not have, except opaque bytes, which are shown in hexadecimal.
    """
    if array.dtype.kind == "V" and array.dtype.names is None:
        return [element.tobytes().hex() for element in np.ascontiguousarray(array).reshape(-1)]
    kind, flat = dtypes.from_numpy(array.dtype).kind, array.reshape(-1)
    if kind == "datetime":
        return _texts_of_dates(np.ascontiguousarray(flat))
    if kind == "generic":
        return [_describe_scalar(to_scalar(value))[0] for value in flat.tolist()]
    return [str(text) for text in flat.tolist()]


def _texts_of_dates(flat: Any) -> list[str]:
    try:
        return dates_to_iso(flat)
    except DTypeError:  # beyond the dates that NumPy prints: counts of its unit
        return [f"{count} x {flat.dtype.name}" for count in flat.astype(np.int64).tolist()]


def _describe_scalar(value: Cell) -> tuple[str, int]:
    """Return the text of a generic element, and its kind: 0 none, 1 bool, 2 number, 3 text, 4 another object."""
    if value is None:
        return "None", 0
    if isinstance(value, bool):
        return format_bool(value), 1
    if isinstance(value, (int, float)):
        return repr(value), 2
    return (value, 3) if isinstance(value, str) else (str(value), 4)


def _encode_texts(kind: str, texts: Any) -> Encoded:
    pieces = [text.encode("utf-16-le", "surrogatepass") for text in texts]
    lengths = np.fromiter((len(piece) // 2 for piece in pieces), "<u4", len(pieces))
    return Encoded(kind, "text", (lengths.tobytes(), b"".join(pieces)))


def compress_blob(content: bytes) -> str:
    """Return bytes deflated and as base64 text, in the form that `DecompressionStream("deflate")` reads."""
    return base64.b64encode(zlib.compress(content, _LEVEL)).decode("ascii")
