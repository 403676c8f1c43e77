"""Makes the views of a workbook true to its arrays, when `accept` takes what people have changed.

A view looks into the column of its array by formulas, so that edits of elements need nothing. Where an array has
other rows now, its view is made anew, as it was asked for: the record of the workbook says how. Where only a
program has saved a view again, the record learns what it is like now, and readers pass it over again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from typing import Any

from ....columns import (
    LayoutColumn,
    ResizedArray,
)
from ....errors import LimitError
from ...looks import number_formats
from ...views.geometry import ViewedColumns
from ...views.plans import ViewPlan, plan_views
from ..package.relations import Relations
from ..package.searches import content_of
from ..skeleton.plans import ViewPart
from ..styles.cell_styles import CellStyles
from ..styles.foreign import find_styles
from ..views.grid import ViewGrid
from ..views.record import KEY, read_view
from ..views.worksheet import make_view
from ..workbook_part import BookSheet, WorkbookPart

_STYLE = re.compile(rb'<c r="B([0-9]{1,4})"[^<>]*? s="([0-9]{1,5})"')
_HEAD = 2**18  # bytes of a view in which its choosers stand


def renew_views(
    book: WorkbookPart,
    arrays: Mapping[str, ResizedArray],
    record: dict[str, Any],
    name_of: Callable[[str], str],
    typed: Collection[str],
    *,
    writes: Set[str] | None = None,
    anew: bool = False,
) -> dict[str, bytes]:
    """Return the new content of the parts of views, and put into the record what they are like.

    `name_of`: the defined name of the cells of an array; empty where it has none. `typed`: the titles of views in
    which people have typed over formulas: their record stays, so that `check` goes on to name these cells. `writes`:
    the titles under which the record has the writes of the arrays; None for all. `anew`: whether all others are made
    anew, since elements have changed and not only lengths.

    Raises:
        LimitError: such a view would have to be made anew.
    """
    sheets = {sheet.title: sheet for sheet in book.sheets}
    holding = {anchor.title for array in arrays.values() for anchor in array.column.group}
    renewed: dict[str, bytes] = {}
    for title, more in record["sheets"].items():
        stored, sheet = more.get(KEY), sheets.get(title)
        if not isinstance(stored, Mapping) or sheet is None or title in holding or sheet.part not in book.package:
            continue
        if writes is not None and more.get("of") not in writes:
            continue
        array, parts = arrays.get(str(stored.get("array"))), dict[str, bytes]()
        resized = array is not None and array.is_changed
        is_renewed = resized or (array is not None and anew and title not in typed)
        if is_renewed and not stored.get("editable") and name_of(str(stored["array"])):
            parts = _make_anew(book, sheet, stored, arrays, name_of)
        if title in typed:
            if parts:
                raise LimitError(
                    f"the view {title!r:.80} has to be made anew, and what was typed over its formulas would be lost: "
                    "check names the cells; type their values into the array's column, or delete the sheet"
                )
            continue
        crc, size = content_of(book.package, sheet.part, parts.get(sheet.part)) or (0, 0)
        more[KEY] = {**stored, "crc": crc, "size": size}
        renewed |= parts
    return renewed


def _make_anew(
    book: WorkbookPart,
    sheet: BookSheet,
    stored: Mapping[str, Any],
    arrays: Mapping[str, ResizedArray],
    name_of: Callable[[str], str],
) -> dict[str, bytes]:
    """Return the content of the parts of one view; nothing where the array can have none any more."""
    name, book_styles = str(stored["array"]), find_styles(book)
    linear = {name: array.linear for name, array in arrays.items()}
    named = {name: array for name, array in linear.items() if name_of(name)}
    as_text = stored.get("as_text") is True

    def style_of(piece: LayoutColumn) -> int | None:
        return None if as_text else book_styles.of_formats(number_formats([piece], formats={}, decimals=True))[0]

    columns = ViewedColumns.of_resized({name: arrays[name] for name in named}, style_of, as_text=as_text)
    plans = (
        plan_views({name: read_view(stored)}, named, columns, taken=(), text_chooser=False)
        if linear[name].length
        else []
    )
    if not plans:
        return {}
    plan = replace(plans[0], title=sheet.title)
    styles = replace(book_styles, choosers=_find_chooser_styles(book, sheet, plan, name_of))
    chart = _find_chart(book, sheet)
    part = ViewPart(sheet.title, sheet.part, *chart, selected=book.is_in_view(sheet))
    view_sheet = make_view(plan, name_of, styles, part)
    parts = {sheet.part: b"".join([view_sheet.head, "".join(view_sheet.rows).encode(), view_sheet.tail])}
    if view_sheet.drawing is not None:
        parts[part.chart] = view_sheet.drawing[1].encode()
    return parts


def _find_chooser_styles(
    book: WorkbookPart, sheet: BookSheet, plan: ViewPlan, name_of: Callable[[str], str]
) -> dict[str, int]:
    """Return the styles that the choosers of a view have, by their kinds."""
    style_by_row = {int(row): int(style) for row, style in _STYLE.findall(book.package.head(sheet.part, _HEAD))}
    choosers = ViewGrid(plan, name_of, CellStyles()).choosers.values()
    return {chooser.kind: style_by_row[chooser.row] for chooser in choosers if chooser.row in style_by_row}


def _find_chart(book: WorkbookPart, sheet: BookSheet) -> tuple[str, str]:
    """Return the parts of the drawing and of the chart on a view; empty if it has no chart."""
    drawing = Relations(book.package, sheet.part).present_target("drawing")
    chart = Relations(book.package, drawing).present_target("chart") if drawing else None
    return (drawing, chart) if drawing and chart else ("", "")
