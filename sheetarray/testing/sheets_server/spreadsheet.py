"""The state of one spreadsheet: its sheets, named ranges and developer metadata."""

from __future__ import annotations

import copy
import secrets
from dataclasses import dataclass, field

from .errors import ApiError, Json, invalid
from .grid import SheetGrid
from .ranges import COLUMNS_LIMIT, GridArea, Span, cells_span, format_range, split

CELLS_LIMIT = 10_000_000  # cells of a spreadsheet, blank ones included


@dataclass
class ServedSheet:
    """One sheet of a spreadsheet.

    Attributes:
        id: unique in its spreadsheet.
        title: unique in its spreadsheet, whatever the case of its letters.
        grid: its cells.
        grid_properties: its GridProperties but for the numbers of rows and columns: frozen rows, hidden gridlines.
        properties: its SheetProperties that have no attribute here, such as `hidden` and `tabColorStyle`.
        merges: the ranges whose cells are merged.
        protected: the protected ranges, by id; their "range" is a Span.
        dimensions: by "ROWS" or "COLUMNS", then by index: the DimensionProperties that differ from the default.
        groups: the groups of rows or columns: their dimension, startIndex, endIndex and depth.
        collapsed: those of the groups whose rows or columns are hidden.
        basic_filter: the BasicFilter; None without one.
        overlays: lists of conditional formats, charts, banded ranges, filter views, slicers and tables, by the names
            that they have in the resource of a sheet.
        kind: its type: GRID, or OBJECT for a sheet without cells that shows one chart.
    """

    id: int
    title: str
    grid: SheetGrid
    grid_properties: Json = field(default_factory=dict)
    properties: Json = field(default_factory=dict)
    merges: list[Span] = field(default_factory=list)
    protected: dict[int, Json] = field(default_factory=dict)
    dimensions: dict[str, dict[int, Json]] = field(default_factory=lambda: {"ROWS": {}, "COLUMNS": {}})
    groups: list[Json] = field(default_factory=list)
    collapsed: list[Json] = field(default_factory=list)
    basic_filter: Json | None = None
    overlays: dict[str, list[Json]] = field(default_factory=dict)
    kind: str = "GRID"

    @property
    def hidden(self) -> bool:
        """Whether people do not see it among the sheets."""
        return bool(self.properties.get("hidden"))

    def area(self, span: Span) -> GridArea:
        """Return the cells of a span that lie on the grid.

        Raises:
            ApiError: the span begins outside the grid.
        """
        grid = self.grid
        if (span.top or 0) >= grid.rows or (span.left or 0) >= grid.columns:
            raise invalid(
                f"Range ({format_range(self.title, span)}) exceeds grid limits. "
                f"Max rows: {grid.rows}, max columns: {grid.columns}"
            )
        return span.on(grid.rows, grid.columns)

    def copy(self) -> ServedSheet:
        """Return a sheet in the same state, which may be changed without changing this one."""
        held = {name: copy.deepcopy(value) for name, value in vars(self).items() if name != "grid"}
        return ServedSheet(grid=self.grid.copy(), **held)


@dataclass
class RangeName:
    """A named range: a name for a span of one sheet.

    If its cells were deleted, `span` is None: the service lists it no more, but no other range may have its name.

    Attributes:
        id: unique in its spreadsheet.
        name: unique in its spreadsheet, whatever the case of its letters.
        sheet: the id of the sheet.
        span: the cells.
    """

    id: str
    name: str
    sheet: int
    span: Span | None

    def json(self) -> Json:
        """Return the NamedRange of the API."""
        assert self.span is not None
        return {"namedRangeId": self.id, "name": self.name, "range": self.span.json(self.sheet)}


