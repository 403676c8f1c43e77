"""Remembers the header that was read last: very many arrays of a file may have the same one, which is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..elements import Cell
from .fields import Header


@dataclass(frozen=True, slots=True)
class _KnownHeader:
    """A header that was read without a warning.

    Attributes:
        strict: the option with which it was read.
        cells: its cells, up to the first data cell.
        kinds: the types of the cells: 1 and True are equal, but no header takes one for the other.
        header: made of the cells.
    """

    strict: bool
    cells: list[Cell]
    kinds: list[type]
    header: Header


_last: _KnownHeader | None = None  # one object, so that another thread sees the old one or the new one whole


def recall_header(cells: Sequence[Cell], strict: bool) -> tuple[Header, int] | None:
    """Return the header of the same cells as last time, and the index of the first data cell; None for other cells."""
    known = _last
    if known is None or known.strict != strict:
        return None
    start = len(known.cells)
    head = list(cells[:start])
    same = list(map(type, head)) == known.kinds and head == known.cells
    return (known.header, start) if same else None


def remember_header(cells: Sequence[Cell], strict: bool, header: Header) -> None:
    """Keep a header that was read without a warning.

    Args:
        cells: its cells, up to the first data cell.
        strict: the option with which it was read.
        header: made of the cells.
    """
    global _last
    _last = _KnownHeader(strict, list(cells), list(map(type, cells)), header)
