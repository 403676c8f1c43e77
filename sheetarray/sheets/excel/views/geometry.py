"""Which dimension of an array goes where in its view, with which labels, and how much of it is in sight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....cells.serials import serial_unit
from ....columns import Layout, LayoutColumn
from ....columns.words import CODES, NONE, code_of
from ....errors import FormatError, LimitError, warn_caller
from ....labels.description import NAME as LABELS_NAME
from ....labels.description import DatasetLabels, VariableLabels, is_description
from ....linear import LinearArray
from ..names import LONGEST_TITLE, check_title
from .description import View

MOST_FORMULAS = 100_000
MOST_COLUMNS = 1000  # side by side, without a window
WINDOW_COLUMNS = 200
OTHER_FORMULAS = 20  # besides those of rows and columns
_LONGEST_MATCH = 255  # characters of a text that MATCH looks for
_WIDEST_NUMBER = 10**10  # shown with all its digits in a list of choices
_WRONG_IN_TITLE = "[]:*?/\\"
_END = " view"


@dataclass(frozen=True)
class Labels:
    """The coordinate of a dimension.

    Attributes:
        name: of the array that it is.
        array: the same.
        piece: its column.
        style: of its numbers.
        can_be_chosen: whether a cell that holds one of the labels says which: no two are equal as spreadsheets compare
            them, and none changes when it is typed.
    """

    name: str
    array: LinearArray
    piece: LayoutColumn
    style: int | None
    can_be_chosen: bool


@dataclass(frozen=True)
class Axis:
    """A dimension of an array in view.

    Attributes:
        dim: its name.
        size: how many indices it has.
        stride: in elements.
        labels: its coordinate; None where indices stand for it.
    """

    dim: str
    size: int
    stride: int
    labels: Labels | None

    @property
    def choosable(self) -> Labels | None:
        """The labels, where a cell can name one of them."""
        return self.labels if self.labels is not None and self.labels.can_be_chosen else None


@dataclass(frozen=True)
class ViewPlan:
    """A view that is to be written.

    Attributes:
        title: of its sheet.
        name: of the array.
        caption: the name, and the unit where labels tell it.
        array: what is shown.
        piece: its column.
        style: of its numbers.
        rows: the dimension that runs down.
        columns: the dimension that runs across.
        choosers: all others.
        height: rows of the grid.
        width: columns of the grid.
        colors: what colours are spread over at first, "array" or "slice".
        as_text: whether all elements are text.
    """

    title: str
    name: str
    caption: str
    array: LinearArray
    piece: LayoutColumn
    style: int | None
    rows: Axis
    columns: Axis
    choosers: list[Axis]
    height: int
    width: int
    colors: str
    as_text: bool

    @property
    def windowed(self) -> bool:
        """Whether only a part of the slice is in sight."""
        return (self.height, self.width) != (self.rows.size, self.columns.size)

    @property
    def has_numbers(self) -> bool:
        """Whether the elements are numbers, which have colours and a chart."""
        return not self.as_text and self.array.dtype_entry.kind in ("float", "int")


@dataclass(frozen=True)
class _Columns:
    """Where the arrays of a write stand: the pieces of each by its name, the style of the first one's numbers, and
    whether elements are text, whatever they are.
    """

    pieces: dict[str, list[LayoutColumn]]
    styles: dict[str, int | None]
    as_text: bool

    def only(self, name: str) -> LayoutColumn | None:
        """Return the column of an array that takes one; None for any other."""
        pieces = self.pieces.get(name, [])
        return pieces[0] if len(pieces) == 1 and len(pieces[0].buffer) else None


def plan_views(
    views: Mapping[str, View],
    arrays: Mapping[str, LinearArray],
    layouts: Sequence[Layout],
    formats: Sequence[Sequence[int | None]],
    *,
    taken: Sequence[str],
    as_text: bool,
    text_chooser: bool,
) -> list[ViewPlan]:
    """Return a plan for each view that is asked for; a warning says for which there is none.

    Args:
        views: by the names of arrays.
        arrays: all that are written.
        layouts: where they stand.
        formats: the styles of the numbers in each column of each layout.
        taken: titles that other sheets have.
        as_text: whether all elements are text.
        text_chooser: whether there is a style for cells in which whatever is typed stays text.

    Raises:
        LimitError: a dimension that the array does not have.
    """
    if not views:
        return []
    columns = _Columns({}, {}, as_text)
    for layout, styles in zip(layouts, formats, strict=True):
        for cells, style in zip(layout.pieces, styles, strict=True):
            columns.pieces.setdefault(cells.name, []).append(cells)
            columns.styles.setdefault(cells.name, style)
    described = _parse_labels(arrays)
    titles = {title.casefold() for title in taken}
    plans = []
    for name, view in views.items():
        piece = columns.only(name)
        if problem := _find_problem(arrays[name], piece):
            warn_caller(f"no view of {name!r:.80}: {problem}")
        elif piece is not None:
            variable = described.find(name) if described is not None else None
            axes = list(_make_axes(name, arrays, variable, described, columns, text_chooser=text_chooser))
            title = _make_title(name, titles)
            titles.add(title.casefold())
            style = columns.styles[name]
            plans.append(_plan_view(title, name, view, variable, arrays[name], piece, style, axes, as_text))
    return plans


def _plan_view(
    title: str,
    name: str,
    view: View,
    variable: VariableLabels | None,
    array: LinearArray,
    piece: LayoutColumn,
    style: int | None,
    axes: list[Axis],
    as_text: bool,
) -> ViewPlan:
    across = _find_axis(name, axes, view.columns, None if view.rows is None else _find_axis(name, axes, view.rows))
    down = _find_axis(name, axes, view.rows, across)
    if down == across:
        raise LimitError(f"the view of {name!r:.80} has the dimension {axes[down].dim!r:.80} down and across")
    units = variable.attrs.get("units") if variable is not None else None
    height, width = _fit(axes[down].size, axes[across].size)
    return ViewPlan(
        title,
        name,
        f"{name} ({units})" if isinstance(units, str) and 0 < len(units) < 40 else name,
        array,
        piece,
        style,
        axes[down],
        axes[across],
        [axis for place, axis in enumerate(axes) if place not in (down, across)],
        height,
        width,
        view.colors,
        as_text,
    )


def _fit(height: int, width: int) -> tuple[int, int]:
    """Return how many rows and columns of a slice are in sight.

    Example:
        >>> _fit(300, 300), _fit(600, 400)
        ((300, 300), (491, 200))
    """
    if width <= MOST_COLUMNS and count_formulas(height, width, windowed=False) <= MOST_FORMULAS:
        return height, width
    width = min(width, WINDOW_COLUMNS)
    return min(height, (MOST_FORMULAS - OTHER_FORMULAS - 3 * width) // (width + 2)), width


def count_formulas(height: int, width: int, *, windowed: bool) -> int:
    """Return how many formulas a view has at most: grid, labels, the line of the chart, and positions in a window."""
    return height * width + height * (1 + windowed) + width * (2 + windowed) + OTHER_FORMULAS


def _find_axis(name: str, axes: Sequence[Axis], wanted: str | int | None, other: int | None = None) -> int:
    """Return which dimension is meant; the last one that is not the other where none is named.

    Raises:
        LimitError: the array has no such dimension.
    """
    dims = [axis.dim for axis in axes]
    if wanted is None:
        return next(place for place in reversed(range(len(axes))) if place != other)
    if isinstance(wanted, str) and wanted in dims:
        return dims.index(wanted)
    if isinstance(wanted, int) and not isinstance(wanted, bool) and -len(axes) <= wanted < len(axes):
        return wanted % len(axes)
    raise LimitError(f"the array {name!r:.80} has the dimensions {', '.join(dims):.400}, and no {wanted!r:.80}")


# What can be shown ---------------------------------------------------------------------------------------------


def _find_problem(array: LinearArray, piece: LayoutColumn | None) -> str:
    """Return why an array has no view; empty where it can have one."""
    if piece is None:
        return "it goes on in other columns, and a formula looks into one"
    if array.dtype_entry.kind in ("string", "generic") and has_header_words(array.buffer.tolist()):
        return "words of headers are among its elements, and its sheet would look like one of arrays"
    return ""


def has_header_words(texts: Sequence[Any]) -> bool:
    """Return whether some texts, beside each other, could be taken for the header of an array.

    Example:
        >>> has_header_words(["shape", "data"]), has_header_words([" NDArray"])
        (False, True)
    """
    codes = {code for text in texts if isinstance(text, str) and (code := code_of(text)) != NONE}
    return CODES["ndarray"] in codes or len(codes) > 2


def _make_title(name: str, taken: set[str]) -> str:
    """Return a title that no other sheet has: the name as far as a title may have it, and `view`."""
    base = "".join("_" if mark in _WRONG_IN_TITLE or not mark.isprintable() else mark for mark in name)
    base = base.strip().strip("'").replace("_x", "_ x")
    number = 1
    while True:
        end = _END if number == 1 else f"{_END} ({number})"
        start = base
        while len((start + end).encode("utf-16-le", "surrogatepass")) // 2 > LONGEST_TITLE:
            start = start[:-1]
        title = start.strip() + end
        if title.casefold() not in taken:
            check_title(title := title.strip())
            return title
        number += 1


# Dimensions and their labels -----------------------------------------------------------------------------------


def _parse_labels(arrays: Mapping[str, LinearArray]) -> DatasetLabels | None:
    """Return what is said of the arrays' dimensions; None where nothing is."""
    description = arrays.get(LABELS_NAME)
    if description is None or not is_description(LABELS_NAME, pieces := description.to_numpy()):
        return None
    try:
        return DatasetLabels.from_pieces(pieces)
    except FormatError:
        return None  # an array that only has the name


