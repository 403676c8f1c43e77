"""The cells of a worksheet as runs: all of them, those of some rows, or those with some texts."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager

import numpy as np

from ...errors import FormatError
from .following import Followed
from .reader import cells as c
from .reader.formulas import FormulaCells
from .reader.some_runs import SomeRuns

_MOST_CELLS = 2**19  # of rows that are asked for again and again, and kept
_ADDRESS = re.compile("[A-Z]{1,3}[0-9]{1,7}")


class SheetRuns:
    """The cells of a worksheet; the worksheet's title is put into the location of any error about them.

    Attributes:
        formulas: collects the formulas among the cells that are read; None unless somebody asks for them.
        followed: the formulas that repeat other cells; None if the container does not know the text of formulas.
    """

    def __init__(self, title: str, container: c.WorkbookReader) -> None:
        self._title, self._container = title, container
        self.formulas: FormulaCells | None = None
        self.followed: Followed | None = None
        self._last_rows: tuple[list[tuple[int, int]], FormulaCells | None, SomeRuns] | None = None

    @property
    def from_1904(self) -> bool:
        """Whether serial dates count from 1904."""
        return self._container.from_1904

    @contextmanager
    def runs(self, *, numeric: bool) -> Iterator[Iterator[c.CellRun]]:
        """Yield the cells of the sheet."""
        with self._located(self._container.cells(self._title, numeric=numeric)) as runs:
            yield runs

    @contextmanager
    def runs_from(self, row: int, *, numeric: bool) -> Iterator[Iterator[c.CellRun]]:
        """Yield the cells of the sheet from the block with a row on; all cells if the container knows no blocks."""
        container = self._container
        if not row or not isinstance(container, c.Searchable):
            with self.runs(numeric=numeric) as runs:
                yield runs
            return
        with self._located(container.cells_of_rows(self._title, [(row, c.MOST_ROWS)])) as runs:
            yield runs

    @contextmanager
    def runs_with(self, texts: Sequence[str]) -> Iterator[Iterator[c.CellRun]]:
        """Yield the cells of blocks that may hold one of some texts; a container that cannot search gives all cells."""
        container = self._container
        if not isinstance(container, c.Searchable):
            with self.runs(numeric=False) as runs:
                yield runs
            return
        with self._located(container.cells_with(self._title, texts)) as runs:
            yield runs

    @contextmanager
    def table_runs(self) -> Iterator[Iterator[c.CellRun]]:
        """Yield the cells of the sheet for an ordinary table; see `reader.cells.WorkbookReader.cells_of_table`."""
        with self._located(self._container.cells_of_table(self._title)) as runs:
            yield runs

    def cells_of_rows(self, spans: list[tuple[int, int]]) -> SomeRuns:
        """Return all cells of some rows, given as spans of rows that may overlap."""
        merged: list[tuple[int, int]] = []
        for first, end in sorted(spans):
            if merged and first <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            else:
                merged.append((first, end))
        if self._last_rows is not None and self._last_rows[:2] == (merged, self.formulas):
            return self._last_rows[2]  # headers of very many arrays are asked for batch by batch
        starts, ends = np.array(merged, np.int64).T
        some = SomeRuns()
        container = self._container
        if isinstance(container, c.Searchable):
            cells = container.cells_of_rows(self._title, merged)
        else:
            cells = container.cells(self._title, numeric=False)
        with self._located(cells) as runs:
            for run in runs:
                self.note_formulas(run)
                index = np.maximum(np.searchsorted(starts, run.rows, side="right") - 1, 0)
                some.add(run.select((run.rows >= starts[index]) & (run.rows < ends[index])))
                if int(run.rows.min()) >= int(ends[-1]):
                    break
        some.sort()
        self._last_rows = (merged, self.formulas, some) if len(some) <= _MOST_CELLS else None
        return some

    def note_formulas(self, run: c.CellRun) -> None:
        """Collect the formulas among some cells, if somebody asks for formulas."""
        if self.formulas is not None:
            self.formulas.add(run if self.followed is None else self.followed.without_links(run))

    @contextmanager
    def _located(self, cells: Generator[c.CellRun]) -> Iterator[Iterator[c.CellRun]]:
        try:
            with closing(cells) as runs:
                yield runs
        except FormatError as error:
            if not error.location:
                error.location = self._title
            elif _ADDRESS.fullmatch(error.location):
                error.location = f"{self._title}!{error.location}"
            raise
