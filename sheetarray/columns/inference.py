"""The dtype of a column of text of which nobody has written down the dtype: only where nothing is lost.

`007` and `+1` stay text, an integer beyond 2^53 never becomes a float, a numeral that overflows stays text. The engine
converts whole columns; what it cannot know, the look of a numeral, is asked only of the few cells it matters for.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..cells import TextLook, longest

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2.0**53
_INTEGER = re.compile("[+-]?[0-9]+")
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_EITHER = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?$"


def infer(cells: pl.Series, look: TextLook) -> tuple[str, pl.Series | None]:
    """The dtype that keeps every cell of a column of text.

    Args:
        cells: text; null and "" are blanks.
        look: with the decimal mark.

    Returns:
        The dtype's name, and the values where the engine has made them already: then blanks are null.

    Example:
        >>> import polars as pl
        >>> infer(pl.Series(["1", "2"]), TextLook())[0], infer(pl.Series(["01", "2"]), TextLook())[0]
        ('int64', 'string')
    """
    texts = _stripped(cells)
    blanks = texts.null_count()
    if blanks == len(texts):
        return "float64", texts.cast(_engine("Float64"))
    sample = texts.drop_nulls()[:100]
    if not _pointed(sample, look).cast(_engine("Float64"), strict=False).null_count():
        found = _number(_pointed(texts, look), blanks)
        if found is not None:
            return found
    held = texts.drop_nulls()
    if _boolean(sample) and _boolean(held):
        return "generic" if blanks else "bool", None
    return _moment(held), None


def infer_doubles(cells: pl.Series) -> tuple[str, pl.Series]:
    """The dtype of a column whose cells are doubles already, and its values; blanks are null.

    Example:
        >>> import polars as pl
        >>> infer_doubles(pl.Series([1.0, 2.0]))[0], infer_doubles(pl.Series([1.0, None]))[0]
        ('int64', 'float64')
    """
    held = cells.drop_nulls()
    whole = (held == held.round()) & (held.abs() < _EXACT) & ((held != 0) | (1 / held > 0))
    if len(held) < len(cells) or not len(held) or not whole.all():
        return "float64", cells
    return "int64", cells.cast(_engine("Int64"))


def infer_numbers(cells: pl.Series, doubles: pl.Series, look: TextLook) -> tuple[str, pl.Series | None]:
    """The dtype of a column of number cells, and its values as for `infer`.

    Beyond 2^53 the digits count, as far as they are written down: they are integers, or what doubles give back.

    Args:
        cells: as they are written.
        doubles: the same.
        look: with the decimal mark.
    """
    large = (doubles.abs() >= _EXACT).fill_null(value=False)
    if large.any():
        name, made = infer(cells, look)
        digits = cells.filter(large).str.strip_chars().to_list()
        if name != "string" or any(_INTEGER.fullmatch(text) and Decimal(text) != float(text) for text in digits):
            return name, made
    return infer_doubles(doubles)


def _engine(name: str) -> Any:
    import polars as pl

    return getattr(pl, name)


def _stripped(cells: pl.Series) -> pl.Series:
    """White space around a cell means nothing, and a cell of nothing else is a blank."""
    import polars as pl

    texts = cells.str.strip_chars()
    bare = texts.str.len_bytes()
    if (bare == cells.str.len_bytes()).all() and not (bare == 0).any():
        return cells
    return pl.select(pl.when(texts != "").then(texts)).to_series()


def _pointed(texts: pl.Series, look: TextLook) -> pl.Series:
    if look.decimal == ".":
        return texts
    return texts.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)


def _number(texts: pl.Series, blanks: int) -> tuple[str, pl.Series | None] | None:
    """int64, uint64 or float64; generic for exact integers beside blanks; None where some cell is no number."""
    for name in ("Int64", "UInt64") if _integral(texts.drop_nulls()[:100]) else ():
        integers = texts.cast(_engine(name), strict=False)
        if integers.null_count() != blanks:
            continue
        if _padded(texts) or (texts == "-0").any():
            return "string", None
        if not blanks:
            return name.lower(), integers
        exact = name == "Int64" and not ((integers > 2**53) | (integers < -(2**53))).any()
        return ("float64", integers.cast(_engine("Float64"))) if exact else ("generic", None)
    floats = texts.cast(_engine("Float64"), strict=False)
    if floats.null_count() != blanks:
        return None
    large = texts.filter((floats.abs() >= _EXACT).fill_null(value=False))
    zero = texts.filter((floats == 0).fill_null(value=False))
    infinite = texts.filter(floats.is_infinite().fill_null(value=False))
    lossy = (
        large.str.contains(r"^[+-]?[0-9]+$").any()
        or zero.str.contains("^[^eE]*[1-9]").any()
        or (~infinite.str.contains("(?i)inf")).any()
        or _padded(texts)
    )
    return ("string", None) if lossy else ("float64", floats)


def _boolean(texts: pl.Series) -> bool:
    return bool(texts.str.to_lowercase().is_in(["true", "false"]).all())


def _integral(texts: pl.Series) -> bool:
    return bool(texts.str.contains("^-?[0-9]+$").all())


def _padded(texts: pl.Series) -> bool:
    """Whether a numeral begins with what a number forgets: a zero before another digit, or a plus."""
    return bool(texts.str.contains(r"^(?:\+|-?0[0-9])").any())


def _moment(texts: pl.Series) -> str:
    """Dates, moments, or dates among moments (midnight, as a spreadsheet shows it); otherwise text."""
    if not texts[:100].str.contains(_EITHER).all() or not texts.str.contains(_EITHER).all():
        return "string"
    days = texts.str.contains(_DATE)
    if days.all():
        return "string" if texts.str.to_date("%Y-%m-%d", strict=False).null_count() else "datetime64[D]"
    moments = texts.filter(~days)
    plain = moments.str.slice(0, 19).str.replace("T", " ").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    if plain.null_count() or texts.filter(days).str.to_date("%Y-%m-%d", strict=False).null_count():
        return "string"
    digits = longest(moments.str.extract(r"\.([0-9]+)$"))
    return f"datetime64[{('s', 'ms', 'us', 'ns')[-(-digits // 3)]}]"
