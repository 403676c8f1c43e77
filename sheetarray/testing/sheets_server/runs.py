"""A property of the cells of one column, such as their format, kept as runs of rows that have the same value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Runs(Generic[T]):
    """A value for each row of a column, or None; rows are counted from 0.

    Example:
        >>> bold = Runs()
        >>> bold.put(0, 1_000_000, "bold")
        >>> bold.put(2, 3, None)
        >>> bold.at(1), bold.at(2), len(list(bold.runs_between(0, 5)))
        ('bold', None, 3)
    """

    def __init__(self) -> None:
        self._runs: list[tuple[int, int, T]] = []

    def copy(self) -> Runs[T]:
        """Return runs with the same values, which may be changed without changing these."""
        other: Runs[T] = Runs()
        other._runs = self._runs.copy()
        return other

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def stop(self) -> int:
        """The row after the last one with a value; 0 if no row has one."""
        return self._runs[-1][1] if self._runs else 0

    def at(self, row: int) -> T | None:
        """Return the value of one row, or None."""
        index = bisect_right(self._runs, row, key=lambda run: run[0]) - 1
        return self._runs[index][2] if index >= 0 and row < self._runs[index][1] else None

    def runs_between(self, start: int, stop: int) -> Iterator[tuple[int, int, T | None]]:
        """Yield runs that cover the rows from `start` up to `stop`: first row, row after the last, value or None."""
        row = start
        for first, last, value in self._runs[self._before(start) :]:
            if first >= stop:
                break
            if last <= start:
                continue
            if row < first:
                yield row, first, None
            yield max(first, start), min(last, stop), value
            row = min(last, stop)
        if row < stop:
            yield row, stop, None

    def put(self, start: int, stop: int, value: T | None) -> None:
        """Give the rows from `start` up to `stop` one value; None takes their values away."""
        if start >= stop:
            return
        lower, upper = self._before(start), bisect_right(self._runs, stop, key=lambda run: run[0])
        new: list[tuple[int, int, T]] = []
        touched = self._runs[lower:upper]
        for first, last, old in touched:
            if first < start:
                new.append((first, min(last, start), old))
        if value is not None:
            new.append((start, stop, value))
        for first, last, old in touched:
            if last > stop:
                new.append((max(first, stop), last, old))
        self._runs[lower:upper] = _join(new)

    def change(self, start: int, stop: int, by: Callable[[T | None], T | None]) -> None:
        """Replace the value of each run of rows from `start` up to `stop`, or None, by what `by` returns for it."""
        for first, last, value in list(self.runs_between(start, stop)):
            self.put(first, last, by(value))

    def insert(self, at: int, count: int) -> None:
        """Insert rows without a value before the row `at`."""
        moved = []
        for first, last, value in self._runs:
            if first < at < last:
                moved += [(first, at, value), (at + count, last + count, value)]
            elif first >= at:
                moved.append((first + count, last + count, value))
            else:
                moved.append((first, last, value))
        self._runs = moved

    def delete(self, start: int, stop: int) -> None:
        """Delete the rows `start` to `stop`; those below move up."""
        self.put(start, stop, None)
        gone = stop - start
        self._runs = _join([run if run[0] < start else (run[0] - gone, run[1] - gone, run[2]) for run in self._runs])

    def _before(self, start: int) -> int:
        """Return the index of the run that holds the row `start`, ends right before it, or is the last one above it."""
        index = bisect_right(self._runs, start, key=lambda run: run[0]) - 1
        return (
            index - (index > 0 and self._runs[index][0] == start and self._runs[index - 1][1] == start)
            if index >= 0
            else 0
        )


def _join(runs: list[tuple[int, int, T]]) -> list[tuple[int, int, T]]:
    """Return runs with neighbours of equal values made one, and without empty ones."""
    joined: list[tuple[int, int, T]] = []
    for first, last, value in runs:
        if first >= last:
            continue
        if joined and joined[-1][1] == first and joined[-1][2] == value:
            joined[-1] = (joined[-1][0], last, value)
        else:
            joined.append((first, last, value))
    return joined
