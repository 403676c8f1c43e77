"""The cells of a view in which people choose: an index or a label of a dimension, what colours are spread over."""

from __future__ import annotations

from dataclasses import dataclass

from ..elements import Cell
from .axes import Axis, Labels
from .geometry import ViewPlan
from .label_cells import LabelCells, chooser_kind

_MOST_LISTED, _LONGEST_LIST = 256, 255  # indices, and characters of a list of choices in a formula


@dataclass(frozen=True)
class Chooser:
    """A cell in which people choose.

    Attributes:
        row: of the cell, which is in column B.
        caption: the text beside it, in column A.
        value: the value that is chosen at first.
        listed: the values that may be chosen, if they are a few words or numbers; else empty.
        source: the coordinate whose labels may be chosen; None if it has nothing to do with one.
        most: the largest whole number that may be chosen, if it takes whole numbers.
        least: the smallest whole number that may be chosen.
        shown: a formula that shows the label of a chosen index, its value at first, and its style; None if there are no
            labels to show.
        kind: the key of its style: a unit of dates, "@" for text, empty for the usual one.
    """

    row: int
    caption: str
    value: Cell
    listed: tuple[str, ...] = ()
    source: Labels | None = None
    most: int = 0
    least: int = 0
    shown: tuple[str, Cell, int | None] | None = None
    kind: str = ""

    @property
    def cell(self) -> str:
        """Its absolute address."""
        return f"$B${self.row}"


def make_choosers(plan: ViewPlan, labels: LabelCells) -> dict[str, Chooser]:
    """Return the choosers of a view by keys that say what is chosen: "dimension 0" and so on, "colours", "line", "first
    row", "first column", "step".
    """
    made: dict[str, Chooser] = {}

    def add(
        key: str, caption: str, value: Cell, *, listed: tuple[str, ...] = (), most: int = 0, least: int = 0
    ) -> None:
        made[key] = Chooser(len(made) + 2, caption, value, listed, None, most, least)

    for number, axis in enumerate(plan.choosers):
        made[f"dimension {number}"] = _axis_chooser(axis, len(made) + 2, labels)
    if plan.has_numbers:
        add("colours", "colours over:", plan.colors, listed=("array", "slice"))
        kind, first = chooser_kind(plan.rows.choosable), labels.first_choice(plan.rows)
        made["line"] = Chooser(len(made) + 2, f"chart of {plan.rows.dim}:", first, kind=kind)
    if plan.windowed:
        add("first row", f"first {plan.rows.dim}:", 0, most=plan.rows.size - 1)
        add("first column", f"first {plan.columns.dim}:", 0, most=plan.columns.size - 1)
        add("step", "step:", 1, most=max(plan.rows.size, plan.columns.size), least=1)
    return made


def _axis_chooser(axis: Axis, row: int, labels: LabelCells) -> Chooser:
    kind, first = chooser_kind(axis.choosable), labels.first_choice(axis)
    if axis.choosable is not None:
        return Chooser(row, f"{axis.dim}:", first, source=axis.choosable, most=axis.size - 1, kind=kind)
    shown = None
    indices = tuple(map(str, range(min(axis.size, _MOST_LISTED))))
    listed = indices if axis.size <= _MOST_LISTED and len(",".join(indices)) <= _LONGEST_LIST else ()
    if axis.labels is not None:
        shown = labels.formula(axis.labels, f"$B${row}"), labels.first(axis.labels), axis.labels.style
    return Chooser(row, f"{axis.dim}:", first, listed, most=axis.size - 1, shown=shown, kind=kind)
