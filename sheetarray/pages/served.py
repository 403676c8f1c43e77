"""Arrays as a page shows them: their numbers, their bytes for the browser, and boxes of them that a server gives.

An array of a file is read when a box of it is first asked for, as `convert` reads it: numbers of a large file piece by
piece into a file without a name, which is mapped. So they are never in memory as a whole, and no later box is read.
"""

from __future__ import annotations

import base64
import math
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import api, dtypes
from ..arrays import list_names
from ..columns import ArrayInfo
from ..comparing import find_noise
from ..dtypes import Array, Mask
from ..elements import Cell, dates_to_iso, format_bool, to_scalar
from ..errors import DTypeError, Finding, FormatError, LimitError
from ..files import file_version
from ..labelled import add_coordinates, read_with_labels
from ..labels import DatasetLabels, reading_labels
from ..registry import known_options

# Elements as a page measures them: as numbers, which of them are missing, and the bars of a histogram.

_BARS = 40


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Return whether elements are numbers to a page."""
    return dtype.kind in "fiucbm"


def to_numbers(elements: Array) -> Array:
    """Return elements as doubles, as a page draws them: complex numbers as magnitudes, NaT as NaN."""
    if elements.dtype.kind == "c":
        with np.errstate(over="ignore"):
            return np.abs(elements).astype(np.float64)
    if elements.dtype.kind == "m":
        return np.where(np.isnat(elements), np.nan, elements.view(np.int64).astype(np.float64))
    return elements.astype(np.float64)


def find_missing(elements: Array) -> Mask:
    """Return a mask of the elements that are missing to a page."""
    if elements.dtype.kind in "fc":
        return np.isnan(elements)
    if elements.dtype.kind in "mM":
        return np.isnat(elements)
    if elements.dtype.kind == "O":
        return np.fromiter((value is None for value in elements.tolist()), np.bool_, len(elements))
    return np.zeros(len(elements), np.bool_)


def count_bars(numbers: Array, low: float, high: float) -> Array:
    """Return the count of numbers in each bar of a histogram, then the count below all bars and that above them."""
    inside = numbers[(numbers >= low) & (numbers <= high)]
    bars = _BARS if high > low else 1
    share = (inside / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(inside))
    counts = np.bincount(np.minimum((share * bars).astype(np.int64), bars - 1), minlength=bars)
    outside = [np.count_nonzero(numbers < low), np.count_nonzero(numbers > high)]
    return np.append(counts, outside)


# Elements -> bytes that a browser turns into the same elements.
#
# Numbers go as they lie in memory, little-endian, so that no digit is lost; integers of 64 bits become BigInts
# there. All else goes as text in UTF-16, which is what JavaScript's strings are, with the length of each.

_LEVEL = 6  # of deflate; more takes twice the time for 2 % less


@dataclass(frozen=True, slots=True)
class Encoded:
    """The elements of an array in row-major order, ready for a page."""

    kind: str  # of the dtype: float, int, bool, complex, string, datetime, timedelta, generic
    layout: str  # the type of the numbers in the buffer, such as `f8` or `i8`; `text` for text
    # the bytes of the numbers; or three: of the lengths of texts, of the texts, and of the kinds of generic elements,
    # which only generic arrays have
    buffers: tuple[bytes, ...]


def encode_elements(array: Array) -> Encoded:
    """Return the elements of an array of any dtype as bytes; dtypes are those of `list_texts`."""
    if array.dtype.kind in "VOM" or array.dtype.kind in "UT":
        dtype = None if array.dtype.kind == "V" else dtypes.from_numpy(array.dtype)
        encoded = _encode_texts(dtype.kind if dtype else "string", list_texts(array))
        if array.dtype.kind != "O":
            return encoded
        kinds = bytes(_describe_scalar(to_scalar(value))[1] for value in array.reshape(-1).tolist())
        return Encoded("generic", "text", (*encoded.buffers, kinds))
    kind = dtypes.from_numpy(array.dtype).kind
    number = np.dtype(np.uint8 if kind == "bool" else np.int64) if kind in ("bool", "timedelta") else None
    native = np.ascontiguousarray(array.reshape(-1))  # row-major, whatever the order in memory
    native = native.astype(native.dtype.newbyteorder("<"), copy=False)
    stored = native if number is None else native.view(number.newbyteorder("<"))
    return Encoded(kind, stored.dtype.str[1:], (stored.tobytes(),))


def list_texts(array: Array) -> list[str]:
    """Return the elements of an array that holds no numbers as a page shows them, in row-major order.

    Raises:
        DTypeError: a dtype that the format does not have, except opaque bytes, which are shown in hexadecimal.
    """
    if array.dtype.kind == "V" and array.dtype.names is None:
        return [element.tobytes().hex() for element in np.ascontiguousarray(array).reshape(-1)]
    kind, flat = dtypes.from_numpy(array.dtype).kind, array.reshape(-1)
    if kind == "datetime":
        return _texts_of_dates(np.ascontiguousarray(flat))
    if kind == "generic":
        return [_describe_scalar(to_scalar(value))[0] for value in flat.tolist()]
    return [str(text) for text in flat.tolist()]


def _texts_of_dates(flat: Any) -> list[str]:
    try:
        return dates_to_iso(flat)
    except DTypeError:  # beyond the dates that NumPy prints: counts of its unit
        return [f"{count} x {flat.dtype.name}" for count in flat.astype(np.int64).tolist()]


def _describe_scalar(value: Cell) -> tuple[str, int]:
    """Return the text of a generic element, and its kind: 0 none, 1 bool, 2 number, 3 text, 4 another object."""
    if value is None:
        return "None", 0
    if isinstance(value, bool):
        return format_bool(value), 1
    if isinstance(value, (int, float)):
        return repr(value), 2
    return (value, 3) if isinstance(value, str) else (str(value), 4)


def _encode_texts(kind: str, texts: Any) -> Encoded:
    pieces = [text.encode("utf-16-le", "surrogatepass") for text in texts]
    lengths = np.fromiter((len(piece) // 2 for piece in pieces), "<u4", len(pieces))
    return Encoded(kind, "text", (lengths.tobytes(), b"".join(pieces)))


def compress_blob(content: bytes) -> str:
    """Return bytes deflated and as base64 text, in the form that `DecompressionStream("deflate")` reads."""
    return base64.b64encode(zlib.compress(content, _LEVEL)).decode("ascii")


# Arrays that a page shows without holding them: a server has them, and gives the boxes that are looked at.

MOST_IN_BOX = 2**20  # elements
MOST_AT_ONCE = 10_000  # elements; an array of no more stands in the page itself
MOST_LABELS = 1_000_000  # elements of an array that labels others; it stands in the page as well

Box = tuple[slice, ...]


@dataclass
class ServedArray:
    """An array that is read when elements of it are asked for.

    Example:
        >>> served = ServedArray.from_array(np.arange(6).reshape(2, 3))
        >>> served.take((slice(0, 2, 1), slice(1, 3, 2)))
        array([[1],
               [4]])
    """

    shape: tuple[int, ...]  # as the header says it
    dtype: np.dtype[Any]  # NumPy's dtype; that of text has no width
    load: Callable[[], Array]  # returns the whole array, mapped or in memory
    check: Callable[[], None]  # raises a `FormatError` where the array is no longer what it was
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
                    raise FormatError(f"has the shape {array.shape} now, but had {self.shape} before")
                self.check()
                self._array = array
        return self._array[box]


def check_box(box: Sequence[slice], shape: Sequence[int]) -> None:
    """Raise a `LimitError` for a box that an array does not have, or that is too large for one answer."""
    if len(box) != len(shape):
        raise LimitError(f"a box of {len(box)} axes, and the array has {len(shape)}")
    for axis, (part, size) in enumerate(zip(box, shape, strict=True)):
        if not (0 <= part.start < part.stop <= size and part.step >= 1):
            raise LimitError(f"axis {axis}: {part.start}:{part.stop}:{part.step} is not a part of {size} elements")
    count = math.prod(len(range(part.start, part.stop, part.step)) for part in box)
    if count > MOST_IN_BOX:
        raise LimitError(f"a box of {count:,} elements; at most {MOST_IN_BOX:,} are sent at once")


class ServedFile:
    """A file whose arrays are served: it is the same file as long as it is served.

    `opened`: takes the files to which arrays are mapped; the end of the server closes them.
    """

    def __init__(self, place: Any, format: str | None, options: dict[str, Any], opened: ExitStack) -> None:
        self._place, self._format, self._options, self._opened = place, format, options, opened
        self._version = file_version(place)

    def serve(self, name: str, info: ArrayInfo) -> ServedArray:
        """Return an array of the file; nothing of it is read yet."""
        return ServedArray(tuple(info.shape), _dtype_of(info), lambda: self._load(name), self._check, info)

    def check(self) -> Iterator[Finding]:
        """Yield the findings of `check`."""
        options = known_options(self._place, self._format, self._options, "check")
        yield from api.check(self._place, format=self._format, **options)
        self._check()

    def _load(self, name: str) -> Array:
        arrays = api.open_arrays(self._place, [name], format=self._format, **self._options)
        array: Array = self._opened.enter_context(arrays)[0][name]
        return array

    def _check(self) -> None:
        if file_version(self._place) != self._version:
            raise FormatError("the file has changed since the page was opened", hint="run sheetarray page again")


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
    opened: ExitStack,
    *,
    title: str,
) -> None:
    """Add the arrays of a source to a page; of large ones only the headers are read for now.

    `place`: a path, a URL, or an open file; the latter is read at once. `names`: only these arrays, with the
    coordinates along their dimensions; None for all. `title`: what the file is called.

    Raises:
        FormatError: a header, or a small array, is damaged.
        LimitError: more small arrays than a page holds.
        NotFoundError: an array does not exist.
    """
    names = list_names(names)
    if file_version(place) is None:
        arrays, labels = read_with_labels(place, names, format, options)
        contents.add_file(title, serve_large(arrays, labels), labels=labels)
        return
    file = ServedFile(place, format, options, opened)
    with reading_labels() as description:
        infos = api.scan(place, format=format, **known_options(place, format, options, "scan"))
    labels = description.get()
    wanted = list(infos) if names is None else add_coordinates(names, labels, infos)
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


# The difference of two arrays on a server, computed for each box that a page asks for.


@dataclass(frozen=True, slots=True)
class ServedDifference:
    """The differences of two arrays of one shape, element by element: the second minus the first.

    Example:
        >>> one, two = (ServedArray.from_array(np.array(values)) for values in ([1.5, np.nan], [2.0, np.nan]))
        >>> ServedDifference(one, two).take((slice(0, 2, 1),))
        array([0.5, 0. ])
    """

    first: ServedArray  # an array
    second: ServedArray  # another one
    info: None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both."""
        return self.first.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of differences."""
        return np.dtype(np.float64)

    def take(self, box: Box) -> Array:
        """Return the differences in a box, as `ServedArray.take` returns its elements."""
        return subtract_elements(self.first.take(box), self.second.take(box))


Boxes = ServedArray | ServedDifference  # what gives the elements of a box


def subtract_elements(first: Array, second: Array) -> Array:
    """Return `second - first` as doubles: 0 where both elements are the same, NaN where one of them is missing.

    Floats that differ by noise count as the same. Integers are subtracted exactly. For complex numbers it is their
    distance; for elements that are no numbers it is 1 where they differ.
    """
    if not (is_numeric(first.dtype) and is_numeric(second.dtype)):
        texts = [np.array(_texts(elements), np.object_).reshape(first.shape) for elements in (first, second)]
        differs: Array = (texts[0] != texts[1]).astype(np.float64)
        return differs
    one, other = first.reshape(-1), second.reshape(-1)
    missing = find_missing(one) | find_missing(other)
    both = find_missing(one) & find_missing(other)
    with np.errstate(all="ignore"):
        if one.dtype.kind == other.dtype.kind == "c":
            away = np.abs(other.astype(np.complex128) - one.astype(np.complex128))
            same = one == other
        elif one.dtype.kind in "iubm" and other.dtype.kind in "iubm":
            wide: Any = object if 8 in (one.itemsize, other.itemsize) else np.int64  # in which no difference wraps
            before, now = (
                elements.view(np.int64) if elements.dtype.kind == "m" else elements for elements in (one, other)
            )
            difference = now.astype(wide) - before.astype(wide)
            same, away = difference == 0, difference.astype(np.float64)
        else:
            numbers = [to_numbers(elements) for elements in (one, other)]
            same = numbers[0] == numbers[1]
            away = numbers[1] - numbers[0]
    same |= both
    places = np.flatnonzero(~same)
    same[places] = find_noise(one[places], other[places])
    away = np.where(missing, np.nan, away)
    return np.where(same, 0.0, away).reshape(first.shape)


def _texts(elements: Array) -> list[str]:
    """Return elements as texts, whatever they are."""
    if is_numeric(elements.dtype):
        return [str(value) for value in elements.reshape(-1).tolist()]
    return list_texts(elements)
