"""Requests that put cells elsewhere: copied, or cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import Json, invalid, unsupported_error
from ..formulas import Evaluator
from ..formulas.references import CellReference, rewrite, translate
from ..grid import Formula, GridCell
from ..moves import follow_in_formulas, relocate, translate_conditions
from ..ranges import GridArea, Span
from ..spreadsheet import ServedSheet, Spreadsheet
from .names import find_area

_KINDS = {
    "PASTE_NORMAL",
    "PASTE_VALUES",
    "PASTE_FORMAT",
    "PASTE_NO_BORDERS",
    "PASTE_FORMULA",
    "PASTE_DATA_VALIDATION",
    "PASTE_CONDITIONAL_FORMATTING",
}
# The marks that a kind of paste brings, None for all; kinds that are not listed bring none
_KEPT = {
    "PASTE_NORMAL": None,
    "PASTE_NO_BORDERS": None,
    "PASTE_FORMAT": {"userEnteredFormat", "textFormatRuns"},
    "PASTE_DATA_VALIDATION": {"dataValidation"},
}


def copy_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`copyPaste`: copy values, formats or both.

    Where the height or width of the destination is a multiple of the source's, the source is repeated to fill it.
    """
    source_sheet, source = find_area(spreadsheet, request.get("source"))
    sheet, wanted = find_area(spreadsheet, request.get("destination"))
    kind = _kind(request)
    if not source.height or not source.width:
        raise invalid("There is nothing to copy: the source is empty.")
    block = CopiedCells.from_area(spreadsheet, source_sheet, source, kind)
    if request.get("pasteOrientation") == "TRANSPOSE":
        block = block.transpose()
    if kind == "PASTE_CONDITIONAL_FORMATTING":
        _paste_rules(source_sheet, source, sheet, wanted)
        return
    height, width = block.height, block.width
    down = wanted.height // height if wanted.height % height == 0 else 1
    across = wanted.width // width if wanted.width % width == 0 else 1
    for one in range(max(1, down)):
        for other in range(max(1, across)):
            block.paste(sheet, wanted.top + one * height, wanted.left + other * width)


def _paste_rules(source_sheet: ServedSheet, source: GridArea, sheet: ServedSheet, wanted: GridArea) -> None:
    """Give the destination, of at least the size of the source, the conditional formats of the source."""
    place = Span(wanted.top, max(wanted.bottom, wanted.top + source.height), wanted.left, None)
    place = replace(place, right=max(wanted.right, wanted.left + source.width))
    for rule in list(source_sheet.overlays.get("conditionalFormats", [])):
        areas = [Span.from_json(held).on(source_sheet.grid.rows, source_sheet.grid.columns) for held in rule["ranges"]]
        if not any(source.meets(area) for area in areas):
            continue
        if sheet is source_sheet:
            rule["ranges"] = [*rule["ranges"], place.json(sheet.id)]
        else:
            down, right = wanted.top - areas[0].top, wanted.left - areas[0].left
            moved = translate_conditions(rule, down, right) | {"ranges": [place.json(sheet.id)]}
            sheet.overlays.setdefault("conditionalFormats", []).append(moved)


def cut_paste(spreadsheet: Spreadsheet, request: Json) -> None:
    """`cutPaste`: move cells; the source is blank afterwards, and references to it are to the destination."""
    source_sheet, source = find_area(spreadsheet, request.get("source"))
    kind = _kind(request)
    sheet, row, column = find_coordinate(spreadsheet, request.get("destination"))
    block = CopiedCells.from_area(spreadsheet, source_sheet, source, kind)
    if block.values is not None:
        source_sheet.grid.clear(source)
        if sheet is not source_sheet:
            block.stay_with(source_sheet)
    if block.marks is not None:
        _clear_marks(source_sheet, source, _KEPT.get(kind))
    block.paste(sheet, row, column, moved=True)
    if kind != "PASTE_NORMAL":
        return
    change = relocate(source, row - source.top, column - source.left)
    follow_in_formulas(spreadsheet, source_sheet, change, sheet)
    for named in spreadsheet.named.values():
        if named.sheet == source_sheet.id and named.span is not None and (span := change(named.span)) is not named.span:
            named.span, named.sheet = span, sheet.id


