"""Named ranges: the ranges of arrays, under names that formulas understand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...columns import LayoutColumn
from ...elements import Cell
from .address import Rect
from .sent_cells import find_difference, to_cells
from .standing import StandingArray
from .state.spreadsheet import NamedRange, State, Worksheet


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of a layout, with the cells of the worksheet to which it goes."""

    index: int  # of the column in the layout
    piece: LayoutColumn  # the column
    row: int  # of the first cell, in the worksheet
    column: int
    named: bool  # whether the first cell is the name, in a blank column; else it goes below the name that stands there

    @property
    def name_cell(self) -> tuple[int, int]:
        """The row and the column of the name."""
        return (self.row if self.named else max(self.row - self.piece.blanks - 1, 0)), self.column

    @property
    def cells(self) -> Rect:
        """The cells that it takes."""
        height = self.named * (1 + self.piece.blanks) + len(self.piece.header) + len(self.piece.buffer)
        return Rect(self.row, self.column, self.row + height, self.column + 1)

    @property
    def elements(self) -> Rect:
        """The cells of the elements; if there are none, the word `data`."""
        bottom = self.cells.bottom
        return Rect(bottom - max(len(self.piece.buffer), 1), self.column, bottom, self.column + 1)

    def sent(self, start: int = 0, stop: int | None = None) -> list[Cell]:
        """Return its cells as they are sent, or some of them."""
        head = self.piece.cells_above(named=self.named)
        stop = len(head) + len(self.piece.buffer) if stop is None else stop
        first = max(start - len(head), 0)
        return [*head[start:stop], *to_cells(self.piece, first, max(stop - len(head) - first, 0))]

    def find_change(self, start: int, stop: int | None, kept: Sequence[Cell]) -> str | None:
        """Return a sentence about the first cell that the service changed; None if all are as they were sent."""
        sent = self.sent(start, stop)
        wrong = find_difference(sent, kept)
        if wrong is None:
            return None
        index = start + wrong - len(self.piece.cells_above(named=self.named))
        where = f"{self.piece.name}, buffer element {self.piece.start + index}" if index >= 0 else self.piece.name
        sent_cell, kept_cell = (cells[wrong] if wrong < len(cells) else "" for cells in (sent, kept))
        return f"{where}: the service keeps {sent_cell!r:.60} as {kept_cell!r:.60}"


# formulas understand names of letters, digits and underscores that do not look like the address of a cell.

_LONGEST = 200  # characters of a name, before a number is put behind it
_CELL_LIKE = re.compile(r"[A-Z]{1,3}\d+|R\d*|C\d*|R\d*C\d*|(?:TRUE|FALSE).*|\d.*", re.IGNORECASE | re.ASCII | re.DOTALL)


def range_name(name: str, taken: Collection[str]) -> str:
    """Return the name for the range of an array's elements: the array's name, changed as far as needed.

    Example:
        >>> range_name("sea level", ()), range_name("T1", ()), range_name("größe", {"grosse"})
        ('sea_level', '_T1', 'grosse_2')
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    letters = re.sub(r"\W+", "_", plain, flags=re.ASCII)[:_LONGEST].strip("_") or "array"
    name_free = base = f"_{letters}" if _CELL_LIKE.fullmatch(letters) else letters
    index = 1
    while name_free.lower() in taken:
        index += 1
        name_free = f"{base}_{index}"
    return name_free


def plan_ranges(
    state: State,
    sheet: Worksheet | None,
    placed_columns: Sequence[PlacedColumn],
    replaced: dict[str, list[StandingArray]],
    blocked: Collection[str],
) -> Iterator[tuple[str, Rect, NamedRange | None]]:
    """Yield the named range of each array; one over its elements that is there keeps its name, whatever that is.

    So does the one that an array of the name has left, whose cells somebody has cleared.
    """
    taken = {named.name.lower() for named in state.ranges} | set(blocked)
    here = [named for named in state.ranges if sheet and named.gid == sheet.gid and named.rect]
    for name, group in groupby(placed_columns, key=lambda placed: placed.piece.name):
        parts = list(group)
        if not parts[0].piece.header:
            continue  # a column of a table
        rect = parts[0].elements
        if parts[-1].column - parts[0].column == len(parts) - 1:
            rect = rect._replace(right=parts[-1].column + 1)
        starts = [standing.data for standing in replaced.get(name, [])] or [(rect.top, parts[0].column)]
        starts += [(row - 1, column) for row, column in starts]  # the word `data`, if there were no elements
        ranges_there = [named for named in here if named.rect and (named.rect.top, named.rect.left) in starts]
        if name not in replaced:
            ours = re.compile(re.escape(range_name(name, ())) + r"(_\d+)?", re.IGNORECASE)
            ranges_there = [named for named in ranges_there if ours.fullmatch(named.name)]
        yield from ((named.name, rect, named) for named in ranges_there)
        if not ranges_there:
            free_name = range_name(name, taken)
            taken.add(free_name.lower())
            yield free_name, rect, None