def _make_axes(
    name: str,
    arrays: Mapping[str, LinearArray],
    variable: VariableLabels | None,
    described: DatasetLabels | None,
    columns: _Columns,
    *,
    text_chooser: bool,
) -> Iterator[Axis]:
    array = arrays[name]
    dims: Sequence[str] = [f"{name}_{axis}" for axis in range(array.ndim)]
    if variable is not None and len(variable.dims) == array.ndim:
        dims = variable.dims
    for dim, size, stride in zip(dims, array.shape, array.strides, strict=True):
        coordinate = described.find(dim) if described is not None else None
        labels = None
        if coordinate is not None and coordinate.dims == (dim,) and dim in arrays and arrays[dim].shape == (size,):
            labels = _make_labels(dim, arrays[dim], columns, text_chooser=text_chooser)
        yield Axis(dim, size, stride, labels)


def _make_labels(name: str, array: LinearArray, columns: _Columns, *, text_chooser: bool) -> Labels | None:
    piece = columns.only(name)
    kind = array.dtype_entry.kind
    if piece is None or kind not in ("float", "int", "string", "datetime"):
        return None
    values = array.to_numpy()
    if kind == "string" and has_header_words(values.tolist()):
        return None
    style = columns.styles[name]
    plain = array.strides == (1,) and array.offset == 0 and array.capacity == array.length
    plain = plain and (kind == "string" or not columns.as_text)
    return Labels(name, array, piece, style, plain and _can_be_chosen(values, kind, style, text_chooser=text_chooser))


