"""The sheet, and the cell in it, that a caller chooses: by a title or an index, and by an address."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import TypeAlias

from ..columns.grid import column_number
from ..errors import NotFoundError, quote_names
from .workbooks import MOST_COLUMNS, MOST_ROWS

_LONGEST, _MOST_TITLES = 6, 40  # digits of an index, and titles in a message
_CHOSEN_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


class TitleOrIndex(str):
    """The text of a command line that means a sheet: its title; if no sheet has it, its index."""

    __slots__ = ()


SheetChoice: TypeAlias = str | int | None
"""What `sheet=` of readers takes: a title, an index from 0, or None."""


def find_title(sheet: str | int, titles: Sequence[str]) -> str:
    """Return the title of the sheet that `sheet=` means, of those that may be meant.

    `sheet`: a title, compared without case as Excel does, or an index from 0.

    Raises:
        NotFoundError: there is no such sheet.
        TypeError: it is neither a title nor an index.

    Example:
        >>> find_title("NORTH", ["North", "South"]), find_title(1, ["North", "South"])
        ('North', 'South')
    """
    if isinstance(sheet, str):
        for title in titles:
            if title.casefold() == sheet.casefold():
                return title
        is_index = isinstance(sheet, TitleOrIndex) and sheet.isascii() and sheet.isdigit() and len(sheet) < _LONGEST
        which, index = f"{str(sheet)!r:.80}", int(sheet) if is_index else -1
    else:
        index = parse_index(sheet)
        which = f"{index}, counted from 0"
    if 0 <= index < len(titles):
        return titles[index]
    raise NotFoundError(f"no sheet {which}; there is {quote_names(titles, _MOST_TITLES)}")


def parse_index(sheet: object) -> int:
    """Return the value of `sheet=` as an index; it is not a title.

    Raises:
        TypeError: it is no index either.
    """
    try:
        if not isinstance(sheet, bool):
            return operator.index(sheet)  # type: ignore[arg-type]  # of another kind it raises the error
    except TypeError:
        pass
    raise TypeError(f"sheet is the title of a sheet or its index, counted from 0, not {sheet!r:.80}") from None


def is_first(sheet: SheetChoice) -> bool:
    """Return whether `sheet=` is the default of `read_columns`, the first sheet, which a range may name otherwise."""
    return type(sheet) is int and sheet == 0


def parse_cell(address: str) -> tuple[int, int]:
    """Return row and column, counted from 0, of the address of a cell.

    Example:
        >>> parse_cell("D5"), parse_cell("$A$1")
        ((4, 3), (0, 0))
    """
    match = _CHOSEN_CELL.fullmatch(address) if isinstance(address, str) else None
    row, column = (int(match[2]) - 1, column_number(match[1])) if match else (MOST_ROWS, 0)
    if row >= MOST_ROWS or column >= MOST_COLUMNS:
        raise ValueError(f"at is the address of a cell, such as 'D5', not {address!r:.80}")
    return row, column
