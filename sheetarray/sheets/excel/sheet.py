"""A worksheet of a workbook of any kind as a `columns.Sheet`: its first rows, single cells, rows and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...columns import ColumnCells, Request, Words, Zone, cell_address
from ...columns.sheet import Numbers
from ...columns.words import WORDS, WordCodes
from ...dtypes import DType, Mask, Positions
from ...elements import Cell, TextLook, engine_dtype
from ...errors import Finding, FormatError
from ...linear.parsing import normalize_key
from ..workbooks import MOST_COLUMNS, MOST_ROWS
from .reader import cells as c
from .reader.book import XmlBook
from .reader.cells import PENDING, ROW, CellRun, SomeRuns, number_shown, scalars, words_of
from .reader.column import ColumnRun, ColumnTexts, gather_columns, join_runs, to_moments, to_numbers
from .reader.formulas import FormulaCells

if TYPE_CHECKING:
    import polars as pl


# Follows formulas that only repeat another cell, and gives them its value: columns whose elements stand in a view.
#
# A formula without a value is followed to any cell; one with a value only to a view that people may have edited in
# a program that computes nothing. One step is enough, since an element of a view is no formula: a formula that
# leads to another one without a value, or in a circle, stays without a value, and is an error with its address.

CellsOfRows = Callable[[str, list[tuple[int, int]]], SomeRuns]


class Followed:
    """The formulas of one sheet that repeat cells, and the cells that they repeat.

    `titles`: of all sheets, in lower case; a formula that leads to any other sheet is not followed. `cells_of_rows`:
    returns the cells of some rows, given the title of their sheet in lower case. `editable`: the titles of views for
    editing, in lower case. `changed`: the titles of views that a program has saved again, and of sheets that may be
    such views.
    """

    def __init__(
        self,
        title: str,
        container: XmlBook,
        titles: Collection[str],
        cells_of_rows: CellsOfRows,
        editable: frozenset[str],
        changed: frozenset[str],
    ) -> None:
        self._title, self._container, self._cells_of_rows = title, container, cells_of_rows
        self._titles, self._editable = titles, editable
        self.changed = changed - {title.casefold()}
        self._cells: dict[str, SomeRuns] = {}

    @property
    def are_wanted(self) -> bool:
        """Whether formulas that have a value are followed too."""
        return bool(self.changed) and not self.changed.isdisjoint(self._references[3])

    @cached_property
    def _references(self) -> tuple[Positions, Positions, Positions, list[str]]:
        """The positions of the formulas, sorted column by column, and those of the cells that they repeat.

        And for each formula the number of the sheet with that cell, and the titles of sheets by these numbers.
        """
        titles, rows = {"": 0}, [(-1, -1, 0)]  # a formula that no cell has, so that there is one at least
        for row, column, of_sheet, target_row, target_column in self._container.references(self._title):
            title = of_sheet or self._title.casefold()
            if title in self._titles:
                number = titles.setdefault(title, len(titles))
                rows.append((column * ROW + row, target_row * ROW + target_column, number))
        table = np.array(rows, np.int64)
        table = table[np.argsort(table[:, 0], kind="stable")]
        return table[:, 0], table[:, 1], table[:, 2], list(titles)

    def _find(self, positions: Positions) -> tuple[Positions, Mask]:
        """Return the index of each cell's reference, and a mask of the cells that have a reference."""
        formulas = self._references[0]
        places = np.minimum(np.searchsorted(formulas, positions), len(formulas) - 1)
        return places, formulas[places] == positions

    def _mark(self, positions: Positions, sheets: frozenset[str]) -> Mask:
        """Return a mask of the cells that repeat a cell of some sheets."""
        _, _, numbers, titles = self._references
        places, known = self._find(positions)
        marks: Mask = known & np.array([title in sheets for title in titles])[numbers[places]]
        return marks

    def cell_in_view(self, row: int, column: int) -> tuple[str, int, int] | None:
        """Return the cell of a view for editing that a formula repeats: its title in lower case, its row and column.

        None if the cell is no such formula.

        `row`: of the formula, from 0. `column`: of the formula, from 0.
        """
        _, targets, numbers, titles = self._references
        places, known = self._find(np.array([column * ROW + row]))
        if not known[0] or (title := titles[numbers[places[0]]]) not in self._editable:
            return None
        return title, *divmod(int(targets[places[0]]), ROW)

    def links_of(self, rows: Positions, column: int) -> Mask:
        """Return a mask of the cells of a column that repeat a cell of a view for editing.

        `rows`: of the cells, from 0. `column`: from 0.
        """
        return self._mark(column * ROW + rows, self._editable | self.changed)

    def without_links(self, run: CellRun) -> CellRun:
        """Return the same cells, in which those that repeat a view for editing no longer count as formulas."""
        if run.formulas is None or not self._editable:
            return run
        marks = run.formulas & ~self._mark(run.columns * ROW + run.rows, self._editable)
        return replace(run, formulas=marks if marks.any() else None)

    def follow(self, run: ColumnRun, column: int, first: int) -> ColumnRun:
        """Return the cells of a column, in which formulas that repeat other cells have the values of these.

        Formulas that repeat a blank are left out.

        `column`: the number of the column, from 0. `first`: the row from which on the places of the cells are counted.
        """
        import polars as pl

        pending = run.kinds == PENDING
        if not pending.any() and not self.are_wanted:
            return run
        positions = column * ROW + run.places + first
        places, known = self._find(positions)
        if not known.any():
            return run
        _, targets, numbers, titles = self._references
        wanted = (known & pending) | self._mark(positions, self.changed)
        kinds, values, blank = run.kinds.copy(), run.values.clone(), np.zeros(len(run), np.bool_)
        for number, title in enumerate(titles):
            some = np.flatnonzero(wanted & (numbers[places] == number))
            if not len(some):
                continue
            match, cells = self._cells_in(title, number).at(targets[places[some]])
            kinds[some[match]], values = cells.kinds, values.scatter(some[match], cells.values)
            blank[np.delete(some, match)] = True
        if not blank.any():
            return ColumnRun(run.places, kinds, values)
        return ColumnRun(run.places[~blank], kinds[~blank], values.filter(pl.Series(~blank)))

    def _cells_in(self, title: str, number: int) -> SomeRuns:
        """Return the cells of another sheet that formulas repeat, by the sheet's title and its number."""
        if title not in self._cells:
            _, targets, numbers, _ = self._references
            rows = np.unique(targets[numbers == number] // ROW)
            self._cells[title] = self._cells_of_rows(title, list(_spans_of(rows)))
        return self._cells[title]


def _spans_of(rows: Positions) -> Iterator[tuple[int, int]]:
    """Yield rows as spans of those that follow one another."""
    for span in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
        yield int(span[0]), int(span[-1]) + 1


# A worksheet: its cells as runs, its first rows, and its columns.

_MOST_CELLS = 2**19  # of rows that are asked for again and again, and kept
_ADDRESS = re.compile("[A-Z]{1,3}[0-9]{1,7}")
_MOST_ROWS = 1200  # of the first rows
_UNKNOWN = "?"  # stands for a cell of which nobody knows more than that it is not blank
_IS_TIMED = np.isin(np.arange(c.LONG + 1), [c.SERIAL, c.MOMENT, c.DURATION])  # by kinds


class ExcelSheet:
    """A worksheet; `columns.Sheet` says what each method is for. Its title is put into the location of any error.

    `header_rows`: the number of first rows that hold all words of headers, as the workbook remembers; None if it is
    unknown.

    Attributes:
        report: called with the number of cells that were read since the last call.
        notes: findings about date cells that were read as text.
        formulas: collects the formulas among the cells that are read; None unless somebody asks for them.
        followed: the formulas that repeat other cells; None if the container does not know the text of formulas.
    """

    keeps_blanks = False

    def __init__(self, title: str, container: c.WorkbookReader, header_rows: int | None = None) -> None:
        self._title, self._container, self._header_rows = title, container, header_rows
        self.title: str | None = title
        self.formulas: FormulaCells | None = None
        self.followed: Followed | None = None
        self._last_rows: tuple[list[tuple[int, int]], FormulaCells | None, SomeRuns] | None = None
        self.look = TextLook(".", "typed")
        self.max_rows: int | None = container.max_rows
        self.report: Callable[[int], None] | None = None
        self.notes: list[Finding] = []

    # Runs of cells: all of them, those of some rows, or those for a table --------------------------------------

    @property
    def from_1904(self) -> bool:
        """Whether serial dates count from 1904."""
        return self._container.from_1904

    def runs(self, *, numeric: bool, first: int = 0) -> AbstractContextManager[Iterator[c.CellRun]]:
        """Give the cells of the sheet; if `numeric`, those above the row `first` may be left out."""
        return self._located(self._container.cells(self._title, numeric=numeric, first=first))

    def runs_from(self, row: int, *, numeric: bool) -> AbstractContextManager[Iterator[c.CellRun]]:
        """Give the cells of the sheet from the block with a row on; all cells if the container knows no blocks."""
        if not row:
            return self.runs(numeric=numeric)
        return self._located(self._container.cells_of_rows(self._title, [(row, MOST_ROWS)]))

    def table_runs(self) -> AbstractContextManager[Iterator[c.CellRun]]:
        """Give the cells of the sheet for an ordinary table; see `reader.cells.WorkbookReader.cells_of_table`."""
        return self._located(self._container.cells_of_table(self._title))

    def cells_of_rows(self, spans: list[tuple[int, int]]) -> SomeRuns:
        """Return all cells of some rows, given as spans of rows that may overlap, and perhaps of rows between them."""
        merged: list[tuple[int, int]] = []
        for first, end in sorted(spans):
            if merged and first <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            else:
                merged.append((first, end))
        if self._last_rows is not None and self._last_rows[1] == self.formulas:
            known = self._last_rows[0]  # headers of very many arrays are asked for batch by batch
            if known == merged or (len(known) == 1 and known[0][0] <= merged[0][0] and merged[-1][1] <= known[0][1]):
                return self._last_rows[2]
        starts, ends = np.array(merged, np.int64).T
        some = SomeRuns()
        with self._located(self._container.cells_of_rows(self._title, merged)) as runs:
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
        some = run.first(max(budget, 0) + MOST_COLUMNS)
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
        key = self._title, self._header_rows
        if key not in self._container.words:
            found: list[tuple[CellRun, Positions, WordCodes]] = []
            if self._header_rows is None:
                with self._located(self._container.cells_with(self._title, WORDS)) as runs:
                    found = [(run, *words_of(run)) for run in runs]
            elif self._header_rows:
                run = self.cells_of_rows([(0, self._header_rows)]).cells()
                found = [(run, *words_of(run))]
            parts = zip(*[(run.rows[which], run.columns[which], codes) for run, which, codes in found], strict=True)
            words = Words.from_positions(*(map(np.concatenate, parts) if found else ([], [], [])))
            self._container.words[key] = words
        return self._container.words[key]

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of some zones: short pieces of columns and rows, such as headers."""
        if not zones:
            return []
        some = self.cells_of_rows(
            [(zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones]
        )
        table = [(z.count, ROW if z.orient == "columns" else 1, z.row * ROW + z.column) for z in zones]
        sizes, steps, firsts = np.array(table, np.int64).T
        ends = np.cumsum(sizes)
        index = np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
        wanted = np.repeat(firsts, sizes) + index * np.repeat(steps, sizes)
        cells: list[Cell] = [None] * len(wanted)
        places, run = some.at(wanted)
        for place, value in zip(places.tolist(), scalars(run, from_1904=self.from_1904), strict=True):
            cells[place] = value
        groups = [cells[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]
        timed = np.flatnonzero(_IS_TIMED[run.kinds])
        owners = np.searchsorted(ends, places[timed], side="right")
        inside = places[timed] - (ends - sizes)[owners]
        begins: dict[int, int] = {}
        for owner, index, cell in zip(owners.tolist(), inside.tolist(), timed.tolist(), strict=True):
            group = groups[owner]
            if owner not in begins:
                keys = map(normalize_key, group)
                begins[owner] = next((place for place, key in enumerate(keys) if key == "ndarray"), len(group))
            if index > begins[owner]:  # before that it may be a name, and a header has no dates
                number = number_shown(int(run.kinds[cell]), str(run.values[cell]))
                group[index] = group[index] if number is None else number
        return groups

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield the cells of each requested row, from the requested column on, as text."""
        import polars as pl

        some = self.cells_of_rows([(request.row, request.row + 1) for request in requests])
        for request in requests:
            run = ColumnRun(*some.between(request))

            def address(place: int, request: Request = request) -> str:
                return cell_address(request.row, request.column + place)

            yield [], self._text(run, request.dtype, address) if len(run) else pl.Series([], dtype=pl.String)

    # Columns -------------------------------------------------------------------------------------------------

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Return the requested columns, read in one pass over the sheet."""
        if not requests:
            return []
        numeric = typed and self.can_read_numbers(requests)
        results: list[ColumnCells] = [([], ())] * len(requests)
        with self.runs(numeric=numeric, first=min(request.row for request in requests)) as runs:
            for place, cells in self.sort_into_columns(runs, requests, note=self._note):
                results[place] = [], self.column_cells(cells, requests[place], typed=typed, numeric=numeric)
        return results

    def can_read_numbers(self, requests: Sequence[Request]) -> bool:
        """Return whether the sheet can be read for numbers alone: no text is wanted, and no formula to be followed."""
        is_textual = any(map(_is_text, {request.dtype for request in requests}))
        return not is_textual and not (self.followed is not None and self.followed.are_wanted)

    def sort_into_columns(
        self, runs: Iterable[CellRun], requests: Sequence[Request], note: Callable[[CellRun], None] | None = None
    ) -> Iterator[tuple[int, ColumnRun]]:
        """Yield the index of each request, and its cells among some cells of the sheet; column by column.

        Formulas that repeat other cells have the values of these. `note`: is given each run.
        """
        import polars as pl

        by_column: dict[int, list[int]] = {}
        for place, request in enumerate(requests):
            by_column.setdefault(request.column, []).append(place)
        firsts = [min([requests[place] for place in places], key=lambda one: one.row) for places in by_column.values()]
        gathered = gather_columns(runs, firsts, note=note)
        for first, gathering, places in zip(firsts, gathered, by_column.values(), strict=True):
            run = join_runs(gathering)
            if self.followed is not None and run.values.dtype == pl.String:
                run = self.followed.follow(run, first.column, first.row)
            for place in places:
                yield place, _part_of(run, requests[place], first.row)

    def _note(self, run: c.CellRun) -> None:
        """Take note of the formulas among some cells, and of their number."""
        self.note_formulas(run)
        if self.report is not None:
            self.report(len(run))

    def column_cells(
        self, run: ColumnRun, request: Request, *, typed: bool, numeric: bool
    ) -> pl.Series | Numbers | Sequence[Cell]:
        """Return the requested cells of a column, converted for its dtype.

        `run`: the cells, counted from the requested row on. `typed`: give a Series of the engine's dtype if all cells
        are of that kind; otherwise text. `numeric`: whether the sheet was read for numbers alone, so that text is only
        known to be there.
        """
        import polars as pl

        def address(place: int) -> str:
            return cell_address(request.row + place, request.column)

        if not len(run):
            return pl.Series([], dtype=engine_dtype(request.dtype) if typed else pl.String)
        made: pl.Series | Numbers | None = None
        if typed and _is_text(request.dtype):
            made = to_moments(run, request.dtype, from_1904=self.from_1904)
        elif typed:
            made = to_numbers(run, request.dtype)
        if made is None and numeric and run.values.dtype != pl.String:
            return [*[None] * (run.height - 1), _UNKNOWN]  # some cell is text, so the column will be asked for as text
        return self._text(run, request.dtype, address) if made is None else made

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


def _part_of(run: ColumnRun, request: Request, first: int) -> ColumnRun:
    """Return the requested cells of a column, given all its cells, which are counted from the row `first` on."""
    if request.row == first and request.stop is None:
        return run
    end = run.height if request.stop is None else max(request.stop - first, 0)
    low, high = np.searchsorted(run.places, [request.row - first, end]).tolist()
    return ColumnRun(run.places[low:high] - (request.row - first), run.kinds[low:high], run.values[low:high])


@cache  # thousands of columns have few dtypes
def _is_text(dtype: DType) -> bool:
    """Return whether the engine has the elements of a dtype as text."""
    import polars as pl

    return bool(engine_dtype(dtype) == pl.String)
