"""Arrow -> ndarrays: tables, record batches and arrays of pyarrow, and whatever else hands out an Arrow stream.

Missing text, integers and booleans become None in a generic array; dictionaries are decoded, lists of one fixed size
become an array of more dimensions. Without pyarrow, streams of other packages are read by polars, which counts seconds
in milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError, is_panic
from .everyday import to_objects
from .kinds import LISTS, RaggedError, is_of
from .nulls import texts_or_objects, to_floats, to_times
from .zones import check_zone

_UTC = "column.cast(pa.timestamp('us', 'UTC'))"
_REFUSED = {
    "struct": "give each field a column, table.flatten()",
    "binary": "decode it to text, column.cast(pa.string())",
    "map": "ak.from_arrow(table) makes an awkward.Array",
    "union": "write one array for each kind of value",
    "interval": "write months, days and nanoseconds as columns of their own",
}


def table_columns(table: Any) -> list[tuple[str, Any]]:
    """Return the columns of a Table or RecordBatch."""
    return list(zip(table.schema.names, table.columns, strict=True))


def stream_columns(value: Any) -> list[tuple[str, Any]] | Any:
    """Return the columns of a table, or the one column, that an object hands out as an Arrow stream or array.

    Raises:
        DTypeError: the stream cannot be read.
    """
    try:
        pa = import_module("pyarrow")
    except ImportError:
        return _by_polars(value)
    try:
        stream = hasattr(value, "__arrow_c_stream__")
        content = pa.chunked_array(value) if stream else pa.chunked_array([pa.array(value)])
        if not content.num_chunks:  # of which older releases make no table
            content = pa.chunked_array([pa.array([], content.type)])
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DTypeError(f"the Arrow stream cannot be read: {error}") from error
    if pa.types.is_struct(content.type):
        return table_columns(pa.Table.from_struct_array(content))
    return content


def _by_polars(value: Any) -> list[tuple[str, Any]] | Any:
    import polars as pl

    try:
        series = pl.Series(value)
    except BaseException as error:
        if not is_panic(error) and not isinstance(error, (pl.exceptions.PolarsError, TypeError, ValueError)):
            raise
        raise DTypeError(f"an Arrow stream that only pyarrow can read: pip install pyarrow ({error})") from error
    if type(series.dtype).__name__ == "Struct":
        return [(column.name, column) for column in series.struct.unnest().iter_columns()]
    return series


def arrow_array(column: Any) -> Array:
    """Return the array of a pyarrow Array or ChunkedArray."""
    pa = import_module("pyarrow")
    types, dtype = pa.types, column.type
    if types.is_dictionary(dtype):
        return arrow_array(column.cast(dtype.value_type))
    if types.is_run_end_encoded(dtype):
        return arrow_array(import_module("pyarrow.compute").run_end_decode(column))
    if types.is_boolean(dtype) or types.is_integer(dtype):
        return to_objects(column.to_pylist()) if column.null_count else _values(column)
    if types.is_floating(dtype):
        return _floats(column)
    if types.is_string(dtype) or types.is_large_string(dtype) or str(dtype) == "string_view" or types.is_null(dtype):
        return texts_or_objects(column.to_pylist())
    if types.is_date(dtype):
        return _times(column, f"datetime64[{'D' if types.is_date32(dtype) else 'ms'}]")
    if types.is_duration(dtype):
        return _times(column, f"timedelta64[{dtype.unit}]")
    if types.is_timestamp(dtype):  # counted in UTC, where there is a zone
        return _times(column, f"datetime64[{dtype.unit}]")
    if types.is_time(dtype):
        return texts_or_objects(column.cast(pa.string()).to_pylist())
    if types.is_decimal(dtype):
        return texts_or_objects(column.to_pylist())
    if types.is_fixed_size_list(dtype):
        return _stack(column)
    if isinstance(dtype, pa.FixedShapeTensorType):
        return np.asarray(_whole(column).to_numpy_ndarray())
    if str(dtype).startswith(("list<", "large_list<", "list_view<", "large_list_view<")):
        raise RaggedError(LISTS)
    raise DTypeError(f"no dtype of the exchange format holds Arrow's {dtype}: {_suggest_instead(dtype)}")


def arrow_kind(column: Any) -> str:
    """Return the name of the dtype from which labels make the column again; "" where its array says it all."""
    types, dtype = import_module("pyarrow").types, column.type
    if types.is_timestamp(dtype) and dtype.tz is not None:
        return f"datetime64[{dtype.unit}, {check_zone(dtype.tz, _UTC)}]"
    if types.is_decimal(dtype):
        return f"decimal({dtype.scale})" if dtype.scale >= 0 else ""
    return f"{dtype}[pyarrow]" if types.is_time(dtype) else ""


def _suggest_instead(dtype: Any) -> str:
    name = str(dtype)
    if name.startswith("extension"):
        return "write what it is stored as, column.storage"
    kinds = {"fixed_size_binary": "binary", "month_day_nano": "interval"}
    for type_name, kind in (*kinds.items(), *((kind, kind) for kind in _REFUSED)):
        if type_name in name.partition("<")[0]:
            return _REFUSED[kind]
    return "cast it to numbers, dates or text first"


def _whole(column: Any) -> Any:
    """Return the column as one Array."""
    if not is_of(column, "pyarrow", "ChunkedArray"):
        return column
    pa = import_module("pyarrow")
    chunks = [chunk for chunk in column.chunks if len(chunk)]  # empty ones from a stream cannot be joined to others
    return pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)


def _values(column: Any) -> Array:
    return np.asarray(_whole(column).to_numpy(zero_copy_only=False))


def _missing(column: Any) -> Array:
    return np.asarray(_whole(column).is_null().to_numpy(zero_copy_only=False))


def _floats(column: Any) -> Array:
    if not column.null_count:
        return _values(column)
    dtype = {16: np.float16, 32: np.float32, 64: np.float64}[column.type.bit_width]
    values = np.array([np.nan if value is None else value for value in column.to_pylist()], dtype=dtype)
    return to_floats(values, _missing(column))


def _times(column: Any, dtype: str) -> Array:
    pa = import_module("pyarrow")
    physical = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    counts = _values(_whole(column).view(physical).fill_null(0)).astype(np.int64)
    return to_times(counts, _missing(column), dtype)


def _stack(column: Any) -> Array:
    """Return the array of a column of lists of one fixed size."""
    if column.null_count:
        raise DTypeError("nulls in place of whole lists: fill them first, with lists of nulls")
    flat = arrow_array(_whole(column).flatten())
    return flat.reshape(len(column), column.type.list_size, *flat.shape[1:])
