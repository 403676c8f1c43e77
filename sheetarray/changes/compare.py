"""Compares two arrays: pairs their rows, finds the elements that differ, and measures by how much.

Elements are compared block by block, without rounding: integers as integers, with floats too. Where one axis has
another length, rows that were added or deleted are found first, and the others are compared at their places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from ..dtypes import Array, from_numpy
from ..elements.equality import find_other_zeros, find_unequal, is_exact_as_double, to_double
from ..errors import FormatError
from ..linear.array import to_rectangular
from .elements import are_alike, cover_with_blocks, find_noise, have_same_bytes
from .explain import MOST_EXPLAINED, explain_arrays
from .formulas import Formula, show_formula
from .rounding import mark_kept
from .row_groups import GroupedRows, align_rows, dtype_name
from .rows import RowMap

_MOST_EDITS = 100_000  # elements of an array that are named where it is compared with what was written


@dataclass(frozen=True, slots=True)
class DifferingElement:
    """An element that differs: its index in B and in A, and its values in both; an error where a cell is unreadable."""

    index: tuple[int, ...]
    index_in_a: tuple[int, ...]
    a: Any
    b: Any


@dataclass(slots=True)
class Comparison:
    """Two arrays of one name."""

    name: str  # of both
    dtypes: tuple[str, str]  # the dtype names of both
    shapes: tuple[tuple[int, ...], tuple[int, ...]]  # the shapes of both
    # the orders of both in memory, "row-major" or "column-major"; None for awkward arrays
    orders: tuple[str | None, str | None] = (None, None)
    # whether a tolerance was given: another dtype, order or sign of zero is then noted, but no difference
    tolerant: bool = False
    compared: bool = True  # whether the elements could be compared at all
    elements: int = 0  # the number of elements that were compared
    differing: int = 0  # the number of elements that differ
    signs: int = 0  # the number of those that are zeros and differ in their sign alone
    absolute: int | float | None = None  # the largest difference between numbers; None if no numbers differ
    relative: float | None = None  # the largest |a - b| / |b|, over elements with b != 0
    # the elements that differ most, but for rounding: those without a difference first, then the largest, signs of
    # zero last
    first: list[DifferingElement] = field(default_factory=list)
    noise: int = 0  # the number of elements that differ by rounding alone; `first` has none of them
    noise_relative: float = 0.0  # the largest |a - b| / |b| of those
    # elements whose cells cannot be read in A or B, as in `first`
    unreadable: list[DifferingElement] = field(default_factory=list)
    recalculated: int = 0  # the number of formulas that are the same, and have another result
    # which row is which, where some were added, deleted or moved and the others were compared: a map for each axis
    row_maps: Sequence[RowMap] = ()
    # by the place of each map: the elements of the first rows that B lacks, by their numbers in A
    rows_gone: list[dict[int, Array]] = field(default_factory=list)
    # likewise the first rows that only B has, by their numbers in B
    rows_come: list[dict[int, Array]] = field(default_factory=list)
    # the change that all elements have undergone alike, such as a factor; None if there is none
    explanation: str | None = None

    @property
    def is_reshaped(self) -> bool:
        """Whether the shapes differ, and not by rows that were added or deleted."""
        return self.shapes[0] != self.shapes[1] and not self.row_maps

    @property
    def has_other_rows(self) -> bool:
        """Whether rows were added or deleted."""
        return any(rows.deleted or rows.added for rows in self.row_maps)

    @property
    def same(self) -> bool:
        """Whether all differences are within the tolerance."""
        alike = self.dtypes[0] == self.dtypes[1] and self.orders[0] == self.orders[1]
        return (
            self.shapes[0] == self.shapes[1]
            and self.compared
            and not self.has_other_rows
            and not self.differing
            and not self.unreadable
            and (alike or self.tolerant)
        )


def compare(
    name: str,
    a: Any,
    b: Any,
    *,
    rtol: float = 0,
    atol: float = 0,
    most: int = 10,
    release: Callable[[], None] | None = None,
    errors: Sequence[Array | None] = (None, None),
    row_maps: Sequence[RowMap] = (),
    is_saved: bool = False,
) -> Comparison:
    """Compare dtype, order, shape and, where the shapes are one, every element; NaN equals NaN, -0.0 is not 0.0.

    With a tolerance numbers are equal where they are close, as in `np.isclose`, -0.0 and 0.0 too.

    `a`: the array in the first file. `rtol`: relative tolerance, for floats and complex numbers. `most`: the largest
    number of differing elements that are named; none that differs by rounding alone is. `release`: is called after
    each block, for arrays that are mapped. `errors`: of the elements of both whose cells cannot be read, which are
    listed apart. `row_maps`: which row is which, along some axes. `is_saved`: whether B is A after programs have saved
    it, so that all that they do to elements counts as rounding, as `rounding` says.
    """
    a, b = to_rectangular(a), to_rectangular(b)
    comparison = Comparison(
        name, (dtype_name(a), dtype_name(b)), (_shape(a), _shape(b)), (_order(a), _order(b)), bool(rtol or atol)
    )
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        comparison.compared = are_alike(a, b)
        return comparison
    comparable = _are_comparable(a, b)
    if not row_maps and comparable and a.shape != b.shape:
        rows = align_rows(a, b)
        row_maps = [rows] if rows is not None else ()
    comparison.row_maps = row_maps
    for rows in row_maps:
        comparison.rows_gone.append({row: _take_row(a, errors[0], row, rows.axis) for row in rows.deleted[:most]})
        comparison.rows_come.append({row: _take_row(b, errors[1], row, rows.axis) for row in rows.added[:most]})
        a, b = (np.take(array, numbers, rows.axis) for array, numbers in zip((a, b), rows.pairs, strict=True))
        taken = zip(errors, rows.pairs, strict=True)
        errors = [None if marks is None else np.take(marks, numbers, rows.axis) for marks, numbers in taken]
    if a.shape != b.shape:
        comparison.explanation = _explain_shape(a, b) if comparable else None
        return comparison
    comparison.compared = comparable
    if not comparable:
        return comparison
    comparison.elements = a.size
    if errors[0] is not None or errors[1] is not None or not have_same_bytes(a, b):
        _compare_elements(comparison, a, b, (rtol, atol), most, release, errors, is_saved=is_saved)
    return comparison


def _compare_elements(
    comparison: Comparison,
    a: Any,
    b: Any,
    tolerances: tuple[float, float],
    most: int,
    release: Callable[[], None] | None,
    errors: Sequence[Array | None],
    *,
    is_saved: bool,
) -> None:
    """Note the elements that differ between two arrays of one shape, and by how much; see `compare`."""
    hidden = [
        errors_of_side.astype(np.bool_) for errors_of_side in errors if errors_of_side is not None
    ]  # elements of no value
    left_out: Any = np.any(hidden, axis=0) if hidden else np.zeros((), np.bool_)
    saved: Any = None
    if is_saved:
        saved = mark_kept(a.ravel(), b.ravel(), from_numpy(a.dtype)).reshape(a.shape)
    sizes, places = np.empty(0), np.empty((0, a.ndim), np.int64)
    for block in cover_with_blocks(a.shape):
        if release is not None:
            release()
        x, y = a[*block, ...], b[*block, ...]  # of no axes too: arrays, not their elements
        unequal = find_unequal(x, y, *tolerances)
        if not comparison.tolerant:
            signs = find_other_zeros(x, y) & ~unequal
            comparison.signs += int(np.count_nonzero(signs))
            unequal |= signs
        if hidden:
            unequal &= ~left_out[*block, ...]
        if not unequal.any():
            continue
        at = np.argwhere(unequal) + [part.start for part in block]
        x, y = x[unequal], y[unequal]
        if saved is not None:
            noise = saved[*block, ...][unequal]
        else:
            noise = np.zeros(len(x), np.bool_) if comparison.tolerant else find_noise(x, y)
        comparison.differing += len(x)
        comparison.noise += int(np.count_nonzero(noise))
        if noise.any():
            comparison.noise_relative = max(comparison.noise_relative, _largest_share(x[noise], y[noise]))
        apart = _measure(comparison, x, y)[~noise]
        sizes, places = np.concatenate([sizes, apart]), np.concatenate([places, at[~noise]])
        largest = np.argsort(-sizes, kind="stable")[:most]  # of equal ones those that come first
        sizes, places = sizes[largest], places[largest]

    def name_element(place: tuple[int, ...]) -> DifferingElement:
        pair = [
            array[place] if errors_of_side is None or errors_of_side[place] is None else errors_of_side[place]
            for array, errors_of_side in zip((a, b), errors, strict=True)
        ]
        now, before = place, place
        for rows in comparison.row_maps:
            now, before = rows.find_indices(now)[0], rows.find_indices(before)[1]
        return DifferingElement(now, before, *pair)

    comparison.first = [name_element(tuple(place)) for place in places.tolist()]
    unreadable = (name_element(tuple(place)) for place in np.argwhere(left_out).tolist()) if hidden else ()
    for element in unreadable:
        if isinstance(element.a, Formula) and element.a == element.b:
            comparison.recalculated += _has_other_result(element.a, element.b)
        elif any(isinstance(value, FormatError) for value in (element.a, element.b)):
            comparison.unreadable += [] if _is_same_error(element.a, element.b) else [element]
        else:
            comparison.differing += 1
            if len(comparison.first) < most:  # the text of a formula that is shared has to be spelled
                comparison.first.append(replace(element, a=show_formula(element.a), b=show_formula(element.b)))
    if not comparison.tolerant and not hidden and comparison.differing - comparison.noise > a.size // 2:
        comparison.explanation = explain_arrays(a, b)


def compare_with_written(
    pairs: Mapping[str, tuple[Any, Any]], grouped: GroupedRows, unreadable: Mapping[str, Array]
) -> list[Comparison]:
    """Compare arrays as they were written and as they are, after programs may have saved them.

    `pairs`: by name. `grouped`: which row is which. `unreadable`: of some arrays the errors of elements whose cells
    cannot be read now.
    """
    return [
        compare(
            name,
            *pair,
            most=_MOST_EDITS,
            errors=[None, unreadable.get(name)],
            row_maps=grouped.maps.get(name, ()),
            is_saved=True,
        )
        for name, pair in pairs.items()
    ]


class _UnreadableText(str):
    """Stands for an element whose cell cannot be read, and shows itself as the reason."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"({self})"


