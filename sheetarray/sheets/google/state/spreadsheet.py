"""The state of a spreadsheet without its cells: worksheets, named ranges, the notes of writes, and writers at work.

The generation of a worksheet is the id of a named range, whose name is `sheetarray_` and the id of the worksheet. Each
write deletes the range that it has seen and adds one of the same name, which gets a new id. The service refuses to
delete a range whose id is gone, and to add one whose name exists. So of two writes that have seen the same generation,
one is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from ....errors import NotFoundError, RemoteError
from ..address import ALL_COLUMNS, ALL_ROWS, Rect, two_worksheets_problem
from ..requests import Answer, SheetsApi
from ..retries import RefusedError
from .notes import ViewNotes, WriteNotes, parse_integer
from .records import TableRecord, is_record_sheet
from .writers import Writer

MOST_CELLS = 10_000_000  # of a spreadsheet, over all worksheets
MOST_CHARACTERS = 50_000  # of the text of a cell

_SHEET_FIELDS = (
    "properties(sheetId,title,index,sheetType,hidden,gridProperties(rowCount,columnCount,frozenRowCount)),merges,"
    "rowGroups(range,depth,collapsed),columnGroups(range,depth,collapsed),"
    "developerMetadata(metadataId,metadataKey,metadataValue)"
)
_FIELDS = f"spreadsheetId,namedRanges,sheets({_SHEET_FIELDS})"
CELL_FIELDS = "data(startRow,startColumn,rowData.values(effectiveValue,userEnteredValue.formulaValue,note))"
SHOWN_FIELDS = (
    f"spreadsheetId,replies,updatedSpreadsheet(spreadsheetId,namedRanges,sheets({_SHEET_FIELDS},{CELL_FIELDS}))"
)
_STAGE = re.compile(r"sheetarray write \d{8}T")


@dataclass(frozen=True, slots=True)
class NamedRange:
    """A name for cells of a worksheet."""

    id: str  # that the service has given to it
    name: str  # by which formulas refer to it
    gid: int  # the id of the worksheet
    rect: Rect | None  # the cells; None if people have deleted their rows or columns


@dataclass(frozen=True, slots=True)
class LineGroup:
    """A group of rows or columns, which people collapse and show by a click."""

    dimension: str  # "ROWS" or "COLUMNS"
    start: int  # the first row or column, and the one after the last, counted from 0
    end: int
    depth: int  # 1, or more if the group lies within other groups
    collapsed: bool  # whether it is hidden now


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet."""

    gid: int  # its id
    title: str  # on its tab
    rows: int  # the size of its grid
    columns: int
    has_cells: bool  # False for a chart that is a sheet of its own
    merges: tuple[Rect, ...]  # the ranges of merged cells
    notes: WriteNotes  # what writes have noted in its metadata
    groups: tuple[LineGroup, ...] = ()  # its groups of rows and of columns
    frozen: int = 0  # the number of rows that stay in sight at the top
    view: ViewNotes | None = None  # what it shows, if it is a view; None if it is not
    record: TableRecord = field(default_factory=TableRecord)  # which arrays its tables are
    holds_record: bool = False  # whether it is the hidden sheet with the record of other worksheets

    @property
    def cells(self) -> int:
        """The number of cells of its grid, blank ones too."""
        return self.rows * self.columns

    @property
    def writer(self) -> Writer | None:
        """Return the writer of the write that owns this stage, or None if the worksheet is not a stage."""
        return Writer.from_text(self.title) if _STAGE.match(self.title) else None


