"""Workbooks of Office Open XML (.xlsx, .xlsm, and templates).

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ....errors import FormatError
from ...workbooks import without_escapes
from ..package.markup import children_named, local_name, parse_tree
from ..package.package import Package
from ..package.relations import RELATION_SPACES, Relations
from .book import XmlBook
from .cells import ALL_ROWS
from .number_formats import FORMAT_NUMBER, MOST_ELEMENTS, MOST_OF_STYLES, MOST_STYLES, Formats
from .raw_cells import RawCells
from .references import parse_reference
from .shared_strings import SharedStrings
from .titles import Titles
from .worksheet import Room, SheetRows

_MOST_BYTES = 2**26  # of the part that lists the sheets, with its names
_NAMES = re.compile(rb"<definedNames(?:\s[^<>]*)?>")
_NAMES_END = b"</definedNames>"


class OoxmlBook(XmlBook):
    """A workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Attributes:
        parts: of the worksheets, by their titles.

    Raises:
        FormatError: the part is not a workbook, or a damaged one.
    """

    def __init__(self, package: Package, part: str) -> None:
        self.package = package
        self._room = Room()
        self._sheets: dict[str, SheetRows] = {}
        root = parse_tree(_without_names(package.read(part, limit=_MOST_BYTES)), location=part)
        lists = children_named(root, "sheets") if local_name(root) == "workbook" else []
        if not lists:
            raise FormatError("the part is not a workbook: it lists no sheets", location=part)
        self._relations = Relations(package, part)
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        for sheet in children_named(lists[0], "sheet"):
            ids = [sheet.get(f"{{{space}}}id") for space in RELATION_SPACES]
            titles.add_related(without_escapes(sheet.get("name", "")), next(filter(None, ids), None), targets)
        self.parts = titles.places
        self.titles = list(self.parts)
        settings = children_named(root, "workbookPr")
        self.from_1904 = bool(settings) and settings[0].get("date1904") in ("1", "true")

    @property
    def sheet_bytes(self) -> int:
        """The bytes of all worksheets when inflated, as the package's directory says."""
        return sum(self.package.member(part).size for part in self.parts.values() if part in self.package)

    @property
    def strings_part(self) -> str | None:
        """The name of the part with the shared strings; None if the workbook names no such part."""
        return self._relations.target("sharedStrings")

    @cached_property
    def strings(self) -> SharedStrings:
        """The strings to which cells refer by number."""
        return SharedStrings(self.package, self.strings_part)

    @cached_property
    def formats(self) -> Formats:
        """The formats in the styles of the workbook, which may be damaged."""
        part = self._relations.present_target("styles")
        if part is None:
            return Formats([], {})
        content = self.package.read(part, limit=MOST_OF_STYLES)
        root = parse_tree(content, location=part, most=MOST_ELEMENTS)
        if local_name(root) != "styleSheet":
            return Formats([], {})
        space = root.tag.removesuffix("styleSheet")
        formats = root.findall(f"{space}numFmts/{space}numFmt")
        styles = root.findall(f"{space}cellXfs/{space}xf")
        if max(len(styles), len(formats)) > MOST_STYLES:
            raise FormatError(f"more than {MOST_STYLES} styles")
        used = [style.get("numFmtId", "") for style in styles]
        numbers = {text: int(text) if FORMAT_NUMBER.fullmatch(text) else 0 for text in set(used)}
        known = [(entry.get("numFmtId"), entry.get("formatCode", "")) for entry in formats]
        codes = {numbers[number]: code for number, code in known if number in numbers}
        return Formats([numbers[text] for text in used], codes)

    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[RawCells]:
        """Yield the cells of a worksheet, block by block."""
        if title not in self._sheets:
            self._sheets[title] = SheetRows(self.package, self.parts[title], self._room)
        return self._sheets[title].blocks(texts=texts, numbers_alone=numbers_alone)

    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""
        return parse_reference(formula)


def _without_names(content: bytes) -> bytes:
    """Return XML without its list of defined names; unchanged where comments or CDATA could look like that list."""
    begin = _NAMES.search(content) if b"<!" not in content else None
    end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
    return content if begin is None or end < 0 else content[: begin.start()] + content[end + len(_NAMES_END) :]
