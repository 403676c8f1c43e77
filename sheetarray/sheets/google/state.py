"""What a spreadsheet is made of, besides cells: its worksheets, named ranges, and what writes have left there.

The generation of a worksheet is the id of a named range, `sheetarray_` and the worksheet's id. Each write deletes the
range that it has seen and adds it anew; the service refuses to delete an id that is gone, and to add a name that is
there, so that of two writes that have seen the same generation one is refused as a whole.
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
MOST_CHARACTERS = 50_000  # of a cell

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
        id: the service's.
        name: as formulas have it.
        gid: of the worksheet.
        rect: the cells; None where they were deleted.
    """

    id: str
    name: str
    gid: int
    rect: Rect | None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that people can fold away at once.

    Attributes:
        start, end: the first of them, and the one after the last.
        depth: in how many groups they are.
        folded: whether they are folded away now.
    """

    start: int
    end: int
    depth: int
    folded: bool


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet.

    Attributes:
        gid: its id.
        title: on its tab.
        rows, columns: of its grid.
        has_cells: false for a chart that is a sheet of its own.
        merges: cells that are merged.
        notes: of writes.
        groups: of rows.
        frozen: how many rows are frozen.
        view: what it shows, where it is a view.
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
        """The cells of its grid, blank ones too."""
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
        now: the service's clock, in seconds since 1970.
    """

    worksheets: tuple[Worksheet, ...]
    ranges: tuple[NamedRange, ...]
    now: float

    @property
    def arrays(self) -> list[Worksheet]:
        """The worksheets in which arrays may be: all with cells, but stages and views."""
        return [sheet for sheet in self.worksheets if sheet.has_cells and sheet.holder is None and sheet.view is None]

    def by_id(self, gid: int) -> Worksheet | None:
        """Return the worksheet of an id."""
        return next((sheet for sheet in self.worksheets if sheet.gid == gid), None)

    def by_title(self, title: str) -> Worksheet | None:
        """Return the worksheet of a title, whatever the case of its letters."""
        exact = (sheet for sheet in self.worksheets if sheet.title == title)
        return next(exact, None) or next(
            (sheet for sheet in self.worksheets if sheet.title.casefold() == title.casefold()), None
        )

    def select_worksheet(self, gid: int | None, title: str | None) -> Worksheet | None:
        """Return the worksheet that an address means; None where it says a title that none has.

        Raises:
            NotFoundError: no worksheet has the id, or it is one without cells.
        """
        worksheet = self.by_id(gid) if gid is not None else self.by_title(title or "")
        if worksheet is None and gid is not None:
            raise self.not_found_error(f"of the id {gid}")
        if worksheet is not None and not worksheet.has_cells:
            raise NotFoundError(f"the worksheet {worksheet.title!r} has no cells")
        return worksheet

    def not_found_error(self, which: str) -> NotFoundError:
        """Return a `NotFoundError` that lists the existing worksheets."""
        titles = ", ".join(repr(sheet.title) for sheet in self.arrays)
        return NotFoundError(f"no worksheet {which}; there is {titles}")

    def generation(self, gid: int) -> NamedRange | None:
        """Return the range that the last write of a worksheet has left."""
        name = generation_name(gid)
        return next((named for named in self.ranges if named.name == name), None)

    def dead_stages(self) -> list[Worksheet]:
        """Return the stages that interrupted writes have left behind."""
        return [sheet for sheet in self.worksheets if (holder := sheet.holder) and holder.is_dead(self.now)]

    def living_stages(self) -> list[Worksheet]:
        """Return the stages of writes that may be under way."""
        return [sheet for sheet in self.worksheets if (holder := sheet.holder) and not holder.is_dead(self.now)]

    def differs(self, other: State) -> bool:
        """Return whether anything but cells has changed."""
        return (self.worksheets, self.ranges) != (other.worksheets, other.ranges)


def generation_name(gid: int) -> str:
    """Return the name of the range whose id is a worksheet's generation."""
    return f"sheetarray_{gid}"


def stage_title(holder: Holder, index: int) -> str:
    """Return the title of one stage sheet of a write, by its number."""
    return f"sheetarray write {holder} {index}"


def fetch_state(service: SheetsApi) -> State:
    """Return the spreadsheet as it is now: one request.

    Raises:
        RemoteError: the spreadsheet is not there, not ours to see, or the service does not answer.
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
    """Return the state that a resource shows.

    Raises:
        ValueError: it is not of this spreadsheet, or shows no worksheet; other errors where it is no resource at all.
    """
    sheets = tuple(_worksheet(sheet) for sheet in answer["sheets"])
    if not sheets or answer.get("spreadsheetId", service.key) != service.key:
        raise ValueError("not this spreadsheet")
    return State(sheets, tuple(map(_named_range, answer.get("namedRanges", []))), service.now)


def _worksheet(sheet: Answer) -> Worksheet:
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


def _named_range(named: Answer) -> NamedRange:
    place = named.get("range")
    return NamedRange(
        str(named["namedRangeId"]),
        str(named["name"]),
        parse_integer((place or {}).get("sheetId", 0)),
        None if place is None else _parse_rect(place),
    )


def _parse_rect(place: Answer) -> Rect:
    bottom, right = place.get("endRowIndex"), place.get("endColumnIndex")
    return Rect(
        parse_integer(place.get("startRowIndex", 0)),
        parse_integer(place.get("startColumnIndex", 0)),
        None if bottom is None else parse_integer(bottom),
        None if right is None else parse_integer(right),
    )
