"""Compares two arrays element by element, by their indices and block by block."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Array, Positions
from .aligning import align_rows
from .noise import find_noise
from .ranking import Ranking, rank_differences, to_double
from .slices import cover_with_blocks
from .unequal import find_other_zeros, find_unequal, is_exact_as_double
from .values import to_rectangular

DifferingElement = tuple[tuple[int, ...], Any, Any]  # the index of an element, and its values in A and B


@dataclass(slots=True)
class Comparison:
    """Two arrays of one name.

    Attributes:
        name: of both.
        dtypes: the dtype names of both.
        shapes: the shapes of both.
        orders: the orders of both in memory, "row-major" or "column-major"; None for awkward arrays.
        tolerant: whether a tolerance was given: another dtype, order or sign of zero is then noted, but no difference.
        compared: whether the elements could be compared at all.
        elements: the number of elements that were compared.
        differing: the number of elements that differ.
        signs: the number of those that are zeros and differ in their sign alone.
        absolute: the largest difference between numbers; None if no numbers differ.
        relative: the largest |a - b| / |b|, over elements with b != 0.
        first: the elements that differ most: those without a difference first, then the largest, signs of zero last.
        noise: the number of elements that differ by rounding alone; in `first` they come last, if they are named.
        inserted: rows that B alone has, where one axis has another length and the other rows were compared.
        deleted: rows that A alone has.
        axis: along which these rows lie; None where the arrays have one shape, or could not be aligned.
        rows: of A and B, the rows that were compared with one another.
    """

    name: str
    dtypes: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    orders: tuple[str | None, str | None] = (None, None)
    tolerant: bool = False
    compared: bool = True
    elements: int = 0
    differing: int = 0
    signs: int = 0
    absolute: int | float | None = None
    relative: float | None = None
    first: list[DifferingElement] = field(default_factory=list)
    noise: int = 0
    inserted: list[int] = field(default_factory=list)
    deleted: list[int] = field(default_factory=list)
    axis: int | None = None
    rows: tuple[Positions, Positions] | None = None

    def index_in_a(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return the index in A of the element that has an index in B."""
        if self.axis is None or self.rows is None:
            return index
        row = int(self.rows[0][np.searchsorted(self.rows[1], index[self.axis])])
        return (*index[: self.axis], row, *index[self.axis + 1 :])

    @property
    def same(self) -> bool:
        """Whether there is no difference but those that a tolerance makes count for nothing."""
        alike = self.dtypes[0] == self.dtypes[1] and self.orders[0] == self.orders[1]
        return self.shapes[0] == self.shapes[1] and self.compared and not self.differing and (alike or self.tolerant)


def compare(
    name: str,
    a: Any,
    b: Any,
    *,
    rtol: float = 0,
    atol: float = 0,
    most: int = 10,
    names_noise: bool = True,
    release: Callable[[], None] | None = None,
) -> Comparison:
    """Compare dtype, order, shape and, where the shapes are one, every element; NaN equals NaN, -0.0 is not 0.0.

    Integers are compared as integers, with floats too. With a tolerance numbers are equal where they are close, -0.0
    and 0.0 too.

    Args:
        name: of the array.
        a: the array in the first file.
        b: the array in the second.
        rtol: relative tolerance, for floats and complex numbers, as in `np.isclose`.
        atol: absolute tolerance.
        most: the largest number of differing elements that are named.
        names_noise: whether elements are named that differ by rounding alone.
        release: is called after each block, for arrays that are mapped.
    """
    a, b = to_rectangular(a), to_rectangular(b)
    comparison = Comparison(
        name, (dtype_name(a), dtype_name(b)), (_shape(a), _shape(b)), (_order(a), _order(b)), bool(rtol or atol)
    )
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        comparison.compared = _is_same_nested(a, b)
        return comparison
    comparison.compared = _are_comparable(a, b)
    if a.shape != b.shape:
        alignment = align_rows(a, b) if comparison.compared else None
        comparison.compared = True
        if alignment is None:
            return comparison
        comparison.inserted, comparison.deleted = alignment.inserted, alignment.deleted
        comparison.axis, comparison.rows = alignment.axis, alignment.pairs
        a, b = (np.take(array, rows, alignment.axis) for array, rows in zip((a, b), alignment.pairs, strict=True))
    if not comparison.compared:
        return comparison
    comparison.elements = a.size
    ranking = Ranking(most)
    for block in cover_with_blocks(a.shape):
        if release is not None:
            release()
        x, y = a[*block, ...], b[*block, ...]  # of no axes too: arrays, not their elements
        unequal = find_unequal(x, y, rtol, atol)
        if not comparison.tolerant:
            signs = find_other_zeros(x, y) & ~unequal
            comparison.signs += int(np.count_nonzero(signs))
            unequal |= signs
        if not unequal.any():
            continue
        comparison.differing += int(np.count_nonzero(unequal))
        _add_differences(comparison, x[unequal], y[unequal])
        noise = np.zeros(np.count_nonzero(unequal), np.bool_)
        if not comparison.tolerant:
            noise = find_noise(x[unequal], y[unequal])
        comparison.noise += int(np.count_nonzero(noise))
        ranks = rank_differences(x[unequal], y[unequal], noise)
        places = np.argwhere(unequal) + [part.start for part in block]
        ranking.add(ranks, places) if names_noise else ranking.add(ranks[~noise], places[~noise])
    for place in ranking.take():
        index = tuple(place)
        shown = index
        if comparison.axis is not None and comparison.rows is not None:
            row = int(comparison.rows[1][index[comparison.axis]])
            shown = (*index[: comparison.axis], row, *index[comparison.axis + 1 :])
        comparison.first.append((shown, a[index], b[index]))
    return comparison


