"""Many columns, few cells, and ordinary tables.

What takes less than a millisecond is done a hundred times on either side.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import PANDAS, POLARS, SHEETARRAY, Arrays, Contender, replace_file

_OFTEN = 100


def _read_columns(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read_columns(path)


def _read_one(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read(path, ["x4000"])


def make_table(rows: int) -> Arrays:
    """Return what people keep in tables: ids, numbers with two decimals and with all, counts, days, words, answers."""
    rng = np.random.default_rng(20240229)
    days = rng.integers(0, 20_000, rows).astype("datetime64[D]")
    return {
        "id": np.arange(rows),
        "price": np.round(rng.random(rows) * 100, 2),
        "value": rng.standard_normal(rows),
        "count": rng.integers(0, 1000, rows),
        "day": days.astype("datetime64[ms]"),
        "city": np.array(["Berlin", "Paris", "Rome", "San Francisco"])[rng.integers(0, 4, rows)],
        "valid": rng.integers(0, 2, rows).astype(bool),
    }


def _write_table(path: Path, arrays: Arrays) -> None:
    import polars

    days = polars.col("day").cast(polars.Date)
    replace_file(path, polars.DataFrame(dict(arrays)).with_columns(days).write_csv)


def _read_table_pandas(path: Path) -> Arrays:
    import pandas

    frame = pandas.read_csv(path, parse_dates=["day"])
    return {name: column.to_numpy() for name, column in frame.items()}


def _read_table_polars(path: Path) -> Arrays:
    import polars

    frame = polars.read_csv(path, schema_overrides={"day": polars.Date})
    texts = {name: column.to_numpy() for name, column in frame.to_dict().items()}
    return texts | {"city": texts["city"].astype("U")}


def repeat(contender: Contender, often: int = _OFTEN) -> Contender:
    """Return a contender that does everything many times."""

    def write(path: Path, arrays: Arrays) -> None:
        for _ in range(often):
            contender.write(path, arrays)

    def read(path: Path) -> Any:
        for _ in range(often - 1):
            contender.read(path)
        return contender.read(path)

    return replace(contender, write=write, read=read, often=often)


TABLE = Contender("sheetarray read_columns", POLARS.write, _read_columns, verbs=("read",), ours=True)
ONE_BY_NAME = Contender("sheetarray, one by name", SHEETARRAY.write, _read_one, verbs=("read",))

MANY = (SHEETARRAY, ONE_BY_NAME, POLARS)
TABLES = (TABLE, PANDAS, POLARS)
TABLES_OF_KINDS = (
    replace(TABLE, write=_write_table),
    replace(PANDAS, write=_write_table, read=_read_table_pandas),
    replace(POLARS, write=_write_table, read=_read_table_polars),
)
FEW = (repeat(SHEETARRAY), repeat(PANDAS))
