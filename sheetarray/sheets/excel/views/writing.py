"""Writes views into a package: the sheet of each, its drawing and chart, and the relationships between these parts."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ....views.geometry import ViewPlan
from ..package.packing import PackageWriter
from ..package.relations import CellStyles, relation_type, relations_part
from ..sheet_plans import SheetPlan, ViewPart
from .editable import EditableGrid
from .record import describe_view
from .worksheet import ViewParts, make_view, printed_range

_ROWS_AT_ONCE = 64  # that are encoded together
# Bytes that the sheet of a view has at most: with numbers only, and with texts, which may be of any length
_MOST_BYTES, _ANY = 2**28, 2**40
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Relationships '
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="{}" Target="{}"/></Relationships>'
)


def plan_view_sheet(view: ViewPlan) -> SheetPlan:
    """Return the plan of the sheet of a view, as the workbook lists it."""
    return SheetPlan(
        view.title,
        (),
        0,
        names=False,
        printed=[printed_range(view)],
        is_view=True,
        has_chart=view.has_numbers and not view.editable,
    )


def link_columns(views: Iterable[ViewPlan]) -> dict[str, list[str | None]]:
    """Return, by the name of each array that has a view for editing, the formulas of its column, which refer to it."""
    return {view.name: EditableGrid(view, str, CellStyles()).column_formulas() for view in views if view.editable}


def write_view(
    writer: PackageWriter, view: ViewPlan, part: ViewPart, names: Mapping[str, str], styles: CellStyles
) -> dict[str, Any]:
    """Write the parts of a view, and return the record by which the workbook knows it later.

    `names`: the defined names of arrays, by the names of the arrays.

    Raises:
        OSError: the sink refuses.
    """
    made = make_view(view, names.__getitem__, styles, part)
    crc = size = 0
    texts = any(axis.labels is not None for axis in (view.rows, view.columns)) or not view.has_numbers
    with writer.stream_part(part.name, expected=_ANY if texts else _MOST_BYTES) as out:
        for chunk in _join_chunks(made):
            out.write(chunk)
            crc, size = zlib.crc32(chunk, crc), size + len(chunk)
    if part.drawing and made.drawing is not None:
        drawing, chart = made.drawing
        _write_relation(writer, part.name, "drawing", part.drawing)
        _write_relation(writer, part.drawing, "chart", part.chart)
        writer.write_part(part.drawing, drawing.encode())
        writer.write_part(part.chart, chart.encode())
    return describe_view(view, crc, size)


def _join_chunks(made: ViewParts) -> Iterator[bytes]:
    """Yield the sheet of a view as bytes, some rows at a time."""
    yield made.head
    rows = iter(made.rows)
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        yield "".join(chunk).encode()
    yield made.tail


def _write_relation(writer: PackageWriter, part: str, kind: str, target: str) -> None:
    """Write the part that holds the only relationship of a part: to a target of a kind."""
    address = posixpath.relpath(target, posixpath.dirname(part))
    content = _RELATIONS.format(relation_type(kind, strict=False), address)
    writer.write_part(relations_part(part), content.encode())
