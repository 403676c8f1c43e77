"""Formulas of ordinary tables: an element whose cell is a formula is that formula, and its result follows.

So a formula that nobody touched is no edit, whatever its result is now, and one that somebody changed, or typed a value
over, is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import Array, Mask, find_missing_value


class Formula:
    """The formula of a cell. Two are equal if they say the same of the cells around them, as after filling down, or if
    nobody changed a letter, as in rows that a program moved without their formulas.

    Attributes:
        cell: the row and the column of its cell, counted from 0.
        relative: the formula with references that count from its cell.
        result: its value; None where nobody knows it.
        has_followers: whether other cells only say that they share it.

    Example:
        >>> Formula("=B2*C2", (1, 3), "R[0]C[-2]*R[0]C[-1]") == Formula("=B5*C5", (4, 3), "R[0]C[-2]*R[0]C[-1]")
        True
    """

    __slots__ = "_text", "cell", "has_followers", "relative", "result"

    def __init__(
        self,
        text: str | Callable[[], str],
        cell: tuple[int, int],
        relative: str,
        result: Any = None,
        *,
        has_followers: bool = False,
    ) -> None:
        self._text, self.cell, self.relative, self.result = text, cell, relative, result
        self.has_followers = has_followers

    @property
    def text(self) -> str:
        """The formula as a spreadsheet shows it in its cell, such as `=B2*C2`. It is spelled out anew each time."""
        return self._text if isinstance(self._text, str) else self._text()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self.relative == other.relative or self.text == other.text)

    def __hash__(self) -> int:
        return hash(Formula)

    def __repr__(self) -> str:
        return self.text

    def with_result(self, result: Any) -> Formula:
        """Return the formula with another result."""
        return Formula(self._text, self.cell, self.relative, result, has_followers=self.has_followers)


class FormulaText(str):
    """The text of a formula, which messages show without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def show_formula(value: Any) -> Any:
    """Return the text of a formula; any other value as it is."""
    return FormulaText(value.text) if isinstance(value, Formula) else value


def put_formulas(column: Array, formulas: Array, errors: Array | None = None) -> Array:
    """Return the column with each result of a formula replaced by the `Formula` itself; other elements stay.

    `formulas`: the formula of each element; None where its cell has none. `errors`: the error of each result that
    cannot be read.
    """
    elements = np.empty(len(column), object)
    elements[:] = list(column) if column.dtype.kind in "mM" else column.tolist()
    for row in np.flatnonzero(mark_objects(formulas)).tolist():
        result = None if errors is not None and errors[row] is not None else column[row]
        elements[row] = formulas[row].with_result(None if result is None or result != result else result)
    return elements


def mark_objects(objects: Array) -> Mask:
    """Return a mask of the elements that are not None."""
    return np.fromiter((element is not None for element in objects.tolist()), np.bool_, len(objects))


def find_formulas(column: Any) -> Array | None:
    """Return the formulas of a column, None for other elements; None if it has none."""
    if not isinstance(column, np.ndarray) or column.dtype.kind != "O" or column.ndim != 1:
        return None
    formulas = np.array([element if isinstance(element, Formula) else None for element in column.tolist()], object)
    return formulas if mark_objects(formulas).any() else None


def take_results(column: Array, dtype: np.dtype[Any]) -> Array:
    """Return the column with each `Formula` replaced by its result, in a dtype; the reverse of `put_formulas`.

    A result that nobody knows is missing; where the dtype has no missing value, the column holds objects.
    """
    values = [element.result if isinstance(element, Formula) else element for element in column.tolist()]
    if dtype.kind not in "OUT" and any(value is None for value in values):
        missing = find_missing_value(dtype)
        if missing is None:
            dtype = np.dtype(object)
        else:
            values = [missing if value is None else value for value in values]
    if dtype.kind == "O":
        results = np.empty(len(values), object)
        results[:] = values
        return results
    if dtype.kind in "UT":
        return np.array(["" if value is None else str(value) for value in values], None if values else dtype)
    return np.array(values, dtype)


def hide_formulas(column: Array | None, errors: Array | None) -> Array | None:
    """Return the errors of a column with its formulas among them: elements whose values are not compared."""
    formulas = find_formulas(column)
    if formulas is None or errors is None:
        return errors if formulas is None else formulas
    return np.where(mark_objects(errors), errors, formulas)
