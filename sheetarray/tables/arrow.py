"""Arrays as the columns of a polars DataFrame, which DuckDB and pyarrow take without conversion.

The table is a DataFrame of polars, into which each column is copied once. NaT and None are nulls; NaN, which is a blank
or a NaN in a column of floats, stays NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Array
from ..elements import convert_times
from ..errors import DTypeError, LimitError

if TYPE_CHECKING:
    import polars as pl

_TIMES = {"h": "ms", "m": "ms", "s": "ms", "ms": "ms", "us": "us", "ns": "ns"}  # NumPy's units, in Arrow's
_DATE_UNITS = {True: {**_TIMES, **dict.fromkeys(("Y", "M", "W", "D"), "D")}, False: {**_TIMES, "W": "ms", "D": "ms"}}
_CASTS = "dtype= names another for it"


def to_arrow(columns: Mapping[str, Array]) -> pl.DataFrame:
    """Return columns as one DataFrame of polars.

    `columns`: by name; of arrays of more dimensions, the first is that of the rows.

    Raises:
        DTypeError: a column that Arrow does not hold exactly; names it.
        LimitError: columns of different lengths.

    Example:
        >>> to_arrow({"id": np.array(["a", "b"]), "t": np.array([1.5, 2.5])}).shape
        (2, 2)
    """
    import polars as pl

    lengths = {name: len(array) if array.ndim else 1 for name, array in columns.items()}
    for name, length in lengths.items():
        if length != (first := next(iter(lengths.values()))):
            raise LimitError(
                f"{name!r:.80} has {length} rows, and the first column {first}: the columns of a table are equally long"
            )
    return pl.DataFrame([to_series(name, np.atleast_1d(array)) for name, array in columns.items()])


def to_series(name: str, array: Array) -> pl.Series:
    """Return an array as a named column; raise `DTypeError` if Arrow cannot hold it exactly."""
    import polars as pl

    array = np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind in "Mm":
        return _times(name, array)
    if kind == "c":
        raise DTypeError(f"{name}: Arrow has no complex numbers: {_CASTS}, or take .real and .imag of the array")
    if kind == "O":
        return _objects(name, array)
    if kind in "UT":
        text = pl.Series(name, array.ravel().tolist(), dtype=pl.String)
        return text if array.ndim == 1 else text.reshape(array.shape)
    return pl.Series(name, array)


def _objects(name: str, array: Array) -> pl.Series:
    """Return values of one kind, None among them as nulls."""
    import polars as pl

    values = array.ravel().tolist()
    kinds = {type(value) for value in values if value is not None}
    if kinds - {bool} and kinds - {int} and kinds - {str} and kinds - {float}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DTypeError(f"{name}: values of several kinds ({names}), and a column of Arrow has one: {_CASTS}")
    kind = next(iter(kinds), None)
    try:
        dtype = {bool: pl.Boolean, str: pl.String, float: pl.Float64, None: pl.Null}.get(kind) or _integers(values)
        series = pl.Series(name, values, dtype=dtype)
    except (OverflowError, TypeError, pl.exceptions.PolarsError) as error:
        raise DTypeError(f"{name}: integers beyond 64 bits: {_CASTS}, such as string") from error
    return series if array.ndim == 1 else series.reshape(array.shape)


def _integers(values: list[Any]) -> Any:
    import polars as pl

    numbers = [value for value in values if value is not None]
    return pl.UInt64 if min(numbers) >= 0 and max(numbers) >= 2**63 else pl.Int64


def _times(name: str, array: Array) -> pl.Series:
    """Return dates or durations in a unit of Arrow's that holds them exactly."""
    import polars as pl

    unit, is_date = np.datetime_data(array.dtype)[0], array.dtype.kind == "M"
    goal = _DATE_UNITS[is_date].get(unit, "")
    if not goal:
        raise DTypeError(f"{name}: {array.dtype} has no counterpart in Arrow: {_CASTS}")
    letter = "datetime64" if is_date else "timedelta64"
    counts = convert_times(array, np.dtype(f"{letter}[{goal}]"))
    if not np.array_equal(counts.astype(array.dtype), array, equal_nan=True):
        raise DTypeError(f"{name}: a time that Arrow's unit {goal} does not reach: {_CASTS}")
    missing = np.isnat(counts).ravel()
    numbers = pl.Series(name, counts.ravel().view(np.int64))
    numbers = numbers.set(pl.Series(missing), None) if missing.any() else numbers
    kind: Any = pl.Datetime if is_date else pl.Duration
    try:
        series = numbers.cast(pl.Int32).cast(pl.Date) if goal == "D" else numbers.cast(kind(goal))
    except pl.exceptions.PolarsError as error:
        raise DTypeError(f"{name}: a date that Arrow's days do not reach: {_CASTS}") from error
    return series if array.ndim == 1 else series.reshape(array.shape)
