"""Tables of very uneven rows, as columns of few cells: all of their blanks would take more memory than the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...dtypes import Mask, Positions
from ...elements import Cell, is_blank
from ...tables import TableColumn
from ...tables.numerals import WHITE

if TYPE_CHECKING:
    import polars as pl

_SHORT = 256  # cells that make a list, not a Series
MOST_CELLS = 2**27  # cells of a table that is mostly blank, blanks included; as floats they take 1 GiB


class SparseColumn:
    """A column most of whose cells are blank; see `tables.RawColumn`.

    `height`: the number of rows of the table.
    """

    def __init__(self, rows: Positions, texts: list[str], height: int) -> None:
        self._rows, self._texts, self._height = rows, texts, height

    def cell(self, row: int) -> Cell:
        """Return the cell in a row."""
        index = int(np.searchsorted(self._rows, row))
        return self._texts[index] if index < len(self._rows) and self._rows[index] == row else None

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        mask: Mask = np.zeros(self._height, np.bool_)
        mask[self._rows[[not is_blank(text) for text in self._texts]]] = True
        return mask

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        return self._rows[[text.lstrip(WHITE).startswith(mark) for text in self._texts]]

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows."""
        if isinstance(rows, range):
            first, end = np.searchsorted(self._rows, [rows.start, rows.stop]).tolist()
            indices, texts = self._rows[first:end] - rows.start, self._texts[first:end]
        else:
            indices = np.searchsorted(rows, self._rows)
            held = np.append(rows, -1)[indices] == self._rows
            indices, texts = indices[held], [self._texts[index] for index in np.flatnonzero(held).tolist()]
        if len(rows) > _SHORT:
            return TableColumn(_series(indices, texts, len(rows)))
        cells: list[str | None] = [None] * len(rows)
        for index, text in zip(indices.tolist(), texts, strict=True):
            cells[index] = text
        return TableColumn(cells)


def _series(indices: Positions, texts: list[str], count: int) -> pl.Series:
    import polars as pl

    column = pl.Series([None], dtype=pl.String).new_from_index(0, count)
    return column.scatter(indices, texts) if texts else column
