"""What the two binary kinds of workbooks have in common: packed numbers, errors, and runs of cells."""

from __future__ import annotations

import math
import struct
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import numpy as np

from ....columns import cell_address
from ....errors import FormatError
from .cells import BOOLEAN, FAULT, LARGE, NUMBER, TEXT, CellRun
from .formats import Formats
from .order import OrderCheck

ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
_CELLS_A_RUN = 2**16
_ROUNDED = 2**53
SHORT_FORMULA = 4  # bytes of a formula that refers to nothing, as TRUE() does


@contextmanager
def checking_complete(what: str) -> Iterator[None]:
    """Refuse records that are shorter than their kind, for the location `what`."""
    try:
        yield
    except (struct.error, IndexError) as error:
        raise FormatError("a record is shorter than its kind", location=what) from error


def unpack_number(word: int) -> float:
    """Return the number in an RK word: 30 bits of a double or of an integer, perhaps of hundredths (MS-XLS 2.5.217)."""
    value: float
    if word & 2:
        value = (word >> 2) - (1 << 30 if word >> 31 else 0)
    else:
        value = struct.unpack("<d", struct.pack("<Q", (word & 0xFFFFFFFC) << 32))[0]
    return value / 100 if word & 1 else float(value)


class RunCollector:
    """Cells as they are found, made into runs.

    Args:
        formats: what styles make of numbers.
        rows: how many a sheet has.
        columns: how many.
    """

    def __init__(self, formats: Formats, *, rows: int, columns: int) -> None:
        self._formats, self._most_rows, self._most_columns = formats, rows, columns
        self._cells: list[tuple[int, int, int, int, str]] = []
        self._formulas: list[int] = []
        self._order = OrderCheck()

    def add_number(self, row: int, column: int, style: int, value: float) -> None:
        """A number, as the numeral that reads back to it."""
        kind = NUMBER if abs(value) < _ROUNDED else LARGE
        plain = kind == NUMBER and value.is_integer() and (value != 0 or math.copysign(1, value) > 0)
        self.add(row, column, style, kind, str(int(value)) if plain else repr(value))

    def add_text(self, row: int, column: int, value: str) -> None:
        """A text."""
        self.add(row, column, 0, TEXT, value)

    def add_boolean(self, row: int, column: int, value: int) -> None:
        """A boolean, 0 for false."""
        self.add(row, column, 0, BOOLEAN, "1" if value else "0")

    def add_error(self, row: int, column: int, code: int) -> None:
        """An error, by its code."""
        self.add(row, column, 0, FAULT, ERRORS.get(code, f"of the code {code}"))

    def mark_formula(self) -> None:
        """Say that the cell before was the result of a formula."""
        self._formulas.append(len(self._cells) - 1)

    def unmark_formula(self) -> None:
        """Say that the cell before was none, if it was marked."""
        if self._formulas and self._formulas[-1] == len(self._cells) - 1:
            self._formulas.pop()

    def add(self, row: int, column: int, style: int, kind: int, value: str) -> None:
        """A cell.

        Raises:
            FormatError: there is no such row or column.
        """
        if row >= self._most_rows or column >= self._most_columns:
            raise FormatError(
                f"a cell beyond the {self._most_rows} rows and {self._most_columns} columns that a sheet has",
                location=cell_address(row, column),
            )
        self._cells.append((row, column, style, kind, value))

    def take_run(self, *, last: bool) -> Generator[CellRun]:
        """Return the collected cells as a run if there are enough of them (or if `last`), else None."""
        import polars as pl

        if not self._cells or (len(self._cells) < _CELLS_A_RUN and not last):
            return
        rows, columns, styles, kinds, values = zip(*self._cells, strict=True)
        formulas = None
        if self._formulas:
            formulas = np.zeros(len(rows), np.bool_)
            formulas[self._formulas] = True
        self._cells, self._formulas = [], []
        self._order.check(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))
        given = np.array(kinds, dtype=np.uint8)
        large = given == LARGE
        shown = self._formats.kinds_as_shown(np.where(large, np.uint8(NUMBER), given), np.array(styles, dtype=np.int64))
        yield CellRun(
            np.array(rows, dtype=np.int64),
            np.array(columns, dtype=np.int64),
            np.where(large & (shown == NUMBER), np.uint8(LARGE), shown),
            pl.Series(values, dtype=pl.String),
            0,
            formulas,
        )


def decode_utf16(raw: bytes) -> str:
    """UTF-16 as text; half of a surrogate pair, which is no character, is replaced."""
    return raw.decode("utf-16-le", "replace")
