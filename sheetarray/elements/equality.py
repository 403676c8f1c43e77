"""Which elements of two arrays differ: NaN equals NaN, and a zero differs by its sign where you ask."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..dtypes import Array, Mask, Positions
from .dates import convert_times

_EXACT_IN_DOUBLES = 2**53


def find_unequal(a: Array, b: Array, rtol: float, atol: float) -> Mask:
    """Return a mask of the pairs that differ: NaN equals NaN, -0.0 equals 0.0, integers are never rounded."""
    kinds = a.dtype.kind + b.dtype.kind
    if "O" in kinds:
        return _map_pairs(a, b, lambda x, y: not (type(x) is type(y) and bool(x == y or (x != x and y != y))))
    if kinds[0] in "Mm":
        return _find_other_times(a, b)
    if "f" not in kinds and "c" not in kinds:
        return np.asarray(a != b)
    exact = is_exact_as_double(a) and is_exact_as_double(b)
    if rtol or atol:
        if not exact and "c" not in kinds:
            return _map_pairs(a, b, lambda x, y: _are_far_apart(x, y, rtol, atol))
        with np.errstate(all="ignore"):
            return ~np.isclose(to_double(a), to_double(b), rtol=rtol, atol=atol, equal_nan=True)
    if "c" in kinds:
        return find_unequal(np.real(a), np.real(b), 0, 0) | find_unequal(np.imag(a), np.imag(b), 0, 0)
    if not exact:
        return _map_pairs(a, b, lambda x, y: x != y)  # Python rounds neither
    x, y = to_double(a), to_double(b)
    unequal = np.asarray(x != y)
    return np.asarray(unequal & ~(np.isnan(x) & np.isnan(y))) if unequal.any() else unequal


def find_other_zeros(a: Array, b: Array) -> Mask:
    """Return a mask of the pairs of zeros with different signs, also in a part of a complex number."""
    kinds = a.dtype.kind + b.dtype.kind
    if kinds == "OO":
        return _map_pairs(a, b, lambda x, y: type(x) is type(y) is float and x == y == 0 and str(x) != str(y))
    if not set(kinds) <= set("fc"):
        return np.zeros(a.shape, np.bool_)
    if "c" in kinds:
        return find_other_zeros(np.real(a), np.real(b)) | find_other_zeros(np.imag(a), np.imag(b))
    zeros = np.asarray(a == 0)
    return np.asarray(zeros & (b == 0) & (np.signbit(a) != np.signbit(b))) if zeros.any() else zeros


def index_changes(a: Array, b: Array) -> Positions:
    """Return the indices, in one dimension, of the pairs that differ, signs of zeros among them.

    Example:
        >>> index_changes(np.array([1.0, 0.0, np.nan]), np.array([1.0, -0.0, np.nan])).tolist()
        [1]
    """
    return np.flatnonzero(find_unequal(a, b, 0, 0) | find_other_zeros(a, b))


def _find_other_times(a: Array, b: Array) -> Mask:
    """Return a mask of the moments or durations that differ, without NumPy's overflow where units differ."""
    unit = np.promote_types(a.dtype, b.dtype)
    x, y = convert_times(a, unit), convert_times(b, unit)
    unequal = (x != y) & ~(np.isnat(a) & np.isnat(b))
    for given, taken in ((a, x), (b, y)):
        if given.dtype != unit:
            unequal |= (taken.astype(given.dtype) != given) & ~np.isnat(given)
    return np.asarray(unequal)


def _are_far_apart(x: float, y: float, rtol: float, atol: float) -> bool:
    """Return whether two numbers differ by more than a tolerance, computed without rounding."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return True
    if math.isinf(rtol) or math.isinf(atol):
        return False
    return abs(Fraction(x) - Fraction(y)) > Fraction(atol) + Fraction(rtol) * abs(Fraction(y))


def _map_pairs(a: Array, b: Array, differ: Callable[[Any, Any], bool]) -> Mask:
    pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
    return np.array([differ(x, y) for x, y in pairs], np.bool_).reshape(a.shape)


def is_exact_as_double(array: Array) -> bool:
    """Return whether doubles hold all elements of an array exactly; only 64-bit integers are looked at."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return True
    return bool(array.min() >= -_EXACT_IN_DOUBLES and array.max() <= _EXACT_IN_DOUBLES)


def to_double(array: Array) -> Array:
    """Return numbers as doubles, or as complex numbers of two doubles."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
