"""Plans how sheets are put into a workbook, a new one or an existing one: what needs no change keeps its bytes.

What changes is the list of parts, the workbook's own part, their relationships and the document's properties;
charts, images, macros, styles, comments and other sheets are copied as they are packed. A sheet may be replaced
where the workbook remembers that it is one of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import FormatError, LimitError
from ..defined_names import ArrayArea, build_references, make_defined_names
from ..workbooks import check_title
from .own_sheets import OwnSheets, find_own_sheets, remember_sheets
from .package.dropping import drop_parts
from .package.markup import HEAD, read_first_tag
from .package.package import Package
from .package.packing import PackageWriter
from .package.properties import renew_properties
from .package.searches import SEARCHES_KEY, Searches
from .reader.titles import MOST_SHEETS
from .skeleton.notes import make_notes
from .skeleton.plans import PartBeside, SheetPart, SheetPlan, ViewPart
from .skeleton.sheet_xml import OFFICE, name_tables, table_part, worksheet_frame
from .styles.cell_styles import CellStyles
from .views.record import recorded_views
from .workbook_part import BookSheet, WorkbookPart


@dataclass(frozen=True)
class PackageEdit:
    """The changes to a package."""

    package: Package  # before the changes
    replaced: dict[str, bytes]  # the new content of parts, by their names
    dropped: frozenset[str]  # the names of parts that are removed
    # the sheets whose rows will be written, in the order of the plans; their parts are added, or replaced
    sheets: list[SheetPart]
    views: list[ViewPart]  # the views, in the order of their plans; their parts are added, or replaced
    styles: CellStyles  # the styles of the workbook; no style is added to it
    properties: str  # the part of the custom properties
    record: dict[str, Any]  # what the workbook remembers, before the arrays of the new sheets are known
    names: Mapping[ArrayArea, str]  # the defined names of the arrays, by the cells for which they stand

    def write_properties(
        self, writer: PackageWriter, known: Mapping[str, Mapping[str, Any]], searches: Searches
    ) -> None:
        """Write the custom properties, with what is to be remembered of new sheets by their titles (`known`)."""
        sheets = {title: {**more, **known.get(title, {})} for title, more in self.record["sheets"].items()}
        record = {**self.record, "sheets": sheets, SEARCHES_KEY: searches.to_json()}
        writer.write_part(self.properties, renew_properties(self.package, self.properties, record))


def titles_of_others(book: WorkbookPart, sheet: str, *, replacing: bool) -> list[str]:
    """Return the titles of all sheets but the views that go when a sheet is replaced."""
    gone = recorded_views(book.record, sheet) if replacing else set()
    return [other.title for other in book.sheets if other.title.casefold() not in gone]


def plan_append(
    book: WorkbookPart,
    sheets: Sequence[SheetPlan],
    styles: CellStyles,
    *,
    replacing: bool = False,
) -> PackageEdit:
    """Return the changes that put sheets into a workbook, before anything is written.

    `sheets`: at least one; those that are not there come last. `replacing`: whether a sheet of such a title is replaced
    where it is one of ours, and not refused. What else a replaced sheet had (charts on it, comments) goes with it;
    sheets on which its arrays went on and do not any more are left, empty.

    Raises:
        FormatError: a part of the workbook is damaged.
        LimitError: a title that no sheet can have; a sheet that is there; more sheets than are read; a workbook that
            is signed, protected or shared.
    """
    _check_titles(sheets)
    plans, old, dropped = list(sheets), OwnSheets([None] * len(sheets), {}, [], {"sheets": {}}), set[str]()
    if not (is_new := not book.sheets):
        plans, old, dropped = _make_room(book, sheets, replacing=replacing)
    taken = [] if is_new else book.taken_names()
    tables = name_tables(plans, taken) if any(plan.table for plan in plans) else {}
    parts, views = _make_sheet_parts(book, plans, old.replaced, tables)
    if len(book.sheets) > MOST_SHEETS:
        raise LimitError(f"the workbook would have {len(book.sheets):,} sheets; at most {MOST_SHEETS:,} are read")
    refers = build_references([(run.name, plan.title, run.cells) for plan in plans for run in plan.arrays])
    names = make_defined_names(refers, [*taken, *tables.values()])
    book.add_names(
        {names[area]: text for area, text in refers.items()},
        {plan.title: plan.print_area for plan in plans if plan.printed},
    )
    if not is_new:
        book.compute_on_opening()  # its formulas may refer to the arrays
        book.ensure_view()
    properties, replaced = book.ensure_properties(), book.changed_parts()
    replaced |= {sheet.part: b"".join(worksheet_xml(book, _empty_plan(sheet), sheet)) for sheet in old.emptied}
    emptied = {sheet.title: {"names": [], "of": first, "emptied": True} for sheet, first in old.emptied.items()}
    record = {**old.record, "sheets": {**old.record["sheets"], **emptied, **remember_sheets(plans, names, tables)}}
    return PackageEdit(book.package, replaced, frozenset(dropped), parts, views, styles, properties, record, names)


def _make_room(
    book: WorkbookPart, sheets: Sequence[SheetPlan], *, replacing: bool
) -> tuple[list[SheetPlan], OwnSheets, set[str]]:
    """Take what goes from a workbook that exists: return the plans with the titles that are there, the sheets that are
    replaced or emptied, and the names of the parts that are removed.
    """
    book.check_open()
    old = find_own_sheets(book, sheets, replacing=replacing)
    book.drop_names(old.names, [sheet.title for sheet in old.removed])
    dropped = drop_parts(book, old.removed)
    pairs = zip(sheets, old.replaced, strict=True)
    return [plan if sheet is None else replace(plan, title=sheet.title) for plan, sheet in pairs], old, dropped


def _empty_plan(sheet: BookSheet) -> SheetPlan:
    return SheetPlan(sheet.title, (), 0, names=False)


def _check_titles(sheets: Sequence[SheetPlan]) -> None:
    """Refuse a title that no sheet can have, or that two of the sheets have."""
    seen: set[str] = set()
    for plan in sheets:
        check_title(plan.title)
        if plan.title.casefold() in seen:
            raise LimitError(f"two sheets would be titled {plan.title!r}; Excel compares titles without case")
        seen.add(plan.title.casefold())


_TABLES = "tables/table{}.xml", f"{OFFICE}spreadsheetml.table+xml"  # the names of parts, and their types
_DRAWINGS = "drawings/drawing{}.xml", f"{OFFICE}drawing+xml"
_CHARTS = "charts/chart{}.xml", f"{OFFICE}drawingml.chart+xml"
_COMMENTS = "comments{}.xml", f"{OFFICE}spreadsheetml.comments+xml"
_BOXES = "drawings/vmlDrawing{}.vml"  # of a type that all parts of their suffix have
_BOXES_TYPE = f"{OFFICE}vmlDrawing"


def _make_sheet_parts(
    book: WorkbookPart,
    plans: Sequence[SheetPlan],
    replaced: Sequence[BookSheet | None],
    tables: Mapping[str, str],
) -> tuple[list[SheetPart], list[ViewPart]]:
    """Return the sheets without their rows, and the views; new ones are put into the workbook.

    `replaced`: for each plan the sheet that it replaces. `tables`: the names of Excel Tables, by the titles of their
    sheets.
    """
    parts: list[SheetPart] = []
    views: list[ViewPart] = []
    last = max(book.table_numbers(), default=0) if tables else 0
    for place, (plan, old_sheet) in enumerate(zip(plans, replaced, strict=True), 1):
        sheet = old_sheet or book.add_sheet(plan.title, very_hidden=plan.very_hidden)
        if plan.is_view:
            chart = (book.new_part(*_DRAWINGS), book.new_part(*_CHARTS)) if plan.has_chart else ("", "")
            views.append(ViewPart(plan.title, sheet.part, *chart, selected=book.is_in_view(sheet)))
            continue
        beside: list[PartBeside] = []
        if plan.table:
            table = table_part(plan, tables[plan.title], last + place)
            beside.append(PartBeside("table", book.new_part(*_TABLES), table))
        if plan.notes:
            book.types.add_suffix("vml", _BOXES_TYPE)
            both = book.new_part(*_COMMENTS), book.new_part(_BOXES)
            beside += make_notes(plan.notes, *both, number=len(book.sheets) + place, hidden=plan.headers)
        parts.append(SheetPart(plan.title, sheet.part, *worksheet_xml(book, plan, sheet), beside))
    return parts, views


def worksheet_xml(book: WorkbookPart, plan: SheetPlan, sheet: BookSheet) -> tuple[bytes, bytes]:
    """Return the XML before and after the rows, as the workbook's macros and its view on the sheets want it."""
    code_name = _code_name(book.package, sheet.part) if sheet.part in book.package else ""
    return worksheet_frame(plan, selected=book.is_in_view(sheet), code_name=code_name)


def _code_name(package: Package, part: str) -> str:
    """Return the name by which macros call a sheet; empty if they do not."""
    try:
        return read_first_tag(package.head(part, HEAD), "sheetPr", location=part).get("codeName", "")
    except FormatError:
        return ""  # it is replaced, broken or not
