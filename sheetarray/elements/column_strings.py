"""Text <-> cells of text: NumPy's fixed width, four bytes a character, or `StringDType`, against the engine's UTF-8.

Plain ASCII, which most text in arrays is, is widened and narrowed as bytes; everything else goes through Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import loops
from ..dtypes import Array, Buffer
from ..errors import DTypeError
from .problems import Problem
from .scalars import unescape_formula
from .spelling import EVALUATED, EVALUATED_PATTERN, TextLook
from .texts import MOST_PADDING, MOST_RATIO, is_mostly_padding, text_array, to_variable_width

if TYPE_CHECKING:
    import polars as pl

_TEXTS_AT_ONCE = 2**16
_FEW = 2**12  # texts of which plain Python is faster than the engine: a table may have 16,384 columns of them


def strings_to_text(buffer: Buffer) -> pl.Series:
    """Return the texts of a buffer of text, `<U` or `StringDType`.

    Raises:
        DTypeError: lone surrogates.
    """
    import polars as pl

    if not len(buffer) or not buffer.dtype.itemsize or buffer.dtype.kind == "T":
        return unicode_text(buffer.tolist())
    units = buffer.view(np.uint32).reshape(len(buffer), -1)
    if np.max(units) > 127:
        return unicode_text(buffer.tolist())
    texts = pl.Series(units.astype(np.uint8)).cast(pl.List(pl.UInt8)).cast(pl.Binary).cast(pl.String)
    return texts.str.strip_chars_end("\0")


def unicode_text(texts: list[str | None]) -> pl.Series:
    """Return a Series of Python's texts.

    Raises:
        DTypeError: lone surrogates.
    """
    import polars as pl

    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise DTypeError(f"text that is not valid Unicode, and no file can hold: {error.reason}") from error


def escape_formulas(texts: pl.Series, look: TextLook) -> pl.Series:
    """Return the texts, with an apostrophe before those that a spreadsheet would evaluate."""
    import polars as pl

    if look.formulas != "escape" or not len(texts):
        return texts
    special = texts.str.contains(f"^{EVALUATED_PATTERN}")
    if not special.any():
        return texts
    return pl.select(pl.when(special).then("'" + texts).otherwise(texts)).to_series()


def strings_from_text(column: pl.Series, look: TextLook) -> tuple[Buffer, list[Problem]]:
    """Return the buffer of a column, `<U` unless that is mostly padding or drops a final NUL; blanks are empty text."""
    import polars as pl

    texts = column.fill_null("")
    if len(texts) <= _FEW:
        few = texts.to_list()
        if look.formulas == "escape":
            few = [text[1:] if text[:1] == "'" and text[1:].startswith(EVALUATED) else text for text in few]
        return text_array(few), []
    if look.formulas == "escape" and texts.str.starts_with("'").any():
        marked = texts.str.contains(f"^'{EVALUATED_PATTERN}")
        texts = pl.select(pl.when(marked).then(texts.str.slice(1)).otherwise(texts)).to_series()
    characters, units = pl.col("text").str.len_chars(), pl.col("text").str.len_bytes()
    ends = pl.col("text").str.ends_with("\0").any()  # of which `<U` drops the NUL
    sizes = texts.to_frame("text").select(
        width=characters.max(), characters=characters.sum(), bytes=units.sum(), ends=ends
    )
    width, count, size, drops = (value or 0 for value in sizes.row(0))
    if drops or is_mostly_padding(len(texts), width, size):
        return to_variable_width(texts.to_list()), []
    return _to_fixed_width(texts, max(width, 1), size == count), []


def unescape_texts(texts: Array) -> Array:
    """Return texts without the apostrophe that `escape_formulas` put before some of them.

    Example:
        >>> unescape_texts(np.array(["'=1+1", "it's", "'a"])).tolist()
        ['=1+1', "it's", "'a"]
    """
    if texts.dtype.kind == "U" and not (texts.astype("<U1") == "'").any():
        return texts
    return text_array([unescape_formula(text) for text in texts.tolist()])


def buffer_from_joined(ends: Buffer, joined: bytes | memoryview) -> Buffer | None:
    """Return texts that stand one after the other in UTF-8 as `<U`; None if that is mostly padding, or drops a NUL.

    `ends`: the place at which the first text begins, and those at which each ends.
    """
    first, end, count = int(ends[0]), int(ends[-1]), len(ends) - 1
    if count == 0:
        return np.empty(0, "<U1")
    if np.count_nonzero(np.frombuffer(joined, np.uint8)[first:end]) < end - first:
        return None
    units = loops.scan.widen_texts(ends, joined, max(MOST_PADDING, MOST_RATIO * (end - first)))
    return None if units is None else np.frombuffer(units, f"<U{len(units) // 4 // count}")


def _to_fixed_width(texts: pl.Series, width: int, ascii_only: bool) -> Buffer:
    """Return texts as `<U` of a width that none exceeds."""
    padded = texts.str.pad_end(width, "\0")
    if ascii_only:
        return to_byte_rows(padded, width).astype(np.uint32).view(f"<U{width}").ravel()
    units = bytearray().join(_encoded_blocks(padded))
    return np.frombuffer(units, dtype=f"<U{width}")


def _encoded_blocks(padded: pl.Series) -> Iterator[bytes]:
    """Yield the characters of texts in UTF-32, many texts at once."""
    for block in padded.to_frame("text").iter_slices(_TEXTS_AT_ONCE):
        joined: str = block.to_series().str.join("").item()
        yield joined.encode("utf-32-le")


def longest_text(texts: pl.Series) -> int:
    """Return the number of characters of the longest text."""
    return int(texts.str.len_chars().fill_null(0).to_numpy().max(initial=0))


def to_byte_rows(texts: pl.Series, width: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return ASCII texts, each `width` bytes long, as an array of the shape (len(texts), width)."""
    import polars as pl

    return np.ascontiguousarray(texts.cast(pl.Binary).bin.reinterpret(dtype=pl.Array(pl.UInt8, width)).to_numpy())
