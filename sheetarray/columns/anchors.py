"""Finds where arrays begin in a sheet, and headers whose beginning is damaged.

An array begins at the cells `version`, a version and `ndarray`, one under another or side by side, wherever people
have moved them. What lies within the text of an array is never taken for the beginning of another, and neither is a
name. Four keys of a header in their order, with values between them, that belong to no array are a damaged one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ..elements import Cell, is_blank
from ..errors import Finding, FormatError
from ..linear.header import MAX_HEADER_CELLS, HeaderCutError
from ..linear.parsing import normalize_key, parse_header
from .beginnings import (
    MOST_HEADER,
    CandidateTable,
    are_in_spans,
    find_header_spans,
    find_key_runs,
    find_names_above,
    find_weak_beginnings,
    find_whole_beginnings,
    have_name_above,
    make_candidates,
    may_make_anchors,
)
from .candidates import Candidate, count_word_cells, find_own_version, is_remark, may_cover, name_above, zone_to_fetch
from .distant_names import add_distant_names
from .grid import CellGrid, Orient, column_letters
from .refusals import MOST_ARRAYS
from .sheet import GridSheet, HeaderCells, Zone
from .side_by_side import find_side_by_side
from .words import FIRST_FIELD, Anchor, Words

MOST_BROKEN = 1000  # headers of a sheet that are reported one by one
_CELLS_A_BATCH = 2**18  # cells of headers that are fetched at once
_CANDIDATES_AT_ONCE = 2**12
_FIRST_BATCH = 64  # candidates; where the first is a long text full of the words, the others are never fetched
MOST_BEFORE_DAMAGED = 5  # cells before the first key of a damaged header that may belong to it; one is its name


def find_anchors(sheet: HeaderCells, *, strict: bool = False, most_broken: int = MOST_BROKEN) -> list[Anchor]:
    """Return every anchor of a sheet, in the order in which arrays are written; also those of broken headers.

    If there are more than `MOST_ARRAYS`, some of those beyond are left out: whoever reads refuses so many.

    `most_broken`: after so many broken headers no more is looked at.
    """
    words, strict = sheet.words(), bool(strict)
    searches = words.searches if most_broken == MOST_BROKEN else {}
    if strict not in searches:
        anchors = find_side_by_side(sheet, words) if may_make_anchors(words.codes) else []
        searches[strict] = _Search(sheet, words, strict, most_broken).find_anchors() if anchors is None else anchors
    return list(searches[strict])


def anchors_of_grid(grid: CellGrid) -> list[Anchor]:
    """Find the anchors in rows of cells that are in memory; `find_anchors` does the same for a sheet."""
    return find_anchors(GridSheet(grid))


class _Search:
    """Goes through the candidates of a sheet from top to bottom, and remembers which cells belong to arrays."""

    def __init__(self, sheet: HeaderCells, words: Words, strict: bool, most_broken: int) -> None:
        self._sheet, self._words, self._strict, self._most_broken = sheet, words, strict, most_broken
        self._anchors: list[Anchor] = []
        self._broken = 0
        self._down: dict[int, int] = {}  # column -> the first row below the arrays found in it
        self._across: dict[int, int] = {}  # row -> the first column right of the arrays found in it
        self._taken: dict[Orient, list[tuple[int, int, int]]] = {"columns": [], "rows": []}  # line, first, end

    def find_anchors(self) -> list[Anchor]:
        """Return every anchor, in the order in which arrays are written."""
        for batch in self._iter_batches(self._iter_candidates()):
            if not self._take_batch(batch):
                break
        else:
            self._anchors += self._find_damaged()
        anchors = add_distant_names(self._sheet, self._anchors)
        return sorted(anchors, key=lambda anchor: (anchor.line, anchor.first))

    # Candidates ----------------------------------------------------------------------------------------------

    def _iter_candidates(self) -> Iterator[Candidate]:
        """Yield all candidates, the places where an array may begin, from top to bottom. There may be millions."""
        words, turned = self._words, self._words.transposed
        sides: list[tuple[Orient, Words]] = [("columns", words), ("rows", turned)]
        whole = {orient: side_words.select(find_whole_beginnings(side_words)) for orient, side_words in sides}
        names = {orient: find_names_above(side_words) for orient, side_words in whole.items()}
        headers = {orient: find_header_spans(side_words, whole[orient]) for orient, side_words in sides}
        tables: list[CandidateTable] = []
        for (orient, side_words), (other, _) in zip(sides, reversed(sides), strict=True):
            own, crossing, lying = names[orient], names[other].transposed, headers[other]
            strong = whole[orient]
            is_name = have_name_above(strong, 0, crossing) & have_name_above(strong, 2, crossing)
            doubtful = are_in_spans(strong.rows, strong.columns, lying) | are_in_spans(
                strong.rows + 2, strong.columns, lying
            )
            tables.append(make_candidates(orient, strong, 2, side_words, whole[orient], doubtful)[~is_name])
            for weak, step in find_weak_beginnings(side_words):
                is_name = have_name_above(weak, 0, crossing) | have_name_above(weak, step, crossing)
                is_name |= have_name_above(weak, 0, own) | have_name_above(weak, step, own)
                is_name |= are_in_spans(weak.rows, weak.columns, lying) | are_in_spans(
                    weak.rows + step, weak.columns, lying
                )
                tables.append(make_candidates(orient, weak, step, side_words, whole[orient], is_name)[~is_name])
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
        """Return whether a cell before a candidate belongs to another array."""
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
