"""The cells of a view and their formulas: choosers at the top, labels, and a grid that looks into the array's column.

Each cell of the grid looks into the array's column through the defined name of it, at 1 + the offset + the sum of index
times stride over the chosen dimensions + its own index down and across, each times its stride. That sum stands in one
hidden cell, the indices down and across in a hidden column and a hidden row, so that a choice costs one formula and one
look-up for each cell.

    row 1              caption                       hidden column: least value, largest, middle, line of the chart
    row 2 ..           `time:` and its chooser; colours; line of the chart; in a window where it begins, and its step
    two hidden rows    positions across, in the hidden column what the choosers add; the line that the chart shows
    one row            labels of the columns         frozen down to here
    all others         the label of the row, and the grid
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...columns import column_letters
from ...dtypes import DType
from ...elements import Cell, TypedCells, buffer_to_typed
from ...elements.serials import shown_unit
from .geometry import Axis, Labels, ViewPlan

CHART_ROWS = 14  # rows that the chart takes, beside the choosers
_MOST_LISTED, _LONGEST_LIST = 256, 255  # indices, and characters of a list of choices in a formula


@dataclass(frozen=True)
class ArrayCells:
    """The cells of elements and of labels, as the columns of their arrays hold them."""

    name_of: Callable[[str], str]  # the defined name of the cells of an array
    as_text: bool  # whether all elements are text
    exact: int  # the largest integer that a cell holds as a number

    def to_typed(self, elements: np.ndarray[Any, Any], dtype: DType, style: int | None) -> TypedCells:
        """Return some elements of an array; `style` is that of its numbers, None where its dates are texts."""
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


# The cells in which people choose: an index or a label of a dimension, what colours are spread over.


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


class ViewFormulas:
    """The cells of everything in a view, and the formulas in them.

    `name_of`: the defined name of the cells of an array. `exact`: the largest integer that a cell holds as a number.

    Attributes:
        choosers: by keys that say what is chosen; see `choosers.make_choosers`.
        cells: of elements and labels.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], exact: int) -> None:
        self.plan, self.name_of = plan, name_of
        self.cells = ArrayCells(name_of, plan.as_text, exact)
        self.choosers = make_choosers(plan, self.cells)

    # Rows and columns ----------------------------------------------------------------------------------------

    @cached_property
    def position_row(self) -> int:
        """The hidden row of the positions across."""
        return max(len(self.choosers) + 2, CHART_ROWS if self.plan.has_numbers else 0)

    @property
    def line_row(self) -> int:
        """The hidden row of a view whose numbers the chart draws."""
        return self.position_row + 1

    @property
    def label_row(self) -> int:
        """The row of the columns' labels."""
        return self.position_row + 2

    @property
    def first_row(self) -> int:
        """The first row of the grid."""
        return self.position_row + 3

    @property
    def last_row(self) -> int:
        """The last row of the grid."""
        return self.position_row + 2 + self.plan.height

    @property
    def last_column(self) -> str:
        """The letters of the last column of the grid."""
        return column_letters(self.plan.width)

    @property
    def hidden_place(self) -> int:
        """The hidden column, from 0: right of the grid, and of the labels of what is chosen."""
        return max(self.plan.width + 1, 3)

    @property
    def hidden_column(self) -> str:
        """The letters of the hidden column."""
        return column_letters(self.hidden_place)

    def hidden_cell(self, row: int) -> str:
        """Return the absolute address of a cell of the hidden column."""
        return f"${self.hidden_column}${row}"

    # Formulas ------------------------------------------------------------------------------------------------

    def base_formula(self) -> str:
        """Return a formula for the position, from 1, of the slice's first element in the column."""
        terms = [str(1 + self.plan.array.offset)]
        for number, axis in enumerate(self.plan.choosers):
            cell = self.choosers[f"dimension {number}"].cell
            if axis.choosable is not None:
                index = f"(MATCH({cell},{self.name_of(axis.choosable.name)},0)-1)"
            else:
                index = f"IF(AND({cell}>=0,{cell}<{axis.size},{cell}=INT({cell})),{cell},NA())"
            terms.append(f"{times(index, axis.stride) or f'{times(index, 1)}*0'}")
        return "".join(terms)

    def element_formula(self, column: str, row: str) -> str:
        """Return the formula of a cell of the grid, by the letters of its column and the number of its row."""
        plan = self.plan
        down, across = f"${self.hidden_column}{row}", f"{column}${self.position_row}"
        index = self.hidden_cell(self.position_row)
        index += times(down, plan.rows.stride) + times(across, plan.columns.stride)
        look = keep_blanks(self._look_up(index), plan.array.dtype_entry.kind)
        return f'IF(AND(ISNUMBER({down}),ISNUMBER({across})),{look},"")' if plan.windowed else look

    def _look_up(self, index: str) -> str:
        """Return the formula of an element, by its index in the buffer from 1."""
        block = self.plan.block
        if block.columns == 1:
            return f"INDEX({self.name_of(self.plan.name)},{index})"
        return f"INDEX({block.cells},MOD({index}-1,{block.rows})+1,INT(({index}-1)/{block.rows})+1)"

    def helper_cells(self) -> dict[int, tuple[str, Cell]]:
        """Return the formulas at the top of the hidden column, and their values."""
        if not self.plan.has_numbers:
            return {}
        colours, line = self.choosers["colours"].cell, self.choosers["line"].cell
        name, grid = self.name_of(self.plan.name), self.grid_range
        shown = self.plan.array.buffer if self.plan.colors == "array" else self.elements()
        least, largest = extremes(shown)
        return {
            1: (f'IF({colours}="array",MIN({name}),MIN({grid}))', least),
            2: (f'IF({colours}="array",MAX({name}),MAX({grid}))', largest),
            3: (f"({self.hidden_cell(1)}+{self.hidden_cell(2)})/2", (least + largest) / 2),
            4: (f"MATCH({line},{self.line_choices},0)", 1),
        }

    @property
    def grid_range(self) -> str:
        """The absolute range of the grid."""
        return f"$B${self.first_row}:${self.last_column}${self.last_row}"

    @property
    def line_choices(self) -> str:
        """The range of labels or indices from which people choose the line of the chart."""
        column = "A" if self.plan.rows.choosable is not None else self.hidden_column
        return f"${column}${self.first_row}:${column}${self.last_row}"

    def position(self, first: str, index: int | str, axis: Axis) -> str:
        """Return the formula of a position in a window; empty in a view without a window, whose positions are numbers.

        `first`: the chooser of where it begins. `axis`: of which it is a position.
        """
        if not self.plan.windowed:
            return ""
        position = f"{self.choosers[first].cell}+{index}*{self.choosers['step'].cell}"
        return f'IF(AND({position}>=0,{position}<{axis.size}),INT({position}),"")'

    def line_formula(self, letter: str) -> str:
        """Return the formula of an element of the line that the chart shows, by its column."""
        cell = f"INDEX({letter}${self.first_row}:{letter}${self.last_row},{self.hidden_cell(4)})"
        return f"IF(ISNUMBER({cell}),{cell},NA())"

    def label_of(self, axis: Axis, position: str) -> str:
        """Return the formula of the label of a row or a column."""
        label = position if axis.labels is None else self.cells.formula(axis.labels, position)
        return f'IF(ISNUMBER({position}),{label},"")' if self.plan.windowed else label

    # Values --------------------------------------------------------------------------------------------------

    def elements(self) -> np.ndarray[Any, Any]:
        """Return the elements of the grid at first, row by row."""
        plan = self.plan
        down, across = (np.arange(count) for count in (plan.height, plan.width))
        indices = plan.array.offset + np.add.outer(down * plan.rows.stride, across * plan.columns.stride)
        elements: np.ndarray[Any, Any] = plan.array.buffer[indices.ravel()]
        return elements

    def sample(self, count: int) -> list[Cell]:
        """Return the first elements of the grid, at most `count`."""
        return to_values(self.to_typed(self.elements()[:count]))

    def to_typed(self, elements: np.ndarray[Any, Any]) -> TypedCells:
        """Return elements as the cells of the array's column hold them."""
        return self.cells.to_typed(elements, self.plan.array.dtype_entry, self.plan.style)


def extremes(elements: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the least and the largest of the numbers among some elements; 0 if none is a number."""
    numbers = elements.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
