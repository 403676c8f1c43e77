"""Plans how sheets are put into a workbook, a new one or an existing one: what needs no change keeps its bytes.

What changes is the list of parts, the workbook's own part, their relationships and the document's properties;
charts, images, macros, styles, comments and other sheets are copied as they are packed. A sheet may be replaced
where the workbook remembers that it is one of ours.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, filterfalse
from typing import Any

from ...errors import FormatError, LimitError
from ..workbooks import ArrayArea, build_references, make_defined_names
from .dropping import drop_parts
from .open_workbook import BookSheet, OpenWorkbook
from .own_sheets import OwnSheets, find_own_sheets
from .package.markup import HEAD, read_first_tag
from .package.package import Package
from .package.packing import PackageWriter
from .package.properties import MOST_BYTES, merge_properties, read_sound_record
from .package.searches import SEARCHES_KEY, Searches
from .reader.titles import MOST_SHEETS
from .skeleton.new_workbook import NewWorkbook, check_titles, remember_sheets
from .skeleton.notes import make_notes
from .skeleton.plans import PartBeside, SheetPart, SheetPlan, ViewPart
from .skeleton.sheet_xml import OFFICE, name_tables, table_part, worksheet_frame
from .styles.cell_styles import CellStyles
from .views.record import recorded_views


@dataclass(frozen=True)
class PackageEdit:
    """The changes to a package."""

    package: Package | None  # before the changes; None for a new workbook
    replaced: dict[str, bytes]  # the new content of parts, by their names
    dropped: frozenset[str]  # the names of parts that are removed
    # the sheets whose rows will be written, in the order of the plans; their parts are added, or replaced
    sheets: list[SheetPart]
    views: list[ViewPart]  # the views, in the order of their plans; their parts are added, or replaced
    styles: CellStyles  # the styles of the workbook; no style is added to it
    properties: str  # the part of the custom properties
    record: dict[str, Any]  # what the workbook remembers, before the arrays of the new sheets are known
    names: Mapping[ArrayArea, str]  # the defined names of the arrays, by the cells for which they stand

    def write(self, writer: PackageWriter) -> None:
        """Put all parts but the sheets of the plans and the custom properties.

        Raises:
            FormatError: a part is damaged.
            OSError: the sink refuses.
        """
        if self.package is None:
            writer.write_parts(self.replaced)
            return
        later = {self.properties, *(sheet.name for sheet in self.sheets), *(view.name for view in self.views)}
        writer.copy_parts(self.package, self.replaced, self.dropped | later)

    def write_properties(
        self, writer: PackageWriter, known: Mapping[str, Mapping[str, Any]], searches: Searches
    ) -> None:
        """Write the custom properties: the existing ones, and what the workbook remembers.

        `known`: what is to be remembered of new sheets, by their titles.

        Raises:
            FormatError: the properties that are there are damaged.
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        sheets = {title: {**more, **known.get(title, {})} for title, more in self.record["sheets"].items()}
        record = {**self.record, "sheets": sheets, SEARCHES_KEY: searches.to_json()}
        content = None
        if self.package is not None and self.properties in self.package:
            content = self.package.read(self.properties, limit=MOST_BYTES)
        writer.write_part(self.properties, merge_properties(content, record, location=self.properties))


def titles_of_others(book: OpenWorkbook, sheet: str, *, replacing: bool) -> list[str]:
    """Return the titles of all sheets but the views that go when a sheet is replaced."""
    gone = recorded_views(read_sound_record(book.package), sheet) if replacing else set()
    return [other.title for other in book.sheets if other.title.casefold() not in gone]


