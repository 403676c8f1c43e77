"""Rows of totals that people type below a table, and no Excel Table knows of: formulas that sum up what is above."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from ....tables import sums_up

_ROW_TAG = re.compile(rb"<(?:\w+:)?row(?=[\s/>])[^<>]*>")
_NUMBER = re.compile(rb"""\sr\s*=\s*["']([0-9]{1,7})["']""")
_ADDRESS = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3})[0-9]{1,7}["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f(?:\s[^<>]*)?>([^<]*)</")
_CONTENT = re.compile(rb"<(?:\w+:)?(?:v|f|is|t)[\s>]")


@dataclass(frozen=True, slots=True)
class TypedTotals:
    """A row of totals that somebody typed.

    Attributes:
        row: counted from 0.
        last: the last row that it sums up.
    """

    row: int
    last: int


def find_typed_totals(content: bytes, last: int | None = None) -> TypedTotals | None:
    """Return the row of totals below the last row of a table; None if there is none.

    It is the next row that is not blank, and a formula in it names cells of its own column down to the last row.

    `content`: the XML of the worksheet. `last`: the last row of the table, counted from 0; None where the row of totals
    has to be the last row of the sheet that holds anything.
    """
    tags = [*_ROW_TAG.finditer(content)]
    ends = [*(tag.start() for tag in tags[1:]), len(content)]
    rows: list[tuple[int, bytes]] = []
    for tag, end in [*zip(tags, ends, strict=False)][:: -1 if last is None else 1]:  # a blank sheet has no tag
        number = _NUMBER.search(tag[0])
        if number is None:
            return None
        row, held = int(number[1]) - 1, content[tag.end() : end]
        if (last is not None and row <= last) or not _CONTENT.search(held):
            continue
        rows.append((row, held))
        if last is not None or len(rows) == 2:
            break
    if not rows:
        return None
    row, held = rows[0]
    above = last if last is not None else rows[1][0] if len(rows) == 2 else -1
    is_total = above >= 0 and any(_sums_up(cell, above + 1) for cell in re.split(rb"(?=<(?:\w+:)?c\s)", held))
    return TypedTotals(row, above) if is_total else None


def _sums_up(cell: bytes, last: int) -> bool:
    """Return whether the formula of a cell names cells of its own column down to a row, counted from 1."""
    address, formula = _ADDRESS.search(cell), _FORMULA.search(cell)
    if address is None or formula is None:
        return False
    return sums_up(unescape(formula[1].decode("utf-8", "replace")), address[1].decode(), last)
