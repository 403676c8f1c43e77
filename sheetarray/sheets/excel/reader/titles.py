"""The titles of the sheets that a workbook lists, and where each sheet is."""

from __future__ import annotations

from ....errors import FormatError

MOST_SHEETS = 10_000  # that a workbook may have
MOST_TABLES = 2_500  # sheets of an .ods or an old workbook, each of which takes 3 ms


class Titles:
    """The titles of the worksheets of a workbook, and where each is.

    `part`: the part of the package that lists them, for messages; None if the workbook is no package.

    Attributes:
        places: where each worksheet is, by its title, in the order listed: the name of its part, or its first byte.
    """

    def __init__(self, part: str | None = None) -> None:
        self._part = part
        self.places: dict[str, str] = {}
        self._seen: set[str] = set()
        self._used: set[str] = set()

    def add(self, title: str, place: str) -> None:
        """Add a sheet; another one of its title, compared without case, or of its place, is refused."""
        if title.casefold() in self._seen:
            raise FormatError(f"two sheets have the title {title!r:.80}", location=self._part)
        if place in self._used:
            raise FormatError(f"the sheet {title!r:.80} refers to the part of another sheet", location=self._part)
        if len(self.places) >= MOST_SHEETS:
            raise FormatError(f"more than {MOST_SHEETS} sheets", location=self._part)
        self._seen.add(title.casefold())
        self._used.add(place)
        self.places[title] = place
