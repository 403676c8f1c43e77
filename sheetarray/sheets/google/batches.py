"""Columns of a worksheet as ranges, in batches for a request each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .address import Rect

CELLS_A_REQUEST = 100_000  # about 2 MB of doubles


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a column, to be fetched; `bottom` is None for all that are left, about `expected` of them."""

    column: int
    top: int
    bottom: int | None
    expected: int


def plan_batches(ends: dict[int, int], size: tuple[int, int] | None) -> list[list[Part]]:
    """Return columns in parts, and these in batches for a request each."""
    batches: list[list[Part]] = [[]]
    cells = 0
    for part in (part for column in sorted(ends) for part in cut_column(column, ends[column], size)):
        if batches[-1] and cells + part.expected > CELLS_A_REQUEST:
            batches.append([])
            cells = 0
        batches[-1].append(part)
        cells += part.expected
    return batches


def cut_column(column: int, end: int, size: tuple[int, int] | None) -> list[Part]:
    """Return a column down to the end of the sheet, in runs of rows; the last one is open."""
    end = max(end if size is None else min(end, size[0]), 1)
    tops = range(0, end, CELLS_A_REQUEST)
    closed = [Part(column, top, top + CELLS_A_REQUEST, CELLS_A_REQUEST) for top in tops[:-1]]
    return [*closed, Part(column, tops[-1], None, end - tops[-1])]


def join_ranges(parts: Sequence[Part]) -> list[Rect]:
    """Return ranges, neighbouring columns of the same rows as one."""
    rects: list[Rect] = []
    for part in parts:
        last = rects[-1] if rects else None
        if last and (last.top, last.bottom, last.right) == (part.top, part.bottom, part.column):
            rects[-1] = last._replace(right=part.column + 1)
        else:
            rects.append(Rect(part.top, part.column, part.bottom, part.column + 1))
    return rects
