"""The first row of a block of worksheet XML, taken apart, if each of its cells is a number, a truth value or a string.

`row_comparison` compares all other rows of the block with it.

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
_LONGEST_TAIL = 64  # bytes between the reference of a cell and its value (`FirstRow.tails`)
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
    """The first row of a block, in which every cell has a value.

    Attributes:
        number: of the row, from 1.
        letters: of the column of each cell, such as `b"AB"`.
        tails: the bytes between the digits of each cell's reference and its value, such as `b'" s="1"><v>'`.
        gaps: the bytes between each cell's value and the value before it; for the first cell, that is the last value of
            the row before. They are cut into pieces where the digits of the row's number stand.
        end: the tags that follow the last value, up to the end of its cell.
        types: of each cell, constants of `raw`.
        styles: of each cell, the index of its style.
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
        """The byte by which gaps are found: each gap has it, and no value does.

        It is the `=` of attributes. A text may hold that, but no quotes; so it is the quote where there are texts.
        """
        return b'"' if INLINE in self.types else b"="

    def count_tags(self) -> int:
        """Return the number of tags in a row."""
        return 2 + sum(6 if type_ == INLINE else 4 for type_ in self.types)

    def count_marks(self) -> int:
        """Return the number of times that `mark` stands in a row."""
        return b"".join(chain.from_iterable(self.gaps)).count(self.mark)

    def ends_at(self, block: bytes, place: int) -> bool:
        """Return whether a block has, from a byte on, a value of the last cell, the tags that end a row, and no more.

        Args:
            block: worksheet XML.
            place: the byte.
        """
        return _ENDS[self.end].fullmatch(block, place) is not None


def read_first_row(block: bytes, types: Collection[int]) -> FirstRow | None:
    """Return the first row of a block; None if a cell is of another kind, or the next row does not begin alike.

    Args:
        block: worksheet XML from the tag of a row on.
        types: the types that cells may have, constants of `raw`.
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
    """Return whether the second row begins with the same type and style as the first; True if there is no second one.

    Args:
        block: from the tag of the first row on.
        tag: the match of that tag.
    """
    next_tag = _ROW.match(block, block.find(ROW_ENDS, tag.end()) + len(ROW_ENDS))
    if next_tag is None:
        return True
    first, second = _CELL.match(block, tag.end()), _CELL.match(block, next_tag.end())
    return first is not None and second is not None and first[4] == second[4]
