"""A table of arrays with several dimensions, whose columns are made one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import LimitError

MOST_ROWS = 2**27  # of a table in a container that has no limit of its own


class LabelledTable(Mapping[str, Array]):
    """Columns by name, each made when somebody asks for it; how many rows they have is known before.

    `arrays`: by name. `dims`: the names of the dimensions of each. `sizes`: of all dimensions; the last one varies
    fastest from row to row. `describe`: returns what the cells do not say of the arrays, ready for JSON. `notes`: what
    people read beside the names of columns.
    """

    def __init__(
        self,
        arrays: Mapping[str, Array],
        dims: Mapping[str, Sequence[str]],
        sizes: Mapping[str, int],
        describe: Callable[[], dict[str, Any]],
        notes: Mapping[str, str],
    ) -> None:
        self._arrays, self._dims, self.sizes, self.describe = dict(arrays), dims, dict(sizes), describe
        self.notes = notes

    @property
    def rows(self) -> int:
        """The number of rows below the names."""
        return math.prod(self.sizes.values())

    def check_rows(self, most: int | None) -> None:
        """Refuse a table of more rows than a container has, names included; None for one without a limit."""
        most = MOST_ROWS if most is None else most
        if self.rows + 1 > most:
            sizes = " x ".join(f"{size:,} {dim:.60}" for dim, size in list(self.sizes.items())[:8])
            raise LimitError(
                f"{self.rows:,} rows ({sizes}) and a row of names, but the sheet has only {most:,} rows: columns= "
                "makes a column of each label of a dimension, and sheetarray.write keeps arrays in their shapes"
            )

    def __getitem__(self, name: str) -> Array:
        places = [list(self.sizes).index(dim) for dim in self._dims[name]]
        return repeat(self._arrays[name], places, tuple(self.sizes.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def notes_of_columns(table: object) -> Mapping[str, str]:
    """Return a note for each column that has one, such as its units, by the names of the columns."""
    return table.notes if isinstance(table, LabelledTable) else {}


def repeat(array: Array, places: Sequence[int], shape: tuple[int, ...]) -> Array:
    """Return the elements of an array for each row of a grid, of whose dimensions it has those at some places."""
    order = sorted(range(len(places)), key=places.__getitem__)
    spread = [1] * len(shape)
    for place in places:
        spread[place] = shape[place]
    return np.broadcast_to(array.transpose(order).reshape(spread), shape).reshape(-1)
