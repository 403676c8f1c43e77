"""What a workbook remembers of searches for arrays: down to which row of a sheet the words of headers stand.

`scan` looks no further in a sheet that is as it was when it was searched, or written: the directory of the package has
the size and the CRC-32 that the record names, and those of the shared strings too, to which cells may refer. Whatever
changes a sheet changes them, and it is searched like any other. `read` and `check` rely on no record.

    {"searches": {"strings": [crc, size], "sheets": [[crc, size, rows], ...]}}    `strings` null where there are none

A sheet is known by its content alone, whatever its part and its title are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .package.parts import Package

KEY = "searches"
MOST_SHEETS = 256  # that are remembered
_MOST_ROWS = 2**20

Content = tuple[int, int]  # the CRC-32 and the size of a part


@dataclass
class Searches:
    """The searches of a workbook.

    Attributes:
        strings: what its shared strings are; None where it has none.
        rows: how many rows of a sheet hold words of headers, by what the sheet is.
    """

    strings: Content | None = None
    rows: dict[Content, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the searches as the record has them."""
        sheets = [[*content, rows] for content, rows in self.rows.items()]
        return {"strings": self.strings and list(self.strings), "sheets": sheets[:MOST_SHEETS]}


def content_of(package: Package, part: str | None) -> Content | None:
    """Return the content of a part, as the directory of its package names it, or None."""
    if part is None or part not in package:
        return None
    member = package.member(part)
    return member.crc, member.size


def read_searches(record: Mapping[str, Any], package: Package, strings: str | None) -> Searches:
    """Return the searches that a workbook remembers; none where its shared strings are others.

    Args:
        record: of the workbook.
        package: in which it is.
        strings: the part of the shared strings.
    """
    known, says = Searches(content_of(package, strings)), record.get(KEY)
    if isinstance(says, Mapping) and says.get("strings", 0) == (known.strings and list(known.strings)):
        known.rows.update(_parse_sheets(says.get("sheets")))
    return known


def _parse_sheets(sheets: object) -> Iterator[tuple[Content, int]]:
    """Yield what is known of sheets; what is no entry of ours is passed over."""
    for entry in sheets[:MOST_SHEETS] if isinstance(sheets, list) else ():
        if isinstance(entry, list) and len(entry) == 3 and all(type(number) is int for number in entry):
            crc, size, rows = entry
            if 0 <= rows <= _MOST_ROWS:
                yield (crc, size), rows
