"""What the workbooks of binary records have in common, `.xls` and `.xlsb`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator

from .binary import Wanted
from .cells import CellRun
from .kept_runs import KeptRuns


class RecordBook(ABC):
    """A workbook of binary records; `cells.WorkbookReader` says what each method is for."""

    def __init__(self) -> None:
        self._kept = KeptRuns()

    @abstractmethod
    def _read_sheet(self, title: str, wanted: Wanted) -> Iterator[CellRun]:
        """Yield the cells of a worksheet.

        Args:
            title: of the sheet.
            wanted: in which form the values are.

        Raises:
            FormatError: the sheet is damaged.
        """

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:
        """Yield the cells of a worksheet."""
        return self._read_kept(title, "numbers" if numeric else "text")

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet, numbers of which no digit counts as Float64, all other values as text."""
        return self._read_kept(title, "table")

    def _read_kept(self, title: str, wanted: Wanted) -> Generator[CellRun]:
        return self._kept.read(title, lambda: self._read_sheet(title, wanted), wanted)

    def close(self) -> None:
        """Forget the cells that are kept; the bytes of the workbook are the caller's."""
        self._kept = KeptRuns()
