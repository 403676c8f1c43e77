"""Rows of an OpenDocument table in bulk: those whose cells are as plain as programs write nearly all of them.

A plain cell has a value in an attribute, or one paragraph of text without markup. What is a tag and what is text is
found as in `tags`; the attributes of all cells are told apart by their names, of which a document has a few sets.
Every rule here is stricter than XML's: whatever it does not cover goes to the parser, row by row.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 19.385 (values).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Mask, Positions
from .cells import BOOLEAN, MOMENT, MOST_COLUMNS, NUMBER, TEXT, Kinds
from .texts import all_without_entities

if TYPE_CHECKING:
    import polars as pl

ROW_TAG, END_OF_ROW = b"<table:table-row", b"</table:table-row>"

_OTHER, _ROW, _END_ROW, _OPEN, _CLOSED, _END_CELL, _P, _END_P = range(8)
_FOLLOWS = np.zeros((8, 8), np.bool_)  # which tag may come after which
for _first, _next in (
    (_ROW, (_OPEN, _CLOSED)),
    (_OPEN, (_P,)),
    (_P, (_END_P,)),
    (_END_P, (_END_CELL,)),
    (_END_CELL, (_OPEN, _CLOSED, _END_ROW)),
    (_CLOSED, (_OPEN, _CLOSED, _END_ROW)),
    (_END_ROW, (_ROW,)),
):
    _FOLLOWS[_first, list(_next)] = True
_LESS, _GREATER, _SLASH = b"<>/"
_SPACE, _NO_CHARACTER, _INSTRUCTIONS = 0x20, 0xEF, list(b"!?")  # U+FFFE and U+FFFF begin with the same byte as others
_LINE_ENDS = list(b"\t\n\r")
_VALUE = r'="(?:[^"a-z]|of:|ce)[^"]*"'  # of an attribute, which may be another one in each cell
_SKELETON = re.compile(r"table:table-(?:cell|row)((?: [a-z]+:[a-z-]+=(?:\"[a-z][^\"]*)?\")*) ?/?")
_ATTRIBUTE = re.compile(r" ([a-z]+:[a-z-]+)=(?:\"([a-z][^\"]*))?\"")
_REPEATS = {_ROW: "table:number-rows-repeated", _OPEN: "table:number-columns-repeated"}
_OF_ROWS = {"table:style-name", "table:default-cell-style-name", _REPEATS[_ROW]}
_TYPES = {
    "float": (NUMBER, "office:value"),
    "percentage": (NUMBER, "office:value"),
    "currency": (NUMBER, "office:value"),
    "boolean": (BOOLEAN, "office:boolean-value"),
    "date": (MOMENT, "office:date-value"),
    "string": (TEXT, ""),
    "none": (0, ""),
}
_OF_CELLS = {
    *("table:style-name", "table:content-validation-name", "table:formula", _REPEATS[_OPEN]),
    *("office:value-type", "office:currency", "calcext:value-type"),
}
_MOST_SETS = 256  # of attributes
_MOST_CELLS = 2**20  # that repetition may make of a block
_LONGEST_COUNT, _LONGEST_TEXT = 7, 2**20  # characters
_KNOWN_ENTITIES = r"&(?:lt|gt|quot|apos|amp);"
_CONSTANT = r'table:formula="of:=(?:TRUE|FALSE)\(\)"'
_LIKE_AN_ERROR = r"^(?:#|Err:)"


@dataclass
class PlainRows:
    """The cells of some rows, and the rows that are not plain.

    Attributes:
        size: bytes that these rows take.
        rows, columns, kinds, formulas: of each cell.
        values: text.
        height: how many rows there are, repetition included.
        counts: for each plain row that has cells, how many are made of it.
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


