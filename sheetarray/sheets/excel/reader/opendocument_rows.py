"""Reads rows of an OpenDocument table in bulk: those that are as plain as programs write nearly all of them.

A plain cell has a value in an attribute, or one paragraph of text without markup (`opendocument_cells`).
Every rule here is stricter than XML's: whatever it does not cover goes to the parser, row by row.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 19.385 (values).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Mask, Positions
from ...workbooks import MOST_COLUMNS
from .cells import Kinds
from .opendocument_cells import PlainCells, attributes_in, group_by_attributes, read_counts
from .opendocument_forms import OF_ROWS, ROWS_REPEATED, learn_row, match_forms
from .opendocument_runs import LONG_TEXT
from .opendocument_tags import CLOSED, END_ROW, OPEN, ROW, RowTags, find_tags

if TYPE_CHECKING:
    import polars as pl

ROW_TAG, END_OF_ROW = b"<table:table-row", b"</table:table-row>"

_OTHER_REFERENCE = re.compile(rb"&(?!(?:lt|gt|amp|quot|apos);)")  # to a character, or to what XML does not have
_MOST_CELLS = 2**20  # that repetition may make of a block


@dataclass
class PlainRows:
    """The cells of the plain rows in a text, and the places of the odd rows among them.

    Attributes:
        size: the bytes of the text that these rows take.
        rows, columns, kinds, formulas: of each cell; rows count from the first row of the text, columns from 0.
        values: of each cell, text or Float64.
        height: the number of rows, with repeated rows as often as they stand. An odd row counts once.
        counts: for each plain row with cells, the number of cells that repetition makes of it; a long text counts as
            several cells each time that it is repeated.
        odd: of each odd row, its number (counted like `rows`), the byte at which it begins and the byte after it.
    """

    size: int
    rows: Positions
    columns: Positions
    kinds: Kinds
    formulas: Mask
    values: pl.Series
    height: int
    counts: Positions
    odd: list[tuple[int, int, int]]


def read_plain_rows(text: bytes, *, numeric: bool) -> PlainRows | None:
    """Return the cells of some rows; None if the rules cannot be sure of so many that the parser had better read all.

    `text`: from the beginning of a row to the end of one, with the usual prefixes of names. `numeric`: give values as
    Float64 if all cells are numbers that doubles hold for certain.
    """
    tags = find_tags(text)
    bounds = None if tags is None else _find_rows(tags, len(text))
    if tags is None or bounds is None:
        return None
    rows, row_ends = bounds
    ends = tags.starts[row_ends] + len(END_OF_ROW)
    line = np.repeat(np.arange(len(rows)), row_ends - rows + 1)  # the row of each tag
    plain = _mark_plain(tags, line, int(ends[-1]))
    times = _read_row_tags(tags, rows)
    if times is None:
        return None
    kinds = tags.kinds[: len(line)]
    cells = np.flatnonzero(((kinds == OPEN) | (kinds == CLOSED)) & plain[line])
    of = line[cells]
    made = PlainCells(tags, cells)
    columns = np.cumsum(made.repeats) - made.repeats
    columns -= columns[np.searchsorted(of, of)]
    plain[of[~made.sure | ((made.kinds > 0) & (columns + made.repeats > MOST_COLUMNS))]] = False
    odd = np.flatnonzero(~plain)
    if len(odd) > len(rows) // 2 or (times[odd] > 1).any():
        return None
    tops = np.cumsum(times) - times
    keep = np.flatnonzero(plain[of] & (made.kinds > 0))
    counts = np.bincount(of[keep], made.repeats[keep], len(rows)).astype(np.int64)
    if int((counts * times).sum()) > _MOST_CELLS:
        return None
    values = made.values(keep, numeric=numeric and not len(odd))
    if values is None:
        return None
    weights = counts * times
    more = made.repeats[keep] * times[of[keep]] - 1
    if more.any() and str(values.dtype) == "String":
        long = values.str.len_bytes().fill_null(0).to_numpy().astype(np.int64) // LONG_TEXT
        weights += np.bincount(of[keep], more * long, len(rows)).astype(np.int64)
        if int(weights.sum()) > _MOST_CELLS:
            return None
    at_row, at_column, index = tops[of[keep]], columns[keep], None
    if (made.repeats[keep] > 1).any():
        index, across = _repeat_each(np.arange(len(keep)), made.repeats[keep])
        at_row, at_column = at_row[index], at_column[index] + across
    if (times[of[keep]] > 1).any():
        again, down = _repeat_rows(counts, times)
        at_row, at_column = at_row[again] + down, at_column[again]
        index = again if index is None else index[again]
    places = keep if index is None else keep[index]
    lines = list(zip(tops[odd].tolist(), tags.starts[rows[odd]].tolist(), ends[odd].tolist(), strict=True))
    return PlainRows(
        int(ends[-1]),
        at_row,
        at_column,
        made.kinds[places],
        made.formulas[places],
        values if index is None else values.gather(index),
        int(times.sum()),
        weights[counts > 0],
        lines,
    )


def _find_rows(tags: RowTags, size: int) -> tuple[Positions, Positions] | None:
    """Return the tags that begin rows and those that end them, as far as one row follows another from the first tag on.

    None if rows stand within rows, or if other elements stand between them before a quarter of the text.

    `size`: the bytes of the text.
    """
    rows, row_ends = np.flatnonzero(tags.kinds == ROW), np.flatnonzero(tags.kinds == END_ROW)
    if len(rows) != len(row_ends) or not len(rows) or rows[0] or not (rows < row_ends).all():
        return None
    apart = np.flatnonzero(row_ends[:-1] + 1 != rows[1:])
    if len(apart):
        rows, row_ends = rows[: apart[0] + 1], row_ends[: apart[0] + 1]
        if int(tags.starts[row_ends[-1]]) < size // 4:
            return None
    return rows, row_ends


def _mark_plain(tags: RowTags, line: Positions, end: int) -> Mask:
    """Return a mask of the rows whose tags follow each other as in plain rows, without tabs, line ends, odd references.

    `line`: the row of each of the first tags. `end`: the byte after the last of the rows.
    """
    plain = np.ones(int(line[-1]) + 1, np.bool_)
    follow = tags.follow[: len(line)]
    follow[-1] = True
    plain[line[~follow]] = False
    controls = tags.controls[tags.controls < end]
    references = np.array([match.start() for match in _OTHER_REFERENCE.finditer(tags.text, 0, end)], np.int64)
    for places in (controls, references):
        plain[line[np.searchsorted(tags.starts[: len(line)], places, side="right") - 1]] = False
    return plain


def _repeat_each(places: Positions, times: Positions) -> tuple[Positions, Positions]:
    """Return each place as often as `times` says, and for each time its number, from 0."""
    which = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(places, times), which


def _repeat_rows(counts: Positions, times: Positions) -> tuple[Positions, Positions]:
    """Return the cells of rows that are repeated, by their indices, and how many rows further down each lies.

    `counts`: the number of cells in each row.
    """
    lines, down = _repeat_each(np.flatnonzero(counts), times[counts > 0])
    firsts, across = _repeat_each((np.cumsum(counts) - counts)[lines], counts[lines])
    return firsts + across, np.repeat(down, counts[lines])


def _read_row_tags(tags: RowTags, rows: Positions) -> Positions | None:
    """Return the number of times that each row stands; None if the tag of a row is not as programs write it."""
    matched = match_forms(tags, rows, learn_row)
    times = matched.repeats()
    rest = np.flatnonzero(matched.form < 0)
    if not len(rest):
        return times
    own = tags.texts(tags.starts[rows[rest]] + 1, tags.nexts[rows[rest]] - tags.starts[rows[rest]] - 2)
    groups = None if own is None else group_by_attributes(own)
    if own is None or groups is None or own.str.contains("&", literal=True).any():
        return None
    for skeleton, places in groups:
        names = attributes_in(skeleton)
        if names is None or not set(names) <= OF_ROWS:
            return None
        if ROWS_REPEATED in names:
            times[rest[places]], sure = read_counts(own.gather(places), ROWS_REPEATED)
            if not sure.all():
                return None
    return times
