"""Ordinary tables: one ndarray for each column, no header of the exchange format needed.

The dtype of a column is inferred only where nothing is lost: `007` stays text, an id beyond 2^53 stays exact, a blank
becomes NaN only in floats. Everything else is as for arrays: judged by `cells`, blamed by address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..cells import TextLook, from_text
from ..dtypes import DType
from ..elements import Cell, Missing, Unreadable, check_missing, is_blank, string_of
from ..errors import FormatError, LimitError, NotFoundError
from ..header import Order
from .column import filled_cells
from .grid import a1, letters
from .inference import infer, infer_numbers
from .sheet import Request, Sheet

if TYPE_CHECKING:
    import polars as pl

DTypeLike = str | np.dtype[Any] | type
Shape = tuple[int, ...] | int

_NO_NAME = re.compile(
    r"\s*(?:[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?|(?i:true|false|nan|[+-]?inf(?:inity)?)|\d{4}-\d\d-\d\d.*)\s*"
)


def read_ordinary(
    sheet: Sheet,
    columns: Sequence[str] | None = None,
    *,
    dtype: DTypeLike | Mapping[str, DTypeLike] | None = None,
    shape: Shape | Mapping[str, Shape] | None = None,
    order: Order = "row-major",
    missing: Missing = "nan",
    header: bool | None = None,
    skip_rows: int = 0,
) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of a table as arrays.

    Args:
        sheet: where the cells are.
        columns: names (or letters) of the columns wanted; None for all.
        dtype: of every column, or by name; None infers it without loss.
        shape: of every column's array, or by name; one -1 is worked out.
        order: how the cells of a column fill the shape.
        missing: "nan" reads blanks as NaN in floats and NaT in dates; "error" refuses them.
        header: whether the first row holds names; None finds out.
        skip_rows: rows above the table.

    Raises:
        FormatError: a cell that its dtype cannot mean, or a column that does not fill its shape.
        NotFoundError: no such column.
    """
    check_missing(missing)
    if order not in ("row-major", "column-major"):
        raise LimitError(f"order is 'row-major' or 'column-major', not {order!r}")
    if skip_rows < 0:
        raise LimitError(f"skip_rows cannot be negative, as {skip_rows} is")
    head, _ = sheet.head(20_000)
    skip_rows += _blank_rows(head[skip_rows:])
    rows = head[skip_rows:]
    if not rows:
        raise FormatError("an empty table")
    named = _is_header(rows) if header is None else header
    names = _names(rows, named, skip_rows)
    wanted = _wanted(names, columns)
    for option in (dtype, shape):
        if isinstance(option, Mapping):
            _wanted(names, list(option))
    first = skip_rows + named
    text = dtypes.named("string")
    fetched = sheet.columns([Request(names[name], first, text) for name in wanted], typed=False)
    series = [
        _joined(head_cells, body, _Place(name, names[name], first))
        for name, (head_cells, body) in zip(wanted, fetched, strict=True)
    ]
    doubles = _doubles(sheet, {name: names[name] for name in wanted if _given(dtype, name) is None}, first)
    filled = [filled_cells(column) for column in series]
    height = max(filled, default=0)
    result: dict[str, np.ndarray[Any, Any]] = {}
    for name, column, length in zip(wanted, series, filled, strict=True):
        form = shape.get(name) if isinstance(shape, Mapping) else shape
        place = _Place(name, names[name], first)
        cells = _padded(column, length if form is not None else height)
        numbers = doubles.get(name)
        known = None if numbers is None else infer_numbers(cells, _padded(numbers, len(cells)), sheet.look)
        values = _values(cells, _dtype(_given(dtype, name)), known, sheet.look, missing, place)
        result[name] = values if form is None else _shaped(values, form, order, place)
    return result


def _given(dtype: DTypeLike | Mapping[str, DTypeLike] | None, name: str) -> DTypeLike | None:
    return dtype.get(name) if isinstance(dtype, Mapping) else dtype


def _blank_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """How many rows there are before the first one that holds something."""
    return next((nth for nth, row in enumerate(rows) if not all(map(is_blank, row))), len(rows))


def _doubles(sheet: Sheet, columns: Mapping[str, int], first: int) -> dict[str, pl.Series]:
    """The columns of a container with types of its own that hold nothing but numbers, as doubles; blanks are null."""
    import polars as pl

    if sheet.look.formulas != "typed" or not columns:
        return {}
    number = dtypes.named("float64")
    fetched = sheet.columns([Request(column, first, number, numerals=False) for column in columns.values()], typed=True)
    found: dict[str, pl.Series] = {}
    for name, (head, rest) in zip(columns, fetched, strict=True):
        cells = [*head, *rest] if isinstance(rest, Sequence) else [None]
        if not isinstance(rest, Sequence) and not head and rest.dtype == pl.Float64:
            found[name] = rest
        elif any(cell is not None for cell in cells) and set(map(type, cells)) <= {int, float, type(None)}:
            found[name] = pl.Series(cells, dtype=pl.Float64, strict=False)
    return found


