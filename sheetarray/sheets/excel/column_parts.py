"""The parts of arrays while a workbook is read in pieces: how far each part is, and elements that came too early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...arrays import select
from ...columns import Anchor, Request, find_anchors
from ...columns.layout import find_stops, group_parts
from ...columns.reading import raise_error
from ...dtypes import Buffer
from ...header import Header, NoteFinding, warn_of_finding
from ...spool import NotInPiecesError, PiecedArrays
from .sheet import ExcelSheet

_KEPT = 2**18  # kept elements that are yielded at once


@dataclass
class ColumnPart:
    """A part of an array, in a column of its own.

    Attributes:
        name: of the array.
        anchor: with which the part begins.
        count: the number of its elements.
        stop: the row above which it has to end; None for the end of the sheet.
        done: the number of elements that have been read.
        is_complete: whether its sheet has been read to the end.
        kept: text elements that came before the parts before it were complete.
        spool: the same for other elements.
    """

    name: str
    anchor: Anchor
    count: int
    stop: int | None
    done: int = 0
    is_complete: bool = False
    kept: list[Buffer] = field(default_factory=list)
    spool: PiecedArrays | None = None

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
    """Return the parts of an array; all but the last reach down to the last row of their sheets.

    Raises:
        NotInPiecesError: the parts do not reach down so far, or the array lies in rows.
    """
    header = group[0].header
    if header is None or any(anchor.orient == "rows" for anchor in group):
        raise NotInPiecesError
    counts = [heights[anchor.title] - anchor.row - anchor.start for anchor in group[:-1]]
    counts.append(header.capacity - sum(counts))
    if len(set(counts[:-1])) > 1 or not 0 <= counts[-1] <= max(counts):
        raise NotInPiecesError
    return [ColumnPart(name, anchor, count, stops.get(id(anchor))) for anchor, count in zip(group, counts, strict=True)]


def find_parts(
    sheets: Sequence[ExcelSheet], names: Sequence[str] | None, note: NoteFinding = warn_of_finding
) -> dict[str, list[ColumnPart]]:
    """Return the parts of arrays, by the names of the arrays.

    `note`: called with each finding about a header.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: an array is missing, or lies in rows.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet)]
    wanted = None if names is None else frozenset(names)
    groups = group_parts(sheets, anchors, wanted, raise_error, note)
    if not all(name in groups for name in names or ()):
        raise NotInPiecesError
    stops = find_stops(anchors)
    heights = {sheet.title: sheet.max_rows or 0 for sheet in sheets}
    return {name: _split_parts(name, group, stops, heights) for name, group in select(groups, names).items()}
