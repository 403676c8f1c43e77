"""The cells of a sheet -> arrays: anchors in its first rows, then each column under the dtype that its header names.

A container implements `Sheet`. Columns come typed by the container's own bulk parser first; where that leaves the
slightest doubt they are asked for again as text, and each cell is judged by its look.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..cells import TextLook, from_text, from_typed
from ..dtypes import DType
from ..elements import Cell, Missing, Problem, is_blank, unescape
from ..errors import Finding, FormatError, NotFoundError, SheetArrayWarning
from ..header import LONGEST, Header, Order
from ..linear import LinearArray, blame, check_count, decode_data, part_dtype
from .grid import Anchor, find_anchors

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS_ABOVE = 1024  # an array may begin this far down a sheet
_BUDGETS = (20_000, 200_000, 2_000_000, 20_000_000)  # cells looked at until every header is complete
_MOST_FINDINGS = 20  # for one array

Raise = Callable[[FormatError], None]
Buffer = np.ndarray[tuple[int], np.dtype[Any]]
Cells = tuple[Sequence[Cell], "pl.Series | Sequence[Cell]"]  # the first cells of a column, and all others


@dataclass(frozen=True, slots=True)
class Request:
    """A column that is wanted: its index, the row of its first data cell (both from 0), and the dtype."""

    column: int
    row: int
    dtype: DType


class Sheet(Protocol):
    """What a container shows of one of its sheets. All rows and columns count from 0.

    Attributes:
        title: the sheet's name in addresses; None where the container has only one.
        look: how values look in its text.
        max_rows: how many rows the container has, None for any number.
    """

    title: str | None
    look: TextLook
    max_rows: int | None

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """The first rows, up to about `budget` cells or 1,200 rows, and whether that was all of the sheet.

        Blanks are None or ""; the last row may be cut short, but never within a cell.
        """

    def beginnings(self, width: int) -> Sequence[Sequence[Cell]]:
        """The first `width` cells of every row, at most 1,200 rows: for arrays that lie in rows."""

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[Cells]:
        """Each requested column down to the sheet's end.

        Args:
            requests: of distinct columns.
            typed: parse under `cells.engine_dtype` where the container can; otherwise text is String.

        Returns:
            For each request the first cells as they are, and the rest: a Series, in a container of text; or a list
            of Python scalars, in one that has types of its own.
        """

    def row(self, row: int, column: int) -> Cells:
        """The cells of a row from a column on, as `columns` gives those of a column."""


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """What a header says of an array, and where it stands.

    Attributes:
        shape: dimension sizes.
        dtype: the format's name of it.
        order: "row-major" or "column-major".
        strides: in elements.
        location: the address of the first cell (`version`); in a workbook with the sheet, `arrays!A2`.
        cells: how many cells the array takes, headers included.
        offset: in elements.
        capacity: elements in the buffer.
        parts: how many columns the array is spread over.
    """

    shape: tuple[int, ...]
    dtype: str
    order: Order
    strides: tuple[int, ...]
    location: str
    cells: int
    offset: int = 0
    capacity: int = 0
    parts: int = 1


def _raise(error: FormatError) -> None:
    raise error


# What is where -----------------------------------------------------------------------------------------------


def _anchors(sheet: Sheet, strict: bool) -> list[Anchor]:
    anchors: list[Anchor] = []
    for budget in _BUDGETS:
        grid, ended = sheet.head(budget)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            anchors = find_anchors(grid, strict=strict, ended=ended)
        if ended or (anchors and not any(anchor.cut for anchor in anchors)) or (not anchors and len(grid) >= MOST_ROWS_ABOVE):
            break
    if not ended and any(anchor.orient == "rows" for anchor in anchors):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            anchors = find_anchors(sheet.beginnings(LONGEST + 64), strict=strict)
    for warning in caught:
        warnings.warn(warning.message, stacklevel=3)
    return anchors


def _grouped(sheet: Sheet, anchors: list[Anchor], report: Raise) -> dict[str, list[Anchor]]:
    """The anchors of each array, parts in their order; what cannot be put together is reported and left out."""
    groups: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        if anchor.error is not None:
            report(anchor.error)
        else:
            name = unescape(anchor.name) if sheet.look.formulas == "escape" else anchor.name
            groups.setdefault(name, []).append(anchor)
    for name, group in list(groups.items()):
        try:
            groups[name] = _in_order(name, group)
        except FormatError as error:
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


def _no_anchor() -> FormatError:
    return FormatError(
        "no array of the exchange format here (no cells version, 1.0.0, ndarray)",
        hint="an ordinary table is read by read_columns",
    )


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
    return {name: array for name, array in _arrays(sheet, names, strict, missing, _raise)}


def scan_sheet(sheet: Sheet, *, strict: bool = False) -> dict[str, ArrayInfo]:
    """What the headers of a sheet say, without reading on.

    Raises:
        FormatError: no array, or a broken header.
    """
    anchors = _anchors(sheet, strict)
    if not anchors:
        raise _no_anchor()
    found: dict[str, ArrayInfo] = {}
    for name, group in _grouped(sheet, anchors, _raise).items():
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for _ in _arrays(sheet, None, False, missing, errors.append):
                pass
        except FormatError as error:
            errors.append(error)
    for warning in caught:
        if issubclass(warning.category, SheetArrayWarning):
            place, _, text = str(warning.message).partition(": ")
            yield Finding("warning", place, text)
    for error in errors:
        yield Finding.of(error)


def _arrays(
    sheet: Sheet, names: Sequence[str] | None, strict: bool, missing: Missing, report: Raise
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    anchors = _anchors(sheet, strict)
    if not anchors:
        raise _no_anchor()
    groups = _grouped(sheet, anchors, report)
    wanted = groups if names is None else {name: groups[name] for name in _known(names, groups)}
    for name, group in wanted.items():
        if group[0].orient == "rows":
            yield from _finish(_Column.of_rows(sheet, group), sheet, name, missing, report)
    standing = [(name, group) for name, group in wanted.items() if group[0].orient == "columns"]
    fetched = _fetch(sheet, [group for _, group in standing], typed=True)
    doubtful: list[tuple[str, list[Anchor]]] = []
    results: dict[str, np.ndarray[Any, Any]] = {}
    for (name, group), column in zip(standing, fetched, strict=True):
        buffer = column.typed()
        if buffer is None:
            doubtful.append((name, group))
        else:
            results[name] = LinearArray.of(column.header, buffer).to_numpy()
    for (name, _), column in zip(doubtful, _fetch(sheet, [group for _, group in doubtful], typed=False), strict=True):
        results.update(_finish(column, sheet, name, missing, report))
    yield from ((name, results[name]) for name, _ in standing if name in results)


def _known(names: Sequence[str], groups: dict[str, list[Anchor]]) -> Sequence[str]:
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in wanted:
        if name not in groups:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, groups)) or 'none'}")
    return wanted


def _fetch(sheet: Sheet, groups: list[list[Anchor]], *, typed: bool) -> list[_Column]:
    requests = []
    for anchor in (anchor for group in groups for anchor in group):
        assert anchor.header is not None
        requests.append(Request(anchor.column, anchor.row + anchor.start, anchor.header.dtype))
    cells = iter(sheet.columns(requests, typed=typed) if requests else [])
    return [_Column(group, [next(cells) for _ in group], sheet) for group in groups]


def _finish(
    column: _Column, sheet: Sheet, name: str, missing: Missing, report: Raise
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Judge a column cell by cell; the array, or reports of what is wrong with it."""
    header = column.header
    try:
        buffer, problems, each = column.judged(missing)
    except FormatError as error:
        report(error)
        return
    for problem in problems[:_MOST_FINDINGS]:
        report(blame(problem, header, name, column.address, cells_each=each))
    if len(problems) > _MOST_FINDINGS:
        report(FormatError(f"{name}: {len(problems) - _MOST_FINDINGS} more cells cannot be read as {header.dtype.name}"))
    if not problems:
        yield name, LinearArray.of(header, buffer).to_numpy()


