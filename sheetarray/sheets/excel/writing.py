"""Writes arrays to a new workbook, or to new sheets of an existing one: their rows as XML, and what goes with them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ...columns import Layout, LayoutColumn, column_letters, lay_out_sheets
from ...elements import Cell
from ...errors import locating, warn_caller
from ...files import Source, Writable, changing, file_version, replacing
from ...formats.contract import Progress
from ...linear.array import LinearArray
from ..arrays_of_sheets import is_for_programs
from ..cells_together import ColumnSpan, make_cells_together
from ..guard_texts import guard_title
from ..looks import column_widths, element_range, filtered_columns, number_formats, printed_ranges
from ..snapshot import encode_snapshot
from ..views.description import View
from ..views.geometry import ViewedColumns, ViewPlan, plan_views
from ..workbooks import EXACT_INTEGER, GENERAL, MOST_COLUMNS, MOST_ROWS, check_choices, sheet_titles
from .append import IfSheetExists, PackageEdit, plan_append, search_other_sheets, titles_of_others
from .cell_xml import (
    ColumnSegment,
    Group,
    Layer,
    cells_xml,
    format_number,
    format_rows,
    format_text,
    value_layers,
    with_formula,
    xml_text,
)
from .checksums.record import Written, make_checksums
from .guard.automatic import count_recorded, has_guard, wants_guard
from .guard.guard_sheet import iter_rows
from .open_workbook import OpenWorkbook
from .package.packing import PackageWriter
from .package.parts import Package
from .package.relations import Searches, read_sound_record
from .skeleton import NewWorkbook, SheetPart, SheetPlan, suffix_of
from .styles import CellStyles, find_styles, make_styles
from .views.worksheet import link_columns, plan_view_sheet, write_relations, write_view

# The cells of all columns of one dtype and style are made together, and put in the order of rows by one loop
# (`cell_xml`). The header zone is a block like any other, whose columns begin with names and headers.

_CELLS_A_BLOCK = 2**15  # the XML of a block stays in the cache of a processor while it is made, copied and deflated
_ROWS_A_BLOCK = 64  # at least, however many columns there are

_HIDDEN = ' hidden="1" outlineLevel="1"'
_AFTER_HIDDEN = ' collapsed="1"'  # the row after those that are hidden, beside which a click shows them
_BOLD_TEXT = ' t="inlineStr"><is><r><rPr><b/></rPr><t xml:space="preserve">{}</t></r></is></c>'


class RowWriter:
    """Makes the XML of the rows of one sheet.

    `layout`: which part of which array stands in which column. `styles`: the styles of the workbook; if it has no bold
    one, names are written as bold rich text. `value_styles`: the style of the numbers or booleans in each column, None
    for the usual one. Dates without a style are text. `links`: for arrays whose elements stand in a view for editing,
    by their names: the formulas of the elements that do, None for all others. `filtered`:
    whether the names have buttons for filters at their right.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        as_text: bool,
        styles: CellStyles,
        value_styles: Sequence[int | None],
        links: Mapping[str, Sequence[str | None]] | None = None,
        filtered: bool = False,
    ) -> None:
        self.filtered = filtered
        self.layout, self.as_text, self.cell_styles = layout, as_text, styles
        self._letters = list(map(column_letters, range(len(layout.pieces))))
        self._links = links or {}
        self._styles = value_styles

    def iter_chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of XML in their order, each with the number of the layout's cells that are written with it."""
        after = self.layout.zone_height
        yield self._zone_xml(), self.layout.count_cells_above(min(after, self.layout.height))
        if self.layout.hides_headers and self.layout.height <= after:
            yield f'<row r="{after + 1}"{_AFTER_HIDDEN}/>'.encode(), self.layout.cell_count
        for row, count in self.layout.body_spans(_CELLS_A_BLOCK, fewest=_ROWS_A_BLOCK):
            collapsed = [_AFTER_HIDDEN] if self.layout.hides_headers and row == after else []
            yield self._block_xml(row, count, collapsed), self.layout.count_cells_above(row + count)

    def _zone_xml(self) -> bytes:
        """Return the rows of the header zone: names, headers, and the first elements of columns with short headers."""
        layout, height = self.layout, min(self.layout.zone_height, self.layout.height)
        groups, elements = self._make_groups(
            [
                ColumnSpan(place, piece, self._styles[place], 0, layout.count_zone_elements(piece))
                for place, piece in enumerate(layout.pieces)
            ],
            row=0,
        )
        above: list[str | None] = []
        segments = []
        for place, piece in enumerate(layout.pieces):
            start = len(above)
            above += [self._name(place, piece)] if layout.named else []
            above += [None] * piece.blanks
            above += _header_xml(tuple(piece.header))
            segments.append(ColumnSegment(self._letters[place], len(groups), start, 0, len(above) - start))
            if place in elements:
                segments.append(elements[place])
        hidden = ["", *[_HIDDEN] * (height - 1)] if layout.hides_headers else []
        return format_rows(1, height, segments, [*groups, _as_they_are(above)], attributes=hidden)

    def _block_xml(self, row: int, count: int, attributes: Sequence[str]) -> bytes:
        """Return some rows below the header zone."""
        groups, segments = self._make_groups(
            [
                ColumnSpan(place, piece, self._styles[place], *self.layout.elements_in_rows(piece, row, count))
                for place, piece in enumerate(self.layout.pieces)
            ],
            row=row,
        )
        return format_rows(
            row + 1, count, [segments[place] for place in sorted(segments)], groups, attributes=attributes
        )

    def _make_groups(self, spans: Sequence[ColumnSpan], *, row: int) -> tuple[list[Group], dict[int, ColumnSegment]]:
        """Return the cells of some elements in groups, and where each column stands in them, by its index.

        `row`: the first of the rows that are made, from 0.
        """
        groups: list[Group] = []
        segments: dict[int, ColumnSegment] = {}
        plain = [span for span in spans if span.piece.name not in self._links] if self._links else spans
        for cells, style, some in make_cells_together(plain, as_text=self.as_text):
            start = 0
            for span in some:
                segments[span.place] = self._segment(span, len(groups), start, row)
                start += span.size
            groups.append(value_layers(cells, style))
        for span in spans if self._links else ():
            if span.size and span.piece.name in self._links:
                segments[span.place] = self._segment(span, len(groups), 0, row)
                groups.append(_as_they_are(self._linked_cells(span)))
        return groups, segments

    def _segment(self, span: ColumnSpan, group: int, start: int, row: int) -> ColumnSegment:
        above = self.layout.named + span.piece.above + span.first - row
        return ColumnSegment(self._letters[span.place], group, start, above, span.size)

    def _linked_cells(self, span: ColumnSpan) -> list[str | None]:
        """Return the XML after the references of cells whose elements stand in a view for editing."""
        _, piece, style, first, size = span
        cells = piece.to_typed(first, size, exact=EXACT_INTEGER, as_text=self.as_text, serials=style is not None)
        formulas = self._links[piece.name][piece.start + first : piece.start + first + size]
        pairs = zip(cells_xml(cells, style), formulas, strict=True)
        return [cell if formula is None else with_formula(cell, formula) for cell, formula in pairs]

    def _name(self, place: int, piece: LayoutColumn) -> str:
        """Return the XML after the reference of the cell with the name of a column."""
        style = self.cell_styles.bold
        stands_right = piece.dtype.kind in ("float", "int", "timedelta", "bool") or self._styles[place] is not None
        if stands_right and not self.filtered and not self.as_text:  # as programs align the elements
            style = self.cell_styles.bold_right or style
        if style is None:
            return _BOLD_TEXT.format(xml_text(piece.name))
        return f' s="{style}" t="inlineStr"><is><t xml:space="preserve">{xml_text(piece.name)}</t></is></c>'


def _as_they_are(cells: list[str | None]) -> Group:
    """Return a group of cells whose XML after their references is made; None is a blank."""
    return [Layer("", "v", cells, "")]


@lru_cache(maxsize=64)  # very many arrays have few headers
def _header_xml(header: tuple[Cell, ...]) -> list[str]:
    """Return the XML after the reference of each cell of a header."""
    return list(map(_header_cell_xml, header))


@lru_cache(maxsize=256)  # the headers of very many arrays are the same few words
def _header_cell_xml(cell: Cell) -> str:
    return format_text(cell) if isinstance(cell, str) else format_number(cell)


# `skeleton` makes a new workbook without sheets, and `append` plans how sheets are put into it, as into any other.
# `RowWriter` makes the rows, which are deflated straight into the package, while another thread makes the checksums.

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


# What the sheets are ------------------------------------------------------------------------------------------


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
