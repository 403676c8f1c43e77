"""A buffer of elements -> a Series that the engine writes as the text of its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Buffer, DType, Mask, Positions
from ..errors import DTypeError
from .column_dates import dates_to_short_text, dates_to_text
from .column_strings import escape_formulas, strings_to_text, unicode_text
from .encode import encode_generic, parts_to_text
from .engine import compute_columns
from .look import TextLook
from .scalars import FALSE, INFINITY, NEGATIVE_INFINITY, NO_TIME, TRUE, generic_to_text, generic_to_typed, shows_minus
from .serials import DATE_CODES, dates_to_serials, serial_unit

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


# A buffer of elements -> cells of a container that tells numbers, text and booleans apart, and has only doubles.
#
# What a double keeps is a number: finite floats, and integers up to a magnitude. All else is the text that a
# container of text would hold. Blanks are empty text and None.

_TYPED = TextLook(".", "typed")


@dataclass(frozen=True, slots=True)
class TypedCells:
    """The cells of a piece of a column, each a number, a text, a boolean or a blank."""

    # a numeric Series with null for every cell that is no number; None if no cell is one
    numbers: pl.Series | None = None
    texts: pl.Series | None = None  # a String Series with null for every cell that is not text; None if no cell is one
    # a Boolean Series with null for every cell that is no boolean; None if no cell is one
    booleans: pl.Series | None = None

    @property
    def kinds(self) -> list[pl.Series]:
        """Return the series that are not None, with the kind of cell that each holds."""
        return [kind for kind in (self.numbers, self.texts, self.booleans) if kind is not None]

    def __len__(self) -> int:
        return max(map(len, self.kinds), default=0)


def buffer_to_typed(
    buffer: Buffer, dtype: DType, *, exact: int, as_text: bool = False, serials: bool = False, start: int = 0
) -> TypedCells:
    """Return the cells of a buffer.

    `buffer`: 1-D and contiguous, of `dtype.numpy`. `exact`: the largest magnitude of an integer that is a number, 2^32
    at least; larger ones are text. `serials`: make dates the serial numbers that spreadsheets count, where those are
    exact. `start`: index of the first element in the array's buffer, for messages.

    Raises:
        DTypeError: text that is not Unicode (lone surrogates), or a generic element that no cell holds.

    Example:
        >>> from sheetarray import dtypes
        >>> cells = buffer_to_typed(np.array([1, 2**60]), dtypes.from_name("int64"), exact=10**15)
        >>> cells.numbers.to_list(), cells.texts.to_list()
        ([1, None], [None, '1152921504606846976'])
    """
    if as_text:
        return TypedCells(texts=_blank_to_null(_to_texts(buffer, dtype, start)))
    match dtype.kind:
        case "float":
            return _split_kinds(buffer, dtype, np.isfinite(buffer))
        case "int":
            return _split_kinds(buffer, dtype, _is_exact_number(buffer, exact))
        case "timedelta":
            return _split_kinds(buffer, dtype, _is_exact_number(buffer.view(np.int64), exact))
        case "bool":
            return TypedCells(booleans=_to_series(buffer.view(np.uint8) != 0))
        case "datetime" if serials and (unit := serial_unit(buffer.dtype)):
            return _split_dates(buffer, dtype, unit, start)
        case "datetime":
            return TypedCells(texts=dates_to_short_text(buffer))
        case "generic":
            return _split_generics(buffer, exact)
        case _:
            return TypedCells(texts=_blank_to_null(_to_texts(buffer, dtype, start)))


def _to_series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


def _to_texts(buffer: Buffer, dtype: DType, start: int = 0) -> pl.Series:
    import polars as pl

    return buffer_to_text(buffer, dtype, _TYPED, start=start).cast(pl.String)


def _blank_to_null(texts: pl.Series) -> pl.Series:
    """Return the texts with null for each empty one, which is a blank cell."""
    import polars as pl

    empty = texts == ""
    return pl.select(pl.when(~empty).then(texts)).to_series() if empty.any() else texts


def _is_exact_number(counts: Buffer, exact: int) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Return a mask of the integers that a double holds exactly, or None if all of them are."""
    if counts.dtype.itemsize < 8 or not len(counts) or (int(counts.min()) >= -exact and int(counts.max()) <= exact):
        return None
    return (counts <= exact) if counts.dtype.kind == "u" else (counts >= -exact) & (counts <= exact)


def _split_kinds(buffer: Buffer, dtype: DType, plain: np.ndarray[Any, np.dtype[np.bool_]] | None) -> TypedCells:
    numbers = _to_series(buffer.view(np.int64) if dtype.kind == "timedelta" else buffer)
    return _split(numbers, plain, lambda others: _to_texts(np.ascontiguousarray(buffer[others]), dtype))


def _split_dates(buffer: Buffer, dtype: DType, unit: str, start: int) -> TypedCells:
    """Return serial dates as numbers, and text for moments that no serial date can hold."""
    numbers, exact = dates_to_serials(buffer, unit)

    def texts_of(others: Positions) -> pl.Series:
        moments = np.ascontiguousarray(buffer[others])
        return _to_texts(moments, dtype, start) if unit in DATE_CODES else dates_to_short_text(moments)

    return _split(_to_series(numbers), exact, texts_of)


def _split(numbers: pl.Series, is_number: Mask | None, texts_of: Callable[[Positions], pl.Series]) -> TypedCells:
    """Return numbers where a mask is true, or everywhere without one, and texts in all other places."""
    import polars as pl

    if is_number is None or is_number.all():
        return TypedCells(numbers=numbers)
    others = np.flatnonzero(~is_number)
    texts = pl.repeat(None, len(numbers), dtype=pl.String, eager=True).scatter(others, texts_of(others))
    if len(others) == len(numbers):
        return TypedCells(texts=texts)
    return TypedCells(numbers=pl.select(pl.when(_to_series(is_number)).then(numbers)).to_series(), texts=texts)


def _split_generics(buffer: Buffer, exact: int) -> TypedCells:
    import polars as pl

    cells = [generic_to_typed(cell, exact) for cell in encode_generic(buffer, exact=None)]
    return TypedCells(
        numbers=pl.Series([_to_numeral(cell) for cell in cells], dtype=pl.String),
        texts=unicode_text([cell if isinstance(cell, str) else None for cell in cells]),
        booleans=pl.Series([cell if isinstance(cell, bool) else None for cell in cells], dtype=pl.Boolean),
    )


def _to_numeral(cell: Any) -> str | None:
    return None if cell is None or isinstance(cell, (str, bool)) else repr(cell)
