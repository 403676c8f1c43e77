"""Accepts what people have changed in a workbook: its headers, names, checksums, views and guards become true.

The cells of headers are spliced into the XML of their worksheets; the workbook's own part changes where a name
has to refer to other cells, and the custom properties hold new checksums. Every other part keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Any

from ....columns import HeaderEdit, check_accept_target, find_header_edits
from ....elements import Missing, MissingOption, NaValues, missing_of
from ....errors import NO_ARRAY, FormatError, locating
from ....files import Readable, Source, Writable, replacing
from ....linear.array import LinearArray
from ...accepted import AcceptedArrays, join_accepted
from ...sheet_choice import SheetChoice, find_title
from ..checking.views import read_typed_over, typed_over_views
from ..guard.snapshots import Snapshots, warn_of_guard
from ..package.packing import rewrite_package
from ..package.properties import renew_properties
from ..package.searches import SEARCHES_KEY
from ..row_xml import format_number
from ..searching import search_sheets
from ..splicing import NewCell, NewCells, Splice
from ..tables.recorded import find_tables
from ..tables.renewing import RenewedTables, renew_tables
from ..views.record import KEY
from ..workbook import Workbook
from ..workbook_part import WorkbookPart
from .exact import ExactArrays, read_writes
from .guards import renew_guards
from .names import ArrayNames
from .record import true_record
from .views import renew_views


def accept_excel(
    source: Readable,
    target: Writable | None = None,
    *,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
) -> AcceptedArrays:
    """Correct headers, names, checksums and guards of a workbook, so that they fit its cells. All other parts stay.

    A workbook in which nothing has to be corrected is not written again.

    Args:
        source: a path, or an open file (then with a target): .xlsx or .xlsm.
        target: the file to write; None replaces the source whole.
        sheet: accept only what stands in this sheet, and in those that were written together with it.
        missing: as for `read_excel`.

    Returns:
        The arrays as they are now, and what became of them.

    Raises:
        FormatError: as `read_excel`, or no .xlsx or .xlsm; the file is as it was.
        LimitError: the workbook is signed or shared; or a view would have to be made anew in which people have typed
            over formulas.

    Example:
        >>> import io
        >>> import openpyxl
        >>> words = "version 1.0.0 ndarray shape 2 strides 1 offset 0 order row-major dtype float64 length 2 capacity 2"
        >>> file, accepted = io.BytesIO(), io.BytesIO()
        >>> book = openpyxl.Workbook()
        >>> for cell in ["t", *words.split(), "data", 1.5, 2.5, 3.5]:
        ...     book.active.append([cell])
        >>> book.save(file)
        >>> accept_excel(io.BytesIO(file.getvalue()), accepted).arrays["t"].shape
        (3,)
    """
    as_missing = missing_of(missing, na_values)
    check_accept_target(source, target)
    return accept_workbook(source, source if target is None else target, sheet=sheet, missing=as_missing)


def accept_workbook(
    source: Readable,
    target: Writable,
    *,
    sheet: SheetChoice = None,
    missing: Missing = "error",
    revised: Sequence[tuple[Set[str], Mapping[str, LinearArray]]] | None = None,
) -> AcceptedArrays:
    """Make a workbook true to its cells, as `accept_excel`.

    `revised`: arrays whose elements were put into cells since formulas were computed, with the titles of the sheets
    where they stand. Views are made anew then, and programs compute all formulas when they open the workbook. None
    where a program has done that.
    """
    anew = revised is not None
    with Source(source) as opened, locating(source=opened.name):
        book = WorkbookPart.to_change(opened)
        with Workbook(opened, reads_numbers=True, own=book) as reading:
            chosen = None if sheet is None else _choose_sheets_of(reading, sheet)
            sheets = [plain for plain in reading.plain_sheets() if chosen is None or plain.title in chosen]
            places = find_tables(reading, sheets)
            tables = renew_tables(reading, places, Snapshots(reading), missing) if places else None
            try:
                writes = read_writes(reading, missing, None if chosen is None else chosen[0])
            except FormatError as error:
                if error.reason != NO_ARRAY or tables is None:
                    raise
                writes = [ExactArrays(reading, (), missing, Snapshots(reading), None if chosen is None else {*chosen})]
            problems = [*writes[0].snapshots.check(), *reading.find_lost_guards()]
            warn_of_guard([] if anew else problems)
            is_true = not (anew or problems or reading.checksums.findings or any(read.written.own for read in writes))
            is_true = is_true and not any(array.is_changed for read in writes for array in read.arrays.values())
            is_true = is_true and not (tables is not None and tables.sheets)
            replaced, record = dict[str, bytes](), {**book.record}
            if not is_true:
                replaced, record = _correct(book, writes, tables, revised or (), chosen)
            typed = [title for title in typed_over_views(reading) if read_typed_over(reading, title)]
            searches = search_sheets(reading, replaced=replaced)
        names = [ArrayNames(read.arrays, _select_record(book.record, read.writes)) for read in writes]
        if book.set_names(partial(_find_cells, names)) or anew:
            book.compute_on_opening()
        record |= {SEARCHES_KEY: searches.to_json()}
        record["sheets"] = {title: {**more} for title, more in record["sheets"].items()}
        has_views = any(KEY in more for more in record["sheets"].values())
        for read, own in zip(writes, names, strict=True) if has_views else ():
            replaced |= renew_views(book, read.arrays, record, own.by_array(book), typed, writes=read.writes, anew=anew)
        if record != book.record:
            part = book.ensure_properties()
            replaced[part] = renew_properties(book.package, part, record)
        replaced |= book.changed_parts()
        if replaced or source is not target:
            with replacing(target, binary=True) as sink:
                rewrite_package(sink, book.package, replaced)
    accepted = writes[0].accepted if len(writes) == 1 else join_accepted([read.accepted for read in writes])
    return accepted if tables is None else tables.add_to(accepted)


def _correct(
    book: WorkbookPart,
    writes: Sequence[ExactArrays],
    tables: RenewedTables | None,
    revised: Sequence[tuple[Set[str], Mapping[str, LinearArray]]],
    chosen: Sequence[str] | None,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the new content of the worksheets whose headers or snapshots have to change, by their parts, and a record.

    `revised`: as for `accept_workbook`. `chosen`: the titles of the sheets that are corrected; None for all.
    """
    for read in writes:
        read.compare()
    exact = [read.find_exact(_choose_revised(read, revised)) for read in writes]
    of_tables = {} if tables is None else tables.snapshots
    evidence = [read.written.own for read in writes]
    guards = renew_guards(book, writes[0].snapshots, [*zip(evidence, exact, strict=True)], of_tables, chosen)
    edits = [edit for read in writes for edit in find_header_edits(read.sheets, read.arrays)]
    unknown = [
        (name, array)
        for read, of_write in zip(writes, exact, strict=True)
        for name, array in read.arrays.items()
        if name not in of_write
    ]
    pairs = [pair for of_write in exact for pair in of_write.items()]
    record = true_record(book.record, pairs, [part.title for part in book.sheets], unknown)
    record["sheets"] |= {} if chosen is None else _list_others(book.record, chosen)
    record["sheets"] |= {} if tables is None else tables.sheets
    return _change_headers(book, edits) | guards, record


