"""polars -> ndarrays: a DataFrame's columns, and Series of every dtype.

Missing text, integers and booleans become None in a generic array; an `Array` column becomes an array of more
dimensions. Times with a zone, structs, lists, decimals and binary data are refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError
from .kinds import naming
from .nulls import texts_or_objects, to_floats, to_objects, to_times

_UTC = ".dt.convert_time_zone('UTC').dt.replace_time_zone(None)"
_REFUSED = {
    "Int128": ".cast(pl.Int64) where the numbers have room there, else .cast(pl.String)",
    "UInt128": ".cast(pl.UInt64) where the numbers have room there, else .cast(pl.String)",
    "Decimal": ".cast(pl.String) keeps every digit, .cast(pl.Float64) is rounded",
    "Time": ".cast(pl.String), or .cast(pl.Int64) for nanoseconds since midnight",
    "Struct": "give each field a column, df.unnest(name)",
    "List": ".list.to_array(width) where all have one length, or ak.from_arrow(df.to_arrow()) for an awkward.Array",
    "Map": "ak.from_arrow(df.to_arrow()) makes an awkward.Array",
    "Binary": ".bin.encode('hex') or .bin.encode('base64') makes text",
}


def frame_columns(frame: Any) -> list[tuple[str, Array]]:
    """Return the columns of a DataFrame.

    Raises:
        DTypeError: names the column that no array of the format holds.
    """
    columns = []
    for series in frame.iter_columns():
        with naming(series.name):
            columns.append((series.name, series_array(series)))
    return columns


def series_array(series: Any) -> Array:
    """Return the array of a Series.

    Raises:
        DTypeError: no array of the format holds it.
    """
    import polars as pl

    dtype, kind = series.dtype, type(series.dtype).__name__
    nulls = series.null_count()
    match kind:
        case "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64" | "Boolean":
            return to_objects(series.to_list()) if nulls else _values(series)
        case "Float16" | "Float32" | "Float64":
            return to_floats(_values(series), _missing(series))
        case "String" | "Categorical" | "Enum":
            return texts_or_objects(series.cast(pl.String).to_list())
        case "Null" | "Object":
            return texts_or_objects(series.to_list())
        case "Date" | "Duration":
            unit = "D" if kind == "Date" else dtype.time_unit
            return _times(series, f"{'datetime' if kind == 'Date' else 'timedelta'}64[{unit}]")
        case "Datetime" if dtype.time_zone is None:
            return _times(series, f"datetime64[{dtype.time_unit}]")
        case "Datetime":
            raise DTypeError(f"times with a time zone ({dtype.time_zone}): store them as UTC, {_UTC}")
        case "Array":
            return _stack(series)
        case _:
            instead = _REFUSED.get(kind, "cast it to a dtype of numbers, dates or text first")
            raise DTypeError(f"no dtype of the exchange format holds polars' {kind}: {instead}")


def _values(series: Any) -> Array:
    return np.asarray(series.to_numpy())


def _missing(series: Any) -> Array:
    return np.asarray(series.is_null().to_numpy())


def _times(series: Any, dtype: str) -> Array:
    import polars as pl

    counts = series.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    return to_times(counts, _missing(series), dtype)


def _stack(series: Any) -> Array:
    """Return the array of a column of arrays of one shape."""
    shape = (len(series), *series.dtype.shape)
    for _ in series.dtype.shape:
        if series.null_count():
            raise DTypeError("nulls in place of whole arrays: fill them first, with arrays of nulls")
        series = series.explode() if math.prod(shape) else series.clear().explode()
    return series_array(series).reshape(shape)
