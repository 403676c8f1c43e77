"""Plans of sheets, their parts without rows, and a new workbook without sheets, which Excel opens and nothing more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from ...columns import column_letters, quote_title
from ...errors import LimitError
from ...files import name_part
from ..workbooks import (
    ArrayArea,
    check_title,
    defined_names_xml,
    make_defined_names,
    quote_attribute,
    with_escapes,
)
from .cell_xml import xml_text
from .open_workbook import WORKSHEET_TYPE, BookSheet
from .package.relations import (
    CONTENT_TYPE,
    DECLARED,
    MAIN,
    PACKAGE,
    PROPERTIES,
    RELATIONS,
    TYPES,
    ContentTypes,
    relations_xml,
)

# Plans of sheets, made before any row is written, and the parts of a package that sheets and views become.


@dataclass(frozen=True)
class SheetPlan:
    """A sheet that is to be written."""

    title: str  # of the sheet
    widths: Sequence[float]  # the width of each column, in characters
    rows: int  # the number of its rows
    # the name of an array and an absolute range, `$A$20:$A$1019`, for each column with elements of it. An array in
    # parts comes more than once, in this sheet or in others
    arrays: Sequence[tuple[str, str]] = ()
    names: bool = True  # whether row 1 holds the names of arrays, and stays in sight when people scroll
    # the number of rows between the names and the elements that hold nothing but headers, and are collapsed; 0 for a
    # sheet with rows that hold headers of some arrays and elements of others
    headers: int = 0
    printed: Sequence[str] = ()  # the absolute ranges that are printed; empty for the whole sheet
    hidden: frozenset[int] = frozenset()  # the columns that are collapsed, counted from 0
    # whether no menu shows the sheet; the number of rows of such a sheet is not known in advance
    very_hidden: bool = False
    is_view: bool = False  # whether it is a view, whose whole content `views` makes
    has_chart: bool = False  # whether it is a view with a chart
    # the names of the columns of an Excel Table, which is the whole sheet; empty for any other sheet
    table: Sequence[str] = ()
    note: Mapping[str, Any] = field(default_factory=dict)  # what the record keeps of the table besides
    # the title of the sheet whose arrays it goes on with, or guards; its own, where it does neither. "" stands for the
    # first sheet of the write
    of: str = ""
    # the texts of notes on cells of the first row, by their columns, counted from 0
    notes: Mapping[int, str] = field(default_factory=dict)

    @property
    def print_area(self) -> str:
        """The ranges that are printed, as the reference of the sheet's defined name for them."""
        return ",".join(f"{quote_title(self.title)}!{cells}" for cells in self.printed)


class PartBeside(NamedTuple):
    """A part to which a sheet refers: how it does so, the name of the part, and its content."""

    kind: str
    name: str
    content: bytes


@dataclass(frozen=True)
class SheetPart:
    """A sheet as a part of a package, without its rows."""

    title: str  # of the sheet, as the workbook spells it
    name: str  # of the part
    head: bytes  # the XML before the rows
    tail: bytes  # the XML after the rows
    # the parts that hold its Excel Table and the notes of its cells, in the order of their ids
    beside: Sequence[PartBeside] = ()


@dataclass(frozen=True)
class ViewPart:
    """The names of the parts of a view in a package, and what the workbook asks of them."""

    title: str  # of the sheet, as the workbook spells it
    name: str  # of the part
    drawing: str = ""  # the name of the part that holds its drawing; empty for a view without a chart
    chart: str = ""  # the name of the part that holds the chart; empty for a view without a chart
    selected: bool = False  # whether the workbook opens with this sheet in front


# The XML of the parts of a sheet: what stands around its rows, its Excel Table, and notes.

_MAKER = "sheetarray"
OFFICE = "application/vnd.openxmlformats-officedocument."
_MOST_ON_A_PAGE = 12  # columns that are printed side by side on one page


