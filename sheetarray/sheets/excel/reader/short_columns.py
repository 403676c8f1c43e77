"""Very many short columns of numbers: the cells of all of one dtype are converted at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import Request
from .column import ColumnRun, to_numbers
from .column_runs import ColumnRuns

if TYPE_CHECKING:
    import polars as pl

FEWEST = 8  # columns; fewer are as quickly converted one by one
LONGEST = 2**11  # cells of a column that is converted together with others
_KINDS = ("float", "int")


def numbers_of_short(requests: Iterable[Request], columns: Mapping[int, ColumnRuns]) -> dict[int, pl.Series]:
    """Return those columns that could be converted together, as Series of the engine's dtypes, by their numbers.

    All others are to be converted one by one: long columns, columns with gaps, columns of other dtypes than numbers,
    and all columns of one dtype if a single cell in them is in doubt.

    `columns`: the cells of each column from the requested row on, by the number of the column in the sheet.
    """
    groups: dict[tuple[Any, ...], list[Request]] = {}
    for request in requests:
        runs = columns[request.column]
        if request.dtype.kind in _KINDS and runs.is_whole and runs.height <= LONGEST:
            key = request.dtype.name, request.as_numerals, runs.values[0].dtype
            groups.setdefault(key, []).append(request)
    numbers: dict[int, pl.Series] = {}
    for group in groups.values():
        if len(group) >= FEWEST:
            numbers |= _convert([request.column for request in group], group[0], columns)
    return numbers


def _convert(places: list[int], request: Request, columns: Mapping[int, ColumnRuns]) -> dict[int, pl.Series]:
    """Return columns of one dtype, converted together; nothing if a cell is in doubt."""
    import polars as pl

    values = pl.concat([columns[place].values[0] for place in places], rechunk=True)
    kinds = np.concatenate([columns[place].kinds[0] for place in places])
    run = ColumnRun(np.arange(len(values)), kinds, values)
    together = to_numbers(run, request.dtype, numerals=request.as_numerals)
    if together is None:
        return {}
    ends = np.cumsum([columns[place].height for place in places]).tolist()
    return {
        place: together.slice(start, end - start) for place, start, end in zip(places, [0, *ends], ends, strict=False)
    }
