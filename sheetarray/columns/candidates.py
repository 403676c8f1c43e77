"""Cells that look like the beginning of an array, and what stands around them."""

from __future__ import annotations

from dataclasses import dataclass

from ..elements import Cell, is_blank
from ..linear.parsing import normalize_key
from .grid import Orient
from .sheet import Zone
from .words import SEMVER, Anchor

MOST_ABOVE = 3  # cells from a name to `ndarray`
_MOST_BEFORE = 5  # cells before an `ndarray` that may be its name, its version, and what was put between
_ENDLESS = 2**40  # cells


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; a frozen one takes three times as long to make
class Candidate:
    """Cells that look like the beginning of an array.

    Attributes:
        row, column: of the first of them.
        orient: which way the list would run.
        step: how many cells further the second of its words stands.
        count: how many cells are looked at for the header.
        doubtful: whether one of its words belongs to what may be the beginning of an array that runs the other way.
    """

    row: int
    column: int
    orient: Orient
    step: int
    count: int
    doubtful: bool

    @property
    def above(self) -> int:
        """The number of cells before it to search for its name: more where `version` itself may have been damaged."""
        first = self.row if self.orient == "columns" else self.column
        return min(first, _MOST_BEFORE if self.step == 1 else 1)


def may_cover(candidate: Candidate, other: Candidate) -> bool:
    """Return whether the header of a candidate may cover the place at which another candidate begins."""
    if candidate.orient == "columns":
        return candidate.column == other.column and other.row < candidate.row + candidate.count
    return candidate.row == other.row and other.column < candidate.column + candidate.count


def is_remark(candidate: Candidate, cells: list[Cell]) -> bool:
    """Return whether a `version` or an `ndarray` is a remark that somebody typed beside another array.

    Without a semver between them the two begin nothing where one of them belongs to an array that runs the other way,
    or where `ndarray` is the name of the array that begins right below.
    """
    first: list[Cell] = [*cells[candidate.above : candidate.above + 5], *[None] * 5]
    _, semver, _, version, other = first[:5]
    if candidate.step != 2 or SEMVER.fullmatch(str(semver)):
        return False
    return candidate.doubtful or (normalize_key(version) == "version" and bool(SEMVER.fullmatch(str(other))))


def find_own_version(above: list[Cell]) -> int | None:
    """Return how many cells the version stands before an `ndarray` without a whole header; None if none does.

    Somebody has overwritten `version`, or put cells between the version and `ndarray`. The older form has neither.
    """
    for distance in range(1, len(above) + 1):
        if SEMVER.fullmatch(str(above[-distance])):
            intact = distance < len(above) and normalize_key(above[-distance - 1]) == "version"
            return distance if distance == 1 or intact else None
    return None


def name_above(cells: list[Cell]) -> str | None:
    """Return the name of a damaged array, by the cells before its first key; None if these do not tell."""
    if len(cells) <= MOST_ABOVE or is_blank(cells[-MOST_ABOVE - 1]):
        return None
    version, semver, ndarray = cells[-MOST_ABOVE:]
    intact = (
        normalize_key(version) == "version"
        or normalize_key(ndarray) == "ndarray"
        or bool(SEMVER.fullmatch(str(semver)))
    )
    return str(cells[-MOST_ABOVE - 1]) if intact else None


def zone_to_fetch(candidate: Candidate) -> Zone:
    """Return the cells to fetch for a candidate: its header, and the cells before it, which may hold its name."""
    above, count = candidate.above, candidate.count + candidate.above
    if candidate.orient == "columns":
        return Zone(candidate.row - above, candidate.column, count, "columns")
    return Zone(candidate.row, candidate.column - above, count, "rows")


def count_word_cells(anchor: Anchor) -> int:
    """Return the number of cells from an anchor on whose words begin no other array: its header, and its text."""
    assert anchor.header is not None
    if anchor.header.dtype.kind not in ("string", "generic"):
        return anchor.start
    return _ENDLESS if anchor.header.part else min(anchor.start + anchor.header.capacity, _ENDLESS)
