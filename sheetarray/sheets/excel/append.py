"""Sheets put into a workbook that is there, as a guest: every part that needs no change keeps its bytes.

What changes is the list of parts, the workbook's own part, their relationships and the document's properties;
charts, images, macros, styles, comments and other sheets are copied as they are packed. A sheet may be replaced
where the workbook remembers that it is one of ours.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

from ...errors import FormatError
from .book import MAIN, STRICT_MAIN, Book, BookSheet
from .names import defined_names, references
from .ours import Ours, find_ours
from .package.contents import with_titles
from .package.markup import HEAD, first_tag, tags
from .package.packing import PackageWriter
from .package.parts import Package
from .package.properties import CONTENT_TYPE, MOST_BYTES, merged, with_sheets
from .package.relations import TYPES, only_through
from .package.styles import bold_style
from .workbook import PROPERTIES, SheetPart, SheetPlan, check_titles, remembered, worksheets

IfSheetExists = Literal["error", "replace"]
_MOST_BYTES = 2**24
_MOST_FORMULAS = 2**26  # bytes of the calculation chain


@dataclass(frozen=True)
class Edit:
    """What changes in a package.

    Attributes:
        package: as it is.
        replaced: new content of parts that are there.
        dropped: parts that go.
        sheets: whose rows are to be written, in the order of the plans; their parts are added, or replaced.
        bold: the style of a bold cell; None where the workbook has none.
        properties: the part of the custom properties.
        record: what the workbook goes on to remember.
        known: what is remembered of each new sheet already, by the workbook's spelling of its title.
        spelled: that spelling, by the plan's title.
        strict: whether the workbook is strict OOXML.
    """

    package: Package
    replaced: dict[str, bytes]
    dropped: frozenset[str]
    sheets: list[SheetPart]
    bold: int | None
    properties: str
    record: dict[str, Any]
    known: dict[str, dict[str, Any]]
    spelled: dict[str, str]
    strict: bool

    def write(self, writer: PackageWriter) -> None:
        """Put all parts but the sheets of the plans and the custom properties.

        Raises:
            FormatError: a part is damaged.
            OSError: the sink refuses.
        """
        later = {self.properties, *(sheet.name for sheet in self.sheets)}
        for name in self.package.names():
            if name in self.replaced:
                writer.add(name, self.replaced[name])
            elif name not in self.dropped and name not in later:
                writer.copy(self.package, name)

    def remember(self, writer: PackageWriter, record: Mapping[str, Any]) -> None:
        """Put the custom properties: those that are there, with ours.

        Args:
            writer: of the package.
            record: what is known of the arrays; of each sheet by the plan's title under "sheets".

        Raises:
            FormatError: the properties that are there are damaged.
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        sheets = {self.spelled.get(title, title): more for title, more in record.get("sheets", {}).items()}
        fresh = with_sheets({**record, "sheets": sheets}, self.known)
        whole = {**self.record, **fresh, "sheets": {**self.record["sheets"], **fresh["sheets"]}}
        there = self.package.read(self.properties, limit=MOST_BYTES) if self.properties in self.package else None
        writer.add(self.properties, merged(there, whole, location=self.properties, strict=self.strict))


def titles(package: Package) -> list[str]:
    """The titles of a workbook's sheets, in the order of their tabs.

    Raises:
        FormatError: no .xlsx or .xlsm, or a damaged one.
    """
    return [sheet.title for sheet in Book(package).sheets]


def plan_append(package: Package, sheets: Sequence[SheetPlan], *, if_sheet_exists: IfSheetExists = "error") -> Edit:
    """Find out what has to change for sheets to be put into a workbook; nothing is written.

    Args:
        package: of the workbook.
        sheets: at least one; those that are not there come last.
        if_sheet_exists: whether a sheet of such a title is refused, or replaced where it is one of ours. What else a
            replaced sheet had (charts on it, comments) goes with it; sheets on which its arrays went on and do not any
            more are left, empty.

    Raises:
        FormatError: no .xlsx or .xlsm, or a damaged one.
        LimitError: a title that no sheet can have; a sheet that is there; a workbook that is signed,
            protected or shared.
    """
    check_titles(sheets)
    book = Book(package)
    book.check_open()
    old = find_ours(book, sheets, replacing=if_sheet_exists == "replace")
    plans = [replace(plan, title=old.spelled[plan.title]) for plan in sheets]
    parts = _parts(book, plans, old)
    blanks = _worksheets(book, [SheetPlan(sheet.title, (), 0, names=False) for sheet in old.emptied], old.emptied)
    refers = references((array, plan.title, cells) for plan in plans for array, cells in plan.arrays)
    book.drop_names(old.names, [sheet.title for sheet in old.gone])
    names = defined_names(refers, [*book.names(), *book.tables()])
    book.add_names({names[area]: text for area, text in refers.items()})
    book.compute_on_opening()
    book.have_a_view()
    dropped = _drop(book, old.gone)
    properties = _properties(book)
    replaced = {sheet.part: head + tail for sheet, (head, tail) in zip(old.emptied, blanks, strict=True)}
    added = [plan.title for plan, there in zip(plans, old.replaced, strict=True) if there is None]
    emptied = {sheet.title: {"names": [], "of": plans[0].title} for sheet in old.emptied}
    return Edit(
        package=package, replaced=replaced | _changed(book, added), dropped=frozenset(dropped), sheets=parts,
        bold=_bold(book), properties=properties,
        record={**old.record, "sheets": {**old.kept, **emptied}}, known=remembered(plans, names), spelled=old.spelled,
        strict=book.strict,
    )  # fmt: skip


