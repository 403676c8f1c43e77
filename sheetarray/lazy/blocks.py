"""iter_blocks: an array that is larger than memory, some rows at a time."""

from __future__ import annotations

import inspect
import io
import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import api
from ..arrays import select
from ..columns import ArrayInfo
from ..dtypes import Array, Buffer
from ..errors import NotFoundError
from ..registry import format_of, locate_place
from ..resizing import contiguous_strides


def iter_blocks(
    source: api.SourceOrTarget,
    name: str,
    *,
    rows: int,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Array]:
    """Yield an array in blocks of some rows: slices along its first dimension, which joined are the array.

    A CSV as it was written, without quotes below its headers, is parsed piece by piece, and Google Sheets are fetched
    so, where the array is in row-major order and its elements lie side by side: memory does not grow with the array.
    Anything else is read whole, and cut.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        name: the array's.
        rows: of each block; the last one may have fewer.
        format: instead of the suffix.
        storage_options: for the file system of a URL.
        **options: of the format, as for `read`; a file is read whole with them.

    Raises:
        FormatError: as `read`, when the first cell that is wrong is reached; blocks before it have been given.
        NotFoundError: no such array.
        ValueError: less than one row, or an array without dimensions.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> api.write(file, {"t": np.arange(10.0).reshape(5, 2)}, format="csv")
        >>> [block.shape for block in iter_blocks(io.BytesIO(file.getvalue()), "t", rows=2, format="csv")]
        [(2, 2), (2, 2), (1, 2)]
    """
    rows = operator.index(rows)
    if rows < 1:
        raise ValueError(f"a block has one row at least, not {rows}")
    source = locate_place(source, storage_options, format)
    if not isinstance(source, (str, os.PathLike)) and not source.seekable():
        content = source.read()
        source = io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)
    start = 0 if isinstance(source, (str, os.PathLike)) else source.tell()
    info = select(api.scan(source, format=format, **options), [name])[name]
    if not isinstance(source, (str, os.PathLike)):
        source.seek(start)
    if not info.shape:
        raise ValueError(f"{name!r} has no dimensions, and so no rows: read gives its element")
    elements = _find_elements(source, name, format, options) if lies_in_rows(info) else None
    return _read_blocks(source, info, name, rows, format, options) if elements is None else _cut(elements, info, rows)


def lies_in_rows(info: ArrayInfo) -> bool:
    """Return whether the cells of an array are its rows, one after the other."""
    strides = contiguous_strides(info.shape, "row-major")
    plain = info.offset == 0 and info.strides == strides and info.parts == 1
    return plain and 0 not in info.shape and info.order == "row-major"


def _find_elements(
    source: api.SourceOrTarget, name: str, format: str | None, options: Mapping[str, Any]
) -> Iterator[Buffer] | None:
    """Return the elements of an array piece by piece; None where the format, or an option, has them all at once."""
    try:
        function = format_of(source, format).function("iter_elements")
    except NotFoundError:
        return None
    if not set(options) <= set(inspect.signature(function).parameters):
        return None
    elements: Iterator[Buffer] = function(source, name, **options)
    return elements


def _read_blocks(
    source: api.SourceOrTarget, info: ArrayInfo, name: str, rows: int, format: str | None, options: Any
) -> Iterator[Array]:
    array = api.read(source, [name], format=format, **options)[name]
    for start in range(0, info.shape[0], rows):
        yield array[start : start + rows]


def _cut(pieces: Iterable[Buffer], info: ArrayInfo, rows: int) -> Iterator[Array]:
    """Yield blocks of whole rows from pieces of any length."""
    beside = info.shape[1:]
    size = rows * int(np.prod(beside, dtype=np.int64))
    waiting: list[Buffer] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece)
        if count >= size:
            together = np.concatenate(waiting)
            whole = count - count % size
            for start in range(0, whole, size):
                yield together[start : start + size].reshape(rows, *beside).copy()
            waiting = [together[whole:].copy()]
            count -= whole
    if count:
        yield np.concatenate(waiting).reshape(-1, *beside)
