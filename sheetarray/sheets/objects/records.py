"""The record of a workbook in memory, in its custom properties, where files have it: which arrays its tables are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import FormatError, LimitError
from ..content import SheetContent
from ..record_texts import OURS, forget_arrays, pack, unpack
from .books import Book
from .guards import GuardPlan


def notes_of_tables(book: Any) -> dict[str, object]:
    """Return what the record of a workbook of openpyxl says of tables, by the titles of their sheets."""
    properties = getattr(book, "custom_doc_props", None)
    texts = {entry.name: entry.value for entry in getattr(properties, "props", ()) if isinstance(entry.value, str)}
    sheets = (_read_record(texts) or {}).get("sheets", {})
    return {title: more["table"] for title, more in sheets.items() if isinstance(more.get("table"), dict)}


def refuse_second_tables(book: Book, contents: Sequence[SheetContent], plans: Sequence[GuardPlan]) -> None:
    """Refuse a table on a worksheet that has one: a record says of a sheet which arrays its one table is.

    `plans`: of the worksheets, with their titles.

    Raises:
        LimitError: a worksheet has a table.
    """
    sheets = (_read_record(book.texts() or {}) or {}).get("sheets", {})
    for plan, content in zip(plans, contents, strict=True):
        if content.kind == "table" and not plan.renews and "table" in sheets.get(plan.title, {}):
            raise LimitError(
                f"the worksheet {plan.title!r:.60} has a table already, and records one: sheet= takes another worksheet"
            )


def renew_book_record(
    book: Book, contents: Sequence[SheetContent], plans: Sequence[GuardPlan], tables: Mapping[str, str]
) -> None:
    """Make the record of a workbook true to what was put into it: tables are noted, checksums of older arrays go.

    A record that was damaged stays: `check` tells of it.

    `plans`: of the worksheets, with their titles. `tables`: the names of Excel Tables, by the titles of worksheets.
    """
    texts = book.texts()
    if texts is None or (texts and (record := _read_record(texts)) is None):
        return
    record = _read_record(texts) or {"sheets": {}}
    names = {plan.title: list(plan.arrays) for plan, each in zip(plans, contents, strict=True) if each.kind == "arrays"}
    is_changed = forget_arrays(record, names, book.titles())
    for plan, content in zip(plans, contents, strict=True):
        if content.kind != "table":
            continue
        sheet = record["sheets"].setdefault(plan.title, {"names": [], "of": plan.title})
        sheet.pop("columns", None)  # the checksums of an older table
        sheet["table"] = {"name": tables.get(plan.title, ""), **content.description}
        is_changed = True
    if is_changed:
        book.put_texts(pack(record))


def _read_record(texts: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the record in the texts of custom properties; None where there is none, or it is damaged."""
    try:
        return unpack({name: text for name, text in texts.items() if OURS.fullmatch(name)})
    except FormatError:
        return None
