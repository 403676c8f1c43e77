"""Where headers may begin in a sheet: candidates for anchors, and names far above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from ..header import MAX_DIMENSIONS, MAX_HEADER_CELLS, normalize_key
from .grid import SEMVER, Anchor, Orient
from .sheet import Zone
from .words import DATA, FIRST_FIELD, LAST_FIELD, NDARRAY, NONE, VERSION, WORDS, WordCodes, Words

# Cells that look like the beginning of an array, and what stands around them.

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
    """Return the number of cells from its version to an `ndarray` with which no header begins; None without a version.

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
    """Return the cells to fetch for a candidate: those before it, of which one may be its name, and its header."""
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


# Where arrays may begin, and where a damaged header may stand, as the rows and columns of header words alone tell.
#
# The functions are for lists that run downwards, and take turned words (`Words.transposed`) for those in rows.

MOST_HEADER = 4096  # cells of a header that are looked at; a newer version may have fields that this one skips
DAMAGED_KEYS = 4
CandidateTable = np.ndarray[tuple[int, int], np.dtype[np.int64]]


def may_make_anchors(codes: WordCodes) -> bool:
    """Return whether a sheet with these words may hold an array, whole or damaged, wherever the words stand."""
    kinds = np.bincount(codes, minlength=len(WORDS)) > 0
    return bool(kinds[NDARRAY] or np.count_nonzero(kinds[FIRST_FIELD:]) >= DAMAGED_KEYS)


def find_whole_beginnings(words: Words) -> Mask:
    """Return a mask of the words that are a `version` with an `ndarray` two rows below."""
    whole: Mask = np.zeros(len(words), np.bool_)
    versions = np.flatnonzero(words.codes == VERSION)  # a sheet may be full of other words
    whole[versions] = words.codes_at(words.rows[versions] + 2, words.columns[versions]) == NDARRAY
    return whole


def find_names_above(words: Words) -> Words:
    """Return the cells right above words, which may hold names, under the codes of the words; row 0 has none above."""
    words = words.select(words.rows > 0)
    return Words.from_positions(words.rows - 1, words.columns, words.codes)


def find_header_spans(words: Words, whole: Words) -> CandidateTable:
    """Return the spans of what may be headers, from some words to the next `data`: column, first row, row after the
    last.
    """
    end = words.next_in_column(DATA, whole.rows + 2, whole.columns)
    stop = np.where(end < 0, whole.rows + 3, end) + 1
    spans: CandidateTable = np.stack([whole.columns, whole.rows, stop], axis=1)
    return spans


def find_weak_beginnings(words: Words) -> Iterator[tuple[Words, int]]:
    """Yield words that may be left of a damaged beginning, then those that begin the older form, which has no version;
    with each the number of rows from the first word to the second.
    """
    versions = words.select(words.codes == VERSION)
    weak = words.codes_at(versions.rows + 1, versions.columns) == NDARRAY
    weak &= words.codes_at(versions.rows + 2, versions.columns) != NDARRAY
    yield versions.select(weak), 1
    older = words.select(words.codes == NDARRAY)
    next_ = words.codes_at(older.rows + 1, older.columns)
    older = older.select((next_ >= FIRST_FIELD) & (next_ <= LAST_FIELD))
    for above in (1, 2):
        older = older.select(words.codes_at(older.rows - above, older.columns) != VERSION)
    yield older, 1


def have_name_above(words: Words, step: int, names: Words) -> Mask:
    """Return a mask of the words that have a name `step` rows below them."""
    among: Mask = names.codes_at(words.rows + step, words.columns) != NONE
    return among


def make_candidates(
    orient: Orient, words: Words, step: int, all_words: Words, whole: Words, doubtful: Mask
) -> CandidateTable:
    """Return the candidates that begin at some words, a row of attributes each; `orient` is 1 for "rows", else 0."""
    end = all_words.next_in_column(DATA, words.rows + step, words.columns)
    counts = np.where(end < 0, MAX_HEADER_CELLS, np.minimum(end - words.rows + 1, MOST_HEADER))
    other = whole.next_in_column(VERSION, words.rows + 1, words.columns)
    apart = np.where(other - words.rows == 3, 5, other - words.rows)  # so that the version of the other is seen too
    counts = np.where(other < 0, counts, np.minimum(counts, np.maximum(apart, 3)))
    rows, columns = (words.rows, words.columns) if orient == "columns" else (words.columns, words.rows)
    across, steps = np.full(len(words), orient == "rows"), np.full(len(words), step)
    table: CandidateTable = np.stack(
        [rows, columns, across.astype(np.int64), steps, counts, doubtful.astype(np.int64)], axis=1
    )
    return table


def are_in_spans(lines: Positions, indices: Positions, taken: list[tuple[int, int, int]] | CandidateTable) -> Mask:
    """Return a mask of the cells that lie in some spans of lines.

    `lines`: the column (the row) of each cell. `indices`: its row (its column). `taken`: of each span the column
    (row), the first row (column) and the one after the last; spans that overlap end in the same row (column).
    """
    if not len(taken):
        return np.zeros(len(lines), np.bool_)
    spans = np.asarray(taken, np.int64)
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    starts = (spans[:, 0] << 31) | spans[:, 1]
    index = np.searchsorted(starts, (lines << 31) | indices, side="right") - 1
    known = np.maximum(index, 0)
    inside: Mask = (index >= 0) & (spans[known, 0] == lines) & (indices < spans[known, 2])
    return inside


