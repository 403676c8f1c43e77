"""Writes sheets of arrays, tables and views into a workbook, a new one or one that exists.

`skeleton` makes a new workbook without sheets, and `append` plans how sheets are put into it, as into any other.
`RowWriter` makes the rows, which are deflated straight into the package, while another thread makes the checksums.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ...columns import Layout, lay_out_sheets
from ...errors import locating, warn_caller
from ...files import Source, Writable, changing, file_version, replacing
from ...formats.contract import Progress
from ...linear.array import LinearArray
from ..arrays_of_sheets import is_for_programs
from ..guard_texts import guard_title
from ..looks import (
    column_widths,
    element_range,
    filtered_columns,
    number_formats,
    printed_ranges,
)
from ..snapshot import encode_snapshot
from ..views.description import View
from ..views.geometry import ViewedColumns, ViewPlan, plan_views
from ..workbooks import GENERAL, MOST_COLUMNS, MOST_ROWS, check_choices, sheet_titles
from .append import IfSheetExists, PackageEdit, plan_append, titles_of_others
from .checksums.record import Written, make_checksums
from .guard.automatic import count_recorded, has_guard, wants_guard
from .guard.guard_sheet import iter_rows
from .open_workbook import OpenWorkbook
from .package.package import Package
from .package.packing import PackageWriter
from .package.properties import read_sound_record
from .package.searches import Searches
from .searching import search_other_sheets
from .skeleton.new_workbook import NewWorkbook, suffix_of
from .skeleton.plans import SheetPart, SheetPlan
from .styles.cell_styles import CellStyles
from .styles.foreign import find_styles
from .styles.own import make_styles
from .views.sheets import link_columns, plan_view_sheet, write_relations, write_view
from .writing import RowWriter

MAX_ROWS, MAX_COLUMNS = MOST_ROWS, MOST_COLUMNS
MAX_CHARACTERS = 32_767  # in a cell, in UTF-16 units


def lay_out_arrays(arrays: Mapping[str, LinearArray]) -> list[Layout]:
    """Place arrays in the columns of as many sheets as they need.

    Raises:
        LimitError: a name or a text that no sheet can carry.
    """
    return lay_out_sheets(
        arrays, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS, max_characters=MAX_CHARACTERS, aligned=True
    )


@dataclass(frozen=True)
class SheetOptions:
    """How sheets are written, as a caller asks for it.

    Attributes:
        sheet: the title of the first of them.
        as_text: whether every element is written as text.
        real_dates: whether dates are numbers where that is exact.
        report: called with the cells written and the cells in all.
        guard: whether a very hidden sheet holds a snapshot of every array; "auto" where the workbook is small.
        views: by the names of their arrays.
        formats: codes of number formats, by the names of arrays.
        note: what the record keeps of a table, which becomes an Excel Table; None for arrays.
        notes: texts that people see beside the cells with the names of arrays, by these names.
    """

    sheet: str
    as_text: bool = False
    real_dates: bool = True
    report: Progress | None = None
    guard: bool | Literal["auto"] = False
    views: Mapping[str, View] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    note: Mapping[str, Any] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


class SheetWrite(NamedTuple):
    """The content of a sheet, and of those on which it continues.

    Attributes:
        arrays: of which checksums are made; empty for a table.
        layouts: one for each sheet.
        options: how they are written.
    """

    arrays: Mapping[str, LinearArray]
    layouts: Sequence[Layout]
    options: SheetOptions


def write_sheets(target: Writable, writes: Sequence[SheetWrite], *, mode: str, if_sheet_exists: IfSheetExists) -> None:
    """Write a new workbook, or add sheets to one, of which every part that has nothing to do with them keeps its bytes.

    `writes`: with options that are alike but for title, formats and note; views are of the arrays of the first.
    `mode` and `if_sheet_exists`: see `write_excel`.

    Raises:
        FormatError: the file is not a workbook, or damaged.
        LimitError: a sheet of that title is there, and is not to be replaced or not ours; or another program saved the
            workbook in the meantime; or mode "a" and an open file.
    """
    check_choices(mode=(mode, "w", "a"), if_sheet_exists=(if_sheet_exists, "error", "replace"))
    path = target if isinstance(target, (str, os.PathLike)) else None
    if mode == "a" and path is None:
        raise ValueError('mode="a" takes a path, not an open file')
    with changing(path) if mode == "a" else nullcontext():
        if path is not None and mode == "a" and file_version(path) is not None:
            _append_sheets(path, writes, if_sheet_exists)
            return
        writes = _decide_guard(writes)
        codes = dict.fromkeys([code for write in writes for code in write.options.formats.values()])
        styles, content = make_styles(tuple(codes), views=bool(writes[0].options.views))
        plan = _plan_sheets(writes, styles, ())
        edit = plan_append(NewWorkbook(suffix_of(target), content), plan.sheets, styles)
        with replacing(target, binary=True) as sink:
            _write_package(edit, PackageWriter(sink), writes, plan, Searches())


def _decide_guard(writes: Sequence[SheetWrite], others: int = 0, *, is_guarded: bool = False) -> list[SheetWrite]:
    """Return writes that all keep snapshots, or none of them.

    `others`: the number of elements that are in the workbook besides. `is_guarded`: whether it has snapshots.
    """
    count = others + sum(len(array.buffer) for write in writes for array in write.arrays.values())
    keeps = wants_guard(writes[0].options.guard, count, is_guarded=is_guarded)
    return [write._replace(options=replace(write.options, guard=keeps)) for write in writes]


def _append_sheets(
    target: str | os.PathLike[str], writes: Sequence[SheetWrite], if_sheet_exists: IfSheetExists
) -> None:
    with replacing(target, binary=True) as sink, Source(target) as source, locating(source=source.name):
        book, options = OpenWorkbook(Package(source.ranges())), writes[0].options
        styles, replaces = find_styles(book), if_sheet_exists == "replace"
        if options.guard == "auto":
            recorded = read_sound_record(book.package)["sheets"]
            others = count_recorded(recorded, {write.options.sheet.casefold() for write in writes})
            titles = [sheet.title for sheet in book.sheets]
            writes = _decide_guard(writes, others, is_guarded=has_guard(source, titles))
        taken = titles_of_others(book, options.sheet, replacing=replaces) if options.views else []
        plan = _plan_sheets(writes, styles, taken, is_own=False)
        for write in writes:
            _warn_of_formats(write.options.formats, styles)
        edit = plan_append(book, plan.sheets, styles, if_sheet_exists=if_sheet_exists)
        searches = search_other_sheets(
            source, {*(part.name for part in edit.sheets), *(view.name for view in edit.views)}
        )
        _write_package(edit, PackageWriter(sink), writes, plan, searches)


def _write_package(
    made: PackageEdit,
    writer: PackageWriter,
    writes: Sequence[SheetWrite],
    plan: _Plan,
    searches: Searches,
) -> None:
    """Write a workbook; everything except the rows is ready."""
    options = writes[0].options
    total = before = 0
    header_rows: dict[tuple[int, int], int] = {}
    if options.report is not None:
        total = sum([layout.cell_count for layout in plan.layouts])
        options.report(0, total)
    with ThreadPoolExecutor(1, "sheetarray-checksums") as aside:
        checksums = [aside.submit(_make_checksums, write.arrays) for write in writes]
        snapshots = [aside.submit(_encode_snapshots, write) for write in writes] if options.guard else []
        made.write(writer)
        links, remembered = {}, {}
        if plan.views:
            names = {area.array: name for area, name in made.names.items()}
            links = link_columns(plan.views)
            for view, view_part in zip(plan.views, made.views, strict=True):
                remembered[view_part.title] = write_view(writer, view, view_part, names, made.styles)
        for part, layout, styles in zip(made.sheets, plan.layouts, plan.styles, strict=False):
            rows = RowWriter(
                layout,
                as_text=options.as_text,
                styles=made.styles,
                value_styles=styles,
                links=links,
                filtered=bool(part.beside) and part.beside[0].kind == "table",
            )
            with writer.stream_part(part.name) as out:
                out.write(part.head)
                for chunk, done in rows.iter_chunks():
                    out.write(chunk)
                    if options.report is not None:
                        options.report(before + done, total)
                out.write(part.tail)
            if part.beside:
                write_relations(writer, part.name, [one[:2] for one in part.beside])
                writer.write_parts({one.name: one.content for one in part.beside})
            before += layout.cell_count
            if _holds_words_above(layout):
                header_rows[writer.content_of(part.name)] = layout.zone_height
        for part, texts in zip(made.sheets[len(plan.layouts) :], snapshots, strict=True):
            _write_guard(part, writer, texts.result())
        first = 0
        for write, sums in zip(writes, checksums, strict=True):
            remembered[made.sheets[first].title] = sums.result()
            first += len(write.layouts)
        made.write_properties(writer, remembered, Searches(searches.strings, header_rows | searches.rows))
        writer.finish()


def _holds_words_above(layout: Layout) -> bool:
    """Return whether no text below the header zone can be taken for a word of a header.

    Texts of an array stand below its header, and so are elements; those of a table have no header above them.
    """
    return all(piece.header or piece.dtype.kind not in ("string", "generic") for piece in layout.pieces)


def _make_checksums(arrays: Mapping[str, LinearArray]) -> dict[str, Any]:
    return make_checksums(
        {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in arrays.items()}
    )


def _encode_snapshots(write: SheetWrite) -> list[list[str]]:
    """Return the texts of the snapshot of each array, for the guard's sheet."""
    arrays, options = write.arrays, write.options
    cells, dates = "text" if options.as_text else "numeric", "real" if options.real_dates else "text"
    return [
        encode_snapshot(name, array, sheet=options.sheet, cells=cells, dates=dates) for name, array in arrays.items()
    ]


