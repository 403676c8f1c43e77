"""One RawArray file: its header of six numbers and the dimensions, and the data (specification, "File Structure").

    byte    0 magic    8 flags    16 eltype    24 elbyte    32 size    40 ndims    48 dims    48 + 8 ndims data

It is little-endian whatever the data are; one that begins with `yarrawar` was written whole on a big-endian machine.

The specification reserves flag bits 1 and 2. Bit 1 is, in Julia's code, integers as LEB128 (signed ones in zigzag),
where `size` counts the bytes before; in C's code all data as one LZ4 block, where `size` counts the bytes of the block.
Bits 1 and 2 are Julia's BitArray: bits from the lowest of 64-bit chunks. All of it is read (LZ4 by the package lz4),
none of it written.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError, check_kinds, locating
from ...files import Readable, Source, Writable, refuse_empty, replacing
from ...linear.header import Order, check_dimensions
from ...linear.named import plain_arrays
from ..file_array import FileArray, FileBytes, write_elements
from ..untrusted import damage_as_format_error, load_package

# The header -----------------------------------------------------------------------------------------------------------

Axes = Literal["reversed", "same"]
BoolAs = Literal["uint8", "julia"]

MAGIC = b"rawarray"
BIG_ENDIAN, ENCODED, BITS = 1, 2, 4  # the flags

_FIXED = 48  # bytes before the dimensions
_MOST_BYTES = 2**31 - 1  # of an element, to NumPy
_USER, _INT, _UINT, _FLOAT, _COMPLEX, _OTHER = range(6)
_NAMES = ("user-defined", "signed integer", "unsigned integer", "float", "complex", "brain float or Bool")
_KINDS = "Viufcu"  # of NumPy, for each element type; integers stand for the elements that NumPy lacks
_SIZES = {_INT: (1, 2, 4, 8), _UINT: (1, 2, 4, 8), _FLOAT: (2, 4, 8), _COMPLEX: (4, 8, 16), _OTHER: (1, 2)}
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
        """Return the header's own bytes."""
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
        return RawHeader(0, _UINT if bool_as == "uint8" else _OTHER, 1, count, dims)
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


# Data that do not lie there as in memory ------------------------------------------------------------------------------

_BLOCK = 2**20  # bytes of LEB128 at a time
_LZ4_TIMES = 255  # a byte of an LZ4 block stands for no more

Flat = np.ndarray[tuple[int], np.dtype[Any]]


def decode_leb128(content: FileBytes, at: int, count: int, dtype: np.dtype[Any]) -> tuple[Flat, int]:
    """Return integers of seven bits a byte, the lowest first, bit 7 set in all bytes but the last."""
    if count > len(content) - at:
        raise FormatError(f"{count} integers in LEB128 take more than {len(content) - at} bytes", location=f"byte {at}")
    numbers = np.empty(count, dtype)
    done = 0
    while done < count:
        block = np.frombuffer(content, np.uint8, min(_BLOCK, len(content) - at), at)
        lasts = np.flatnonzero(block < 0x80)[: count - done]
        if not len(lasts):
            raise FormatError("an integer in LEB128 that does not end", location=f"byte {at}")
        numbers[done : done + len(lasts)] = _integers(block, lasts, dtype, at)
        at += int(lasts[-1]) + 1
        done += len(lasts)
    return numbers, at


def _integers(block: Flat, lasts: Flat, dtype: np.dtype[Any], at: int) -> Flat:
    firsts = np.concatenate(([0], lasts[:-1] + 1))
    lengths = lasts - firsts
    bits = 8 * dtype.itemsize
    most = (bits - 1) // 7  # bytes before the last
    values = np.zeros(len(lasts), np.uint64)
    for position in range(min(int(lengths.max()), most) + 1):
        longer = np.flatnonzero(lengths >= position)
        values[longer] |= (block[firsts[longer] + position] & np.uint64(0x7F)) << np.uint64(7 * position)
    final = (lengths == most) & (block[lasts] >> (bits - 7 * most) != 0)
    if (wrong := (lengths > most) | final).any():
        first = int(firsts[np.argmax(wrong)])
        raise FormatError(f"an integer in LEB128 that is too large for {dtype}", location=f"byte {at + first}")
    if dtype.kind == "u":
        return values.astype(dtype)
    return ((values >> np.uint64(1)) ^ (np.uint64(0) - (values & np.uint64(1)))).view(np.int64).astype(dtype)


