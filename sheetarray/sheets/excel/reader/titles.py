"""The sheets that a workbook lists."""

from __future__ import annotations

from ....errors import FormatError

_MOST = 10_000


class Titles:
    """Titles of sheets, and where each is.

    Args:
        part: the list, for messages; None where it is no part of its own.

    Attributes:
        places: by title, in the order listed.
    """

    def __init__(self, part: str | None = None) -> None:
        self._part = part
        self.places: dict[str, str] = {}
        self._seen: set[str] = set()
        self._used: set[str] = set()

    def add(self, title: str, place: str) -> None:
        """Add a sheet; raise a FormatError if its title is taken.

        Raises:
            FormatError: there is one of that title, compared without case, or at that place, or there are too many.
        """
        if title.casefold() in self._seen:
            raise FormatError(f"two sheets have the title {title!r:.80}", location=self._part)
        if place in self._used:
            raise FormatError(f"the sheet {title!r:.80} is another one as well", location=self._part)
        if len(self.places) >= _MOST:
            raise FormatError(f"more than {_MOST} sheets", location=self._part)
        self._seen.add(title.casefold())
        self._used.add(place)
        self.places[title] = place
