"""Many columns and few cells, like for like: peers flush and rename what they write, and end with ndarrays.

What takes less than a millisecond is done a hundred times on either side.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from .contenders import SHEETARRAY, Arrays, Contender

_OFTEN = 100


def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file as sheetarray does: flushed to the disk, and put in the place of the old one."""
    temporary = path.with_suffix(".part")
    with temporary.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _write_polars(path: Path, arrays: Arrays) -> None:
    import polars

    replace_file(path, polars.DataFrame(dict(arrays)).write_csv)


def _read_polars(path: Path) -> Arrays:
    import polars

    return {name: column.to_numpy() for name, column in polars.read_csv(path, try_parse_dates=True).to_dict().items()}


def _write_pandas(path: Path, arrays: Arrays) -> None:
    import pandas

    frame = pandas.DataFrame(dict(arrays), copy=False)
    replace_file(path, lambda file: frame.to_csv(file, index=False))


def _read_pandas(path: Path) -> Arrays:
    import pandas

    frame = pandas.read_csv(path)
    return dict(zip(frame.columns, frame.to_numpy().T, strict=True))


def _read_columns(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read_columns(path)


def _read_one(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read(path, ["x0"])


def _repeat(contender: Contender) -> Contender:
    """Return a contender that does everything many times."""

    def write(path: Path, arrays: Arrays) -> None:
        for _ in range(_OFTEN):
            contender.write(path, arrays)

    def read(path: Path) -> Any:
        for _ in range(_OFTEN - 1):
            contender.read(path)
        return contender.read(path)

    return replace(contender, write=write, read=read)


POLARS_NUMPY = Contender("polars to NumPy", _write_polars, _read_polars)
PANDAS_NUMPY = Contender("pandas to NumPy", _write_pandas, _read_pandas)
TABLE = Contender("sheetarray read_columns", _write_polars, _read_columns, ours=True)
ONE_BY_NAME = Contender("sheetarray, one by name", SHEETARRAY.write, _read_one)

MANY = (SHEETARRAY, ONE_BY_NAME, POLARS_NUMPY)
TABLES = (TABLE, PANDAS_NUMPY)
FEW = (_repeat(SHEETARRAY), _repeat(PANDAS_NUMPY))
