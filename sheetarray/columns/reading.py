"""The cells of sheets -> arrays: anchors wherever they are, then each column under the dtype that its header names.

A container implements `Sheet`; of several sheets, those without an array are passed over. Columns come typed by the
container's own bulk parser first; where that leaves the slightest doubt they are asked for again as text, and each
cell is judged by its look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import select
from ..dtypes import Buffer
from ..elements import Missing, check_missing
from ..errors import Finding, FormatError
from ..header import Header, NoteFinding, warn_of_finding
from .adopting import ResizedArray
from .anchors import find_anchors
from .column import ArrayColumn
from .column_reader import ColumnReader, CompareFingerprint, ElementRestorer, ReadMode
from .grid import Anchor
from .layout import ReportError, find_stops, group_parts
from .sheet import ArrayInfo, DataCells, Sheet, Zone


def raise_error(error: FormatError) -> None:
    """Raise the first error that reading reports."""
    raise error


# Anchors -----------------------------------------------------------------------------------------------------


def _find_all_anchors(sheets: Sequence[Sheet], strict: bool) -> list[Anchor]:
    """Return every anchor, sheet by sheet.

    Raises:
        FormatError: there is none.
    """
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet, strict=strict)]
    if not anchors:
        raise FormatError(
            "no array of the exchange format here (no cells version, 1.0.0, ndarray)",
            hint="an ordinary table is read by read_columns, and by sheetarray table",
        )
    return anchors


# Reading -----------------------------------------------------------------------------------------------------


def read_sheets(
    sheets: Sequence[Sheet],
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    fixed: Collection[str] = (),
    restore: ElementRestorer | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of one sheet or several of a container, in the order written.

    `sheets`: where the cells are; titles differ. `missing`: "nan" reads blanks in float and complex arrays as NaN.
    `resize`: the axis that varies slowest takes its length from the cells that stand in the column. `fixed`: arrays
    that are not resized, since others depend on them. `restore`: gives elements the bits that they were written with.

    Raises:
        FormatError: at the first cell that is wrong.
        NotFoundError: no array of a name asked for.
    """
    mode = ReadMode(strict, missing, raise_error, warn_of_finding, resize=resize, fixed=fixed, restore=restore)
    return {name: array for name, array in _read_arrays(sheets, names, mode) if array is not None}


def read_resized(
    sheets: Sequence[Sheet], *, missing: Missing = "error", fixed: Collection[str] = ()
) -> dict[str, ResizedArray]:
    """Return every array with the length that its cells have, and its buffer, by name.

    `fixed`: arrays that are not resized, since others depend on them.

    Raises:
        FormatError: at the first cell that is wrong.
    """
    arrays: dict[str, ResizedArray] = {}

    def keep(name: str, buffer: Buffer | None, column: ArrayColumn) -> Iterator[Finding]:
        assert buffer is not None, "the first error is raised"
        arrays[name] = ResizedArray(column, buffer)
        yield from ()

    mode = ReadMode(False, missing, raise_error, warn_of_finding, keep, resize=True, fixed=fixed)
    names = [name for name, _ in _read_arrays(sheets, None, mode)]
    return {name: arrays[name] for name in names}


