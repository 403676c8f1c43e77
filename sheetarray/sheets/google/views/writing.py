"""Views written beside their arrays, renewed after rows were added or deleted, and told apart from other worksheets.

Arrays are written first, all or none of them. Their views follow in one batch, which is refused if somebody has
written meanwhile. If it fails, the arrays stand whole, and a warning says that their views do not. Developer metadata
on the worksheet of a view say what it shows: a reader passes it over without looking at its cells.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal

from ....columns import ResizedArray
from ....errors import LimitError, RemoteError, SheetArrayError, quote_names, warn_caller
from ....linear.array import LinearArray
from ...arrays_of_sheets import read_resized_arrays
from ...views.description import View
from ...views.geometry import ColumnBlock
from ...views.plans import ViewPlan, check_views, plan_views
from ..address import Rect
from ..changes import Requests, apply_changes, new_gid, prove_range
from ..plan import check_cells
from ..requests import Answer, SheetsApi
from ..retries import ChangedError, RefusedError
from ..state.notes import ViewNotes
from ..state.spreadsheet import MOST_CELLS, State, Worksheet, fetch_state, generation_name
from ..worksheet import GoogleSheet
from .requests import ViewRequests
from .source import ViewSource
from .typed_over import fetch_typed_over

_ATTEMPTS = 3  # while others change the spreadsheet


def check_wanted(views: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> None:
    """Refuse views that Google Sheets cannot have, before anything is written, with a LimitError."""
    for name, view in views.items():
        if view.editable:
            raise ValueError(
                f"no view of {name!r:.80} can be edited in Google Sheets: leave editable=True out, and change elements "
                "in the array's column; views of workbooks (.xlsx) can"
            )
    check_views(views, arrays)


def write_views(
    service: SheetsApi, source: ViewSource, wanted: Mapping[str, View], *, kept: Collection[int] = ()
) -> None:
    """Write the views that are asked for, and renew existing ones of the same arrays; a failure is a warning."""
    message = ""
    try:
        for _ in range(_ATTEMPTS):
            try:
                _write_once(service, fetch_state(service), source, wanted, kept)
                return
            except RefusedError as refused:
                message = refused.message
    except (RemoteError, LimitError) as error:
        message = str(error)
    warn_caller(f"the arrays were written, but not their views: {message:.300}; write them again")


def _write_once(
    service: SheetsApi, state: State, source: ViewSource, wanted: Mapping[str, View], kept: Collection[int]
) -> None:
    """Write views to a spreadsheet in one batch, if it is still in a state.

    Raises:
        RefusedError: the spreadsheet has changed meanwhile.
        LimitError: the spreadsheet would have too many cells.
    """
    sheet = state.by_id(source.gid)
    if sheet is None or sheet.title != source.title:
        raise LimitError("somebody has deleted or renamed their worksheet")
    standing = [view for view in find_views(state, source.gid, source.arrays) if view.gid not in kept]
    views = _views_again(standing, source) | dict(wanted)
    titles = [other.title for other in state.worksheets]
    plans = plan_views(views, source.arrays, source.columns, taken=titles, text_chooser=True)
    gone, requests_by_gid = list(standing), dict[int, Requests]()
    cells = sum(other.cells for other in state.worksheets if other not in standing)
    for plan in plans:
        old = next((view for view in standing if view.view is not None and view.view.array == plan.name), None)
        if old is not None:
            plan = replace(plan, title=old.title)
        requests = _prepare(plan, state, source)
        notes = _note(plan, source, requests)
        if old is not None and old.view == notes and plan.name not in wanted:
            gone.remove(old)  # the view stays, with the indices that people have chosen in it
            continue
        cells += requests.cell_count
        index = _index_after(state, gone, old or sheet, len(requests_by_gid))
        gid = new_gid()
        noted: Answer = {"createDeveloperMetadata": {"developerMetadata": notes.to_metadata(gid)}}
        requests_by_gid[gid] = [*requests.make(gid, index), noted]
    check_cells(cells, MOST_CELLS, cells)
    if not gone and not requests_by_gid:
        return
    seen = state.generation(source.gid)
    batch: Requests = [prove_range(seen)] if seen else []
    batch += [{"deleteSheet": {"sheetId": view.gid}} for view in gone]
    for requests_of_view in requests_by_gid.values():
        batch += requests_of_view
    ids, old_ids = set(requests_by_gid), {view.gid for view in gone}

    def has_happened(after: State) -> bool:
        present = {other.gid for other in after.worksheets}
        return ids <= present and not old_ids & present

    apply_changes(service, batch, has_happened)


def find_views(state: State, gid: int, names: Collection[str]) -> list[Worksheet]:
    """Return the views of some arrays of a worksheet, and those of arrays of these names whose worksheet is gone."""
    return [
        sheet
        for sheet in state.worksheets
        if sheet.view is not None
        and sheet.view.array in names
        and (sheet.view.of == gid or state.by_id(sheet.view.of) is None)
    ]


def _views_again(standing: Iterable[Worksheet], source: ViewSource) -> dict[str, View]:
    """Return the existing views as people would ask for them, without views of arrays that cannot have one now."""
    views: dict[str, View] = {}
    for sheet in standing:
        notes = sheet.view
        if notes is None or source.arrays[notes.array].ndim < 2 or not source.arrays[notes.array].length:
            continue
        colors: Literal["array", "slice"] = "slice" if notes.colors == "slice" else "array"
        view = View(notes.rows, notes.columns, colors)
        try:
            check_views({notes.array: view}, source.arrays)
        except ValueError:  # it has other dimensions now
            view = View(colors=colors)
        views[notes.array] = view
    return views


def _index_after(state: State, gone: list[Worksheet], sheet: Worksheet, made: int) -> int:
    """Return the index of the tab for a new view: the old view's index, or the next one after its arrays."""
    before = state.worksheets[: state.worksheets.index(sheet)]
    remaining = sum(other not in gone for other in before)
    return remaining + (0 if sheet in gone else 1) + (made if sheet not in gone else 0)


