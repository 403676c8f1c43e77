"""Rows of totals: the words that stand in them, and whether their numbers are the sums or means of those above."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from ...dtypes import Array
from ...elements import Cell

_SUMS = frozenset(
    [
        *("total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "gesamtergebnis"),
        *("total g\u00e9n\u00e9ral", "totale", "somme", "suma"),
    ]
)
_MEANS = frozenset(
    [
        *("mean", "average", "avg", "mittel", "mittelwert", "durchschnitt", "moyenne", "media", "promedio"),
    ]
)
_MOST_ROUNDED = 0.02  # of a sum or a mean, where people type it with fewer decimals


def is_word_for_sum(cell: Cell) -> bool:
    """Return whether a cell holds a word for a sum, such as `Total:`."""
    return isinstance(cell, str) and cell.strip().rstrip(":").casefold() in _SUMS


def find_word(cells: Iterable[Cell]) -> str:
    """Return the first word for a sum or a mean among the cells of a row; "" if there is none.

    Example:
        >>> find_word(["Mean:", 2.5])
        'Mean:'
    """
    for cell in cells:
        if isinstance(cell, str) and (is_word_for_sum(cell) or cell.strip().rstrip(":").casefold() in _MEANS):
            return cell
    return ""


def ends_in_totals(columns: Mapping[str, Array]) -> bool:
    """Return whether the last row of a table has a word for a sum or a mean."""
    texts = [column for column in columns.values() if column.ndim == 1 and column.dtype.kind in "OTU"]
    return bool(find_word(column[-1] for column in texts if len(column)))


def fits_totals(word: str, cell: Cell, above: Sequence[Cell]) -> bool:
    """Return whether a cell of a row of totals is the sum, or the mean, of the cells above it.

    `word`: that stands in the row.

    Example:
        >>> fits_totals("total", 6, [1, 2, 3]), fits_totals("mean", 0.33, [0, 0, 1]), fits_totals("total", 7, [1, 2, 3])
        (True, True, False)
    """
    numbers = [number for number in above if isinstance(number, (int, float)) and not isinstance(number, bool)]
    if not isinstance(cell, (int, float)) or isinstance(cell, bool) or not numbers or not math.isfinite(cell):
        return False
    try:
        total = math.fsum(numbers)
    except (OverflowError, ValueError):
        return False
    expected = total if is_word_for_sum(word) else total / len(numbers)
    decimals = len(f"{cell:.10f}".rstrip("0").partition(".")[2])
    scale = math.fsum(map(abs, numbers))
    rounded = min(0.5001 * 10.0**-decimals, _MOST_ROUNDED * abs(expected)) if decimals < 10 else 0.0
    return abs(cell - expected) <= max(rounded, 1e-9 * scale)


def sums_up(formula: str, letters: str, last: int) -> bool:
    """Return whether a formula names cells of a column down to a row.

    `letters`: of the column. `last`: the row, counted from 1.

    Example:
        >>> sums_up("SUM(B2:B9)", "B", 9), sums_up("SUM(A2:A9)", "B", 9)
        (True, False)
    """
    return re.search(rf"(?<![\w.$!])\$?{letters}\$?[0-9]{{1,7}}:\$?{letters}\$?{last}(?![\w.(])", formula) is not None
