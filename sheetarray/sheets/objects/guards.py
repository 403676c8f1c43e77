"""Puts the snapshots of arrays and tables into the very hidden sheets of workbooks in memory, as files have it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ...errors import LimitError
from ...linear.array import LinearArray
from ..content import SheetContent
from ..guard_texts import FIRST_TEXT, MARK, drop_snapshots, guard_title, may_be_guard
from ..snapshot import encode_snapshot
from .books import Book


class GuardPlan(NamedTuple):
    """The snapshots of the arrays of one worksheet.

    Attributes:
        title: of the worksheet.
        arrays: those that are put there, or the columns of a table.
        renews: whether nothing else stands on the worksheet, so that older snapshots are of arrays that are gone.
        keeps: whether snapshots are kept; if not, older ones of these arrays are removed.
    """

    title: str
    arrays: Mapping[str, LinearArray]
    renews: bool
    keeps: bool


def plan_guards(
    book: Book,
    contents: Sequence[SheetContent],
    guard: bool | Literal["auto"],
) -> list[GuardPlan]:
    """Return how the guards of worksheets change, before anything is put into the worksheets.

    `guard`: as the caller asks for it; "auto" keeps snapshots in a workbook that has some.

    Raises:
        LimitError: another sheet has the title of a guard.
    """
    sheets = book.book.worksheets
    keeps = any(map(_is_guard, sheets() if callable(sheets) else sheets)) if guard == "auto" else guard
    titles = {own.casefold() for content in contents for own in content.titles}
    plans = []
    for content in contents:
        sheet = book.find(content.title)
        own = content.title if sheet is None else book.title_of(sheet)
        standing = book.find(guard_title(own))
        is_other = standing is not None and not _is_guard(standing)
        if keeps and (is_other or guard_title(own).casefold() in titles):
            raise LimitError(
                f"the worksheet {guard_title(own)!r} is no guard, and the guard of {own!r} would have this title: "
                "choose another worksheet with sheet="
            )
        cells = _cells_of(sheet)
        is_blank = all(cell.value is None for cell in (cells or {}).values())
        is_blank = is_blank if cells is not None else getattr(sheet, "dim_rowmax", None) is None
        plans.append(GuardPlan(own, content.guarded, is_blank, keeps))
    return plans


def put_guards(book: Book, plans: Sequence[GuardPlan], *, cells: str, dates: str) -> None:
    """Put the snapshots of arrays into the guards of their worksheets.

    `cells` and `dates`: how the elements are written, as `write_workbook` has it.
    """
    how = "text" if cells == "text" else "numeric"
    for title, arrays, renews, keeps in plans:
        sheet = book.find(guard_title(title))
        if not keeps and (sheet is None or not _is_guard(sheet)):
            continue
        snapshots = [encode_snapshot(name, arrays[name], sheet=title, cells=how, dates=dates) for name in arrays]
        texts = [text for snapshot in snapshots for text in snapshot] if keeps else []
        if sheet is None:
            sheet = book.add(guard_title(title))
        if hasattr(sheet, "sheet_state"):
            _put_openpyxl(sheet, texts, None if renews else arrays)
        else:
            _put_xlsxwriter(sheet, texts)


def _cells_of(sheet: Any) -> dict[tuple[int, int], Any] | None:
    """Return the cells of a worksheet of openpyxl by row and column; None where they cannot be read."""
    return sheet._cells if hasattr(sheet, "cell") else None


def _is_guard(sheet: Any) -> bool:
    """Return whether a sheet holds snapshots; of sheets that nobody can read, whether it is as hidden as one."""
    if not may_be_guard(str(getattr(sheet, "title", None) or getattr(sheet, "name", ""))):
        return False
    cells = _cells_of(sheet)
    if cells is None:  # of XlsxWriter, or write-only
        return getattr(sheet, "sheet_state", None) == "veryHidden" or getattr(sheet, "hidden", 0) == 2
    return (1, 1) in cells and str(cells[1, 1].value).startswith(MARK)


def _put_openpyxl(sheet: Any, texts: Sequence[str], arrays: Collection[str] | None) -> None:
    """Put texts into a worksheet of openpyxl, below the snapshots of other arrays than these; None removes them all."""
    sheet.sheet_state = "veryHidden"
    cells = _cells_of(sheet)
    if cells is None:  # write-only: a worksheet is written once, and so is its guard
        for text in [FIRST_TEXT, *texts]:
            sheet.append([text])
        return
    standing = [str(cells[place].value or "") for place in sorted(cells) if place[1] == 1 and place[0] > 1]
    texts_left = [] if arrays is None else drop_snapshots(standing, arrays)
    cells.clear()
    for row, text in enumerate([FIRST_TEXT, *texts_left, *texts], 1):
        cell = sheet.cell(row, 1)
        cell.value, cell.data_type = text, "s"


def _put_xlsxwriter(sheet: Any, texts: Sequence[str]) -> None:
    """Put texts into a worksheet of XlsxWriter, below those that it has: its arrays stay, since none can be deleted."""
    sheet.very_hidden()
    first = 0 if sheet.dim_rowmax is None else sheet.dim_rowmax + 1
    for row, text in enumerate(texts if first else [FIRST_TEXT, *texts], first):
        sheet.write_string(row, 0, text)