def find_coordinate(spreadsheet: Spreadsheet, grid_coordinate: Json | None) -> tuple[ServedSheet, int, int]:
    """Return the sheet, the row and the column of a GridCoordinate."""
    position = grid_coordinate or {}
    sheet = spreadsheet.grid_range({"sheetId": position.get("sheetId")})[0]
    row, column = position.get("rowIndex") or 0, position.get("columnIndex") or 0
    for word, place, size in (("row", row, sheet.grid.rows), ("column", column, sheet.grid.columns)):
        if not 0 <= place < size:
            raise invalid(f"GridCoordinate.{word}Index[{place}] is after last {word} in grid[{size - 1}]")
    return sheet, row, column


def _kind(request: Json) -> str:
    kind = str(request.get("pasteType") or "PASTE_NORMAL")
    if kind not in _KINDS:
        raise unsupported_error(f"The paste type {kind}")
    return kind


def _clear_marks(sheet: ServedSheet, area: GridArea, names: set[str] | None) -> None:
    """Take marks of these names away from the cells of an area; all marks if `names` is None."""
    for column in range(area.left, area.right):
        sheet.grid.marks(column).change(area.top, area.bottom, lambda mark: _without(mark, names))


def _without(mark: Json | None, names: set[str] | None) -> Json | None:
    """Return the marks of a cell without those of some names; nothing if `names` is None."""
    return {name: part for name, part in (mark or {}).items() if names is not None and name not in names} or None


