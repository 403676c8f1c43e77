"""Reads arrays of a workbook piece by piece: one pass over each sheet, for all columns that are asked for.

Where an array goes on in other columns, elements that come too early are kept in a file without a name. A
workbook with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong. If a
workbook has a guard, all elements are put into such a file, and each array is then compared with its snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate

import numpy as np

from ....columns import (
    ArrayColumn,
    ColumnCells,
    ElementRestorer,
)
from ....columns.pieced_arrays import MOST_BYTES, NotInPiecesError, PiecedArrays
from ....dtypes import Buffer
from ....elements import Missing, text_array
from ....errors import FormatError, locating
from ....files import Readable, Source
from ....linear.buffers import iter_rest
from ....linear.data_cells import check_missing, may_be_blank
from ....linear.parsing import warn_of_finding
from ...workbooks import SheetChoice
from ..checking.workbook import select_sheets
from ..guard.snapshots import Snapshots, warn_of_guard
from ..reader.cells import CellRun
from ..reader.columns.run import ColumnRun
from ..reading import read_book
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .parts import ColumnPart, find_parts


class _StoredArrays:
    """The stored arrays of some sheets: those of text in memory, all others mapped from a file.

    `parts`: of each array, by its name. `buffers`: the elements of each array, by its name. `restore`: gives elements
    that were only rounded their exact bits; None to leave them.
    """

    def __init__(
        self,
        sheets: Sequence[ExcelSheet],
        parts: Mapping[str, Sequence[ColumnPart]],
        buffers: Mapping[str, Buffer],
        restore: ElementRestorer | None,
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._parts, self._buffers, self._restore = parts, buffers, restore

    def column(self, name: str) -> ArrayColumn:
        """Return the cells of an array without their values, for the addresses of its elements."""
        group = self._parts[name]
        sheet = self._sheets[group[0].anchor.title]
        column = ArrayColumn([part.anchor for part in group], [([], []) for _ in group], sheet)
        column.starts = [0, *accumulate(part.count for part in group[:-1])]
        return column

    def read(self, name: str) -> Buffer:
        """Return the elements of an array, as the cells have them."""
        return self._buffers[name]

    def buffer(self, name: str) -> Buffer:
        """Return the elements of an array, those that were only rounded with their exact bits."""
        buffer = self._buffers[name]
        return buffer if self._restore is None else self._restore.restore(name, buffer, self.column(name))


@contextmanager
def store_arrays(
    sheets: Sequence[ExcelSheet],
    parts: Mapping[str, Sequence[ColumnPart]],
    missing: Missing,
    restore: ElementRestorer | None,
) -> Iterator[tuple[_StoredArrays, PiecedArrays]]:
    """Store arrays, and yield them with their spool, whose `release` frees the memory of elements that were read.

    Raises:
        NotInPiecesError: headers claim more than any workbook holds; or as `_iter_arrays`.
    """
    headers = {name: first.header for name, (first, *_) in parts.items()}
    texts: dict[str, list[Buffer]] = {
        name: [] for name, header in headers.items() if header.dtype.kind in ("string", "generic")
    }
    sizes = {name: (one.dtype.numpy, one.capacity) for name, one in headers.items() if name not in texts}
    if sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        raise NotInPiecesError
    with PiecedArrays(sizes) as spool:
        for name, elements in _iter_arrays(sheets, parts, missing):
            if name in texts:
                texts[name].append(elements)
            else:
                spool.append(name, elements)
        buffers = spool.join()
        for name, some in texts.items():
            joined = np.concatenate([np.empty(0, object), *some])
            buffers[name] = text_array(joined.tolist()) if headers[name].dtype.kind == "string" else joined
        yield _StoredArrays(sheets, parts, buffers, restore), spool


_CELLS = 2**18  # cells that are sorted into columns at once


class _NeedsTextError(Exception):
    """A column of numbers holds text, so that the sheet has to be read as text."""


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
        >>> from ..adapter import write_excel
        >>> file = io.BytesIO()
        >>> write_excel(file, {"t": np.arange(3)})
        >>> [(name, some.tolist()) for name, some in iter_elements_excel(io.BytesIO(file.getvalue()), ["t"])]
        [('t', [0, 1, 2])]
    """
    check_missing(missing)
    done = dict.fromkeys(names, 0)
    with Source(source) as opened, locating(source=opened.name):
        try:
            with Workbook(opened) as book:
                sheets = select_sheets(book, sheet)
                if not (guard and book.guards()):
                    pieces = _iter_arrays(sheets, find_parts(sheets, list(done)), missing)
                elif sheet is None:
                    pieces = _iter_restored(book, sheets, list(done), missing)
                else:  # arrays of all sheets tell what programs have done
                    raise NotInPiecesError
                for name, elements in pieces:
                    yield name, elements
                    done[name] += len(elements)
                for finding in [finding for one in sheets for finding in one.notes[:1]]:
                    warn_of_finding(finding)
            return
        except (NotInPiecesError, FormatError):
            pass
        with Workbook(opened, reads_numbers=True) as book:
            arrays = read_book(book, list(done), sheet=sheet, missing=missing, guard=guard)
    yield from iter_rest(arrays, done)


