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

from ..cells import TextLook, to_text
from ..dtypes import DType
from ..elements import Cell, escape
from ..errors import DTypeError, LimitError
from ..header import key_of
from ..linear import LinearArray
from .grid import RESERVED

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

    def _zone_column(self, piece: Piece, look: TextLook) -> list[Cell]:
        room = self.zone - self.named - len(piece.header)
        first = _text_cells(piece, room, look) if room else []
        return [*([name_text(piece.name, look)] if self.named else ()), *piece.header, *first]

    def body_blocks(self, look: TextLook) -> Iterator[pl.DataFrame]:
        """The rows below the header zone, in blocks of bounded size, columns padded with nulls."""
        import polars as pl

        skipped = [self.zone - self.named - len(piece.header) for piece in self.pieces]
        rows = self.height - self.zone
        step = max(1024, _CELLS_A_BLOCK // max(len(self.pieces), 1))
        for start in range(0, rows, step):
            count = min(step, rows - start)
            block = {}
            for place, (piece, skip) in enumerate(zip(self.pieces, skipped, strict=True)):
                if skip + start < len(piece.buffer):
                    cells = piece.text(skip + start, count, look)
                    block[str(place)] = cells.extend_constant(None, count - len(cells)) if len(cells) < count else cells
                else:
                    block[str(place)] = pl.repeat(None, count, dtype=pl.String, eager=True)
            yield pl.DataFrame(block)


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
    if names:
        check_names(arrays)
    pieces = [piece for name, array in arrays.items() for piece in _pieces(name, array, names, max_rows)]
    if max_columns is not None and len(pieces) > max_columns:
        raise LimitError(f"{len(pieces)} columns are needed, and the sheet has {max_columns}")
    return Layout(pieces, names)


def check_names(names: Mapping[str, object]) -> None:
    """Refuse names that would not come back from a sheet.

    Raises:
        LimitError: blank, or a word that begins an array.
    """
    for name in names:
        if not name.strip():
            raise LimitError(f"the name {name!r} is blank: a sheet could not tell it from no name")
        if key_of(name) in RESERVED:
            raise LimitError(f"an array cannot be named {name!r}: a reader would take the cell for the start of one")


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
