"""Cells as worksheet XML says them, before their shared strings, styles and types are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from .cells import MOST_COLUMNS, MOST_ROWS, FormulaArea, Kinds, join_masks

if TYPE_CHECKING:
    import polars as pl

PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, LONG_TEXT = range(8)  # the last one becomes `cells.LONG`
TYPES = {"": PLAIN, "n": PLAIN, "s": SHARED, "str": RESULT, "inlineStr": INLINE, "b": LOGICAL, "e": ERROR, "d": ISO}
TEXTS = (RESULT, INLINE)  # the value is the text itself, and may be empty


@dataclass(frozen=True)
class RawCells:
    """Some cells of a worksheet: those that have a value or a formula.

    Attributes:
        rows, columns: of each cell, from 0.
        types: of each cell, one of the constants of this module.
        styles: of each cell, the index of its style; 0 where the XML names no style.
        pending: a mask of the cells that have a formula and no value.
        values: of each cell as it is written, as text or as Float64.
        after: the row below the last one, from 0.
        width: the number of cells in each row, if all rows have cells in the same columns; otherwise 0.
        formulas: a mask of the cells that are formulas; None if no cell is a formula.
        areas: the ranges of array formulas, of which `formulas` marks only the first cell.
    """

    rows: Positions
    columns: Positions
    types: Kinds
    styles: Positions
    pending: Mask
    values: pl.Series
    after: int
    width: int = 0
    formulas: Mask | None = None
    areas: tuple[FormulaArea, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, mask: Mask) -> RawCells:
        """Return the cells under a mask."""
        import polars as pl

        return RawCells(
            self.rows[mask],
            self.columns[mask],
            self.types[mask],
            self.styles[mask],
            self.pending[mask],
            self.values.filter(pl.Series(mask)),
            self.after,
            0,
            None if self.formulas is None else self.formulas[mask],
            self.areas,
        )

    def check(self) -> RawCells:
        """Return the same cells.

        Raises:
            FormatError: a cell lies beyond the last row or column that a sheet can have.
        """
        if len(self) and (int(self.rows.max()) >= MOST_ROWS or int(self.columns.max()) >= MOST_COLUMNS):
            first = int(np.flatnonzero((self.rows >= MOST_ROWS) | (self.columns >= MOST_COLUMNS))[0])
            raise position_error(int(self.rows[first]), int(self.columns[first]))
        return self


def position_error(row: int, column: int) -> FormatError:
    """Return the error to raise for a cell beyond the last row or column that a sheet can have."""
    return FormatError(
        f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has",
        location=cell_address(row, column),
    )


def concatenate(runs: Sequence[RawCells], after: int) -> RawCells:
    """Return several runs as one.

    Args:
        runs: the cells.
        after: the row below the last of them.
    """
    import polars as pl

    if len(runs) == 1:
        return runs[0]

    def join(arrays: list[Any]) -> Any:
        return np.concatenate(arrays)

    return RawCells(
        join([run.rows for run in runs]),
        join([run.columns for run in runs]),
        join([run.types for run in runs]),
        join([run.styles for run in runs]),
        join([run.pending for run in runs]),
        pl.concat([run.values for run in runs]),
        after,
        0,
        join_masks([run.formulas for run in runs], [len(run) for run in runs]),
        tuple(area for run in runs for area in run.areas),
    )
