"""The arrays of containers of sheets, composites among them: read, scanned, checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..columns import (
    ArrayInfo,
    CompareFingerprint,
    ElementRestorer,
    FindUnchanged,
    ResizedArray,
    Sheet,
    read_resized,
    scan_names,
)
from ..columns import check_sheets as check_columns
from ..columns import read_sheets as read_columns
from ..columns import scan_sheets as scan_columns
from ..elements import Missing
from ..errors import Finding, FormatError, SheetArrayWarning
from .columns import check_composites, count_named, find_fixed_columns, read_composites, scan_composites
from .modules import (
    ArraysByName,
    InfosByName,
    Read,
    Scan,
    ignore_finding,
)


def read_sheets(
    sheets: Sequence[Sheet],
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> ArraysByName:
    """Read the arrays of one sheet or several, composites among them; see `columns.read_sheets`."""
    return read_composites(*_reader_of(sheets, strict, missing, resize=resize, restore=restore), names)


def scan_sheets(sheets: Sequence[Sheet], *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in some sheets, composites among them; see `columns.scan_sheets`."""
    read, _ = _reader_of(sheets, strict, "nan", resize=resize)
    fixed = find_fixed_columns(*_reader_of(sheets, strict, "nan")) if resize else frozenset()
    return scan_composites(read, lambda: scan_columns(sheets, strict=strict, resize=resize, fixed=fixed))


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: CompareFingerprint | None = None,
    find_unchanged: FindUnchanged | None = None,
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in the columns of sheets, then those of composites; see `columns.check_sheets`."""
    read, scan = _reader_of(sheets, False, missing, restore=restore)
    try:
        scan()
    except FormatError as error:  # nothing can be found in the sheets: they are not searched again for composites
        yield Finding.from_error(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns finds
        fixed = find_fixed_columns(read, scan)
    how: dict[str, Any] = {"judge": judge, "find_unchanged": find_unchanged, "restore": restore}
    yield from check_columns(sheets, missing=missing, fixed=fixed, **how)
    yield from check_composites(read, scan)


def read_resized_arrays(sheets: Sequence[Sheet], *, missing: Missing = "error") -> dict[str, ResizedArray]:
    """Return every column with the length that its cells have; see `columns.read_resized`."""
    return read_resized(sheets, missing=missing, fixed=find_fixed_columns(*_reader_of(sheets, False, missing)))


def count_cells(sheets: Sequence[Sheet], names: Sequence[str] | None = None, *, strict: bool = False) -> int:
    """Return the number of cells that arrays take in sheets; 0 if a header is damaged: reading raises its error."""
    return count_named(*_reader_of(sheets, strict, "nan"), names)


def _reader_of(
    sheets: Sequence[Sheet],
    strict: bool,
    missing: Missing,
    *,
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> tuple[Read, Scan]:
    fixed: frozenset[str] | None = None

    def read(names: Sequence[str] | None) -> ArraysByName:
        nonlocal fixed
        if resize and fixed is None:
            fixed = find_fixed_columns(*_reader_of(sheets, strict, missing))
        return read_columns(
            sheets, names, strict=strict, missing=missing, resize=resize, fixed=fixed or (), restore=restore
        )

    @cache  # very many headers take a while
    def scan() -> InfosByName:
        return scan_names(sheets, strict=strict, report=ignore_finding)

    return read, scan
