"""Searches the other sheets of a workbook for arrays when sheets are added to it, so that `scan` need not do it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from zlib import crc32

from ...columns import Sheet, find_anchors
from ...errors import FormatError
from ...files import Source
from .checking import select_sheets
from .workbook import Searches, Workbook, content_of, read_searches

MOST_BYTES = 2**26  # of inflated worksheets that are searched; beyond, every `scan` searches them


def search_other_sheets(source: Source, gone: Collection[str]) -> Searches:
    """Return the searches of the sheets of a workbook; those that nobody has searched so far are searched."""
    try:
        with Workbook(source) as book:
            return _search_sheets(book, gone)
    except FormatError:
        return Searches()  # who reads it says so


def _search_sheets(book: Workbook, gone: Collection[str]) -> Searches:
    parts, package = book.parts, book.package
    if package is None:
        return Searches()
    known = read_searches(book.record, package, book.strings_part)
    searches, left = Searches(known.strings), MOST_BYTES
    for sheet in select_sheets(book, None):
        part = parts[sheet.title or ""]
        content = content_of(package, part)
        if content is None or part in gone:
            continue
        rows = known.rows.get(content)
        left -= content[1] if rows is None else 0
        if rows is None and left >= 0:
            rows = count_header_rows(sheet)
        if rows is not None:
            searches.rows[content] = rows
    return searches


def count_header_rows(sheet: Sheet) -> int | None:
    """Return the number of the rows down to the last header in a sheet; None where one is broken, or the sheet is."""
    try:
        anchors = find_anchors(sheet)
    except FormatError:
        return None
    if any(anchor.header is None for anchor in anchors):
        return None
    return max((anchor.data_cell[1] if anchor.orient == "columns" else anchor.row + 1 for anchor in anchors), default=0)


def search_again(book: Workbook, sheets: Sequence[Sheet], replaced: Mapping[str, bytes]) -> Searches:
    """Return a record of where sheets have been searched for arrays, after some parts got another content.

    `sheets`: in which the same rows will hold headers.
    """
    if book.package is None:
        return Searches()
    searches = Searches(content_of(book.package, book.strings_part))
    for sheet in sheets:
        part = book.parts[sheet.title or ""]
        content = content_of(book.package, part)
        if part in replaced:
            content = crc32(replaced[part]), len(replaced[part])
        rows = count_header_rows(sheet)
        if content is not None and rows is not None:
            searches.rows[content] = rows
    return searches
