"""The sheet of a view around its rows: panes, widths of columns, the values that choosers offer, colours, printing.

Source: ECMA-376 part 1, 18.3.1.99 (the order of a worksheet's elements), 18.3.1.10 (colour scales), 18.3.1.33
(validations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ....columns import column_letters
from ....elements import Cell
from ....elements.serials import DATE_CODES, shown_unit
from ....linear.array import LinearArray
from ...decimals import count_shown
from ...views.choosers import Chooser
from ...views.geometry import Labels
from ...views.plans import ViewPlan
from ...xml_texts import escape_text, quote_attribute
from ..package.relations import DECLARED, MAIN, RELATIONS
from ..skeleton.plans import ViewPart
from ..styles.cell_styles import CellStyles
from .chart import FIRST_COLUMN, INDENT, WIDTH, chart_parts
from .editable_grid import MOST_RANGES, EditableGrid
from .grid import ViewGrid

_PAGE = (
    '<pageMargins left="0.5" right="0.5" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>'
    '<pageSetup orientation="landscape"/>'
)
_COLOURS = ("FF5A8AC6", "FFFCFCFF", "FFF8696B")  # blue, white, red
_PRINTED_COLUMNS, _PRINTED_ROWS = 16, 60  # of elements, at most
_NARROWEST, _WIDEST, _WIDEST_LABEL = 9.0, 26.0, 40.0  # widths of columns, in characters
_LONGEST_TITLE = 16  # characters of a prompt's title: Excel takes 32 UTF-16 units, two a character at most
_DOTS_OF_CHARACTER = 7  # pixels that a character of a column's width takes
_SAMPLE = 400  # elements or labels that are looked at to find the widths of columns


@dataclass(frozen=True)
class ViewParts:
    """A view that is ready to be written."""

    head: bytes  # the XML of the sheet before its rows
    rows: Iterator[str]  # the XML of the rows
    tail: bytes  # the XML of the sheet after its rows
    drawing: tuple[str, str] | None  # the XML of the drawing, and of the chart in it; None for a view without a chart


def make_view(
    plan: ViewPlan,
    name_of: Callable[[str], str],
    styles: CellStyles,
    part: ViewPart,
) -> ViewParts:
    """Return the sheet of a view.

    `name_of`: returns the defined name of the cells of an array, given the name of the array. `part`: the names of the
    view's parts, and what the workbook asks of them.
    """
    if plan.editable:
        grid: ViewGrid | EditableGrid = EditableGrid(plan, name_of, styles)
        chart = None
    else:
        grid = ViewGrid(plan, name_of, styles)
        chart = chart_parts(grid, _find_chart_end(plan, grid)) if part.drawing else None
    head, tail = _head(plan, grid, selected=part.selected), _tail(plan, grid, has_chart=chart is not None)
    return ViewParts(head.encode(), grid.iter_rows(), tail.encode(), chart)


def printed_range(plan: ViewPlan) -> str:
    """Return the absolute range of a view that is printed: its first columns and rows, on one page."""
    last = column_letters(min(plan.width, _PRINTED_COLUMNS))
    if plan.editable:
        return f"$A$1:${last}${min(EditableGrid(plan, str, CellStyles()).last_row, _PRINTED_ROWS)}"
    grid = ViewGrid(plan, str, CellStyles())
    if plan.has_numbers:
        last = column_letters(max(min(plan.width, _PRINTED_COLUMNS), _find_chart_end(plan, grid)))
    return f"$A$1:${last}${min(grid.last_row, grid.label_row + _PRINTED_ROWS)}"


def _head(plan: ViewPlan, grid: ViewGrid | EditableGrid, *, selected: bool) -> str:
    """Return the XML before the rows; `selected` says whether the workbook opens with this sheet in front."""
    frozen, first = grid.frozen_rows, f"B{grid.first_row}"
    split, active = (f'ySplit="{frozen}" ', "bottomRight") if frozen else ("", "topRight")
    selections = '<selection pane="topRight"/><selection pane="bottomLeft"/>' if frozen else ""
    pane = (
        f'<pane xSplit="1" {split}topLeftCell="B{frozen + 1}" activePane="{active}" state="frozen"/>{selections}'
        f'<selection pane="{active}" activeCell="{first}" sqref="{first}"/>'
    )
    columns = "".join(
        f'<col min="{start}" max="{end}" width="{width:g}" customWidth="1"/>'
        for start, end, width in _column_widths(plan, grid)
    )
    hidden, in_view = grid.hidden_place + 1, ' tabSelected="1"' if selected else ""
    return (
        f'{DECLARED}<worksheet xmlns="{MAIN}" xmlns:r="{RELATIONS}">'
        '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>'
        f'<dimension ref="A1:{column_letters(grid.hidden_place)}{grid.last_row}"/><sheetViews>'
        f'<sheetView showGridLines="0"{in_view} workbookViewId="0">{pane}</sheetView></sheetViews>'
        f'<sheetFormatPr defaultRowHeight="15"/><cols>{columns}'
        f'<col min="{hidden}" max="{hidden}" width="9" hidden="1" customWidth="1"/></cols><sheetData>'
    )


def _column_widths(plan: ViewPlan, grid: ViewGrid | EditableGrid) -> Iterator[tuple[int, int, float]]:
    """Yield spans of columns (the first and the last one, counted from 1), and the width of each, in characters.

    Column 1 holds labels of rows and captions, column 2 also the choosers, the others hold elements.
    """
    labels = _labels_width(plan.rows.labels, plan.height)
    yield 1, 1, min(max(_NARROWEST, labels, max(map(len, grid.captions)) * 1.1) + 2, _WIDEST_LABEL)
    elements = max(map(_width_of, grid.sample(_SAMPLE)))
    if plan.has_numbers and (code := grid.styles.code_of(plan.style)) is not None:
        elements = float(count_shown(code, plan.array.buffer))
    if plan.style is not None and plan.array.dtype_entry.kind == "datetime":
        elements = _dates_width(plan.array)
    width = min(max(_NARROWEST, elements, _labels_width(plan.columns.labels, plan.width)) + 1, _WIDEST)
    chosen = plan.choosers if plan.editable else [*plan.choosers, plan.rows]
    widest = max([0.0, *(_labels_width(axis.labels, axis.size) for axis in chosen)])
    yield 2, 2, min(max(width, widest + 2), _WIDEST)
    if plan.width > 1:
        yield 3, plan.width + 1, width


def _labels_width(labels: Labels | None, count: int) -> float:
    """Return the width of the longest of the first labels, in characters; 0 for a dimension without labels."""
    if labels is None:
        return 0.0
    if labels.style is not None and labels.array.dtype_entry.kind == "datetime":
        return _dates_width(labels.array)
    return max(map(_width_of, labels.array.to_numpy()[: max(count, _SAMPLE)].tolist()), default=0.0)


def _dates_width(array: LinearArray) -> float:
    """Return the width of dates in characters, as their format shows them."""
    return float(len(DATE_CODES[shown_unit(array.buffer) or "ms"]))


def _width_of(value: Cell) -> float:
    """Return the width of a value in characters; programs round numbers to fit into the narrowest column."""
    return float(len(str(value))) if isinstance(value, str) else min(float(len(str(value))), _NARROWEST)


def _tail(plan: ViewPlan, grid: ViewGrid | EditableGrid, *, has_chart: bool) -> str:
    """Return the XML after the rows."""
    ends, colours = [grid.hidden_cell(row) for row in (1, 3, 2)], ""
    if plan.has_numbers:
        colours = "".join(_colour_scale(" ".join(batch), ends) for batch in _in_batches(grid.ranges, MOST_RANGES))
    return (
        "</sheetData>"
        + _protection(grid.open_ranges)
        + colours
        + (_validations(grid) if isinstance(grid, ViewGrid) else "")
        + _PAGE
        + ('<drawing r:id="rId1"/>' if has_chart else "")
        + "</worksheet>"
    )


def _protection(open_ranges: Iterable[str]) -> str:
    """Return the XML that locks all cells of a view but some ranges, without a password; looks may be changed.

    The styles of these cells are unlocked too in a workbook of our own; any other workbook keeps its styles.
    """
    ranges = "".join(
        f'<protectedRange sqref="{" ".join(batch)}" name="open{number}"/>'
        for number, batch in enumerate(_in_batches(open_ranges, MOST_RANGES), 1)
    )
    opened = f"<protectedRanges>{ranges}</protectedRanges>" if ranges else ""
    return f'<sheetProtection sheet="1" formatCells="0" formatColumns="0" formatRows="0"/>{opened}'


def _in_batches(ranges: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield lists of at most `size` ranges."""
    rest = iter(ranges)
    while batch := list(islice(rest, size)):
        yield batch


