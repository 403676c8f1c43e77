"""A new workbook without the rows of its sheets: the parts that Excel needs, and nothing else.

Equal arrays make equal files: no time of writing is in them. Elements and attributes stand in the order of the schema
(ECMA-376 part 1, 18), which Excel insists on in some places and other programs in others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...cells.serials import DATE_CODES
from ...columns import column_letters
from ...errors import LimitError
from .names import PRINT_AREA, ArrayArea, build_references, check_title, make_defined_names, quote_title
from .package.markup import escape_text, quote_attribute
from .package.packing import PackageWriter
from .package.properties import CONTENT_TYPE, add_sheets, merge_properties
from .package.relations import TYPES
from .package.styles import OWN_STYLES, TRUTH_CODE, VIEW_STYLES, CellStyles

PROPERTIES = "docProps/custom.xml"
_SHEETS = "xl/worksheets/sheet"
_MAKER = "sheetarray"
_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "application/vnd.openxmlformats-officedocument."
DRAWING_TYPE, CHART_TYPE = f"{_OFFICE}drawing+xml", f"{_OFFICE}drawingml.chart+xml"
_TYPE = f"{_OFFICE}spreadsheetml.sheet.main+xml"
_MACRO_TYPE = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
_OWN_FORMATS = 164  # the first number of a format that is not built in
_MOST_ON_A_PAGE = 12  # columns that are printed side by side on one page
_CHOOSER, _EDGE, _SIDES = "FFFFF2CC", "FFBF9000", ("left", "right", "top", "bottom")
_CALCULATION = 191029  # the engine of Excel 2019 and later: it does not compute everything anew on opening


@dataclass(frozen=True)
class SheetPlan:
    """A sheet that is to be written.

    Attributes:
        title: of the sheet.
        widths: of its columns, in characters; one for each column.
        rows: how many it has.
        arrays: the name of an array and an absolute range, `$A$20:$A$1019`, for each column with elements of it. An
            array in parts comes more than once, in this sheet or in others.
        names: whether row 1 holds the names, and stays in view.
        headers: how many rows of headers stand between names and elements, and are hidden until somebody asks for them;
            0 where rows hold headers and elements side by side.
        printed: the absolute ranges that are printed; empty for the whole sheet.
        hidden: the columns that are hidden until somebody asks for them.
        very_hidden: whether no menu shows the sheet; how many rows it has is not known before.
        is_view: whether it is a view, of which `views` makes everything.
        has_chart: whether a chart is in it.
    """

    title: str
    widths: Sequence[float]
    rows: int
    arrays: Sequence[tuple[str, str]] = ()
    names: bool = True
    headers: int = 0
    printed: Sequence[str] = ()
    hidden: frozenset[int] = frozenset()
    very_hidden: bool = False
    is_view: bool = False
    has_chart: bool = False

    @property
    def print_area(self) -> str:
        """What its name for the printed ranges refers to."""
        return ",".join(f"{quote_title(self.title)}!{cells}" for cells in self.printed)


@dataclass(frozen=True)
class SheetPart:
    """A sheet without its rows.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        head: what comes before the rows.
        tail: what comes after them.
    """

    title: str
    name: str
    head: bytes
    tail: bytes


@dataclass(frozen=True)
class ViewPart:
    """Where a view goes.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        drawing: the name of the part of its drawing; empty where there is none.
        chart: the name of the part of the chart in that.
        selected: whether it is the sheet in sight.
        strict: whether the workbook is strict OOXML.
    """

    title: str
    name: str
    drawing: str = ""
    chart: str = ""
    selected: bool = False
    strict: bool = False


@dataclass(frozen=True)
class WorkbookSkeleton:
    """A new workbook without the rows of its sheets, and without what is remembered of its arrays.

    Attributes:
        parts: content by name.
        sheets: in the order of the plans.
        styles: of its cells.
        known: what is remembered of each sheet already, by the plan's title.
        views: in the order of their plans.
        names: the defined names, by what they stand for.
    """

    parts: dict[str, bytes]
    sheets: list[SheetPart]
    styles: CellStyles
    known: dict[str, dict[str, Any]]
    views: list[ViewPart]
    names: Mapping[ArrayArea, str]

    @property
    def bold(self) -> int | None:
        """The style of a bold cell."""
        return self.styles.bold

    def write(self, writer: PackageWriter) -> None:
        """Put the parts.

        Raises:
            OSError: the sink refuses.
        """
        for name, content in self.parts.items():
            writer.write_part(name, content)

    def write_properties(self, writer: PackageWriter, record: Mapping[str, Any]) -> None:
        """Put the custom properties.

        Args:
            writer: of the package.
            record: what is known of the arrays; of each sheet by its title under "sheets".

        Raises:
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        writer.write_part(PROPERTIES, merge_properties(None, add_sheets(record, self.known), location=PROPERTIES))


