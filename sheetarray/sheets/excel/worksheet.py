"""A worksheet: its cells as runs, its first rows, and its columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...columns import Block, ColumnCells, Request, Words, Zone, cell_address
from ...columns.pieced_arrays import NotInPiecesError
from ...columns.sheet import Numbers
from ...columns.words import WordCodes
from ...dtypes import DType, Positions
from ...elements import Cell, TextLook, engine_dtype
from ...errors import Finding, FormatError
from ...linear.parsing import normalize_key
from ..workbooks import MOST_ROWS
from .reader import cells as c
from .reader.cells import ROW, CellRun, join_cells
from .reader.columns.gathering import gather_columns, join_gathered
from .reader.columns.numbers import to_moments, to_numbers
from .reader.columns.texts import ColumnTexts
from .reader.formulas import FormulaCells
from .reader.scalars import number_shown, scalars, words_of

if TYPE_CHECKING:
    import polars as pl
from .following import Followed

_CELLS_A_BLOCK = 2**18  # cells that are sorted into columns at once
_MOST_CELLS = 2**19  # of rows that are asked for again and again, and kept
_ADDRESS = re.compile("[A-Z]{1,3}[0-9]{1,7}")
_MOST_ROWS = 1200  # of the first rows
_UNKNOWN = "?"  # stands for a cell of which nobody knows more than that it is not blank
_IS_TIMED = np.isin(np.arange(c.LARGE + 1), [c.SERIAL, c.MOMENT, c.DURATION])  # by kinds


class ExcelSheet:
    """A worksheet; `columns.Sheet` says what each method is for. Its title is put into the location of any error.

    `header_rows`: the number of first rows that hold all words of headers, as the workbook remembers; None if it is
    unknown. All rows of a small sheet are looked at together. `follow`: returns the formulas that repeat other cells;
    None if the container does not know the text of formulas. `repeats_views`: whether formulas may repeat cells of a
    view that people have changed.

    Attributes:
        report: called with the number of cells that were read since the last call.
        notes: findings about date cells that were read as text.
        formulas: collects the formulas among the cells that are read; None unless somebody asks for them.
        from_1904: whether serial dates count from 1904.
    """

    keeps_blanks = False

    def __init__(
        self,
        title: str,
        container: c.WorkbookReader,
        header_rows: int | None = None,
        follow: Callable[[], Followed | None] = lambda: None,
        *,
        repeats_views: bool = False,
    ) -> None:
        self._title, self._container, self.from_1904 = title, container, container.from_1904
        self._follow, self._repeats_views = follow, repeats_views
        self._is_small = container.is_small(title)
        self._header_rows = MOST_ROWS if header_rows is None and self._is_small else header_rows
        self.title: str | None = title
        self.formulas: FormulaCells | None = None
        self._last_rows: tuple[list[tuple[int, int]], FormulaCells | None, CellRun] | None = None
        self.look = TextLook(".", "typed")
        self.max_rows: int | None = container.max_rows
        self.report: Callable[[int], None] | None = None
        self.notes: list[Finding] = []

    # Runs of cells: all of them, or those of some rows --------------------------------------------------------

    def runs(self, texts: c.TextsOf = "all", *, first: int = 0) -> AbstractContextManager[Iterator[c.CellRun]]:
        """Give the cells of the sheet from a row on, with the texts that are wanted; see `WorkbookReader.cells`."""
        return self._located(self._container.cells(self._title, texts, first=first))

    def cells_of_rows(self, spans: list[tuple[int, int]]) -> CellRun:
        """Return all cells of some rows, by position, given as spans of rows that may overlap, and perhaps of rows
        between them.
        """
        merged: list[tuple[int, int]] = []
        for first, end in sorted(spans):
            if merged and first <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            else:
                merged.append((first, end))
        if self._last_rows is not None and self._last_rows[1] == self.formulas:
            spans_read = self._last_rows[0]  # headers of very many arrays are asked for batch by batch
            top, bottom = spans_read[0]
            is_within = len(spans_read) == 1 and top <= merged[0][0] and merged[-1][1] <= bottom
            if spans_read == merged or is_within:
                return self._last_rows[2]
        starts, ends = np.array(merged, np.int64).T
        runs_of_spans: list[CellRun] = []
        with self._located(self._container.blocks(self._title, spans=merged)) as blocks:
            for block in blocks:
                if int(block.rows.min()) >= int(ends[-1]):
                    break
                index = np.searchsorted(starts, block.rows, side="right") - 1
                if len(places := np.flatnonzero((index >= 0) & (block.rows < ends[index]))):
                    runs_of_spans.append(run := self._container.look_up(block, places))
                    self.note_formulas(run)
        cells = join_cells(runs_of_spans).by_position()
        self._last_rows = (merged, self.formulas, cells) if len(cells) <= _MOST_CELLS else None
        return cells

    def note_formulas(self, run: c.CellRun) -> None:
        """Collect the formulas among some cells, if somebody asks for formulas."""
        if self.formulas is not None:
            followed = None if run.formulas is None else self._follow()
            self.formulas.add(run if followed is None else followed.without_links(run))

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

    # Arrays --------------------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers and where they stand, in the whole sheet."""
        key = self._title, self._header_rows
        if key not in self._container.words:
            parts: list[tuple[Positions, Positions, WordCodes]] = []
            if self._header_rows is None:
                reader = self._container
                blocks = reader.blocks(self._title, spans=(), numbers_alone=reader.reads_numbers)
                with self._located(blocks):
                    marked = ((block, np.flatnonzero(reader.mark_words(block))) for block in blocks)
                    parts = [words_of(reader.look_up(block, places)) for block, places in marked if len(places)]
            elif self._header_rows:
                parts = [words_of(self.cells_of_rows([(0, self._header_rows)]))]
            joined = map(np.concatenate, zip(*parts, strict=True)) if parts else ([], [], [])
            words = Words.from_positions(*joined)
            self._container.words[key] = words
        return self._container.words[key]

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of some zones: short pieces of columns and rows, such as headers."""
        if not zones:
            return []
        cells_of_spans = self.cells_of_rows(
            [(zone.row, zone.row + (zone.count if zone.orient == "columns" else 1)) for zone in zones]
        )
        table = [(z.count, ROW if z.orient == "columns" else 1, z.row * ROW + z.column) for z in zones]
        sizes, steps, firsts = np.array(table, np.int64).T
        ends = np.cumsum(sizes)
        index = np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
        positions = np.repeat(firsts, sizes) + index * np.repeat(steps, sizes)
        cells: list[Cell] = [None] * len(positions)
        places, run = cells_of_spans.at(positions)
        for place, value in zip(places.tolist(), scalars(run, from_1904=self.from_1904), strict=True):
            cells[place] = value
        groups = [cells[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]
        timed = np.flatnonzero(_IS_TIMED[run.kinds])
        if len(timed):
            _put_numbers_shown(groups, run, timed, places[timed], ends, sizes)
        return groups

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield the cells of each requested row, from the requested column on, as text."""
        import polars as pl

        cells_of_spans = self.cells_of_rows([(request.row, request.row + 1) for request in requests])
        for request in requests:
            run = cells_of_spans.in_row(request)

            def address(place: int, request: Request = request) -> str:
                return cell_address(request.row, request.column + place)

            yield [], self._text(run, request.dtype, address) if len(run) else pl.Series([], dtype=pl.String)

    # Columns -------------------------------------------------------------------------------------------------

    def blocks(
        self, requests: Sequence[Request], counts: Sequence[int] | None = None, *, typed: bool
    ) -> Iterator[Block]:
        """Yield the cells of columns in one pass over the sheet: whole ones, or with `counts` some rows at a time."""
        if not requests:
            return
        # The texts of numbers are left out where no text is wanted, and no formula is to be followed. Those of a small
        # sheet are at hand
        is_numeric = typed and not self._is_small and not any(map(_is_text, {request.dtype for request in requests}))
        is_numeric = is_numeric and not (self._repeats_views and self._follows_all)
        texts: c.TextsOf = "others" if is_numeric else "all"
        if counts is not None:
            yield from self._some_rows([*requests], [*counts], texts, typed=typed)
            return
        with (
            nullcontext([self.cells_of_rows([(0, MOST_ROWS)])])
            if self._is_small
            else self.runs(texts, first=min(request.row for request in requests) if is_numeric else 0)
        ) as runs:
            for place, cells in self._sort_into_columns(runs, requests, texts, note=self._note):
                yield Block(place, ([], self._column_cells(cells, requests[place], texts, typed=typed)))

    def _some_rows(self, requests: list[Request], left: list[int], texts: c.TextsOf, *, typed: bool) -> Iterator[Block]:
        """Yield the cells of columns, some rows at a time; requests and counts are for those still to come."""
        last, waiting, count = -1, list[CellRun](), 0
        first = min(request.row for request in requests) if texts == "all" else 0
        with self.runs(texts, first=first) as runs:
            for run in runs:
                if int(run.rows.min()) <= last:
                    raise NotInPiecesError
                last = int(run.rows.max())
                self._note(run)
                waiting.append(run)
                count += len(run)
                if count >= _CELLS_A_BLOCK:
                    yield from self._blocks_of(waiting, requests, left, texts, typed=typed)
                    waiting, count = [], 0
            yield from self._blocks_of(waiting, requests, left, texts, typed=typed)

    def _blocks_of(
        self, runs: Sequence[CellRun], requests: list[Request], left: list[int], texts: c.TextsOf, *, typed: bool
    ) -> Iterator[Block]:
        """Yield the blocks in some cells of the sheet; requests go on behind them."""
        for place, cells in self._sort_into_columns(runs, [*requests], texts):
            if len(cells):
                request, left[place] = requests[place], left[place] - cells.height
                if left[place] < 0:
                    raise NotInPiecesError
                requests[place] = replace(request, row=request.row + cells.height)
                as_text = partial(self._text_of, cells, request) if typed and texts == "all" else None
                typed_cells = self._column_cells(cells, request, texts, typed=typed)
                yield Block(place, ([], typed_cells), cells.height, as_text)

    def _text_of(self, cells: CellRun, request: Request) -> ColumnCells:
        return [], self._column_cells(cells, request, "all", typed=False)

    @property
    def _follows_all(self) -> bool:
        """Whether formulas that have a value are followed, too."""
        followed = self._follow()
        return followed is not None and followed.are_wanted

    def _sort_into_columns(
        self,
        runs: Iterable[CellRun],
        requests: Sequence[Request],
        texts: c.TextsOf,
        note: Callable[[CellRun], None] | None = None,
    ) -> Iterator[tuple[int, CellRun]]:
        """Yield the index of each request, and its cells among some cells of the sheet; column by column.

        Formulas that repeat other cells have the values of these, if all texts are wanted. `note`: is given each run.
        """
        by_column: dict[int, list[int]] = {}
        for place, request in enumerate(requests):
            by_column.setdefault(request.column, []).append(place)
        firsts = [min([requests[place] for place in places], key=lambda one: one.row) for places in by_column.values()]
        gathered = gather_columns(runs, firsts, note=note)
        for first, gathering, places in zip(firsts, gathered, by_column.values(), strict=True):
            run = join_gathered([gathering])
            if texts == "all" and ((run.kinds == c.PENDING).any() or (self._repeats_views and self._follows_all)):
                followed = self._follow()
                run = run if followed is None else followed.follow(run, first.column, first.row)
            for place in places:
                request = requests[place]
                if request.row == first.row and request.stop is None:
                    yield place, run
                    continue
                skipped = request.row - first.row
                end = run.height if request.stop is None else max(request.stop - first.row, 0)
                low, high = np.searchsorted(run.rows, [skipped, end]).tolist()
                part = run.take(slice(low, high))
                yield place, replace(part, rows=part.rows - skipped)

    def _note(self, run: c.CellRun) -> None:
        """Take note of the formulas among some cells, and of their number."""
        self.note_formulas(run)
        if self.report is not None:
            self.report(len(run))

    def _column_cells(
        self, run: CellRun, request: Request, texts: c.TextsOf, *, typed: bool
    ) -> pl.Series | Numbers | Sequence[Cell]:
        """Return the requested cells of a column, converted for its dtype.

        `run`: the cells, counted from the requested row on. `typed`: give a Series of the engine's dtype if all cells
        are of that kind; otherwise text. `texts`: those with which the sheet was read.
        """
        import polars as pl

        def address(place: int) -> str:
            return cell_address(request.row + place, request.column)

        if not len(run):
            return pl.Series([], dtype=engine_dtype(request.dtype) if typed else pl.String)
        converted: pl.Series | Numbers | None = None
        if typed and request.dtype.kind == "datetime":
            converted = to_moments(run, request.dtype, from_1904=self.from_1904)
        elif typed and not _is_text(request.dtype):
            converted = to_numbers(run, request.dtype)
        if converted is None and texts != "all":
            cells = np.full(run.height, None, object)  # the column will be asked for as text, with that of its numbers
            cells[run.rows] = _UNKNOWN
            return cells.tolist()
        return self._text(run, request.dtype, address) if converted is None else converted

    def _text(self, run: CellRun, dtype: DType | None, address: Callable[[int], str]) -> pl.Series | Sequence[Cell]:
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


