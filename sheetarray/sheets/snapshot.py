"""A buffer -> texts that any program keeps, and back: bytes shuffled, compressed (zlib), made text (base64), cut.

The first text is a JSON object in ASCII: what the array is, how many texts follow, and a checksum. Bytes are shuffled
so that the first bytes of all elements come first, then the second ones, which compresses numbers well. Texts are their
lengths in UTF-8, then all characters; generic elements a JSON list. Nothing that a snapshot claims is believed: no more
memory is taken than `most_bytes` allows.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..dtypes import Buffer, DType, from_name
from ..elements import to_scalar
from ..elements.objects import SCALARS
from ..errors import FormatError
from ..files import fast_zlib
from ..linear.array import LinearArray
from ..linear.header import Header

LONGEST = 32_000  # characters of a text; a cell of Excel holds 32,767
MOST_BYTES = 2**28  # that a snapshot may take, whatever its size
MOST_RATIO = 64  # bytes for each character of its texts, beyond that
_SHORTEST = 12  # base64 of the shortest stream of zlib
_TEXTS, _INTEGERS = ("name", "sheet", "dtype", "order", "cells", "dates"), ("length", "texts", "crc", "offset")
_LISTS = ("shape", "strides")


@dataclass(frozen=True)
class SnapshotHeader:
    """The header of a snapshot, which says all about its array but the elements."""

    name: str  # of the array
    sheet: str  # the title of the first sheet that it was written to
    header: Header  # shape, strides, offset, order, dtype and capacity, as written
    count: int  # how many texts follow
    crc: int  # CRC-32 of the bytes before they were compressed
    cells: str  # how the elements were written, "numeric" or "text"
    dates: str  # likewise, "real" or "text"


def encode_snapshot(name: str, array: LinearArray, *, sheet: str, cells: str, dates: str) -> list[str]:
    """Return the texts of an array's snapshot.

    Example:
        >>> texts = encode_snapshot("t", LinearArray.from_numpy([1.5]), sheet="arrays", cells="numeric", dates="real")
        >>> decode_snapshot(parse_snapshot_header(texts[0]), texts[1:])
        array([1.5])
    """
    content = _to_bytes(array.buffer, array.dtype_entry)
    packed = base64.b64encode(fast_zlib.compress(content)).decode("ascii")
    texts = [packed[start : start + LONGEST] for start in range(0, len(packed), LONGEST)]
    stored = {
        "name": name,
        "dtype": array.dtype,
        "length": array.capacity,
        "shape": array.shape,
        "strides": array.strides,
        "offset": array.offset,
        "order": array.order,
        "cells": cells,
        "dates": dates,
        "sheet": sheet,
        "texts": len(texts),
        "crc": zlib.crc32(content),
    }
    return [json.dumps(stored), *texts]


def parse_snapshot_header(text: str) -> SnapshotHeader:
    """Return the header of a snapshot, which its first text holds.

    Raises:
        FormatError: it is none.
    """
    try:
        stored = json.loads(text) if len(text) <= LONGEST * 2 else None
    except (ValueError, RecursionError):
        stored = None
    if (
        not isinstance(stored, dict)
        or not all(isinstance(stored.get(key), str) for key in _TEXTS)
        or not all(_is_integer(stored.get(key)) for key in _INTEGERS)
        or not all(isinstance(stored.get(key), list) and all(map(_is_integer, stored[key])) for key in _LISTS)
        or stored["order"] not in ("row-major", "column-major")
        or stored["cells"] not in ("numeric", "text")
        or stored["dates"] not in ("real", "text")
    ):
        raise FormatError("the header of a snapshot is damaged")
    shape, strides = tuple(stored["shape"]), tuple(stored["strides"])
    header = Header(from_name(stored["dtype"]), shape, strides, stored["offset"], stored["order"], stored["length"])
    says = (stored[key] for key in ("texts", "crc", "cells", "dates"))
    return SnapshotHeader(stored["name"], stored["sheet"], header, *says)


def _is_integer(value: object) -> bool:
    return type(value) is int and abs(value) <= 2**62


def decode_snapshot(snapshot: SnapshotHeader, texts: Sequence[str], nbytes: int = 0) -> Buffer:
    """Return the elements of a snapshot, after checking all of it.

    `nbytes`: the bytes of the array in the sheet, which is allowed to be as large.

    Raises:
        FormatError: it is cut, damaged, or larger.
    """
    characters = sum(map(len, texts))
    if len(texts) != snapshot.count or not snapshot.count:
        raise FormatError(f"the snapshot has {len(texts)} of {snapshot.count} texts")
    limit = max(MOST_BYTES, MOST_RATIO * characters, 2 * nbytes)
    dtype, length = snapshot.header.dtype, snapshot.header.capacity
    size = dtype.numpy.itemsize * length if dtype.kind not in ("string", "generic") else None
    least = length * {"string": 8, "generic": 2}.get(dtype.kind, dtype.numpy.itemsize)
    if least > limit or characters < _SHORTEST - 1:
        raise FormatError(f"the snapshot claims {length} elements, more than {characters} characters can hold")
    content = _inflate("".join(texts), limit if size is None else size)
    if size is not None and len(content) != size:
        raise FormatError(f"the snapshot holds {len(content)} bytes, not the {size} of {length} elements")
    if zlib.crc32(content) != snapshot.crc:
        raise FormatError("the checksum of the snapshot is wrong")
    return _from_bytes(content, dtype, length)


def _inflate(text: str, limit: int) -> bytes:
    """Return the bytes that a text holds in base64 and zlib, up to a limit."""
    try:
        packed = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise FormatError("the snapshot is not base64") from error
    inflater = fast_zlib.decompressor(fast_zlib.ZLIB)
    try:
        content = bytes(inflater.decompress(packed, limit + 1))
    except fast_zlib.errors() as error:
        raise FormatError("the snapshot cannot be decompressed") from error
    if len(content) > limit:
        raise FormatError(f"the snapshot holds more than the {limit} bytes that it may")
    if not inflater.eof:
        raise FormatError("the snapshot is cut")
    if inflater.unused_data:
        raise FormatError("the snapshot has bytes after its end")
    return content


def _to_bytes(buffer: Buffer, dtype: DType) -> bytes:
    if dtype.kind == "generic":
        return json.dumps(list(_iter_scalars(buffer)), separators=(",", ":")).encode("ascii")
    if dtype.kind == "string":
        texts = [str(text).encode("utf-8", "surrogatepass") for text in buffer.tolist()]
        lengths = np.fromiter(map(len, texts), "<u8", len(texts))
        return _shuffle(lengths) + b"".join(texts)
    return _shuffle(np.ascontiguousarray(buffer, buffer.dtype.newbyteorder("<")))


def _iter_scalars(buffer: Buffer) -> Iterator[Any]:
    """Yield each object as JSON has it; a float in a list, so that it is not taken for an integer."""
    for value in map(to_scalar, buffer.tolist()):
        yield [value.hex()] if isinstance(value, float) else value


def _from_bytes(content: bytes, dtype: DType, length: int) -> Buffer:
    """Return the elements."""
    if dtype.kind == "generic":
        return _parse_scalars(content, length)
    if dtype.kind != "string":
        return _unshuffle(content, dtype.numpy.newbyteorder("<"), length).astype(dtype.numpy, copy=False)
    if len(content) < 8 * length:
        raise FormatError("the snapshot of a text array is cut")
    ends = np.cumsum(_unshuffle(content[: 8 * length], np.dtype("<u8"), length).astype(np.float64))
    if (ends[-1] if length else 0) != len(content) - 8 * length:
        raise FormatError("the texts of the snapshot have wrong lengths")
    bounds = [8 * length, *(ends.astype(np.int64) + 8 * length).tolist()]
    try:
        texts = [content[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise FormatError("the texts of the snapshot are not UTF-8") from error
    longest = max(map(len, texts), default=1)
    is_mostly_padding = longest * len(texts) > 4 * sum(map(len, texts)) + 2**20
    buffer: Buffer = np.array(texts, np.dtypes.StringDType() if is_mostly_padding else f"<U{max(longest, 1)}")
    return buffer


def _parse_scalars(content: bytes, length: int) -> Buffer:
    try:
        values = json.loads(content.decode("ascii"))
        values = [float.fromhex(value[0]) if isinstance(value, list) else value for value in values]
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError("the snapshot of a generic array is damaged") from error
    if len(values) != length or not all(type(value) in SCALARS for value in values):
        raise FormatError("the snapshot of a generic array holds wrong elements")
    buffer = np.empty(length, dtype=object)
    buffer[:] = values
    return buffer


def _shuffle(elements: np.ndarray[Any, Any]) -> bytes:
    return elements.view(np.uint8).reshape(len(elements), -1).T.tobytes() if len(elements) else b""


def _unshuffle(content: bytes, dtype: np.dtype[Any], length: int) -> Buffer:
    if not length:
        return np.empty(0, dtype)
    table = np.frombuffer(content, np.uint8).reshape(dtype.itemsize, length)
    elements: Buffer = np.ascontiguousarray(table.T).view(dtype).reshape(length)
    return elements if elements.flags.writeable else elements.copy()
