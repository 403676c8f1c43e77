"""An array that lies in a file as it lies in memory, as in `.npy` and RawArray files.

Whatever a header claims is compared with the number of bytes in the file, in Python's integers, before memory is taken.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes
from ..columns import ArrayInfo
from ..errors import FormatError
from ..files import Sink
from ..linear.header import Order, check_dimensions, check_size
from ..linear.resizing import contiguous_strides

FileBytes = bytes | bytearray | memoryview | mmap.mmap

_LAST_CHARACTER = 0x10FFFF
_BLOCK = 2**26  # bytes
_SHARED_OUT = 2**24  # bytes; from here on several threads copy an array together
_THREADS = 4


@dataclass(frozen=True, slots=True)
class FileArray:
    """An array whose elements lie among bytes, side by side.

    Raises:
        FormatError: no memory could hold such an array, or its elements have a size of 0 bytes.

    Example:
        >>> FileArray(np.dtype(">i2"), (2,), "row-major", 1).to_array(bytes.fromhex("ff00010002"))
        array([1, 2], dtype=int16)
    """

    dtype: np.dtype[Any]  # NumPy's, in the byte order of the file
    shape: tuple[int, ...]  # the number of elements along each dimension
    order: Order  # in which the elements follow each other
    position: int  # of the first element, in bytes from the beginning of the file

    def __post_init__(self) -> None:
        check_dimensions(len(self.shape))
        check_size(self.shape, self.dtype.itemsize)
        if not self.dtype.itemsize and self.element_count:
            raise FormatError(f"{self.element_count} elements cannot have 0 bytes each")

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def byte_count(self) -> int:
        """The number of bytes that the elements take."""
        return self.element_count * self.dtype.itemsize

    @property
    def end_position(self) -> int:
        """The byte after the last element."""
        return self.position + self.byte_count

    def to_info(self, dtype: np.dtype[Any] | None = None, *, member: str | None = None) -> ArrayInfo:
        """Return the `ArrayInfo` for `scan`; `location` is the byte position of the first element.

        `dtype`: of the array that is read, where it is another than that of the file.
        """
        dtype = self.dtype if dtype is None else dtype
        name = f"V{dtype.itemsize}" if dtype.kind == "V" else dtypes.from_numpy(dtype).name
        several = sum(size > 1 for size in self.shape) > 1 and 0 not in self.shape
        order: Order = self.order if several else "row-major"
        location = f"byte {self.position}" if member is None else f"{member}, byte {self.position}"
        return ArrayInfo(
            self.shape,
            name,
            order,
            contiguous_strides(self.shape, order),
            location,
            cells=self.element_count,
            capacity=self.element_count,
        )

    def to_array(self, content: FileBytes) -> np.ndarray[Any, Any]:
        """Return the array: a view on `content`, unless byte order or alignment want a copy.

        Raises:
            FormatError: there are fewer bytes, or one that is no element of the dtype.
        """
        if len(content) < self.end_position:
            raise FormatError(
                f"the array ends at byte {self.end_position}, but there are only {len(content)}",
                location=f"byte {len(content)}",
            )
        native = self.dtype.newbyteorder("=")
        layout: Any = "F" if self.order == "column-major" else "C"
        if not self.byte_count:
            return np.zeros(self.shape, native, order=layout)
        array: np.ndarray[Any, Any] = np.ndarray(self.shape, self.dtype, content, self.position, order=layout)
        if not (array.dtype.isnative and array.flags.aligned):
            array = array.astype(native)
        self._check_values(array)
        return array

    def _check_values(self, array: np.ndarray[Any, Any]) -> None:
        """Refuse elements that NumPy fails on later: a bool that is neither 0 nor 1, a character beyond Unicode."""
        if array.dtype.kind not in "bU":
            return
        unit, most = ("u1", 1) if array.dtype.kind == "b" else ("u4", _LAST_CHARACTER)
        parts: np.ndarray[Any, Any] = array.ravel(order="K").view(unit)
        if int(parts.max()) > most:
            wrong = int(np.argmax(parts > most))
            what = "neither 0 nor 1, as a bool is" if array.dtype.kind == "b" else "no character of Unicode"
            raise FormatError(
                f"{int(parts[wrong])} is {what}", location=f"byte {self.position + wrong * parts.itemsize}"
            )


@contextmanager
def in_member(member: str | None) -> Iterator[None]:
    """Put the file of an archive or a folder before the location of a `FormatError` that passes through."""
    try:
        yield
    except FormatError as error:
        if member is None:
            raise
        error.location = f"{member}, {error.location}" if error.location else member
        raise


def write_elements(elements: np.ndarray[Any, Any], sink: Sink) -> Iterator[int]:
    """Write the elements of a contiguous array to a sink, without copying them.

    Yields:
        The number of elements that have been written so far, after each block.
    """
    size = elements.dtype.itemsize
    parts = elements.ravel(order="K").view(np.uint8).data if elements.size else memoryview(b"")
    for start in range(0, len(parts), _BLOCK):
        sink.write(parts[start : start + _BLOCK])
        yield min(start + _BLOCK, len(parts)) // size


def copy_elements(elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a contiguous array of its own with the elements of one that is C-contiguous.

    A large one is copied by several threads: a new array and a mapped file cost more in the system, page by page, than
    the bytes themselves do.
    """
    copies = np.empty(elements.shape, elements.dtype)
    if elements.nbytes < _SHARED_OUT:
        np.copyto(copies, elements)
        return copies
    from concurrent.futures import ThreadPoolExecutor

    source, target = elements.reshape(-1), copies.reshape(-1)
    step = -(-len(source) // _THREADS)
    with ThreadPoolExecutor(_THREADS) as pool:
        spans = [slice(first, first + step) for first in range(0, len(source), step)]
        for _ in pool.map(lambda span: np.copyto(target[span], source[span]), spans):
            pass
    return copies
