"""iter_blocks: an array that is larger than memory, some rows at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..columns import ArrayInfo
from ..columns.blocks.mapping import MappedArrays
from ..columns.blocks.plain_arrays import lies_in_rows
from ..dtypes import Array, Buffer
from ..errors import FormatError, NotFoundError, check_kinds, parse_count
from ..formats import Format, format_of, is_service, known_options, locate_place, rewinding
from ..linear.named import select
from .arrays import read, scan
from .opened import watch_file
from .targets import SourceOrTarget

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
    """Yield an array block by block, each with some of its rows. Memory does not grow with the array.

    An awkward array gives blocks that are awkward arrays.

    CSV files as `write` made them, workbooks, JSON and Google Sheets are read piece by piece. Arrays in column-major
    order and large CSV files in another dialect go to a temporary file first. Other formats are read whole and then
    cut.

    Args:
        source: a path, a URL, or an open file.
        name: the name of the array.
        rows: the number of rows in a block; the last block may have fewer.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL.
        **options: options of the format, as for `read`; with some of them the file is read whole.

    Raises:
        FormatError: as `read`, when a block with a wrong cell is reached; you already have the blocks before it. Or
            the file changed while you read it.
        NotFoundError: the array does not exist.
        ValueError: `rows` is less than one, or the array has no dimension.

    Example:
        >>> import io
        >>> from sheetarray import write
        >>> file = io.BytesIO()
        >>> write(file, {"t": np.arange(10.0).reshape(5, 2)}, format="csv")
        >>> [block.shape for block in iter_blocks(io.BytesIO(file.getvalue()), "t", rows=2, format="csv")]
        [(2, 2), (2, 2), (1, 2)]
    """
    rows = parse_count("row", rows=rows)
    check_kinds(str, "the name of one array, text", name=name)
    source = locate_place(source, storage_options, format, options.get("client"))
    row = format_of(source, format, reading=True)
    is_file = isinstance(source, (str, os.PathLike)) or hasattr(source, "seekable")
    if not isinstance(source, str) and (row.objects or not is_file):
        return _cut_whole(read(source, [name], format=format, **options)[name], name, rows)
    if not isinstance(source, (str, os.PathLike)) and not source.seekable():
        content = source.read()
        source = io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)
    check_unchanged = watch_file(source)
    try:
        with rewinding(source):
            infos = scan(source, format=format, **known_options(source, format, options, "scan"))
    except FormatError:  # the header of another array may be damaged, which does not concern this one
        return _cut_whole(read(source, [name], format=format, **options)[name], name, rows)
    info = select(infos, [name])[name]
    _check_rows(info.shape, name)
    if not lies_in_rows(info) or not _comes_in_pieces(row, options):
        return _read_blocks(source, name, rows, format, options, check_unchanged)
    pieces = row.function("iter_elements")(source, [name], **options)
    return _while_unchanged(_cut((elements for _, elements in pieces), info, rows), check_unchanged)


def _comes_in_pieces(row: Format, options: Mapping[str, Any]) -> bool:
    """Return whether an adapter gives elements piece by piece, and takes the options for it."""
    try:
        return set(options) <= set(row.options("iter_elements"))
    except NotFoundError:
        return False


def _while_unchanged(blocks: Iterator[Array], check_unchanged: Callable[[], None]) -> Iterator[Array]:
    for block in blocks:
        check_unchanged()
        yield block


def _read_blocks(
    source: SourceOrTarget,
    name: str,
    rows: int,
    format: str | None,
    options: Mapping[str, Any],
    check_unchanged: Callable[[], None],
) -> Iterator[Array]:
    """Yield the blocks of an array whose rows do not come one after the other."""
    with MappedArrays() as mapped:
        with nullcontext() if is_service(source, format) else mapped.mapping():
            array = read(source, [name], format=format, **options)[name]
        if mapped.exist:  # which took a while
            check_unchanged()
        size = 0
        for block in _cut_whole(array, name, rows):
            yield block.copy() if mapped.exist else block
            size += block.nbytes
            if size >= _MAPPED:
                mapped.release()
                size = 0


def _check_rows(shape: tuple[int, ...], name: str) -> None:
    if not shape:
        raise ValueError(f"{name!r} has no dimensions, so it has no rows: read returns its element")


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
