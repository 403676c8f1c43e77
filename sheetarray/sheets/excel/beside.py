"""What stands in a workbook beside its arrays, and in which sheets these were written by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...columns import Anchor, find_anchors
from ...columns.beside import OtherCells, list_cell_texts, mark_beside
from ...elements import Cell
from ...errors import locating
from ...files import Readable, Source
from ..sheet_choice import SheetChoice
from .checking.workbook import limit_search, select_sheets
from .reader.cells import CellRun, TextsOf
from .reader.scalars import scalars
from .tables.recorded import find_tables
from .workbook import Workbook
from .worksheet import ExcelSheet

_CAPTIONS = 3  # the columns of a view in which captions and choices stand
_MOST_CELLS, _MOST_BESIDE = 2**18, 2**15  # the first ones that are looked at: of a sheet without arrays, and with some


def list_writes_excel(source: Readable) -> list[str]:
    """Return the titles of the sheets, if each was written on its own; none if one write filled several.

    Args:
        source: a path or an open file, in whose sheets arrays have the same names.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened, reads_numbers=True) as book:
        writes = [
            [sheet.title or "" for sheet in sheets if find_anchors(sheet)]
            for _, sheets in book.checksums.split_by_write(select_sheets(book, None))
        ]
    titles = [title for of_write in writes for title in of_write]
    return titles if len(titles) == len(list(filter(None, writes))) > 1 else []


def list_other_cells_excel(source: Readable, *, sheet: SheetChoice = None) -> OtherCells:
    """Return the texts of cells that belong to no array, by their addresses, and the titles of sheets without arrays.

    Of a view, only notes that people typed into it are such cells.

    Args:
        source: a path or an open file.
        sheet: as for `read_excel`.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        return list_in_workbook(book, limit_search(book, select_sheets(book, sheet), everything=True))


def list_in_workbook(book: Workbook, sheets: Sequence[ExcelSheet]) -> OtherCells:
    """Return the same for some sheets of an open workbook."""
    cells: dict[str, str] = {}
    ordinary: set[str] = set()
    views = book.views
    left_out = {place.title for place in find_tables(book, sheets)} | views.editable
    for chosen in sheets:
        if chosen.title in left_out:
            continue
        if chosen.title in views.shown:
            cells |= list_cell_texts(_iter_notes(chosen), chosen.title)
            continue
        anchors = find_anchors(chosen)
        ordinary |= set() if anchors else {chosen.title or ""}
        cells |= list_cell_texts(_iter_beside(chosen, anchors), chosen.title)
    return cells, ordinary


def _iter_beside(sheet: ExcelSheet, anchors: list[Anchor]) -> Iterator[tuple[int, int, Cell]]:
    """Yield the rows, columns and values of cells that belong to no array."""
    runs: Iterable[CellRun] = _first_runs(sheet, _MOST_CELLS)
    if anchors:  # mostly there are none, and texts of numbers take long
        of_arrays = _first_runs(sheet, _MOST_BESIDE, "others")
        rows = {row for run in of_arrays for row in run.rows[mark_beside(anchors, run.rows, run.columns)].tolist()}
        runs = [sheet.cells_of_rows([(row, row + 1) for row in rows])] if rows else []
    for run in runs:
        beside = run.select(mark_beside(anchors, run.rows, run.columns))
        yield from zip(beside.rows.tolist(), beside.columns.tolist(), _scalars(sheet, beside), strict=True)


def _iter_notes(sheet: ExcelSheet) -> Iterator[tuple[int, int, Cell]]:
    """Yield the rows, columns and values of the cells that people typed into a view.

    A view consists of formulas, of captions and choices in its first columns, and of numbers. All other text is theirs,
    and so is whatever stands below the formulas, or right of them and of the hidden column of numbers beside them.
    """
    cells, bottom, right = list[tuple[int, int, Cell]](), 0, 0
    for run in _first_runs(sheet, _MOST_CELLS):
        if run.formulas is not None and run.formulas.any():
            bottom = max(bottom, int(run.rows[run.formulas].max()) + 1)
            right = max(right, int(run.columns[run.formulas].max()) + 2)
            run = run.select(~run.formulas)
        cells += zip(run.rows.tolist(), run.columns.tolist(), _scalars(sheet, run), strict=True)
    for row, column, cell in cells:
        if row >= bottom or column >= right or (isinstance(cell, str) and column >= _CAPTIONS):
            yield row, column, cell


def _first_runs(sheet: ExcelSheet, most: int, texts: TextsOf = "all") -> Iterator[CellRun]:
    with sheet.runs(texts) as runs:
        for run in runs:
            yield run.first(most)
            most -= len(run)
            if most <= 0:
                return


def _scalars(sheet: ExcelSheet, run: CellRun) -> list[Cell]:
    return scalars(run, from_1904=sheet.from_1904)
