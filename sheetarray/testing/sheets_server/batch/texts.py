"""Requests that change the text of cells: found and replaced, pasted, split, trimmed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

from .. import entered
from ..errors import Json, invalid, unsupported_error
from ..formats import format_plain
from ..grid import SKIP, Formula, GridCell, Skip
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import find_area
from .pasting import find_coordinate

_DELIMITERS = {"COMMA": ",", "SEMICOLON": ";", "PERIOD": ".", "SPACE": " "}
_GUESSED = ",;\t|"  # delimiters that AUTODETECT tries; a space only if no text contains one of these
_FOUND_LIMIT = 10_000  # characters of a pattern


def find_replace(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`findReplace`: replace text in values, written as one would type them, and in formulas if `includeFormulas`."""
    pattern, replacement = _compile_pattern(request)
    counts = dict.fromkeys(
        ("valuesChanged", "formulasChanged", "rowsChanged", "sheetsChanged", "occurrencesChanged"), 0
    )
    for sheet, area in _find_areas(spreadsheet, request):
        rows: set[int] = set()
        for column in range(area.left, area.right):
            changed: dict[int, GridCell | Skip] = {}
            for row, cell in enumerate(sheet.grid.column(column, area.top, area.bottom), area.top):
                if cell is None or (isinstance(cell, Formula) and not request.get("includeFormulas")):
                    continue
                old = _to_typed_text(cell)
                new, count = _substitute(pattern, replacement, old)
                if not count:
                    continue
                counts["formulasChanged" if isinstance(cell, Formula) else "valuesChanged"] += 1
                counts["occurrencesChanged"] += count
                changed[row] = entered.cell_from_entry(new)[0] if new else None
                rows.add(row)
            for row, new_cell in changed.items():
                sheet.grid.write(column, row, [new_cell])
        counts["rowsChanged"] += len(rows)
        counts["sheetsChanged"] += bool(rows)
    return {name: count for name, count in counts.items() if count}


def _find_areas(spreadsheet: Spreadsheet, request: Json) -> list[tuple[ServedSheet, GridArea]]:
    """Return the areas in which a request wants text to be found, with their sheets."""
    if request.get("range") is not None:
        return [find_area(spreadsheet, request["range"])]
    if request.get("allSheets"):
        return [(sheet, sheet.area(Span())) for sheet in spreadsheet.sheets]
    if request.get("sheetId") is None:
        raise invalid("One of range, sheetId and allSheets must be specified.")
    sheet = spreadsheet.sheet(request["sheetId"])
    return [(sheet, sheet.area(Span()))]


def _compile_pattern(request: Json) -> tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]:
    """Return the pattern that a request looks for, and the replacement as `re.sub` takes it."""
    wanted, replacement = request.get("find") or "", request.get("replacement") or ""
    if not wanted or len(wanted) > _FOUND_LIMIT:
        raise invalid("The text to find must not be empty, nor longer than 10000 characters.")
    regular = bool(request.get("searchByRegex"))
    source = wanted if regular else re.escape(wanted)
    if request.get("matchEntireCell"):
        source = rf"\A(?:{source})\Z"
    try:
        pattern = re.compile(source, 0 if request.get("matchCase") else re.IGNORECASE)
        by = re.sub(r"\$(\d)", r"\\g<\1>", replacement.replace("\\", "\\\\")) if regular else replacement
        if regular:
            re.sub(pattern, by, "")
    except (re.error, RecursionError, IndexError):
        raise invalid(f"The regular expression is invalid: {wanted}") from None
    return pattern, by if regular else lambda _: replacement


def _substitute(
    pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str], text: str
) -> tuple[str, int]:
    try:
        return pattern.subn(replacement, text)
    except (re.error, IndexError):
        raise invalid("The replacement names a group that the regular expression does not have.") from None


