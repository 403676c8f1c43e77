"""Views: worksheets of formulas that show an array slice by slice with its labels, for people."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...columns import ElementRun, LayoutColumn, ResizedArray, quote_title
from ...elements import EXACT_IN_JSON, Cell
from ...elements.serials import DATE_CODES
from ...errors import Finding, LimitError, RemoteError, SheetArrayError, quote_names, warn_caller
from ...linear.array import LinearArray
from ..arrays_of_sheets import read_resized_arrays
from ..views.description import View
from ..views.formulas import CHART_ROWS, Chooser, ViewFormulas, chooser_kind
from ..views.geometry import ColumnBlock, Labels, ViewedColumns, ViewPlan, check_views, plan_views
from ..views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from .address import Rect
from .appearance import date_code, date_format
from .changes import (
    Requests,
    apply_changes,
    change_lines,
    lines_of,
    make_bold,
    prove_range,
    repeat_cell,
    show_as,
    update_cells,
)
from .plan import PlacedColumn, check_cells
from .requests import Answer, ChangedError, RefusedError, SheetsApi
from .spreadsheet_state import MOST_CELLS, State, ViewNotes, Worksheet, fetch_state, generation_name
from .stage import new_gid
from .worksheet import GoogleSheet, fetch_values

# The findings of `check` about views in a spreadsheet in which people have typed over formulas.


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
            plans = plan_views(views, source.arrays, source.columns, taken=(), text_chooser=True)
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


# Makes the requests for the worksheet of a view from its plan: formulas, choosers, colours, a chart, frozen panes.
#
# One request puts a formula into all cells of the grid, and the service adapts its references, as it does for
# people who copy a formula; labels and positions are made in the same way. So a view of 100,000 formulas takes a
# few kilobytes, and is made by one batch together with its worksheet.

_COLOURS = ((0x5A, 0x8A, 0xC6), (0xFC, 0xFC, 0xFF), (0xF8, 0x69, 0x6B))  # blue, white, red
_CHOOSER = {"red": 1.0, "green": 0.95, "blue": 0.8}  # the colour of choosers
_LINE = {"red": 0.18, "green": 0.43, "blue": 0.71}  # the colour of the chart's line
_PIXELS = 7  # in the width of a character, about
_NARROWEST, _WIDEST, _WIDEST_LABEL = 70, 190, 280  # pixels of a column
_SAMPLE = 400  # elements that are looked at to find the width of columns
_CHART = {"offsetXPixels": 10, "offsetYPixels": 4, "widthPixels": 640, "heightPixels": 21 * CHART_ROWS - 40}


class ViewRequests(ViewFormulas):
    """A maker of the requests for one view.

    `name_of`: returns the name of the named range over the elements of an array, given the array's name. `cells_of`:
    returns the same range in A1 notation, with its worksheet.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], cells_of: Callable[[str], str]) -> None:
        super().__init__(plan, name_of, EXACT_IN_JSON)
        self._cells_of, self._gid = cells_of, 0

    @property
    def cell_count(self) -> int:
        """The number of cells in the worksheet."""
        return self.last_row * (self.hidden_place + 1)

    def make(self, gid: int, index: int) -> Requests:
        """Return the requests that make the worksheet of the view, without its notes."""
        self._gid = gid
        size = {"rowCount": self.last_row, "columnCount": self.hidden_place + 1}
        grid = {**size, "frozenRowCount": self.label_row, "frozenColumnCount": 1, "hideGridlines": True}
        sheet = {"sheetId": gid, "title": self.plan.title, "index": index, "gridProperties": grid}
        return [
            {"addSheet": {"properties": sheet}},
            *self._top_requests(),
            *self._helper_requests(),
            *self._label_requests(),
            *self._grid_requests(),
            *self._look_requests(),
        ]

    # Cells ---------------------------------------------------------------------------------------------------

    def _top_requests(self) -> Iterator[Answer]:
        """Yield the requests for the caption and the choosers."""
        rows: list[list[Cell]] = [[self.plan.caption], *([chooser.caption] for chooser in self.choosers.values())]
        yield update_cells(self._gid, 0, 0, rows)
        yield make_bold(self._gid, Rect(0, 0, 1, 1))
        for key, chooser in self.choosers.items():
            cell = Rect(chooser.row - 1, 1, chooser.row, 2)
            shown: Answer = {"backgroundColor": _CHOOSER, "horizontalAlignment": "LEFT"}
            if chooser.kind:
                shown["numberFormat"] = _format_of(chooser.kind)
            yield repeat_cell(self._gid, cell, {"userEnteredFormat": shown}, "userEnteredFormat")
            yield update_cells(self._gid, cell.top, 1, [[chooser.value]])
            yield {"setDataValidation": {"range": cell.to_grid_range(self._gid), "rule": self._rule(key, chooser)}}
            if chooser.shown is not None:
                yield self._formula(Rect(cell.top, 2, cell.top + 1, 3), chooser.shown[0])
                labels = self.plan.choosers[int(key.split()[1])].labels
                yield from self._show_labels(Rect(cell.top, 2, cell.top + 1, 3), labels)

    def _rule(self, key: str, chooser: Chooser) -> Answer:
        """Return the rule of data validation that says which values people may choose."""
        if key == "line":
            kind, values = "ONE_OF_RANGE", [f"={quote_title(self.plan.title)}!{self.line_choices}"]
        elif chooser.source is not None:
            kind, values = "ONE_OF_RANGE", [f"={self._cells_of(chooser.source.name)}"]
        elif chooser.listed:
            kind, values = "ONE_OF_LIST", list(chooser.listed)
        else:
            kind, values = "NUMBER_BETWEEN", [str(chooser.least), str(chooser.most)]
        condition = {"type": kind, "values": [{"userEnteredValue": value} for value in values]}
        if kind == "NUMBER_BETWEEN":
            message = f"a whole number from {chooser.least} to {chooser.most}"
        else:
            message = "choose from the list"
        return {"condition": condition, "inputMessage": message, "strict": True, "showCustomUi": True}

    def _helper_requests(self) -> Iterator[Answer]:
        """Yield the requests for the hidden cells: positions, helpers of formulas and colours, the chart's line."""
        plan, gid, hidden, row = self.plan, self._gid, self.hidden_place, self.position_row
        for number, (formula, _) in self.helper_cells().items():  # rows of these cells, counted from 1
            yield self._formula(Rect(number - 1, hidden, number, hidden + 1), formula)
        yield self._formula(Rect(row - 1, hidden, row, hidden + 1), self.base_formula())
        across, down = Rect(row - 1, 1, row, plan.width + 1), Rect(row + 2, hidden, self.last_row, hidden + 1)
        if plan.windowed:
            yield self._formula(across, self.position("first column", "(COLUMN()-2)", plan.columns))
            yield self._formula(down, self.position("first row", f"(ROW()-{self.first_row})", plan.rows))
        else:
            yield update_cells(gid, across.top, 1, [list(range(plan.width))])
            yield update_cells(gid, down.top, hidden, [[position] for position in range(plan.height)])
        if plan.has_numbers:
            yield self._formula(Rect(row, 1, row + 1, plan.width + 1), self.line_formula("B"))

    def _label_requests(self) -> Iterator[Answer]:
        """Yield the requests for the labels beside and above the grid."""
        plan = self.plan
        top = self.label_row - 1
        corner = Rect(top, 0, top + 1, 1)
        yield update_cells(self._gid, top, 0, [[f"{plan.rows.dim} \\ {plan.columns.dim}"]])
        across, down = Rect(top, 1, top + 1, plan.width + 1), Rect(top + 1, 0, self.last_row, 1)
        yield self._formula(across, self.label_of(plan.columns, f"B${self.position_row}"))
        yield self._formula(down, self.label_of(plan.rows, f"${self.hidden_column}{self.first_row}"))
        for rect, labels in ((corner, None), (across, plan.columns.labels), (down, plan.rows.labels)):
            yield make_bold(self._gid, rect)
            yield from self._show_labels(rect, labels)

    def _grid_requests(self) -> Iterator[Answer]:
        """Yield the requests for the cells that show elements."""
        plan, grid = self.plan, self._grid
        yield self._formula(grid, self.element_formula("B", str(self.first_row)))
        if plan.style is not None and plan.array.dtype_entry.kind == "datetime":
            kind = chooser_kind(Labels(plan.name, plan.array, plan.style, can_be_chosen=False))
            yield show_as(self._gid, grid, _format_of(kind))

    @property
    def _grid(self) -> Rect:
        """The cells that show elements."""
        return Rect(self.first_row - 1, 1, self.last_row, self.plan.width + 1)

    # Looks ---------------------------------------------------------------------------------------------------

    def _look_requests(self) -> Iterator[Answer]:
        """Yield the requests for hidden rows and columns, the widths of columns, the colours and the chart."""
        plan = self.plan
        hidden = ("ROWS", self.position_row - 1, self.line_row)
        yield change_lines(lines_of(self._gid, *hidden), {"hiddenByUser": True})
        hidden = ("COLUMNS", self.hidden_place, self.hidden_place + 1)
        yield change_lines(lines_of(self._gid, *hidden), {"hiddenByUser": True})
        yield from self._width_requests()
        if plan.has_numbers:
            yield self._gradient()
            yield {"addChart": {"chart": self._chart()}}

    def _width_requests(self) -> Iterator[Answer]:
        """Yield the requests that make columns as wide as their cells: that of labels, and all others alike."""
        plan, choosers = self.plan, self.choosers.values()
        captions = [plan.caption, f"{plan.rows.dim} \\ {plan.columns.dim}", *(chooser.caption for chooser in choosers)]
        values = [*self.sample(_SAMPLE), *self._first_labels(plan.columns.labels), *(c.value for c in choosers)]
        labels = [*captions, *self._first_labels(plan.rows.labels)]
        for start, end, cells, widest in ((0, 1, labels, _WIDEST_LABEL), (1, plan.width + 1, values, _WIDEST)):
            # a number shows at most 9 characters
            longest = max(len(str(cell)) if isinstance(cell, str) else min(len(str(cell)), 9) for cell in cells)
            pixels = min(max(_NARROWEST, _PIXELS * (longest + 3)), widest)
            yield change_lines(lines_of(self._gid, "COLUMNS", start, end), {"pixelSize": pixels})

    def _first_labels(self, labels: Labels | None) -> list[Cell]:
        """Return the first labels of a dimension, or a text as wide as they are."""
        if labels is None:
            return []
        if labels.style is not None and labels.array.dtype_entry.kind == "datetime":
            return [DATE_CODES[chooser_kind(labels)]]
        return self.cells.of_labels(labels, _SAMPLE)

    def _gradient(self) -> Answer:
        """Return the request that colours the grid, from and to the numbers in three hidden cells."""
        points = {}
        for name, row, colour in zip(("minpoint", "midpoint", "maxpoint"), (1, 3, 2), _COLOURS, strict=True):
            parts = {key: part / 255 for key, part in zip(("red", "green", "blue"), colour, strict=True)}
            points[name] = {"type": "NUMBER", "value": f"={self.hidden_cell(row)}", "color": parts}
        rule = {"ranges": [self._grid.to_grid_range(self._gid)], "gradientRule": points}
        return {"addConditionalFormatRule": {"rule": rule, "index": 0}}

    def _chart(self) -> Answer:
        """Return the line chart of the chosen row of the grid; it lies over the cells beside the choosers."""
        plan = self.plan
        rows = (Rect(row - 1, 1, row, plan.width + 1) for row in (self.label_row, self.line_row))
        labels, line = ({"sourceRange": {"sources": [row.to_grid_range(self._gid)]}} for row in rows)
        chart = {
            "chartType": "LINE",
            "legendPosition": "NO_LEGEND",
            "headerCount": 0,
            "axis": [{"position": "BOTTOM_AXIS", "title": plan.columns.dim}],
            "domains": [{"domain": labels}],
            "series": [{"series": line, "targetAxis": "LEFT_AXIS", "color": _LINE}],
        }
        line_chooser = f"{plan.rows.dim} as chosen in B{self.choosers['line'].row}"
        title = f"{plan.caption} along {plan.columns.dim}; {line_chooser}"
        anchor = {"sheetId": self._gid, "rowIndex": 0, "columnIndex": 3}
        return {
            "spec": {"title": title, "hiddenDimensionStrategy": "SHOW_ALL", "basicChart": chart},
            "position": {"overlayPosition": {"anchorCell": anchor, **_CHART}},
        }

    def _show_labels(self, rect: Rect, labels: Labels | None) -> Iterator[Answer]:
        """Yield the request that shows the labels of a range as dates, if they are dates."""
        if labels is not None and labels.style is not None and labels.array.dtype_entry.kind == "datetime":
            yield show_as(self._gid, rect, _format_of(chooser_kind(labels)))

    def _formula(self, rect: Rect, formula: str) -> Answer:
        """Return the request that puts a formula into the cells of a range; it is written as for the first one."""
        return repeat_cell(self._gid, rect, {"userEnteredValue": {"formulaValue": f"={formula}"}}, "userEnteredValue")


