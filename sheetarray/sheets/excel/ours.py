"""Which sheets of a workbook are ours, and which of those a write replaces or leaves empty.

A sheet is ours where the workbook's custom properties say so: under "sheets", by its title, with the defined names made
for it ("names") and the first sheet of the same write ("of").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import FormatError, LimitError
from .book import Book, BookSheet
from .package.properties import read_record
from .workbook import SheetPlan


@dataclass(frozen=True)
class Ours:
    """What a write finds in the workbook.

    Attributes:
        spelled: the title of each planned sheet as the workbook has it, by the plan's.
        replaced: for each plan the sheet that it replaces; None for a new one.
        emptied: sheets on which the arrays of replaced ones went on, and that no plan needs.
        names: the defined names made for all of those.
        record: what the workbook remembers, without its sheets.
        kept: what it remembers of all other sheets of ours.
    """

    spelled: dict[str, str]
    replaced: list[BookSheet | None]
    emptied: list[BookSheet]
    names: list[str]
    record: dict[str, Any]
    kept: dict[str, dict[str, Any]]

    @property
    def gone(self) -> list[BookSheet]:
        """The sheets whose content goes."""
        return [*(sheet for sheet in self.replaced if sheet is not None), *self.emptied]


def find_ours(book: Book, plans: Sequence[SheetPlan], *, replacing: bool) -> Ours:
    """Compare plans with the sheets that are there.

    Raises:
        LimitError: a sheet of such a title is there, and is not ours or not to be replaced.
    """
    try:
        record = read_record(book.package) or {}
    except FormatError:
        record = {}  # edited: nothing is known to be ours
    there = {sheet.title.casefold(): sheet for sheet in book.sheets}
    ours = {title.casefold(): more for title, more in record.get("sheets", {}).items() if title.casefold() in there}
    planned = {plan.title.casefold() for plan in plans}
    replaced = [there.get(plan.title.casefold()) for plan in plans]
    uses = Counter(sheet.part for sheet in book.sheets)
    for sheet in replaced:
        if sheet is not None:
            _check(sheet, ours, planned, there, replacing=replacing, shared=uses[sheet.part] > 1)
    emptied = [
        there[title]
        for title, more in ours.items()
        if replacing and title not in planned and _first(more) in planned and uses[there[title].part] == 1
    ]
    gone = planned | {sheet.title.casefold() for sheet in emptied}
    return Ours(
        spelled={
            plan.title: plan.title if sheet is None else sheet.title
            for plan, sheet in zip(plans, replaced, strict=True)
        },
        replaced=replaced,
        emptied=emptied,
        names=[name for title, more in ours.items() if title in gone for name in _names(more)],
        record={key: value for key, value in record.items() if key != "sheets"},
        kept={there[title].title: more for title, more in ours.items() if title not in gone},
    )


def _check(
    sheet: BookSheet,
    ours: dict[str, dict[str, Any]],
    planned: set[str],
    there: dict[str, BookSheet],
    *,
    replacing: bool,
    shared: bool,
) -> None:
    """Refuse to replace a sheet.

    Raises:
        LimitError: it is not ours, or is to stay, or belongs to another one.
    """
    title = sheet.title.casefold()
    is_ours = title in ours and sheet.kind == "worksheet" and not shared
    if not replacing:
        advice = "if_sheet_exists='replace' replaces it, " if is_ours else ""
        raise LimitError(f"the workbook has a sheet {sheet.title!r} already ({advice}sheet= takes another title)")
    if not is_ours:
        raise LimitError(f"the sheet {sheet.title!r} is not replaced: the workbook does not remember it as one that "
                         "sheetarray wrote (sheet= takes another title)")  # fmt: skip
    first = _first(ours[title])
    if first in there and first not in planned:
        raise LimitError(f"the arrays of the sheet {there[first].title!r} go on in {sheet.title!r}: replace that one")


def _first(more: dict[str, Any]) -> str:
    first = more.get("of")
    return first.casefold() if isinstance(first, str) else ""


def _names(more: dict[str, Any]) -> list[str]:
    names = more.get("names")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
