"""The methods `spreadsheets.values.*`, which read and write rectangles of cells."""

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
from .grid import SKIP, GridCell, Skip
from .last_table import find_last_table
from .ranges import GridArea, Span, format_range, split
from .spreadsheet import ServedSheet, Spreadsheet

Params = dict[str, Any]


def get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.get`: return the values of a range."""
    return _read_range(spreadsheet, params["range"], params)


def batch_get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.batchGet`: return the values of several ranges."""
    ranges = params.get("ranges") or []
    ranges_read = [_read_range(spreadsheet, text, params) for text in ranges]
    return {"spreadsheetId": spreadsheet.key} | ({"valueRanges": ranges_read} if ranges_read else {})


def update(spreadsheet: Spreadsheet, params: Params, body: Json) -> Json:
    """`values.update`: write values into a range."""
    block = _Block.plan(spreadsheet, body, _choose_reading(params), params["range"])
    block.put()
    return block.build_response(_response_options(params))


def batch_update(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchUpdate`: write values into several ranges, after all of them have been checked."""
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
    """`values.clear`: clear the values of a range."""
    sheet, area = _find_area(spreadsheet, params["range"])
    sheet.grid.clear(area)
    return {"spreadsheetId": spreadsheet.key, "clearedRange": format_range(sheet.title, area)}


def batch_clear(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchClear`: clear the values of several ranges."""
    areas = []
    for index, text in enumerate(body.get("ranges") or []):
        with within(f"Invalid range[{index}]"):
            areas.append(_find_area(spreadsheet, text))
    for sheet, area in areas:
        sheet.grid.clear(area)
    cleared = [format_range(sheet.title, area) for sheet, area in areas]
    return {"spreadsheetId": spreadsheet.key} | ({"clearedRanges": cleared} if cleared else {})


def append(spreadsheet: Spreadsheet, params: Params, body: Json) -> Json:
    """`values.append`: write values below the last table of a range; the grid grows as needed."""
    sheet, searched = _find_area(spreadsheet, params["range"])
    columns = _read_columns(body, _choose_reading(params))
    grid = sheet.grid
    table = find_last_table(Evaluator(spreadsheet).grid(sheet), searched)
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
    """Return the function that makes a cell and its format of a value as if it was typed; None if values are RAW."""
    option = options.get("valueInputOption")
    if option in (None, "INPUT_VALUE_OPTION_UNSPECIFIED"):
        raise invalid("'valueInputOption' is required but not specified")
    return None if option == "RAW" else entered.cell_from_entry


def _response_options(options: Json) -> Json | None:
    """Return the options by which a write answers the values it has written; None if it is not to answer them."""
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
    """Return the ValueRange of an area without trailing blanks; it has no `values` if all cells are blank."""
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


Entry = GridCell | Skip  # a cell to be written


def _read_columns(
    body: Json, typed: Callable[[Any], tuple[Entry, Json | None]] | None
) -> list[list[tuple[Entry, Json | None]]] | list[list[Entry]]:
    """Return the values of a ValueRange by column: cells; if they are read as typed, pairs of a cell and its format."""
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
    """Values that are to be written into a sheet.

    Attributes:
        spreadsheet: of the sheet.
        sheet: into which they are written.
        top: the first row.
        left: the first column.
        columns: the cells by column, as `_read_columns` returns them.
        rows: the rows in which `put` has written a cell.
        filled: the columns in which it has.
        count: the number of cells that it has written.
    """

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
        """Return the values of a ValueRange, after checking that its range has room for them; nothing is written yet.

        Args:
            spreadsheet: to be written.
            body: the ValueRange.
            typed: makes cells of values (`_choose_reading`).
            text: the range in the URL, with which that of the body must agree; None if the URL has none.
        """
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
        """Refuse values that exceed their range, or the grid if the range is a single cell, at which they begin.

        Args:
            area: the cells of the range.
            span: the range.
            text: the range as it was sent, for messages.
        """
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
        """Write the values, and note where and how many."""
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
        """Return the UpdateValuesResponse, with the values if there are options for them (`responding`)."""
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
