"""A column of cells -> a buffer of elements, and the cells that cannot be read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer, DType, Mask
from .column_dates import dates_from_text
from .column_strings import strings_from_text
from .decoding import decode
from .engine import compute_columns, engine_dtype
from .floats import find_ties
from .generics import generic_from_text
from .missing import Missing, takes_blanks
from .problems import Problem
from .scalars import unescape_formula
from .spelling import FALSE_WORDS, TRUE_WORDS, TextLook
from .texts import text_array

if TYPE_CHECKING:
    import polars as pl

_FEW = 32  # cells that are read one by one: the engine takes longer to begin
_OFTEN = 2  # how often each text occurs on an average; from here on each different text is parsed only once
_FEW_UNLOADED = 2**15  # the same where the engine has to be imported first
_UNSURE_AT_ONCE = 2**16  # cells that are made Python objects together, to be read one by one
_SCALAR = {"float64", "complex128", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def buffer_from_typed(column: pl.Series, dtype: DType, *, missing: Missing = "error") -> Buffer | None:
    """Return the buffer of a column parsed by the engine, or None where its text has to be looked at.

    Its text has to be looked at if the column is still text, if a cell is blank that must not be, if a float is
    infinite, since the engine reads the numeral 1e999 as infinity, or if a double lies between two values of float16.

    `column`: as the engine has parsed it, under `engine_dtype(dtype)`. `missing`: "nan" makes blanks NaN in floats.
    """
    import polars as pl

    if column.dtype == pl.String:
        return None
    if column.null_count():
        if dtype.kind != "float" or not takes_blanks(missing):
            return None
        column = column.fill_null(float("nan"))
    values: Buffer = column.to_numpy(writable=True)
    if dtype.name == "float16":
        values, ties = _narrow(values)
        if ties.any():
            return None
    if dtype.kind == "float" and _has_infinities(values):
        return None
    return values.view(dtype.numpy) if dtype.kind == "timedelta" else values.astype(dtype.numpy, copy=False)


def _narrow(values: Buffer) -> tuple[Buffer, Mask]:
    """Return doubles as float16, and a mask of those that the text has to decide: it lies between two values."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(np.float16)
    unsure = np.zeros(len(values), np.bool_)
    unsure[find_ties(values, narrow)] = True
    return narrow, unsure


def _has_infinities(values: Buffer) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):  # one infinity makes the sum infinite, or NaN
        return not np.isfinite(values.sum()) and bool(np.isinf(values).any())


def buffer_from_text(
    column: pl.Series, dtype: DType, look: TextLook, *, missing: Missing = "error"
) -> tuple[Buffer, list[Problem]]:
    """Return the buffer of a column of text, one element for each cell, and the cells that cannot be read."""
    if len(column) <= _FEW and dtype.name in _SCALAR:
        return decode(column.to_list(), dtype, missing=missing, decimal=look.decimal)
    match dtype.kind:
        case "string":
            return strings_from_text(column, look)
        case "generic":
            return _parse_generics(column.to_list(), look), []
        case "float":
            return _parse_floats(column, dtype, look, missing)
        case "int":
            return _parse_integers(column, dtype, look, missing)
        case "bool":
            return _parse_booleans(column, dtype, look, missing)
        case "complex":
            return _parse_complexes(column, dtype, look, missing)
        case "datetime" if dates := dates_from_text(column, dtype):
            return _decode_unsure(column, *dates, dtype, look, missing)
        case _:
            return decode(column.to_list(), dtype, missing=missing)


def buffer_from_texts(
    texts: Sequence[Any], dtype: DType, look: TextLook, *, missing: Missing = "error"
) -> tuple[Buffer, list[Problem]]:
    """Return the buffer of a list of texts, and the cells that cannot be read; for columns of a few cells.

    The engine converts numbers where it has been loaded already, or where there are many; no query of it is run.
    """
    if dtype.kind == "string":
        escaped = look.formulas == "escape"
        return text_array([(unescape_formula(text) if escaped else text) if text else "" for text in texts]), []
    if dtype.kind == "generic":
        return _parse_generics(texts, look), []
    few = _FEW if "polars" in sys.modules else _FEW_UNLOADED
    if dtype.kind in ("float", "int") and look.decimal == "." and len(texts) >= few:
        import polars as pl

        column = pl.Series(texts, dtype=pl.String).cast(engine_dtype(dtype), strict=False)
        if not column.null_count() and (buffer := buffer_from_typed(column, dtype)) is not None:
            return buffer, []
    return decode(texts, dtype, missing=missing, decimal=look.decimal)


