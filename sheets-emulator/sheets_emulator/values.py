"""The methods `spreadsheets.values.*`, which read and write rectangles of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from . import entered, rendered
from .batch.sheets import insert
from .errors import Json, invalid, within
from .formulas import evaluator_of
from .grid import SKIP, GridCell, SheetGrid, Skip
from .ranges import GridArea, column_letters, format_range, split
from .spreadsheet import ServedSheet, Spreadsheet

Params = dict[str, Any]
Reading = Callable[[Any], tuple[GridCell | Skip, Json | None]]  # of a value: a cell, and its number format


def get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.get`: return the values of a range."""
    return _build_value_range(spreadsheet, *_find_area(spreadsheet, params["range"]), params)


def batch_get(spreadsheet: Spreadsheet, params: Params) -> Json:
    """`values.batchGet`: return the values of several ranges."""
    ranges = params.get("ranges") or []
    ranges_read = [_build_value_range(spreadsheet, *_find_area(spreadsheet, text), params) for text in ranges]
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
    table = find_last_table(grid, searched)
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


def _choose_reading(options: Json) -> Reading | None:
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


def _build_value_range(spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, options: Json) -> Json:
    """Return the ValueRange of an area without trailing blanks; it has no `values` if all cells are blank."""
    dates = options.get("dateTimeRenderOption") or "SERIAL_NUMBER"
    option = options.get("valueRenderOption") or "FORMATTED_VALUE"
    renderer = rendered.Renderer(evaluator_of(spreadsheet), option, dates)
    read = enumerate(sheet.grid.block(area), area.left)
    columns = [renderer.render_column(sheet, column, area.top, cells) for column, cells in read]
    by_columns = options.get("majorDimension") == "COLUMNS"
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


def _read_columns(body: Json, typed: Reading | None) -> list[list[Any]]:
    """Return the values of a ValueRange by column: cells; if they are read as typed, pairs of a cell and its format."""
    lines: list[list[Any]] = body.get("values") or []
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
    """Values that are to be written into a sheet."""

    spreadsheet: Spreadsheet  # of the sheet
    sheet: ServedSheet  # into which they are written
    top: int  # the first row
    left: int  # the first column
    columns: Sequence[Sequence[Any]]  # the cells by column, as `_read_columns` returns them
    rows: set[int] = field(default_factory=set)  # the rows in which `put` has written a cell
    filled: set[int] = field(default_factory=set)  # the columns in which it has
    count: int = 0  # the number of cells that it has written

    @classmethod
    def plan(cls, spreadsheet: Spreadsheet, body: Json, typed: Reading | None, text: str | None = None) -> _Block:
        """Return the values of a ValueRange, after checking that its range has room for them; nothing is written yet.

        The range in the URL is `text`, with which that of the body must agree; None if the URL has none. Values for a
        single cell begin there, and may fill the grid.
        """
        inner = body.get("range")
        text = text if text is not None else inner or ""
        sheet, span = spreadsheet.resolve(text)
        area, grid = sheet.area(span), sheet.grid
        if inner and inner != text and spreadsheet.resolve(inner) != (sheet, span):
            raise invalid(f"Requested writing within range [{text}], but data.range is [{inner}].")
        block = cls(spreadsheet, sheet, area.top, area.left, _read_columns(body, typed))
        bottom, right = (grid.rows, grid.columns) if span.is_one_cell else (area.bottom, area.right)
        shown = text if split(text)[0] is not None else format_range(sheet.title, span)
        refusal = f"Requested writing within range [{shown}], but tried writing to"
        if block.height > bottom - area.top:
            raise invalid(f"{refusal} row [{bottom + 1}]")
        if len(block.columns) > right - area.left:
            raise invalid(f"{refusal} column [{column_letters(right)}]")
        return block

    @property
    def height(self) -> int:
        return max(map(len, self.columns), default=0)

    def put(self) -> None:
        """Write the values, and note where and how many."""
        for column, entries in enumerate(self.columns, self.left):
            grid, cells = self.sheet.grid, entries
            if entries and isinstance(entries[0], tuple):
                cells = [cell for cell, _ in entries]
                for row, number_format in enumerate((typed for _, typed in entries), self.top):
                    if number_format:
                        old = grid.mark(row, column) or {}
                        look = (old.get("userEnteredFormat") or {}) | {"numberFormat": number_format}
                        grid.put_mark(row, column, old | {"userEnteredFormat": look})
            grid.write(column, self.top, cells)
            present = [row for row, cell in enumerate(cells, self.top) if cell is not SKIP]
            if present:
                self.filled.add(column)
                self.count += len(present)
                self.rows.update(present)

    def build_response(self, responding: Json | None) -> Json:
        """Return the UpdateValuesResponse, with the values if there are options for them (`responding`)."""
        height, width = max(1, self.height), max(1, len(self.columns))
        area = GridArea(self.top, self.top + height, self.left, self.left + width)
        answer: Json = {"spreadsheetId": self.spreadsheet.key, "updatedRange": format_range(self.sheet.title, area)}
        counts = {"updatedRows": len(self.rows), "updatedColumns": len(self.filled), "updatedCells": self.count}
        answer |= {name: count for name, count in counts.items() if count}
        if responding is not None:
            answer["updatedData"] = _build_value_range(self.spreadsheet, self.sheet, area, responding)
        return answer


def find_last_table(grid: SheetGrid, searched: GridArea) -> GridArea | None:
    """Return the last table of a range: the cells around its last one that is not blank; None if all are blank.

    It grows in each direction, even beyond the range, until the rows and columns around it are blank.
    """
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
        if left and grid.column(left - 1, first, last):
            left -= 1
        if right < grid.columns and grid.column(right, first, last):
            right += 1
        if before == (top, bottom, left, right):
            return GridArea(top, bottom, left, right)
