"""Layouts of awkward arrays, made of the values that can be written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...dtypes import Array
from ...errors import DTypeError, FormatError
from ...linear.array import LinearArray
from .package import AwkwardLayout, awkward_module
from .packed_sizes import check_packed
from .utf8_texts import CHARACTERS, TEXTS, encode_utf8, text_layout


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
