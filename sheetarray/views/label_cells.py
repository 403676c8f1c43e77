"""The labels of a dimension in the cells of a view: their values, and the formulas that look into the coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cells import TypedCells, buffer_to_typed
from ..cells.serials import shown_unit
from ..elements import Cell
from .axes import Axis, Labels


@dataclass(frozen=True)
class LabelCells:
    """The cells that label the indices of dimensions.

    Attributes:
        name_of: the defined name of the cells of an array.
        as_text: whether all elements are text.
        exact: the largest integer that a cell holds as a number.
    """

    name_of: Callable[[str], str]
    as_text: bool
    exact: int

    def to_typed(self, labels: Labels, count: int) -> TypedCells:
        """Return the first labels as cells of the coordinate's column hold them."""
        values = np.ascontiguousarray(labels.array.to_numpy()[:count])
        return buffer_to_typed(
            values,
            labels.array.dtype_entry,
            exact=self.exact,
            as_text=self.as_text,
            serials=labels.style is not None,
        )

    def values(self, axis: Axis, count: int) -> list[Cell]:
        """Return the cells for the first indices of a dimension: its labels, or the indices themselves."""
        return list(range(count)) if axis.labels is None else to_values(self.to_typed(axis.labels, count))

    def first(self, labels: Labels) -> Cell:
        """Return the first label."""
        return to_values(self.to_typed(labels, 1))[0]

    def first_choice(self, axis: Axis) -> Cell:
        """Return the value that the chooser of a dimension holds at first."""
        return 0 if axis.choosable is None else self.first(axis.choosable)

    def formula(self, labels: Labels, position: str | int) -> str:
        """Return the formula of a label, by its position in the dimension: a number, or the cell that holds it."""
        stride, first = labels.array.strides[0], 1 + labels.array.offset
        index = f"{first + position * stride}" if isinstance(position, int) else f"{first}{times(position, stride)}"
        return keep_blanks(f"INDEX({self.name_of(labels.name)},{index})", labels.array.dtype_entry.kind)


def chooser_kind(labels: Labels | None) -> str:
    """Return the key of a chooser's style: the unit that dates are shown with, `@` for text, else an empty text."""
    if labels is None:
        return ""
    if labels.array.dtype_entry.kind == "datetime" and labels.style is not None:
        return shown_unit(labels.array.buffer) or "ms"
    return "@" if labels.array.dtype_entry.kind in ("string", "datetime") else ""


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
