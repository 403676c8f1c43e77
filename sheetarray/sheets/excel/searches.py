"""What a workbook remembers of searches for arrays: down to which row of a sheet the words of headers stand.

`scan` looks no further in a sheet that is as it was when it was searched, or written: the directory of the package has
the size and the CRC-32 that the record names, and those of the shared strings too, to which cells may refer. Whatever
changes a sheet changes them, and it is searched like any other. `read` and `check` rely on no record.

    {"searches": {"strings": [crc, size], "sheets": [[crc, size, rows], ...]}}    `strings` null without shared strings

A sheet is known by its content alone, whatever its part and its title are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .package.parts import Package
from .reader.cells import MOST_ROWS

KEY = "searches"
MOST_SHEETS = 256  # of which a search is remembered

Content = tuple[int, int]  # the CRC-32 and the size of a part


@dataclass
class Searches:
    """The searches of a workbook's sheets for words of headers.

    Attributes:
        strings: the content of the shared strings at that time; None if there were no shared strings.
        rows: the number of rows down to the last word of a header, by the content of the sheet.
    """

    strings: Content | None = None
    rows: dict[Content, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the searches as the record has them."""
        sheets = [[*content, rows] for content, rows in self.rows.items()]
        return {"strings": self.strings and list(self.strings), "sheets": sheets[:MOST_SHEETS]}


def content_of(package: Package, part: str | None) -> Content | None:
    """Return the content of a part, as the directory of its package says it; None if the package has no such part."""
    if part is None or part not in package:
        return None
    member = package.member(part)
    return member.crc, member.size


def read_searches(record: Mapping[str, Any], package: Package, strings: str | None) -> Searches:
    """Return the searches that a workbook remembers; an empty record if its shared strings have changed since.

    `strings`: the part of the shared strings; None if there are no shared strings.
    """
    known, stored = Searches(content_of(package, strings)), record.get(KEY)
    if isinstance(stored, Mapping) and stored.get("strings", 0) == (known.strings and list(known.strings)):
        known.rows.update(_parse_sheets(stored.get("sheets")))
    return known


def _parse_sheets(sheets: object) -> Iterator[tuple[Content, int]]:
    """Yield the content and the number of rows of each sheet; entries of another form are passed over."""
    for entry in sheets[:MOST_SHEETS] if isinstance(sheets, list) else ():
        if isinstance(entry, list) and len(entry) == 3 and all(type(number) is int for number in entry):
            crc, size, rows = entry
            if 0 <= rows <= MOST_ROWS:
                yield (crc, size), rows
