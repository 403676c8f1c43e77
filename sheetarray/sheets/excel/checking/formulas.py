"""The findings of `check` about arrays in which elements, or cells of a header, have become formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....columns import ArrayColumn
from ....errors import Finding
from ..reader.formulas import FormulaCells

_HINT = "a formula changes with other cells: copy the cells and paste them as values, or write the array again"


def lint_formulas(name: str, column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
    """Yield one finding where cells of a header are formulas, and one where elements are.

    `formulas`: by the titles of sheets.
    """
    yield from _of_headers(column, formulas)
    count, ends = 0, list[int]()
    for anchor, start, cells in column.spans():
        across, down = anchor.data_cell
        on_sheet = formulas[anchor.title or ""]
        met = on_sheet.find_among(down, across, cells, lying=anchor.orient == "rows") if on_sheet else None
        if met is not None:
            count += met.number
            ends += [start + met.first, start + met.last]
    if not count:
        return
    first, last = (
        f"{column.header.describe_element(name, index // column.cells_per_element)} "
        f"({column.address(index).rpartition('!')[2]})"
        for index in (min(ends), max(ends))
    )
    if count == 1:
        index = column.header.index_at(ends[0] // column.cells_per_element)
        yield Finding("warning", column.address(ends[0]), f"{first} is a formula now", _HINT, index=index)
        return
    total = column.header.capacity * column.cells_per_element
    cells_of = f"all {count}" if count == total else f"{count} of {total}"
    yield Finding("warning", name, f"{cells_of} cells are formulas now, from {first} to {last}", _HINT)


def _of_headers(column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
    """Yield one finding for each header of an array, its name included, in which cells are formulas."""
    for anchor in column.group:
        on_sheet = formulas[anchor.title or ""]
        above = anchor.named + anchor.blanks
        lying, count = anchor.orient == "rows", anchor.start + above
        row, down = anchor.name_cell or (anchor.row, anchor.column)
        met = on_sheet.find_among(row, down, count, lying=lying) if on_sheet else None
        if met is not None:
            place = anchor.address(met.first - above)
            more = f" and {met.number - 1} more of its header are formulas" if met.number > 1 else " is a formula"
            kind = "the name" if anchor.named and not met.first else "a cell of the header"
            yield Finding("warning", place, f"{kind}{more} now, whose value may change", _HINT)
