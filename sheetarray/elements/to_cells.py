"""A buffer of elements -> a Series that the engine writes as the text of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer, DType
from ..errors import DTypeError
from .column_dates import dates_to_text
from .column_strings import escape_formulas, strings_to_text, unicode_text
from .encode import encode_generic, parts_to_text
from .engine import compute_columns
from .generics import generic_to_text
from .spelling import FALSE, INFINITY, NEGATIVE_INFINITY, NO_TIME, TRUE, TextLook, shows_minus

if TYPE_CHECKING:
    import polars as pl

_WORDS = {"inf": INFINITY, "-inf": NEGATIVE_INFINITY}  # the engine's, and the format's


def buffer_to_text(buffer: Buffer, dtype: DType, look: TextLook, *, start: int = 0) -> pl.Series:
    """Return the cells of a buffer as a Series that the engine writes as text: numeric, or String.

    A float Series has no infinities, which the engine would spell in its own way; with a decimal comma it is still
    numeric, and the writer is told.

    `buffer`: 1-D and contiguous, of `dtype.numpy`. `start`: index of the first element in the array's buffer, for
    messages.

    Raises:
        DTypeError: text that is not Unicode (lone surrogates), or a generic element that no cell holds.
    """
    import polars as pl

    match dtype.kind:
        case "float":
            values = pl.Series(buffer)
            return _with_decimal_comma(_spell_infinities(values), look) if np.isinf(buffer).any() else values
        case "int":
            return pl.Series(buffer)
        case "bool":
            return pl.Series((buffer.view(np.uint8) != 0).view(np.uint8)).cat.to(pl.Enum([FALSE, TRUE]))
        case "complex":
            return _with_decimal_comma(_format_complexes(buffer), look)
        case "timedelta":
            missing = np.isnat(buffer)
            counts = pl.Series(buffer.view(np.int64))
            return counts.cast(pl.String).set(pl.Series(missing), NO_TIME) if missing.any() else counts
        case "datetime":
            return dates_to_text(buffer)
        case "string":
            return escape_formulas(strings_to_text(buffer), look)
        case "generic":
            return unicode_text(_format_generics(buffer, look, start))


def texts_of_cells(column: pl.Series, look: TextLook) -> list[Any]:
    """Return cells, as `buffer_to_text` makes them, as the texts that the engine writes; None for blanks."""
    import polars as pl

    texts = column.cast(pl.String)
    if column.dtype.is_float() and look.decimal == ",":
        texts = texts.str.replace(".", ",", literal=True)
    return texts.to_list()


def _spell_infinities(values: pl.Series) -> pl.Series:
    """Return floats as text, infinities in the format's spelling."""
    import polars as pl

    texts = values.cast(pl.String)
    infinite = values.is_infinite().arg_true()
    if not len(infinite):
        return texts
    return texts.scatter(infinite, texts.gather(infinite).replace(_WORDS))


def _format_complexes(buffer: Buffer) -> pl.Series:
    """`3+4i`, each part the shortest text that reads back."""
    import polars as pl

    parts = buffer.view(np.dtype(f"f{buffer.dtype.itemsize // 2}"))
    values = {"real": np.ascontiguousarray(parts[0::2]), "imag": np.ascontiguousarray(parts[1::2])}
    columns = {name: pl.Series(numbers) for name, numbers in values.items()}
    texts = compute_columns(columns, **{name: _format_part(name, numbers) for name, numbers in values.items()})
    spelled = {name: _spell_small(numbers, texts[name]) for name, numbers in values.items()}
    plus = pl.when("negative").then(pl.lit("")).otherwise(pl.lit("+"))
    return compute_columns(
        {**spelled, "negative": pl.Series(shows_minus(values["imag"]))},
        text=pl.concat_str("real", plus, "imag", pl.lit("i")),
    )["text"]


def _format_part(name: str, values: Buffer) -> pl.Expr:
    """Return the expression that makes texts of the real or the imaginary parts in a column."""
    import polars as pl

    text = pl.col(name)
    if values.dtype.itemsize < 8:  # the same digits, and the exponents of doubles
        text = text.cast(pl.String).cast(pl.Float64)
    text = text.cast(pl.String)
    if np.isinf(values).any():
        text = text.replace(_WORDS)
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        return text.str.strip_suffix(".0") if (values == np.trunc(values)).any() else text


def _spell_small(values: Buffer, texts: pl.Series) -> pl.Series:
    """Return texts in which exponents are those of single elements: the engine has its own below a ten-thousandth."""
    with np.errstate(invalid="ignore"):
        small = np.flatnonzero((np.abs(values) < 1e-4) & (values != 0))
    return texts.scatter(small, parts_to_text(values[small])) if len(small) else texts


def _with_decimal_comma(texts: pl.Series, look: TextLook) -> pl.Series:
    return texts.str.replace_all(".", ",", literal=True) if look.decimal == "," else texts


def _format_generics(buffer: Buffer, look: TextLook, start: int) -> list[str | None]:
    texts: list[str | None] = []
    for index, cell in enumerate(encode_generic(buffer, exact=None)):
        try:
            texts.append(generic_to_text(cell, formulas=look.formulas, decimal=look.decimal))
        except ValueError as error:
            raise DTypeError(f"generic element {start + index}: {error}") from error
    return texts