def decode_bits(content: FileBytes, at: int, count: int, size: int, *, big_endian: bool) -> Flat:
    """Return booleans of one bit each, from the lowest bit of each chunk of 8 bytes."""
    chunks = -(-count // 64)
    if size != 8 * chunks:
        raise FormatError(f"the size is {size}, but {count} bits take {8 * chunks} bytes", location="byte 32")
    if len(content) - at < size:
        raise FormatError(
            f"the data end at byte {at + size}, but there are only {len(content)}", location=f"byte {len(content)}"
        )
    words = np.frombuffer(content, ">u8" if big_endian else "<u8", chunks, at) if chunks else np.empty(0, "<u8")
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=count, bitorder="little").view(np.bool_)


def decode_lz4(content: FileBytes, at: int, length: int, size: int) -> bytearray:
    """Return the content of one LZ4 block."""
    if len(content) - at < length:
        raise FormatError(
            f"the LZ4 block ends at byte {at + length}, but there are only {len(content)}",
            location=f"byte {len(content)}",
        )
    if size > _LZ4_TIMES * length:
        raise FormatError(f"an LZ4 block of {length} bytes cannot hold {size}", location="byte 32")
    lz4 = load_package("lz4.block", "LZ4 blocks of RawArray files are read by lz4", "lz4")
    with damage_as_format_error("damaged LZ4 block", f"byte {at}"):
        out: bytearray = lz4.decompress(content[at : at + length], uncompressed_size=size, return_bytearray=True)
    if len(out) != size:
        raise FormatError(f"damaged LZ4 block: {len(out)} bytes, where the array has {size}", location=f"byte {at}")
    return out


# One file -------------------------------------------------------------------------------------------------------------


def read(file: Readable, *, axes: Axes = "reversed") -> Array:
    """Return the array of a RawArray file. The file is read: later changes of it do not change the array.

    You can change the array, and the file stays as it is. If a program replaces the file, the array stays as it is. If
    a program overwrites or shortens the same file, the array changes too.

    Some elements are read as another dtype: brain floats (eltype 5 of 2 bytes) as float32, pairs of float16 as
    complex64, and Julia's Bool (eltype 5 of 1 byte) as bool. User-defined elements are read as `V{elbyte}`.

    Args:
        file: a path or an open file; gzip and Zstandard are recognised.
        axes: "reversed" reverses the dimensions in the file, as the specification says; "same" keeps them.

    Raises:
        FormatError: the file is wrong, or has unknown flags. `.location` is the wrong byte.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, np.array([[1, 2, 3], [4, 5, 6]], dtype="int16"))
        >>> _ = file.seek(0)
        >>> read(file)
        array([[1, 2, 3],
               [4, 5, 6]], dtype=int16)
        >>> _ = file.seek(0)
        >>> read(file, axes="same").shape
        (3, 2)
    """
    check_options(axes)
    with Source(file) as source, locating(source=source.name):
        return decode_array(parse_raw_header(source), source.own(), axes)[0]


def read_metadata(file: Readable) -> bytes:
    """Return the metadata of a RawArray file: the bytes after its elements.

    The specification allows any bytes there ("File Structure").

    Args:
        file: a path or an open file; gzip and Zstandard are recognised.

    Raises:
        FormatError: the header or the data are broken.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, np.zeros(3), metadata=b'{"unit": "K"}')
        >>> _ = file.seek(0)
        >>> read_metadata(file)
        b'{"unit": "K"}'
    """
    with Source(file) as source, locating(source=source.name):
        header, content = parse_raw_header(source), source.own()
        return bytes(content[decode_array(header, content, "reversed")[1] :])


