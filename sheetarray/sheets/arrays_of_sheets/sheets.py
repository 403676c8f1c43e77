"""The arrays of containers of sheets, composites among them: read (by `read_composites`), scanned, checked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

from ...columns import (
    ArrayInfo,
    ElementRestorer,
    JudgeArray,
    ResizedArray,
    Sheet,
    SheetArrays,
)
from ...elements import Missing
from ...errors import (
    Finding,
    FormatError,
    SheetArrayWarning,
)
from ...labels import spread_labels as spread_labels
from .gathering import check_composites, find_fixed_columns, scan_composites


def open_sheets(
    sheets: Sequence[Sheet],
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> SheetArrays:
    """Find the arrays of sheets, and those that are never resized; see `SheetArrays`, whose functions read and scan."""
    arrays = SheetArrays(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
    if resize:
        arrays.fixed = find_fixed_columns(SheetArrays(sheets, strict=strict, missing=missing).read, arrays.scan)
    return arrays


def scan_sheets(sheets: Sequence[Sheet], *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in some sheets, composites among them; see `SheetArrays.scan_all`."""
    if not resize:
        arrays = SheetArrays(sheets, strict=strict, missing="nan")
        return scan_composites(arrays.read, arrays.scan_all, arrays.peek)
    arrays = open_sheets(sheets, strict=strict, missing="nan", resize=True)
    measured = SheetArrays(sheets, strict=strict, missing="error", resize=True)  # a blank at the end is no element
    measured.fixed = arrays.fixed
    return scan_composites(arrays.read, measured.scan_all)


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: JudgeArray | None = None,
    compare: Callable[[], Iterator[Finding]] = lambda: iter(()),
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in the columns of sheets, then those of composites; see `SheetArrays.check`.

    `compare`: yields further findings when all arrays have been judged.
    """
    try:
        arrays = SheetArrays(sheets, missing=missing, restore=restore)
    except FormatError as error:  # nothing can be found in the sheets: they are not searched again for composites
        yield Finding.from_error(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns finds
        arrays.fixed = find_fixed_columns(arrays.read, arrays.scan)
    yield from arrays.check(judge)
    yield from compare()
    yield from check_composites(arrays.read, arrays.scan, arrays.peek)


def read_resized_arrays(sheets: Sequence[Sheet], *, missing: Missing = "error") -> dict[str, ResizedArray]:
    """Return every column with the length that its cells have; see `SheetArrays.read_resized`."""
    return open_sheets(sheets, missing=missing, resize=True).read_resized()
