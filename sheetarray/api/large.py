"""The arrays of a large file, to be written elsewhere or compared: their elements go into a file, and are mapped."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import select
from ..columns import ArrayInfo
from ..dtypes import Array, Buffer
from ..elements import text_array
from ..errors import NotFoundError
from ..files import RemoteFile, is_url, read_states
from ..labels import LabelledArrays, reading_labels
from ..registry import format_of
from ..spool import MOST_BYTES, PiecedArrays
from .arrays import read_labelled, scan
from .blocks import iter_elements, lies_side_by_side, watch_file
from .doors import SourceOrTarget, is_path

LARGE_FILE = 2**23  # bytes
MANY_ELEMENTS = 2**20  # of all arrays; of fewer the file is read at once
_MOST_TEXTS = 2**20  # elements of an array of text that is read in pieces: afterwards it is in memory as a whole
_KINDS = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


class MappedArrays:
    """Arrays of which those of numbers are mapped from a file without a name; a context manager, which closes that
    file.

    Attributes:
        arrays: all of them, with their labels.
    """

    def __init__(self, arrays: LabelledArrays, spool: PiecedArrays) -> None:
        self.arrays, self._spool = arrays, spool

    def __enter__(self) -> MappedArrays:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spool.__exit__(kind, error, trace)

    def release(self) -> None:
        """Tell the system that the mapped elements that were looked at need not stay in memory."""
        self._spool.release()


def read_in_pieces(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> MappedArrays | None:
    """Return the arrays of a large file with their labels, as `read_labelled` does, those of numbers mapped.

    Memory does not grow with the file then. The result is None if this gains nothing, and `read_labelled` is to be
    called: the file is small, or is not given by its path, or its format, or an option, can only give all elements at
    once. Long text, arrays whose elements do not lie side by side, and composites are read at once.

    Args:
        source: the file.
        names: only these arrays; None for all.
        format: instead of the suffix.
        folder: for the file of the elements; None for the system's temporary folder.
        progress: is called with the number of elements that have been read, and the number in all.
        **options: for `read`.

    Raises:
        FormatError: as `read`; or the file has changed meanwhile.
        NotFoundError: no such array.
    """
    if not is_path(source) or not _comes_in_pieces(source, format, options) or size_of(source) < LARGE_FILE:
        return None
    check_unchanged = watch_file(source)
    known = format_of(source, format, reading=True).options("scan")
    with reading_labels() as description:
        given = {key: value for key, value in options.items() if key in known}
        if "thorough" in known:  # all arrays are converted, so all have to be found
            given["thorough"] = True
        infos = scan(source, format=format, **given)
    if description.error is not None:
        return None  # the description stays an array of text; `read_labelled` warns of it
    wanted = list(select(infos, names))
    sizes = {name: (_dtype_of(infos[name]), infos[name].capacity) for name in wanted if _is_plain(infos[name])}
    total = sum(count for _, count in sizes.values())
    if total < MANY_ELEMENTS or sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        return None
    texts = [name for name in wanted if name not in sizes and _is_short_text(infos[name])]
    rest = [name for name in wanted if name not in sizes and name not in texts]
    others = LabelledArrays({}, description.labels)
    if rest:
        others = read_labelled(source, rest, format=format, **options)
    others.update(_read_texts(iter_elements(source, texts, format, options), texts, infos))
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
    return MappedArrays(LabelledArrays(arrays, others.labels), spool)


def _open_spool(sizes: Mapping[str, tuple[np.dtype[Any], int]], folder: str | None) -> PiecedArrays:
    """Return a file for elements, in a folder if that takes any; `/dev` does not."""
    try:
        return PiecedArrays(sizes, folder)
    except OSError:
        return PiecedArrays(sizes)


def _comes_in_pieces(source: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> bool:
    try:
        known = format_of(source, format, reading=True).options("iter_elements")
    except NotFoundError:
        return False
    return set(options) <= set(known)


def size_of(source: SourceOrTarget) -> int:
    """Return the size of a file in bytes; 0 for one that does not exist, or whose size is not known, such as a pipe."""
    if isinstance(source, RemoteFile):
        if source.state is None:
            read_states([source])  # no error is raised here: reading raises it
        return int((source.state or {}).get("size") or 0)
    if not is_path(source) or is_url(source) or not os.path.isfile(source):
        return 0
    return os.path.getsize(source)


def _is_short_text(info: ArrayInfo) -> bool:
    return info.dtype in ("string", "generic") and info.capacity <= _MOST_TEXTS and lies_side_by_side(info)


def _read_texts(
    pieces: Iterable[tuple[str, Buffer]] | None, names: Sequence[str], infos: Mapping[str, ArrayInfo]
) -> dict[str, Array]:
    """Return short arrays of text and of objects, so that they alone are in memory."""
    parts: dict[str, list[Buffer]] = {name: [] for name in names}
    for name, elements in pieces if names and pieces is not None else ():
        parts[name].append(elements)
    return {
        name: _shape_buffer(
            text_array([text for part in some for text in part.tolist()])
            if infos[name].dtype == "string"
            else np.concatenate(some),
            infos[name],
        )
        for name, some in parts.items()
    }


def _is_plain(info: ArrayInfo) -> bool:
    return lies_side_by_side(info) and dtypes.from_name(info.dtype).kind in _KINDS


def _dtype_of(info: ArrayInfo) -> np.dtype[Any]:
    return dtypes.from_name(info.dtype).numpy


def _shape_buffer(buffer: np.ndarray[Any, Any], info: ArrayInfo) -> np.ndarray[Any, Any]:
    assert math.prod(info.shape) == len(buffer)
    return buffer.reshape(info.shape, order="F" if info.order == "column-major" else "C")
