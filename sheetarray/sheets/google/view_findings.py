"""The findings of `check` about views in a spreadsheet in which people have typed over formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...composite import read_resized_arrays
from ...errors import Finding, SheetArrayError
from ...views.description import View
from ...views.geometry import ViewPlan, plan_views
from ...views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from .address import Rect
from .fetch import fetch_values
from .requests import SheetsApi
from .sheet import GoogleSheet
from .state import State, Worksheet
from .views import ViewSource


def find_typed_views(sheets: Sequence[GoogleSheet], state: State) -> Iterator[Finding]:
    """Yield a finding for each formula that people have typed over, in the views of arrays on some worksheets.

    Args:
        sheets: the worksheets.
        state: of the spreadsheet.
    """
    titles = {sheet.title for sheet in sheets}
    views_present = [sheet for sheet in state.worksheets if sheet.view is not None]
    for view, typed in read_typed_over(sheets[0].service, views_present):
        arrays = state.by_id(view.view.of) if view.view is not None else None
        if view.view is None or arrays is None or arrays.title not in titles or not typed:
            continue
        notes, plans = view.view, list[ViewPlan]()
        address: Callable[[int], str] = str
        try:
            (sheet,) = (sheet for sheet in sheets if sheet.title == arrays.title)
            found = read_resized_arrays([sheet], missing="nan")
            source = ViewSource.of_resized(arrays.gid, found, dates=notes.dates)
            views = {notes.array: View(notes.rows, notes.columns)} if notes.array in found else {}
            plans = plan_views(views, source.arrays, source.find_columns(arrays.title), taken=(), text_chooser=True)
            address = found[notes.array].column.element_address if plans else str
        except SheetArrayError:  # as other findings say
            pass
        yield from describe_typed_over(typed, view.title, notes.array, plans[0] if plans else None, address)


def read_typed_over(service: SheetsApi, views: Sequence[Worksheet]) -> Iterator[tuple[Worksheet, TypedOver]]:
    """Yield each of some views, and the cells in which formulas stood.

    Args:
        service: the spreadsheet.
        views: the worksheets of the views.
    """
    ranges = [(sheet.title, Rect(0, 0, sheet.rows, sheet.columns)) for sheet in views]
    fetched = fetch_values(service, ranges, formulas=True, dates=True) if ranges else ()
    for sheet, (_, columns) in zip(views, fetched, strict=True):
        places = [
            (row, column, cell)
            for column, cells in enumerate(columns)
            for row, cell in enumerate(cells)
            if cell is not None and cell != ""
        ]
        formulas = [isinstance(cell, str) and cell.startswith("=") for _, _, cell in places]
        values = [None if is_formula else cell for (_, _, cell), is_formula in zip(places, formulas, strict=True)]
        cells = ViewCells(
            np.array([row for row, _, _ in places], np.int64),
            np.array([column for _, column, _ in places], np.int64),
            np.array(formulas, np.bool_),
            values,
        )
        notes = sheet.view
        yield sheet, find_typed_over(cells, None if notes is None else f"{notes.rows} \\ {notes.columns}")
