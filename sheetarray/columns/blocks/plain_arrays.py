"""Finds arrays that have one cell for each element, in the order of the elements."""

from __future__ import annotations

import math

from ...dtypes import from_name
from ...errors import FormatError
from ...linear.header import Header
from ...linear.resizing import contiguous_strides
from ..sheet import ArrayInfo

_KINDS = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


def lies_in_rows(info: ArrayInfo) -> bool:
    """Return whether the cells of an array are its rows, one after the other.

    An awkward array's are not: it stands in several columns.
    """
    try:
        from_name(info.dtype)
    except FormatError:
        return False
    return info.order == "row-major" and _lies_side_by_side(info)


def is_mappable(header: Header) -> bool:
    """Return whether an array holds numbers or dates, and its cells are its elements in their order."""
    return header.dtype.kind in _KINDS and _lies_side_by_side(header)


def _lies_side_by_side(array: ArrayInfo | Header) -> bool:
    plain = array.offset == 0 and array.strides == contiguous_strides(array.shape, array.order)
    return plain and 0 not in array.shape and array.capacity == math.prod(array.shape)
