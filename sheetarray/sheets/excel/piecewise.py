"""Reads and checks arrays of a workbook piece by piece, with no more than one of them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from ...columns import (
    Anchor,
    ArrayColumn,
    ColumnCells,
    ElementRestorer,
    JudgeArray,
    Request,
    RowChange,
    SheetArrays,
    find_anchors,
)
from ...columns.parts import find_stops, group_parts
from ...columns.pieced_arrays import MOST_BYTES, NotInPiecesError, PiecedArrays
from ...columns.reading import raise_error
from ...dtypes import Array, Buffer
from ...elements import Missing, text_array
from ...errors import Finding, FormatError, locating
from ...files import Readable, Source
from ...linear.buffers import iter_rest, view_of
from ...linear.data_cells import check_missing, may_be_blank
from ...linear.header import Header, NoteFinding
from ...linear.named import select
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import check_composites
from ..workbooks import SheetChoice
from .checking import find_all, open_snapshots, read_book, select_sheets, warn_of_guard
from .reader.cells import CellRun
from .reader.column import ColumnRun
from .sheet import ExcelSheet
from .workbook import Workbook

# The parts of arrays while a workbook is read in pieces: how far each part is, and elements that came too early.

_KEPT = 2**18  # kept elements that are yielded at once


@dataclass
class ColumnPart:
    """A part of an array, in a column of its own."""

    name: str  # of the array
    anchor: Anchor  # with which the part begins
    count: int  # the number of its elements
    stop: int | None  # the row above which it has to end; None for the end of the sheet
    done: int = 0  # the number of elements that have been read
    is_complete: bool = False  # whether its sheet has been read to the end
    kept: list[Buffer] = field(default_factory=list)  # text elements that came before the parts before it were complete
    spool: PiecedArrays | None = None  # the same for other elements

    @property
    def header(self) -> Header:
        """The header of the array."""
        assert self.anchor.header is not None
        return self.anchor.header

    @property
    def request(self) -> Request:
        """The request for the cells that are still to be read."""
        column, row = self.anchor.data_cell
        return Request(column, row + self.done, self.header.dtype, stop=self.stop)

    def keep(self, elements: Buffer) -> None:
        """Keep elements until the parts before are complete: text in memory, all others in a file without a name."""
        if elements.dtype.kind in "OUT":
            self.kept.append(elements)
            return
        if self.spool is None:
            self.spool = PiecedArrays({self.name: (elements.dtype, self.count)})
        self.spool.append(self.name, elements)

    def take(self) -> Iterator[Buffer]:
        """Yield the kept elements, and keep them no longer."""
        yield from self.kept
        if self.spool is not None:
            with self.spool as spool:
                elements = spool.join()[self.name]
                for start in range(0, len(elements), _KEPT):
                    yield elements[start : start + _KEPT].copy()
                    spool.release()
        self.kept, self.spool = [], None

    def next_elements(self, count: int) -> Anchor:
        """Return an anchor for the next `count` elements, as if they were an array of their own."""
        header = Header(self.header.dtype, (count,), (1,), 0, "row-major", count)
        return replace(self.anchor, header=header, start=self.anchor.start + self.done)


def _split_parts(
    name: str, group: Sequence[Anchor], stops: Mapping[int, int], heights: Mapping[str | None, int]
) -> list[ColumnPart]:
    """Return the parts of an array; all but the last reach down to the last row of their sheets."""
    header = group[0].header
    if header is None or any(anchor.orient == "rows" for anchor in group):
        raise NotInPiecesError
    counts = [heights[anchor.title] - anchor.row - anchor.start for anchor in group[:-1]]
    counts.append(header.capacity - sum(counts))
    if len(set(counts[:-1])) > 1 or not 0 <= counts[-1] <= max(counts):
        raise NotInPiecesError
    return [ColumnPart(name, anchor, count, stops.get(id(anchor))) for anchor, count in zip(group, counts, strict=True)]


def _find_parts(
    sheets: Sequence[ExcelSheet], names: Sequence[str] | None, note: NoteFinding = warn_of_finding
) -> dict[str, list[ColumnPart]]:
    """Return the parts of arrays, by the names of the arrays.

    `note`: called with each finding about a header.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: an array is missing, or lies in rows.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet)]
    groups = group_parts(sheets, anchors, None if names is None else frozenset(names), raise_error, note)
    if not all(name in groups for name in names or ()):
        raise NotInPiecesError
    stops = find_stops(anchors)
    heights = {sheet.title: sheet.max_rows or 0 for sheet in sheets}
    return {name: _split_parts(name, group, stops, heights) for name, group in select(groups, names).items()}


# Stores the elements of a workbook's arrays, which come piece by piece, in a file without a name.


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

    def buffer(self, name: str) -> Buffer:
        """Return the elements of an array."""
        buffer = self._buffers[name]
        return buffer if self._restore is None else self._restore.restore(name, buffer, self.column(name))


@contextmanager
def _store_arrays(
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


# Reads arrays of a workbook piece by piece: one pass over each sheet, for all columns that are asked for.
#
# Where an array goes on in other columns, elements that come too early are kept in a file without a name. A
# workbook with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong. If a
# workbook has a guard, all elements are put into such a file, and each array is then compared with its snapshot.

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
                if not (guard and book.guards()):
                    pieces = _iter_arrays(sheets, _find_parts(sheets, list(done)), missing)
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
    snapshots = open_snapshots(book)
    with _store_arrays(sheets, _find_parts(sheets, None), missing, snapshots) as (stored, spool):
        for name in names:
            yield name, stored.buffer(name)
            spool.release()
    warn_of_guard(book, snapshots)


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


# Checks a large workbook with no more than one of its arrays in memory.
#
# All elements are put into a file without a name, from which each array is mapped and compared by itself. A workbook
# with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong.

LARGE_WORKBOOK = 2**27  # bytes of inflated worksheets; in a smaller workbook all arrays are read together


def find_in_large(book: Workbook, sheet: SheetChoice, missing: Missing, *, guard: bool) -> list[Finding] | None:
    """Return every finding in a workbook; None if it is small, or has to be read at once.

    `sheet`, `missing` and `guard`: those of `check_excel`.
    """
    if book.sheet_bytes < LARGE_WORKBOOK:
        return None
    with Workbook(book.source, before=book) as again:
        try:
            return list(find_all(again, sheet, missing, guard=guard, check=_check_in_pieces))
        except (FormatError, NotInPiecesError):
            return None


def _check_in_pieces(
    sheets: Sequence[ExcelSheet],
    *,
    missing: Missing,
    judge: JudgeArray,
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, as `arrays_of_sheets.check_sheets` does.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: a cell or the number of cells is wrong, or the sheets hold no array.
    """
    findings: list[Finding] = []
    parts = _find_parts(sheets, None, findings.append)
    if not parts:
        raise NotInPiecesError
    with _store_arrays(sheets, parts, missing, restore) as (stored, spool):
        yield from findings
        for name in parts:
            judged = judge(name, stored.buffer(name), stored.column(name))
            yield from (finding for finding in judged if not isinstance(finding, RowChange))
            spool.release()
        for one in sheets:
            yield from one.notes

        def read(names: Sequence[str] | None) -> dict[str, Array]:
            wanted = parts if names is None else names
            return {name: view_of(parts[name][0].header, stored.buffer(name)) for name in wanted}

        yield from check_composites(read, SheetArrays(sheets).scan)
