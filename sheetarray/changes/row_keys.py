"""Keys of rows: with very few exceptions a row keeps its key when a program rounds its elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Buffer, DType
from ..elements import to_scalar
from .formulas import Formula

Keys = np.ndarray[tuple[int], np.dtype[np.uint64]]
Elements = np.ndarray[Any, np.dtype[np.uint64]]  # a key for each, row by row
_BITS = 40  # of the mantissa that are kept in keys of rows of one element; programs that round keep 49
_LEAST_BITS = 24
_LARGEST = 1e308
WORDS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_COLUMNS_AT_ONCE = 4096


def row_keys(elements: Elements) -> Keys:
    """Return a key for each row; with very few exceptions a row keeps its key when a program rounds its elements."""
    mixed = np.zeros(len(elements), np.uint64)
    for column in range(0, elements.shape[1], _COLUMNS_AT_ONCE):
        block = elements[:, column : column + _COLUMNS_AT_ONCE]
        places = np.arange(column + 1, column + 1 + block.shape[1], dtype=np.uint64)
        mixed += mix_bits(block ^ (places * WORDS[0])).sum(axis=1, dtype=np.uint64)
    return mixed


def mix_bits(keys: Elements) -> Elements:
    """Return keys whose every bit depends on all bits of the keys before."""
    keys = (keys ^ (keys >> np.uint64(30))) * WORDS[1]
    keys = (keys ^ (keys >> np.uint64(27))) * WORDS[2]
    return keys ^ (keys >> np.uint64(31))


def element_keys(buffer: Buffer, dtype: DType, row: int) -> Keys:
    """Return a key for each element of a buffer; the more elements (`row`) a row has, the fewer bits a key keeps."""
    bits = max(_BITS - row.bit_length() + 1, _LEAST_BITS)
    match dtype.kind:
        case "float":
            return _number_keys(buffer.astype(np.float64), bits)
        case "bool" | "int":  # no program rounds them
            return buffer.astype(np.uint64)
        case "complex":
            parts = buffer.astype(np.complex128)
            return _number_keys(parts.real, bits) * WORDS[0] + _number_keys(parts.imag, bits)
        case "datetime" | "timedelta":
            return _number_keys(buffer.view(np.int64).astype(np.float64), _LEAST_BITS)
        case "string":
            return _hash_each(["".join(str(text).split()) for text in buffer.tolist()])
        case _:
            return _hash_each([_text_of(value) for value in buffer.tolist()])


def _text_of(element: Any) -> str:
    if isinstance(element, Formula):
        return f"= {element.relative}"
    value = to_scalar(element)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{float(value):.9g}" if abs(value) < _LARGEST else str(value)
    return f"{type(value).__name__} {value}"


def _hash_each(texts: list[str]) -> Keys:
    return np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64)


def _number_keys(numbers: np.ndarray[Any, np.dtype[np.float64]], bits: int) -> Keys:
    """Return numbers rounded to `bits` bits of the mantissa, as integers; every NaN gives the same integer."""
    with np.errstate(invalid="ignore", over="ignore"):
        mantissas, exponents = np.frexp(numbers)
        rounded = np.ldexp(np.rint(np.ldexp(mantissas, bits)), exponents - bits) + 0.0
    rounded = np.where(np.isnan(rounded), np.nan, rounded)
    return np.ascontiguousarray(rounded).view(np.uint64)
