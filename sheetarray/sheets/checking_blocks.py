"""Checks sheets block by block, with no more than one of their arrays in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..columns import ElementRestorer, JudgeArray, RowChange, Sheet, SheetArrays
from ..columns.blocks.parts import find_parts
from ..columns.blocks.reading import iter_arrays
from ..columns.blocks.stored import store_arrays
from ..columns.pieced_arrays import NotInPiecesError
from ..dtypes import Array
from ..elements import Missing
from ..errors import Finding
from ..linear.buffers import view_of
from ..linear.resizing import contiguous_strides
from .arrays_of_sheets import check_composites


def check_in_blocks(
    sheets: Sequence[Sheet],
    *,
    missing: Missing,
    judge: JudgeArray,
    compare: Callable[[], Iterator[Finding]],
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, as `check_sheets` does; each array is mapped from a file, and judged by itself.

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
        for sheet in sheets:
            yield from sheet.notes

        def read(names: Sequence[str] | None) -> dict[str, Array]:
            names = [*parts] if names is None else names
            return {name: view_of(parts[name][0].header, stored.buffer(name)) for name in names}

        yield from check_composites(read, SheetArrays(sheets).scan)


def check_passing(sheet: Sheet, missing: Missing) -> list[Finding]:
    """Return every finding in a sheet whose elements nobody judges: they are read, and not kept.

    Raises:
        FormatError: the sheet is damaged, or a header broken.
        NotInPiecesError: the sheet has to be read as a whole.
    """
    parts = find_parts([sheet], None)
    for _ in iter_arrays([sheet], parts, missing):
        pass
    arrays = SheetArrays([sheet], missing=missing)
    infos = arrays.scan_all()
    if any(info.strides != contiguous_strides(info.shape, info.order) for info in infos.values()):
        raise NotInPiecesError  # reading knows whether NumPy has such a view
    return check_composites(arrays.read, lambda: infos)
