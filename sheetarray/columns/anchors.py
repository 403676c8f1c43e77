"""Where in a sheet arrays begin, and where a header stands whose beginning was damaged.

An array begins at the cells `version`, a version and `ndarray`, one under another or side by side, wherever people
have moved them. What lies within the text of an array is never taken for the beginning of another, and neither is a
name. Four keys of a header in their order, with values between them, that belong to no array are a damaged one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from ..dtypes import Mask, Positions
from ..elements import Cell, is_blank
from ..errors import Finding, FormatError, LimitError
from ..linear.header import MAX_DIMENSIONS, MAX_HEADER_CELLS, Header, HeaderCutError
from ..linear.parsing import normalize_key, parse_header
from .grid import CellGrid, Orient, column_letters
from .sheet import Zone
from .words import DATA, FIRST_FIELD, LAST_FIELD, NDARRAY, NONE, SEMVER, VERSION, WORDS, Anchor, WordCodes, Words

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
_ANCHORS_AT_ONCE = 2**13


def add_distant_names(sheet: HeaderCells, anchors: Sequence[Anchor]) -> list[Anchor]:
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


def _find_cells_above(sheet: HeaderCells, anchors: Sequence[Anchor]) -> dict[int, tuple[str, int]]:
    """Return the text and the row of the nearest cell that is not blank above an anchor, by the index of the anchor;
    anchors without such a cell are left out.
    """
    topmost: dict[int, int] = {}
    for index, anchor in enumerate(anchors):
        if anchor.orient == "columns":
            other = topmost.setdefault(anchor.column, index)
            if anchor.row < anchors[other].row:
                topmost[anchor.column] = index
    nameless = [
        index
        for index in topmost.values()
        if anchors[index].row and not anchors[index].named and anchors[index].aliases is not None
    ]
    cells_above: dict[int, tuple[str, int]] = {}
    for first in range(0, len(nameless), _ANCHORS_AT_ONCE):
        some = nameless[first : first + _ANCHORS_AT_ONCE]
        counts = [min(anchors[index].row, MOST_BLANKS + 1) for index in some]
        zones = [
            Zone(anchors[index].row - count, anchors[index].column, count, "columns")
            for index, count in zip(some, counts, strict=True)
        ]
        for index, zone, cells in zip(some, zones, sheet.zones(zones), strict=True):
            damaged = anchors[index].header is None
            place = _find_name([*cells, *[None] * (zone.count - len(cells))], damaged=damaged)
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


# The anchors of a sheet.

MOST_BROKEN = 1000  # headers of a sheet that are reported one by one
_CELLS_A_BATCH = 2**18  # cells of headers that are fetched at once
_CANDIDATES_AT_ONCE = 2**12
_WHOLE = np.array([VERSION, NDARRAY, *range(FIRST_FIELD, LAST_FIELD + 1), DATA], np.uint8)  # of a whole header
_MOST_APART = 16  # columns of a sheet for each array that begins in it
_FIRST_BATCH = 64  # candidates; where the first is a long text full of the words, the others are never fetched
MOST_ARRAYS = 100_000  # of a file; each takes some 70 microseconds to find and to read
MOST_BEFORE_DAMAGED = 5  # cells before the first key of a damaged header that may belong to it; one is its name


def check_array_count(count: int) -> None:
    """Refuse to write more arrays into a file than are read."""
    if count > MOST_ARRAYS:
        raise LimitError(f"{count:,} arrays, but at most {MOST_ARRAYS:,} can be read from a file: write several files")


def too_many_arrays() -> FormatError:
    """Return the error for a file of more arrays than are read."""
    return FormatError(f"more than {MOST_ARRAYS:,} arrays, the most that are read")


class HeaderCells(Protocol):
    """The cells of a sheet as far as the search for anchors looks at them; a `Sheet` has them all."""

    title: str | None

    def words(self) -> Words:
        """Return every cell that holds a word of a header."""

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""


def find_anchors(sheet: HeaderCells, *, strict: bool = False, most_broken: int = MOST_BROKEN) -> list[Anchor]:
    """Return every anchor of a sheet, in the order in which arrays are written; also those of broken headers.

    If there are more than `MOST_ARRAYS`, some of those beyond are left out: whoever reads refuses so many.

    `most_broken`: after so many broken headers no more is looked at.
    """
    words, strict = sheet.words(), bool(strict)
    known = words.searches if most_broken == MOST_BROKEN else {}
    if strict not in known:
        anchors = find_side_by_side(sheet, words)
        known[strict] = _Search(sheet, words, strict, most_broken).find_anchors() if anchors is None else anchors
    return list(known[strict])


def anchors_of_grid(grid: CellGrid) -> list[Anchor]:
    """Return the anchors in rows of cells that are in memory; `find_anchors` does the same for a sheet."""
    return find_anchors(_GridSheet(grid))


def find_side_by_side(sheet: HeaderCells, words: Words) -> list[Anchor] | None:
    """Return the anchors of arrays that all begin in one row, with whole headers and nothing but these words around.

    Most sheets are like that, and may hold thousands of arrays: a search through single cells takes ten times as long.

    It returns the anchors, from left to right; None for any other sheet.
    """
    first = int(words.rows[0]) if len(words) else 0
    columns = words.columns[words.codes == VERSION]
    if not len(columns) or len(words) != len(columns) * len(_WHOLE) or (words.codes[: len(columns)] != VERSION).any():
        return None
    if int(words.rows[len(columns) - 1]) != first:
        return None
    order = np.argsort(words.columns, kind="stable")
    shape = (len(columns), len(_WHOLE))
    codes, places = words.codes[order].reshape(shape), words.rows[order].reshape(shape)
    if (codes != _WHOLE).any() or (words.columns[order].reshape(shape) != columns[:, None]).any():
        return None
    columns, places = columns[: MOST_ARRAYS + 1], places[: MOST_ARRAYS + 1]
    last = int(places[:, -1].max())
    if (places[:, 1] != first + 2).any() or last - first >= MAX_HEADER_CELLS:
        return None
    begin, end = int(columns[0]), int(columns[-1]) + 1
    if end - begin > _MOST_APART * len(columns):
        return None
    top = max(first - 1, 0)
    rows = [
        [*cells, *[None] * (end - begin - len(cells))]
        for cells in sheet.zones([Zone(row, begin, end - begin, "rows") for row in range(top, last + 1)])
    ]
    if end - begin > len(columns):
        kept = (columns - begin).tolist()
        rows = [[cells[index] for index in kept] for cells in rows]
    names = rows.pop(0) if first else []
    if not all(map(str.strip, names) if set(map(type, names)) <= {str} else [not is_blank(name) for name in names]):
        return None
    headers = _read_headers(rows, (places[:, -1] - first + 1).tolist())
    if headers is None:
        return None
    names = names or [column_letters(column) for column in columns.tolist()]
    title, named = sheet.title, first > 0
    return [
        Anchor(first, column, "columns", str(name), header, start, None, (), title, named)
        for column, name, (header, start) in zip(columns.tolist(), names, headers, strict=True)
    ]


def _read_headers(rows: list[list[Cell]], ends: list[int]) -> list[tuple[Header, int]] | None:
    """Return the headers in rows of cells, with the number of cells of each; None unless all are whole and usual.

    `rows`: of all headers, from `version` on. `ends`: the number of rows that each header takes.
    """
    varied = [cells for cells in rows if type(cells[0]) is not str or cells.count(cells[0]) < len(cells)]
    if bool in set().union(*[map(type, cells) for cells in varied]):
        return None  # 1 and True are equal, but no header takes one for the other
    keys: list[tuple[Cell, ...]] = list(zip(ends, *varied, strict=True))
    headers: dict[tuple[Cell, ...], tuple[Header, int]] = {}
    for index, key in enumerate(keys):
        if key in headers:
            continue
        notes: list[Finding] = []
        try:
            headers[key] = parse_header([cells[index] for cells in rows[: ends[index]]], note=notes.append)
        except FormatError:
            return None
        if notes or headers[key][0].part is not None or headers[key][1] != ends[index]:
            return None
    return [headers[key] for key in keys]


class _GridSheet:
    """Rows of cells that are in memory, with those attributes of a sheet that the search for anchors uses."""

    title: str | None = None

    def __init__(self, grid: CellGrid) -> None:
        self.grid = grid

    def words(self) -> Words:
        """Return every cell that holds a word of a header."""
        return Words.from_grid(self.grid)

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone."""
        return [cells_of_zone(self.grid, zone) for zone in zones]


