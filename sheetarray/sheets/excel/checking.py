"""Reads all arrays of an open workbook, and collects all findings about it: damage, edits, formulas, missing arrays.

At the end: tables of which people have sorted the rows, so that `check` says so once, and not of each array.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...adapters import Progress
from ...aligning import RowOrigins, is_ascending
from ...columns import ArrayColumn, ResizedArray, RowChange, SheetArrays, reporting_cells
from ...comparing import SortedRows, find_row_sources, find_sorted
from ...composite import check_sheets, count_named, open_sheets, read_composites, read_resized_arrays
from ...dtypes import Array, Buffer, Positions
from ...elements import Missing
from ...errors import Finding, FormatError, NotFoundError, SheetArrayError, quote_names, warn_caller
from ...header import count_rows, warn_of_finding
from ...linear import LinearArray
from ...views.description import View
from ...views.geometry import ViewedColumns, ViewPlan, plan_views, resized_to_linear
from ...views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from ..looks import number_formats
from ..workbooks import check_is_text
from .fingerprint.record import Fingerprint
from .fingerprint.sums import KEPT
from .fingerprint.verdict import FingerprintComparison, compare_with_fingerprint
from .guard.guarded import Guarded, Snapshots, describe_row_changes, find_edits, place_rows
from .guard.snapshot import SnapshotHeader
from .reader.cells import FormulaArea, scalars
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .stored_fingerprints import StoredFingerprints
from .styles import CellStyles, make_styles
from .views.grids import EditableGrid
from .workbook import Workbook

# The findings of `check` about arrays in which elements, or cells of a header, have become formulas.

_HINT = "a formula changes with other cells: copy the cells and paste them as values, or write the array again"


def finding_of_formulas(
    name: str, column: ArrayColumn, formulas: Mapping[str, FormulaCells], verdict: Sequence[Finding] | None
) -> Iterator[Finding]:
    """Yield one finding where cells of a header are formulas, and one where elements are.

    `formulas`: by the titles of sheets. `verdict`: the findings about its values; None if it is unknown what they
    were.
    """
    yield from _of_headers(column, formulas)
    count, ends = 0, list[int]()
    for anchor, start, cells in column.spans():
        across, down = anchor.data_cell
        known = formulas[anchor.title or ""]
        some = known.find_among(down, across, cells, lying=anchor.orient == "rows") if known else None
        if some is not None:
            count += some.number
            ends += [start + some.first, start + some.last]
    if not count:
        return
    first, last = (
        f"{column.header.describe_element(name, index // column.cells_per_element)} "
        f"({column.address(index).rpartition('!')[2]})"
        for index in (min(ends), max(ends))
    )
    values = _values(verdict, one=count == 1)
    if count == 1:
        index = column.header.index_at(ends[0] // column.cells_per_element)
        yield Finding("warning", column.address(ends[0]), f"{first} is a formula now{values}", _HINT, index=index)
        return
    total = column.header.capacity * column.cells_per_element
    cells_of = f"all {count}" if count == total else f"{count} of {total}"
    yield Finding("warning", name, f"{cells_of} cells are formulas now, from {first} to {last}{values}", _HINT)


def _of_headers(column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
    """Yield one finding for each header of an array, its name included, in which cells are formulas."""
    for anchor in column.group:
        known = formulas[anchor.title or ""]
        above = anchor.named + anchor.blanks
        lying, count = anchor.orient == "rows", anchor.start + above
        row, down = anchor.name_cell or (anchor.row, anchor.column)
        some = known.find_among(row, down, count, lying=lying) if known else None
        if some is not None:
            place = anchor.address(some.first - above)
            more = f" and {some.number - 1} more of its header are formulas" if some.number > 1 else " is a formula"
            kind = "the name" if anchor.named and not some.first else "a cell of the header"
            yield Finding("warning", place, f"{kind}{more} now, whose value may change", _HINT)


def _values(verdict: Sequence[Finding] | None, *, one: bool) -> str:
    if verdict is None:
        return ""
    value, whose = ("value", "its") if one else ("values", "their")
    if not verdict:
        return f"; {whose} {value} {'is' if one else 'are'} as written"
    if all(finding.severity == "warning" for finding in verdict):
        return f"; {whose} {value} {'was' if one else 'were'} rounded at most, as is said besides"
    return "; values of the array were edited since it was written, as is said besides"


# The findings of `check` about views in which people have typed over formulas, and about columns that lost theirs.

_MOST_CELLS = 2**20  # of the sheet of a view that are looked at
_MOST_AREAS = 100  # array formulas on it


class ViewFindings:
    """The findings about the views of one workbook; its arrays are read when there is something to say."""

    def __init__(self, book: Workbook) -> None:
        self._book = book

    def find_typed_over(self) -> Iterator[Finding]:
        """Yield a finding for each formula of a view that people have typed over."""
        for title in typed_over_views(self._book):
            array = self._book.views.shown[title]
            typed = read_typed_over(self._book, title)
            column = self._arrays[array].column if typed and array in self._arrays else None
            plan = self._plan_of(title) if typed else None
            address = str if column is None else column.element_address
            yield from describe_typed_over(typed, title, array, plan, address)

    def find_unlinked(self, name: str, column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
        """Yield a finding where cells of an array's column no longer look into its view for editing.

        `formulas`: those of each sheet that look into no such view, by its title: other findings name them.
        """
        views = self._book.views
        if not (views.editable or views.changed) or column.cells_per_element != 1:
            return
        lost, last = list[int](), 0
        for anchor, start, count in column.spans():
            across, down = anchor.data_cell
            known = (
                None
                if anchor.orient == "rows"
                else self._book.find_links(anchor.title or "", np.arange(down, down + count), across)
            )
            if known is None:
                return
            last = max(last, start + int(np.flatnonzero(known)[-1]) + 1) if known.any() else last
            others = formulas[anchor.title or ""]
            for place in np.flatnonzero(~known).tolist():
                if not others or others.find_among(down + place, across, 1, lying=False) is None:
                    lost.append(start + place)
        end = views.counts.get(name, last)
        lost = [index for index in lost if index < end and column.header.index_at(index) is not None]
        if not lost or not (last or name in views.linked):
            return
        header, first = column.header, lost[0]
        title = next((title for title in views.editable if views.shown[title] == name), "")
        plan = self._plan_of(title) if title else None
        target = ""
        if plan is not None and plan.array.capacity == header.capacity:
            target = str(EditableGrid(plan, str, CellStyles()).column_formulas()[first]).replace("&amp;", "&")
        many = f" and {len(lost) - 1} more elements hold values" if len(lost) > 1 else " holds a value"
        reason = f"{header.describe_element(name, first)}{many} in the place of formulas into the view for editing"
        index = header.index_at(first) if len(lost) == 1 else None
        hint = f"type the formula ={target} into it again" if target and len(lost) == 1 else "write the view again"
        yield Finding(
            "warning",
            column.address(first),
            f"{reason}: what is typed there is not read",
            hint,
            array=name,
            index=index,
        )

    @cached_property
    def _arrays(self) -> Mapping[str, ResizedArray]:
        """The arrays of the workbook; none where they cannot be read, as other findings say."""
        try:
            return read_resized_arrays(self._book.plain_sheets(), missing="nan")
        except SheetArrayError:
            return {}

    @cached_property
    def _linear(self) -> dict[str, LinearArray]:
        return {name: resized_to_linear(array) for name, array in self._arrays.items()}

    def _plan_of(self, title: str) -> ViewPlan | None:
        """Return the plan of a view, as its array is now; None where the array cannot have one any more."""
        name, views = self._book.views.shown[title], self._book.views
        if name not in self._linear or not self._linear[name].length or self._linear[name].ndim < 2:
            return None

        columns = ViewedColumns.of_resized(
            self._arrays,
            lambda piece: make_styles().styles.of_formats(number_formats([piece], dates=True, formats={}))[0],
            as_text=False,
        )
        try:
            plans = plan_views(
                {name: views.asked.get(name, View())}, self._linear, columns, taken=(), text_chooser=True
            )
        except SheetArrayError:
            return None
        return plans[0] if plans else None


def typed_over_views(book: Workbook) -> list[str]:
    """Return the titles of the views in which formulas may have been typed over: not those that are as written."""
    views = book.views
    return [title for title in book.titles if title in views.shown and title not in views.intact | views.editable]


def read_typed_over(book: Workbook, title: str) -> TypedOver:
    """Return the cells of a view in which formulas stood."""
    sheet = book.sheet(title)
    rows, columns, formulas, values = [], [], [], []
    areas: list[FormulaArea] = []
    try:
        with sheet.runs(numeric=False) as runs:
            for run in runs:
                rows.append(run.rows)
                columns.append(run.columns)
                formulas.append(np.zeros(len(run), np.bool_) if run.formulas is None else run.formulas.copy())
                areas += run.areas
                values += scalars(run, from_1904=sheet.from_1904)
                if len(values) > _MOST_CELLS:
                    return TypedOver()  # somebody's own sheet
    except FormatError:  # which reading reports, if it is about arrays
        return TypedOver()
    if not rows:
        return TypedOver(is_gone=title in book.views.recorded)
    cells = ViewCells(np.concatenate(rows), np.concatenate(columns), np.concatenate(formulas), values)
    for top, left, bottom, right in areas[:_MOST_AREAS]:  # of array formulas, which mark their first cell only
        inside = (cells.rows >= top) & (cells.rows <= bottom) & (cells.columns >= left) & (cells.columns <= right)
        np.logical_or(cells.formulas, inside, out=cells.formulas)
    return find_typed_over(cells, book.views.corners.get(title))


# Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays.

_MOST_WARNINGS = 5  # about guards that cannot be used
CheckSheets = Callable[..., Iterator[Finding]]
"""`composite.check_sheets`, or a function with the same arguments and the same findings."""


def find_all(
    book: Workbook,
    sheet: str | None,
    missing: Missing,
    *,
    guard: bool,
    check: CheckSheets = check_sheets,
) -> Iterator[Finding]:
    """Yield every finding in an open workbook.

    `sheet`: as for `check_excel`, as are `missing` and `guard`. `check`: reads the arrays and has each of them judged.
    """
    memory, sheets, findings = StoredFingerprints(book), select_sheets(book, sheet), dict[Finding, None]()
    for number, (titles, some) in enumerate(memory.split_by_write(sheets) if sheet is None else [(None, sheets)]):
        memory = StoredFingerprints(book) if number else memory  # which has been asked about no array
        findings |= dict.fromkeys(_find_all(book, memory, some, titles, missing, guard=guard, check=check))
    for finding in findings:
        hint = book.advise(finding.location, finding.hint)
        yield finding if hint == finding.hint else replace(finding, hint=hint)


def _find_all(
    book: Workbook,
    memory: StoredFingerprints,
    sheets: Sequence[ExcelSheet],
    titles: Set[str] | None,
    missing: Missing,
    *,
    guard: bool,
    check: CheckSheets,
) -> Iterator[Finding]:
    """Yield every finding about some sheets, with the places of cells in the columns of arrays.

    `titles`: under which the record has the arrays that these sheets must hold; None where other sheets may hold them.
    """
    if titles is not None and not sheets:
        yield from memory.find_missing(titles)
        return
    snapshots = open_snapshots(book, memory) if guard and book.may_have_guards else None
    verdicts: list[Finding] = []
    tables = SortedTables() if check is check_sheets else None  # the elements of others are mapped as long as judged
    formulas = {sheet.title or "": FormulaCells() for sheet in sheets}
    for worksheet in sheets:
        worksheet.formulas = formulas[worksheet.title or ""]

    def judge(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding | RowChange]:
        verdict, title = None, column.group[0].title or ""
        guarded = None if snapshots is None or buffer is None else snapshots.compare(name, column, buffer)
        if buffer is not None and column.header != column.written:
            changes = memory.compare_rows(name, title, column.written, buffer, column.element_address)
            judged = list(changes) if guarded is None else _judge_rows(guarded, buffer, name, changes, column)
            findings = [replace(one, array=name) for one in judged if isinstance(one, Finding)]
            verdicts.extend(findings)
            if tables is not None:
                record = None if guarded is not None else memory.record_of(name, title)
                tables.note(name, column, buffer, findings, guarded=guarded, record=record)
            yield from (one for one in judged if isinstance(one, RowChange))
            yield from findings
        elif buffer is not None:
            if guarded is None:
                verdict = memory.findings_of(name, title, column.header, buffer, column.element_address)
            else:
                memory.pass_over(name)
                verdict = list(find_edits(guarded, buffer, column.header, name, column.element_address))
                if snapshots is not None and (other := snapshots.others.get(name)) is not None:
                    verdict.insert(0, memory.note_other_name(name, other, is_there=other in snapshots.names))
            verdict = [replace(finding, array=name) for finding in verdict]
            verdicts.extend(verdict)
            if tables is not None:
                record = None if guarded is not None else memory.record_of(name, title)
                tables.note(name, column, buffer, verdict, guarded=guarded, record=record)
            yield from verdict
        yield from views.find_unlinked(name, column, formulas)
        if not book.is_linked(name):
            yield from finding_of_formulas(name, column, formulas, verdict if memory.remembers(name) else None)

    views = ViewFindings(book)

    findings = list(
        check(
            sheets,
            missing=missing,
            judge=judge,
            restore=snapshots if snapshots is not None and snapshots.exist else None,
        )
    )
    are_whole = all(finding in verdicts or finding.severity == "warning" for finding in findings)
    findings = list(findings if tables is None else tables.explain(findings))
    yield from memory.findings
    yield from snapshots.check() if snapshots is not None else ()
    yield from views.find_typed_over() if titles is not None else ()
    yield from book.find_lost_guards(memory.guard_titles()) if guard else ()
    yield from map(memory.simplify_exchange, findings)
    yield from memory.find_unknown()
    if titles is not None and are_whole:
        yield from memory.find_missing(titles)  # only if every array could be read: a broken one is not missing


def _judge_rows(
    guarded: Guarded, buffer: Buffer, name: str, changes: Iterable[Finding | RowChange], column: ArrayColumn
) -> list[Finding | RowChange]:
    """Return the change of rows that a guard shows, if nothing else has changed; otherwise findings of the edits.

    `changes`: the findings by the fingerprint, which knows all rows that may be the added ones if rows are alike.
    """
    known = [change for change in changes if isinstance(change, RowChange)]
    change = guarded.row_change
    if change is None or not change.rest_is_exact or (guarded.alignment and guarded.alignment.moved.any()):
        rows = [] if change is None else [change]
        at = column.element_address
        return [*rows, *find_edits(guarded, buffer, column.header, name, at, tells_rows=change is None)]
    return [replace(change, firsts=one.firsts) for one in known if one.firsts] or [change]


def open_snapshots(book: Workbook, memory: StoredFingerprints | None = None) -> Snapshots:
    """Return the snapshots of a workbook, which are read when an array asks for its own.

    `memory`: what the workbook remembers of its arrays; None to read it when it is needed.
    """
    known = [] if memory is None else [memory]

    @cache
    def find_names() -> Collection[str]:
        return set(SheetArrays(book.plain_sheets()).scan())

    def is_own(header: SnapshotHeader, buffer: Buffer) -> bool | None:
        if not known:
            known.append(StoredFingerprints(book))
        return known[0].is_own(header.name, header.sheet, header.header, buffer, find_names)

    return Snapshots(book.guards(), ask_names=find_names, is_own=is_own)


def warn_of_guard(book: Workbook, snapshots: Snapshots) -> None:
    """Warn of all that kept a guard from being used for the arrays that were read."""
    findings = [*snapshots.findings, *book.find_lost_guards()]
    for finding in findings[:_MOST_WARNINGS]:
        warn_of_finding(finding)
    if len(findings) > _MOST_WARNINGS:
        warn_caller(f"the guard cannot be used for {len(findings) - _MOST_WARNINGS} more arrays, which check names")


def select_sheets(book: Workbook, title: str | None, *, of_table: bool = False) -> list[ExcelSheet]:
    """Return the sheet of a title, compared without case as Excel does; for None every sheet in which arrays may be.

    `of_table`: for None, every sheet that may be a table: no view, not even one that was changed.
    """
    if title is None:
        views = book.views
        left_out = views.recorded if of_table else views.intact
        sheets = book.plain_sheets() or [book.sheet(known) for known in book.titles]
        return [known for known in sheets if known.title not in left_out] or sheets
    check_is_text(title)
    for known in book.titles:
        if known.casefold() == title.casefold():
            return [book.sheet(known)]
    raise NotFoundError(f"no sheet {title!r}; there is {', '.join(map(repr, book.titles))}")


def select_searched(book: Workbook, title: str | None) -> list[ExcelSheet]:
    """Return the sheets of a title, or those in which arrays may be, each as far as it has to be searched.

    Where the workbook remembers a search, and the sheet is as it was, only its first rows are looked at, or none.
    """
    known = book.header_rows
    sheets = [book.sheet(sheet.title or "", known.get(sheet.title or "")) for sheet in select_sheets(book, title)]
    return [sheet for sheet in sheets if known.get(sheet.title or "") != 0] or sheets


# Reads the arrays of an open workbook as a whole; `piecewise` reads an array piece by piece.


def read_book(
    book: Workbook,
    names: Sequence[str] | None,
    *,
    sheet: str | None,
    missing: Missing,
    strict: bool = False,
    resize: bool = False,
    guard: bool = True,
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an open workbook; the arguments are those of `read_excel`."""
    sheets = select_sheets(book, sheet)
    snapshots = open_snapshots(book) if guard and book.may_have_guards else None
    restore = snapshots if snapshots is not None and snapshots.exist else None
    try:
        arrays = open_sheets(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
        with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, names)):
            by_name = read_composites(arrays.read, arrays.scan, names)
    except FormatError as error:
        error.hint = book.advise(error.location, error.hint or "") or None
        raise
    if snapshots is not None:
        warn_of_guard(book, snapshots)
    return by_name