class CopiedCells:
    """A block of cells as it was when it was copied: its columns, and the marks of their cells.

    Attributes:
        area: where it was copied.
        values: the cells; None where they are not pasted.
        marks: formats, notes and validation; None where they are not pasted.
        names: the names of the marks that are pasted; None for all.
        height: rows of the block, after it was transposed.
        width: columns of the block, after it was transposed.
    """

    def __init__(
        self,
        area: GridArea,
        values: list[list[GridCell]] | None,
        marks: list[list[Json | None]] | None,
        names: set[str] | None,
        *,
        transposed: bool = False,
    ) -> None:
        self.area, self.values, self.marks, self.names = area, values, marks, names
        self.height, self.width = (area.width, area.height) if transposed else (area.height, area.width)
        self._transposed = transposed

    @classmethod
    def from_area(cls, spreadsheet: Spreadsheet, sheet: ServedSheet, area: GridArea, kind: str) -> CopiedCells:
        """Return the values and marks of an area that a kind of paste takes along."""
        values: list[list[GridCell]] | None = None
        if kind in ("PASTE_NORMAL", "PASTE_NO_BORDERS", "PASTE_FORMULA", "PASTE_VALUES"):
            values = [pad(column, area.height) for column in sheet.grid.block(area)]
            if kind == "PASTE_VALUES":
                evaluator = Evaluator(spreadsheet)
                values = [pad(column, area.height) for column in evaluator.grid(sheet).block(area)]
                values = [
                    [evaluator.value(sheet, row, index, cell) for row, cell in enumerate(column, area.top)]
                    for index, column in enumerate(values, area.left)
                ]
        if kind not in _KEPT:
            return cls(area, values, None, None)
        marks = [_marks_of(sheet, column, area) for column in range(area.left, area.right)]
        if kind == "PASTE_NO_BORDERS":
            marks = [[_borderless(mark) for mark in column] for column in marks]
        return cls(area, values, marks, _KEPT[kind])

    def transpose(self) -> CopiedCells:
        """Return the block with its rows as columns."""
        values = None if self.values is None else [list(line) for line in zip(*self.values, strict=True)]
        marks = None if self.marks is None else [list(line) for line in zip(*self.marks, strict=True)]
        return CopiedCells(self.area, values, marks, self.names, transposed=True)

    def stay_with(self, sheet: ServedSheet) -> None:
        """Put the title of a sheet before the references of the formulas that have none.

        So formulas that are cut, and go to another sheet, still refer to the same cells.
        """

        def stay(reference: CellReference) -> CellReference:
            return reference if reference.title is not None else replace(reference, title=sheet.title)

        self.values = [
            [Formula(rewrite(cell.text, stay)) if isinstance(cell, Formula) else cell for cell in column]
            for column in self.values or []
        ]

    def paste(self, sheet: ServedSheet, top: int, left: int, *, moved: bool = False) -> None:
        """Write the block, all of which must lie on the grid, with its first cell at a row and a column.

        Formulas that are copied refer to other cells there; those that are cut (`moved`) are left as they are.
        """
        grid = sheet.grid
        if top + self.height > grid.rows or left + self.width > grid.columns:
            raise invalid(f"The pasted cells exceed grid limits. Max rows: {grid.rows}, max columns: {grid.columns}")
        for index in range(self.width):
            if self.values is not None:
                column = self.values[index]
                if not moved:
                    column = [
                        Formula(translate(cell.text, *self._distance(row, index, top, left)))
                        if type(cell) is Formula
                        else cell
                        for row, cell in enumerate(column)
                    ]
                grid.write(left + index, top, column)
            if self.marks is not None:
                self._paste_marks(sheet, self.marks[index], top, left, index, moved=moved)

    def _distance(self, row: int, column: int, top: int, left: int) -> tuple[int, int]:
        """Return the distance, down and to the right, from a cell's old place to its new one."""
        old_row, old_column = (column, row) if self._transposed else (row, column)
        return top + row - self.area.top - old_row, left + column - self.area.left - old_column

    def _paste_marks(
        self, sheet: ServedSheet, marks: list[Json | None], top: int, left: int, index: int, *, moved: bool
    ) -> None:
        """Give one column of the destination, the `index`-th of the block, the marks that are pasted."""
        runs = sheet.grid.marks(left + index)
        if self.names is None:
            runs.put(top, top + self.height, None)
        for row, mark in enumerate(marks):
            new: Any = mark
            if mark and not moved and "dataValidation" in mark:
                new = translate_conditions(mark, *self._distance(row, index, top, left))
            if self.names is not None:
                taken = {name: part for name, part in (new or {}).items() if name in self.names}
                new = (_without(runs.at(top + row), self.names) or {}) | taken or None
            if new or self.names is not None:
                runs.put(top + row, top + row + 1, new)


def _marks_of(sheet: ServedSheet, column: int, area: GridArea) -> list[Json | None]:
    """Return the marks of each cell that an area has in one column."""
    runs = sheet.grid.marks_of(column)
    marks: list[Json | None] = []
    for start, stop, mark in runs.runs_between(area.top, area.bottom) if runs else [(area.top, area.bottom, None)]:
        marks += [mark] * (stop - start)
    return marks


def _borderless(mark: Json | None) -> Json | None:
    """Return the marks of a cell without its borders."""
    look = (mark or {}).get("userEnteredFormat")
    if not mark or not look or "borders" not in look:
        return mark
    return mark | {"userEnteredFormat": {name: part for name, part in look.items() if name != "borders"}}


def move_formula(cell: GridCell, down: int) -> GridCell:
    """Return a cell as it is after a copy so many rows further down: the references of a formula go along."""
    return Formula(translate(cell.text, down, 0)) if isinstance(cell, Formula) else cell


def pad(cells: list[GridCell], height: int) -> list[GridCell]:
    """Return a list of so many cells: the given ones, then blanks."""
    return cells + [None] * (height - len(cells))
