"""Reads arrays of a workbook piece by piece: one pass over each sheet, for all columns that are asked for.

Where an array goes on in other columns, elements that come too early are kept in a file without a name. A workbook with
a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong. If a workbook has a guard,
a first pass compares the checksums of its arrays. Where they differ, all elements are put into such a file, and each
array is then compared with its snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...cells import engine_dtype
from ...columns import ArrayColumn, ColumnCells, CompareFingerprint, Request
from ...data import may_be_blank
from ...dtypes import Buffer
from ...elements import Missing, check_missing
from ...errors import FormatError, locating
from ...files import Readable, Source
from ...header import warn_of_finding
from ...linear import iter_rest
from ...spool import NotInPiecesError
from .checking import open_snapshots, select_sheets, warn_of_guard
from .column_parts import ColumnPart, find_parts
from .reader.cells import CellRun
from .reader.column import ColumnRun
from .reader.column_runs import gather_columns
from .sheet import ExcelSheet, part_of
from .stored import store_arrays
from .stored_fingerprints import StoredFingerprints
from .whole import read_book
from .workbook import Workbook

_CELLS = 2**18  # cells that are sorted into columns at once


class _NeedsTextError(Exception):
    """A column of numbers holds text, so that the sheet has to be read as text."""


class _NaNError(Exception):
    """An element is NaN: all NaNs have one checksum, so that only a guard knows its bits."""


def iter_elements_excel(
    source: Readable,
    names: Sequence[str],
    *,
    sheet: str | None = None,
    missing: Missing = "error",
    guard: bool = True,
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer; those of one array in their order.

    Args:
        source: a path or an open file.
        names: of the arrays.
        sheet: only this sheet is looked at; None for all.
        missing: as for `read_excel`.
        guard: as for `read_excel`.

    Raises:
        FormatError: as `read_excel`, when the first cell that is wrong is reached.
        NotFoundError: no array of a name asked for, or no such sheet.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .adapter import write_excel
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
                pieces = iter_arrays(sheets, find_parts(sheets, list(done)), missing)
                if guard and book.guards() and not _stand_as_written(opened, sheets, list(done), missing):
                    if sheet is not None:  # arrays of all sheets tell what programs have done
                        raise NotInPiecesError
                    pieces = _iter_restored(book, sheets, list(done), missing)
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


def _stand_as_written(source: Source, sheets: Sequence[ExcelSheet], names: Sequence[str], missing: Missing) -> bool:
    """Return whether the arrays of some names have the elements that they were written with, by their checksums.

    Raises:
        FormatError: a sheet is damaged.
        NotInPiecesError: the arrays have to be read at once.
    """
    arrays = find_parts(sheets, names, lambda _: None)
    anchors = {name: group[0].anchor for name, group in arrays.items()}
    try:
        return StoredFingerprints(source).remember(anchors, _refuse_nan(iter_arrays(sheets, arrays, missing)))
    except _NaNError:
        return False


def _iter_restored(
    book: Workbook, sheets: Sequence[ExcelSheet], names: Sequence[str], missing: Missing
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with all of its elements, with the bits that their guard has kept.

    Raises:
        FormatError: a sheet is damaged.
        NotInPiecesError: the arrays have to be read at once.
    """
    parts = find_parts(sheets, None)

    def survey(judge: CompareFingerprint) -> None:
        for name in written:
            for _ in judge(name, written.buffer(name), written.column(name)):
                pass

    snapshots = open_snapshots(book, survey=survey)
    with store_arrays(sheets, parts, iter_arrays(sheets, parts, missing)) as (written, spool):
        for name in names:
            yield name, snapshots.restore(name, written.buffer(name), written.column(name))
            spool.release()
    warn_of_guard(book, snapshots)


def _refuse_nan(pieces: Iterable[tuple[str, Buffer]]) -> Iterator[tuple[str, Buffer]]:
    for name, elements in pieces:
        if elements.dtype.kind in "fc" and np.isnan(elements).any():
            raise _NaNError
        yield name, elements


def iter_arrays(
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
    """Yield parts, each with its next elements, until all of them are complete.

    Raises:
        FormatError: the sheet is damaged.
        NotInPiecesError: a cell is wrong, or the number of cells.
    """
    import polars as pl

    if not parts:
        return
    textual = any(engine_dtype(part.header.dtype) == pl.String for part in parts)
    numeric = not textual and not (sheet.followed is not None and sheet.followed.are_wanted)
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
    firsts: dict[int, int] = {}
    for part in parts:
        request = part.request
        firsts[request.column] = min(firsts.get(request.column, request.row), request.row)
    requests = [Request(column, row, parts[0].header.dtype) for column, row in firsts.items()]
    columns = dict(zip(firsts, gather_columns(runs, requests), strict=True))
    wholes = {
        column: sheet.whole_column(gathering, column, firsts[column])
        for column, gathering in columns.items()
        if len(gathering)
    }
    for part in parts:
        request = part.request
        whole = wholes.get(request.column)
        cells = None if whole is None else part_of(whole, request, firsts[request.column])
        if cells is None or not len(cells):
            continue
        if part.done + cells.height > part.count:
            raise NotInPiecesError
        elements = _decode_run(sheet, part, cells, missing, numeric=numeric)
        part.done += len(elements)
        yield part, elements


def _decode_run(sheet: ExcelSheet, part: ColumnPart, cells: ColumnRun, missing: Missing, *, numeric: bool) -> Buffer:
    """Return the elements in some cells of a part, decoded in bulk if possible, otherwise one by one."""
    import polars as pl

    request = part.request
    again = replace(cells, values=cells.values.clone())  # whoever looks at cells one by one puts its texts among them
    how: dict[str, Any] = {"text": engine_dtype(request.dtype) == pl.String, "numeric": numeric}
    column: ColumnCells = ([], sheet.column_cells(cells, request, typed=True, **how))
    if not part.done and request.dtype.kind == "complex" and not str(column[1][0]).strip().endswith(("i", "j")):
        raise NotInPiecesError  # it may have two cells for each element
    typed = ArrayColumn([part.next_elements(cells.height)], [column], sheet)
    elements = typed.decode_typed(missing)
    if elements is not None:
        return elements
    if numeric:
        raise _NeedsTextError
    if not typed.is_text:
        column = ([], sheet.column_cells(again, request, typed=False, **how))
    return _decode(sheet, part, cells.height, column, missing)


def _decode(sheet: ExcelSheet, part: ColumnPart, count: int, column: ColumnCells, missing: Missing) -> Buffer:
    """Return the elements in some cells of a part, decoded one by one.

    Raises:
        NotInPiecesError: a cell is wrong.
    """
    decoded = ArrayColumn([part.next_elements(count)], [column], sheet).decode_checked(missing)
    if decoded.problems or decoded.count_error or decoded.cells_per_element > 1:
        raise NotInPiecesError
    return decoded.buffer
