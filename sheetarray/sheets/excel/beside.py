"""What stands in a workbook beside its arrays, and in which sheets these were written by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from ...columns import Anchor, find_anchors
from ...columns.beside import list_cell_texts, mark_beside
from ...elements import Cell
from ...errors import locating
from ...files import Readable, Source
from ..sheet_choice import SheetChoice
from .checking.workbook import select_searched, select_sheets
from .checksums.stored import StoredChecksums
from .reader.scalars import scalars
from .tables.recorded import find_tables
from .workbook import Workbook
from .worksheet import ExcelSheet

_MOST_CELLS, _MOST_BESIDE = 2**18, 2**15  # the first ones that are looked at: of a sheet without arrays, and with some


def list_writes_excel(source: Readable) -> list[str]:
    """Return the titles of the sheets, if each was written on its own; none if one write filled several.

    Args:
        source: a path or an open file, in whose sheets arrays have the same names.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened, reads_numbers=True) as book:
        writes = [
            [sheet.title or "" for sheet in sheets if find_anchors(sheet)]
            for _, sheets in StoredChecksums(book).split_by_write(select_sheets(book, None))
        ]
    titles = [title for of_write in writes for title in of_write]
    return titles if len(titles) == len(list(filter(None, writes))) > 1 else []


def list_other_cells_excel(source: Readable, *, sheet: SheetChoice = None) -> tuple[dict[str, str], set[str]]:
    """Return the texts of cells that belong to no array, by their addresses, and the titles of sheets without arrays.

    Args:
        source: a path or an open file.
        sheet: as for `read_excel`.
    """
    cells: dict[str, str] = {}
    ordinary: set[str] = set()
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        sheets = select_searched(book, sheet, everything=True)
        recorded = {place.title for place in find_tables(book, sheets)}
        for chosen in sheets:
            if chosen.title in recorded:
                continue
            anchors = find_anchors(chosen)
            ordinary |= set() if anchors else {chosen.title or ""}
            cells |= list_cell_texts(_iter_beside(chosen, anchors), chosen.title)
    return cells, ordinary


def _iter_beside(sheet: ExcelSheet, anchors: list[Anchor]) -> Iterator[tuple[int, int, Cell]]:
    """Yield the rows, columns and values of cells that belong to no array."""
    left = _MOST_BESIDE if anchors else _MOST_CELLS
    with sheet.runs(numeric=False) as runs:
        for run in runs:
            looked_at = run.first(left)
            left -= len(looked_at)
            beside = looked_at.select(mark_beside(anchors, looked_at.rows, looked_at.columns))
            values = scalars(beside, from_1904=sheet.from_1904)
            yield from zip(beside.rows.tolist(), beside.columns.tolist(), values, strict=True)
            if left <= 0:
                return