def _format_of(kind: str) -> Answer:
    """Return the number format of a kind of chooser: text, or dates by their unit."""
    return {"type": "TEXT", "pattern": "@"} if kind == "@" else date_format(DATE_CODES[kind])


# Views in a spreadsheet: worksheets that show arrays slice by slice, written beside them, renewed and told apart.
#
# Arrays are written first, all or none of them. Their views follow in one batch, which is refused where somebody
# has written meanwhile; where it fails, the arrays stand whole, and a warning says that their views do not.
# Developer metadata on the worksheet of a view say what it shows: a reader passes it over without looking at its
# cells.

_ATTEMPTS = 3  # while others change the spreadsheet
_DATES = 1  # the style of dates in `ViewedColumns`; the service has number formats, and no numbers for them


def check_wanted(views: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> None:
    """Refuse views that Google Sheets cannot have, before anything is written, with a LimitError."""
    for name, view in views.items():
        if view.editable:
            raise ValueError(
                f"no view of {name!r:.80} can be edited in Google Sheets: leave editable=True out, and change elements "
                "in the array's column; views of workbooks (.xlsx) can"
            )
    check_views(views, arrays)


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
        except ValueError:  # it has other dimensions now
            view = View(colors=colors)
        views[notes.array] = view
    return views


def _index_after(state: State, gone: list[Worksheet], sheet: Worksheet, made: int) -> int:
    """Return the index of the tab for a new view: that of the old view, or the next one after its arrays."""
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
    notes = ViewNotes(source.gid, plan.name, plan.rows.dim, plan.columns.dim, plan.colors, source.dates, 0)
    return replace(notes, content=zlib.crc32(text.encode()))


# Renews the views of arrays whose number of rows has changed: after `accept`, and after rows were appended.


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
