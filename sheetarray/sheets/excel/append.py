"""Plans how sheets are put into a workbook, a new one or an existing one: what needs no change keeps its bytes.

What changes is the list of parts, the workbook's own part, their relationships and the document's properties;
charts, images, macros, styles, comments and other sheets are copied as they are packed. A sheet may be replaced
where the workbook remembers that it is one of ours.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, filterfalse
from math import inf
from typing import Any, Literal

from ...columns import Sheet, find_anchors
from ...errors import FormatError, LimitError
from ...files import Source
from ..workbooks import ArrayArea, build_references, make_defined_names
from .checking import select_sheets
from .open_workbook import BookSheet, OpenWorkbook
from .package.markup import HEAD, read_first_tag, read_tags
from .package.packing import PackageWriter
from .package.parts import Package
from .package.relations import (
    MOST_BYTES,
    SEARCHES_KEY,
    Searches,
    content_of,
    merge_properties,
    parts_only_reached_through,
    read_searches,
    read_sound_record,
)
from .reader.cells import MOST_SHEETS
from .skeleton import (
    OFFICE,
    NewWorkbook,
    PartBeside,
    SheetPart,
    SheetPlan,
    ViewPart,
    check_titles,
    make_notes,
    name_tables,
    remember_sheets,
    table_part,
    worksheet_frame,
)
from .styles import CellStyles
from .views.record import recorded_views
from .workbook import Workbook

IfSheetExists = Literal["error", "replace"]


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
    if_sheet_exists: IfSheetExists = "error",
) -> PackageEdit:
    """Return the changes that put sheets into a workbook, before anything is written.

    `sheets`: at least one; those that are not there come last. `styles`: of the workbook. `if_sheet_exists`: whether a
    sheet of such a title is refused, or replaced where it is one of ours. What else a replaced sheet had (charts on it,
    comments) goes with it; sheets on which its arrays went on and do not any more are left, empty.

    Raises:
        FormatError: a part of the workbook is damaged.
        LimitError: a title that no sheet can have; a sheet that is there; more sheets than are read; a workbook that
            is signed, protected or shared.
    """
    check_titles(sheets)
    plans, old, dropped = list(sheets), OwnSheets([None] * len(sheets), {}, [], {"sheets": {}}), set[str]()
    if isinstance(book, OpenWorkbook):
        book.check_open()
        old = find_own_sheets(book, sheets, replacing=if_sheet_exists == "replace")
        book.drop_names(old.names, [sheet.title for sheet in old.removed])
        dropped = drop_parts(book, old.removed)
        pairs = zip(sheets, old.replaced, strict=True)
        plans = [plan if sheet is None else replace(plan, title=sheet.title) for plan, sheet in pairs]
    taken = book.taken_names()
    tables = name_tables(plans, taken)
    parts, views = _make_sheet_parts(book, plans, old.replaced, tables)
    if len(book.sheets) > MOST_SHEETS:
        raise LimitError(f"the workbook would have {len(book.sheets):,} sheets; at most {MOST_SHEETS:,} are read")
    refers = build_references([(array, plan.title, cells) for plan in plans for array, cells in plan.arrays])
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


# The names of parts, with a place for a number, and their types
_SHEETS = "xl/worksheets/sheet{}.xml"
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


# Removes the parts that nobody needs any more when sheets are replaced, and the calculation chain if it lists them.
#
# The calculation chain is a list of the cells with formulas, which Excel makes anew where it is missing.

_MOST_CHAIN = 2**26  # bytes of the calculation chain


def drop_parts(book: OpenWorkbook, gone: Sequence[BookSheet]) -> set[str]:
    """Take the parts that only the replaced sheets use off the lists of a workbook, and return their names.

    The calculation chain is one of them if it lists formulas of these sheets.
    """
    dropped = parts_only_reached_through(book.package, [sheet.part for sheet in gone])
    chain = book.relations.present_target("calcChain")
    if gone and chain and _has_formulas(book.package, chain, {sheet.id for sheet in gone}):
        dropped.add(chain)
        book.relations.drop(chain)
    for part in dropped:
        book.types.drop(part)
    return dropped


def _has_formulas(package: Package, chain: str, sheets: set[str]) -> bool:
    """Return whether the calculation chain lists a formula of some sheets (by their ids), or is damaged."""
    current = ""
    try:
        for name, attributes in read_tags(package.read(chain, limit=_MOST_CHAIN), location=chain):
            if name == "c" and (current := attributes.get("i", current)) in sheets:
                return True
    except FormatError:
        return True
    return False


# Finds the sheets of a workbook that this package wrote, and those of them that a write replaces or leaves empty.
#
# A sheet is ours where the workbook's custom properties say so: under "sheets", by its title, with the defined
# names made for it ("names") and the first sheet of the same write ("of").


@dataclass(frozen=True)
class OwnSheets:
    """The sheets of a workbook that a write replaces or empties."""

    replaced: list[BookSheet | None]  # for each plan the sheet that it replaces; None for a new one
    # sheets on which the arrays of replaced ones went on, and that no plan needs; with the titles of those
    emptied: dict[BookSheet, str]
    names: list[str]  # the defined names made for all of those
    record: dict[str, Any]  # what the workbook remembers, without those sheets

    @property
    def removed(self) -> list[BookSheet]:
        """The sheets whose content goes."""
        return [*(sheet for sheet in self.replaced if sheet is not None), *self.emptied]


def find_own_sheets(book: OpenWorkbook, plans: Sequence[SheetPlan], *, replacing: bool) -> OwnSheets:
    """Find out which existing sheets a write replaces and which it leaves empty.

    Raises:
        LimitError: a sheet of such a title is there, and is not ours or not to be replaced.
    """
    record = read_sound_record(book.package)
    sheets_by_title = {sheet.title.casefold(): sheet for sheet in book.sheets}
    ours = {title.casefold(): more for title, more in record["sheets"].items() if title.casefold() in sheets_by_title}
    planned = {plan.title.casefold() for plan in plans}
    replaced = [sheets_by_title.get(plan.title.casefold()) for plan in plans]
    uses = Counter(sheet.part for sheet in book.sheets)
    for sheet in replaced:
        if sheet is not None:
            _check_replaceable(sheet, ours, planned, sheets_by_title, replacing=replacing, shared=uses[sheet.part] > 1)
    titles = {plan.title.casefold(): plan.title for plan in plans}
    emptied = {
        sheets_by_title[title]: titles[_first_title(more)]
        for title, more in ours.items()
        if replacing
        and title not in planned
        and _first_title(more) in planned
        and uses[sheets_by_title[title].part] == 1
    }
    gone = planned | {sheet.title.casefold() for sheet in emptied}
    kept = {sheets_by_title[title].title: more for title, more in ours.items() if title not in gone}
    names = [name for title, more in ours.items() if title in gone for name in _defined_names(more)]
    return OwnSheets(replaced, emptied, names, {**record, "sheets": kept})


def _check_replaceable(
    sheet: BookSheet,
    ours: dict[str, dict[str, Any]],
    planned: set[str],
    sheets_by_title: dict[str, BookSheet],
    *,
    replacing: bool,
    shared: bool,
) -> None:
    """Refuse to replace a sheet that is not ours, is to stay, or belongs to another one."""
    title = sheet.title.casefold()
    is_ours = title in ours and sheet.kind == "worksheet" and not shared
    if not replacing:
        advice = "if_sheet_exists='replace' replaces it, " if is_ours else ""
        raise LimitError(f"the workbook has a sheet {sheet.title!r} already ({advice}sheet= takes another title)")
    if not is_ours:
        raise LimitError(
            f"the sheet {sheet.title!r} is not replaced: the workbook does not remember it as one that "
            "sheetarray wrote (sheet= takes another title)"
        )
    first = _first_title(ours[title])
    if first in sheets_by_title and first not in planned:
        raise LimitError(
            f"the arrays of the sheet {sheets_by_title[first].title!r} go on in {sheet.title!r}: replace that one"
        )


def _first_title(more: dict[str, Any]) -> str:
    first = more.get("of")
    return first.casefold() if isinstance(first, str) else ""


def _defined_names(more: dict[str, Any]) -> list[str]:
    names = more.get("names")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


# Searches the sheets of a workbook for arrays when others are added to it, or it is accepted, so that `scan` need not.

MOST_SEARCHED = 2**26  # of inflated worksheets that are searched for a sheet that is added


def search_other_sheets(source: Source, gone: Collection[str]) -> Searches:
    """Return the searches of the sheets of a workbook; those that nobody has searched so far are searched."""
    try:
        with Workbook(source) as book:
            return search_sheets(book, gone=gone, most=MOST_SEARCHED)
    except FormatError:
        return Searches()  # who reads it says so


def search_sheets(
    book: Workbook, *, gone: Collection[str] = (), replaced: Mapping[str, bytes] | None = None, most: float = inf
) -> Searches:
    """Return the searches of the sheets of a workbook, as far as these are known or have no more bytes than `most`.

    `gone`: the parts of sheets that are left out. `replaced`: the new content of parts in which the same rows will hold
    headers.
    """
    package, replaced = book.package, replaced or {}
    if package is None:
        return Searches()
    known = read_searches(book.record, package, book.strings_part)
    searches = Searches(known.strings)
    for sheet in select_sheets(book, None):
        part = book.parts[sheet.title or ""]
        content = content_of(package, part)
        if content is None or part in gone:
            continue
        rows = known.rows.get(content)
        most -= content[1] if rows is None else 0
        if rows is None and most >= 0:
            rows = _count_header_rows(sheet)
        content = content_of(package, part, replaced.get(part))
        if rows is not None and content is not None:
            searches.rows[content] = rows
    return searches


def _count_header_rows(sheet: Sheet) -> int | None:
    """Return the number of the rows down to the last header in a sheet; None where one is broken, or the sheet is."""
    try:
        anchors = find_anchors(sheet)
    except FormatError:
        return None
    if any(anchor.header is None for anchor in anchors):
        return None
    return max((anchor.data_cell[1] if anchor.orient == "columns" else anchor.row + 1 for anchor in anchors), default=0)
