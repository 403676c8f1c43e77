"""The first row of a block: what all others are compared with, if it is made of numbers and strings alone.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .cells import MOST_COLUMNS
from .raw import INLINE, LOGICAL, PLAIN, SHARED

CELL_BEGINS, ROW_BEGINS, ROW_ENDS = b'<c r="', b'<row r="', b"</row>"
NUMBER_ENDS, TEXT_ENDS = b"</v></c>", b"</t></is></c>"
TRIMMED = b"<is><t>"
_LONGEST_ROW_TAG = 256  # bytes
_LONGEST_TAIL = 64  # bytes between the reference of a cell and its value
_TYPES = {None: PLAIN, b"n": PLAIN, b"b": LOGICAL, b"s": SHARED, b"inlineStr": INLINE}
_ROW = re.compile(rb'<row r="([1-9][0-9]{0,6})(?:"[^"<>&]*+){1,64}?>(?=<c )')
_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})((?:" s="([0-9]{1,6})|" t="([nbs]|inlineStr))*+">'
    rb'(?:<v>|<is><t(?: xml:space="preserve")?>))(?:[-+.0-9Ee]++(?=</v>)|[^<>"]++(?=</t>))(</v></c>|</t></is></c>)'
)
_ENDS = {
    NUMBER_ENDS: re.compile(rb"[-+.0-9Ee]++</v></c></row>\s*+"),
    TEXT_ENDS: re.compile(rb'[^<>"]++</t></is></c></row>\s*+'),
}


@dataclass(frozen=True)
class FirstRow:
    """A row whose cells have a value each.

    Attributes:
        number: its number, from 1.
        quotes: how many there are in its tag.
        head: from the quote after its number up to that before the reference of its first cell.
        letters: of the column of each cell.
        tails: what stands between the digits of each cell's reference and its value.
        ends: the tags that follow the value of each cell.
        types: of each cell, constants of `raw`.
        styles: of each cell.
    """

    number: int
    quotes: int
    head: bytes
    letters: list[bytes]
    tails: list[bytes]
    ends: list[bytes]
    types: list[int]
    styles: list[int]

    def count_tags(self) -> int:
        """Return the number of tags."""
        return 2 + sum(6 if type_ == INLINE else 4 for type_ in self.types)

    def count_quotes(self) -> int:
        """Return the number of quotes."""
        return self.quotes + sum(1 + tail.count(b'"') for tail in self.tails)

    def ends_at(self, block: bytes, place: int) -> bool:
        """Return whether a block has nothing from a place on but a value of the last cell, and what ends a row."""
        return _ENDS[self.ends[-1]].fullmatch(block, place) is not None


def read_first_row(block: bytes) -> FirstRow | None:
    """Return the tags of the first row of a block; None if it is not made of such cells."""
    tag = _ROW.match(block)
    if tag is None or tag.end() > _LONGEST_ROW_TAG:
        return None
    head = block[tag.end(1) : tag.end()] + CELL_BEGINS
    row = FirstRow(int(tag[1]), tag[0].count(b'"'), head, [], [], [], [], [])
    place = tag.end()
    while not block.startswith(ROW_ENDS, place):
        cell = _CELL.match(block, place)
        if cell is None or cell[2] != tag[1] or len(cell[3]) > _LONGEST_TAIL or cell[3].count(b" t=") > 1:
            return None
        if len(row.letters) == MOST_COLUMNS:
            return None
        type_ = _TYPES[cell[5]]
        if (type_ == INLINE) != (cell[6] == TEXT_ENDS) or (cell[6] == TEXT_ENDS) == cell[3].endswith(b"<v>"):
            return None
        row.letters.append(cell[1])
        row.tails.append(cell[3])
        row.ends.append(cell[6])
        row.types.append(type_)
        row.styles.append(int(cell[4] or 0))
        place = cell.end()
    return row
