"""Delimited texts with arrays, made at random from their grammar as tokens: cells, quotes, delimiters and line ends."""

from __future__ import annotations

import random
from math import prod
from typing import Any

from token_changes import Tokens

_DECIMALS = [
    *("1.5", "-2.0", "NaN", "-Infinity", "1e-300", "0.1234567890123456789", "-0.0", "7", "1e999", "1.", ".5", " 1"),
]
_INTEGERS = ["0", "1", "-2", "127", "128", "9223372036854775807", "18446744073709551615", "+1", "1.0", "1e2", "007"]
_TEXTS = [
    *("a", "é😀", "version", "data", 'b"c', "x\ny", "x\r\ny", "d,e;f", "'=1", " a ", "\u00a0", "12", "\x1c", '"'),
    '""',
]
_VALUES = {
    "float64": _DECIMALS,
    "float32": _DECIMALS,
    "float16": _DECIMALS,
    "int8": _INTEGERS,
    "int64": _INTEGERS,
    "uint64": _INTEGERS,
    "bool": ["TRUE", "FALSE", "true", "False", "1", "yes"],
    "string": _TEXTS,
    "complex128": ["1+2i", "-i", "NaN", "1", "1+"],
    "datetime64[D]": ["2020-01-01", "NaT", "2020-02-30"],
    "timedelta64[s]": ["1", "-5", "NaT", "x"],
}

Options = dict[str, Any]


def _array(dice: random.Random, name: str) -> list[str]:
    """Return the cells of an array: its name, its header, its elements."""
    dtype = dice.choice([*_VALUES, "float64", "int64", "string"])
    shape = [dice.choice((0, 1, 2, 3, 5)) for _ in range(dice.choice((0, 1, 1, 1, 2)))]
    strides = [prod(shape[index + 1 :]) for index in range(len(shape))] or [0]
    count = prod(shape)
    words = [name, "version", "1.0.0", "ndarray", "shape", *map(str, shape), "strides", *map(str, strides)]
    words += ["offset", "0", "order", "row-major", "dtype", dtype, "length", str(count), "capacity", str(count), "data"]
    if not dice.randrange(9):
        words = [word.upper() if dice.randrange(2) else f" {word}" for word in words]
    values = _VALUES[dtype]
    return words + [dice.choice(values[:3] if dice.randrange(4) else values) for _ in range(count)]


def make_delimited(dice: random.Random) -> tuple[Tokens, Options]:
    """Return the tokens of a text with a few arrays, and options to read it with."""
    delimiter, end = dice.choice(",,,;\t|"), dice.choice(["\n", "\r\n", "\r\n", "\r"])
    names = dice.sample("abcdefgh", dice.randint(1, 3))
    arrays = [_array(dice, name) for name in names]
    height = max(map(len, arrays))
    grid = [[array[row] if row < len(array) else "" for array in arrays] for row in range(height)]
    if not dice.randrange(4):  # arrays as rows
        grid = [list(cells) for cells in zip(*grid, strict=True)]
    for _ in range(dice.choice((0, 0, 1))):
        grid.insert(dice.randrange(len(grid)) if dice.randrange(2) else 0, [""] * dice.randrange(3))
    decimal = "," if delimiter != "," and not dice.randrange(4) else "."
    tokens: Tokens = []
    for row, cells in enumerate(grid):
        for column, cell in enumerate(cells):
            text = cell.replace(".", decimal) if cell[:1] in "-0123456789" and cell != "1.0.0" else cell
            quoted = any(mark in text for mark in ('"', delimiter, "\n", "\r")) or not dice.randrange(20)
            tokens += [delimiter] if column else []
            tokens += ['"', text.replace('"', '""'), '"'] if quoted else [text]
        tokens += [end] if row < len(grid) - 1 or dice.randrange(4) else []
    options: Options = {}
    options |= {"delimiter": delimiter} if dice.randrange(2) else {}
    options |= {"decimal": decimal} if dice.randrange(2) else {}
    options |= dice.choice([{}, {}, {"missing": "nan"}, {"strict": True}, {"resize": True}, {"formulas": "keep"}])
    return tokens, options