# Finds tables of which people have sorted the rows, so that `check` says so once, and not of each array.
_MOST_ELEMENTS = 2**22  # of the arrays of a workbook that are kept until all have been judged
_UNSURE = "; whether each row stayed together cannot be told without a guard"


@dataclass(frozen=True, slots=True)
class _Judged:
    """An array whose elements were compared with those that were written."""

    name: str
    column: ArrayColumn
    buffer: Buffer  # its elements; without a guard not those of rows that were appended
    row: int
    guarded: Guarded | None  # the array beside its snapshot; None without one
    record: Fingerprint | None  # the fingerprint; None without one
    findings: Sequence[Finding]  # what was found of this array by itself

    @property
    def is_changed(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def rows(self) -> Array:
        return self.buffer.reshape(-1, self.row)

    @property
    def rows_written(self) -> Array:
        """The rows as written, by the guard; as they are now without one."""
        return self.rows if self.guarded is None else self.guarded.original.reshape(-1, self.row)

    @property
    def is_moved(self) -> bool:
        """Whether the guard shows rows that stand elsewhere now."""
        alignment = None if self.guarded is None else self.guarded.alignment
        return alignment is not None and bool(alignment.moved.any())

    @property
    def is_mostly_kept(self) -> bool:
        """Whether the guard has most of the elements too, wherever they stand now."""
        return self.guarded is not None and 2 * int(self.guarded.kept.sum()) >= len(self.buffer)

    def compare(self) -> FingerprintComparison | None:
        """Return the comparison with the fingerprint, if that has as many elements of the same dtype."""
        record, dtype = self.record, self.column.header.dtype
        if record is None or record.dtype != dtype.name or record.count != len(self.buffer):
            return None
        return FingerprintComparison(record, self.buffer, dtype)

    def has_order(self, order: Positions) -> bool:
        """Return whether the rows are those that were written, each at another place, by the fingerprint."""
        case = self.compare()
        return case is not None and case.was(self.rows[order].reshape(-1))

    def place(self, sources: Positions) -> Guarded:
        """Return the array beside its snapshot, given for each row its number as written, or -1."""
        unmoved = RowOrigins(sources, np.zeros(len(sources), np.bool_))  # the order is told of besides
        return place_rows(self.rows_written.reshape(-1), self.column.header, self.buffer, self.row, unmoved)

    def find_edits(self, sources: Positions) -> list[Finding]:
        """Return the findings of what was edited besides the order and the number of the rows."""
        column, header = self.column, self.column.header
        if self.guarded is not None:
            at, guarded = column.element_address, self.place(sources)
            return list(find_edits(guarded, self.buffer, header, self.name, at, tells_rows=False))
        places = np.arange(len(self.buffer)).reshape(-1, self.row)[np.argsort(sources)].reshape(-1)
        arguments = self.record, column.written, self.buffer[places], self.name, column.element_address
        return list(compare_with_fingerprint(*arguments, at=lambda index: int(places[index])))


class SortedTables:
    """The sorted tables of a workbook, found when all arrays have been compared."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str, int, int], list[_Judged]] = {}
        self._size = 0

    def note(
        self,
        name: str,
        column: ArrayColumn,
        buffer: Buffer,
        findings: Sequence[Finding],
        *,
        guarded: Guarded | None = None,
        record: Fingerprint | None = None,
    ) -> None:
        """Take note of an array whose cells are whole rows, and of the findings about it."""
        if guarded is None:
            buffer = buffer[: column.written.capacity]
        rows, self._size = count_rows(column.header if guarded else column.written), self._size + len(buffer)
        if self._size > _MOST_ELEMENTS:
            self._tables.clear()  # each array is told of by itself
        elif rows is not None and rows[0] > 1 and rows[0] * rows[1] == len(buffer) and len(column.group) == 1:
            known, anchor = _Judged(name, column, buffer, rows[1], guarded, record, findings), column.group[0]
            key = anchor.title or "", anchor.orient, rows[0], len(known.rows_written)
            self._tables.setdefault(key, []).append(known)

    def explain(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Yield findings, those of the arrays of a changed table replaced by one, and by what was edited besides."""
        told: dict[str, list[Finding]] = {}  # by the names of arrays
        for table in self._tables.values():
            told |= _explain_table(table)
        own = {known.name: known.findings for table in self._tables.values() for known in table if known.name in told}
        for finding in findings:
            name = finding.array
            if name is None or name not in own or finding not in own[name]:
                yield finding
            else:
                yield from told.pop(name, ())


def _explain_table(table: Sequence[_Judged]) -> dict[str, list[Finding]]:
    """Return what is to be said of each array instead of what was found; nothing if its rows stand as written."""
    changed = [known for known in table if known.is_changed]
    if not changed or len(table) < 2:
        return {}
    if all(known.guarded is not None for known in changed):
        sources, sure = _find_sources(table, changed), True
    else:
        order, sure = _find_order(changed) if len(changed) > 1 else (None, True)
        sources = None if order is None else np.argsort(order)
    if sources is None:
        if sure:
            return {}
        besides = {known.name: [one for one in known.findings if one.severity == "warning"] for known in changed}
        return _tell(table, changed, besides, None)
    besides = {known.name: known.find_edits(sources) for known in changed}
    if not is_ascending(sources) or _are_both(changed[0], sources):
        changed = [known for known in changed if len(besides[known.name]) < len(known.buffer) // 2] or changed
        return _tell(table, changed, besides, sources)
    return {name: [replace(one, array=name) for one in found] for name, found in besides.items()}


def _find_sources(table: Sequence[_Judged], changed: Sequence[_Judged]) -> Positions | None:
    """Return for each row its number as written, or -1, by the guard; None if each row stands where it was written.

    Arrays of which most elements are known tell where those of the others stand.
    """
    known = [one for one in changed if one.is_mostly_kept] or [one for one in table if one.is_mostly_kept]
    alike = len(table[0].rows) == len(table[0].rows_written)
    if not known or (alike and not any(one.is_moved or one.guarded.added.any() for one in known if one.guarded)):
        return None
    before, now = (
        [(rows, one.column.header.dtype) for one, rows in zip(known, some, strict=True)]
        for some in ([one.rows_written for one in known], [one.rows for one in known])
    )
    sources = find_row_sources(before, now)
    return None if sources is None or (alike and len(known) < 2) else sources


def _are_both(known: _Judged, sources: Positions) -> bool:
    """Return whether rows were added, and others deleted."""
    kept = int(np.count_nonzero(sources >= 0))
    return kept < min(len(sources), len(known.rows_written))


def _tell(
    table: Sequence[_Judged],
    changed: Sequence[_Judged],
    besides: Mapping[str, Sequence[Finding]],
    sources: Positions | None,
) -> dict[str, list[Finding]]:
    """Return the findings of a sorted table by array name. The finding about the order comes first.

    `sources`: for each row its number as written, or -1; None if it is unknown.
    """
    kept = np.ones(len(table[0].rows), np.bool_) if sources is None else sources >= 0
    others = [known for known in table if not known.is_changed]
    names = {known.name for known in changed} | {known.name for known in others if _is_kept(known, sources)}
    if len(names) < 2:
        return {}  # each array tells of itself
    told = []
    if sources is None or not is_ascending(sources):
        by = find_sorted({known.name: known.rows[kept] for known in changed})
        told.append(SortedRows(sorted(names), by, np.flatnonzero(kept)).to_text())
    if sources is not None and _are_both(changed[0], sources):
        told.append(f"{', '.join(describe_row_changes(changed[0].place(sources)))} in {len(names)} arrays")
    message = "; ".join(told)
    if left := [known.name for known in others if known.name not in names]:
        message += f"; {quote_names(left)} {'has' if len(left) == 1 else 'have'} as many rows, and did not move"
    first = changed[0]
    hint = next(finding.hint for finding in first.findings if finding.severity == "error")
    where = first.column.element_address(0)
    summary = Finding("error", where, message + _UNSURE * (sources is None), hint)
    found = {name: [replace(one, array=name) for one in some] for name, some in besides.items()}
    found[first.name].insert(0, summary)
    return found


def _is_kept(known: _Judged, sources: Positions | None) -> bool:
    """Return whether the rows of an array are the same in the other order too."""
    rows, kept = known.rows, slice(None) if sources is None else sources >= 0
    moved = np.broadcast_to(rows[:1], rows.shape) if sources is None else known.rows_written[sources[sources >= 0]]
    return bool(rows[kept].tolist() == moved.tolist())


# The order of rows, by fingerprints ----------------------------------------------------------------------------------


def _find_order(changed: Sequence[_Judged]) -> tuple[Positions | None, bool]:
    """Return for each row as written its number now, or None, and whether it is sure that this is so."""
    cases = [(known, case) for known in changed if (case := known.compare()) is not None]
    whole = [(known, case) for known, case in cases if case.view.is_reordered]
    if len(whole) < 2:
        return None, True
    single = [(known, case) for known, case in whole if case.view.partition.stretch == 1]
    if len(single) > 1:
        return _match_codes(single), True
    for known, _ in whole:
        if known.row == 1 and known.buffer.dtype.kind in "iufmMUT":
            rising = np.argsort(known.buffer, kind="stable")
            for order in (rising, rising[::-1]):
                if all(one.has_order(order) for one, _ in whole):
                    return order, True
    by = find_sorted({known.name: known.rows for known, _ in whole})
    return None, by is None or len(whole) < len(changed) or all(_is_sorted(known) for known, _ in whole)


def _is_sorted(known: _Judged) -> bool:
    return find_sorted({known.name: known.rows}) is not None


def _match_codes(arrays: Sequence[tuple[_Judged, FingerprintComparison]]) -> Positions | None:
    """Return for each row as written its number now, by the codes of single elements; None where rows do not fit."""
    before, now = (
        np.hstack([codes.reshape(-1, known.row) for (known, _), codes in zip(arrays, some, strict=True)])
        for some in (
            [case.view.then[0][: len(known.buffer)] for known, case in arrays],
            [case.view.codes(known.buffer) & np.uint64(KEPT) for known, case in arrays],
        )
    )
    places: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for place, row in enumerate(now):
        places[row.tobytes()].append(place)
    order = [places[row.tobytes()].popleft() if places[row.tobytes()] else -1 for row in before]
    return None if -1 in order else np.array(order)
