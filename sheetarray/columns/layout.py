"""Arrays -> the cells that they take in a sheet: one column each, names in row 1, short columns padded with blanks.

A sheet has two zones. The header zone is as tall as the name and the tallest header, and is made cell by cell; the
body below it is columns of one dtype each, made in blocks by the columnar engine. An array longer than a column
of the container continues in the next ones, each a complete column with a header of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import TextLook, TypedCells, to_text, to_typed
from ..dtypes import DType
from ..elements import Cell, escape
from ..errors import DTypeError, LimitError
from ..linear import LinearArray

if TYPE_CHECKING:
    import polars as pl

_CELLS_A_BLOCK = 4_000_000


@dataclass(frozen=True)
class Piece:
    """What stands in one column: a name, a header, and the elements of a buffer or of a part of it.

    Attributes:
        name: of the array.
        header: cells, `version` to `data`.
        dtype: of the elements.
        buffer: 1-D, what stands in this column.
        start: index of its first element in the whole buffer.
    """

    name: str
    header: list[Cell]
    dtype: DType
    buffer: np.ndarray[tuple[int], np.dtype[Any]]
    start: int = 0

    def text(self, first: int, count: int, look: TextLook) -> pl.Series:
        """Some of its elements as the engine writes them.

        Raises:
            DTypeError: an element that no text holds; names the array.
        """
        try:
            return to_text(self.buffer[first : first + count], self.dtype, look, start=self.start + first)
        except DTypeError as error:
            raise DTypeError(f"{self.name}: {error}") from error

    def typed(self, first: int, count: int, *, exact: int, as_text: bool = False) -> TypedCells:
        """Some of its elements for a container that tells numbers, text and booleans apart; see `cells.to_typed`.

        Raises:
            DTypeError: an element that no cell holds; names the array.
        """
        some = self.buffer[first : first + count]
        try:
            return to_typed(some, self.dtype, exact=exact, as_text=as_text, start=self.start + first)
        except DTypeError as error:
            raise DTypeError(f"{self.name}: {error}") from error

    @property
    def height(self) -> int:
        """How many cells the piece takes, without its name."""
        return len(self.header) + len(self.buffer)


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet, from left to right.

    Attributes:
        pieces: one for each column.
        named: whether row 1 holds the names.
    """

    pieces: list[Piece]
    named: bool = True

    @cached_property
    def zone(self) -> int:
        """Rows of the header zone: the names, and the tallest header."""
        return self.named + max((len(piece.header) for piece in self.pieces), default=0)

    @cached_property
    def height(self) -> int:
        """Rows of the whole sheet."""
        return self.named + max((piece.height for piece in self.pieces), default=0)

    @cached_property
    def cells(self) -> int:
        """Cells that hold something: names, headers and elements."""
        return sum(self.named + piece.height for piece in self.pieces)

    def cells_above(self, row: int) -> int:
        """Cells that hold something in the rows before `row`."""
        return sum(min(self.named + piece.height, row) for piece in self.pieces)

    def zone_rows(self, look: TextLook) -> Iterator[list[Cell]]:
        """The rows of the header zone, as text; short headers are followed by their first elements."""
        columns = [self._zone_column(piece, look) for piece in self.pieces]
        for row in range(min(self.zone, self.height)):
            yield [column[row] if row < len(column) else None for column in columns]

    def zone_elements(self, piece: Piece) -> int:
        """How many elements of a piece stand in the header zone, since its header is shorter than others."""
        return min(len(piece.buffer), self.zone - self.named - len(piece.header))

    def _zone_column(self, piece: Piece, look: TextLook) -> list[Cell]:
        room = self.zone_elements(piece)
        first = _text_cells(piece, room, look) if room else []
        return [*([name_text(piece.name, look)] if self.named else ()), *piece.header, *first]

    def body_blocks(self, look: TextLook) -> Iterator[pl.DataFrame]:
        """The rows below the header zone, in blocks of bounded size, columns padded with nulls."""
        import polars as pl

        for row, count in self.body_spans(_CELLS_A_BLOCK):
            block = {}
            for place, piece in enumerate(self.pieces):
                elements = self.elements(piece, row, count)
                if elements[1]:
                    cells = piece.text(*elements, look)
                    block[str(place)] = cells.extend_constant(None, count - len(cells)) if len(cells) < count else cells
                else:
                    block[str(place)] = pl.repeat(None, count, dtype=pl.String, eager=True)
            yield pl.DataFrame(block)

    def body_spans(self, cells: int) -> Iterator[tuple[int, int]]:
        """The rows below the header zone in spans of about `cells` cells: the first row (from 0), and how many."""
        step = max(1024, cells // max(len(self.pieces), 1))
        for row in range(self.zone, self.height, step):
            yield row, min(step, self.height - row)

    def elements(self, piece: Piece, row: int, count: int) -> tuple[int, int]:
        """The elements of a piece that stand in `count` rows from `row` on: the first one's index, and how many."""
        first = row - self.named - len(piece.header)
        return (first, min(count, len(piece.buffer) - first)) if first < len(piece.buffer) else (0, 0)


def _text_cells(piece: Piece, count: int, look: TextLook) -> list[Cell]:
    """The first elements as text cells, looking as the engine writes them."""
    import polars as pl

    texts = piece.text(0, count, look).cast(pl.String)
    if piece.dtype.kind == "float" and look.decimal == ",":
        texts = texts.str.replace(".", ",", literal=True)
    return texts.to_list()


def name_text(name: str, look: TextLook) -> str:
    """A name in a cell of text."""
    return escape(name) if look.formulas == "escape" else name


def lay_out(
    arrays: Mapping[str, LinearArray],
    *,
    names: bool = True,
    max_rows: int | None = None,
    max_columns: int | None = None,
) -> Layout:
    """Place arrays in the columns of a sheet, in their order.

    Args:
        arrays: what to place.
        names: whether row 1 holds the names.
        max_rows: how many rows the container has; longer arrays continue in the next column.
        max_columns: how many columns the container has.

    Raises:
        LimitError: a name that no sheet can carry, or more columns than there are; before anything is written.
    """
    (first, *more) = lay_out_sheets(arrays, names=names, max_rows=max_rows, max_columns=max_columns)
    if more:
        columns = sum(len(layout.pieces) for layout in (first, *more))
        raise LimitError(f"{columns} columns are needed, and the sheet has {max_columns}")
    return first


def lay_out_sheets(
    arrays: Mapping[str, LinearArray],
    *,
    names: bool = True,
    max_rows: int | None = None,
    max_columns: int | None = None,
    max_characters: int | None = None,
) -> list[Layout]:
    """Place arrays in the columns of as many sheets as they need, in their order; at least one sheet.

    Args:
        arrays: what to place.
        names: whether row 1 holds the names.
        max_rows: how many rows a sheet has; longer arrays continue in the next column.
        max_columns: how many columns a sheet has; what is more goes on in the next sheet.
        max_characters: how much text a cell holds, in UTF-16 units, as spreadsheets count it.

    Raises:
        LimitError: a name that no sheet can carry, or a text that no cell can; before anything is written.
    """
    if names:
        check_names(arrays)
    if max_characters is not None:
        _check_texts(arrays, max_characters)
    pieces = [piece for name, array in arrays.items() for piece in _pieces(name, array, names, max_rows)]
    each = max_columns or len(pieces) or 1
    return [Layout(pieces[start : start + each], names) for start in range(0, len(pieces) or 1, each)]


def check_names(names: Mapping[str, object]) -> None:
    """Refuse names that would not come back from a sheet.

    Raises:
        LimitError: a blank one.
    """
    for name in names:
        if not name.strip():
            raise LimitError(f"the name {name!r} is blank: a sheet could not tell it from no name")


def _check_texts(arrays: Mapping[str, LinearArray], most: int) -> None:
    for name, array in arrays.items():
        if _utf16(name) > most:
            raise LimitError(f"the name {name[:40]!r}... is too long: a cell holds {most:,} characters")
        if array.buffer.dtype.kind == "U" and 2 * (array.buffer.dtype.itemsize // 4) <= most:
            continue
        if array.kind.kind not in ("string", "generic"):
            continue
        for index, text in enumerate(array.buffer.tolist()):
            if isinstance(text, str) and 2 * len(text) >= most and (length := _utf16(text)) > most:
                place = array.header.named_element(name, index)
                raise LimitError(f"{place} has {length:,} characters, and a cell holds {most:,}")


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _pieces(name: str, array: LinearArray, names: bool, max_rows: int | None) -> Iterator[Piece]:
    header = array.header
    whole = Piece(name, header.to_cells(), array.kind, array.buffer)
    if max_rows is None or names + whole.height <= max_rows:
        yield whole
        return
    room = max_rows - names - len(replace(header, part=(1, 1)).to_cells())
    if room < 1:
        raise LimitError(f"{name}: its header does not fit into {max_rows} rows")
    count = -(-array.capacity // room)
    for k in range(count):
        cells = replace(header, part=(k + 1, count)).to_cells()
        yield Piece(name, cells, array.kind, array.buffer[k * room : (k + 1) * room], k * room)
