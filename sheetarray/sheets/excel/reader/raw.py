"""Cells as worksheet XML says them, before their shared strings, styles and types are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ....loops import Doubles, scan, to_series
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import FormulaArea, Kinds

if TYPE_CHECKING:
    import polars as pl

PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, ELAPSED = range(8)
FORMULA, WAITING, NUMERAL = 8, 16, 32  # what the compiled loop adds to types: `RawCells` has a mask of each
CELL = np.dtype(
    [  # as the compiled loop makes it
        ("number", np.float64),
        ("row", np.uint32),
        ("style", np.uint32),  # of .ods, how often the cell stands in its row
        ("start", np.uint32),
        ("length", np.uint32),
        ("formula", np.uint32),
        ("column", np.uint16),
        ("formula_length", np.uint8),
        ("type", np.uint8),
    ]
)
TYPES = {"": PLAIN, "n": PLAIN, "s": SHARED, "str": RESULT, "inlineStr": INLINE, "b": LOGICAL, "e": ERROR, "d": ISO}
TEXTS = (RESULT, INLINE)  # the value is the text itself, and may be empty
NUMERALS = (PLAIN, SHARED, LOGICAL)  # the value is a numeral


@dataclass(frozen=True)
class XmlTexts:
    """Texts that stand in XML, or beyond it where they differ from the XML.

    Attributes:
        extra: what stands beyond it.
        starts, lengths: of each text, in bytes; what stands beyond the XML starts behind its last byte.
    """

    xml: bytes
    extra: bytes
    starts: Any
    lengths: Any

    def __getitem__(self, places: Positions) -> pl.Series:
        """Return the texts of some places."""
        starts, lengths = (np.ascontiguousarray(items[places], np.uint32) for items in (self.starts, self.lengths))
        return to_series(scan.take_texts(self.xml, self.extra, starts, lengths))


@dataclass(frozen=True)
class RawCells:
    """Some cells of a worksheet: those that have a value or a formula.

    Attributes:
        rows, columns: of each cell, from 0.
        types: of each cell, one of the constants of this module.
        styles: of each cell, the index of its style; 0 where the XML names no style.
        pending: a mask of the cells that have a formula and no value.
        numbers: the number of each cell under `numeral`; anything for other cells.
        numeral: a mask of the cells of `NUMERALS` whose number is known.
        values: of each cell as it is written; None if only the numbers were kept.
        after: the row below the last one, from 0.
        width: the number of cells in each row, if all rows have cells in the same columns; otherwise 0.
        formulas: a mask of the cells that are formulas; None if no cell is a formula.
        areas: the ranges of array formulas, of which `formulas` marks only the first cell.
        find_formulas: returns the index of each cell with a short formula of its own, and the formula.
    """

    rows: Positions
    columns: Positions
    types: Kinds
    styles: Positions
    pending: Mask
    numbers: Doubles
    numeral: Mask
    values: pl.Series | XmlTexts | None
    after: int
    width: int = 0
    formulas: Mask | None = None
    areas: tuple[FormulaArea, ...] = ()
    find_formulas: Callable[[], Iterable[tuple[int, str]]] = tuple

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, places: Positions) -> pl.Series:
        """Return the values of some cells, by their indices, as they are written; null for a formula without one."""
        import polars as pl

        assert self.values is not None, "whoever wants texts does not take cells whose numbers alone were kept"
        texts = self.values[places]
        if isinstance(self.values, pl.Series) or not (blank := self.pending[places]).any():
            return texts
        return texts.scatter(np.flatnonzero(blank), pl.Series([None], dtype=pl.String))

    def text_lengths(self, places: Positions) -> Positions:
        """Return the bytes of the values of some cells; 0 for a formula without one."""
        if isinstance(self.values, XmlTexts):
            return np.asarray(self.values.lengths[places], np.int64)
        return self.texts(places).str.len_bytes().fill_null(0).to_numpy()

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the cells take, about."""
        arrays = (self.rows, self.columns, self.types, self.styles, self.pending, self.numbers, self.numeral)
        values = 8 * len(self) + len(self.values.xml) if isinstance(self.values, XmlTexts) else 32 * len(self)
        return sum(array.nbytes for array in arrays) + values


def position_error(row: int, column: int) -> FormatError:
    """Return the error to raise for a cell beyond the last row or column that a sheet can have."""
    return FormatError(
        f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has",
        location=cell_address(row, column),
    )
