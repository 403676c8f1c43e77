"""A workbook of XlsxWriter, into which cells, names, tables and looks are put.

XlsxWriter prints doubles with 16 digits: a number that has more goes in as text, or is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...columns import Layout, cell_address
from ...elements import TypedCells
from ...errors import DTypeError, LimitError
from ..arrays_of_sheets import is_for_programs
from ..printing import cells_of
from ..record_texts import OURS
from .elements import BOLD, Numeral
from .standing import Standing, stand_xlsxwriter


class XlsxWriterBook:
    """A workbook of XlsxWriter."""

    def __init__(self, target: Any, rounds: bool) -> None:
        from xlsxwriter import Workbook  # type: ignore[import-untyped]
        from xlsxwriter.chartsheet import Chartsheet  # type: ignore[import-untyped]
        from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

        self._kind, self._other_kind = Worksheet, Chartsheet
        add_format = getattr(target, "workbook_add_format", None)  # a method of the workbook, which its sheets have
        self.book: Any = target if isinstance(target, Workbook) else getattr(add_format, "__self__", None)
        if self.book is None or isinstance(target, Chartsheet):
            raise DTypeError(f"a {type(target).__name__} of XlsxWriter cannot be written to: take its workbook")
        if self.book.fileclosed:
            raise DTypeError("the workbook of XlsxWriter is closed: mode='a' and the path of its file add a sheet")
        self._formats: dict[str | None, Any] = {None: None}
        self.rounds = rounds

    def sheet_of(self, target: Any) -> Any:
        """Return the worksheet that a target is; None for a workbook."""
        return target if isinstance(target, self._kind) else None

    def title_of(self, sheet: Any) -> str:
        """Return the title of a worksheet."""
        return str(sheet.name)

    def find(self, title: str) -> Any:
        """Return the sheet of a title, compared without case; None if there is none."""
        return next(
            (sheet for name, sheet in self.book.sheetnames.items() if name.casefold() == title.casefold()), None
        )

    def add(self, title: str) -> Any:
        """Return a new worksheet."""
        return self.book.add_worksheet(title)

    def names(self) -> list[str]:
        """Return all defined names, and the names of tables."""
        tables = [table for sheet in self.book.worksheets() for table in getattr(sheet, "tables", ())]
        named = [table.get("name") or f"Table{number}" for number, table in enumerate(tables, 1)]  # as at closing
        return [*(str(entry[0]) for entry in self.book.defined_names), *named]

    def titles(self) -> list[str]:
        """Return the titles of all sheets."""
        return list(self.book.sheetnames)

    def texts(self) -> dict[str, str]:
        """Return the custom properties that are text."""
        return {name: value for name, value, kind in self.book.custom_properties if kind == "text"}

    def put_texts(self, texts: Mapping[str, str]) -> None:
        """Make texts the custom properties of ours."""
        self.book.custom_properties = [each for each in self.book.custom_properties if not OURS.fullmatch(each[0])]
        for name, text in texts.items():
            self.book.set_custom_property(name, text, "text")

    def define(self, name: str, reference: str) -> None:
        """Add a defined name."""
        self.book.define_name(name, f"={reference}")

    def add_table(self, sheet: Any, name: str, corner: tuple[int, int], layout: Layout) -> None:
        """Make an Excel Table of the cells of a layout, which XlsxWriter cannot in constant memory."""
        if not sheet.constant_memory:
            bold = self._format(BOLD)
            columns = [{"header": piece.name, "header_format": bold} for piece in layout.pieces]
            options = {"name": name, "columns": columns, "style": "Table Style Medium 2"}
            sheet.add_table(cells_of(layout, corner), options)

    def is_blank(self, sheet: Any) -> bool:
        """Return whether a worksheet has no cells."""
        return sheet.dim_rowmax is None

    def standing(self, sheet: Any) -> Standing | None:
        """Return what a sheet holds; None where nobody can tell, or where it is no worksheet."""
        return stand_xlsxwriter(sheet) if isinstance(sheet, self._kind) and not sheet.constant_memory else None

    def check_free(self, sheet: Any, title: str, layout: Layout, corner: tuple[int, int]) -> None:
        """Refuse cells that hold something, or that are written to the disk already."""
        top, left = corner
        if sheet is None:
            return
        if isinstance(sheet, self._other_kind):
            raise LimitError(f"{title!r} is a {type(sheet).__name__}, no worksheet: choose another title with sheet=")
        if sheet.constant_memory and top < sheet.previous_row:
            raise LimitError(
                f"{title!r} is written with constant_memory down to row {sheet.previous_row + 1}: "
                f"at={cell_address(sheet.previous_row + 1, left)!r} is below"
            )
        stand_xlsxwriter(sheet).check_free(title, layout, corner)

    def check_texts(self, layout: Layout, typed: Sequence[TypedCells]) -> None:
        """Refuse text that XlsxWriter takes for the XML of formatted text."""
        for piece, cells in zip(layout.pieces, typed, strict=True):
            texts = cells.texts
            if texts is not None and (texts.str.starts_with("<r>") & texts.str.ends_with("</r>")).any():
                raise LimitError(f"{piece.name}: XlsxWriter takes a text from <r> to </r> for formatting, not for text")

    def arrange(self, sheet: Any, layout: Layout, widths: Sequence[float]) -> None:
        """Set the widths of columns, freeze the rows above the elements, and collapse those of headers."""
        for place, (piece, width) in enumerate(zip(layout.pieces, widths, strict=True)):
            sheet.set_column(place, place, width, None, {"hidden": is_for_programs(piece)})
        if layout.hides_headers:
            for row in range(1, layout.zone_height):
                sheet.set_row(row, None, None, {"level": 1, "hidden": True})
            sheet.set_row(layout.zone_height, None, None, {"collapsed": True})
        if not sheet.panes:
            sheet.freeze_panes(layout.zone_height if layout.hides_headers else 1, 0)

    def put_row(
        self,
        sheet: Any,
        row: int,
        column: int,
        cells: Sequence[Any],
        codes: Sequence[str | None],
        notes: Sequence[str | None],
    ) -> int:
        """Put the cells of a row, with notes or without; return how many numbers are rounded."""
        rounded = 0
        for place, text in enumerate(notes, column):
            if text is not None:
                sheet.write_comment(row, place, text)
        for place, value in enumerate(cells, column):
            if value is None or value == "":
                continue
            if isinstance(value, Numeral) and self.rounds and math.isfinite(float(f"{float(value):.16g}")):
                rounded += float(value) != 0
                value = float(value)
            style = self._format(codes[place - column])
            if isinstance(value, str):
                sheet.write_string(
                    row, place, str(value), self._format(BOLD if codes[place - column] == BOLD else None)
                )
            elif isinstance(value, bool):
                sheet.write_boolean(row, place, value, style)
            elif isinstance(value, (int, float)):
                sheet.write_number(row, place, value, style)
            else:
                sheet.write_datetime(row, place, value, style)
        return rounded

    def _format(self, code: str | None) -> Any:
        if code not in self._formats:
            self._formats[code] = self.book.add_format({"bold": True} if code == BOLD else {"num_format": code})
        return self._formats[code]