def worksheet_frame(plan: SheetPlan, *, selected: bool, code_name: str = "") -> tuple[bytes, bytes]:
    """Return the XML before the rows of a sheet, and the XML after them."""
    last = f"{column_letters(max(len(plan.widths), 1) - 1)}{max(plan.rows, 1)}"
    columns = "".join(
        [
            f'<col min="{first}" max="{end}" width="{width:g}"{before} customWidth="1"{after}/>'
            for first, end, width, before, after in _group_columns(plan)
        ]
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
        f'{DECLARED}<worksheet xmlns="{MAIN}">'
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
        + (f'<legacyDrawing xmlns:r="{RELATIONS}" r:id="rId{1 + bool(plan.table)}"/>' if plan.notes else "")
        + (f'<tableParts count="1"><tablePart xmlns:r="{RELATIONS}" r:id="rId1"/></tableParts>' if plan.table else "")
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


def table_part(plan: SheetPlan, name: str, number: int) -> bytes:
    """Return the XML of the Excel Table of a sheet: its name, its columns, and the filter of its first row.

    `number`: of the table, another one than that of each other table of the workbook.
    """
    cells = f"A1:{column_letters(len(plan.table) - 1)}{plan.rows}"
    columns = "".join(
        f'<tableColumn id="{place}" name={quote_attribute(_in_one_line(column))}/>'
        for place, column in enumerate(plan.table, 1)
    )
    return (
        f'{DECLARED}<table xmlns="{MAIN}" id="{number}" name={quote_attribute(name)} '
        f'displayName={quote_attribute(name)} ref="{cells}" totalsRowShown="0"><autoFilter ref="{cells}"/>'
        f'<tableColumns count="{len(plan.table)}">{columns}</tableColumns>'
        '<tableStyleInfo name="TableStyleMedium2" showFirstColumn="0" showLastColumn="0" showRowStripes="1" '
        'showColumnStripes="0"/></table>'
    ).encode()


def _in_one_line(name: str) -> str:
    """Return the name of a column as that of a table's column, in which Excel escapes line feeds and tabs."""
    return with_escapes(name).replace("\n", "_x000a_").replace("\t", "_x0009_")


def name_tables(sheets: Sequence[SheetPlan], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return the name of the Excel Table of each sheet that has one, by the title of the sheet: its title, if free."""
    areas = [ArrayArea(plan.title, plan.title) for plan in sheets if plan.table]
    return {area.title: name for area, name in make_defined_names(areas, taken).items()} if areas else {}


# Notes of cells: texts that a program shows beside a cell, as a part of comments and a drawing of their boxes.
#
# Excel wants both, the second in VML (ECMA-376 part 4, 19); other programs read the comments alone.

_COLUMNS, _ROWS = 2, 4  # of the sheet, that a box takes
_IDS = 1024  # of shapes that a drawing has for itself
_BEGIN = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel">'
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="{ids}"/></o:shapelayout>'
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_BOX = (
    '<v:shape id="_x0000_s{id}" type="#_x0000_t202" style="position:absolute;margin-left:60pt;margin-top:2pt;'
    'width:160pt;height:60pt;z-index:{order};visibility:hidden" fillcolor="#ffffe1" o:insetmode="auto">'
    '<v:fill color2="#ffffe1"/><v:shadow color="black" obscured="t"/><v:path o:connecttype="none"/>'
    '<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    '<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>'
    "<x:Anchor>{left}, 15, 0, 2, {right}, 15, {bottom}, 4</x:Anchor><x:AutoFill>False</x:AutoFill>"
    "<x:Row>0</x:Row><x:Column>{column}</x:Column></x:ClientData></v:shape>"
)


def make_notes(
    notes: Mapping[int, str], comments: str, drawing: str, *, number: int, hidden: int
) -> tuple[PartBeside, PartBeside]:
    """Return the parts of notes on cells of the first row, by their columns: the boxes, and the texts.

    `comments`, `drawing`: the names of the parts. `number`: of the sheet, from which the ids of boxes follow. `hidden`:
    the rows below the first one that are not shown.

    Example:
        >>> made = make_notes({1: "units: K"}, "xl/comments1.xml", "xl/drawings/vmlDrawing1.vml", number=1, hidden=0)
        >>> b'<comment ref="B1" authorId="0">' in made[1].content
        True
    """
    said = '<comment ref="{}1" authorId="0"><text><t xml:space="preserve">{}</t></text></comment>'
    texts = "".join(said.format(column_letters(column), xml_text(text)) for column, text in notes.items())
    boxes = "".join(
        _BOX.format(
            id=_IDS * number + order,
            order=order,
            left=column + 1,
            right=column + 1 + _COLUMNS,
            bottom=hidden + _ROWS,
            column=column,
        )
        for order, column in enumerate(notes, 1)
    )
    last = (_IDS * number + len(notes)) // _IDS
    listed = ",".join(str(block) for block in range(number, last + 1))
    listed_texts = (
        f'{DECLARED}<comments xmlns="{MAIN}"><authors><author></author></authors>'
        f"<commentList>{texts}</commentList></comments>"
    )
    return (
        PartBeside("vmlDrawing", drawing, f"{_BEGIN.format(ids=listed)}{boxes}</xml>".encode()),
        PartBeside("comments", comments, listed_texts.encode()),
    )


# A new workbook without sheets, to which sheets are added as to any other.
#
# Equal arrays make equal files, as no time of writing is noted. Elements and attributes of XML stand in the order
# of the schema (ECMA-376 part 1, 18): Excel insists on it in some places, other programs in others.

CONTENT_TYPES = {  # of the workbook's own part, by the suffix: Excel does not open a file that has another's
    ".xlsx": f"{OFFICE}spreadsheetml.sheet.main+xml",
    ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    ".xltx": f"{OFFICE}spreadsheetml.template.main+xml",
    ".xltm": "application/vnd.ms-excel.template.macroEnabled.main+xml",
}
_VERY_HIDDEN = ' state="veryHidden"'  # hides a sheet from all menus
_ROOT_RELATIONS = relations_xml(  # from which a program finds the other parts
    [
        (f"{RELATIONS}/officeDocument", "xl/workbook.xml"),
        (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        (f"{RELATIONS}/extended-properties", "docProps/app.xml"),
        (f"{RELATIONS}/custom-properties", PROPERTIES),
    ]
)
_NEW_SUFFIXES = {
    "rels": "application/vnd.openxmlformats-package.relationships+xml",
    "xml": "application/xml",
}
_NEW_TYPES = [
    ("/xl/styles.xml", f"{OFFICE}spreadsheetml.styles+xml"),
    ("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"),
    ("/docProps/app.xml", f"{OFFICE}extended-properties+xml"),
]
# The version of the calculation engine, of Excel 2019 and later: for a lower one Excel computes all formulas on opening
_CALCULATION = 191029


def suffix_of(target: object) -> str:
    """Return the suffix by which a target says which kind of workbook it is; that of a plain one for any other."""
    suffix = os.path.splitext(name_part(target))[1].lower() if isinstance(target, (str, os.PathLike)) else ""
    return suffix if suffix in CONTENT_TYPES else ".xlsx"


class NewWorkbook:
    """A new workbook without sheets, to which sheets are added as to an `OpenWorkbook`.

    `suffix`: of the file, one of `CONTENT_TYPES`. `styles`: the XML of its styles.

    Example:
        >>> book = NewWorkbook(".xlsx", "<styleSheet/>")
        >>> book.add_sheet("arrays", "xl/worksheets/sheet1.xml").id
        '1'
        >>> b'<sheet name="arrays" sheetId="1" r:id="rId2"/>' in book.changed_parts()["xl/workbook.xml"]
        True
    """

    package = None
    part = "xl/workbook.xml"

    def __init__(self, suffix: str, styles: str) -> None:
        self.sheets: list[BookSheet] = []
        self.types = ContentTypes(_NEW_SUFFIXES, [(f"/{self.part}", CONTENT_TYPES[suffix]), *_NEW_TYPES])
        self._styles, self._names = styles, ""
        self._hidden: set[str] = set()  # the titles of sheets that no menu shows

    def has_part(self, name: str) -> bool:
        """Return whether the workbook lists a part of this name."""
        return name in self.types

    def is_in_view(self, sheet: BookSheet) -> bool:
        """Return whether the workbook opens with a sheet in front."""
        return sheet is self.sheets[0]

    def taken_names(self) -> list[str]:
        """Return the names that no defined name may have: none."""
        return []

    def table_numbers(self) -> list[int]:
        """Return the numbers of Excel's tables: there is no table."""
        return []

    def add_sheet(self, title: str, part: str, *, very_hidden: bool = False) -> BookSheet:
        """Return a sheet that is added at the end of the list; no menu shows one that is very hidden."""
        self.types.add(part, WORKSHEET_TYPE)
        self.sheets.append(BookSheet(title, str(len(self.sheets) + 1), "worksheet", part))
        self._hidden |= {title} if very_hidden else set()
        return self.sheets[-1]

    def add_names(self, names: Mapping[str, str], print_areas: Mapping[str, str]) -> None:
        """Add defined names with their references, and by the titles of sheets the ranges that are printed."""
        areas = {tab: print_areas[sheet.title] for tab, sheet in enumerate(self.sheets) if sheet.title in print_areas}
        self._names = defined_names_xml(names, areas)

    def ensure_properties(self) -> str:
        """Return the part of the custom properties."""
        self.types.add(PROPERTIES, CONTENT_TYPE)
        return PROPERTIES

    def changed_parts(self) -> dict[str, bytes]:
        """Return the content of all parts but those of sheets, and of what these refer to."""
        sheets, targets = "", [(f"{RELATIONS}/styles", "styles.xml")]
        for number, sheet in enumerate(self.sheets, 1):
            hidden = _VERY_HIDDEN if sheet.title in self._hidden else ""
            name = quote_attribute(sheet.title)
            sheets += f'<sheet name={name} sheetId="{number}"{hidden} r:id="rId{number + 1}"/>'
            targets.append((f"{RELATIONS}/worksheet", sheet.part.removeprefix("xl/")))
        texts = {
            self.part: f'{DECLARED}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr/><bookViews>'
            f'<workbookView activeTab="0"/></bookViews><sheets>{sheets}</sheets>'
            + (f"<definedNames>{self._names}</definedNames>" if self._names else "")
            + f'<calcPr calcId="{_CALCULATION}" fullCalcOnLoad="0"/></workbook>',
            "xl/styles.xml": self._styles,
            "docProps/core.xml": f'{DECLARED}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{_MAKER}</dc:creator></cp:coreProperties>',
            "docProps/app.xml": f'{DECLARED}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
            f'extended-properties"><Application>{_MAKER}</Application></Properties>',
        }
        lists = {TYPES: self.types.to_bytes(), "_rels/.rels": _ROOT_RELATIONS}
        parts = {name: text.encode() for name, text in texts.items()}
        return lists | parts | {"xl/_rels/workbook.xml.rels": relations_xml(targets)}


def check_titles(sheets: Sequence[SheetPlan]) -> None:
    """Refuse titles that the sheets of one workbook cannot have.

    Raises:
        LimitError: a title that no sheet can have, or that two of the sheets have.
    """
    seen: set[str] = set()
    for plan in sheets:
        check_title(plan.title)
        if plan.title.casefold() in seen:
            raise LimitError(f"two sheets would be titled {plan.title!r}; Excel compares titles without case")
        seen.add(plan.title.casefold())


def remember_sheets(
    sheets: Sequence[SheetPlan], names: Mapping[ArrayArea, str], tables: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the record of each sheet: the defined names made for it, and the title of the sheet that it belongs to.

    `tables`: the names of the Excel Tables, by the titles of their sheets; the record has what is kept of these.
    """
    first = next(plan.title for plan in sheets if not plan.is_view)
    record: dict[str, dict[str, Any]] = {plan.title: {"names": [], "of": plan.of or first} for plan in sheets}
    for area, name in names.items():
        record[area.title]["names"].append(name)
    for plan in sheets:
        if plan.title in tables and plan.note:
            record[plan.title]["table"] = {"name": tables[plan.title], **plan.note}
    return record
