"""Makes the guards of a workbook true to its cells, when `adopt` accepts what people have changed."""

from __future__ import annotations

from collections.abc import Mapping

from ...columns import ResizedArray
from ...linear import LinearArray
from .append import worksheet_xml
from .checking import survey_of
from .guard.guard_sheet import iter_rows
from .guard.guarded import Snapshots
from .guard.snapshot import encode_snapshot
from .open_workbook import OpenWorkbook
from .sheet_plans import SheetPlan
from .workbook import Workbook


def renew_guards(book: OpenWorkbook, reading: Workbook, arrays: Mapping[str, ResizedArray]) -> dict[str, bytes]:
    """Return the new content of the worksheets that hold snapshots, by their parts.

    Elements that were only rounded keep their exact bits in the snapshot. An array that has no snapshot, or a damaged
    one, has none afterwards.

    Args:
        book: the workbook that changes.
        reading: the same workbook, open for reading.
        arrays: the arrays that stand in it now.
    """
    parts = {sheet.title: sheet for sheet in book.sheets}
    renewed: dict[str, bytes] = {}
    for guard in reading.guards():
        snapshots = Snapshots([guard], aligns=True, survey=survey_of(reading))
        texts = []
        for snapshot, _ in snapshots:
            array = arrays.get(snapshot.name)
            if array is None:
                continue
            header = array.column.header
            buffer = snapshots.restore(snapshot.name, array.buffer, array.column)
            linear = LinearArray(header.dtype.name, header.shape, header.strides, header.offset, header.order, buffer)
            texts.append(
                encode_snapshot(snapshot.name, linear, sheet=snapshot.sheet, cells=snapshot.cells, dates=snapshot.dates)
            )
        sheet = parts[guard.title or ""]
        plan = SheetPlan(sheet.title, (), 0, names=False, very_hidden=True)
        ((head, tail),) = worksheet_xml(book, [plan], [sheet])
        renewed[sheet.part] = b"".join([head, *iter_rows(texts), tail])
    return renewed
