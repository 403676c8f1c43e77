"""Finds the cells of a view in which people have typed over a formula, and says which element each had shown.

What is typed into the grid of a view changes no array, and the next choice does not bring the formula back. The cells
of a sheet tell by themselves: rows and columns of the grid are those in which formulas stand, whatever rows people have
put between them or above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...columns import cell_address
from ...dtypes import Mask, Positions
from ...elements import Cell, label_text
from ...errors import Finding
from .geometry import Axis
from .plans import ViewPlan

_MOST_NAMED = 20  # cells of one view
_CORNER = re.compile(r".+ \\ .+", re.DOTALL)
_DAY_ZERO = np.datetime64("1899-12-30", "ms")  # of serial dates
_ROW = 2**31  # a position is a row times this, plus a column


class ViewCells(NamedTuple):
    """The cells of the sheet of a view: rows and columns from 0, which of them are formulas, and their values."""

    rows: Positions
    columns: Positions
    formulas: Mask
    values: Sequence[Cell]


@dataclass(frozen=True)
class TypedCell:
    """A cell of a view's grid that held a formula when the view was written."""

    row: int  # of the cell, from 0
    column: int  # of the cell, from 0
    value: Cell  # that stands there now; None for a blank
    down: int | None  # the index along the dimension that runs down; None for a label of a column
    across: int | None  # the index along the dimension that runs across; None for a label of a row
    # whether rows and columns of the grid were counted, since a program has left no values of formulas
    is_counted: bool = False


@dataclass(frozen=True)
class TypedOver:
    """The cells of a view in which formulas stood."""

    cells: tuple[TypedCell, ...] = ()  # in reading order
    choices: Mapping[str, Cell] = field(default_factory=dict)  # what the choosers hold, by the captions beside them
    is_gone: bool = False  # whether no formula of the grid is left

    def __bool__(self) -> bool:
        """Return whether anything was typed over."""
        return self.is_gone or bool(self.cells)


def find_typed_over(view: ViewCells, corner: str | None) -> TypedOver:
    """Return the cells of a view in which people have typed over a formula, or deleted it.

    `corner`: the text above the labels of the rows; None where nobody remembers it.
    """
    formulas = view.formulas
    start = _find_corner(view, corner)
    if start is None:
        return TypedOver(is_gone=corner is not None and not formulas.any())
    first, left = start
    across = set(view.columns[formulas & (view.rows >= first) & (view.columns > left)].tolist())
    headed = set(view.columns[formulas & (view.rows == first)].tolist())
    positions = set(view.columns[formulas & (view.rows == first - 2) & (view.columns > left)].tolist())
    hidden = max(positions, default=-1)  # where the position of the slice stands, and those of the rows below it
    hidden = hidden if hidden not in headed else -1
    if corner is None and hidden < 0:
        return TypedOver()  # somebody's own sheet
    columns = sorted((across | headed | positions) - {hidden, left})
    rows = np.unique(view.rows[formulas & (view.rows > first) & (view.columns >= left)]).tolist()
    value_at = dict(zip((view.rows * _ROW + view.columns).tolist(), view.values, strict=True))
    choices = _find_choices(view, first, left, value_at)
    if not columns or not rows:
        return TypedOver((), choices, is_gone=True)
    there = set((view.rows * _ROW + view.columns)[formulas].tolist())
    labelled = any(row * _ROW + left in there for row in rows)
    typed = []
    for number, row in enumerate([first, *rows], -1):
        below = _to_index(value_at.get(row * _ROW + hidden))
        down = None if row == first else number if below is None else below
        for place, column in enumerate([left, *columns], -1):
            position = row * _ROW + column
            if position in there or (row == first and column == left):
                continue
            beside = _to_index(value_at.get((first - 2) * _ROW + column))
            index = None if column == left else place if beside is None else beside
            is_label, has_formulas = row == first or column == left, bool(headed) if row == first else labelled
            if is_label and not has_formulas:  # they are indices, or were typed over all together
                value = value_at.get(position)
                if value is None or _to_index(value) in (down if column == left else index, place, number):
                    continue
            is_counted = below is None or beside is None
            typed.append(TypedCell(row, column, value_at.get(position), down, index, is_counted))
    return TypedOver(tuple(typed), choices)


def _find_corner(view: ViewCells, corner: str | None) -> tuple[int, int] | None:
    """Return the row and the column of the cell above the labels of rows and beside those of columns."""
    texts = [
        place
        for place, value in enumerate(view.values)
        if isinstance(value, str) and (value == corner if corner is not None else _CORNER.fullmatch(value))
    ]
    return min(((int(view.rows[place]), int(view.columns[place])) for place in texts), default=None)