def write(
    file: Writable, array: Any, *, axes: Axes = "reversed", metadata: bytes | str = b"", bool_as: BoolAs | None = None
) -> None:
    """Write an array as a RawArray file. The bytes are little-endian, and no flag is set.

    Args:
        file: a path (`.gz` and `.zst` compress), or a file opened for bytes. A file is replaced whole or not at all.
        array: an ndarray of integers, floats, complex numbers or bytes (`V5`), or anything that NumPy turns into one.
        axes: "reversed" writes the dimensions reversed, as the specification says; "same" writes them as they are.
        metadata: bytes or text to write after the elements; text is written as UTF-8.
        bool_as: how to write booleans: "uint8", or "julia" (eltype 5). None refuses booleans, because the format has
            no dtype for them.

    Raises:
        DTypeError: RawArray cannot hold the elements. The message says what to do.
        OSError: the file cannot be written. The old file stays.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, np.array([True, False]), bool_as="julia")
        >>> file.getvalue()[-2:]
        b'\\x01\\x00'
    """
    (plain,) = plain_arrays({"array": array}).values()
    header, elements = prepare(plain, axes, bool_as)
    after = as_bytes(metadata)
    with replacing(file, binary=True) as sink:
        sink.write(header.to_bytes())
        for _ in write_elements(elements, sink):
            pass
        sink.write(after)


def as_bytes(metadata: bytes | str) -> bytes:
    """Return metadata as they are written."""
    check_kinds(str | bytes | bytearray | memoryview, "bytes or text", metadata=metadata)
    return metadata.encode() if isinstance(metadata, str) else bytes(memoryview(metadata))


def prepare(array: Array, axes: Axes, bool_as: BoolAs | None) -> tuple[RawHeader, Array]:
    """Return the header, and the elements in the order of the file."""
    check_options(axes, bool_as)
    header = raw_header(array.dtype, array.shape[::-1] if axes == "reversed" else array.shape, bool_as)
    little = np.asarray(array, header.raw_dtype if array.dtype.kind != "b" else None)
    return header, little.ravel(order="C" if axes == "reversed" else "F")


def decode_array(header: RawHeader, content: FileBytes, axes: Axes) -> tuple[Array, int]:
    """Return the array in a file's content, and the byte after its data."""
    stored = header.to_file_array(axes)
    if header.flags & BITS:
        big = bool(header.flags & BIG_ENDIAN)
        flat = decode_bits(content, header.position, stored.element_count, header.size, big_endian=big)
        return _reshape(flat, header, axes), header.position + header.size
    if not header.flags & ENCODED or (header.size == stored.byte_count and header.eltype not in (_INT, _UINT)):
        # Julia's code sets the flag of floats too, and writes them as they are
        if header.size != stored.byte_count:
            dims = " x ".join(map(str, header.dims)) or "one"
            raise FormatError(
                f"the size is {header.size}, but {dims} elements of {header.elbyte} bytes take {stored.byte_count}",
                location="byte 32",
            )
        return _widen(stored.to_array(content), header), stored.end_position
    if header.size == stored.byte_count:
        dtype = header.raw_dtype.newbyteorder("=")
        flat, end = decode_leb128(content, header.position, stored.element_count, dtype)
        return _reshape(flat, header, axes), end
    inflated = decode_lz4(content, header.position, header.size, stored.byte_count)
    return _widen(header.to_file_array(axes, at=0).to_array(inflated), header), header.position + header.size


def _reshape(flat: Array, header: RawHeader, axes: Axes) -> Array:
    return flat.reshape(header.dims[::-1]) if axes == "reversed" else flat.reshape(header.dims, order="F")


def _widen(array: Array, header: RawHeader) -> Array:
    """Return the array in the dtype that is read, where NumPy has none for the file's."""
    if header.is_brain_float:
        whole = array.astype(np.uint32)
        whole <<= np.uint32(16)
        return whole.view(np.float32)
    if header.is_half_complex:
        wide = np.empty_like(array, np.complex64)
        half = np.dtype(np.float16).newbyteorder(">" if header.flags & BIG_ENDIAN else "<")
        flat = array.ravel(order="K").view(half)
        wide.ravel(order="K").view(np.float32)[:] = flat
        return wide
    return array
