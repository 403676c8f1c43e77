"""LinearArray, and the codec: one ndarray <-> one flat list of cells.

Source: the linear exchange format (https://github.com/stdlib-js/stdlib/issues/1140); the header's layout is in
`header`, the look of an element in `elements`. Strides and offset count elements, as in the format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import DType
from ..elements import (
    Cell,
    ComplexForm,
    Missing,
    NamedMissing,
    Problem,
    blank_missing,
    check_missing,
    encode,
    leave_words,
)
from ..elements.equality import find_other_zeros, find_unequal
from ..errors import DTypeError, FormatError
from ..values import as_array, is_plain_array
from .buffers import base_buffer, is_column_major, view_of
from .data_cells import (
    TakenWords,
    complex_part_dtype,
    count_elements,
    decode_data,
    error_for_problem,
    fit_cells,
    may_be_blank,
)
from .header import AddressOf, Header, NoteFinding, Order, describe_position
from .parsing import count_blanks_before, parse_header, warn_of_finding
from .resizing import contiguous_strides, resize_header


@dataclass(frozen=True, eq=False)
class LinearArray:
    """An n-dimensional array as its 1-D buffer of elements, with dtype, shape, strides, offset and order.

    Attributes:
        dtype: the name of the dtype, such as "float64".
        shape: the number of elements along each dimension.
        strides: the strides, in elements; they may be zero or negative.
        offset: the index in `buffer` of the element [0, 0, ..].
        order: "row-major" or "column-major".
        buffer: the elements, a 1-D ndarray in native byte order.

    Raises:
        FormatError: shape, strides and offset lead outside the buffer.
        DTypeError: the buffer has another dtype.

    Example:
        >>> a = LinearArray("int16", (2, 2), (-2, 1), 2, "row-major", np.arange(4, dtype="int16"))
        >>> a.to_numpy()
        array([[2, 3],
               [0, 1]], dtype=int16)
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    order: Order
    buffer: np.ndarray[tuple[int], np.dtype[Any]]
    dtype_entry: DType = field(init=False, repr=False)
    header: Header = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.buffer.ndim != 1:
            raise DTypeError(f"the buffer of a LinearArray has one dimension, not {self.buffer.ndim}")
        entry = dtypes.from_name(self.dtype)
        if dtypes.from_numpy(self.buffer.dtype).name != entry.name:
            raise DTypeError(f"a buffer of {self.buffer.dtype} cannot hold elements of {self.dtype}")
        self._set(Header(entry, self.shape, self.strides, self.offset, self.order, len(self.buffer)), self.buffer)

    def _set(self, header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> None:
        """Set the attributes from a header and the buffer, which fit each other."""
        vars(self).update(
            dtype=header.dtype.name,
            shape=header.shape,
            strides=header.strides,
            offset=header.offset,
            order=header.order,
            buffer=buffer if buffer.dtype.isnative else buffer.astype(buffer.dtype.newbyteorder("=")),
            dtype_entry=header.dtype,
            header=header,
        )

    @property
    def length(self) -> int:
        """The number of elements of the array: the product of its shape."""
        return self.header.length

    @property
    def capacity(self) -> int:
        """The number of elements of the buffer. It can be more than `length`, if a view skips elements."""
        return len(self.buffer)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the array."""
        return len(self.shape)

    @classmethod
    def from_numpy(cls, a: Any, base: bool = False) -> LinearArray:
        """Return an array as a `LinearArray`. Elements are copied only if they are not side by side in memory.

        Args:
            a: an ndarray, or a scalar, a list, or a column of pandas, polars, Arrow or xarray.
            base: True takes the whole buffer that `a` is a view on, with its strides and offset. False takes only the
                elements of the view, in the array's own order.

        Raises:
            DTypeError: the exchange format has no dtype for the array.
        """
        array = a if is_plain_array(a) else np.asarray(as_array(a))
        if array.dtype.kind == "T":
            array = blank_missing(array)
        order: Order = "column-major" if is_column_major(array) else "row-major"
        if base and array.size and (whole := base_buffer(array)) is not None:
            buffer, offset, strides = whole
            return cls(dtypes.from_numpy(array.dtype).name, array.shape, strides, offset, order, buffer)
        linear = cls.__new__(cls)
        buffer = array.ravel(order="F" if order == "column-major" else "C")
        linear._set(_contiguous_header(array.dtype, array.shape, order), buffer)
        return linear

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the array as a view on `buffer`. Text of `StringDType` is copied if it has gaps."""
        return view_of(self.header, self.buffer)

    def to_cells(self, *, complex: ComplexForm = "text") -> list[Cell]:
        """Return the flat list of the array: its header, then a cell for each element of the buffer.

        With `complex="interleaved"`, a complex element takes two cells.
        """
        return [*self.header.to_cells(), *encode(self.buffer, self.dtype_entry, complex=complex)]

    @classmethod
    def from_cells(
        cls,
        cells: Sequence[Cell] | np.ndarray[Any, Any],
        *,
        strict: bool = False,
        missing: Missing = "error",
        address: AddressOf = describe_position,
        name: str = "array",
        note: NoteFinding = warn_of_finding,
        resize: bool = False,
    ) -> LinearArray:
        """Return the array of a flat list.

        Args:
            cells: a sequence of Python scalars, or a 1-D array of them. Any of them may be text. None is a blank, and
                blanks may come first.
            strict: refuse a list without a version, an older form.
            missing: "nan" reads blanks, and words such as `n/a`, as NaN in float and complex arrays.
            address: a function that takes the index of a cell and returns its address, for messages.
            name: the name of the array, for messages.
            note: a function that is called with a finding for each oddity that is accepted, such as a missing version.
            resize: compute the length of the slowest axis from the number of data cells.

        Raises:
            FormatError: the list is wrong; `.location` is the first wrong cell.
        """
        parts = decode_list(cells, strict=strict, missing=missing, address=address, name=name, note=note, resize=resize)
        return cls.from_header(*parts)

    def has_elements(self, header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> bool:
        """Return whether another array has the same shape, dtype and elements, bit for bit.

        The other array is given by its header and its buffer.
        """
        if header.shape != self.shape or header.dtype.name != self.dtype:
            return False
        given, other = view_of(header, buffer), self.to_numpy()
        return not (find_unequal(given, other, 0, 0) | find_other_zeros(given, other)).any()

    @classmethod
    def from_header(cls, header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> LinearArray:
        """Return the `LinearArray` that a header and a buffer describe."""
        return cls(header.dtype.name, header.shape, header.strides, header.offset, header.order, buffer)


def to_linear(array: Any, *, base: bool = False, complex: ComplexForm = "text") -> list[Cell]:
    """Return an array as a flat list: its header, then its elements, as Python scalars that JSON can hold.

    Args:
        array: an ndarray of any shape and strides.
        base: True writes the whole buffer behind a view, with the view's strides and offset.
        complex: "text" writes cells such as `3+4i`; "interleaved" writes two numbers for an element.

    Returns:
        `version 1.0.0 ndarray shape .. strides .. offset .. order .. dtype .. length .. capacity .. data ..`

    Raises:
        DTypeError: the format has no dtype for the array, or for an object in it.

    Example:
        >>> to_linear(np.array([[1.5, 2.5]]))[3:9]
        ['shape', 1, 2, 'strides', 2, 1]
    """
    return LinearArray.from_numpy(array, base).to_cells(complex=complex)


def from_linear(
    cells: Sequence[Cell] | np.ndarray[Any, Any],
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
) -> np.ndarray[Any, Any]:
    """Return the array that a flat list holds, with the dtype, shape, strides and offset in its header.

    Args:
        cells: the flat list. Keys of the header may be in any order, and numbers may be text.
        strict: refuse a list that begins with `ndarray`, an older form without a version.
        missing: "nan" reads blanks in float and complex arrays as NaN, and words such as `n/a`, with a warning.
        resize: compute the length of the slowest axis from the number of data cells.

    Raises:
        FormatError: the list is wrong; `.location` is the first wrong cell.

    Example:
        >>> from_linear(to_linear(np.array([[1, 2], [3, 4]], dtype="uint8")))
        array([[1, 2],
               [3, 4]], dtype=uint8)
    """
    return view_of(*decode_list(cells, strict=strict, missing=missing, resize=resize))


TakeProblems = Callable[[Header, Sequence[Problem], Sequence[Cell], AddressOf], None]


def to_rectangular(array: Any) -> Any:
    """Return an awkward array whose type says that it is rectangular as an ndarray; any other array as it is."""
    if isinstance(array, np.ndarray) or "var" in str(array.type):
        return array
    try:
        return LinearArray.from_numpy(array).to_numpy()
    except (DTypeError, TypeError):  # records, unions, missing elements, bytes
        return array


def decode_list(
    cells: Any,
    *,
    strict: bool = False,
    missing: Missing = "error",
    address: AddressOf = describe_position,
    name: str = "array",
    note: NoteFinding = warn_of_finding,
    resize: bool = False,
    take_problems: TakeProblems | None = None,
    words: TakenWords | None = None,
    keeps_words: bool = False,
) -> tuple[Header, np.ndarray[tuple[int], np.dtype[Any]]]:
    """Return the header of a flat list and the elements of its buffer; the arguments are those of
    `LinearArray.from_cells`.

    `take_problems`: is called with the header, the cells that cannot be read, all data cells and the function that
    gives their addresses; without it, the first of those cells is an error. `words`: takes the words for missing
    values; without it, `note` is called with their finding. `keeps_words`: they are problems whatever `missing` says.
    """
    check_missing(missing)
    if isinstance(cells, np.ndarray) and cells.ndim == 1:
        cells = cells.tolist()
    if not isinstance(cells, (list, tuple)) and (isinstance(cells, (str, bytes)) or not isinstance(cells, Sequence)):
        raise FormatError(f"a flat list of cells, not {type(cells).__name__}")
    if first := count_blanks_before(cells):
        cells, above = cells[first:], address

        def address(index: int) -> str:
            return above(first + index)

    header, start = parse_header(cells, strict=strict, address=address, note=note)
    if header.part is not None:
        raise FormatError(f"only part {header.part[0]} of {header.part[1]} of an array is here")

    def here(index: int) -> str:
        return address(start + index)

    if resize:
        header = resize_to_cells(header, cells[start:], missing)
    data = cells[start:]
    if len(data) != header.capacity:
        data = fit_cells(data, header, missing=missing, address=here, name=name, note=note)
    buffer, problems = decode_data(data, header, missing=missing)
    taken, cells_each = words or TakenWords(), 1 if len(data) == header.capacity else 2
    if problems:
        floats = buffer if cells_each == 1 else buffer.view(complex_part_dtype(header.dtype).numpy)
        how = leave_words(missing) if keeps_words else missing
        problems = taken.take(name, floats, problems, missing=how, cell=data.__getitem__, address=here)
    if isinstance(missing, NamedMissing):
        buffer = taken.take_elements(name, buffer, missing, lambda index: here(index * cells_each))
    if words is None and taken.counts:
        note(taken.to_finding())
    if problems and take_problems is not None:
        take_problems(header, problems, data, here)
    elif problems:
        raise error_for_problem(problems[0], header, name, here)
    return header, buffer


def resize_to_cells(header: Header, data: Sequence[Cell], missing: Missing) -> Header:
    """Return the header with the length that the data of a list have; the same header if no axis can take it.

    Blanks at the end of a list of text are elements like any others.
    """
    elements = count_elements(data, header)
    if elements is not None and may_be_blank(header, missing) and elements <= header.capacity:
        elements = min(len(data), header.capacity)
    resized = None if elements is None else resize_header(header, elements)
    return header if resized is None else resized


@lru_cache(maxsize=256)  # a sheet may hold thousands of arrays with equal headers
def _contiguous_header(dtype: np.dtype[Any], shape: tuple[int, ...], order: Order) -> Header:
    """Return the header of an array whose elements lie side by side."""
    strides = contiguous_strides(shape, order)
    return Header(dtypes.from_numpy(dtype), shape, strides, 0, order, math.prod(shape))
