"""Requests that continue a series of cells (`autoFill`), and that remove repeated rows (`deleteDuplicates`)."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from itertools import pairwise

from ..errors import Json, invalid
from ..formulas import Evaluator
from ..formulas.operands import rank
from ..formulas.references import translate
from ..grid import Formula, GridCell
from ..ranges import GridArea
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import find_area
from .pasting import move_formula, pad

_NUMBERED = re.compile(r"(.*?)(\d{1,15})", re.DOTALL)
_SERIES = [tuple(name.lower() for name in names) for names in (day_name, month_name[1:])]


def auto_fill(spreadsheet: Spreadsheet, request: Json) -> None:
    """`autoFill`: continue cells in the cells beside or below them.

    Numbers go on in their steps, a number at the end of a text counts on, formulas refer to other cells. Without a
    source, what the range holds at its top or left is continued over the rest of it.
    """
    alternate = bool(request.get("useAlternateSeries"))
    if request.get("range") is not None:
        sheet, area = find_area(spreadsheet, request["range"])
        height = min(area.height, max((len(column) for column in sheet.grid.block(area)), default=0))
        widths = [index for index, column in enumerate(sheet.grid.block(area), 1) if column]
        width = max(widths, default=0)
        if not height:
            raise invalid("There is nothing to fill from: the range is empty.")
        if width < area.width and height == area.height:
            _fill(sheet, area._replace(right=area.left + width), "COLUMNS", area.width - width, alternate)
        else:
            _fill(sheet, area._replace(bottom=area.top + height), "ROWS", area.height - height, alternate)
        return
    wanted = request.get("sourceAndDestination") or {}
    sheet, area = find_area(spreadsheet, wanted.get("source"))
    if wanted.get("dimension") not in ("ROWS", "COLUMNS"):
        raise invalid("The dimension must be ROWS or COLUMNS.")
    _fill(sheet, area, wanted["dimension"], wanted.get("fillLength") or 0, alternate)


def _fill(sheet: ServedSheet, source: GridArea, dimension: str, length: int, alternate: bool) -> None:
    """Continue an area by so many rows or columns: down or to the right, or up or to the left if `length` < 0."""
    rows = dimension == "ROWS"
    first, last = (source.top, source.bottom) if rows else (source.left, source.right)
    size = sheet.grid.rows if rows else sheet.grid.columns
    if not first + min(0, length) >= 0 or last + max(0, length) > size:
        raise invalid(f"The filled cells exceed grid limits. Max {'rows' if rows else 'columns'}: {size}")
    for line in range(source.left, source.right) if rows else range(source.top, source.bottom):
        if rows:
            cells = pad(sheet.grid.column(line, source.top, source.bottom), source.height)
            marks = [sheet.grid.mark(row, line) for row in range(source.top, source.bottom)]
        else:
            cells = [sheet.grid.cell(line, column) for column in range(source.left, source.right)]
            marks = [sheet.grid.mark(line, column) for column in range(source.left, source.right)]
        for step in range(abs(length)):
            target = last + step if length > 0 else first - 1 - step
            new, origin = _next(cells, target - first, alternate, down=rows)
            row, column = (target, line) if rows else (line, target)
            sheet.grid.write(column, row, [new])
            sheet.grid.marks(column).put(row, row + 1, marks[origin])


def _next(cells: list[GridCell], index: int, alternate: bool, *, down: bool) -> tuple[GridCell, int]:
    """Return the cell that continues a series at an index, and the index of the cell of the series that it repeats.

    Args:
        cells: the series.
        index: counted from the first cell of the series, and outside of it: negative, or from its length on.
        alternate: whether to do the opposite of what is usual: count a single number on, repeat several.
        down: whether the series stands in a column, not in a row.
    """
    count = len(cells)
    origin = index % count
    like = cells[origin]
    if isinstance(like, Formula):
        distance = (index - origin, 0) if down else (0, index - origin)
        return Formula(translate(like.text, *distance)), origin
    numbers = [cell for cell in cells if type(cell) is float]
    if len(numbers) == count:
        if (count == 1) != alternate:
            return like, origin
        return _trend(numbers, index), origin
    if isinstance(like, str):
        return _next_text(like, index, origin, count), origin
    return like, origin


def _trend(numbers: list[float], index: int) -> float:
    """Return the value at an index of the straight line that fits numbers best; a single number goes on by 1."""
    count = len(numbers)
    if count == 1:
        return numbers[0] + index
    steps = {second - first for first, second in pairwise(numbers)}
    if len(steps) == 1:
        return numbers[0] + index * steps.pop()
    middle, mean = (count - 1) / 2, sum(numbers) / count
    slope = sum((at - middle) * (value - mean) for at, value in enumerate(numbers))
    slope /= sum((at - middle) ** 2 for at in range(count))
    return mean + slope * (index - middle)


def _next_text(text: str, index: int, origin: int, count: int) -> str:
    """Return the text at an index of a series of `count` cells, whose cell at `origin` is repeated there.

    Names of days and months go on in the calendar, and a number at the end of a text is counted on.
    """
    repeats = (index - origin) // count
    for names in _SERIES:
        short = text.casefold() in [name[:3] for name in names]
        if text.casefold() in names or short:
            number = next(at for at, name in enumerate(names) if name.startswith(text.casefold()))
            name = names[(number + index - origin) % len(names)]
            name = name[:3] if short and len(text) == 3 else name
            return name.upper() if text.isupper() else name.capitalize() if text[0].isupper() else name
    if match := _NUMBERED.fullmatch(text):
        number = int(match[2]) + (repeats if count > 1 else index - origin)
        return f"{match[1]}{abs(number):0{len(match[2])}d}"
    return text


def delete_duplicates(spreadsheet: Spreadsheet, request: Json) -> Json:
    """`deleteDuplicates`: keep the first of rows that are equal, whatever the case of their text; the rest move up."""
    sheet, area = find_area(spreadsheet, request.get("range"))
    compared = sorted(_find_compared_columns(area, request.get("comparisonColumns") or []))
    evaluator = Evaluator(spreadsheet)
    seen: set[tuple[object, ...]] = set()
    kept: list[int] = []
    bottom = area.top + max((len(column) for column in sheet.grid.block(area)), default=0)
    for row in range(area.top, bottom):
        values = [evaluator.value(sheet, row, column, sheet.grid.cell(row, column)) for column in compared]
        key = tuple(None if value is None else rank(value) for value in values)
        if key not in seen:
            seen.add(key)
            kept.append(row)
    removed = bottom - area.top - len(kept)
    for column in range(area.left, area.right) if removed else ():
        cells = [move_formula(sheet.grid.cell(row, column), area.top + at - row) for at, row in enumerate(kept)]
        sheet.grid.write(column, area.top, [*cells, *[None] * removed])
    return {"duplicatesRemovedCount": removed} if removed else {}


def _find_compared_columns(area: GridArea, wanted: list[Json]) -> set[int]:
    """Return the columns that DimensionRanges name, which must lie in an area; all of its columns for no range."""
    columns = set(range(area.left, area.right))
    if not wanted:
        return columns
    wanted_columns: set[int] = set()
    for span in wanted:
        start, stop = span.get("startIndex") or 0, span.get("endIndex")
        wanted_columns |= set(range(start, area.right if stop is None else stop))
    if not wanted_columns <= columns:
        raise invalid("The comparison columns must lie within the range.")
    return wanted_columns
