"""The methods `spreadsheets.values.*`: blocks of cells out and in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ...columns.grid import column_letters
from . import entered, rendered
from .batch.dimensions import insert
from .errors import Json, invalid, within
from .formulas import Evaluator
from .grid import SKIP, GridCell, SheetGrid, Skip
from .ranges import GridArea, Span, format_range, split
from .spreadsheet import ServedSheet, Spreadsheet

Params = dict[str, Any]


def get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.get`."""
    return _read_range(spreadsheet, params["range"], params)


def batch_get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.batchGet`."""
    ranges = params.get("ranges") or []
    ranges_read = [_read_range(spreadsheet, text, params) for text in ranges]
    return {"spreadsheetId": spreadsheet.key} | ({"valueRanges": ranges_read} if ranges_read else {})


def update(spreadsheet: Spreadsheet, params: Params, body: Json) -> Json:
    """`values.update`."""
    block = _Block.plan(spreadsheet, body, _choose_reading(params), params["range"])
    block.put()
    return block.build_response(_response_options(params))


def batch_update(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchUpdate`: every range is looked at before the first one is written."""
    option = _choose_reading(body)
    blocks = []
    for index, data in enumerate(body.get("data") or []):
        with within(f"Invalid data[{index}]"):
            blocks.append(_Block.plan(spreadsheet, data, option))
    for block in blocks:
        block.put()
    responses = [block.build_response(_response_options(body)) for block in blocks]
    answer: Json = {"spreadsheetId": spreadsheet.key}
    totals = {
        "totalUpdatedRows": len({(block.sheet.id, row) for block in blocks for row in block.rows}),
        "totalUpdatedColumns": len({(block.sheet.id, column) for block in blocks for column in block.filled}),
        "totalUpdatedCells": sum(block.count for block in blocks),
        "totalUpdatedSheets": len({block.sheet.id for block in blocks if block.count}),
    }
    answer |= {name: total for name, total in totals.items() if total}
    return answer | ({"responses": responses} if responses else {})


def clear(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.clear`."""
    sheet, area = _find_area(spreadsheet, params["range"])
    sheet.grid.clear(area)
    return {"spreadsheetId": spreadsheet.key, "clearedRange": format_range(sheet.title, area)}


