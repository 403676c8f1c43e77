"""Writes arrays to a new workbook, or to new sheets of an existing one.

`skeleton` makes everything of a new workbook except the rows, and `append` plans what changes in an existing one.
`rows` makes the rows, which are deflated straight into the package, while another thread makes the fingerprints.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...adapters import Progress
from ...columns import Layout, column_letters, lay_out_sheets
from ...composite import is_for_programs
from ...errors import LimitError, locating
from ...files import Source, Writable, file_version, replacing
from ...linear import LinearArray
from ...views.axes import ViewedColumns
from ...views.description import View
from ...views.geometry import ViewPlan, plan_views
from ..workbooks import LONGEST_TITLE, MOST_COLUMNS, MOST_ROWS
from .appearance import column_widths, printed_ranges, value_style
from .append import IfSheetExists, PackageEdit, plan_append, read_styles, search_other_sheets, titles_of_others
from .fingerprint.record import Written, make_fingerprints
from .guard.guard_sheet import guard_title, iter_rows
from .guard.snapshot import encode_snapshot
from .package.packing import PackageWriter
from .package.parts import Package
from .package.relations import OWN_STYLES, CellStyles
from .rows import RowWriter
from .sheet_plans import SheetPart, SheetPlan
from .skeleton import WorkbookSkeleton, skeleton, suffix_of
from .views.writing import link_columns, plan_view_sheet, write_view
from .workbook import SEARCHES_KEY, Searches

MAX_ROWS, MAX_COLUMNS = MOST_ROWS, MOST_COLUMNS
MAX_CHARACTERS = 32_767  # in a cell, in UTF-16 units

_ANY = 2**40  # bytes: for rows that may have any number of bytes
_CELL_BYTES = 70  # bytes of XML around the text of a cell; the text takes at most twice the bytes of its element


def lay_out_arrays(arrays: Mapping[str, LinearArray]) -> list[Layout]:
    """Place arrays in the columns of as many sheets as they need.

    Raises:
        LimitError: a name or a text that no sheet can carry.
    """
    return lay_out_sheets(
        arrays, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS, max_characters=MAX_CHARACTERS, aligned=True
    )


def write_workbook(
    target: Writable,
    arrays: Mapping[str, LinearArray],
    layouts: Sequence[Layout],
    *,
    sheet: str,
    as_text: bool,
    real_dates: bool,
    report: Progress,
    guard: bool = False,
    views: Mapping[str, View] | None = None,
) -> None:
    """Write a new workbook.

    `arrays`: of which fingerprints are made; empty for a table. `sheet`: title of the first of them. `real_dates`:
    make dates numbers where that is exact. `report`: called with the cells written and the cells in all. `guard`:
    whether a very hidden sheet holds a snapshot of every array. `views`: by the names of their arrays.
    """
    formats = [_value_styles(layout, OWN_STYLES, as_text=as_text, real_dates=real_dates) for layout in layouts]
    plans = _plan_sheets(sheet, layouts, formats, as_text, guard)
    taken = [sheet_plan.title for sheet_plan in plans]
    places = ViewedColumns.of_layouts(_sheet_titles(sheet, len(layouts)), layouts, formats, as_text=as_text)
    shown = plan_views(views or {}, arrays, places, taken=taken, text_chooser=True)
    plan = skeleton([*map(plan_view_sheet, shown), *plans], suffix=suffix_of(target))
    with replacing(target, binary=True) as sink:
        snapshots = _Snapshots(arrays, sheet, as_text, real_dates) if guard else None
        _write_sheets(
            plan, PackageWriter(sink), arrays, layouts, formats, as_text, report, snapshots, shown, Searches()
        )


def append_workbook(
    target: str | os.PathLike[str],
    arrays: Mapping[str, LinearArray],
    layouts: Sequence[Layout],
    *,
    sheet: str,
    if_sheet_exists: IfSheetExists,
    as_text: bool,
    real_dates: bool,
    report: Progress,
    guard: bool = False,
    views: Mapping[str, View] | None = None,
) -> None:
    """Add sheets to a workbook; every part that has nothing to do with it keeps its bytes.

    Raises:
        FormatError: the file is no workbook, or damaged.
        LimitError: a sheet of that title is there, and is not to be replaced or not ours; or another program saved the
            workbook in the meantime.
    """
    before = file_version(target)
    with replacing(target, binary=True) as sink, Source(target) as source, locating(source=source.name):
        package = Package(source.ranges())
        styles = read_styles(package)
        formats = [_value_styles(layout, styles, as_text=as_text, real_dates=real_dates) for layout in layouts]
        plans = _plan_sheets(sheet, layouts, formats, as_text, guard)
        taken = titles_of_others(package, sheet, replacing=if_sheet_exists == "replace") if views else []
        taken += [sheet_plan.title for sheet_plan in plans]
        places = ViewedColumns.of_layouts(_sheet_titles(sheet, len(layouts)), layouts, formats, as_text=as_text)
        shown = plan_views(views or {}, arrays, places, taken=taken, text_chooser=False)
        plans = [*map(plan_view_sheet, shown), *plans]
        plan = plan_append(package, plans, if_sheet_exists=if_sheet_exists)
        snapshots = _Snapshots(arrays, sheet, as_text, real_dates) if guard else None
        searches = search_other_sheets(
            source, {*(part.name for part in plan.sheets), *(view.name for view in plan.views)}
        )
        _write_sheets(plan, PackageWriter(sink), arrays, layouts, formats, as_text, report, snapshots, shown, searches)
        if file_version(target) != before:
            raise LimitError(
                "another program saved or removed the workbook while the sheet was written: it is left "
                "as that program made it, without the sheet; write once more"
            )


def _write_sheets(
    plan: WorkbookSkeleton | PackageEdit,
    writer: PackageWriter,
    arrays: Mapping[str, LinearArray],
    layouts: Sequence[Layout],
    formats: Sequence[Sequence[int | None]],
    as_text: bool,
    report: Progress,
    snapshots: _Snapshots | None,
    views: Sequence[ViewPlan],
    searches: Searches,
) -> None:
    total, before = sum(layout.cell_count for layout in layouts), 0
    header_rows: dict[tuple[int, int], int] = {}
    report(0, total)
    with ThreadPoolExecutor(1, "sheetarray-fingerprint") as aside:
        fingerprints = aside.submit(_make_fingerprints, arrays)
        texts = None if snapshots is None else aside.submit(snapshots.encode)
        plan.write(writer)
        names = {area.array: name for area, name in plan.names.items()}
        links = link_columns(views)
        remembered = {
            view.title: write_view(writer, view, part, names, plan.styles)
            for view, part in zip(views, plan.views, strict=True)
        }
        for part, layout, styles in zip(plan.sheets, layouts, formats, strict=False):
            rows = RowWriter(layout, as_text=as_text, styles=plan.styles, value_styles=styles, links=links)
            with writer.stream_part(part.name, expected=_estimate_bytes(layout)) as out:
                out.write(part.head)
                for chunk, done in rows.iter_chunks():
                    out.write(chunk)
                    report(before + done, total)
                out.write(part.tail)
            before += layout.cell_count
            if _holds_words_above(layout):
                header_rows[writer.content_of(part.name)] = layout.zone_height
        if texts is not None:
            _write_guard(plan.sheets[-1], writer, texts.result())
        remembered[plan.sheets[0].title] = fingerprints.result()
        known = Searches(searches.strings, header_rows | searches.rows)
        plan.write_properties(writer, {"sheets": remembered, SEARCHES_KEY: known.to_json()})
        writer.finish()


def _holds_words_above(layout: Layout) -> bool:
    """Return whether no text below the header zone can be taken for a word of a header.

    Texts of an array stand below its header, and so are elements; those of a table have no header above them.
    """
    return all(piece.header or piece.dtype.kind not in ("string", "generic") for piece in layout.pieces)


def _make_fingerprints(arrays: Mapping[str, LinearArray]) -> dict[str, Any]:
    return make_fingerprints(
        {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in arrays.items()}
    )


@dataclass(frozen=True)
class _Snapshots:
    """The snapshots that the guard's sheet will hold, and how the arrays are written."""

    arrays: Mapping[str, LinearArray]
    sheet: str
    as_text: bool
    real_dates: bool

    def encode(self) -> list[list[str]]:
        """Return the texts of each array's snapshot."""
        cells, dates = "text" if self.as_text else "numeric", "real" if self.real_dates else "text"
        return [
            encode_snapshot(name, array, sheet=self.sheet, cells=cells, dates=dates)
            for name, array in self.arrays.items()
        ]


