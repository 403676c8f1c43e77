"""Masks of the elements in which two arrays differ: computed without rounding, with or without a tolerance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..dtypes import Array
from .ranking import to_double

_EXACT_IN_DOUBLES = 2**53


def find_other_zeros(a: Array, b: Array) -> Array:
    """Return a mask of the pairs of zeros of which only one is negative, also in a part of a complex number."""
    kinds = a.dtype.kind + b.dtype.kind
    if kinds == "OO":
        pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
        other = [type(x) is type(y) is float and x == y == 0 and str(x) != str(y) for x, y in pairs]
        return np.array(other, dtype=bool).reshape(a.shape)
    if not set(kinds) <= set("fc"):
        return np.zeros(a.shape, dtype=bool)
    if "c" in kinds:
        return find_other_zeros(np.real(a), np.real(b)) | find_other_zeros(np.imag(a), np.imag(b))
    return np.asarray((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)))


def find_unequal(a: Array, b: Array, rtol: float, atol: float) -> Array:
    """Return a mask of the pairs that differ: NaN equals NaN, -0.0 equals 0.0, integers are never rounded."""
    kinds = a.dtype.kind + b.dtype.kind
    if "O" in kinds:
        pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
        return np.array([not _is_same(x, y) for x, y in pairs], dtype=bool).reshape(a.shape)
    if kinds[0] in "Mm":
        return _find_other_times(a, b)
    if "f" not in kinds and "c" not in kinds:
        return np.asarray(a != b)
    exact = is_exact_as_double(a) and is_exact_as_double(b)
    if rtol or atol:
        if not exact and "c" not in kinds:
            return _find_far_apart(a, b, rtol, atol)
        with np.errstate(all="ignore"):
            return ~np.isclose(to_double(a), to_double(b), rtol=rtol, atol=atol, equal_nan=True)
    if "c" in kinds:
        return find_unequal(np.real(a), np.real(b), 0, 0) | find_unequal(np.imag(a), np.imag(b), 0, 0)
    if not exact:
        return _find_unequal_exactly(a, b)
    x, y = to_double(a), to_double(b)
    return np.asarray((x != y) & ~(np.isnan(x) & np.isnan(y)))


def _find_other_times(a: Array, b: Array) -> Array:
    """Return a mask of the moments or durations that differ, without NumPy's overflow where units differ."""
    unit = np.promote_types(a.dtype, b.dtype)
    x, y = a.astype(unit), b.astype(unit)
    unequal = (x != y) & ~(np.isnat(a) & np.isnat(b))
    for given, taken in ((a, x), (b, y)):
        if given.dtype != unit:
            unequal |= (taken.astype(given.dtype) != given) & ~np.isnat(given)
    return np.asarray(unequal)


def _find_unequal_exactly(a: Array, b: Array) -> Array:
    """Return a mask of large integers that differ from floats: Python compares them without rounding either."""
    pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
    return np.array([x != y for x, y in pairs], dtype=bool).reshape(a.shape)


def _find_far_apart(a: Array, b: Array, rtol: float, atol: float) -> Array:
    """Return a mask of the numbers that differ by more than a tolerance, computed without rounding."""
    pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
    wide, narrow = Fraction(rtol) if math.isfinite(rtol) else 0, Fraction(atol) if math.isfinite(atol) else 0
    endless = math.isinf(rtol) or math.isinf(atol)
    far = [
        not (math.isfinite(x) and math.isfinite(y))
        or not (endless or abs(Fraction(x) - Fraction(y)) <= narrow + wide * abs(Fraction(y)))
        for x, y in pairs
    ]
    return np.array(far, dtype=bool).reshape(a.shape)


def is_exact_as_double(array: Array) -> bool:
    """Return whether doubles hold all elements of an array exactly; only 64-bit integers are looked at."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return True
    return bool(array.min() >= -_EXACT_IN_DOUBLES and array.max() <= _EXACT_IN_DOUBLES)


def _is_same(x: Any, y: Any) -> bool:
    if type(x) is not type(y):
        return False
    return bool(x == y) or (isinstance(x, float) and math.isnan(x) and math.isnan(y))
