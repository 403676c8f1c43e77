"""The elements of columns as what cells of openpyxl and XlsxWriter hold: text, booleans, numbers and dates."""

from __future__ import annotations

from typing import Any

from ...columns import LayoutColumn
from ...elements import TypedCells
from ...elements.serials import serial_unit

BOLD = "bold"  # what stands for the bold style where the code of a number format is expected


class Numeral(str):
    """The shortest text of a number that 16 digits would change."""


def scalars_of(piece: LayoutColumn, typed: TypedCells, start: int, size: int) -> list[Any]:
    """Return some elements of a column as what its cells hold: None, text, a boolean, a number, `Numeral` or a date."""
    count = max(min(size, len(piece.buffer) - start), 0)
    cells: list[Any] = [None] * count
    for series in typed.kinds:
        values = series.slice(start, count)
        converted = _numbers(piece, values, start) if series is typed.numbers else values.to_list()
        cells = [cell if value is None else value for cell, value in zip(cells, converted, strict=True)]
    return cells


def _numbers(piece: LayoutColumn, values: Any, start: int) -> list[Any]:
    """Return the number cells among some elements of a column."""
    import polars as pl

    if piece.dtype.kind == "datetime":
        unit = "D" if serial_unit(piece.buffer.dtype) == "D" else "ms"
        moments = piece.buffer[start : start + len(values)].astype(f"M8[{unit}]").tolist()
        return [moment if exact else None for moment, exact in zip(moments, values.is_not_null(), strict=True)]
    if values.dtype == pl.String:  # generic
        return [
            None if text is None else _number(float(text)) if set(text) & set(".e") else int(text) for text in values
        ]
    if values.dtype.is_float() and values.dtype != pl.Float64:
        values = values.cast(pl.Float32).cast(pl.String).cast(pl.Float64)
    if values.dtype.is_float():
        return [None if value is None else _number(value) for value in values]
    numbers: list[Any] = values.to_list()
    return numbers


def _number(value: float) -> float | Numeral:
    """Return a double, or its text if 16 digits would change it; those of -0.0 are read as an integer."""
    return value if float(f"{value:.16g}") == value and (value or str(value) == "0.0") else Numeral(repr(value))
