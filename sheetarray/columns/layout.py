"""The columns of a sheet before they are written, and their cells: those of the headers one by one, all others in bulk.

A sheet has two zones. The header zone is as tall as the name and the tallest header, and is made cell by cell; the
body below it is columns of one dtype each, made in blocks by the columnar engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dtypes import DType, Mask
from ..elements import (
    Cell,
    TextLook,
    TypedCells,
    buffer_to_text,
    buffer_to_typed,
    escape_formula,
    put_null,
    texts_of_cells,
)
from ..errors import DTypeError
from .grid import column_letters
from .words import DESCRIPTION

if TYPE_CHECKING:
    import polars as pl

CELLS_PER_BLOCK = 4_000_000
_FEW_ELEMENTS = 256  # of a column, which are made together with those of others


@dataclass(frozen=True)
class LayoutColumn:
    """The content of one column: a name, a header, and the elements of a buffer or of a part of it."""

    name: str  # of the array
    header: list[Cell]  # cells, `version` to `data`
    dtype: DType  # of the elements
    buffer: np.ndarray[tuple[int], np.dtype[Any]]  # 1-D, what stands in this column
    start: int = 0  # index of its first element in the buffer of the whole array
    # how many cells stay blank between the name and the header, so that data of all columns begin in one row
    blanks: int = 0
    serials: bool = False  # whether dates are the serial numbers that spreadsheets count, where those are exact
    nulls: Mask | None = None  # a mask of the elements that are missing values, whose cells hold `null`; None of none
    null: str = ""  # the text of missing values; "" is a blank cell
    above: int = field(init=False)  # the number of cells between its name and its first element
    height: int = field(init=False)  # the number of cells that it takes, without its name

    def __post_init__(self) -> None:
        object.__setattr__(self, "above", self.blanks + len(self.header))
        object.__setattr__(self, "height", self.above + len(self.buffer))

    def to_text(self, first: int, count: int, look: TextLook) -> pl.Series:
        """Return some of its elements as the engine writes them."""
        try:
            texts = buffer_to_text(self.buffer[first : first + count], self.dtype, look, start=self.start + first)
        except DTypeError as error:
            raise DTypeError(f"{self.name}: {error}") from error
        return texts if self.nulls is None else put_null(texts, self.nulls[first : first + count], self.null)

    def to_typed(
        self, first: int, count: int, *, exact: int, as_text: bool = False, serials: bool | None = None
    ) -> TypedCells:
        """Return some of its elements for a container that tells numbers, text and booleans apart; see
        `elements.to_typed`.

        Raises:
            DTypeError: an element that no cell holds; names the array.
        """
        elements = self.buffer[first : first + count]
        try:
            start = self.start + first
            serials = self.serials if serials is None else serials
            cells = buffer_to_typed(elements, self.dtype, exact=exact, as_text=as_text, serials=serials, start=start)
        except DTypeError as error:
            raise DTypeError(f"{self.name}: {error}") from error
        return cells if self.nulls is None else cells.with_null(self.nulls[first : first + count], self.null)

    def every(self, step: int) -> LayoutColumn:
        """Return the column with only the first of each `step` elements."""
        nulls = None if self.nulls is None else self.nulls[::step]
        return replace(self, buffer=np.ascontiguousarray(self.buffer[::step]), nulls=nulls)

    def cells_above(self, *, named: bool) -> list[Cell]:
        """Return the cells above its elements: its name, blanks and its header, or its header alone."""
        return [self.name, *[""] * self.blanks, *self.header] if named else [*self.header]


class ElementRun(NamedTuple):
    """Elements of one array that stand one under the other: which cells hold which of them."""

    name: str  # of the array
    title: str  # of the sheet
    column: int  # counted from 0
    row: int  # of the first of them, counted from 0
    size: int  # the number of elements
    start: int = 0  # the index of the first of them in the buffer of the array

    @property
    def cells(self) -> str:
        """The absolute range of the cells, without the sheet."""
        letters = column_letters(self.column)
        return f"${letters}${self.row + 1}:${letters}${self.row + self.size}"


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet, from left to right: which cell holds which element."""

    pieces: list[LayoutColumn]  # one for each column
    named: bool = True  # whether row 1 holds the names

    @cached_property
    def zone_height(self) -> int:
        """The number of rows of the header zone: the names, and the tallest header."""
        return self.named + max([piece.above for piece in self.pieces], default=0)

    @cached_property
    def hides_headers(self) -> bool:
        """Whether the rows between names and elements hold nothing but headers, so that nobody misses them."""
        heights = {piece.above for piece in self.pieces if not is_single_description(piece.name, piece.buffer)}
        return self.named and len(heights) == 1 and heights != {0}

    @cached_property
    def _heights(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array([piece.height for piece in self.pieces], np.int64)

    @cached_property
    def height(self) -> int:
        """The number of rows of the whole sheet."""
        return self.named + int(self._heights.max(initial=0))

    @cached_property
    def cell_count(self) -> int:
        """The number of cells that hold something: names, headers and elements."""
        return self.count_cells_above(self.height)

    def runs(self, title: str, corner: tuple[int, int] = (0, 0)) -> Iterator[ElementRun]:
        """Yield the elements of each column that has any, on a sheet of this title, from a row and a column on."""
        row, column = corner
        for place, piece in enumerate(self.pieces):
            if size := len(piece.buffer):
                first = row + self.named + piece.above
                yield ElementRun(piece.name, title, column + place, first, size, piece.start)

    def count_cells_above(self, row: int) -> int:
        """Return the number of cells that hold something in the rows before `row`, which is below the header zone."""
        blanks = sum([piece.blanks for piece in self.pieces])
        return int(np.minimum(self._heights + self.named, row).sum()) - blanks

    def zone_rows(self, look: TextLook) -> Iterator[list[Cell]]:
        """Yield the rows of the header zone, as text; short headers are followed by their first elements."""
        spans = [self.elements_in_rows(piece, 0, self.zone_height) for piece in self.pieces]
        elements, columns = self._make_texts(spans, look), list[list[Cell]]()
        for place, piece in enumerate(self.pieces):
            name = [format_name(piece.name, look)] if self.named else []
            first = texts_of_cells(elements[place], look) if place in elements else []
            columns.append([*name, *[None] * piece.blanks, *piece.header, *first])
        for row in range(self.zone_height):
            yield [column[row] if row < len(column) else None for column in columns]

    def body_blocks(self, look: TextLook) -> Iterator[pl.DataFrame]:
        """Yield the rows below the header zone, in blocks of bounded size, columns padded with nulls."""
        import polars as pl

        for row, count in self.body_spans(CELLS_PER_BLOCK):
            columns = self._make_texts([self.elements_in_rows(piece, row, count) for piece in self.pieces], look)
            block = {}
            for place in range(len(self.pieces)):
                if (cells := columns.pop(place, None)) is not None:
                    block[str(place)] = cells.extend_constant(None, count - len(cells)) if len(cells) < count else cells
                else:
                    block[str(place)] = pl.repeat(None, count, dtype=pl.String, eager=True)
            yield pl.DataFrame(block)

    def _make_texts(self, spans: Sequence[tuple[int, int]], look: TextLook) -> dict[int, pl.Series]:
        """Return some elements of each column as the engine writes them; columns without any are left out.

        Few elements of columns of one dtype are made together, as there may be thousands of columns.

        `spans`: of each column, the index of the first element and the number of elements.
        """
        groups: dict[tuple[Any, ...], list[int]] = {}
        for place, (piece, (_, size)) in enumerate(zip(self.pieces, spans, strict=True)):
            if size:
                alone = size > _FEW_ELEMENTS or piece.nulls is not None
                groups.setdefault((place,) if alone else (piece.dtype.name, piece.buffer.dtype), []).append(place)
        texts: dict[int, pl.Series] = {}
        for key, places in groups.items():
            if key == (places[0],):
                texts[places[0]] = self.pieces[places[0]].to_text(*spans[places[0]], look)
                continue
            buffers = [self.pieces[place].buffer[spans[place][0] : sum(spans[place])] for place in places]
            try:
                joined = buffer_to_text(np.concatenate(buffers), self.pieces[places[0]].dtype, look)
            except DTypeError:  # each by itself says which array it is
                for place in places:
                    self.pieces[place].to_text(*spans[place], look)
                raise
            start = 0
            for place in places:
                texts[place] = joined[start : start + spans[place][1]]
                start += spans[place][1]
        return texts

    def body_spans(self, cells: int, *, fewest: int = 1024) -> Iterator[tuple[int, int]]:
        """Yield the rows below the header zone in spans of about `cells` cells, or of `fewest` rows if these have more:
        the first row (from 0), and the number of rows.
        """
        step = max(fewest, cells // max(len(self.pieces), 1))
        for row in range(self.zone_height, self.height, step):
            yield row, min(step, self.height - row)

    def elements_in_rows(self, piece: LayoutColumn, row: int, count: int) -> tuple[int, int]:
        """Return the elements of a piece that stand in `count` rows from `row` on: the index of the first, and their
        number.
        """
        above = self.named + piece.above
        first, end = row - above if row > above else 0, min(row + count - above, len(piece.buffer))
        return (first, end - first) if first < end else (0, 0)


def format_name(name: str, look: TextLook) -> str:
    """Return a name in a cell of text."""
    return escape_formula(name) if look.formulas == "escape" else name


def is_single_description(name: str, buffer: np.ndarray[Any, Any]) -> bool:
    """Return whether a column describes labels in one cell.

    Such a column is not aligned with the others. Its cell stands beside their headers, because people delete and sort
    the rows below.
    """
    return name == DESCRIPTION and len(buffer) == 1
