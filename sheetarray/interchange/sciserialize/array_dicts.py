"""ndarrays <-> the dicts that stand for them.

Source: https://github.com/SciSerialize/Definition; what it leaves open is as its Python code has it. Elements are
row-major and little-endian, a bool takes one byte, complex numbers are two floats, arrays of objects are nested lists.
In JSON bytes are base64.
"""

from __future__ import annotations

import binascii
import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import dtypes
from ...elements import to_fixed_width
from ...errors import DTypeError, FormatError, locating
from ...linear.header import check_dimensions
from ..file_array import FileArray, in_member
from .words import TYPE, base64_text, path_inside

_PLAIN = ("float", "complex", "int", "bool")  # kinds that every implementation knows
_NAMED = frozenset(name for name, dtype in dtypes.DTYPES.items() if dtype.kind in _PLAIN)
_CODED = re.compile(
    r"[<>|]?(?:b1|[iu][1248]|f[248]|c8|c16|U\d{1,9}|[Mm]8\[[^\]]{1,12}\])|(?:datetime64|timedelta64)\[[^\]]{1,12}\]",
    re.ASCII,
)
_OBJECT = ("object", "O", "|O")
_SURROGATES = (0xD800, 0xDFFF)


def encode_array(array: np.ndarray[Any, Any], *, extensions: bool, nested: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the dict of an array; its bytes are a view where the elements lie as they have to, else a copy."""
    name = check_holdable(array, extensions=extensions)
    data: Any
    if array.dtype.kind == "O":
        data = nested(array.tolist())
    else:
        stored = array.dtype.newbyteorder("<") if array.dtype.itemsize else np.dtype("<U1")
        elements = np.asarray(array, stored, order="C").reshape(-1)
        data = elements.view(np.uint8).data if elements.nbytes else memoryview(b"")
    return {"shape": list(array.shape), "dtype": name, "bytes": data, TYPE: "ndarray"}


def check_holdable(array: np.ndarray[Any, Any], *, extensions: bool) -> str:
    """Return the dtype of an array that can be written, as the format calls it."""
    dtype = dtypes.from_numpy(array.dtype)
    if dtype.kind not in _PLAIN and not extensions:
        raise DTypeError(
            f"{dtype.name} arrays are not a part of SciSerialize: extensions=True writes them, for readers "
            "in Python; CSV and JSON hold them too"
        )
    if dtype.kind == "generic":
        return "object"
    if array.dtype.kind == "T":
        _ = to_fixed_width(array)  # says what is wrong with it
        raise DTypeError("a StringDType array: make it one of fixed width first, np.array(a.tolist())")
    if dtype.kind == "string":
        if (wrong := _find_surrogate(array)) is not None:
            raise DTypeError(f"element {wrong} has half a character (a lone surrogate): remove it")
        return f"<U{max(array.dtype.itemsize // 4, 1)}"
    return dtype.name


def _find_surrogate(array: np.ndarray[Any, Any]) -> int | None:
    """Return the place of the first text with half a character."""
    if not array.nbytes:
        return None
    units = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1).view(np.uint32)
    wrong = (units >= _SURROGATES[0]) & (units <= _SURROGATES[1])
    return int(np.argmax(wrong)) // (array.dtype.itemsize // 4) if wrong.any() else None


@dataclass(frozen=True, slots=True)
class ArrayDict:
    """The dict of an array, looked through."""

    stored: FileArray  # dtype, shape and order; its bytes begin at 0
    data: Any  # bytes, a base64 text, or the lists of an object array
    path: str  # where the dict is

    def array(self, decode: Callable[[Any, str], Any]) -> np.ndarray[Any, Any]:
        """Return the array, in native byte order; a copy that can be written to."""
        location = path_inside(self.path, "bytes")
        if self.stored.dtype.kind == "O":
            return self._objects(decode, location)
        content = decode_base64(self.data, location) if isinstance(self.data, str) else self.data
        with in_member(location):
            array = self.stored.to_array(content)
        if array.dtype.kind == "U" and _find_surrogate(array) is not None:
            raise FormatError("half a character (a lone surrogate) in a text", location=location)
        return array.copy() if not array.flags.owndata or not array.flags.writeable else array

    def _objects(self, decode: Callable[[Any, str], Any], location: str) -> np.ndarray[Any, Any]:
        shape, count = self.stored.shape, self.stored.element_count
        items = [self.data]
        flat = (
            isinstance(self.data, list) and len(self.data) == count and not any(isinstance(x, list) for x in self.data)
        )
        for axis, size in enumerate(shape):
            if flat:
                items = self.data
                break
            for item in items:
                if not isinstance(item, list) or len(item) != size:
                    description = f"one of {len(item)}" if isinstance(item, list) else type(item).__name__
                    raise FormatError(
                        f"expected a list of {size} along axis {axis}, found {description}", location=location
                    )
            items = [inner for item in items for inner in item]
        decoded = [decode(item, f"{location}, element {index}") for index, item in enumerate(items)]
        return np.fromiter(decoded, dtype=object, count=count).reshape(shape)


def parse_array_dict(form: Mapping[str, Any], path: str) -> ArrayDict:
    """Look through the dict of an array, without decoding its bytes."""
    for key in ("shape", "dtype", "bytes"):
        if key not in form:
            raise FormatError(f"an array without {key!r}", location=path or None)
    shape, dtype = _shape(form["shape"], path_inside(path, "shape")), _dtype(form["dtype"], path_inside(path, "dtype"))
    with locating(location=path_inside(path, "shape")):
        stored = FileArray(dtype, shape, "row-major", 0)
    text = base64_text(form["bytes"])
    data = form["bytes"] if text is None else text
    location = path_inside(path, "bytes")
    if dtype.kind == "O":
        if shape and not isinstance(data, list):
            raise FormatError(f"expected nested lists of objects, found {type(data).__name__}", location=location)
        return ArrayDict(stored, data, path)
    if data is None or (data == [] and not stored.byte_count):
        data = b""  # what Matlab makes of an empty array
    if not isinstance(data, (bytes, bytearray, memoryview, str)) or (isinstance(data, str) and text is None):
        raise FormatError(f"expected bytes, found {type(data).__name__}", location=location)
    size_present = base64_size(data) if isinstance(data, str) else len(data)
    if size_present != stored.byte_count:
        raise FormatError(
            f"{size_present} bytes; the shape {shape} of {dtype} needs {stored.byte_count}", location=location
        )
    return ArrayDict(stored, data, path)


def base64_size(text: str) -> int:
    """Return the number of bytes that a well-formed base64 text stands for."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def decode_base64(text: str, path: str) -> bytes:
    """Return the bytes of a base64 text: the standard alphabet, padded, without white space."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:  # binascii.Error is one
        raise FormatError(f"malformed base64 ({error})", location=path) from error


def _shape(value: Any, path: str) -> tuple[int, ...]:
    sizes = value if isinstance(value, list) else [value]
    check_dimensions(len(sizes), path)
    shape = []
    for axis, size in enumerate(sizes):
        whole = int(size) if isinstance(size, float) and size.is_integer() else size
        if not isinstance(whole, int) or isinstance(whole, bool) or not 0 <= whole < 2**63:
            shown = f"{size!r:.40}" if isinstance(size, (int, float)) and abs(size) < 2**70 else type(size).__name__
            raise FormatError(f"expected the size of a dimension, found {shown}", location=path_inside(path, axis))
        shape.append(whole)
    return tuple(shape)


def _dtype(name: Any, path: str) -> np.dtype[Any]:
    if isinstance(name, str) and name in _OBJECT:
        return np.dtype(object)
    with locating(location=path), contextlib.suppress(TypeError):
        if isinstance(name, str) and (name in _NAMED or _CODED.fullmatch(name)):
            dtype = np.dtype(name)
            if dtype.kind in "mM":
                dtypes.from_name(dtypes.from_numpy(dtype).name)  # has such a unit
            if name[0] != "|" or dtype.itemsize == 1:
                return dtype if name[0] == ">" else dtype.newbyteorder("<")
    dtype_names = " ".join(sorted(_NAMED))
    raise FormatError(
        f"unknown dtype {name!r:.60}", location=path, hint=f"known: {dtype_names} object <U.. datetime64[..]"
    )
