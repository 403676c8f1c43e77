"""Columns of text -> arrays: `<U`, or NumPy's `StringDType` where padding would be out of proportion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import TextLook, from_text, longest
from ..dtypes import named

if TYPE_CHECKING:
    import polars as pl

Array = np.ndarray[Any, np.dtype[Any]]

_PADDED_ALWAYS, _PADDED_TIMES = 2**26, 8  # bytes that padding may take, in all and for each of the text


def text_array(texts: Sequence[str]) -> Array:
    """The array of some texts."""
    width = max(map(len, texts), default=0)
    if _is_out_of_proportion(len(texts), width, sum(map(len, texts)) if 4 * width * len(texts) > _PADDED_ALWAYS else 0):
        return np.array(texts, dtype=np.dtypes.StringDType())
    return np.array(texts, dtype=f"<U{max(width, 1)}")


def text_array_of(column: pl.Series) -> Array:
    """The array of a column of text without blanks."""
    if _is_out_of_proportion(len(column), longest(column), int(column.str.len_chars().sum())):
        return np.array(column.to_list(), dtype=np.dtypes.StringDType())
    values, _ = from_text(column, named("string"), TextLook(formulas="keep"))
    return values


def _is_out_of_proportion(count: int, width: int, characters: int) -> bool:
    padded = 4 * count * width
    return padded > _PADDED_ALWAYS and padded > _PADDED_TIMES * 4 * characters
