"""Reads all arrays of an open workbook, and collects all findings about it: damage, edits, formulas, missing arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...columns import ArrayColumn, ResizedArray, RowChange, SheetArrays, reporting_cells
from ...dtypes import Buffer
from ...elements import Missing
from ...errors import Finding, FormatError, SheetArrayError, warn_caller
from ...formats.contract import Progress
from ...linear.array import LinearArray
from ...linear.header import Header
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import check_sheets, count_named, open_sheets, read_composites, read_resized_arrays
from ..looks import number_formats
from ..snapshot import SnapshotHeader
from ..views.description import View
from ..views.geometry import ViewedColumns, ViewPlan, plan_views
from ..views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from ..workbooks import SheetChoice, find_title
from .checksums.stored import StoredChecksums
from .guard.guarded import Guarded, Snapshots, find_edits
from .reader.cells import scalars
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .styles import CellStyles, make_styles
from .views.grids import EditableGrid
from .workbook import Workbook

# The findings of `check` about arrays in which elements, or cells of a header, have become formulas.

_HINT = "a formula changes with other cells: copy the cells and paste them as values, or write the array again"


def find_formulas(name: str, column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
    """Yield one finding where cells of a header are formulas, and one where elements are.

    `formulas`: by the titles of sheets.
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
    if count == 1:
        index = column.header.index_at(ends[0] // column.cells_per_element)
        yield Finding("warning", column.address(ends[0]), f"{first} is a formula now", _HINT, index=index)
        return
    total = column.header.capacity * column.cells_per_element
    cells_of = f"all {count}" if count == total else f"{count} of {total}"
    yield Finding("warning", name, f"{cells_of} cells are formulas now, from {first} to {last}", _HINT)


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


# The findings of `check` about views in which people have typed over formulas, and about columns that lost theirs.

_MOST_CELLS = 2**20  # of the sheet of a view that are looked at


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
        reason = f"{header.describe_element(name, first)}{many} instead of formulas that refer to the view for editing"
        index = header.index_at(first) if len(lost) == 1 else None
        hint = f"type the formula ={target} into it again" if target and len(lost) == 1 else "write the view again"
        yield Finding(
            "warning",
            column.address(first),
            f"{reason}: values typed into the view are not read there",
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
        return {name: array.linear for name, array in self._arrays.items()}

    def _plan_of(self, title: str) -> ViewPlan | None:
        """Return the plan of a view, as its array is now; None where the array cannot have one any more."""
        name, views = self._book.views.shown[title], self._book.views
        if name not in self._linear or not self._linear[name].length or self._linear[name].ndim < 2:
            return None

        columns = ViewedColumns.of_resized(
            self._arrays,
            lambda piece: make_styles().styles.of_formats(
                number_formats([piece], dates=True, formats={}, decimals=True)
            )[0],
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
    try:
        with sheet.runs(numeric=False) as runs:
            for run in runs:
                rows.append(run.rows)
                columns.append(run.columns)
                formulas.append(np.zeros(len(run), np.bool_) if run.formulas is None else run.formulas.copy())
                values += scalars(run, from_1904=sheet.from_1904)
                if len(values) > _MOST_CELLS:
                    return TypedOver()  # somebody's own sheet
    except FormatError:  # which reading reports, if it is about arrays
        return TypedOver()
    if not rows:
        return TypedOver(is_gone=title in book.views.recorded)
    cells = ViewCells(np.concatenate(rows), np.concatenate(columns), np.concatenate(formulas), values)
    return find_typed_over(cells, book.views.corners.get(title))


# Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays.

_MOST_WARNINGS = 5  # about guards that cannot be used


def find_all(
    book: Workbook,
    sheet: SheetChoice,
    missing: Missing,
    *,
    guard: bool,
    check: Callable[..., Iterator[Finding]] = check_sheets,
) -> Iterator[Finding]:
    """Yield every finding in an open workbook; the arguments are those of `check_excel`.

    `check`: reads the arrays and has each of them judged, as `arrays_of_sheets.check_sheets` does.
    """
    memory, sheets, findings = StoredChecksums(book), select_sheets(book, sheet), dict[Finding, None]()
    for number, (titles, some) in enumerate(memory.split_by_write(sheets) if sheet is None else [(None, sheets)]):
        memory = StoredChecksums(book) if number else memory  # which has been asked about no array
        findings |= dict.fromkeys(_find_all(book, memory, some, titles, missing, guard=guard, check=check))
    for finding in findings:
        hint = book.advise(finding.location, finding.hint)
        yield finding if hint == finding.hint else replace(finding, hint=hint)


def _find_all(
    book: Workbook,
    memory: StoredChecksums,
    sheets: Sequence[ExcelSheet],
    titles: Set[str] | None,
    missing: Missing,
    *,
    guard: bool,
    check: Callable[..., Iterator[Finding]],
) -> Iterator[Finding]:
    """Yield every finding about some sheets, with the places of cells in the columns of arrays.

    `titles`: under which the record has the arrays that these sheets must hold; None where other sheets may hold them.
    """
    if titles is not None and not sheets:
        yield from memory.find_missing(titles)
        return
    snapshots = open_snapshots(book, memory) if guard and book.may_have_guards else None
    verdicts: list[Finding] = []
    formulas = {sheet.title or "": FormulaCells() for sheet in sheets}
    for worksheet in sheets:
        worksheet.formulas = formulas[worksheet.title or ""]

    def judge(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding | RowChange]:
        if buffer is not None:
            title, at = column.group[0].title or "", column.element_address
            guarded = None if snapshots is None else snapshots.compare(name, column, buffer)
            other = None if snapshots is None or guarded is None else snapshots.others.get(name)
            judged: list[Finding | RowChange]
            if guarded is not None:
                memory.pass_over(other or name)
                find = find_edits if column.header == column.written else _judge_rows
                judged = [*find(guarded, buffer, column.header, name, at)]
            elif column.header != column.written:
                judged = [*memory.compare_rows(name, title, column.written, buffer, at)]
            else:
                judged = [*memory.findings_of(name, title, column.header, buffer, at)]
            if snapshots is not None and other is not None:
                judged.insert(0, memory.note_other_name(name, other, is_there=other in snapshots.ask_names()))
            findings = [replace(one, array=name) for one in judged if isinstance(one, Finding)]
            change = next((one for one in judged if isinstance(one, RowChange)), None)
            verdicts.extend(findings)
            yield from filter(None, [change])
            yield from findings
        yield from views.find_unlinked(name, column, formulas)
        yield from find_formulas(name, column, formulas)

    views = ViewFindings(book)

    restore = snapshots if snapshots is not None and snapshots.exist else None
    findings = list(check(sheets, missing=missing, judge=judge, restore=restore))
    are_whole = all(finding in verdicts or finding.severity == "warning" for finding in findings)
    yield from memory.findings
    yield from snapshots.check() if snapshots is not None else ()
    yield from views.find_typed_over() if titles is not None else ()
    yield from book.find_lost_guards(memory.guard_titles()) if guard else ()
    yield from map(memory.simplify_exchange, findings)
    yield from memory.find_unknown()
    if titles is not None and are_whole:
        yield from memory.find_missing(titles)  # only if every array could be read: a broken one is not missing


def _judge_rows(
    guarded: Guarded, buffer: Buffer, header: Header, name: str, address: Callable[[int], str]
) -> Iterator[Finding | RowChange]:
    """Yield the change of rows that a guard shows, and findings of what was edited besides."""
    change = guarded.row_change
    if change is not None:
        yield change
    if change is None or not change.rest_is_exact or (guarded.alignment and guarded.alignment.moved.any()):
        yield from find_edits(guarded, buffer, header, name, address, tells_rows=change is None)


def open_snapshots(book: Workbook, memory: StoredChecksums | None = None) -> Snapshots:
    """Return the snapshots of a workbook, which are read when an array asks for its own.

    `memory`: what the workbook remembers of its arrays; None to read it when it is needed.
    """

    @cache
    def find_names() -> Collection[str]:
        return set(SheetArrays(book.plain_sheets()).scan())

    @cache
    def read_memory() -> StoredChecksums:
        return StoredChecksums(book) if memory is None else memory

    def is_own(header: SnapshotHeader, buffer: Buffer) -> bool | None:
        return read_memory().is_own(header.name, header.sheet, header.header, buffer, find_names)

    def is_as_written(name: str, column: ArrayColumn, buffer: Buffer) -> bool:
        return read_memory().is_as_written(name, column.group[0].title or "", column.header, buffer)

    return Snapshots(book.guards(), ask_names=find_names, is_own=is_own, is_as_written=is_as_written)


def warn_of_guard(book: Workbook, snapshots: Snapshots) -> None:
    """Warn of all that kept a guard from being used for the arrays that were read."""
    findings = [*snapshots.findings, *book.find_lost_guards()]
    for finding in findings[:_MOST_WARNINGS]:
        warn_of_finding(finding)
    if len(findings) > _MOST_WARNINGS:
        warn_caller(f"the guard cannot be used for {len(findings) - _MOST_WARNINGS} more arrays, which check names")


def select_sheets(book: Workbook, sheet: SheetChoice, *, of_table: bool = False) -> list[ExcelSheet]:
    """Return the sheet of a title, compared without case as Excel does, or of an index, in the order of the tabs.

    For None it returns every sheet in which arrays may be. Views and guards have no index.

    `of_table`: for None, every sheet that may be a table: no view, not even one that was changed.
    """
    if sheet is None:
        views = book.views
        left_out = views.recorded if of_table else views.intact
        sheets = book.plain_sheets() or [book.sheet(known) for known in book.titles]
        return [known for known in sheets if known.title not in left_out] or sheets
    if isinstance(sheet, str):
        for known in book.titles:
            if known.casefold() == sheet.casefold():
                return [book.sheet(known)]
    titles = [known.title or "" for known in select_sheets(book, None, of_table=True)]
    return [book.sheet(find_title(sheet, titles))]


def select_searched(book: Workbook, sheet: SheetChoice) -> list[ExcelSheet]:
    """Return the sheet of a title or an index, or those in which arrays may be, each as far as it has to be searched.

    Where the workbook remembers a search, and the sheet is as it was, only its first rows are looked at, or none.
    """
    known = book.header_rows
    sheets = [book.sheet(meant.title or "", known.get(meant.title or "")) for meant in select_sheets(book, sheet)]
    return [sheet for sheet in sheets if known.get(sheet.title or "") != 0] or sheets


# Reads the arrays of an open workbook as a whole; `piecewise` reads an array piece by piece.


def read_book(
    book: Workbook,
    names: Sequence[str] | None,
    *,
    sheet: SheetChoice,
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
