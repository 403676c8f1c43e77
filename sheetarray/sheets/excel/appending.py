"""Rows at the end of arrays of a workbook: ten times as fast as `revise_excel`, since the cells above are not read.

The new cells are spliced below the last ones, and headers, names, checksums and snapshots learn the new lengths. What
was written is taken from the snapshots, so that an edit which `check` has named goes on to be named. Where more has to
change, such as views, `revise_excel` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...changes.merged_groups import row_axis
from ...columns import ArrayInfo, ElementEdits, ResizedArray, SheetArrays, cell_address, find_header_edits
from ...columns.column import ArrayColumn
from ...dtypes import Array, Buffer
from ...errors import FormatError, LimitError, locating
from ...files import Source, replacing
from ...linear.header import Header
from ...linear.resizing import find_slow_axis
from ..arrays_of_sheets import scan_composites
from ..guard_texts import keep_snapshots
from ..sheet_choice import SheetChoice
from ..snapshot import SnapshotHeader, encode_snapshot, parse_snapshot_header
from ..workbooks import MOST_ROWS
from .accepting.names import ArrayNames
from .adapter import read_excel
from .checking.workbook import limit_search, select_sheets
from .checksums.record import Written, make_checksums
from .guard.guard_sheet import make_part, read_texts
from .guard.snapshots import Snapshots
from .package.packing import rewrite_package
from .package.properties import renew_properties
from .package.searches import SEARCHES_KEY
from .revising import add_new_cells, revise_excel
from .row_xml import format_number
from .searching import search_sheets
from .splicing import NewCell, NewCells, Splice
from .views.record import KEY
from .workbook import Workbook
from .workbook_part import WorkbookPart

Fit = Callable[[Mapping[str, ArrayInfo]], Mapping[str, Array]]


def append_excel(target: Any, arrays: Any, *, sheet: SheetChoice = None, fit: Fit | None = None) -> None:
    """Append rows to arrays of a workbook. All rows arrive, or none; everything else in it stays as it is.

    Args:
        target: the path of a workbook.
        arrays: the new rows by the names of their arrays.
        sheet: the title of the only sheet with arrays to look at, or its index from 0; None means all sheets.
        fit: returns the rows as they fit the arrays of which it gets the infos; None takes them as they are.

    Raises:
        FormatError: the workbook cannot be read, or the last element of an array is missing. Nothing was written.
        LimitError: other cells stand below an array, or the sheet has no room. Nothing was written.
    """
    with Source(target) as opened, locating(source=opened.name):
        book = WorkbookPart.to_change(opened)
        with Workbook(opened, own=book) as reading:
            present = SheetArrays(limit_search(reading, select_sheets(reading, sheet)))
            infos = scan_composites(present.read, present.scan_all, present.peek)
            rows = arrays if fit is None else fit(infos)
            all_sheets = limit_search(reading, select_sheets(reading, None))  # names in others are not seen otherwise
            is_all = len(present.sheets) == len(all_sheets)
            plan = _grow_all(reading, present, rows) if is_all else None
            replaced = None if plan is None else _change_parts(reading, book, present, plan)
        if replaced is not None:
            with replacing(target, binary=True) as sink:
                rewrite_package(sink, book.package, replaced)
            return
    before = read_excel(target, list(rows), sheet=sheet)
    joined = {name: np.concatenate([before[name], array], axis=row_axis(before[name])) for name, array in rows.items()}
    grown = {name: np.asfortranarray(array) if row_axis(before[name]) else array for name, array in joined.items()}
    revise_excel(target, target, grown, sheet=sheet)


@dataclass(frozen=True, slots=True)
class _GrownArray:
    """An array with its new rows.

    Attributes:
        column: where it stands, with the header that will be true.
        before: the number of its elements so far.
        buffer: all elements.
        place: the sheet of the record that has its checksums.
        snapshot: what its snapshot says of it; None where the workbook has no guard.
    """

    column: ArrayColumn
    before: int
    buffer: Buffer
    place: str
    snapshot: SnapshotHeader | None


def _grow_all(reading: Workbook, present: SheetArrays, rows: Mapping[str, Array]) -> dict[str, _GrownArray] | None:
    """Return the arrays with their rows; None where more has to change than their cells, and what says how many."""
    sheets = reading.record.get("sheets")
    if not isinstance(sheets, dict) or any(KEY in more or "many" in more for more in sheets.values()):
        return None
    columns, snapshots = present.columns(), Snapshots(reading)
    if any(len(column.group) > 1 for column in columns.values()):
        return None
    grown = {}
    for name, array in rows.items():
        header, anchor = columns[name].written, columns[name].group[0]
        title = anchor.title or ""
        group = str(sheets.get(title, {}).get("of", title))
        place = next((each for each in (title, group) if name in sheets.get(each, {}).get("arrays", {})), None)
        if place is None or anchor.orient == "rows" or columns[name].cells_per_element > 1:
            return None
        if find_slow_axis(header) is None:
            return None
        snapshot, buffer = None, None
        if snapshots.sheets:
            own = snapshots.find_as_recorded(name, title, header)
            if own is None:
                return None
            snapshot, buffer = own
        else:
            buffer = _flatten(present.read([name])[name], header)
        more = _flatten(array, header)
        columns[name].take_length(len(buffer) + len(more))
        grown[name] = _GrownArray(columns[name], len(buffer), np.concatenate([buffer, more]), place, snapshot)
    return grown


def _flatten(array: Array, header: Header) -> Buffer:
    """Return the elements of an array in the order of its column."""
    return array.ravel(order="C" if header.order == "row-major" else "F")


def _change_parts(
    reading: Workbook, book: WorkbookPart, present: SheetArrays, grown: Mapping[str, _GrownArray]
) -> dict[str, bytes]:
    """Return the parts of a workbook that change, with their new content."""
    resized = {name: ResizedArray(array.column, array.buffer) for name, array in grown.items()}
    cells: dict[str, NewCells] = {}
    for edit in find_header_edits(present.sheets, resized):
        cells.setdefault(edit.title or "", {})[edit.row, edit.column] = NewCell(
            format_number(edit.value), header=edit.value
        )
    for name, array in grown.items():
        added = np.arange(array.before, len(array.buffer))
        edits = ElementEdits(name, array.column, array.buffer, array.column.header.dtype, added, array.before)
        if len(added) and edits.place(len(array.buffer) - 1)[1] >= MOST_ROWS:
            raise LimitError(f"{name}: a sheet has {MOST_ROWS:,} rows, and the array would need more of them")
        add_new_cells(edits, cells)
    parts = {sheet.title: sheet.part for sheet in book.sheets}
    replaced = {}
    for title, new in cells.items():
        splice = Splice(title, new)
        replaced[parts[title]] = splice.change(book.package.read(parts[title]))
        _check_last(title, splice, grown)
    replaced |= _renew_snapshots(reading, book, grown)
    all_arrays = {name: ResizedArray(column, np.empty(0)) for name, column in present.columns().items()} | resized
    if book.set_names(ArrayNames(all_arrays, book.record).find_cells) or replaced:
        book.compute_on_opening()
    record = {**book.record, "sheets": {title: {**more} for title, more in book.record["sheets"].items()}}
    for name, array in grown.items():
        header = array.column.header
        checksums = make_checksums({name: Written(array.buffer, header.dtype, header)}, of=len(all_arrays))
        sheet = record["sheets"][array.place]
        sheet["arrays"] = {**sheet["arrays"], **checksums["arrays"]}
    record[SEARCHES_KEY] = search_sheets(reading, replaced=replaced).to_json()
    part = book.ensure_properties()
    return replaced | {part: renew_properties(book.package, part, record)} | book.changed_parts()


def _check_last(title: str, splice: Splice, grown: Mapping[str, _GrownArray]) -> None:
    """Refuse to append below a blank cell: rows were deleted, and the header does not know it."""
    for name, array in grown.items():
        anchor, header = array.column.group[0], array.column.header
        if not 0 < array.before < len(array.buffer):
            continue
        row = anchor.data_cell[1] + array.before - 1
        if (
            anchor.title == title
            and header.dtype.kind not in ("string", "generic")
            and splice.is_blank(row, anchor.column)
        ):
            location = f"{title}!{cell_address(row, anchor.column)}"
            reason = "the last element of the array is missing: were rows deleted?"
            raise FormatError(reason, location=location, array=name, hint="accept the file first, then append")


def _renew_snapshots(reading: Workbook, book: WorkbookPart, grown: Mapping[str, _GrownArray]) -> dict[str, bytes]:
    """Return the sheets of guards, in which the snapshots of arrays have their new rows."""
    parts = {sheet.title: sheet for sheet in book.sheets}
    renewed = {}
    for guard in reading.guards():
        texts = list(_renew_texts(read_texts(guard)[1:], grown))
        title = guard.title or ""
        renewed[parts[title].part] = make_part(book, parts[title], texts)
    return renewed


def _renew_texts(texts: list[str], grown: Mapping[str, _GrownArray]) -> Iterator[list[str]]:
    """Yield the texts of each snapshot of a guard."""
    for snapshot_texts in keep_snapshots(texts, lambda _: True):
        header = parse_snapshot_header(snapshot_texts[0])
        array = grown.get(header.name)
        if array is None or array.snapshot != header:
            yield snapshot_texts
            continue
        how = {"sheet": header.sheet, "cells": header.cells, "dates": header.dates}
        yield encode_snapshot(header.name, ResizedArray(array.column, array.buffer).linear, **how)
