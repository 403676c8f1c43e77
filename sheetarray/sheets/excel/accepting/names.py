"""The cells to which the defined names of arrays should refer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ....columns import (
    ResizedArray,
    column_letters,
)
from ...defined_names import ArrayArea, build_references, make_defined_names, parse_titles
from ..workbook_part import WorkbookPart

_CORNER = re.compile(r"!\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?[A-Z]{1,3}\$?([0-9]{1,7}))?")


class ArrayNames:
    """The cells to which the defined names of arrays should refer.

    `record`: of the workbook, which knows the names that were made for its sheets.
    """

    def __init__(self, arrays: Mapping[str, ResizedArray], record: Mapping[str, Any]) -> None:
        places = _places_of(arrays)
        self._areas = build_references(places)
        self._by_name = {name.casefold(): self._areas[area] for area, name in make_defined_names(self._areas).items()}
        self._by_column: dict[tuple[str, str], list[tuple[int, int, str]]] = {}  # first and last row, and reference
        for array, title, cells in places:
            if (text := self._areas.get(ArrayArea(array, title))) and (corner := _CORNER.match(f"!{cells}")):
                rows = int(corner[2]), int(corner[3] or corner[2]), text
                self._by_column.setdefault((title.casefold(), corner[1]), []).append(rows)
        by_sheet = [sheet.get("names") for sheet in record["sheets"].values()]
        names = [name for listed in by_sheet if isinstance(listed, list) for name in listed if isinstance(name, str)]
        self._known = {name.casefold() for name in names}

    def find_cells(self, name: str, text: str) -> str | None:
        """Return the cells to which a defined name should refer; None if it is not an array's name.

        `text`: to which it refers now.
        """
        folded, titles, corner = name.casefold(), parse_titles(text), _CORNER.search(text)
        if not titles or corner is None or (self._known and folded not in self._known):
            return None
        if (true := self._by_name.get(folded)) is not None:
            same = {title.casefold() for title in parse_titles(true)} == {title.casefold() for title in titles}
            return true if same or folded in self._known else None
        first, last = int(corner[2]), int(corner[3] or corner[2])
        overlaps = [
            (min(last, end) - max(first, begin), reference)
            for begin, end, reference in self._by_column.get((titles[0].casefold(), corner[1]), ())
            if folded in self._known and begin <= last and first <= end
        ]
        return max(overlaps)[1] if overlaps else None

    def by_array(self, book: WorkbookPart) -> Callable[[str], str]:
        """Return a function from an array to the defined name of its cells; "" for an array without a name."""
        array_by_text = {text: area.array for area, text in self._areas.items()}
        names: dict[str, str] = {}
        for (sheet, name), text in book.name_references().items():
            true = self.find_cells(name, text) or text
            if sheet is None and true in array_by_text:
                names.setdefault(array_by_text[true], name)
        return lambda array: names.get(array, "")


def _places_of(arrays: Mapping[str, ResizedArray]) -> list[tuple[str, str, str]]:
    """Return the array, the sheet and the range of every column (or row) that holds elements."""
    places = []
    for name, array in arrays.items():
        for anchor, _, count in array.column.spans() if array.column.header.capacity else ():
            column, row = anchor.data_cell
            down, across = (count - 1, 0) if anchor.orient == "columns" else (0, count - 1)
            ends = (row, column), (row + down, column + across)
            places.append((name, anchor.title or "", ":".join(f"${column_letters(c)}${r + 1}" for r, c in ends)))
    return places
