"""Two arrays of which one has more rows than the other: which rows were added or deleted, and which are the same.

Rows are those along the one axis whose length changed. They are known again by their elements, floats by their first
nine digits, so that rounding hides none; rows that stand once in each array are fixed points, and between two of them
rows are paired so that as few elements as possible differ.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Array, Positions

MOST_PAIRS = 4096  # of rows between two fixed points that are compared each with each
_BITS = 30  # of a float's mantissa by which its row is known: nine digits
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The rows of two arrays that belong together.

    Attributes:
        axis: along which the rows lie.
        pairs: the rows of A, and of B, that are compared with one another; both ascend.
        deleted: the rows of A that B lacks.
        inserted: the rows of B that A lacks.
    """

    axis: int
    pairs: tuple[Positions, Positions]
    deleted: list[int]
    inserted: list[int]


def align_rows(a: Array, b: Array) -> Alignment | None:
    """Return the pairs of rows that belong together; None if several axes changed, or no row of A is in B.

    Example:
        >>> aligned = align_rows(np.array([1, 2, 3]), np.array([1, 7, 2, 3]))
        >>> aligned.inserted, aligned.deleted
        ([1], [])
    """
    axes = [axis for axis, sizes in enumerate(zip(a.shape, b.shape, strict=False)) if sizes[0] != sizes[1]]
    if a.ndim != b.ndim or len(axes) != 1 or a.dtype.kind + b.dtype.kind in ("UO", "OU"):
        return None
    axis = axes[0]
    keys = _row_keys(a, b, axis)
    if not np.isin(keys[0], keys[1]).any():
        return None
    first, second = map(np.asarray, zip(*_pair_rows(*keys), strict=True))
    deleted = np.setdiff1d(np.arange(a.shape[axis]), first).tolist()
    inserted = np.setdiff1d(np.arange(b.shape[axis]), second).tolist()
    return Alignment(axis, (first, second), deleted, inserted)


