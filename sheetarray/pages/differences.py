"""The difference of two arrays, element by element, as a page shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..changes.elements import find_changes, find_noise
from ..dtypes import Array, Mask
from ..elements.equality import find_unequal
from .encoding import list_texts


def subtract_arrays(first: Array, second: Array) -> tuple[Array, int]:
    """Return `second - first` as `_subtract_elements` does, and how many elements differ by no more than noise.

    Whatever a program makes of elements that saves a file again is noise here, in every dtype.
    """
    away = _subtract_elements(first, second)
    names = {dtypes.from_numpy(array.dtype).name for array in (first, second) if array.dtype.kind != "V"}
    if len(names) != 1 or "V" in (first.dtype.kind, second.dtype.kind):
        return away, 0
    unequal = find_unequal(first, second, 0, 0)
    if unequal.any():
        away[~find_changes(first, second)] = 0.0
    return away, int(np.count_nonzero(unequal & (away == 0)))


def _subtract_elements(first: Array, second: Array) -> Array:
    """Return `second - first` as doubles: 0 where both elements are the same, NaN where one of them is missing.

    Floats that differ by noise count as the same. Integers are subtracted exactly. For complex numbers it is their
    distance; for elements that are no numbers it is 1 where they differ.
    """
    if not (is_numeric(first.dtype) and is_numeric(second.dtype)):
        texts = [np.array(_texts(elements), np.object_).reshape(first.shape) for elements in (first, second)]
        differs: Array = (texts[0] != texts[1]).astype(np.float64)
        return differs
    left, right = first.reshape(-1), second.reshape(-1)
    missing = mask_missing(left) | mask_missing(right)
    both = mask_missing(left) & mask_missing(right)
    with np.errstate(all="ignore"):
        if left.dtype.kind == right.dtype.kind == "c":
            away = np.abs(right.astype(np.complex128) - left.astype(np.complex128))
            same = left == right
        elif left.dtype.kind in "iubm" and right.dtype.kind in "iubm":
            wide: Any = object if 8 in (left.itemsize, right.itemsize) else np.int64  # in which no difference wraps
            before, now = (
                elements.view(np.int64) if elements.dtype.kind == "m" else elements for elements in (left, right)
            )
            difference = now.astype(wide) - before.astype(wide)
            same, away = difference == 0, difference.astype(np.float64)
        else:
            numbers = [as_doubles(elements) for elements in (left, right)]
            same = numbers[0] == numbers[1]
            away = numbers[1] - numbers[0]
    same |= both
    places = np.flatnonzero(~same)
    same[places] = find_noise(left[places], right[places])
    away = np.where(missing, np.nan, away)
    return np.where(same, 0.0, away).reshape(first.shape)


def _texts(elements: Array) -> list[str]:
    """Return elements as texts, whatever they are."""
    if is_numeric(elements.dtype):
        return [str(value) for value in elements.reshape(-1).tolist()]
    return list_texts(elements)


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Return whether elements are numbers to a page."""
    return dtype.kind in "fiucbm"


def as_doubles(elements: Array) -> Array:
    """Return elements as doubles, as a page draws them: complex numbers as magnitudes, NaT as NaN."""
    if elements.dtype.kind == "c":
        with np.errstate(over="ignore"):
            return np.abs(elements).astype(np.float64)
    if elements.dtype.kind == "m":
        return np.where(np.isnat(elements), np.nan, elements.view(np.int64).astype(np.float64))
    return elements.astype(np.float64)


def mask_missing(elements: Array) -> Mask:
    """Return a mask of the elements that are missing to a page."""
    if elements.dtype.kind in "fc":
        return np.isnan(elements)
    if elements.dtype.kind in "mM":
        return np.isnat(elements)
    if elements.dtype.kind == "O":
        return np.fromiter((value is None for value in elements.tolist()), np.bool_, len(elements))
    return np.zeros(len(elements), np.bool_)