def skeleton(sheets: Sequence[SheetPlan], *, for_macros: bool = False) -> WorkbookSkeleton:
    """Make a new workbook.

    Args:
        sheets: the plans.
        for_macros: whether it is to be an .xlsm: Excel opens none whose type is that of an .xlsx.

    Raises:
        LimitError: a title that no sheet can have, or that two have.

    Example:
        >>> made = skeleton([SheetPlan("arrays", [22.0], 20, [("t", "$A$18:$A$20")])])
        >>> [sheet.name for sheet in made.sheets], made.known
        (['xl/worksheets/sheet1.xml'], {'arrays': {'names': ['t'], 'of': 'arrays'}})
    """
    check_titles(sheets)
    refers = build_references((array, plan.title, cells) for plan in sheets for array, cells in plan.arrays)
    names = make_defined_names(refers)
    views = [
        ViewPart(plan.title, f"{_SHEETS}{number}.xml", *_drawing_names(plan, number), selected=number == 1)
        for number, plan in enumerate(sheets, 1)
        if plan.is_view
    ]
    styles = VIEW_STYLES if views else OWN_STYLES
    parts = {
        TYPES: _types(len(sheets), _MACRO_TYPE if for_macros else _TYPE, views),
        "_rels/.rels": _root_relations(),
        "xl/workbook.xml": _workbook(sheets, {names[area]: text for area, text in refers.items()}),
        "xl/_rels/workbook.xml.rels": _workbook_relations(len(sheets)),
        "xl/styles.xml": _styles(choosers=bool(views)),
        "docProps/core.xml": _core(),
        "docProps/app.xml": _application(),
    }
    made = [
        SheetPart(plan.title, f"{_SHEETS}{number}.xml", *_worksheet(plan, selected=number == 1))
        for number, plan in enumerate(sheets, 1)
        if not plan.is_view
    ]
    contents = {name: text.encode() for name, text in parts.items()}
    return WorkbookSkeleton(contents, made, styles, remember_sheets(sheets, names), views, names)


def worksheet_parts(
    sheets: Sequence[SheetPlan], code_names: Sequence[str], selected: Sequence[bool]
) -> list[tuple[bytes, bytes]]:
    """Return what comes before and after the rows of sheets that go into another workbook.

    Args:
        sheets: the plans.
        code_names: what a macro project calls each of them; may be empty.
        selected: whether it is the one in view.
    """
    return [
        _worksheet(plan, selected=in_view, code_name=code_name)
        for plan, code_name, in_view in zip(sheets, code_names, selected, strict=True)
    ]


def check_titles(sheets: Sequence[SheetPlan]) -> None:
    """Refuse titles that the sheets of one workbook cannot have.

    Raises:
        LimitError: names the title.
    """
    seen: set[str] = set()
    for plan in sheets:
        check_title(plan.title)
        if plan.title.casefold() in seen:
            raise LimitError(f"two sheets would be titled {plan.title!r}; Excel compares titles without case")
        seen.add(plan.title.casefold())


def remember_sheets(sheets: Sequence[SheetPlan], names: Mapping[ArrayArea, str]) -> dict[str, dict[str, Any]]:
    """Return what is remembered of each sheet: the defined names made for it, and the first sheet of the same write."""
    first = title_of_first(sheets)
    return {
        plan.title: {"names": [name for area, name in names.items() if area.title == plan.title], "of": first}
        for plan in sheets
    }


def title_of_first(sheets: Sequence[SheetPlan]) -> str:
    """Return the title of the first sheet that is no view, under which all of a write are remembered."""
    return next(plan.title for plan in sheets if not plan.is_view)


def _drawing_names(plan: SheetPlan, number: int) -> tuple[str, str]:
    return (f"xl/drawings/drawing{number}.xml", f"xl/charts/chart{number}.xml") if plan.has_chart else ("", "")


