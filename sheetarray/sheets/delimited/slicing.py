"""Groups the columns of a delimited text that are parsed together, and cuts columns that hold several arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...columns import ColumnCells, Request, Texts
from ...elements import Cell

if TYPE_CHECKING:
    import polars as pl

MOST_SHORT = 2000  # cells; columns with no more are split in plain Python
_MOST_ABOVE = 256  # rows between the first cells of columns that are parsed together
_MOST_GROUPS = 16  # groups of columns, each of which parses the text once; else all columns are one group
_CELLS_AT_ONCE = 2**16


def group_requests(requests: Sequence[Request]) -> Iterator[tuple[list[int], bool]]:
    """Yield the indices of requests that are parsed together, and whether each column among them is asked for once.

    Together are those that begin in about the same row. Columns with several arrays are one group, and so is
    everything where arrays begin in very many rows.
    """
    times = Counter(request.column for request in requests)
    alone = [index for index, request in enumerate(requests) if times[request.column] == 1]
    others = [index for index, request in enumerate(requests) if times[request.column] > 1]
    alone.sort(key=lambda index: requests[index].row)
    groups: list[list[int]] = []
    for index in alone:
        if groups and requests[index].row - requests[groups[-1][0]].row <= _MOST_ABOVE:
            groups[-1].append(index)
        else:
            groups.append([index])
    if len(groups) > _MOST_GROUPS:
        others, groups = others + alone, []
    yield from ((group, True) for group in groups)
    if others:
        yield others, False


class ColumnSlices:
    """Parts of a long column of text: those of a few cells as lists, of which many are made at once."""

    def __init__(self, column: Any) -> None:
        self._column = column
        self._first, self._cells = 0, column[:_CELLS_AT_ONCE].to_list()

    def cut(self, first: int, end: int | None) -> pl.Series | Texts:
        """Return the cells from the first one to the one before the end."""
        end = len(self._column) if end is None else end
        if end - first > MOST_SHORT:
            part: pl.Series = self._column[first:end]
            return part
        if not self._first <= first <= end <= self._first + len(self._cells):
            self._first, self._cells = first, self._column[first : max(end, first + _CELLS_AT_ONCE)].to_list()
        return Texts(self._cells[first - self._first : end - self._first])


def cut_at_stop(head: list[Cell], body: pl.Series, request: Request) -> ColumnCells:
    """Return the cells of a request: those before the common body, and those in it, as far as the request goes."""
    if request.stop is None:
        return head, body
    count = request.stop - request.row
    return head[:count], body[: max(0, count - len(head))]
