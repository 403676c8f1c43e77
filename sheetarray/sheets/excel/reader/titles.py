"""The titles of the sheets that a workbook lists, and where each sheet is."""

from __future__ import annotations

from collections.abc import Iterable

from ....errors import FormatError

MOST_SHEETS = 10_000  # that a workbook may have
MOST_TABLES = 2_500  # sheets of an .ods or an old workbook, each of which takes 3 ms


def place_sheets(sheets: Iterable[tuple[str, str]], part: str | None = None) -> dict[str, str]:
    """Return where each worksheet is, by its title; refuse two of one title, compared without case, or of one place.

    `sheets`: in the order listed, the titles, and the names of parts, or whatever else tells sheets apart. `part`: that
    which lists them, for messages; None if the workbook is no package.
    """
    places: dict[str, str] = {}
    titles, used = set[str](), set[str]()
    for title, place in sheets:
        if title.casefold() in titles:
            raise FormatError(f"two sheets have the title {title!r:.80}", location=part)
        if place in used:
            raise FormatError(f"the sheet {title!r:.80} refers to the part of another sheet", location=part)
        if len(places) >= MOST_SHEETS:
            raise FormatError(f"more than {MOST_SHEETS} sheets", location=part)
        titles.add(title.casefold())
        used.add(place)
        places[title] = place
    return places