@dataclass
class Spreadsheet:
    """One spreadsheet.

    Attributes:
        key: its id, which stands in its URL.
        title: its name.
        limit: the most cells that its sheets may have together.
        properties: its SpreadsheetProperties but for the title.
        sheets: in the order in which people see them.
        named: the named ranges, by id.
        metadata: the entries of developer metadata, by id.
        user: who sends the request that is being answered; None for the owner.
        evaluator: the results of formulas, until something is written (`formulas.evaluator_of`).
    """

    key: str
    title: str
    limit: int = CELLS_LIMIT
    properties: Json = field(default_factory=dict)
    sheets: list[ServedSheet] = field(default_factory=list)
    named: dict[str, RangeName] = field(default_factory=dict)
    metadata: dict[int, Json] = field(default_factory=dict)
    user: str | None = None
    evaluator: object = field(default=None, repr=False, compare=False)

    def copy(self) -> Spreadsheet:
        """Return a spreadsheet in the same state, which may be changed without changing this one."""
        return Spreadsheet(
            key=self.key,
            title=self.title,
            limit=self.limit,
            properties=copy.deepcopy(self.properties),
            sheets=[sheet.copy() for sheet in self.sheets],
            named=copy.deepcopy(self.named),
            metadata=copy.deepcopy(self.metadata),
            user=self.user,
        )

    def become(self, other: Spreadsheet) -> None:
        """Take over the state of another one."""
        self.__dict__.update(other.__dict__)

    @property
    def cells(self) -> int:
        """The number of cells of all sheets, blank ones included."""
        return sum(sheet.grid.rows * sheet.grid.columns for sheet in self.sheets)

    def sheet(self, sheet_id: int | None) -> ServedSheet:
        """Return the sheet that has an id; None is the id 0, which protocol buffers leave out."""
        for sheet in self.sheets:
            if sheet.id == (sheet_id or 0):
                return sheet
        raise invalid(f"No sheet with id: {sheet_id or 0}")

    def grid_range(self, grid_range: Json | None) -> tuple[ServedSheet, Span]:
        """Return the sheet and the span that a GridRange means."""
        place = grid_range or {}
        try:
            sheet = self.sheet(place.get("sheetId"))
        except ApiError:
            raise invalid(f"No grid with id: {place.get('sheetId') or 0}") from None
        return sheet, Span.from_json(place)

    def sheet_titled(self, title: str) -> ServedSheet | None:
        """Return the sheet that has a title, or else one whose title differs in the case of its letters only."""
        for same in (str, str.casefold):
            for sheet in self.sheets:
                if same(sheet.title) == same(title):
                    return sheet
        return None

    def range_named(self, name: str) -> RangeName | None:
        """Return the range that has a name, whatever the case of its letters."""
        for named in self.named.values():
            if named.name.casefold() == name.casefold():
                return named
        return None

    def resolve(self, text: str) -> tuple[ServedSheet, Span]:
        """Return the sheet and the span that a text means: A1 notation, the title of a sheet, or the name of a range.

        Without a title, A1 notation is about the first sheet that is not hidden.
        """
        title, cells, quotes = split(text)
        if title is None:
            assert cells is not None
            span = cells_span(cells)
            if span is not None:
                return next((sheet for sheet in self.sheets if not sheet.hidden), self.sheets[0]), span
            named, sheet = self.range_named(cells), self.sheet_titled(cells)
            if named is not None and named.span is not None:
                return self.sheet(named.sheet), named.span
            if sheet is not None:
                return sheet, Span()
        elif (sheet := self.sheet_titled(title)) is not None:
            span = Span() if cells is None and quotes else cells_span(cells or "")
            if span is not None:
                return sheet, span
            named = self.range_named(cells or "")
            if named is not None and named.sheet == sheet.id and named.span is not None:
                return sheet, named.span
        raise invalid(f"Unable to parse range: {text}")

    def room_for(self, cells: int, columns: int = 0) -> None:
        """Refuse to add so many cells, or to let a sheet have so many columns, if that breaks a limit."""
        if cells > 0 and self.cells + cells > self.limit:
            raise invalid(
                f"This action would increase the number of cells in the workbook above the limit of {self.limit} cells."
            )
        if columns > COLUMNS_LIMIT:
            raise invalid(
                f"This action would increase the number of columns in the sheet above the limit of {COLUMNS_LIMIT} "
                "columns."
            )

    def resize(self, sheet: ServedSheet, rows: int, columns: int) -> None:
        """Change the size of a sheet's grid."""
        if rows < 1 or columns < 1:
            raise invalid("A grid must have at least one row and one column.")
        grid = sheet.grid
        self.room_for(rows * columns - grid.rows * grid.columns, columns)
        shrinks = rows < grid.rows or columns < grid.columns
        grid.resize(rows, columns)
        if shrinks:
            frozen = sheet.grid_properties
            for name, size in (("frozenRowCount", rows), ("frozenColumnCount", columns)):
                if frozen.get(name, 0) >= size:
                    frozen.pop(name)


def new_id() -> int:
    """Return a random id, which almost certainly nothing else has."""
    return 1 + secrets.randbelow(2**31 - 2)


def new_key() -> str:
    """Return a random key for a spreadsheet, with the length of a real one."""
    return "1" + secrets.token_urlsafe(32)[:43]
