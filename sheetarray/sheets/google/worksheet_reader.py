"""What is fetched of a worksheet: ranges, whole columns and shown dates, all of one generation of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...elements import Cell
from .address import Rect
from .batches import CELLS_A_REQUEST, cut_column, join_ranges, plan_batches
from .dates import put_shown_dates
from .fetch import FetchedColumns, count_requests, fetch_values
from .requests import SheetsApi
from .retries import ChangedError, RefusedError
from .state import fetch_state


class WorksheetReader:
    """Fetches cells of a worksheet, and keeps nothing of them.

    What one request answers is of one moment. Where several are needed, the worksheet's generation is compared before
    and after.

    Args:
        service: the spreadsheet.
        title: of the worksheet.
        size: rows and columns of its grid, where they are known.
    """

    def __init__(self, service: SheetsApi, title: str, size: tuple[int, int] | None = None) -> None:
        self.service, self.title, self.size = service, title, size

    def generation(self) -> tuple[int, str | None]:
        """Return the number and the id that tell this state of the worksheet from all others, in one request.

        Raises:
            ChangedError: it is gone.
        """
        state = fetch_state(self.service)
        sheet = state.by_title(self.title)
        if sheet is None:
            raise ChangedError
        self.size = (sheet.rows, sheet.columns)
        named = state.generation(sheet.gid)
        return sheet.gid, named.id if named else None

    def fetch(self, rects: Sequence[Rect], *, dates: bool = False) -> list[FetchedColumns]:
        """Return the cells of some ranges, each as its columns.

        Args:
            rects: the ranges.
            dates: as they are shown, where numbers are shown as dates.

        Raises:
            NotFoundError: there is no such worksheet.
        """
        try:
            ranges = [(self.title, rect) for rect in rects]
            return [columns for _, columns in fetch_values(self.service, ranges, dates=dates)]
        except RefusedError as refused:
            state = fetch_state(self.service)
            if state.by_title(self.title) is None:
                raise state.not_found_error(repr(self.title)) from None
            raise ChangedError(refused.message) from None

    def known_size(self) -> tuple[int, int]:
        """Return rows and columns of its grid, which are asked for where nobody has said them.

        Raises:
            ChangedError: it is gone.
        """
        if self.size is None:
            self.generation()
        return self.size or (0, 0)

    def fetch_all(self, width: int) -> FetchedColumns:
        """Return every column of the worksheet, whole rows at a time.

        Args:
            width: about how many cells a row holds.

        Raises:
            ChangedError: somebody has written meanwhile.
        """
        rows, _ = self.known_size()
        step = max(CELLS_A_REQUEST // max(width, 1), 1)
        tops = range(0, rows, step)
        before = self.generation() if len(tops) > 1 else None
        columns: FetchedColumns = []
        for top in tops:
            for place, cells in enumerate(self.fetch([Rect(top, None, min(top + step, rows), None)])[0]):
                columns += [[] for _ in range(place + 1 - len(columns))]
                columns[place] += [None] * (top - len(columns[place]) if cells else 0)
                columns[place] += cells
        if before is not None and self.generation() != before:
            raise ChangedError
        return columns

    def fetch_columns(self, ends: dict[int, int], report: Callable[[int], None] | None) -> dict[int, list[Cell]]:
        """Return columns from their first cell down to their ends.

        Args:
            ends: of each column, about how far down it goes.
            report: called with how many more cells have been fetched.

        Raises:
            ChangedError: somebody has written meanwhile.
        """
        before: tuple[int, str | None] | None = None
        if sum(ends.values()) > CELLS_A_REQUEST:
            before = self.generation()
        batches = [join_ranges(batch) for batch in plan_batches(ends, self.size)]
        if sum(count_requests([(self.title, rect) for rect in rects]) for rects in batches) > 1 and before is None:
            before = self.generation()
        cells_by_column: dict[int, list[Cell]] = {column: [] for column in ends}
        cells_reported = 0
        for rects in batches:
            for rect, columns in zip(rects, self.fetch(rects), strict=True):
                for column, cells in enumerate(columns, rect.left or 0):
                    cells_by_column[column].extend([""] * (rect.top - len(cells_by_column[column]) if cells else 0))
                    cells_by_column[column].extend(cells)
            if report:
                report(sum(map(len, cells_by_column.values())) - cells_reported)
                cells_reported = sum(map(len, cells_by_column.values()))
        if before is not None and self.generation() != before:
            raise ChangedError
        return cells_by_column

    def put_dates(self, columns: FetchedColumns, height: int) -> FetchedColumns:
        """Return columns in which numbers that are shown as dates are dates, as text; of large tables several requests.

        Raises:
            ChangedError: somebody has written meanwhile.
        """
        numeric = [place for place, cells in enumerate(columns) if any(type(cell) in (int, float) for cell in cells)]
        parts = [part for place in numeric for part in cut_column(place, height, (height, len(columns)))]
        rects = join_ranges([replace(part, bottom=part.bottom or height) for part in parts])
        changed = list(columns)
        for rect, shown in zip(rects, self.fetch(rects, dates=True) if rects else (), strict=True):
            for place, texts in enumerate(shown, rect.left or 0):
                changed[place] = [*changed[place]] if changed[place] is columns[place] else changed[place]
                put_shown_dates(changed[place], rect.top, texts)
        return changed
