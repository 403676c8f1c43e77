"""Renews the views of arrays whose number of rows has changed: after `adopt`, and after rows were appended."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...columns import ResizedArray
from ...composite import read_resized_arrays
from ...errors import SheetArrayError, quote_names, warn_caller
from .requests import SheetsApi
from .retries import ChangedError, RefusedError
from .sheet import GoogleSheet
from .state import State, Worksheet
from .view_findings import read_typed_over
from .views import ViewSource, find_views, write_views


def renew_views(service: SheetsApi, state: State, arrays: Mapping[str, ResizedArray], names: Collection[str]) -> None:
    """Make those views again that exist of some arrays.

    Args:
        service: the spreadsheet.
        state: the state of the spreadsheet; only its worksheets and views are used, and may be older than the arrays.
        arrays: all arrays of the spreadsheet as they stand now, by name.
        names: of the arrays that have changed.
    """
    for sheet in state.arrays:
        here = {name: array for name, array in arrays.items() if array.column.group[0].title == sheet.title}
        views = find_views(state, sheet.gid, [name for name in names if name in here])
        if views:
            dates = all(view.view.dates for view in views if view.view is not None)
            kept = {view.gid: view.title for view, typed in read_typed_over(service, views) if typed}
            write_views(service, ViewSource.of_resized(sheet.gid, here, dates=dates), {}, kept=kept)
            if kept:
                warn_caller(
                    f"{quote_names(list(kept.values()))}: not made anew, since people typed over formulas of it; check "
                    "names the cells: type their values into the array's column, delete the view, and write it again"
                )


def renew_grown_views(service: SheetsApi, state: State, sheet: Worksheet, names: Collection[str]) -> None:
    """Make those views again that exist of arrays to which rows were appended; a failure is a warning.

    The worksheet is read only if there is such a view.

    Args:
        service: the spreadsheet.
        state: the state of the spreadsheet before the rows were appended.
        sheet: the worksheet.
        names: of the arrays.
    """
    if not find_views(state, sheet.gid, names):
        return
    try:
        arrays = read_resized_arrays([GoogleSheet(service, sheet.title)], missing="error")
    except (SheetArrayError, ChangedError, RefusedError) as error:
        # An exception would make people append the rows once more
        warn_caller(f"the rows are appended, but views do not show them: {error!s:.300}; write the views once more")
        return
    renew_views(service, state, arrays, names)
