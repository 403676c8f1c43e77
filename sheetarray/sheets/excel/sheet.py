"""A worksheet of a workbook of any kind as a `columns.Sheet`: its first rows, single cells, rows and columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...cells import TextLook, engine_dtype
from ...columns import ColumnCells, Request, Words, Zone, cell_address
from ...columns.words import WORDS
from ...dtypes import DType
from ...elements import Cell
from ...errors import Finding
from ...header import normalize_key
from ...spool import NotInPiecesError
from .reader import cells as c
from .reader.column import ColumnRun, to_moments, to_numbers
from .reader.column_runs import ColumnRuns, gather_columns, join_runs
from .reader.column_texts import ColumnTexts
from .reader.scalars import number_shown, scalars, words_of
from .reader.short_columns import numbers_of_short
from .reader.some_runs import ROW
from .sheet_runs import SheetRuns

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS = 1200  # of the first rows
_UNKNOWN = "?"  # stands for a cell of which nobody knows more than that it is not blank


class ExcelSheet(SheetRuns):
    """A worksheet; `columns.Sheet` says what each method is for.

    Attributes:
        report: called with the number of cells that were read since the last call.
        notes: findings about date cells that were read as text.
    """

    keeps_blanks = False

    def __init__(self, title: str, container: c.WorkbookReader) -> None:
        super().__init__(title, container)
        self.title: str | None = title
        self.look = TextLook(".", "typed")
        self.max_rows: int | None = container.max_rows
        self.report: Callable[[int], None] | None = None
        self.notes: list[Finding] = []
        self._known_words: Words | None = None
        self._day_zero: str | None = None

    # The first rows ------------------------------------------------------------------------------------------

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        with self.runs(numeric=False) as runs:
            return self.head_of(runs, budget)

    def head_of(self, runs: Iterable[c.CellRun], budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows of a sheet, given its cells, and whether these are all rows."""
        grid: list[list[Cell]] = []
        for run in runs:
            if not self._add_run(grid, run, budget):
                return grid, False
        return grid, True

    def _add_run(self, grid: list[list[Cell]], run: c.CellRun, budget: int) -> bool:
        """Put cells into a grid and return True; False if the grid has as many cells as the budget allows."""
        budget -= sum(map(len, grid))
        some = run.first(max(budget, 0) + c.MOST_COLUMNS)
        values = scalars(some, from_1904=self.from_1904)
        for row, column, value in zip(some.rows.tolist(), some.columns.tolist(), values, strict=True):
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
        return len(some) == len(run)

    # Arrays --------------------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers and where they stand, in the whole sheet."""
        if self._known_words is None:
            rows, columns, codes = [], [], []
            with self.runs_with(WORDS) as runs:
                for run in runs:
                    which, word_codes = words_of(run)
                    rows.append(run.rows[which])
                    columns.append(run.columns[which])
                    codes.append(word_codes)
            self._known_words = Words.from_positions(
                *(np.concatenate(parts) if parts else [] for parts in (rows, columns, codes))
            )
        return self._known_words

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of some zones: short pieces of columns and rows, such as headers."""
        if not zones:
            return []
        some = self.cells_of_rows(
            [(zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones]
        )
        sizes = np.array([zone.count for zone in zones], np.int64)
        steps = np.array([ROW if zone.orient == "columns" else 1 for zone in zones], np.int64)
        firsts = np.array([zone.row * ROW + zone.column for zone in zones], np.int64)
        ends = np.cumsum(sizes)
        index = np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
        wanted = np.repeat(firsts, sizes) + index * np.repeat(steps, sizes)
        cells: list[Cell] = [None] * len(wanted)
        places, run = some.at(wanted)
        for place, value in zip(places.tolist(), scalars(run, from_1904=self.from_1904), strict=True):
            cells[place] = value
        groups = [cells[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]
        timed = np.flatnonzero(np.isin(run.kinds, [c.SERIAL, c.MOMENT, c.DURATION]))
        owners = np.searchsorted(ends, places[timed], side="right")
        inside = places[timed] - (ends - sizes)[owners]
        begins: dict[int, int] = {}
        for owner, index, cell in zip(owners.tolist(), inside.tolist(), timed.tolist(), strict=True):
            group = groups[owner]
            if owner not in begins:
                keys = map(normalize_key, group)
                begins[owner] = next((place for place, key in enumerate(keys) if key == "ndarray"), len(group))
            if index > begins[owner]:  # before that it may be a name, and a header has no dates
                number = number_shown(int(run.kinds[cell]), str(run.values[cell]), self._find_day_zero())
                group[index] = group[index] if number is None else number
        return groups

    def _find_day_zero(self) -> str | None:
        """Return the date from which numbers count days, of a workbook whose cells hold dates as such; else None."""
        if self._day_zero is None and isinstance(self._container, c.DatesReader):
            self._day_zero = self._container.find_day_zero()
        return self._day_zero

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield the cells of each requested row, from the requested column on, as text."""
        import polars as pl

        some = self.cells_of_rows([(request.row, request.row + 1) for request in requests])
        for request in requests:
            run, twice = some.between(request)

            def address(place: int, request: Request = request) -> str:
                return cell_address(request.row, request.column + place)

            if twice is not None:
                raise c.repeated_cell_error(f"{self._title}!{address(twice)}")
            yield [], self._text(run, request.dtype, address) if len(run) else pl.Series([], dtype=pl.String)

    # Columns -------------------------------------------------------------------------------------------------

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Return the requested columns, read in one pass over the sheet."""
        import polars as pl

        texts = [engine_dtype(request.dtype) == pl.String for request in requests]
        numeric = typed and not any(texts) and not (self.followed is not None and self.followed.are_wanted)
        if not requests:
            return []
        by_column: dict[int, Request] = {}
        times = Counter(request.column for request in requests)
        for request in requests:
            known = by_column.get(request.column)
            if known is None or request.row < known.row:
                by_column[request.column] = request
        with self.runs(numeric=numeric) as runs:
            columns = dict(
                zip(by_column, gather_columns(self._count_progress(runs), list(by_column.values())), strict=True)
            )
        wholes: dict[int, ColumnRun] = {}
        results: list[ColumnCells] = []
        single = [request for request in requests if times[request.column] == 1 and request.stop is None]
        numbers = numbers_of_short(single, columns) if numeric else {}
        for request, text in zip(requests, texts, strict=True):
            column, first = request.column, by_column[request.column].row
            if column in numbers:
                results.append(([], numbers[column]))
                continue
            gathering = columns[column]
            if column not in wholes and len(gathering):
                wholes[column] = self.whole_column(gathering, column, first)
            whole_run = wholes.get(column)
            part = None if whole_run is None else part_of(whole_run, request, first)
            if times[column] == 1:
                wholes.pop(column, None)
            results.append(([], self.column_cells(part, request, typed=typed, text=text, numeric=numeric)))
        return results

    def iter_column(self, request: Request) -> Iterator[Cell]:
        """Yield the cells of a column as text, piece by piece.

        Raises:
            NotInPiecesError: rows do not come in their order, or cells of the column stand above the requested ones.
        """
        with self.runs(numeric=False) as runs:
            for run in runs:
                self.note_formulas(run)
                some = run.select(run.columns == request.column)
                if not len(some):
                    continue
                if int(some.rows.min()) < request.row:
                    raise NotInPiecesError
                (gathering,) = gather_columns([some], [request])
                cells = self.whole_column(gathering, request.column, request.row)
                yield from self.column_cells(cells, request, typed=False, text=True, numeric=False)
                request = replace(request, row=int(some.rows.max()) + 1)

    def _count_progress(self, runs: Iterator[c.CellRun]) -> Iterator[c.CellRun]:
        for run in runs:
            yield run
            self.note_formulas(run)
            if self.report is not None:
                self.report(len(run))

    def column_cells(
        self, run: ColumnRun | None, request: Request, *, typed: bool, text: bool, numeric: bool
    ) -> pl.Series | Sequence[Cell]:
        """Return the requested cells of a column, converted for its dtype.

        `run`: the cells, counted from the requested row on; None for no cells. `typed`: give a Series of the engine's
        dtype if all cells are of that kind; otherwise text. `text`: whether that dtype is text. `numeric`: whether the
        sheet was read for numbers alone, so that text is only known to be there.
        """
        import polars as pl

        def address(place: int) -> str:
            return cell_address(request.row + place, request.column)

        if run is None or not len(run):
            return pl.Series([], dtype=engine_dtype(request.dtype) if typed else pl.String)
        made = None
        if typed and text:
            made = to_moments(run, request.dtype, from_1904=self.from_1904)
        elif typed:
            made = to_numbers(run, request.dtype, numerals=request.as_numerals)
        if made is None and numeric and run.values.dtype != pl.String:
            return [*[None] * (run.height - 1), _UNKNOWN]  # some cell is text, so the column will be asked for as text
        return self._text(run, request.dtype, address) if made is None else made

    def whole_column(self, gathering: ColumnRuns, column: int, first: int) -> ColumnRun:
        """Return the cells of a column; formulas that repeat other cells have the values of these.

        `column`: of the sheet, from 0. `first`: the row from which on they are counted.

        Raises:
            FormatError: a cell stands twice in the sheet.
        """
        import polars as pl

        run, twice = join_runs(gathering)
        if twice is not None:
            raise c.repeated_cell_error(f"{self._title}!{cell_address(first + twice, column)}")
        if self.followed is None or run.values.dtype != pl.String:
            return run
        return self.followed.follow(run, column, first)

    def _text(self, run: ColumnRun, dtype: DType | None, address: Callable[[int], str]) -> pl.Series | Sequence[Cell]:
        texts = ColumnTexts(run, dtype, from_1904=self.from_1904)
        if texts.dated:
            place = f"{self._title}!{address(texts.dated[0])}"
            more = f" (and {len(texts.dated) - 1} more)" if len(texts.dated) > 1 else ""
            hint = 'dates="text" writes text: spreadsheets keep milliseconds, .ods hundredths, and years from 1900'
            if dtype is not None and dtype.kind == "generic":
                hint = "format the cell as a number, if it is one"
            note = Finding("warning", place, f"a date cell, read as its ISO text{more}", hint)
            self.notes = [*(other for other in self.notes if other.location != place), note]
        return texts.result()


def part_of(run: ColumnRun, request: Request, first: int) -> ColumnRun:
    """Return the requested cells of a column, given all its cells, which are counted from the row `first` on."""
    if request.row == first and request.stop is None:
        return run
    end = run.height if request.stop is None else max(request.stop - first, 0)
    low, high = np.searchsorted(run.places, [request.row - first, end]).tolist()
    return ColumnRun(run.places[low:high] - (request.row - first), run.kinds[low:high], run.values[low:high])
