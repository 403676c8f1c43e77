"""The header of a RawArray file: six numbers of 64 bits and the dimensions (specification, "File Structure").

    byte    0 magic    8 flags    16 eltype    24 elbyte    32 size    40 ndims    48 dims    48 + 8 ndims data

It is little-endian whatever the data are; one that begins with `yarrawar` was written whole on a big-endian machine.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...errors import DTypeError, FormatError, LimitError, locating
from ...file_array import FileArray
from ...files import Source, refuse_empty
from ...header import Order, check_dimensions

Axes = Literal["reversed", "same"]
BoolAs = Literal["uint8", "julia"]

MAGIC = b"rawarray"
BIG_ENDIAN, ENCODED, BITS = 1, 2, 4  # the flags

_FIXED = 48  # bytes before the dimensions
_MOST_BYTES = 2**31 - 1  # of an element, to NumPy
_USER, _INT, _UINT, _FLOAT, _COMPLEX, _OTHER = range(6)
_NAMES = ("user-defined", "signed integer", "unsigned integer", "float", "complex", "brain float or Bool")
_CODES = {"V": _USER, "i": _INT, "u": _UINT, "f": _FLOAT, "c": _COMPLEX}
_SIZES = {_INT: (1, 2, 4, 8), _UINT: (1, 2, 4, 8), _FLOAT: (2, 4, 8), _COMPLEX: (4, 8, 16), _OTHER: (1, 2)}
_INSTEAD = {
    "b": 'choose bool_as="uint8" (comes back as numbers) or bool_as="julia" (eltype 5, comes back as bool)',
    "U": "write it to .npy or .csv",
    "M": "write it to .npy, or its counts: a.view('int64')",
    "m": "write it to .npy, or its counts: a.view('int64')",
}


@dataclass(frozen=True, slots=True)
class RawHeader:
    """The fields of a RawArray file's header.

    Attributes:
        flags: bit 0 big-endian data, bit 1 encoded data, bit 2 single bits.
        eltype: the code of the element type.
        elbyte: bytes of an element.
        size: bytes of the data, as the writer counted them.
        dims: dimension sizes, the fastest first.
    """

    flags: int
    eltype: int
    elbyte: int
    size: int
    dims: tuple[int, ...]

    @property
    def position(self) -> int:
        """The first byte of the data."""
        return _FIXED + 8 * len(self.dims)

    @property
    def raw_dtype(self) -> np.dtype[Any]:
        """The dtype of the elements as they are stored; integers for the two that NumPy lacks."""
        kind = {_USER: "V", _INT: "i", _UINT: "u", _FLOAT: "f", _COMPLEX: "c", _OTHER: "u"}[self.eltype]
        if self.is_half_complex:
            return np.dtype("u4")
        dtype = np.dtype("bool") if self.is_bool else np.dtype(f"{kind}{self.elbyte}")
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
    def is_bool(self) -> bool:
        """Whether an element is a Bool of Julia, in a byte."""
        return (self.eltype, self.elbyte) == (_OTHER, 1)

    @property
    def is_brain_float(self) -> bool:
        """Whether an element is the upper half of a float32."""
        return (self.eltype, self.elbyte) == (_OTHER, 2) and not self.flags & BITS

    @property
    def is_half_complex(self) -> bool:
        """Whether an element is a pair of float16."""
        return (self.eltype, self.elbyte) == (_COMPLEX, 4)

    @property
    def is_integer(self) -> bool:
        """Whether an element is an integer."""
        return self.eltype in (_INT, _UINT)

    def to_file_array(self, axes: Axes, at: int | None = None) -> FileArray:
        """Return the array of the file as NumPy sees it: its dtype, shape, order, and first byte.

        Args:
            axes: the convention.
            at: the byte of the first one, where it is not that of the file.

        Raises:
            FormatError: no memory could hold them.
        """
        order: Order = "row-major" if axes == "reversed" else "column-major"
        shape = self.dims[::-1] if axes == "reversed" else self.dims
        with locating(location="byte 48"):
            return FileArray(self.raw_dtype, shape, order, self.position if at is None else at)

    def to_bytes(self) -> bytes:
        """Return the header's own bytes."""
        fields = (self.flags, self.eltype, self.elbyte, self.size, len(self.dims), *self.dims)
        return MAGIC + struct.pack(f"<{len(fields)}Q", *fields)


def parse(source: Source) -> RawHeader:
    """Read a header; no more bytes than it has are asked for.

    Raises:
        FormatError: with the byte of the field that is wrong.
    """
    start = source.prefix(_FIXED)
    refuse_empty(start, "byte 0")
    if start[:8] not in (MAGIC, MAGIC[::-1]):
        raise FormatError("no RawArray file: it does not begin with 'rawarray'", location="byte 0")
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


def header_for(dtype: np.dtype[Any], dims: tuple[int, ...], bool_as: BoolAs | None) -> RawHeader:
    """Return the header for an array of native elements.

    Raises:
        DTypeError: RawArray has no such element; says what to do instead.
    """
    count = math.prod(dims)
    if dtype.kind == "b" and bool_as is not None:
        return RawHeader(0, _UINT if bool_as == "uint8" else _OTHER, 1, count, dims)
    if dtype.kind in _CODES and dtype.itemsize and (dtype.kind == "V" or dtype.itemsize in _SIZES[_CODES[dtype.kind]]):
        return RawHeader(0, _CODES[dtype.kind], dtype.itemsize, count * dtype.itemsize, dims)
    raise DTypeError(f"RawArray has no element for {dtype}: {_INSTEAD.get(dtype.kind, 'cast it first')}")


def check_axes(axes: str) -> None:
    """Refuse a value of the option `axes` that is neither "reversed" nor "same".

    Raises:
        LimitError: it is neither "reversed" nor "same".
    """
    if axes not in ("reversed", "same"):
        raise LimitError(f'axes is "reversed" or "same", not {axes!r}')


def check_bool_as(bool_as: str | None) -> None:
    """Refuse a value of the option `bool_as` that is neither None, "uint8" nor "julia".

    Raises:
        LimitError: it is neither None, "uint8" nor "julia".
    """
    if bool_as not in (None, "uint8", "julia"):
        raise LimitError(f'bool_as is "uint8" or "julia", not {bool_as!r}')


def _check(header: RawHeader) -> None:
    if unknown := header.flags & ~(BIG_ENDIAN | ENCODED | BITS):
        bits = ", ".join(str(bit) for bit in range(64) if unknown >> bit & 1)
        raise FormatError(f"unknown flags (bits {bits})", location="byte 8", hint=_unknown_hint(unknown))
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


def _unknown_hint(unknown: int) -> str:
    return "compressed as a whole, perhaps: decompress it with the program that wrote it" if unknown == 8 else ""
