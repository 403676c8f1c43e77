"""Columns of a worksheet, cut into runs of rows and joined to batches, each of which one request fetches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .address import Rect

CELLS_A_REQUEST = 100_000  # cells that one request fetches at most; doubles are some 2 MB of JSON


@dataclass(frozen=True, slots=True)
class RunToFetch:
    """Neighbouring cells of a column, to be fetched together.

    Attributes:
        column: the column, counted from 0.
        top: the row of the first cell, counted from 0.
        bottom: the row after the last cell; None for all cells down to the end of the worksheet.
        expected: the number of cells that are likely to be filled.
    """

    column: int
    top: int
    bottom: int | None
    expected: int


def plan_batches(ends: dict[int, int], size: tuple[int, int] | None) -> list[list[RunToFetch]]:
    """Return columns cut into runs, and these in batches of at most `CELLS_A_REQUEST` cells each.

    Args:
        ends: about how many rows of each column are filled, by the column.
        size: the rows and columns of the worksheet's grid; None if they are unknown.
    """
    batches: list[list[RunToFetch]] = [[]]
    cells = 0
    for run in (run for column in sorted(ends) for run in cut_column(column, ends[column], size)):
        if batches[-1] and cells + run.expected > CELLS_A_REQUEST:
            batches.append([])
            cells = 0
        batches[-1].append(run)
        cells += run.expected
    return batches


def cut_column(column: int, end: int, size: tuple[int, int] | None) -> list[RunToFetch]:
    """Return the runs of a column from its first cell down to the end of the worksheet; the last one has no bottom.

    Args:
        column: the column, counted from 0.
        end: about how many of its rows are filled.
        size: the rows and columns of the worksheet's grid; None if they are unknown.
    """
    end = max(end if size is None else min(end, size[0]), 1)
    tops = range(0, end, CELLS_A_REQUEST)
    closed = [RunToFetch(column, top, top + CELLS_A_REQUEST, CELLS_A_REQUEST) for top in tops[:-1]]
    return [*closed, RunToFetch(column, tops[-1], None, end - tops[-1])]


def join_ranges(runs: Sequence[RunToFetch]) -> list[Rect]:
    """Return runs as ranges; runs of neighbouring columns over the same rows become one range."""
    rects: list[Rect] = []
    for run in runs:
        last = rects[-1] if rects else None
        if last and (last.top, last.bottom, last.right) == (run.top, run.bottom, run.column):
            rects[-1] = last._replace(right=run.column + 1)
        else:
            rects.append(Rect(run.top, run.column, run.bottom, run.column + 1))
    return rects
