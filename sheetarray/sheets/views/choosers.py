"""Choosers: the cells in which people choose an index or a label of a dimension, and what colours are spread over."""

from __future__ import annotations

from dataclasses import dataclass

from ...elements import Cell
from ...elements.serials import shown_unit
from .array_cells import ArrayCells
from .geometry import Axis, Labels
from .plans import ViewPlan

_MOST_LISTED, _LONGEST_LIST = 256, 255  # indices, and characters of a list of choices in a formula


def chooser_kind(labels: Labels | None) -> str:
    """Return the key of a chooser's style: the unit that dates are shown with, `@` for text, else an empty text."""
    if labels is None:
        return ""
    if labels.array.dtype_entry.kind == "datetime" and labels.style is not None:
        return shown_unit(labels.array.buffer) or "ms"
    return "@" if labels.array.dtype_entry.kind in ("string", "datetime") else ""


@dataclass(frozen=True)
class Chooser:
    """A cell in which people choose."""

    row: int  # of the cell, which is in column B
    caption: str  # the text beside it, in column A
    value: Cell  # the value that is chosen at first
    listed: tuple[str, ...] = ()  # the values that may be chosen, if they are a few words or numbers; else empty
    source: Labels | None = None  # the coordinate whose labels may be chosen; None if it has nothing to do with one
    most: int = 0  # the largest whole number that may be chosen, if it takes whole numbers
    least: int = 0  # the smallest whole number that may be chosen
    # a formula that shows the label of a chosen index, its value at first, and its style; None if there are no labels
    # to show
    shown: tuple[str, Cell, int | None] | None = None
    kind: str = ""  # the key of its style: a unit of dates, "@" for text, empty for the usual one

    @property
    def cell(self) -> str:
        """Its absolute address."""
        return f"$B${self.row}"


def make_choosers(plan: ViewPlan, cells: ArrayCells) -> dict[str, Chooser]:
    """Return the choosers of a view by keys that say what is chosen: "dimension 0" and so on, "colours", "line", "first
    row", "first column", "step".
    """
    choosers: dict[str, Chooser] = {}

    def add(
        key: str, caption: str, value: Cell, *, listed: tuple[str, ...] = (), most: int = 0, least: int = 0
    ) -> None:
        choosers[key] = Chooser(len(choosers) + 2, caption, value, listed, None, most, least)

    for number, axis in enumerate(plan.choosers):
        choosers[f"dimension {number}"] = _axis_chooser(axis, len(choosers) + 2, cells)
    if plan.has_numbers:
        add("colours", "colours over:", plan.colors, listed=("array", "slice"))
        kind, first = chooser_kind(plan.rows.choosable), cells.first_choice(plan.rows)
        choosers["line"] = Chooser(len(choosers) + 2, f"chart of {plan.rows.dim}:", first, kind=kind)
    if plan.windowed:
        add("first row", f"first {plan.rows.dim}:", 0, most=plan.rows.size - 1)
        add("first column", f"first {plan.columns.dim}:", 0, most=plan.columns.size - 1)
        add("step", "step:", 1, most=max(plan.rows.size, plan.columns.size), least=1)
    return choosers


def _axis_chooser(axis: Axis, row: int, cells: ArrayCells) -> Chooser:
    kind, first = chooser_kind(axis.choosable), cells.first_choice(axis)
    if axis.choosable is not None:
        return Chooser(row, f"{axis.dim}:", first, source=axis.choosable, most=axis.size - 1, kind=kind)
    shown = None
    indices = tuple(map(str, range(min(axis.size, _MOST_LISTED))))
    listed = indices if axis.size <= _MOST_LISTED and len(",".join(indices)) <= _LONGEST_LIST else ()
    if axis.labels is not None:
        shown = cells.formula(axis.labels, f"$B${row}"), cells.of_labels(axis.labels, 1)[0], axis.labels.style
    return Chooser(row, f"{axis.dim}:", first, listed, most=axis.size - 1, shown=shown, kind=kind)
