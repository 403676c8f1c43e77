"""Addresses of cells as openpyxl has them, which knows nothing of this package."""

from __future__ import annotations

from openpyxl.utils import get_column_letter


def column_letters(column: int) -> str:
    """Return the letters of a column, counted from 0: `A`, `Z`, `AA`."""
    return get_column_letter(column + 1)


def cell_address(row: int, column: int) -> str:
    """Return the address of a cell by its row and column, counted from 0: `C17`."""
    return f"{column_letters(column)}{row + 1}"