def dtype_name(array: Any) -> str:
    """Return the exchange format's name of an array's dtype; of an awkward array its type."""
    return dtypes.from_numpy(array.dtype).name if isinstance(array, np.ndarray) else str(array.type)


def _is_same_nested(a: Any, b: Any) -> bool:
    """Return whether two arrays, of which one is awkward, hold the same values."""
    import awkward  # type: ignore[import-untyped]

    return bool(awkward.array_equal(a, b, equal_nan=True, dtype_exact=False, same_content_types=False))


def _shape(array: Any) -> tuple[int, ...]:
    return array.shape if isinstance(array, np.ndarray) else (len(array),)


def _are_comparable(a: Array, b: Array) -> bool:
    if a.dtype.kind == b.dtype.kind == "m":
        try:
            np.promote_types(a.dtype, b.dtype)
        except TypeError:  # a month has no number of days
            return False
    kinds = {_dtype_family(a), _dtype_family(b)}
    return len(kinds) == 1 or (kinds & {"object"} == {"object"})


def _dtype_family(array: Array) -> str:
    kind = array.dtype.kind
    return "number" if kind in "biufc" else {"O": "object", "U": "text", "T": "text"}.get(kind, kind)


def _order(array: Any) -> str | None:
    """Return the order of an array in memory, as a header would name it; that of one axis is always row-major."""
    if not isinstance(array, np.ndarray):
        return None
    several = sum(size > 1 for size in array.shape) > 1 and array.size > 0
    return "column-major" if several and array.flags.f_contiguous else "row-major"


def _add_differences(comparison: Comparison, x: Array, y: Array) -> None:
    """Take the largest differences of some elements into account."""
    kinds = x.dtype.kind + y.dtype.kind
    if not set(kinds) <= set("iufc"):
        return
    absolute: list[int | float]
    if not set(kinds) <= set("iu") and not (is_exact_as_double(x) and is_exact_as_double(y)):
        for part in (np.real, np.imag) if "c" in kinds else (np.asarray,):
            _note_largest(comparison, *_largest_exactly(part(x), part(y)))
        return
    if set(kinds) <= set("iu"):
        if x.dtype == y.dtype:
            apart = np.maximum(x, y).astype(np.uint64) - np.minimum(x, y).astype(np.uint64)  # exact: modulo 2^64
        else:
            apart = np.abs(x.astype(object) - y.astype(object))
        absolute = [int(np.max(apart))]
        apart, size = apart.astype(np.float64), np.abs(y.astype(np.float64))
    else:
        with np.errstate(all="ignore"):
            apart, size = np.abs(to_double(x) - to_double(y)), np.abs(to_double(y))
        known = ~np.isnan(apart)
        apart, size = apart[known], size[known]
        absolute = [float(np.max(apart))] if apart.size else []
    with np.errstate(all="ignore"):
        ratios = (apart / size)[(size > 0) & np.isfinite(size)]
    _note_largest(comparison, absolute, [float(np.max(ratios))] if ratios.size else [])


def _largest_exactly(x: Array, y: Array) -> tuple[list[int | float], list[float]]:
    """Return the largest difference, and the largest relative one, where doubles do not hold the integers."""
    pairs = list(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))
    if any(math.isinf(value) for pair in pairs for value in pair):
        return [math.inf], []
    numbers = [(Fraction(a), Fraction(b)) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    largest = max((abs(a - b) for a, b in numbers), default=None)
    ratio = max((abs(a - b) / abs(b) for a, b in numbers if b), default=None)
    absolute = [] if largest is None else [int(largest) if largest.denominator == 1 else float(largest)]
    return absolute, [] if ratio is None else [float(ratio) if ratio < 2**1023 else math.inf]


def _note_largest(comparison: Comparison, absolute: list[int | float], relative: list[float]) -> None:
    if comparison.absolute is not None:
        absolute.append(comparison.absolute)
    if comparison.relative is not None:
        relative.append(comparison.relative)
    comparison.absolute, comparison.relative = max(absolute, default=None), max(relative, default=None)
