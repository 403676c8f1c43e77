"""Picks the blocks of rows of worksheet XML that are worth parsing, by a search for bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from .cells import MOST_ROWS, CellRun
from .cutting import holds_pair

if TYPE_CHECKING:
    import polars as pl

Pick = Callable[[bytes, tuple[int, int]], bool]  # a block and its first and last row -> whether it is parsed

_ROW = re.compile(rb'<row r="([1-9][0-9]{0,6})"')
_ROW_TAG = b"<row"
_ROW_END = b"</row>"
_TYPES_OF_TEXTS = [b' t="%b"' % kind for kind in (b"s", b"inlineStr", b"str", b"b", b"e", b"d")]
_WHITE = (b" ", b"\t", b"\n", b"\r")
_TYPES = [white + b"t" for white in _WHITE]  # begins the attribute that cells of numbers do not have
_LITERAL = (b"inlineStr", b'"str"', b"'str'")  # the types of cells that hold their text themselves
_IN_LITERALS = b"tr"  # two bytes that each of them has
_FEW_STRINGS = 2**12
_DISGUISES = (b"&#", b"<![", b"_x00", b"<rPr", b"<r>")  # of text that differs in the bytes from the text of the cell
_SHARED = (b'"s"', b"'s'")
_MOST_INDICES = 64  # of shared strings that are searched for one by one


@runtime_checkable
class Searchable(Protocol):
    """A workbook whose bytes can be searched before its cells are looked at.

    Attributes:
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
    """

    reads_numbers: bool

    def cells_of_blocks(self, title: str, pick: Pick, end: int = MOST_ROWS) -> Generator[CellRun]:
        """Yield the cells of those blocks of rows that `pick` chooses, up to a row; the others are only inflated."""

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells of those blocks of rows that may hold one of some texts, in any case and between spaces."""


def rows_of_block(block: bytes) -> tuple[int, int] | None:
    """Return the first and the last row of a block, from 0; None if the XML does not say their numbers."""
    first, last = _ROW.match(block), _ROW.match(block, max(block.rfind(_ROW_TAG), 0))
    if first is None or last is None:
        return None
    rows = int(first[1]) - 1, int(last[1]) - 1
    return rows if rows[0] <= rows[1] else None


def find_end_of_texts(block: bytes) -> int:
    """Return the byte at which the first row below all texts begins, or 0.

    Cells whose type is written in an unusual way are not found: a block may be cut there, but texts may follow.
    """
    last = max(block.rfind(tag) for tag in _TYPES_OF_TEXTS)
    end = block.find(_ROW_END, last) if last >= 0 else -1
    return max(block.find(_ROW_TAG, end), 0) if end >= 0 else 0


def pick_texts(shared: pl.Series, texts: Sequence[str]) -> Pick:
    """Return a function that picks the blocks that may hold one of some texts, in any case and between spaces.

    Args:
        shared: the shared strings of the workbook.
        texts: in lower case, of ASCII letters.
    """
    words = list(texts)
    if len(shared) <= _FEW_STRINGS:  # each call of the engine wakes its threads
        known = frozenset(words)
        indices = [index for index, text in enumerate(shared.to_list()) if text.strip().lower() in known]
    else:
        indices = shared.str.strip_chars().str.to_lowercase().is_in(words).arg_true().to_list()
    places = [b">%d<" % index for index in indices]
    encoded = [text.encode() for text in texts]

    def pick(block: bytes, rows: tuple[int, int]) -> bool:  # noqa: ARG001  (the signature of a picker)
        if b"t" not in block or not any(
            holds_pair(block, type_) for type_ in _TYPES
        ):  # one byte is searched for quickly
            return False
        if (
            places
            and any(mark in block for mark in _SHARED)
            and (len(places) > _MOST_INDICES or b"<![" in block or any(place in block for place in places))
        ):
            return True
        if not holds_pair(block, _IN_LITERALS) or not any(literal in block for literal in _LITERAL):
            return False
        if any(disguise in block for disguise in _DISGUISES):
            return True
        lower = block.lower()
        return any(word in lower for word in encoded)

    return pick


def pick_rows(wanted: Sequence[tuple[int, int]]) -> Pick:
    """Return a function that picks the blocks with rows of some spans.

    Args:
        wanted: the first row of each span and the row below its last; ascending, without overlap.
    """
    from bisect import bisect_right

    starts = [first for first, _ in wanted]

    def pick(_: bytes, rows: tuple[int, int]) -> bool:
        index = bisect_right(starts, rows[1]) - 1
        return index >= 0 and wanted[index][1] > rows[0]

    return pick
