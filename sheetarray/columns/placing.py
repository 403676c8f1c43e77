"""Lays arrays out in the columns of sheets: a name in row 1, a header below it, then elements.

An array longer than a column of the container continues in the next ones, each a complete column with a header of
its own; columns for which a sheet has no room go on in the next sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..errors import LimitError
from ..linear.array import LinearArray
from ..linear.parsing import normalize_key
from .layout import Layout, LayoutColumn, is_single_description
from .refusals import check_cell_texts, check_names
from .words import WORDS


class SheetRoom(NamedTuple):
    """What a sheet of a container has room for; None for any number."""

    rows: int | None = None
    columns: int | None = None
    characters: int | None = None  # of the text in a cell, in UTF-16 units, as spreadsheets count it

    def beyond(self, corner: tuple[int, int]) -> SheetRoom:
        """Return the room from a row and a column on."""
        rows = None if self.rows is None else self.rows - corner[0]
        return SheetRoom(rows, None if self.columns is None else self.columns - corner[1], self.characters)


def lay_out_sheets(
    arrays: Mapping[str, LinearArray],
    room: SheetRoom,
    *,
    names: bool = True,
    aligned: bool = False,
    header_rows: int = 0,
    serials: bool = False,
) -> list[Layout]:
    """Place arrays in the columns of as many sheets as they need, in their order; at least one sheet.

    `names`: whether row 1 holds the names. `aligned`: whether the data of all arrays begin in one row: headers end
    there, and blanks stand above the shorter ones. Where a name is a word of headers, nothing is aligned: readers tell
    such a name from a header by what follows at once. `header_rows`: the row, counted from 0, above which aligned data
    do not begin. `serials`: whether dates become serial numbers, where those are exact.

    Raises:
        LimitError: a name that no sheet can carry, or a text that no cell can.
    """
    if names:
        check_names(arrays)
    if room.characters is not None:
        check_cell_texts(arrays, room.characters)
    above = 0
    if aligned and names and can_align(arrays):
        above = max(_tallest_header(arrays, names, room.rows), header_rows - 1)
    pieces: list[LayoutColumn] = []
    for name, array in arrays.items():
        header = array.header.to_cells()
        blanks = 0 if is_single_description(name, array.buffer) else max(above - len(header), 0)
        whole = LayoutColumn(name, header, array.dtype_entry, array.buffer, 0, blanks, serials)
        if room.rows is None or names + whole.height <= room.rows:
            pieces.append(whole)
        else:
            pieces += _cut_into_parts(name, array, names, room.rows, above, serials)
    step = room.columns or len(pieces) or 1
    return [Layout(pieces[start : start + step], names) for start in range(0, len(pieces) or 1, step)]


def can_align(names: Iterable[str]) -> bool:
    """Return whether blanks may stand between these names and headers: none of them reads as a word of headers."""
    return not any(normalize_key(name) in WORDS for name in names)


def _tallest_header(arrays: Mapping[str, LinearArray], names: bool, max_rows: int | None) -> int:
    """Return the number of cells in the tallest header; headers of parts have one field more."""
    tallest, cut = 0, set[str]()
    while True:
        headers = {(id(array.header), name in cut): array.header for name, array in arrays.items()}  # which many share
        for (_, is_cut), header in headers.items():
            tallest = max(tallest, len((replace(header, part=(1, 1)) if is_cut else header).to_cells()))
        taller = {name for name, array in arrays.items() if max_rows and names + tallest + array.capacity > max_rows}
        if taller <= cut:
            return tallest
        cut |= taller


def _cut_into_parts(
    name: str, array: LinearArray, names: bool, max_rows: int, above: int, serials: bool
) -> Iterator[LayoutColumn]:
    """Yield the columns of an array that is longer than one; `above` is how many cells stand at least between a name
    and its elements.
    """
    header = array.header
    header_height = len(replace(header, part=(1, 1)).to_cells())
    room = max_rows - names - max(header_height, above)
    if room < 1:
        raise LimitError(f"{name}: its header does not fit into {max_rows} rows")
    count = -(-array.capacity // room)
    if not names:
        raise LimitError(f"{name}: it takes {count} columns, and only names can show that these belong to one array")
    blanks = max(above - header_height, 0)
    for k in range(count):
        cells = replace(header, part=(k + 1, count)).to_cells()
        buffer = array.buffer[k * room : (k + 1) * room]
        yield LayoutColumn(name, cells, array.dtype_entry, buffer, k * room, blanks, serials)
