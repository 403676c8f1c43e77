"""A new workbook without sheets, to which sheets are added as to any other.

Equal arrays make equal files, as no time of writing is noted. Elements and attributes of XML stand in the order
of the schema (ECMA-376 part 1, 18): Excel insists on it in some places, other programs in others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import LimitError
from ....files import name_part
from ...workbooks import (
    ArrayArea,
    check_title,
    defined_names_xml,
    quote_attribute,
)
from ..open_workbook import WORKSHEET_TYPE, BookSheet
from ..package.properties import CONTENT_TYPE, PROPERTIES
from ..package.relations import DECLARED, MAIN, PACKAGE, RELATIONS, TYPES, ContentTypes, relations_xml
from .plans import SheetPlan
from .sheet_xml import MAKER, OFFICE

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
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{MAKER}</dc:creator></cp:coreProperties>',
            "docProps/app.xml": f'{DECLARED}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
            f'extended-properties"><Application>{MAKER}</Application></Properties>',
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
