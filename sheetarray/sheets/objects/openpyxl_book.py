"""A workbook of openpyxl, into which cells, names, tables and looks are put.

openpyxl prints doubles with 16 digits; the shortest text of a number, as a `Numeral`, it prints as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...columns import Layout, cell_address, column_letters
from ...elements import TypedCells
from ...errors import DTypeError, LimitError
from ...formats.contract import CELL_CHARACTERS
from ..arrays_of_sheets import is_for_programs
from ..printing import cells_of
from ..record_texts import OURS
from ..xml_texts import with_escapes
from .elements import BOLD, Numeral
from .standing import Standing, stand_openpyxl


class OpenpyxlBook:
    """A workbook of openpyxl."""

    def __init__(self, target: Any) -> None:
        import openpyxl  # type: ignore[import-untyped]
        from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]
        from openpyxl.comments import Comment  # type: ignore[import-untyped]
        from openpyxl.styles import Font  # type: ignore[import-untyped]
        from openpyxl.workbook.defined_name import DefinedName  # type: ignore[import-untyped]
        from openpyxl.worksheet import table as tables  # type: ignore[import-untyped]
        from openpyxl.worksheet._write_only import WriteOnlyWorksheet  # type: ignore[import-untyped]
        from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped]

        self._kinds, self._tables = (Worksheet, WriteOnlyWorksheet), tables
        self._cell_kind, self._name_kind, self._note_kind = WriteOnlyCell, DefinedName, Comment
        self._bold = Font(bold=True)
        self.book: Any = target if isinstance(target, openpyxl.Workbook) else getattr(target, "parent", None)
        if self.book is None or self.book.read_only or not isinstance(target, (openpyxl.Workbook, *self._kinds)):
            raise DTypeError(
                f"a {type(target).__name__} of openpyxl cannot be written to: "
                "openpyxl.load_workbook(path) without read_only=True gives a Workbook that can"
            )

    def sheet_of(self, target: Any) -> Any:
        """Return the worksheet that a target is; None for a workbook."""
        return target if isinstance(target, self._kinds) else None

    def title_of(self, sheet: Any) -> str:
        """Return the title of a worksheet."""
        return str(sheet.title)

    def find(self, title: str) -> Any:
        """Return the sheet of a title, compared without case; None if there is none."""
        return next(
            (
                sheet
                for sheet in map(self.book.__getitem__, self.book.sheetnames)
                if sheet.title.casefold() == title.casefold()
            ),
            None,
        )

    def add(self, title: str) -> Any:
        """Return a new worksheet."""
        return self.book.create_sheet(title)

    def names(self) -> list[str]:
        """Return all defined names, and the names of tables."""
        tables = [name for sheet in self.book.worksheets for name in getattr(sheet, "tables", ())]
        return [*self.book.defined_names, *tables]

    def titles(self) -> list[str]:
        """Return the titles of all sheets."""
        return list(self.book.sheetnames)

    def texts(self) -> dict[str, str] | None:
        """Return the custom properties that are text; None if this version of openpyxl has none."""
        properties = getattr(self.book, "custom_doc_props", None)
        if properties is None:
            return None
        return {entry.name: entry.value for entry in properties.props if isinstance(entry.value, str)}

    def put_texts(self, texts: Mapping[str, str]) -> None:
        """Make texts the custom properties of ours."""
        from openpyxl.packaging.custom import StringProperty  # type: ignore[import-untyped]

        properties = self.book.custom_doc_props
        for name in filter(OURS.fullmatch, [entry.name for entry in properties.props]):
            del properties[name]
        for name, text in texts.items():
            properties.append(StringProperty(name=name, value=text))

    def define(self, name: str, reference: str) -> None:
        """Add a defined name."""
        self.book.defined_names[name] = self._name_kind(name, attr_text=reference)

    def add_table(self, sheet: Any, name: str, corner: tuple[int, int], layout: Layout) -> None:
        """Make an Excel Table of the cells of a layout."""
        cells, kinds = cells_of(layout, corner), self._tables
        table = kinds.Table(displayName=name, name=name, ref=cells, autoFilter=kinds.AutoFilter(ref=cells))
        names = [with_escapes(piece.name) for piece in layout.pieces]
        table.tableColumns = [kinds.TableColumn(id=place, name=column) for place, column in enumerate(names, 1)]
        table.tableStyleInfo = kinds.TableStyleInfo(name="TableStyleMedium2", showRowStripes=True)
        sheet.tables.add(table)

    def is_blank(self, sheet: Any) -> bool:
        """Return whether no cell of a worksheet holds anything."""
        return all(cell.value is None for cell in sheet._cells.values())

    def standing(self, sheet: Any) -> Standing | None:
        """Return what a sheet holds; None where nobody can tell, or where it is no worksheet."""
        return stand_openpyxl(sheet) if isinstance(sheet, self._kinds) and not self.book.write_only else None

    def check_free(self, sheet: Any, title: str, layout: Layout, corner: tuple[int, int]) -> None:
        """Refuse cells that hold something, or that are part of a merged cell."""
        if sheet is None:
            if self.book.write_only and corner != (0, 0):
                raise ValueError("openpyxl writes a write-only workbook from cell A1 on: leave out at=")
            return
        if not isinstance(sheet, self._kinds):
            raise LimitError(f"{title!r} is a {type(sheet).__name__}, no worksheet: choose another title with sheet=")
        if self.book.write_only:
            if sheet._rows is not None or sheet.closed or corner != (0, 0):
                raise LimitError(f"{title!r} is write-only and has rows: choose another title with sheet=")
            return
        stand_openpyxl(sheet).check_free(title, layout, corner)

    def check_texts(self, layout: Layout, typed: Sequence[TypedCells]) -> None:
        """Refuse text that openpyxl would cut, since escapes make it longer than a cell is."""
        for piece, cells in zip(layout.pieces, typed, strict=True):
            if cells.texts is None:
                continue
            for index in (cells.texts.str.len_chars() > CELL_CHARACTERS // 7).arg_true().to_list():
                if len(with_escapes(cells.texts[index])) > CELL_CHARACTERS:
                    raise LimitError(
                        f"{piece.name}: element {piece.start + index} has more than {CELL_CHARACTERS:,} characters "
                        "once those that XML lacks are escaped"
                    )

    def arrange(self, sheet: Any, layout: Layout, widths: Sequence[float]) -> None:
        """Set the widths of columns, freeze the rows above the elements, and collapse those of headers."""
        for place, (piece, width) in enumerate(zip(layout.pieces, widths, strict=True)):
            column = sheet.column_dimensions[column_letters(place)]
            column.width, column.hidden = width, is_for_programs(piece)
        if layout.hides_headers:
            for row in range(2, layout.zone_height + 1):
                sheet.row_dimensions[row].outlineLevel = 1
                sheet.row_dimensions[row].hidden = True
            sheet.row_dimensions[layout.zone_height + 1].collapsed = True
        if sheet.freeze_panes is None:
            sheet.freeze_panes = cell_address(layout.zone_height if layout.hides_headers else 1, 0)

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
        row_cells: list[Any] = []
        streams = self.book.write_only
        for place, value in enumerate(cells):
            if value is None or value == "":
                row_cells.append(None)
                continue
            cell = self._cell_kind(sheet) if streams else sheet.cell(row + 1, column + place + 1)
            code = codes[place]
            if isinstance(value, str) and not isinstance(value, Numeral):
                cell.value, cell.data_type = _blank_safe(with_escapes(value)), "s"
            else:
                cell.value = value
                if isinstance(value, Numeral):
                    cell.value, cell.data_type = str(value), "n"
                if code is not None:
                    cell.number_format = code
            if code == BOLD:
                cell.font = self._bold
            if notes and (text := notes[place]) is not None:
                cell.comment = self._note_kind(text, "")
            row_cells.append(cell)
        if streams:
            sheet.append(row_cells)
        return 0


def _blank_safe(text: str) -> str:
    """Return a text whose white space no program drops; openpyxl does not mark text that is only white space."""
    return text if text.strip() else f"_x{ord(text[0]):04X}_{text[1:]}"