def read_plain_rows(text: bytes) -> PlainRows | None:
    """Return the cells of rows; None where the rules cannot be sure of any.

    Args:
        text: from the beginning of a row to the end of one, UTF-8, with the usual prefixes of names.
    """

    data = np.frombuffer(text, np.uint8)
    controls = np.flatnonzero(data < _SPACE)
    if not np.isin(data[controls], _LINE_ENDS).all() or _has_no_characters(data):
        return None
    starts, ends = np.flatnonzero(data == _LESS), np.flatnonzero(data == _GREATER)
    if len(starts) != len(ends) or not (starts < ends).all() or not (ends[:-1] < starts[1:]).all():
        return None
    after = data[starts + 1]
    if ((after == _INSTRUCTIONS[0]) | (after == _INSTRUCTIONS[1])).any():  # comments as well
        return None
    kinds = _kinds_of_tags(text, data, starts, ends)
    rows, row_ends = np.flatnonzero(kinds == _ROW), np.flatnonzero(kinds == _END_ROW)
    if len(rows) != len(row_ends) or not len(rows) or rows[0] or not (rows < row_ends).all():
        return None
    apart = np.flatnonzero(row_ends[:-1] + 1 != rows[1:])
    if len(apart):  # other elements between rows, or rows within rows
        rows, row_ends = rows[: apart[0] + 1], row_ends[: apart[0] + 1]
        if int(ends[row_ends[-1]]) < len(text) // 4:
            return None
    count, size = int(row_ends[-1]) + 1, int(ends[row_ends[-1]]) + 1
    tags = _cut(text[:size], count)
    if tags is None:
        return None
    kinds, starts, ends = kinds[:count], starts[:count], ends[:count]
    line = np.repeat(np.arange(len(rows)), row_ends - rows + 1)
    plain = np.ones(len(rows), np.bool_)
    follows = np.append(_FOLLOWS[kinds[:-1], kinds[1:]], True)
    follows &= (kinds == _P) | (np.append(starts[1:], size) == ends + 1)  # text stands in paragraphs alone
    plain[line[~follows]] = False
    plain[line[np.searchsorted(starts, controls[controls < size], side="right") - 1]] = False
    times = _read_row_tags(tags["tag"].gather(rows))
    if times is None:
        return None
    cells = np.flatnonzero(((kinds == _OPEN) | (kinds == _CLOSED)) & plain[line])
    of = line[cells]
    made = _ReadCells(tags, cells, kinds[cells] == _OPEN)
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
    places, across = _repeat_each(keep, made.repeats[keep])
    at_row, at_column = tops[of[places]], columns[places] + across
    if (times[of[keep]] > 1).any():
        again, down = _repeat_rows(counts, times)
        at_row, at_column, places = at_row[again] + down, at_column[again], places[again]
    lines = list(zip(tops[odd].tolist(), starts[rows[odd]].tolist(), (ends[row_ends[odd]] + 1).tolist(), strict=True))
    return PlainRows(
        size,
        at_row,
        at_column,
        made.kinds[places],
        made.formulas[places],
        made.values.gather(places),
        int(times.sum()),
        (counts * times)[counts > 0],
        lines,
    )


def _has_no_characters(data: Any) -> bool:
    """Return whether U+FFFE or U+FFFF is in a text, which XML does not have."""
    places = np.flatnonzero(data[:-2] == _NO_CHARACTER)
    return bool(((data[places + 1] == 0xBF) & (data[places + 2] >= 0xBE)).any())


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


def _kinds_of_tags(text: bytes, data: Any, starts: Positions, ends: Positions) -> Kinds:
    """Return the kind of each tag, by its name."""
    padded = text + bytes(32)
    words = np.ndarray((len(text) + 24,), "<u8", padded, 0, (1,))
    first, second, third = words[starts], words[starts + 8], words[starts + 16]

    def word(name: bytes) -> np.uint64:
        return np.uint64(int.from_bytes(name, "little"))

    kinds = np.zeros(len(starts), np.uint8)
    table, end_table = first == word(b"<table:t"), first == word(b"</table:")
    after = third & np.uint64(0xFF)
    space, greater, slash = (np.uint64(code) for code in b" >/")
    row = table & (second == word(b"able-row")) & ((after == space) | (after == greater))
    kinds[row & (data[ends - 1] != _SLASH)] = _ROW
    after = third >> np.uint64(8) & np.uint64(0xFF)
    cell = table & (second == word(b"able-cel")) & (third & np.uint64(0xFF) == np.uint64(ord("l")))
    cell &= (after == space) | (after == greater) | (after == slash)
    kinds[cell] = np.where(data[ends[cell] - 1] == _SLASH, _CLOSED, _OPEN)
    kinds[end_table & (second == word(b"table-ro")) & (third & np.uint64(0xFFFF) == word(b"w>"))] = _END_ROW
    kinds[end_table & (second == word(b"table-ce")) & (third & np.uint64(0xFFFFFF) == word(b"ll>"))] = _END_CELL
    kinds[first == word(b"<text:p>")] = _P
    kinds[(first == word(b"</text:p")) & (second & np.uint64(0xFF) == greater)] = _END_P
    return kinds


