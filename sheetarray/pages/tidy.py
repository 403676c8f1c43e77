"""Awkward arrays as tidy tables: one for each list that is nested in another, with a row for each of its entries.

The rows of a table begin with the indices of the entry, one column for each list around it. Every field that stands in
it is a column, and so is the number of entries of each list within.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import LimitError

_VALUE = "value"  # the column of entries that have no name
_BLOCK = 10_000  # entries that become Python's values at once
_INTEGERS = (-(2**63), 2**63 - 1)


FieldPath = tuple[str, ...]  # names of fields, from the outside to the inside


@dataclass(slots=True)
class TidyTable:
    """A table that is filled row by row."""

    # the paths of the fields that hold the lists around its entries; () for the entries of the array itself
    lists: tuple[FieldPath, ...] = ()
    # for each row, the index of its entry in each of these lists
    indices: list[tuple[int, ...]] = field(default_factory=list)
    # by whether they count the entries of a list, and the path of their field: the rows with a value, and the values
    columns: dict[tuple[bool, FieldPath], tuple[list[int], list[Any]]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The lists around its entries, such as `.muons[]`."""
        return "".join(f"{'.' if path else ''}{'.'.join(path)}[]" for path in self.lists)

    def put(self, path: FieldPath, value: Any, *, counts: bool = False) -> None:
        """Put a value, or with `counts` the number of entries of a list, into a column of the last row."""
        rows, values = self.columns.setdefault((counts, path), ([], []))
        rows.append(len(self.indices) - 1)
        values.append(value)

    def count_cells(self) -> int:
        """Return the number of cells in the table."""
        return len(self.indices) * (1 + len(self.lists) + len(self.columns))

    def to_columns(self) -> dict[str, Array]:
        """Return the columns of equal length, by different titles: indices, values, counts."""
        columns: dict[str, Array] = {}
        for level, title in enumerate(["entry", *(f"{'.'.join(path)}[]" for path in self.lists)]):
            columns[_free_title(title, columns)] = np.array([index[level] for index in self.indices], np.int64)
        for (counts, path), (rows, values) in sorted(self.columns.items(), key=lambda item: item[0][0]):
            title = f"{'.'.join(path)} count".strip() if counts else ".".join(path) or _VALUE
            columns[_free_title(title, columns)] = _column(rows, values, len(self.indices))
        return columns


class _TooManyCellsError(Exception):
    """Says after how many entries the tables have more cells than they may have."""


def tidy_within(array: Any, entries: range, most: int) -> tuple[list[TidyTable], range]:
    """Return tables of the entries of an awkward array, and the entries; fewer entries if the tables would have too
    many cells.

    `array`: an `awkward.Array`. `most`: the number of cells that the tables may have.

    Raises:
        LimitError: one entry has more cells.
    """
    while True:
        try:
            return _make_tidy(array, entries, most), entries
        except _TooManyCellsError as error:
            (done,) = error.args
            if len(entries) == 1:
                raise LimitError(
                    f"entry {entries[0]} has more than {most:,} elements: name fewer arrays (names=)"
                ) from None
            entries = entries[:: max(2, len(entries) // done)]


def _make_tidy(array: Any, entries: range, most: int) -> list[TidyTable]:
    """Return the tables of some entries of an awkward array; the first has a row for each of them."""
    tables: dict[tuple[FieldPath, ...], TidyTable] = {(): TidyTable()}
    for start in range(0, len(entries), _BLOCK):
        block = entries[start : start + _BLOCK]
        stop = None if block.stop < 0 else block.stop
        for index, entry in zip(block, array[block.start : stop : block.step].to_list(), strict=True):
            tables[()].indices.append((index,))
            _visit(entry, tables[()], (), (index,), tables)
        if sum(table.count_cells() for table in tables.values()) > most:
            raise _TooManyCellsError(start + len(block))
    return list(tables.values())


def _visit(
    value: Any,
    table: TidyTable,
    path: FieldPath,
    index: tuple[int, ...],
    tables: dict[tuple[FieldPath, ...], TidyTable],
) -> None:
    """Put a value and all values inside it into the tables."""
    if isinstance(value, (dict, tuple)):
        fields = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in fields:
            _visit(item, table, (*path, str(key)), index, tables)
    elif isinstance(value, (list, np.ndarray)):
        table.put(path, len(value), counts=True)
        lists = (*table.lists, path)
        below = tables.setdefault(lists, TidyTable(lists))
        for number, item in enumerate(value):
            below.indices.append((*index, number))
            _visit(item, below, (), (*index, number), tables)
    else:
        table.put(path, value)


def _free_title(title: str, taken: dict[str, Array]) -> str:
    while title in taken:
        title += "'"
    return title


def _column(rows: list[int], values: list[Any], count: int) -> Array:
    """Return a column as an array; an array of numbers if every row has a number of the same type."""
    kinds = set(map(type, values))
    whole = len(rows) == count
    for kind, make in _MAKERS.items():
        if whole and kinds == {kind} and (array := make(values)) is not None:
            return array
    column = np.full(count, None, object)
    for row, value in zip(rows, values, strict=True):
        column[row] = value.hex() if isinstance(value, bytes) else value
    return column


def _to_integers(values: list[int]) -> Array | None:
    least, most = _INTEGERS
    return np.array(values, np.int64) if least <= min(values) and max(values) <= most else None


_MAKERS: dict[type, Callable[[list[Any]], Array | None]] = {
    float: lambda values: np.array(values, np.float64),
    int: _to_integers,
    bool: lambda values: np.array(values, np.bool_),
    complex: lambda values: np.array(values, np.complex128),
    str: lambda values: np.array(values, np.dtypes.StringDType()),
    np.datetime64: np.array,
    np.timedelta64: np.array,
}
