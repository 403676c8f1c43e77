"""Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache

from ....columns import ArrayColumn, RowChange, SheetArrays
from ....dtypes import Buffer
from ....elements import Missing
from ....errors import Finding, warn_caller
from ....linear.header import Header
from ....linear.parsing import warn_of_finding
from ...arrays_of_sheets import check_sheets
from ...snapshot import SnapshotHeader
from ...workbooks import SheetChoice, find_title
from ..checksums.stored import StoredChecksums
from ..guard.guarded import Guarded, Snapshots, find_edits
from ..reader.formulas import FormulaCells
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .formulas import find_formulas
from .views import ViewFindings

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
