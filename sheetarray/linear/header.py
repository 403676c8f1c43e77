"""The header of a flat list: its fields, and the checks of what must hold between them.

    version 1.0.0 ndarray shape .. strides .. offset .. order .. dtype .. length .. capacity .. data

Source: the linear exchange format (https://github.com/stdlib-js/stdlib/issues/1140). Strides, offset, length and
capacity count elements. Version 1.1 adds `part k n`: the k-th of n pieces of an array longer than a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..dtypes import DType
from ..elements import Cell
from ..errors import Finding, FormatError

Order = Literal["row-major", "column-major"]
AddressOf = Callable[[int], str]  # the index of a cell in the flat list -> its address
NoteFinding = Callable[[Finding], None]

VERSION, PART_VERSION = "1.0.0", "1.1.0"
FIELDS = ("shape", "strides", "offset", "order", "dtype", "length", "capacity")
MAX_DIMENSIONS = 64  # NumPy's own limit
MOST_BYTES = 2**62  # of an array; from here on its size, counted in bytes, overflows
MAX_HEADER_CELLS = 6 + 2 * MAX_DIMENSIONS + 14 + 3  # cells of the longest header, with room for a newer field

ORDERS: dict[str, Order] = {"row-major": "row-major", "column-major": "column-major"}


def check_dimensions(count: int, location: str | None = None) -> None:
    """Refuse more dimensions than an array of NumPy can have."""
    if count > MAX_DIMENSIONS:
        raise FormatError(f"{count} dimensions; at most {MAX_DIMENSIONS} are possible", location=location)


def check_size(shape: Sequence[int], itemsize: int) -> None:
    """Refuse a shape whose elements no memory could hold; of an empty array the other dimensions count."""
    needed = max(itemsize, 8)
    for size in shape:
        needed *= max(size, 1)
    if needed >= MOST_BYTES:
        raise memory_error(f"an array of the shape {tuple(shape)}")


def memory_error(what: str) -> FormatError:
    """Return the error that says that no memory could hold `what`."""
    return FormatError(f"{what} needs more memory than any machine has")


class HeaderCutError(FormatError):
    """The cells come to their end before the header does."""


def name_element(name: str, index: Sequence[int] | None) -> str:
    """Return the name that messages use for an element, such as `t[2, 0, 5]`; of a 0-d array, its own name."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of a header; construction checks that they can be true.

    Raises:
        FormatError: the fields contradict each other.
    """

    dtype: DType  # of the elements
    shape: tuple[int, ...]  # the number of elements along each dimension; () for a 0-d array
    strides: tuple[int, ...]  # in elements, one for each dimension
    offset: int  # index in the buffer of the first element of the view
    order: Order  # "row-major" or "column-major": kept, never derived from the strides
    capacity: int  # the number of elements in the buffer (of the whole array, if it is in parts)
    part: tuple[int, int] | None = None  # (k, n) if this is the header of the k-th of n parts; else None

    def __post_init__(self) -> None:
        check_dimensions(len(self.shape))
        if len(self.strides) != len(self.shape):
            raise FormatError(f"{len(self.shape)} dimensions but {len(self.strides)} strides")
        if min(*self.shape, self.offset, self.capacity) < 0:
            raise FormatError("shape, offset and capacity cannot be negative")
        if self.order not in ORDERS:
            raise FormatError(f"the order is {self.order!r}; it is 'row-major' or 'column-major'")
        if self.part and not 1 <= self.part[0] <= self.part[1]:
            raise FormatError(f"there cannot be a part {self.part[0]} of {self.part[1]}")
        check_size(self.shape, self.dtype.numpy.itemsize)
        if self.length:
            first, last = self.buffer_range
            if first < 0 or last >= self.capacity:
                raise FormatError(
                    f"shape, strides and offset reach elements {first} to {last} of a buffer of {self.capacity}"
                )

    @property
    def length(self) -> int:
        """The number of elements that the view indexes: the product of the shape, 1 for a 0-d array."""
        return math.prod(self.shape)

    @property
    def buffer_range(self) -> tuple[int, int]:
        """Return the lowest and highest buffer position that the strides reach; only for arrays with elements."""
        first = last = self.offset
        for size, stride in zip(self.shape, self.strides, strict=True):
            first += min(stride * (size - 1), 0)
            last += max(stride * (size - 1), 0)
        return first, last

    def index_at(self, position: int) -> tuple[int, ...] | None:
        """Return the index of the element that stands at `position` in the buffer; None where the view skips it."""
        if not self.length:
            return None
        index = [0] * len(self.shape)
        rest = position - self.buffer_range[0]
        for axis in sorted(range(len(self.shape)), key=lambda axis: -abs(self.strides[axis])):
            size, stride = self.shape[axis], self.strides[axis]
            if stride:
                step = min(rest // abs(stride), size - 1)
                rest -= step * abs(stride)
                index[axis] = step if stride > 0 else size - 1 - step
        return tuple(index) if rest == 0 and 0 <= position < self.capacity else None

    def describe_element(self, name: str, position: int) -> str:
        """Return the name that messages use for the element at `position` in the buffer, such as `name[2, 0]`."""
        index = self.index_at(position)
        if index is None:
            return f"{name}, buffer element {position}"
        return name_element(name, index)

    def to_cells(self) -> list[Cell]:
        """Return the cells up to and including `data`, in the specification's order."""
        return [
            "version",
            PART_VERSION if self.part else VERSION,
            "ndarray",
            "shape",
            *self.shape,
            "strides",
            *(self.strides or (0,)),
            "offset",
            self.offset,
            "order",
            self.order,
            "dtype",
            self.dtype.name,
            "length",
            self.length,
            "capacity",
            self.capacity,
            *(("part", *self.part) if self.part else ()),
            "data",
        ]


def describe_position(index: int) -> str:
    """Describe a position in a flat list that is not in a sheet, for example `item 12`."""
    return f"cells[{index}]"
