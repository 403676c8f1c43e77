"""The columns and rows of sheets -> arrays, with the lengths that their headers say, or that people gave them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ..dtypes import Buffer
from ..elements import Cell, Missing, Problem, Unreadable
from ..errors import Finding, FormatError
from ..header import NO_RESIZE_HINT, RESIZE_HINT, AddressOf, Header, NoteFinding, count_rows
from ..linear import describe_missing_cells, error_for_problem, view_of
from .column import ArrayColumn, DecodedColumn
from .grid import Anchor, Orient
from .layout import ReportError
from .row_edits import RowChange, RowEdit, find_row_edits, resize_columns
from .sheet import ColumnCells, Request, Sheet

if TYPE_CHECKING:
    import polars as pl

MAX_FINDINGS_PER_ARRAY = 20  # of cells that cannot be read; one more finding counts the others
_FIXED_HINT = (
    "one of several columns that belong together, as those of an awkward array do, none of which takes another length "
    "by itself: undo the edit, or write the array again"
)


class ElementRestorer(Protocol):
    """The exact elements that a container keeps of its arrays beside their cells, which programs may have rounded."""

    def restore(self, name: str, buffer: Buffer, column: ArrayColumn) -> Buffer:
        """Return the elements, each that a program has only rounded with the bits that it was written with."""

    def repair(self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Mapping[int, object]) -> set[int]:
        """Put elements into a buffer whose cells a program has rounded to what no element can be.

        Returns:
            The indices of those, of the unreadable cells given by the index of their elements.
        """


CompareFingerprint = Callable[[str, Buffer | None, ArrayColumn], Iterable[Finding | RowChange]]


_Unreadable = dict[str, np.ndarray[Any, Any]]
_unreadable: ContextVar[tuple[str, _Unreadable] | None] = ContextVar("_unreadable", default=None)
_MISSING = re.compile(r"#.*|n\.?/?a\.?|null|none|nil|missing|[?]+|-+", re.IGNORECASE)  # words for what is not known


@contextmanager
def keeping_unreadable(keeps: Literal["all", "missing"] = "all") -> Iterator[_Unreadable]:
    """Keep the cells that cannot be read, for as long as the context lasts, instead of raising their errors.

    `keeps`: all of them, or those that stand for a missing value: blanks, errors such as `#DIV/0!`, words such as
    `n/a`.

    Yields:
        For each array that has such cells an array of objects of its shape: the error of each of them, None for all
        other elements. What the array holds in their place says nothing. A context around this one gets them, too.
    """
    kept: _Unreadable = {}
    token = _unreadable.set((keeps, kept))
    try:
        yield kept
    finally:
        _unreadable.reset(token)
    if (outer := _unreadable.get()) is not None:
        outer[1].update(kept)


def keep_unreadable(
    name: str,
    header: Header,
    problems: Sequence[Problem],
    cells: pl.Series | Sequence[Cell],
    address: AddressOf,
    *,
    cells_each: int = 1,
) -> list[FormatError] | None:
    """Keep the errors of the cells of an array that cannot be read, if a context around the call asks for them.

    `cells`: all data cells. `address`: of a data cell, by its index. `cells_each`: the cells of an element.

    Returns:
        The errors that are to be raised nevertheless; None where nobody asks, or so many cells cannot be read that
        others were not looked at.
    """
    keeps, kept = _unreadable.get() or ("", None)
    if kept is None or not problems or any(problem.rest for problem in problems):
        return None
    errors, raised = np.full(header.capacity, None, object), []
    for problem in problems:
        wrong = error_for_problem(problem, header, name, address, cells_each=cells_each)
        errors[problem.index // cells_each] = wrong
        if keeps == "missing" and not _stands_for_missing(cells[problem.index]):
            raised.append(wrong)
    kept[name] = view_of(header, errors)
    return raised


def _stands_for_missing(cell: Cell) -> bool:
    if isinstance(cell, Unreadable):
        return cell.is_error
    if isinstance(cell, (bool, int, float)):
        return False
    return cell is None or not str(cell).strip() or _MISSING.fullmatch(str(cell).strip()) is not None


@dataclass(frozen=True, slots=True)
class ReadMode:
    """The way in which arrays are read.

    Attributes:
        strict: refuse lists without a version.
        missing: what a blank means.
        report: is called with each error.
        note: is called with each finding about something that was accepted although it is not as `write` writes it.
        judge: as for `check_sheets`.
        resize: whether arrays take their lengths from their cells.
        fixed: arrays that keep theirs.
        finds_edits: whether rows that were added or deleted alike are one finding.
        restore: gives elements that a program has only rounded the bits that they were written with.
    """

    strict: bool
    missing: Missing
    report: ReportError
    note: NoteFinding
    judge: CompareFingerprint | None = None
    resize: bool = False
    fixed: Collection[str] = ()
    finds_edits: bool = False
    restore: ElementRestorer | None = None


def errors_of_problems(
    problems: Sequence[Problem], header: Header, name: str, address: AddressOf, *, cells_each: int = 1
) -> Iterator[FormatError]:
    """Yield an error for each of the first cells of an array that cannot be read, and one for all others."""
    for problem in problems[:MAX_FINDINGS_PER_ARRAY]:
        yield error_for_problem(problem, header, name, address, cells_each=cells_each)
    if (more := len(problems) - MAX_FINDINGS_PER_ARRAY) > 0:
        is_cut = any(problem.rest for problem in problems)
        wrong, rest = (more - 1, ", and none was looked at after them") if is_cut else (more, "")
        reason = f"{name}: {wrong} more cells cannot be read as {header.dtype.name}{rest}"
        yield FormatError(reason, array=name)


class ColumnReader:
    """Turns the columns and rows of sheets into arrays."""

    def __init__(self, sheets: Sequence[Sheet], stops: Mapping[int, int], mode: ReadMode) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._stops, self._mode = stops, mode
        self._missing, self._report, self._note, self._judge = mode.missing, mode.report, mode.note, mode.judge
        self._others: dict[str, list[Anchor]] = {}  # arrays that are only measured
        self._changes: dict[str, RowChange] = {}
        self._edits: list[RowEdit] = []

    # Lengths that people have changed ------------------------------------------------------------------------

    def measure_others(self, wanted: Mapping[str, list[Anchor]], groups: Mapping[str, list[Anchor]]) -> None:
        """Take note of arrays that are not wanted, but whose lengths tell whether those of wanted ones are meant."""

        def extent(group: list[Anchor]) -> tuple[Any, ...] | None:
            rows = count_rows(group[0].header) if group[0].header else None
            return rows and (group[0].title, group[0].orient, rows[0])

        alike = {extent(group) for group in wanted.values()} - {None}
        others = {name: group for name, group in groups.items() if name not in wanted}
        self._others = {name: group for name, group in others.items() if extent(group) in alike}

    def fetch_resized(self, groups: Mapping[str, list[Anchor]]) -> dict[str, ArrayColumn]:
        """Return the column of each array, with the length that its cells have."""
        columns: dict[str, ArrayColumn] = {}
        for lying in (False, True):
            some = {name: group for name, group in groups.items() if (group[0].orient == "rows") == lying}
            fetched = self._fetch(some.values())
            columns |= dict(zip(some, fetched, strict=True))
        resize_columns(columns, self._missing, self._mode.fixed, self._note)
        return {name: columns[name] for name in groups}

    def _take_lengths(self, columns: Mapping[str, ArrayColumn]) -> None:
        """Give columns the lengths that their cells have, if the mode says that arrays are resized."""
        if self._mode.resize:
            resize_columns(columns, self._missing, self._mode.fixed, self._note)
        elif self._mode.finds_edits:
            self._edits += find_row_edits(columns, self._missing, self._mode.fixed)

    def _others_of(self, orient: Orient) -> dict[str, list[Anchor]]:
        return {name: group for name, group in self._others.items() if group[0].orient == orient}

    def _note_row_edits(self) -> None:
        """Note the rows that were added or deleted, now that the elements have been compared."""
        for edit in self._edits:
            self._note(edit.to_finding(self._changes))
        self._edits = []

    # Reading -------------------------------------------------------------------------------------------------

    def read_rows(self, groups: Mapping[str, list[Anchor]]) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
        """Yield the arrays of rows, one by one; None for what could not be read, which has been reported."""
        columns: Iterable[ArrayColumn] = self._fetch(groups.values())
        if self._mode.resize or self._mode.finds_edits:
            columns, others = list(columns), self._others_of("rows")
            names = [*groups, *others]
            self._take_lengths(dict(zip(names, [*columns, *self._fetch(others.values())], strict=True)))
        for name, column in zip(groups, columns, strict=True):
            yield name, self.finish_column(column, name)
        self._note_row_edits()

    def read_columns(self, groups: Mapping[str, list[Anchor]]) -> dict[str, np.ndarray[Any, Any] | None]:
        """Read one array per group. An array that could not be read is None, and its errors have been reported."""
        doubtful: dict[str, ArrayColumn] = {}  # and columns of text after them: errors come in the order of columns
        results: dict[str, np.ndarray[Any, Any] | None] = {}
        others = self._others_of("columns")
        columns = list(self._fetch([*groups.values(), *others.values()]))
        self._take_lengths(dict(zip([*groups, *others], columns, strict=True)))
        del columns[len(groups) :]
        columns.reverse()  # each is let go as soon as it is decoded
        for name in groups:
            column = columns.pop()
            buffer = column.decode_typed(self._missing)
            if buffer is not None:
                results[name] = self._build_array(column, name, buffer)
            elif doubtful or not column.is_text:
                doubtful[name] = column
            else:
                results[name] = self.finish_column(column, name)
        unsure = [groups[name] for name, column in doubtful.items() if not column.is_text]
        again = self._fetch(unsure, typed=False) if unsure else iter(())
        for name, column in doubtful.items():
            if not column.is_text:
                header, column = column.header, next(again)
                column.header = header
            results[name] = self.finish_column(column, name)
        self._note_row_edits()
        return results

    def _fetch(self, groups: Iterable[list[Anchor]], *, typed: bool = True) -> Iterator[ArrayColumn]:
        """Yield the columns, or rows, of groups; every sheet is asked once, and rows come one by one."""
        groups = list(groups)
        lying = bool(groups) and groups[0][0].orient == "rows"
        wanted: dict[str | None, list[Request]] = {}
        for anchor in [anchor for group in groups for anchor in group]:
            assert anchor.header is not None
            column, row = anchor.data_cell
            request = Request(column, row, anchor.header.dtype, True, self._stops.get(id(anchor)))
            wanted.setdefault(anchor.title, []).append(request)
        cells: dict[str | None, Iterator[ColumnCells]] = {}
        for title, requests in wanted.items():
            sheet = self._sheets[title]
            cells[title] = iter(sheet.rows(requests)) if lying else _pop_all(sheet.columns(requests, typed=typed))
        for group in groups:
            yield ArrayColumn(group, [next(cells[anchor.title]) for anchor in group], self._sheets[group[0].title])

    def finish_column(self, column: ArrayColumn, name: str) -> np.ndarray[Any, Any] | None:
        """Decode a column cell by cell and report each problem. Return the array, or None if there was any problem."""
        header = column.header
        try:
            decoded = column.decode_checked(self._missing)
        except FormatError as error:
            error.array = name
            self._report(error)
            return None
        if decoded.problems and not decoded.is_cut and self._mode.restore is not None:
            self._repair(decoded, column, name, self._mode.restore)
        if decoded.count_error:
            decoded.count_error.array = name
            if name in self._mode.fixed:
                decoded.count_error.hint = _FIXED_HINT
            elif decoded.count_error.hint == RESIZE_HINT and column.is_mostly_blank_below():
                decoded.count_error.hint = NO_RESIZE_HINT  # what stands there are no rows
            self._report(decoded.count_error)
        elif decoded.missing_count and column.sheet.keeps_blanks:
            last, orient = column.address(len(decoded.cells) - 1), column.group[0].orient
            self._note(describe_missing_cells(name, decoded.missing_count, last, orient=orient))
        cells_each = decoded.cells_per_element
        if decoded.problems and not decoded.count_error:
            raised = keep_unreadable(
                name, header, decoded.problems, decoded.cells, column.address, cells_each=cells_each
            )
            if raised is not None:
                for wrong in raised:
                    self._report(wrong)
                return self._build_array(column, name, decoded.buffer)
        for wrong in errors_of_problems(decoded.problems, header, name, column.address, cells_each=cells_each):
            self._report(wrong)
        if not decoded.problems and not decoded.count_error:
            return self._build_array(column, name, decoded.buffer)
        if self._judge is not None:
            sound = not decoded.problems and decoded.cells_per_element == 1
            self._warn_of_all(name, self._judge(name, decoded.buffer if sound else None, column))
        return None

    def _repair(self, decoded: DecodedColumn, column: ArrayColumn, name: str, restorer: ElementRestorer) -> None:
        """Take those problems away that a program has made by rounding."""
        if decoded.count_error is None and decoded.cells_per_element == 1:
            unreadable = {problem.index: decoded.cells[problem.index] for problem in decoded.problems}
            repaired = restorer.repair(name, decoded.buffer, column, unreadable)
            decoded.problems[:] = [problem for problem in decoded.problems if problem.index not in repaired]

    def _build_array(self, column: ArrayColumn, name: str, buffer: Buffer) -> np.ndarray[Any, Any]:
        if self._mode.restore is not None:
            buffer = self._mode.restore.restore(name, buffer, column)
        if self._judge is not None:
            self._warn_of_all(name, self._judge(name, buffer, column))
        return view_of(column.header, buffer)

    def _warn_of_all(self, name: str, findings: Iterable[Finding | RowChange]) -> None:
        for finding in findings:
            if isinstance(finding, RowChange):
                self._changes[name] = finding
            else:
                self._note(replace(finding, array=name))


def _pop_all(columns: list[ColumnCells]) -> Iterator[ColumnCells]:
    """Yield columns and let each go, so that none is kept beside the array that is made of it."""
    columns.reverse()
    while columns:
        yield columns.pop()
