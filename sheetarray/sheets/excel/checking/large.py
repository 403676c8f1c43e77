"""Checks a large workbook with no more than one of its arrays in memory.

All elements are put into a file without a name, from which each array is mapped and compared by itself. A workbook
with a wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ....columns import (
    ElementRestorer,
    JudgeArray,
    RowChange,
    SheetArrays,
)
from ....columns.pieced_arrays import NotInPiecesError
from ....dtypes import Array
from ....elements import Missing
from ....errors import Finding, FormatError
from ....linear.buffers import view_of
from ...arrays_of_sheets import check_composites
from ...workbooks import SheetChoice
from ..piecewise.parts import find_parts
from ..piecewise.reading import store_arrays
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .workbook import find_all

LARGE_WORKBOOK = 2**27  # bytes of inflated worksheets; in a smaller workbook all arrays are read together


def find_in_large(book: Workbook, sheet: SheetChoice, missing: Missing, *, guard: bool) -> list[Finding] | None:
    """Return every finding in a workbook; None if it is small, or has to be read at once.

    `sheet`, `missing` and `guard`: those of `check_excel`.
    """
    if book.sheet_bytes < LARGE_WORKBOOK:
        return None
    with Workbook(book.source, before=book) as again:
        try:
            return list(find_all(again, sheet, missing, guard=guard, check=_check_in_pieces))
        except (FormatError, NotInPiecesError):
            return None


def _check_in_pieces(
    sheets: Sequence[ExcelSheet],
    *,
    missing: Missing,
    judge: JudgeArray,
    compare: Callable[[], Iterator[Finding]],
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, as `arrays_of_sheets.check_sheets` does.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: a cell or the number of cells is wrong, or the sheets hold no array.
    """
    findings: list[Finding] = []
    parts = find_parts(sheets, None, findings.append)
    if not parts:
        raise NotInPiecesError
    with store_arrays(sheets, parts, missing, restore) as (stored, spool):
        yield from findings
        for name in parts:
            judged = judge(name, stored.read(name), stored.column(name), np.empty(0, np.int64))
            yield from (finding for finding in judged if not isinstance(finding, RowChange))
            spool.release()
        yield from compare()
        for one in sheets:
            yield from one.notes

        def read(names: Sequence[str] | None) -> dict[str, Array]:
            wanted = parts if names is None else names
            return {name: view_of(parts[name][0].header, stored.buffer(name)) for name in wanted}

        yield from check_composites(read, SheetArrays(sheets).scan)
