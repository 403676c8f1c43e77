"""Reads the columns of a table in dtypes that the caller gives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .. import dtypes
from ..changes.elements import cast_exactly
from ..dtypes import Array, DType
from ..elements import FormulaMode, MissingOption, Problem, TextLook, buffer_from_text, decode, format_bool
from ..elements.equality import index_changes
from ..errors import DTypeError, FormatError
from ..linear.array import to_linear
from .moments import read_formatted, without_zones
from .numerals import WHITE, NumeralMarks
from .options import DTypeLike

NUMBERS = ("float", "complex", "int")
"""The kinds of dtypes whose cells may have marks of numbers."""


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
            numpy_dtype = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError):  # NumPy does not know it either
            raise DTypeError(str(error)) from None
    return dtypes.from_numpy(numpy_dtype)


def given_dtypes(columns: Mapping[str, Array]) -> dict[str, Any]:
    """Return the dtypes in which to read cells so that they equal some columns; columns of objects have none."""
    return {
        name: "string" if column.dtype.kind in "UT" else column.dtype
        for name, column in columns.items()
        if column.dtype.kind != "O"
    }


def list_new_texts(before: Mapping[str, Array], now: Mapping[str, Array]) -> list[str]:
    """Return the names of the columns that hold text now, and values of another kind before."""
    return [
        name for name in now if name in before and now[name].dtype.kind in "UT" and before[name].dtype.kind not in "OUT"
    ]


def is_same_column(a: Array, b: Array) -> bool:
    """Return whether two columns hold the same; a blank is None, NaN, NaT or no text."""
    if len(a) != len(b):
        return False
    if "O" not in a.dtype.kind + b.dtype.kind:
        return not len(index_changes(a, b))
    pairs = ([None if _is_blank(cell) else cell for cell in column.tolist()] for column in (a, b))
    return all(x == y for x, y in zip(*pairs, strict=True))


def _is_blank(cell: Any) -> bool:
    return cell is None or cell != cell or cell == ""


def decode_given(
    texts: list[str | None],
    dtype: DType,
    marks: NumeralMarks,
    missing: MissingOption,
    date_format: str | None = None,
    formulas: FormulaMode | Literal["typed"] = "keep",
) -> tuple[Array, list[Problem]]:
    """Return the values of a column in a dtype, and the cells that do not fit it.

    `texts`: of the cells; None is a missing value. `marks`: of the numbers. `missing`: "nan" makes missing values NaN
    and NaT; text has "" and generic columns None for them. `date_format`: how dates are written. `formulas`: as for
    `TextLook`.
    """
    import polars as pl

    decimal = "."
    if dtype.kind in NUMBERS:
        texts = _without_groups(texts, marks)
        decimal = marks.point
    if dtype.kind == "datetime":
        texts = without_zones(texts)
        if date_format is not None:
            texts = read_formatted(texts, date_format)
    if dtype.kind in ("datetime", "timedelta") and missing == "nan":
        texts = ["NaT" if text is None else text for text in texts]
    look = TextLook("," if decimal == "," else ".", formulas)
    if dtype.kind in ("string", "generic") or len(texts) > 1000:
        array, problems = buffer_from_text(pl.Series(texts, dtype=pl.String), dtype, look, missing=missing)
    else:
        array, problems = decode(texts, dtype, missing=missing, decimal=decimal)
    return array, [_name_word(problem, texts) if problem.is_word else problem for problem in problems]


def _name_word(problem: Problem, texts: Sequence[str | None]) -> Problem:
    """Return the problem of a word for a missing value, which a table takes where the caller names it."""
    return replace(problem, hint=f"na_values={texts[problem.index]!r} reads it as missing")


def cast_column(values: Array, dtype: DTypeLike, missing: MissingOption) -> tuple[Array, list[Problem]]:
    """Return an array cast to the given dtype, and the elements that do not fit it.

    They are those of `decode_given`: no number wraps, or loses its decimals.

    Example:
        >>> values, problems = cast_column(np.array([2.0, 2.5]), "int8", "nan")
        >>> [(problem.index, problem.reason) for problem in problems]
        [(1, "expected an integer, found '2.5'")]
    """
    given_dtype = parse_given_dtype(dtype)
    if given_dtype.kind != "string" and (exact := cast_exactly(values, given_dtype.numpy)) is not None:
        return exact, []
    cells: list[Any] = to_linear(values)[-len(values) :] if len(values) else []
    texts = [None if cell is None else format_bool(cell) if isinstance(cell, bool) else str(cell) for cell in cells]
    return decode_given(texts, given_dtype, NumeralMarks(), missing)


def _without_groups(texts: list[str | None], marks: NumeralMarks) -> list[str | None]:
    """Return numbers without the marks between their thousands; other cells as they are."""
    if marks.thousands is None:
        return texts
    number = re.compile(marks.number)
    without = str.maketrans("", "", marks.group)
    return [
        text.translate(without) if text is not None and number.fullmatch(text.strip(WHITE)) else text for text in texts
    ]
