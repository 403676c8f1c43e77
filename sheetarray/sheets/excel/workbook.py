"""A workbook of any kind, open: its sheets, its views, its record, and the sheets that hold snapshots."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from types import TracebackType
from typing import Any

from ...columns import are_mapped, cell_address
from ...columns.grid import column_number
from ...dtypes import Mask, Positions
from ...errors import Finding, FormatError, NotFoundError
from ...files import Source
from ..guard_texts import guard_title, may_be_guard
from .checksums.stored import StoredChecksums
from .following import Followed
from .guard.guard_sheet import AS_WRITTEN, find_lost_mark, is_guard
from .opening import open_cells
from .package.properties import read_record
from .package.searches import content_of, read_searches
from .reader.book import XmlBook
from .reader.cells import CellRun
from .reader.ooxml import OoxmlCells
from .reader.titles import MOST_TABLES
from .views.record import WORD, ViewSheets, find_view_sheets
from .workbook_part import WorkbookPart
from .worksheet import ExcelSheet

LEAST_BYTES = 2**18  # of all worksheets
LARGE_WORKBOOK = 2**27  # bytes of inflated worksheets; of a smaller workbook all arrays have room in memory together
_BEGINNING = 2**11  # bytes of a sheet, among which its first row stands if it is a guard
_CELL = re.compile(r"(.+)!([A-Z]{1,3})([0-9]{1,7})", re.DOTALL)


class Workbook:
    """A workbook of any kind, open.

    `reads_numbers`: whether all numbers will be wanted after a search for arrays, which then keeps them; where arrays
    are mapped, those of a large workbook alone are read again instead.
    `before`: the same source, opened before; sheets that were searched for headers are not searched again. `own`: its
    own part, if that is read.

    Attributes:
        source: the file.
        titles: of its worksheets, hidden ones too, in the order of their tabs.
        possible_guards: those among them that are titles of guards; next to none.
        own: the part `workbook.xml` of an .xlsx or .xlsm, with the defined names; None for other kinds of files.
        package: of an .xlsx or .xlsm; None for any other kind.
        parts: of the worksheets of an .xlsx or .xlsm, by their titles.
        sheet_bytes: of all worksheets of an .xlsx or .xlsm when inflated; 0 for any other kind.
        record_error: that the record is damaged; None until `record` is read.

    Raises:
        FormatError: the source is not a workbook, or one that is damaged, encrypted or hostile.
    """

    def __init__(
        self,
        source: Source,
        *,
        reads_numbers: bool = False,
        before: Workbook | None = None,
        own: WorkbookPart | None = None,
    ) -> None:
        self.source = source
        self._container = container = open_cells(source) if own is None else OoxmlCells(own)
        container.words = {} if before is None else before._container.words
        self.own = container.own if isinstance(container, OoxmlCells) else None
        self.package = None if self.own is None else self.own.package
        self.parts: Mapping[str, str] = {} if self.own is None else self.own.parts
        members = [] if self.package is None else map(self.package.find, self.parts.values())
        self.sheet_bytes = sum([member.size for member in members if member is not None])
        self.record_error: FormatError | None = None
        self._known_followed: dict[str, Followed] = {}
        if isinstance(container, XmlBook):
            keeps_few = 0 < self.sheet_bytes < LARGE_WORKBOOK
            container.reads_numbers = reads_numbers and (keeps_few or not are_mapped())
        self.titles = container.titles
        self._exact_titles = frozenset(self.titles)  # in which each of very many sheets is found at once
        self.possible_guards = list(filter(may_be_guard, self.titles))
        if not self.titles:
            raise FormatError("the workbook has no worksheets")
        if len(self.titles) > MOST_TABLES and self.own is None:
            raise FormatError(f"the workbook has {len(self.titles):,} sheets, and at most {MOST_TABLES:,} are read")

    def __enter__(self) -> Workbook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._container  # and the cells that it keeps

    @cached_property
    def views(self) -> ViewSheets:
        """The sheets that are views, according to the record."""
        if not isinstance(self._container, XmlBook) or not any(WORD in title for title in self.titles):
            return ViewSheets()  # the record is read only if a title looks like that of a view
        parts = dict.fromkeys(self.titles, "") if self.own is None else self.parts
        return find_view_sheets(self._container.package, parts, self.record)

    @property
    def strings_part(self) -> str | None:
        """The part of the shared strings of an .xlsx or .xlsm; None where it names none."""
        return None if self.own is None else self.own.relations.target("sharedStrings")

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The record of a workbook; an empty one where it is damaged, as `check` says, or missing."""
        package = self._container.package
        try:
            if self.own is not None:
                return self.own.stored_record
            return {} if package is None else read_record(package) or {}
        except FormatError as error:
            self.record_error = error
        return {}

    @cached_property
    def checksums(self) -> StoredChecksums:
        """The checksums that the record has of the arrays."""
        return StoredChecksums(self.record, self.record_error)

    @cached_property
    def header_rows(self) -> dict[str, int]:
        """The number of rows in which a sheet holds words of headers, by its title, as far as the record tells.

        A workbook whose sheets are searched as quickly as its record is read is not asked.
        """
        if self.package is None or self.sheet_bytes < LEAST_BYTES:
            return {}
        rows_of_contents = read_searches(self.record, self.package, self.strings_part).rows
        contents = {title: content_of(self.package, part) for title, part in self.parts.items()}
        return {title: rows_of_contents[content] for title, content in contents.items() if content in rows_of_contents}

    def list_formulas(self, title: str) -> Iterator[tuple[int, int, str]] | None:
        """Return the formulas of a sheet with their rows and columns, "" for long ones; None if nobody knows."""
        container = self._container
        if not isinstance(container, XmlBook):
            return None
        return (
            (int(block.rows[index]), int(block.columns[index]), formula)
            for block in container.blocks(title)
            for index, formula in block.find_formulas()
        )

    def sheet(self, title: str, header_rows: int | None = None) -> ExcelSheet:
        """Return one of its sheets.

        `header_rows`: the number of first rows that hold all words of headers; None if it is unknown.
        """
        if title not in self._exact_titles:
            raise NotFoundError(f"no sheet {title!r}; there is {', '.join(map(repr, self.titles))}")
        follow = partial(self._read_followed, title)
        return ExcelSheet(title, self._container, header_rows, follow, repeats_views=bool(self.views.changed))

    def _read_followed(self, title: str) -> Followed | None:
        """Return the formulas of a sheet that repeat cells; None if the container does not know their text."""
        if title not in self._known_followed and isinstance(self._container, XmlBook):
            views = [frozenset(map(str.casefold, group)) for group in (self.views.editable, self.views.changed)]
            followed = Followed(title, self._container, self._titles.keys(), self._cells_of_rows, *views)
            self._known_followed[title] = followed
        return self._known_followed.get(title)

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The titles by the same in lower case, made once for all sheets; of two that are alike then, the first."""
        return {title.casefold(): title for title in reversed(self.titles)}

    def _cells_of_rows(self, title: str, spans: list[tuple[int, int]]) -> CellRun:
        """Return the cells of some rows of a sheet, whose title is in lower case."""
        return ExcelSheet(self._titles[title], self._container).cells_of_rows(spans)

    def find_links(self, title: str, rows: Positions, column: int) -> Mask | None:
        """Return a mask of the cells of a column that repeat a view for editing; None where nobody knows.

        `rows`: of the cells, from 0. `column`: from 0.
        """
        followed = self._read_followed(title) if self.views.editable or self.views.changed else None
        return None if followed is None else followed.links_of(rows, column)

    def advise(self, location: str | None, hint: str) -> str:
        """Return a hint about a cell of an array, with the cell of a view for editing if the element stands there.

        `location`: of the cell, or of anything else. `hint`: what is said otherwise; may be empty.
        """
        cell = _CELL.fullmatch(location or "") if self.views.editable else None
        if cell is None or cell[1] not in self.titles:
            return hint
        followed = self._read_followed(cell[1])
        target = None if followed is None else followed.cell_in_view(int(cell[3]) - 1, column_number(cell[2]))
        if target is None:
            return hint
        folded, row, column = target
        title = self._titles[folded]
        place = f"the element stands in cell {cell_address(row, column)} of {title!r}"
        return f"{place}; {hint}" if hint else place

    def guards(self) -> list[ExcelSheet]:
        """Return the sheets that hold snapshots of arrays."""
        return [self.sheet(title) for title in self._guard_titles]

    @cached_property
    def _guard_titles(self) -> list[str]:
        """The titles of guards. The first cell of one is read only if a program has saved it again."""
        titles: list[str] = []
        for title in self.possible_guards:
            beginning = b""
            with suppress(FormatError):
                beginning = b"" if self.package is None else self.package.head(self.parts[title], _BEGINNING)
            titles += [title] if AS_WRITTEN.match(beginning) or is_guard(self.sheet(title)) else []
        return titles

    def find_lost_guards(self, recorded: Collection[str] = ()) -> Iterator[Finding]:
        """Yield findings about sheets that were guards, and that nobody knows as such any more.

        `recorded`: the titles of guards that the record of the workbook names.
        """
        lost = [title for title in self.possible_guards if title not in self._guard_titles]
        titles = set(map(guard_title, self.titles)) if lost else set()
        for title in lost:
            finding = find_lost_mark(self.sheet(title), is_titled=title in titles, is_recorded=title in recorded)
            yield from [finding] if finding is not None else []
        for title in sorted(set(recorded) - set(self.titles)):
            reason = f"the guard is gone: the sheet {title!r:.80} was deleted or renamed"
            yield Finding("warning", title, reason, "if the sheet was renamed, give it its old title back")

    def plain_sheets(self) -> list[ExcelSheet]:
        """Return all sheets except guards."""
        guards = self._guard_titles
        return [self.sheet(title) for title in self.titles if title not in guards]
