"""Rounding noise: differences so small that a program which saved the file again may have made them by rounding."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context

import numpy as np

from ..dtypes import Array, Mask

_NEAR = 1.2e-14  # relative difference: two numbers that are the same to 15 digits are no farther apart
_AS_SPREADSHEETS = Context(prec=15, rounding=ROUND_HALF_UP)


def find_noise(a: Array, b: Array) -> Mask:
    """Return a mask of the pairs of floats that are within 1 ulp of one another, or the same to 15 or 16 digits.

    Args:
        a: elements that differ, as a 1-D array of floats or complex numbers; of integers none is noise.
        b: as many.

    Example:
        >>> find_noise(np.array([0.1 + 0.2, 1.0, 0.0]), np.array([0.3, 1.1, -0.0])).tolist()
        [True, False, False]
    """
    kinds = a.dtype.kind + b.dtype.kind
    if set(kinds) - set("fc") or a.dtype != b.dtype:
        return np.zeros(len(a), np.bool_)
    if "c" in kinds:
        parts = [(part(a), part(b)) for part in (np.real, np.imag)]
        same = [(x == y) | (np.isnan(x) & np.isnan(y)) for x, y in parts]
        noise = [find_noise(np.ascontiguousarray(x), np.ascontiguousarray(y)) for x, y in parts]
        both: Mask = (same[0] | noise[0]) & (same[1] | noise[1]) & (noise[0] | noise[1])
        return both
    with np.errstate(all="ignore"):
        near = (np.nextafter(a, b) == b) & (a != b) & np.isfinite(a) & np.isfinite(b)
        apart = np.abs(a - b) <= _NEAR * np.maximum(np.abs(a), np.abs(b))
    if a.dtype == np.float64:
        for place in np.flatnonzero(apart & ~near & (a != b)).tolist():
            near[place] = _is_rounded_alike(float(a[place]), float(b[place]))
    result: Mask = near
    return result


def _is_rounded_alike(a: float, b: float) -> bool:
    """Return whether two doubles are the same to 15 or 16 digits as C rounds, or to 15 as spreadsheets round.

    C rounds the double itself; spreadsheets round the shortest numeral that reads back to it, half away from zero.
    """
    if any(format(a, way) == format(b, way) for way in (".14e", ".15e")):
        return True
    return _AS_SPREADSHEETS.create_decimal(repr(a)) == _AS_SPREADSHEETS.create_decimal(repr(b))
