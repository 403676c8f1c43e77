"""Checks a large workbook with no more than one of its arrays in memory.

As a rule nobody has touched the workbook, and checksums of its elements, read piece by piece, show that. Otherwise all
elements are put into a file without a name, from which each array is mapped and compared by itself. A workbook with a
wrong cell, or a wrong number of cells, is read at once, since reading says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ...columns import ArrayInfo, CompareFingerprint, ElementRestorer, FindUnchanged, RowChange, scan_names
from ...composite import check_composites
from ...dtypes import Array
from ...elements import Missing
from ...errors import Finding, FormatError
from ...files import Source
from ...linear import view_of
from ...spool import NotInPiecesError
from .checking import find_all, select_sheets
from .column_parts import find_parts
from .pieces import iter_arrays
from .reader.cells import CellRun
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .stored import store_arrays
from .stored_fingerprints import StoredFingerprints
from .workbook import Workbook

LARGE_WORKBOOK = 2**27  # bytes of inflated worksheets; in a smaller workbook all arrays are read together
MOST_ARRAYS, _SHORT = 10_000, 2**11  # more arrays, with fewer bytes of XML each, are read together too


class _EditedError(Exception):
    """The workbook is not as it was written, so that it has to be compared in full."""


class _NoFormulas(FormulaCells):
    """A collection of formulas that refuses the first one: a workbook as it was written has no formulas."""

    def add(self, run: CellRun) -> None:
        """Raise an `_EditedError` if a cell is a formula."""
        if run.formulas is not None or run.areas:
            raise _EditedError


def find_in_large(source: Source, sheet: str | None, missing: Missing, *, guard: bool) -> list[Finding] | None:
    """Return every finding in a workbook; None if it is small, or has to be read at once.

    All arguments are those of `check_excel`.

    Raises:
        NotFoundError: no such sheet.
    """
    with Workbook(source) as book:
        size = book.sheet_bytes
        if size < LARGE_WORKBOOK:
            return None
    count = StoredFingerprints(source).count_arrays()
    if count > MOST_ARRAYS and size < _SHORT * count:
        return None  # all of these arrays take less memory than their fingerprints
    if is_large_and_intact(source, sheet, missing):
        return []
    with Workbook(source) as book:
        try:
            return list(find_all(source, book, sheet, missing, guard=guard, check=check_in_pieces))
        except (FormatError, NotInPiecesError):
            return None


def is_large_and_intact(source: Source, title: str | None, missing: Missing) -> bool:
    """Return whether a workbook is large, and all of its arrays are known to be as they were written.

    `title`: of the only sheet that is read; None for all.

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


def check_in_pieces(
    sheets: Sequence[ExcelSheet],
    *,
    missing: Missing,
    judge: CompareFingerprint,
    find_unchanged: FindUnchanged | None = None,  # noqa: ARG001  (each array is judged by itself)
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, as `composite.check_sheets` does.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: a cell or the number of cells is wrong, or the sheets hold no array.
    """
    findings: list[Finding] = []
    parts = find_parts(sheets, None, findings.append)
    if not parts:
        raise NotInPiecesError
    with store_arrays(sheets, parts, iter_arrays(sheets, parts, missing), restore) as (arrays, spool):
        yield from findings
        for name in arrays:
            for finding in judge(name, arrays.buffer(name), arrays.column(name)):
                if not isinstance(finding, RowChange):
                    yield finding
            spool.release()
        for one in sheets:
            yield from one.notes

        def read(names: Sequence[str] | None) -> dict[str, Array]:
            wanted = arrays if names is None else names
            return {name: view_of(arrays.header(name), arrays.buffer(name)) for name in wanted}

        @cache
        def scan() -> Mapping[str, ArrayInfo]:
            return scan_names(sheets, strict=False, report=lambda _: None)

        yield from check_composites(read, scan)
