"""The paths to the parts of an array, and the names of blobs that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...errors import DTypeError, FormatError
from .blobs import check_name

Path = tuple[str, ...]  # of the fields and parameters that lead to a part


@dataclass(frozen=True, slots=True)
class At:
    """The position of an expression in the array that it belongs to.

    Attributes:
        ident: its id.
        context: which parameter of which class it is, for the rules of compression; "" at the top.
        path: of the fields and parameters that lead to it.
        depth: of the layouts around it.
    """

    ident: int
    context: str
    path: Path
    depth: int

    def problem(self, reason: object) -> DTypeError:
        """Return the error that something cannot be held here."""
        return DTypeError(f"{'.'.join(self.path)}: {reason}" if self.path else str(reason))


class Naming(Protocol):
    """Gives a blob its key."""

    def __call__(self, path: Path, ident: int) -> str:
        """Return the key of the blob that is at a path, and has an id."""


class ByPath:
    """Names blobs by the fields and parameters that lead to them; by their ids where that says nothing or is taken."""

    _LONGEST = 200  # characters

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._taken: set[str] = set()

    def __call__(self, path: Path, ident: int) -> str:
        """Return the key of the blob that is at a path, and has an id."""
        key = self._delimiter.join(path) or "content"
        if len(key) > self._LONGEST or not _holds(key) or key.casefold() in self._taken:
            key = str(ident)
        while key.casefold() in self._taken:
            key += f"{self._delimiter}{ident}"
        self._taken.add(key.casefold())
        return key


def _holds(key: str) -> bool:
    """Return whether a key may be part of a name that people see and readers take."""
    try:
        check_name(key)
    except FormatError:
        return False
    return key.isprintable()
