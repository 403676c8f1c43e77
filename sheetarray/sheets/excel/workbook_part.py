"""The own part of a workbook: its list of sheets, its defined names and its record, and what changes in them.

A new workbook is the same over a template. Source: ECMA-376 part 1, 18.2 (workbook). Strict OOXML is read, and not
changed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count, filterfalse
from typing import Any, NamedTuple

from ...errors import NEWER, FormatError, LimitError
from ...files import Source
from ...tables import NamedTable
from ..defined_names import PRINT_AREA, parse_titles
from ..xml_texts import escape_text, quote_attribute, without_escapes
from .package.markup import HEAD, Element, Markup, children_named, local_name, parse_tree, read_first_tag
from .package.package import Package
from .package.properties import CONTENT_TYPE, MOST_BYTES, PROPERTIES, merge_properties, read_record
from .package.relations import (
    MAIN,
    RELATION_SPACES,
    RELATIONS,
    STRICT,
    TYPES,
    ContentTypes,
    Relation,
    Relations,
)
from .reader.titles import place_sheets
from .skeleton.template import make_template

_STRICT_MAIN = STRICT + "spreadsheetml/main"
_TYPE = re.compile(
    r"application/vnd\.(openxmlformats-officedocument\.spreadsheetml\.(sheet|template)"
    r"|ms-excel\.(sheet|template|addin)\.macroEnabled)\.main\+xml"
)
WORKSHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_MOST_READ, _MOST_CHANGED = 2**26, 2**24  # bytes of the workbook's own part, with its names
_MOST_ID = 65_534  # the highest id that a sheet may have
_NAMES = re.compile(rb"<definedNames(?:\s[^<>]*)?>")
_NAMES_END = b"</definedNames>"
_BEFORE_NAMES = ("sheets", "functionGroups", "externalReferences")  # elements that stand before definedNames
_SIGNED = "digital-signature/origin"  # a relationship that only signed workbooks have
_SHARED = "revisionHeaders"  # a relationship that only shared workbooks have


@dataclass(frozen=True, slots=True)
class BookSheet:
    """A sheet of the workbook."""

    title: str  # of the sheet
    id: str  # the number, as text, by which other parts refer to it
    kind: str  # worksheet, chartsheet, dialogsheet, module or another
    part: str  # the name of its part; empty for a module of Excel 95, which is listed but has no part


class _Entry(NamedTuple):
    """An entry of the list of sheets."""

    title: str
    sheet_id: str
    id: str  # of the relationship to its part; empty if it has none


class WorkbookPart:
    """The own part of a workbook, with the changes that are to be made to it.

    Attributes:
        package: the workbook as it is, which never changes.
        part: the name of the workbook's own part.
        parts: of its worksheets, by their titles, in the order of their tabs.
        relations: the references of the workbook's own part.
        root_relations: the references of the package.

    Raises:
        FormatError: the part is no workbook, or a damaged one.

    Example:
        >>> book = WorkbookPart.new(".xlsx")
        >>> book.add_sheet("arrays").part
        'xl/worksheets/sheet1.xml'
        >>> b'<sheet name="arrays" sheetId="1" r:id="rId2"/>' in book.changed_parts()["xl/workbook.xml"]
        True
    """

    def __init__(self, package: Package, part: str, root_relations: Relations, *, changes: bool = False) -> None:
        self.package, self.part, self.root_relations = package, part, root_relations
        self.relations, self._dropped, self._numbers = Relations(package, part), set[int](), dict[str, Iterator[int]]()
        self._content = package.read(part, limit=_MOST_CHANGED if changes else _MOST_READ)
        self._entries, settings = self._list_for_changes() if changes else self._list_for_reading()
        self.from_1904 = settings.get("date1904") in ("1", "true")
        self.parts = place_sheets(self._iter_worksheets(), part)

    @classmethod
    def of_package(cls, package: Package) -> WorkbookPart:
        """Return the own part of a workbook that is to be changed.

        Raises:
            FormatError: the package is no .xlsx or .xlsm, or is damaged.
        """
        relations = Relations(package, "")
        part = relations.target("officeDocument")
        if part is None:
            raise FormatError(
                f"not a workbook of Excel, but {_guess_kind(package)}",
                hint="save it as .xlsx first, or write to a new file",
            )
        types = ContentTypes.of_package(package)
        if not _TYPE.fullmatch(type_ := types.type_of(part)):
            raise FormatError(
                f"no sheet can be added to a package of the type {type_!r:.120}",
                location=part,
                hint="save it as .xlsx or .xlsm first",
            )
        book = cls(package, part, relations, changes=True)
        book.types = types
        return book

    @classmethod
    def to_change(cls, source: Source) -> WorkbookPart:
        """Return the own part of a workbook whose cells are to be changed, and no sheet added.

        Raises:
            FormatError: the source is no .xlsx or .xlsm, or is damaged.
            LimitError: the workbook may not be changed.
        """
        book = cls.of_package(Package(source.ranges()))
        book._check_changeable()
        return book

    @classmethod
    def new(cls, suffix: str) -> WorkbookPart:
        """Return the own part of a new workbook without sheets, for a file of a suffix."""
        book = copy(_read_template(suffix))
        book.types, book.markup = book.types.copy(), book.markup.copy()
        book.relations, book.root_relations = book.relations.copy(), book.root_relations.copy()
        book.sheets, book._dropped, book._numbers = [], set(), {}
        return book

    @cached_property
    def types(self) -> ContentTypes:
        """The types of all parts; the list of a workbook that is only read may be damaged, as nobody asks for it."""
        return ContentTypes.of_package(self.package)

    def _list_for_reading(self) -> tuple[list[_Entry], Mapping[str, str]]:
        """Return the entries of the list of sheets, and the settings; defined names, maybe many, are left out."""
        content = self._content
        begin = _NAMES.search(content) if b"<!" not in content else None  # comments or CDATA could look like that list
        end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
        if begin is not None and end >= 0:
            content = content[: begin.start()] + content[end + len(_NAMES_END) :]
        root = parse_tree(content, location=self.part)
        lists = children_named(root, "sheets") if local_name(root) == "workbook" else []
        if not lists:
            raise FormatError("the part is not a workbook: it lists no sheets", location=self.part)
        entries = []
        for sheet in children_named(lists[0], "sheet"):
            ids = [sheet.get(f"{{{space}}}id") for space in RELATION_SPACES]
            id_ = next(filter(None, ids), "")
            entries.append(_Entry(without_escapes(sheet.get("name", "")), sheet.get("sheetId", ""), id_))
        settings = children_named(root, "workbookPr")
        return entries, settings[0].attrib if settings else {}

    def _list_for_changes(self) -> tuple[list[_Entry], Mapping[str, str]]:
        """Return the same, of a workbook whose own part is to be changed."""
        settings = self.markup.root.child_named("workbookPr")
        entries = [
            _Entry(without_escapes(sheet.get("name")), sheet.get("sheetId"), sheet.get_in(RELATION_SPACES, "id"))
            for sheet in self._list.children_named("sheet")
        ]
        return entries, settings.attributes if settings is not None else {}

    def _iter_worksheets(self) -> Iterator[tuple[str, str]]:
        """Yield the title and the part of each worksheet."""
        targets = {relation.id: relation for relation in self.relations.entries}
        for title, _, id_ in self._entries:
            relation = targets.get(id_) if id_ else None  # none of a module of macros that was kept from Excel 95
            if id_ and (relation is None or relation.target is None):
                raise FormatError(f"the sheet {title!r:.80} refers to no part of the package", location=self.part)
            if relation is not None and relation.target is not None and relation.kind == "worksheet":
                yield title, relation.target

    @cached_property
    def markup(self) -> Markup:
        """The part as XML that can be changed."""
        markup = Markup(self._content, location=self.part, limit=_MOST_CHANGED)
        root = markup.root
        if root.name != "workbook" or root.space not in (MAIN, _STRICT_MAIN):
            raise FormatError(f"the part holds {root.name!r:.40}, no workbook", location=self.part)
        if root.child_named("sheets") is None:
            raise FormatError("the workbook has no list of sheets", location=self.part)
        return markup

    @property
    def _list(self) -> Element:
        """The list of sheets in workbook.xml."""
        return next(self.markup.root.children_named("sheets"))

    @cached_property
    def sheets(self) -> list[BookSheet]:
        """All sheets, in the order of their tabs; a FormatError if one has no part."""
        targets = {relation.id: relation for relation in self.relations.entries}
        return [_find_sheet(entry, targets, self.package, self.part) for entry in self._entries]

    @cached_property
    def active(self) -> int:
        """The index of the sheet with which the workbook opens."""
        views = self.markup.root.child_named("bookViews")
        view = views.child_named("workbookView") if views is not None else None
        active = view.get("activeTab", "0") if view is not None else "0"
        return int(active) if re.fullmatch("[0-9]{1,5}", active) else 0

    @cached_property
    def stored_record(self) -> dict[str, Any]:
        """What the workbook remembers, as it stands in its properties; a FormatError if it was edited."""
        return read_record(self.package, self.root_relations) or {}

    @cached_property
    def record(self) -> dict[str, Any]:
        """What the workbook remembers, with its "sheets"; none of them where it was edited, or there is no record.

        Raises:
            FormatError: a newer version of this package has made it.
        """
        try:
            record = self.stored_record
        except FormatError as error:
            if error.hint == NEWER:
                raise
            record = {}
        return {**record, "sheets": record.get("sheets", {})}

    def is_in_view(self, sheet: BookSheet) -> bool:
        """Return whether the workbook opens with a sheet in front."""
        return self.active < len(self.sheets) and self.sheets[self.active] is sheet

    def check_open(self) -> None:
        """Refuse a workbook to which no sheet may be added.

        Raises:
            LimitError: the workbook is signed or shared, or its structure is protected.
        """
        self._check_changeable()
        protection = self.markup.root.child_named("workbookProtection")
        if protection is not None and protection.get("lockStructure") in ("1", "true"):
            raise LimitError(
                "the structure of the workbook is protected, so no sheet can be added: "
                "remove the protection in Excel first, or write to a new file"
            )

    def _check_changeable(self) -> None:
        """Refuse a workbook that is signed or shared, or strict OOXML.

        Raises:
            LimitError: the workbook may not be changed.
        """
        if self.markup.root.space == _STRICT_MAIN:
            raise LimitError(
                "the workbook is in Excel's strict format, which sheetarray does not change: "
                "save it as an ordinary .xlsx first, or write to a new file"
            )
        if any(relation.kind == _SIGNED for relation in self.root_relations.entries) or any(
            name.lower().startswith("_xmlsignatures/") for name in self.package.names()
        ):
            raise LimitError(
                "the workbook is digitally signed, and a change would break the signature: "
                "remove it in Excel first, or write to a new file"
            )
        if any(relation.kind == _SHARED for relation in self.relations.entries):
            raise LimitError(
                "the workbook is shared, and its history could not record the change: "
                "unshare it in Excel first, or write to a new file"
            )

    def taken_names(self) -> list[str]:
        """Return all defined names that the workbook has, with those of single sheets, and the names of Excel's tables.

        No defined name may be the same as one of those.
        """
        tables = [table.get(key, "") for _, table in self._tables for key in ("name", "displayName")]
        return [*(element.get("name") for element in self._names()), *tables]

    def table_numbers(self) -> list[int]:
        """Return the numbers of Excel's tables: no two tables have the same."""
        numbers = (table.get("id", "") for _, table in self._tables)
        return [int(number) for number in numbers if re.fullmatch("[0-9]{1,9}", number)]

    @cached_property
    def _tables(self) -> list[tuple[str, Mapping[str, str]]]:
        """The attributes of each of Excel's tables, with the title of its sheet."""
        return [
            (sheet.title, read_first_tag(self.package.head(part, HEAD), "table", location=part))
            for sheet in self.sheets
            for part in (Relations(self.package, sheet.part).present_targets("table") if sheet.part else ())
            if part in self.types  # a replaced sheet's are not, and their names are free
        ]

    def name_references(self) -> dict[tuple[str | None, str], str]:
        """Return the references of all defined names, each with the title of the sheet that has it for itself."""
        titles = {str(number): sheet.title for number, sheet in enumerate(self.sheets)}
        return {
            (titles.get(element.get("localSheetId")), without_escapes(element.get("name"))): element.text
            for element in self._names()
        }

    def tables(self) -> Mapping[str, NamedTable]:
        """Return Excel's tables, by their names."""
        return self._named_tables

    @cached_property
    def _named_tables(self) -> dict[str, NamedTable]:
        tables = {}
        for title, table in self._tables:
            counts = [table.get(f"{kind}RowCount", count) for kind, count in (("header", "1"), ("totals", "0"))]
            header, totals = (int(count) if re.fullmatch("[0-9]{1,7}", count) else 0 for count in counts)
            name = without_escapes(table.get("displayName") or table.get("name", ""))
            tables[name] = NamedTable(title, table.get("ref", ""), header, totals)
        return tables

    def new_part(self, pattern: str, type_: str = "") -> str:
        """Return the name of a new part near the own part, which is listed with its type.

        `pattern`: from the folder of the own part on, with a place for a number.
        """
        place = posixpath.join(posixpath.dirname(self.part), pattern)
        name = next(filterfalse(self.has_part, map(place.format, self._numbers.setdefault(pattern, count(1)))))
        if type_:
            self.types.add(name, type_)
        return name

    def add_sheet(self, title: str, *, very_hidden: bool = False) -> BookSheet:
        """Return a sheet that is added at the end of the list; no menu shows one that is very hidden."""
        id_ = next(self._free_ids, None)
        if id_ is None:
            raise LimitError(f"the workbook has {len(self.sheets)} sheets already")
        part = self.new_part("worksheets/sheet{}.xml", WORKSHEET_TYPE)
        relation = self.relations.add("worksheet", part)
        prefixes = [prefix for prefix, space in self._list.scope.items() if space in RELATION_SPACES]
        state = ' state="veryHidden"' if very_hidden else ""
        prefix, declared = prefixes[0] if prefixes else "r:", f' xmlns:r="{RELATIONS}"'
        self.markup.append(
            self._list,
            f'<{self._list.prefix}sheet{"" if prefixes else declared} name={quote_attribute(title)} sheetId="{id_}"'
            f'{state} {prefix}id="{relation}"/>',
        )
        self.sheets.append(BookSheet(title, id_, "worksheet", part))
        return self.sheets[-1]

    @cached_property
    def _free_ids(self) -> Iterator[str]:
        """The ids that no sheet has, those above all others first."""
        used = {sheet.id for sheet in self.sheets}
        highest = max((int(id_) for id_ in used if re.fullmatch("[0-9]{1,5}", id_)), default=0)
        ids = map(str, chain(range(highest + 1, _MOST_ID + 1), range(1, highest)))
        return (id_ for id_ in ids if id_ not in used)

    def drop_names(self, names: Collection[str], titles: Collection[str]) -> None:
        """Remove those of some defined names that refer to cells of some sheets only, and the print areas of these."""
        folded, around = {name.casefold() for name in names}, {title.casefold() for title in titles}
        tabs = {str(tab) for title, tab in self._tabs().items() if title in around}
        for element in self._names():
            name, within = element.get("name").casefold(), {title.casefold() for title in parse_titles(element.text)}
            if "localSheetId" in element.attributes:
                goes = name == PRINT_AREA.casefold() and element.get("localSheetId") in tabs
            else:
                goes = name in folded and bool(within) and within <= around
            if goes:
                self.markup.remove(element)
                self._dropped.add(element.start)

    def set_names(self, refers: Callable[[str, str], str | None]) -> bool:
        """Change the references of defined names of the whole workbook.

        `refers`: returns the new reference, given a defined name and its reference; None to leave it as it is.

        It returns whether a reference has changed.
        """
        changed = False
        for element in self._names():
            if "localSheetId" not in element.attributes and element.inner < element.end:
                text = refers(without_escapes(element.get("name")), element.text)
                if text is not None and text != element.text:
                    self.markup.replace(element.inner, element.close, escape_text(text))
                    changed = True
        return changed

    def add_names(self, names: Mapping[str, str], print_areas: Mapping[str, str]) -> None:
        """Add defined names with their references, and by the titles of sheets the ranges that are printed."""
        prefix, tabs = self.markup.root.prefix, self._tabs() if print_areas else {}
        marked = [(f"name={quote_attribute(name)}", refers) for name, refers in names.items()]
        marked += [
            (f'name="{PRINT_AREA}" localSheetId="{tabs[title.casefold()]}"', cells)
            for title, cells in print_areas.items()
        ]
        tag = f"{prefix}definedName"
        text = "".join([f"<{tag} {mark}>{escape_text(refers)}</{tag}>" for mark, refers in marked])
        listed = self.markup.root.child_named("definedNames")
        if listed is not None:
            self.markup.append(listed, text)
        elif text:
            self.markup.insert(self._end_offset(*_BEFORE_NAMES), f"<{prefix}definedNames>{text}</{prefix}definedNames>")

    def has_part(self, name: str) -> bool:
        """Return whether the workbook has, or lists, a part of this name."""
        return name in self.package or name in self.types

    def ensure_properties(self) -> str:
        """Return the part of the custom properties; a new one is listed. A FormatError if it is damaged."""
        part = self.root_relations.target("custom-properties")
        if part is None:
            names = chain([PROPERTIES], map("docProps/custom{}.xml".format, count(1)))
            part = next(filterfalse(self.has_part, names))
            self.root_relations.add("custom-properties", part)
        if part in self.package:
            merge_properties(self.package.read(part, limit=MOST_BYTES), {}, location=part)
        elif part not in self.types:
            self.types.add(part, CONTENT_TYPE)
        return part

    def changed_parts(self) -> dict[str, bytes]:
        """Return the content of the parts that list the sheets, names and parts of a workbook, where it has changed."""
        listed = {self.package.member(TYPES).name: self.types}
        relations = {each.name: each for each in (self.relations, self.root_relations)}
        changed = {name: each.to_bytes() for name, each in (listed | relations).items() if each.is_changed}
        content = self.markup.to_bytes()
        return changed | ({self.part: content} if content != self._content else {})

    def _tabs(self) -> dict[str, int]:
        """Return the number of each sheet's tab, counted from 0, by its title in lower case."""
        return {sheet.title.casefold(): tab for tab, sheet in enumerate(self.sheets)}

    def drop_chain(self) -> set[str]:
        """Take the calculation chain off the lists, and return the names of the parts that go with it, if there is one.

        It is a list of the cells with formulas, which Excel makes anew where it is missing.
        """
        chain = self.relations.present_target("calcChain")
        if chain is None:
            return set()
        self.relations.drop(chain)
        self.types.drop(chain)
        return {chain}

    def compute_on_opening(self) -> None:
        """Have programs compute all formulas when they open the workbook, unless it is set to be computed by hand."""
        calculation = self.markup.root.child_named("calcPr")
        if calculation is None:
            at = self._end_offset(*_BEFORE_NAMES, "definedNames")
            self.markup.insert(at, f'<{self.markup.root.prefix}calcPr fullCalcOnLoad="1"/>')
        elif calculation.get("calcMode") != "manual":
            self.markup.set(calculation, "fullCalcOnLoad", "1")

    def ensure_view(self) -> None:
        """Add the element `bookViews` if the workbook lacks it, since the `sheetView` of each sheet refers to it."""
        if self.markup.root.child_named("bookViews") is None:
            prefix = self.markup.root.prefix
            self.markup.insert(self._list.start, f"<{prefix}bookViews><{prefix}workbookView/></{prefix}bookViews>")

    def _names(self) -> Iterator[Element]:
        """Yield the elements of all defined names that have not been removed."""
        listed = self.markup.root.child_named("definedNames")
        for element in listed.children_named("definedName") if listed is not None else ():
            if element.start not in self._dropped:
                yield element

    def _end_offset(self, *names: str) -> int:
        """Return the position, in bytes, at which the last of some elements ends."""
        return max(element.end for name in names for element in self.markup.root.children_named(name))


@lru_cache
def _read_template(suffix: str) -> WorkbookPart:
    return WorkbookPart.of_package(make_template(suffix))


def _find_sheet(entry: _Entry, targets: Mapping[str, Relation], package: Package, part: str) -> BookSheet:
    """Return a sheet, given its entry in the list and the workbook's relationships by their ids."""
    title, sheet_id, id_ = entry
    if not id_:
        return BookSheet(title, sheet_id, "module", "")
    relation = targets.get(id_)
    if relation is None or relation.target is None or relation.target not in package:
        raise FormatError(f"the sheet {title!r:.80} has no part in the package", location=part)
    return BookSheet(title, sheet_id, relation.kind, relation.target)


def _guess_kind(package: Package) -> str:
    """Return the words by which a message calls a package that is not a workbook."""
    kind = package.head("mimetype", 100).decode("ascii", "replace") if "mimetype" in package else ""
    return "an OpenDocument file" if kind.startswith("application/vnd.oasis.opendocument") else "another zip package"