def scan_sheets(
    sheets: Sequence[Sheet],
    *,
    strict: bool = False,
    report: ReportError = raise_error,
    note: NoteFinding = warn_of_finding,
    resize: bool = False,
    fixed: Collection[str] = (),
) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in some sheets, from their headers alone.

    `report`: is called with the error of each damaged header; by default the first is raised. `note`: is called with
    each finding about something that was accepted although it is not as `write` writes it; by default it is a warning.
    `resize`: shapes are those that `read_sheets` gives; all cells are read.

    Raises:
        FormatError: no array, or a broken header.
    """
    mode = ReadMode(strict, "error", report, note, resize=resize, fixed=fixed)
    groups, reader = _open_reader(sheets, None, mode)
    resized = reader.fetch_resized(groups) if resize else {}
    infos = _Infos(sheets, groups, {name: column.header for name, column in resized.items()})
    return dict(infos.items())


def scan_names(sheets: Sequence[Sheet], *, strict: bool, report: ReportError) -> Mapping[str, ArrayInfo]:
    """Return the infos that `scan_sheets` returns, each made only when it is asked for: mostly names are enough."""
    groups, _ = _open_reader(sheets, None, ReadMode(strict, "error", report, lambda _: None))
    return _Infos(sheets, groups, {})


class _Infos(Mapping[str, ArrayInfo]):
    """The infos of arrays by their names, made when they are asked for."""

    def __init__(
        self, sheets: Sequence[Sheet], groups: Mapping[str, list[Anchor]], resized: Mapping[str, Header]
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._groups, self._resized = groups, resized

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __contains__(self, name: object) -> bool:
        return name in self._groups

    def __getitem__(self, name: str) -> ArrayInfo:
        group = self._groups[name]
        header = self._resized.get(name, group[0].header)
        assert header is not None
        return _info_of(header, group, self._sheets[group[0].title])


def _info_of(header: Header, group: Sequence[Anchor], sheet: Sheet) -> ArrayInfo:
    """Return the info of an array, made of its header and the anchors of its parts."""
    above = sum([anchor.start for anchor in group])
    data = _find_data_cells(sheet, group)
    return ArrayInfo.from_header(header, group[0].address(0), above, parts=len(group), data=data)


def _find_data_cells(sheet: Sheet, group: Sequence[Anchor]) -> tuple[DataCells, ...]:
    """Return the ranges of an array's data cells, as far as its headers and its first data cell tell.

    Parts that do not reach down to the last row of their container are as long as people have left them, which only
    reading tells; so does whether a complex array has one cell for each element or two, unless the first is text.
    """
    first, header = group[0], group[0].header
    assert header is not None
    if header.dtype.kind == "complex" and header.capacity:
        column, row = first.data_cell
        cells = sheet.zones([Zone(row, column, 1, first.orient)])[0]
        if not cells or not str(cells[0]).strip().endswith(("i", "j")):
            return ()
    height = 0
    if len(group) > 1:
        heights = {(sheet.max_rows or 0) - anchor.row - anchor.start for anchor in group[:-1]}
        height = heights.pop()
        if heights or not (len(group) - 1) * height < header.capacity <= len(group) * height:
            return ()
    cells = []
    for number, anchor in enumerate(group):
        column, row = anchor.data_cell
        cells.append(DataCells(anchor.title, row, column, anchor.orient, number * height))
    return tuple(cells)


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: CompareFingerprint | None = None,
    fixed: Collection[str] = (),
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in sheets, in reading order; nothing where they are intact.

    Rows that people added to, or deleted from, all arrays of a sheet alike are one finding.

    `judge`: yields further findings about the elements of an array, such as that they are not those that were written;
    its elements are None where not all of them can be read. `fixed`: arrays that have no rows of their own, since
    others depend on them. `restore`: as for `read_sheets`; `judge` sees what it has restored.
    """
    errors: list[FormatError] = []
    findings: list[Finding] = []
    mode = ReadMode(
        False, missing, errors.append, findings.append, judge, fixed=fixed, finds_edits=True, restore=restore
    )
    try:
        for _ in _read_arrays(sheets, None, mode):
            pass
    except FormatError as error:
        errors.append(error)
    yield from findings
    yield from map(Finding.from_error, errors)


def _open_reader(
    sheets: Sequence[Sheet], names: frozenset[str] | None, mode: ReadMode
) -> tuple[dict[str, list[Anchor]], ColumnReader]:
    """Return the anchors of each array, and what reads them."""
    anchors = _find_all_anchors(sheets, mode.strict)
    groups = group_parts(sheets, anchors, names, mode.report, mode.note)
    return groups, ColumnReader(sheets, find_stops(anchors), mode)


def _read_arrays(
    sheets: Sequence[Sheet], names: Sequence[str] | None, mode: ReadMode
) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
    check_missing(mode.missing)
    names = [names] if isinstance(names, str) else names
    groups, reader = _open_reader(sheets, None if names is None else frozenset(names), mode)
    if names is not None and (mode.resize or not groups.keys() >= frozenset(names)):
        groups = group_parts(sheets, _find_all_anchors(sheets, mode.strict), None, lambda _: None, lambda _: None)
    wanted = select(groups, names)
    if mode.resize:
        reader.measure_others(wanted, groups)
    lying = {name: group for name, group in wanted.items() if group[0].orient == "rows"}
    if lying:
        yield from reader.read_rows(lying)
    standing = {name: group for name, group in wanted.items() if group[0].orient == "columns"}
    results = reader.read_columns(standing)
    for sheet in sheets:
        for finding in sheet.notes:
            mode.note(finding)
    yield from ((name, results[name]) for name in standing)