def paste_data(spreadsheet: Spreadsheet, request: Json) -> None:
    """`pasteData`: split text into lines, and lines at a delimiter, and write the parts as if they had been typed."""
    sheet, row, column = find_coordinate(spreadsheet, request.get("coordinate"))
    if request.get("html"):
        raise unsupported_error("HTML to be pasted")
    kind = request.get("type") or "PASTE_NORMAL"
    if kind not in ("PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMULA", "PASTE_NO_BORDERS"):
        raise unsupported_error(f"The paste type {kind}")
    delimiter = request.get("delimiter")
    if not delimiter:
        raise invalid("One of delimiter and html must be specified.")
    lines = _split_lines(request.get("data") or "", delimiter)
    rows, columns = row + len(lines), column + max(map(len, lines), default=0)
    grid = sheet.grid
    if rows > grid.rows or columns > grid.columns:
        spreadsheet.resize(sheet, max(rows, grid.rows), max(columns, grid.columns))
    for down, line in enumerate(lines, row):
        put_typed(sheet, down, column, line)


def put_typed(sheet: ServedSheet, row: int, column: int, texts: list[str]) -> None:
    """Write texts beside each other as if they had been typed, with the number formats that typing them brings."""
    for place, text in enumerate(texts, column):
        cell, number_format = entered.cell_from_entry(text)
        sheet.grid.write(place, row, [None if cell is SKIP or not text else cell])
        if number_format:
            old = sheet.grid.mark(row, place) or {}
            look = (old.get("userEnteredFormat") or {}) | {"numberFormat": number_format}
            sheet.grid.marks(place).put(row, row + 1, old | {"userEnteredFormat": look})


def _split_lines(data: str, delimiter: str) -> list[list[str]]:
    if len(delimiter) == 1:
        try:
            return list(csv.reader(io.StringIO(data, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise invalid(f"The data cannot be split: {error}") from None
    return [line.split(delimiter) for line in data.splitlines()]


def text_to_columns(spreadsheet: Spreadsheet, request: Json) -> None:
    """`textToColumns`: split the texts of one column at a delimiter, over it and the columns to its right."""
    sheet, area = find_area(spreadsheet, request.get("source"))
    if area.width != 1:
        raise invalid("The source of textToColumns must be exactly one column.")
    cells = sheet.grid.column(area.left, area.top, area.bottom)
    delimiter = _find_delimiter(request, [cell for cell in cells if isinstance(cell, str)])
    parts = {row: cell.split(delimiter) for row, cell in enumerate(cells, area.top) if isinstance(cell, str)}
    right = area.left + max(map(len, parts.values()), default=1)
    if right > sheet.grid.columns:
        spreadsheet.resize(sheet, sheet.grid.rows, right)
    for row, texts in parts.items():
        if len(texts) > 1:
            put_typed(sheet, row, area.left, [text.strip() for text in texts])


def _find_delimiter(request: Json, texts: list[str]) -> str:
    """Return the delimiter that a request names; for AUTODETECT, the one that most of the texts contain."""
    kind = request.get("delimiterType") or "AUTODETECT"
    if kind == "CUSTOM":
        return str(request.get("delimiter") or "") or _missing()
    if kind == "AUTODETECT":
        return max(_GUESSED + " ", key=lambda mark: (sum(mark in text for text in texts), mark in _GUESSED))
    return _DELIMITERS[kind] if kind in _DELIMITERS else _missing()


def _missing() -> str:
    raise invalid("A delimiter must be specified.")


def trim_whitespace(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`trimWhitespace`: remove white space at both ends of texts, and leave one space of each run within."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    count = 0
    for column in range(area.left, area.right):
        for row, cell in enumerate(sheet.grid.column(column, area.top, area.bottom), area.top):
            if isinstance(cell, str) and (trimmed := re.sub(r"[ \t\u00a0]+", " ", cell).strip()) != cell:
                sheet.grid.write(column, row, [trimmed or None])
                count += 1
    return {"cellsChangedCount": count} if count else {}


def _to_typed_text(cell: GridCell) -> str:
    """Return a cell as one would type it."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return format_plain(cell) if cell.is_integer() else repr(cell)
    return cell.text if isinstance(cell, Formula) else cell or ""
