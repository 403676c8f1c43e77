"""Which elements of two arrays differ, compared without rounding, and which of those differ by a program's rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from .aligning import Table, align_tables
from .dtypes import Array, Mask, Positions, from_numpy
from .loops import round_doubles
from .resaving import mark_kept

_EXACT_IN_DOUBLES = 2**53
_NEAR = 1.2e-14  # relative difference: two numbers that are the same to 15 digits are no farther apart


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
    return np.asarray((x != y) & ~(np.isnan(x) & np.isnan(y)))


def find_other_zeros(a: Array, b: Array) -> Mask:
    """Return a mask of the pairs of zeros of which only one is negative, also in a part of a complex number."""
    kinds = a.dtype.kind + b.dtype.kind
    if kinds == "OO":
        return _map_pairs(a, b, lambda x, y: type(x) is type(y) is float and x == y == 0 and str(x) != str(y))
    if not set(kinds) <= set("fc"):
        return np.zeros(a.shape, np.bool_)
    if "c" in kinds:
        return find_other_zeros(np.real(a), np.real(b)) | find_other_zeros(np.imag(a), np.imag(b))
    return np.asarray((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)))


def _find_other_times(a: Array, b: Array) -> Mask:
    """Return a mask of the moments or durations that differ, without NumPy's overflow where units differ."""
    unit = np.promote_types(a.dtype, b.dtype)
    x, y = a.astype(unit), b.astype(unit)
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
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def find_noise(a: Array, b: Array) -> Mask:
    """Return a mask of the pairs of floats that are within 1 ulp of one another, or the same to 15 or 16 digits.

    A program that saved the file again may have made such differences by rounding.

    `a`: elements that differ, as a 1-D array of floats or complex numbers; of integers none is noise.

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
        near: Mask = (np.nextafter(a, b) == b) & (a != b) & np.isfinite(a) & np.isfinite(b)
        apart = np.abs(a - b) <= _NEAR * np.maximum(np.abs(a), np.abs(b))
    if a.dtype == np.float64:
        places = np.flatnonzero(apart & ~near & (a != b) & np.isfinite(a) & np.isfinite(b))
        for digits, half_up in ((15, True), (15, False), (16, False), (16, True)):
            one, other = (round_doubles(numbers[places], digits, half_up=half_up) for numbers in (a, b))
            near[places] |= one == other
    return near


# Changes that people made --------------------------------------------------------------------------------------------


def find_changes(before: Array, now: Array) -> Mask:
    """Return a mask of the elements that somebody changed: what a program does that saves a file again is no change.

    `resaving` has the rules.

    Args:
        before: elements of any shape.
        now: as many, of the same dtype; texts may have another width.

    Example:
        >>> find_changes(np.array([0.1 + 0.2, -0.0, 1.0]), np.array([0.3, 0.0, 1.1])).tolist()
        [False, False, True]
    """
    changes = find_unequal(before, now, 0, 0)
    if changes.any():
        changes &= ~mark_kept(before.ravel(), now.ravel(), from_numpy(before.dtype)).reshape(before.shape)
    return changes


def are_alike(a: Any, b: Any) -> bool:
    """Return whether two arrays are the same but for what a program makes of them that saves them again."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return False
        import awkward  # type: ignore[import-untyped]

        return bool(awkward.array_equal(a, b, equal_nan=True, dtype_exact=False, same_content_types=False))
    if a.shape != b.shape or from_numpy(a.dtype).name != from_numpy(b.dtype).name:
        return False
    return not find_changes(a, b).any()


# Rows that stand in another order ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Arrays of as many rows that stand in another order now, the same for all of them.

    Attributes:
        names: of the arrays.
        by: the array by which the rows are sorted now; None if by none.
        order: for each row as it was written its number now.
    """

    names: Sequence[str]
    by: str | None
    order: Positions

    def to_text(self) -> str:
        """Return the sentence that says it, such as `rows sorted by t (12 rows, 5 arrays)`."""
        what = "rows in another order" if self.by is None else f"rows sorted by {self.by}"
        return f"{what} ({len(self.order):,} rows, {len(self.names):,} arrays)"


def find_row_order(before: Table, now: Table) -> Positions | None:
    """Return for each row as written its number now; None unless the rows of a table stand in another order.

    A few elements may have been edited besides.

    Example:
        >>> from sheetarray.dtypes import from_name
        >>> before, now = (np.array([[30], [10], [20]]), np.array([[10], [20], [30]]))
        >>> find_row_order([(before, from_name("int64"))], [(now, from_name("int64"))]).tolist()
        [2, 0, 1]
    """
    pairs = [(x, y) for (x, _), (y, _) in zip(before, now, strict=True)]
    differing = sum(int(np.count_nonzero(find_changes(x, y))) for x, y in pairs)
    if not differing:
        return None
    sources = align_tables(before, now).sources
    if (sources < 0).any() or len(np.unique(sources)) < len(pairs[0][0]) or (np.diff(sources) > 0).all():
        return None
    order = np.argsort(sources)
    left = sum(int(np.count_nonzero(find_changes(x, y[order]))) for x, y in pairs)
    return order if 2 * left < differing else None


def find_sorted(table: Mapping[str, Array]) -> str | None:
    """Return the first array of one element a row that rises or falls, and is not the same in all rows, or None.

    `table`: the rows of arrays by name, each of two dimensions.

    Example:
        >>> find_sorted({"a": np.array([[1], [3], [2]]), "b": np.array([[9], [7], [7]])})
        'b'
    """
    return next(
        (name for name, rows in table.items() if rows.shape[1] == 1 and _is_sorted(rows.ravel().tolist())), None
    )


def _is_sorted(values: Sequence[Any]) -> bool:
    try:
        pairs = list(pairwise(values))
        return values[0] != values[-1] and (all(x <= y for x, y in pairs) or all(x >= y for x, y in pairs))
    except TypeError:
        return False
