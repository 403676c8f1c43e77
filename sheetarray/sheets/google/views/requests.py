"""The requests for the worksheet of a view, made from its plan: formulas, choosers, colours, a chart, frozen panes.

One request puts a formula into all cells of the grid, and the service adapts its references, as it does for people who
copy a formula. Labels and positions are made in the same way. So a view of 100,000 formulas takes a few kilobytes, and
is made by one batch together with its worksheet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....columns import quote_title
from ....elements import EXACT_IN_JSON, Cell
from ....elements.serials import DATE_CODES
from ...views.choosers import Chooser, chooser_kind
from ...views.formulas import CHART_ROWS, ViewFormulas
from ...views.geometry import Labels
from ...views.plans import ViewPlan
from ..address import Rect
from ..appearance import date_format
from ..changes import (
    Requests,
    change_lines,
    lines_of,
    make_bold,
    repeat_cell,
    show_as,
    update_cells,
)
from ..requests import Answer

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
            yield self._formula(Rect(row, 0, row + 1, 1), self.chart_title()[0])
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
        """Yield the requests that make columns as wide as their cells: the column of labels, and all others alike."""
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
        """Return the line chart of the chosen row of the grid; it lies over the cells beside the choosers.

        The first cell of the line is its name, which says what is chosen: a title would keep its text.
        """
        plan = self.plan
        rows = (Rect(row - 1, 0, row, plan.width + 1) for row in (self.label_row, self.line_row))
        labels, line = ({"sourceRange": {"sources": [row.to_grid_range(self._gid)]}} for row in rows)
        chart = {
            "chartType": "LINE",
            "legendPosition": "TOP_LEGEND",
            "headerCount": 1,
            "axis": [{"position": "BOTTOM_AXIS", "title": plan.columns.dim}],
            "domains": [{"domain": labels}],
            "series": [{"series": line, "targetAxis": "LEFT_AXIS", "color": _LINE}],
        }
        anchor = {"sheetId": self._gid, "rowIndex": 0, "columnIndex": 3}
        return {
            "spec": {"hiddenDimensionStrategy": "SHOW_ALL", "basicChart": chart},
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