def batch_clear(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchClear`."""
    areas = []
    for index, text in enumerate(body.get("ranges") or []):
        with within(f"Invalid range[{index}]"):
            areas.append(_find_area(spreadsheet, text))
    for sheet, area in areas:
        sheet.grid.clear(area)
    cleared = [format_range(sheet.title, area) for sheet, area in areas]
    return {"spreadsheetId": spreadsheet.key} | ({"clearedRanges": cleared} if cleared else {})


def append(spreadsheet: Spreadsheet, params: Params, body: Json) -> Json:
    """`values.append`: below the last table of a range, growing the grid as needed."""
    sheet, searched = _find_area(spreadsheet, params["range"])
    columns = _read_columns(body, _choose_reading(params))
    grid = sheet.grid
    table = _find_table(Evaluator(spreadsheet).grid(sheet), searched)
    top, left = (table.bottom, table.left) if table else (searched.top, searched.left)
    height, width = max(map(len, columns), default=0), len(columns)
    rows, wide = max(grid.rows, top + height), max(grid.columns, left + width)
    inserts = params.get("insertDataOption") == "INSERT_ROWS" and top < grid.rows
    if inserts:
        rows = grid.rows + height
    spreadsheet.room_for(rows * wide - grid.rows * grid.columns, wide)
    if inserts:
        insert(spreadsheet, sheet, "ROWS", top, height)
    if (rows, wide) != (grid.rows, grid.columns):
        grid.resize(rows, wide)
    block = _Block(spreadsheet, sheet, top, left, columns)
    block.put()
    answer: Json = {"spreadsheetId": spreadsheet.key}
    if table:
        answer["tableRange"] = format_range(sheet.title, table)
    return answer | {"updates": block.build_response(_response_options(params))}


def _choose_reading(options: Json) -> Callable[[Any], tuple[GridCell | Skip, Json | None]] | None:
    """Return the function that reads a value as the option asks for; None for RAW."""
    option = options.get("valueInputOption")
    if option in (None, "INPUT_VALUE_OPTION_UNSPECIFIED"):
        raise invalid("'valueInputOption' is required but not specified")
    return None if option == "RAW" else entered.cell_from_entry


def _response_options(options: Json) -> Json | None:
    """Return the options with which a write answers the values, where it does."""
    if not options.get("includeValuesInResponse"):
        return None
    return {
        "valueRenderOption": options.get("responseValueRenderOption"),
        "dateTimeRenderOption": options.get("responseDateTimeRenderOption"),
    }


def _find_area(spreadsheet: Spreadsheet, text: str) -> tuple[ServedSheet, GridArea]:
    sheet, span = spreadsheet.resolve(text)
    return sheet, sheet.area(span)


def _read_range(spreadsheet: Spreadsheet, text: str, options: Json) -> Json:
    sheet, area = _find_area(spreadsheet, text)
    return _build_value_range(spreadsheet, sheet, area, options)


def _build_value_range(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, options: Json) -> Json:
    """Return the ValueRange of an area: trailing blanks left out, and `values` with them where nothing is left."""
    columns = rendered.render_columns(
        spreadsheet,
        sheet,
        area,
        option=options.get("valueRenderOption") or "FORMATTED_VALUE",
        dates=options.get("dateTimeRenderOption") or "SERIAL_NUMBER",
    )
    dimension = options.get("majorDimension")
    by_columns = dimension == "COLUMNS"
    if by_columns:
        while columns and not columns[-1]:
            columns.pop()
        lines = [_without_blanks(column) for column in columns]
    else:
        lines = [_without_blanks(list(row)) for row in zip_longest(*columns, fillvalue="")]
    while lines and not lines[-1]:
        lines.pop()
    answer: Json = {"range": format_range(sheet.title, area), "majorDimension": "COLUMNS" if by_columns else "ROWS"}
    return answer | ({"values": lines} if lines else {})


def _without_blanks(line: list[rendered.Rendered]) -> list[rendered.Rendered]:
    while line and line[-1] == "":
        line.pop()
    return line


def _find_table(grid: SheetGrid, searched: GridArea) -> GridArea | None:
    """Return the last table that a range meets: the block of cells around its last cell that is not blank."""
    ends = [(len(cells), index) for index, cells in enumerate(grid.block(searched)) if cells]
    if not ends:
        return None
    length, index = max(ends)
    top = searched.top + length - 1
    left = searched.left + index
    bottom, right = top + 1, left + 1
    while True:
        before = (top, bottom, left, right)
        wide = range(max(0, left - 1), min(grid.columns, right + 1))
        while top and any(grid.cell(top - 1, column) is not None for column in wide):
            top -= 1
        while bottom < grid.rows and any(grid.cell(bottom, column) is not None for column in wide):
            bottom += 1
        first, last = max(0, top - 1), min(grid.rows, bottom + 1)
        if left and _find_filled(grid, left - 1, first, last):
            left -= 1
        if right < grid.columns and _find_filled(grid, right, first, last):
            right += 1
        if before == (top, bottom, left, right):
            return GridArea(top, bottom, left, right)


def _find_filled(grid: SheetGrid, column: int, top: int, bottom: int) -> bool:
    return bool(grid.column(column, top, bottom))


Entry = GridCell | Skip


def _read_columns(
    body: Json, typed: Callable[[Any], tuple[Entry, Json | None]] | None
) -> list[list[tuple[Entry, Json | None]]] | list[list[Entry]]:
    """Return the columns of a ValueRange as cells; with number formats where they are read as typed."""
    lines: list[list[Any]] = body.get("values") or []
    if not isinstance(lines, list) or not all(isinstance(line, list) for line in lines):
        raise invalid("Invalid value at 'values' (type.googleapis.com/google.protobuf.ListValue)")
    convert = typed or entered.cell_from_raw
    by_columns = body.get("majorDimension") == "COLUMNS"
    converted: list[list[Any]] = []
    for index, line in enumerate(lines):
        try:
            converted.append([convert(value) for value in line])
        except TypeError:
            place = next(at for at, value in enumerate(line) if isinstance(value, (list, dict)))
            kind = "list_value" if isinstance(line[place], list) else "struct_value"
            raise invalid(f"Invalid values[{index}][{place}]: {kind} {{\n}}\n") from None
    if by_columns:
        return converted if any(converted) else []
    nothing: Any = (SKIP, None) if typed else SKIP
    return [list(column) for column in zip_longest(*converted, fillvalue=nothing)]


@dataclass
class _Block:
    """Cells on their way into a sheet."""

    spreadsheet: Spreadsheet
    sheet: ServedSheet
    top: int
    left: int
    columns: Sequence[Sequence[Any]]
    rows: set[int] = field(default_factory=set)
    filled: set[int] = field(default_factory=set)
    count: int = 0

    @classmethod
    def plan(
        cls,
        spreadsheet: Spreadsheet,
        body: Json,
        typed: Callable[[Any], tuple[Entry, Json | None]] | None,
        text: str | None = None,
    ) -> _Block:
        """Return a block that fits; nothing is written yet."""
        inner = body.get("range")
        text = text if text is not None else inner or ""
        sheet, span = spreadsheet.resolve(text)
        area = sheet.area(span)
        if inner and inner != text and spreadsheet.resolve(inner) != (sheet, span):
            raise invalid(f"Requested writing within range [{text}], but data.range is [{inner}].")
        block = cls(spreadsheet, sheet, area.top, area.left, _read_columns(body, typed))
        block.fit(area, span, text)
        return block

    def fit(self, area: GridArea, span: Span, text: str) -> None:
        """Refuse a block that is larger than its range; a range of one cell is where it starts."""
        grid = self.sheet.grid
        bottom, right = (grid.rows, grid.columns) if span.is_one_cell else (area.bottom, area.right)
        shown = text if split(text)[0] is not None else format_range(self.sheet.title, span)
        refusal = f"Requested writing within range [{shown}], but tried writing to"
        if self.height > bottom - self.top:
            raise invalid(f"{refusal} row [{bottom + 1}]")
        if len(self.columns) > right - self.left:
            raise invalid(f"{refusal} column [{column_letters(right)}]")

    @property
    def height(self) -> int:
        return max(map(len, self.columns), default=0)

    def put(self) -> None:
        """Write it, and count what is written."""
        for column, entries in enumerate(self.columns, self.left):
            pairs = entries and isinstance(entries[0], tuple)
            cells = [entry[0] for entry in entries] if pairs else entries
            if pairs:
                self._mark(column, entries)
            self.sheet.grid.write(column, self.top, cells)
            present = [row for row, cell in enumerate(cells, self.top) if cell is not SKIP]
            if present:
                self.filled.add(column)
                self.count += len(present)
                self.rows.update(present)

    def _mark(self, column: int, entries: Sequence[tuple[Entry, Json | None]]) -> None:
        marks = self.sheet.grid.marks(column)
        for row, (_, number_format) in enumerate(entries, self.top):
            if number_format:
                old = marks.at(row) or {}
                look = (old.get("userEnteredFormat") or {}) | {"numberFormat": number_format}
                marks.put(row, row + 1, old | {"userEnteredFormat": look})

    def build_response(self, responding: Json | None) -> Json:
        """Return the UpdateValuesResponse."""
        height, width = max(1, self.height), max(1, len(self.columns))
        area = GridArea(self.top, self.top + height, self.left, self.left + width)
        answer: Json = {"spreadsheetId": self.spreadsheet.key, "updatedRange": format_range(self.sheet.title, area)}
        counts = {
            "updatedRows": len(self.rows),
            "updatedColumns": len(self.filled),
            "updatedCells": self.count,
        }
        answer |= {name: count for name, count in counts.items() if count}
        if responding is not None:
            answer["updatedData"] = _build_value_range(self.spreadsheet, self.sheet, area, responding)
        return answer