def format_rows(rows: list[int]) -> str:
    """Return rows as people say them: `row 30`, `rows 31 to 33`, or how many where they are no single run."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if rows[-1] - rows[0] == len(rows) - 1:
        return f"rows {rows[0]} to {rows[-1]}"
    return f"{len(rows):,} rows from {rows[0]} to {rows[-1]}"


# Keys --------------------------------------------------------------------------------------------------------


def _row_keys(a: Array, b: Array, axis: int) -> tuple[Positions, Positions]:
    """Return a number for each row, the same for rows that hold the same."""
    rows = [np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (a, b)]
    kinds = {array.dtype.kind for array in (a, b)}
    if kinds <= set("biufc"):
        floats = bool(kinds & set("fc")) or len({array.dtype for array in (a, b)}) > 1
        codes = [_number_codes(array, floats=floats) for array in rows]
    elif kinds <= set("mM"):
        unit = np.promote_types(a.dtype, b.dtype)
        codes = [array.astype(unit).view(np.int64).astype(np.uint64) for array in rows]
    else:
        known: dict[Any, int] = {}
        codes = [
            np.array(
                [known.setdefault(repr(cell), len(known)) for cell in array.reshape(-1).tolist()], np.uint64
            ).reshape(array.shape)
            for array in rows
        ]
    first, second = map(_mix_rows, codes)
    return first, second


def _number_codes(rows: Array, *, floats: bool) -> Array:
    if not floats:
        return rows.astype(np.int64).astype(np.uint64) if rows.dtype.kind != "u" else rows.astype(np.uint64)
    if rows.dtype.kind == "c":
        return np.concatenate([_number_codes(np.real(rows), floats=True), _number_codes(np.imag(rows), floats=True)], 1)
    mantissa, exponent = np.frexp(rows.astype(np.float64))
    known = np.isfinite(mantissa)
    codes = np.round(np.where(known, mantissa, 0) * 2.0**_BITS).astype(np.int64) * 4096 + exponent
    return np.where(known, codes, np.where(np.isnan(mantissa), 1, np.where(mantissa > 0, 2, 3))).astype(np.uint64)


def _mix_rows(codes: Array) -> Positions:
    """Return one number for each row of codes."""
    keys = np.zeros(len(codes), np.uint64)
    for column in range(codes.shape[1]):
        keys = (keys ^ codes[:, column]) * _MIX
        keys ^= keys >> np.uint64(29)
    return keys.view(np.int64)


# Pairs -------------------------------------------------------------------------------------------------------


def _pair_rows(a: Positions, b: Positions) -> Iterator[tuple[int, int]]:
    """Yield the rows that belong together, ascending, by their keys."""
    shortest = min(len(a), len(b))
    start = _count_equal(a[:shortest], b[:shortest])
    end = _count_equal(a[start:][::-1][: shortest - start], b[start:][::-1][: shortest - start])
    yield from ((row, row) for row in range(start))
    stops = len(a) - end, len(b) - end
    done = start, start
    for row, other in [*_fixed_points(a, b, start, stops), stops]:
        yield from _pair_between(a, b, done, (row, other))
        if (row, other) != stops:
            yield row, other
        done = row + 1, other + 1
    yield from zip(range(stops[0], len(a)), range(stops[1], len(b)), strict=True)


def _count_equal(a: Positions, b: Positions) -> int:
    """Return the number of equal keys before the first that differ."""
    other = np.flatnonzero(a != b)
    return int(other[0]) if len(other) else len(a)


def _fixed_points(a: Positions, b: Positions, start: int, stops: tuple[int, int]) -> list[tuple[int, int]]:
    """Return pairs of equal rows, each of which occurs once in either array: the most that follow in the same order."""
    lists = []
    for keys, stop in ((a, stops[0]), (b, stops[1])):
        unique, places, counts = np.unique(keys[start:stop], return_index=True, return_counts=True)
        lists.append((unique[counts == 1], places[counts == 1] + start))
    _, first, second = np.intersect1d(lists[0][0], lists[1][0], assume_unique=True, return_indices=True)
    places = lists[0][1][first]
    order = np.argsort(places)
    rows, others = places[order].tolist(), lists[1][1][second][order].tolist()
    ends: list[int] = []  # of the ascending runs of each length, the lowest last row
    last: list[int] = []  # which point that is
    before: list[int] = []
    for point, other in enumerate(others):
        length = bisect_left(ends, other)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [other], [point]
    points: list[tuple[int, int]] = []
    point = last[-1] if last else -1
    while point >= 0:
        points.append((rows[point], others[point]))
        point = before[point]
    return points[::-1]


def _pair_between(
    a: Positions, b: Positions, start: tuple[int, int], stop: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the rows between two fixed points that belong together: all of the side that has fewer."""
    rows, others = range(start[0], stop[0]), range(start[1], stop[1])
    if len(rows) * len(others) > MOST_PAIRS or len(rows) == len(others):
        yield from zip(rows, others, strict=False)
        return
    few, many = (rows, others) if len(rows) < len(others) else (others, rows)
    spare = len(many) - len(few)
    # The most keys that are the same, for the first few and the first many of them.
    best = np.zeros((len(few) + 1, spare + 1), np.int64)
    keys = (a, b) if few is rows else (b, a)
    for number in range(1, len(few) + 1):
        for skipped in range(spare + 1):
            same = int(keys[0][few[number - 1]] == keys[1][many[number - 1 + skipped]])
            best[number, skipped] = max(best[number - 1, skipped] + same, best[number, skipped - 1] if skipped else 0)
    pairs: list[tuple[int, int]] = []
    number, skipped = len(few), spare
    while number:
        while skipped and best[number, skipped] == best[number, skipped - 1]:
            skipped -= 1
        pairs.append((few[number - 1], many[number - 1 + skipped]))
        number -= 1
    yield from (pair if few is rows else pair[::-1] for pair in reversed(pairs))
