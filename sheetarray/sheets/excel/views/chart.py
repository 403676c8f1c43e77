"""The line chart of a view, beside the choosers: it shows the row of the grid that people choose in the sheet.

Source: ECMA-376 part 1, 21.2 (charts) and 20.5 (drawings in sheets).
"""

from __future__ import annotations

from ....columns import quote_title
from ....views.formulas import CHART_ROWS
from ..package.markup import escape_text
from .grid import ViewGrid

_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_DRAWINGS = "http://schemas.openxmlformats.org/drawingml/2006"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DOT = 9525  # English Metric Units, in which drawings are measured: as many as a pixel has
_WIDTH, _HEIGHT = 640, 20 * CHART_ROWS - 40  # pixels
_COLUMN = 3  # where the chart begins, counted from 0: right of the choosers and their labels
_LINE = "2F6DB5"  # the colour of the line


def chart_parts(grid: ViewGrid) -> tuple[str, str]:
    """Return the XML of the drawing, which refers to the chart by the id `rId1`, and the XML of the chart."""
    drawing = (
        f'{_DECLARED}<xdr:wsDr xmlns:xdr="{_DRAWINGS}/spreadsheetDrawing" xmlns:a="{_DRAWINGS}/main">'
        f"<xdr:oneCellAnchor><xdr:from><xdr:col>{_COLUMN}</xdr:col><xdr:colOff>{10 * _DOT}</xdr:colOff>"
        f"<xdr:row>0</xdr:row><xdr:rowOff>{4 * _DOT}</xdr:rowOff></xdr:from>"
        f'<xdr:ext cx="{_WIDTH * _DOT}" cy="{_HEIGHT * _DOT}"/>'
        '<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="line"/><xdr:cNvGraphicFramePr/>'
        '</xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>'
        f'<a:graphic><a:graphicData uri="{_DRAWINGS}/chart"><c:chart xmlns:c="{_DRAWINGS}/chart" '
        f'xmlns:r="{_RELATIONS}" r:id="rId1"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/>'
        "</xdr:oneCellAnchor></xdr:wsDr>"
    )
    return drawing, _chart(grid)


def _chart(grid: ViewGrid) -> str:
    """Return the XML of the chart."""
    plan, sheet = grid.plan, quote_title(grid.plan.title)
    title = f"{plan.caption} along {plan.columns.dim}; {plan.rows.dim} as chosen in B{grid.choosers['line'].row}"
    line = f"{sheet}!$B${grid.line_row}:${grid.last_column}${grid.line_row}"
    labels = f"{sheet}!$B${grid.label_row}:${grid.last_column}${grid.label_row}"
    return (
        f'{_DECLARED}<c:chartSpace xmlns:c="{_DRAWINGS}/chart" xmlns:a="{_DRAWINGS}/main" xmlns:r="{_RELATIONS}">'
        f'<c:roundedCorners val="0"/><c:chart><c:title><c:tx>{_text(title, 1100)}</c:tx>'
        '<c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/><c:plotArea><c:layout/>'
        '<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>'
        '<c:ser><c:idx val="0"/><c:order val="0"/>'
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
        '<c:numFmt formatCode="General" sourceLinked="0"/><c:majorTickMark val="out"/><c:minorTickMark val="none"/>'
        '<c:tickLblPos val="nextTo"/><c:crossAx val="111111111"/><c:crosses val="autoZero"/>'
        '<c:crossBetween val="midCat"/></c:valAx></c:plotArea>'
        '<c:plotVisOnly val="0"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>'
    )


_SCALING = '<c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>'
_GREY = '<c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="D9D9D9"/></a:solidFill></a:ln></c:spPr>'


def _text(text: str, size: int) -> str:
    """Return the XML of a text in a chart; its size is in hundredths of a point."""
    return (
        f'<c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="{size}" b="0"/></a:pPr><a:r><a:rPr lang="en-US" sz="{size}" '
        f'b="0"/><a:t>{escape_text(text)}</a:t></a:r></a:p></c:rich>'
    )


def _axis_title(dim: str) -> str:
    """Return the XML of the title of an axis."""
    return f'<c:title><c:tx>{_text(dim, 900)}</c:tx><c:overlay val="0"/></c:title>'