def _can_be_chosen(values: np.ndarray[Any, Any], kind: str, style: int | None, *, text_chooser: bool) -> bool:
    """Return whether a cell that is chosen from a list of the labels holds exactly one of them."""
    if kind == "datetime":
        if np.isnat(values).any() or len(np.unique(values)) < len(values):
            return False
        if style is None or serial_unit(values.dtype) is None:
            return text_chooser  # ISO text
        seconds = values.astype("datetime64[ms]").astype(np.int64)
        return bool((seconds % 10_800_000 == 0).all())  # eighths of a day, which a double holds
    if kind in ("float", "int"):
        numbers = values.astype(np.float64)
        fine = (np.abs(numbers) < _WIDEST_NUMBER).all() and len(np.unique(numbers)) == len(values)
        return bool(fine) and all(float(f"{number:.9g}") == number for number in numbers.tolist())
    texts = [str(text) for text in values.tolist()]
    return len({text.casefold() for text in texts}) == len(texts) and all(
        _stays_text(text, text_chooser=text_chooser) for text in texts
    )


def _stays_text(text: str, *, text_chooser: bool) -> bool:
    """Return whether a text that is chosen from a list is found again by MATCH, which knows wildcards."""
    if not text.strip() or text != text.strip() or len(text) > _LONGEST_MATCH or set(text) & set("*?~\n\r\t"):
        return False
    if text.startswith("'"):
        return False
    return text_chooser or not (
        any(mark.isdigit() for mark in text) or text[0] in "=+-@" or text.casefold() in ("true", "false")
    )
