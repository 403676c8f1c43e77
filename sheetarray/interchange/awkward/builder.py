"""`Builder`, which every constructor gets: it checks values, makes layouts of them, and limits their size and memory.

The layouts are those of awkward 2 (https://awkward-array.org/doc/main/reference/ak.contents.html). Offsets, starts,
stops, indices and tags are looked through once, here or in the constructor, and lead nowhere else afterwards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError
from .blobs import (
    DEEPEST_ARRAY,
    MOST_ARRAYS,
    AwkwardLayout,
    Budget,
    StoredBlob,
    awkward_module,
    read_blob_elements,
    to_native_array,
)
from .layouts import (
    check_dtype,
    check_utf8,
    contents_of,
    encode_utf8,
    find_layout_problem,
    layout_of_array,
    offsets_of,
    packed_size,
    regular,
    text_layout,
)

Errors = Literal["strict", "replace"]


class Builder:
    """Makes layouts of the values of expressions: with `ak`, the package awkward, within a budget of memory.

    `errors` says what becomes of text that its encoding does not have: "strict" refuses, "replace" puts U+FFFD. The
    cache is the caller's, for virtual arrays that have a key.
    """

    def __init__(self, budget: Budget, errors: Errors, cache: MutableMapping[str, Any] | None) -> None:
        if errors not in get_args(Errors):
            raise ValueError(f"errors is one of {get_args(Errors)}, not {errors!r}")
        self.ak = awkward_module()
        self.budget = budget
        self.errors = errors
        self.cache = cache
        self._layouts: dict[int, tuple[Array, AwkwardLayout]] = {}
        self._measures: dict[int, tuple[AwkwardLayout, int, int]] = {}  # of layouts that are kept, as are their ids

    # Values ------------------------------------------------------------------------------------------------------

    def to_array(self, value: Any, what: str) -> Array:
        """Return an ndarray of one dimension or more, in this machine's byte order."""
        if isinstance(value, StoredBlob) and isinstance(value.content, np.ndarray) and value.packed is None:
            value = value.content
        if not isinstance(value, np.ndarray):
            raise FormatError(f"{what} is {describe_plain_value(value)}, not an array of NumPy")
        if not value.ndim:
            raise FormatError(f"{what} is an array without dimensions")
        if value.dtype.hasobject:
            raise FormatError(f"{what} is an array of Python objects")
        return to_native_array(value, self.budget)

    def to_integers(self, value: Any, what: str, below: int | None = None, dimensions: int | None = None) -> Array:
        """Return an array of integers from 0 on, as int64."""
        array = self.to_array(value, what)
        if array.dtype.kind not in "iu":
            raise FormatError(f"{what} has the dtype {array.dtype}; integers are expected")
        if dimensions is not None and array.ndim != dimensions:
            raise FormatError(f"{what} has {array.ndim} dimensions, not {dimensions}")
        if array.size:
            least, most = int(array.min()), int(array.max())
            if least < 0:
                raise FormatError(f"{what} has the value {_locate_value(array, least)}; it must not be below 0")
            if below is not None and most >= below:
                reason = f"where {below - 1} is the largest possible" if below else "but the content is empty"
                raise FormatError(f"{what} has the value {_locate_value(array, most)}, {reason}")
            if most >= 2**63:
                raise FormatError(f"{what} has the value {_locate_value(array, most)}, more than 63 bits")
        self.budget.take(array.size * 8, what)
        return np.ascontiguousarray(array, dtype=np.int64)

    def to_flag(self, value: Any, what: str) -> bool:
        """Return an argument that must be true or false; `what` names it in messages."""
        if not isinstance(value, bool):
            raise FormatError(f"{what} is {describe_plain_value(value)}, neither true nor false")
        return value

    def to_integer(self, value: Any, what: str) -> int:
        """Return a whole number."""
        if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**64:
            raise FormatError(f"{what} is {describe_plain_value(value)}, not an integer of 64 bits")
        return value

    def to_sequence(self, value: Any, what: str) -> Sequence[Any]:
        """Return a list or a tuple."""
        if not isinstance(value, (list, tuple)):
            raise FormatError(f"{what} is {describe_plain_value(value)}, not a list")
        return value

    # Layouts -----------------------------------------------------------------------------------------------------

    def to_layout(self, value: Any, what: str) -> AwkwardLayout:
        """Return the layout of what an expression gave: an array of NumPy or of awkward."""
        if isinstance(value, self.ak.Array):
            value = value.layout
        if isinstance(value, self.ak.contents.Content):
            return self.check_measured(value)
        array = self.to_array(value, what)
        if id(array) not in self._layouts:
            self._layouts[id(array)] = (array, self.check_measured(self._from_numpy(array, what)))
        return self._layouts[id(array)][1]

    def whole(self, value: Any, *, check: bool) -> AwkwardLayout:
        """Return the layout of a whole array, where what it reaches is in proportion to what it is made of."""
        layout = self.to_layout(value, "the whole")
        if (packed := packed_size(layout)) > self.budget.limit:
            raise FormatError(
                f"lists that overlap, an index that repeats, or one array in many places: packed they would take "
                f"{packed} bytes, more than the {self.budget.limit} bytes that the arrays of this file may take",
                hint="max_bytes= allows more",
            )
        if check and (size := layout.nbytes) > self.budget.limit:
            raise FormatError(f"one array in many places: {size} bytes to look through", hint="max_bytes= allows more")
        if check and (problem := find_layout_problem(layout)):
            raise FormatError(f"the array is not valid: {problem}")
        return layout

    def _from_numpy(self, array: Array, what: str) -> AwkwardLayout:
        try:
            check_dtype(array.dtype)
        except DTypeError as error:
            raise FormatError(f"{what} has the dtype {array.dtype}, which cannot be read: {error}") from error
        if not array.size:
            self.budget.take(8 * math.prod(max(extent, 1) for extent in array.shape), what)
        return layout_of_array(array, self.budget.take, what)

    def to_regular(self, layout: AwkwardLayout, shape: tuple[int, ...]) -> AwkwardLayout:
        """Give the elements of a layout, side by side, the shape of an array."""
        return regular(layout, shape, self.budget.take)

    def to_index(self, values: Array) -> Any:
        """Return numbers as an index that awkward takes."""
        return self.ak.index.Index64(values)

    def simplifying_class(self, kind: str, *parts: Any) -> AwkwardLayout:
        """Return a layout of a class that wants to be merged with the option, index or union within it."""
        inner = next(part for part in parts if isinstance(part, self.ak.contents.Content))
        if inner.is_option or inner.is_indexed or inner.is_union:
            variants = len(inner.contents) if inner.is_union else 1
            self.budget.take(16 * variants * (inner.length + parts[0].length), f"one index out of {kind}")
        simplify: Callable[..., AwkwardLayout] = getattr(self.ak.contents, kind).simplified
        return simplify(*parts)

    # Sizes -------------------------------------------------------------------------------------------------------

    def check_measured(self, layout: AwkwardLayout) -> AwkwardLayout:
        """Return the same layout, where it is neither too deep nor made of too many."""
        self._measure(layout)
        return layout

    def _measure(self, layout: AwkwardLayout) -> tuple[int, int]:
        """Return how many layouts stand within each other, and how many there are; one in two places counts twice."""
        if id(layout) not in self._measures:
            inner = [self._measure(content) for content in contents_of(layout)]
            depth = 1 + max((depth for depth, _ in inner), default=0)
            count = 1 + sum(count for _, count in inner)
            if depth > DEEPEST_ARRAY:
                raise FormatError(f"arrays are nested more than {DEEPEST_ARRAY} deep")
            if count > MOST_ARRAYS:
                raise FormatError(f"an array made of {count} arrays, where at most {MOST_ARRAYS} are read")
            self._measures[id(layout)] = layout, depth, count
        return self._measures[id(layout)][1:]


