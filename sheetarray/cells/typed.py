"""A buffer of elements -> cells of a container that tells numbers, text and booleans apart, and has only doubles.

What a double keeps is a number: finite floats, and integers up to a magnitude. All else is the text that a container of
text would hold. Blanks are empty text and None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import DType
from ..elements import generic_cells, generic_to_typed
from .look import Buffer, TextLook
from .strings import unicode_text
from .writing import to_text

if TYPE_CHECKING:
    import polars as pl

_TYPED = TextLook(".", "typed")


@dataclass(frozen=True, slots=True)
class TypedCells:
    """The cells of a piece of a column, each a number, a text, a boolean or a blank.

    Attributes:
        numbers: numeric, null where the cell is none; None where no cell is.
        texts: String, in the same way.
        booleans: Boolean, in the same way.
    """

    numbers: pl.Series | None = None
    texts: pl.Series | None = None
    booleans: pl.Series | None = None

    @property
    def kinds(self) -> list[pl.Series]:
        """Those of the three that there are."""
        return [kind for kind in (self.numbers, self.texts, self.booleans) if kind is not None]

    def __len__(self) -> int:
        return max(map(len, self.kinds), default=0)


def to_typed(buffer: Buffer, dtype: DType, *, exact: int, as_text: bool = False, start: int = 0) -> TypedCells:
    """The cells of a buffer.

    Args:
        buffer: 1-D and contiguous, of `dtype.numpy`.
        dtype: what the elements are.
        exact: the largest magnitude of an integer that is a number, 2^32 at least; larger ones are text.
        as_text: make every element text.
        start: index of the first element in the array's buffer, for messages.

    Raises:
        DTypeError: text that is no Unicode (lone surrogates), or a generic element that no cell holds.

    Example:
        >>> from sheetarray import dtypes
        >>> found = to_typed(np.array([1, 2**60]), dtypes.named("int64"), exact=10**15)
        >>> found.numbers.to_list(), found.texts.to_list()
        ([1, None], [None, '1152921504606846976'])
    """
    if as_text:
        return TypedCells(texts=_no_blanks(_texts(buffer, dtype, start)))
    match dtype.kind:
        case "float":
            return _split(buffer, dtype, np.isfinite(buffer))
        case "int":
            return _split(buffer, dtype, _within(buffer, exact))
        case "timedelta":
            return _split(buffer, dtype, _within(buffer.view(np.int64), exact))
        case "bool":
            return TypedCells(booleans=_series(buffer.view(np.uint8) != 0))
        case "generic":
            return _generics(buffer, exact)
        case _:
            return TypedCells(texts=_no_blanks(_texts(buffer, dtype, start)))


def _series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


def _texts(buffer: Buffer, dtype: DType, start: int = 0) -> pl.Series:
    import polars as pl

    return to_text(buffer, dtype, _TYPED, start=start).cast(pl.String)


def _no_blanks(texts: pl.Series) -> pl.Series:
    """Empty text is a blank cell."""
    import polars as pl

    empty = texts == ""
    return pl.select(pl.when(~empty).then(texts)).to_series() if empty.any() else texts


def _within(counts: Buffer, exact: int) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Where an integer is a number; None where every one is."""
    if counts.dtype.itemsize < 8 or not len(counts) or (int(counts.min()) >= -exact and int(counts.max()) <= exact):
        return None
    return (counts <= exact) if counts.dtype.kind == "u" else (counts >= -exact) & (counts <= exact)


def _split(buffer: Buffer, dtype: DType, plain: np.ndarray[Any, np.dtype[np.bool_]] | None) -> TypedCells:
    numbers = _series(buffer.view(np.int64) if dtype.kind == "timedelta" else buffer)
    if plain is None or plain.all():
        return TypedCells(numbers=numbers)
    import polars as pl

    others = np.flatnonzero(~plain)
    texts = pl.repeat(None, len(buffer), dtype=pl.String, eager=True)
    texts = texts.scatter(others, _texts(np.ascontiguousarray(buffer[others]), dtype))
    if len(others) == len(buffer):
        return TypedCells(texts=texts)
    return TypedCells(numbers=pl.select(pl.when(_series(plain)).then(numbers)).to_series(), texts=texts)


def _generics(buffer: Buffer, exact: int) -> TypedCells:
    import polars as pl

    cells = [generic_to_typed(cell, exact) for cell in generic_cells(buffer, exact=None)]
    return TypedCells(
        numbers=pl.Series([_numeral(cell) for cell in cells], dtype=pl.String),
        texts=unicode_text([cell if isinstance(cell, str) else None for cell in cells]),
        booleans=pl.Series([cell if isinstance(cell, bool) else None for cell in cells], dtype=pl.Boolean),
    )


def _numeral(cell: Any) -> str | None:
    return None if cell is None or isinstance(cell, (str, bool)) else repr(cell)
