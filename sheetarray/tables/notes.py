"""Remarks on what was accepted while a table was read: one warning of each kind, at the caller's line."""

from __future__ import annotations

from ..errors import warn_caller


class Notes:
    """The remarks on a table, by kind.

    Args:
        title: of the sheet, for addresses; None where there is only one.
    """

    def __init__(self, title: str | None = None) -> None:
        self._title = title
        self._kinds: dict[str, list[tuple[str, str]]] = {}

    def add(self, kind: str, message: str, address: str, count: int = 1) -> None:
        """Note something that was accepted; the warning has the first message of each kind, and the count of others."""
        self._kinds.setdefault(kind, []).append((message, address))
        self._kinds[kind] += [("", "")] * (count - 1)

    def warn(self) -> None:
        """Issue the warnings."""
        for notes in self._kinds.values():
            message, address = notes[0]
            location = address if self._title is None else f"{self._title}!{address}"
            more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
            warn_caller(f"{location}: {message}{more}")
