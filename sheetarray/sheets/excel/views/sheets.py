"""Writes views into a package: the sheet of each, its drawing and chart, and the relationships between these parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from ...views.plans import ViewPlan
from ..package.packing import PackageWriter
from ..package.relations import RELATIONS, relations_part, relations_xml
from ..skeleton.plans import SheetPlan, ViewPart
from ..styles.cell_styles import CellStyles
from .editable_grid import EditableGrid
from .record import describe_view
from .worksheet import make_view, printed_range

_ROWS_AT_ONCE = 64  # that are encoded together


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
    """
    view_sheet = make_view(view, names.__getitem__, styles, part)
    with writer.stream_part(part.name) as out:
        out.write(view_sheet.head)
        rows = iter(view_sheet.rows)
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            out.write("".join(chunk).encode())
        out.write(view_sheet.tail)
    if part.drawing and view_sheet.drawing is not None:
        drawing, chart = view_sheet.drawing
        write_relations(writer, part.name, [("drawing", part.drawing)])
        write_relations(writer, part.drawing, [("chart", part.chart)])
        writer.write_part(part.drawing, drawing.encode())
        writer.write_part(part.chart, chart.encode())
    return describe_view(view, *writer.content_of(part.name))


def write_relations(writer: PackageWriter, part: str, targets: Sequence[tuple[str, str]]) -> None:
    """Write the part that holds the relationships of a part, `rId1` and so on, each a kind and a target."""
    folder = posixpath.dirname(part)
    listed = [(f"{RELATIONS}/{kind}", posixpath.relpath(target, folder)) for kind, target in targets]
    writer.write_part(relations_part(part), relations_xml(listed))
