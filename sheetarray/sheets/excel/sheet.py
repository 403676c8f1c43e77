"""Workbooks as sheets of cells: .xlsx and .xlsm block by block, .xlsb, .xls and .ods as far as they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cells import TextLook, engine_dtype
from ...columns import Cells, Request, a1
from ...dtypes import DType
from ...elements import Cell
from ...errors import Finding, FormatError, NotFoundError
from ...files import Source
from .reader import cells as c
from .reader.column import Run, Texts, numbers_of
from .reader.gather import Gathered, gathered, whole
from .reader.opening import opened
from .reader.serials import moments

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS = 1200
_LONGEST_NUMBER = 1000  # characters
_DIGITS = re.compile("-?[0-9]{1,20}")
_ADDRESS = re.compile("[A-Z]{1,3}[0-9]{1,7}")


class Workbook:
    """A workbook of any kind, open.

    Args:
        source: where it is.

    Attributes:
        titles: of its worksheets, hidden ones too, in the order of their tabs.

    Raises:
        FormatError: no workbook, or one that is damaged, encrypted or hostile.
    """

    def __init__(self, source: Source) -> None:
        self._container = opened(source)
        self.titles = self._container.titles
        if not self.titles:
            raise FormatError("the workbook has no worksheets")

    def __enter__(self) -> Workbook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.close()

    def sheet(self, title: str) -> ExcelSheet:
        """One of its sheets.

        Raises:
            NotFoundError: there is none of that title.
        """
        if title not in self.titles:
            raise NotFoundError(f"no sheet {title!r}; there is {', '.join(map(repr, self.titles))}")
        return ExcelSheet(title, self._container)


class ExcelSheet:
    """A worksheet; `columns.Sheet` says what each method is for.

    Attributes:
        report: called with the number of cells that have been read since it was called before.
    """

    def __init__(self, title: str, container: c.Container) -> None:
        self.title: str | None = title
        self.look = TextLook(".", "typed")
        self.max_rows: int | None = container.max_rows
        self._title, self._container = title, container
        self.report: Callable[[int], None] | None = None
        self.notes: list[Finding] = []
        self._top: list[c.Cells] | None = None

    @contextmanager
    def runs(self, *, numeric: bool) -> Iterator[Iterator[c.Cells]]:
        """The cells of the sheet; a wrong one is told with the sheet."""
        try:
            with closing(self._container.cells(self._title, numeric=numeric)) as runs:
                yield runs
        except FormatError as error:
            if not error.location:
                error.location = self._title
            elif _ADDRESS.fullmatch(error.location):
                error.location = f"{self._title}!{error.location}"
            raise

    # The first rows ------------------------------------------------------------------------------------------

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """The first rows."""
        grid: list[list[Cell]] = []
        with self.runs(numeric=False) as runs:
            for run in runs:
                if not self._add(grid, run, budget):
                    return grid, False
        return grid, True

    def _add(self, grid: list[list[Cell]], run: c.Cells, budget: int) -> bool:
        """Put cells into a grid; False where that is enough of them."""
        budget -= sum(map(len, grid))
        values = scalars(run, from_1904=self._container.from_1904)
        for row, column, value in zip(run.rows.tolist(), run.columns.tolist(), values, strict=True):
            if row >= _MOST_ROWS:
                return False
            if row >= len(grid):
                if budget <= 0:
                    return False
                grid += ([] for _ in range(row + 1 - len(grid)))
            cells = grid[row]
            if column >= len(cells):
                budget -= column + 1 - len(cells)
                cells += [None] * (column + 1 - len(cells))
            cells[column] = value
        return True

    def beginnings(self, width: int) -> Sequence[Sequence[Cell]]:
        """The first cells of every row."""
        grid: list[list[Cell]] = []
        for run in self._top_runs():
            self._add(grid, run.where(run.columns < width), _MOST_ROWS * width)
        return grid

    def row(self, row: int, column: int) -> Cells:
        """One row, from a column on."""
        import polars as pl

        found = Gathered()
        for run in self._top_runs():
            part = run.where((run.rows == row) & (run.columns >= column))
            if len(part):
                found.put(part.columns - column, part.kinds, part.values)

        def address(place: int) -> str:
            return a1(row, column + place)

        return [], self._text(self._whole(found, address), None, address) if len(found) else pl.Series(
            [], dtype=pl.String
        )

    def _top_runs(self) -> list[c.Cells]:
        if self._top is None:
            self._top = []
            with self.runs(numeric=False) as runs:
                for run in runs:
                    self._top.append(run.where(run.rows < _MOST_ROWS))
                    if int(run.rows.min()) >= _MOST_ROWS:
                        break
        return self._top

    # Columns -------------------------------------------------------------------------------------------------

    @property
    def from_1904(self) -> bool:
        """Whether serial dates count from 1904."""
        return self._container.from_1904

    def filled_columns(self) -> list[int]:
        """The columns that hold a cell anywhere, ascending."""
        filled = np.zeros(c.MOST_COLUMNS, dtype=bool)
        with self.runs(numeric=False) as runs:
            for run in runs:
                filled[run.columns] = True
        return [int(column) for column in np.flatnonzero(filled)]

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[Cells]:
        """Columns in bulk."""
        import polars as pl

        texts = [engine_dtype(request.dtype) == pl.String for request in requests]
        numeric = typed and not any(texts)
        found: list[Gathered] = []
        for distinct in _distinct(requests):
            with self.runs(numeric=numeric) as runs:
                found += gathered(self._counted(runs), distinct)
        return [
            ([], self._column(column, request, typed=typed and not text, numeric=numeric))
            for column, request, text in zip(found, requests, texts, strict=True)
        ]

    def _counted(self, runs: Iterator[c.Cells]) -> Iterator[c.Cells]:
        for run in runs:
            yield run
            if self.report is not None:
                self.report(len(run))

    def _column(self, column: Gathered, request: Request, *, typed: bool, numeric: bool) -> pl.Series | Sequence[Cell]:
        import polars as pl

        def address(place: int) -> str:
            return a1(request.row + place, request.column)

        if not len(column):
            return pl.Series([], dtype=engine_dtype(request.dtype) if typed else pl.String)
        run = self._whole(column, address)
        made = numbers_of(run, request.dtype, numerals=request.numerals) if typed else None
        if made is None and numeric:
            return []  # of text only the places are known here: it has to be asked for
        return self._text(run, request.dtype, address) if made is None else made

    def _whole(self, column: Gathered, address: Callable[[int], str]) -> Run:
        run, twice = whole(column)
        if twice is not None:
            raise FormatError("the cell comes twice in the sheet", location=f"{self._title}!{address(twice)}")
        return run

    def _text(self, run: Run, dtype: DType | None, address: Callable[[int], str]) -> pl.Series | Sequence[Cell]:
        texts = Texts(run, dtype, from_1904=self._container.from_1904)
        if texts.dated:
            place = f"{self._title}!{address(texts.dated[0])}"
            more = f" (and {len(texts.dated) - 1} more)" if len(texts.dated) > 1 else ""
            hint = "write dates as text: a spreadsheet keeps milliseconds, and the years from 1900"
            note = Finding("warning", place, f"a date cell, read as its ISO text{more}", hint)
            self.notes = [*(other for other in self.notes if other.location != place), note]
        return texts.result()


def _distinct(requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
    """The requests in their order, as few runs of them as have distinct columns."""
    run: dict[int, Request] = {}  # by column
    for request in requests:
        if request.column in run:
            yield list(run.values())
            run = {}
        run[request.column] = request
    if run:
        yield list(run.values())


def scalars(run: c.Cells, *, from_1904: bool) -> list[Cell]:
    """Cells as Python scalars: numbers, text and booleans; dates as ISO text, errors as theirs."""
    texts: list[Any] = run.values.to_list()
    for index in np.flatnonzero(run.kinds != c.TEXT).tolist():
        match run.kinds[index]:
            case c.NUMBER | c.LARGE:
                texts[index] = _number(texts[index])
            case c.BOOLEAN:
                texts[index] = texts[index].strip() in ("1", "true")
            case c.SERIAL:
                texts[index] = next(iter(moments(np.array([_number(texts[index])], float), from_1904=from_1904)))
            case c.PENDING:
                texts[index] = None
    return texts


def _number(text: str) -> Cell:
    if _DIGITS.fullmatch(text):
        return int(text)
    try:
        value = float(text[:_LONGEST_NUMBER])
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) <= 2.0**53 else value
