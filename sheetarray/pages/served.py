"""Arrays that a page shows without holding them: a server has them, and gives the boxes that are looked at.

An array of a file is read when a box of it is first asked for: block by block where its format allows it, into a file
without a name, which is mapped. So it is never in memory as a whole, and each later box takes no reading at all.
"""

from __future__ import annotations

import inspect
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import api, dtypes
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import DTypeError, Finding, FormatError, LimitError, NotFoundError
from ..files import file_version
from ..labelled import add_coordinates, read_with_labels, scan_options
from ..labels import DatasetLabels, reading_labels
from ..registry import format_of
from ..spool import Spool

MOST_IN_BOX = 2**20  # elements
MOST_AT_ONCE = 10_000  # elements; an array of no more stands in the page itself
MOST_LABELS = 1_000_000  # elements of an array that labels others; it stands in the page as well
_ELEMENTS_A_BLOCK = 2**20

Box = tuple[slice, ...]


@dataclass
class ServedArray:
    """An array that is read when elements of it are asked for.

    Attributes:
        shape: as the header says it.
        dtype: NumPy's dtype; that of text has no width.
        load: returns the whole array, mapped or in memory.
        check: raises a `FormatError` where the array is no longer what it was.

    Example:
        >>> served = ServedArray.from_array(np.arange(6).reshape(2, 3))
        >>> served.take((slice(0, 2, 1), slice(1, 3, 2)))
        array([[1],
               [4]])
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    load: Callable[[], Array]
    check: Callable[[], None]
    info: ArrayInfo | None = None
    _array: Array | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def from_array(cls, array: Array) -> ServedArray:
        """Return an array that is in memory already."""
        return cls(array.shape, array.dtype, lambda: array, lambda: None)

    def take(self, box: Box) -> Array:
        """Return the elements of a box.

        Raises:
            FormatError: the file has changed, or cannot be read.
            LimitError: the box reaches out of the array, or holds more than 1,048,576 elements.
        """
        check_box(box, self.shape)
        self.check()
        with self._lock:  # one thread reads; others wait for the same array
            if self._array is None:
                array = self.load()
                if array.shape != self.shape:
                    raise FormatError(f"has the shape {array.shape} now, not {self.shape}")
                self.check()
                self._array = array
        return self._array[box]


def check_box(box: Sequence[slice], shape: Sequence[int]) -> None:
    """Refuse a box that an array does not have, or that is too large for one answer.

    Raises:
        LimitError: it is one of them.
    """
    if len(box) != len(shape):
        raise LimitError(f"a box of {len(box)} axes, and the array has {len(shape)}")
    for axis, (part, size) in enumerate(zip(box, shape, strict=True)):
        if not (0 <= part.start < part.stop <= size and part.step >= 1):
            raise LimitError(f"axis {axis}: {part.start}:{part.stop}:{part.step} is no part of {size} elements")
    count = math.prod(len(range(part.start, part.stop, part.step)) for part in box)
    if count > MOST_IN_BOX:
        raise LimitError(f"a box of {count:,} elements, and {MOST_IN_BOX:,} are given at once")


class ServedFile:
    """A file whose arrays are served: it is the same file as long as it is served.

    Args:
        place: a path or a URL.
        format: instead of the suffix.
        options: for reading.
        spools: a list to which the spools of arrays that come block by block are added; the end of the server closes
            them.
    """

    def __init__(self, place: Any, format: str | None, options: dict[str, Any], spools: list[Spool]) -> None:
        self._place, self._format, self._options, self._spools = place, format, options, spools
        self._version = file_version(place)

    def serve(self, name: str, info: ArrayInfo) -> ServedArray:
        """Return an array of the file; nothing of it is read yet."""
        return ServedArray(tuple(info.shape), _dtype_of(info), lambda: self._load(name, info), self._check, info)

    def check(self) -> Iterator[Finding]:
        """Yield the findings of `check`.

        Raises:
            FormatError: the file has changed.
        """
        known = inspect.signature(format_of(self._place, self._format, reading=True).function("check")).parameters
        options = {name: value for name, value in self._options.items() if name in known}
        yield from api.check(self._place, format=self._format, **options)
        self._check()

    def _load(self, name: str, info: ArrayInfo) -> Array:
        try:
            format_of(self._place, self._format).function("iter_elements")
        except NotFoundError:  # such as .npy and .ra, which are mapped
            whole: Array = api.read(self._place, [name], format=self._format, **self._options)[name]
            return whole
        beside = math.prod(info.shape[1:])
        rows = max(1, _ELEMENTS_A_BLOCK // max(1, beside))
        spool = Spool(0)
        self._spools.append(spool)
        for block in api.iter_blocks(self._place, name, rows=rows, format=self._format, **self._options):
            spool.append({name: block})
        array: Array = spool.join()[name]
        spool.release()
        return array

    def _check(self) -> None:
        if file_version(self._place) != self._version:
            raise FormatError("the file has changed since the page was opened", hint="run sheetarray view again")


def serve_large(arrays: Mapping[str, Any], labels: DatasetLabels | None) -> dict[str, Any]:
    """Return arrays that are in memory, those that are to be served as `ServedArray`."""
    return {
        name: ServedArray.from_array(array)
        if isinstance(array, np.ndarray) and _is_large(array.shape, _is_coordinate(name, labels))
        else array
        for name, array in arrays.items()
    }


def serve_source(
    contents: Any,
    place: Any,
    names: Sequence[str] | None,
    format: str | None,
    options: dict[str, Any],
    spools: list[Spool],
    *,
    title: str,
) -> None:
    """Add the arrays of a source to a page; of large ones only the headers are read for now.

    Args:
        contents: what the page shows.
        place: a path, a URL, or an open file; the latter is read at once.
        names: only these arrays, with the coordinates along their dimensions; None for all.
        format: instead of the suffix.
        options: for reading.
        spools: as for `ServedFile`.
        title: what the file is called.

    Raises:
        FormatError: a header, or a small array, is damaged.
        LimitError: more small arrays than a page holds.
        NotFoundError: no such array.
    """
    names = [names] if isinstance(names, str) else names
    if file_version(place) is None:
        arrays, labels = read_with_labels(place, names, format, options)
        contents.add_file(title, serve_large(arrays, labels), labels=labels)
        return
    file = ServedFile(place, format, options, spools)
    with reading_labels() as description:
        infos = api.scan(place, format=format, **scan_options(place, format, options))
    labels = description.get()
    wanted = list(infos) if names is None else add_coordinates(list(names), labels, infos)
    served = {name: file.serve(name, infos[name]) for name in wanted if _can_serve(name, infos[name], labels)}
    at_once = [name for name in wanted if name not in served]
    arrays = read_with_labels(place, at_once, format, options)[0] if at_once else {}
    contents.add_file(title, {name: (served | arrays)[name] for name in wanted}, labels=labels, infos=infos, file=file)


def _can_serve(name: str, info: ArrayInfo, labels: DatasetLabels | None) -> bool:
    """Return whether an array is to be served: it is large, and its header names a dtype of the format."""
    try:
        _dtype_of(info)
    except DTypeError:
        return False
    return _is_large(info.shape, _is_coordinate(name, labels))


def _is_large(shape: Sequence[int], is_coordinate: bool) -> bool:
    return bool(shape) and math.prod(shape) > (MOST_LABELS if is_coordinate else MOST_AT_ONCE)


def _is_coordinate(name: str, labels: DatasetLabels | None) -> bool:
    """Return whether an array labels others, which a page needs whole."""
    if labels is None:
        return False
    variable = labels.find(name)
    return variable is not None and (
        variable.dims == (name,) or any(name in levels for levels in labels.frame.index.values())
    )


def _dtype_of(info: ArrayInfo) -> np.dtype[Any]:
    if re.fullmatch(r"V[1-9][0-9]{0,8}", info.dtype):
        return np.dtype(info.dtype)
    return np.dtype(dtypes.from_name(info.dtype).numpy)
