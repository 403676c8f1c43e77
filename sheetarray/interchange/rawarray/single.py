"""One RawArray file, read and written: a header of six numbers and the dimensions, then the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError, check_kinds, locating
from ...files import Readable, Source, Writable, replacing
from ...linear.named import plain_arrays
from ..file_array import FileBytes, write_elements
from .encoded import decode_bits, decode_leb128, decode_lz4
from .header import (
    BIG_ENDIAN,
    BITS,
    ENCODED,
    INT,
    UINT,
    Axes,
    BoolAs,
    RawHeader,
    check_options,
    parse_raw_header,
    raw_header,
)


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
    if not header.flags & ENCODED or (header.size == stored.byte_count and header.eltype not in (INT, UINT)):
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
