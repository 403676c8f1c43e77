"""Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ...columns import ArrayColumn, CompareFingerprint, DecodedArray, RowChange, scan_names
from ...composite import check_sheets
from ...dtypes import Buffer
from ...elements import Missing
from ...errors import Finding, NotFoundError, warn_caller
from ...files import Source
from ...header import warn_of_finding
from .formulas import finding_of_formulas
from .guard.guarded import Guarded, Snapshots, Survey, find_edits
from .guard.snapshot import SnapshotHeader
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .stored_fingerprints import StoredFingerprints
from .view_findings import ViewFindings
from .workbook import Workbook

_MOST_WARNINGS = 5  # about guards that cannot be used
CheckSheets = Callable[..., Iterator[Finding]]
"""`composite.check_sheets`, or a function with the same arguments and the same findings."""


def find_all(
    source: Source,
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
    for finding in _find_all(source, book, sheet, missing, guard=guard, check=check):
        hint = book.advise(finding.location, finding.hint)
        yield finding if hint == finding.hint else replace(finding, hint=hint)


def _find_all(
    source: Source, book: Workbook, sheet: str | None, missing: Missing, *, guard: bool, check: CheckSheets
) -> Iterator[Finding]:
    """Yield every finding, with the places of cells in the columns of arrays."""
    memory = StoredFingerprints(source)
    snapshots = open_snapshots(book, memory, survey=survey_of(book, check), used=guard)
    verdicts: list[Finding] = []

    sheets = select_sheets(book, sheet)
    formulas = {sheet.title or "": FormulaCells() for sheet in sheets}
    for worksheet in sheets:
        worksheet.formulas = formulas[worksheet.title or ""]

    def judge(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding | RowChange]:
        verdict = None
        if buffer is not None and column.header != column.written:
            title, guarded = column.group[0].title or "", snapshots.compare(name, column, buffer)
            changes = memory.compare_rows(name, title, column.written, buffer, column.element_address)
            findings = list(changes) if guarded is None else _judge_rows(guarded, buffer, name, changes, column)
            findings = [replace(one, array=name) if isinstance(one, Finding) else one for one in findings]
            verdicts.extend(finding for finding in findings if isinstance(finding, Finding))
            yield from findings
        elif buffer is not None:
            title, guarded = column.group[0].title or "", snapshots.compare(name, column, buffer)
            if guarded is None:
                verdict = memory.findings_of(name, title, column.header, buffer, column.element_address)
            else:
                memory.pass_over(name)
                verdict = list(find_edits(guarded, buffer, column.header, name, column.element_address))
                if (other := snapshots.others.get(name)) is not None:
                    verdict.insert(0, memory.note_other_name(name, other, is_there=other in snapshots.names))
            verdict = [replace(finding, array=name) for finding in verdict]
            verdicts.extend(verdict)
            yield from verdict
        yield from views.find_unlinked(name, column, formulas)
        if not book.is_linked(name):
            yield from finding_of_formulas(name, column, formulas, verdict if memory.remembers(name) else None)

    views = ViewFindings(book)

    def find_unchanged(arrays: Sequence[DecodedArray]) -> Collection[str]:
        """Return the names of those of some arrays that are as they were written, and so have no finding."""
        plain = [
            (name, column.group[0].title or "", column.header, buffer)
            for name, buffer, column in arrays
            if column.header == column.written
            and not any(formulas[part.title or ""] for part in column.group)
            and not (book.views.editable or book.views.changed)  # of which the columns may have lost formulas
        ]
        return memory.find_unchanged(plain)

    how: dict[str, Any] = {"restore": snapshots} if snapshots.exist else {"find_unchanged": find_unchanged}
    findings = list(check(sheets, missing=missing, judge=judge, **how))
    yield from memory.findings
    yield from snapshots.check()
    yield from views.find_typed_over() if sheet is None else ()
    yield from book.find_lost_guards(memory.guard_titles()) if guard else ()
    yield from map(memory.simplify_exchange, findings)
    yield from memory.find_unknown()
    if sheet is None and all(finding in verdicts or finding.severity == "warning" for finding in findings):
        yield from memory.find_missing()  # only if every array could be read: a broken one is not missing


def _judge_rows(
    guarded: Guarded, buffer: Buffer, name: str, changes: Iterable[Finding | RowChange], column: ArrayColumn
) -> list[Finding | RowChange]:
    """Return the change of rows that a guard shows, if nothing else has changed; otherwise findings of the edits.

    `changes`: the findings by the fingerprint, which knows all rows that may be the added ones if rows are alike.
    """
    known = [change for change in changes if isinstance(change, RowChange)]
    only = guarded.only_change
    if only is None:
        return [*known, *find_edits(guarded, buffer, column.header, name, column.element_address)]
    return [replace(change, rest_is_exact=True) for change in known if change.firsts] or [only]


def open_snapshots(
    book: Workbook, memory: StoredFingerprints | None = None, *, survey: Survey | None = None, used: bool = True
) -> Snapshots:
    """Return the snapshots of a workbook, which are read when an array asks for its own.

    `memory`: what the workbook remembers of its arrays; None to read it when it is needed. `survey`: of all arrays;
    None to read them all together. `used`: whether the guard is used.
    """
    known = [] if memory is None else [memory]

    @cache
    def find_names() -> Collection[str]:
        return set(scan_names(book.plain_sheets(), strict=False, report=lambda _: None))

    def is_own(header: SnapshotHeader, buffer: Buffer) -> bool | None:
        if not known:
            known.append(StoredFingerprints(book.source))
        return known[0].is_own(header.name, header.sheet, header.header, buffer, find_names)

    guards = book.guards() if used else []
    return Snapshots(guards, survey=survey or survey_of(book), ask_names=find_names, is_own=is_own)


def warn_of_guard(book: Workbook, snapshots: Snapshots, *, used: bool = True) -> None:
    """Warn of all that kept a guard from being used for the arrays that were read."""
    findings = [*snapshots.findings, *(book.find_lost_guards() if used else ())]
    for finding in findings[:_MOST_WARNINGS]:
        warn_of_finding(finding)
    if len(findings) > _MOST_WARNINGS:
        warn_caller(f"the guard cannot be used for {len(findings) - _MOST_WARNINGS} more arrays, which check names")


def survey_of(book: Workbook, check: CheckSheets = check_sheets) -> Survey:
    """Return a function that calls another with the name, the elements and the cells of each array of a workbook."""

    def survey(judge: CompareFingerprint) -> None:
        for _ in check(select_sheets(book, None), missing="nan", judge=judge):
            pass

    return survey


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


def check_is_text(title: object) -> None:
    """Refuse a title that is no text."""
    if not isinstance(title, str):
        raise TypeError(f"sheet is the title of one, text, not {title!r:.80}")
