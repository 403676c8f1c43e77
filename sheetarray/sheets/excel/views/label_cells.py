"""The labels of a dimension in the cells of a view: their values, and the formulas that look into the coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....cells import TypedCells
from ....elements import Cell
from .axes import Axis, Labels
from .cells import to_typed, to_values


@dataclass(frozen=True)
class LabelCells:
    """What stands for the indices of dimensions.

    Attributes:
        name_of: the defined name of the cells of an array.
        as_text: whether all elements are text.
    """

    name_of: Callable[[str], str]
    as_text: bool

    def typed(self, labels: Labels, count: int) -> TypedCells:
        """Return the first labels as cells of the coordinate's column hold them."""
        values = labels.array.to_numpy()[:count]
        return to_typed(values, labels.array.dtype_entry, labels.style, as_text=self.as_text)

    def values(self, axis: Axis, count: int) -> list[Cell]:
        """Return what stands for the first indices of a dimension: its labels, or the indices."""
        return list(range(count)) if axis.labels is None else to_values(self.typed(axis.labels, count))

    def first(self, labels: Labels) -> Cell:
        """Return the first label."""
        return to_values(self.typed(labels, 1))[0]

    def first_choice(self, axis: Axis) -> Cell:
        """Return what a chooser of a dimension holds at first."""
        return 0 if axis.choosable is None else self.first(axis.choosable)

    def formula(self, labels: Labels, position: str | int) -> str:
        """Return the formula of a label, by its position in the dimension: a number, or the cell that holds it."""
        stride, first = labels.array.strides[0], 1 + labels.array.offset
        if isinstance(position, int):
            return f"INDEX({self.name_of(labels.name)},{first + position * stride})"
        return f"INDEX({self.name_of(labels.name)},{first}{times(position, stride)})"


def chooser_kind(labels: Labels | None) -> str:
    """Return which style a chooser of labels has: that of dates by their unit, of text, or the usual one."""
    if labels is None:
        return ""
    if labels.array.dtype_entry.kind == "datetime" and labels.style is not None:
        return str(np.datetime_data(labels.array.buffer.dtype)[0])
    return "@" if labels.array.dtype_entry.kind in ("string", "datetime") else ""


def times(cell: str, stride: int) -> str:
    """Return what a position adds to an index; empty for a stride of 0.

    Example:
        >>> times("$Z9", 1), times("$Z9", -12), times("$Z9", 0)
        ('+$Z9', '+$Z9*-12', '')
    """
    return "" if stride == 0 else f"+{cell}" if stride == 1 else f"+{cell}*{stride}"
