"""Accepts what people have changed in a workbook: headers, names, checksums, views and guards become true to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...columns import (
    ArrayInfo,
    HeaderEdit,
    LayoutColumn,
    ResizedArray,
    check_accept_target,
    column_letters,
    find_header_edits,
    info_of_resized,
    keeping_unreadable,
)
from ...dtypes import Array
from ...elements import Missing
from ...errors import LimitError, locating
from ...files import Readable, Source, Writable, replacing
from ...linear.array import LinearArray
from ...linear.buffers import view_of
from ..arrays_of_sheets import read_resized_arrays
from ..looks import number_formats
from ..snapshot import encode_snapshot
from ..views.geometry import ViewedColumns, ViewPlan, plan_views
from ..workbooks import ArrayArea, build_references, make_defined_names, parse_titles
from .append import search_sheets, worksheet_xml
from .cell_xml import format_number
from .checking import open_snapshots, read_typed_over, typed_over_views
from .checksums.record import Written, make_checksums
from .guard.guard_sheet import iter_rows
from .open_workbook import BookSheet, OpenWorkbook
from .package.packing import PackageWriter
from .package.parts import Package
from .package.relations import (
    MOST_BYTES,
    SEARCHES_KEY,
    Relations,
    content_of,
    merge_properties,
    read_sound_record,
)
from .skeleton import SheetPlan, ViewPart
from .splicing import NewCell, NewCells, Splice
from .styles import CellStyles, find_styles
from .views.grids import ViewGrid
from .views.record import KEY, read_view
from .views.worksheet import make_view
from .workbook import Workbook

# Makes the guards of a workbook true to its cells, when `accept` takes what people have changed.


def renew_guards(
    book: OpenWorkbook,
    reading: Workbook,
    arrays: Mapping[str, ResizedArray],
    unreadable: Mapping[str, Array],
    revised: Mapping[str, LinearArray],
) -> tuple[dict[str, bytes], dict[str, ResizedArray]]:
    """Return the new content of the worksheets that hold snapshots, by their parts, and the arrays that these hold.

    Elements that were only rounded keep their exact bits in the snapshot, and so do elements whose cells cannot be read
    now. A snapshot of another file becomes one of the cells; an array that has no snapshot, or a damaged one, has none
    afterwards, and an array that has none is left out of those that are returned if some of its cells cannot be read.

    `unreadable`: for some arrays, objects that are not None for elements whose cells cannot be read. `revised`: arrays
    whose elements are known to the bit.
    """
    snapshots, renewed = open_snapshots(reading), dict[str, bytes]()
    exact = {name: array for name, array in arrays.items() if name not in unreadable}
    if not snapshots.exist:
        return {}, exact
    own = {name: snapshots.find(name, array.column, array.buffer) for name, array in arrays.items()}
    names = {one: name for name, one in own.items() if one is not None}
    stale = {one.header.name: one for one in snapshots if own.get(one.header.name, one) is None}
    names |= {one: name for name, one in stale.items()}
    texts: dict[str, list[list[str]]] = {guard.title or "": [] for guard in reading.guards()}
    for one in snapshots:
        if (name := names.get(one)) is None:
            continue
        column, buffer = arrays[name].column, arrays[name].buffer
        if name in revised and len(revised[name].buffer) == len(buffer):
            buffer = revised[name].buffer
        else:
            guarded = snapshots.compare(name, column, buffer) if name in unreadable else None
            buffer = snapshots.restore(name, buffer, column)
            if guarded is not None:
                places = view_of(column.header, np.arange(len(buffer)))[unreadable[name].astype(bool)]
                buffer = buffer.copy()
                buffer[places] = guarded.written[places]
            elif name in unreadable:
                continue
        exact[name] = replace(arrays[name], buffer=buffer)
        how = {"sheet": one.header.sheet, "cells": one.header.cells, "dates": one.header.dates}
        texts[one.title].append(encode_snapshot(name, exact[name].linear, **how))
    parts = {sheet.title: sheet for sheet in book.sheets}
    for title, made in texts.items():
        sheet = parts[title]
        plan = SheetPlan(sheet.title, (), 0, names=False, very_hidden=True)
        head, tail = worksheet_xml(book, plan, sheet)
        renewed[sheet.part] = b"".join([head, *iter_rows(made), tail])
    return renewed, exact


# Makes the views of a workbook true to its arrays, when `accept` takes what people have changed.
#
# A view looks into the column of its array by formulas, so that edits of elements need nothing. Where an array has
# other rows now, its view is made anew, as it was asked for: the record of the workbook says how. Where only a
# program has saved a view again, the record learns what it is like now, and readers pass it over again.

_STYLE = re.compile(rb'<c r="B([0-9]{1,4})"[^<>]*? s="([0-9]{1,5})"')
_HEAD = 2**18  # bytes of a view in which its choosers stand


def renew_views(
    book: OpenWorkbook,
    arrays: Mapping[str, ResizedArray],
    record: dict[str, Any],
    name_of: Callable[[str], str],
    typed: Collection[str],
    *,
    anew: bool = False,
) -> dict[str, bytes]:
    """Return the new content of the parts of views, and put into the record what they are like.

    `name_of`: the defined name of the cells of an array; empty where it has none. `typed`: the titles of views in
    which people have typed over formulas: their record stays, so that `check` goes on to name these cells. `anew`:
    whether all others are made anew, since elements have changed and not only lengths.

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
        array, made = arrays.get(str(stored.get("array"))), dict[str, bytes]()
        resized = array is not None and array.is_changed
        wanted = resized or (array is not None and anew and title not in typed)
        if wanted and not stored.get("editable") and name_of(str(stored["array"])):
            made = _make_anew(book, sheet, stored, arrays, name_of)
        if title in typed:
            if made:
                raise LimitError(
                    f"the view {title!r:.80} has to be made anew, and what was typed over its formulas would be lost: "
                    "check names the cells; type their values into the array's column, or delete the sheet"
                )
            continue
        crc, size = content_of(book.package, sheet.part, made.get(sheet.part)) or (0, 0)
        more[KEY] = {**stored, "crc": crc, "size": size}
        renewed |= made
    return renewed


