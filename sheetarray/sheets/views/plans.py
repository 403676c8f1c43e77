"""Plans of views: what each view shows of its array, and how large it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...errors import warn_caller
from ...labels.description import LATITUDE, LONGITUDE, DatasetLabels, is_coordinate, parse_labels
from ...labels.north import find_north
from ...linear.array import LinearArray
from .description import View
from .geometry import Axis, ColumnBlock, ViewedColumns, has_header_words, make_axes, make_dims

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
    """A view that is to be written."""

    title: str  # of its sheet
    name: str  # of the array
    caption: str  # the name, and the unit where labels tell it
    array: LinearArray  # the array that is shown
    block: ColumnBlock  # the columns in which it stands
    style: int | None  # the number of the cell style of its numbers; None for the usual one
    rows: Axis  # the dimension that runs down
    columns: Axis  # the dimension that runs across
    choosers: list[Axis]  # all other dimensions
    height: int  # the number of rows of the grid
    width: int  # the number of columns of the grid
    colors: str  # "array" or "slice": whether colours are spread at first over the values of the array or of the slice
    as_text: bool  # whether all elements are text
    editable: bool = False  # whether the elements stand in the view, and the array's column looks into it

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
    north_up: bool = True,
) -> list[ViewPlan]:
    """Return a plan for each view that is asked for; a warning names the arrays that cannot have one.

    `views`: by the names of arrays. `columns`: in which the arrays stand. `taken`: titles that other sheets have.
    `text_chooser`: whether there is a style for cells in which whatever is typed stays text. `north_up`: whether the
    first row is the north where the rows are a latitude; views of earlier versions begin with its first label.

    Raises:
        ValueError: a dimension that the array does not have, or an array that no view holds for editing.
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
                f"no view of {name!r:.80}: {problem or 'it continues in other sheets, and a view shows only one sheet'}"
            )
            continue
        variable = described.find(name) if described is not None else None
        axes = list(make_axes(name, arrays, variable, described, columns, text_chooser=text_chooser))
        title = _make_title(name, titles)
        titles.add(title.casefold())
        down, across = _find_axes(name, [axis.dim for axis in axes], view, described)
        if north_up and _ends_in_north(axes[down], described):
            axes[down] = axes[down].turn()
        height, width = axes[down].size, axes[across].size
        if view.editable:
            _check_editable(name, arrays[name], axes[down], axes[across])
        else:
            height, width = _fit(height, width)
        units = variable.attrs.get("units") if variable is not None else None
        plan = ViewPlan(
            title=title,
            name=name,
            caption=f"{name} ({units})" if isinstance(units, str) and 0 < len(units) < 40 else name,
            array=arrays[name],
            block=block,
            style=columns.styles[name],
            rows=axes[down],
            columns=axes[across],
            choosers=[axis for number, axis in enumerate(axes) if number not in (down, across)],
            height=height,
            width=width,
            colors=view.colors,
            as_text=columns.as_text,
            editable=view.editable,
        )
        plans.append(plan)
    return plans


def check_views(views: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> None:
    """Refuse views of dimensions that arrays do not have, before anything is written.

    Raises:
        ValueError: a dimension that the array does not have, or one down and across.
    """
    described = parse_labels(arrays) if views else None
    for name, view in views.items():
        variable = described.find(name) if described is not None else None
        dims = make_dims(name, arrays[name], variable)
        _find_axes(name, dims, view, described)


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
    """
    if view.rows is None and view.columns is None:
        latitudes, longitudes = (
            [number for number, dim in enumerate(dims) if _is_along(dim, words, described)]
            for words in (LATITUDE, LONGITUDE)
        )
        if len(latitudes) == len(longitudes) == 1:
            return latitudes[0], longitudes[0]
    down = None if view.rows is None else _find_axis(name, dims, "rows", view.rows)
    across = _find_axis(name, dims, "columns", view.columns, down)
    down = _find_axis(name, dims, "rows", view.rows, across)
    if down == across:
        raise ValueError(f"the view of {name!r:.80} has the dimension {dims[down]!r:.80} down and across")
    return down, across


def _is_along(dim: str, words: Collection[str], described: DatasetLabels | None) -> bool:
    """Return whether a dimension, or its coordinate, is a latitude, or a longitude."""
    coordinate = described.find(dim) if described is not None else None
    return is_coordinate(dim, coordinate.attrs if coordinate is not None and coordinate.dims == (dim,) else {}, words)


def _ends_in_north(axis: Axis, described: DatasetLabels | None) -> bool:
    """Return whether the last label of a dimension lies in the north."""
    coordinate = described.find(axis.dim) if described is not None and axis.labels is not None else None
    if coordinate is None or axis.labels is None:
        return False
    return find_north(axis.labels.array.to_numpy(), axis.dim, coordinate.attrs) == "last"


def _find_axis(name: str, dims: Sequence[str], option: str, wanted: str | int | None, other: int | None = None) -> int:
    """Return the number of a dimension; by default the last one that is not the other."""
    if wanted is None:
        return next(number for number in reversed(range(len(dims))) if number != other)
    if isinstance(wanted, str) and wanted in dims:
        return dims.index(wanted)
    if isinstance(wanted, int) and not isinstance(wanted, bool) and -len(dims) <= wanted < len(dims):
        return wanted % len(dims)
    raise ValueError(
        f"the array {name!r:.80} has the dimensions {', '.join(dims):.400}, and no {wanted!r:.80}: "
        f"{option} of a view is one of them"
    )


def _find_problem(array: LinearArray) -> str:
    """Return the reason why an array cannot have a view; an empty text if it can."""
    if array.dtype_entry.kind in ("string", "generic") and has_header_words(array.buffer.tolist()):
        return "words of headers are among its elements, and its sheet would look like one of arrays"
    return ""


def _check_editable(name: str, array: LinearArray, rows: Axis, columns: Axis) -> None:
    """Refuse an array whose elements cannot stand in a view."""
    formulas = array.length + array.length // (rows.size * columns.size) * (rows.size + columns.size + array.ndim)
    if formulas > MOST_FORMULAS:
        reason = f"it takes {formulas} formulas, one for each element and label, and {MOST_FORMULAS} are the most"
    elif columns.size > MOST_EDITABLE_COLUMNS:
        reason = f"its rows have {columns.size} elements, and a sheet has room for {MOST_EDITABLE_COLUMNS}"
    elif array.dtype_entry.kind == "generic":
        reason = "it is generic, and a formula turns a blank into 0"
    else:
        return
    raise ValueError(f"no view of {name!r:.80} can be edited: {reason}")


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