def _cut(text: bytes, count: int) -> pl.DataFrame | None:
    """Return each tag and the text after it; None where the engine refuses them."""
    import polars as pl

    try:
        tags = pl.read_csv(
            text[1:],
            has_header=False,
            separator=">",
            eol_char="<",
            quote_char=None,
            schema={"tag": pl.String, "text": pl.String},
            truncate_ragged_lines=True,
            missing_columns="insert",
            raise_if_empty=False,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return tags if len(tags) == count else None


def _sets(tags: pl.Series) -> list[tuple[str, Positions]] | None:
    """Return the sets of attributes that tags have, and the tags of each; values that may differ are left out."""
    import polars as pl

    tag = pl.col("tag")
    groups = (
        pl.DataFrame({"tag": tags})
        .select(
            names=tag.str.replace_all(_VALUE, '="'),
            place=pl.int_range(pl.len(), dtype=pl.Int64),
        )
        .group_by("names", maintain_order=True)
        .agg("place")
    )
    if len(groups) > _MOST_SETS:
        return None
    return [(names, np.array(places, np.int64)) for names, places in groups.iter_rows()]


def _attributes_in(skeleton: str) -> dict[str, str] | None:
    """Return the attributes of a tag, and those of their values that are there; None where one comes twice."""
    match = _SKELETON.fullmatch(skeleton)
    attributes = [] if match is None else _ATTRIBUTE.findall(match[1])
    values = dict(attributes)
    return None if match is None or len(values) < len(attributes) else values


def _counts(tags: pl.Series, name: str) -> tuple[Positions, Mask]:
    """Return the number of times that each tag stands, and a mask of the tags that say it."""
    import polars as pl

    texts = tags.str.extract(f' {name}="([0-9]{{1,{_LONGEST_COUNT}}})"')
    return np.maximum(texts.cast(pl.Int64).fill_null(1).to_numpy(), 1), texts.is_not_null().to_numpy()


def _read_row_tags(tags: pl.Series) -> Positions | None:
    """Return the number of times that each row stands; None if that is not sure of every row."""
    times = np.ones(len(tags), np.int64)
    groups = _sets(tags)
    if groups is None or tags.str.contains("&", literal=True).any():
        return None
    for skeleton, places in groups:
        names = _attributes_in(skeleton)
        if names is None or not set(names) <= _OF_ROWS:
            return None
        if _REPEATS[_ROW] in names:
            times[places], sure = _counts(tags.gather(places), _REPEATS[_ROW])
            if not sure.all():
                return None
    return times


class _ReadCells:
    """The cells that tags and their texts stand for.

    Args:
        tags: of everything, and the text after each.
        cells: which of them begin a cell.
        is_open: which of those have a paragraph.

    Attributes:
        repeats: how often each cell comes.
        kinds: of each; 0 for a blank.
        formulas: which are.
        sure: of which all of that is sure.
        values: of each.
    """

    def __init__(self, tags: pl.DataFrame, cells: Positions, is_open: Mask) -> None:
        import polars as pl

        count = len(cells)
        own, texts = tags["tag"].gather(cells), tags["text"].gather(cells + is_open).fill_null("")
        self.repeats, self.kinds = np.ones(count, np.int64), np.zeros(count, np.uint8)
        self.formulas, self.sure = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        odd = own.str.contains(f'&|"error"|{_CONSTANT}') | (texts.str.len_bytes() > _LONGEST_TEXT)
        marked = texts.str.contains("&", literal=True)
        if marked.any():
            odd |= marked & texts.str.replace_all(_KNOWN_ENTITIES, "").str.contains("&", literal=True)
            texts = all_without_entities(texts.scatter(odd.arg_true(), ""))
        values = [pl.Series([], dtype=pl.String)]
        order = [np.zeros(0, np.int64)]
        for skeleton, places in _sets(own) or ():
            of_set = self._read_set(skeleton, places, own.gather(places), texts.gather(places))
            if of_set is not None:
                values.append(of_set)
                order.append(places)
        blank = pl.repeat("", count, dtype=pl.String, eager=True)
        self.values = blank.scatter(np.concatenate(order), pl.concat(values))
        self.sure &= ~odd.to_numpy()

    def _read_set(self, skeleton: str, places: Positions, tags: pl.Series, texts: pl.Series) -> pl.Series | None:
        """Return the values of cells that have the same attributes; None where the rules cannot say."""
        names = _attributes_in(skeleton)
        if names is None:
            return None
        kind, attribute = _TYPES.get(names.get("office:value-type", "none"), (-1, ""))
        if kind < 0 or not set(names) <= _OF_CELLS | {attribute} or (attribute and attribute not in names):
            return None
        formula = "table:formula" in names
        if kind == 0 and (formula or (texts != "").any()):
            return None
        self.kinds[places], self.sure[places], self.formulas[places] = kind, True, formula
        if _REPEATS[_OPEN] in names:
            self.repeats[places], self.sure[places] = _counts(tags, _REPEATS[_OPEN])
        if formula:
            unlike = texts.str.contains(_LIKE_AN_ERROR) | tags.str.contains('table:formula=""', literal=True)
            self.sure[places] &= ~unlike.to_numpy()
        if attribute:
            before = 2 * list(names).index(attribute) + 1
            texts = tags.str.splitn('"', before + 2).struct.field(f"field_{before}")
        return texts.replace({"true": "1", "false": "0"}) if kind == BOOLEAN else texts