def _prepare(plan: ViewPlan, state: State, source: ViewSource) -> ViewRequests:
    """Return the maker of the requests for a view, whose formulas use named ranges of the spreadsheet if they can."""

    def block_of(name: str) -> ColumnBlock:
        block = source.columns.block_of(name)
        assert block is not None  # the cells of arrays in view stand beside each other
        return block

    def cells_of(name: str) -> str:
        return block_of(name).cells

    def name_of(name: str) -> str:
        block, first = block_of(name), source.columns.by_name[name][0]
        cells = Rect(first.row, first.column, first.row + block.rows, first.column + block.columns)
        ranges = (
            named_range
            for named_range in state.ranges
            if named_range.gid == source.gid and named_range.name != generation_name(source.gid)
        )
        return next((named.name for named in ranges if named.rect == cells), block.cells)

    return ViewRequests(plan, name_of, cells_of)


def _note(plan: ViewPlan, source: ViewSource, requests: ViewRequests) -> ViewNotes:
    """Return the notes on a view, by which a later write finds out whether it has changed."""
    text = json.dumps(requests.make(0, 0))
    shown = plan.rows.dim, plan.columns.dim, plan.colors
    content = zlib.crc32(text.encode())
    return ViewNotes(source.gid, plan.name, *shown, source.dates, content, plan.rows.is_turned)


def write_views_again(
    service: SheetsApi, state: State, arrays: Mapping[str, ResizedArray], names: Collection[str]
) -> None:
    """Write the views that show some of the arrays again. If that fails, warn."""
    for sheet in state.arrays:
        here = {name: array for name, array in arrays.items() if array.column.group[0].title == sheet.title}
        views = find_views(state, sheet.gid, [name for name in names if name in here])
        if views:
            dates = all(view.view.dates for view in views if view.view is not None)
            try:
                left = {view.gid: view.title for view, typed in fetch_typed_over(service, views) if typed}
            except (RemoteError, ChangedError) as error:
                _warn_of_views(error)
                continue
            write_views(service, ViewSource.of_resized(sheet, here, dates=dates), {}, kept=left)
            if left:
                warn_caller(
                    f"{quote_names(list(left.values()))}: not written again, because people typed over formulas; check "
                    "names the cells: type their values into the array's column, delete the view, and write it again"
                )


def renew_grown_views(service: SheetsApi, state: State, sheet: Worksheet, names: Collection[str]) -> None:
    """Make those views again that exist of arrays to which rows were appended; a failure is a warning.

    The worksheet is read only if there is such a view.
    """
    if not find_views(state, sheet.gid, names):
        return
    try:
        state = fetch_state(service)
        now = state.by_id(sheet.gid)
        arrays = read_resized_arrays([GoogleSheet(service, now, state)] if now else [], missing="error")
    except (SheetArrayError, ChangedError, RefusedError) as error:
        _warn_of_views(error)
        return
    write_views_again(service, state, arrays, names)


def _warn_of_views(error: Exception) -> None:
    """Warn that views do not show the new rows. It is no exception: people would append the rows again."""
    why = f"{error!s:.300}" or "somebody changes the spreadsheet"
    warn_caller(f"the arrays have new rows, but views do not show them: {why}; write the views again")
