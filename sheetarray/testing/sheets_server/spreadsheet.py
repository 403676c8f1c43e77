"""The state of one spreadsheet: its sheets, named ranges and developer metadata."""

from __future__ import annotations

import copy
import secrets
from dataclasses import dataclass, field

from .errors import ApiError, Json, invalid
from .grid import SheetGrid
from .ranges import COLUMNS_LIMIT, GridArea, Span, cells_span, format_range, split

CELLS_LIMIT = 10_000_000


@dataclass
class ServedSheet:
    """One sheet.

    Attributes:
        id: unique in its spreadsheet.
        title: unique in its spreadsheet, whatever the case of its letters.
        grid: its cells.
        grid_properties: those of GridProperties that are no size: frozen rows, hidden gridlines.
        properties: further ones of SheetProperties, such as `hidden` and `tabColorStyle`.
        merges: cells that are merged.
        protected: protected ranges, by id.
        dimensions: DimensionProperties that differ from the default: dimension -> index -> properties.
        groups: groups of rows or columns: their dimension, startIndex, endIndex and depth.
        collapsed: those of them that are folded away.
        basic_filter: as it was set; None for none.
        overlays: conditional formats, charts, banded ranges, filter views, slicers and tables, by their names in the
            resource.
        kind: its type; one that is no GRID but an OBJECT holds one chart, and no cells.
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
        """Whether it is not shown."""
        return bool(self.properties.get("hidden"))

    def area(self, span: Span) -> GridArea:
        """Return the cells that a span covers; one that starts outside the grid is refused."""
        grid = self.grid
        if (span.top or 0) >= grid.rows or (span.left or 0) >= grid.columns:
            raise invalid(
                f"Range ({format_range(self.title, span)}) exceeds grid limits. "
                f"Max rows: {grid.rows}, max columns: {grid.columns}"
            )
        return span.on(grid.rows, grid.columns)

    def copy(self) -> ServedSheet:
        """Return another one in the same state."""
        held = {name: copy.deepcopy(value) for name, value in vars(self).items() if name != "grid"}
        return ServedSheet(grid=self.grid.copy(), **held)


@dataclass
class RangeName:
    """A named range: a name for a span of one sheet.

    Where the cells that it named were deleted, `span` is None: the service lists it no more, but the name stays taken.
    """

    id: str
    name: str
    sheet: int
    span: Span | None

    def json(self) -> Json:
        """Return its resource."""
        assert self.span is not None
        return {"namedRangeId": self.id, "name": self.name, "range": self.span.json(self.sheet)}


@dataclass
class Spreadsheet:
    """One spreadsheet.

    Attributes:
        key: what its URL has.
        title: what its owner calls it.
        limit: cells that all its grids may have together.
        user: whose request is being answered; None for the owner.
        evaluator: what is known of its formulas, for as long as nothing is written; see `formulas.evaluator_of`.
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
        """Return another one in the same state."""
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
        """The cells of all grids, blank ones too."""
        return sum(sheet.grid.rows * sheet.grid.columns for sheet in self.sheets)

    def sheet(self, sheet_id: int | None) -> ServedSheet:
        """Return the sheet of an id; none means 0, as in protocol buffers."""
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
        """Return the sheet of a title; letters of another case do, where no title has just these."""
        for same in (str, str.casefold):
            for sheet in self.sheets:
                if same(sheet.title) == same(title):
                    return sheet
        return None

    def range_named(self, name: str) -> RangeName | None:
        """Return the named range of a name, in any case."""
        for named in self.named.values():
            if named.name.casefold() == name.casefold():
                return named
        return None

    def resolve(self, text: str) -> tuple[ServedSheet, Span]:
        """Return the sheet and the span that a range in A1 notation, a title, or a name of a range means."""
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
        """Refuse a grid that grows by so many cells, to so many columns, where that breaks a limit."""
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
    """Return an id that nothing has yet, most probably."""
    return 1 + secrets.randbelow(2**31 - 2)


def new_key() -> str:
    """Return a key for a spreadsheet, as long as a real one."""
    return "1" + secrets.token_urlsafe(32)[:43]
