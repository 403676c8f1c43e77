"""Finds the rows that were added to an array, or deleted from it, by its fingerprint.

Added rows are found by trying: without the right ones, the sum of all codes is what it was. Deleted rows are found by
the sums of the groups into which elements are dealt by the remainders of a prime (`sums`). If the remaining elements
are counted at their old indices, only the sums of those groups differ to which deleted elements belonged.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ....columns import RowChange
from ....dtypes import Buffer, Mask
from ....errors import Finding
from ....header import Header, count_rows
from .codes import Codes
from .record import Fingerprint
from .sums import KEPT
from .verdict import FingerprintComparison, SumsView, Verdict, compare_with_fingerprint

MOST_RUNS = 16  # runs of neighbouring rows that are tried as the added ones
MOST_TRIED = 20_000  # rows that are tried as the first deleted one
_LEAST_SUMS = 3  # sums of groups without deleted elements that must agree, at least
_KEPT = np.uint64(KEPT)


def compare_rows(
    stored: object, written: Header, buffer: Buffer, name: str, address: Callable[[int], str]
) -> Iterator[Finding | RowChange]:
    """Yield the rows that were added to an array or deleted from it, and findings about what else became of it.

    `stored`: the fingerprint, as it was stored; nothing is yielded if it is no fingerprint. `written`: the header as
    it stands in the sheet, with the length that was written. `buffer`: the elements that are there now, a whole number
    of rows. `address`: of the cell of an element, by its index in the buffer.
    """
    record, rows = Fingerprint.from_json(stored), count_rows(written)
    if record is None or rows is None:
        return
    if record.dtype != written.dtype.name or record.count != written.capacity:
        yield from compare_with_fingerprint(stored, written, buffer, name, address)
        return
    case, (count, row) = FingerprintComparison(record, buffer, written.dtype), rows
    more = len(buffer) - written.capacity
    if more < 0:
        firsts = next(filter(None, (_find_deleted(case, view, -more, row, count) for view in _views_of(case))), set())
        yield RowChange("deleted", _spread(firsts, _find_alike_deleted(case, -more, row)) or None)
        if firsts:
            yield from Verdict(case, written, name, address).find_rounding("every other number", lost=-more)
    else:
        firsts = next(filter(None, (_find_inserted(case, view, more, row, count) for view in _views_of(case))), set())
        first = max(firsts, default=None)
        if first is None and not case.view.edited_elements[1] and len(case.view.edited_elements[0]) < record.count:
            first, firsts = count, {count}  # at the end, beside edits of a few elements
        yield RowChange("inserted", _spread(firsts, _find_alike_added(case, more, row)) or None)
        if first is not None:
            start = first * row
            rest = np.delete(buffer, np.s_[start : start + more])
            yield from compare_with_fingerprint(
                stored, written, rest, name, lambda index: address(index if index < start else index + more)
            )


def _views_of(case: FingerprintComparison) -> list[SumsView]:
    """Return the views at each number of digits, the likeliest first, since it is unknown how numbers were rounded."""
    views = [case.view, case.fifteen, *([case.sixteen] if case.sixteen is not None else [])]
    return list({id(view): view for view in views}.values())


def _spread(firsts: set[int], alike: Mask) -> tuple[range, ...]:
    """Return the ranges of rows of which each may be the first added or deleted one.

    `alike`: a mask of the rows that may be the first one if and only if the next row may.
    """
    ranges: list[range] = []
    breaks = np.flatnonzero(~alike)
    for first in sorted(firsts):
        if ranges and first in ranges[-1]:
            continue
        place = int(np.searchsorted(breaks, first))
        start = int(breaks[place - 1]) + 1 if place else 0
        stop = int(breaks[place]) + 1 if place < len(breaks) else len(alike) + 1
        ranges.append(range(start, stop))
    return tuple(ranges)


# Added -------------------------------------------------------------------------------------------------------


def _find_inserted(case: FingerprintComparison, view: SumsView, more: int, row: int, count: int) -> set[int]:
    """Return the rows of which each may be the first added one, if nothing else was edited, but perhaps moved.

    `view`: the sums at one number of digits. `more`: the number of added elements. `row`: the number of elements in a
    row. `count`: the number of rows that were written.
    """
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(view.codes(case.buffer), dtype=np.uint64)])
    then = view.then[0][: view.partition.stretches].sum(dtype=np.uint64)
    starts = np.arange(0, (count + 1) * row, row)
    added = (sums[-1] - then) & _KEPT
    fitting = np.flatnonzero((sums[starts + more] - sums[starts]) & _KEPT == added)
    low, high = _limit_rows(view, row, count)
    rows = fitting[(low <= fitting) & (fitting <= high)]
    firsts: set[int] = set()
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    for run in runs[-MOST_RUNS:]:
        start = int(run[0]) * row
        if case.was(np.delete(case.buffer, np.s_[start : start + more])):
            firsts.update(run.tolist())
    return firsts or set(fitting.tolist())  # without these, the others are in another order


def _find_alike_added(case: FingerprintComparison, more: int, row: int) -> Mask:
    """Return a mask of the rows for which it makes no difference whether `more` elements are deleted there or below."""
    codes = case.view.codes(case.buffer)
    alike: Mask = (codes[:-more] == codes[more:]).reshape(-1, row).all(axis=1)
    return alike


# Deleted -----------------------------------------------------------------------------------------------------


def _find_deleted(case: FingerprintComparison, view: SumsView, lost: int, row: int, count: int) -> set[int]:
    """Return the rows of which each may be the first deleted one, if nothing else was edited.

    `view`: the sums at one number of digits. `lost`: the number of deleted elements. `row`: the number of elements in
    a row. `count`: the number of rows that were written.
    """
    codes = view.codes(case.buffer) & _KEPT
    if view.partition.stretch == 1:
        then = view.then[0][: view.partition.stretches]
        before = np.cumprod(np.append(True, codes == then[: len(codes)])).astype(bool)
        after = np.cumprod(np.append(True, (codes == then[lost:])[::-1])).astype(bool)[::-1]
        starts = np.arange(0, len(codes) + 1, row)
        rows: list[int] = (starts[before[starts] & after[starts]] // row).tolist()
        return set(rows)
    if not view.partition.primes:
        return set()
    low, high = _limit_rows(view, row, count - lost // row)
    return _try_deleted(view, codes, lost, row, range(low, min(high, low + MOST_TRIED) + 1))


def _find_alike_deleted(case: FingerprintComparison, lost: int, row: int) -> Mask:
    """Return a mask of the rows that equal the deleted ones, which may have stood before or after such a row."""
    view = case.view
    codes = view.codes(case.buffer)
    then = view.then[0][: view.partition.stretches].sum(dtype=np.uint64)
    deleted = (int(then) - int(codes.sum(dtype=np.uint64))) & int(_KEPT)
    rows = codes.reshape(-1, row).sum(axis=1, dtype=np.uint64) * np.uint64(lost // row)
    alike: Mask = (rows & _KEPT) == np.uint64(deleted)
    return alike


def _limit_rows(view: SumsView, row: int, most: int) -> tuple[int, int]:
    """Return the first and the last row that may be the first added or deleted one.

    All rows before are as written; the stretch that has changed first holds the change, or its neighbour if rows are
    alike.
    """
    stretch = view.partition.stretch
    low = (view.changed[0] if view.changed else view.whole) * stretch // row
    high = -(-(view.changed[0] + 2) * stretch // row) if view.changed else most
    return max(low - 1, 0), min(high, most)


def _try_deleted(view: SumsView, codes: Codes, lost: int, row: int, tried: range) -> set[int]:
    """Return those of some rows that may be the first deleted one, by the sums of the groups of both primes.

    `lost`: the number of deleted elements. `row`: the number of elements in a row.
    """
    firsts = set[int]()
    sums, offset = [], view.partition.stretches
    places = np.arange(len(codes))
    places[tried.start * row :] += lost
    for prime in view.partition.primes:
        now = np.zeros(prime, np.uint64)
        np.add.at(now, places % prime, codes)
        sums.append((prime, now, view.then[0][offset : offset + prime]))
        offset += prime
    for first in tried:
        start = first * row
        fits = [_fits(now, then, np.arange(start, start + lost) % prime) for prime, now, then in sums]
        if all(fit is not False for fit in fits) and any(fits):
            firsts.add(first)
        moving = np.arange(start, min(start + row, len(codes)))
        for prime, now, _ in sums:
            np.subtract.at(now, (moving + lost) % prime, codes[moving])
            np.add.at(now, moving % prime, codes[moving])
    return firsts


def _fits(now: Codes, then: Codes, deleted: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool | None:
    """Return whether the sums of groups are what they were, except groups of deleted elements; None if few are left."""
    others = np.ones(len(now), np.bool_)
    others[deleted] = False
    if np.count_nonzero(others) < _LEAST_SUMS:
        return None
    return not (((then - now) & _KEPT)[others]).any()
