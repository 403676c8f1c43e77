"""The anchors of arrays that all begin in one row, with whole headers and nothing else in their rows."""

from __future__ import annotations

import numpy as np

from ..elements import Cell, is_blank
from ..errors import Finding, FormatError
from ..linear.header import MAX_HEADER_CELLS, Header
from ..linear.parsing import parse_header
from .grid import column_letters
from .refusals import MOST_ARRAYS
from .sheet import HeaderCells, Zone
from .words import DATA, FIRST_FIELD, LAST_FIELD, NDARRAY, VERSION, Anchor, Words

_WHOLE = np.array([VERSION, NDARRAY, *range(FIRST_FIELD, LAST_FIELD + 1), DATA], np.uint8)  # of a whole header
_MOST_APART = 16  # columns of a sheet for each array that begins in it


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
        header_columns = (columns - begin).tolist()
        rows = [[cells[index] for index in header_columns] for cells in rows]
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