def _make_anew(
    book: OpenWorkbook,
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
        return (
            None
            if as_text
            else book_styles.of_formats(number_formats([piece], dates=True, formats={}, decimals=True))[0]
        )

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
    made = make_view(plan, name_of, styles, part)
    parts = {sheet.part: b"".join([made.head, "".join(made.rows).encode(), made.tail])}
    if made.drawing is not None:
        parts[part.chart] = made.drawing[1].encode()
    return parts


def _find_chooser_styles(
    book: OpenWorkbook, sheet: BookSheet, plan: ViewPlan, name_of: Callable[[str], str]
) -> dict[str, int]:
    """Return the styles that the choosers of a view have, by their kinds."""
    known = {int(row): int(style) for row, style in _STYLE.findall(book.package.head(sheet.part, _HEAD))}
    choosers = ViewGrid(plan, name_of, CellStyles()).choosers.values()
    return {chooser.kind: known[chooser.row] for chooser in choosers if chooser.row in known}


def _find_chart(book: OpenWorkbook, sheet: BookSheet) -> tuple[str, str]:
    """Return the parts of the drawing and of the chart on a view; empty if it has no chart."""
    drawing = Relations(book.package, sheet.part).present_target("drawing")
    chart = Relations(book.package, drawing).present_target("chart") if drawing else None
    return (drawing, chart) if drawing and chart else ("", "")


# Accepts what people have changed in a workbook: makes headers, names, checksums, views and guards true to
# cells.
#
# The cells of headers are spliced into the XML of their worksheets; the workbook's own part changes where a name
# has to refer to other cells, and the custom properties hold new checksums. Every other part keeps its bytes.

_CORNER = re.compile(r"!\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?[A-Z]{1,3}\$?([0-9]{1,7}))?")


def accept_excel(
    source: Readable, target: Writable | None = None, *, missing: Missing = "error"
) -> dict[str, ArrayInfo]:
    """Correct headers, names, checksums and guards of a workbook, so that they fit its cells. All other parts stay.

    Args:
        source: a path, or an open file (then with a target): .xlsx or .xlsm.
        target: the file to write; None replaces the source whole.
        missing: as for `read_excel`.

    Returns:
        An `ArrayInfo` for each array whose length changed, by name.

    Raises:
        FormatError: as `read_excel`, or no .xlsx or .xlsm; the file is as it was.
        LimitError: the workbook is signed or shared; or a view would have to be made anew in which people have typed
            over formulas.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .table import write_table_excel
        >>> words = "version 1.0.0 ndarray shape 2 strides 1 offset 0 order row-major dtype float64 length 2 capacity 2"
        >>> file, accepted = io.BytesIO(), io.BytesIO()
        >>> write_table_excel(file, {"t": np.array([*words.split(), "data", "1.5", "2.5", "3.5"])})
        >>> accept_excel(io.BytesIO(file.getvalue()), accepted)["t"].shape
        (3,)
    """
    check_accept_target(source, target)
    return accept_workbook(source, source if target is None else target, missing=missing)


def accept_workbook(
    source: Readable,
    target: Writable,
    *,
    missing: Missing = "error",
    revised: Mapping[str, LinearArray] | None = None,
) -> dict[str, ArrayInfo]:
    """Make a workbook true to its cells, as `accept_excel`.

    `revised`: arrays whose elements were put into cells since formulas were computed, so that views are made anew and
    programs compute all formulas when they open the workbook; None where a program has done that.
    """
    anew = revised is not None
    with Source(source) as opened, locating(source=opened.name):
        package = Package(opened.ranges())
        book = OpenWorkbook(package)
        book.check_changeable()
        with Workbook(opened, reads_numbers=True) as reading:
            sheets = reading.plain_sheets()
            with keeping_unreadable("missing") as unreadable:
                arrays = read_resized_arrays(sheets, missing=missing)
            edits = find_header_edits(sheets, arrays)
            guards, exact = renew_guards(book, reading, arrays, unreadable, revised or {})
            replaced = _change_headers(book, edits) | guards
            typed = [title for title in typed_over_views(reading) if read_typed_over(reading, title)]
            searches = search_sheets(reading, replaced=replaced)
        record = {**read_sound_record(package), SEARCHES_KEY: searches.to_json()}
        names = ArrayNames(arrays, record)
        if book.set_names(names.find_cells) or anew:
            book.compute_on_opening()
        part = book.ensure_properties()
        content = package.read(part, limit=MOST_BYTES) if part in package else None
        record = _true_record(record, exact, [sheet.title for sheet in book.sheets])
        replaced |= renew_views(book, arrays, record, names.by_array(book), typed, anew=anew)
        replaced[part] = merge_properties(content, record, location=part)
        replaced |= book.changed_parts()
        with replacing(target, binary=True) as sink:
            writer = PackageWriter(sink)
            writer.copy_parts(package, replaced)
            writer.write_parts({name: added for name, added in replaced.items() if name not in package})
            writer.finish()
    return {name: info_of_resized(array) for name, array in arrays.items() if array.is_changed}


def _change_headers(book: OpenWorkbook, edits: Sequence[HeaderEdit]) -> dict[str, bytes]:
    """Return the new content of worksheets whose headers have to change, by their parts."""
    parts = {sheet.title: sheet.part for sheet in book.sheets}
    cells: dict[str, NewCells] = {}
    for edit in edits:
        cell = NewCell(format_number(edit.value), header=edit.value)
        cells.setdefault(edit.title or "", {})[edit.row, edit.column] = cell
    return {parts[title]: Splice(title, new).change(book.package.read(parts[title])) for title, new in cells.items()}


# Names -------------------------------------------------------------------------------------------------------


class ArrayNames:
    """The cells to which the defined names of arrays should refer.

    `record`: of the workbook, which knows the names that were made for its sheets.
    """

    def __init__(self, arrays: Mapping[str, ResizedArray], record: Mapping[str, Any]) -> None:
        places = _places_of(arrays)
        self._areas = build_references(places)
        self._by_name = {name.casefold(): self._areas[area] for area, name in make_defined_names(self._areas).items()}
        self._by_column: dict[tuple[str, str], list[tuple[int, int, str]]] = {}  # first and last row, and reference
        for array, title, cells in places:
            if (text := self._areas.get(ArrayArea(array, title))) and (corner := _CORNER.match(f"!{cells}")):
                rows = int(corner[2]), int(corner[3] or corner[2]), text
                self._by_column.setdefault((title.casefold(), corner[1]), []).append(rows)
        known = [sheet.get("names") for sheet in record["sheets"].values()]
        names = [name for some in known if isinstance(some, list) for name in some if isinstance(name, str)]
        self._known = {name.casefold() for name in names}

    def find_cells(self, name: str, text: str) -> str | None:
        """Return the cells to which a defined name should refer; None if it is not an array's name.

        `text`: to which it refers now.
        """
        folded, titles, corner = name.casefold(), parse_titles(text), _CORNER.search(text)
        if not titles or corner is None or (self._known and folded not in self._known):
            return None
        if (true := self._by_name.get(folded)) is not None:
            same = {title.casefold() for title in parse_titles(true)} == {title.casefold() for title in titles}
            return true if same or folded in self._known else None
        first, last = int(corner[2]), int(corner[3] or corner[2])
        overlaps = [
            (min(last, end) - max(first, begin), reference)
            for begin, end, reference in self._by_column.get((titles[0].casefold(), corner[1]), ())
            if folded in self._known and begin <= last and first <= end
        ]
        return max(overlaps)[1] if overlaps else None

    def by_array(self, book: OpenWorkbook) -> Callable[[str], str]:
        """Return a function that gives the defined name of an array's cells in a workbook; empty if it has none."""
        wanted = {text: area.array for area, text in self._areas.items()}
        names: dict[str, str] = {}
        for (sheet, name), text in book.name_references().items():
            true = self.find_cells(name, text) or text
            if sheet is None and true in wanted:
                names.setdefault(wanted[true], name)
        return lambda array: names.get(array, "")


def _places_of(arrays: Mapping[str, ResizedArray]) -> list[tuple[str, str, str]]:
    """Return the array, the sheet and the range of every column (or row) that holds elements."""
    places = []
    for name, array in arrays.items():
        for anchor, _, count in array.column.spans() if array.column.header.capacity else ():
            column, row = anchor.data_cell
            down, across = (count - 1, 0) if anchor.orient == "columns" else (0, count - 1)
            ends = (row, column), (row + down, column + across)
            places.append((name, anchor.title or "", ":".join(f"${column_letters(c)}${r + 1}" for r, c in ends)))
    return places


# Checksums ---------------------------------------------------------------------------------------------------


def _true_record(
    record: Mapping[str, Any], arrays: Mapping[str, ResizedArray], titles: Sequence[str]
) -> dict[str, Any]:
    """Return the record of the arrays that stand in a workbook now, and of the names made for its sheets."""
    old = {title: sheet for title, sheet in record["sheets"].items() if title in titles}
    sheets: dict[str, dict[str, Any]] = {
        title: {key: value for key, value in sheet.items() if key not in ("arrays", "many")}
        for title, sheet in old.items()
    }
    written: dict[str, dict[str, Written]] = {}
    for name, array in arrays.items():
        header, title = array.column.header, array.column.group[0].title or ""
        group = str(sheets.get(title, {}).get("of", title))
        place = group if group in titles else title
        sheets.setdefault(place, {"names": [], "of": title})
        written.setdefault(place, {})[name] = Written(array.buffer, header.dtype, header)
    for place, some in written.items():
        sheets[place] |= make_checksums(some, of=len(arrays))
    return {**record, "sheets": sheets}
