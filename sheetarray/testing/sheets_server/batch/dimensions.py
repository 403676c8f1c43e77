"""Requests that insert, append, delete, move and resize rows and columns, with everything that moves along."""

from __future__ import annotations

from .. import masks, rendered
from ..errors import Json, invalid
from ..formulas import Evaluator
from ..moves import move_cells, move_span, reorder, retitle_in_formulas, shift
from ..ranges import Span
from ..spreadsheet import ServedSheet, Spreadsheet

_CHARACTER, _MARGIN = 7, 6  # pixels: of a character in the default font, and of both margins of a cell together
WORDS = {"ROWS": "row", "COLUMNS": "column"}


def insert_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`insertDimension`: insert blank rows or columns."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    grid, word = sheet.grid, WORDS[dimension]
    size = grid.rows if dimension == "ROWS" else grid.columns
    if start > size or (start == size and not request.get("inheritFromBefore")):
        raise invalid(
            f"range.startIndex[{start}] must be less than the grid size ({size}) if inheritFromBefore is false."
        )
    if request.get("inheritFromBefore") and start == 0:
        raise invalid(f"Cannot inherit from the {word} before the first one.")
    count = stop - start
    insert(spreadsheet, sheet, dimension, start, count)


def append_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`appendDimension`: add rows at the bottom, or columns at the right."""
    sheet = spreadsheet.sheet(request.get("sheetId"))
    dimension, length = _dimension(request), request.get("length") or 0
    if length < 1:
        raise invalid("The length to append must be positive.")
    more = (length, 0) if dimension == "ROWS" else (0, length)
    spreadsheet.resize(sheet, sheet.grid.rows + more[0], sheet.grid.columns + more[1])


def delete_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`deleteDimension`: delete rows or columns, but never all of them."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    grid, word = sheet.grid, WORDS[dimension]
    size = grid.rows if dimension == "ROWS" else grid.columns
    if start >= size or stop > size:
        gone = max(start, size)
        raise invalid(
            f"Cannot delete a {word} that doesn't exist. Tried to delete {word} index {gone} but there are only "
            f"{size} {word}s."
        )
    if stop - start == size:
        raise invalid(f"You can't delete all the {word}s on the sheet.")
    if dimension == "ROWS":
        grid.delete_rows(start, stop)
    else:
        grid.delete_columns(start, stop)
    _shift(spreadsheet, sheet, dimension, start, stop, 0)
    frozen = "frozenRowCount" if dimension == "ROWS" else "frozenColumnCount"
    held = sheet.grid_properties.get(frozen, 0)
    if held := held - max(0, min(stop, held) - start):
        sheet.grid_properties[frozen] = held
    else:
        sheet.grid_properties.pop(frozen, None)


def insert(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, at: int, count: int) -> None:
    """Insert blank rows or columns; whatever spans them grows, whatever lies beyond moves."""
    grid = sheet.grid
    if dimension == "ROWS":
        spreadsheet.room_for(count * grid.columns)
        grid.insert_rows(at, count)
    else:
        spreadsheet.room_for(count * grid.rows, grid.columns + count)
        grid.insert_columns(at, count)
    _shift(spreadsheet, sheet, dimension, at, at, count)


def move_dimension(spreadsheet: Spreadsheet, request: Json) -> None:
    """`moveDimension`: move rows or columns before another one, whose index is counted before the move."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("source"))
    size = sheet.grid.rows if dimension == "ROWS" else sheet.grid.columns
    before = request.get("destinationIndex") or 0
    if stop > size or not 0 <= before <= size:
        raise invalid(f"Cannot move {WORDS[dimension]}s {start} to {stop} before {before}; there are {size}.")
    if any(_splits(span, dimension, start, stop, before) for span in sheet.merges):
        raise invalid(f"You can't move a part of merged {WORDS[dimension]}s.")
    if start <= before <= stop:
        return
    if dimension == "ROWS":
        sheet.grid.move_rows(start, stop, before)
    else:
        sheet.grid.move_columns(start, stop, before)
    change = reorder(dimension, start, stop, before)
    move_cells(spreadsheet, sheet, change)

    def move_index(index: int) -> int:
        span = change(Span(index, index + 1) if dimension == "ROWS" else Span(None, None, index, index + 1))
        assert span is not None
        return (span.top if dimension == "ROWS" else span.left) or 0

    sheet.dimensions[dimension] = {move_index(index): held for index, held in sheet.dimensions[dimension].items()}
    for entry_id, entry in list(spreadsheet.metadata.items()):
        on = entry["location"].get("dimensionRange") or {}
        if on and on.get("dimension") == dimension and on.get("sheetId", 0) == sheet.id:
            index = move_index(on.get("startIndex", 0))
            place = on | {"startIndex": index, "endIndex": index + 1}
            spreadsheet.metadata[entry_id] = entry | {"location": entry["location"] | {"dimensionRange": place}}


def _splits(span: Span, dimension: str, start: int, stop: int, before: int) -> bool:
    """Return whether a move of the rows or columns `start` to `stop` before another one would tear a merge apart."""
    first, last = (span.top, span.bottom) if dimension == "ROWS" else (span.left, span.right)
    first, last = first or 0, last or 0
    inside = start <= first and last <= stop
    return (not inside and first < stop and start < last) or first < before < last