# Parts ---------------------------------------------------------------------------------------------------------


def _types(sheets: int, workbook: str, views: Sequence[ViewPart]) -> str:
    """Return the type of each part."""
    types = {
        "xl/workbook.xml": workbook,
        **{f"{_SHEETS}{number}.xml": f"{_OFFICE}spreadsheetml.worksheet+xml" for number in range(1, sheets + 1)},
        "xl/styles.xml": f"{_OFFICE}spreadsheetml.styles+xml",
        "docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
        "docProps/app.xml": f"{_OFFICE}extended-properties+xml",
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
    """Relationships, rId1 and so on, by type and target."""
    listed = (
        f'<Relationship Id="rId{number}" Type="{type_}" Target="{target}"/>'
        for number, (type_, target) in enumerate(targets, 1)
    )
    return f'{_DECLARED}<Relationships xmlns="{_PACKAGE}/relationships">{"".join(listed)}</Relationships>'


def _root_relations() -> str:
    return _relations(
        [
            (f"{_RELATIONS}/officeDocument", "xl/workbook.xml"),
            (f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
            (f"{_RELATIONS}/extended-properties", "docProps/app.xml"),
            (f"{_RELATIONS}/custom-properties", PROPERTIES),
        ]
    )


def _workbook_relations(sheets: int) -> str:
    worksheets = [(f"{_RELATIONS}/worksheet", f"worksheets/sheet{number}.xml") for number in range(1, sheets + 1)]
    return _relations([*worksheets, (f"{_RELATIONS}/styles", "styles.xml")])


def _workbook(sheets: Sequence[SheetPlan], names: Mapping[str, str]) -> str:
    """Return the workbook's own part: its sheets by title, and the defined names by what they refer to."""
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
    """Return the attribute of a sheet in the list of sheets that says whether it is seen."""
    return ' state="veryHidden"' if very_hidden else ""


def _styles(*, choosers: bool) -> str:
    """Return the styles of cells: the usual one, and OWN_STYLES; VIEW_STYLES where there are choosers."""
    font = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
    format_ = 'numFmtId="{}" fontId="{}" fillId="0" borderId="0"'
    codes = [*dict.fromkeys(DATE_CODES.values()), TRUTH_CODE]
    formats = "".join(
        f'<numFmt numFmtId="{number}" formatCode={quote_attribute(code)}/>'
        for number, code in enumerate(codes, _OWN_FORMATS)
    )
    *dates, truth = range(_OWN_FORMATS, _OWN_FORMATS + len(codes))
    shown = [*dates, 1, truth]  # the number 1, built in, is the format 0
    chooser = 'numFmtId="{}" fontId="0" fillId="2" borderId="1" xfId="0" applyNumberFormat="1" applyFill="1"'
    choosable = [0, 49, *dates] if choosers else []  # the number 49, built in, is that of text
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


def _core() -> str:
    return (
        f'{_DECLARED}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{_MAKER}</dc:creator></cp:coreProperties>'
    )


def _application() -> str:
    space = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
    return f'{_DECLARED}<Properties xmlns="{space}"><Application>{_MAKER}</Application></Properties>'


def _worksheet(plan: SheetPlan, *, selected: bool, code_name: str = "") -> tuple[bytes, bytes]:
    """Return what comes before the rows of a sheet, and what comes after them."""
    last = f"{column_letters(max(len(plan.widths), 1) - 1)}{max(plan.rows, 1)}"
    columns = "".join(
        f'<col min="{first}" max="{end}" width="{width:g}"{before} customWidth="1"{after}/>'
        for first, end, width, before, after in _group_columns(plan)
    )
    below = f"A{plan.headers + 2}"
    frozen = (  # hidden rows do not count among those of the upper pane
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
    """Columns that look alike beside each other: the first, the last (from 1), the width, and attributes before and
    after that.
    """
    hidden = plan.hidden
    kinds = [(width, place in hidden, place - 1 in hidden) for place, width in enumerate(plan.widths)]
    start = 1
    for (width, hides, after), run in groupby(kinds):
        end = start + len(list(run))
        outline = ' outlineLevel="1"' if hides else ' collapsed="1"' if after else ""
        yield start, end - 1, width, ' hidden="1"' if hides else "", outline
        start = end
