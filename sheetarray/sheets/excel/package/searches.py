"""What a workbook remembers of searches for arrays: down to which row of a sheet the words of headers stand.

`scan` looks no further in a sheet that is as it was when it was searched, or written: the directory of the
package has the size and the CRC-32 that the record names, and those of the shared strings too, to which cells may
refer. Whatever changes a sheet changes them, and it is searched like any other. `read` and `check` rely on no
record.

    {"searches": {"strings": [crc, size], "sheets": [[crc, size, rows], ...]}}    `strings` null without them

A sheet is known by its content alone, whatever its part and its title are called.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...workbooks import MOST_ROWS
from .package import Package

SEARCHES_KEY = "searches"
MOST_SHEETS = 256  # of which a search is remembered

Content = tuple[int, int]  # the CRC-32 and the size of a part


@dataclass
class Searches:
    """The searches of a workbook's sheets for words of headers."""

    # the content of the shared strings at that time; None if there were no shared strings
    strings: Content | None = None
    # the number of rows down to the last word of a header, by the content of the sheet
    rows: dict[Content, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the searches as the record has them."""
        sheets = [[*content, rows] for content, rows in self.rows.items()]
        return {"strings": self.strings and list(self.strings), "sheets": sheets[:MOST_SHEETS]}


def content_of(package: Package, part: str | None, replaced: bytes | None = None) -> Content | None:
    """Return the CRC-32 and the size of a part, from the directory of its package; None if there is no such part.

    `replaced`: the bytes that take the place of the part's; None if the part stays.
    """
    if replaced is not None:
        return zlib.crc32(replaced), len(replaced)
    if part is None or part not in package:
        return None
    member = package.member(part)
    return member.crc, member.size


def read_searches(record: Mapping[str, Any], package: Package, strings: str | None) -> Searches:
    """Return the searches that a workbook remembers; an empty record if its shared strings have changed since.

    `strings`: the part of the shared strings; None if there are no shared strings.
    """
    searches, stored_searches = Searches(content_of(package, strings)), record.get(SEARCHES_KEY)
    stored: Mapping[str, Any] = stored_searches if isinstance(stored_searches, Mapping) else {}
    sheets = stored.get("sheets")
    if isinstance(sheets, list) and stored.get("strings", 0) == (searches.strings and list(searches.strings)):
        for entry in sheets[:MOST_SHEETS]:
            if isinstance(entry, list) and [type(number) for number in entry] == [int] * 3:
                crc, size, rows = entry
                if 0 <= rows <= MOST_ROWS:
                    searches.rows[crc, size] = rows
    return searches