def _choose_sheets_of(book: Workbook, sheet: str | int) -> list[str]:
    """Return the title of the sheet that was chosen, and then those of the sheets that were written with it."""
    sheets = book.plain_sheets()
    title = find_title(sheet, [plain.title or "" for plain in sheets])
    _, together = book.checksums.choose_write(sheets, title)
    return list(dict.fromkeys([title, *(plain.title or "" for plain in together)]))


def _list_others(record: Mapping[str, Any], chosen: Sequence[str]) -> dict[str, Any]:
    """Return what a record has of sheets that were not chosen."""
    return {
        title: more for title, more in record["sheets"].items() if {title, more.get("of", title)}.isdisjoint(chosen)
    }


def _choose_revised(
    read: ExactArrays, revised: Sequence[tuple[Set[str], Mapping[str, LinearArray]]]
) -> dict[str, LinearArray]:
    """Return the arrays that stand in the sheets of a write and whose elements are known to the bit."""
    return {
        name: array
        for titles, arrays in revised
        for name, array in arrays.items()
        if name in read.arrays and read.arrays[name].column.group[0].title in titles
    }


def _select_record(record: Mapping[str, Any], writes: Set[str] | None) -> Mapping[str, Any]:
    """Return a record with the sheets of some writes; None for all."""
    if writes is None:
        return record
    sheets = {title: more for title, more in record["sheets"].items() if more.get("of", title) in writes}
    return {**record, "sheets": sheets}


def _find_cells(writes: Sequence[ArrayNames], name: str, text: str) -> str | None:
    """Return the cells to which a defined name should refer; None if it is not the name of an array of any write."""
    return next((cells for names in writes if (cells := names.find_cells(name, text)) is not None), None)


def _change_headers(book: WorkbookPart, edits: Sequence[HeaderEdit]) -> dict[str, bytes]:
    """Return the new content of worksheets whose headers have to change, by their parts."""
    parts = {sheet.title: sheet.part for sheet in book.sheets}
    cells: dict[str, NewCells] = {}
    for edit in edits:
        cell = NewCell(format_number(edit.value), header=edit.value)
        cells.setdefault(edit.title or "", {})[edit.row, edit.column] = cell
    return {parts[title]: Splice(title, new).change(book.package.read(parts[title])) for title, new in cells.items()}
