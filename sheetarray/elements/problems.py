"""A cell that its dtype cannot mean, and decoding one cell after another, with a problem for each such cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dtypes import Buffer
from .missing import Missing, names_cell, takes_blanks
from .scalars import Cell, describe_cell, is_blank
from .spelling import is_missing_word

_GROUPED = re.compile(  # thousands, as a format of cells shows them
    r"[-+]?[0-9]{1,3}(?:([,.' \u00a0\u2009\u202f\u2019])[0-9]{3})(?:\1[0-9]{3}){0,6}(?:[.,][0-9]{0,20})?"
)
_SHOWN_DATE = re.compile(
    r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2,4}(?:,? [0-9: APMapm]{4,16})?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}"
)

MOST_EXPLAINED = 2**12
"""The number of wrong cells of a column that get a problem each; after so many, no further cell is looked at."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A cell that its dtype cannot mean."""

    index: int  # of the cell among the data cells
    reason: str  # why it has no value
    hint: str = ""  # what to do
    # whether it stands for this cell and all later ones: they were not looked at, and have no value
    rest: bool = field(default=False, repr=False)
    is_word: bool = field(default=False, repr=False)  # whether it holds a word for a missing value, such as n/a


def decode_each(
    cells: Sequence[Cell],
    out: Buffer,
    read: Callable[[Cell], Any],
    indices: Sequence[int] | None = None,
    missing: Missing = "error",
) -> tuple[Buffer, list[Problem]]:
    """Fill a buffer with the values of cells, and return it with a problem for each cell that has none.

    Once very many cells have none, one problem stands for all later cells: a file of wrong ones takes no minutes.

    `read`: gives the value of a cell; a ValueError or an OverflowError says that it has none. `indices`: of the cells
    to read; None for all of them. `missing`: may name words for missing values.
    """
    problems: list[Problem] = []
    explained = 0
    remaining = iter(range(len(cells)) if indices is None else indices)
    for index in remaining:
        cell = cells[index]
        if is_blank(cell):
            problems.append(_blank_problem(index, out.dtype))
            continue
        try:
            out[index] = read(cell)
            continue
        except OverflowError:
            problems.append(Problem(index, f"{describe_cell(cell)} is beyond the range of {out.dtype.name}"))
        except ValueError as error:
            if isinstance(cell, str) and (is_missing_word(cell) or names_cell(missing, cell)):
                problems.append(Problem(index, str(error), _hint_of_words(out.dtype), is_word=True))
                continue
            problems.append(Problem(index, str(error), _hint_of_format(cell, out.dtype.kind)))
        explained += 1
        if explained == MOST_EXPLAINED and (later := next(remaining, None)) is not None:
            problems.append(Problem(later, f"not checked, after {explained} cells that cannot be read", rest=True))
            break
    return out, problems


def _blank_problem(index: int, dtype: np.dtype[Any]) -> Problem:
    hint = "missing='nan' reads blanks as NaN" if dtype.kind in "fc" else ""
    return Problem(index, f"expected {dtype.name}, found a blank cell", hint)


def _hint_of_words(dtype: np.dtype[Any]) -> str:
    return "missing='nan' reads words for missing values as NaN" if dtype.kind in "fc" else ""


def _hint_of_format(cell: Cell, kind: str) -> str:
    """Return a hint if a spreadsheet has saved a number or a date as it shows it; kind: that of the dtype."""
    if not isinstance(cell, str):
        return ""
    if kind in "fiu" and _GROUPED.fullmatch(cell.strip()):
        return "a spreadsheet put marks between thousands: take them out of the format of these cells, and save again"
    if kind == "M" and _SHOWN_DATE.fullmatch(cell.strip()):
        return "a spreadsheet saved the date as it shows it: give these cells the format YYYY-MM-DD, and save again"
    return ""


def fill_blanks(out: Buffer, problems: list[Problem], cells: Sequence[Cell], missing: Missing) -> list[Problem]:
    """Put NaN where a cell is blank, unless blanks are errors; return the problems that remain."""
    if not takes_blanks(missing) or not problems:
        return problems
    blank = [problem.index for problem in problems if is_blank(cells[problem.index])]
    out[blank] = np.nan
    return [problem for problem in problems if problem.rest or not is_blank(cells[problem.index])]