class _Column:
    """The data cells of one array, over all its parts."""

    def __init__(self, group: list[Anchor], pieces: Sequence[Cells], sheet: Sheet) -> None:
        header = group[0].header
        assert header is not None
        self.header, self.group, self.pieces, self.sheet = header, group, pieces, sheet
        self.starts: list[int] = [0]  # where each piece begins among the data cells

    @classmethod
    def of_rows(cls, sheet: Sheet, group: list[Anchor]) -> _Column:
        """The same for arrays that lie in rows."""
        return cls(group, [sheet.row(anchor.row, anchor.column + anchor.start) for anchor in group], sheet)

    def address(self, index: int) -> str:
        """The address of a data cell, by its index among those of all parts."""
        nth = next(nth for nth in reversed(range(len(self.starts))) if self.starts[nth] <= index)
        return self.group[nth].data_address(index - self.starts[nth])

    def typed(self) -> Buffer | None:
        """The buffer, where every piece came typed and whole; None where the cells have to be looked at."""
        left = self.header.capacity
        found: list[Buffer] = []
        for nth, (first, rest) in enumerate(self.pieces):
            if isinstance(rest, Sequence):
                return None
            count = left - len(first) if nth == len(self.pieces) - 1 else len(rest) - _trailing_nulls(rest)
            if not 0 <= count <= len(rest) or rest[count:].null_count() < len(rest) - count:
                return None
            body = from_typed(rest[:count], self.header.dtype)
            if body is None:
                return None
            if first:
                head, problems = from_text(_series(first), self.header.dtype, self.sheet.look)
                if problems:
                    return None
                found.append(head)
            found.append(body)
            left -= len(first) + count
        if left:
            return None
        return found[0] if len(found) == 1 else np.concatenate(found)

    def judged(self, missing: Missing) -> tuple[Buffer, list[Problem], int]:
        """The buffer cell by cell, the cells that cannot be read, and how many cells make an element.

        Raises:
            FormatError: too few cells or too many.
        """
        header = self.header
        columns = [_together(first, rest) for first, rest in self.pieces]
        for nth, column in enumerate(columns[:-1]):
            columns[nth] = column[: self._full(nth, column)]
            self.starts.append(self.starts[-1] + len(columns[nth]))
        cells = reduce(_together, columns)
        wanted = check_count(_filled(cells), len(cells), header, missing=missing, address=self.address)
        each = 2 if wanted > header.capacity else 1
        if isinstance(cells, Sequence):
            padded = [*cells[:wanted], *[None] * (wanted - len(cells))]
            return (*decode_data(padded, header, missing=missing), each)
        series = cells[:wanted].extend_constant(None, max(0, wanted - len(cells)))
        if each == 1:
            return (*from_text(series, header.dtype, self.sheet.look, missing=missing), each)
        parts, problems = from_text(series, part_dtype(header.dtype), self.sheet.look, missing=missing)
        return parts.view(header.dtype.numpy), problems, each

    def _full(self, nth: int, cells: pl.Series | Sequence[Cell]) -> int:
        """How many cells a part that is not the last one holds: to the container's end, blanks included."""
        filled = _filled(cells)
        if self.sheet.max_rows is None or self.header.dtype.kind not in ("string", "generic"):
            return filled
        anchor = self.group[nth]
        return max(filled, min(len(cells), self.sheet.max_rows - anchor.row - anchor.start))


def _series(cells: Sequence[Cell]) -> pl.Series:
    import polars as pl

    return pl.Series(cells, dtype=pl.String)


def _together(first: pl.Series | Sequence[Cell], rest: pl.Series | Sequence[Cell]) -> pl.Series | Sequence[Cell]:
    if isinstance(rest, Sequence):
        return [*first, *rest] if len(first) else rest
    texts = rest.cast(_series([]).dtype).rename("")
    if not len(first):
        return texts
    return (_series(first) if isinstance(first, Sequence) else first).extend(texts)


def _trailing_nulls(cells: pl.Series) -> int:
    if not cells.null_count():
        return 0
    last = cells.is_not_null().arg_true()
    return len(cells) - (int(last[-1]) + 1 if len(last) else 0)


def _filled(cells: pl.Series | Sequence[Cell]) -> int:
    """How many cells there are up to the last that is not blank."""
    if len(cells) and not is_blank(cells[-1]):
        return len(cells)
    if isinstance(cells, Sequence):
        return next((index + 1 for index in reversed(range(len(cells))) if not is_blank(cells[index])), 0)
    filled = (cells.str.strip_chars() != "").fill_null(value=False).arg_true()
    return int(filled[-1]) + 1 if len(filled) else 0
