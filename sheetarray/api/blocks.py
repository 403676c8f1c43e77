"""iter_blocks: an array that is larger than memory, some rows at a time."""

from __future__ import annotations

import io
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import select
from ..columns import ArrayInfo
from ..dtypes import Array, Buffer, from_name
from ..errors import FormatError, NotFoundError
from ..files import RemoteFile, file_version, is_url
from ..registry import format_of, locate_place
from ..resizing import contiguous_strides
from .arrays import read, scan
from .doors import SourceOrTarget, is_path

_MAPPED = 2**24  # bytes of a mapped file: after each so many, the system is told that they may leave memory


def iter_blocks(
    source: SourceOrTarget,
    name: str,
    *,
    rows: int,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Array]:
    """Yield an array in blocks of some rows: slices along its first dimension, which joined are the array.

    An awkward array comes in awkward arrays.

    A CSV as it was written, a workbook and JSON are parsed piece by piece, and Google Sheets are fetched so, where the
    elements of the array lie side by side: memory does not grow with the array. Large ones in column-major order, and
    a large CSV in another dialect, go to a temporary file first. Anything else is read whole, and cut.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        name: the array's.
        rows: of each block; the last one may have fewer.
        format: instead of the suffix.
        storage_options: for the file system of a URL.
        **options: of the format, as for `read`; with some of them a file is read whole.

    Raises:
        FormatError: as `read`, when the first cell that is wrong is reached; blocks before it have been given. Or the
            file has changed since its first rows were read.
        NotFoundError: no such array.
        ValueError: less than one row, or an array without dimensions.

    Example:
        >>> import io
        >>> from sheetarray import write
        >>> file = io.BytesIO()
        >>> write(file, {"t": np.arange(10.0).reshape(5, 2)}, format="csv")
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
    check_unchanged = watch_file(source)
    known = format_of(source, format, reading=True).options("scan")
    scanning = {option: value for option, value in options.items() if option in known}
    try:
        info = select(scan(source, format=format, **scanning), [name])[name]
    except FormatError:  # the header of another array may be damaged, which does not concern this one
        if not isinstance(source, (str, os.PathLike)):
            source.seek(start)
        return _cut_whole(read(source, [name], format=format, **options)[name], name, rows)
    if not isinstance(source, (str, os.PathLike)):
        source.seek(start)
    _check_rows(info.shape, name)
    pieces = iter_elements(source, [name], format, options) if lies_in_rows(info) else None
    if pieces is None:
        return _read_blocks(source, name, rows, format, options)
    return _while_unchanged(_cut((elements for _, elements in pieces), info, rows), check_unchanged)


def lies_in_rows(info: ArrayInfo) -> bool:
    """Return whether the cells of an array are its rows, one after the other."""
    return lies_side_by_side(info) and info.order == "row-major"


def lies_side_by_side(info: ArrayInfo) -> bool:
    """Return whether the cells of an array are its elements in its own order, none left out and none twice.

    An awkward array's are not: it stands in several columns.
    """
    try:
        from_name(info.dtype)
    except FormatError:
        return False
    plain = info.offset == 0 and info.strides == contiguous_strides(info.shape, info.order)
    return plain and 0 not in info.shape and info.capacity == math.prod(info.shape)


def iter_elements(
    source: SourceOrTarget, names: Sequence[str], format: str | None, options: Mapping[str, Any]
) -> Iterator[tuple[str, Buffer]] | None:
    """Return pairs of an array's name and its next elements, as they come out of a container that is read only once.

    None if elements cannot be had piece by piece: the adapter has no `iter_elements`, or that lacks one of the options.
    """
    row = format_of(source, format)
    try:
        known = row.options("iter_elements")
    except NotFoundError:
        return None
    return row.iter_elements(source, names, **options) if set(options) <= set(known) else None


def watch_file(source: SourceOrTarget) -> Callable[[], None]:
    """Return a function that refuses a file of this machine which was saved again; a `RemoteFile` does so itself."""
    if not is_path(source) or isinstance(source, RemoteFile) or is_url(source):
        return lambda: None
    path, version = source, file_version(source)

    def check_unchanged() -> None:
        if file_version(path) != version:
            raise FormatError(
                "the file has changed since its first rows were read", source=os.fspath(path), hint="read it again"
            )

    return check_unchanged


def _while_unchanged(blocks: Iterator[Array], check_unchanged: Callable[[], None]) -> Iterator[Array]:
    for block in blocks:
        check_unchanged()
        yield block


def _read_blocks(source: SourceOrTarget, name: str, rows: int, format: str | None, options: Any) -> Iterator[Array]:
    """Yield the blocks of an array whose rows do not come one after the other."""
    from .large import read_in_pieces  # which asks this module how arrays lie

    mapped = read_in_pieces(source, [name], format=format, **options)
    if mapped is None:
        yield from _cut_whole(read(source, [name], format=format, **options)[name], name, rows)
        return
    with mapped:
        size = 0
        for block in _cut_whole(mapped.arrays[name], name, rows):
            yield block.copy()
            size += block.nbytes
            if size >= _MAPPED:
                mapped.release()
                size = 0


def _check_rows(shape: tuple[int, ...], name: str) -> None:
    if not shape:
        raise ValueError(f"{name!r} has no dimensions, and so no rows: read gives its element")


def _cut_whole(array: Array, name: str, rows: int) -> Iterator[Array]:
    """Return the blocks of an array that was read whole; it may be an awkward one, which has rows and no shape."""
    if isinstance(array, np.ndarray):
        _check_rows(array.shape, name)
    return (array[start : start + rows] for start in range(0, len(array), rows))


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