def _write_guard(part: SheetPart, writer: PackageWriter, snapshots: Sequence[Sequence[str]]) -> None:
    with writer.stream_part(part.name) as out:
        out.write(part.head)
        for row in iter_rows(snapshots):
            out.write(row)
        out.write(part.tail)


class _Plan(NamedTuple):
    """The cells of a write, and how they look.

    Attributes:
        layouts: of the sheets of arrays.
        styles: of the numbers or booleans in each column of these sheets.
        views: the views, which stand before them.
        sheets: the views, the sheets of arrays, and the guard's sheets if there are any.
    """

    layouts: Sequence[Layout]
    styles: Sequence[Sequence[int | None]]
    views: Sequence[ViewPlan]
    sheets: Sequence[SheetPlan]


def _plan_sheets(
    writes: Sequence[SheetWrite],
    known: CellStyles,
    taken: Collection[str],
    *,
    is_own: bool = True,
) -> _Plan:
    """Plan the sheets of a write.

    `known`: the styles of the workbook. `taken`: the titles of sheets that are there. `is_own`: whether the workbook is
    a new one.
    """

    def find_styles_of(layout: Layout, options: SheetOptions, *, decimals: bool) -> list[int | None]:
        if options.as_text:
            return [None] * len(layout.pieces)
        dates, formats = options.real_dates, options.formats
        return known.of_formats(number_formats(layout.pieces, dates=dates, formats=formats, decimals=decimals))

    layouts: list[Layout] = []
    styles: list[list[int | None]] = []
    plans: list[SheetPlan] = []
    for write in writes:
        options = write.options
        for title, layout in zip(sheet_titles(options.sheet, len(write.layouts)), write.layouts, strict=True):
            layouts.append(layout)
            styles.append(find_styles_of(layout, options, decimals=options.note is not None))
            plans.append(_plan_sheet(title, layout, styles[-1], known, options))
    for _, _, options in writes:
        if options.guard:
            title = guard_title(options.sheet)
            plans.append(SheetPlan(title, (), 0, names=False, very_hidden=True, of=options.sheet))
    arrays, viewed, options = writes[0]
    if not options.views:
        return _Plan(layouts, styles, (), plans)
    taken = [*taken, *(plan.title for plan in plans)]
    titles = sheet_titles(options.sheet, len(viewed))
    shown = [find_styles_of(layout, options, decimals=True) for layout in viewed]
    columns = ViewedColumns.of_layouts(titles, viewed, shown, as_text=options.as_text)
    views = plan_views(options.views, arrays, columns, taken=taken, text_chooser=is_own)
    return _Plan(layouts, styles, views, [*map(plan_view_sheet, views), *plans])


