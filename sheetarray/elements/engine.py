"""Columns made of columns, row by row, by the columnar engine: on all cores where there are many rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
