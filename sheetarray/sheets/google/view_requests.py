"""Makes the requests for the worksheet of a view from its plan: formulas, choosers, colours, a chart, frozen panes.

One request puts a formula into all cells of the grid, and the service adapts its references, as it does for people who
copy a formula; labels and positions are made in the same way. So a view of 100,000 formulas takes a few kilobytes, and
is made by one batch together with its worksheet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ...cells.serials import DATE_CODES
from ...columns import quote_title
from ...elements import EXACT_IN_JSON, Cell
from ...views.axes import Labels
from ...views.choosers import Chooser
from ...views.formulas import CHART_ROWS, ViewFormulas
from ...views.geometry import ViewPlan
from ...views.label_cells import chooser_kind, to_values
from .address import Rect
from .changes import Requests, make_bold, update_cells
from .notes import VIEW_KEY
from .requests import Answer

_COLOURS = ((0x5A, 0x8A, 0xC6), (0xFC, 0xFC, 0xFF), (0xF8, 0x69, 0x6B))  # blue, white, red
_CHOOSER = {"red": 1.0, "green": 0.95, "blue": 0.8}  # the colour of choosers
_LINE = {"red": 0.18, "green": 0.43, "blue": 0.71}  # the colour of the chart's line
_PIXELS = 7  # in the width of a character, about
_NARROWEST, _WIDEST, _WIDEST_LABEL = 70, 190, 280  # pixels of a column
_SAMPLE = 400  # elements that are looked at to find the width of columns
_CHART = {"offsetXPixels": 10, "offsetYPixels": 4, "widthPixels": 640, "heightPixels": 21 * CHART_ROWS - 40}


class ViewRequests:
    """A maker of the requests for one view.

    Args:
        plan: of the view.
        name_of: returns the name of the named range over the elements of an array, given the array's name.
        cells_of: returns the same range in A1 notation, with its worksheet.
    """

    def __init__(self, plan: ViewPlan, name_of: Callable[[str], str], cells_of: Callable[[str], str]) -> None:
        self.plan, self._cells_of = plan, cells_of
        self._formulas = ViewFormulas(plan, name_of, EXACT_IN_JSON)
        self._gid = 0

    @property
    def cells(self) -> int:
        """The number of cells in the worksheet."""
        return self._formulas.last_row * (self._formulas.hidden_place + 1)

    def make(self, gid: int, index: int | None, record: dict[str, Any]) -> Requests:
        """Return the requests that make the worksheet of the view.

        Args:
            gid: the id of the worksheet.
            index: of its tab, counted from 0; None puts it last.
            record: what the metadata of the worksheet say of the view.
        """
        self._gid = gid
        formulas = self._formulas
        columns = formulas.hidden_place + 1
        pane = {"frozenRowCount": formulas.label_row, "frozenColumnCount": 1, "hideGridlines": True}
        size = {"rowCount": formulas.last_row, "columnCount": columns}
        properties: Answer = {"sheetId": gid, "title": self.plan.title, "gridProperties": {**size, **pane}}
        if index is not None:
            properties["index"] = index
        noted = {"metadataKey": VIEW_KEY, "metadataValue": json.dumps(record), "visibility": "DOCUMENT"}
        return [
            {"addSheet": {"properties": properties}},
            {"createDeveloperMetadata": {"developerMetadata": {**noted, "location": {"sheetId": gid}}}},
            *self._top_requests(),
            *self._helper_requests(),
            *self._label_requests(),
            *self._grid_requests(),
            *self._look_requests(),
        ]

    # Cells ---------------------------------------------------------------------------------------------------

    def _top_requests(self) -> Iterator[Answer]:
        """Yield the requests for the caption and the choosers."""
        choosers = self._formulas.choosers
        rows: list[list[Cell]] = [[self.plan.caption], *([chooser.caption] for chooser in choosers.values())]
        yield update_cells(self._gid, 0, 0, rows)
        yield make_bold(self._gid, Rect(0, 0, 1, 1))
        for key, chooser in choosers.items():
            cell = Rect(chooser.row - 1, 1, chooser.row, 2)
            shown: Answer = {"backgroundColor": _CHOOSER, "horizontalAlignment": "LEFT"}
            if chooser.kind:
                shown["numberFormat"] = _format_of(chooser.kind)
            yield self._repeat(cell, {"userEnteredFormat": shown}, "userEnteredFormat")
            yield update_cells(self._gid, cell.top, 1, [[chooser.value]])
            yield {"setDataValidation": {"range": cell.to_grid_range(self._gid), "rule": self._rule(key, chooser)}}
            if chooser.shown is not None:
                yield self._formula(Rect(cell.top, 2, cell.top + 1, 3), chooser.shown[0])
                source = self._source_of_label(key)
                yield from self._show_labels(Rect(cell.top, 2, cell.top + 1, 3), source)

    def _source_of_label(self, key: str) -> Labels | None:
        """Return the labels from which a chooser is chosen, by its key; None if it has no labels."""
        return self.plan.choosers[int(key.split()[1])].labels

    def _rule(self, key: str, chooser: Chooser) -> Answer:
        """Return the rule of data validation that says which values people may choose."""
        if key == "line":
            kind, values = "ONE_OF_RANGE", [f"={quote_title(self.plan.title)}!{self._formulas.line_choices}"]
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
        formulas, plan, gid = self._formulas, self.plan, self._gid
        hidden, row = formulas.hidden_place, formulas.position_row
        for number, (formula, _) in formulas.helper_cells().items():  # rows of these cells, counted from 1
            yield self._formula(Rect(number - 1, hidden, number, hidden + 1), formula)
        yield self._formula(Rect(row - 1, hidden, row, hidden + 1), formulas.base_formula())
        across, down = Rect(row - 1, 1, row, plan.width + 1), Rect(row + 2, hidden, formulas.last_row, hidden + 1)
        if plan.windowed:
            yield self._formula(across, formulas.position("first column", "(COLUMN()-2)", plan.columns))
            yield self._formula(down, formulas.position("first row", f"(ROW()-{formulas.first_row})", plan.rows))
        else:
            yield update_cells(gid, across.top, 1, [list(range(plan.width))])
            yield update_cells(gid, down.top, hidden, [[position] for position in range(plan.height)])
        if plan.has_numbers:
            yield self._formula(Rect(row, 1, row + 1, plan.width + 1), formulas.line_formula("B"))

    def _label_requests(self) -> Iterator[Answer]:
        """Yield the requests for the labels beside and above the grid."""
        formulas, plan = self._formulas, self.plan
        top = formulas.label_row - 1
        corner = Rect(top, 0, top + 1, 1)
        yield update_cells(self._gid, top, 0, [[f"{plan.rows.dim} \\ {plan.columns.dim}"]])
        across, down = Rect(top, 1, top + 1, plan.width + 1), Rect(top + 1, 0, formulas.last_row, 1)
        yield self._formula(across, formulas.label_of(plan.columns, f"B${formulas.position_row}"))
        yield self._formula(down, formulas.label_of(plan.rows, f"${formulas.hidden_column}{formulas.first_row}"))
        for rect, labels in ((corner, None), (across, plan.columns.labels), (down, plan.rows.labels)):
            yield make_bold(self._gid, rect)
            yield from self._show_labels(rect, labels)

    def _grid_requests(self) -> Iterator[Answer]:
        """Yield the requests for the cells that show elements."""
        formulas, plan = self._formulas, self.plan
        grid = self._grid
        yield self._formula(grid, formulas.element_formula("B", str(formulas.first_row)))
        if plan.style is not None and plan.array.dtype_entry.kind == "datetime":
            yield self._show_as(grid, chooser_kind(Labels(plan.name, plan.array, plan.style, can_be_chosen=False)))

    @property
    def _grid(self) -> Rect:
        """The cells that show elements."""
        return Rect(self._formulas.first_row - 1, 1, self._formulas.last_row, self.plan.width + 1)

    # Looks ---------------------------------------------------------------------------------------------------

    def _look_requests(self) -> Iterator[Answer]:
        """Yield the requests for hidden rows and columns, the widths of columns, the colours and the chart."""
        formulas, plan = self._formulas, self.plan
        yield self._hide("ROWS", formulas.position_row - 1, formulas.line_row)
        yield self._hide("COLUMNS", formulas.hidden_place, formulas.hidden_place + 1)
        for start, end, pixels in self._widths():
            yield self._change_lines("COLUMNS", start, end, {"pixelSize": pixels}, "pixelSize")
        if plan.has_numbers:
            yield self._gradient()
            yield {"addChart": {"chart": self._chart()}}

    def _hide(self, dimension: str, start: int, end: int) -> Answer:
        return self._change_lines(dimension, start, end, {"hiddenByUser": True}, "hiddenByUser")

    def _change_lines(self, dimension: str, start: int, end: int, properties: Answer, fields: str) -> Answer:
        lines = {"sheetId": self._gid, "dimension": dimension, "startIndex": start, "endIndex": end}
        return {"updateDimensionProperties": {"range": lines, "properties": properties, "fields": fields}}

    def _widths(self) -> Iterator[tuple[int, int, int]]:
        """Yield neighbouring columns of one width: the first, the one after the last, and the pixels of each."""
        plan, formulas = self.plan, self._formulas
        captions = [plan.caption, f"{plan.rows.dim} \\ {plan.columns.dim}"]
        captions += [chooser.caption for chooser in formulas.choosers.values()]
        down = _longest(self._first_labels(plan.rows.labels))
        yield 0, 1, min(max(_NARROWEST, _PIXELS * (max(down, *map(len, captions)) + 3)), _WIDEST_LABEL)
        elements = _longest(to_values(formulas.sample(_SAMPLE)))
        elements = max(elements, _longest(self._first_labels(plan.columns.labels)))
        width = min(max(_NARROWEST, _PIXELS * (elements + 2)), _WIDEST)
        longest = _longest([chooser.value for chooser in formulas.choosers.values()])
        yield 1, 2, min(max(width, _PIXELS * (longest + 5)), _WIDEST)
        if plan.width > 1:
            yield 2, plan.width + 1, width

    def _first_labels(self, labels: Labels | None) -> list[Cell]:
        """Return the first labels of a dimension, or texts as wide as they are."""
        if labels is None:
            return []
        if labels.style is not None and labels.array.dtype_entry.kind == "datetime":
            return [DATE_CODES[chooser_kind(labels)]]
        return to_values(self._formulas.labels.to_typed(labels, _SAMPLE))

    def _gradient(self) -> Answer:
        """Return the request that colours the grid, from and to the numbers in three hidden cells."""
        points = {}
        for name, row, colour in zip(("minpoint", "midpoint", "maxpoint"), (1, 3, 2), _COLOURS, strict=True):
            parts = {key: part / 255 for key, part in zip(("red", "green", "blue"), colour, strict=True)}
            points[name] = {"type": "NUMBER", "value": f"={self._formulas.hidden_cell(row)}", "color": parts}
        rule = {"ranges": [self._grid.to_grid_range(self._gid)], "gradientRule": points}
        return {"addConditionalFormatRule": {"rule": rule, "index": 0}}

    def _chart(self) -> Answer:
        """Return the line chart of the chosen row of the grid; it lies over the cells beside the choosers."""
        plan, formulas = self.plan, self._formulas
        labels, line = ({"sourceRange": {"sources": [self._row_of(row)]}} for row in self._chart_rows())
        chart = {
            "chartType": "LINE",
            "legendPosition": "NO_LEGEND",
            "headerCount": 0,
            "axis": [{"position": "BOTTOM_AXIS", "title": plan.columns.dim}],
            "domains": [{"domain": labels}],
            "series": [{"series": line, "targetAxis": "LEFT_AXIS", "color": _LINE}],
        }
        line_chooser = f"{plan.rows.dim} as chosen in B{formulas.choosers['line'].row}"
        title = f"{plan.caption} along {plan.columns.dim}; {line_chooser}"
        anchor = {"sheetId": self._gid, "rowIndex": 0, "columnIndex": 3}
        return {
            "spec": {"title": title, "hiddenDimensionStrategy": "SHOW_ALL", "basicChart": chart},
            "position": {"overlayPosition": {"anchorCell": anchor, **_CHART}},
        }

    def _chart_rows(self) -> tuple[int, int]:
        """Return the rows, counted from 1, of the chart's labels and of its line."""
        return self._formulas.label_row, self._formulas.line_row

    def _row_of(self, row: int) -> Answer:
        """Return the GridRange of the columns of the grid in a row, counted from 1."""
        return Rect(row - 1, 1, row, self.plan.width + 1).to_grid_range(self._gid)

    def _show_labels(self, rect: Rect, labels: Labels | None) -> Iterator[Answer]:
        """Yield the request that shows the labels of a range as dates, if they are dates."""
        if labels is not None and labels.style is not None and labels.array.dtype_entry.kind == "datetime":
            yield self._show_as(rect, chooser_kind(labels))

    def _show_as(self, rect: Rect, kind: str) -> Answer:
        """Return the request that sets the number format of a range, given a kind of chooser."""
        shown = {"userEnteredFormat": {"numberFormat": _format_of(kind)}}
        return self._repeat(rect, shown, "userEnteredFormat.numberFormat")

    def _formula(self, rect: Rect, formula: str) -> Answer:
        """Return the request that puts a formula into the cells of a range; it is written as for the first one."""
        return self._repeat(rect, {"userEnteredValue": {"formulaValue": f"={formula}"}}, "userEnteredValue")

    def _repeat(self, rect: Rect, cell: Answer, fields: str) -> Answer:
        return {"repeatCell": {"range": rect.to_grid_range(self._gid), "cell": cell, "fields": fields}}


def _format_of(kind: str) -> Answer:
    """Return the number format of a kind of chooser: text, or dates by their unit."""
    if kind == "@":
        return {"type": "TEXT", "pattern": "@"}
    return {"type": "DATE" if kind == "D" else "DATE_TIME", "pattern": DATE_CODES[kind]}


def _longest(values: list[Cell]) -> int:
    """Return the number of characters in the longest of some values; a number shows at most 9 characters."""
    return max((len(str(value)) if isinstance(value, str) else min(len(str(value)), 9) for value in values), default=0)
