"""A sheet that was searched for arrays before, so that only the rows down to its last header are read again."""

from __future__ import annotations

from functools import cached_property

from ...columns import Words
from .reader import cells as c
from .reader.scalars import words_of
from .reader.some_runs import SomeRuns
from .sheet import ExcelSheet

MOST_CELLS = 2**19  # of headers that are kept; a sheet with more is searched as a whole


class SearchedSheet(ExcelSheet):
    """A worksheet that is known to hold words of headers in its first rows only.

    `header_rows`: the number of these rows.
    """

    def __init__(self, title: str, container: c.WorkbookReader, header_rows: int) -> None:
        super().__init__(title, container)
        self.header_rows = header_rows
        self._rows = 0  # the number of first rows of which `_first_cells` has all cells

    @cached_property
    def _first_cells(self) -> SomeRuns | None:
        """The cells of the rows with headers, and of the rows that were read with them; None if they are too many."""
        container, end, some, count, rows = self._container, self.header_rows, SomeRuns(), 0, 0
        if not isinstance(container, c.Searchable):
            return None
        with self._located(container.cells_of_rows(self._title, [(0, end)])) as runs:
            for run in runs:
                some.add(run)
                count, rows = count + len(run), max(rows, int(run.rows.max()) + 1)
                if count > MOST_CELLS:
                    return None
        self._rows = max(end, rows)
        return some.sort()

    def words(self) -> Words:
        """Return the words of headers and where they stand."""
        if self._known_words is None and not self.header_rows:
            self._known_words = Words.from_positions([], [], [])
        if self._known_words is None and (some := self._first_cells) is not None:
            run = some.cells()
            which, codes = words_of(run)
            self._known_words = Words.from_positions(run.rows[which], run.columns[which], codes)
        return super().words()

    def cells_of_rows(self, spans: list[tuple[int, int]]) -> SomeRuns:
        """Return all cells of some rows, and perhaps of others."""
        some = self._first_cells
        if some is None or max(end for _, end in spans) > self._rows:
            return super().cells_of_rows(spans)
        return some
