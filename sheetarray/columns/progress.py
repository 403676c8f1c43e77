"""Progress of reading: the cells that were read, of those that the headers announce."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from .sheet import Sheet

ReportCells = Callable[[int], None]


class ReportingSheet(Sheet, Protocol):
    """A sheet that says how many cells it has just read."""

    report: ReportCells | None


@contextmanager
def reporting_cells(
    progress: Callable[[int, int], None] | None,
    sheets: Sequence[ReportingSheet],
    count: Callable[[], int],
) -> Iterator[None]:
    """Call `progress` with the cells read and the cells in all while sheets are read.

    A column that is looked at twice counts once; the last call says that all cells have been read.

    Args:
        progress: what to call; None for nothing.
        sheets: what is read.
        count: returns the number of cells in all; it is called only if `progress` is not None.
    """
    if progress is None:
        yield
        return
    total = count()
    done = 0

    def report(cells: int) -> None:
        nonlocal done
        done = min(done + cells, total)
        progress(done, total)

    report(0)
    for sheet in sheets:
        sheet.report = report
    yield
    report(total)