def find_key_runs(words: Words) -> Iterator[tuple[int, int]]:
    """Yield the row and the column of the first key of each damaged header: of several keys in their order that stand
    close together in one column.
    """
    if len(words) < DAMAGED_KEYS:
        return
    gaps = np.diff(words.columns)
    follows = (np.diff(words.rows) == 0) & (np.diff(words.codes.astype(np.int16)) > 0)
    follows &= gaps <= MAX_DIMENSIONS + 2
    starts = np.flatnonzero(np.concatenate([[True], ~follows]))
    with_value = np.concatenate([[0], np.cumsum(follows & (gaps > 1))])
    ends = np.append(starts[1:], len(words)) - 1
    for start in starts[with_value[ends] - with_value[starts] >= DAMAGED_KEYS - 1].tolist():
        yield int(words.rows[start]), int(words.columns[start])


# The names of arrays that do not stand right above their headers: only blanks are between them.
#
# In workbooks the data of all arrays begin in one row, so that a shorter header has blanks above it, and its name
# above those. Only the first array of a column can have such a name: blanks between two arrays of a column are
# padding, and the cell above them is an element.

MOST_BLANKS = MAX_HEADER_CELLS  # between a name and its header: no header is taller than this one by more
_BEFORE_KEYS = 3  # cells of a header before its first key with a value
_FIRST_LOOK = 16  # cells that are looked at first; most names are among them
_ANCHORS_AT_ONCE = 2**13


class _Zones(Protocol):
    """The only method of a sheet that the search for names needs."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""


def add_distant_names(sheet: _Zones, anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors, named by the nearest cell above that is not blank where the cell right above is.

    That cell is a name only where another array has its name in the same row, and its data begin in the same row: a
    note somewhere above an array without a name is none. A damaged header, of which nobody knows where it begins, gets
    the cell as an alias too.
    """
    across = {anchor.row for anchor in anchors if anchor.orient == "rows"}
    distant = {index: place for index, place in _find_cells_above(sheet, anchors).items() if place[1] not in across}
    if not distant:
        return list(anchors)
    rows: dict[int, dict[int, int | None]] = {}  # by the row of names: where the data of each anchor begin
    for index, anchor in enumerate(anchors):
        if index in distant:
            rows.setdefault(distant[index][1], {})[index] = _data_row(anchor)
        elif anchor.orient == "columns" and (anchor.named or anchor.header is None):
            for row in range(anchor.row - (_BEFORE_KEYS + 1 if anchor.header is None else 1), anchor.row):
                rows.setdefault(row, {})[index] = _data_row(anchor)
    counts = {row: Counter(begins.values()) for row, begins in rows.items()}
    named = list(anchors)
    for index, (name, row) in distant.items():
        own, alike = _data_row(anchors[index]), counts[row]
        others = alike.total() if own is None else alike[own] + alike[None]
        if others > 1:
            anchor = anchors[index]
            aliases = (name, *anchor.aliases) if anchor.aliases else anchor.aliases
            named[index] = replace(anchor, name=name, named=True, blanks=anchor.row - row - 1, aliases=aliases)
    return named


def _data_row(anchor: Anchor) -> int | None:
    """Return the row in which the data of an array begin; None where its header is broken."""
    return None if anchor.header is None else anchor.row + anchor.start


def _find_cells_above(sheet: _Zones, anchors: Sequence[Anchor]) -> dict[int, tuple[str, int]]:
    """Return the text and the row of the nearest cell that is not blank above an anchor, by the index of the anchor;
    anchors without such a cell are left out.
    """
    topmost: dict[int, int] = {}
    for index, anchor in enumerate(anchors):
        if anchor.orient == "columns":
            other = topmost.setdefault(anchor.column, index)
            if anchor.row < anchors[other].row:
                topmost[anchor.column] = index
    nameless = [index for index in topmost.values() if not anchors[index].named and anchors[index].aliases is not None]
    cells_above: dict[int, tuple[str, int]] = {}
    for most in (_FIRST_LOOK, MOST_BLANKS + 1):
        waiting = [index for index in nameless if anchors[index].row > (0 if most == _FIRST_LOOK else _FIRST_LOOK)]
        waiting = [index for index in waiting if index not in cells_above]
        for first in range(0, len(waiting), _ANCHORS_AT_ONCE):
            some = [(index, anchors[index]) for index in waiting[first : first + _ANCHORS_AT_ONCE]]
            counts = [min(anchor.row, most) for _, anchor in some]
            zones = [
                Zone(anchor.row - count, anchor.column, count, "columns")
                for (_, anchor), count in zip(some, counts, strict=True)
            ]
            for (index, anchor), zone, cells in zip(some, zones, sheet.zones(zones), strict=True):
                place = _find_name([*cells, *[None] * (zone.count - len(cells))], damaged=anchor.header is None)
                if place is not None:
                    cells_above[index] = str(cells[place]), zone.row + place
    return cells_above


def _find_name(cells: Sequence[Cell], *, damaged: bool) -> int | None:
    """Return the index of the last cell above blanks; None if no cell has blanks below it.

    Above the first whole key of a damaged header are up to three cells of it, whatever they hold now.
    """
    index = len(cells) - 1
    while damaged and index >= max(0, len(cells) - _BEFORE_KEYS) and not is_blank(cells[index]):
        index -= 1
    if index < 0 or not is_blank(cells[index]):
        return None
    while index >= 0 and (is_blank(cells[index]) or (damaged and _begins_header(cells[index]))):
        index -= 1
    return index if index >= 0 else None


def _begins_header(cell: Cell) -> bool:
    return normalize_key(cell) in ("version", "ndarray") or bool(SEMVER.fullmatch(str(cell)))