def _parts(book: Book, plans: Sequence[SheetPlan], old: Ours) -> list[SheetPart]:
    """The sheets without their rows; new ones are put into the workbook."""
    made = []
    for plan, there, (head, tail) in zip(plans, old.replaced, _worksheets(book, plans, old.replaced), strict=True):
        if there is None:
            part = _free(book, posixpath.join(posixpath.dirname(book.part), "worksheets", "sheet{}.xml"))
            book.add_sheet(plan.title, part)
        made.append(SheetPart(plan.title, there.part if there else part, head, tail))
    return made


def _worksheets(book: Book, plans: Sequence[SheetPlan], there: Sequence[BookSheet | None]) -> list[tuple[bytes, bytes]]:
    """What comes before and after the rows, as the workbook's macros and its view on the sheets want it."""
    in_view = book.sheets[book.active] if book.active < len(book.sheets) else None
    code_names = [_code_name(book.package, sheet.part) if sheet is not None else "" for sheet in there]
    made = worksheets(plans, code_names, [sheet is not None and sheet is in_view for sheet in there])
    return [(head.replace(MAIN.encode(), STRICT_MAIN.encode()), tail) for head, tail in made] if book.strict else made


def _code_name(package: Package, part: str) -> str:
    """What the macros call a sheet; empty where they do not."""
    try:
        return first_tag(package.head(part, HEAD), "sheetPr", location=part).get("codeName", "")
    except FormatError:
        return ""  # it is replaced, broken or not


def _free(book: Book, pattern: str) -> str:
    """A name that no part has."""
    used = {sheet.part for sheet in book.sheets}
    names = (pattern.format(nth) for nth in count(1))
    return next(name for name in names if not (name in book.package or name in book.types or name in used))


def _properties(book: Book) -> str:
    """The part of the custom properties; a new one is put into the package.

    Raises:
        FormatError: it is damaged.
    """
    part = book.root_relations.target("custom-properties")
    if part is None:
        part = PROPERTIES if PROPERTIES not in book.package else _free(book, "docProps/custom{}.xml")
        book.root_relations.add("custom-properties", part, strict=book.strict)
    if part in book.package:
        merged(book.package.read(part, limit=MOST_BYTES), {}, location=part)
    elif part not in book.types:
        book.types.add(part, CONTENT_TYPE)
    return part


def _drop(book: Book, gone: Sequence[BookSheet]) -> set[str]:
    """Parts that go: those which only the content of some sheets needed, and the order of its formulas."""
    dropped = only_through(book.package, [sheet.part for sheet in gone])
    chain = book.relations.present("calcChain")
    if gone and chain and _computes(book.package, chain, {sheet.id for sheet in gone}):
        dropped.add(chain)
        book.relations.drop(chain)
    for part in dropped:
        book.types.drop(part)
    return dropped


def _computes(package: Package, chain: str, sheets: set[str]) -> bool:
    """Whether a formula on some sheets is in the calculation chain, or the chain is broken."""
    current = ""
    try:
        for name, attributes in tags(package.read(chain, limit=_MOST_FORMULAS), location=chain):
            if name == "c" and (current := attributes.get("i", current)) in sheets:
                return True
    except FormatError:
        return True
    return False


def _bold(book: Book) -> int | None:
    styles = book.relations.present("styles")
    if styles is None or book.package.member(styles).size > _MOST_BYTES:
        return None
    return bold_style(book.package.read(styles), location=styles)


def _changed(book: Book, added: Sequence[str]) -> dict[str, bytes]:
    """The content of the parts that other sheets change."""
    changed = {
        book.package.member(TYPES).name: book.types.markup.result(),
        book.part: book.markup.result(),
        book.relations.name: book.relations.markup().result(),
        book.root_relations.name: book.root_relations.markup().result(),
    }
    application = book.root_relations.present("extended-properties")
    if added and application and book.package.member(application).size <= _MOST_BYTES:
        worksheets = [sheet.title for sheet in book.sheets if sheet.kind == "worksheet"][: -len(added)]
        listed = with_titles(book.package.read(application), worksheets, added, location=application)
        changed |= {application: listed} if listed is not None else {}
    return {name: content for name, content in changed.items() if content != book.package.read(name)}
