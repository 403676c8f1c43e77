"""The cells of sheets -> arrays: anchors wherever they are, then each column under the dtype that its header names.

A container implements `Sheet`; of several sheets, those without an array are passed over. Columns come typed by the
container's own bulk parser first; where that leaves the slightest doubt they are asked for again as text, and each
cell is judged by its look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import select
from ..data import error_for_problem
from ..dtypes import Buffer
from ..elements import Missing, check_missing, unescape_formula
from ..errors import Finding, FormatError
from ..header import Header, NoteFinding, warn_of_finding
from ..linear import LinearArray
from .anchors import MOST_BEFORE_DAMAGED, find_anchors
from .column import ArrayColumn
from .grid import Anchor
from .sheet import ArrayInfo, ColumnCells, Request, Sheet

MAX_FINDINGS_PER_ARRAY = 20  # for one array

ReportError = Callable[[FormatError], None]
CompareFingerprint = Callable[[str, Buffer | None, ArrayColumn], Iterable[Finding]]


def raise_error(error: FormatError) -> None:
    """Raise the first error that reading reports."""
    raise error


# What is where -----------------------------------------------------------------------------------------------


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


def _group_parts(
    sheets: Sequence[Sheet], anchors: list[Anchor], names: frozenset[str] | None, report: ReportError, note: NoteFinding
) -> dict[str, list[Anchor]]:
    """Group anchors by array name and sort parts; report and skip groups whose parts do not fit together.

    An array that is not among `names` is never reported: it is not the caller's business.
    """
    groups: dict[str, list[Anchor]] = {}
    escaped = sheets[0].look.formulas == "escape"
    for anchor in anchors:
        name = unescape_formula(anchor.name) if escaped else anchor.name
        aliases = anchor.aliases
        meant = names is None or name in names or aliases is None or any(alias in names for alias in aliases)
        if anchor.error is None:
            groups.setdefault(name, []).append(anchor)
        elif meant:
            anchor.error.array = name if anchor.named or aliases == () else None
            report(anchor.error)
        for finding in anchor.notes if meant else ():
            note(replace(finding, array=name))
    for name, group in list(groups.items()):
        try:
            groups[name] = _sort_parts(name, group)
        except FormatError as error:
            error.array = name
            if names is None or name in names:
                report(error)
            del groups[name]
    return groups


def _sort_parts(name: str, group: list[Anchor]) -> list[Anchor]:
    first = group[0]
    assert first.header is not None
    if first.header.part is None:
        if len(group) > 1:
            places = " and ".join(anchor.address(0) for anchor in group)
            apart = len({anchor.title for anchor in group}) > 1
            hint = "read one sheet at a time, or rename one of them" if apart else "rename one of them"
            raise FormatError(
                f"two arrays have the name {name!r}, at {places}", location=group[1].address(0), hint=hint
            )
        return group
    parts: dict[int, Anchor] = {}
    for anchor in group:
        header = anchor.header
        assert header is not None
        if header.part is None or _join_part_headers(header) != _join_part_headers(first.header):
            raise FormatError(
                f"{name}: this part does not belong to the one at {first.address(0)}", location=anchor.address(0)
            )
        k, count = header.part
        if count != first.header.part[1]:
            raise FormatError(
                f"{name}: part {k} of {count}, but of {first.header.part[1]} at {first.address(0)}",
                location=anchor.address(0),
            )
        if k in parts:
            raise FormatError(f"{name}: part {k} stands at {parts[k].address(0)} already", location=anchor.address(0))
        parts[k] = anchor
    count = first.header.part[1]
    if len(parts) < count:
        absent = next(k for k in range(1, count + 1) if k not in parts)
        raise FormatError(f"{name}: part {absent} of {count} is missing", location=first.address(0))
    return [parts[k] for k in sorted(parts)]


def _join_part_headers(header: Header) -> tuple[Any, ...]:
    return (header.dtype, header.shape, header.strides, header.offset, header.order, header.capacity)


# Reading -----------------------------------------------------------------------------------------------------


def read_sheets(
    sheets: Sequence[Sheet], names: Sequence[str] | None = None, *, strict: bool = False, missing: Missing = "error"
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of one sheet or several of a container, in the order written.

    Args:
        sheets: where the cells are; titles differ.
        names: only these are decoded; None for all.
        strict: refuse lists without a version.
        missing: "nan" reads blanks in float and complex arrays as NaN.

    Raises:
        FormatError: at the first cell that is wrong.
        NotFoundError: no array of a name asked for.
    """
    return {
        name: array
        for name, array in _read_arrays(sheets, names, strict, missing, raise_error, warn_of_finding)
        if array is not None
    }


