"""The cells of an array in formulas: their ranges, and values as formulas write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import DType
from ...elements import Cell, TypedCells, buffer_to_typed
from .geometry import Axis, Labels


@dataclass(frozen=True)
class ArrayCells:
    """The cells of elements and of labels, as the columns of their arrays hold them."""

    name_of: Callable[[str], str]  # the defined name of the cells of an array
    as_text: bool  # whether all elements are text
    exact: int  # the largest integer that a cell holds as a number

    def to_typed(self, elements: np.ndarray[Any, Any], dtype: DType, style: int | None) -> TypedCells:
        """Return elements of an array; `style`: of its numbers, None where its dates are texts."""
        contiguous, serials = np.ascontiguousarray(elements), style is not None
        return buffer_to_typed(contiguous, dtype, exact=self.exact, as_text=self.as_text, serials=serials)

    def of_labels(self, labels: Labels, count: int) -> list[Cell]:
        """Return the first labels."""
        return to_values(self.to_typed(labels.array.to_numpy()[:count], labels.array.dtype_entry, labels.style))

    def values(self, axis: Axis, count: int) -> list[Cell]:
        """Return the cells for the first indices of a dimension: its labels, or the indices themselves."""
        return list(range(count)) if axis.labels is None else self.of_labels(axis.labels, count)

    def first_choice(self, axis: Axis) -> Cell:
        """Return the value that the chooser of a dimension holds at first."""
        return 0 if axis.choosable is None else self.of_labels(axis.choosable, 1)[0]

    def formula(self, labels: Labels, position: str | int) -> str:
        """Return the formula of a label, by its position in the dimension: a number, or the cell that holds it."""
        stride, first = labels.array.strides[0], 1 + labels.array.offset
        index = f"{first + position * stride}" if isinstance(position, int) else f"{first}{times(position, stride)}"
        return keep_blanks(f"INDEX({self.name_of(labels.name)},{index})", labels.array.dtype_entry.kind)


def keep_blanks(look: str, kind: str) -> str:
    """Return a formula for the content of a cell: "" for a blank text, which a bare reference would show as 0.

    Example:
        >>> keep_blanks("INDEX(a,1)", "string"), keep_blanks("INDEX(a,1)", "float")
        ('INDEX(a,1)&""', 'INDEX(a,1)')
    """
    if kind == "generic":
        return f'IF({look}="","",{look})'
    return f'{look}&""' if kind == "string" else look


def times(cell: str, stride: int) -> str:
    """Return the term that adds a position to an index, in a formula; empty for a stride of 0.

    Example:
        >>> times("$Z9", 1), times("$Z9", -12), times("$Z9", 0)
        ('+$Z9', '+$Z9*-12', '')
    """
    return "" if stride == 0 else f"+{cell}" if stride == 1 else f"+{cell}*{stride}"


def to_values(cells: TypedCells) -> list[Cell]:
    """Return a few cells one by one; None for a blank."""
    values: list[Any] = [None] * len(cells)
    for kind in cells.kinds:
        for index, value in enumerate(kind.to_list()):
            if value is not None:
                values[index] = value
    return values


def extremes(elements: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the least and the largest of the numbers among some elements; 0 if none is a number."""
    numbers = elements.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