def _take_row(array: Array, errors: Array | None, row: int, axis: int) -> Array:
    """Return the elements of a row; of cells that cannot be read the reasons."""
    elements: Array = np.take(array, [row], axis).ravel()
    if errors is not None and any(wrong := np.take(errors, [row], axis).ravel().tolist()):
        values = elements.tolist()
        shown = [
            value if error is None else _UnreadableText(error.reason) if isinstance(error, FormatError) else error
            for value, error in zip(values, wrong, strict=True)
        ]
        elements = np.empty(len(shown), object)
        elements[:] = shown
    return elements


def _has_other_result(a: Formula, b: Formula) -> bool:
    """Return whether the results of two formulas are known and differ, not by rounding alone."""
    if a.result is None or b.result is None:
        return False
    before, now = np.asarray([a.result]), np.asarray([b.result])
    return not are_alike(before, now)


def _is_same_error(a: Any, b: Any) -> bool:
    """Return whether two unreadable cells have the same error."""
    return isinstance(a, FormatError) and isinstance(b, FormatError) and a.reason == b.reason


def _explain_shape(a: Array, b: Array) -> str | None:
    """Return a sentence on another shape of the same elements; None if they are others."""
    if a.size != b.size or not 0 < a.size <= MOST_EXPLAINED or dtype_name(a) != dtype_name(b):
        return None
    if a.shape == b.shape[::-1] and not find_unequal(a.T, b, 0, 0).any():
        return "the array was transposed"
    orders: tuple[Literal["C", "F"], ...] = ("C", "F")
    alike = any(not find_unequal(a.ravel(order), b.ravel(order), 0, 0).any() for order in orders)
    return "the same elements in another shape" if alike else None