def _plan_sheet(
    title: str, layout: Layout, styles: Sequence[int | None], known: CellStyles, options: SheetOptions
) -> SheetPlan:
    table = () if options.note is None else filtered_columns(layout)
    codes = list(map(known.code_of, styles))
    return SheetPlan(
        title,
        column_widths(layout.pieces, codes, as_text=options.as_text, filtered=bool(table)),
        layout.height,
        [(piece.name, cells) for place, piece in enumerate(layout.pieces) if (cells := element_range(layout, place))],
        headers=layout.zone_height - 1 if layout.hides_headers else 0,
        printed=printed_ranges(layout),
        hidden=frozenset([place for place, piece in enumerate(layout.pieces) if is_for_programs(piece)]),
        table=table,
        note=options.note or {},
        of=options.sheet,
        notes=_place_notes(layout, options.notes) if options.notes else {},
    )


def _place_notes(layout: Layout, notes: Mapping[str, str]) -> dict[int, str]:
    """Return notes by the columns of the arrays that they are on; an array in several columns has it on each."""
    return {place: notes[piece.name] for place, piece in enumerate(layout.pieces) if piece.name in notes}


def _warn_of_formats(number_formats: Mapping[str, str], styles: CellStyles) -> None:
    """Warn of formats that the workbook lacks: its part of styles stays as it is."""
    for name, code in number_formats.items():
        if code != GENERAL and styles.of_formats([code]) == [None]:
            warn_caller(
                f"{name!r:.80} is shown without the format {code!r:.80}: no cell style of the workbook has it; "
                "give a cell that format in a spreadsheet program, save, and write again"
            )
