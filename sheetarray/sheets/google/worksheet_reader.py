"""Fetches cells of a worksheet: ranges, whole columns and dates as they are shown, all of one generation of it."""

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
    """A reader of one worksheet, which fetches cells and keeps none of them.

    The cells in the answer to one request are all of one moment. Where several requests are needed, the worksheet's
    generation is fetched before and after them; if it has changed, the cells are not of one write.

    Args:
        service: the spreadsheet.
        title: of the worksheet.
        size: the rows and columns of its grid; None if they are not known yet.
    """

    def __init__(self, service: SheetsApi, title: str, size: tuple[int, int] | None = None) -> None:
        self.service, self.title, self.size = service, title, size

    def generation(self) -> tuple[int, str | None]:
        """Return the worksheet's id and its generation, in one request; each write changes the generation.

        The generation is None if nothing was written to the worksheet by this package.

        Raises:
            ChangedError: there is no worksheet of this title any more.
        """
        state = fetch_state(self.service)
        sheet = state.by_title(self.title)
        if sheet is None:
            raise ChangedError
        self.size = (sheet.rows, sheet.columns)
        named = state.generation(sheet.gid)
        return sheet.gid, named.id if named else None

    def fetch(self, rects: Sequence[Rect], *, dates: bool = False) -> list[FetchedColumns]:
        """Return the columns of each of some ranges.

        Args:
            rects: the ranges.
            dates: whether numbers that the worksheet shows as dates are returned as the text that it shows.

        Raises:
            NotFoundError: there is no worksheet of this title.
            ChangedError: the service refuses the ranges, such as rows that somebody has deleted.
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
        """Return the number of rows and columns of the grid; they are fetched if they are not known yet.

        Raises:
            ChangedError: there is no worksheet of this title any more.
        """
        if self.size is None:
            self.generation()
        return self.size or (0, 0)

    def fetch_all(self, width: int) -> FetchedColumns:
        """Return all columns of the worksheet; each request fetches a block of whole rows.

        Args:
            width: about how many cells of a row are filled.

        Raises:
            ChangedError: somebody has written between two requests.
        """
        rows, _ = self.known_size()
        step = max(CELLS_A_REQUEST // max(width, 1), 1)
        tops = range(0, rows, step)
        before = self.generation() if len(tops) > 1 else None
        columns: FetchedColumns = []
        for top in tops:
            for column, cells in enumerate(self.fetch([Rect(top, None, min(top + step, rows), None)])[0]):
                columns += [[] for _ in range(column + 1 - len(columns))]
                columns[column] += [None] * (top - len(columns[column]) if cells else 0)
                columns[column] += cells
        if before is not None and self.generation() != before:
            raise ChangedError
        return columns

    def fetch_columns(self, ends: dict[int, int], report: Callable[[int], None] | None) -> dict[int, list[Cell]]:
        """Return columns from their first cell down to their ends.

        Args:
            ends: about how many rows of each column are filled, by the column.
            report: called after each request with the number of cells that it has fetched.

        Raises:
            ChangedError: somebody has written between two requests.
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
        """Return columns in which each number that the worksheet shows as a date has become the text of that date.

        The columns that hold numbers are fetched once more, as they are shown; large ones in several requests.

        Args:
            columns: all columns of the worksheet, which stay as they are.
            height: the number of rows in which cells are filled.

        Raises:
            ChangedError: the cells that are shown are not those of the columns.
        """
        numeric = [column for column, cells in enumerate(columns) if any(type(cell) in (int, float) for cell in cells)]
        runs = [run for column in numeric for run in cut_column(column, height, (height, len(columns)))]
        rects = join_ranges([replace(run, bottom=run.bottom or height) for run in runs])
        changed = list(columns)
        for rect, shown in zip(rects, self.fetch(rects, dates=True) if rects else (), strict=True):
            for column, texts in enumerate(shown, rect.left or 0):
                changed[column] = [*changed[column]] if changed[column] is columns[column] else changed[column]
                put_shown_dates(changed[column], rect.top, texts)
        return changed
