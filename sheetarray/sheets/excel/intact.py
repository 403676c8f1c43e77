"""Whether a large workbook is as it was written: looked at piece by piece, so that most need no more memory."""

from __future__ import annotations

from ...elements import Missing
from ...errors import Finding, FormatError
from ...files import Source
from ...spool import NotInPiecesError
from .checking import select_sheets
from .pieces import find_parts, iter_arrays
from .reader.cells import CellRun
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .stored_fingerprints import StoredFingerprints
from .workbook import Workbook

LARGE_WORKBOOK = 2**28  # bytes of worksheets, inflated; of a smaller one all arrays are read together


class _EditedError(Exception):
    """Something is to be said of the workbook."""


class _NoFormulas(FormulaCells):
    """The formulas of a sheet, where any is one too many."""

    def add(self, run: CellRun) -> None:
        """Refuse cells that are formulas."""
        if run.formulas is not None or run.areas:
            raise _EditedError


def is_large_and_intact(source: Source, title: str | None, missing: Missing) -> bool:
    """Return whether a workbook is large, and all of its arrays are known to be as they were written.

    Args:
        source: of the workbook.
        title: of the only sheet that is looked at; None for all.
        missing: as for `check_excel`.

    Raises:
        NotFoundError: no such sheet.
    """
    try:
        with Workbook(source) as book:
            if book.sheet_bytes < LARGE_WORKBOOK or book.guards() or book.views.recorded:
                return False
            return _is_intact(
                StoredFingerprints(source), select_sheets(book, title), missing, looks_at_all=title is None
            )
    except (FormatError, NotInPiecesError, _EditedError):
        return False


def _is_intact(memory: StoredFingerprints, sheets: list[ExcelSheet], missing: Missing, *, looks_at_all: bool) -> bool:
    for sheet in sheets:
        sheet.formulas = _NoFormulas()
    arrays = find_parts(sheets, None, _refuse)
    anchors = {name: group[0].anchor for name, group in arrays.items()}
    if not arrays or not memory.remember(anchors, iter_arrays(sheets, arrays, missing)):
        return False
    is_silent = not memory.findings and not any(sheet.notes for sheet in sheets)
    return is_silent and not (looks_at_all and any(memory.find_missing()))


def _refuse(_: Finding) -> None:
    raise _EditedError
