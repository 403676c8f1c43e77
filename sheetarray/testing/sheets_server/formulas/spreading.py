"""Functions that return arrays: SEQUENCE, FILTER, SORT, UNIQUE, TRANSPOSE, SPLIT and their kin."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import compress
from typing import Any

from .. import entered
from .arrays import ArrayBlock, as_line, check_size, join_columns, padded_columns, rows_of, size_of
from .mathematics import ANY, Function, number_at
from .operands import Arguments, FormulaError, Operand, Value, fail, number, rank, single_value, text, truth, whole


def _true(arguments: Arguments, place: int, *, default: bool) -> bool:
    return truth(arguments[place]) if len(arguments) > place and arguments[place] is not None else default


def _sizes(arguments: Arguments, function: str) -> tuple[int, int]:
    height, width = int(number_at(arguments, 0, 1)), int(number_at(arguments, 1, 1))
    for place, size in enumerate((height, width), 1):
        if size < 1:
            fail("#NUM!", f"Function {function} parameter {place} value is {size}. It should be at least 1.")
    check_size(height, width)
    return height, width


def _array(arguments: Arguments) -> Operand:
    columns = padded_columns(arguments[0])
    return ArrayBlock(columns, len(columns[0]))


def _sequence(arguments: Arguments) -> Operand:
    height, width = _sizes(arguments, "SEQUENCE")
    start, step = number_at(arguments, 2, 1.0), number_at(arguments, 3, 1.0)
    stride = step * width
    return ArrayBlock(
        [[start + step * column + stride * row for row in range(height)] for column in range(width)], height
    )


def _random(arguments: Arguments) -> Operand:
    height, width = _sizes(arguments, "RANDARRAY")
    return ArrayBlock([[random.random() for _ in range(height)] for _ in range(width)], height)  # noqa: S311  (no secret is made of it)


def _unit(arguments: Arguments) -> Operand:
    height, _ = _sizes([arguments[0], arguments[0]], "MUNIT")
    return ArrayBlock([[float(row == column) for row in range(height)] for column in range(height)], height)


def _transpose(arguments: Arguments) -> Operand:
    rows = rows_of(arguments[0])
    return ArrayBlock(rows, len(rows[0]))


def _filter(arguments: Arguments) -> Operand:
    height, width = size_of(arguments[0])
    conditions = arguments[1:]
    down = all(size_of(condition) == (height, 1) for condition in conditions)
    if not down and not all(size_of(condition) == (1, width) for condition in conditions):
        fail("#N/A", f"FILTER has mismatched range sizes. Expected row count: {height}. column count: 1.")
    kept = [True] * (height if down else width)
    for condition in conditions:
        for index, value in enumerate(as_line(condition)):
            kept[index] = kept[index] and not isinstance(value, (str, FormulaError)) and bool(value)
    if not any(kept):
        fail("#N/A", "No matches are found in FILTER evaluation.")
    columns = padded_columns(arguments[0])
    if not down:
        return ArrayBlock(list(compress(columns, kept)), height)
    return ArrayBlock([list(compress(column, kept)) for column in columns], sum(kept))


def _order(value: Value) -> tuple[int, Any]:
    """Return the key by which SORT orders values; errors stand behind the others."""
    return (3, str(value)) if isinstance(value, FormulaError) else rank(value)


def sorted_rows(rows: list[list[Value]], keys: list[tuple[list[Value], bool]]) -> list[list[Value]]:
    """Return rows in the order of some columns, of which the first counts most; blanks come last, either way."""
    order = list(range(len(rows)))
    for key, ascending in reversed(keys):
        filled = [index for index in order if key[index] is not None]
        filled.sort(key=lambda index: _order(key[index]), reverse=not ascending)
        order = filled + [index for index in order if key[index] is None]
    return [rows[index] for index in order]


def _keys(columns: list[list[Value]], given: Arguments, function: str) -> list[tuple[list[Value], bool]]:
    """Return the keys to sort by: pairs of a column, by its number or as values, and whether it ascends."""
    keys = []
    for place in range(0, len(given), 2):
        by = given[place]
        ascending = _true(given, place + 1, default=True)
        if size_of(by) != (1, 1):
            line = as_line(by)
            if len(line) != len(columns[0]):
                fail("#N/A", f"{function} has mismatched range sizes.")
            keys.append((line, ascending))
            continue
        index = whole(by)
        if not 1 <= index <= len(columns):
            fail("#VALUE!", f"Function {function} parameter {place + 2} value is {index}, of {len(columns)} columns.")
        keys.append((columns[index - 1], ascending))
    return keys or [(columns[0], True)]


def _sort(arguments: Arguments) -> Operand:
    columns = padded_columns(arguments[0])
    return ArrayBlock.of_rows(sorted_rows(rows_of(arguments[0]), _keys(columns, arguments[1:], "SORT")))


def _sort_some(arguments: Arguments) -> Operand:
    count, ties = whole(number_at(arguments, 1, 1)), whole(number_at(arguments, 2, 0))
    if count < 1 or not 0 <= ties <= 3:
        fail("#NUM!", "Function SORTN parameters 2 and 3 are out of range.")
    columns = padded_columns(arguments[0])
    keys = _keys(columns, arguments[3:], "SORTN")
    numbered = sorted_rows([[float(index)] for index in range(len(columns[0]))], keys)
    order = [int(number(row[0])) for row in numbered]  # type: ignore[arg-type]
    marks = [tuple(_order(key[index]) for key, _ in keys) for index in order]
    rows = rows_of(arguments[0])
    if ties in (2, 3):
        distinct: dict[Any, list[int]] = {}
        for index, mark in zip(order, marks, strict=True):
            distinct.setdefault(mark if ties == 3 else tuple(map(_order, rows[index])), []).append(index)
        groups = list(distinct.values())[:count]
        kept = [group[0] for group in groups] if ties == 2 else [index for group in groups for index in group]
    else:
        end = count
        while ties == 1 and end < len(order) and marks[end] == marks[count - 1]:
            end += 1
        kept = order[:end]
    return ArrayBlock.of_rows([rows[index] for index in kept])


def _unique(arguments: Arguments) -> Operand:
    by_column = _true(arguments, 1, default=False)
    lines = padded_columns(arguments[0]) if by_column else rows_of(arguments[0])
    counts: dict[Any, int] = {}
    first: dict[Any, list[Value]] = {}
    for line in lines:
        key = tuple((4, "") if value is None else _order(value) for value in line)
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, line)
    once = _true(arguments, 2, default=False)
    kept = [line for key, line in first.items() if not once or counts[key] == 1]
    if not kept:
        fail("#N/A", "No unique values are found in UNIQUE evaluation.")
    return ArrayBlock(kept, len(kept[0])) if by_column else ArrayBlock.of_rows(kept)


def _split(arguments: Arguments) -> Operand:
    if size_of(arguments[0]) == (1, 1):
        return ArrayBlock.of_rows([_split_text(arguments)])
    return ArrayBlock.of_rows([_split_text([value, *arguments[1:]]) for value in as_line(arguments[0])])  # type: ignore[list-item]


def _split_text(arguments: Arguments) -> list[Value]:
    shown, marks = text(arguments[0]), text(arguments[1])
    if not marks:
        fail("#VALUE!", "Function SPLIT parameter 2 value should be non-empty.")
    if not shown:
        fail("#VALUE!", "Function SPLIT parameter 1 value should be non-empty.")
    any_mark = _true(arguments, 2, default=True)
    pieces = re.split("|".join(map(re.escape, marks)) if any_mark else re.escape(marks), shown)
    if _true(arguments, 3, default=True):
        pieces = [piece for piece in pieces if piece]
    cells = [entered.cell_from_entry(piece)[0] if piece[:1] not in ("=", "'") else piece for piece in pieces]
    values: list[Value] = [cell if isinstance(cell, (bool, float, str)) else None for cell in cells]
    return values or [None]


def _stack(arguments: Arguments) -> Operand:
    rows = [row for operand in arguments for row in rows_of(operand)]
    width = max(map(len, rows))
    absent = FormulaError("#N/A")
    return ArrayBlock.of_rows([row + [absent] * (width - len(row)) for row in rows])


def _side_by_side(arguments: Arguments) -> Operand:
    lines = join_columns(arguments, fill=FormulaError("#N/A"))
    return ArrayBlock(lines, len(lines[0]))


def _flatten(arguments: Arguments) -> Operand:
    line = [value for operand in arguments for value in as_line(operand)]
    return ArrayBlock([line], len(line))


def _one_line(*, down: bool) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        ignored = whole(number_at(arguments, 1, 0))
        by_column = _true(arguments, 2, default=False)
        line = [
            value
            for part in (padded_columns if by_column else rows_of)(arguments[0])
            for value in part
            if not (ignored in (1, 3) and value is None) and not (ignored in (2, 3) and isinstance(value, FormulaError))
        ]
        if not line:
            fail("#N/A", "The array has no values.")
        return ArrayBlock([line], len(line)) if down else ArrayBlock([[value] for value in line], 1)

    return work


def _wrap(*, rows: bool) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        line, count = as_line(arguments[0]), whole(arguments[1])
        if min(size_of(arguments[0])) > 1 or count < 1:
            fail("#VALUE!", "WRAPROWS and WRAPCOLS take one row or column, and a count of at least 1.")
        fill: Value = single_value(arguments[2]) if len(arguments) > 2 else FormulaError("#N/A")
        parts = [line[start : start + count] for start in range(0, len(line), count)]
        parts[-1] = parts[-1] + [fill] * (count - len(parts[-1]) if len(parts) > 1 else 0)
        return ArrayBlock.of_rows(parts) if rows else ArrayBlock(parts, len(parts[0]))

    return work


def _select(*, rows: bool) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        lines = rows_of(arguments[0]) if rows else padded_columns(arguments[0])
        wanted = [whole(value) for operand in arguments[1:] for value in as_line(operand)]  # type: ignore[arg-type]
        if any(not 1 <= abs(index) <= len(lines) for index in wanted):
            fail("#VALUE!", f"The indexes must lie between 1 and {len(lines)}.")
        kept = [lines[index - 1 if index > 0 else index] for index in wanted]
        return ArrayBlock.of_rows(kept) if rows else ArrayBlock(kept, len(kept[0]))

    return work


def _cut(*, take: bool) -> Callable[[Arguments], Operand]:
    """Return TAKE or DROP: so many rows and columns from the start, or from the end where they are negative."""

    def work(arguments: Arguments) -> Operand:
        ends = []
        for place, size in enumerate(size_of(arguments[0]), 1):
            given = arguments[place] if len(arguments) > place else None
            count = whole(given) if given is not None else size if take else 0
            count = max(-size, min(size, count))
            if take:
                ends.append((0, count) if count >= 0 else (size + count, size))
            else:
                ends.append((count, size) if count >= 0 else (0, size + count))
        rows = [row[slice(*ends[1])] for row in rows_of(arguments[0])[slice(*ends[0])]]
        return ArrayBlock.of_rows(rows)

    return work


def _constrain(arguments: Arguments) -> Operand:
    height, width = max(1, whole(arguments[1])), max(1, whole(arguments[2]))
    return ArrayBlock.of_rows([row[:width] for row in rows_of(arguments[0])[:height]])


def _multiply(arguments: Arguments) -> Operand:
    left, right = rows_of(arguments[0]), padded_columns(arguments[1])
    if len(left[0]) != len(right[0]):
        fail("#VALUE!", "Function MMULT has incompatible matrix dimensions.")
    lines = [[[number(single_value(value)) for value in line] for line in part] for part in (left, right)]  # type: ignore[arg-type]
    return ArrayBlock(
        [[sum(a * b for a, b in zip(row, column, strict=True)) for row in lines[0]] for column in lines[1]], len(left)
    )


SPREADING: dict[str, Function] = {
    "ARRAYFORMULA": (1, 1, _array),
    "ARRAY_CONSTRAIN": (3, 3, _constrain),
    "CHOOSECOLS": (2, ANY, _select(rows=False)),
    "CHOOSEROWS": (2, ANY, _select(rows=True)),
    "DROP": (2, 3, _cut(take=False)),
    "FILTER": (2, ANY, _filter),
    "FLATTEN": (1, ANY, _flatten),
    "HSTACK": (1, ANY, _side_by_side),
    "MMULT": (2, 2, _multiply),
    "MUNIT": (1, 1, _unit),
    "RANDARRAY": (0, 2, _random),
    "SEQUENCE": (1, 4, _sequence),
    "SORT": (1, ANY, _sort),
    "SORTN": (1, ANY, _sort_some),
    "SPLIT": (2, 4, _split),
    "TAKE": (2, 3, _cut(take=True)),
    "TOCOL": (1, 3, _one_line(down=True)),
    "TOROW": (1, 3, _one_line(down=False)),
    "TRANSPOSE": (1, 1, _transpose),
    "UNIQUE": (1, 3, _unique),
    "VSTACK": (1, ANY, _stack),
    "WRAPCOLS": (2, 3, _wrap(rows=False)),
    "WRAPROWS": (2, 3, _wrap(rows=True)),
}
