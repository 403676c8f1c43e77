"""The recorded tables of a workbook file: where they stand, by its record and its Excel Tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ....columns import Sheet
from ....tables import NamedTable
from ...recorded_tables import RecordedPlace, find_recorded
from ..workbook import Workbook
from .cells import ExcelTable


def find_tables(book: Workbook, sheets: Sequence[Sheet]) -> list[RecordedPlace]:
    """Return the recorded tables that stand in some sheets of a workbook."""
    notes = {title: more["table"] for title, more in book.record.get("sheets", {}).items() if "table" in more}
    if not notes:
        return []

    def named() -> dict[str, NamedTable]:
        return {} if book.own is None else dict(book.own.tables())

    @cache
    def read_cells(title: str) -> ExcelTable:
        return ExcelTable(book.sheet(title), is_foreign=False)

    def open_cells(title: str, dates: object) -> ExcelTable:  # noqa: ARG001  (its cells say what they are)
        return read_cells(title)

    return find_recorded(
        notes,
        {sheet.title or "": book.sheet(sheet.title or "") for sheet in sheets},
        book.titles,
        named,
        open_cells,
    )
