"""Finds the elements in which two arrays differ, and those that a program only rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..dtypes import Array, Mask, from_numpy
from ..elements.equality import find_unequal
from ..loops import round_doubles
from .rounding import NEAR, WAYS, mark_kept


def cover_with_blocks(shape: Sequence[int], most: int = 2**20) -> Iterator[tuple[slice, ...]]:
    """Yield slices that together cover an array once, in row-major order, each of at most `most` elements.

    The elements of each slice follow one another in row-major order.

    Example:
        >>> [block for block in cover_with_blocks((3, 2), 4)]
        [(slice(0, 2, 1), slice(0, 2, 1)), (slice(2, 3, 1), slice(0, 2, 1))]
    """
    if 0 in shape:
        return
    axis, inner = len(shape), 1
    while axis and inner * shape[axis - 1] <= most:
        axis -= 1
        inner *= shape[axis]
    within = tuple(slice(0, size, 1) for size in shape[axis:])
    if axis == 0:
        yield within
        return
    step = max(1, most // inner)
    for outer in np.ndindex(*shape[: axis - 1]):
        before = tuple(slice(index, index + 1, 1) for index in outer)
        for start in range(0, shape[axis - 1], step):
            yield (*before, slice(start, min(start + step, shape[axis - 1]), 1), *within)


def find_noise(a: Array, b: Array) -> Mask:
    """Return a mask of the pairs of floats that are within 1 ulp of one another, or the same to 15 or 16 digits.

    A program that saved the file again may have made such differences by rounding.

    `a`: elements that differ, as a 1-D array of floats, complex numbers or objects; of integers none is noise.

    Example:
        >>> find_noise(np.array([0.1 + 0.2, 1.0, 0.0]), np.array([0.3, 1.1, -0.0])).tolist()
        [True, False, False]
    """
    kinds = a.dtype.kind + b.dtype.kind
    if kinds == "OO":
        marks: Mask = np.fromiter((type(x) is type(y) is float for x, y in zip(a, b, strict=True)), np.bool_, len(a))
        marks[marks] = find_noise(a[marks].astype(np.float64), b[marks].astype(np.float64))
        return marks
    if set(kinds) - set("fc") or a.dtype != b.dtype:
        return np.zeros(len(a), np.bool_)
    if "c" in kinds:
        parts = [(part(a), part(b)) for part in (np.real, np.imag)]
        same = [(x == y) | (np.isnan(x) & np.isnan(y)) for x, y in parts]
        noise = [find_noise(np.ascontiguousarray(x), np.ascontiguousarray(y)) for x, y in parts]
        both: Mask = (same[0] | noise[0]) & (same[1] | noise[1]) & (noise[0] | noise[1])
        return both
    with np.errstate(all="ignore"):
        near: Mask = (np.nextafter(a, b) == b) & (a != b) & np.isfinite(a) & np.isfinite(b)
        apart = np.abs(a - b) <= NEAR * np.maximum(np.abs(a), np.abs(b))
    if a.dtype == np.float64:
        places = np.flatnonzero(apart & ~near & (a != b) & np.isfinite(a) & np.isfinite(b))
        for digits, half_up in WAYS:
            before, other = (round_doubles(numbers[places], digits, half_up=half_up) for numbers in (a, b))
            near[places] |= before == other
    return near


_SMALL_BYTES = 2**24  # of an array that is copied to compare its bytes
_SMALL_PART = 8  # elements for each one that differs, from which on these are looked at alone


def find_changes(before: Array, now: Array) -> Mask:
    """Return a mask of the elements that somebody changed; rounding by a program is no change.

    `rounding` has the rules.

    `before`: elements of any shape. `now`: as many, of the same dtype; texts may have another width.

    Example:
        >>> find_changes(np.array([0.1 + 0.2, -0.0, 1.0]), np.array([0.3, 0.0, 1.1])).tolist()
        [False, False, True]
    """
    changes = find_unequal(before, now, 0, 0)
    places = np.flatnonzero(changes)
    if not len(places):
        return changes
    dtype = from_numpy(before.dtype)
    few = _SMALL_PART * len(places) < changes.size and dtype.kind in ("float", "int", "bool", "datetime", "timedelta")
    if few and not mark_kept(before.ravel()[places], now.ravel()[places], dtype).any():
        return changes  # elements that are left out could only speak against rounding
    return changes & ~mark_kept(before.ravel(), now.ravel(), dtype).reshape(before.shape)


def have_same_bytes(a: Any, b: Any) -> bool:
    """Return whether two ndarrays, which are not large, are the same to the last bit; False where that is not known."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    is_known = a.dtype == b.dtype and a.dtype.kind not in "OT" and a.shape == b.shape and a.nbytes <= _SMALL_BYTES
    return is_known and a.tobytes() == b.tobytes()


def are_alike(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal, apart from what a program changes when it saves them again."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return False
        import awkward  # type: ignore[import-untyped]

        return bool(awkward.array_equal(a, b, equal_nan=True, dtype_exact=False, same_content_types=False))
    if a.shape != b.shape or from_numpy(a.dtype).name != from_numpy(b.dtype).name:
        return False
    return not find_changes(a, b).any()


def cast_exactly(array: Array, dtype: np.dtype[Any]) -> Array | None:
    """Return an array cast to the dtype of the base, except for the width of text; None if the cast changes a value."""
    if dtype.kind in "UT" and array.dtype.kind in "UT":
        return array
    if array.dtype == dtype:
        return array
    if dtype.kind + array.dtype.kind not in {a + b for a in "iufc" for b in "iufc"} | {"MM", "mm"}:
        return None
    if array.dtype.kind == "c" and dtype.kind != "c":
        if array.imag.any():
            return None
        array = array.real
    try:
        with np.errstate(all="ignore"):
            cast = array.astype(dtype)
        return None if find_unequal(array, cast, 0, 0).any() else cast
    except (TypeError, ValueError, OverflowError):
        return None
