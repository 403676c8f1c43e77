"""Fits new rows to an ordinary table: to its columns, and to the dtype of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..changes.elements import cast_exactly
from ..dtypes import Array
from ..errors import DTypeError, LimitError, quote_names

_MOST_LOOKED_AT = 1000  # elements, for one that does not fit


def fit_new_rows(
    rows: Mapping[str, Any], columns: Mapping[str, Array], *, fills: bool = False, recorded: Collection[str] = ()
) -> dict[str, Array]:
    """Return new rows of a table in the order of its columns, and in their dtypes.

    `fills`: whether columns may be missing. `recorded`: the columns whose dtypes a record tells.

    Raises:
        DTypeError: a column does not hold the new elements exactly.
        LimitError: columns are missing, unknown, or of different lengths.
    """
    names = list(columns)
    if not fills and (missing := [name for name in names if name not in rows]):
        raise LimitError(f"rows need all columns of the table, and they lack {quote_names(missing)}")
    if unknown := [name for name in rows if name not in names]:
        raise LimitError(f"the table has no column {quote_names(unknown)}; it has {quote_names(names)}")
    arrays = {name: np.asarray(rows[name]) for name in names if name in rows}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise DTypeError(f"{name}: a column of a table takes an array of one dimension, not {array.ndim}")
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{name!r:.60} {len(array):,}" for name, array in arrays.items())
        raise LimitError(f"the new columns have different lengths: {lengths}")
    return {
        name: array
        if columns[name].dtype.kind == "O" or (name not in recorded and is_without_values(columns[name]))
        else _fit(name, array, columns[name])
        for name, array in arrays.items()
    }


def _fit(name: str, array: Array, column: Array) -> Array:
    """Return new elements in the dtype of a column.

    Raises:
        DTypeError: that changes one of them.
    """
    fitted = cast_exactly(array, column.dtype)
    if fitted is None:
        reason = f"{name}: the column holds {column.dtype}, and the new elements are {array.dtype}"
        single = (array[place : place + 1] for place in range(min(len(array), _MOST_LOOKED_AT)))
        odd = next((element for element in single if cast_exactly(element, column.dtype) is None), None)
        raise DTypeError(reason if odd is None else f"{reason}, such as {odd.tolist()[0]!r:.60}")
    return fitted


def is_without_values(column: Array) -> bool:
    """Return whether a column is empty or all blank, so that rows of any dtype can be appended."""
    return not len(column) or (column.dtype.kind == "f" and bool(np.isnan(column).all()))