def _iter_restored(
    book: Workbook, sheets: Sequence[ExcelSheet], names: Sequence[str], missing: Missing
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with all of its elements, with the bits that their guard has kept."""
    snapshots = Snapshots(book)
    with store_arrays(sheets, find_parts(sheets, None), missing, snapshots) as (stored, spool):
        for name in names:
            yield name, stored.buffer(name)
            spool.release()
    warn_of_guard(snapshots)


def _iter_arrays(
    sheets: Sequence[ExcelSheet], arrays: Mapping[str, Sequence[ColumnPart]], missing: Missing
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with its next elements.

    Raises:
        FormatError: a sheet is damaged.
        NotInPiecesError: the arrays have to be read at once.
    """
    turns = dict.fromkeys(arrays, 0)
    for sheet in sheets:
        parts = [part for group in arrays.values() for part in group if part.anchor.title == sheet.title]
        for part, elements in _iter_sheet(sheet, parts, missing):
            if part is arrays[part.name][turns[part.name]]:
                yield part.name, elements
            else:
                part.keep(elements)
        for part in parts:
            part.is_complete = True
        for name, group in arrays.items():
            while turns[name] < len(group) and group[turns[name]].is_complete:
                yield from ((name, elements) for elements in group[turns[name]].take())
                turns[name] += 1


def _iter_sheet(
    sheet: ExcelSheet, parts: Sequence[ColumnPart], missing: Missing
) -> Iterator[tuple[ColumnPart, Buffer]]:
    """Yield parts, each with its next elements, until all of them are complete."""
    import polars as pl

    if not parts:
        return
    numeric = sheet.can_read_numbers([part.request for part in parts])
    try:
        yield from _pass_over(sheet, parts, missing, numeric=numeric)
    except _NeedsTextError:
        yield from _pass_over(sheet, parts, missing, numeric=False)
    for part in parts:
        left = part.count - part.done
        if left and not may_be_blank(part.header, missing):
            raise NotInPiecesError
        if left:
            yield part, _decode(sheet, part, left, ([], pl.Series([], dtype=pl.String)), missing)


def _pass_over(
    sheet: ExcelSheet, parts: Sequence[ColumnPart], missing: Missing, *, numeric: bool
) -> Iterator[tuple[ColumnPart, Buffer]]:
    """Yield parts, each with its next elements, up to the last cell of the sheet.

    Raises:
        FormatError: the sheet is damaged.
        _NeedsTextError: the cells have to be looked at as text, from the next elements on.
        NotInPiecesError: a cell is wrong, there are more than there should be, or rows come in another order.
    """
    last, waiting, count = -1, list[CellRun](), 0
    with sheet.runs_from(min(part.request.row for part in parts) if not numeric else 0, numeric=numeric) as runs:
        for run in runs:
            if int(run.rows.min()) <= last:
                raise NotInPiecesError
            last = int(run.rows.max())
            sheet.note_formulas(run)
            waiting.append(run)
            count += len(run)
            if count >= _CELLS:
                yield from _sort_into_parts(sheet, waiting, parts, missing, numeric=numeric)
                waiting, count = [], 0
        yield from _sort_into_parts(sheet, waiting, parts, missing, numeric=numeric)


def _sort_into_parts(
    sheet: ExcelSheet, runs: Sequence[CellRun], parts: Sequence[ColumnPart], missing: Missing, *, numeric: bool
) -> Iterator[tuple[ColumnPart, Buffer]]:
    """Yield parts, each with its next elements among some cells of the sheet."""
    for place, cells in sheet.sort_into_columns(runs, [part.request for part in parts]):
        part = parts[place]
        if len(cells):
            if part.done + cells.height > part.count:
                raise NotInPiecesError
            elements = _decode_run(sheet, part, cells, missing, numeric=numeric)
            part.done += len(elements)
            yield part, elements


def _decode_run(sheet: ExcelSheet, part: ColumnPart, cells: ColumnRun, missing: Missing, *, numeric: bool) -> Buffer:
    """Return the elements in some cells of a part, decoded in bulk if possible, otherwise one by one."""

    request = part.request
    again = replace(cells, values=cells.values.clone())  # whoever looks at cells one by one puts its texts among them
    column: ColumnCells = ([], sheet.column_cells(cells, request, typed=True, numeric=numeric))
    if not part.done and request.dtype.kind == "complex" and not str(column[1][0]).strip().endswith(("i", "j")):
        raise NotInPiecesError  # it may have two cells for each element
    typed = ArrayColumn([part.next_elements(cells.height)], [column], sheet)
    elements = typed.decode_typed(missing)
    if elements is not None:
        return elements
    if numeric:
        raise _NeedsTextError
    if typed.came_typed:
        column = ([], sheet.column_cells(again, request, typed=False, numeric=numeric))
    return _decode(sheet, part, cells.height, column, missing)


def _decode(sheet: ExcelSheet, part: ColumnPart, count: int, column: ColumnCells, missing: Missing) -> Buffer:
    """Return the elements in some cells of a part, decoded one by one."""
    decoded = ArrayColumn([part.next_elements(count)], [column], sheet).decode_checked(missing)
    if decoded.problems or decoded.count_error or decoded.cells_per_element > 1:
        raise NotInPiecesError
    return decoded.buffer
