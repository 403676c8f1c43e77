"""Everything that is to be said of a large workbook, with no more than one of its arrays in memory.

As a rule nobody has touched it, which checksums tell while its elements go by. Otherwise these come piece by piece into
a file without a name; each array is then judged by itself, mapped from there. A workbook in which a cell is wrong, or
their number, is read at once: reading says what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate

import numpy as np

from ...columns import ArrayColumn, ArrayInfo, CompareFingerprint, ElementRestorer, RowChange, scan_names
from ...composite import check_composites
from ...dtypes import Array, Buffer
from ...elements import Missing, text_array
from ...errors import Finding, FormatError
from ...files import Source
from ...linear import view_of
from ...spool import MOST_BYTES, NotInPiecesError, PiecedArrays
from .checking import find_all, select_sheets
from .column_parts import ColumnPart
from .pieces import find_parts, iter_arrays
from .reader.cells import CellRun
from .reader.formulas import FormulaCells
from .sheet import ExcelSheet
from .stored_fingerprints import StoredFingerprints
from .workbook import Workbook

LARGE_WORKBOOK = 2**27  # bytes of worksheets, inflated; of a smaller one all arrays are read together
_TEXTUAL = frozenset({"string", "generic"})


class _EditedError(Exception):
    """Something is to be said of the workbook."""


class _NoFormulas(FormulaCells):
    """The formulas of a sheet, where any is one too many."""

    def add(self, run: CellRun) -> None:
        """Refuse cells that are formulas."""
        if run.formulas is not None or run.areas:
            raise _EditedError


def find_in_large(source: Source, sheet: str | None, missing: Missing, *, guard: bool) -> list[Finding] | None:
    """Return every finding in a workbook; None where it is small, or has to be read at once.

    All arguments are those of `check_excel`.

    Raises:
        NotFoundError: no such sheet.
    """
    if is_large_and_intact(source, sheet, missing):
        return []
    with Workbook(source) as book:
        if book.sheet_bytes < LARGE_WORKBOOK:
            return None
        try:
            return list(find_all(source, book, sheet, missing, guard=guard, check=check_in_pieces))
        except (FormatError, NotInPiecesError):
            return None


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


def check_in_pieces(
    sheets: Sequence[ExcelSheet],
    *,
    missing: Missing,
    judge: CompareFingerprint,
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, as `composite.check_sheets` does.

    Raises:
        FormatError: a sheet is damaged, or a header broken.
        NotInPiecesError: a cell is wrong, or their number, or there is no array.
    """
    findings: list[Finding] = []
    parts = find_parts(sheets, None, findings.append)
    headers = {name: group[0].header for name, group in parts.items()}
    sizes = {
        name: (header.dtype.numpy, header.capacity)
        for name, header in headers.items()
        if header.dtype.kind not in _TEXTUAL
    }
    if not parts or sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        raise NotInPiecesError
    with PiecedArrays(sizes) as spool:
        buffers = _store_elements(spool, sizes.keys(), parts, iter_arrays(sheets, parts, missing))
        yield from findings
        for name, group in parts.items():
            column, buffer = _column_of(group, sheets), buffers[name]
            if restore is not None:
                buffer = restore.restore(name, buffer, column)
            for finding in judge(name, buffer, column):
                if not isinstance(finding, RowChange):
                    yield finding
            spool.release()
        for one in sheets:
            yield from one.notes

        def read(names: Sequence[str] | None) -> dict[str, Array]:
            return {name: view_of(headers[name], buffers[name]) for name in (headers if names is None else names)}

        @cache
        def scan() -> Mapping[str, ArrayInfo]:
            return scan_names(sheets, strict=False, report=lambda _: None)

        yield from check_composites(read, scan)


def _store_elements(
    spool: PiecedArrays,
    spooled: Collection[str],
    parts: Mapping[str, Sequence[ColumnPart]],
    pieces: Iterator[tuple[str, Buffer]],
) -> dict[str, Buffer]:
    """Return the elements of all arrays by name; of those that are spooled they are mapped."""
    texts: dict[str, list[Buffer]] = {name: [] for name in parts if name not in spooled}
    for name, elements in pieces:
        if name in texts:
            texts[name].append(elements)
        else:
            spool.append(name, elements)
    return spool.join() | {
        name: text_array([text for one in some for text in one.tolist()])
        if parts[name][0].header.dtype.kind == "string"
        else np.concatenate([np.empty(0, object), *some])
        for name, some in texts.items()
    }


def _column_of(group: Sequence[ColumnPart], sheets: Sequence[ExcelSheet]) -> ArrayColumn:
    """Return the cells of an array, of which only the places are known."""
    (sheet,) = [sheet for sheet in sheets if sheet.title == group[0].anchor.title][:1]
    column = ArrayColumn([part.anchor for part in group], [([], []) for _ in group], sheet)
    column.starts = [0, *accumulate(part.count for part in group[:-1])]
    return column
