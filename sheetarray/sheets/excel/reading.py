"""Reads the arrays of a workbook: all of an open one, or elements of some as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...columns import keeping_unreadable, reporting_cells
from ...columns.beside import note_other_cells
from ...columns.blocks.mapping import MappedArrays
from ...columns.blocks.reading import iter_elements
from ...dtypes import Buffer
from ...elements import Missing, MissingOption, NaValues, missing_of
from ...errors import NO_ARRAY, FormatError, locating
from ...files import Readable, Source
from ...formats.contract import Progress
from ...linear.buffers import iter_rest
from ...linear.named import list_names
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import count_named, open_sheets, read_composites, read_resized_arrays
from ..recorded_tables import open_recorded, read_with_tables
from ..sheet_choice import SheetChoice
from ..table_areas import take_named
from .beside import list_in_workbook
from .checking.workbook import select_sheets
from .guard.snapshots import Snapshots, warn_of_guard
from .tables.recorded import find_tables
from .workbook import Workbook


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
    snapshots = Snapshots(book, are_used=guard)
    restore = snapshots if snapshots.sheets else None

    def read_arrays(selected: Sequence[str] | None) -> dict[str, np.ndarray[Any, Any]]:
        arrays = open_sheets(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
        with reporting_cells(progress, sheets, lambda: count_named(arrays.read, arrays.scan, selected)):
            return read_composites(arrays.read, arrays.scan, selected, arrays.peek)

    try:
        names = list_names(names)
        places = find_tables(book, sheets)
        if places:
            tables = take_named(places, missing)
            by_name = read_with_tables(tables, read_arrays, names, resize=resize, snapshots=snapshots)
        else:
            by_name = read_arrays(names)
        note_other_cells(lambda: list_in_workbook(book, sheets))
    except FormatError as error:
        error.hint = book.advise(error.location, error.hint or "") or None
        raise
    if guard:
        warn_of_guard([*snapshots.findings, *book.find_lost_guards()])
    return by_name


def iter_elements_excel(
    source: Readable,
    names: Sequence[str],
    *,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
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
    as_missing = missing_of(missing, na_values)
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        sheets = select_sheets(book, sheet)

        def read_whole(names: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
            for read_in_part in sheets:
                read_in_part.notes.clear()
            return read_book(book, names, sheet=sheet, missing=as_missing, guard=guard)

        if (guard and book.guards()) or find_tables(book, sheets):  # whole arrays tell what programs have done
            with MappedArrays() as mapped:
                with mapped.mapping():
                    arrays = read_whole(names)
                yield from iter_rest(arrays, dict.fromkeys(names, 0))
            return
        yield from iter_elements(sheets, names, as_missing, read_whole)
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
        snapshots = Snapshots(book)
        if not snapshots.sheets:
            return {}
        sheets = book.plain_sheets()
        tables = open_recorded(find_tables(book, sheets), snapshots)
        written = {name: array for table in tables for name, array in table.stacked_as_written.items()}
        with keeping_unreadable("missing"):
            try:
                present = read_resized_arrays(sheets)
            except FormatError as error:
                if error.reason != NO_ARRAY or not tables:
                    raise
                return written
        for name, array in present.items():
            own = snapshots.find(name, array.column, array.buffer)
            before = None if own is None else own.evidence.to_array(array.buffer.nbytes)
            if before is not None:
                written[name] = before
        return written
