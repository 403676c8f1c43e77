"""The columnar engine: columns made of columns on all cores, and under which of its dtypes it may parse a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import DType

if TYPE_CHECKING:
    import polars as pl

_MANY = 2**16  # rows; fewer are done before the cores have shared them out


def compute_columns(columns: Mapping[str, Any], **results: Any) -> pl.DataFrame:
    """Return columns that expressions make of others, each cell of the cells in its row.

    `columns`: all of one length, by the names that the expressions call them. `results`: the expressions, by the names
    of what they make.

    Example:
        >>> import polars as pl
        >>> compute_columns({"a": [1, 2]}, b=pl.col("a").cast(pl.String) + "!")["b"].to_list()
        ['1!', '2!']
    """
    import polars as pl

    frame = pl.LazyFrame(columns)
    length = max((len(column) for column in columns.values()), default=0)
    return frame.select(**results).collect(engine="streaming" if length >= _MANY else "in-memory")


def engine_dtype(dtype: DType) -> Any:
    """Return the polars dtype under which the engine may parse a column of `dtype` by itself; String where it
    may not. That of float16 is Float64: the engine itself would round a numeral twice.
    """
    import polars as pl

    if dtype.name == "float16":
        return pl.Float64
    if dtype.kind in ("float", "int", "bool"):
        names = {"bool": "Boolean", "uint": "UInt", "int": "Int", "float": "Float"}
        base = dtype.name.rstrip("0123456789")
        return getattr(pl, names[base] + dtype.name[len(base) :])
    return pl.Int64 if dtype.kind == "timedelta" else pl.String
