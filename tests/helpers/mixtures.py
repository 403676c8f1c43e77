"""Random mixtures as people have them: arrays of many dtypes and lengths in one file, and tables of mixed columns.

One seed makes one mixture, so that whatever fails can be had again by its seed.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from sheetarray.dtypes import Array

Random = np.random.Generator
Column = list[Any]

_WORDS = ["red", "green", "x", "", "a, b", "007", "1e5", "TRUE", "=1+1", "'q", 'say "no"', "two\nlines", "ü", "漢字"]
_WORDS += [" padded ", "data", "NaN", "2020-01-01", "3+4i", "<&>", "_x0041_", "-", "n/a", "😀", "1,5", "x" * 40]
_UNITS = ["D", "s", "ms", "us", "ns", "h", "Y"]
_LONGEST = 2000
_MOST_ARRAYS = 300


# Arrays --------------------------------------------------------------------------------------------------------


def random_arrays(seed: int, dtypes: Collection[str], *, most_cells: int) -> dict[str, Array]:
    """Return 1 to 300 arrays of 0 to 2,000 elements by name.

    Args:
        seed: of the mixture; another one gives another.
        dtypes: those that may be drawn, with "datetime64" and "timedelta64" for every unit.
        most_cells: the number of elements in all, as far as one array of each length has room in it.
    """
    random = np.random.default_rng(seed)
    kinds = sorted(dtypes)
    if random.random() < 0.6:  # a few kinds beside each other, or all
        kinds = random.choice(kinds, min(len(kinds), int(random.integers(1, 5))), replace=False).tolist()
    count = _draw_size(random, _MOST_ARRAYS)
    arrays: dict[str, Array] = {}
    for number, length in enumerate(_draw_lengths(random, count, most_cells)):
        name = _draw_name(random, number)
        if arrays and random.random() < 0.1:
            arrays[name] = arrays[_choose(random, list(arrays))]
            continue
        arrays[name] = _draw_layout(random, _draw_elements(random, _choose(random, kinds), length))
    return arrays


def random_elements(seed: int, dtype: str, length: int) -> Array:
    """Return a 1-D array of a dtype; its elements are all different, few that are repeated, or one."""
    return _draw_elements(np.random.default_rng(seed), dtype, length)


def _choose(random: Random, some: Sequence[Any]) -> Any:
    """Return one of some things; `Generator.choice` takes ten times as long."""
    return some[int(random.integers(len(some)))]


def _draw_size(random: Random, most: int) -> int:
    """Return a number from 1 to `most`: small ones, middling ones and large ones are equally likely."""
    return min(most, math.ceil(most ** random.random()))


def _draw_lengths(random: Random, count: int, most_cells: int) -> Iterator[int]:
    """Yield the number of elements of each array."""
    longest = max(1, min(_LONGEST, most_cells // count))
    usual = _draw_size(random, longest)
    mode = random.choice(["equal", "few", "any"])
    lengths = [usual, _draw_size(random, longest), max(usual - 1, 0)]
    for _ in range(count):
        if random.random() < 0.02:
            yield int(random.integers(0, 2))
        elif mode == "equal":
            yield usual
        elif mode == "few":
            yield int(random.choice(lengths))
        else:
            yield _draw_size(random, longest)


def _draw_name(random: Random, number: int) -> str:
    return f"{_choose(random, ['v', 'x y', 'ü', 'run-'])}{number}"


def _draw_elements(random: Random, dtype: str, length: int) -> Array:
    """Return a 1-D array of a dtype; its elements are all different, few that are repeated, or one."""
    pool = int(random.choice([length, min(length, 3), min(length, 1)], p=[0.6, 0.3, 0.1]))
    elements = _draw_different(random, dtype, pool)
    if pool < length:
        elements = elements[random.integers(0, pool, length)]
    return elements


def _draw_different(random: Random, dtype: str, length: int) -> Array:
    kind = np.dtype("O" if dtype == "generic" else "U" if dtype == "string" else dtype).kind
    if kind == "b":
        return random.random(length) < random.random()
    if kind in "iu":
        info = np.iinfo(dtype)
        if random.random() < 0.5:
            return random.integers(info.min, info.max, length, dtype=dtype, endpoint=True)
        return np.arange(length).astype(dtype)
    if kind == "f":
        return _draw_floats(random, length).astype(dtype)
    if kind == "c":
        parts = np.empty((length, 2), f"f{np.dtype(dtype).itemsize // 2}")
        parts[:, 0], parts[:, 1] = _draw_floats(random, length), _draw_floats(random, length)
        return parts.view(dtype).ravel()
    if kind in "mM":
        unit = str(random.choice(_UNITS))
        most = {"Y": 50, "D": 20_000, "h": 400_000}.get(unit, 10**9)
        counts = random.integers(-most if unit != "Y" else 0, most, length)
        if random.random() < 0.3:
            counts[random.random(length) < 0.1] = np.iinfo(np.int64).min
        return counts.astype(f"{dtype}[{unit}]")
    words = _draw_texts(random, length)
    if kind == "U":
        return np.array(words, dtype=np.str_)
    return _draw_generic(random, words)


def _draw_floats(random: Random, length: int) -> Array:
    mode = random.choice(["steps", "normal", "whole", "few digits", "odd"])
    if mode == "steps":
        return np.arange(length) * float(random.choice([1.5, 0.1, 1e-3, 7.0]))
    if mode == "whole":
        return random.integers(-1000, 1000, length).astype(np.float64)
    floats = random.normal(size=length)
    if mode == "few digits":
        return np.round(floats, 2)
    if mode == "odd" and length:
        floats[random.integers(0, length, length // 4)] = np.nan
        floats[random.integers(0, length, length // 8)] = -0.0
        floats[random.integers(0, length, length // 8)] = random.choice([np.inf, -np.inf])
    return floats


def _draw_texts(random: Random, length: int) -> list[str]:
    if random.random() < 0.3:
        return [f"sample {number:03d}" for number in range(length)]
    few = random.choice(_WORDS, 4).tolist() if random.random() < 0.5 else _WORDS
    return [str(word) for word in random.choice(few, length)]


def _draw_generic(random: Random, words: list[str]) -> Array:
    kinds = random.integers(0, 5, len(words))
    choices: list[list[Any]] = [
        words,
        random.integers(-(10**6), 10**6, len(words)).tolist(),
        np.round(random.normal(size=len(words)), 3).tolist(),
        (random.random(len(words)) < 0.5).tolist(),
        [None] * len(words),
    ]
    elements = np.empty(len(words), dtype=object)
    elements[:] = [choices[kind][index] for index, kind in enumerate(kinds)]
    return elements


def _draw_layout(random: Random, flat: Array) -> Array:
    """Return some elements as they are, or as an array without axes, with two, with three, or in another layout."""
    mode = random.choice(["flat", "0-d", "2-d", "F", "3-d", "reversed", "swapped"], p=[0.6, 0.05, *[0.07] * 5])
    length = len(flat)
    if mode == "0-d" and length:
        return flat[:1].reshape(())
    if mode == "reversed":
        return flat[::-1]
    if mode == "swapped" and flat.dtype.kind not in "bO":
        return flat.astype(flat.dtype.newbyteorder(">"))
    if mode in ("2-d", "F") and length % 2 == 0:
        wide = flat.reshape(-1, 2)
        return np.asfortranarray(wide) if mode == "F" else wide
    if mode == "3-d" and length % 6 == 0:
        return flat.reshape(2, 3, -1)
    return flat


# Tables --------------------------------------------------------------------------------------------------------

SEVERAL = "several"
KINDS = ("float", "integer", "text", "boolean", "date", "moment")


def random_table(
    seed: int, *, most_cells: int, size: tuple[int, int] | None = None, several: bool = False
) -> dict[str, Column]:
    """Return the columns of an ordinary table by name: values of one kind in each, and None for blanks.

    All numbers have at most 15 digits, which every writer keeps.

    Args:
        seed: of the table; another one gives another.
        most_cells: the number of cells, at least one row of each column.
        size: the numbers of rows and columns; None to draw 1 x 1 to 1,000 x 20, or 20 x 300.
        several: let some columns have values of several kinds.
    """
    random = np.random.default_rng(seed)
    if size is None:
        columns = _draw_size(random, 300 if random.random() < 0.3 else 20)
        size = _draw_size(random, max(1, min(1000, most_cells // columns))), columns
    rows, columns = size
    kinds = KINDS if random.random() < 0.7 else [_choose(random, KINDS), _choose(random, KINDS)]
    blanks = random.random() < 0.5
    mixed = random.choice([0.0, 0.1, 1.0]) if several else 0.0
    table: dict[str, Column] = {}
    values: Column = []
    for number in range(columns):
        if table and random.random() < 0.1:
            values = list(values)  # as the column before
        else:
            kind = SEVERAL if random.random() < mixed else _choose(random, kinds)
            values = _draw_column(random, kind, rows, blanks=blanks)
        if not number:
            values[-1] = next(value for value in values if value is not None)  # rows without any cell are no rows
        table[f"{_choose(random, ['v', 'x y', 'ü', 'n'])}{number}"] = values
    return table


def _draw_column(random: Random, kind: str, rows: int, *, blanks: bool) -> Column:
    pool = rows if random.random() < 0.7 else min(rows, 3)
    values = _draw_values(random, kind, pool)
    column = [values[index] for index in (range(rows) if pool == rows else random.integers(0, pool, rows))]
    if blanks and random.random() < 0.4:
        share = _choose(random, [0.02, 0.3, 0.9])
        blank = (random.random(rows) < share).tolist()
        column = [None if gone else value for value, gone in zip(column, blank, strict=True)]
    if None in column:
        column[int(random.integers(0, rows))] = values[0]
    return column


def _draw_values(random: Random, kind: str, count: int) -> Column:
    if kind == SEVERAL:
        columns = [_draw_values(random, one, count) for one in KINDS]
        chosen = random.integers(0, len(KINDS), count).tolist()
        return [columns[which][index] for index, which in enumerate(chosen)]
    if kind == "float":
        digits = _choose(random, [1, 3, 12])
        return [value + 0.0 for value in np.round(random.normal(size=count) * 100, digits).tolist()]
    if kind == "integer":
        most = _choose(random, [2, 1000, 10**14])
        return random.integers(-most, most, count).tolist()  # type: ignore[no-any-return]
    if kind == "boolean":
        return (random.random(count) < 0.5).tolist()  # type: ignore[no-any-return]
    if kind == "text":
        words = ["red", "green", "x", "a, b", 'say "no"', "two\nlines", "ü", "漢字", "<&>", "n°1", "😀", "y" * 40]
        if random.random() < 0.3:
            return [f"sample {number:03d}" for number in range(count)]
        return [words[index] for index in random.integers(0, len(words), count).tolist()]
    days = random.integers(0, 40_000, count).tolist()
    first = datetime.date(1930, 1, 1)
    if kind == "date":
        return [first + datetime.timedelta(days=day) for day in days]
    seconds = random.integers(0, 86_400, count).tolist()
    start = datetime.datetime(1930, 1, 1)
    return [start + datetime.timedelta(days=day, seconds=second) for day, second in zip(days, seconds, strict=True)]
