"""JaggedArray, ByteJaggedArray and StringArray -> lists of any length, strings in UTF-8, and bytes.

Sources: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/jagged.py and objects.py. Starts and stops
may have more than one dimension; lists of one size are then put around. Counts, and starts that are the stops before,
become offsets. Text in another encoding than UTF-8 is transcoded; an encoding of null makes bytes. Encodings come from
a list: a file cannot choose any codec of Python.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError
from .blobs import AwkwardLayout, StoredBlob, read_elements
from .builder import Builder, describe_value
from .layouts import bytes_in, check_utf8, encode_utf8

# Lists ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """The beginnings and ends of lists in their content.

    Attributes:
        starts: the index of the first element of each list; of one dimension.
        stops: the index after the last element of each list.
        shape: of the array whose elements are the lists.
        offsets: starts and stops in one array, if each list begins where the one before ends; else None.
    """

    starts: Array
    stops: Array
    shape: tuple[int, ...]
    offsets: Array | None

    @property
    def counts(self) -> Array:
        """The number of elements in each list."""
        counts: Array = self.stops - self.starts
        return counts


def bounds_from_counts(build: Builder, counts: Any, length: int) -> Bounds:
    """Return the bounds of lists side by side.

    Args:
        build: checks and pays.
        counts: how many elements each has.
        length: of the content.

    Raises:
        FormatError: no counts, or more than the content has.
    """
    numbers = build.to_integers(counts, "counts", length + 1)
    build.budget.take(8 * numbers.size + 8, "offsets")
    offsets = np.zeros(numbers.size + 1, np.int64)
    np.cumsum(numbers.reshape(-1), out=offsets[1:])
    if int(offsets[-1]) > length:
        raise FormatError(f"counts add up to {offsets[-1]}, but the content has {length} elements")
    return Bounds(offsets[:-1], offsets[1:], numbers.shape, offsets)


def bounds_from_offsets(build: Builder, offsets: Any, length: int) -> Bounds:
    """Return the bounds of lists, each of which begins where the one before ends.

    Raises:
        FormatError: no offsets, or beyond the content.
    """
    numbers = build.to_integers(offsets, "offsets", length + 1, dimensions=1)
    if not len(numbers):
        raise FormatError("offsets are empty; there is one more than there are lists")
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("offsets that decrease")
    return Bounds(numbers[:-1], numbers[1:], (len(numbers) - 1,), numbers)


def bounds_from_starts(build: Builder, starts: Any, stops: Any, length: int) -> Bounds:
    """Return the bounds of lists whose starts and stops may lie anywhere in the content, in any order.

    Raises:
        FormatError: no starts and stops, or beyond the content.
    """
    first = build.to_integers(starts, "starts")
    last = build.to_integers(stops, "stops")
    if len(last) < len(first) or last.shape[1:] != first.shape[1:]:
        raise FormatError(f"starts of the shape {first.shape} and stops of the shape {last.shape}")
    last = last[: len(first)]
    shape, first, last = first.shape, first.reshape(-1), last.reshape(-1)
    if (last < first).any():
        raise FormatError("stops before their starts")
    empty = first == last
    if empty.any():  # wherever they are: nothing is there
        build.budget.take(first.nbytes + last.nbytes, "starts and stops")
        first, last = np.where(empty, 0, first), np.where(empty, 0, last)
    if len(last) and int(last.max()) > length:
        raise FormatError(f"a stop at {last.max()}, but the content has {length} elements")
    offsets = None
    if len(first) and not empty.any() and np.array_equal(first[1:], last[:-1]):
        build.budget.take(first.nbytes + 8, "offsets")
        offsets = np.append(first, last[-1])
    return Bounds(first, last, shape, offsets)


def bounds_from_parents(build: Builder, parents: Any, length: int) -> Bounds:
    """Return the bounds of lists, of which each element of the content names its own; below 0 it is in none.

    Elements of one list stand side by side; if they do not, the last that do count, as in awkward0.

    Raises:
        FormatError: no parents, or not one for each element.
    """
    array = build.to_array(parents, "parents")
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != length:
        raise FormatError(f"parents of the dtype {array.dtype} and the shape {array.shape} for {length} elements")
    most = int(array.max(initial=-1))
    build.budget.take(16 * (most + 1) + 32 * length, "lists of parents")
    numbers = array.astype(np.int64)
    ends = np.concatenate([np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, [length]]) if length else np.zeros(0, int)
    begins = np.concatenate([[0], ends[:-1]]) if length else ends
    named = numbers[begins]
    starts, stops = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    starts[named[named >= 0]], stops[named[named >= 0]] = begins[named >= 0], ends[named >= 0]
    return bounds_from_starts(build, starts, stops, length)


def bounds_from_uniques(build: Builder, uniques: Any, length: int) -> Bounds:
    """Return the bounds of lists, each of which goes on while elements have the same number; none is empty.

    Raises:
        FormatError: no numbers, or not one for each element.
    """
    array = build.to_array(uniques, "uniques")
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != length:
        raise FormatError(f"uniques of the dtype {array.dtype} and the shape {array.shape} for {length} elements")
    build.budget.take(16 * length + 16, "lists of uniques")
    changes = np.flatnonzero(array[1:] != array[:-1]) + 1
    return bounds_from_offsets(build, np.concatenate([[0], changes, [length]]), length)


def build_lists(
    build: Builder, bounds: Bounds, content: AwkwardLayout, parameters: dict[str, str] | None = None
) -> AwkwardLayout:
    """Return the layout of lists, in the shape of their bounds."""
    contents = build.ak.contents
    if bounds.offsets is not None:
        layout = contents.ListOffsetArray(build.to_index(bounds.offsets), content, parameters=parameters)
    else:
        starts, stops = build.to_index(bounds.starts), build.to_index(bounds.stops)
        layout = contents.ListArray(starts, stops, content, parameters=parameters)
    return build.check_measured(build.to_regular(layout, bounds.shape))


def jagged_array(build: Builder, starts: Any, stops: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray(starts, stops, content)`."""
    inner = build.to_layout(content, "content")
    return build_lists(build, bounds_from_starts(build, starts, stops, inner.length), inner)


