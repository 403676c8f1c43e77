"""Large files piece by piece: `iter_blocks`, and how `convert` and `diff` read what is larger than memory."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from ..columns import ArrayInfo
from ..columns.pieced_arrays import MOST_BYTES, PiecedArrays
from ..dtypes import Array, Buffer, from_name
from ..errors import FormatError, NotFoundError, check_kinds, parse_count
from ..files import RemoteFile, file_version, is_url, read_states
from ..formats import format_of, known_options, locate_place, rewinding
from ..labels import LabelledArrays, reading_labels
from ..linear.named import select
from ..linear.resizing import contiguous_strides
from .arrays import SourceOrTarget, is_path, read, read_labelled, scan

# iter_blocks: an array that is larger than memory, some rows at a time.

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
    if not _comes_in_pieces(source, format, options):
        return None
    iterate = format_of(source, format, reading=True).function("iter_elements")
    elements: Iterator[tuple[str, Buffer]] = iterate(source, names, **options)
    return elements


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
    mapped = read_in_pieces(source, [name], format=format, **options)
    if mapped is None:
        yield from _cut_whole(read(source, [name], format=format, **options)[name], name, rows)
        return
    arrays, spool = mapped
    with spool:
        size = 0
        for block in _cut_whole(arrays[name], name, rows):
            yield block.copy()
            size += block.nbytes
            if size >= _MAPPED:
                spool.release()
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


# The arrays of a large file, to be written elsewhere or compared: their elements go into a file, and are mapped.

LARGE_FILE = 2**23  # bytes
MANY_ELEMENTS = 2**20  # of all arrays; of fewer the file is read at once
_KINDS = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


def read_in_pieces(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> tuple[LabelledArrays, PiecedArrays] | None:
    """Return the arrays of a large file with their labels, as `read_labelled` does, and the file of their elements.

    Arrays of numbers are mapped from that file, which the caller closes, so that memory does not grow with the source.
    The result is None if this gains nothing, and `read_labelled` is to be called: the source is small, or is not given
    by its path, or its format, or an option, can only give all elements at once. Text, arrays whose elements do not lie
    side by side, and composites are read at once.

    `folder`: for the file of the elements; None for the system's temporary folder. `progress`: is called with the
    number of elements that have been read, and the number in all. `**options`: for `read`.

    Raises:
        FormatError: as `read`; or the file has changed meanwhile.
        NotFoundError: an array does not exist.
    """
    if not is_path(source) or not _comes_in_pieces(source, format, options) or source_size(source) < LARGE_FILE:
        return None
    check_unchanged = watch_file(source)
    known = format_of(source, format, reading=True).options("scan")
    with reading_labels() as description:
        how: dict[str, Any] = known_options(source, format, options, "scan")
        if "thorough" in known:  # all arrays are converted, so all have to be found
            how["thorough"] = True
        infos = scan(source, format=format, **how)
    if description.error is not None:
        return None  # the description stays an array of text; `read_labelled` warns of it
    wanted = list(select(infos, names))
    sizes = {name: (_dtype_of(infos[name]), infos[name].capacity) for name in wanted if _is_plain(infos[name])}
    total = sum(count for _, count in sizes.values())
    if total < MANY_ELEMENTS or sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        return None
    rest = [name for name in wanted if name not in sizes]
    others = read_labelled(source, rest, format=format, **options) if rest else LabelledArrays({}, description.labels)
    spool = _open_spool(sizes, folder)
    try:
        done = 0
        pieces = iter_elements(source, list(sizes), format, options)
        assert pieces is not None
        for name, elements in pieces:
            check_unchanged()
            spool.append(name, elements)
            done += len(elements)
            if progress is not None:
                progress(done, total)
        buffers = spool.join()
        check_unchanged()
    except BaseException as error:
        spool.__exit__(type(error), error, None)
        raise
    arrays = {name: _shape_buffer(buffers[name], infos[name]) if name in sizes else others[name] for name in wanted}
    spool.release()
    return LabelledArrays(arrays, others.labels), spool


@contextmanager
def open_arrays(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    **options: Any,
) -> Iterator[tuple[LabelledArrays, Callable[[], None]]]:
    """Yield arrays with their labels, and a function that lets those of a large file, which are mapped, leave memory.

    `folder`, `**options`: as for `read_in_pieces`.

    Raises:
        FormatError: as `read_in_pieces`.
        NotFoundError: no such array.
    """
    mapped = read_in_pieces(source, names, format=format, folder=folder, **options)
    if mapped is None:
        yield read_labelled(source, names, format=format, **options), lambda: None
        return
    arrays, spool = mapped
    with spool:
        yield arrays, spool.release


def _open_spool(sizes: Mapping[str, tuple[np.dtype[Any], int]], folder: str | None) -> PiecedArrays:
    """Return a file for elements, in a folder if that takes any; `/dev` does not."""
    try:
        return PiecedArrays(sizes, folder)
    except OSError:
        return PiecedArrays(sizes)


def _comes_in_pieces(source: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> bool:
    """Return whether an adapter gives elements piece by piece, and takes the options for it."""
    try:
        known = format_of(source, format, reading=True).options("iter_elements")
    except NotFoundError:
        return False
    return set(options) <= set(known)


def source_size(source: SourceOrTarget) -> int:
    """Return the size of a file in bytes; 0 for one that does not exist, or whose size is not known, such as a pipe."""
    if isinstance(source, RemoteFile):
        if source.state is None:
            read_states([source])  # no error is raised here: reading raises it
        return int((source.state or {}).get("size") or 0)
    if not is_path(source) or is_url(source) or not os.path.isfile(source):
        return 0
    return os.path.getsize(source)


def _is_plain(info: ArrayInfo) -> bool:
    return lies_side_by_side(info) and dtypes.from_name(info.dtype).kind in _KINDS


def _dtype_of(info: ArrayInfo) -> np.dtype[Any]:
    return dtypes.from_name(info.dtype).numpy


def _shape_buffer(buffer: np.ndarray[Any, Any], info: ArrayInfo) -> np.ndarray[Any, Any]:
    assert math.prod(info.shape) == len(buffer)
    return buffer.reshape(info.shape, order="F" if info.order == "column-major" else "C")


@contextmanager
def hinting_at_reading(source: SourceOrTarget, name: str | None) -> Iterator[None]:
    """Have a hint at an option of `read` name it as `convert` takes it: `reading={'group': 'north'}`."""
    try:
        yield
    except FormatError as error:
        options = set(format_of(source, name, reading=True).options("read")) - {"names"}
        if options:
            value = rf"\b({'|'.join(sorted(options))})=('[^']*'|\"[^\"]*\"|True|False|\d+)"
            error.reason, error.hint = (
                re.sub(value, r"reading={'\1': \2}", text) for text in (error.reason, error.hint or "")
            )
        raise
