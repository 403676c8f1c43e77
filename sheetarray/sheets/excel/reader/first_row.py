"""The first row of a block: what all others are compared with, if it is made of numbers and strings alone.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from .cells import MOST_COLUMNS
from .raw import INLINE, LOGICAL, PLAIN, SHARED

CELL_BEGINS, ROW_BEGINS, ROW_ENDS = b'<c r="', b'<row r="', b"</row>"
NUMBER_ENDS, TEXT_ENDS = b"</v></c>", b"</t></is></c>"
TRIMMED = b"<is><t>"
_LONGEST_ROW_TAG = 256  # bytes
_LONGEST_TAIL = 64  # bytes between the reference of a cell and its value
_TYPES = {b"": PLAIN, None: PLAIN, b"n": PLAIN, b"b": LOGICAL, b"s": SHARED, b"inlineStr": INLINE}
_ROW = re.compile(rb'<row r="([1-9][0-9]{0,6})"(?: [A-Za-z][\w.:-]{0,40}="[^"<>&]*+"){0,32}+ ?>(?=<c )')
_CELL = re.compile(
    rb'(<c r="([A-Z]{1,3})([1-9][0-9]{0,6})((?:" s="([0-9]{1,6})|" t="([nbs]|inlineStr))*+">'
    rb'(?:<v>|<is><t(?: xml:space="preserve")?>))(?:[-+.0-9Ee]++(?=</v>)|[^<>"]++(?=</t>))(</v></c>|</t></is></c>))'
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
        letters: of the column of each cell.
        tails: what stands between the digits of each cell's reference and its value.
        gaps: what stands between the value of each cell and the one before, also of the row before, in pieces: the
            digits of the row's number stand between two of them.
        end: the tags that follow the last value.
        types: of each cell, constants of `raw`.
        styles: of each cell.
    """

    number: int
    letters: list[bytes]
    tails: list[bytes]
    gaps: list[tuple[bytes, ...]]
    end: bytes
    types: list[int]
    styles: list[int]

    @cached_property
    def mark(self) -> bytes:
        """Return a byte that each gap has, and that no value has: one for each attribute, or two if there are texts."""
        return b'"' if INLINE in self.types else b"="

    def count_tags(self) -> int:
        """Return the number of tags."""
        return 2 + sum(6 if type_ == INLINE else 4 for type_ in self.types)

    def count_marks(self) -> int:
        """Return the number of marks of a row."""
        return b"".join(chain.from_iterable(self.gaps)).count(self.mark)

    def ends_at(self, block: bytes, place: int) -> bool:
        """Return whether a block has nothing from a place on but a value of the last cell, and what ends a row."""
        return _ENDS[self.end].fullmatch(block, place) is not None


def read_first_row(block: bytes, types: Collection[int]) -> FirstRow | None:
    """Return the tags of the first row of a block; None if it is not made of such cells, or the next row is not.

    Args:
        block: from the tag of a row on.
        types: that cells may have, constants of `raw`.
    """
    tag = _ROW.match(block)
    if tag is None or tag.end() > _LONGEST_ROW_TAG or not _begins_as_the_next(block, tag):
        return None
    first = _CELL.match(block, tag.end())
    if first is None or _TYPES[first[6]] not in types:
        return None
    end = block.find(ROW_ENDS, tag.end())
    cells = _CELL.findall(block, tag.end(), end)
    if len(cells) > MOST_COLUMNS or sum(len(cell[0]) for cell in cells) != end - tag.end():
        return None
    _, letters, numbers, tails, styles, names, ends = map(list, zip(*cells, strict=True))
    kinds = [_TYPES[name] for name in names]
    if set(numbers) != {tag[1]} or not set(kinds).issubset(types):
        return None
    for tail, kind, tags in set(zip(tails, kinds, ends, strict=True)):
        is_text = tags == TEXT_ENDS
        if len(tail) > _LONGEST_TAIL or tail.count(b" t=") > 1:
            return None
        if (kind == INLINE) != is_text or is_text == tail.endswith(b"<v>"):
            return None
    between = [tags + CELL_BEGINS + letter for tags, letter in zip(ends, letters[1:], strict=False)]
    head = block[tag.end(1) : tag.end()] + CELL_BEGINS + letters[0]
    gaps = [(ends[-1] + ROW_ENDS + ROW_BEGINS, head, tails[0]), *zip(between, tails[1:], strict=True)]
    styles_of = [int(style or 0) for style in styles]
    return FirstRow(int(tag[1]), letters, tails, gaps, ends[-1], kinds, styles_of)


def _begins_as_the_next(block: bytes, tag: re.Match[bytes]) -> bool:
    """Return whether the first cells of the first two rows are alike; True where there is one row."""
    next_tag = _ROW.match(block, block.find(ROW_ENDS, tag.end()) + len(ROW_ENDS))
    if next_tag is None:
        return True
    first, second = _CELL.match(block, tag.end()), _CELL.match(block, next_tag.end())
    return first is not None and second is not None and first[4] == second[4]
