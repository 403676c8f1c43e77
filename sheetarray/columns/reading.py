"""The cells of sheets -> arrays: anchors wherever they are, then each column under the dtype that its header names.

A container implements `Sheet`; of several sheets, those without an array are passed over. Columns come typed by the
container's own bulk parser first; where that leaves the slightest doubt they are asked for again as text, and each
cell is judged by its look. Arrays have the lengths that their headers say, or that people gave them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ..arrays import select
from ..dtypes import Buffer
from ..elements import Cell, Missing, Problem, Unreadable, check_missing
from ..errors import Finding, FormatError
from ..header import (
    NO_RESIZE_HINT,
    RESIZE_HINT,
    AddressOf,
    Header,
    NoteFinding,
    count_rows,
    warn_of_finding,
)
from ..linear import describe_missing_cells, error_for_problem, view_of
from .adopting import ResizedArray
from .anchors import find_anchors
from .column import ArrayColumn
from .grid import Anchor
from .layout import ReportError, find_stops, group_parts
from .row_edits import RowChange, RowEdit, find_row_edits, resize_columns
from .sheet import ArrayInfo, ColumnCells, DataCells, Request, Sheet, Zone

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


def _split(groups: Mapping[str, list[Anchor]]) -> tuple[dict[str, list[Anchor]], dict[str, list[Anchor]]]:
    """Return the arrays that lie in rows, and those that stand in columns."""
    lying: dict[str, list[Anchor]] = {}
    standing: dict[str, list[Anchor]] = {}
    for name, group in groups.items():
        (lying if group[0].orient == "rows" else standing)[name] = group
    return lying, standing


def _find_alike(wanted: Mapping[str, list[Anchor]], groups: Mapping[str, list[Anchor]]) -> dict[str, list[Anchor]]:
    """Return arrays that are not wanted, but whose lengths tell whether those of wanted ones are meant."""

    def extent(group: list[Anchor]) -> tuple[Any, ...] | None:
        rows = count_rows(group[0].header) if group[0].header else None
        return rows and (group[0].title, group[0].orient, rows[0])

    alike = {extent(group) for group in wanted.values()} - {None}
    return {name: group for name, group in groups.items() if name not in wanted and extent(group) in alike}


class _Reader:
    """Turns the columns and rows of sheets into arrays."""

    def __init__(self, sheets: Sequence[Sheet], anchors: Iterable[Anchor], mode: ReadMode) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._stops, self._mode = find_stops(anchors), mode
        self._missing, self._report, self._note, self._judge = mode.missing, mode.report, mode.note, mode.judge
        self._changes: dict[str, RowChange] = {}
        self._edits: list[RowEdit] = []

    def fetch_resized(self, groups: Mapping[str, list[Anchor]]) -> dict[str, ArrayColumn]:
        """Return the column of each array, with the length that its cells have."""
        columns: dict[str, ArrayColumn] = {}
        for some in _split(groups):
            columns |= dict(zip(some, self._fetch(some.values()), strict=True))
        resize_columns(columns, self._missing, self._mode.fixed, self._note)
        return columns

    def _take_lengths(self, columns: Mapping[str, ArrayColumn]) -> None:
        """Give columns the lengths that their cells have, if the mode says that arrays are resized."""
        if self._mode.resize:
            resize_columns(columns, self._missing, self._mode.fixed, self._note)
        elif self._mode.finds_edits:
            self._edits += find_row_edits(columns, self._missing, self._mode.fixed)

    def _note_row_edits(self) -> None:
        """Note the rows that were added or deleted, now that the elements have been compared."""
        for edit in self._edits:
            self._note(edit.to_finding(self._changes))
        self._edits = []

    # Reading -------------------------------------------------------------------------------------------------

    def read_rows(
        self, groups: Mapping[str, list[Anchor]], others: Mapping[str, list[Anchor]]
    ) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
        """Yield the arrays of rows, one by one; None for what could not be read, which has been reported.

        `others`: arrays that are only measured.
        """
        columns: Iterable[ArrayColumn] = self._fetch(groups.values())
        if self._mode.resize or self._mode.finds_edits:
            columns = list(columns)
            measured = [*columns, *self._fetch(others.values())]
            self._take_lengths(dict(zip([*groups, *others], measured, strict=True)))
        for name, column in zip(groups, columns, strict=True):
            yield name, self.finish_column(column, name)
        self._note_row_edits()

    def read_columns(
        self, groups: Mapping[str, list[Anchor]], others: Mapping[str, list[Anchor]]
    ) -> dict[str, np.ndarray[Any, Any] | None]:
        """Return the arrays of columns, as `read_rows` yields those of rows."""
        doubtful: dict[str, ArrayColumn] = {}  # and columns of text after them: errors come in the order of columns
        results: dict[str, np.ndarray[Any, Any] | None] = {}
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
        cells_each, restorer = decoded.cells_per_element, self._mode.restore
        if decoded.problems and not decoded.is_cut and restorer and cells_each == 1 and not decoded.count_error:
            unreadable = {problem.index: decoded.cells[problem.index] for problem in decoded.problems}
            repaired = restorer.repair(name, decoded.buffer, column, unreadable)  # what a program has made by rounding
            decoded.problems[:] = [problem for problem in decoded.problems if problem.index not in repaired]
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
            sound = not decoded.problems and cells_each == 1
            self._warn_of_all(name, self._judge(name, decoded.buffer if sound else None, column))
        return None

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


def raise_error(error: FormatError) -> None:
    """Raise the first error that reading reports."""
    raise error


# Anchors -----------------------------------------------------------------------------------------------------


def _find_all_anchors(sheets: Sequence[Sheet], strict: bool) -> list[Anchor]:
    """Return every anchor, sheet by sheet.

    Raises:
        FormatError: there is none.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet, strict=strict)]
    if not anchors:
        raise FormatError(
            "no array of the exchange format here (no cells version, 1.0.0, ndarray)",
            hint="an ordinary table is read by read_columns, and by sheetarray table",
        )
    return anchors