def plan_append(
    book: OpenWorkbook | NewWorkbook,
    sheets: Sequence[SheetPlan],
    styles: CellStyles,
    *,
    replacing: bool = False,
) -> PackageEdit:
    """Return the changes that put sheets into a workbook, before anything is written.

    `sheets`: at least one; those that are not there come last. `styles`: of the workbook. `replacing`: whether a
    sheet of such a title is replaced where it is one of ours, and not refused. What else a replaced sheet had (charts
    on it, comments) goes with it; sheets on which its arrays went on and do not any more are left, empty.

    Raises:
        FormatError: a part of the workbook is damaged.
        LimitError: a title that no sheet can have; a sheet that is there; more sheets than are read; a workbook that
            is signed, protected or shared.
    """
    check_titles(sheets)
    plans, old, dropped = list(sheets), OwnSheets([None] * len(sheets), {}, [], {"sheets": {}}), set[str]()
    if isinstance(book, OpenWorkbook):
        book.check_open()
        old = find_own_sheets(book, sheets, replacing=replacing)
        book.drop_names(old.names, [sheet.title for sheet in old.removed])
        dropped = drop_parts(book, old.removed)
        pairs = zip(sheets, old.replaced, strict=True)
        plans = [plan if sheet is None else replace(plan, title=sheet.title) for plan, sheet in pairs]
    taken = book.taken_names()
    tables = name_tables(plans, taken)
    parts, views = _make_sheet_parts(book, plans, old.replaced, tables)
    if len(book.sheets) > MOST_SHEETS:
        raise LimitError(f"the workbook would have {len(book.sheets):,} sheets; at most {MOST_SHEETS:,} are read")
    refers = build_references([(run.name, plan.title, run.cells) for plan in plans for run in plan.arrays])
    names = make_defined_names(refers, [*taken, *tables.values()])
    book.add_names(
        {names[area]: text for area, text in refers.items()},
        {plan.title: plan.print_area for plan in plans if plan.printed},
    )
    if isinstance(book, OpenWorkbook):
        book.compute_on_opening()  # its formulas may refer to the arrays
        book.ensure_view()
    properties, replaced = book.ensure_properties(), book.changed_parts()
    emptied = {}
    for sheet, first in old.emptied.items():
        plan = SheetPlan(sheet.title, (), 0, names=False)
        replaced[sheet.part] = b"".join(worksheet_xml(book, plan, sheet))
        emptied[sheet.title] = {"names": [], "of": first, "emptied": True}
    remembered = {**old.record["sheets"], **emptied, **remember_sheets(plans, names, tables)}
    return PackageEdit(
        package=book.package,
        replaced=replaced,
        dropped=frozenset(dropped),
        sheets=parts,
        views=views,
        styles=styles,
        properties=properties,
        record={**old.record, "sheets": remembered},
        names=names,
    )


_SHEETS = "xl/worksheets/sheet{}.xml"  # the names of parts, with a place for a number, and their types
_TABLES = "xl/tables/table{}.xml", f"{OFFICE}spreadsheetml.table+xml"
_DRAWINGS = "xl/drawings/drawing{}.xml", f"{OFFICE}drawing+xml"
_CHARTS = "xl/charts/chart{}.xml", f"{OFFICE}drawingml.chart+xml"
_COMMENTS = "xl/comments{}.xml", f"{OFFICE}spreadsheetml.comments+xml"
_BOXES = "xl/drawings/vmlDrawing{}.vml"  # of a type that all parts of their suffix have
_BOXES_TYPE = f"{OFFICE}vmlDrawing"


def _make_sheet_parts(
    book: OpenWorkbook | NewWorkbook,
    plans: Sequence[SheetPlan],
    replaced: Sequence[BookSheet | None],
    tables: Mapping[str, str],
) -> tuple[list[SheetPart], list[ViewPart]]:
    """Return the sheets without their rows, and the views; new ones are put into the workbook.

    `replaced`: for each plan the sheet that it replaces. `tables`: the names of Excel Tables, by the titles of their
    sheets.
    """
    folder, numbers = posixpath.dirname(book.part), dict[str, Iterator[int]]()

    def new_part(pattern: str, type_: str = "") -> str:
        """Return the name of a new part, and list it with its type."""
        place = posixpath.join(folder, pattern.removeprefix("xl/"))
        name = next(filterfalse(book.has_part, map(place.format, numbers.setdefault(pattern, count(1)))))
        if type_:
            book.types.add(name, type_)
        return name

    parts: list[SheetPart] = []
    views: list[ViewPart] = []
    last = max(book.table_numbers(), default=0)
    for place, (plan, old_sheet) in enumerate(zip(plans, replaced, strict=True), 1):
        sheet = old_sheet or book.add_sheet(plan.title, new_part(_SHEETS), very_hidden=plan.very_hidden)
        if plan.is_view:
            chart = (new_part(*_DRAWINGS), new_part(*_CHARTS)) if plan.has_chart else ("", "")
            views.append(ViewPart(plan.title, sheet.part, *chart, selected=book.is_in_view(sheet)))
            continue
        beside: list[PartBeside] = []
        if plan.table:
            table = table_part(plan, tables[plan.title], last + place)
            beside.append(PartBeside("table", new_part(*_TABLES), table))
        if plan.notes:
            book.types.add_suffix("vml", _BOXES_TYPE)
            both = new_part(*_COMMENTS), new_part(_BOXES)
            beside += make_notes(plan.notes, *both, number=len(book.sheets) + place, hidden=plan.headers)
        parts.append(SheetPart(plan.title, sheet.part, *worksheet_xml(book, plan, sheet), beside))
    return parts, views


def worksheet_xml(book: OpenWorkbook | NewWorkbook, plan: SheetPlan, sheet: BookSheet) -> tuple[bytes, bytes]:
    """Return the XML before and after the rows, as the workbook's macros and its view on the sheets want it."""
    return worksheet_frame(plan, selected=book.is_in_view(sheet), code_name=_code_name(book.package, sheet.part))


def _code_name(package: Package | None, part: str) -> str:
    """Return the name by which macros call a sheet; empty if they do not."""
    if package is None or part not in package:
        return ""
    try:
        return read_first_tag(package.head(part, HEAD), "sheetPr", location=part).get("codeName", "")
    except FormatError:
        return ""  # it is replaced, broken or not
