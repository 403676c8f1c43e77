"""Reads the arrays of a workbook: all of an open one, or elements of some as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...columns import keeping_unreadable, reporting_cells
from ...columns.blocks.mapping import MappedArrays
from ...columns.blocks.reading import iter_elements
from ...dtypes import Buffer
from ...elements import Missing
from ...errors import NO_ARRAY, FormatError, locating
from ...files import Readable, Source
from ...formats.contract import Progress
from ...labels import give_labels
from ...linear.buffers import iter_rest
from ...linear.data_cells import check_missing
from ...linear.named import list_names, select
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import count_named, open_sheets, read_composites, read_resized_arrays
from ..sheet_choice import SheetChoice
from .checking.workbook import select_sheets
from .checksums.stored import StoredChecksums
from .guard.snapshots import Snapshots, open_snapshots, warn_of_guard
from .tables.recorded import find_recorded, open_recorded, read_recorded
from .workbook import Workbook
from .worksheet import ExcelSheet


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
    snapshots = open_snapshots(book, StoredChecksums(book)) if guard and book.may_have_guards else None
    left = list_names(names)
    recorded = _read_tables(book, sheets, snapshots, left, resize=resize)
    left = left if left is None else [name for name in left if name not in recorded]
    by_name: dict[str, np.ndarray[Any, Any]] = {}
    restore = snapshots if snapshots is not None and snapshots.exist else None
    try:
        if left != []:
            arrays = open_sheets(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
            with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, left)):
                by_name = read_composites(arrays.read, arrays.scan, left, arrays.peek)
    except FormatError as error:
        if error.reason != NO_ARRAY or not recorded:
            error.hint = book.advise(error.location, error.hint or "") or None
            raise
    if snapshots is not None:
        warn_of_guard([*snapshots.iter_problems()])
    if both := [name for name in recorded if name in by_name]:
        reason = f"two arrays have the name {both[0]!r:.80}, one of them in a table"
        raise FormatError(reason, hint="sheet= reads one of the sheets")
    return select({**by_name, **recorded}, names) if recorded else by_name


def _read_tables(
    book: Workbook,
    sheets: Sequence[ExcelSheet],
    snapshots: Snapshots | None,
    names: Sequence[str] | None,
    *,
    resize: bool,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of recorded tables; the caller who asks for labels gets theirs."""
    notes = find_recorded(book, sheets)
    if not notes:
        return {}
    recorded, labels = read_recorded(open_recorded(book, notes, snapshots), resize=resize, names=names)
    if labels is not None:
        give_labels(labels)
    return recorded


def iter_elements_excel(
    source: Readable,
    names: Sequence[str],
    *,
    sheet: SheetChoice = None,
    missing: Missing = "error",
    guard: bool = True,
) -> Iterator[tuple[str, Buffer]]:
    """Yield the name of an array and the next elements of its buffer, again and again.

    Args:
        source: a path or an open file.
        names: of the arrays.
        sheet: the title of the only sheet to read; None reads all sheets.
        missing: as for `read_excel`.
        guard: as for `read_excel`.

    Raises:
        FormatError: as `read_excel`, when the first wrong cell is reached.
        NotFoundError: an array in `names`, or the sheet, does not exist.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray import write_excel
        >>> file = io.BytesIO()
        >>> write_excel(file, {"t": np.arange(3)})
        >>> [(name, elements.tolist()) for name, elements in iter_elements_excel(io.BytesIO(file.getvalue()), ["t"])]
        [('t', [0, 1, 2])]
    """
    check_missing(missing)
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        sheets = select_sheets(book, sheet)

        def read_whole(names: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
            for read_in_part in sheets:
                read_in_part.notes.clear()
            return read_book(book, names, sheet=sheet, missing=missing, guard=guard)

        if (guard and book.guards()) or find_recorded(book, sheets):  # whole arrays tell what programs have done
            with MappedArrays() as mapped:
                with mapped.mapping():
                    arrays = read_whole(names)
                yield from iter_rest(arrays, dict.fromkeys(names, 0))
            return
        yield from iter_elements(sheets, names, missing, read_whole)
        for finding in [finding for read_sheet in sheets for finding in read_sheet.notes[:1]]:
            warn_of_finding(finding)


def read_written_excel(source: Readable) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a workbook as they were written, by the names that they have now, from its guard.

    Args:
        source: a path or an open file.

    Returns:
        The arrays that have a snapshot; none if the workbook has no guard.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened, reads_numbers=True) as book:
        snapshots = open_snapshots(book)
        if snapshots is None or not snapshots.exist:
            return {}
        with keeping_unreadable("missing"):
            present = read_resized_arrays(book.plain_sheets())
        written = {}
        for name, array in present.items():
            own = snapshots.find(name, array.column, array.buffer)
            before = None if own is None else own.evidence.to_array(array.buffer.nbytes)
            if before is not None:
                written[name] = before
        return written
