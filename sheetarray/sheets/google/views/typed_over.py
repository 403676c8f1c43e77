"""Formulas of views that people have typed over, as findings of `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....errors import Finding, SheetArrayError
from ...arrays_of_sheets import read_resized_arrays
from ...views.description import View
from ...views.plans import ViewPlan, plan_views
from ...views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from ..address import Rect
from ..requests import SheetsApi
from ..state.spreadsheet import State, Worksheet
from ..worksheet import GoogleSheet, fetch_values
from .source import ViewSource


def find_typed_views(sheets: Sequence[GoogleSheet], state: State) -> Iterator[Finding]:
    """Yield a finding for each formula that people have typed over, in the views of arrays on some worksheets."""
    titles = {sheet.title for sheet in sheets}
    views_present = [sheet for sheet in state.worksheets if sheet.view is not None]
    for view, typed in fetch_typed_over(sheets[0].service, views_present):
        arrays = state.by_id(view.view.of) if view.view is not None else None
        if view.view is None or arrays is None or arrays.title not in titles or not typed:
            continue
        notes, plans = view.view, list[ViewPlan]()
        address: Callable[[int], str] = str
        try:
            (sheet,) = (sheet for sheet in sheets if sheet.title == arrays.title)
            resized = read_resized_arrays([sheet], missing="nan")
            source = ViewSource.of_resized(arrays, resized, dates=notes.dates)
            views = {notes.array: View(notes.rows, notes.columns)} if notes.array in resized else {}
            asked: dict[str, Any] = {"taken": (), "text_chooser": True, "north_up": notes.north_up}
            plans = plan_views(views, source.arrays, source.columns, **asked)
            address = resized[notes.array].column.element_address if plans else str
        except SheetArrayError:  # as other findings say
            pass
        yield from describe_typed_over(typed, view.title, notes.array, plans[0] if plans else None, address)


def fetch_typed_over(service: SheetsApi, views: Sequence[Worksheet]) -> Iterator[tuple[Worksheet, TypedOver]]:
    """Yield each of some views, and the cells in which formulas stood."""
    ranges = [(sheet.title, Rect(0, 0, sheet.rows, sheet.columns)) for sheet in views]
    fetched = fetch_values(service, ranges, formulas=True, dates=True) if ranges else ()
    for sheet, columns in zip(views, fetched, strict=True):
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