def _decode_unsure(
    column: pl.Series,
    values: pl.Series | Buffer,
    unsure: pl.Series,
    dtype: DType,
    look: TextLook,
    missing: Missing,
) -> tuple[Buffer, list[Problem]]:
    """Make a buffer of the parsed values; cells that the engine could not parse are decoded one by one."""
    out = values if isinstance(values, np.ndarray) else values.to_numpy(writable=True).astype(dtype.numpy, copy=False)
    indices = unsure.arg_true()
    problems: list[Problem] = []
    for start in range(0, len(indices), _UNSURE_AT_ONCE):  # as Python's objects cells take much room
        unsure_piece = indices[start : start + _UNSURE_AT_ONCE]
        places = unsure_piece.to_numpy()
        out[places], wrong = decode(column.gather(unsure_piece).to_list(), dtype, missing=missing, decimal=look.decimal)
        problems += [replace(p, index=int(places[p.index])) for p in wrong]
        if any(problem.rest for problem in wrong):
            break
    return out, problems


def _parse_floats(column: pl.Series, dtype: DType, look: TextLook, missing: Missing) -> tuple[Buffer, list[Problem]]:
    values = _with_decimal_point(column.str.strip_chars(), look).cast(engine_dtype(dtype), strict=False)
    unsure = _are_not_finite(values)
    if dtype.name != "float16":
        return _decode_unsure(column, values.fill_null(0), unsure, dtype, look, missing)
    import polars as pl

    narrow, ties = _narrow(values.fill_null(0).to_numpy())
    unsure = unsure | pl.Series(ties | np.isinf(narrow))
    return _decode_unsure(column, narrow, unsure, dtype, look, missing)


def _are_not_finite(values: pl.Series) -> pl.Series:
    """Return a mask of null and infinite values, to be decoded again: the engine reads `1e999` as infinity."""
    return values.is_null() | values.is_infinite().fill_null(value=False)


def _parse_integers(column: pl.Series, dtype: DType, look: TextLook, missing: Missing) -> tuple[Buffer, list[Problem]]:
    texts = _with_decimal_point(column.str.strip_chars(), look)
    values = texts.cast(engine_dtype(dtype), strict=False)
    if values.null_count():  # a program may have written them as `2.0`
        whole = texts.str.extract(r"^([+-]?[0-9]+)\.0*$").cast(values.dtype, strict=False)
        values = values.fill_null(whole)
    return _decode_unsure(column, values.fill_null(0), values.is_null(), dtype, look, missing)


def _parse_booleans(column: pl.Series, dtype: DType, look: TextLook, missing: Missing) -> tuple[Buffer, list[Problem]]:
    words = column.str.strip_chars().str.to_lowercase()
    true = words.is_in(TRUE_WORDS).fill_null(value=False)
    false = words.is_in(FALSE_WORDS).fill_null(value=False)
    return _decode_unsure(column, true, ~(true | false), dtype, look, missing)


def _parse_complexes(column: pl.Series, dtype: DType, look: TextLook, missing: Missing) -> tuple[Buffer, list[Problem]]:
    """Return the cells that are two plain numerals and a unit; the sign between them is the first that
    follows a digit.
    """
    import polars as pl

    width: Any = pl.Float64 if dtype.numpy.itemsize == 16 else pl.Float32
    text = pl.col("text")
    sign = text.str.find(r"[0-9N.][+-]").cast(pl.Int64) + 1
    ends = text.str.ends_with("i") | text.str.ends_with("j")
    parts = compute_columns(
        {"text": _with_decimal_point(column.str.strip_chars(), look)},
        real=pl.when(ends).then(text.str.slice(0, sign)).cast(width, strict=False),
        imag=pl.when(ends).then(text.str.slice(sign, text.str.len_bytes() - sign - 1)).cast(width, strict=False),
    )
    real, imag = parts["real"], parts["imag"]
    out = np.empty(len(column), dtype=dtype.numpy)
    out.real, out.imag = real.fill_null(0).to_numpy(), imag.fill_null(0).to_numpy()
    return _decode_unsure(column, out, _are_not_finite(real) | _are_not_finite(imag), dtype, look, missing)


def _with_decimal_point(texts: pl.Series, look: TextLook) -> pl.Series:
    """Replace decimal commas by points. A cell that has a point in a sheet with decimal commas becomes null."""
    if look.decimal == ".":
        return texts
    import polars as pl

    swapped = texts.str.replace_all(",", ".", literal=True)
    has_point = texts.str.contains(".", literal=True)
    return pl.select(pl.when(has_point).then(None).otherwise(swapped)).to_series() if has_point.any() else swapped


def _parse_generics(texts: Sequence[str | None], look: TextLook) -> Buffer:
    out, distinct = np.empty(len(texts), dtype=object), set(texts)
    if _OFTEN * len(distinct) <= len(texts):
        values = {text: generic_from_text(text, formulas=look.formulas) for text in distinct}
        out[:] = [values[text] for text in texts]
    else:
        out[:] = [generic_from_text(text, formulas=look.formulas) for text in texts]
    return out