def _find_choices(view: ViewCells, first: int, left: int, known: Mapping[int, Cell]) -> dict[str, Cell]:
    """Return what the choosers above a grid hold, by the captions beside them."""
    rows = view.rows[(view.rows < first) & (view.columns == left)].tolist()
    captions = {row: known[row * _ROW + left] for row in rows}
    return {
        caption.removesuffix(":"): known.get(row * _ROW + left + 1)
        for row, caption in captions.items()
        if isinstance(caption, str) and caption.endswith(":")
    }


def _to_index(value: Cell) -> int | None:
    """Return the index that a cell for positions holds; None where it has no value."""
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def describe_typed_over(
    typed: TypedOver, title: str, array: str, plan: ViewPlan | None, address: Callable[[int], str]
) -> Iterator[Finding]:
    """Yield a finding for each cell, with its address and the labels and the index of the element that it showed.

    `plan`: of the view; None where the array cannot be read. `address`: of the cell of an element, by its index in the
    buffer.
    """
    if typed.is_gone:
        reason = f"the view of {array!r:.80} has no formulas any more, so it no longer shows changes of the array"
        yield Finding("warning", title, reason, "write the view again", array=array)
        return
    for cell in typed.cells[:_MOST_NAMED]:
        place = f"{title}!{cell_address(cell.row, cell.column)}"
        index, position, labels = _describe_element(cell, typed.choices, plan)
        shown = f"{array}[{', '.join(map(str, index))}]" if index is not None else f"an element of {array}"
        shown = "a label" if cell.down is None or cell.across is None else shown
        where = f" ({labels})" if labels else ""
        what = "is blank" if cell.value is None else f"holds {cell.value!r:.60}"
        message = f"{what} instead of a formula that showed {shown}{where}: this did not change the array"
        hint = "copy the formula of a cell beside it"
        if index is not None and position is not None:
            hint = f"type the value into {address(position)}, where the element stands, and {hint}"
        yield Finding("warning", place, message, hint, array=array, index=index)
    if (more := len(typed.cells) - _MOST_NAMED) > 0:
        message = f"{more} more cells of the view of {array!r:.80} hold values instead of formulas"
        yield Finding("warning", title, message, "write the view again", array=array)


def _describe_element(
    cell: TypedCell, choices: Mapping[str, Cell], plan: ViewPlan | None
) -> tuple[tuple[int, ...] | None, int | None, str]:
    """Return the index of the element that a cell showed, its index in the buffer, and its labels.

    The indices are None where they are not known: of labels, and where a chooser holds no index and no label.
    """
    if plan is None:
        return None, None, ""
    chosen = [(plan.rows, cell.down), (plan.columns, cell.across)]
    if plan.windowed and cell.is_counted:
        step = _to_index(choices.get("step")) or 1
        firsts = [_to_index(choices.get(f"first {axis.dim}")) or 0 for axis, _ in chosen]
        chosen = [
            (axis, None if index is None else first + step * index)
            for (axis, index), first in zip(chosen, firsts, strict=True)
        ]
    if cell.down is not None and cell.across is not None:
        chosen = [*((axis, _index_of(choices.get(axis.dim), axis)) for axis in plan.choosers), *chosen]
    labels = [
        f"{axis.dim}: {_label_of(axis, index) if index is not None else choices.get(axis.dim)}"
        for axis, index in chosen
        if index is not None or axis in plan.choosers
    ]
    position = plan.array.offset + plan.rows.first
    for axis, index in chosen:
        if index is None or not 0 <= index < axis.size:
            return None, None, ", ".join(labels)
        position += index * axis.stride
    return plan.array.header.index_at(position), position, ", ".join(labels)


def _index_of(choice: Cell, axis: Axis) -> int | None:
    """Return the index that a chooser of a dimension holds, as such or as a label."""
    number = float(choice) if isinstance(choice, (int, float)) and not isinstance(choice, bool) else None
    index = int(number) if number is not None and number.is_integer() else None
    if axis.choosable is None:
        return index
    labels = axis.choosable.array.to_numpy()
    match axis.choosable.array.dtype_entry.kind:
        case "datetime":
            same = labels.astype("datetime64[ms]").astype(str) == _to_moment(str(choice))
        case "float" | "int":
            return next(iter(np.flatnonzero(labels == number).tolist()), None)
        case _:
            same = labels.astype(str) == str(choice)
    return next(iter(np.flatnonzero(same).tolist()), index)


def _to_moment(text: str) -> str:
    """Return a serial date or ISO text as ISO text of milliseconds; the text itself where it is no moment."""
    try:
        if text.replace(".", "", 1).isdigit():
            return str(_DAY_ZERO + np.timedelta64(round(float(text) * 86_400_000), "ms"))
        return str(np.datetime64(text, "ms"))
    except ValueError:
        return text


def _label_of(axis: Axis, index: int) -> str:
    """Return the label of an index, or the index where there is no label."""
    if axis.labels is None or not 0 <= index < axis.size:
        return str(index)
    return f"{label_text(axis.labels.array.to_numpy()[index]):.60}"
