"""Views in a spreadsheet: worksheets that show arrays slice by slice, written beside them, renewed and told apart.

Arrays are written first, all or none of them. Their views follow in one batch, which is refused where somebody has
written meanwhile; where it fails, the arrays stand whole, and a warning says that their views do not. Developer
metadata on the worksheet of a view say what it shows: a reader passes it over without looking at its cells.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ...columns import Layout, LayoutColumn, ResizedArray
from ...errors import LimitError, RemoteError, warn_caller
from ...linear import LinearArray
from ...views.axes import ViewedColumn, ViewedColumns, resized_to_linear
from ...views.description import View
from ...views.geometry import ViewPlan, check_views, plan_views
from .appearance import date_code
from .changes import Requests, TooHeavyError, apply_changes, prove_range
from .notes import ViewNotes
from .plan import PlacedColumn, check_cells
from .requests import SheetsApi
from .retries import RefusedError
from .stage import new_gid
from .state import MOST_CELLS, State, Worksheet, fetch_state, generation_name
from .view_requests import ViewRequests

_ATTEMPTS = 3  # while others change the spreadsheet
_DATES = 1  # the style of dates in `ViewedColumns`; the service has number formats, and no numbers for them


def check_wanted(views: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> None:
    """Refuse views that Google Sheets cannot have, before anything is written.

    Raises:
        LimitError: a view for editing, or of a dimension that the array does not have.
    """
    for name, view in views.items():
        if view.editable:
            raise LimitError(
                f"no view of {name!r:.80} can be edited in Google Sheets: leave editable=True out, and change elements "
                "in the array's column; views of workbooks (.xlsx) can"
            )
    check_views(views, arrays)


@dataclass(frozen=True)
class ViewSource:
    """Arrays of a worksheet, and where they stand in it.

    Attributes:
        gid: the id of the worksheet.
        arrays: by name.
        find_columns: returns the cells of the arrays, given the title that the worksheet has now.
        dates: whether dates stand in cells as serial dates, and not as text.
    """

    gid: int
    arrays: Mapping[str, LinearArray]
    find_columns: Callable[[str], ViewedColumns]
    dates: bool

    @classmethod
    def of_write(
        cls,
        gid: int,
        arrays: Mapping[str, LinearArray],
        layout: Layout,
        placed_columns: Iterable[PlacedColumn],
        *,
        dates: bool,
    ) -> ViewSource:
        """Return the arrays that a write has put into a worksheet, as the source of its views."""
        columns = [(layout.pieces[placed.index], placed) for placed in placed_columns]

        def find_columns(title: str) -> ViewedColumns:
            made = ViewedColumns({}, {}, as_text=False)
            for piece, placed in columns:
                cells = ViewedColumn(title, placed.column, placed.data, len(piece.buffer))
                made.by_name.setdefault(piece.name, []).append(cells)
                made.styles.setdefault(piece.name, _style_of(piece))
            return made

        return cls(gid, arrays, find_columns, dates)

    @classmethod
    def of_resized(cls, gid: int, arrays: Mapping[str, ResizedArray], *, dates: bool) -> ViewSource:
        """Return the arrays that stand in a worksheet, as the source of its views."""
        linear = {name: resized_to_linear(array) for name, array in arrays.items()}

        def find_columns(_: str) -> ViewedColumns:
            return ViewedColumns.of_resized(arrays, _style_of if dates else lambda _: None, as_text=False)

        return cls(gid, linear, find_columns, dates)


def _style_of(piece: LayoutColumn) -> int | None:
    """Return the style of a column of serial dates; None for any other column."""
    return None if date_code(piece) is None else _DATES


def write_views(
    service: SheetsApi, source: ViewSource, wanted: Mapping[str, View], *, kept: Collection[int] = ()
) -> None:
    """Write the views that are asked for, and renew existing ones of the same arrays; a failure is a warning.

    Args:
        service: the spreadsheet.
        source: the arrays, which have been written already.
        wanted: the views that are asked for, by the names of arrays.
        kept: the ids of existing views that stay as they are.
    """
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
    except TooHeavyError:
        message = "the service fails at so large a request"
    warn_caller(f"the arrays are written, their views are not: {message:.300}; write them once more")


def _write_once(
    service: SheetsApi, state: State, source: ViewSource, wanted: Mapping[str, View], kept: Collection[int]
) -> None:
    """Write views to a spreadsheet in one batch, if it is still in a state.

    Raises:
        RefusedError: the spreadsheet has changed meanwhile.
        LimitError: the spreadsheet would have too many cells.
    """
    sheet = state.by_id(source.gid)
    if sheet is None:
        raise LimitError("somebody has deleted their worksheet")
    standing = [view for view in find_views(state, source.gid, source.arrays) if view.gid not in kept]
    views = _views_again(standing, source) | dict(wanted)
    titles = [other.title for other in state.worksheets]
    columns = source.find_columns(sheet.title)
    plans = plan_views(views, source.arrays, columns, taken=titles, text_chooser=True)
    gone, made = list(standing), dict[int, Requests]()
    cells = sum(other.cells for other in state.worksheets if other not in standing)
    for plan in plans:
        old = next((view for view in standing if view.view is not None and view.view.array == plan.name), None)
        if old is not None:
            plan = replace(plan, title=old.title)
        requests = _prepare(plan, state, sheet, columns)
        notes = _note(plan, source, requests)
        if old is not None and old.view == notes and plan.name not in wanted:
            gone.remove(old)  # the view stays, with the indices that people have chosen in it
            continue
        cells += requests.cells
        index = _index_after(state, gone, old or sheet, len(made))
        gid = new_gid()
        made[gid] = requests.make(gid, index, _to_record(notes))
    check_cells(cells, MOST_CELLS, cells)
    if not gone and not made:
        return
    seen = state.generation(source.gid)
    batch: Requests = [prove_range(seen)] if seen else []
    batch += [{"deleteSheet": {"sheetId": view.gid}} for view in gone]
    for requests_of_view in made.values():
        batch += requests_of_view
    ids, old_ids = set(made), {view.gid for view in gone}

    def has_happened(after: State) -> bool:
        present = {other.gid for other in after.worksheets}
        return ids <= present and not old_ids & present

    apply_changes(service, batch, has_happened, confirmed=True)


def find_views(state: State, gid: int, names: Collection[str]) -> list[Worksheet]:
    """Return the views of some arrays of a worksheet; and views of arrays of these names whose worksheet is gone."""
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
        except LimitError:  # it has other dimensions now
            view = View(colors=colors)
        views[notes.array] = view
    return views


def _index_after(state: State, gone: list[Worksheet], sheet: Worksheet, made: int) -> int:
    """Return the index of the tab for a new view: that of the old view, or the next one after its arrays.

    Args:
        state: of the spreadsheet.
        gone: the views that are deleted by the same batch.
        sheet: the old view, or the worksheet of the arrays.
        made: the number of views that the batch makes before this one.
    """
    before = state.worksheets[: state.worksheets.index(sheet)]
    kept = sum(other not in gone for other in before)
    return kept + (0 if sheet in gone else 1) + (made if sheet not in gone else 0)


def _prepare(plan: ViewPlan, state: State, sheet: Worksheet, columns: ViewedColumns) -> ViewRequests:
    """Return the maker of the requests for a view, whose formulas use named ranges of the spreadsheet if they can."""

    def cells_of(name: str) -> str:
        block = columns.block_of(name)
        assert block is not None  # the cells of arrays in view stand beside each other
        return block.cells

    def name_of(name: str) -> str:
        block, first = columns.block_of(name), columns.by_name[name][0]
        for named in state.ranges:
            rect = named.rect
            if named.gid != sheet.gid or rect is None or named.name == generation_name(sheet.gid) or block is None:
                continue
            if rect == (first.row, first.column, first.row + block.rows, first.column + block.columns):
                return named.name
        return cells_of(name)

    return ViewRequests(plan, name_of, cells_of)


def _note(plan: ViewPlan, source: ViewSource, requests: ViewRequests) -> ViewNotes:
    """Return the notes on a view, by which a later write finds out whether it has changed."""
    text = json.dumps(requests.make(0, None, {}))
    notes = ViewNotes(source.gid, plan.name, plan.rows.dim, plan.columns.dim, plan.colors, source.dates, 0)
    return replace(notes, content=zlib.crc32(text.encode()))


def _to_record(notes: ViewNotes) -> dict[str, str | int | bool]:
    """Return the JSON of notes on a view, as its worksheet's metadata hold it."""
    return {
        "of": notes.of,
        "array": notes.array,
        "rows": notes.rows,
        "columns": notes.columns,
        "colors": notes.colors,
        "dates": notes.dates,
        "content": notes.content,
    }
