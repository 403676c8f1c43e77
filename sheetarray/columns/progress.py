"""Progress of reading: the cells that were read, of those that the headers announce."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from ..errors import FormatError
from .reading import scan_sheets
from .sheet import Sheet

ReportCells = Callable[[int], None]


class ReportingSheet(Sheet, Protocol):
    """A sheet that says how many cells it has just read."""

    report: ReportCells | None


@contextmanager
def reporting_cells(
    progress: Callable[[int, int], None] | None,
    sheets: Sequence[ReportingSheet],
    names: Collection[str] | None = None,
    *,
    strict: bool = False,
) -> Iterator[None]:
    """Call `progress` with the cells read and the cells in all while sheets are read.

    A column that is looked at twice counts once; in the end all have been read.

    Args:
        progress: what to call; None for nothing.
        sheets: what is read.
        names: of the arrays that are read; None for all.
        strict: whether lists without a version are refused.
    """
    if progress is None:
        yield
        return
    total = count_cells(sheets, names, strict=strict)
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


def count_cells(sheets: Sequence[Sheet], names: Collection[str] | None = None, *, strict: bool = False) -> int:
    """How many cells arrays take, by their headers; 0 where one is broken, which reading then says."""
    with suppress(FormatError):
        infos = scan_sheets(sheets, strict=strict)
        return sum(info.cells for name, info in infos.items() if names is None or name in names)
    return 0
