"""The sheet of a view around its rows: panes, widths of columns, the values that choosers offer, colours, printing.

Source: ECMA-376 part 1, 18.3.1.99 (the order of a worksheet's elements), 18.3.1.10 (colour scales), 18.3.1.33
(validations), 20.5 (drawings), 21.2 (charts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ....columns import column_letters, quote_title
from ....elements import Cell
from ....elements.serials import DATE_CODES, shown_unit
from ....linear.array import LinearArray
from ...decimals import count_shown
from ...views.choosers import Chooser
from ...views.formulas import CHART_ROWS
from ...views.geometry import Labels
from ...views.plans import ViewPlan
from ...workbooks import GENERAL
from ...xml_texts import escape_text, quote_attribute
from ..package.relations import DECLARED, MAIN, RELATIONS
from ..skeleton.plans import ViewPart
from ..styles.cell_styles import CellStyles
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
        chart = chart_parts(grid) if part.drawing else None
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


_DRAWINGS = "http://schemas.openxmlformats.org/drawingml/2006"
_DOT = 9525  # English Metric Units, in which drawings are measured: as many as a pixel has
_WIDTH, _INDENT, _INSET, _DOTS_OF_CHARACTER = 640, 10, 50, 7  # pixels; a column has at least 63
_COLUMN = 3  # where the chart begins, counted from 0: right of the choosers and their labels
_LINE = "2F6DB5"  # the colour of the line


def _find_chart_end(plan: ViewPlan, grid: ViewGrid) -> int:
    """Return the last column that the chart covers, counted from 0: the first one that makes it wide enough."""
    widths = {
        place: width for first, last, width in _column_widths(plan, grid) for place in range(first - 1, min(last, 99))
    }
    widths[grid.hidden_place] = 0.0
    end, room = _COLUMN, -float(_INDENT)
    while (room := room + _DOTS_OF_CHARACTER * widths.get(end, _NARROWEST)) < _WIDTH:
        end += 1
    return end


def chart_parts(grid: ViewGrid) -> tuple[str, str]:
    """Return the XML of the drawing, which refers to the chart by the id `rId1`, and the XML of the chart.

    The chart ends within a column that is printed, so that it is printed whole whatever the width of a character is.
    """
    drawing = (
        f'{DECLARED}<xdr:wsDr xmlns:xdr="{_DRAWINGS}/spreadsheetDrawing" xmlns:a="{_DRAWINGS}/main">'
        f'<xdr:twoCellAnchor editAs="oneCell"><xdr:from><xdr:col>{_COLUMN}</xdr:col>'
        f"<xdr:colOff>{_INDENT * _DOT}</xdr:colOff><xdr:row>0</xdr:row><xdr:rowOff>{4 * _DOT}</xdr:rowOff></xdr:from>"
        f"<xdr:to><xdr:col>{_find_chart_end(grid.plan, grid)}</xdr:col><xdr:colOff>{_INSET * _DOT}</xdr:colOff>"
        f"<xdr:row>{CHART_ROWS - 2}</xdr:row><xdr:rowOff>{4 * _DOT}</xdr:rowOff></xdr:to>"
        '<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="line"/><xdr:cNvGraphicFramePr/>'
        '</xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>'
        f'<a:graphic><a:graphicData uri="{_DRAWINGS}/chart"><c:chart xmlns:c="{_DRAWINGS}/chart" '
        f'xmlns:r="{RELATIONS}" r:id="rId1"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/>'
        "</xdr:twoCellAnchor></xdr:wsDr>"
    )
    return drawing, _chart(grid)


def _chart(grid: ViewGrid) -> str:
    """Return the XML of the chart. Its numbers have a power of ten if those of the grid have."""
    plan, sheet = grid.plan, quote_title(grid.plan.title)
    title = f"{sheet}!$A${grid.line_row}"
    line = f"{sheet}!$B${grid.line_row}:${grid.last_column}${grid.line_row}"
    labels = f"{sheet}!$B${grid.label_row}:${grid.last_column}${grid.label_row}"
    code = (grid.styles.code_of(plan.style) or "").upper()
    code = "0.0E+00" if "E+" in code else GENERAL
    return (
        f'{DECLARED}<c:chartSpace xmlns:c="{_DRAWINGS}/chart" xmlns:a="{_DRAWINGS}/main" '
        f'xmlns:r="{RELATIONS}">'
        '<c:roundedCorners val="0"/><c:chart><c:autoTitleDeleted val="1"/><c:plotArea><c:layout/>'
        '<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>'
        f'<c:ser><c:idx val="0"/><c:order val="0"/><c:tx>{_reference(title, grid.chart_title()[1])}</c:tx>'
        f'<c:spPr><a:ln w="19050"><a:solidFill><a:srgbClr val="{_LINE}"/></a:solidFill></a:ln></c:spPr>'
        '<c:marker><c:symbol val="none"/></c:marker>'
        f"<c:cat><c:strRef><c:f>{escape_text(labels)}</c:f></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:f>{escape_text(line)}</c:f></c:numRef></c:val>"
        '<c:smooth val="0"/></c:ser><c:marker val="1"/><c:axId val="111111111"/><c:axId val="222222222"/></c:lineChart>'
        f'<c:catAx><c:axId val="111111111"/>{_SCALING}<c:axPos val="b"/>{_axis_title(plan.columns.dim)}'
        '<c:numFmt formatCode="General" sourceLinked="1"/><c:majorTickMark val="out"/><c:minorTickMark val="none"/>'
        '<c:tickLblPos val="low"/><c:crossAx val="222222222"/><c:crosses val="autoZero"/><c:auto val="0"/>'
        '<c:lblAlgn val="ctr"/><c:lblOffset val="100"/><c:noMultiLvlLbl val="0"/></c:catAx>'
        f'<c:valAx><c:axId val="222222222"/>{_SCALING}<c:axPos val="l"/><c:majorGridlines>{_GREY}</c:majorGridlines>'
        f'<c:numFmt formatCode="{code}" sourceLinked="0"/><c:majorTickMark val="out"/><c:minorTickMark val="none"/>'
        '<c:tickLblPos val="nextTo"/><c:crossAx val="111111111"/><c:crosses val="autoZero"/>'
        f'<c:crossBetween val="midCat"/></c:valAx></c:plotArea>{_LEGEND}'
        '<c:plotVisOnly val="0"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>'
    )


_SCALING = '<c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>'
_LEGEND = (  # in the place of a title, as the name of the line is a cell that changes with what is chosen
    '<c:legend><c:legendPos val="t"/><c:overlay val="0"/><c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1100" b="0"/>'
    '</a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr></c:legend>'
)
_GREY = '<c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="D9D9D9"/></a:solidFill></a:ln></c:spPr>'


def _text(text: str, size: int) -> str:
    """Return the XML of a text in a chart; its size is in hundredths of a point."""
    return (
        f'<c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="{size}" b="0"/></a:pPr><a:r><a:rPr lang="en-US" sz="{size}" '
        f'b="0"/><a:t>{escape_text(text)}</a:t></a:r></a:p></c:rich>'
    )


def _reference(cell: str, text: str) -> str:
    """Return the XML of a text that stands in a cell, with its value at first."""
    cache = f'<c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>{escape_text(text)}</c:v></c:pt></c:strCache>'
    return f"<c:strRef><c:f>{escape_text(cell)}</c:f>{cache}</c:strRef>"


def _axis_title(dim: str) -> str:
    """Return the XML of the title of an axis."""
    return f'<c:title><c:tx>{_text(dim, 900)}</c:tx><c:overlay val="0"/></c:title>'
