"""What became of the arrays of recorded tables since they were written, as `check` says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from ....changes.compare import Comparison, compare
from ....changes.findings import describe_changes
from ....changes.row_groups import GroupedRows, LabelGroup, map_rows
from ....columns import DataCells, Sheet, keeping_unreadable
from ....columns.unreadable import join_rows
from ....dtypes import Array
from ....errors import Finding, FormatError
from ....labels import DatasetLabels, stack_labels
from ....labels.places import find_labels, list_levels
from ....linear.array import LinearArray
from ..checksums.record import read_checksums
from ..checksums.verdict import compare_with_checksums
from ..guard.snapshots import Snapshots
from ..workbook import Workbook
from .recorded import RecordedTable, find_recorded, open_recorded

_MOST_EDITS = 100_000  # elements of an array that are compared one by one
_HINT = "sa.accept takes the change, and read_columns reads the table as it is"


def check_tables(book: Workbook, sheets: Sequence[Sheet], snapshots: Snapshots | None) -> Iterator[Finding]:
    """Yield a finding for each change of a recorded table, and for each of its cells that cannot be read."""
    for title, note in find_recorded(book, sheets).items():
        try:
            with keeping_unreadable() as unreadable:
                (table,) = open_recorded(book, {title: note}, snapshots)
            yield from _check_table(book, note[0], replace(table, unreadable=unreadable))
        except FormatError as error:
            yield replace(Finding.from_error(error), hint=error.hint or _HINT)


def _check_table(book: Workbook, written_title: str, table: RecordedTable) -> Iterator[Finding]:
    errors: list[FormatError] = []
    for name, column in table.unreadable.items():
        for error in column.tolist():
            if error is not None:
                error.array = table.note.places.get(name, (name, 0))[0]
                errors.append(error)
    yield from join_rows(errors)
    if any(name in table.unreadable for name in table.note.axes.values()):
        return  # rows without labels
    arrays, _ = table.stacked
    if not table.written:
        yield from _compare_checksums(book, written_title, table)
        return
    for name in table.stacked_as_written:
        if name not in arrays:
            yield Finding("error", table.title, f"the array {name!r:.80} is gone", _HINT, array=name)
    comparisons, grouped, pairs = compare_table(table)
    yield from describe_changes(comparisons, grouped, pairs, _TablePlaces(table))


def compare_table(table: RecordedTable) -> tuple[list[Comparison], GroupedRows, dict[str, tuple[Array, Array]]]:
    """Return what became of the arrays of a table that has a snapshot, which row is which, and the arrays."""
    arrays, labels = table.stacked
    before, unreadable = table.stacked_as_written, _stack_errors(table)
    pairs = {name: (before[name], arrays[name]) for name in arrays if name in before}
    grouped = map_rows(pairs, _list_groups(labels, pairs), unreadable=unreadable)
    comparisons = [
        compare(
            name,
            *pair,
            most=_MOST_EDITS,
            errors=[None, unreadable.get(name)],
            row_maps=grouped.maps.get(name, ()),
            is_saved=True,
        )
        for name, pair in pairs.items()
    ]
    return comparisons, grouped, pairs


def _stack_errors(table: RecordedTable) -> dict[str, Array]:
    """Return, by array, the errors of the elements whose cells cannot be read; None for all other elements."""
    if not table.unreadable:
        return {}
    axes, count = {*table.note.axes.values()}, len(next(iter(table.columns.values())))
    columns = {
        name: column if name in axes else table.unreadable.get(name, np.full(count, None, object))
        for name, column in table.columns.items()
    }
    try:
        stacked, _ = stack_labels(columns, None, None, deepcopy(table.note), np.array, table.written)
    except FormatError:  # an array that several rows repeat
        return {}
    return {
        name: errors
        for name, errors in stacked.items()
        if errors.dtype.kind == "O" and any(isinstance(error, FormatError) for error in errors.ravel().tolist())
    }


def _list_groups(labels: DatasetLabels, pairs: Mapping[str, tuple[Array, Array]]) -> list[LabelGroup]:
    """Return the arrays whose rows are identified by labels, by dimension."""
    axes: dict[str, dict[str, int]] = {}
    for name in pairs:
        variable = labels.find(name)
        for axis, dim in enumerate(variable.dims if variable is not None else ()):
            axes.setdefault(dim, {})[name] = axis
    groups = []
    for dim, own in axes.items():
        levels = [*list_levels(labels, dim)]
        if all(level in pairs and pairs[level][0].ndim == pairs[level][1].ndim == 1 for level in levels):
            groups.append(LabelGroup(levels, own))
    return groups


def _compare_checksums(book: Workbook, written_title: str, table: RecordedTable) -> Iterator[Finding]:
    """Yield what the checksums of columns say, where no guard tells more."""
    sums = read_checksums(book.record.get("sheets", {}).get(written_title, {}).get("columns"))
    for name, column in table.columns.items():
        if (record := sums.get(name)) is None or name in table.unreadable:
            continue
        linear = LinearArray.from_numpy(column)
        runs = table.columns.data_cells(name)

        def address(index: int, runs: Sequence[DataCells] = runs) -> str:
            return next((run for run in reversed(runs) if run.first <= index), runs[0]).address(index)

        for finding in compare_with_checksums(record, linear.header, linear.buffer, name, address):
            yield replace(finding, array=name)


class _TablePlaces:
    """Where elements and rows of the arrays of a table stand, and how people call them."""

    def __init__(self, table: RecordedTable) -> None:
        self._table = table
        self._arrays, self._labels = table.stacked

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the first cell of an element."""
        return self._table.find_cell(name, index)

    def name_element(self, name: str, index: Sequence[int]) -> str:
        """Return an element as messages call it, such as `t[2, 0]`."""
        return f"{name}[{', '.join(map(str, index))}]" if index else name

    def find_index(self, name: str, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the index of an element in its array."""
        return tuple(index) if name in self._arrays else None

    def find_labels(self, name: str, index: Sequence[int]) -> Sequence[str]:
        """Return the labels of an element."""
        return [f"{text:.40}" for text in find_labels(self._labels, self._arrays, name, index).values()]

    def find_row(self, names: Sequence[str], row: int) -> int | None:
        """Return the row of the sheet in which a row of arrays stands; None unless it is one row for all of them."""
        rows = self._table.columns.list_rows() if self._table.places.are_counted else []
        return rows[row] + 1 if row < len(rows) and all(self._arrays[name].ndim == 1 for name in names) else None

    def has_other_header(self, name: str) -> bool:
        """Return whether reading the array takes `resize=True`."""
        return name in self._arrays and self._table.has_other_rows
