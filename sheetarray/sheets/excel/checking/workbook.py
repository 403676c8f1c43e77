"""Collects all findings about a workbook: damage, edits, formulas in place of elements, and missing arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ....elements import Missing
from ....errors import Finding
from ...arrays_of_sheets import check_sheets
from ...sheet_choice import SheetChoice, find_title
from ...table_areas import take_named
from ...table_findings import check_with_tables
from ..guard.snapshots import Snapshots
from ..tables.findings import compare_checksums
from ..tables.recorded import find_tables
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .arrays import CheckedArrays


def find_all(
    book: Workbook,
    sheet: SheetChoice,
    missing: Missing,
    *,
    guard: bool,
    check: Callable[..., Iterator[Finding]] = check_sheets,
) -> list[Finding]:
    """Return every finding in an open workbook; the arguments are those of `check_excel`.

    `check`: reads the arrays and has each of them judged, as `arrays_of_sheets.check_sheets` does.
    """
    sheets, findings = select_sheets(book, sheet), dict[Finding, None]()
    writes = book.checksums.split_by_write(sheets) if sheet is None else [(None, sheets)]
    for titles, of_write in writes:
        snapshots = Snapshots(book, are_used=guard)
        arrays = CheckedArrays(book, of_write, snapshots)
        told, are_whole = list[Finding](), True
        if of_write or titles is None:
            restore = snapshots if snapshots.sheets else None
            of_arrays = list(
                check(of_write, missing=missing, judge=arrays.judge, compare=arrays.compare, restore=restore)
            )
            are_whole = all(finding in arrays.changes or finding.severity == "warning" for finding in of_arrays)
            told += [*book.checksums.findings, *snapshots.check()]
            if titles is not None and book.views.shown:
                told += arrays.views.find_typed_over()
            if guard:
                told += book.find_lost_guards(book.checksums.guard_titles())
            told += map(arrays.simplify_exchange, of_arrays)
            if arrays.unknown and not book.checksums.findings:
                told.append(arrays.describe_unknown())
        if titles is not None and are_whole:  # a broken array is not missing
            told += arrays.find_missing(titles)
        findings |= dict.fromkeys(told)
    if places := find_tables(book, sheets):
        snapshots, tables = Snapshots(book, are_used=guard), take_named(places, missing)
        findings = dict.fromkeys(check_with_tables(tables, findings, snapshots, partial(compare_checksums, book)))
        findings |= dict.fromkeys(snapshots.findings)
    hints = [book.advise(finding.location, finding.hint) for finding in findings]
    return [replace(finding, hint=hint) for finding, hint in zip(findings, hints, strict=True)]


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


def limit_search(book: Workbook, sheets: list[ExcelSheet], *, everything: bool = False) -> list[ExcelSheet]:
    """Return those of some sheets that may hold arrays, each limited to the rows to search.

    Where the workbook remembers a search, and the sheet is as it was, only its first rows are looked at, or none.

    `everything`: whether sheets that hold no array for certain are among them.
    """
    if not (rows := book.header_rows):
        return sheets
    limited = [book.sheet(sheet.title or "", rows.get(sheet.title or "")) for sheet in sheets]
    return [sheet for sheet in limited if everything or rows.get(sheet.title or "") != 0] or limited
