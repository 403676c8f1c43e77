"""Rows of an OpenDocument table in bulk: those whose cells are as plain as programs write nearly all of them.

A plain cell has a value in an attribute, or one paragraph of text without markup (`opendocument_cells`).
Every rule here is stricter than XML's: whatever it does not cover goes to the parser, row by row.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 19.385 (values).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Mask, Positions
from .cells import MOST_COLUMNS, Kinds
from .opendocument_cells import PlainCells, attributes_in, group_by_attributes, read_counts
from .opendocument_forms import OF_ROWS, ROWS_REPEATED, learn_row, match_forms
from .opendocument_runs import LONG_TEXT
from .opendocument_tags import CLOSED, END_ROW, OPEN, ROW, RowTags, find_tags

if TYPE_CHECKING:
    import polars as pl

ROW_TAG, END_OF_ROW = b"<table:table-row", b"</table:table-row>"

_MOST_CELLS = 2**20  # that repetition may make of a block


@dataclass
class PlainRows:
    """The cells of some rows, and the rows that are not plain.

    Attributes:
        size: bytes that these rows take.
        rows, columns, kinds, formulas: of each cell.
        values: text.
        height: how many rows there are, repetition included.
        counts: for each plain row that has cells, how many are made of it; a long text counts as many whenever it comes
            again.
        odd: of each other row: which it is, and its first and last byte. The height does not count its repetition.
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
    """Return the cells of rows; None where the rules cannot be sure of any.

    Args:
        text: from the beginning of a row to the end of one, with the usual prefixes of names.
        numeric: give values as Float64 where all cells are numbers of which no digit counts.
    """
    tags = find_tags(text)
    if tags is None:
        return None
    rows, row_ends = np.flatnonzero(tags.kinds == ROW), np.flatnonzero(tags.kinds == END_ROW)
    if len(rows) != len(row_ends) or not len(rows) or rows[0] or not (rows < row_ends).all():
        return None
    apart = np.flatnonzero(row_ends[:-1] + 1 != rows[1:])
    if len(apart):  # other elements between rows, or rows within rows
        rows, row_ends = rows[: apart[0] + 1], row_ends[: apart[0] + 1]
        if int(tags.starts[row_ends[-1]]) < len(text) // 4:
            return None
    count, ends = int(row_ends[-1]) + 1, tags.starts[row_ends] + len(END_OF_ROW)
    line = np.repeat(np.arange(len(rows)), row_ends - rows + 1)
    plain = np.ones(len(rows), np.bool_)
    follow = tags.follow[:count]
    follow[-1] = True
    plain[line[~follow]] = False
    controls = tags.controls[tags.controls < int(ends[-1])]
    plain[line[np.searchsorted(tags.starts[:count], controls, side="right") - 1]] = False
    times = _read_row_tags(tags, rows)
    if times is None:
        return None
    kinds = tags.kinds[:count]
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
    worth = counts * times
    more = made.repeats[keep] * times[of[keep]] - 1
    if more.any() and str(values.dtype) == "String":
        long = values.str.len_bytes().fill_null(0).to_numpy().astype(np.int64) // LONG_TEXT
        worth += np.bincount(of[keep], more * long, len(rows)).astype(np.int64)
        if int(worth.sum()) > _MOST_CELLS:
            return None
    places = keep
    at_row, at_column, index = tops[of[keep]], columns[keep], None
    if (made.repeats[keep] > 1).any():
        index, across = _repeat_each(np.arange(len(keep)), made.repeats[keep])
        at_row, at_column, places = at_row[index], at_column[index] + across, keep[index]
    if (times[of[keep]] > 1).any():
        again, down = _repeat_rows(counts, times)
        at_row, at_column, places = at_row[again] + down, at_column[again], places[again]
        index = again if index is None else index[again]
    lines = list(zip(tops[odd].tolist(), tags.starts[rows[odd]].tolist(), ends[odd].tolist(), strict=True))
    return PlainRows(
        int(ends[-1]),
        at_row,
        at_column,
        made.kinds[places],
        made.formulas[places],
        values if index is None else values.gather(index),
        int(times.sum()),
        worth[counts > 0],
        lines,
    )


def _repeat_each(places: Positions, times: Positions) -> tuple[Positions, Positions]:
    """Return each place as often as it comes, and which time it is, from 0."""
    which = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(places, times), which


def _repeat_rows(counts: Positions, times: Positions) -> tuple[Positions, Positions]:
    """Return the cells of rows that are repeated, by their indices, and how many rows further down each lies.

    Args:
        counts: of the cells of each row.
        times: how often each row comes.
    """
    lines, down = _repeat_each(np.flatnonzero(counts), times[counts > 0])
    firsts, across = _repeat_each((np.cumsum(counts) - counts)[lines], counts[lines])
    return firsts + across, np.repeat(down, counts[lines])


def _read_row_tags(tags: RowTags, rows: Positions) -> Positions | None:
    """Return the number of times that each row stands; None if that is not sure of every row."""
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
