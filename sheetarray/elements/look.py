"""How values look in a container of text, and under which of its own dtypes the engine may parse them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..dtypes import DType

FormulaMode = Literal["escape", "keep"]  # what a container of nothing but text may do


@dataclass(frozen=True, slots=True)
class TextLook:
    """How a container of text writes values: its decimal mark, and what it does with formulas."""

    decimal: Literal[".", ","] = "."  # the decimal mark of floats and complex numbers
    # "escape" puts an apostrophe before text that a spreadsheet would evaluate, "keep" does not; "typed" is a container
    # that knows text from numbers and formulas by itself
    formulas: Literal["escape", "keep", "typed"] = "escape"


def engine_dtype(dtype: DType) -> Any:
    """Return the polars dtype under which the engine may parse a column of `dtype` by itself; String where it
    may not. That of float16 is Float64: the engine itself would round a numeral twice.
    """
    import polars as pl

    if dtype.name == "float16":
        return pl.Float64
    if dtype.kind in ("float", "int", "bool"):
        names = {"bool": "Boolean", "uint": "UInt", "int": "Int", "float": "Float"}
        base = dtype.name.rstrip("0123456789")
        return getattr(pl, names[base] + dtype.name[len(base) :])
    return pl.Int64 if dtype.kind == "timedelta" else pl.String
