"""The cells of workbooks of Office Open XML (.xlsx, .xlsm, and templates).

Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property

from ....errors import FormatError
from ..package.markup import local_name, parse_tree
from ..workbook_part import WorkbookPart
from .book import XmlBook
from .cells import ALL_ROWS, CellRun
from .number_formats import FORMAT_NUMBER, MOST_ELEMENTS, MOST_OF_STYLES, MOST_STYLES, Formats
from .references import parse_reference
from .shared_strings import SharedStrings
from .worksheet import Room, SheetRows

_SMALL = 2**15  # bytes of a worksheet: some hundreds of cells


class OoxmlCells(XmlBook):
    """The cells of a workbook of which the own part is read; `cells.WorkbookReader` says what each method is for.

    Attributes:
        own: the own part of the workbook.
        parts: of the worksheets, by their titles.
    """

    def __init__(self, own: WorkbookPart) -> None:
        self.own, self.package = own, own.package
        self._room = Room(own.package.most_cells)
        self._sheets: dict[str, SheetRows] = {}
        self.parts, self._relations, self.from_1904 = own.parts, own.relations, own.from_1904
        self.titles = list(self.parts)

    def is_small(self, title: str) -> bool:
        """Return whether the XML of a worksheet is so short that all of its cells are read at once."""
        member = self.package.find(self.parts[title])
        return member is not None and member.size <= _SMALL

    @cached_property
    def strings(self) -> SharedStrings:  # type: ignore[override]  # made when a cell needs it
        """The strings to which cells refer by number."""
        return SharedStrings(self.package, self._relations.target("sharedStrings"))

    @cached_property
    def formats(self) -> Formats:  # type: ignore[override]  # the same
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
        entries = [(entry.get("numFmtId"), entry.get("formatCode", "")) for entry in formats]
        codes = {numbers[number]: code for number, code in entries if number in numbers}
        return Formats([numbers[text] for text in used], codes)

    def blocks(
        self, title: str, *, spans: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Generator[CellRun]:
        """Yield the cells of a worksheet, block by block."""
        if title not in self._sheets:
            self._sheets[title] = SheetRows(self.package, self.parts[title], self._room)
        return self._sheets[title].blocks(spans=spans, numbers_alone=numbers_alone)

    def count_cells(self, title: str, weight: int) -> None:
        """Count the cells of a worksheet, large numbers of a table as texts."""
        self._sheets[title].count_cells(weight)

    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""
        return parse_reference(formula)
