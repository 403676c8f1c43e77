"""The record of the sheets that this package wrote, and those of them that a write replaces or leaves empty.

A sheet is ours where the workbook's custom properties say so: under "sheets", by its title, with the defined
names made for it ("names") and the first sheet of the same write ("of").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import LimitError
from ..defined_names import ArrayArea
from .skeleton.plans import SheetPlan
from .workbook_part import BookSheet, WorkbookPart


@dataclass(frozen=True)
class OwnSheets:
    """The sheets of a workbook that a write replaces or empties."""

    replaced: list[BookSheet | None]  # for each plan the sheet that it replaces; None for a new one
    # sheets on which the arrays of replaced ones went on, and that no plan needs; with the titles of those
    emptied: dict[BookSheet, str]
    names: list[str]  # the defined names made for all of those
    record: dict[str, Any]  # what the workbook remembers, without those sheets

    @property
    def removed(self) -> list[BookSheet]:
        """The sheets whose content goes."""
        return [*(sheet for sheet in self.replaced if sheet is not None), *self.emptied]


def find_own_sheets(book: WorkbookPart, plans: Sequence[SheetPlan], *, replacing: bool) -> OwnSheets:
    """Find out which existing sheets a write replaces and which it leaves empty.

    Raises:
        LimitError: a sheet of such a title is there, and is not ours or not to be replaced.
    """
    record = book.record
    sheets_by_title = {sheet.title.casefold(): sheet for sheet in book.sheets}
    ours = {title.casefold(): more for title, more in record["sheets"].items() if title.casefold() in sheets_by_title}
    planned = {plan.title.casefold() for plan in plans}
    replaced = [sheets_by_title.get(plan.title.casefold()) for plan in plans]
    uses = Counter(sheet.part for sheet in book.sheets)
    for sheet in replaced:
        if sheet is not None:
            _check_replaceable(sheet, ours, planned, sheets_by_title, replacing=replacing, shared=uses[sheet.part] > 1)
    titles = {plan.title.casefold(): plan.title for plan in plans}
    emptied = {
        sheets_by_title[title]: titles[_first_title(more)]
        for title, more in ours.items()
        if replacing
        and title not in planned
        and _first_title(more) in planned
        and uses[sheets_by_title[title].part] == 1
    }
    gone = planned | {sheet.title.casefold() for sheet in emptied}
    record_of_sheets = {sheets_by_title[title].title: more for title, more in ours.items() if title not in gone}
    names = [name for title, more in ours.items() if title in gone for name in _defined_names(more)]
    return OwnSheets(replaced, emptied, names, {**record, "sheets": record_of_sheets})


def _check_replaceable(
    sheet: BookSheet,
    ours: dict[str, dict[str, Any]],
    planned: set[str],
    sheets_by_title: dict[str, BookSheet],
    *,
    replacing: bool,
    shared: bool,
) -> None:
    """Refuse to replace a sheet that is not ours, is to stay, or belongs to another one."""
    title = sheet.title.casefold()
    is_ours = title in ours and sheet.kind == "worksheet" and not shared
    if not replacing:
        advice = "if_sheet_exists='replace' replaces it, " if is_ours else ""
        raise LimitError(f"the workbook has a sheet {sheet.title!r} already ({advice}sheet= takes another title)")
    if not is_ours:
        raise LimitError(
            f"the sheet {sheet.title!r} is not replaced: the workbook does not remember it as one that "
            "sheetarray wrote (sheet= takes another title)"
        )
    first = _first_title(ours[title])
    if first in sheets_by_title and first not in planned:
        raise LimitError(
            f"the arrays of the sheet {sheets_by_title[first].title!r} go on in {sheet.title!r}: replace that one"
        )


def _first_title(more: dict[str, Any]) -> str:
    first = more.get("of")
    return first.casefold() if isinstance(first, str) else ""


def _defined_names(more: dict[str, Any]) -> list[str]:
    names = more.get("names")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def remember_sheets(
    sheets: Sequence[SheetPlan], names: Mapping[ArrayArea, str], tables: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the record of each sheet: the defined names made for it, and the title of the sheet that it belongs to.

    `tables`: the names of the Excel Tables, by the titles of their sheets; the record has what is kept of these.
    """
    first = next(plan.title for plan in sheets if not plan.is_view)
    record: dict[str, dict[str, Any]] = {plan.title: {"names": [], "of": plan.of or first} for plan in sheets}
    for area, name in names.items():
        record[area.title]["names"].append(name)
    for plan in sheets:
        if plan.note:
            record[plan.title]["table"] = {"name": tables.get(plan.title, ""), **plan.note}
    return record
