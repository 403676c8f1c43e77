"""Layouts of awkward arrays: made of values that can be written, measured, and their strings as arrays of text.

Lists may overlap, an index may name one element a million times, and one layout may stand in many places: a few bytes
can stand for any number of them. How many they become once they are packed is computed here, in time and memory linear
in what there is, before anything is copied.
"""

from __future__ import annotations

import codecs
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...dtypes import Array
from ...elements import is_mostly_padding
from ...errors import DTypeError, FormatError, LimitError
from ...linear.array import LinearArray
from .blobs import BYTES_ALWAYS, BYTES_TIMES, AwkwardLayout, awkward_module

# Strings in UTF-8 <-> arrays of text ----------------------------------------------------------------------------------

# The parameter `__array__` of lists that are texts: their encoding on the wire, and the parameter of what is in them.
TEXTS = {"string": "utf-8", "bytestring": None}
CHARACTERS = {"string": "char", "bytestring": "byte"}

WIDE = 4  # bytes of a character in `<U`
_BLOCK = 2**24  # bytes that are worked on at once
_TEXTS_AT_ONCE = 2**16
_FIRST_OF_PAIR = 0xF0  # bytes from here on begin a character that is two units of UTF-16


def offsets_of(counts: Array) -> Array:
    """Return where each of some lists begins in their content, and at last where the last one ends.

    Example:
        >>> offsets_of(np.array([2, 0, 1])).tolist()
        [0, 2, 2, 3]
    """
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def text_lengths(offsets: Array, content: Array) -> Array:
    """Return the number of characters in each string of a content in UTF-8."""
    lengths: Array = np.diff(offsets_of(content & 0xC0 != 0x80)[offsets])
    return lengths


def is_cell_text(offsets: Array, content: Array, longest: int) -> bool:
    """Return whether an array of text, and cells of so many units of UTF-16, hold these strings.

    NumPy drops NULs at the end of a text: strings that end in one have no such array.

    Example:
        >>> is_cell_text(np.array([0, 2]), np.array([97, 0], "u1"), 100)
        False
    """
    sizes = np.diff(offsets)
    if not content[offsets[1:][sizes > 0] - 1].all():
        return False
    if int(sizes.max(initial=0)) <= longest:  # bytes are no fewer than units
        return True
    pairs = np.diff(offsets_of(content >= _FIRST_OF_PAIR)[offsets])
    return bool((text_lengths(offsets, content) + pairs).max() <= longest)


