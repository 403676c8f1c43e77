"""Puts other elements into the cells of arrays of a workbook; everything else in it stays as it is.

The cells are spliced into the rows of their worksheets. Headers, names, checksums, views and guards then become true
as when the workbook is accepted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ...columns import ElementEdits, find_element_edits, find_name_cells, keeping_unreadable
from ...dtypes import Buffer, DType
from ...elements import Cell, Missing, MissingOption, NaValues, buffer_to_typed, missing_of
from ...errors import FormatError, locating
from ...files import Readable, Source, Writable, replacing
from ...formats.contract import CELL_CHARACTERS
from ...linear.array import LinearArray
from ..arrays_of_sheets import read_resized_arrays
from ..content import take_arrays
from ..sheet_choice import SheetChoice
from ..workbooks import EXACT_INTEGER
from .accepting.workbook import accept_workbook
from .adapter import write_excel
from .checking.workbook import select_sheets
from .package.package import Package
from .package.packing import rewrite_package
from .row_xml import cells_xml, format_number, format_text
from .skeleton.template import suffix_of
from .splicing import SAVE_ANEW, NewCell, NewCells, Splice
from .workbook import Workbook
from .workbook_part import WorkbookPart

Revision = tuple[SheetChoice, Any, Mapping[str, str]]  # the sheet, arrays as for `write_excel`, and their new names


def revise_excel(
    source: Readable,
    target: Writable,
    arrays: Any,
    *,
    renamed: Mapping[str, str] | None = None,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
) -> None:
    """Write a copy of a workbook in which arrays hold new elements. Everything else in it stays as it is.

    New arrays go to a sheet of their own. Headers, defined names, checksums, views and the guard become true.

    Args:
        source: a path or an open file: .xlsx or .xlsm.
        target: a path, which may be the source, or an open file. A file is replaced whole or not at all.
        arrays: the new elements, as for `write_excel`. Other arrays stay.
        renamed: the new names of arrays, by those that they have in the source.
        sheet, missing, na_values: as for `read_excel`; where the arrays stand, and what a blank means.

    Raises:
        FormatError: as `read_excel`, or the cells cannot be changed in place.
        LimitError: the workbook is signed or shared; or there is no room for rows.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file, revised = io.BytesIO(), io.BytesIO()
        >>> write_excel(file, {"t": np.array([1.5, 2.5])})
        >>> revise_excel(io.BytesIO(file.getvalue()), revised, {"t": np.array([1.5, 7.5, 8.5])})
        >>> from .adapter import read_excel
        >>> read_excel(io.BytesIO(revised.getvalue()))
        {'t': array([1.5, 7.5, 8.5])}
    """
    revise_sheets_excel(source, target, [(sheet, arrays, renamed or {})], missing=missing, na_values=na_values)


def revise_sheets_excel(
    source: Readable,
    target: Writable,
    revisions: Sequence[Revision],
    *,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    whole: bool = False,
    only: SheetChoice = None,
) -> None:
    """Write a copy of a workbook with the new elements of several sheets, whose arrays may have the same names.

    New arrays of each go to a sheet of their own.

    Args:
        source, target, missing, na_values: as for `revise_excel`.
        revisions: for each sheet its title, its new arrays, and new names of arrays.
        whole: write the cells of all elements, whatever they hold: also those that cannot be read, and formulas. The
            new arrays are then `LinearArray`s, one for each column.
        only: the sheet that holds them all, so that the others are not even made true to their cells; None for any.
    """
    as_missing = missing_of(missing, na_values)
    columns = [dict(arrays if whole else take_arrays(arrays, CELL_CHARACTERS)) for _, arrays, _ in revisions]
    with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:
        path = Path(folder, f"revised{suffix_of(target)}")
        with Source(source) as opened, locating(source=opened.name):
            titles, fresh_of_each = _write_revised(opened, path, columns, revisions, as_missing, whole)
        for fresh in filter(None, fresh_of_each):
            with Source(path) as opened:
                own = WorkbookPart.of_package(Package(opened.ranges()))
                taken = {sheet.title.casefold() for sheet in own.sheets}
                with Workbook(opened, own=own) as reading:
                    guard = bool(reading.guards())
            numbers = ("" if number == 1 else f" {number}" for number in range(1, len(taken) + 2))
            title = next(f"new arrays{number}" for number in numbers if f"new arrays{number}" not in taken)
            write_excel(path, fresh, sheet=title, mode="a", guard=guard)
            titles += [{title}]
            columns += [fresh]
        revised = [*zip(titles, columns, strict=True)]
        _compare(path, revised, as_missing)
        accept_workbook(path, target, sheet=only, missing=as_missing, revised=revised)


def _write_revised(
    opened: Source,
    path: Path,
    columns: Sequence[dict[str, LinearArray]],
    revisions: Sequence[Revision],
    missing: Missing,
    whole: bool,
) -> tuple[list[set[str]], list[dict[str, LinearArray]]]:
    """Write the workbook with its new cells.

    Return for each revision the titles of its sheets, and the arrays for which these have no cells, which are taken out
    of its columns.
    """
    book = WorkbookPart.to_change(opened)
    edits: dict[str, NewCells] = {}
    with Workbook(opened, reads_numbers=True, own=book) as reading:
        titles: list[set[str]] = []
        fresh: list[dict[str, LinearArray]] = []
        for (choice, _, renamed), new in zip(revisions, columns, strict=True):
            sheets = reading.plain_sheets() if choice is None else select_sheets(reading, choice)
            with keeping_unreadable() if whole else nullcontext():
                present = read_resized_arrays(sheets, missing=missing)
            for before, now in renamed.items():
                present[now] = present.pop(before)
                for title, row, cell_column in find_name_cells(present[now]):
                    edits.setdefault(title or "", {})[row, cell_column] = NewCell(_word_xml(now))
            fresh.append({name: new.pop(name) for name in [*new] if name not in present})
            for name, column in new.items():
                change = find_element_edits(name, present[name], column, whole=whole)
                if change is not None:
                    add_new_cells(change, edits)
            titles.append({sheet.title or "" for sheet in sheets})
    parts = {sheet.title: sheet.part for sheet in book.sheets}
    splices = {title: Splice(title, cells_of_sheet) for title, cells_of_sheet in edits.items()}
    replaced: dict[str, bytes] = {}
    lost = False
    while splices:
        title, splice = splices.popitem()
        part = parts[title]
        replaced[part] = splice.change(replaced.get(part) or book.package.read(part))
        lost |= splice.lost_formula
        for other, cells in splice.followed.items():
            part_there = next((each for each in parts if each.casefold() == other.casefold()), None)
            if part_there is None:
                raise FormatError(f"formulas refer to a sheet {other!r:.80}, which does not exist", location=title)
            splices.setdefault(part_there, Splice(part_there, {})).cells.update(cells)
    dropped = book.drop_chain() if lost else set()
    replaced |= book.changed_parts()
    with replacing(path, binary=True) as sink:
        rewrite_package(sink, book.package, replaced, dropped)
    return titles, fresh


def _compare(
    path: Path, revised: Sequence[tuple[Collection[str], Mapping[str, LinearArray]]], missing: Missing
) -> None:
    """Refuse what does not come back as it should: the workbook was written in a way that nobody knows here."""
    with Source(path) as opened, Workbook(opened, reads_numbers=True) as reading:
        for titles, columns in revised:
            sheets = [sheet for sheet in reading.plain_sheets() if sheet.title in titles]
            present = read_resized_arrays(sheets, missing=missing) if columns else {}
            for name, column in columns.items():
                array = present.get(name)
                if array is None or not column.has_elements(array.column.header, array.buffer):
                    raise FormatError(f"{name}: the cells of this workbook cannot be changed in place", hint=SAVE_ANEW)


def add_new_cells(change: ElementEdits, edits: dict[str, NewCells]) -> None:
    """Put the new cells of an array among those of their sheets."""
    model = change.place(change.before - 1)[1] if change.before and not change.head else None
    plain, serial = _elements_xml(change.buffer[change.changed], change.dtype)
    for index, cell, date in zip(change.changed.tolist(), plain, serial, strict=True):
        title, row, column = change.place(index)
        added = index >= change.before and not change.head
        edits.setdefault(title or "", {})[row, column] = NewCell(cell, date, model if added else None)
    for index in change.removed:
        title, row, column = change.place(index)
        edits.setdefault(title or "", {})[row, column] = NewCell(None)
    for index, word in enumerate(change.head):
        title, row, column = change.place_head(index)
        edits.setdefault(title or "", {})[row, column] = NewCell(_word_xml(word))


def _elements_xml(buffer: Buffer, dtype: DType) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """Return the XML of elements after their references, and with dates as serial numbers."""
    cells = cells_xml(buffer_to_typed(buffer, dtype, exact=EXACT_INTEGER))
    if dtype.kind != "datetime":
        return cells, [None] * len(cells)
    return cells, cells_xml(buffer_to_typed(buffer, dtype, exact=EXACT_INTEGER, serials=True))


def _word_xml(word: Cell) -> str:
    return format_number(word) if isinstance(word, int) else format_text(str(word))