def cells_of_zone(grid: CellGrid, zone: Zone) -> list[Cell]:
    """Return the cells of a zone of a grid, blanks where the grid has no cell; it may end with the grid."""
    if zone.orient == "rows":
        return list(grid[zone.row][zone.column : zone.column + zone.count]) if zone.row < len(grid) else []
    rows = grid[zone.row : zone.row + zone.count]
    return [cells[zone.column] if zone.column < len(cells) else None for cells in rows]


class _Search:
    """Goes over the candidates of a sheet from above to below, and knows which cells belong to an array already."""

    def __init__(self, sheet: HeaderCells, words: Words, strict: bool, most_broken: int) -> None:
        self._sheet, self._words, self._strict, self._most_broken = sheet, words, strict, most_broken
        self._anchors: list[Anchor] = []
        self._broken = 0
        self._down: dict[int, int] = {}  # column -> the first row below the arrays found in it
        self._across: dict[int, int] = {}  # row -> the first column right of the arrays found in it
        self._taken: dict[Orient, list[tuple[int, int, int]]] = {"columns": [], "rows": []}  # line, first, end

    def find_anchors(self) -> list[Anchor]:
        """Return every anchor, in the order in which arrays are written."""
        if not may_make_anchors(self._words.codes):
            return []
        for batch in self._iter_batches(self._iter_candidates()):
            if not self._take_batch(batch):
                break
        else:
            self._anchors += self._find_damaged()
        anchors = add_distant_names(self._sheet, self._anchors)
        return sorted(anchors, key=lambda anchor: (anchor.line, anchor.first))

    # Candidates ----------------------------------------------------------------------------------------------

    def _iter_candidates(self) -> Iterator[Candidate]:
        """Yield everything that may be the beginning of an array, from above to below; there may be millions."""
        words, turned = self._words, self._words.transposed
        sides: list[tuple[Orient, Words]] = [("columns", words), ("rows", turned)]
        whole = {orient: some.select(find_whole_beginnings(some)) for orient, some in sides}
        names = {orient: find_names_above(some) for orient, some in whole.items()}
        headers = {orient: find_header_spans(some, whole[orient]) for orient, some in sides}
        tables: list[CandidateTable] = []
        for (orient, some), (other, _) in zip(sides, reversed(sides), strict=True):
            own, crossing, lying = names[orient], names[other].transposed, headers[other]
            strong = whole[orient]
            is_name = have_name_above(strong, 0, crossing) & have_name_above(strong, 2, crossing)
            doubtful = are_in_spans(strong.rows, strong.columns, lying) | are_in_spans(
                strong.rows + 2, strong.columns, lying
            )
            tables.append(make_candidates(orient, strong, 2, some, whole[orient], doubtful)[~is_name])
            for weak, step in find_weak_beginnings(some):
                is_name = have_name_above(weak, 0, crossing) | have_name_above(weak, step, crossing)
                is_name |= have_name_above(weak, 0, own) | have_name_above(weak, step, own)
                is_name |= are_in_spans(weak.rows, weak.columns, lying) | are_in_spans(
                    weak.rows + step, weak.columns, lying
                )
                tables.append(make_candidates(orient, weak, step, some, whole[orient], is_name)[~is_name])
        table = np.concatenate(tables)
        table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
        for first in range(0, len(table), _CANDIDATES_AT_ONCE):
            for row, column, across, step, count, doubtful in table[first : first + _CANDIDATES_AT_ONCE].tolist():
                yield Candidate(row, column, "rows" if across else "columns", step, count, bool(doubtful))

    def _iter_batches(self, candidates: Iterator[Candidate]) -> Iterator[list[Candidate]]:
        """Yield the candidates that no array covers so far, in batches of a bounded number of cells."""
        batch: list[Candidate] = []
        cells, most, cut_short = 0, _FIRST_BATCH, 0
        for candidate in candidates:
            if self._is_covered(candidate):
                continue
            if batch and (candidate.row, candidate.column) != (batch[-1].row, batch[-1].column):
                full = len(batch) >= most or cells > _CELLS_A_BATCH
                if full or (cut_short < self._most_broken and may_cover(batch[-1], candidate)):
                    yield batch
                    cut_short += not full
                    batch, cells, most = [], 0, most * 8 if full else most
                    if self._is_covered(candidate):
                        continue
            batch.append(candidate)
            cells += candidate.count
        if batch:
            yield batch

    def _is_covered(self, candidate: Candidate) -> bool:
        """Return whether a word of a candidate belongs to an array that begins further up, or further to the left."""
        down, across = self._down, self._across
        row, column = candidate.row, candidate.column
        if row < down.get(column, 0) or (across and column < across.get(row, 0)):
            return True
        if candidate.orient == "columns":  # the second word stands below the first
            return column < across.get(row + candidate.step, 0)
        return row < down.get(column + candidate.step, 0)

    # Headers -------------------------------------------------------------------------------------------------

    def _take_batch(self, batch: list[Candidate]) -> bool:
        """Read the headers of candidates; False where there are so many broken ones that no more are looked at."""
        zones = [zone_to_fetch(candidate) for candidate in batch]
        waiting: tuple[Candidate, Anchor] | None = None  # broken down its column; it may lie in a row instead
        for candidate, cells in zip(batch, self._sheet.zones(zones), strict=True):
            if waiting and (waiting[0].row, waiting[0].column) != (candidate.row, candidate.column):
                self._add_anchor(*waiting)
                waiting = None
            if self._is_covered(candidate):
                continue
            anchor = self._read_anchor(candidate, cells)
            if (
                isinstance(anchor.error, HeaderCutError) and candidate.count < MAX_HEADER_CELLS
            ):  # at a value that reads `data`
                (cells,) = self._sheet.zones([zone_to_fetch(replace(candidate, count=MAX_HEADER_CELLS))])
                anchor = self._read_anchor(candidate, cells)
            if anchor.header is None and is_remark(candidate, cells):
                continue
            if anchor.header is not None:
                waiting = None
                self._add_anchor(candidate, anchor)
            elif waiting is None or waiting[0].step < candidate.step:
                waiting = candidate, anchor
            if self._broken >= self._most_broken or len(self._anchors) > MOST_ARRAYS:
                return False
        if waiting:
            self._add_anchor(*waiting)
        return self._broken < self._most_broken

    def _read_anchor(self, candidate: Candidate, cells: list[Cell]) -> Anchor:
        """Read the header of a candidate; the cell before it is its name, unless it belongs to another array."""
        row, column, orient = candidate.row, candidate.column, candidate.orient
        count = candidate.above
        above, cells = cells[:count], cells[count:]
        title: Cell = above[-1] if above and not self._is_taken(candidate, 1) else None
        version = find_own_version(above) if normalize_key(cells[0]) == "ndarray" else None
        if version is not None and self._is_taken(candidate, version):
            version = None
        elif version is not None:
            place = version + 2
            title = above[-place] if place <= len(above) and not self._is_taken(candidate, place) else None
        named = not is_blank(title)
        name = str(title) if named else column_letters(column) if orient == "columns" else str(row + 1)
        make = partial(Anchor, row, column, orient, name, title=self._sheet.title, named=named)
        anchor = make()
        notes: list[Finding] = []
        try:
            if version is not None:
                raise FormatError("expected 'version' two cells before 'ndarray'", location=anchor.address(-2))
            header, start = parse_header(cells, strict=self._strict, address=anchor.address, note=notes.append)
        except FormatError as error:
            if isinstance(error, HeaderCutError) and len(cells) >= MOST_HEADER:
                error.reason = f"the header has no 'data' within {MOST_HEADER} cells"
            return make(error=error.with_traceback(None))  # whose frames have the sheet
        return make(header=header, start=start, notes=tuple(notes))

    def _is_taken(self, candidate: Candidate, above: int) -> bool:
        """Return whether the cell that stands so many cells before a candidate belongs to another array."""
        row, column = candidate.row, candidate.column
        row, column = (row - above, column) if candidate.orient == "columns" else (row, column - above)
        return row < self._down.get(column, 0) or column < self._across.get(row, 0)

    def _add_anchor(self, candidate: Candidate, anchor: Anchor) -> None:
        """Add an anchor, and remember which cells it takes."""
        self._anchors.append(anchor)
        lines = self._down if anchor.orient == "columns" else self._across
        line, first = (anchor.column, anchor.row) if anchor.orient == "columns" else (anchor.row, anchor.column)
        count = candidate.count if anchor.header is None else count_word_cells(anchor)
        lines[line] = max(lines.get(line, 0), first + count)
        self._taken[anchor.orient].append((line, first, first + count))
        if anchor.header is None:
            self._broken += 1
            if self._broken == self._most_broken:
                reason = f"more than {self._most_broken} headers are broken: those after this one were not checked"
                error = FormatError(reason, location=anchor.address(0))
                self._anchors.append(replace(anchor, error=error, aliases=None))

    # Damaged headers -----------------------------------------------------------------------------------------

    def _find_damaged(self) -> Iterator[Anchor]:
        """Yield the headers whose beginning was damaged: keys in their order that belong to no array."""
        words = self._words.select(self._words.codes >= FIRST_FIELD)
        names = [
            (anchor.row - 1, anchor.column) if anchor.orient == "columns" else (anchor.row, anchor.column - 1)
            for anchor in self._anchors
        ]
        free = ~are_in_spans(words.columns, words.rows, self._taken["columns"])
        free &= ~are_in_spans(words.rows, words.columns, self._taken["rows"])
        if names:
            rows, columns = np.array(names, np.int64).T
            inside = (rows >= 0) & (columns >= 0)
            free &= ~np.isin(words.positions, (rows[inside] << 31) | columns[inside])
        words = words.select(free)
        damaged: list[tuple[Orient, int, int]] = [
            ("columns", row, column) for column, row in find_key_runs(words.transposed)
        ]
        damaged += [("rows", row, column) for row, column in find_key_runs(words)]
        for orient, row, column in damaged[:MOST_BROKEN]:
            yield self._damaged_anchor(orient, row, column)

    def _damaged_anchor(self, orient: Orient, row: int, column: int) -> Anchor:
        """Return the anchor of a damaged header, from its first intact key."""
        anchor = Anchor(row, column, orient, column_letters(column), title=self._sheet.title)
        before = min(row if orient == "columns" else column, MOST_BEFORE_DAMAGED)
        top, left = (row - before, column) if orient == "columns" else (row, column - before)
        (cells,) = self._sheet.zones([Zone(top, left, before + 1, orient)])
        key = cells[-1] if cells else ""
        error = FormatError(
            f"a header without its first cells: {str(key).strip()!r:.40} and other keys, but not 'version', 1.0.0 and "
            "'ndarray' before them",
            location=anchor.address(0),
            hint="were cells of the header overwritten or deleted? put them back",
        )
        aliases = tuple(str(cell) for cell in cells[:-1] if not is_blank(cell))
        name = name_above(cells[:-1])
        return replace(anchor, error=error, aliases=aliases, name=name or anchor.name, named=name is not None)