def decode_utf8(offsets: Array, content: Array, *, padded: bool = True) -> Array:
    """Return strings as an array of text: of `<U` if `padded` and not out of proportion, else of `StringDType`.

    Example:
        >>> decode_utf8(np.array([0, 1, 1, 4]), np.frombuffer("a€".encode(), "u1")).tolist()
        ['a', '', '€']
    """
    lengths = text_lengths(offsets, content)
    width = max(int(lengths.max(initial=1)), 1)
    fixed = padded and not is_mostly_padding(len(lengths), width, int(offsets[-1] - offsets[0]))
    array: Array = np.zeros(len(lengths), f"U{width}" if fixed else np.dtypes.StringDType())
    step = max(min(_TEXTS_AT_ONCE, _BLOCK // width), 1)
    for first in range(0, len(lengths), step):
        here = lengths[first : first + step]
        text = content[offsets[first] : offsets[first + len(here)]].tobytes().decode("utf-8")
        if fixed:
            points = array[first : first + step].view(np.uint32).reshape(len(here), width)
            points[np.arange(width) < here[:, None]] = np.frombuffer(text.encode("utf-32-le"), "<u4")
        else:
            array[first : first + step] = [text[a:b] for a, b in itertools.pairwise(offsets_of(here).tolist())]
    return array


def encode_utf8(array: Array) -> tuple[Array, Array]:
    """Return the offsets and the content of the strings in an array of text; inverse of `decode_utf8`.

    Example:
        >>> offsets, content = encode_utf8(np.array(["a", "", "€"]))
        >>> offsets.tolist(), content.tobytes()
        ([0, 1, 1, 4], b'a\\xe2\\x82\\xac')
    """
    sizes = np.zeros(len(array), np.int64)
    pieces: list[bytes] = []
    for first in range(0, len(array), _TEXTS_AT_ONCE):
        texts = array[first : first + _TEXTS_AT_ONCE].tolist()
        if not all(isinstance(text, str) for text in texts):
            raise FormatError("the array of text has missing values")
        try:
            encoded = [text.encode("utf-8") for text in texts]
        except UnicodeEncodeError as error:
            raise FormatError("text that is not Unicode") from error
        sizes[first : first + len(encoded)] = list(map(len, encoded))
        pieces.append(b"".join(encoded))
    return offsets_of(sizes), np.frombuffer(b"".join(pieces), np.uint8)


def check_utf8(offsets: Array, content: Array) -> None:
    """Refuse strings that are not valid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _BLOCK):
            decoder.decode(content[start : start + _BLOCK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise DTypeError(f"strings that are not valid UTF-8 ({error.reason})") from error
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    if (content[starts] & 0xC0 == 0x80).any():
        raise DTypeError("strings that are not valid UTF-8 (one begins within a character)")


def text_layout(offsets: Array, content: Array, text: str) -> AwkwardLayout:
    """Return the layout of strings or bytestrings."""
    contents, index = awkward_module().contents, awkward_module().index
    inner = contents.NumpyArray(content, parameters={"__array__": CHARACTERS[text]})
    return contents.ListOffsetArray(index.Index64(offsets), inner, parameters={"__array__": text})


# The size of a layout once it is packed -------------------------------------------------------------------------------

ElementSizes = Any  # of the elements of a layout in bytes: an array of float64, or a number where all have the same

_INDEX = 8  # bytes of an offset or an index
_TAG = 1  # of a mask or a tag


def packed_size(layout: AwkwardLayout) -> int:
    """Return the bytes of an array's buffers once it is packed, about.

    Example:
        >>> import awkward as ak
        >>> ends = ak.index.Index64(np.full(1000, 500))
        >>> starts = ak.index.Index64(np.zeros(1000, dtype="i8"))
        >>> packed_size(ak.contents.ListArray(starts, ends, ak.contents.NumpyArray(np.arange(500))))
        4008000
    """
    sizes = _PackedSizes()
    return int(sizes.total(layout) + sizes.categories)


def check_packed(layout: AwkwardLayout) -> None:
    """Refuse an array that would become out of proportion if it were packed."""
    packed = packed_size(layout)
    if packed > BYTES_ALWAYS and packed > BYTES_TIMES * (own := _size_of_buffers(layout)):
        raise LimitError(
            f"lists that overlap, or an index that repeats: {own} bytes in memory would become {packed}; where the "
            f"format has the option pack=False they are written as they are, else apply ak.to_packed first"
        )


class _PackedSizes:
    """The sizes of the elements of layouts, each layout looked through once.

    Attributes:
        categories: bytes of contents that stay whole, however often their elements are named.
    """

    def __init__(self) -> None:
        self.categories = 0.0
        self._sizes: dict[int, ElementSizes] = {}

    def total(self, layout: AwkwardLayout) -> float:
        """Return the bytes of all elements."""
        if hasattr(layout, "offsets") and not isinstance(inner := self.of(layout.content), np.ndarray):
            reached = int(layout.offsets.data[-1]) - int(layout.offsets.data[0])  # no array of sizes is made
            return float(_INDEX * layout.length + reached * inner)
        sizes = self.of(layout)
        return float(sizes.sum()) if isinstance(sizes, np.ndarray) else float(layout.length) * sizes

    def of(self, layout: AwkwardLayout) -> ElementSizes:
        """Return the bytes of each element."""
        if id(layout) not in self._sizes:
            self._sizes[id(layout)] = self._of(layout)
        return self._sizes[id(layout)]

    def _of(self, layout: AwkwardLayout) -> ElementSizes:
        if layout.is_numpy:
            return float(layout.data.itemsize * np.prod(layout.data.shape[1:], dtype=np.float64))
        if layout.is_unknown:
            return 0.0
        if layout.is_record:
            return sum((_first(self.of(content), layout.length) for content in layout.contents), 0.0)
        if layout.is_union:
            return self._of_union(layout)
        if layout.parameter("__array__") == "categorical":
            self.categories += self.total(layout.content)
            return float(_INDEX)
        inner = self.of(layout.content)
        if layout.is_indexed:
            return _INDEX * layout.is_option + _select_sizes(inner, layout.index.data)
        if layout.is_option:
            return _TAG + _first(inner, layout.length)
        if layout.is_regular:
            if not isinstance(inner, np.ndarray) or not layout.size:
                return layout.size * (inner if layout.size else 0.0)
            return inner[: layout.length * layout.size].reshape(layout.length, layout.size).sum(axis=1)
        starts = layout.starts.data.astype(np.int64, copy=False)
        stops = layout.stops.data[: len(starts)].astype(np.int64, copy=False)
        if not isinstance(inner, np.ndarray):
            return _INDEX + (stops - starts) * inner
        before = np.zeros(len(inner) + 1)
        np.cumsum(inner, out=before[1:])
        filled = stops > starts
        return _INDEX + np.where(filled, before[np.where(filled, stops, 0)] - before[np.where(filled, starts, 0)], 0.0)

    def _of_union(self, layout: AwkwardLayout) -> ElementSizes:
        tags = layout.tags.data
        index = layout.index.data[: len(tags)]
        sizes = np.full(len(tags), float(_INDEX + _TAG))
        for tag, content in enumerate(layout.contents):
            here = tags == tag
            sizes[here] += _select_sizes(self.of(content), index[here])
        return sizes


def _first(sizes: ElementSizes, length: int) -> ElementSizes:
    return sizes[:length] if isinstance(sizes, np.ndarray) else sizes


def _select_sizes(sizes: ElementSizes, index: np.ndarray[Any, Any]) -> ElementSizes:
    """Return the sizes that an index names; what it names below 0 is missing."""
    if not isinstance(sizes, np.ndarray):
        return sizes if not (index < 0).any() else np.where(index < 0, 0.0, sizes)
    return np.append(sizes, 0.0)[np.maximum(index, -1).astype(np.int64, copy=False)]


def contents_of(layout: AwkwardLayout) -> list[AwkwardLayout]:
    """Return the layouts that stand directly within a layout."""
    if hasattr(layout, "contents"):
        return list(layout.contents)
    return [layout.content] if hasattr(layout, "content") else []


def _size_of_buffers(layout: AwkwardLayout) -> int:
    """Return the bytes of the buffers that a layout is made of, each counted once."""
    buffers = map(np.asarray, awkward_module().to_buffers(layout)[2].values())
    return sum({(buffer.__array_interface__["data"][0], buffer.nbytes): buffer.nbytes for buffer in buffers}.values())


# Values that can be written -> layouts --------------------------------------------------------------------------------


def to_layout(value: Any, *, pack: bool) -> AwkwardLayout:
    """Return the layout of an array.

    Example:
        >>> to_layout([[1, 2], [3, 4]], pack=False).shape
        (2, 2)
    """
    ak = awkward_module()
    if isinstance(value, ak.ArrayBuilder):
        value = value.snapshot()
    if isinstance(value, (ak.Record, ak.record.Record)):
        raise DTypeError("a single record: write an array of one, for example array[i:i + 1]")
    if not isinstance(value, (ak.Array, ak.contents.Content)):
        try:
            value = layout_of_array(_array_of(value), _take_freely, "the array")
        except FormatError as error:
            raise DTypeError(f"{error.reason}: fill it first" if "missing" in error.reason else error.reason) from error
    layout = ak.to_layout(value)
    if layout.backend.name == "typetracer":
        raise DTypeError("an array without elements in memory (a typetracer): compute it first")
    layout = ak.to_backend(layout, "cpu", highlevel=False)
    if hasattr(ak, "materialize"):  # since 2.8
        layout = ak.materialize(layout, highlevel=False)
    if find_layout_problem(layout):  # as where the numbers are a field of a packed NumPy structure
        layout = ak.transform(_to_contiguous, layout, highlevel=False)
    if problem := find_layout_problem(layout):
        raise DTypeError(f"the array is not valid: {problem}")
    if not pack:
        return layout
    check_packed(layout)
    return ak.to_packed(layout, highlevel=False)


def find_layout_problem(layout: AwkwardLayout) -> str:
    """Return a sentence that says what is wrong with a layout; empty if nothing is."""
    try:
        return str(awkward_module().validity_error(layout))
    except Exception as error:  # it cannot tell, as of categories that are a union
        return str(error).partition("\n")[0] or type(error).__name__


def _to_contiguous(layout: AwkwardLayout, **_: Any) -> AwkwardLayout | None:
    if not layout.is_numpy:
        return None
    return type(layout)(np.ascontiguousarray(layout.data), parameters=layout.parameters)


def _array_of(value: Any) -> Array:
    """Return a value that is not an awkward array as an array of NumPy that the protocol holds."""
    try:
        array = value.to_numpy() if isinstance(value, LinearArray) else np.asanyarray(value)
    except ValueError as error:
        raise DTypeError(f"no array: {error} (ak.Array makes one of lists of different lengths)") from error
    if not array.ndim:
        raise DTypeError("a 0-d array: give it a dimension, for example array.reshape(1)")
    if isinstance(array, np.ma.MaskedArray) and array.dtype.names is not None:
        raise DTypeError("a masked array of records: write one array per field")
    check_dtype(array.dtype)
    return array


def layout_of_array(array: Array, take: Callable[[int, str], None], what: str) -> AwkwardLayout:
    """Return the layout of an array, in the machine's byte order; a structure as records, text as strings.

    `take` is told how many bytes of memory are needed before they are taken, and what for.
    """
    ak = awkward_module()
    if array.dtype.names is not None:
        flat, fields = array.reshape(-1) if array.size else np.empty(0, array.dtype), []
        for name in map(field_name, array.dtype.names):
            take(flat[name].nbytes, f"the field {name!r:.40}")
            fields.append(layout_of_array(flat[name].copy(), take, f"the field {name!r:.40}"))
        return regular(ak.contents.RecordArray(fields, list(array.dtype.names), length=len(flat)), array.shape, take)
    if array.dtype.kind in "UT" and not isinstance(array, np.ma.MaskedArray):
        take(2 * array.nbytes + 16 * array.size, what)
        return regular(text_layout(*encode_utf8(array.reshape(-1)), "string"), array.shape, take)
    if array.dtype.kind == "S":
        take(2 * array.nbytes, what)
        array = array if array.itemsize else array.astype("S1")
    elif not array.flags.c_contiguous:
        take(array.nbytes, what)
    native = array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
    layout: AwkwardLayout = ak.from_numpy(native, highlevel=False)
    return layout


def _take_freely(_size: int, _what: str) -> None:
    """What is written is the caller's own: no budget of memory is kept for it."""


def field_name(name: object) -> str:
    """Return the name of a field or a record, where it is one."""
    if not isinstance(name, str):
        raise FormatError(f"the name of a field is not text: {name!r:.60}")
    if not name.isascii() and any(0xD800 <= ord(character) < 0xE000 for character in name):
        raise FormatError(f"a field has the name {name!r:.80}, which is not valid Unicode")
    return name


def regular(layout: AwkwardLayout, shape: tuple[int, ...], take: Callable[[int, str], None]) -> AwkwardLayout:
    """Give the elements of a layout, side by side, the shape of an array."""
    for axis in range(len(shape) - 1, 0, -1):
        length = math.prod(shape[:axis])
        take(8 * length if not shape[axis] else 0, "lists of no elements")
        layout = awkward_module().contents.RegularArray(layout, shape[axis], zeros_length=length)
    return layout


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse what no blob holds, or only a pickle would."""
    if dtype.subdtype is not None:
        check_dtype(dtype.subdtype[0])
    elif dtype.names is not None:
        for name in dtype.names:
            check_dtype(dtype[name])
    elif dtype.kind == "O":
        raise DTypeError("Python objects, which only a pickle could hold")
    elif dtype.kind != "S":
        dtypes.from_numpy(dtype)


def to_block(layout: AwkwardLayout) -> Array | None:
    """Return fixed-size lists of numbers as an n-d array; None where they hold something else, or nothing."""
    if type(layout).__name__ == "NumpyArray":
        plain = layout.parameter("__array__") not in CHARACTERS.values() and 0 not in layout.data.shape[1:]
        return layout.data if plain else None
    if type(layout).__name__ != "RegularArray" or layout.parameter("__array__") in TEXTS or not layout.size:
        return None
    inner = to_block(layout.content)
    if inner is None:
        return None
    shape = (len(layout), layout.size, *inner.shape[1:])
    return inner[: shape[0] * shape[1]].reshape(shape)
