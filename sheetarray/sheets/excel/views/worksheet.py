"""The sheet around the rows of a view: panes, widths, choices, colours, and what is printed.

Source: ECMA-376 part 1, 18.3.1.99 (the order of a worksheet's elements), 18.3.1.10 (colour scales), 18.3.1.33
(validations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ....columns import column_letters
from ....elements import Cell
from ..package.markup import escape_text, quote_attribute
from ..package.relations import STRICT
from ..package.styles import DATE_CODES, CellStyles
from ..skeleton import ViewPart
from .cells import to_values
from .chart import chart_parts
from .geometry import Labels, ViewPlan
from .grid import Chooser, ViewGrid

_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_SPACES = ((_MAIN, STRICT + "spreadsheetml/main"), (_RELATIONS, STRICT + "officeDocument/relationships"))
_COLOURS = ("FF5A8AC6", "FFFCFCFF", "FFF8696B")  # blue, white, red
_PRINTED_COLUMNS, _PRINTED_ROWS = 16, 60
_NARROWEST, _WIDEST, _WIDEST_LABEL = 9.0, 26.0, 40.0
_LONGEST_TITLE = 16  # characters of a prompt's title: 32 UTF-16 units
_SAMPLE = 400  # elements from which the width of columns is found


@dataclass(frozen=True)
class ViewParts:
    """A view that is ready to be written.

    Attributes:
        rows: of the sheet, as XML, between `head` and `tail`.
        head: what comes before them.
        tail: what comes after them.
        drawing: the drawing and the chart in it; None where there is no chart.
    """

    head: bytes
    rows: Iterator[str]
    tail: bytes
    drawing: tuple[str, str] | None


def make_view(
    plan: ViewPlan,
    name_of: Callable[[str], str],
    styles: CellStyles,
    part: ViewPart,
) -> ViewParts:
    """Return the sheet of a view.

    Args:
        plan: of the view.
        name_of: the defined name of the cells of an array.
        styles: those that the workbook has.
        part: where it goes.
    """
    grid = ViewGrid(plan, name_of, styles)
    head, tail = _head(plan, grid, selected=part.selected), _tail(plan, grid, has_chart=part.drawing != "")
    if part.strict:
        for space, other in _STRICT_SPACES:
            head = head.replace(f'"{space}"', f'"{other}"')
    return ViewParts(head.encode(), grid.iter_rows(), tail.encode(), chart_parts(grid) if part.drawing else None)


def printed_range(plan: ViewPlan) -> str:
    """Return the absolute range of a view that is printed: its first columns and rows, on one page."""
    grid = ViewGrid(plan, str, CellStyles())
    last = column_letters(min(plan.width, _PRINTED_COLUMNS))
    return f"$A$1:${last}${min(grid.last_row, grid.label_row + _PRINTED_ROWS)}"


def _head(plan: ViewPlan, grid: ViewGrid, *, selected: bool) -> str:
    """Return what comes before the rows."""
    first, in_view = f"B{grid.first_row}", ' tabSelected="1"' if selected else ""
    widths = list(_column_widths(plan, grid))
    columns = "".join(f'<col min="{a}" max="{b}" width="{width:g}" customWidth="1"/>' for a, b, width in widths)
    hidden = plan.width + 2
    chooser = '<selection pane="topRight" activeCell="B2" sqref="B2"/>'
    return (
        f'{_DECLARED}<worksheet xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
        '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>'
        f'<dimension ref="A1:{grid.hidden_column}{grid.last_row}"/>'
        f'<sheetViews><sheetView showGridLines="0"{in_view} workbookViewId="0">'
        f'<pane xSplit="1" ySplit="{grid.label_row}" topLeftCell="{first}" activePane="bottomRight" state="frozen"/>'
        f'{chooser}<selection pane="bottomLeft"/><selection pane="bottomRight" activeCell="{first}" sqref="{first}"/>'
        '</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>'
        f'<cols>{columns}<col min="{hidden}" max="{hidden}" width="9" hidden="1" customWidth="1"/></cols><sheetData>'
    )


def _column_widths(plan: ViewPlan, grid: ViewGrid) -> Iterator[tuple[int, int, float]]:
    """Yield spans of columns, from 1, and how wide they are."""
    captions = [chooser.caption for chooser in grid.choosers.values()]
    corner = f"{plan.rows.dim} \\ {plan.columns.dim}"
    labels = _labels_width(plan.rows.labels, plan.height)
    longest = max(len(text) for text in (plan.caption, corner, *captions))
    yield 1, 1, min(max(_NARROWEST, labels, longest * 1.1) + 2, _WIDEST_LABEL)
    elements = max(_width_of(value) for value in to_values(grid.sample(_SAMPLE)))
    if plan.style is not None and plan.array.dtype_entry.kind == "datetime":
        elements = float(max(map(len, DATE_CODES.values())))
    width = min(max(_NARROWEST, elements, _labels_width(plan.columns.labels, plan.width)) + 1, _WIDEST)
    choosers = [_labels_width(axis.labels, 1) for axis in (*plan.choosers, plan.rows)]
    choosers = [min(max(width, label + 2), _WIDEST) for label in choosers]
    yield 2, 2, max(choosers)
    if plan.width > 1:
        yield 3, plan.width + 1, width


def _labels_width(labels: Labels | None, count: int) -> float:
    if labels is None:
        return 0.0
    if labels.style is not None and labels.array.dtype_entry.kind == "datetime":
        return float(max(map(len, DATE_CODES.values())))
    return max(map(_width_of, labels.array.to_numpy()[: max(count, _SAMPLE)].tolist()), default=0.0)


def _width_of(value: Cell) -> float:
    """Return how many characters a value takes; numbers are rounded to the width of their column."""
    return float(len(str(value))) if isinstance(value, str) else min(float(len(str(value))), _NARROWEST)


def _tail(plan: ViewPlan, grid: ViewGrid, *, has_chart: bool) -> str:
    """Return what comes after the rows."""
    return (
        "</sheetData>"
        + (_colour_scale(grid) if plan.has_numbers else "")
        + _validations(grid)
        + '<pageMargins left="0.5" right="0.5" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>'
        '<pageSetup orientation="landscape"/>' + ('<drawing r:id="rId1"/>' if has_chart else "") + "</worksheet>"
    )


def _colour_scale(grid: ViewGrid) -> str:
    cells = grid.grid_range.replace("$", "")
    ends = "".join(f'<cfvo type="formula" val="{grid.hidden_cell(row)}"/>' for row in (1, 3, 2))
    colours = "".join(f'<color rgb="{colour}"/>' for colour in _COLOURS)
    return (
        f'<conditionalFormatting sqref="{cells}"><cfRule type="colorScale" priority="1">'
        f"<colorScale>{ends}{colours}</colorScale></cfRule></conditionalFormatting>"
    )


def _validations(grid: ViewGrid) -> str:
    rules = [
        _validation(chooser, grid.line_choices if key == "line" else chooser.allowed)
        for key, chooser in grid.choosers.items()
    ]
    return f'<dataValidations count="{len(rules)}">{"".join(rules)}</dataValidations>' if rules else ""


def _validation(chooser: Chooser, allowed: str) -> str:
    prompt = f"promptTitle={quote_attribute(chooser.caption[:_LONGEST_TITLE])}"
    shown = 'showInputMessage="1" showErrorMessage="1"'
    if allowed:
        hint = 'prompt="Choose from the list."'
        formula = f"<formula1>{escape_text(allowed)}</formula1>"
        return f'<dataValidation type="list" {shown} {prompt} {hint} sqref="B{chooser.row}">{formula}</dataValidation>'
    hint = f'prompt="A whole number from {chooser.least} to {chooser.most}."'
    formulas = f"<formula1>{chooser.least}</formula1><formula2>{chooser.most}</formula2>"
    return f'<dataValidation type="whole" {shown} {prompt} {hint} sqref="B{chooser.row}">{formulas}</dataValidation>'