def read_sheet(
    sheet: Sheet, names: Sequence[str] | None = None, *, strict: bool = False, missing: Missing = "error"
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a container's only sheet; see `read_sheets`."""
    return read_sheets([sheet], names, strict=strict, missing=missing)


def scan_sheets(
    sheets: Sequence[Sheet],
    *,
    strict: bool = False,
    report: ReportError = raise_error,
    note: NoteFinding = warn_of_finding,
) -> dict[str, ArrayInfo]:
    """Return what the headers of sheets say, without reading on.

    Args:
        sheets: where the cells are.
        strict: refuse lists without a version.
        report: is told of each damaged header; by default the first is raised.
        note: is told what was accepted all the same; by default it is a warning.

    Raises:
        FormatError: no array, or a broken header.
    """
    infos: dict[str, ArrayInfo] = {}
    for name, group in _group_parts(sheets, _find_all_anchors(sheets, strict), None, report, note).items():
        header = group[0].header
        assert header is not None
        infos[name] = ArrayInfo(
            header.shape,
            header.dtype.name,
            header.order,
            header.strides,
            group[0].address(0),
            sum(anchor.start for anchor in group) + header.capacity,
            header.offset,
            header.capacity,
            len(group),
        )
    return infos


def scan_sheet(sheet: Sheet, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """Return what the headers of a container's only sheet say; see `scan_sheets`."""
    return scan_sheets([sheet], strict=strict)


def check_sheets(
    sheets: Sequence[Sheet], *, missing: Missing = "error", judge: CompareFingerprint | None = None
) -> Iterator[Finding]:
    """Yield every finding in sheets, in reading order; nothing where they are intact.

    Args:
        sheets: where the cells are.
        missing: as for `read_sheets`.
        judge: what else there is to say of the elements of an array; of None, where not all of them can be read.
    """
    errors: list[FormatError] = []
    findings: list[Finding] = []
    try:
        for _ in _read_arrays(sheets, None, False, missing, errors.append, findings.append, judge):
            pass
    except FormatError as error:
        errors.append(error)
    yield from findings
    yield from map(Finding.from_error, errors)


def check_sheet(sheet: Sheet, *, missing: Missing = "error") -> Iterator[Finding]:
    """Return every finding in a container's only sheet; see `check_sheets`."""
    return check_sheets([sheet], missing=missing)


def _read_arrays(
    sheets: Sequence[Sheet],
    names: Sequence[str] | None,
    strict: bool,
    missing: Missing,
    report: ReportError,
    note: NoteFinding,
    judge: CompareFingerprint | None = None,
) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
    check_missing(missing)
    names = [names] if isinstance(names, str) else names
    anchors = _find_all_anchors(sheets, strict)
    groups = _group_parts(sheets, anchors, None if names is None else frozenset(names), report, note)
    wanted = select(groups, names)
    reader = _ArrayReader(sheets, _stops(anchors), missing, report, note, judge)
    yield from reader.read_rows({name: group for name, group in wanted.items() if group[0].orient == "rows"})
    standing = {name: group for name, group in wanted.items() if group[0].orient == "columns"}
    results = reader.read_columns(standing)
    for sheet in sheets:
        for finding in sheet.notes:
            note(finding)
    yield from ((name, results[name]) for name in standing)


def _stops(anchors: Iterable[Anchor]) -> dict[int, int]:
    """Return where the cells of an anchor must end, by its id: above the next one in its column, left of it
    in its row.
    """
    lines: dict[tuple[str | None, str, int], list[Anchor]] = {}
    for anchor in anchors:
        lines.setdefault((anchor.title, anchor.orient, anchor.line), []).append(anchor)
    stops: dict[int, int] = {}
    for line in lines.values():
        line.sort(key=lambda anchor: anchor.first)
        for anchor, other in pairwise(line):
            if other.aliases == ():
                stops[id(anchor)] = other.first - other.named
            elif anchor.header is not None:  # of a damaged header nobody knows where it begins
                end = anchor.first + anchor.start + anchor.header.capacity
                stops[id(anchor)] = max(end, other.first - MOST_BEFORE_DAMAGED)
    return stops


class _ArrayReader:
    """Turns the columns and rows of sheets into arrays."""

    def __init__(
        self,
        sheets: Sequence[Sheet],
        stops: Mapping[int, int],
        missing: Missing,
        report: ReportError,
        note: NoteFinding,
        judge: CompareFingerprint | None,
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._stops = stops
        self._missing, self._report, self._note, self._judge = missing, report, note, judge

    def _sheet_of(self, anchor: Anchor) -> Sheet:
        """Return the sheet of an anchor."""
        return self._sheets[anchor.title]

    def read_rows(self, groups: Mapping[str, list[Anchor]]) -> Iterator[tuple[str, np.ndarray[Any, Any] | None]]:
        """Yield the arrays of rows, one by one; None for what could not be read, which has been reported."""
        by_sheet: dict[str | None, list[Anchor]] = {}
        for anchor in (anchor for group in groups.values() for anchor in group):
            by_sheet.setdefault(anchor.title, []).append(anchor)
        rows = {
            title: iter(self._sheets[title].rows([self._to_request(anchor) for anchor in anchors]))
            for title, anchors in by_sheet.items()
        }
        for name, group in groups.items():
            pieces = [next(rows[anchor.title]) for anchor in group]
            yield name, self.finish_column(ArrayColumn(group, pieces, self._sheet_of(group[0])), name)

    def read_columns(self, groups: Mapping[str, list[Anchor]]) -> dict[str, np.ndarray[Any, Any] | None]:
        """Read one array per group. An array that could not be read is None, and its errors have been reported."""
        doubtful: dict[str, list[Anchor]] = {}
        results: dict[str, np.ndarray[Any, Any] | None] = {}
        for (name, group), column in zip(groups.items(), self._fetch(groups.values(), typed=True), strict=True):
            buffer = column.decode_typed(self._missing)
            if buffer is None and column.is_text:
                results[name] = self.finish_column(column, name)
            elif buffer is None:
                doubtful[name] = group
            else:
                results[name] = self._build_array(column, name, buffer)
        for (name, _), column in zip(doubtful.items(), self._fetch(doubtful.values(), typed=False), strict=True):
            results[name] = self.finish_column(column, name)
        return results

    def _fetch(self, groups: Iterable[list[Anchor]], *, typed: bool) -> Iterator[ArrayColumn]:
        """Yield the columns of each group; every sheet is asked once."""
        wanted: dict[str | None, list[Anchor]] = {}
        for anchor in (anchor for group in groups for anchor in group):
            wanted.setdefault(anchor.title, []).append(anchor)
        cells: dict[int, ColumnCells] = {}
        for title, anchors in wanted.items():
            requests = [self._to_request(anchor) for anchor in anchors]
            for anchor, column_cells in zip(anchors, self._sheets[title].columns(requests, typed=typed), strict=True):
                cells[id(anchor)] = column_cells
        for group in groups:
            yield ArrayColumn(group, [cells.pop(id(anchor)) for anchor in group], self._sheet_of(group[0]))

    def finish_column(self, column: ArrayColumn, name: str) -> np.ndarray[Any, Any] | None:
        """Decode a column cell by cell and report each problem. Return the array, or None if there was any problem."""
        header = column.header
        try:
            decoded = column.decode_checked(self._missing)
        except FormatError as error:
            error.array = name
            self._report(error)
            return None
        if decoded.count_error:
            decoded.count_error.array = name
            self._report(decoded.count_error)
        for problem in decoded.problems[:MAX_FINDINGS_PER_ARRAY]:
            self._report(error_for_problem(problem, header, name, column.address, cells_each=decoded.cells_per_element))
        if (more := len(decoded.problems) - MAX_FINDINGS_PER_ARRAY) > 0:
            reason = f"{name}: {more} more cells cannot be read as {header.dtype.name}"
            self._report(FormatError(reason, array=name))
        if not decoded.problems and not decoded.count_error:
            return self._build_array(column, name, decoded.buffer)
        if self._judge is not None:
            sound = not decoded.problems and decoded.cells_per_element == 1
            self._warn_of_all(name, self._judge(name, decoded.buffer if sound else None, column))
        return None

    def _build_array(self, column: ArrayColumn, name: str, buffer: Buffer) -> np.ndarray[Any, Any]:
        if self._judge is not None:
            self._warn_of_all(name, self._judge(name, buffer, column))
        return LinearArray.from_header(column.header, buffer).to_numpy()

    def _to_request(self, anchor: Anchor) -> Request:
        assert anchor.header is not None
        return Request(*anchor.data_cell, anchor.header.dtype, stop=self._stops.get(id(anchor)))

    def _warn_of_all(self, name: str, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._note(replace(finding, array=name))