@dataclass(frozen=True, slots=True)
class State:
    """A spreadsheet at one moment."""

    worksheets: tuple[Worksheet, ...]  # in the order of their tabs
    ranges: tuple[NamedRange, ...]  # all named ranges
    now: float  # the time by the service's clock, in seconds since 1970

    @property
    def arrays(self) -> list[Worksheet]:
        """The worksheets in which arrays may stand: all that have cells, without stages, views and records."""
        plain = [sheet for sheet in self.worksheets if sheet.has_cells and not sheet.holds_record]
        return [sheet for sheet in plain if sheet.writer is None and sheet.view is None]

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
        """Return the worksheet that an address means; None if none has its title; a NotFoundError for an id, and for an
        id and the title of two.
        """
        worksheet = self.by_id(gid) if gid is not None else self.by_title(title or "")
        if worksheet is None and gid is not None:
            raise self.not_found_error(f"of the id {gid}")
        if worksheet is not None and title and worksheet.title.casefold() != title.casefold():
            raise NotFoundError(two_worksheets_problem(worksheet.title, title))
        if worksheet is not None and not worksheet.has_cells:
            raise NotFoundError(f"the worksheet {worksheet.title!r} has no cells")
        if worksheet is not None and worksheet.holds_record:
            raise NotFoundError(f"the worksheet {worksheet.title!r} holds the record of a table, and no data")
        return worksheet

    def not_found_error(self, which: str) -> NotFoundError:
        """Return the error for a worksheet that does not exist, which lists those in which arrays may stand."""
        titles = ", ".join(repr(sheet.title) for sheet in self.arrays)
        return NotFoundError(f"no worksheet {which}; there is {titles}")

    def generation(self, gid: int) -> NamedRange | None:
        """Return the named range whose id is a worksheet's generation; None if nothing was written to it."""
        name = generation_name(gid)
        return next((named for named in self.ranges if named.name == name), None)

    def record_sheet(self, sheet: Worksheet) -> Worksheet | None:
        """Return the hidden sheet with the record of a worksheet; None if it has none, or people have deleted it."""
        sheet_of_gid = None if sheet.record.gid is None else self.by_id(sheet.record.gid)
        return sheet_of_gid if sheet_of_gid is not None and sheet_of_gid.holds_record else None

    def unused_records(self, rewritten: Collection[int] = ()) -> list[Worksheet]:
        """Return the hidden sheets whose records are of no worksheet, but for some that get other records."""
        used = {sheet.record.gid for sheet in self.worksheets if sheet.gid not in rewritten}
        return [sheet for sheet in self.worksheets if sheet.holds_record and sheet.gid not in used]

    def dead_stages(self) -> list[Worksheet]:
        """Return the stages of writes that were interrupted."""
        return [sheet for sheet in self.worksheets if (writer := sheet.writer) and writer.is_dead(self.now)]

    def living_stages(self, own: Collection[int] = ()) -> list[Worksheet]:
        """Return the stages of writes that may be under way, but for the own ones, given their ids."""
        stages = ((sheet, sheet.writer) for sheet in self.worksheets if sheet.gid not in own)
        return [sheet for sheet, writer in stages if writer and not writer.is_dead(self.now)]

    def differs(self, other: State) -> bool:
        """Return whether two states differ in anything but the time; cells are not a part of a state."""
        return (self.worksheets, self.ranges) != (other.worksheets, other.ranges)


def generation_name(gid: int) -> str:
    """Return the name of the named range whose id is a worksheet's generation."""
    return f"sheetarray_{gid}"


def fetch_state(service: SheetsApi) -> State:
    """Return the state of the spreadsheet now, in one request."""
    try:
        return service.get("", lambda answer: _parse_state(service, answer), fields=_FIELDS)
    except RefusedError as refused:
        raise RemoteError(f"the service refuses: {refused.message}", status=refused.status) from None


def shown_state(service: SheetsApi, answer: Answer) -> State | None:
    """Return the state of the spreadsheet from the answer to a batch of changes; None if the answer has no state."""
    try:
        return _parse_state(service, answer["updatedSpreadsheet"])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _parse_state(service: SheetsApi, answer: Answer) -> State:
    """Return the state that the JSON of a spreadsheet shows."""
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
        WriteNotes.from_metadata(sheet.get("developerMetadata", [])),
        tuple(map(_parse_group, [*sheet.get("rowGroups", []), *sheet.get("columnGroups", [])])),
        parse_integer(grid.get("frozenRowCount", 0)),
        ViewNotes.from_metadata(sheet.get("developerMetadata", [])),
        TableRecord.from_metadata(sheet.get("developerMetadata", [])),
        is_record_sheet(sheet.get("developerMetadata", [])),
    )


def _parse_group(group: Answer) -> LineGroup:
    lines = group["range"]
    start, end = parse_integer(lines.get("startIndex", 0)), parse_integer(lines["endIndex"])
    return LineGroup(
        str(lines["dimension"]), start, end, parse_integer(group.get("depth", 1)), group.get("collapsed") is True
    )


def _parse_named_range(named: Answer) -> NamedRange:
    grid_range = named.get("range")
    return NamedRange(
        str(named["namedRangeId"]),
        str(named["name"]),
        parse_integer((grid_range or {}).get("sheetId", 0)),
        None if grid_range is None else _parse_rect(grid_range),
    )


def _parse_rect(grid_range: Answer) -> Rect:
    """Return the range that a GridRange of the service's JSON means."""
    ends = {"startRowIndex": 0, "startColumnIndex": 0, "endRowIndex": ALL_ROWS, "endColumnIndex": ALL_COLUMNS}
    return Rect(*(parse_integer(grid_range.get(end, otherwise)) for end, otherwise in ends.items()))
