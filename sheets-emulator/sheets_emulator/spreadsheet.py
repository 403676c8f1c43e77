"""The state of one spreadsheet: its sheets, named ranges and developer metadata."""

from __future__ import annotations

import copy
import secrets
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from .errors import ApiError, Json, invalid
from .grid import SheetGrid
from .ranges import COLUMNS_LIMIT, GridArea, Span, format_range, split
from .references import cells_span

CELLS_LIMIT = 10_000_000  # cells of a spreadsheet, blank ones included
_MORE = "This action would increase the number of"


@dataclass
class ServedSheet:
    """One sheet of a spreadsheet."""

    id: int  # unique in its spreadsheet
    title: str  # unique in its spreadsheet, whatever the case of its letters
    grid: SheetGrid  # its cells
    # its GridProperties but for the numbers of rows and columns: frozen rows, hidden gridlines
    grid_properties: Json = field(default_factory=dict)
    # its SheetProperties that have no attribute here, such as `hidden` and `tabColorStyle`
    properties: Json = field(default_factory=dict)
    merges: list[Span] = field(default_factory=list)  # the ranges whose cells are merged
    protected: dict[int, Json] = field(default_factory=dict)  # the protected ranges, by id; their "range" is a Span
    # by "ROWS" or "COLUMNS", then by index: the DimensionProperties that differ from the default
    dimensions: dict[str, dict[int, Json]] = field(default_factory=lambda: {"ROWS": {}, "COLUMNS": {}})
    # the groups of rows or columns: their dimension, startIndex, endIndex and depth
    groups: list[Json] = field(default_factory=list)
    collapsed: list[Json] = field(default_factory=list)  # those of the groups whose rows or columns are hidden
    basic_filter: Json | None = None  # the BasicFilter; None without one
    # lists of conditional formats and charts, by the names that they have in the resource of a sheet
    overlays: dict[str, list[Json]] = field(default_factory=dict)

    @property
    def hidden(self) -> bool:
        """Whether people do not see it among the sheets."""
        return bool(self.properties.get("hidden"))

    def area(self, span: Span) -> GridArea:
        """Return the cells of a span that lie on the grid."""
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
    """

    id: str  # unique in its spreadsheet
    name: str  # unique in its spreadsheet, whatever the case of its letters
    sheet: int  # the id of the sheet
    span: Span | None  # the cells

    def json(self) -> Json:
        """Return the NamedRange of the API."""
        assert self.span is not None
        return {"namedRangeId": self.id, "name": self.name, "range": self.span.json(self.sheet)}


@dataclass
class Spreadsheet:
    """One spreadsheet."""

    key: str  # its id, which stands in its URL
    title: str  # its name
    limit: int = CELLS_LIMIT  # the most cells that its sheets may have together
    properties: Json = field(default_factory=dict)  # its SpreadsheetProperties but for the title
    sheets: list[ServedSheet] = field(default_factory=list)  # in the order in which people see them
    named: dict[str, RangeName] = field(default_factory=dict)  # the named ranges, by id
    metadata: dict[int, Json] = field(default_factory=dict)  # the entries of developer metadata, by id
    created: str = field(default_factory=lambda: now())  # when it was made: UTC in ISO 8601, to milliseconds
    modified: str = field(default_factory=lambda: now())  # when it was last written, in the same form
    # the results of formulas, until something is written (`formulas.evaluator_of`)
    evaluator: object = field(default=None, repr=False, compare=False)

    def copy(self) -> Spreadsheet:
        """Return a spreadsheet in the same state, which may be changed without changing this one."""
        held = {name: copy.deepcopy(getattr(self, name)) for name in ("properties", "named", "metadata")}
        return replace(self, sheets=[sheet.copy() for sheet in self.sheets], evaluator=None, **held)

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
        return next((named for named in self.named.values() if named.name.casefold() == name.casefold()), None)

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
            raise invalid(f"{_MORE} cells in the workbook above the limit of {self.limit} cells.")
        if columns > COLUMNS_LIMIT:
            raise invalid(f"{_MORE} columns in the sheet above the limit of {COLUMNS_LIMIT} columns.")

    def resize(self, sheet: ServedSheet, rows: int, columns: int) -> None:
        """Change the size of a sheet's grid."""
        if rows < 1 or columns < 1:
            raise invalid("A grid must have at least one row and one column.")
        grid = sheet.grid
        self.room_for(rows * columns - grid.rows * grid.columns, columns)
        grid.resize(rows, columns)
        for name, size in (("frozenRowCount", rows), ("frozenColumnCount", columns)):
            if sheet.grid_properties.get(name, 0) >= size:
                sheet.grid_properties.pop(name)


def now() -> str:
    """Return the time in UTC, to milliseconds, as Drive writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> int:
    """Return a random id, which almost certainly nothing else has."""
    return 1 + secrets.randbelow(2**31 - 2)


def new_key() -> str:
    """Return a random key for a spreadsheet, with the length of a real one."""
    return "1" + secrets.token_urlsafe(32)[:43]
