"""`Builder`, which every constructor gets: it checks values, makes layouts of them, and limits their size and memory.

The layouts are those of awkward 2 (https://awkward-array.org/doc/main/reference/ak.contents.html). Offsets, starts,
stops, indices and tags are looked through once, here or in the constructor, and lead nowhere else afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError
from .blob_dtypes import to_native_array
from .blobs import StoredBlob
from .budget import DEEPEST_ARRAY, MOST_ARRAYS, Budget
from .layouts import check_dtype, find_layout_problem, layout_of_array, regular
from .package import AwkwardLayout, awkward_module
from .packed_sizes import contents_of, packed_size

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
