"""The chart on a view, right of its choosers: the chosen row of the slice as a line.

Source: ECMA-376 part 1, 20.5 (drawings), 21.2 (charts).
"""

from __future__ import annotations

from ....columns import quote_title
from ...views.formulas import CHART_ROWS
from ...workbooks import GENERAL
from ...xml_texts import escape_text
from ..package.relations import DECLARED, RELATIONS
from .grid import ViewGrid

FIRST_COLUMN = 3  # where the chart begins, counted from 0: right of the choosers and their labels
INDENT, WIDTH = 10, 640  # pixels within the first column, and those that the chart has at least
_INSET = 50  # pixels of the last column, which has at least 63
_DRAWINGS = "http://schemas.openxmlformats.org/drawingml/2006"
_DOT = 9525  # English Metric Units, in which drawings are measured: as many as a pixel has
_LINE = "2F6DB5"  # the colour of the line
_SCALING = '<c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>'
_LEGEND = (  # in the place of a title, as the name of the line is a cell that changes with what is chosen
    '<c:legend><c:legendPos val="t"/><c:overlay val="0"/><c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1100" b="0"/>'
    '</a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr></c:legend>'
)
_GREY = '<c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="D9D9D9"/></a:solidFill></a:ln></c:spPr>'


def chart_parts(grid: ViewGrid, last_column: int) -> tuple[str, str]:
    """Return the XML of the drawing, which refers to the chart by the id `rId1`, and the XML of the chart.

    `last_column`: the one within which the chart ends, counted from 0. It is printed, so the chart is printed whole,
    whatever the width of a character is.
    """
    drawing = (
        f'{DECLARED}<xdr:wsDr xmlns:xdr="{_DRAWINGS}/spreadsheetDrawing" xmlns:a="{_DRAWINGS}/main">'
        f'<xdr:twoCellAnchor editAs="oneCell"><xdr:from><xdr:col>{FIRST_COLUMN}</xdr:col>'
        f"<xdr:colOff>{INDENT * _DOT}</xdr:colOff><xdr:row>0</xdr:row><xdr:rowOff>{4 * _DOT}</xdr:rowOff></xdr:from>"
        f"<xdr:to><xdr:col>{last_column}</xdr:col><xdr:colOff>{_INSET * _DOT}</xdr:colOff>"
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
