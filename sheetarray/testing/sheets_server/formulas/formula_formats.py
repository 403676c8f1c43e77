"""The number format in which the result of a formula is shown: that of its function, or of the first cell in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ApiError, Json
from ..grid import Formula
from ..spreadsheet import ServedSheet, Spreadsheet
from .references import Token, parse_reference, tokenize
from .spills import CellKey

if TYPE_CHECKING:
    from .evaluator import Evaluator

_DATE: Json = {"type": "DATE", "pattern": "m/d/yyyy"}
_OF_FUNCTIONS: dict[str, Json] = {
    **dict.fromkeys(("DATE", "EDATE", "EOMONTH", "TODAY", "TO_DATE", "WORKDAY"), _DATE),
    "NOW": {"type": "DATE_TIME", "pattern": "m/d/yyyy h:mm:ss"},
    "TIME": {"type": "TIME", "pattern": "h:mm:ss am/pm"},
}
_KEEPING = {  # functions whose result has the format of their arguments
    *("ABS", "AVERAGE", "AVERAGEIF", "AVERAGEIFS", "CEILING", "FLOOR", "IFERROR", "IFNA", "INDEX", "LARGE", "MAX"),
    *("MEDIAN", "MIN", "ROUND", "ROUNDDOWN", "ROUNDUP", "SMALL", "SUM", "SUMIF", "SUMIFS", "TRUNC"),
}


def number_format_of(evaluator: Evaluator, sheet: ServedSheet, row: int, column: int) -> Json | None:
    """Return the number format of a cell: its own, or the one that its formula brings along; looked for only once."""
    held = evaluator.formats
    path: dict[CellKey, None] = {}  # in order
    place: tuple[ServedSheet, int, int] | None = (sheet, row, column)
    number_format: Json | None = None
    while place is not None and (key := (place[0].id, *place[1:])) not in path:
        if key in held:
            number_format = held[key]
            break
        path[key] = None
        number_format, place = _step(evaluator.spreadsheet, *place)
    held.update(dict.fromkeys(path, number_format))
    return number_format


def _step(
    spreadsheet: Spreadsheet, sheet: ServedSheet, row: int, column: int
) -> tuple[Json | None, tuple[ServedSheet, int, int] | None]:
    """Return the number format of a cell, or else the cell from which its formula brings one."""
    look = (sheet.grid.mark(row, column) or {}).get("userEnteredFormat") or {}
    if look.get("numberFormat"):
        return dict(look["numberFormat"]), None
    cell = sheet.grid.cell(row, column)
    tokens = tokenize(cell.text) if isinstance(cell, Formula) else None
    if not tokens:
        return None, None
    calls = [token.text.upper() for token in tokens if token.kind == "call"]
    if calls and calls[0] in _OF_FUNCTIONS and not _is_difference(tokens):
        return _OF_FUNCTIONS[calls[0]], None
    if any(call not in _KEEPING for call in calls) or any(token.text in ("&", "=", "<", ">") for token in tokens):
        return None, None
    place = _first_cell(spreadsheet, sheet, tokens)
    return None, None if place is None or (_is_difference(tokens) and _is_moment(place)) else place


def _first_cell(
    spreadsheet: Spreadsheet, sheet: ServedSheet, tokens: tuple[Token, ...]
) -> tuple[ServedSheet, int, int] | None:
    """Return the first cell that a formula refers to."""
    for token in tokens:
        reference = parse_reference(token.text) if token.kind == "name" else None
        if reference is None:
            continue
        target = sheet if reference.title is None else spreadsheet.sheet_titled(reference.title)
        if target is None:
            return None
        try:
            area = target.area(reference.span)
        except ApiError:
            return None
        return target, area.top, area.left
    return None


def _is_difference(tokens: tuple[Token, ...]) -> bool:
    """Return whether one of two references or calls is taken from the other: of two dates, a number of days."""
    operands = sum(token.kind in ("name", "call") for token in tokens)
    return operands == 2 and any(token.text == "-" for token in tokens)


def _is_moment(place: tuple[ServedSheet, int, int]) -> bool:
    sheet, row, column = place
    look = (sheet.grid.mark(row, column) or {}).get("userEnteredFormat") or {}
    return (look.get("numberFormat") or {}).get("type") in ("DATE", "DATE_TIME", "TIME")
