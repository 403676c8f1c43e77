"""The cells of a sheet -> arrays: anchors in its first rows, then each column under the dtype that its header names.

A container implements `Sheet`. Columns come typed by the container's own bulk parser first; where that leaves the
slightest doubt they are asked for again as text, and each cell is judged by its look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import chosen
from ..elements import Missing, check_missing, unescape
from ..errors import Finding, FormatError
from ..header import LONGEST, Header, Note, warn
from ..linear import LinearArray, blame
from .column import Column
from .grid import Anchor, find_anchors
from .sheet import ArrayInfo, Request, Sheet

MOST_ROWS_ABOVE = 1024  # an array may begin this far down a sheet
_BUDGETS = (20_000, 200_000, 2_000_000, 20_000_000)  # cells looked at until every header is complete
_MOST_FINDINGS = 20  # for one array

Raise = Callable[[FormatError], None]


def _raise(error: FormatError) -> None:
    raise error


# What is where -----------------------------------------------------------------------------------------------


def _anchors(sheet: Sheet, strict: bool) -> list[Anchor]:
    """Every anchor of a sheet.

    Raises:
        FormatError: there is none.
    """
    anchors: list[Anchor] = []
    ended = False
    for budget in _BUDGETS:
        grid, ended = sheet.head(budget)
        anchors = find_anchors(grid, strict=strict, ended=ended)
        found = anchors and not any(anchor.cut for anchor in anchors)
        if ended or found or (not anchors and len(grid) >= MOST_ROWS_ABOVE):
            break
    if not ended and any(anchor.orient == "rows" for anchor in anchors):
        anchors = find_anchors(sheet.beginnings(LONGEST + 64), strict=strict)
    if not anchors:
        raise FormatError(
            "no array of the exchange format here (no cells version, 1.0.0, ndarray)",
            hint="an ordinary table is read by read_columns",
        )
    return anchors


def _grouped(
    sheet: Sheet, anchors: list[Anchor], names: Sequence[str] | None, report: Raise, note: Note
) -> dict[str, list[Anchor]]:
    """The anchors of each array, parts in their order; what cannot be put together is reported and left out.

    An array that is not among `names` is never reported: it is not the caller's business.
    """
    groups: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        name = unescape(anchor.name) if sheet.look.formulas == "escape" else anchor.name
        meant = names is None or name in names
        if anchor.error is None:
            groups.setdefault(name, []).append(anchor)
        elif meant:
            report(anchor.error)
        for finding in anchor.notes if meant else ():
            note(finding)
    for name, group in list(groups.items()):
        try:
            groups[name] = _in_order(name, group)
        except FormatError as error:
            if names is None or name in names:
                report(error)
            del groups[name]
    return groups


def _in_order(name: str, group: list[Anchor]) -> list[Anchor]:
    first = group[0]
    assert first.header is not None
    if first.header.part is None:
        if len(group) > 1:
            places = " and ".join(anchor.address(0) for anchor in group)
            raise FormatError(f"two arrays have the name {name!r}, at {places}", location=group[1].address(0),
                              hint="rename one of them")  # fmt: skip
        return group
    parts: dict[int, Anchor] = {}
    for anchor in group:
        header = anchor.header
        assert header is not None
        if header.part is None or _whole(header) != _whole(first.header):
            raise FormatError(f"{name}: this part does not belong to the one at {first.address(0)}",
                              location=anchor.address(0))  # fmt: skip
        k, count = header.part
        if count != first.header.part[1]:
            raise FormatError(f"{name}: part {k} of {count}, but of {first.header.part[1]} at {first.address(0)}",
                              location=anchor.address(0))  # fmt: skip
        if k in parts:
            raise FormatError(f"{name}: part {k} stands at {parts[k].address(0)} already", location=anchor.address(0))
        parts[k] = anchor
    count = first.header.part[1]
    if len(parts) < count:
        absent = next(k for k in range(1, count + 1) if k not in parts)
        raise FormatError(f"{name}: part {absent} of {count} is missing", location=first.address(0))
    return [parts[k] for k in sorted(parts)]


def _whole(header: Header) -> tuple[Any, ...]:
    return (header.dtype, header.shape, header.strides, header.offset, header.order, header.capacity)


# Reading -----------------------------------------------------------------------------------------------------


def read_sheet(
    sheet: Sheet, names: Sequence[str] | None = None, *, strict: bool = False, missing: Missing = "error"
) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a sheet, in the order written.

    Args:
        sheet: where the cells are.
        names: only these are decoded; None for all.
        strict: refuse lists without a version.
        missing: "nan" reads blanks in float and complex arrays as NaN.

    Raises:
        FormatError: at the first cell that is wrong.
        NotFoundError: no array of a name asked for.
    """
    return dict(_arrays(sheet, names, strict, missing, _raise, warn))


