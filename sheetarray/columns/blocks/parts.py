"""The parts of arrays while sheets are read block by block: how far each is, and elements that came too early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from ...dtypes import Buffer
from ...errors import Finding
from ...linear.header import Header, NoteFinding
from ...linear.named import select
from ..anchors import find_anchors
from ..column import ArrayColumn
from ..parts import find_stops, group_parts, raise_error
from ..pieced_arrays import NotInPiecesError, PiecedArrays
from ..sheet import Request, Sheet
from ..words import Anchor

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
    waiting: list[Buffer] = field(default_factory=list)  # text elements that came before earlier parts were complete
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
            self.waiting.append(elements)
            return
        if self.spool is None:
            self.spool = PiecedArrays({self.name: (elements.dtype, self.count)})
        self.spool.append(self.name, elements)

    def take(self) -> Iterator[Buffer]:
        """Yield the kept elements, and keep them no longer."""
        yield from self.waiting
        if self.spool is not None:
            with self.spool as spool:
                elements = spool.join()[self.name]
                for start in range(0, len(elements), _KEPT):
                    yield elements[start : start + _KEPT].copy()
                    spool.release()
        self.waiting, self.spool = [], None

    def next_elements(self, count: int) -> Anchor:
        """Return an anchor for the next `count` elements, as if they were an array of their own."""
        header = Header(self.header.dtype, (count,), (1,), 0, "row-major", count)
        return replace(self.anchor, header=header, start=self.anchor.start + self.done)


def _split_parts(
    name: str, group: Sequence[Anchor], stops: Mapping[int, int], heights: Mapping[str | None, int]
) -> list[ColumnPart]:
    """Return the parts of an array, one for each column. All but the last end in the last row of their sheet."""
    header = group[0].header
    if header is None or any(anchor.orient == "rows" for anchor in group):
        raise NotInPiecesError
    counts = [heights[anchor.title] - anchor.row - anchor.start for anchor in group[:-1]]
    counts.append(header.capacity - sum(counts))
    if len(set(counts[:-1])) > 1 or not 0 <= counts[-1] <= max(counts):
        raise NotInPiecesError
    return [ColumnPart(name, anchor, count, stops.get(id(anchor))) for anchor, count in zip(group, counts, strict=True)]


def _refuse(_: Finding) -> None:
    raise NotInPiecesError


def find_parts(
    sheets: Sequence[Sheet], names: Sequence[str] | None, note: NoteFinding = _refuse
) -> dict[str, list[ColumnPart]]:
    """Return the parts of arrays, by the names of the arrays.

    `note`: called with each finding about a header.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: an array is missing, or lies in rows; or there is a finding, and nobody takes note.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet)]
    groups = group_parts(sheets, anchors, None if names is None else frozenset(names), raise_error, note)
    if not all(name in groups for name in names or ()):
        raise NotInPiecesError
    return split_groups(sheets, select(groups, names), find_stops(anchors))


def split_groups(
    sheets: Sequence[Sheet], groups: Mapping[str, list[Anchor]], stops: Mapping[int, int]
) -> dict[str, list[ColumnPart]]:
    """Return the parts of arrays, by the names of the arrays.

    `groups`: the anchors of each array. `stops`: as `find_stops` returns them.

    Raises:
        NotInPiecesError: an array lies in rows, or its parts are not those that its header says.
    """
    heights = {sheet.title: sheet.max_rows or 0 for sheet in sheets}
    return {name: _split_parts(name, group, stops, heights) for name, group in groups.items()}


def column_of_parts(sheets: Sequence[Sheet], parts: Sequence[ColumnPart]) -> ArrayColumn:
    """Return the cells of an array without their values, for the addresses of its elements."""
    sheet = next(sheet for sheet in sheets if sheet.title == parts[0].anchor.title)
    column = ArrayColumn([part.anchor for part in parts], [([], []) for _ in parts], sheet)
    column.starts = [0, *accumulate(part.count for part in parts[:-1])]
    return column