def _write_guard(part: SheetPart, writer: PackageWriter, snapshots: Sequence[Sequence[str]]) -> None:
    size = sum(len(text) + _CELL_BYTES for snapshot in snapshots for text in snapshot)
    with writer.stream_part(part.name, expected=2 * size + 2**16) as out:
        out.write(part.head)
        for row in iter_rows(snapshots):
            out.write(row)
        out.write(part.tail)


def _estimate_bytes(layout: Layout) -> int:
    """Return an upper bound on the bytes of XML that the rows of a layout take."""
    if any(piece.buffer.dtype.hasobject for piece in layout.pieces):
        return _ANY  # a text may be of any length
    return sum(piece.height * _CELL_BYTES + 2 * piece.buffer.nbytes for piece in layout.pieces)


# What the sheets are ------------------------------------------------------------------------------------------


def _value_styles(layout: Layout, styles: CellStyles, *, as_text: bool, real_dates: bool) -> list[int | None]:
    """Return the style of the numbers or booleans in each column."""
    return [None if as_text else value_style(piece, styles, dates=real_dates) for piece in layout.pieces]


def _plan_sheets(
    sheet: str, layouts: Sequence[Layout], formats: Sequence[Sequence[int | None]], as_text: bool, guard: bool
) -> list[SheetPlan]:
    plans = [
        SheetPlan(
            title,
            column_widths(layout.pieces, styles, as_text=as_text),
            layout.height,
            [
                (piece.name, cells)
                for place, piece in enumerate(layout.pieces)
                if (cells := _element_range(layout, place))
            ],
            headers=layout.zone_height - 1 if layout.hides_headers else 0,
            printed=printed_ranges(layout),
            hidden=frozenset(place for place, piece in enumerate(layout.pieces) if is_for_programs(piece)),
        )
        for title, layout, styles in zip(_sheet_titles(sheet, len(layouts)), layouts, formats, strict=True)
    ]
    if guard:
        plans.append(SheetPlan(guard_title(sheet), (), 0, names=False, very_hidden=True))
    return plans


def _sheet_titles(sheet: str, count: int) -> list[str]:
    """Return the titles of as many sheets as the arrays take: `arrays`, `arrays (2)`, ..."""
    ends = ["", *(f" ({index})" for index in range(2, count + 1))]
    return [sheet[: LONGEST_TITLE - len(end)] + end if end else sheet for end in ends]


def _element_range(layout: Layout, place: int) -> str:
    """Return the absolute range of the elements in a column; empty if it has no elements."""
    piece, letters = layout.pieces[place], column_letters(place)
    count, first = len(piece.buffer), layout.named + piece.above + 1
    return f"${letters}${first}:${letters}${first + count - 1}" if count else ""
