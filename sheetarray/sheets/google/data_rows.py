"""Finds the row in which the data of all arrays begin: blanks stand between names and headers that are shorter.

Readers accept a name above blanks only if another array has its name and its data in the same two rows. So there are no
blanks if a write leaves no such array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ...columns import Layout, can_align
from .content import StandingArray


@dataclass(frozen=True, slots=True)
class DataRows:
    """The rows in which columns of a layout begin.

    Attributes:
        layout: with the blanks that stand between names and headers.
        rows: of the first cells that are written, by the index of the column: of the name, or of the header where the
            name stands already.
        lowered: arrays that stay where they are, whose names are put right above their headers.
        moved: whether the data of all arrays now begin in one row, where they did not, or in another.
    """

    layout: Layout
    rows: dict[int, int]
    lowered: tuple[StandingArray, ...] = ()
    moved: bool = False


@dataclass(slots=True)
class _Column:
    """A column as it will be: the row of its name, the blanks below that, and how tall its header is."""

    name_row: int
    blanks: int
    header: int
    kept: StandingArray | None = None

    @property
    def rows(self) -> tuple[int, int]:
        return self.name_row, self.name_row + 1 + self.blanks + self.header


def align_data(
    layout: Layout,
    standing: Sequence[StandingArray],
    replaced: Mapping[int, StandingArray],
    kept: Collection[StandingArray],
    *,
    own: bool,
) -> DataRows:
    """Return the rows in which the columns of a layout begin in a worksheet that is there.

    Args:
        layout: what is written.
        standing: all arrays that stand there.
        replaced: the arrays that columns of the layout replace, by the index of the column.
        kept: those that stay.
        own: whether the worksheet is ours, so that its rows may be arranged anew where nothing of it is kept.
    """
    if not standing:
        return DataRows(layout, dict.fromkeys(range(len(layout.pieces)), 0))
    common = _find_common_rows(layout, standing, may_move=own and not kept)
    top = min(_name_row(array) for array in standing)
    columns = {}
    for index, piece in enumerate(layout.pieces):
        array = replaced.get(index)
        if array is not None and array.name_cell is None:
            continue  # it has no name, and stays where it is
        name_row = top if array is None else _name_row(array)
        data = array.data[0] if array is not None and array.anchor.blanks else 0
        if common is not None:
            name_row, data = common[0] if array is None else name_row, common[1]
        height = len(piece.header)
        columns[index] = _Column(name_row, max(data - name_row - 1 - height, 0), height)
    others = [
        _Column(_name_row(array), array.anchor.blanks, array.anchor.start, array)
        for array in kept
        if array.name_cell is not None and array.anchor.orient == "columns"
    ]
    _keep_names([*columns.values(), *others])
    pieces = [
        replace(piece, blanks=columns[index].blanks if index in columns else 0)
        for index, piece in enumerate(layout.pieces)
    ]
    rows = {index: _first_row(index, replaced, columns) for index in range(len(pieces))}
    lowered = tuple(column.kept for column in others if column.kept and column.blanks != column.kept.anchor.blanks)
    moved = common is not None and {array.data[0] for array in standing} != {common[1]}
    return DataRows(Layout(pieces, layout.named), rows, lowered, moved)


def _first_row(index: int, replaced: Mapping[int, StandingArray], columns: Mapping[int, _Column]) -> int:
    """Return the row of the first cell that is written of a column."""
    if index not in columns:
        return replaced[index].anchor.row
    column = columns[index]
    return column.name_row + 1 + column.blanks if index in replaced else column.name_row


def _name_row(array: StandingArray) -> int:
    return array.name_cell.top if array.name_cell else max(array.anchor.row - 1, 0)


def _find_common_rows(layout: Layout, standing: Sequence[StandingArray], *, may_move: bool) -> tuple[int, int] | None:
    """Return the row of all names, and the row in which all data begin; None if they have no such rows."""
    names = {array.name_cell.top if array.name_cell else -1 for array in standing}
    plain = all(array.anchor.orient == "columns" and array.anchor.header is not None for array in standing)
    words = [*(array.anchor.name for array in standing), *(piece.name for piece in layout.pieces)]
    if len(names) > 1 or -1 in names or not plain or not can_align(words):
        return None
    (name_row,) = names
    begins = {array.data[0] for array in standing}
    least = name_row + 1 + max(len(piece.header) for piece in layout.pieces)
    if len(begins) == 1 and (least <= min(begins) or not may_move):
        return name_row, min(begins)
    return (name_row, least) if may_move and not name_row else None


def _keep_names(columns: Sequence[_Column]) -> None:
    """Take blanks away where no other array has its name and its data in the same rows."""
    while True:
        counts = Counter(column.rows for column in columns)
        alone = [column for column in columns if column.blanks and counts[column.rows] < 2]
        if not alone:
            return
        for column in alone:
            if column.kept is not None:
                column.name_row += column.blanks
            column.blanks = 0