class _Place:
    """Where a column stands, for messages."""

    def __init__(self, name: str, column: int, row: int) -> None:
        self.name, self.column, self.row = name, column, row

    def error(self, index: int, reason: str, hint: str = "") -> FormatError:
        """What is wrong with the cell at `index` of the column."""
        return FormatError(
            reason, location=a1(self.row + index, self.column), element=f"{self.name}[{index}]", hint=hint
        )


def _is_header(rows: Sequence[Sequence[Cell]]) -> bool:
    first = [str(cell) for cell in rows[0] if not is_blank(cell)]
    return bool(first) and not any(_NO_NAME.fullmatch(cell) for cell in first)


def _names(rows: Sequence[Sequence[Cell]], named: bool, skipped: int) -> dict[str, int]:
    names: dict[str, int] = {}
    width = max(map(len, rows))
    while width > 1 and all(len(row) < width or is_blank(row[width - 1]) for row in rows):
        width -= 1  # blank columns on the right, as spreadsheets leave them
    first = 0
    while first < width - 1 and all(len(row) <= first or is_blank(row[first]) for row in rows):
        first += 1  # and on the left
    for column in range(first, width):
        cell = rows[0][column] if named and column < len(rows[0]) else None
        name = letters(column) if is_blank(cell) else str(cell).strip()
        if name in names:
            raise FormatError(f"two columns have the name {name!r}, at {a1(skipped, names[name])} too",
                              location=a1(skipped, column), hint="rename one, or read with header=False")  # fmt: skip
        names[name] = column
    return names


def _wanted(names: dict[str, int], columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        return list(names)
    by_letter = {letters(column): name for name, column in names.items()}
    wanted = []
    for column in [columns] if isinstance(columns, str) else columns:
        name = column if column in names else by_letter.get(column)
        if name is None:
            raise NotFoundError(f"no column {column!r}; there is {', '.join(map(repr, names))}")
        wanted.append(name)
    return list(dict.fromkeys(wanted))


def _dtype(kind: DTypeLike | None) -> DType | None:
    if kind is None:
        return None
    return dtypes.named(kind) if isinstance(kind, str) else dtypes.of(np.dtype(kind))


def _joined(first: Sequence[Cell], rest: pl.Series | Sequence[Cell], place: _Place) -> pl.Series:
    """A column as text, whatever its container made of it."""
    import polars as pl

    if isinstance(rest, Sequence):
        for index, cell in enumerate((*first, *rest)):
            if isinstance(cell, Unreadable):
                raise place.error(index, cell.reason, cell.hint)
        return pl.Series([None if is_blank(cell) else string_of(cell) for cell in (*first, *rest)], dtype=pl.String)
    return pl.concat([pl.Series(first, dtype=pl.String), rest.cast(pl.String)]).rename("")


def _padded(column: pl.Series, height: int) -> pl.Series:
    if len(column) == height:
        return column
    return column[:height].extend_constant(None, max(0, height - len(column)))


def _values(
    cells: pl.Series,
    kind: DType | None,
    known: tuple[str, pl.Series | None] | None,
    look: TextLook,
    missing: Missing,
    place: _Place,
) -> np.ndarray[Any, Any]:
    made = None
    if kind is None:
        name, made = infer(cells, look) if known is None else known
        kind = dtypes.named(name)
        blank = (cells.is_null() | (cells.str.strip_chars() == "")) if missing == "error" else None
        if blank is not None and blank.any() and kind.kind != "string":
            raise place.error(int(blank.arg_true()[0]), "a blank cell", "missing='nan' reads blanks as NaN")
    if made is not None:
        values: np.ndarray[Any, Any] = made.to_numpy(writable=True)
        return values
    if kind.kind == "datetime" and missing == "nan":
        cells = cells.fill_null("NaT")
    buffer, problems = from_text(cells, kind, look, missing=missing)
    for problem in problems:
        raise place.error(problem.index, problem.reason, problem.hint)
    return buffer


def _shaped(values: np.ndarray[Any, Any], form: Shape, order: Order, place: _Place) -> np.ndarray[Any, Any]:
    try:
        return values.reshape(form, order="F" if order == "column-major" else "C")
    except ValueError:
        raise place.error(0, f"{len(values)} cells do not fill the shape {form}") from None
