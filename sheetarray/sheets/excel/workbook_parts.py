"""Makes the XML of the parts of a new workbook: types, relationships, list of sheets, styles, sheets without rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ...cells.serials import DATE_CODES
from ...columns import column_letters
from .names import PRINT_AREA
from .package.markup import escape_text, quote_attribute
from .package.relations import CONTENT_TYPE, TRUTH_CODE
from .sheet_plans import SheetPlan, ViewPart

PROPERTIES = "docProps/custom.xml"
SHEETS = "xl/worksheets/sheet"
_MAKER = "sheetarray"
_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument."
DRAWING_TYPE, CHART_TYPE = f"{OFFICE}drawing+xml", f"{OFFICE}drawingml.chart+xml"
_OWN_FORMATS = 164  # from this number on, formats are those of the workbook; lower numbers are built-in formats
_MOST_ON_A_PAGE = 12  # columns that are printed side by side on one page
_CHOOSER, _EDGE, _SIDES = (
    "FFFFF2CC",
    "FFBF9000",
    ("left", "right", "top", "bottom"),
)  # colours of choosers: fill, border
# The version of the calculation engine, of Excel 2019 and later: for a lower one Excel computes all formulas on opening
_CALCULATION = 191029


def content_types(sheets: int, workbook: str, views: Sequence[ViewPart]) -> str:
    """Return the XML of the list of parts and their types; `workbook` is the type of the workbook's own part."""
    types = {
        "xl/workbook.xml": workbook,
        **{f"{SHEETS}{number}.xml": f"{OFFICE}spreadsheetml.worksheet+xml" for number in range(1, sheets + 1)},
        "xl/styles.xml": f"{OFFICE}spreadsheetml.styles+xml",
        "docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
        "docProps/app.xml": f"{OFFICE}extended-properties+xml",
        PROPERTIES: CONTENT_TYPE,
        **{view.drawing: DRAWING_TYPE for view in views if view.drawing},
        **{view.chart: CHART_TYPE for view in views if view.chart},
    }
    return (
        f'{_DECLARED}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        + "".join(f'<Override PartName="/{name}" ContentType="{type_}"/>' for name, type_ in types.items())
        + "</Types>"
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    """Return the XML of relationships, given as types and targets; their ids are rId1, rId2 and so on."""
    listed = (
        f'<Relationship Id="rId{number}" Type="{type_}" Target="{target}"/>'
        for number, (type_, target) in enumerate(targets, 1)
    )
    return f'{_DECLARED}<Relationships xmlns="{_PACKAGE}/relationships">{"".join(listed)}</Relationships>'


def root_relations() -> str:
    """Return the XML of the relationships of the package itself, from which a program finds the other parts."""
    return _relations(
        [
            (f"{_RELATIONS}/officeDocument", "xl/workbook.xml"),
            (f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
            (f"{_RELATIONS}/extended-properties", "docProps/app.xml"),
            (f"{_RELATIONS}/custom-properties", PROPERTIES),
        ]
    )


def workbook_relations(sheets: int) -> str:
    """Return the XML of the relationships of the workbook to its sheets and styles."""
    worksheets = [(f"{_RELATIONS}/worksheet", f"worksheets/sheet{number}.xml") for number in range(1, sheets + 1)]
    return _relations([*worksheets, (f"{_RELATIONS}/styles", "styles.xml")])


def workbook_part(sheets: Sequence[SheetPlan], names: Mapping[str, str]) -> str:
    """Return the XML of the workbook's own part: its sheets, and its defined names with their references."""
    listed = "".join(
        f'<sheet name={quote_attribute(plan.title)} sheetId="{number}"{hidden_state(plan.very_hidden)} '
        f'r:id="rId{number}"/>'
        for number, plan in enumerate(sheets, 1)
    )
    defined = "".join(
        f"<definedName name={quote_attribute(name)}>{escape_text(refers)}</definedName>"
        for name, refers in names.items()
    )
    defined += "".join(
        f'<definedName name="{PRINT_AREA}" localSheetId="{index}">{escape_text(plan.print_area)}</definedName>'
        for index, plan in enumerate(sheets)
        if plan.printed
    )
    return (
        f'{_DECLARED}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><workbookPr/>'
        f'<bookViews><workbookView activeTab="0"/></bookViews><sheets>{listed}</sheets>'
        + (f"<definedNames>{defined}</definedNames>" if defined else "")
        + f'<calcPr calcId="{_CALCULATION}" fullCalcOnLoad="0"/></workbook>'
    )


def hidden_state(very_hidden: bool) -> str:
    """Return the attribute that hides a sheet from all menus, in the list of sheets; empty for any other sheet."""
    return ' state="veryHidden"' if very_hidden else ""


def styles_part(*, choosers: bool) -> str:
    """Return the XML of the styles of cells: the default one, and OWN_STYLES; with choosers VIEW_STYLES."""
    font = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
    format_ = 'numFmtId="{}" fontId="{}" fillId="0" borderId="0"'
    codes = [*dict.fromkeys(DATE_CODES.values()), TRUTH_CODE]
    formats = "".join(
        f'<numFmt numFmtId="{number}" formatCode={quote_attribute(code)}/>'
        for number, code in enumerate(codes, _OWN_FORMATS)
    )
    *dates, truth = range(_OWN_FORMATS, _OWN_FORMATS + len(codes))
    shown = [*dates, 1, truth]  # 1 is the number of the built-in format "0"
    chooser = 'numFmtId="{}" fontId="0" fillId="2" borderId="1" xfId="0" applyNumberFormat="1" applyFill="1"'
    choosable = [0, 49, *dates] if choosers else []  # 49 is the number of the built-in format of text
    fill = f'<fill><patternFill patternType="solid"><fgColor rgb="{_CHOOSER}"/></patternFill></fill>'
    edges = "".join(f'<{side} style="thin"><color rgb="{_EDGE}"/></{side}>' for side in _SIDES)
    return (
        f'{_DECLARED}<styleSheet xmlns="{_MAIN}">'
        f'<numFmts count="{len(codes)}">{formats}</numFmts>'
        f'<fonts count="2"><font>{font}</font><font><b/>{font}</font></fonts>'
        f'<fills count="{2 + choosers}"><fill><patternFill patternType="none"/></fill>'
        f'<fill><patternFill patternType="gray125"/></fill>{fill * choosers}</fills>'
        f'<borders count="{1 + choosers}"><border><left/><right/><top/><bottom/><diagonal/></border>'
        + f"<border>{edges}<diagonal/></border>"
        * choosers
        + "</borders>"
        f'<cellStyleXfs count="1"><xf {format_.format(0, 0)}/></cellStyleXfs>'
        f'<cellXfs count="{3 + len(shown) + len(choosable)}"><xf {format_.format(0, 0)} xfId="0"/>'
        f'<xf {format_.format(0, 1)} xfId="0" applyFont="1"/>'
        f'<xf {format_.format(0, 1)} xfId="0" applyFont="1" applyAlignment="1"><alignment horizontal="right"/></xf>'
        + "".join(f'<xf {format_.format(number, 0)} xfId="0" applyNumberFormat="1"/>' for number in shown)
        + "".join(
            f'<xf {chooser.format(number)} applyBorder="1" applyAlignment="1"><alignment horizontal="left"/></xf>'
            for number in choosable
        )
        + "</cellXfs>"
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>"
    )


def core_properties() -> str:
    """Return the XML of the properties that name the maker of the workbook, without a time of writing."""
    return (
        f'{_DECLARED}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{_MAKER}</dc:creator></cp:coreProperties>'
    )


def application_properties() -> str:
    """Return the XML of the properties that name the program by which the workbook was made."""
    space = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
    return f'{_DECLARED}<Properties xmlns="{space}"><Application>{_MAKER}</Application></Properties>'


def worksheet_frame(plan: SheetPlan, *, selected: bool, code_name: str = "") -> tuple[bytes, bytes]:
    """Return the XML before the rows of a sheet, and the XML after them."""
    last = f"{column_letters(max(len(plan.widths), 1) - 1)}{max(plan.rows, 1)}"
    columns = "".join(
        f'<col min="{first}" max="{end}" width="{width:g}"{before} customWidth="1"{after}/>'
        for first, end, width, before, after in _group_columns(plan)
    )
    below = f"A{plan.headers + 2}"
    frozen = (  # ySplit is the number of rows of the upper pane, without hidden ones
        f'<pane ySplit="1" topLeftCell="{below}" activePane="bottomLeft" state="frozen"/>'
        f'<selection pane="bottomLeft" activeCell="{below}" sqref="{below}"/>'
        if plan.names
        else ""
    )
    outline = ' outlineLevelRow="1"' if plan.headers else ""
    outline += ' outlineLevelCol="1"' if plan.hidden else ""
    fits = len(plan.widths) <= _MOST_ON_A_PAGE
    properties = f"<sheetPr codeName={quote_attribute(code_name)}" if code_name else "<sheetPr"
    properties += '><pageSetUpPr fitToPage="1"/></sheetPr>' if fits else "/>"
    in_view = ' tabSelected="1"' if selected else ""
    head = (
        f'{_DECLARED}<worksheet xmlns="{_MAIN}">'
        + (properties if fits or code_name else "")
        + ("" if plan.very_hidden else f'<dimension ref="{last if last == "A1" else f"A1:{last}"}"/>')
        + f'<sheetViews><sheetView{in_view} workbookViewId="0">{frozen}'
        f'</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"{outline}/>'
        + (f"<cols>{columns}</cols>" if columns else "")
        + "<sheetData>"
    )
    page = (
        '<printOptions gridLines="1"/>'
        '<pageMargins left="0.5" right="0.5" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'
        + ('<pageSetup orientation="landscape" fitToHeight="0"/>' if fits else "")
    )
    return head.encode(), f"</sheetData>{page}</worksheet>".encode()


def _group_columns(plan: SheetPlan) -> Iterator[tuple[int, int, float, str, str]]:
    """Yield runs of neighbouring columns that look alike.

    Each is the first and the last column, counted from 1, their width in characters, and the attributes of XML before
    and after that of the width.
    """
    hidden = plan.hidden
    kinds = [(width, place in hidden, place - 1 in hidden) for place, width in enumerate(plan.widths)]
    start = 1
    for (width, hides, after), run in groupby(kinds):
        end = start + len(list(run))
        outline = ' outlineLevel="1"' if hides else ' collapsed="1"' if after else ""
        yield start, end - 1, width, ' hidden="1"' if hides else "", outline
        start = end