def _put_numbers_shown(
    groups: Sequence[list[Cell]], run: CellRun, timed: Positions, places: Positions, ends: Positions, sizes: Positions
) -> None:
    """Put numbers into headers in place of dates and durations, as which formats show them.

    `groups`: the cells of zones. `run`: all cells that are not blank; `timed` are those of dates, and `places` their
    indices among the cells of all zones. `ends`: of each zone among these. `sizes`: of each zone.
    """
    owners = np.searchsorted(ends, places, side="right")
    inside = places - (ends - sizes)[owners]
    begins, texts = dict[int, int](), run.texts()
    for owner, index, cell in zip(owners.tolist(), inside.tolist(), timed.tolist(), strict=True):
        group = groups[owner]
        if owner not in begins:
            keys = map(normalize_key, group)
            begins[owner] = next((place for place, key in enumerate(keys) if key == "ndarray"), len(group))
        if index > begins[owner]:  # before that it may be a name, and a header has no dates
            number = number_shown(int(run.kinds[cell]), str(texts[cell]))
            group[index] = group[index] if number is None else number


@cache  # thousands of columns have few dtypes
def _is_text(dtype: DType) -> bool:
    """Return whether the engine has the elements of a dtype as text."""
    import polars as pl

    return bool(engine_dtype(dtype) == pl.String)
