"""Checks a large workbook with no more than one of its arrays in memory.

All elements are put into a file without a name, from which each array is mapped and compared by itself. A workbook
with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong.
"""

from __future__ import annotations

from ....columns.pieced_arrays import NotInPiecesError
from ....elements import Missing
from ....errors import Finding, FormatError
from ...checking_blocks import check_in_blocks
from ...sheet_choice import SheetChoice
from ..workbook import LARGE_WORKBOOK, Workbook
from .workbook import find_all


def find_in_large(book: Workbook, sheet: SheetChoice, missing: Missing, *, guard: bool) -> list[Finding] | None:
    """Return every finding in a workbook; None if it is small, or has to be read at once.

    `sheet`, `missing` and `guard`: those of `check_excel`.
    """
    if book.sheet_bytes < LARGE_WORKBOOK:
        return None
    with Workbook(book.source, before=book) as again:
        try:
            return find_all(again, sheet, missing, guard=guard, check=check_in_blocks)
        except (FormatError, NotInPiecesError):
            return None