def _shape(array: Any) -> tuple[int, ...]:
    return array.shape if isinstance(array, np.ndarray) else (len(array),)


def _order(array: Any) -> str | None:
    """Return the order of an array in memory, as a header would name it; with one axis it is always row-major."""
    if not isinstance(array, np.ndarray):
        return None
    several = sum(size > 1 for size in array.shape) > 1 and array.size > 0
    return "column-major" if several and array.flags.f_contiguous else "row-major"


def _are_comparable(a: Array, b: Array) -> bool:
    if a.dtype.kind == b.dtype.kind == "m":
        try:
            np.promote_types(a.dtype, b.dtype)
        except TypeError:  # a month has no number of days
            return False
    families = dict.fromkeys("biufc", "number") | {"U": "text", "T": "text"}
    kinds = {families.get(array.dtype.kind, array.dtype.kind) for array in (a, b)}
    return len(kinds) == 1 or "O" in kinds


def _measure(comparison: Comparison, x: Array, y: Array) -> Array:
    """Return the size of each difference, and keep the largest ones in the comparison.

    It is infinite for pairs that cannot be subtracted, such as texts, and 0 for zeros that differ in their sign.
    """
    kinds = {x.dtype.kind, y.dtype.kind}
    if not kinds <= set("iufc"):
        return np.full(len(x), np.inf)
    sizes = np.abs(to_double(y))
    with np.errstate(all="ignore"):
        apart = np.abs(to_double(x) - to_double(y))
        shares = (apart / sizes)[(sizes > 0) & np.isfinite(sizes) & ~np.isnan(apart)]
    absolute: Sequence[float] = [apart[~np.isnan(apart)].max(initial=-1).item()]
    relative: Sequence[float] = [shares.max(initial=-1).item()]
    if is_exact_as_double(x) and is_exact_as_double(y):
        absolute = [int(absolute[0])] if kinds <= set("iu") else absolute
    elif kinds <= set("iu"):
        differences = np.abs(x.astype(object) - y.astype(object))
        apart, absolute = differences.astype(np.float64), [differences.max()]
    else:
        parts = (np.real, np.imag) if "c" in kinds else (np.asarray,)
        absolute, relative = zip(*(_measure_exactly(part(x), part(y)) for part in parts), strict=True)
    comparison.absolute = _find_largest(comparison.absolute, absolute)
    comparison.relative = _find_largest(comparison.relative, relative)
    return np.where(np.isfinite(apart), apart, np.inf)


