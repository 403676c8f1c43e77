"""Runs of cells, as a sheet gives them row by row, sorted into the columns that are requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from .....columns import Request
from .....dtypes import Positions
from .....errors import FormatError
from ....workbooks import MOST_COLUMNS
from ..cells import CellRun, join_cells, take_texts

_CELLS_A_RUN = 2**18  # cells that are collected, at least, before they are sorted
_CELLS_A_COLUMN = 64  # cells for each column that are collected, at least, where that is more
LONG_COLUMN = 2**8  # rows, of the same columns, from which on a run is cut into columns without sorting
_BLANKS_ALWAYS, _BLANKS_TIMES = 2**23, 32  # blanks that columns may have in all, and how many more for each other cell


def gather_columns(
    runs: Iterable[CellRun],
    requests: Sequence[Request],
    *,
    most_blanks: int = _BLANKS_ALWAYS,
    note: Callable[[CellRun], None] | None = None,
) -> list[list[CellRun]]:
    """Return the cells of each requested column, run by run; their rows count from the requested one.

    `most_blanks`: that the columns may have in all, beside some for each other cell. `note`: is given each run.

    Raises:
        FormatError: there are so few cells, so far apart, that the columns would be next to nothing but blanks.
    """
    columns: list[list[CellRun]] = [[] for _ in requests]
    index_of = np.full(MOST_COLUMNS, -1, dtype=np.int64)
    index_of[[request.column for request in requests]] = np.arange(len(requests))
    first_rows = np.array([request.row for request in requests], dtype=np.int64)
    least = max(_CELLS_A_RUN, _CELLS_A_COLUMN * len(requests))
    waiting: list[tuple[Positions, CellRun]] = []
    count = 0  # of the cells that wait
    for run in runs:
        if note is not None:
            note(run)
        if run.width and len(run) >= LONG_COLUMN * run.width and (run.rows[0] >= first_rows).all():
            _sort_runs(waiting, first_rows, columns)
            waiting, count = [], 0
            _slice_run(run, index_of, first_rows, columns)
            continue
        which = index_of[run.columns]
        mask = which >= 0
        mask &= run.rows >= first_rows[which]
        if not mask.all():
            run, which = run.select(mask), which[mask]
        if not len(run):
            continue
        waiting.append((which, run))
        count += len(which)
        if count >= least:
            _sort_runs(waiting, first_rows, columns)
            waiting, count = [], 0
    _sort_runs(waiting, first_rows, columns)
    refuse_blanks(sum(map(height_of, columns)), sum(len(run) for column in columns for run in column), most_blanks)
    return columns


def refuse_blanks(slots: int, cells: int, most_blanks: int) -> None:
    """Refuse columns of almost only blanks, whose arrays would take far more memory than their few cells.

    Raises:
        FormatError: there are more than `most_blanks` blanks, and some for each other cell.
    """
    if slots > most_blanks + _BLANKS_TIMES * cells:
        raise FormatError(
            f"{cells} cells, so far apart that their columns are {slots} cells long",
            hint="delete the cells that stand far below all others",
        )


def _slice_run(run: CellRun, wanted: Positions, first_rows: Positions, columns: list[list[CellRun]]) -> None:
    """Give each column its cells of a run whose rows all have the same columns.

    `wanted`: by the number of a column in the sheet, its index among the requested columns, or -1. `first_rows`: the
    row from which on each requested column is wanted.
    """
    rows, count = run.rows[:: run.width], len(run) // run.width
    places = [place for place, column in enumerate(run.columns[: run.width].tolist()) if wanted[column] >= 0]
    kinds, rows_from, texts = run.kinds.reshape(count, run.width), dict[int, Positions](), run.values
    numbers = run.numbers.reshape(count, run.width)
    by_column = numbers.T if run.width == 1 else np.ascontiguousarray(numbers[:, places].T)
    for place, own in zip(places, by_column, strict=False):
        which = int(wanted[run.columns[place]])
        first = int(first_rows[which])
        if first not in rows_from:  # columns that begin in one row share the memory of their rows
            rows_from[first] = rows - first
        column_texts = None if texts is None else take_texts(texts, slice(place, None, run.width))
        column = CellRun.of_line(rows_from[first], kinds[:, place], own, column_texts, width=1)
        columns[which].append(column)


def _sort_runs(runs: list[tuple[Positions, CellRun]], first_rows: Positions, columns: list[list[CellRun]]) -> None:
    """Give each column its cells of some runs, which are sorted by column.

    `runs`: cells, and for each cell the index of its column among the requested ones. `first_rows`: the row from which
    on each requested column is wanted.
    """
    if not runs:
        return
    which = runs[0][0] if len(runs) == 1 else np.concatenate([places for places, _ in runs])
    cells = join_cells([run for _, run in runs])
    if len(columns) > 1:
        order = np.argsort(which.astype(np.uint16), kind="stable")
        which, cells = which[order], cells.gather(order)
    bounds = np.searchsorted(which, np.arange(len(columns) + 1))
    rows, kinds, numbers, texts = cells.rows - first_rows[which], cells.kinds, cells.numbers, cells.written()
    gaps = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(rows) != 1)])  # before each cell
    filled = np.flatnonzero(np.diff(bounds))
    starts, ends = bounds[filled], bounds[filled + 1]
    together = gaps[ends - 1] == gaps[starts]
    all_rows = np.arange(int((rows[starts] + ends - starts)[together].max(initial=0)))  # whose memory columns share
    places = zip(filled.tolist(), starts.tolist(), ends.tolist(), rows[starts].tolist(), together.tolist(), strict=True)
    for index, start, end, first, unbroken in places:  # of which there may be thousands: views, no copies
        rows_of_column = all_rows[first : first + end - start] if unbroken else rows[start:end]
        own_texts = None if texts is None else take_texts(texts, slice(start, end))
        own = kinds[start:end], numbers[start:end], own_texts
        columns[index].append(CellRun.of_line(rows_of_column, *own, width=int(unbroken)))


def height_of(runs: Sequence[CellRun]) -> int:
    """Return how many rows a column has, from the requested row to its last cell; the runs may be in any order."""
    return max([run.after for run in runs], default=0)


def join_gathered(columns: Sequence[list[CellRun]]) -> CellRun:
    """Return the cells of some columns, column by column, each from top to bottom. The lists are emptied, for memory.

    Their columns count from the first of these.
    """
    runs = [run for column in columns for run in column]
    if len(columns) == len(runs) == 1 and runs[0].width:
        return runs[0]
    sizes = [sum(map(len, column)) for column in columns]
    which = np.repeat(np.arange(len(columns)), sizes) if len(columns) > 1 else np.broadcast_to(np.int64(0), sizes[0])
    cells = join_cells(runs, which)
    for column in columns:
        column.clear()
    return _from_top_to_bottom(cells)


def sort_by_column(runs: Sequence[CellRun], numbers: Sequence[int], first: int) -> CellRun:
    """Return the cells of some runs, column by column, each from top to bottom.

    Their rows count from the row `first`, their columns are indices among the `numbers` of the columns in the sheet.
    """
    if not runs:
        return CellRun.none()
    cells = join_cells(runs)
    cells = cells.gather(np.argsort(cells.columns.astype(np.uint16), kind="stable"))
    which = np.searchsorted(numbers, cells.columns)
    return _from_top_to_bottom(replace(cells, rows=cells.rows - first, columns=which))


def _from_top_to_bottom(cells: CellRun) -> CellRun:
    """Sort the cells of each column from top to bottom; the columns keep their order."""
    rows, columns = cells.rows, cells.columns
    if ((columns[1:] != columns[:-1]) | (rows[1:] > rows[:-1])).all():
        return cells
    return cells.gather(np.lexsort((cells.rows, cells.columns)))
