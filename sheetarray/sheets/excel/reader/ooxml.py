"""Workbooks of Office Open XML (.xlsx, .xlsm, and templates): a container.

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ....dtypes import Positions
from ....errors import FormatError
from ...workbooks import MOST_ROWS, without_escapes
from ..package.markup import children_named, local_name, parse_tree
from ..package.parts import Package
from ..package.relations import RELATION_SPACES, Relations
from .book import ALL_ROWS, XmlBook
from .cells import NUMBER, Kinds
from .formats import Formats, read_formats
from .formulas import parse_reference
from .raw import RawCells
from .strings import SharedStrings
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
        FormatError: the part is no workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._room = Room()
        self._sheets: dict[str, SheetRows] = {}
        root = parse_tree(_without_names(package.read(part, limit=_MOST_BYTES)), location=part)
        lists = children_named(root, "sheets") if local_name(root) == "workbook" else []
        if not lists:
            raise FormatError("the part is no workbook: it lists no sheets", location=part)
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

    def close(self) -> None:
        """Do nothing: the package's bytes are the caller's."""

    @property
    def sheet_bytes(self) -> int:
        """The bytes of all worksheets when inflated, as the package's directory says."""
        return sum(self._package.member(part).size for part in self.parts.values() if part in self._package)

    @property
    def package(self) -> Package:
        """The package that the workbook is."""
        return self._package

    @property
    def strings_part(self) -> str | None:
        """The name of the part with the shared strings; None if the workbook names no such part."""
        return self._relations.target("sharedStrings")

    @cached_property
    def strings(self) -> SharedStrings:
        """The strings to which cells refer by number."""
        return SharedStrings(self._package, self.strings_part)

    @cached_property
    def _formats(self) -> Formats:
        return read_formats(self._package, self._relations.present_target("styles"))

    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[RawCells]:
        """Yield the cells of a worksheet, block by block."""
        if title not in self._sheets:
            self._sheets[title] = SheetRows(self._package, self.parts[title], self._room)
        return self._sheets[title].blocks(texts=texts, numbers_alone=numbers_alone)

    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""
        return parse_reference(formula)

    def kinds_as_shown(self, kinds: Kinds, styles: Positions) -> Kinds:
        """Return kinds in which numbers that their styles show as dates or durations have become such."""
        may_be_dates = (kinds == NUMBER) & (styles != 0)  # next to no styles are read for names and headers
        return self._formats.kinds_as_shown(kinds, styles) if may_be_dates.any() else kinds


def _without_names(content: bytes) -> bytes:
    """Return XML without its list of defined names; unchanged where comments or CDATA could look like that list."""
    begin = _NAMES.search(content) if b"<!" not in content else None
    end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
    return content if begin is None or end < 0 else content[: begin.start()] + content[end + len(_NAMES_END) :]
