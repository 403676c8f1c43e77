"""The titles of the sheets that a workbook lists, and where each sheet is."""

from __future__ import annotations

from collections.abc import Mapping

from ....errors import FormatError
from ..package.relations import Relation

_MOST = 10_000


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
        """Add a sheet.

        Raises:
            FormatError: a sheet has that title, compared without case, or that place already, or there are too many.
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

    def add_related(self, title: str, id_: str | None, relations: Mapping[str, Relation]) -> None:
        """Add a sheet that the list names by the id of a relation, if it is a worksheet.

        `id_`: of the relation to the sheet's part; none for a module of macros that was kept from Excel 95.
        `relations`: of the list, by their ids.

        Raises:
            FormatError: as for `add`; or no part of the package has that id.
        """
        if not id_:
            return
        relation = relations.get(id_)
        if relation is None or relation.target is None:
            raise FormatError(f"the sheet {title!r:.80} refers to no part of the package", location=self._part)
        if relation.kind == "worksheet":
            self.add(title, relation.target)
