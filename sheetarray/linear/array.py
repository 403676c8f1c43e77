"""A flat list as a whole: `LinearArray`, the codec between one ndarray and one list of cells, and the data cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from .. import dtypes
from ..dtypes import Buffer, DType
from ..elements import Cell, ComplexForm, Missing, Problem, blank_missing, decode, encode, is_blank
from ..elements.equality import find_other_zeros, find_unequal
from ..errors import DTypeError, Finding, FormatError
from ..values import as_array
from .header import (
    AddressOf,
    Header,
    NoteFinding,
    Order,
    contiguous_strides,
    count_blanks_before,
    describe_position,
    memory_error,
    parse_header,
    resize_header,
    resize_hint,
    warn_of_finding,
)

# An n-d array as a view on a 1-D buffer, by its shape, strides and offset, and the way back.


def is_column_major(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array's own order is column-major: it lies so in memory, and not in row-major order as well."""
    return array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous


def ravel_in_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elements of an array in its own order, which is that of the buffer it was read from."""
    return array.ravel(order="F" if is_column_major(array) else "C")


def iter_rest(
    arrays: MutableMapping[str, np.ndarray[Any, Any]], done: Mapping[str, int]
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield names of arrays that were read whole, each with the elements that are still to be given, in its order.

    `arrays`: all that are named in `done`; each is taken out, so that none stays in memory for the others. `done`: how
    many elements of each have been given, piece by piece.
    """
    for name, count in done.items():
        yield name, ravel_in_order(arrays.pop(name))[count:]


