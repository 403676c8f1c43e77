"""The state of a spreadsheet without its cells: its worksheets, named ranges, and the notes of writes.

The generation of a worksheet is the id of a named range, whose name is `sheetarray_` and the worksheet's id. Each write
deletes the range that it has seen and adds one of the same name, which gets a new id. The service refuses to delete a
range whose id is gone, and to add one whose name exists; so of two writes that have seen the same generation, one is
refused as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import NotFoundError, RemoteError
from .address import Rect
from .holder import Holder
from .notes import ViewNotes, WriteNotes, parse_integer, parse_notes, parse_view
from .requests import Answer, SheetsApi
from .retries import RefusedError

MOST_CELLS = 10_000_000  # of a spreadsheet, over all worksheets
MOST_COLUMNS = 18_278  # of a worksheet
MOST_CHARACTERS = 50_000  # of the text of a cell

_SHEET_FIELDS = (
    "properties(sheetId,title,index,sheetType,hidden,gridProperties(rowCount,columnCount,frozenRowCount)),merges,"
    "rowGroups(range(startIndex,endIndex),depth,collapsed),"
    "developerMetadata(metadataId,metadataKey,metadataValue)"
)
_FIELDS = f"spreadsheetId,namedRanges,sheets({_SHEET_FIELDS})"
CELL_FIELDS = "data(startRow,startColumn,rowData.values(effectiveValue,userEnteredValue.formulaValue))"
SHOWN_FIELDS = (
    f"spreadsheetId,replies,updatedSpreadsheet(spreadsheetId,namedRanges,sheets({_SHEET_FIELDS},{CELL_FIELDS}))"
)
_STAGE = re.compile(r"sheetarray write \d{8}T")


@dataclass(frozen=True, slots=True)
class NamedRange:
    """A name for cells of a worksheet.

    Attributes:
        id: that the service has given to it.
        name: by which formulas refer to it.
        gid: the id of the worksheet.
        rect: the cells; None if people have deleted their rows or columns.
    """

    id: str
    name: str
    gid: int
    rect: Rect | None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A group of rows, which people collapse and show by a click.

    Attributes:
        start, end: the first row, and the one after the last, counted from 0.
        depth: 1, or more if the group lies within other groups.
        collapsed: whether the rows are hidden now.
    """

    start: int
    end: int
    depth: int
    collapsed: bool


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet.

    Attributes:
        gid: its id.
        title: on its tab.
        rows, columns: the size of its grid.
        has_cells: False for a chart that is a sheet of its own.
        merges: the ranges of merged cells.
        notes: what writes have noted in its metadata.
        groups: its groups of rows.
        frozen: the number of rows that stay in sight at the top.
        view: what it shows, if it is a view; None if it is not.
    """

    gid: int
    title: str
    rows: int
    columns: int
    has_cells: bool
    merges: tuple[Rect, ...]
    notes: WriteNotes
    groups: tuple[RowGroup, ...] = ()
    frozen: int = 0
    view: ViewNotes | None = None

    @property
    def cells(self) -> int:
        """The number of cells of its grid, blank ones too."""
        return self.rows * self.columns

    @property
    def holder(self) -> Holder | None:
        """Return the holder of the write that owns this stage, or None if the worksheet is not a stage."""
        return Holder.from_text(self.title) if _STAGE.match(self.title) else None


@dataclass(frozen=True, slots=True)
class State:
    """A spreadsheet at one moment.

    Attributes:
        worksheets: in the order of their tabs.
        ranges: all named ranges.
        now: the time by the service's clock, in seconds since 1970.
    """

    worksheets: tuple[Worksheet, ...]
    ranges: tuple[NamedRange, ...]
    now: float

    @property
    def arrays(self) -> list[Worksheet]:
        """The worksheets in which arrays may stand: all that have cells, without stages and views."""
        return [sheet for sheet in self.worksheets if sheet.has_cells and sheet.holder is None and sheet.view is None]

    def by_id(self, gid: int) -> Worksheet | None:
        """Return the worksheet of an id, or None if no worksheet has it."""
        return next((sheet for sheet in self.worksheets if sheet.gid == gid), None)

    def by_title(self, title: str) -> Worksheet | None:
        """Return the worksheet of a title, or None; upper and lower case count only if that decides between two."""
        exact = (sheet for sheet in self.worksheets if sheet.title == title)
        return next(exact, None) or next(
            (sheet for sheet in self.worksheets if sheet.title.casefold() == title.casefold()), None
        )

    def select_worksheet(self, gid: int | None, title: str | None) -> Worksheet | None:
        """Return the worksheet that an address means; None if it means a title that no worksheet has.

        Args:
            gid: the id in the address; None if the address has a title.
            title: the title in the address; not used if there is an id.

        Raises:
            NotFoundError: no worksheet has the id, or the worksheet has no cells.
        """
        worksheet = self.by_id(gid) if gid is not None else self.by_title(title or "")
        if worksheet is None and gid is not None:
            raise self.not_found_error(f"of the id {gid}")
        if worksheet is not None and not worksheet.has_cells:
            raise NotFoundError(f"the worksheet {worksheet.title!r} has no cells")
        return worksheet

    def not_found_error(self, which: str) -> NotFoundError:
        """Return the error for a worksheet that does not exist, which lists those in which arrays may stand."""
        titles = ", ".join(repr(sheet.title) for sheet in self.arrays)
        return NotFoundError(f"no worksheet {which}; there is {titles}")

    def generation(self, gid: int) -> NamedRange | None:
        """Return the named range whose id is a worksheet's generation; None if nothing was written to it."""
        name = generation_name(gid)
        return next((named for named in self.ranges if named.name == name), None)

    def dead_stages(self) -> list[Worksheet]:
        """Return the stages of writes that were interrupted."""
        return [sheet for sheet in self.worksheets if (holder := sheet.holder) and holder.is_dead(self.now)]

    def living_stages(self, own: int = -1) -> list[Worksheet]:
        """Return the stages of writes that may be under way, but for the own one, given its id."""
        stages = ((sheet, sheet.holder) for sheet in self.worksheets if sheet.gid != own)
        return [sheet for sheet, holder in stages if holder and not holder.is_dead(self.now)]

    def differs(self, other: State) -> bool:
        """Return whether two states differ in anything but the time; cells are no part of a state."""
        return (self.worksheets, self.ranges) != (other.worksheets, other.ranges)


