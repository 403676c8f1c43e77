"""The `ArrayInfo` of each array, made from its header alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..linear.header import Header
from .sheet import ArrayInfo, DataCells, Sheet, Zone
from .words import Anchor


class Infos(Mapping[str, ArrayInfo]):
    """The infos of arrays by their names, made when they are asked for."""

    def __init__(
        self, sheets: Sequence[Sheet], groups: Mapping[str, list[Anchor]], resized: Mapping[str, Header]
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._groups, self._resized = groups, resized

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __contains__(self, name: object) -> bool:
        return name in self._groups

    def __getitem__(self, name: str) -> ArrayInfo:
        group = self._groups[name]
        header = self._resized.get(name, group[0].header)
        assert header is not None
        above = sum([anchor.start for anchor in group])
        data = _find_data_cells(self._sheets[group[0].title], group)
        return ArrayInfo.from_header(header, group[0].address(0), above, parts=len(group), data=data)


def _find_data_cells(sheet: Sheet, group: Sequence[Anchor]) -> tuple[DataCells, ...]:
    """Return the ranges of an array's data cells, as far as its headers and its first data cell tell.

    Parts that do not reach down to the last row of their container are as long as people have left them, which only
    reading tells; so does whether a complex array has one cell for each element or two, unless the first is text.
    """
    first, header = group[0], group[0].header
    assert header is not None
    if header.dtype.kind == "complex" and header.capacity:
        column, row = first.data_cell
        cells = sheet.zones([Zone(row, column, 1, first.orient)])[0]
        if not cells or not str(cells[0]).strip().endswith(("i", "j")):
            return ()
    height = 0
    if len(group) > 1:
        heights = {(sheet.max_rows or 0) - anchor.row - anchor.start for anchor in group[:-1]}
        height = heights.pop()
        if heights or not (len(group) - 1) * height < header.capacity <= len(group) * height:
            return ()
    cells = []
    for number, anchor in enumerate(group):
        column, row = anchor.data_cell
        cells.append(DataCells(anchor.title, row, column, anchor.orient, number * height))
    return tuple(cells)
