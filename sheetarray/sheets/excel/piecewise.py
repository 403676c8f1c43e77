"""Reads arrays of a workbook piece by piece, so that no array has to be in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...arrays import select
from ...columns import Anchor, ArrayColumn, ColumnCells, Request, find_anchors
from ...columns.reading import find_stops, group_parts, raise_error
from ...dtypes import Buffer
from ...elements import Missing
from ...errors import FormatError, locating
from ...files import Readable, Source
from ...header import Header, warn_of_finding
from ...linear import check_missing, iter_rest, may_be_blank
from ...spool import NotInPiecesError, PiecedArrays
from .checking import read_book, select_sheets
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


def _find_parts(sheets: Sequence[ExcelSheet], names: Sequence[str]) -> dict[str, list[ColumnPart]]:
    """Return the parts of arrays, by the names of the arrays.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: an array is missing, or lies in rows.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet)]
    groups = group_parts(sheets, anchors, frozenset(names), raise_error, warn_of_finding)
    if not all(name in groups for name in names):
        raise NotInPiecesError
    stops = find_stops(anchors)
    heights = {sheet.title: sheet.max_rows or 0 for sheet in sheets}
    return {name: _split_parts(name, group, stops, heights) for name, group in select(groups, names).items()}


# Reads arrays of a workbook piece by piece: one pass over each sheet, for all columns that are asked for.
#
# Where an array goes on in other columns, elements that come too early are kept in a file without a name. A
# workbook with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong. So is one
# with a guard, which is compared with whole arrays.

_CELLS = 2**18  # cells that are sorted into columns at once


class _NeedsTextError(Exception):
    """A column of numbers holds text, so that the sheet has to be read as text."""


def iter_elements_excel(
    source: Readable,
    names: Sequence[str],
    *,
    sheet: str | None = None,
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
                if guard and book.guards():  # which is compared with whole arrays
                    raise NotInPiecesError
                sheets = select_sheets(book, sheet)
                for name, elements in _iter_arrays(sheets, _find_parts(sheets, list(done)), missing):
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
    if not typed.is_text:
        column = ([], sheet.column_cells(again, request, typed=False, numeric=numeric))
    return _decode(sheet, part, cells.height, column, missing)


def _decode(sheet: ExcelSheet, part: ColumnPart, count: int, column: ColumnCells, missing: Missing) -> Buffer:
    """Return the elements in some cells of a part, decoded one by one."""
    decoded = ArrayColumn([part.next_elements(count)], [column], sheet).decode_checked(missing)
    if decoded.problems or decoded.count_error or decoded.cells_per_element > 1:
        raise NotInPiecesError
    return decoded.buffer
