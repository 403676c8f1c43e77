"""One RawArray file: reading the array and its metadata, and writing it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import plain_arrays
from ...dtypes import Array
from ...errors import FormatError, locating
from ...file_array import FileBytes, write_elements
from ...files import Readable, Source, Writable, replacing
from . import encoded
from .header import BIG_ENDIAN, BITS, ENCODED, Axes, BoolAs, RawHeader, check_axes, check_bool_as, header_for, parse


def read(file: Readable, *, axes: Axes = "reversed") -> Array:
    """Read the array of a RawArray file; a large plain file is mapped, and no element of it copied.

    The array can be written to, which never changes the file. Nor does a file that is replaced, as by this package,
    change the array; only one that another program overwrites in place, or cuts short, does.

    Brain floats (eltype 5 of 2 bytes) come as float32, pairs of float16 as complex64, Julia's Bool (eltype 5 of 1 byte)
    as bool, user-defined elements as `V{elbyte}`.

    Args:
        file: a path or an open file; gzip and Zstandard are recognised.
        axes: "reversed" as the specification has it, or "same" for a shape that equals the dimensions in the file.

    Raises:
        FormatError: with the byte that is wrong; also for flags that nobody has described.
        OSError: no such file, or it cannot be read.

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
    check_axes(axes)
    with Source(file) as source, locating(source=source.name):
        return decode(parse(source), source.own(), axes)[0]


def read_metadata(file: Readable) -> bytes:
    """Return the bytes after the data of a RawArray file, which may be anything (specification, "File Structure").

    Args:
        file: a path or an open file; gzip and Zstandard are recognised.

    Raises:
        FormatError: the header or the data are broken.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, np.zeros(3), metadata=b'{"unit": "K"}')
        >>> _ = file.seek(0)
        >>> read_metadata(file)
        b'{"unit": "K"}'
    """
    with Source(file) as source, locating(source=source.name):
        header, content = parse(source), source.own()
        return bytes(content[decode(header, content, "reversed")[1] :])


def write(
    file: Writable, array: Any, *, axes: Axes = "reversed", metadata: bytes | str = b"", bool_as: BoolAs | None = None
) -> None:
    """Write an array as a RawArray file, little-endian and without flags.

    Args:
        file: a path, replaced as a whole (`.gz` and `.zst` compress), or a file opened for bytes.
        array: an ndarray of integers, floats, complex numbers or opaque bytes (`V5`), or what makes one.
        axes: "reversed" as the specification has it, or "same" for dimensions in the file that equal the shape.
        metadata: any bytes, put after the data; text as UTF-8.
        bool_as: "uint8" or "julia" (eltype 5); RawArray has no portable bool, so None refuses them.

    Raises:
        DTypeError: RawArray has no such element; says what to do instead.
        OSError: the system refuses; the old file is whole.

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
    """Return metadata as they are written.

    Raises:
        TypeError: they are neither bytes nor text.
    """
    return metadata.encode() if isinstance(metadata, str) else bytes(memoryview(metadata))


def prepare(array: Array, axes: Axes, bool_as: BoolAs | None) -> tuple[RawHeader, Array]:
    """Return the header, and the elements in the order of the file.

    Raises:
        DTypeError: RawArray has no such element.
        LimitError: no such option.
    """
    check_axes(axes)
    check_bool_as(bool_as)
    header = header_for(array.dtype, array.shape[::-1] if axes == "reversed" else array.shape, bool_as)
    little = np.asarray(array, header.raw_dtype if array.dtype.kind != "b" else None)
    return header, little.ravel(order="C" if axes == "reversed" else "F")


def decode(header: RawHeader, content: FileBytes, axes: Axes) -> tuple[Array, int]:
    """Return the array in a file's content, and the byte after its data.

    Raises:
        FormatError: the data are not what the header says.
    """
    stored = header.to_file_array(axes)
    if header.flags & BITS:
        big = bool(header.flags & BIG_ENDIAN)
        flat = encoded.decode_bits(content, header.position, stored.element_count, header.size, big_endian=big)
        return _reshape(flat, header, axes), header.position + header.size
    if not header.flags & ENCODED or (header.size == stored.byte_count and not header.is_integer):
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
        flat, end = encoded.decode_leb128(content, header.position, stored.element_count, dtype)
        return _reshape(flat, header, axes), end
    inflated = encoded.decode_lz4(content, header.position, header.size, stored.byte_count)
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
