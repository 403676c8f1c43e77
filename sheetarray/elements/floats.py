"""Cells as floats: a numeral is rounded once, to the dtype itself, and not by way of a double."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import compress, repeat
from typing import Any

import numpy as np

from ..dtypes import Buffer, DType
from . import scalars as scalar_text
from .missing import Missing
from .problems import Problem, decode_each, fill_blanks
from .scalars import Cell, describe_cell


def decode_floats(cells: Sequence[Cell], dtype: DType, missing: Missing, decimal: str) -> tuple[Buffer, list[Problem]]:
    """Return cells as floats of a dtype, with a problem for each cell that is none."""
    count = len(cells)
    kinds = set(map(type, cells))
    try:
        if kinds <= {float, int}:
            wide = np.fromiter(cells, np.float64, count)
            return (wide, []) if dtype.name == "float64" else round_to(wide, dtype.numpy, cells)
        if kinds == {str} and decimal == "." and have_numeral_letters(cells):
            wide = np.fromiter(map(float, cells), np.float64, count)
            if not np.isinf(wide).any():
                return (wide, []) if dtype.name == "float64" else round_to(wide, dtype.numpy, cells)
    except (ValueError, OverflowError):
        pass  # some cell is no number: look at each
    wide = np.zeros(count, dtype=np.float64)
    is_float = np.fromiter(map(isinstance, cells, repeat(float)), bool, count)
    wide[is_float] = list(compress(cells, is_float))
    odd_cells = np.flatnonzero(~is_float).tolist()
    wide, problems = decode_each(cells, wide, lambda cell: scalar_text.parse_float(cell, decimal), odd_cells, missing)
    problems = [replace(p, reason=p.reason.replace("float64", dtype.name)) for p in problems]
    problems = fill_blanks(wide, problems, cells, missing)
    out, beyond = round_to(wide, dtype.numpy, cells)
    return out, sorted(problems + beyond, key=lambda problem: problem.index)


def have_numeral_letters(texts: Sequence[str], more: str = "") -> bool:
    """Return whether texts have only the characters of numerals, and of `more`."""
    # float() also takes underscores and other scripts' digits; a numeral of ours has neither
    letters = "".join(texts).encode("utf-8", "replace")
    return not letters.translate(None, f"0123456789+-.eE naiftyNI{more}".encode())


def are_whole(cells: Sequence[Cell]) -> bool:
    """Return whether the texts among cells are integers."""
    texts = [cell for cell in cells if type(cell) is str]
    return not "".join(texts).encode("utf-8", "replace").translate(None, b"0123456789-")


def round_to(wide: Buffer, dtype: np.dtype[Any], cells: Sequence[Cell]) -> tuple[Buffer, list[Problem]]:
    """Return doubles as `dtype`, text rounded once: a double in between would round some numerals twice."""
    if dtype.itemsize == 8:
        return wide, []
    with np.errstate(over="ignore", under="ignore"):
        out = wide.astype(dtype)
    beyond = np.flatnonzero(np.isinf(out) & np.isfinite(wide)).tolist()
    problems = []
    for index in beyond:
        if _is_below(cells[index], half_beyond(dtype)):
            out[index] = np.copysign(np.finfo(dtype).max, wide[index])
        else:
            problems.append(Problem(index, f"{describe_cell(cells[index])} is beyond the range of {dtype.name}"))
    for index in find_ties(wide, out).tolist():
        if isinstance(cells[index], (str, int)):
            out[index] = round_tie(str(cells[index]), wide[index], out[index])
    return out, problems


def half_beyond(dtype: np.dtype[Any]) -> float:
    """Return the double half a step beyond the greatest value of a narrower dtype: from there on it is infinite."""
    greatest = np.finfo(dtype).max
    return float(greatest) + float(greatest - np.nextafter(greatest, dtype.type(0))) / 2


def _is_below(cell: Cell, limit: float) -> bool:
    """Return whether a numeral is nearer to zero than a limit that its double is at, or beyond."""
    return isinstance(cell, (str, int)) and Decimal(str(cell).strip().replace(",", ".")).copy_abs() < Decimal(limit)


def find_ties(wide: Buffer, narrow: Buffer) -> Buffer:
    """Return the indices where a double lies exactly between two neighbours of the narrower dtype."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        toward = np.where(wide > narrow, np.inf, -np.inf).astype(narrow.dtype)
        other = np.nextafter(narrow, toward).astype(np.float64)
        near = narrow.astype(np.float64)
        return np.flatnonzero((wide != near) & (np.abs(wide - near) == np.abs(other - wide)))


def round_tie(text: str, wide: float, narrow: Any) -> Any:
    """Return the neighbour of `wide`, a tie, on whose side the numeral itself lies; `narrow` where it is a true tie."""
    exact, middle = Decimal(text.strip().replace(",", ".")), Decimal(float(wide))
    if exact == middle:
        return narrow
    upward = exact > middle
    if (float(narrow) > wide) == upward:
        return narrow
    return np.nextafter(narrow, np.array(np.inf if upward else -np.inf, dtype=narrow.dtype))
