"""Values that can be written -> the layout of an awkward array, which is checked: in memory, valid, without objects."""

from __future__ import annotations

import codecs
import math
from typing import Any

import numpy as np

from ... import dtypes
from ...errors import DTypeError, FormatError
from ...linear import LinearArray
from .packages import AwkwardLayout, awkward_module
from .sizes import check_packed
from .texts import encode_utf8

# The parameter `__array__` of lists that are texts, with their encoding on the wire, and of what is in those lists.
TEXTS = {"string": "utf-8", "bytestring": None}
CHARACTERS = ("char", "byte")

_BLOCK = 2**24  # bytes


def to_layout(value: Any, *, pack: bool) -> AwkwardLayout:
    """Return the layout of an array.

    Args:
        value: an `ak.Array`, a layout, a NumPy array (structured, masked and of text too) or a `LinearArray`.
        pack: keep only what can be reached: lists, records and options that the array was selected from are left out.

    Raises:
        DTypeError: no array, one of objects, or one whose offsets or indices lead nowhere.
        LimitError: it would become out of proportion if it were packed.
        MissingDependencyError: awkward is not installed.

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
        value = _from_numpy(value)
    layout = ak.to_layout(value)
    if layout.backend.name == "typetracer":
        raise DTypeError("an array without elements in memory (a typetracer)")
    layout = ak.to_backend(layout, "cpu", highlevel=False)
    if hasattr(ak, "materialize"):  # since 2.8
        layout = ak.materialize(layout, highlevel=False)
    if find_layout_problem(layout):  # as where the numbers are a field of a packed NumPy structure
        layout = ak.transform(_to_contiguous, layout, highlevel=False)
    if problem := find_layout_problem(layout):
        raise DTypeError(f"no valid array: {problem}")
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


def _from_numpy(value: Any) -> AwkwardLayout:
    try:
        array = value.to_numpy() if isinstance(value, LinearArray) else np.asanyarray(value)
    except ValueError as error:
        raise DTypeError(f"no array: {error} (ak.Array makes one of lists of different lengths)") from error
    if not array.ndim:
        raise DTypeError("a 0-d array: give it a dimension, for example array.reshape(1)")
    if isinstance(array, np.ma.MaskedArray) and array.dtype.names is not None:
        raise DTypeError("a masked array of records: write one array per field")
    check_dtype(array.dtype)
    return _native(array)


def _native(array: np.ndarray[Any, Any]) -> AwkwardLayout:
    """Return the layout of an array, its elements side by side in the machine's byte order; a structure as records."""
    ak = awkward_module()
    if array.dtype.kind in "UT" and not isinstance(array, np.ma.MaskedArray):
        return _strings(array)
    if array.dtype.names is None:
        return ak.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C", copy=False), highlevel=False)
    flat = array.reshape(-1)
    fields = [_native(flat[name]) for name in array.dtype.names]
    return _regular(ak.contents.RecordArray(fields, list(array.dtype.names), length=len(flat)), array.shape)


def _strings(array: np.ndarray[Any, Any]) -> AwkwardLayout:
    contents, index = awkward_module().contents, awkward_module().index
    try:
        offsets, characters = encode_utf8(array.reshape(-1))
    except FormatError as error:
        raise DTypeError(f"{error.reason}: fill it first" if array.dtype.kind == "T" else error.reason) from error
    inner = contents.NumpyArray(characters, parameters={"__array__": "char"})
    layout = contents.ListOffsetArray(index.Index64(offsets), inner, parameters={"__array__": "string"})
    return _regular(layout, array.shape)


def _regular(layout: AwkwardLayout, shape: tuple[int, ...]) -> AwkwardLayout:
    for axis in range(len(shape) - 1, 0, -1):
        layout = awkward_module().contents.RegularArray(layout, shape[axis], math.prod(shape[:axis]))
    return layout


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse what no blob holds, or only a pickle would.

    Raises:
        DTypeError: objects, opaque bytes, extended precision, or times without a unit.
    """
    if dtype.subdtype is not None:
        check_dtype(dtype.subdtype[0])
    elif dtype.names is not None:
        for name in dtype.names:
            check_dtype(dtype[name])
    elif dtype.kind == "O":
        raise DTypeError("Python objects, which only a pickle could hold")
    elif dtype.kind != "S":
        dtypes.from_numpy(dtype)


def check_utf8(offsets: np.ndarray[Any, Any], content: np.ndarray[Any, Any]) -> None:
    """Refuse strings that are no valid UTF-8.

    Args:
        offsets: the position of each in the content, in bytes, and the end of the last.
        content: their bytes, and nothing after the last.

    Raises:
        DTypeError: one is not.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _BLOCK):
            decoder.decode(content[start : start + _BLOCK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise DTypeError(f"strings that are no valid UTF-8 ({error.reason})") from error
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    if (content[starts] & 0xC0 == 0x80).any():
        raise DTypeError("strings that are no valid UTF-8 (one begins within a character)")


def slice_layout(content: AwkwardLayout, start: int, stop: int) -> AwkwardLayout:
    """Return some of a layout; the layout itself, where that is all of it."""
    return content if start == 0 and stop == len(content) else content[start:stop]


def to_block(layout: AwkwardLayout) -> np.ndarray[Any, Any] | None:
    """Return fixed-size lists of numbers as an n-d array; None where they hold something else, or nothing."""
    if type(layout).__name__ == "NumpyArray":
        plain = layout.parameter("__array__") not in CHARACTERS and 0 not in layout.data.shape[1:]
        return layout.data if plain else None
    if type(layout).__name__ != "RegularArray" or layout.parameter("__array__") in TEXTS or not layout.size:
        return None
    inner = to_block(layout.content)
    if inner is None:
        return None
    shape = (len(layout), layout.size, *inner.shape[1:])
    return inner[: shape[0] * shape[1]].reshape(shape)
