"""Arrays over one column or several, while their cells come: how far each part is, and what came before its turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...arrays import select
from ...columns import Anchor, Request, find_anchors
from ...columns.parts import find_stops, group_parts
from ...columns.reading import raise_error
from ...dtypes import Buffer
from ...header import Header, NoteFinding, warn_of_finding
from ...spool import NotInPiecesError, PiecedArrays
from .sheet import ExcelSheet

_KEPT = 2**18  # elements that are given at once of what was kept


@dataclass
class ColumnPart:
    """A part of an array, in a column of its own.

    Attributes:
        name: of the array.
        anchor: where the part begins.
        count: how many elements it has.
        stop: the row above which it has to end; None for the sheet's end.
        done: how many elements have been read.
        is_complete: whether its sheet has been gone through.
        kept: elements that came before those of the part before it.
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
        """Return that of the array."""
        assert self.anchor.header is not None
        return self.anchor.header

    @property
    def request(self) -> Request:
        """Return the cells that are still to be read."""
        column, row = self.anchor.data_cell
        return Request(column, row + self.done, self.header.dtype, stop=self.stop)

    def keep(self, elements: Buffer) -> None:
        """Keep elements until their turn comes; text stays in memory."""
        if elements.dtype.kind in "OUT":
            self.kept.append(elements)
            return
        if self.spool is None:
            self.spool = PiecedArrays({self.name: (elements.dtype, self.count)})
        self.spool.append(self.name, elements)

    def take(self) -> Iterator[Buffer]:
        """Yield what was kept."""
        yield from self.kept
        if self.spool is not None:
            with self.spool as spool:
                elements = spool.join()[self.name]
                for start in range(0, len(elements), _KEPT):
                    yield elements[start : start + _KEPT].copy()
                    spool.release()
        self.kept, self.spool = [], None

    def next_elements(self, count: int) -> Anchor:
        """Return the next elements of the part as an array of their own."""
        header = Header(self.header.dtype, (count,), (1,), 0, "row-major", count)
        return replace(self.anchor, header=header, start=self.anchor.start + self.done)


def _split_parts(
    name: str, group: Sequence[Anchor], stops: Mapping[int, int], heights: Mapping[str | None, int]
) -> list[ColumnPart]:
    """Return the parts of an array; all but the last reach down to the last row of their sheets.

    Raises:
        NotInPiecesError: they do not, or lie in rows.
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
    """Return the parts of arrays by name, of all that there are for None.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: no such array, or one that lies in rows.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet)]
    wanted = None if names is None else frozenset(names)
    groups = group_parts(sheets, anchors, wanted, raise_error, note)
    if not all(name in groups for name in names or ()):
        raise NotInPiecesError
    stops = find_stops(anchors)
    heights = {sheet.title: sheet.max_rows or 0 for sheet in sheets}
    return {name: _split_parts(name, group, stops, heights) for name, group in select(groups, names).items()}
