"""The recorded tables of a workbook file: where they stand, by its record and its Excel Tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from ....columns import Sheet
from ....tables import NamedTable
from ...table_areas import RecordedPlace, find_recorded
from ..guard.snapshots import Snapshots
from ..workbook import Workbook
from .cells import ExcelTable
from .totals import find_typed_totals


def find_tables(book: Workbook, sheets: Sequence[Sheet]) -> list[RecordedPlace]:
    """Return the recorded tables that stand in some sheets of a workbook."""
    notes = {title: more["table"] for title, more in book.record.get("sheets", {}).items() if "table" in more}
    return _find_recorded(book, sheets, notes) if notes else []


def _find_recorded(book: Workbook, sheets: Sequence[Sheet], notes: Mapping[str, Any]) -> list[RecordedPlace]:
    """Return the same, given what the record says of each table, by the title of its sheet."""

    def named() -> dict[str, NamedTable]:
        return {} if book.own is None else dict(book.own.tables())

    @cache
    def read_cells(title: str) -> ExcelTable:
        return ExcelTable(book.sheet(title), is_foreign=False)

    def open_cells(title: str, dates: object) -> ExcelTable:  # noqa: ARG001  (its cells say what they are)
        return read_cells(title)

    places = find_recorded(
        notes,
        {sheet.title or "": book.sheet(sheet.title or "") for sheet in sheets},
        book.titles,
        named,
        open_cells,
        partial(Snapshots, book),
    )
    return [replace(place, find_totals=partial(_find_totals, book, place.title)) for place in places]


def _find_totals(book: Workbook, title: str) -> int | None:
    """Return the last row of a sheet if it holds totals that somebody typed, else None."""
    part = next((sheet.part for sheet in book.own.sheets if sheet.title == title), "") if book.own is not None else ""
    totals = find_typed_totals(book.own.package.read(part)) if book.own is not None and part else None
    return None if totals is None else totals.row
