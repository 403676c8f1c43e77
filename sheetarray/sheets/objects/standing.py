"""What stands on a worksheet of openpyxl or XlsxWriter before arrays are put there: cells, arrays and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...columns import Layout, cell_address
from ...columns.words import SEMVER
from ...errors import LimitError, quote_names
from ...linear.parsing import normalize_key
from ..sheet_choice import parse_cell
from ..xml_texts import without_escapes

_MOST_HEADER_ROWS = 1200


class StandingColumn(NamedTuple):
    """A column of an array: its name, the row of the name, the first row of its elements, the column's number."""

    name: str
    name_row: int
    begin: int
    column: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The cells of a worksheet that hold something: the text of each, None for other cells and for merged ones.

    `tables`: the cells of its Excel Tables, such as `A1:B9`.
    """

    cells: Mapping[tuple[int, int], str | None]
    tables: tuple[str, ...] = ()

    def find_arrays(self) -> Iterator[StandingColumn]:
        """Yield each column of an array."""
        for (row, column), text in self.cells.items():
            if text is None or normalize_key(text) != "ndarray" or row < 2:
                continue
            version, word = self.cells.get((row - 1, column)), self.cells.get((row - 2, column))
            if SEMVER.fullmatch(str(version)) is None or normalize_key(str(word)) != "version":
                continue
            named = next((line for line in range(row - 3, -1, -1) if self.cells.get((line, column))), row - 2)
            below = range(row + 1, row + _MOST_HEADER_ROWS)
            ends = (line for line in below if normalize_key(self.cells.get((line, column)) or "") == "data")
            yield StandingColumn(self.cells[named, column] or "", named, next(ends, row) + 1, column)

    def find_room(self) -> tuple[int, int]:
        """Return the first column to the right of everything, and the row in which elements below row 1 begin.

        A blank column is left beside cells that are not an array's, so that programs do not take both for one table.
        """
        ends = [parse_cell(cells.split(":")[-1])[1] for cells in self.tables]
        last = max([*ends, *(column for _, column in self.cells)], default=-1)
        arrays = [*self.find_arrays()]
        is_array = any(array.column == last for array in arrays)
        rows_above = max((array.begin for array in arrays if array.name_row == 0), default=0)
        return last + 1 + (last >= 0 and not is_array), rows_above

    def refuse_names(self, names: Mapping[str, Any], title: str) -> None:
        """Refuse arrays whose names are those of arrays that stand there."""
        standing = {array.name for array in self.find_arrays()}
        if repeated := [name for name in names if name in standing]:
            verb = "is" if len(repeated) == 1 else "are"
            raise LimitError(
                f"{quote_names(repeated)} {verb} on the worksheet {title!r:.80} already: choose another name, "
                "or another worksheet with sheet="
            )

    def check_free(self, title: str, layout: Layout, corner: tuple[int, int]) -> None:
        """Refuse cells that hold something where a layout is to stand, and those of Excel Tables."""
        for (row, column), text in sorted(self.cells.items(), key=lambda cell: cell[0]):
            _check_cell(title, row, column, layout, corner, begins_array=text == "ndarray")
        for table in self.tables:
            _check_table(title, table, layout, corner)


def stand_openpyxl(sheet: Any) -> Standing:
    """Return what a worksheet of openpyxl holds."""
    cells = {
        (row - 1, column - 1): without_escapes(cell.value) if isinstance(cell.value, str) else None
        for (row, column), cell in sheet._cells.items()
        if cell.value is not None or type(cell).__name__ == "MergedCell"
    }
    return Standing(cells, tuple(table.ref for table in sheet.tables.values()))


def stand_xlsxwriter(sheet: Any) -> Standing:
    """Return the cells of a worksheet of XlsxWriter; in constant memory, those not yet written to the disk."""
    texts = {number: text for text, number in sheet.str_table.string_table.items()}
    held = {(row, column): cell for row, cells in sheet.table.items() for column, cell in cells.items()}
    cells: dict[tuple[int, int], str | None] = dict.fromkeys(sheet.merged_cells)
    cells |= {place: texts.get(getattr(cell, "string", None)) for place, cell in held.items()}
    return Standing(cells, tuple(table["range"] for table in sheet.tables))


def _check_cell(
    title: str,
    row: int,
    column: int,
    layout: Layout,
    corner: tuple[int, int],
    what: str = "holds something",
    *,
    begins_array: bool = False,
) -> None:
    """Refuse a cell that holds something where a layout is to stand, or below one of its arrays; or above a table, if
    an array begins there, of which the table would become elements.
    """
    down, right = row - corner[0], column - corner[1]
    if not 0 <= right < len(layout.pieces) or (down < 0 and (layout.pieces[right].header or not begins_array)):
        return
    if down < 0:
        what, reason = "begins an array", "above, which would take the table for elements"
    elif down < layout.height:
        reason = "already, and nothing is overwritten"
    elif layout.pieces[right].header:
        reason = "below, which would be read as an element"
    else:
        return
    raise LimitError(
        f"{title}!{cell_address(row, column)} {what} {reason}: "
        "choose another cell with at=, or another worksheet with sheet="
    )


def _check_table(title: str, cells: str, layout: Layout, corner: tuple[int, int]) -> None:
    """Refuse the cells of an Excel Table where a layout is to stand, blank ones too."""
    first, last = map(parse_cell, cells.split(":"))
    for column in range(first[1], last[1] + 1 if last[0] >= corner[0] else 0):
        _check_cell(title, max(first[0], corner[0]), column, layout, corner, "belongs to an Excel Table")
