"""Makes the guards of a workbook true to its cells, when `adopt` accepts what people have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...columns import ResizedArray
from ...linear import LinearArray
from .append import worksheet_xml
from .checking import open_snapshots
from .guard.guard_sheet import iter_rows
from .guard.snapshot import encode_snapshot
from .open_workbook import OpenWorkbook
from .sheet_plans import SheetPlan
from .workbook import Workbook


def renew_guards(
    book: OpenWorkbook, reading: Workbook, arrays: Mapping[str, ResizedArray]
) -> tuple[dict[str, bytes], dict[str, ResizedArray]]:
    """Return the new content of the worksheets that hold snapshots, by their parts, and the arrays that these hold.

    Elements that were only rounded keep their exact bits in the snapshot. A snapshot of another file becomes one of the
    cells; an array that has no snapshot, or a damaged one, has none afterwards.
    """
    parts = {sheet.title: sheet for sheet in book.sheets}
    renewed: dict[str, bytes] = {}
    exact = dict(arrays)
    snapshots = open_snapshots(reading)
    if not snapshots.exist:
        return {}, dict(arrays)
    own = {name: snapshots.find(name, array.column, array.buffer) for name, array in arrays.items()}
    names = {id(one): name for name, one in own.items() if one is not None}
    stale = {one.header.name: one for one in snapshots if own.get(one.header.name, one) is None}
    names |= {id(one): name for name, one in stale.items()}
    texts: dict[str, list[list[str]]] = {guard.title or "": [] for guard in reading.guards()}
    for one in snapshots:
        if id(one) not in names:
            continue
        name, header = names[id(one)], arrays[names[id(one)]].column.header
        buffer = snapshots.restore(name, arrays[name].buffer, arrays[name].column)
        exact[name] = replace(arrays[name], buffer=buffer)
        linear = LinearArray(header.dtype.name, header.shape, header.strides, header.offset, header.order, buffer)
        how = {"sheet": one.header.sheet, "cells": one.header.cells, "dates": one.header.dates}
        texts[one.title].append(encode_snapshot(name, linear, **how))
    for title, made in texts.items():
        sheet = parts[title]
        plan = SheetPlan(sheet.title, (), 0, names=False, very_hidden=True)
        ((head, tail),) = worksheet_xml(book, [plan], [sheet])
        renewed[sheet.part] = b"".join([head, *iter_rows(made), tail])
    return renewed, exact