def view_of(header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[Any, Any]:
    """Return the array that a header describes: a view on its buffer, or a copy for `StringDType` with unusual strides.

    Raises:
        FormatError: a shape that no memory could hold, or text whose elements overlap in the buffer.
    """
    shape = header.shape
    length = header.length
    try:
        if len(shape) == 1 and header.strides == (1,) and len(buffer) >= header.offset + length:
            return buffer[header.offset : header.offset + length]  # most arrays, of which there may be very many
        if header.strides == contiguous_strides(shape, header.order):
            side_by_side = buffer[header.offset : header.offset + length]
            return side_by_side.reshape(shape, order="F" if header.order == "column-major" else "C")
        if buffer.dtype.kind == "T":
            return _text_view(header, buffer)
        size = buffer.dtype.itemsize
        start = buffer[header.offset :] if length else buffer
        walked = [count > 1 and length > 0 for count in shape]  # no other stride is ever taken
        strides = [stride * size if walk else 0 for stride, walk in zip(header.strides, walked, strict=True)]
        view: np.ndarray[Any, Any] = as_strided(start, shape, strides, writeable=buffer.flags.writeable)
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise memory_error(f"an array of the shape {shape}") from error
    return view


def base_buffer(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int, tuple[int, ...]] | None:
    """Return the buffer under a view as a 1-D array of the view's dtype, with offset and strides in elements.

    None if the base lies in memory in steps that are no multiple of the size of an element.
    """
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.dtype.kind == "V" or (array.dtype.hasobject and root.dtype != array.dtype):
        return None
    size, unit = array.dtype.itemsize, root.dtype.itemsize
    low, high = byte_bounds(root)
    first: int = array.__array_interface__["data"][0]
    if any(step % size for step in (high - low, first - low, *array.strides)) or (high - low) % unit:
        return None
    ends = (slice(-1, None) if stride < 0 else slice(0, 1) for stride in root.strides)
    lowest = root[(..., *ends)].reshape(1)
    buffer = as_strided(lowest, ((high - low) // unit,), (unit,), writeable=root.flags.writeable).view(array.dtype)
    return buffer, (first - low) // size, tuple(stride // size for stride in array.strides)


def _text_view(header: Header, buffer: np.ndarray[tuple[int], np.dtype[Any]]) -> np.ndarray[Any, Any]:
    """Return a copy of an array of `StringDType` whose elements do not lie side by side: NumPy makes no view of it."""
    shape = tuple(
        min(size, 1) if stride == 0 else size for size, stride in zip(header.shape, header.strides, strict=True)
    )
    if math.prod(shape) > header.capacity:
        raise FormatError(
            "the strides let elements overlap, which text of several widths cannot do",
            hint="write the array without base=True",
        )
    places = view_of(replace(header, dtype=dtypes.from_name("int64"), shape=shape), np.arange(header.capacity))
    return np.broadcast_to(buffer[places], header.shape)


# LinearArray, and the codec: one ndarray <-> one flat list of cells.
#
# Source: the linear exchange format (https://github.com/stdlib-js/stdlib/issues/1140); the header's layout is in
# `header`, the look of an element in `elements`. Strides and offset count elements, as in the format.


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
        array = np.asarray(as_array(a))
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
            missing: "nan" reads blanks as NaN in float and complex arrays.
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
        one, other = view_of(header, buffer), self.to_numpy()
        return not (find_unequal(one, other, 0, 0) | find_other_zeros(one, other)).any()

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
        missing: "nan" reads blanks in float and complex arrays as NaN.
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
) -> tuple[Header, np.ndarray[tuple[int], np.dtype[Any]]]:
    """Return the header of a flat list and the elements of its buffer; the arguments are those of
    `LinearArray.from_cells`.

    `take_problems`: is called with the header, the cells that cannot be read, all data cells and the function that
    gives their addresses; without it, the first of those cells is an error.
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
    data = fit_cells(cells[start:], header, missing=missing, address=here, name=name, note=note)
    buffer, problems = decode_data(data, header, missing=missing)
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


# The data cells under a header: how many there have to be, the buffer that they hold, and errors in them.
_IMAGINARY = ("i", "j", "I", "J", "i)", "j)", "I)", "J)")
MAX_TRIMMED_BLANKS = 1_048_576  # blanks at the end of a column that a program may have dropped
_TRIMMED_HINT = "some programs leave out blanks at the end of a column; if there was more, the file is cut short"


def fit_cells(
    data: Sequence[Cell],
    header: Header,
    *,
    missing: Missing = "error",
    address: AddressOf = describe_position,
    name: str = "array",
    note: NoteFinding = warn_of_finding,
) -> Sequence[Cell]:
    """Return the data cells that belong to the array: trailing padding dropped, trimmed blanks put back.

    `address`: of a data cell, by its index. `note`: is called with a finding if blanks have been put back.

    Raises:
        FormatError: too few cells, or something that is no blank after the last.
    """
    count = len(data)
    if count == header.capacity:
        return data
    while count > header.capacity and is_blank(data[count - 1]):
        count -= 1
    wanted = expected_cell_count(data, count, header)
    if error := check_cell_count(wanted, count, len(data), header, missing=missing, address=address):
        if error.location is None:
            error.location = address(next(i for i in range(header.capacity, count) if not is_blank(data[i])))
        raise error
    if wanted <= len(data):
        return data[:wanted]
    note(describe_missing_cells(name, wanted - len(data), address(len(data) - 1)))
    return [*data, *[None] * (wanted - len(data))]


def expected_cell_count(data: Iterable[Cell], count: int, header: Header) -> int:
    """Return the number of cells that an array takes: two for each element of interleaved complex numbers.

    `data`: the cells, blanks at the end included. `count`: the number of cells up to the last that is not blank.
    """
    if header.dtype.kind != "complex" or count != 2 * header.capacity:
        return header.capacity
    # There are more cells than elements. If any has an imaginary unit, they are texts, and something stands below them.
    is_text = any(isinstance(cell, str) and cell.rstrip().endswith(_IMAGINARY) for cell in islice(data, count))
    return header.capacity if is_text else count


def count_elements(data: Sequence[Cell], header: Header) -> int | None:
    """Return the number of elements in cells, without blanks at the end; None if half a complex number is left.

    Numbers without an imaginary unit are interleaved, where a complex array has another number of cells than elements.
    """
    count = len(data)
    if count and header.dtype.kind != "complex" and not is_blank(data[count - 1]):
        return count
    while count and is_blank(data[count - 1]):
        count -= 1
    if header.dtype.kind != "complex" or count == header.capacity:
        return count
    if any(isinstance(cell, str) and cell.rstrip().endswith(_IMAGINARY) for cell in islice(data, count)):
        return count
    return None if count % 2 else count // 2


def check_missing(missing: str) -> None:
    """Refuse a value of the option `missing` that is neither "error" nor "nan"."""
    if missing not in ("error", "nan"):
        raise ValueError(f'missing is "error" or "nan", not {missing!r}')


def may_be_blank(header: Header, missing: Missing) -> bool:
    """Return whether a blank may be an element of an array."""
    kind = header.dtype.kind
    return kind in ("string", "generic") or (missing == "nan" and kind in ("float", "complex"))


def check_cell_count(
    wanted: int, count: int, present: int, header: Header, *, missing: Missing, address: AddressOf
) -> FormatError | None:
    """Return an error if there are too few or too many data cells, else None.

    `wanted`: the number of cells that the array takes; see `expected_cell_count`. `count`: the number of cells up to
    the last that is not blank. `present`: the number of cells, blanks at the end included. `address`: of a data cell,
    by its index.

    It returns the error; if there are too many cells it has no location, since only the caller knows which is not
    blank.
    """
    if count == wanted or (count < wanted and may_be_blank(header, missing) and wanted - present <= MAX_TRIMMED_BLANKS):
        return None
    cells_per_element = wanted // header.capacity if header.capacity else 1
    hint = resize_hint(header, count // cells_per_element) or None
    if count > wanted:
        return FormatError(f"expected no more than {wanted} data cells, found another", hint=hint)
    reason = f"capacity is {wanted}, but the data end after {count} cells"
    index = header.index_at(count * header.capacity // wanted)
    return FormatError(reason, location=address(count), hint=hint, index=index)


def describe_missing_cells(name: str, count: int, last: str, *, orient: str = "columns") -> Finding:
    """Return the finding about cells at the end of an array that are not there and are read as blank.

    `count`: the number of these cells. `orient`: "rows" where they would stand to the right of it.
    """
    are, where = "cell is" if count == 1 else "cells are", "below" if orient == "columns" else "to the right of"
    message = f"{name}: {count} {are} missing {where} {last} and {are.split()[1]} read as blank"
    return Finding("warning", last, message, _TRIMMED_HINT, array=name)


def decode_data(
    cells: Sequence[Cell], header: Header, *, missing: Missing = "error"
) -> tuple[np.ndarray[tuple[int], np.dtype[Any]], list[Problem]]:
    """Return the buffer that the data cells hold; twice as many cells as elements are interleaved complex."""
    if header.dtype.kind != "complex" or len(cells) == header.capacity:
        return decode(cells, header.dtype, missing=missing)
    parts, problems = decode(cells, complex_part_dtype(header.dtype), missing=missing)
    return parts.view(header.dtype.numpy), problems


def buffer_from_numbers(numbers: Buffer, dtype: DType) -> Buffer | None:
    """Return the buffer of a column of plain numbers; None if its dtype does not hold one of them.

    `numbers`: booleans of bool; int64 or uint64 of integers and of time spans; floats of the width of their dtype.
    """
    if dtype.kind == "timedelta" or numbers.dtype == dtype.numpy:
        return numbers.view(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    if len(numbers) and (numbers.min() < limits.min or numbers.max() > limits.max):
        return None
    return numbers.astype(dtype.numpy)


def complex_part_dtype(dtype: DType) -> DType:
    """Return the float dtype of the real and the imaginary part of a complex one."""
    return dtypes.from_name("float64" if dtype.numpy.itemsize == 16 else "float32")


def error_for_problem(
    problem: Problem, header: Header, name: str, address: AddressOf, *, cells_each: int = 1
) -> FormatError:
    """Return the `FormatError` for a cell that could not be decoded, with its address and array index."""
    position = problem.index // cells_each
    return FormatError(
        problem.reason,
        location=address(problem.index),
        element=header.describe_element(name, position),
        hint=problem.hint or None,
        array=name,
        index=header.index_at(position),
    )
