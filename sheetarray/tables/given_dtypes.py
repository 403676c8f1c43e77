"""A column under a dtype that the caller gives."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..cells import TextLook, buffer_from_text
from ..dtypes import Array, DType
from ..elements import Missing, Problem, decode
from ..errors import DTypeError, FormatError
from .numerals import WHITE, NumeralMarks, commas_are_decimal
from .options import DTypeLike

_NUMBERS = ("float", "complex", "int")


def parse_given_dtype(dtype: DTypeLike) -> DType:
    """Return the dtype that is meant: by a name of the format's, or by whatever NumPy takes for a dtype.

    Text is kept whole, however few characters `<U5` would hold.

    Raises:
        DTypeError: no dtype of the format is.

    Example:
        >>> [parse_given_dtype(dtype).name for dtype in ("string", "str", str, "<U5", "i4", "M8[s]")]
        ['string', 'string', 'string', 'string', 'int32', 'datetime64[s]']
    """
    try:
        return dtypes.from_name(dtype)
    except FormatError as error:
        try:
            known = np.dtype(dtype)
        except (TypeError, ValueError):  # NumPy does not know it either
            raise DTypeError(str(error)) from None
    return dtypes.from_numpy(known)


def decode_given(
    texts: list[str | None], dtype: DType, marks: NumeralMarks, missing: Missing
) -> tuple[Array, list[Problem]]:
    """Return the values of a column under a dtype, and the cells that it cannot mean.

    Args:
        texts: of the cells; None is a missing value.
        dtype: of the values.
        marks: that numbers bear.
        missing: "nan" makes missing values NaN and NaT; text has "" and generic columns None for them.
    """
    import polars as pl

    decimal = "."
    if dtype.kind in _NUMBERS:
        texts = _without_groups(texts, marks)
        decimal = marks.point
        if marks.is_plain and marks.decimal is None:
            held = [text.strip(WHITE) for text in texts if text and "," in text]
            decimal = "," if held and commas_are_decimal(_all(texts), only_numbers=False) else "."
    if dtype.kind == "datetime" and missing == "nan":
        texts = ["NaT" if text is None else text for text in texts]
    look = TextLook("," if decimal == "," else ".", "keep")
    if dtype.kind in ("string", "generic") or len(texts) > 1000:
        return buffer_from_text(pl.Series(texts, dtype=pl.String), dtype, look, missing=missing)
    return decode(texts, dtype, missing=missing, decimal=decimal)


def _all(texts: list[str | None]) -> list[str]:
    return [bare for text in texts if text and (bare := text.strip(WHITE))]


def _without_groups(texts: list[str | None], marks: NumeralMarks) -> list[str | None]:
    """Return numbers without the marks between their thousands; other cells as they are."""
    if marks.thousands is None:
        return texts
    import re

    number = re.compile(marks.grouped_number)
    without = str.maketrans("", "", marks.group)
    return [
        text.translate(without) if text is not None and number.fullmatch(text.strip(WHITE)) else text for text in texts
    ]