def jagged_array_from_counts(build: Builder, counts: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromcounts(counts, content)`."""
    inner = build.to_layout(content, "content")
    return build_lists(build, bounds_from_counts(build, counts, inner.length), inner)


def jagged_array_from_offsets(build: Builder, offsets: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromoffsets(offsets, content)`."""
    inner = build.to_layout(content, "content")
    return build_lists(build, bounds_from_offsets(build, offsets, inner.length), inner)


def jagged_array_from_parents(
    build: Builder,
    parents: Any,
    content: Any,
    length: Any = None,  # noqa: ARG001  (the protocol's arguments)
) -> AwkwardLayout:
    """`JaggedArray.fromparents(parents, content, length)`; awkward0 does not look at the length."""
    inner = build.to_layout(content, "content")
    return build_lists(build, bounds_from_parents(build, parents, inner.length), inner)


def jagged_array_from_uniques(build: Builder, uniques: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromuniques(uniques, content)`."""
    inner = build.to_layout(content, "content")
    return build_lists(build, bounds_from_uniques(build, uniques, inner.length), inner)


def jagged_array_from_jagged(build: Builder, jagged: Any) -> AwkwardLayout:
    """`JaggedArray.fromjagged(jagged)`."""
    layout = build.to_layout(jagged, "jagged")
    if not layout.is_list:
        raise FormatError(f"jagged is {describe_value(jagged)}, not an array of lists")
    return layout


def jagged_array_from_folding(build: Builder, content: Any, size: Any) -> AwkwardLayout:
    """`JaggedArray.fromfolding(content, size)`: lists of one size, of which the last may be shorter."""
    inner = build.to_layout(content, "content")
    step = build.to_integer(size, "size")
    if step <= 0:
        raise FormatError(f"lists of the size {step}")
    build.budget.take(8 * (inner.length // step + 2), "offsets")
    offsets = np.minimum(np.arange(-(-inner.length // step) + 1, dtype=np.int64) * min(step, 2**62), inner.length)
    return build_lists(build, bounds_from_offsets(build, offsets, inner.length), inner)


def jagged_array_from_regular(build: Builder, regular: Any) -> AwkwardLayout:
    """`JaggedArray.fromregular(regular)`: the rows of an n-d array as lists."""
    array = build.to_array(regular, "regular")
    if array.ndim < 2:
        raise FormatError(f"regular has {array.ndim} dimensions, not two or more")
    layout = build.to_layout(array.reshape(-1), "regular")
    for axis in range(array.ndim - 1, 0, -1):
        count = math.prod(array.shape[:axis])
        build.budget.take(8 * count + 8, "offsets")
        offsets = np.arange(count + 1, dtype=np.int64) * array.shape[axis]
        layout = build_lists(build, bounds_from_offsets(build, offsets, layout.length), layout)
    return layout


# Bytes: ByteJaggedArray, of version 0.5, and what strings are made of ---------------------------------------------


def to_bytes_array(build: Builder, content: Any) -> Array:
    """Return the content of strings, or of a ByteJaggedArray: an array of one dimension, as bytes.

    Raises:
        FormatError: it is something else.
    """
    array = build.to_array(content, "content")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise FormatError(f"content of the dtype {array.dtype} and {array.ndim} dimensions; bytes are expected")
    array_bytes: Array = np.ascontiguousarray(array).view(np.uint8)
    return array_bytes


def gather_elements(build: Builder, bounds: Bounds, content: Array) -> tuple[Array, Array]:
    """Return the elements of lists side by side, and their offsets, which begin with 0."""
    if bounds.offsets is not None:
        first, last = int(bounds.offsets[0]), int(bounds.offsets[-1])
        return content[first:last], bounds.offsets - first if first else bounds.offsets
    counts = bounds.counts
    total = int(counts.sum(dtype=np.uint64)) if len(counts) else 0
    build.budget.take(8 * len(counts) + 8, "offsets")
    build.budget.take(total * (16 + content.itemsize), "elements of lists, put side by side")
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    places = np.repeat(bounds.starts - offsets[:-1], counts)
    places += np.arange(total)
    return content[places], offsets


def byte_jagged_array(build: Builder, starts: Any, stops: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray(starts, stops, content, subdtype)`, of version 0.5."""
    inner = to_bytes_array(build, content)
    return _build_byte_lists(build, bounds_from_starts(build, starts, stops, len(inner)), inner, subdtype)


def byte_jagged_array_from_counts(build: Builder, counts: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray.fromcounts(counts, content, subdtype)`, of version 0.5."""
    inner = to_bytes_array(build, content)
    return _build_byte_lists(build, bounds_from_counts(build, counts, len(inner)), inner, subdtype)


def _build_byte_lists(build: Builder, bounds: Bounds, content: Array, subdtype: Any) -> AwkwardLayout:
    if not isinstance(subdtype, np.dtype) or not subdtype.itemsize:
        raise FormatError(f"subdtype is {describe_value(subdtype)}, not a dtype of some bytes")
    side_by_side, offsets = gather_elements(build, bounds, content)
    if (offsets % subdtype.itemsize).any():
        raise FormatError(f"lists of bytes whose lengths are no multiples of the {subdtype.itemsize} of {subdtype}")
    blob = StoredBlob("content", np.ascontiguousarray(side_by_side))
    array = read_elements(blob, subdtype, len(side_by_side) // subdtype.itemsize, build.budget)
    build.budget.take(offsets.nbytes, "offsets")
    offsets = offsets // subdtype.itemsize
    inner = build.to_layout(array, "content")
    return build_lists(build, Bounds(offsets[:-1], offsets[1:], bounds.shape, offsets), inner)


# Strings --------------------------------------------------------------------------------------------------------------

UTF8 = "utf-8"
ENCODINGS = {
    "utf8": UTF8,
    "u8": UTF8,
    "utf": UTF8,
    "cp65001": UTF8,
    "ascii": "ascii",
    "usascii": "ascii",
    "646": "ascii",
    "latin1": "latin-1",
    "latin": "latin-1",
    "l1": "latin-1",
    "iso88591": "latin-1",
    "8859": "latin-1",
    "iso885915": "iso-8859-15",
    "latin9": "iso-8859-15",
    "cp1252": "cp1252",
    "windows1252": "cp1252",
    "utf16": "utf-16",
    "utf16le": "utf-16-le",
    "utf16be": "utf-16-be",
    "utf32": "utf-32",
    "utf32le": "utf-32-le",
    "utf32be": "utf-32-be",
}
_PARAMETERS = {"string": "char", "bytestring": "byte"}
_MOST_TIMES = 3  # UTF-8 takes so many times the bytes of any other encoding, or of what was replaced


def string_array(build: Builder, starts: Any, stops: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray(starts, stops, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_starts(build, starts, stops, len(inner)), inner, encoding)


def string_array_from_counts(build: Builder, counts: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromcounts(counts, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_counts(build, counts, len(inner)), inner, encoding)


def string_array_from_offsets(build: Builder, offsets: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromoffsets(offsets, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_offsets(build, offsets, len(inner)), inner, encoding)


def string_array_from_parents(build: Builder, parents: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromparents(parents, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_parents(build, parents, len(inner)), inner, encoding)


def string_array_from_uniques(build: Builder, uniques: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromuniques(uniques, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_uniques(build, uniques, len(inner)), inner, encoding)


def string_array_from_numpy(build: Builder, array: Any) -> AwkwardLayout:
    """`StringArray.fromnumpy(array)`: text, or bytes, without the NULs at their ends."""
    if isinstance(array, StoredBlob) and array.packed is None:
        array = array.content
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "SUT":
        raise FormatError(f"array is {describe_value(array)}, not an array of text of one dimension")
    build.budget.take(2 * array.nbytes + 16 * len(array), "strings")
    offsets, content = encode_utf8(array) if array.dtype.kind != "S" else bytes_in(array)
    bounds = Bounds(offsets[:-1], offsets[1:], array.shape, offsets)
    return _strings(build, bounds, content, UTF8 if array.dtype.kind != "S" else None)


def _strings(build: Builder, bounds: Bounds, content: Array, encoding: Any) -> AwkwardLayout:
    codec = _codec(encoding)
    characters, offsets = gather_elements(build, bounds, content)
    if codec == UTF8:
        try:
            check_utf8(offsets, characters)
        except DTypeError as error:
            if build.errors == "strict":
                raise FormatError(str(error), hint="errors='replace' reads them, with U+FFFD") from error
            characters, offsets = _transcode(build, characters, offsets, codec)
    elif codec is not None:
        characters, offsets = _transcode(build, characters, offsets, codec)
    kind = "bytestring" if codec is None else "string"
    inner = build.ak.contents.NumpyArray(np.ascontiguousarray(characters), parameters={"__array__": _PARAMETERS[kind]})
    return build_lists(build, Bounds(offsets[:-1], offsets[1:], bounds.shape, offsets), inner, {"__array__": kind})


def _codec(encoding: Any) -> str | None:
    if encoding is None:
        return None
    if isinstance(encoding, str):
        codec = ENCODINGS.get(encoding.lower().replace("-", "").replace("_", "").replace(" ", ""))
        if codec is not None:
            return codec
    raise FormatError(
        f"the encoding {describe_value(encoding)}, which is not read",
        hint=f"known: {', '.join(sorted(set(ENCODINGS.values())))}",
    )


def _transcode(build: Builder, characters: Array, offsets: Array, codec: str) -> tuple[Array, Array]:
    """Return the same strings in UTF-8."""
    build.budget.take(_MOST_TIMES * 2 * len(characters) + 100 * len(offsets), "strings")
    data = characters.tobytes()
    texts = []
    for index, (start, stop) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        try:
            texts.append(data[start:stop].decode(codec, build.errors).encode("utf-8"))
        except UnicodeError as error:
            raise FormatError(
                f"string {index} is no valid {codec} ({getattr(error, 'reason', error)})",
                hint="errors='replace' reads it, with U+FFFD",
            ) from error
    numbers = np.zeros(len(offsets), np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=numbers[1:])
    return np.frombuffer(b"".join(texts), np.uint8), numbers
