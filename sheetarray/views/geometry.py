"""Plans views: which dimension of an array runs down and which across, with which labels, and how much is in sight."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..errors import LimitError, warn_caller
from ..labels.description import LATITUDE, LONGITUDE, DatasetLabels, VariableLabels, is_coordinate, parse_labels
from ..linear import LinearArray
from .axes import Axis, ColumnBlock, ViewedColumns, has_header_words, make_axes, make_dims
from .description import View

MOST_FORMULAS = 100_000
MOST_COLUMNS = 1000  # side by side, without a window
WINDOW_COLUMNS = 200
OTHER_FORMULAS = 20  # formulas of a view that has none in its grid, labels and positions; rounded up
MOST_EDITABLE_COLUMNS = 16_382  # beside the labels and the hidden column
_WRONG_IN_TITLE = "[]:*?/\\"
_END = " view"
_LONGEST_TITLE = 31  # UTF-16 code units, of a workbook's sheet: what is shown elsewhere can be downloaded as one


@dataclass(frozen=True)
class ViewPlan:
    """A view that is to be written.

    Attributes:
        title: of its sheet.
        name: of the array.
        caption: the name, and the unit where labels tell it.
        array: the array that is shown.
        block: the columns in which it stands.
        style: the number of the cell style of its numbers; None for the usual one.
        rows: the dimension that runs down.
        columns: the dimension that runs across.
        choosers: all other dimensions.
        height: the number of rows of the grid.
        width: the number of columns of the grid.
        colors: "array" or "slice": whether colours are spread at first over the values of the array or of the slice.
        as_text: whether all elements are text.
        editable: whether the elements stand in the view, and the array's column looks into it.
    """

    title: str
    name: str
    caption: str
    array: LinearArray
    block: ColumnBlock
    style: int | None
    rows: Axis
    columns: Axis
    choosers: list[Axis]
    height: int
    width: int
    colors: str
    as_text: bool
    editable: bool = False

    @property
    def windowed(self) -> bool:
        """Whether only a part of the slice is in sight."""
        return (self.height, self.width) != (self.rows.size, self.columns.size)

    @property
    def has_numbers(self) -> bool:
        """Whether the elements are numbers, which have colours and a chart."""
        return not self.as_text and self.array.dtype_entry.kind in ("float", "int")


def plan_views(
    views: Mapping[str, View],
    arrays: Mapping[str, LinearArray],
    columns: ViewedColumns,
    *,
    taken: Collection[str],
    text_chooser: bool,
) -> list[ViewPlan]:
    """Return a plan for each view that is asked for; a warning names the arrays that cannot have one.

    `views`: by the names of arrays. `columns`: in which the arrays stand. `taken`: titles that other sheets have.
    `text_chooser`: whether there is a style for cells in which whatever is typed stays text.

    Raises:
        LimitError: a dimension that the array does not have, or an array that no view holds for editing.
    """
    if not views:
        return []
    described = parse_labels(arrays)
    titles = {title.casefold() for title in taken}
    plans = []
    for name, view in views.items():
        block = columns.block_of(name)
        problem = _find_problem(arrays[name])
        if block is None or problem:
            warn_caller(
                f"no view of {name!r:.80}: {problem or 'it goes on in other sheets, into which no formula looks'}"
            )
            continue
        variable = described.find(name) if described is not None else None
        axes = list(make_axes(name, arrays, variable, described, columns, text_chooser=text_chooser))
        title = _make_title(name, titles)
        titles.add(title.casefold())
        down, across = _find_axes(name, [axis.dim for axis in axes], view, described)
        plans.append(_plan_view(title, name, view, variable, arrays[name], block, columns, axes, down, across))
    return plans


def check_views(views: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> None:
    """Refuse views of dimensions that arrays do not have, before anything is written.

    Raises:
        LimitError: a dimension that the array does not have, or one down and across.
    """
    described = parse_labels(arrays) if views else None
    for name, view in views.items():
        variable = described.find(name) if described is not None else None
        dims = make_dims(name, arrays[name], variable)
        _find_axes(name, dims, view, described)


def _plan_view(
    title: str,
    name: str,
    view: View,
    variable: VariableLabels | None,
    array: LinearArray,
    block: ColumnBlock,
    viewed: ViewedColumns,
    axes: list[Axis],
    down: int,
    across: int,
) -> ViewPlan:
    units = variable.attrs.get("units") if variable is not None else None
    height, width = axes[down].size, axes[across].size
    if view.editable:
        _check_editable(name, array, axes[down], axes[across])
    else:
        height, width = _fit(height, width)
    return ViewPlan(
        title,
        name,
        f"{name} ({units})" if isinstance(units, str) and 0 < len(units) < 40 else name,
        array,
        block,
        viewed.styles[name],
        axes[down],
        axes[across],
        [axis for number, axis in enumerate(axes) if number not in (down, across)],
        height,
        width,
        view.colors,
        viewed.as_text,
        view.editable,
    )


def _fit(height: int, width: int) -> tuple[int, int]:
    """Return the number of rows and columns of a slice that are in sight.

    Example:
        >>> _fit(300, 300), _fit(600, 400)
        ((300, 300), (491, 200))
    """
    if width <= MOST_COLUMNS and count_formulas(height, width, windowed=False) <= MOST_FORMULAS:
        return height, width
    width = min(width, WINDOW_COLUMNS)
    return min(height, (MOST_FORMULAS - OTHER_FORMULAS - 3 * width) // (width + 2)), width


def count_formulas(height: int, width: int, *, windowed: bool) -> int:
    """Return the largest number of formulas in a view: grid, labels, line of the chart, positions in a window."""
    return height * width + height * (1 + windowed) + width * (2 + windowed) + OTHER_FORMULAS


def _find_axes(name: str, dims: Sequence[str], view: View, described: DatasetLabels | None) -> tuple[int, int]:
    """Return the number of the dimension that runs down, and of the one that runs across.

    If the view names neither, latitude runs down and longitude across; else the last dimensions do.

    Raises:
        LimitError: the array has no such dimension, or both are the same.
    """
    if view.rows is None and view.columns is None:
        latitudes, longitudes = (
            [number for number, dim in enumerate(dims) if _is_along(dim, words, described)]
            for words in (LATITUDE, LONGITUDE)
        )
        if len(latitudes) == len(longitudes) == 1:
            return latitudes[0], longitudes[0]
    across = _find_axis(name, dims, view.columns, None if view.rows is None else _find_axis(name, dims, view.rows))
    down = _find_axis(name, dims, view.rows, across)
    if down == across:
        raise LimitError(f"the view of {name!r:.80} has the dimension {dims[down]!r:.80} down and across")
    return down, across


def _is_along(dim: str, words: Collection[str], described: DatasetLabels | None) -> bool:
    """Return whether a dimension, or its coordinate, is a latitude, or a longitude."""
    coordinate = described.find(dim) if described is not None else None
    return is_coordinate(dim, coordinate.attrs if coordinate is not None and coordinate.dims == (dim,) else {}, words)


def _find_axis(name: str, dims: Sequence[str], wanted: str | int | None, other: int | None = None) -> int:
    """Return the number of a dimension; by default the last one that is not the other.

    Raises:
        LimitError: the array has no such dimension.
    """
    if wanted is None:
        return next(number for number in reversed(range(len(dims))) if number != other)
    if isinstance(wanted, str) and wanted in dims:
        return dims.index(wanted)
    if isinstance(wanted, int) and not isinstance(wanted, bool) and -len(dims) <= wanted < len(dims):
        return wanted % len(dims)
    raise LimitError(f"the array {name!r:.80} has the dimensions {', '.join(dims):.400}, and no {wanted!r:.80}")


# What can be shown ---------------------------------------------------------------------------------------------


def _find_problem(array: LinearArray) -> str:
    """Return the reason why an array cannot have a view; an empty text if it can."""
    if array.dtype_entry.kind in ("string", "generic") and has_header_words(array.buffer.tolist()):
        return "words of headers are among its elements, and its sheet would look like one of arrays"
    return ""


def _check_editable(name: str, array: LinearArray, rows: Axis, columns: Axis) -> None:
    """Refuse an array whose elements cannot stand in a view.

    Raises:
        LimitError: it takes more formulas than a view has, or rows of more cells than a sheet, or it may hold blanks.
    """
    formulas = array.length + array.length // (rows.size * columns.size) * (rows.size + columns.size + array.ndim)
    if formulas > MOST_FORMULAS:
        reason = f"it takes {formulas} formulas, one for each element and label, and {MOST_FORMULAS} are the most"
    elif columns.size > MOST_EDITABLE_COLUMNS:
        reason = f"its rows have {columns.size} elements, and a sheet has room for {MOST_EDITABLE_COLUMNS}"
    elif array.dtype_entry.kind == "generic":
        reason = "it is generic, and a formula makes a number of a blank"
    else:
        return
    raise LimitError(f"no view of {name!r:.80} can be edited: {reason}")


def _make_title(name: str, taken: set[str]) -> str:
    """Return a title that no other sheet has: the name as far as a title may have it, and `view`."""
    base = "".join("_" if mark in _WRONG_IN_TITLE or not mark.isprintable() else mark for mark in name)
    base = base.strip().strip("'").replace("_x", "_ x")
    number = 1
    while True:
        end = _END if number == 1 else f"{_END} ({number})"
        start = base
        while len((start + end).encode("utf-16-le", "surrogatepass")) // 2 > _LONGEST_TITLE:
            start = start[:-1]
        title = start.strip() + end
        if title.casefold() not in taken:
            return title.strip()
        number += 1