def scan_sheet(sheet: Sheet, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """What the headers of a sheet say, without reading on.

    Raises:
        FormatError: no array, or a broken header.
    """
    found: dict[str, ArrayInfo] = {}
    for name, group in _grouped(sheet, _anchors(sheet, strict), None, _raise, warn).items():
        header = group[0].header
        assert header is not None
        location = group[0].address(0) if sheet.title is None else f"{sheet.title}!{group[0].address(0)}"
        found[name] = ArrayInfo(
            header.shape, header.dtype.name, header.order, header.strides, location,
            sum(anchor.start for anchor in group) + header.capacity, header.offset, header.capacity, len(group),
        )  # fmt: skip
    return found


def check_sheet(sheet: Sheet, *, missing: Missing = "error") -> Iterator[Finding]:
    """Every finding in a sheet, in reading order; nothing where it is intact."""
    errors: list[FormatError] = []
    findings: list[Finding] = []
    try:
        for _ in _arrays(sheet, None, False, missing, errors.append, findings.append):
            pass
    except FormatError as error:
        errors.append(error)
    yield from findings
    yield from map(Finding.of, errors)


def _arrays(
    sheet: Sheet, names: Sequence[str] | None, strict: bool, missing: Missing, report: Raise, note: Note
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    check_missing(missing)
    names = [names] if isinstance(names, str) else names
    groups = _grouped(sheet, _anchors(sheet, strict), names, report, note)
    wanted = chosen(groups, names)
    for name, group in wanted.items():
        if group[0].orient == "rows":
            yield from _finish(Column.of_rows(sheet, group), name, missing, report)
    standing = [(name, group) for name, group in wanted.items() if group[0].orient == "columns"]
    fetched = _fetch(sheet, [group for _, group in standing], typed=True)
    doubtful: list[tuple[str, list[Anchor]]] = []
    results: dict[str, np.ndarray[Any, Any]] = {}
    for (name, group), column in zip(standing, fetched, strict=True):
        buffer = column.typed(missing)
        if buffer is None and column.is_text:
            results.update(_finish(column, name, missing, report))
        elif buffer is None:
            doubtful.append((name, group))
        else:
            results[name] = LinearArray.of(column.header, buffer).to_numpy()
    for (name, _), column in zip(doubtful, _fetch(sheet, [group for _, group in doubtful], typed=False), strict=True):
        results.update(_finish(column, name, missing, report))
    for finding in sheet.notes:
        note(finding)
    yield from ((name, results[name]) for name, _ in standing if name in results)


def _fetch(sheet: Sheet, groups: list[list[Anchor]], *, typed: bool) -> list[Column]:
    requests = []
    for anchor in (anchor for group in groups for anchor in group):
        assert anchor.header is not None
        requests.append(Request(anchor.column, anchor.row + anchor.start, anchor.header.dtype))
    cells = iter(sheet.columns(requests, typed=typed) if requests else [])
    return [Column(group, [next(cells) for _ in group], sheet) for group in groups]


def _finish(column: Column, name: str, missing: Missing, report: Raise) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Judge a column cell by cell; the array, or reports of what is wrong with it."""
    header = column.header
    try:
        judged = column.judged(missing)
    except FormatError as error:
        report(error)
        return
    if judged.wrong_count:
        report(judged.wrong_count)
    for problem in judged.problems[:_MOST_FINDINGS]:
        report(blame(problem, header, name, column.address, cells_each=judged.each))
    if (more := len(judged.problems) - _MOST_FINDINGS) > 0:
        report(FormatError(f"{name}: {more} more cells cannot be read as {header.dtype.name}"))
    if not judged.problems and not judged.wrong_count:
        yield name, LinearArray.of(header, judged.buffer).to_numpy()
