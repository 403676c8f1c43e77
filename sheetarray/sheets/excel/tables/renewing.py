"""Makes records and snapshots of recorded tables true to their cells, when `accept` takes what people changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....changes.compare import Comparison
from ....changes.sorted_rows import SortedRows
from ....columns import ArrayInfo, keeping_unreadable
from ....dtypes import Array
from ....elements import Missing
from ....labels import DatasetLabels
from ....linear.array import LinearArray
from ....linear.named import linear_arrays
from ...accepted import AcceptedArrays
from ...guard_texts import keep_snapshots
from ...recorded_tables import RecordedTable, accept_columns, leave_unreadable, open_recorded, read_recorded, renew_note
from ...snapshot import SnapshotHeader, encode_snapshot, parse_snapshot_header
from ...table_areas import RecordedPlace, take_named
from ...table_findings import compare_table
from ..checksums.record import Written, make_checksums
from ..guard.guard_sheet import read_texts
from ..guard.snapshots import Snapshots
from ..workbook import Workbook


@dataclass
class RenewedTables:
    """The recorded tables of a workbook, and what has to be written so that their records are true.

    Attributes:
        sheets: the new entries of the record, by the titles that sheets had when they were written.
        snapshots: the texts of the snapshots of all tables, by the titles of guards.
        comparisons, sorted_rows: what became of the arrays.
        arrays, infos, unreadable, labels: of all tables.
        tables: that were read.
    """

    sheets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    snapshots: dict[str, list[list[str]]] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    sorted_rows: list[SortedRows] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    infos: dict[str, ArrayInfo] = field(default_factory=dict)
    unreadable: dict[str, Array] = field(default_factory=dict)
    labels: DatasetLabels | None = None
    tables: list[RecordedTable] = field(default_factory=list)

    def add_to(self, accepted: AcceptedArrays) -> AcceptedArrays:
        """Return what was read of a workbook, with its tables."""
        return replace(
            accept_columns(accepted, self.tables),
            infos=({**accepted.infos[0], **self.infos}, {**accepted.infos[1], **self.infos}),
            arrays={**accepted.arrays, **self.arrays},
            unreadable={**accepted.unreadable, **self.unreadable},
            comparisons={**accepted.comparisons, **self.comparisons},
            sorted_rows=[*accepted.sorted_rows, *self.sorted_rows],
            labels=accepted.labels or self.labels,
        )


def renew_tables(
    book: Workbook, places: Sequence[RecordedPlace], snapshots: Snapshots, missing: Missing
) -> RenewedTables:
    """Read some recorded tables, and return what makes their records true.

    A cell that cannot be read stays as it is, and its last value stays in the snapshot. Where it never had one, or is a
    label, the record of its table stays as it is.

    Raises:
        FormatError: the cells of a table are not those of its arrays any more.
    """
    renewed, changed = RenewedTables(), dict[str, tuple[RecordedTable, dict[str, LinearArray]]]()
    tables, unreadable_labels = leave_unreadable(open_recorded(take_named(places, missing), snapshots))
    renewed.tables = tables
    with keeping_unreadable() as renewed.unreadable:
        renewed.arrays, renewed.labels = read_recorded(tables, resize=True)
    renewed.unreadable |= unreadable_labels
    for table in tables:
        is_changed = table.has_other_columns or table.has_other_rows or not table.written
        if table.written:
            comparisons, grouped, _ = compare_table(table, table.unreadable_elements)
            renewed.comparisons |= {comparison.name: comparison for comparison in comparisons}
            renewed.sorted_rows += grouped.sorted_rows
            is_changed |= any(_is_changed(comparison) for comparison in comparisons) or bool(grouped.sorted_rows)
        columns = _put_last_values(table)
        if is_changed and columns is not None:
            changed[table.written_title] = table, linear_arrays(columns)
        renewed.infos |= table.describe()
    for guard in snapshots.sheets:
        renewed.snapshots[guard.title or ""] = _renew_snapshots(read_texts(guard), snapshots.is_column, changed)
    record = book.record.get("sheets", {})
    for title, (table, linear) in changed.items():
        sums = {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in linear.items()}
        tree = {"name": record[title]["table"].get("name", ""), **renew_note(table)}
        renewed.sheets[title] = {**record[title], "table": tree, "columns": make_checksums(sums)}
    return renewed


def _put_last_values(table: RecordedTable) -> dict[str, Array] | None:
    """Return the columns of a table, in which a cell that cannot be read has the last value that it had.

    It is None if a cell never had one: in a row that was added, or without a snapshot.
    """
    columns = dict(table.columns)
    for name, errors in table.unreadable.items():
        places, sources = np.flatnonzero(errors.astype(np.bool_)), table.sources.get(name)
        if sources is None or (sources[places] < 0).any():
            return None
        columns[name] = columns[name].copy()
        columns[name][places] = table.written[name][sources[places]]
    return columns


def _renew_snapshots(
    texts: Sequence[str],
    is_column: Callable[[SnapshotHeader], bool],
    changed: Mapping[str, tuple[RecordedTable, Mapping[str, LinearArray]]],
) -> list[list[str]]:
    """Return the snapshots of tables that a guard has from now on.

    `texts`: of the guard. `is_column`: returns whether a snapshot is of a recorded table. `changed`:
    the tables that are not as they were written, and their columns, by the titles of their sheets.
    """
    snapshots = keep_snapshots(texts, lambda header: is_column(header) and header.sheet not in changed)
    old = map(_parse_header, keep_snapshots(texts, lambda header: is_column(header) and header.sheet in changed))
    for title, header in {header.sheet: header for header in old}.items():
        how = {"sheet": title, "cells": header.cells, "dates": header.dates}
        snapshots += [encode_snapshot(name, array, **how) for name, array in changed[title][1].items()]
    return snapshots


def _parse_header(texts: Sequence[str]) -> SnapshotHeader:
    return parse_snapshot_header(texts[0])


def _is_changed(comparison: Comparison) -> bool:
    """Return whether an array is not what it was, but for numbers that a program rounded."""
    edits = comparison.differing - comparison.noise
    return comparison.has_other_rows or comparison.is_reshaped or bool(edits) or not comparison.compared
