"""A pandas DataFrame of cells: the columns of a sheet as objects, names on top, short columns padded with None.

`to_frame(..).to_csv(index=False)` is a CSV that `read` understands; what pandas read from one, `from_frame` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..adapters import CELL_CHARACTERS
from ..arrays import linear_arrays
from ..cells import TextLook
from ..columns import ColumnCells, Request, Words, Zone, lay_out
from ..composite import open_sheets, read_composites, spread
from ..elements import MOST_GENERIC, Cell, Missing, encode
from ..errors import Finding, NotFoundError

if TYPE_CHECKING:
    import pandas as pd


def to_frame(arrays: Any) -> pd.DataFrame:
    """Return a DataFrame with one column for each array.

    The column has the array's name, and holds its flat list as Python scalars.

    Args:
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.

    Returns:
        A DataFrame. Columns that are shorter than others end with None.

    Raises:
        DTypeError: the format has no dtype for an array.

    Example:
        >>> to_frame({"x": np.array([1.5, 2.5])})["x"].tolist()[-3:]
        ['data', 1.5, 2.5]
    """
    import pandas as pd

    layout = lay_out(linear_arrays(spread(arrays, limit=CELL_CHARACTERS), exact=MOST_GENERIC))
    columns = {}
    for number, piece in enumerate(layout.pieces):
        cells = np.full(layout.height - 1, None, dtype=object)
        cells[: piece.height] = [*piece.header, *encode(piece.buffer, piece.dtype)]
        columns[number] = cells
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index([piece.name for piece in layout.pieces])
    return frame


def from_frame(
    frame: pd.DataFrame,
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays in a DataFrame of cells, such as `to_frame` returns.

    Args:
        frame: the DataFrame. Cells may be text; NaN, None and NA are blanks.
        names: the arrays to read; None reads all.
        strict: refuse flat lists without a version, an older form.
        missing: "nan" reads blanks in float and complex arrays as NaN.
        resize: read arrays at their new length where people added or deleted rows.

    Raises:
        FormatError: the content is wrong. `.location` is the address of the cell in a sheet with the names in row 1.
        NotFoundError: an array in `names` does not exist.

    Example:
        >>> from_frame(to_frame({"x": np.array([1, 2], dtype="uint8")}))
        {'x': array([1, 2], dtype=uint8)}
    """
    arrays = open_sheets([_FrameSheet(frame)], strict=strict, missing=missing, resize=resize)
    return read_composites(arrays.read, arrays.scan, names)


class _FrameSheet:
    """A DataFrame as a sheet whose row 1 holds the column names."""

    title: str | None = None
    max_rows: int | None = None
    keeps_blanks = True
    look = TextLook(formulas="keep")

    def __init__(self, frame: pd.DataFrame) -> None:
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            raise NotFoundError(f"expected a pandas DataFrame, not {type(frame).__name__}")
        self._frame = frame
        self.notes: list[Finding] = []

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the column names and the first rows."""
        rows = min(1200, max(64, budget // max(self._frame.shape[1], 1)))
        columns = [self._column_cells(number, 0, rows) for number in range(self._frame.shape[1])]
        return [list(row) for row in zip(*columns, strict=True)], rows > len(self._frame)

    def words(self) -> Words:
        """Return the words of headers in the columns that hold objects or text, and in the names of all."""
        cells: list[tuple[int, int, Cell]] = []
        for number, dtype in enumerate(self._frame.dtypes):
            cells.append((0, number, str(self._frame.columns[number])))
            if getattr(dtype, "kind", "O") not in "iufcbmM":
                cells += [
                    (row, number, cell)
                    for row, cell in enumerate(self._column_cells(number, 1), 1)
                    if type(cell) is str
                ]
        return Words.from_cells(cells)

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        return [
            self._column_cells(zone.column, zone.row, zone.row + zone.count)
            if zone.orient == "columns"
            else self._row(zone.row, zone.column, zone.column + zone.count)
            for zone in zones
        ]

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:  # noqa: ARG002  (a Sheet's)
        """Return columns as Python scalars."""
        return [([], self._column_cells(request.column, request.row, request.stop)) for request in requests]

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, from a column on."""
        for request in requests:
            yield [], self._row(request.row, request.column, request.stop)

    def _row(self, row: int, first: int, end: int | None) -> list[Cell]:
        width = self._frame.shape[1]
        cells = (self._column_cells(number, row, row + 1) for number in range(first, min(end or width, width)))
        return [cell[0] if cell else None for cell in cells]

    def _column_cells(self, number: int, start: int, stop: int | None = None) -> list[Cell]:
        values = self._frame.iloc[max(start - 1, 0) : None if stop is None else stop - 1, number]
        blank = values.isna().to_numpy()
        cells = values.astype(object).to_numpy(copy=True)
        cells[blank] = None
        name = str(self._frame.columns[number])
        return [
            *([name] if start == 0 else ()),
            *(c.item() if isinstance(c, np.generic) else c for c in cells),
        ]