def _largest_share(x: Array, y: Array) -> float:
    """Return the largest |x - y| / |y| of floats or complex numbers; 0 without elements."""
    if x.dtype.kind == y.dtype.kind == "O" and all(type(value) is float for value in [*x, *y]):
        x, y = x.astype(np.float64), y.astype(np.float64)
    if x.dtype.kind + y.dtype.kind not in ("ff", "cc"):
        return 0.0  # texts of numbers that a program has rounded
    with np.errstate(all="ignore"):
        shares = np.abs(x - y) / np.abs(y)
    return float(shares[np.isfinite(shares)].max(initial=0))


def _find_largest(before: float | None, found: Sequence[float]) -> float | None:
    largest = max(found) if before is None else max(before, *found)
    return None if largest < 0 else largest


def _measure_exactly(x: Array, y: Array) -> tuple[int | float, float]:
    """Return the largest absolute and relative difference of integers beyond float64; -1 if no numbers differ."""
    pairs = list(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))
    if any(math.isinf(value) for pair in pairs for value in pair):
        return math.inf, -1
    numbers = [(Fraction(a), Fraction(b)) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    largest = max((abs(a - b) for a, b in numbers), default=Fraction(-1))
    ratio = max((abs(a - b) / abs(b) for a, b in numbers if b), default=Fraction(-1))
    absolute = int(largest) if largest.denominator == 1 else float(largest)
    return absolute, float(ratio) if ratio < 2**1023 else math.inf
