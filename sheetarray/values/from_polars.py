"""polars -> ndarrays: a DataFrame's columns, and Series of every dtype.

Missing text, integers and booleans become None in a generic array; an `Array` column becomes an array of more
dimensions. Times with a zone are those of UTC. Structs, lists and binary data are refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError
from .everyday import find_kind, to_objects
from .kinds import LISTS, RaggedError
from .nulls import texts_or_objects, to_floats, to_times
from .zones import check_zone

_UTC = ".dt.convert_time_zone('UTC')"
_REFUSED = {
    "Int128": ".cast(pl.Int64) where the numbers have room there, else .cast(pl.String)",
    "UInt128": ".cast(pl.UInt64) where the numbers have room there, else .cast(pl.String)",
    "Struct": "give each field a column, df.unnest({name!r})",
    "Map": "ak.from_arrow(df.to_arrow()) makes an awkward.Array",
    "Binary": ".bin.encode('hex') or .bin.encode('base64') makes text",
}


def series_array(series: Any) -> Array:
    """Return the array of a Series."""
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
        case "Datetime":  # counted in UTC, where there is a zone
            return _times(series, f"datetime64[{dtype.time_unit}]")
        case "Time":
            return texts_or_objects(series.dt.to_string("%H:%M:%S%.f").to_list())
        case "Decimal":
            return texts_or_objects(series.to_list())
        case "Array":
            return _stack(series)
        case "List":
            raise RaggedError(LISTS)
        case _:
            advice = _REFUSED.get(kind, "cast it to a dtype of numbers, dates or text first").format(name=series.name)
            raise DTypeError(f"no dtype of the exchange format holds polars' {kind}: {advice}")


def series_kind(series: Any) -> str:
    """Return the name of the dtype from which labels make the column again; "" where its array says it all."""
    dtype, kind = series.dtype, type(series.dtype).__name__
    if kind == "Datetime" and dtype.time_zone is not None:
        return f"datetime64[{dtype.time_unit}, {check_zone(dtype.time_zone, _UTC)}]"
    if kind == "Decimal":
        return f"decimal({dtype.scale})"
    if kind == "Time":
        return "" if (series.to_physical() % 1000 != 0).any() else "time"
    return find_kind(series.to_list()) if kind == "Object" else ""


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
