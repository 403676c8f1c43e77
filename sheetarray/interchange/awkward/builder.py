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
from ...errors import FormatError
from .blobs import DEEPEST_ARRAY, MOST_ARRAYS, AwkwardLayout, MemoryBudget, StoredBlob, awkward_module, to_native
from .layouts import Measure, contents_of, find_layout_problem, packed_size

Errors = Literal["strict", "replace"]

_NUMBERS = "biufcmM"


class Builder:
    """Makes layouts of the values of expressions.

    Attributes:
        ak: the package awkward.
        budget: the memory that they may take.
        errors: what becomes of text that its encoding does not have: "strict" refuses, "replace" puts U+FFFD.
        cache: of the caller, for virtual arrays that have a key.
    """

    def __init__(self, budget: MemoryBudget, errors: Errors, cache: MutableMapping[str, Any] | None) -> None:
        if errors not in get_args(Errors):
            raise ValueError(f"errors is one of {get_args(Errors)}, not {errors!r}")
        self.ak = awkward_module()
        self.budget = budget
        self.errors = errors
        self.cache = cache
        self._layouts: dict[int, tuple[Array, AwkwardLayout]] = {}
        self._measures: dict[int, Measure] = {}

    # Values ------------------------------------------------------------------------------------------------------

    def to_array(self, value: Any, what: str) -> Array:
        """Return an ndarray of one dimension or more, in this machine's byte order.

        Raises:
            FormatError: it is something else.
        """
        if isinstance(value, StoredBlob) and isinstance(value.content, np.ndarray) and value.packed is None:
            value = value.content
        if not isinstance(value, np.ndarray):
            raise FormatError(f"{what} is {describe_value(value)}, not an array of NumPy")
        if not value.ndim:
            raise FormatError(f"{what} is an array without dimensions")
        if value.dtype.hasobject:
            raise FormatError(f"{what} is an array of Python objects")
        return to_native(value, self.budget)

    def to_integers(self, value: Any, what: str, below: int | None = None, dimensions: int | None = None) -> Array:
        """Return an array of integers from 0 on, as int64.

        Args:
            value: what an expression gave.
            what: it is, for messages.
            below: each is smaller than this.
            dimensions: the number that it has to have; None for any number.

        Raises:
            FormatError: it is something else.
        """
        array = self.to_array(value, what)
        if array.dtype.kind not in "iu":
            raise FormatError(f"{what} has the dtype {array.dtype}; integers are expected")
        if dimensions is not None and array.ndim != dimensions:
            raise FormatError(f"{what} has {array.ndim} dimensions, not {dimensions}")
        if array.size:
            least, most = int(array.min()), int(array.max())
            if least < 0:
                raise FormatError(f"{what} has the value {_locate_value(array, least)}; there are none below 0")
            if below is not None and most >= below:
                reason = f"where {below - 1} is the largest possible" if below else "where there is nothing to lead to"
                raise FormatError(f"{what} has the value {_locate_value(array, most)}, {reason}")
            if most >= 2**63:
                raise FormatError(f"{what} has the value {_locate_value(array, most)}, more than 63 bits")
        self.budget.take(array.size * 8, what)
        return np.ascontiguousarray(array, dtype=np.int64)

    def to_flag(self, value: Any, what: str) -> bool:
        """Return an argument that must be true or false; `what` names it in messages.

        Raises:
            FormatError: it is neither true nor false.
        """
        if not isinstance(value, bool):
            raise FormatError(f"{what} is {describe_value(value)}, neither true nor false")
        return value

    def to_integer(self, value: Any, what: str) -> int:
        """Return a whole number.

        Raises:
            FormatError: it is something else, or has more than 64 bits.
        """
        if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**64:
            raise FormatError(f"{what} is {describe_value(value)}, not an integer of 64 bits")
        return value

    def to_sequence(self, value: Any, what: str) -> Sequence[Any]:
        """Return a list or a tuple.

        Raises:
            FormatError: it is something else.
        """
        if not isinstance(value, (list, tuple)):
            raise FormatError(f"{what} is {describe_value(value)}, not a list")
        return value

    # Layouts -----------------------------------------------------------------------------------------------------

    def to_layout(self, value: Any, what: str) -> AwkwardLayout:
        """Return the layout of what an expression gave: an array of NumPy or of awkward.

        Raises:
            FormatError: it is something else, or an array that awkward 2 does not have.
        """
        if isinstance(value, self.ak.Array):
            value = value.layout
        if isinstance(value, self.ak.contents.Content):
            return self.check_measured(value)
        array = self.to_array(value, what)
        if id(array) not in self._layouts:
            self._layouts[id(array)] = (array, self.check_measured(self._from_numpy(array, what)))
        return self._layouts[id(array)][1]

    def whole(self, value: Any, *, check: bool) -> AwkwardLayout:
        """Return the layout of a whole array, where what it reaches is in proportion to what it is made of.

        Args:
            value: what an expression gave.
            check: let awkward look through it.

        Raises:
            FormatError: it would be too large if it were packed, or it is no valid array.
        """
        layout = self.to_layout(value, "the whole")
        if (packed := packed_size(layout)) > self.budget.limit:
            raise FormatError(
                f"lists that overlap, an index that repeats, or one array in many places: packed they would take "
                f"{packed} bytes, more than the {self.budget.limit} bytes that the arrays of this file may take",
                hint="max_bytes= allows more",
            )
        if check and (size := self.measure(layout).size) > self.budget.limit:
            raise FormatError(f"one array in many places: {size} bytes to look through", hint="max_bytes= allows more")
        if check and (problem := find_layout_problem(layout)):
            raise FormatError(f"no valid array: {problem}")
        return layout

    def _from_numpy(self, array: Array, what: str) -> AwkwardLayout:
        contents = self.ak.contents
        if not array.size:
            self.budget.take(8 * math.prod(max(extent, 1) for extent in array.shape), what)
        if array.dtype.names is not None:
            flat = array.reshape(-1) if array.size else np.empty(0, array.dtype)
            fields = [self.to_layout(self._field(flat, name), f"the field {name!r:.40}") for name in array.dtype.names]
            names = [field_name(name) for name in array.dtype.names]
            return self.to_regular(contents.RecordArray(fields, names, length=len(flat)), array.shape)
        if array.dtype.kind in "SU":
            self.budget.take(2 * array.nbytes, what)
            wide = array if array.itemsize else array.astype(f"{array.dtype.kind}1")
            try:
                layout: AwkwardLayout = self.ak.from_numpy(np.ascontiguousarray(wide), highlevel=False)
            except UnicodeError as error:
                raise FormatError(f"{what} has text that is no Unicode") from error
            return layout
        if array.dtype.kind not in _NUMBERS or array.dtype.char in "gG":
            raise FormatError(f"{what} has the dtype {array.dtype}, which awkward arrays do not have")
        if array.dtype.kind in "mM" and np.datetime_data(array.dtype)[0] == "generic":
            raise FormatError(f"{what} has the dtype {array.dtype}, without a unit")
        if not array.flags.c_contiguous:
            self.budget.take(array.nbytes, what)
        return contents.NumpyArray(np.ascontiguousarray(array))

    def _field(self, array: Array, name: str) -> Array:
        field: Array = array[name]
        self.budget.take(field.nbytes, f"the field {name!r:.40}")
        return field.copy()  # side by side, and aligned

    def to_regular(self, layout: AwkwardLayout, shape: tuple[int, ...]) -> AwkwardLayout:
        """Give the elements of a layout, side by side, the shape of an array.

        Args:
            layout: as long as the product of the shape.
            shape: of which the first dimension is the length.
        """
        for index in range(len(shape) - 1, 0, -1):
            length = math.prod(shape[:index])
            self.budget.take(8 * length if not shape[index] else 0, "lists of no elements")
            layout = self.ak.contents.RegularArray(layout, shape[index], zeros_length=length)
        return layout

    def to_index(self, values: Array) -> Any:
        """Return numbers as an index that awkward takes."""
        return self.ak.index.Index64(values)

    def simplifying_class(self, kind: str, *parts: Any) -> AwkwardLayout:
        """Return a layout of a class that wants to be merged with the option, index or union within it.

        Args:
            kind: the class of `ak.contents`.
            parts: its arguments.
        """
        inner = next(part for part in parts if isinstance(part, self.ak.contents.Content))
        variants = len(inner.contents) if inner.is_union else 1
        self.budget.take(16 * variants * (inner.length + parts[0].length), f"an {kind}")
        made: Callable[..., AwkwardLayout] = getattr(self.ak.contents, kind).simplified
        return made(*parts)

    # Sizes -------------------------------------------------------------------------------------------------------

    def measure(self, layout: AwkwardLayout) -> Measure:
        """Return the size of a layout: its depth, and the number of arrays that it is made of.

        Raises:
            FormatError: too deep, or too many arrays.
        """
        known = self._measures.get(id(layout))
        if known is None:
            known = Measure(layout, [self.measure(inner) for inner in contents_of(layout)])
            if known.depth > DEEPEST_ARRAY:
                raise FormatError(f"more than {DEEPEST_ARRAY} arrays within each other")
            if known.arrays > MOST_ARRAYS:
                raise FormatError(f"an array made of {known.arrays} arrays, where at most {MOST_ARRAYS} are read")
            self._measures[id(layout)] = known
        return known

    def check_measured(self, layout: AwkwardLayout) -> AwkwardLayout:
        """Return the same layout, where it is neither too deep nor made of too many."""
        self.measure(layout)
        return layout


def describe_value(value: Any) -> str:
    """Return a value, for a message: what it is, in a few words."""
    if isinstance(value, StoredBlob):
        return f"the blob {value.name!r:.80}, without count and dtype"
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"


def _locate_value(array: Array, value: int) -> str:
    """Return a value of an array, and the index where it first stands."""
    return f"{value} at [{', '.join(map(str, np.argwhere(array == value)[0]))}]"


def field_name(name: object) -> str:
    """Return the name of a field.

    Raises:
        FormatError: it is no text, or half a character.
    """
    if not isinstance(name, str):
        raise FormatError(f"a field is named {describe_value(name)}")
    if not name.isascii() and any(0xD800 <= ord(character) < 0xE000 for character in name):
        raise FormatError(f"a field has the name {name!r:.80}, which is no valid Unicode")
    return name
