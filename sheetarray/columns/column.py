"""The data cells of one array, over all the columns that it is spread over, and the buffer that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import from_text, from_typed
from ..data import part_dtype, wanted_cells, wrong_count
from ..elements import Cell, Missing, Problem, decode, is_blank
from ..errors import FormatError
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
        self.each = 1  # cells of an element

    def address(self, index: int) -> str:
        """The address of a data cell, by its index among those of all parts."""
        nth = next(nth for nth in reversed(range(len(self.starts))) if self.starts[nth] <= index)
        return self.group[nth].data_address(index - self.starts[nth])

    def element_address(self, index: int) -> str:
        """The address of the first cell of an element, by its index in the buffer."""
        return self.address(index * self.each)

    def spans(self) -> Iterator[tuple[Anchor, int, int]]:
        """The anchor of each part, the index of its first data cell among those of all, and how many it has."""
        ends = [*self.starts[1:], self.header.capacity * self.each]
        yield from (
            (self.group[nth], start, end - start)
            for nth, (start, end) in enumerate(zip(self.starts, ends, strict=True))
        )

    @property
    def is_text(self) -> bool:
        """Whether every piece came as the text that it is."""
        text = _series([]).dtype
        return all(not isinstance(rest, Sequence) and rest.dtype == text for _, rest in self.pieces)

    def typed(self, missing: Missing) -> Buffer | None:
        """The buffer, where every piece came typed and whole; None where the cells have to be looked at."""
        left = self.header.capacity
        found: list[Buffer] = []
        self.starts = []
        for nth, (first, rest) in enumerate(self.pieces):
            if isinstance(rest, Sequence):
                return None
            self.starts.append(self.header.capacity - left)
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

    def judged(self, missing: Missing) -> Judgement:
        """The buffer cell by cell, and everything that is wrong with it."""
        header = self.header
        columns = [_together(first, rest) for first, rest in self.pieces]
        self.starts = [0]
        height = self._height(columns) if len(columns) > 1 else 0
        for nth, column in enumerate(columns[:-1]):
            columns[nth] = column[:height]
            self.starts.append(self.starts[-1] + height)
        cells = reduce(_together, columns)
        count = filled_cells(cells)
        wanted = wanted_cells(count, header)
        wrong = wrong_count(count, len(cells), header, missing=missing, address=self.address)
        if wrong and wrong.location is None:
            wrong.location = self.address(wanted + _first_filled(cells[wanted:]))
        there = min(wanted, count) if wrong else wanted
        each = self.each = 2 if wanted > header.capacity else 1
        buffer, problems = self._decoded(cells if there == len(cells) else cells[:there], there, each, missing)
        return Judgement(buffer, problems, each, wrong)

    def _decoded(
        self, cells: pl.Series | Sequence[Cell], wanted: int, each: int, missing: Missing
    ) -> tuple[Buffer, list[Problem]]:
        dtype = self.header.dtype if each == 1 else part_dtype(self.header.dtype)
        if isinstance(cells, Sequence):
            padded = [*cells, *[None] * (wanted - len(cells))] if len(cells) < wanted else cells
            buffer, problems = decode(padded, dtype, missing=missing, typed=self.sheet.look.formulas == "typed")
        else:
            texts = cells.extend_constant(None, wanted - len(cells)) if len(cells) < wanted else cells
            buffer, problems = from_text(texts, dtype, self.sheet.look, missing=missing)
        return (buffer if each == 1 else buffer[: wanted // 2 * 2].view(self.header.dtype.numpy)), problems

    def _height(self, columns: Sequence[pl.Series | Sequence[Cell]]) -> int:
        """How many cells each part but the last one holds: they are equally long, and reach down to the same row.

        Raises:
            FormatError: blanks at their ends leave it open.
        """
        filled = [filled_cells(column) for column in columns]
        tallest, parts = max(filled[:-1]), len(columns)
        capacity = self.header.capacity * (2 if sum(filled) > self.header.capacity else 1)
        if set(filled[:-1]) == {tallest} and (parts - 1) * tallest + filled[-1] == capacity:
            return tallest
        anchor = self.group[0]
        to_the_end = len(columns[0])
        if self.sheet.max_rows is not None and anchor.orient == "columns":
            to_the_end = self.sheet.max_rows - anchor.row - anchor.start
        if tallest <= to_the_end and (parts - 1) * to_the_end < capacity <= parts * to_the_end:
            return to_the_end
        raise FormatError(
            f"the parts hold {sum(filled)} cells, not {capacity}, and blanks at their ends cannot be told from padding",
            location=anchor.address(0),
        )


@dataclass(frozen=True)
class Judgement:
    """A buffer, the cells in it that cannot be read, how many cells make an element, and whether the count is wrong."""

    buffer: Buffer
    problems: list[Problem]
    each: int
    wrong_count: FormatError | None


def _series(cells: Sequence[Cell]) -> pl.Series:
    import polars as pl

    return pl.Series(cells, dtype=pl.String)


def _together(first: pl.Series | Sequence[Cell], rest: pl.Series | Sequence[Cell]) -> pl.Series | Sequence[Cell]:
    if isinstance(rest, Sequence) or not _is_text(first):
        return [*first, *rest] if len(first) else rest  # a list of millions is not copied for nothing
    texts = rest.cast(_series([]).dtype).rename("")
    if not len(first):
        return texts
    return (_series(first) if isinstance(first, Sequence) else first).extend(texts)


def _is_text(cells: pl.Series | Sequence[Cell]) -> bool:
    """Whether cells are nothing but text and blanks, so that a Series holds them."""
    return not isinstance(cells, Sequence) or all(cell is None or isinstance(cell, str) for cell in cells)


def _first_filled(cells: pl.Series | Sequence[Cell]) -> int:
    """The index of the first cell that is not blank."""
    if isinstance(cells, Sequence):
        return next(index for index, cell in enumerate(cells) if not is_blank(cell))
    return int((cells.str.strip_chars() != "").fill_null(value=False).arg_true()[0])


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
