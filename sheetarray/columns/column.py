"""The data cells of one array, over all the columns that it is spread over, and the buffer that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer
from ..elements import Cell, Missing, Problem, buffer_from_text, buffer_from_texts, buffer_from_typed, decode, is_blank
from ..errors import FormatError
from ..linear.data_cells import (
    MAX_TRIMMED_BLANKS,
    buffer_from_numbers,
    check_cell_count,
    complex_part_dtype,
    count_elements,
    expected_cell_count,
)
from ..linear.resizing import resize_header
from .sheet import ColumnCells, Numbers, Sheet, Texts
from .words import Anchor

if TYPE_CHECKING:
    import polars as pl

_ONE_START = (0,)
_CELLS = (list, Sequence)  # lists are told from a Series without a look at what a sequence is


class ArrayColumn:
    """The data cells of one array, over all its parts.

    Attributes:
        header: of the array; with another length than was written, once people's edits are taken.
        written: as it stands in the sheet.
        group: the anchors of the parts.
        pieces: the cells of each part.
        sheet: where they stand.
        starts: where each piece begins among the data cells.
        cells_per_element: 2 for a complex array that has one cell for each part of an element.
    """

    __slots__ = ("cells_per_element", "group", "header", "pieces", "sheet", "starts", "written")

    def __init__(self, group: list[Anchor], pieces: Sequence[ColumnCells], sheet: Sheet) -> None:
        header = group[0].header
        assert header is not None
        self.header = self.written = header
        self.group, self.pieces, self.sheet = group, pieces, sheet
        self.starts: Sequence[int] = _ONE_START
        self.cells_per_element = 1

    def count_elements(self) -> int | None:
        """Return the number of elements in the cells of the only part, up to the last cell that is not blank.

        It returns the number; None if the last element has only one of its two cells.
        """
        ((first, rest),) = self.pieces
        capacity = self.written.capacity
        if type(rest) is Texts and not first and len(rest) == capacity and rest and not is_blank(rest[-1]):
            return capacity  # as a rule, of very many short arrays
        if isinstance(rest, np.ndarray):
            return len(first) + len(rest) if len(rest) else count_filled_cells(first)
        if isinstance(rest, _CELLS) or _holds_text(rest):
            cells = _concatenate(first, rest)
            count = count_filled_cells(cells)
            if self.written.dtype.kind != "complex" or count == capacity:
                return count
            return count_elements(list(cells[:count]), self.written)
        filled = _count_typed(rest)
        return len(first) + filled if filled else count_filled_cells(first)

    def is_mostly_blank_below(self) -> bool:
        """Return whether more than half of the cells from the last element to the end of the only part are blank."""
        ((first, rest),) = self.pieces
        start = max(0, self.written.capacity - len(first))
        if start >= len(rest) or isinstance(rest, np.ndarray):
            return False
        if isinstance(rest, _CELLS):
            cells = rest[start : count_filled_cells(rest)]
            return 2 * sum(map(is_blank, cells)) > len(cells)
        end = _count_typed(rest)
        below = rest[start : max(start, end)]
        blanks = below.null_count() + (int((below == "").sum()) if _holds_text(below) else 0)
        return 2 * blanks > len(below)

    def take_length(self, elements: int) -> None:
        """Set the number of elements, if one axis of the array can take the change."""
        resized = resize_header(self.written, elements)
        self.header = self.written if resized is None else resized

    def address(self, index: int) -> str:
        """Return the address of a data cell, by its index among those of all parts; -1 is the cell before the first."""
        number = next((number for number in reversed(range(len(self.starts))) if self.starts[number] <= index), 0)
        return self.group[number].data_address(index - self.starts[number])

    def element_address(self, index: int) -> str:
        """Return the address of the first cell of an element, by its index in the buffer."""
        return self.address(index * self.cells_per_element)

    def spans(self) -> Iterator[tuple[Anchor, int, int]]:
        """Yield the anchor of each part, the index of its first data cell among those of all, and how many it has."""
        ends = [*self.starts[1:], self.header.capacity * self.cells_per_element]
        yield from (
            (self.group[index], start, end - start)
            for index, (start, end) in enumerate(zip(self.starts, ends, strict=True))
        )

    @property
    def came_typed(self) -> bool:
        """Whether the container may have read the cells under their dtype; then it can give them as text, too."""
        return not all(
            isinstance(rest, Texts) or (not isinstance(rest, (*_CELLS, np.ndarray)) and _holds_text(rest))
            for _, rest in self.pieces
        )

    def decode_typed(self, missing: Missing) -> Buffer | None:
        """Return the buffer, where every piece came typed and whole; None where the cells have to be looked at."""
        first, rest = self.pieces[0]
        if isinstance(rest, np.ndarray) and len(self.pieces) == 1 and not first:  # as a rule
            return buffer_from_numbers(rest, self.header.dtype) if len(rest) == self.header.capacity else None
        if isinstance(rest, _CELLS) or any(_is_unparsed(rest) for _, rest in self.pieces):
            return None
        return self._decode_typed_pieces(missing)

    def _decode_typed_pieces(self, missing: Missing) -> Buffer | None:
        left = self.header.capacity
        buffers: list[Buffer] = []
        starts = self.starts = []
        rest: Any  # none of them is a list
        for index, (first, rest) in enumerate(self.pieces):
            starts.append(self.header.capacity - left)
            count = left - len(first) if index == len(self.pieces) - 1 else _count_typed(rest)
            if not 0 <= count <= len(rest) or _count_typed(rest) > count:
                return None
            if isinstance(rest, np.ndarray):
                body = buffer_from_numbers(rest, self.header.dtype)
            else:
                body = buffer_from_typed(rest[:count], self.header.dtype, missing=missing)
            if body is None:
                return None
            if first:
                head, problems = buffer_from_text(
                    _to_series(first), self.header.dtype, self.sheet.look, missing=missing
                )
                if problems:
                    return None
                buffers.append(head)
            buffers.append(body)
            left -= len(first) + count
        if left:
            return None
        return buffers[0] if len(buffers) == 1 else np.concatenate(buffers)

    def decode_checked(self, missing: Missing, *, pads: bool = False) -> DecodedColumn:
        """Decode every cell, and collect all problems instead of raising the first.

        `pads`: whether cells that are missing at the end are blanks.
        """
        header = self.header
        columns = [
            _concatenate(first, rest.tolist() if isinstance(rest, np.ndarray) else rest) for first, rest in self.pieces
        ]
        self.starts = _ONE_START
        cells = columns[0] if len(columns) == 1 else self._join_parts(columns)
        count = count_filled_cells(cells)
        expected = expected_cell_count(cells, count, header)
        wrong = None
        if count != expected and not (pads and count < expected and expected - len(cells) <= MAX_TRIMMED_BLANKS):
            wrong = check_cell_count(expected, count, len(cells), header, missing=missing, address=self.address)
        if wrong and wrong.location is None:
            wrong.location = self.address(expected + _first_nonblank(cells[expected:]))
        cell_count = min(expected, count) if wrong else expected
        self.cells_per_element = 2 if expected > header.capacity else 1
        is_whole, look = self.cells_per_element == 1, self.sheet.look
        dtype = header.dtype if is_whole else complex_part_dtype(header.dtype)
        held = cells if cell_count == len(cells) else cells[:cell_count]
        absent = max(0, cell_count - len(cells))
        if not isinstance(held, Sequence):
            held = held.extend_constant(None, absent) if absent else held
            buffer, problems = buffer_from_text(held, dtype, look, missing=missing)
        else:
            held = [*held, *[None] * absent] if absent else held
            if all(isinstance(rest, Texts) for _, rest in self.pieces):
                buffer, problems = buffer_from_texts(held, dtype, look, missing=missing)
            else:
                buffer, problems = decode(held, dtype, missing=missing, typed=look.formulas == "typed")
        buffer = buffer if is_whole else buffer[: cell_count // 2 * 2].view(header.dtype.numpy)
        return DecodedColumn(buffer, problems, self.cells_per_element, wrong, cells, absent)

    def _join_parts(self, columns: Sequence[pl.Series | Sequence[Cell]]) -> pl.Series | Sequence[Cell]:
        """Join the data cells of all parts. The blanks below a part are left out, except those below the last."""
        height, last = self._part_height(columns), len(columns) - 1
        self.starts = range(0, height * len(columns), height) if height else [0] * len(columns)
        return reduce(_concatenate, [column if k == last else column[:height] for k, column in enumerate(columns)])

    def _part_height(self, columns: Sequence[pl.Series | Sequence[Cell]]) -> int:
        """Return the number of data cells of each part but the last; they are equally long, and reach down to
        the same row.
        """
        filled = [count_filled_cells(column) for column in columns]
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
class DecodedColumn:
    """A column that was decoded cell by cell."""

    buffer: Buffer  # the elements
    problems: list[Problem]  # the cells that cannot be read
    cells_per_element: int  # 2 for a complex array that has one cell for each part of an element
    count_error: FormatError | None  # says that there are too few cells, or too many; None if their number is right
    cells: pl.Series | Sequence[Cell]  # all data cells
    missing_count: int  # the number of cells that are not there and were read as blank

    def cell(self, index: int) -> Cell:
        """Return a data cell; None for a blank that is not there."""
        return self.cells[index] if index < len(self.cells) else None

    @property
    def is_cut(self) -> bool:
        """Return whether so many cells cannot be read that others were not looked at."""
        return any(problem.rest for problem in self.problems)


def _to_series(cells: Sequence[Cell]) -> pl.Series:
    import polars as pl

    return pl.Series(cells, dtype=pl.String)


def _holds_text(cells: pl.Series) -> bool:
    import polars as pl

    return cells.dtype == pl.String


def _is_unparsed(cells: pl.Series | Numbers | Sequence[Cell]) -> bool:
    """Return whether cells are a list, or text: nobody has parsed them in bulk."""
    return not isinstance(cells, np.ndarray) and (isinstance(cells, _CELLS) or _holds_text(cells))


def _concatenate(first: pl.Series | Sequence[Cell], rest: pl.Series | Sequence[Cell]) -> pl.Series | Sequence[Cell]:
    if len(first) and (isinstance(rest, _CELLS) or not _is_text(first)):
        return [*first, *rest]
    if isinstance(rest, _CELLS):
        return rest  # a list of millions is not copied for nothing
    import polars as pl

    texts = rest.cast(pl.String).rename("")
    if not len(first):
        return texts
    return (_to_series(first) if isinstance(first, Sequence) else first).extend(texts)


def _is_text(cells: pl.Series | Sequence[Cell]) -> bool:
    """Return whether cells are nothing but text and blanks, so that a Series holds them."""
    return not isinstance(cells, Sequence) or all(cell is None or isinstance(cell, str) for cell in cells)


def leave_out_blanks(piece: ColumnCells, count: int) -> ColumnCells:
    """Return the cells of a column without its blanks, if others are as many as its elements."""
    first, rest = piece
    if isinstance(rest, np.ndarray):
        return piece
    cells: list[Cell] = [cell for cell in [*first, *rest] if not is_blank(cell)]
    if len(cells) != count:
        return piece
    if isinstance(rest, _CELLS):
        return (), Texts(cells) if isinstance(rest, Texts) else cells
    return (), _to_series(cells) if _is_text(cells) else cells


def _first_nonblank(cells: pl.Series | Sequence[Cell]) -> int:
    """Return the index of the first cell that is not blank."""
    if isinstance(cells, Sequence):
        return next(index for index, cell in enumerate(cells) if not is_blank(cell))
    return int((cells.str.strip_chars() != "").fill_null(value=False).arg_true()[0])


def _count_typed(cells: pl.Series | Numbers) -> int:
    """Return the number of cells up to the last that is not null."""
    if isinstance(cells, np.ndarray) or not cells.null_count():
        return len(cells)
    filled = cells.is_not_null().arg_true()
    return int(filled[-1]) + 1 if len(filled) else 0


def count_filled_cells(cells: pl.Series | Sequence[Cell]) -> int:
    """Return the number of cells up to the last that is not blank."""
    if len(cells) and not is_blank(cells[-1]):
        return len(cells)
    if isinstance(cells, Sequence):
        return next((index + 1 for index in reversed(range(len(cells))) if not is_blank(cells[index])), 0)
    filled = (cells.str.strip_chars() != "").fill_null(value=False).arg_true()
    return int(filled[-1]) + 1 if len(filled) else 0
