"""A view that stands in a spreadsheet, with the array that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....columns import ElementRun, LayoutColumn, ResizedArray
from ....linear.array import LinearArray
from ...views.geometry import ViewedColumns
from ..appearance import date_code
from ..named_ranges import PlacedColumn
from ..state.spreadsheet import Worksheet

_DATES = 1  # the style of dates in `ViewedColumns`; the service has number formats, and no numbers for them


@dataclass(frozen=True)
class ViewSource:
    """Arrays of a worksheet, and where they stand in it."""

    gid: int  # of the worksheet
    title: str
    arrays: Mapping[str, LinearArray]  # by name
    columns: ViewedColumns  # their cells
    dates: bool  # whether dates stand in cells as serial dates, and not as text

    @classmethod
    def of_write(
        cls, gid: int, title: str, arrays: Mapping[str, LinearArray], placed: Iterable[PlacedColumn], *, dates: bool
    ) -> ViewSource:
        """Return the arrays that a write has put into a worksheet, as the source of its views."""
        columns = ViewedColumns({}, {}, as_text=False)
        for column in placed:
            piece = column.piece
            if size := len(piece.buffer):
                cells = ElementRun(piece.name, title, column.column, column.elements.top, size, piece.start)
                columns.by_name.setdefault(piece.name, []).append(cells)
            columns.styles.setdefault(piece.name, _style_of(piece))
        return cls(gid, title, arrays, columns, dates)

    @classmethod
    def of_resized(cls, sheet: Worksheet, arrays: Mapping[str, ResizedArray], *, dates: bool) -> ViewSource:
        """Return the arrays that stand in a worksheet, as the source of its views."""
        linear = {name: array.linear for name, array in arrays.items()}
        columns = ViewedColumns.of_resized(arrays, _style_of if dates else lambda _: None, as_text=False)
        return cls(sheet.gid, sheet.title, linear, columns, dates)


def _style_of(piece: LayoutColumn) -> int | None:
    """Return the style of a column of serial dates; None for any other column."""
    return None if date_code(piece) is None else _DATES
