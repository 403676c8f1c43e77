"""`View`, with which a caller asks for a view of an array, and the selection of the arrays that get one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import NotFoundError, check_kinds, warn_caller
from ...linear.array import LinearArray

MOST_VIEWS = 100  # views that `views=True` makes; nobody looks through more sheets


@dataclass(frozen=True, slots=True)
class View:
    """A sheet that shows an array of two dimensions or more, one slice at a time.

    An array with a latitude and a longitude is shown as a map: latitude runs down, longitude across. For any other
    array, the view shows the last two dimensions. Set `rows` and `columns` to choose other dimensions.

    Attributes:
        rows: the dimension that runs down, by name or number.
        columns: the dimension that runs across, by name or number.
        colors: "array" spreads the colours over the values of the whole array, "slice" over the values of the slice.
            People can change this setting in a cell of the view.
        editable: put the elements into the view, all slices below each other. People type into the view, and `read`
            returns what they typed. The array's column then holds formulas that refer to the view.

    Raises:
        TypeError: `rows` or `columns` is neither a name nor a number.
        ValueError: `colors` is neither "array" nor "slice".

    Example:
        >>> View(rows="time", columns="station")
        View(rows='time', columns='station', colors='array', editable=False)
    """

    rows: str | int | None = None
    columns: str | int | None = None
    colors: Literal["array", "slice"] = "array"
    editable: bool = False

    def __post_init__(self) -> None:
        check_kinds(str | int | None, "the name or the number of a dimension", rows=self.rows, columns=self.columns)
        if self.colors not in ("array", "slice"):
            raise ValueError(f'colors is "array" or "slice", not {self.colors!r:.80}')


Views = bool | str | Sequence[str] | Mapping[str, View]


def select_views(views: Views, arrays: Mapping[str, LinearArray]) -> dict[str, View]:
    """Return the views that are asked for, by the names of the arrays.

    Raises:
        ValueError: an array that no view shows: of fewer than two dimensions, or empty.
        NotFoundError: no array of that name.
        TypeError: `views` is neither a boolean, a name, a list of names nor a mapping of names to views.
    """
    if views is False:
        return {}
    if views is True:
        names = [name for name, array in arrays.items() if can_be_shown(array)]
        if len(names) > MOST_VIEWS:
            message = f"of {len(names)} arrays the first {MOST_VIEWS} get a view: views=[..] names others"
            warn_caller(message)
        return dict.fromkeys(names[:MOST_VIEWS], View())
    selected = _views_by_name(views)
    for name in selected:
        if name not in arrays:
            raise NotFoundError(f"no array {name!r:.80} to view; there is {', '.join(map(repr, arrays)):.400}")
        if not can_be_shown(arrays[name]):
            shape = arrays[name].shape
            raise ValueError(
                f"no view of {name!r:.80}: its shape is {shape}, and a view shows elements in two dimensions"
            )
    return selected


def can_be_shown(array: LinearArray) -> bool:
    """Return whether an array can have a view: of two dimensions at least, and not empty."""
    return array.ndim >= 2 and array.length > 0


def _views_by_name(views: Any) -> dict[str, View]:
    if isinstance(views, str):
        return {views: View()}
    if isinstance(views, Mapping) and all(isinstance(view, View) for view in views.values()):
        return dict(views)
    if isinstance(views, Sequence) and all(isinstance(name, str) for name in views):
        return dict.fromkeys(views, View())
    raise TypeError(f"views is True, names of arrays, or a View for each name, not {views!r:.80}")