def generation_name(gid: int) -> str:
    """Return the name of the named range whose id is a worksheet's generation."""
    return f"sheetarray_{gid}"


def stage_title(holder: Holder, index: int) -> str:
    """Return the title of a stage of a write, given the number of the attempt to make it."""
    return f"sheetarray write {holder} {index}"


def fetch_state(service: SheetsApi) -> State:
    """Return the state of the spreadsheet now, in one request.

    Raises:
        RemoteError: there is no such spreadsheet, no permission to read it, or the service does not answer.
    """
    try:
        answer = service.get("", lambda answer: bool(_parse_state(service, answer)), fields=_FIELDS)
    except RefusedError as refused:
        raise RemoteError(f"the service refuses: {refused.message}", status=refused.status) from None
    return _parse_state(service, answer)


def shown_state(service: SheetsApi, answer: Answer) -> State | None:
    """Return the state of the spreadsheet that the answer to a batch of changes shows; None if it shows none."""
    try:
        return _parse_state(service, answer["updatedSpreadsheet"])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _parse_state(service: SheetsApi, answer: Answer) -> State:
    """Return the state that the JSON of a spreadsheet shows.

    Raises:
        ValueError: it is another spreadsheet, or shows no worksheet.
        KeyError, TypeError, AttributeError: it is no JSON of a spreadsheet.
    """
    sheets = tuple(_parse_worksheet(sheet) for sheet in answer["sheets"])
    if not sheets or answer.get("spreadsheetId", service.key) != service.key:
        raise ValueError("not this spreadsheet")
    return State(sheets, tuple(map(_parse_named_range, answer.get("namedRanges", []))), service.now)


def _parse_worksheet(sheet: Answer) -> Worksheet:
    properties = sheet["properties"]
    grid = properties.get("gridProperties", {})
    return Worksheet(
        parse_integer(properties.get("sheetId", 0)),
        str(properties["title"]),
        parse_integer(grid.get("rowCount", 0)),
        parse_integer(grid.get("columnCount", 0)),
        properties.get("sheetType", "GRID") == "GRID",
        tuple(map(_parse_rect, sheet.get("merges", []))),
        parse_notes(sheet.get("developerMetadata", [])),
        tuple(map(_parse_group, sheet.get("rowGroups", []))),
        parse_integer(grid.get("frozenRowCount", 0)),
        parse_view(sheet.get("developerMetadata", [])),
    )


def _parse_group(group: Answer) -> RowGroup:
    rows = group["range"]
    start, end = parse_integer(rows.get("startIndex", 0)), parse_integer(rows["endIndex"])
    return RowGroup(start, end, parse_integer(group.get("depth", 1)), group.get("collapsed") is True)


def _parse_named_range(named: Answer) -> NamedRange:
    grid_range = named.get("range")
    return NamedRange(
        str(named["namedRangeId"]),
        str(named["name"]),
        parse_integer((grid_range or {}).get("sheetId", 0)),
        None if grid_range is None else _parse_rect(grid_range),
    )


def _parse_rect(grid_range: Answer) -> Rect:
    bottom, right = grid_range.get("endRowIndex"), grid_range.get("endColumnIndex")
    return Rect(
        parse_integer(grid_range.get("startRowIndex", 0)),
        parse_integer(grid_range.get("startColumnIndex", 0)),
        None if bottom is None else parse_integer(bottom),
        None if right is None else parse_integer(right),
    )
