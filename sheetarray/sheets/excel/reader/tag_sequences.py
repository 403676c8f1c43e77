"""The sequences of tags that cells consist of, and blocks in which every row consists of the same ones.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....dtypes import Mask, Positions
from . import tags as t
from .cells import MOST_ROWS
from .sequence_forms import SequenceForm, match_sequences
from .tags import Tags, TagWords

_PLAIN_SPAN, _LONG_SPAN = 4, 6  # tags of a number, and of an inline string or a formula: none that closes itself
_FEWEST_ROWS = 4  # rows: with fewer, it is not worth while to find out whether all are alike

_FORMS = [  # of cells
    SequenceForm((t.VALUE, t.END_VALUE, t.END_CELL), 1),
    SequenceForm((t.INLINE, t.TEXT, t.END_TEXT, t.END_INLINE, t.END_CELL), 2),
    SequenceForm((t.FORMULA, t.END_FORMULA, t.VALUE, t.END_VALUE, t.END_CELL), 3),
    SequenceForm((), 0, closed=(0,)),
    SequenceForm((t.END_CELL,), 0),
    SequenceForm((t.VALUE, t.END_CELL), 1, closed=(1,)),
    SequenceForm((t.INLINE, t.TEXT, t.END_INLINE, t.END_CELL), 2, closed=(2,)),
    SequenceForm((t.FORMULA, t.END_FORMULA, t.END_CELL), 0),
    SequenceForm((t.FORMULA, t.END_FORMULA, t.VALUE, t.END_CELL), 3, closed=(3,)),
    SequenceForm((t.FORMULA, t.END_CELL), 0, closed=(1,)),
    SequenceForm((t.FORMULA, t.VALUE, t.END_VALUE, t.END_CELL), 2, closed=(1,)),
    SequenceForm((t.FORMULA, t.VALUE, t.END_CELL), 2, closed=(1, 2)),
]


@dataclass(frozen=True)
class TagSequences:
    """The cells of a block and the tags of which each consists; all arrays but `rows` have an item for each cell.

    Attributes:
        rows: the indices of the tags that begin rows.
        row_of: the index of each cell's row in `rows`.
        cells: the index of each cell's first tag.
        spans: the number of each cell's tags.
        values: the index of the tag after which each cell's value stands; that of its first tag if it has no value.
        formulas: a mask of the cells that have a formula.
        odd: a mask of the cells of no known form.
        width: the number of cells in each row, if all rows consist of the same tags; otherwise 0.
    """

    rows: Positions
    row_of: Positions
    cells: Positions
    spans: Positions
    values: Positions
    formulas: Mask
    odd: Mask
    width: int = 0


def read_tag_sequences(tags: Tags) -> TagSequences | None:
    """Return the cells of a block; None if it holds anything but rows of cells."""
    rows = np.flatnonzero(tags.kinds == t.ROW)
    return _cells_alike(tags, rows) or _cells_each(tags, rows, len(tags))


def _cells_each(tags: Tags, rows: Positions, count: int) -> TagSequences | None:
    """Return the cells among the first `count` tags, each compared with the known forms; None for anything but rows."""
    bounds = np.flatnonzero(tags.kinds[:count] >= t.BOUND)
    which = tags.kinds[bounds]
    spans = np.diff(bounds, append=count)
    is_cell = which == t.CELL
    if not len(bounds) or bounds[0] or which[0] != t.ROW or (spans[~is_cell] != 1).any():
        return None
    cells, spans = bounds[is_cell], spans[is_cell]
    row_of = (np.cumsum(which == t.ROW) - 1)[is_cell]
    values = cells.copy()
    formulas, odd = np.zeros((2, len(cells)), dtype=np.bool_)
    odd[:] = True
    for form, of_form in match_sequences(tags, cells, spans, _FORMS):
        values[of_form] += form.value
        formulas[of_form] = t.FORMULA in form.after
        odd[of_form] = False
    return TagSequences(rows, row_of, cells, spans, values, formulas, odd)


def _cells_alike(tags: Tags, rows: Positions) -> TagSequences | None:
    """Return the cells of rows that all have the tags of the first one, which alone is parsed; otherwise None.

    None also if a tag closes itself (`<c/>`), which `_cells_each` finds out for each cell.
    """
    count = len(rows)
    if count < _FEWEST_ROWS or len(tags) != count * (tags_per_row := int(rows[1])):
        return None
    kinds = tags.kinds[: len(tags)].reshape(count, tags_per_row)
    if (kinds != kinds[0]).any() or (once := _cells_each(tags, rows[:1], tags_per_row)) is None:
        return None
    plain = (once.spans == _PLAIN_SPAN) & ~once.formulas | (once.spans == _LONG_SPAN)
    if not len(once.cells) or not plain.all() or once.odd.any():
        return None

    def repeat(places: Positions) -> Positions:
        return (rows[:, None] + places[None, :]).ravel()

    width = len(once.cells)
    return TagSequences(
        rows,
        np.repeat(np.arange(count), width),
        repeat(once.cells),
        np.tile(once.spans, count),
        repeat(once.values),
        np.tile(once.formulas, count),
        np.zeros(count * width, dtype=np.bool_),
        width,
    )


# References --------------------------------------------------------------------------------------------------

_BARE_ROW, _CLOSING = b"<row", b">/"
_ROW_TAG, _CELL_TAG = b'<row r="', b'<c r="'
_BYTE, _QUOTE = np.uint64(0xFF), np.uint64(ord('"'))


@dataclass(frozen=True)
class _Numbers:
    """The row numbers of a block, with which those in the references of cells are compared.

    Attributes:
        rows: the numbers, from 0.
        digits: the number of digits with which each is written.
        words: the digits and the quote after them, as the lowest bytes of a word.
        masks: a mask of these bytes in each word.
    """

    rows: Positions
    digits: Positions
    words: TagWords
    masks: TagWords


def read_references(tags: Tags, forms: TagSequences, after: int) -> tuple[Positions, Positions, Positions, int] | None:
    """Return the row and the column of each cell, the byte after its reference, and the row below the last row.

    None if the tag of a row or of a cell does not begin with its reference, or if the two contradict each other.

    Args:
        tags: of the block.
        forms: the cells of the block.
        after: the number of the first row, from 0, if rows and cells have no references.
    """
    if len(forms.rows) and tags.bytes[int(tags.starts[forms.rows[0]]) + len(_BARE_ROW)] in _CLOSING:
        return _find_following(tags, forms, after)
    numbers = _read_row_numbers(tags, forms.rows)
    if numbers is None:
        return None
    places = tags.starts[forms.cells]
    letters = _letters(tags, places) if not forms.width else _letters_alike(tags, places, forms.width)
    if letters is None:
        return None
    columns, length = letters
    places = places + (length + len(_CELL_TAG))
    row_of = forms.row_of
    if ((tags.words(places) & numbers.masks[row_of]) != numbers.words[row_of]).any():
        return None
    return numbers.rows[row_of], columns, places + (numbers.digits + 1)[row_of], int(numbers.rows[-1]) + 1


def _find_following(tags: Tags, forms: TagSequences, after: int) -> tuple[Positions, Positions, Positions, int] | None:
    """Return the same for rows without a number, whose cells stand in the first columns.

    If one of these cells has a reference all the same, `worksheet` finds an attribute that it does not know.
    """
    starts = tags.starts[forms.rows]
    bare = tags.starting_with(starts, _BARE_ROW + b">") | tags.starting_with(starts, _BARE_ROW + b"/>")
    if not bare.all() or forms.odd.any() or after + len(forms.rows) > MOST_ROWS:
        return None
    counts = np.arange(len(forms.cells))
    first = np.searchsorted(forms.row_of, np.arange(len(forms.rows)))
    columns = counts - first[forms.row_of]
    return forms.row_of + after, columns, tags.starts[forms.cells] + len("<c"), after + len(forms.rows)


def _read_row_numbers(tags: Tags, rows: Positions) -> _Numbers | None:
    """Return the numbers of the rows that some tags begin; None if a tag does not begin with its number."""
    places = tags.starts[rows]
    if not tags.starting_with(places, _ROW_TAG).all():
        return None
    words = tags.words(places + len(_ROW_TAG))
    numbers = parse_quoted_numbers(words)
    if numbers is None or (numbers[0] < 1).any():
        return None
    number, digits = numbers
    masks = ~np.uint64(0) >> ((np.uint64(7) - digits.astype(np.uint64)) << np.uint64(3))
    return _Numbers(number - 1, digits, words & masks, masks)


def parse_quoted_numbers(words: TagWords) -> tuple[Positions, Positions] | None:
    """Return the numbers with which words begin, and the number of digits of each.

    None if a word does not begin with one to seven digits and a quote.
    """
    number, digits = np.zeros((2, len(words)), dtype=np.int64)
    going = np.ones(len(words), dtype=np.bool_)
    for index in range(8):
        unit = ((words >> np.uint64(8 * index)) & _BYTE).astype(np.int64) - ord("0")
        going &= (unit >= 0) & (unit <= 9)
        if not going.any():
            break
        number = np.where(going, number * 10 + unit, number)
        digits += going
    quoted = (words >> (digits.astype(np.uint64) << np.uint64(3))) & _BYTE == _QUOTE
    return (number, digits) if ((digits > 0) & (digits < 8) & quoted).all() else None


def _letters(tags: Tags, places: Positions) -> tuple[Positions, Positions] | None:
    """Return the column that the letters of each reference name, and the number of letters.

    None if a cell's tag does not begin with its reference.

    Args:
        tags: of the block.
        places: the byte at which the tag of each cell begins.
    """
    if not tags.starting_with(places, _CELL_TAG).all():
        return None
    words = tags.words(places + len(_CELL_TAG))
    columns, length = np.zeros((2, len(places)), dtype=np.int64)
    letter = np.ones(len(places), dtype=np.bool_)
    for index in range(3):
        unit = ((words >> np.uint64(8 * index)) & _BYTE).astype(np.int64) - (ord("A") - 1)
        letter &= (unit >= 1) & (unit <= 26)
        if not letter.any():
            break
        columns = np.where(letter, columns * 26 + unit, columns)
        length += letter
    return (columns - 1, length) if length.all() else None


def _letters_alike(tags: Tags, places: Positions, width: int) -> tuple[Positions, Positions] | None:
    """Return the same for rows of `width` cells each, all in the same columns; None if a row has other columns."""
    once = _letters(tags, places[:width])
    if once is None:
        return None
    columns, length = once
    grid = places.reshape(-1, width)
    words = tags.words(places).reshape(-1, width)  # the tag, and two letters
    masks = ~np.uint64(0) >> ((np.uint64(2) - np.minimum(length, 2).astype(np.uint64)) << np.uint64(3))
    if ((words & masks) != (words[0] & masks)).any():
        return None
    longer = np.flatnonzero(length == 3)
    third = tags.bytes[grid[:, longer] + (len(_CELL_TAG) + 2)]
    if (third != third[0]).any():
        return None
    return np.tile(columns, len(grid)), np.tile(length, len(grid))