# Reading -----------------------------------------------------------------------------------------------------


def read_sheets(
    sheets: Sequence[Sheet],
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    fixed: Collection[str] = (),
    restore: ElementRestorer | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of one sheet or several of a container, in the order written.

    `sheets`: where the cells are; titles differ. `missing`: "nan" reads blanks in float and complex arrays as NaN.
    `resize`: the axis that varies slowest takes its length from the cells that stand in the column. `fixed`: arrays
    that are not resized, since others depend on them. `restore`: gives elements the bits that they were written with.

    Raises:
        FormatError: at the first cell that is wrong.
        NotFoundError: no array of a name asked for.
    """
    mode = ReadMode(strict, missing, raise_error, warn_of_finding, resize=resize, fixed=fixed, restore=restore)
    arrays: dict[str, Any] = dict(_read_arrays(sheets, names, mode))
    return arrays  # each was read: the first error is raised


def read_resized(
    sheets: Sequence[Sheet], *, missing: Missing = "error", fixed: Collection[str] = ()
) -> dict[str, ResizedArray]:
    """Return every array with the length that its cells have, and its buffer, by name.

    `fixed`: arrays that are not resized, since others depend on them.

    Raises:
        FormatError: at the first cell that is wrong.
    """
    arrays: dict[str, ResizedArray] = {}

    def keep(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding]:
        assert buffer is not None, "the first error is raised"
        arrays[name] = ResizedArray(column, buffer)
        yield from ()

    mode = ReadMode(False, missing, raise_error, warn_of_finding, keep, resize=True, fixed=fixed)
    names = [name for name, _ in _read_arrays(sheets, None, mode)]
    return {name: arrays[name] for name in names}


def scan_sheets(
    sheets: Sequence[Sheet], *, strict: bool = False, resize: bool = False, fixed: Collection[str] = ()
) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in some sheets, from their headers alone.

    `resize`: shapes are those that `read_sheets` gives; all cells are read.

    Raises:
        FormatError: no array, or a broken header.
    """
    mode = ReadMode(strict, "error", raise_error, warn_of_finding, resize=resize, fixed=fixed)
    groups, reader = _open_reader(sheets, None, mode)
    resized = reader.fetch_resized(groups) if resize else {}
    infos = _Infos(sheets, groups, {name: column.header for name, column in resized.items()})
    return dict(infos.items())


def scan_names(sheets: Sequence[Sheet], *, strict: bool, report: ReportError) -> Mapping[str, ArrayInfo]:
    """Return the infos that `scan_sheets` returns, each made only when it is asked for: mostly names are enough."""
    groups, _ = _open_reader(sheets, None, ReadMode(strict, "error", report, lambda _: None))
    return _Infos(sheets, groups, {})


class _Infos(Mapping[str, ArrayInfo]):
    """The infos of arrays by their names, made when they are asked for."""

    def __init__(
        self, sheets: Sequence[Sheet], groups: Mapping[str, list[Anchor]], resized: Mapping[str, Header]
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._groups, self._resized = groups, resized

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __contains__(self, name: object) -> bool:
        return name in self._groups

    def __getitem__(self, name: str) -> ArrayInfo:
        group = self._groups[name]
        header = self._resized.get(name, group[0].header)
        assert header is not None
        return _info_of(header, group, self._sheets[group[0].title])


def _info_of(header: Header, group: Sequence[Anchor], sheet: Sheet) -> ArrayInfo:
    """Return the info of an array, made of its header and the anchors of its parts."""
    above = sum([anchor.start for anchor in group])
    data = _find_data_cells(sheet, group)
    return ArrayInfo.from_header(header, group[0].address(0), above, parts=len(group), data=data)


def _find_data_cells(sheet: Sheet, group: Sequence[Anchor]) -> tuple[DataCells, ...]:
    """Return the ranges of an array's data cells, as far as its headers and its first data cell tell.

    Parts that do not reach down to the last row of their container are as long as people have left them, which only
    reading tells; so does whether a complex array has one cell for each element or two, unless the first is text.
    """
    first, header = group[0], group[0].header
    assert header is not None
    if header.dtype.kind == "complex" and header.capacity:
        column, row = first.data_cell
        cells = sheet.zones([Zone(row, column, 1, first.orient)])[0]
        if not cells or not str(cells[0]).strip().endswith(("i", "j")):
            return ()
    height = 0
    if len(group) > 1:
        heights = {(sheet.max_rows or 0) - anchor.row - anchor.start for anchor in group[:-1]}
        height = heights.pop()
        if heights or not (len(group) - 1) * height < header.capacity <= len(group) * height:
            return ()
    cells = []
    for number, anchor in enumerate(group):
        column, row = anchor.data_cell
        cells.append(DataCells(anchor.title, row, column, anchor.orient, number * height))
    return tuple(cells)


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: CompareFingerprint | None = None,
    fixed: Collection[str] = (),
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, in reading order; nothing where they are intact.

    Rows that people added to, or deleted from, all arrays of a sheet alike are one finding.

    `judge`: yields further findings about the elements of an array, such as that they are not those that were written;
    its elements are None where not all of them can be read. `fixed`: arrays that have no rows of their own, since
    others depend on them. `restore`: as for `read_sheets`; `judge` sees what it has restored.
    """
    errors: list[FormatError] = []
    findings: list[Finding] = []
    mode = ReadMode(
        False, missing, errors.append, findings.append, judge, fixed=fixed, finds_edits=True, restore=restore
    )
    try:
        for _ in _read_arrays(sheets, None, mode):
            pass
    except FormatError as error:
        errors.append(error)
    yield from findings
    yield from map(Finding.from_error, errors)


def _open_reader(
    sheets: Sequence[Sheet], names: frozenset[str] | None, mode: ReadMode
) -> tuple[dict[str, list[Anchor]], _Reader]:
    """Return the anchors of each array, and what reads them."""
    anchors = _find_all_anchors(sheets, mode.strict)
    groups = group_parts(sheets, anchors, names, mode.report, mode.note)
    return groups, _Reader(sheets, anchors, mode)


def _read_arrays(
    sheets: Sequence[Sheet], names: Sequence[str] | None, mode: ReadMode
) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
    check_missing(mode.missing)
    names = [names] if isinstance(names, str) else names
    groups, reader = _open_reader(sheets, None if names is None else frozenset(names), mode)
    if names is not None and (mode.resize or not groups.keys() >= frozenset(names)):
        groups = group_parts(sheets, _find_all_anchors(sheets, mode.strict), None, lambda _: None, lambda _: None)
    wanted = select(groups, names)
    lying, standing = _split(wanted)
    lying_others, others = _split(_find_alike(wanted, groups)) if mode.resize else ({}, {})
    if lying:
        yield from reader.read_rows(lying, lying_others)
    results = reader.read_columns(standing, others)
    for sheet in sheets:
        for finding in sheet.notes:
            mode.note(finding)
    yield from ((name, results[name]) for name in standing)
