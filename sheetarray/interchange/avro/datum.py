"""One ndarray <-> one bare Avro datum of YEP-113's record, as yaq sends it: shape, typestr, data, version.

Source: https://yeps.yaq.fyi/113/ (version 3 of NumPy's array interface: https://numpy.org/doc/stable/reference/
arrays.interface.html). Stored are booleans, integers, floats and complex numbers (typestr kinds `b i u f c`) in C
order and in their own byte order; the datum ends with the version, 3. No schema and no names travel with it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ... import dtypes
from ...errors import DTypeError, FormatError, LimitError, locating
from ...linear.header import MAX_DIMENSIONS
from ...values import as_array
from ..file_array import FileArray, copy_elements
from .wire import INT, Wire, encode_varint

SCHEMA: dict[str, Any] = {
    "name": "ndarray",
    "type": "record",
    "logicalType": "ndarray",
    "fields": [
        {"name": "shape", "type": {"items": "int", "type": "array"}},
        {"name": "typestr", "type": "string"},
        {"name": "data", "type": "bytes"},
        {"name": "version", "type": "int"},
    ],
}

_VERSION = 3
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
_TYPESTR = re.compile(r"([<>|])([biufc])([1-9]\d?)", re.ASCII)
_DIMENSION = range(2**31)
_INSTEAD = {
    "string": "store its bytes, np.char.encode(a, 'utf-8').view('u1'), or write CSV or JSON",
    "generic": "cast it to a dtype of numbers, or write CSV or JSON",
    "datetime": "store the counts, a.view('int64'), and name the unit elsewhere",
    "timedelta": "store the counts, a.view('int64'), and name the unit elsewhere",
}


def pack(array: Any) -> bytes:
    """Return an array as the bytes of one Avro datum, as yaq sends it.

    Args:
        array: an ndarray of any shape and strides, or anything that `np.asanyarray` takes.

    Raises:
        DTypeError: the array does not hold bool, int, float or complex; or an element has more than 16 bytes; or the
            array is masked.
        LimitError: a dimension has more than 2^31 - 1 elements, the limit of Avro's int.

    Example:
        >>> pack(np.array([[1.5]])).hex(" ", 1)
        '04 02 02 00 06 3c 66 38 10 00 00 00 00 00 00 f8 3f 06'
    """
    return b"".join(encode_parts(array))


def unpack(data: bytes | bytearray | memoryview) -> np.ndarray[Any, Any]:
    """Return the array of one Avro datum, in the byte order that it was packed with. You can change it.

    Args:
        data: the bytes of one datum, and nothing else.

    Raises:
        FormatError: the bytes are damaged, are too few, or are followed by others. `.location` is the wrong byte.

    Example:
        >>> unpack(pack(np.arange(3, dtype=">i2")))
        array([0, 1, 2], dtype='>i2')
    """
    wire = Wire(memoryview(data).cast("B"))
    array = read_datum(wire)
    wire.check_finished()
    return array


def encode_parts(array: Any) -> tuple[bytes, memoryview, bytes]:
    """Return the three parts of a datum: the bytes before the elements, the elements, and the bytes after them.

    Elements are copied only if they are not in C order.
    """
    contiguous = as_array(array)
    typestr = check_record_holdable(contiguous)
    sizes = [contiguous.ndim, *contiguous.shape, 0] if contiguous.ndim else [0]
    head = b"".join(map(encode_varint, [*sizes, len(typestr)])) + typestr.encode() + encode_varint(contiguous.nbytes)
    return head, np.asarray(contiguous, order="C").reshape(-1).view(np.uint8).data, encode_varint(_VERSION)


def check_record_holdable(array: np.ndarray[Any, Any]) -> str:
    """Return the typestr of an array that a datum can hold."""
    if isinstance(array, np.ma.MaskedArray):
        raise DTypeError("a masked array: fill it first, for example a.filled(np.nan)")
    dtype = array.dtype
    kind = dtypes.from_numpy(dtype).kind
    if dtype.itemsize not in _SIZES.get(dtype.kind, ()):
        raise DTypeError(f"YEP-113 has no dtype for {kind} arrays: {_INSTEAD[kind]}")
    for axis, size in enumerate(array.shape):
        if size not in INT:
            raise LimitError(f"dimension {axis} has {size} elements, more than Avro's int, {INT[-1]}: reshape it")
    return str(dtype.str)


def _read_head(wire: Wire) -> FileArray:
    """Read up to the first element."""
    shape: list[int] = []
    location = wire.location()
    wire.read_blocks("shape", lambda: shape.append(wire.read_long(f"shape[{len(shape)}]", _DIMENSION)), MAX_DIMENSIONS)
    dtype = _parse_typestr(wire)
    start = wire.location()
    size = wire.read_long("the length of data")
    with locating(location=location):
        stored = FileArray(dtype, tuple(shape), "row-major", wire.at)
    if size != stored.byte_count:
        raise FormatError(
            f"data has {size} bytes; the shape {stored.shape} of {dtype.str} needs {stored.byte_count}", location=start
        )
    return stored


def read_datum(wire: Wire) -> np.ndarray[Any, Any]:
    """Read one datum, and no byte more."""
    stored = _read_head(wire)
    location = wire.location()
    data = wire.read(stored.byte_count, "data")
    _read_version(wire)
    if not stored.byte_count:
        return np.empty(stored.shape, stored.dtype)
    if stored.dtype.kind == "b" and np.max(bits := np.frombuffer(data, np.uint8)) > 1:
        index = int(np.argmax(bits > 1))
        raise FormatError(f"element {index} is the byte {bits[index]}; a boolean is 0 or 1", location=location)
    array: np.ndarray[Any, Any] = np.frombuffer(data, stored.dtype).reshape(stored.shape)
    return array if isinstance(data, bytearray) else copy_elements(array)


def skip_array(wire: Wire) -> FileArray:
    """Pass over one datum."""
    stored = _read_head(wire)
    wire.skip(stored.byte_count, "data")
    _read_version(wire)
    return stored


def _read_version(wire: Wire) -> None:
    """Read the version; a newer one is accepted, as the specification asks."""
    location = wire.location()
    if (version := wire.read_long("version", INT)) < _VERSION:
        raise FormatError(f"version {version} of the array interface; {_VERSION} or newer is known", location=location)


def _parse_typestr(wire: Wire) -> np.dtype[Any]:
    location = wire.location()
    text = wire.read_text("typestr", 16)
    match = _TYPESTR.fullmatch(text)
    if match is None or int(match[3]) not in _SIZES[match[2]] or (match[1] == "|" and match[3] != "1"):
        raise FormatError(
            f"typestr {text!r} is not a dtype of YEP-113",
            location=location,
            hint="a byte order < or > (| for single bytes), then b1, i1 to i8, u1 to u8, f2 to f8, c8 or c16",
        )
    return np.dtype(text)
