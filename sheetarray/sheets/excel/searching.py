"""Searches the sheets of a workbook for arrays when others are added to it, or it is accepted.

So `scan` need not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf

from ...columns import Sheet, find_anchors
from ...errors import FormatError
from .checking.workbook import select_sheets
from .package.searches import Searches, content_of, read_searches
from .workbook import Workbook

MOST_SEARCHED = 2**26  # of inflated worksheets that are searched for a sheet that is added


def search_sheets(
    book: Workbook, *, gone: Collection[str] = (), replaced: Mapping[str, bytes] | None = None, most: float = inf
) -> Searches:
    """Return the searches of the sheets of a workbook, as far as these are known or have no more bytes than `most`.

    `gone`: the parts of sheets that are left out. `replaced`: the new content of parts in which the same rows will hold
    headers.
    """
    package, replaced = book.package, replaced or {}
    if package is None:
        return Searches()
    stored_searches = read_searches(book.record, package, book.strings_part)
    searches = Searches(stored_searches.strings)
    for sheet in select_sheets(book, None):
        part = book.parts[sheet.title or ""]
        content = content_of(package, part)
        if content is None or part in gone:
            continue
        rows = stored_searches.rows.get(content)
        most -= content[1] if rows is None else 0
        if rows is None and most >= 0:
            rows = _count_header_rows(sheet)
        content = content_of(package, part, replaced.get(part))
        if rows is not None and content is not None:
            searches.rows[content] = rows
    return searches


def _count_header_rows(sheet: Sheet) -> int | None:
    """Return the number of the rows down to the last header in a sheet; None where one is broken, or the sheet is."""
    try:
        anchors = find_anchors(sheet)
    except FormatError:
        return None
    if any(anchor.header is None for anchor in anchors):
        return None
    return max((anchor.data_cell[1] if anchor.orient == "columns" else anchor.row + 1 for anchor in anchors), default=0)
