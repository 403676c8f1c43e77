"""Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial

from ....columns import ArrayColumn, RowChange
from ....dtypes import Buffer, Positions
from ....elements import Missing
from ....errors import Finding
from ...arrays_of_sheets import check_sheets
from ...sheet_choice import SheetChoice, find_title
from ...table_areas import take_named
from ...table_findings import check_with_tables
from ..checksums.stored import StoredChecksums
from ..guard.snapshots import open_snapshots
from ..guard.written import WrittenArrays
from ..reader.formulas import FormulaCells
from ..tables.findings import compare_checksums
from ..tables.recorded import find_tables
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .formulas import lint_formulas
from .views import ViewFindings


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
    for number, (titles, written) in enumerate(memory.split_by_write(sheets) if sheet is None else [(None, sheets)]):
        memory = StoredChecksums(book) if number else memory  # which has been asked about no array
        findings |= dict.fromkeys(_find_all(book, memory, written, titles, missing, guard=guard, check=check))
    if places := find_tables(book, sheets):
        snapshots, tables = open_snapshots(book) if guard else None, take_named(places, missing)
        findings = dict.fromkeys(check_with_tables(tables, findings, snapshots, partial(compare_checksums, book)))
        findings |= dict.fromkeys(snapshots.findings if snapshots is not None else ())
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
    """Yield every finding about some sheets: their damage, then what became of their arrays since they were written.

    `titles`: under which the record has the arrays that these sheets must hold; None where other sheets may hold them.
    """
    if titles is not None and not sheets:
        yield from memory.find_missing(titles)
        return
    snapshots = open_snapshots(book, memory) if guard else None
    written, views, changes = WrittenArrays(memory, snapshots), ViewFindings(book), list[Finding]()
    formulas = {sheet.title or "": FormulaCells() for sheet in sheets}
    for worksheet in sheets:
        worksheet.formulas = formulas[worksheet.title or ""]

    def judge(
        name: str, buffer: Buffer | None, column: ArrayColumn, unreadable: Positions
    ) -> Iterator[Finding | RowChange]:
        for finding in written.judge(name, buffer, column, unreadable) if buffer is not None else ():
            if isinstance(finding, Finding):
                changes.append(replace(finding, array=name))
                yield changes[-1]
            else:
                yield finding
        if book.views.editable or book.views.changed:
            yield from views.find_unlinked(name, column, formulas)
        if any(formulas.values()):
            yield from lint_formulas(name, column, formulas)

    def compare() -> Iterator[Finding]:
        for finding in written.describe():
            changes.append(finding)
            yield finding

    restore = snapshots if snapshots is not None and snapshots.sheets else None
    findings = list(check(sheets, missing=missing, judge=judge, compare=compare, restore=restore))
    are_whole = all(finding in changes or finding.severity == "warning" for finding in findings)
    yield from memory.findings
    yield from snapshots.check() if snapshots is not None else ()
    yield from views.find_typed_over() if titles is not None and book.views.shown else ()
    yield from book.find_lost_guards(memory.guard_titles()) if guard else ()
    yield from map(memory.simplify_exchange, findings)
    yield from memory.find_unknown()
    if titles is not None and are_whole:
        yield from memory.find_missing(titles)  # only if every array could be read: a broken one is not missing


def select_sheets(book: Workbook, sheet: SheetChoice, *, of_table: bool = False) -> list[ExcelSheet]:
    """Return the sheet of a title, compared without case as Excel does, or of an index, in the order of the tabs.

    For None it returns every sheet in which arrays may be. Views and guards have no index.

    `of_table`: for None, every sheet that may be a table: no view, not even one that was changed.
    """
    if sheet is None:
        views = book.views
        left_out = views.recorded if of_table else views.intact
        sheets = book.plain_sheets() or [book.sheet(title) for title in book.titles]
        return [plain for plain in sheets if plain.title not in left_out] or sheets
    if isinstance(sheet, str):
        for title in book.titles:
            if title.casefold() == sheet.casefold():
                return [book.sheet(title)]
    titles = [plain.title or "" for plain in select_sheets(book, None, of_table=True)]
    return [book.sheet(find_title(sheet, titles))]


def select_searched(book: Workbook, sheet: SheetChoice, *, everything: bool = False) -> list[ExcelSheet]:
    """Return the sheet with a title or an index, or all sheets that may hold arrays, each limited to the rows to
    search.

    Where the workbook remembers a search, and the sheet is as it was, only its first rows are looked at, or none.

    `everything`: whether sheets that hold no array for certain are among them.
    """
    header_rows = book.header_rows
    sheets = [book.sheet(meant.title or "", header_rows.get(meant.title or "")) for meant in select_sheets(book, sheet)]
    return [sheet for sheet in sheets if everything or header_rows.get(sheet.title or "") != 0] or sheets
