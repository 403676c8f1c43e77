"""Where arrays may begin, and where a damaged header may stand, as the rows and columns of header words alone tell.

The functions are for lists that run downwards, and take turned words (`Words.transposed`) for those in rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dtypes import Mask, Positions
from ..linear.header import MAX_DIMENSIONS, MAX_HEADER_CELLS
from .grid import Orient
from .words import DATA, FIRST_FIELD, LAST_FIELD, NDARRAY, NONE, VERSION, WORDS, WordCodes, Words

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
    """Return a mask of the words that stand `step` rows above a name."""
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
    """Return a mask of the cells that lie in one of some spans, each a stretch of one row or column.

    `lines`: the column (the row) of each cell. `indices`: its row (its column). `taken`: of each span the column
    (row), the first row (column) and the one after the last; spans that overlap end in the same row (column).
    """
    if not len(taken):
        return np.zeros(len(lines), np.bool_)
    spans = np.asarray(taken, np.int64)
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    starts = (spans[:, 0] << 31) | spans[:, 1]
    index = np.searchsorted(starts, (lines << 31) | indices, side="right") - 1
    span = np.maximum(index, 0)
    inside: Mask = (index >= 0) & (spans[span, 0] == lines) & (indices < spans[span, 2])
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
