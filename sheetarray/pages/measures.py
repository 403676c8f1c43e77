"""Elements as a page measures them: as numbers, which of them are missing, and the bars of a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array, Mask

_BARS = 40


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Return whether elements are numbers to a page."""
    return dtype.kind in "fiucbm"


def to_numbers(elements: Array) -> Array:
    """Return elements as doubles, as a page draws them: complex numbers as magnitudes, NaT as NaN."""
    if elements.dtype.kind == "c":
        with np.errstate(over="ignore"):
            return np.abs(elements).astype(np.float64)
    if elements.dtype.kind == "m":
        return np.where(np.isnat(elements), np.nan, elements.view(np.int64).astype(np.float64))
    return elements.astype(np.float64)


def find_missing(elements: Array) -> Mask:
    """Return a mask of the elements that are missing to a page."""
    if elements.dtype.kind in "fc":
        return np.isnan(elements)
    if elements.dtype.kind in "mM":
        return np.isnat(elements)
    if elements.dtype.kind == "O":
        return np.fromiter((value is None for value in elements.tolist()), np.bool_, len(elements))
    return np.zeros(len(elements), np.bool_)


def count_bars(numbers: Array, low: float, high: float) -> Array:
    """Return the count of numbers in each bar of a histogram, then the count below all bars and that above them."""
    inside = numbers[(numbers >= low) & (numbers <= high)]
    bars = _BARS if high > low else 1
    share = (inside / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(inside))
    counts = np.bincount(np.minimum((share * bars).astype(np.int64), bars - 1), minlength=bars)
    outside = [np.count_nonzero(numbers < low), np.count_nonzero(numbers > high)]
    return np.append(counts, outside)