def _colour_scale(cells: str, ends: Sequence[str]) -> str:
    """Return the XML of the rule that colours some ranges; its colours belong to the numbers in three cells, `ends`."""
    points = "".join(f'<cfvo type="formula" val="{end}"/>' for end in ends)
    colours = "".join(f'<color rgb="{colour}"/>' for colour in _COLOURS)
    return (
        f'<conditionalFormatting sqref="{cells}"><cfRule type="colorScale" priority="1">'
        f"<colorScale>{points}{colours}</colorScale></cfRule></conditionalFormatting>"
    )


def _validations(grid: ViewGrid) -> str:
    """Return the XML of the rules that say which values the choosers take."""
    rules = [
        _validation(chooser, grid.line_choices if key == "line" else _allowed_values(grid, chooser))
        for key, chooser in grid.choosers.items()
    ]
    return f'<dataValidations count="{len(rules)}">{"".join(rules)}</dataValidations>' if rules else ""


def _allowed_values(grid: ViewGrid, chooser: Chooser) -> str:
    """Return the values that a chooser offers: a defined name of cells, or a list in quotes; empty for integers."""
    if chooser.source is not None:
        return grid.name_of(chooser.source.name)
    return f'"{",".join(chooser.listed)}"' if chooser.listed else ""


def _validation(chooser: Chooser, allowed: str) -> str:
    """Return the XML of the rule for one chooser; `allowed` is what `_allowed_values` returns."""
    prompt = f"promptTitle={quote_attribute(chooser.caption[:_LONGEST_TITLE])}"
    shown = 'showInputMessage="1" showErrorMessage="1"'
    if allowed:
        hint = 'prompt="Choose from the list."'
        formula = f"<formula1>{escape_text(allowed)}</formula1>"
        return f'<dataValidation type="list" {shown} {prompt} {hint} sqref="B{chooser.row}">{formula}</dataValidation>'
    hint = f'prompt="A whole number from {chooser.least} to {chooser.most}."'
    formulas = f"<formula1>{chooser.least}</formula1><formula2>{chooser.most}</formula2>"
    return f'<dataValidation type="whole" {shown} {prompt} {hint} sqref="B{chooser.row}">{formulas}</dataValidation>'


def _find_chart_end(plan: ViewPlan, grid: ViewGrid) -> int:
    """Return the last column that the chart covers, counted from 0: the first one that makes it wide enough."""
    widths = {
        place: width for first, last, width in _column_widths(plan, grid) for place in range(first - 1, min(last, 99))
    }
    widths[grid.hidden_place] = 0.0
    end, room = FIRST_COLUMN, -float(INDENT)
    while (room := room + _DOTS_OF_CHARACTER * widths.get(end, _NARROWEST)) < WIDTH:
        end += 1
    return end
