"""The header of a RawArray file: six numbers and the dimensions (specification, "File Structure").

    byte    0 magic    8 flags    16 eltype    24 elbyte    32 size    40 ndims    48 dims    48 + 8 ndims data

It is little-endian whatever the data are; one that begins with `yarrawar` was written whole on a big-endian machine.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...errors import DTypeError, FormatError, locating
from ...files import Source, refuse_empty
from ...linear.header import Order, check_dimensions
from ..file_array import FileArray

Axes = Literal["reversed", "same"]
BoolAs = Literal["uint8", "julia"]

MAGIC = b"rawarray"
BIG_ENDIAN, ENCODED, BITS = 1, 2, 4  # the flags

_FIXED = 48  # bytes before the dimensions
_MOST_BYTES = 2**31 - 1  # of an element, to NumPy
_USER, INT, UINT, _FLOAT, _COMPLEX, _OTHER = range(6)
_NAMES = ("user-defined", "signed integer", "unsigned integer", "float", "complex", "brain float or Bool")
_KINDS = "Viufcu"  # of NumPy, for each element type; integers stand for the elements that NumPy lacks
_SIZES = {INT: (1, 2, 4, 8), UINT: (1, 2, 4, 8), _FLOAT: (2, 4, 8), _COMPLEX: (4, 8, 16), _OTHER: (1, 2)}
_INSTEAD = {
    "b": 'choose bool_as="uint8" (comes back as numbers) or bool_as="julia" (eltype 5, comes back as bool)',
    "U": "write it to .npy or .csv",
    "M": "write it to .npy, or its counts: a.view('int64')",
    "m": "write it to .npy, or its counts: a.view('int64')",
}


@dataclass(frozen=True, slots=True)
class RawHeader:
    """The fields of a RawArray file's header."""

    flags: int  # bit 0 big-endian data, bit 1 encoded data, bit 2 single bits
    eltype: int  # the code of the element type
    elbyte: int  # bytes of an element
    size: int  # bytes of the data, as the writer counted them
    dims: tuple[int, ...]  # dimension sizes, the fastest first

    @property
    def position(self) -> int:
        """The first byte of the data."""
        return _FIXED + 8 * len(self.dims)

    @property
    def raw_dtype(self) -> np.dtype[Any]:
        """The dtype of the elements as they are stored; integers for the two that NumPy lacks."""
        if self.is_half_complex:
            return np.dtype("u4")
        is_bool = (self.eltype, self.elbyte) == (_OTHER, 1)  # a Bool of Julia, in a byte
        dtype = np.dtype("bool" if is_bool else f"{_KINDS[self.eltype]}{self.elbyte}")
        return dtype.newbyteorder(">" if self.flags & BIG_ENDIAN else "<")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype that is read: brain floats are widened to float32, pairs of float16 to complex64."""
        if self.flags & BITS:
            return np.dtype("bool")
        if self.is_half_complex:
            return np.dtype("complex64")
        return np.dtype("float32") if self.is_brain_float else self.raw_dtype.newbyteorder("=")

    @property
    def is_brain_float(self) -> bool:
        """Whether an element is the upper half of a float32."""
        return (self.eltype, self.elbyte) == (_OTHER, 2) and not self.flags & BITS

    @property
    def is_half_complex(self) -> bool:
        """Whether an element is a pair of float16."""
        return (self.eltype, self.elbyte) == (_COMPLEX, 4)

    def to_file_array(self, axes: Axes, at: int | None = None) -> FileArray:
        """Return the array of the file as NumPy sees it: its dtype, shape, order, and first byte."""
        order: Order = "row-major" if axes == "reversed" else "column-major"
        shape = self.dims[::-1] if axes == "reversed" else self.dims
        with locating(location="byte 48"):
            return FileArray(self.raw_dtype, shape, order, self.position if at is None else at)

    def to_bytes(self) -> bytes:
        """Return the header as bytes."""
        fields = (self.flags, self.eltype, self.elbyte, self.size, len(self.dims), *self.dims)
        return MAGIC + struct.pack(f"<{len(fields)}Q", *fields)


def parse_raw_header(source: Source) -> RawHeader:
    """Read a header; no more bytes than it has are asked for."""
    start = source.prefix(_FIXED)
    refuse_empty(start, "byte 0")
    if start[:8] not in (MAGIC, MAGIC[::-1]):
        raise FormatError("not a RawArray file: it does not begin with 'rawarray'", location="byte 0")
    if len(start) < _FIXED:
        raise FormatError(f"the header takes {_FIXED} bytes and more", location=f"byte {len(start)}")
    big = start[:8] == MAGIC[::-1]
    mark = ">" if big else "<"
    flags, eltype, elbyte, size, count = struct.unpack(f"{mark}5Q", start[8:])
    check_dimensions(count, "byte 40")
    whole = source.prefix(_FIXED + 8 * count)
    if len(whole) < _FIXED + 8 * count:
        raise FormatError(f"the header ends within its {count} dimensions", location=f"byte {len(whole)}")
    dims = struct.unpack(f"{mark}{count}Q", whole[_FIXED:])
    header = RawHeader(flags | (BIG_ENDIAN if big else 0), eltype, elbyte, size, dims)
    _check(header)
    return header


def raw_header(dtype: np.dtype[Any], dims: tuple[int, ...], bool_as: BoolAs | None) -> RawHeader:
    """Return the header for an array of native elements."""
    count = math.prod(dims)
    if dtype.kind == "b" and bool_as is not None:
        return RawHeader(0, UINT if bool_as == "uint8" else _OTHER, 1, count, dims)
    eltype = _KINDS.find(dtype.kind)
    if dtype.itemsize and (eltype == _USER or dtype.itemsize in _SIZES.get(eltype, ())):
        return RawHeader(0, eltype, dtype.itemsize, count * dtype.itemsize, dims)
    raise DTypeError(f"RawArray has no element for {dtype}: {_INSTEAD.get(dtype.kind, 'cast it first')}")


def check_options(axes: str, bool_as: str | None = None) -> None:
    """Refuse values that the options `axes` and `bool_as` do not have."""
    if axes not in ("reversed", "same"):
        raise ValueError(f'axes is "reversed" or "same", not {axes!r}')
    if bool_as not in (None, "uint8", "julia"):
        raise ValueError(f'bool_as is "uint8" or "julia", not {bool_as!r}')


def _check(header: RawHeader) -> None:
    if unknown := header.flags & ~(BIG_ENDIAN | ENCODED | BITS):
        bits = ", ".join(str(bit) for bit in range(64) if unknown >> bit & 1)
        hint = "compressed as a whole, perhaps: decompress it with the program that wrote it" if unknown == 8 else ""
        raise FormatError(f"unknown flags (bits {bits})", location="byte 8", hint=hint)
    if header.eltype >= len(_NAMES):
        raise FormatError(f"unknown element type {header.eltype}; 0 to 5 are known", location="byte 16")
    if header.flags & BITS:
        if (header.eltype, header.elbyte) != (_OTHER, 8):
            raise FormatError(
                "flag bit 2 says single bits, but the elements are not Bool in chunks of 8 bytes", location="byte 16"
            )
    elif header.eltype == _USER:
        if not 1 <= header.elbyte <= _MOST_BYTES:
            raise FormatError(
                f"user-defined elements of {header.elbyte} bytes; 1 to {_MOST_BYTES} are possible", location="byte 24"
            )
    elif header.elbyte not in _SIZES[header.eltype]:
        *most, last = map(str, _SIZES[header.eltype])
        raise FormatError(
            f"{_NAMES[header.eltype]} elements of {header.elbyte} bytes; NumPy has {', '.join(most)} or {last}",
            location="byte 24",
        )