def auto_resize(spreadsheet: Spreadsheet, request: Json) -> None:
    """`autoResizeDimensions`: make columns so wide that the longest line in them fits, by its number of characters."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("dimensions"))
    special = sheet.dimensions[dimension]
    renderer = rendered.Renderer(Evaluator(spreadsheet))
    for column in range(start, min(stop, sheet.grid.columns)) if dimension == "COLUMNS" else ():
        cells = renderer.render_column(
            sheet, column, 0, renderer.evaluator.grid(sheet).column(column, 0, sheet.grid.rows)
        )
        longest = max((len(line) for cell in cells for line in str(cell).split("\n")), default=0)
        if longest:
            special[column] = special.get(column, {}) | {"pixelSize": _MARGIN + _CHARACTER * longest}


def update_properties(spreadsheet: Spreadsheet, request: Json) -> None:
    """`updateDimensionProperties`: change properties of rows or columns, such as their size, that the mask names."""
    sheet, dimension, start, stop = find_dimension_range(spreadsheet, request.get("range"))
    size = sheet.grid.rows if dimension == "ROWS" else sheet.grid.columns
    special = sheet.dimensions[dimension]
    mask = masks.parse(request.get("fields") or "")
    for index in range(start, min(stop, size)):
        kept = masks.merge(special.get(index, {}), request.get("properties") or {}, mask)
        special[index] = {name: value for name, value in kept.items() if value}
        if not special[index]:
            del special[index]


def forget_sheet(spreadsheet: Spreadsheet, sheet: ServedSheet) -> None:
    """Remove what refers to a sheet that was deleted: references, the ranges of names, and developer metadata."""
    retitle_in_formulas(spreadsheet, sheet.title, None)
    for named in spreadsheet.named.values():
        if named.sheet == sheet.id:
            named.span = None
    for entry_id, entry in list(spreadsheet.metadata.items()):
        on = entry["location"].get("dimensionRange") or entry["location"]
        if entry["location"]["locationType"] != "SPREADSHEET" and on.get("sheetId", 0) == sheet.id:
            del spreadsheet.metadata[entry_id]


def _shift(spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, first: int, last: int, count: int) -> None:
    """Change what refers to rows or columns after `first` to `last` were deleted and `count` inserted at `first`."""
    move_cells(spreadsheet, sheet, shift(dimension, first, last, count))
    special = sheet.dimensions[dimension]
    places = {index: move_span(index, index + 1, first, last, count) for index in special}
    sheet.dimensions[dimension] = {
        ends[0]: special[index] for index, ends in places.items() if ends is not None and ends[0] is not None
    }
    sheet.groups = _shift_groups(sheet.groups, dimension, first, last, count)
    sheet.collapsed = _shift_groups(sheet.collapsed, dimension, first, last, count)
    _shift_metadata(spreadsheet, sheet, dimension, first, last, count)


def _shift_groups(groups_held: list[Json], dimension: str, first: int, last: int, count: int) -> list[Json]:
    """Return groups where they are after rows or columns came or went, without those of which nothing is left."""
    kept = []
    for group in groups_held:
        if group["dimension"] != dimension:
            kept.append(group)
        elif ends := move_span(group["startIndex"], group["endIndex"], first, last, count):
            kept.append(group | {"startIndex": ends[0], "endIndex": ends[1]})
    return kept


def _shift_metadata(
    spreadsheet: Spreadsheet, sheet: ServedSheet, dimension: str, first: int, last: int, count: int
) -> None:
    for entry_id, entry in list(spreadsheet.metadata.items()):
        on = entry["location"].get("dimensionRange") or {}
        if not on or on.get("dimension") != dimension or on.get("sheetId", 0) != sheet.id:
            continue
        ends = move_span(on.get("startIndex", 0), on.get("endIndex"), first, last, count)
        if ends is None:
            del spreadsheet.metadata[entry_id]
        else:
            place = on | {"startIndex": ends[0], "endIndex": ends[1]}
            spreadsheet.metadata[entry_id] = entry | {"location": entry["location"] | {"dimensionRange": place}}


def _dimension(request: Json) -> str:
    """Return the dimension that a request names: ROWS or COLUMNS."""
    dimension = request.get("dimension")
    if dimension not in WORDS:
        raise invalid("The dimension must be ROWS or COLUMNS.")
    return str(dimension)


def find_dimension_range(spreadsheet: Spreadsheet, wanted: Json | None) -> tuple[ServedSheet, str, int, int]:
    """Return the sheet, the dimension, the first index and the index after the last one of a DimensionRange."""
    span = wanted or {}
    sheet = spreadsheet.sheet(span.get("sheetId"))
    dimension = _dimension(span)
    size = sheet.grid.rows if dimension == "ROWS" else sheet.grid.columns
    start = span.get("startIndex") or 0
    stop = span.get("endIndex")
    stop = size if stop is None else stop
    if start < 0 or stop <= start:
        raise invalid(f"The range of {WORDS[dimension]}s from index {start} to {stop} is empty.")
    return sheet, dimension, start, stop
