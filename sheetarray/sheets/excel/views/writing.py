"""A plan of a view -> the parts of a package: the sheet, its drawing, the chart, and what leads from one to another."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from ....views.geometry import ViewPlan
from ..package.packing import PackageWriter
from ..package.relations import relation_type, relations_part
from ..package.styles import CellStyles
from ..sheet_plans import SheetPlan, ViewPart
from .editable import EditableGrid
from .record import describe_view
from .worksheet import ViewParts, make_view, printed_range

if TYPE_CHECKING:
    import polars as pl

_ROWS_AT_ONCE = 64
_MOST_BYTES, _ANY = 2**28, 2**40  # of numbers, and of texts, which may be of any length
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


def link_columns(views: Iterable[ViewPlan]) -> dict[str, pl.Series]:
    """Return the formulas of the elements that stand in views for editing, by the names of their arrays."""
    return {view.name: EditableGrid(view, str, CellStyles()).column_formulas() for view in views if view.editable}


def write_view(
    writer: PackageWriter, view: ViewPlan, part: ViewPart, names: Mapping[str, str], styles: CellStyles
) -> dict[str, Any]:
    """Write the parts of a view, and return what is to be remembered of it.

    Args:
        writer: of the package.
        view: what it shows.
        part: where it goes.
        names: the defined names, by the names of arrays.
        styles: those that the workbook has.

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
    yield made.head
    rows = iter(made.rows)
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        yield "".join(chunk).encode()
    yield made.tail


def _write_relation(writer: PackageWriter, part: str, kind: str, target: str) -> None:
    """Write the one relationship of a part."""
    address = posixpath.relpath(target, posixpath.dirname(part))
    content = _RELATIONS.format(relation_type(kind, strict=False), address)
    writer.write_part(relations_part(part), content.encode())
