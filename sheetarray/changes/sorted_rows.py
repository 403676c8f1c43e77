"""Finds the array by whose values rows were sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from unicodedata import combining, normalize

from ..dtypes import Array, Positions
from .wording import count_noun


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Arrays of as many rows that stand in another order now, the same for all of them."""

    names: Sequence[str]  # of the arrays
    by: str | None  # the array by which the rows are sorted now; None if by none
    order: Positions  # for each row as it was written its number now

    def rename(self, names: Mapping[str, str]) -> SortedRows:
        """Return these rows with other names of arrays, given by those that they have."""
        by = None if self.by is None else names.get(self.by, self.by)
        return replace(self, names=[names.get(name, name) for name in self.names], by=by)

    def to_text(self) -> str:
        """Return a sentence that describes the sort, such as `rows sorted by t (12 rows, 5 arrays)`."""
        what = "rows in another order" if self.by is None else f"rows sorted by {self.by}"
        arrays = self.names[0] if len(self.names) == 1 else count_noun(len(self.names), "array")
        return f"{what} ({count_noun(len(self.order), 'row')}, {arrays})"


def find_sorted(table: Mapping[str, Array]) -> str | None:
    """Return the first array of one element a row that rises or falls, and is not the same in all rows, or None.

    `table`: the rows of arrays by name, each of two dimensions.

    Example:
        >>> import numpy as np
        >>> find_sorted({"a": np.array([[1], [3], [2]]), "b": np.array([[9], [7], [7]])})
        'b'
    """
    return next(
        (name for name, rows in table.items() if rows.shape[1] == 1 and _is_sorted(rows.ravel().tolist())), None
    )


def _is_sorted(values: Sequence[Any]) -> bool:
    """Return whether values rise or fall as programs sort them: blanks and NaN at an end, text also without case."""
    places = [place for place, value in enumerate(values) if value not in (None, "") and value == value]
    values = values[places[0] : places[-1] + 1] if places else ()
    if not values or values[0] == values[-1]:
        return False
    if isinstance(values[0], str) and _is_sorted_by(values, _fold):
        return True
    return _is_sorted_by(values, lambda value: value)


def _is_sorted_by(values: Sequence[Any], key: Callable[[Any], Any]) -> bool:
    try:
        pairs = list(pairwise(map(key, values)))
        return all(x <= y for x, y in pairs) or all(x >= y for x, y in pairs)
    except (TypeError, AttributeError):
        return False


def _fold(text: str) -> str:
    """Return a text without case and accents."""
    return "".join(char for char in normalize("NFD", text.casefold()) if not combining(char))
