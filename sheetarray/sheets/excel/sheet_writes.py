"""Writes sheets of arrays, tables and views into a workbook, a new one or one that exists.

`skeleton` makes a new workbook without sheets, and `append` plans how sheets are put into it, as into any other.
`RowWriter` makes the rows, which are deflated straight into the package, while another thread makes the checksums.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from ...columns import Layout, SheetRoom
from ...errors import locating, warn_caller
from ...files import Source, Writable, changing, file_version, replacing
from ...formats.contract import CELL_CHARACTERS
from ..arrays_of_sheets import is_for_programs
from ..content import SheetContent, WriteOptions
from ..guard_texts import guard_title
from ..looks import column_widths, number_formats
from ..printing import TALLEST_PRINTED, filtered_columns, printed_ranges
from ..snapshot import encode_snapshot
from ..views.geometry import ViewedColumns
from ..views.plans import ViewPlan, plan_views
from ..workbooks import GENERAL, MOST_COLUMNS, MOST_ROWS
from .append import PackageEdit, plan_append, titles_of_others
from .checksums.record import Written, make_checksums
from .guard.automatic import count_recorded, decide_guard, split_snapshots
from .guard.guard_sheet import iter_rows
from .package.package import Package
from .package.packing import PackageWriter
from .package.searches import Searches
from .searching import MOST_SEARCHED, search_sheets
from .skeleton.plans import SheetPart, SheetPlan
from .skeleton.template import STYLES, suffix_of
from .styles.cell_styles import CellStyles
from .styles.foreign import find_styles
from .styles.own import make_styles
from .views.sheets import link_columns, plan_view_sheet, write_relations, write_view
from .workbook import Workbook
from .workbook_part import WorkbookPart
from .writing import RowWriter

_FEW = 2**13  # cells whose checksums and snapshots are made in the same thread
MAX_ROWS, MAX_COLUMNS = MOST_ROWS, MOST_COLUMNS


def sheet_room() -> SheetRoom:
    """Return what a sheet of a workbook has room for."""
    return SheetRoom(MAX_ROWS, MAX_COLUMNS, CELL_CHARACTERS)


def write(target: Writable, contents: Sequence[SheetContent], options: WriteOptions) -> None:
    """Write a new workbook, or add sheets to one. Parts that have nothing to do with these sheets keep their bytes.

    `contents`: views are of the arrays of the first.

    Raises:
        FormatError: the file is not a workbook, or damaged.
        LimitError: a sheet of that title is there, and is not to be replaced or not ours; or another program saved the
            workbook in the meantime; or mode "a" and an open file.
    """
    path = target if isinstance(target, (str, os.PathLike)) else None
    if options.mode == "a" and path is None:
        raise ValueError('mode="a" takes a path, not an open file')
    with changing(path) if options.mode == "a" else nullcontext():
        if path is not None and options.mode == "a" and file_version(path) is not None:
            _append_sheets(path, contents, options)
            return
        options = decide_guard(contents, options)
        codes = dict.fromkeys([code for content in contents for code in content.formats.values()])
        styles, styles_xml = make_styles(tuple(codes), views=bool(contents[0].views))
        plan = _plan_sheets(contents, options, styles, (), has_guard=bool(options.guard))
        edit = plan_append(WorkbookPart.new(suffix_of(target)), plan.sheets, styles)
        edit.replaced[STYLES] = styles_xml.encode()
        with replacing(target, binary=True, cells=sum([content.cell_count for content in contents])) as sink:
            _write_package(edit, PackageWriter(sink), contents, options, plan, Searches())


def _append_sheets(target: str | os.PathLike[str], contents: Sequence[SheetContent], options: WriteOptions) -> None:
    with replacing(target, binary=True) as sink, Source(target) as source, locating(source=source.name):
        book = WorkbookPart.of_package(Package(source.ranges()))
        first, titles = contents[0], {content.title.casefold() for content in contents}
        styles, searches = find_styles(book), Searches()
        with Workbook(source, own=book) if book.parts else nullcontext() as reading:  # one may have charts alone
            if options.guard == "auto":
                beside, is_guarded = count_recorded(book.record["sheets"], titles), bool(reading and reading.guards())
                options = decide_guard(contents, options, beside, is_guarded=is_guarded)
            taken = titles_of_others(book, first.title, replacing=options.replaces) if first.views else []
            guards = reading.guards() if reading is not None and options.replaces else []
            snapshots_beside, renewed = split_snapshots(book, guards, titles)
            guards.clear()  # and the cells that they keep
            plan = _plan_sheets(
                contents, options, styles, taken, is_own=False, has_guard=bool(options.guard or snapshots_beside)
            )
            for content in contents:
                _warn_of_formats(content.formats, styles)
            edit = plan_append(book, plan.sheets, styles, replacing=options.replaces)
            edit.replaced.update(renewed)
            if reading is not None:
                gone = {*(part.name for part in edit.sheets), *(view.name for view in edit.views)}
                searches = search_sheets(reading, gone=gone, most=MOST_SEARCHED)
        _write_package(edit, PackageWriter(sink), contents, options, plan, searches, snapshots_beside)


def _write_package(
    edit: PackageEdit,
    writer: PackageWriter,
    contents: Sequence[SheetContent],
    options: WriteOptions,
    plan: _Plan,
    searches: Searches,
    snapshots_beside: Sequence[Sequence[str]] = (),
) -> None:
    """Write a workbook; everything except the rows is ready.

    `snapshots_beside`: the snapshots of other sheets, which the hidden sheet keeps.
    """
    total, before = sum([content.cell_count for content in contents]), 0
    header_rows: dict[tuple[int, int], int] = {}
    options.report(0, total)
    with _beginning(total) as begin:
        checksums = [begin(_make_checksums, content) for content in contents]
        snapshots = [begin(_encode_snapshots, each, options) for each in contents] if options.guard else []
        later = {edit.properties, *(part.name for part in edit.sheets), *(part.name for part in edit.views)}
        writer.copy_parts(edit.package, edit.replaced, edit.dropped | later)
        links, remembered = {}, {}
        if plan.views:
            names = {area.array: name for area, name in edit.names.items()}
            links = link_columns(plan.views)
            for view, view_part in zip(plan.views, edit.views, strict=True):
                remembered[view_part.title] = write_view(writer, view, view_part, names, edit.styles)
        for part, layout, styles in zip(edit.sheets, plan.layouts, plan.styles, strict=False):
            is_table = any(own.kind == "table" for own in part.beside)
            rows = RowWriter(layout, options.as_text, edit.styles, styles, links, filtered=is_table)
            with writer.stream_part(part.name) as out:
                out.write(part.head)
                for chunk, done in rows.iter_chunks():
                    out.write(chunk)
                    options.report(before + done, total)
                out.write(part.tail)
            if part.beside:
                write_relations(writer, part.name, [own[:2] for own in part.beside])
                for own in part.beside:
                    writer.write_part(own.name, own.content)
            before += layout.cell_count
            if _holds_words_above(layout):
                header_rows[writer.content_of(part.name)] = layout.zone_height
        for part in edit.sheets[len(plan.layouts) :]:
            _write_guard(part, writer, [*(texts for each in snapshots for texts in each()), *snapshots_beside])
        first = 0
        for content, sums in zip(contents, checksums, strict=True):
            remembered[edit.sheets[first].title] = sums()
            first += len(content.layouts)
        edit.write_properties(writer, remembered, Searches(searches.strings, header_rows | searches.rows))
        writer.finish()


@contextmanager
def _beginning(cells: int) -> Iterator[Callable[..., Callable[[], Any]]]:
    """Yield a function that starts a call, in a thread if there are many cells, and returns how to wait for its result.

    Functions of many cells run in a second thread meanwhile; a few cells take less time than a thread takes to begin.
    """
    if cells <= _FEW:
        yield partial
        return
    with ThreadPoolExecutor(1, "sheetarray-checksums") as thread:
        yield lambda function, *arguments: thread.submit(function, *arguments).result


def _holds_words_above(layout: Layout) -> bool:
    """Return whether words of headers stand in the header zone alone: no text below it can be taken for one.

    Texts of an array stand below its header, and so are elements; those of a table have no header above them.
    """
    return all(piece.header or piece.dtype.kind not in ("string", "generic") for piece in layout.pieces)


def _make_checksums(content: SheetContent) -> dict[str, Any]:
    """Return what the record keeps of the elements of a sheet."""
    sums = make_checksums(
        {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in content.guarded.items()}
    )
    return {"columns": sums} if content.kind == "table" else sums


def _encode_snapshots(content: SheetContent, options: WriteOptions) -> list[list[str]]:
    """Return the texts of the snapshot of each array, for the guard's sheet."""
    how = {"sheet": content.title, "cells": options.cells, "dates": options.dates}
    return [encode_snapshot(name, array, **how) for name, array in content.guarded.items()]


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
        sheets: the views, the sheets of arrays, and the guard's sheet if there is one.
    """

    layouts: Sequence[Layout]
    styles: Sequence[Sequence[int | None]]
    views: Sequence[ViewPlan]
    sheets: Sequence[SheetPlan]


def _plan_sheets(
    contents: Sequence[SheetContent],
    options: WriteOptions,
    book_styles: CellStyles,
    taken: Collection[str],
    *,
    is_own: bool = True,
    has_guard: bool,
) -> _Plan:
    """Plan the sheets of a write.

    `book_styles`: of the workbook. `taken`: the titles of sheets that are there. `is_own`: whether the workbook is a
    new one. `has_guard`: whether the write makes a guard, which has the snapshots of all its arrays.
    """
    layouts: list[Layout] = []
    styles: list[list[int | None]] = []
    plans: list[SheetPlan] = []
    for content in contents:
        for title, layout in zip(content.titles, content.layouts, strict=True):
            layouts.append(layout)
            styles.append(_find_styles(layout, content, options, book_styles, decimals=content.kind == "table"))
            plans.append(_plan_sheet(title, layout, list(map(book_styles.code_of, styles[-1])), content, options))
    first = contents[0]
    if has_guard:
        plans.append(SheetPlan(guard_title(first.title), (), 0, names=False, very_hidden=True, of=first.title))
    if not first.views:
        return _Plan(layouts, styles, (), plans)
    taken = [*taken, *(plan.title for plan in plans)]
    shown = [_find_styles(layout, first, options, book_styles, decimals=True) for layout in first.layouts]
    columns = ViewedColumns.of_layouts(first.titles, first.layouts, shown, as_text=options.as_text)
    views = plan_views(first.views, first.arrays, columns, taken=taken, text_chooser=is_own)
    return _Plan(layouts, styles, views, [*map(plan_view_sheet, views), *plans])


def _find_styles(
    layout: Layout, content: SheetContent, options: WriteOptions, book_styles: CellStyles, *, decimals: bool
) -> list[int | None]:
    """Return the style of the numbers or booleans in each column."""
    if options.as_text:
        return [None] * len(layout.pieces)
    return book_styles.of_formats(number_formats(layout.pieces, formats=content.formats, decimals=decimals))


def _plan_sheet(
    title: str, layout: Layout, codes: Sequence[str | None], content: SheetContent, options: WriteOptions
) -> SheetPlan:
    """Return the plan of a sheet with arrays or a table; `codes` are the number formats of its columns."""
    table = filtered_columns(layout) if content.kind == "table" else ()
    return SheetPlan(
        title,
        column_widths(layout.pieces, codes, as_text=options.as_text, filtered=bool(table)),
        layout.height,
        list(layout.runs(title)),
        headers=layout.zone_height - 1 if layout.hides_headers else 0,
        printed=printed_ranges(layout) if layout.height > TALLEST_PRINTED else (),
        hidden=frozenset([place for place, piece in enumerate(layout.pieces) if is_for_programs(piece)]),
        table=table,
        note=content.description,
        of=content.title,
        notes=_place_notes(layout, content.notes) if content.notes else {},
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
