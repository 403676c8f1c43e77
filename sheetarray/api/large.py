"""Large files piece by piece: how `convert` and `diff` read what is larger than memory."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np

from .. import dtypes
from ..columns import ArrayInfo, keeping_unreadable
from ..columns.pieced_arrays import MOST_BYTES, PiecedArrays
from ..dtypes import Buffer, from_name
from ..errors import FormatError, NotFoundError, warn_caller
from ..files import RemoteFile, file_version, is_url, read_states
from ..formats import format_of, known_options, rewinding
from ..labels import LabelledArrays, reading_labels
from ..linear.named import select
from ..linear.resizing import contiguous_strides
from .arrays import read_labelled, scan
from .targets import SourceOrTarget, is_path


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
    scan_options = format_of(source, format, reading=True).options("scan")
    with reading_labels() as description:
        how: dict[str, Any] = known_options(source, format, options, "scan")
        if "thorough" in scan_options:  # all arrays are converted, so all have to be found
            how["thorough"] = True
        infos = scan(source, format=format, **how)
    if description.error is not None:
        return None  # the description stays an array of text; `read_labelled` warns of it
    selected = list(select(infos, names))
    sizes = {name: (_dtype_of(infos[name]), infos[name].capacity) for name in selected if _is_plain(infos[name])}
    total = sum(count for _, count in sizes.values())
    if total < MANY_ELEMENTS or sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        return None
    rest = [name for name in selected if name not in sizes]
    whole = read_labelled(source, rest, format=format, **options) if rest else LabelledArrays({}, description.labels)
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
    arrays = {name: _shape_buffer(buffers[name], infos[name]) if name in sizes else whole[name] for name in selected}
    spool.release()
    return LabelledArrays(arrays, whole.labels), spool


@contextmanager
def open_arrays(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    unreadable: dict[str, Any] | None = None,
    **options: Any,
) -> Iterator[tuple[LabelledArrays, Callable[[], None]]]:
    """Yield arrays with their labels, and a function that lets those of a large file, which are mapped, leave memory.

    `folder`, `**options`: as for `read_in_pieces`. `unreadable`: takes the errors of single cells, as
    `keeping_unreadable` yields them, and rows that people have added or deleted count as they stand; None raises them.

    Raises:
        FormatError: as `read_in_pieces`.
        NotFoundError: no such array.
    """
    with ExitStack() as stack:
        try:
            with rewinding(source) if unreadable is not None else nullcontext():
                opened = stack.enter_context(_open_whole(source, names, format, folder, options))
        except FormatError:
            if unreadable is None:
                raise
            opened = _read_changed(source, names, format, options, unreadable), lambda: None
        yield opened


@contextmanager
def _open_whole(
    source: SourceOrTarget, names: Sequence[str] | None, format: str | None, folder: str | None, options: Any
) -> Iterator[tuple[LabelledArrays, Callable[[], None]]]:
    mapped = read_in_pieces(source, names, format=format, folder=folder, **options)
    if mapped is None:
        yield read_labelled(source, names, format=format, **options), lambda: None
        return
    arrays, spool = mapped
    with spool:
        yield arrays, spool.release


def _read_changed(
    source: SourceOrTarget, names: Sequence[str] | None, format: str | None, options: Any, unreadable: dict[str, Any]
) -> LabelledArrays:
    """Return arrays without the cells that cannot be read, and with their rows as they stand; this is a warning."""
    with keeping_unreadable() as errors:
        try:
            with rewinding(source):
                arrays = read_labelled(source, names, format=format, **options)
        except FormatError as error:
            if "resize" in options or "resize=True" not in (error.hint or ""):
                raise
            arrays = read_labelled(source, names, format=format, resize=True, **options)
            place = f"{error.source}: " if error.source else ""
            rows = "rows were added or deleted, and count as they stand; the headers say otherwise"
            warn_caller(f"{place}{rows} (accept corrects the headers)")
    unreadable.update(errors)
    return arrays


def _open_spool(sizes: Mapping[str, tuple[np.dtype[Any], int]], folder: str | None) -> PiecedArrays:
    """Return a file for elements, in a folder if that takes any; `/dev` does not."""
    try:
        return PiecedArrays(sizes, folder)
    except OSError:
        return PiecedArrays(sizes)


def _comes_in_pieces(source: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> bool:
    """Return whether an adapter gives elements piece by piece, and takes the options for it."""
    try:
        accepted = format_of(source, format, reading=True).options("iter_elements")
    except NotFoundError:
        return False
    return set(options) <= set(accepted)


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
