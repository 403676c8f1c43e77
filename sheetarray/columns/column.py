"""The data cells of one array, over all the columns that it is spread over, and the buffer that they make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import from_text, from_typed
from ..elements import Cell, Missing, Problem, is_blank
from ..linear import check_count, decode_data, part_dtype
from .grid import Anchor
from .sheet import Cells, Sheet

if TYPE_CHECKING:
    import polars as pl

Buffer = np.ndarray[tuple[int], np.dtype[Any]]


class Column:
    """The data cells of one array, over all its parts."""

    def __init__(self, group: list[Anchor], pieces: Sequence[Cells], sheet: Sheet) -> None:
        header = group[0].header
        assert header is not None
        self.header, self.group, self.pieces, self.sheet = header, group, pieces, sheet
        self.starts: list[int] = [0]  # where each piece begins among the data cells

    @classmethod
    def of_rows(cls, sheet: Sheet, group: list[Anchor]) -> Column:
        """The same for arrays that lie in rows."""
        return cls(group, [sheet.row(anchor.row, anchor.column + anchor.start) for anchor in group], sheet)

    def address(self, index: int) -> str:
        """The address of a data cell, by its index among those of all parts."""
        nth = next(nth for nth in reversed(range(len(self.starts))) if self.starts[nth] <= index)
        return self.group[nth].data_address(index - self.starts[nth])

    @property
    def is_text(self) -> bool:
        """Whether every piece came as the text that it is."""
        text = _series([]).dtype
        return all(not isinstance(rest, Sequence) and rest.dtype == text for _, rest in self.pieces)

    def typed(self, missing: Missing) -> Buffer | None:
        """The buffer, where every piece came typed and whole; None where the cells have to be looked at."""
        left = self.header.capacity
        found: list[Buffer] = []
        for nth, (first, rest) in enumerate(self.pieces):
            if isinstance(rest, Sequence):
                return None
            count = left - len(first) if nth == len(self.pieces) - 1 else len(rest) - _trailing_nulls(rest)
            if not 0 <= count <= len(rest) or rest[count:].null_count() < len(rest) - count:
                return None
            body = from_typed(rest[:count], self.header.dtype, missing=missing)
            if body is None:
                return None
            if first:
                head, problems = from_text(_series(first), self.header.dtype, self.sheet.look, missing=missing)
                if problems:
                    return None
                found.append(head)
            found.append(body)
            left -= len(first) + count
        if left:
            return None
        return found[0] if len(found) == 1 else np.concatenate(found)

    def judged(self, missing: Missing) -> tuple[Buffer, list[Problem], int]:
        """The buffer cell by cell, the cells that cannot be read, and how many cells make an element.

        Raises:
            FormatError: too few cells or too many.
        """
        header = self.header
        columns = [_together(first, rest) for first, rest in self.pieces]
        for nth, column in enumerate(columns[:-1]):
            columns[nth] = column[: self._full(nth, column)]
            self.starts.append(self.starts[-1] + len(columns[nth]))
        cells = reduce(_together, columns)
        wanted = check_count(filled_cells(cells), len(cells), header, missing=missing, address=self.address)
        each = 2 if wanted > header.capacity else 1
        if isinstance(cells, Sequence):
            padded = [*cells[:wanted], *[None] * (wanted - len(cells))]
            return (*decode_data(padded, header, missing=missing), each)
        series = cells[:wanted].extend_constant(None, max(0, wanted - len(cells)))
        if each == 1:
            return (*from_text(series, header.dtype, self.sheet.look, missing=missing), each)
        parts, problems = from_text(series, part_dtype(header.dtype), self.sheet.look, missing=missing)
        return parts.view(header.dtype.numpy), problems, each

    def _full(self, nth: int, cells: pl.Series | Sequence[Cell]) -> int:
        """How many cells a part that is not the last one holds: to the container's end, blanks included."""
        filled = filled_cells(cells)
        if self.sheet.max_rows is None or self.header.dtype.kind not in ("string", "generic"):
            return filled
        anchor = self.group[nth]
        return max(filled, min(len(cells), self.sheet.max_rows - anchor.row - anchor.start))


def _series(cells: Sequence[Cell]) -> pl.Series:
    import polars as pl

    return pl.Series(cells, dtype=pl.String)


def _together(first: pl.Series | Sequence[Cell], rest: pl.Series | Sequence[Cell]) -> pl.Series | Sequence[Cell]:
    if isinstance(rest, Sequence):
        return [*first, *rest] if len(first) else rest
    texts = rest.cast(_series([]).dtype).rename("")
    if not len(first):
        return texts
    return (_series(first) if isinstance(first, Sequence) else first).extend(texts)


def _trailing_nulls(cells: pl.Series) -> int:
    if not cells.null_count():
        return 0
    last = cells.is_not_null().arg_true()
    return len(cells) - (int(last[-1]) + 1 if len(last) else 0)


def filled_cells(cells: pl.Series | Sequence[Cell]) -> int:
    """How many cells there are up to the last that is not blank."""
    if len(cells) and not is_blank(cells[-1]):
        return len(cells)
    if isinstance(cells, Sequence):
        return next((index + 1 for index in reversed(range(len(cells))) if not is_blank(cells[index])), 0)
    filled = (cells.str.strip_chars() != "").fill_null(value=False).arg_true()
    return int(filled[-1]) + 1 if len(filled) else 0