def describe_plain_value(value: Any) -> str:
    """Return a value, for a message: what it is, in a few words."""
    if isinstance(value, StoredBlob):
        return f"the blob {value.name!r:.80}, without count and dtype"
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"


def _locate_value(array: Array, value: int) -> str:
    """Return a value of an array, and the index where it first stands."""
    return f"{value} at [{', '.join(map(str, np.argwhere(array == value)[0]))}]"


# JaggedArray, ByteJaggedArray and StringArray -> lists of any length, strings in UTF-8, and bytes.
#
# Sources: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/jagged.py and objects.py. Starts and
# stops may have more than one dimension; lists of one size are then put around. Counts, and starts that are the
# stops before, become offsets. Text in another encoding than UTF-8 is transcoded; an encoding of null makes bytes.
# Encodings come from a list: a file cannot choose any codec of Python.

# Lists ----------------------------------------------------------------------------------------------------------------


Shape = tuple[int, ...]  # of the array whose elements are lists: starts, stops and counts may have several dimensions


def _lists_by_counts(build: Builder, counts: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists side by side, by the number of elements of each."""
    numbers = build.to_integers(counts, "counts", content.length + 1)
    build.budget.take(8 * numbers.size + 8, "offsets")
    offsets = offsets_of(numbers.reshape(-1))
    if int(offsets[-1]) > content.length:
        raise FormatError(f"counts add up to {offsets[-1]}, but the content has {content.length} elements")
    return build.ak.contents.ListOffsetArray(build.to_index(offsets), content), numbers.shape


def _lists_by_offsets(build: Builder, offsets: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists, each of which begins where the one before ends."""
    numbers = build.to_integers(offsets, "offsets", content.length + 1, dimensions=1)
    if not len(numbers):
        raise FormatError("offsets are empty; there must be one offset more than lists")
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("offsets must not decrease")
    return build.ak.contents.ListOffsetArray(build.to_index(numbers), content), (len(numbers) - 1,)


def _lists_by_starts(build: Builder, starts: Any, stops: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists that may lie anywhere in the content, in any order."""
    first = build.to_integers(starts, "starts")
    last = build.to_integers(stops, "stops")
    if len(last) < len(first) or last.shape[1:] != first.shape[1:]:
        raise FormatError(f"the starts have the shape {first.shape}, but the stops have {last.shape}")
    shape, first, last = first.shape, first.reshape(-1), last[: len(first)].reshape(-1)
    if (last < first).any():
        raise FormatError("lists stop before they start")
    empty = first == last
    if empty.any():  # wherever they are: nothing is there
        build.budget.take(first.nbytes + last.nbytes, "starts and stops")
        first, last = np.where(empty, 0, first), np.where(empty, 0, last)
    if len(last) and int(last.max()) > content.length:
        raise FormatError(f"a stop at {last.max()}, but the content has {content.length} elements")
    if len(first) and not empty.any() and np.array_equal(first[1:], last[:-1]):
        build.budget.take(first.nbytes + 8, "offsets")
        offsets = build.to_index(np.append(first, last[-1]))
        return build.ak.contents.ListOffsetArray(offsets, content), shape
    return build.ak.contents.ListArray(build.to_index(first), build.to_index(last), content), shape


def _in_shape(build: Builder, lists: AwkwardLayout, shape: Shape) -> AwkwardLayout:
    return build.check_measured(build.to_regular(lists, shape))


def jagged_array(build: Builder, starts: Any, stops: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray(starts, stops, content)`."""
    return _in_shape(build, *_lists_by_starts(build, starts, stops, build.to_layout(content, "content")))


def jagged_array_from_counts(build: Builder, counts: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromcounts(counts, content)`."""
    return _in_shape(build, *_lists_by_counts(build, counts, build.to_layout(content, "content")))


def jagged_array_from_offsets(build: Builder, offsets: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromoffsets(offsets, content)`."""
    return _in_shape(build, *_lists_by_offsets(build, offsets, build.to_layout(content, "content")))


# Lists by what stands beside each element: its parent, a value that its list shares, or its place in the list.


def _integers_beside(build: Builder, value: Any, what: str, length: int) -> Array:
    """Return one integer for each element of a content; it may be below 0."""
    array = build.to_array(value, what)
    if array.dtype.kind not in "iu" or array.shape != (length,):
        raise FormatError(f"{what} has the dtype {array.dtype} and the shape {array.shape}, not {length} integers")
    if array.size and int(array.max()) >= 2**63:
        raise FormatError(f"{what} has a value of more than 63 bits")
    build.budget.take(16 * array.size + 16, what)
    return np.ascontiguousarray(array, dtype=np.int64)


def _begin_runs(array: Array) -> Array:
    """Return where each run of equal values begins, and the length of the array."""
    return np.concatenate([[0], np.flatnonzero(array[1:] != array[:-1]) + 1, [len(array)]])


def _starts_by_parents(build: Builder, parents: Any, length: int) -> tuple[Array, Array]:
    """Return starts and stops of lists; the last run of a parent counts, and one below 0 is no parent."""
    numbers = _integers_beside(build, parents, "parents", length)
    count = int(numbers.max(initial=-1)) + 1
    build.budget.take(24 * count, "as many lists as parents name")
    starts, stops = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if length:
        runs = _begin_runs(numbers)
        owners = numbers[runs[:-1]]
        real = owners >= 0
        starts[owners[real]], stops[owners[real]] = runs[:-1][real], runs[1:][real]
    return starts, stops


def jagged_array_from_parents(build: Builder, parents: Any, content: Any, length: Any = None) -> AwkwardLayout:  # noqa: ARG001  (awkward0 ignores it, too)
    """`JaggedArray.fromparents(parents, content)`: for each element the number of its list."""
    inner = build.to_layout(content, "content")
    return jagged_array(build, *_starts_by_parents(build, parents, inner.length), inner)


def jagged_array_from_uniques(build: Builder, uniques: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromuniques(uniques, content)`: a list for each run of equal values."""
    inner = build.to_layout(content, "content")
    return jagged_array_from_offsets(
        build, _begin_runs(_integers_beside(build, uniques, "uniques", inner.length)), inner
    )


def jagged_array_from_local_index(build: Builder, index: Any, content: Any, validate: Any = True) -> AwkwardLayout:
    """`JaggedArray.fromlocalindex(index, content, validate)`: for each element its place in its list."""
    inner = build.to_layout(content, "content")
    counts = None
    if isinstance(index, build.ak.contents.Content):
        lists = _lists_alone(build, index, "index")
        counts = np.asarray(lists.stops.data) - np.asarray(lists.starts.data)
        build.budget.take(packed_size(lists), "an index, side by side")
        index = build.ak.flatten(lists, axis=1, highlevel=False).to_backend_array()
    places = _integers_beside(build, index, "index", inner.length)
    begin = np.flatnonzero(places == 0)
    offsets = np.append(begin, len(places))
    if build.to_flag(validate, "validate"):
        if (np.diff(places)[places[1:] != 0] != 1).any():
            raise FormatError("a local index that is not 0 must be one more than the one before")
        if counts is not None and not np.array_equal(np.diff(offsets), counts):
            raise FormatError("the lists of the local index are not those that it describes")
    return jagged_array_from_offsets(build, offsets, inner)


def jagged_array_from_jagged(build: Builder, jagged: Any) -> AwkwardLayout:
    """`JaggedArray.fromjagged(jagged)`: the same lists."""
    layout = build.to_layout(jagged, "jagged")
    if not layout.is_list:
        raise FormatError(f"jagged is {describe_plain_value(jagged)}, not lists")
    return layout


def jagged_array_from_folding(build: Builder, content: Any, size: Any) -> AwkwardLayout:
    """`JaggedArray.fromfolding(content, size)`: lists of one size; the last may be shorter."""
    inner = build.to_layout(content, "content")
    number = build.to_integer(size, "size")
    if number < 1:
        raise FormatError(f"the size is {number}, below 1")
    build.budget.take(16 * (inner.length // number) + 16, "offsets")
    offsets = np.append(np.arange(0, inner.length, min(number, 2**62)), inner.length)
    return jagged_array_from_offsets(build, offsets, inner)


def jagged_array_from_regular(build: Builder, regular: Any) -> AwkwardLayout:
    """`JaggedArray.fromregular(regular)`: lists within each other of an array of several dimensions."""
    array = build.to_array(regular, "regular")
    if array.ndim < 2 or not array.size:
        raise FormatError(f"regular has the shape {array.shape}, not elements in two dimensions or more")
    folded: Any = array.reshape(-1)
    for size in array.shape[:0:-1]:
        folded = jagged_array_from_folding(build, folded, size)
    return build.to_layout(folded, "regular")


def jagged_array_from_iter(build: Builder, iterable: Any) -> AwkwardLayout:
    """`JaggedArray.fromiter(iterable)`: lists, records, text and numbers of JSON."""
    values = build.to_sequence(iterable, "iterable")
    try:
        text = json.dumps(values, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError("iterable has values that JSON does not have") from error
    build.budget.take(32 * len(text), "values, as arrays")
    try:
        return build.check_measured(build.ak.from_json(text, highlevel=False))
    except ValueError as error:  # deeper than awkward reads
        raise FormatError(f"iterable is no array: {error!s:.200}") from error


def _lists_alone(build: Builder, value: Any, what: str) -> AwkwardLayout:
    """Return lists of elements of one dimension, with starts and stops."""
    contents = build.ak.contents
    is_lists = isinstance(value, (contents.ListOffsetArray, contents.ListArray))
    if not is_lists or value.parameter("__array__") or not isinstance(value.content, contents.NumpyArray):
        raise FormatError(f"{what} is {describe_plain_value(value)}, not lists of numbers")
    return value


# Bytes: ByteJaggedArray, of version 0.5, and what strings are made of -------------------------------------------------


def to_bytes_array(build: Builder, content: Any) -> Array:
    """Return the content of strings, or of a ByteJaggedArray: an array of one dimension, as bytes."""
    array = build.to_array(content, "content")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise FormatError(f"content of the dtype {array.dtype} and {array.ndim} dimensions; bytes are expected")
    array_bytes: Array = np.ascontiguousarray(array).view(np.uint8)
    return array_bytes


def _bytes_layout(build: Builder, content: Any) -> AwkwardLayout:
    return build.ak.contents.NumpyArray(to_bytes_array(build, content))


def _gather_bytes(build: Builder, lists: AwkwardLayout) -> tuple[Array, Array]:
    """Return the bytes of lists side by side, and their offsets, which begin with 0."""
    if hasattr(lists, "offsets"):
        offsets = lists.offsets.data
        first, last = int(offsets[0]), int(offsets[-1])
        return lists.content.data[first:last], offsets - first if first else offsets
    counts = lists.stops.data - lists.starts.data
    total = int(counts.sum(dtype=np.uint64)) if len(counts) else 0
    build.budget.take(8 * len(counts) + 8, "offsets")
    build.budget.take(17 * total, "elements of lists, put side by side")
    packed = lists.to_ListOffsetArray64(True)
    return packed.content.data[:total], packed.offsets.data


def byte_jagged_array(build: Builder, starts: Any, stops: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray(starts, stops, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *_lists_by_starts(build, starts, stops, _bytes_layout(build, content)), subdtype)


def byte_jagged_array_from_counts(build: Builder, counts: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray.fromcounts(counts, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *_lists_by_counts(build, counts, _bytes_layout(build, content)), subdtype)


def byte_jagged_array_from_offsets(build: Builder, offsets: Any, content: Any, subdtype: Any) -> AwkwardLayout:
    """`ByteJaggedArray.fromoffsets(offsets, content, subdtype)`, of version 0.5."""
    return _typed_lists(build, *_lists_by_offsets(build, offsets, _bytes_layout(build, content)), subdtype)


def _typed_lists(build: Builder, lists: AwkwardLayout, shape: Shape, subdtype: Any) -> AwkwardLayout:
    if not isinstance(subdtype, np.dtype) or not subdtype.itemsize:
        raise FormatError(f"subdtype is {describe_plain_value(subdtype)}, not a dtype of some bytes")
    gathered, offsets = _gather_bytes(build, lists)
    if (offsets % subdtype.itemsize).any():
        raise FormatError(f"lists of bytes whose lengths are not multiples of the {subdtype.itemsize} of {subdtype}")
    blob = StoredBlob("content", np.ascontiguousarray(gathered))
    array = read_blob_elements(blob, subdtype, len(gathered) // subdtype.itemsize, build.budget)
    build.budget.take(offsets.nbytes, "offsets")
    index = build.to_index(offsets // subdtype.itemsize)
    return _in_shape(build, build.ak.contents.ListOffsetArray(index, build.to_layout(array, "content")), shape)


# Strings --------------------------------------------------------------------------------------------------------------

UTF8 = "utf-8"
_ENCODINGS = {
    UTF8: "utf8 u8 utf cp65001",
    "ascii": "ascii usascii 646",
    "latin-1": "latin1 latin l1 iso88591 8859",
    "iso-8859-15": "iso885915 latin9",
    "cp1252": "cp1252 windows1252",
    "utf-16": "utf16",
    "utf-16-le": "utf16le",
    "utf-16-be": "utf16be",
    "utf-32": "utf32",
    "utf-32-le": "utf32le",
    "utf-32-be": "utf32be",
}
_CODECS = {alias: codec for codec, aliases in _ENCODINGS.items() for alias in aliases.split()}
_MOST_TIMES = 3  # UTF-8 takes so many times the bytes of any other encoding, or of what was replaced


def string_array(build: Builder, starts: Any, stops: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray(starts, stops, content, encoding)`."""
    return _strings(build, *_lists_by_starts(build, starts, stops, _bytes_layout(build, content)), encoding)


def string_array_from_counts(build: Builder, counts: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromcounts(counts, content, encoding)`."""
    return _strings(build, *_lists_by_counts(build, counts, _bytes_layout(build, content)), encoding)


def string_array_from_offsets(build: Builder, offsets: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromoffsets(offsets, content, encoding)`."""
    return _strings(build, *_lists_by_offsets(build, offsets, _bytes_layout(build, content)), encoding)


def string_array_from_parents(build: Builder, parents: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromparents(parents, content, encoding)`: for each byte the number of its string."""
    inner = _bytes_layout(build, content)
    starts, stops = _starts_by_parents(build, parents, inner.length)
    return _strings(build, *_lists_by_starts(build, starts, stops, inner), encoding)


def string_array_from_uniques(build: Builder, uniques: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromuniques(uniques, content, encoding)`: a string for each run of equal values."""
    inner = _bytes_layout(build, content)
    runs = _begin_runs(_integers_beside(build, uniques, "uniques", inner.length))
    return _strings(build, *_lists_by_offsets(build, runs, inner), encoding)


def string_array_from_jagged(build: Builder, jagged: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromjagged(jagged, encoding)`: strings of lists of bytes."""
    lists = _lists_alone(build, jagged, "jagged")
    content = _bytes_layout(build, np.asarray(lists.content.data))
    if lists.content.data.dtype.itemsize != 1:
        raise FormatError(f"jagged has elements of {lists.content.data.dtype}, not bytes")
    return _strings(build, *_lists_by_starts(build, lists.starts.data, lists.stops.data, content), encoding)


def string_array_from_iter(build: Builder, iterable: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromiter(iterable, encoding)`: text of JSON."""
    words = build.to_sequence(iterable, "iterable")
    if not all(isinstance(word, str) for word in words) or _find_codec(encoding) is None:
        raise FormatError("iterable has something else than text")
    build.budget.take(32 * len(words) + 8 * sum(map(len, words)), "strings")
    try:
        encoded = [word.encode("utf-8") for word in words]
    except UnicodeEncodeError as error:
        raise FormatError("iterable has a text that UTF-8 does not have: half of a surrogate pair") from error
    offsets = offsets_of(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return build.check_measured(text_layout(offsets, np.frombuffer(b"".join(encoded), np.uint8), "string"))


def string_array_from_numpy(build: Builder, array: Any) -> AwkwardLayout:
    """`StringArray.fromnumpy(array)`: text, or bytes, without the NULs at their ends."""
    if isinstance(array, StoredBlob) and array.packed is None:
        array = array.content
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "SUT":
        raise FormatError(f"array is {describe_plain_value(array)}, not an array of text of one dimension")
    if array.dtype.kind == "S":
        return build.to_layout(array, "array")
    build.budget.take(2 * array.nbytes + 16 * len(array), "strings")
    offsets, content = encode_utf8(array)
    return build.check_measured(text_layout(offsets, content, "string"))


def _strings(build: Builder, lists: AwkwardLayout, shape: Shape, encoding: Any) -> AwkwardLayout:
    codec = _find_codec(encoding)
    characters, offsets = _gather_bytes(build, lists)
    if codec == UTF8:
        try:
            check_utf8(offsets, characters)
        except DTypeError as error:
            if build.errors == "strict":
                raise FormatError(str(error), hint="errors='replace' reads them, with U+FFFD") from error
            characters, offsets = _transcode(build, characters, offsets, codec)
    elif codec is not None:
        characters, offsets = _transcode(build, characters, offsets, codec)
    text = "bytestring" if codec is None else "string"
    return _in_shape(build, text_layout(offsets, np.ascontiguousarray(characters), text), shape)


def _find_codec(encoding: Any) -> str | None:
    if encoding is None:
        return None
    if isinstance(encoding, str):
        codec = _CODECS.get(encoding.lower().replace("-", "").replace("_", "").replace(" ", ""))
        if codec is not None:
            return codec
    raise FormatError(
        f"the encoding {describe_plain_value(encoding)}, which is not read",
        hint=f"known: {', '.join(sorted(_ENCODINGS))}",
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
                f"string {index} is not valid {codec} ({getattr(error, 'reason', error)})",
                hint="errors='replace' reads it, with U+FFFD",
            ) from error
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return np.frombuffer(b"".join(texts), np.uint8), offsets_of(lengths)
