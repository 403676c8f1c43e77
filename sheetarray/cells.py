"""Elements <-> cells of text in bulk: the same look as `elements`, at the speed of a columnar engine.

`to_text` makes of a buffer a polars Series whose CSV text is right: numbers stay numbers there, since the engine's
own text of them is the shortest that reads back. `from_typed` takes a column that the engine has parsed under
`engine_dtype` already, and gives up (None) at the slightest doubt; `from_text` then looks at the text itself
and leaves to `elements` the cells that no vectorised rule settles.

polars is imported at the first use, so that reading headers never waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import elements
from .dtypes import DType
from .elements import Missing, Problem, generic_from_text, generic_to_text
from .errors import DTypeError

if TYPE_CHECKING:
    import polars as pl

Buffer = np.ndarray[tuple[int], np.dtype[Any]]
Formulas = Literal["escape", "keep"]


@dataclass(frozen=True, slots=True)
class TextLook:
    """How values look in a container of text.

    Attributes:
        decimal: the decimal mark of floats and complex numbers.
        formulas: "escape" puts an apostrophe before text that a spreadsheet would evaluate.
    """

    decimal: Literal[".", ","] = "."
    formulas: Formulas = "escape"


# Writing -----------------------------------------------------------------------------------------------------


def to_text(buffer: Buffer, dtype: DType, look: TextLook, *, start: int = 0) -> pl.Series:
    """The cells of a buffer as a Series that the engine writes as text: numeric, or String.

    A float Series is without NaN and infinities that the engine would spell in its own way; with a decimal comma it
    is still numeric, and the writer is told.

    Raises:
        DTypeError: text that is no Unicode (lone surrogates), or a generic element that no cell holds.
    """
    import polars as pl

    match dtype.kind:
        case "float":
            values = pl.Series(buffer)
            return values if np.isfinite(buffer).all() else _comma(_float_text(values), look)
        case "int":
            return pl.Series(buffer)
        case "bool":
            return pl.Series((buffer.view(np.uint8) != 0).view(np.uint8)).cat.to(pl.Enum(["FALSE", "TRUE"]))
        case "complex":
            parts = buffer.view(np.dtype(f"f{buffer.dtype.itemsize // 2}"))
            real, imag = _complex_part(parts[0::2]), _complex_part(parts[1::2])
            plus = pl.when(imag.str.starts_with("-")).then(pl.lit("")).otherwise(pl.lit("+"))
            joined = pl.select(pl.concat_str(real, plus, imag, pl.lit("i"))).to_series()
            return _comma(joined, look)
        case "timedelta":
            counts = buffer.view(np.int64)
            missing = np.isnat(buffer)
            series = pl.Series(counts)
            return series if not missing.any() else series.cast(pl.String).set(pl.Series(missing), "NaT")
        case "datetime":
            return pl.Series(np.datetime_as_string(buffer).tolist(), dtype=pl.String)
        case "string":
            return _escaped(_unicode(buffer.tolist()), look)
        case "generic":
            return _unicode(_generic_texts(buffer, look, start))


def _float_text(values: pl.Series) -> pl.Series:
    return values.cast(_string()).replace({"inf": "Infinity", "-inf": "-Infinity"})


def _complex_part(values: Buffer) -> pl.Series:
    import polars as pl

    return _float_text(pl.Series(np.ascontiguousarray(values))).str.replace(r"\.0$", "")


def _comma(texts: pl.Series, look: TextLook) -> pl.Series:
    return texts.str.replace_all(".", ",", literal=True) if look.decimal == "," else texts


def _string() -> Any:
    import polars as pl

    return pl.String


def _unicode(texts: list[str | None]) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise DTypeError(f"text that is no valid Unicode, and no file can hold: {error.reason}") from error


def _escaped(texts: pl.Series, look: TextLook) -> pl.Series:
    import polars as pl

    if look.formulas == "keep" or not len(texts):
        return texts
    special = texts.str.contains(r"^[=+\-@'\t\r]")
    if not special.any():
        return texts
    return pl.select(pl.when(special).then("'" + texts).otherwise(texts)).to_series()


def _generic_texts(buffer: Buffer, look: TextLook, start: int) -> list[str | None]:
    texts: list[str | None] = []
    for index, cell in enumerate(elements.generic_cells(buffer, exact=None)):
        try:
            texts.append(generic_to_text(cell, formulas=look.formulas, decimal=look.decimal))
        except ValueError as error:
            raise DTypeError(f"generic element {start + index}: {error}") from error
    return texts


# Reading -----------------------------------------------------------------------------------------------------


def engine_dtype(dtype: DType) -> Any:
    """The polars dtype under which the engine may parse a column of `dtype` by itself; String where it may not."""
    import polars as pl

    if dtype.kind in ("float", "int", "bool"):
        names = {"bool": "Boolean", "uint": "UInt", "int": "Int", "float": "Float"}
        base = dtype.name.rstrip("0123456789")
        return getattr(pl, names[base] + dtype.name[len(base) :])
    return pl.Int64 if dtype.kind == "timedelta" else pl.String


def from_typed(column: pl.Series, dtype: DType, *, missing: Missing = "error") -> Buffer | None:
    """The buffer of a column parsed by the engine, or None where its text has to be looked at.

    That is: the column is still text, a cell is blank that must not be, or a float is infinite (the engine reads 1e999
    as infinity).
    """
    if column.dtype == _string():
        return None
    if column.null_count():
        if dtype.kind != "float" or missing == "error":
            return None
        column = column.fill_null(float("nan"))
    if column.dtype.is_float() and column.is_infinite().any():
        return None
    values: Buffer = column.to_numpy(writable=True)
    return values.view(dtype.numpy) if dtype.kind == "timedelta" else values.astype(dtype.numpy, copy=False)


def from_text(
    column: pl.Series, dtype: DType, look: TextLook, *, missing: Missing = "error"
) -> tuple[Buffer, list[Problem]]:
    """The buffer of a column of text, one element for each cell, and the cells that cannot be read."""
    import polars as pl

    match dtype.kind:
        case "string":
            return _strings(column, look)
        case "generic":
            return _generics(column, look), []
        case "float" | "int":
            texts = _point(column.str.strip_chars(), look)
            values = texts.cast(engine_dtype(dtype), strict=False)
            unsure = values.is_null()
            if dtype.kind == "float":
                unsure = unsure | values.is_infinite().fill_null(value=False)
            elif unsure.any():
                values, unsure = _integral_floats(texts, values, unsure)
            return _settle(column, values.fill_null(0), unsure, dtype, look, missing)
        case "bool":
            words = column.str.strip_chars().str.to_lowercase()
            true = words.is_in(["true", "1"]).fill_null(value=False)
            false = words.is_in(["false", "0"]).fill_null(value=False)
            return _settle(column, true, ~(true | false), dtype, look, missing)
        case "complex":
            parts = _point(column.str.strip_chars(), look).str.extract_groups(_COMPLEX).struct.unnest()
            width = pl.Float64 if dtype.numpy.itemsize == 16 else pl.Float32
            real, imag = (parts[name].cast(width, strict=False) for name in ("real", "imag"))
            unsure = real.is_null() | imag.is_null()
            unsure = unsure | real.is_infinite().fill_null(value=False) | imag.is_infinite().fill_null(value=False)
            out = np.empty(len(column), dtype=dtype.numpy)
            out.real, out.imag = real.fill_null(0).to_numpy(), imag.fill_null(0).to_numpy()
            return _settle(column, out, unsure, dtype, look, missing)
        case _:
            return elements.decode(column.to_list(), dtype, missing=missing)


_PART = r"(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|NaN)"
_COMPLEX = rf"^(?<real>[+-]?{_PART})(?<imag>[+-]{_PART})[ij]$"


def _settle(
    column: pl.Series,
    values: pl.Series | Buffer,
    unsure: pl.Series,
    dtype: DType,
    look: TextLook,
    missing: Missing,
) -> tuple[Buffer, list[Problem]]:
    """The values as a buffer, those that the engine was not sure of decided one by one."""
    out = values if isinstance(values, np.ndarray) else values.to_numpy(writable=True).astype(dtype.numpy, copy=False)
    indices = unsure.arg_true()
    if not len(indices):
        return out, []
    decided, problems = elements.decode(column.gather(indices).to_list(), dtype, missing=missing, decimal=look.decimal)
    places = indices.to_numpy()
    out[places] = decided
    return out, [Problem(int(places[p.index]), p.reason, p.hint) for p in problems]


def _point(texts: pl.Series, look: TextLook) -> pl.Series:
    if look.decimal == ".":
        return texts
    import polars as pl

    swapped = texts.str.replace_all(",", ".", literal=True)
    has_point = texts.str.contains(".", literal=True)  # no numeral here: what it means is decided one by one
    return pl.select(pl.when(has_point).then(None).otherwise(swapped)).to_series() if has_point.any() else swapped


def _integral_floats(texts: pl.Series, values: pl.Series, unsure: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Integers that a program wrote as `2.0` or `1E+05`, where a double holds them exactly."""
    import polars as pl

    wide = texts.cast(pl.Float64, strict=False)
    whole = (unsure & (wide.abs() < 2.0**53) & (wide == wide.round())).fill_null(value=False)
    as_integers = pl.select(pl.when(whole).then(wide)).to_series().cast(values.dtype, strict=False)
    return values.fill_null(as_integers), unsure & as_integers.is_null()


def _strings(column: pl.Series, look: TextLook) -> tuple[Buffer, list[Problem]]:
    import polars as pl

    texts = column.fill_null("")
    if look.formulas == "escape":
        escaped = texts.str.contains(r"^'[=+\-@'\t\r]")
        if escaped.any():
            texts = pl.select(pl.when(escaped).then(texts.str.slice(1)).otherwise(texts)).to_series()
    if problem := elements.too_wide(len(texts), longest(texts), int(texts.str.len_chars().sum())):
        return np.empty(0, dtype="<U1"), [problem]
    return np.array(texts.to_list(), dtype=np.str_) if len(texts) else np.empty(0, dtype="<U1"), []


def longest(texts: pl.Series) -> int:
    """The number of characters of the longest text."""
    return int(texts.str.len_chars().fill_null(0).to_numpy().max(initial=0))


def _generics(column: pl.Series, look: TextLook) -> Buffer:
    out = np.empty(len(column), dtype=object)
    out[:] = [generic_from_text(text, formulas=look.formulas) for text in column.to_list()]
    return out
