"""What the checksums of a workbook say of the columns of a recorded table that has no snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....columns import DataCells
from ....errors import Finding
from ....linear.array import LinearArray
from ...recorded_tables import RecordedTable
from ..checksums.record import read_checksums
from ..checksums.verdict import compare_with_checksums
from ..workbook import Workbook


def compare_checksums(book: Workbook, table: RecordedTable) -> Iterator[Finding]:
    """Yield what the checksums of columns say, where no guard tells more."""
    sums = read_checksums(book.record.get("sheets", {}).get(table.written_title, {}).get("columns"))
    for name, column in table.columns.items():
        if (record := sums.get(table.note.old_names.get(name, name))) is None or name in table.unreadable:
            continue
        linear = LinearArray.from_numpy(column)
        runs = table.columns.data_cells(name)

        def address(index: int, runs: Sequence[DataCells] = runs) -> str:
            return next((run for run in reversed(runs) if run.first <= index), runs[0]).address(index)

        for finding in compare_with_checksums(record, linear.header, linear.buffer, name, address):
            yield replace(finding, array=name)
