"""The comparison of two arrays: rows that belong together, elements that differ, by how much, and which differ most.

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

from .. import dtypes
from ..changes.elements import (
    SortedRows,
    are_alike,
    cover_with_blocks,
    explain_change,
    find_noise,
    find_row_sources,
    find_sorted,
)
from ..changes.merge import row_axis
from ..changes.rows import align_tables, is_ascending, to_rows
from ..dtypes import Array, Positions
from ..elements.equality import find_other_zeros, find_unequal, is_exact_as_double, to_double
from ..labels import DatasetLabels
from ..linear.array import LinearArray
from ..linear.buffers import is_column_major
from ..linear.resizing import contiguous_strides
from .values import to_rectangular

_MOST_EXPLAINED = 10**7  # elements of arrays in which one change of all elements is looked for


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
    # the elements that differ most: those without a difference first, then the largest, signs of zero last
    first: list[DifferingElement] = field(default_factory=list)
    noise: int = 0  # the number of elements that differ by rounding alone; in `first` they come last, if they are named
    # elements whose cells cannot be read in A or B, as in `first`
    unreadable: list[DifferingElement] = field(default_factory=list)
    # of the rows, where some were added, deleted or moved and the others were compared; else None
    alignment: Alignment | None = None
    # the elements of the first rows that B lacks, by their numbers in A
    rows_gone: dict[int, Array] = field(default_factory=dict)
    # the first few rows that only B has: their elements, by the number of the row in B
    rows_come: dict[int, Array] = field(default_factory=dict)
    # the change that all elements have undergone alike, such as a factor; None if there is none
    explanation: str | None = None

    @property
    def is_reshaped(self) -> bool:
        """Whether the shapes differ, and not by rows that were added or deleted."""
        return self.shapes[0] != self.shapes[1] and self.alignment is None

    @property
    def has_other_rows(self) -> bool:
        """Whether rows were added or deleted."""
        return self.alignment is not None and bool(self.alignment.deleted or self.alignment.inserted)

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
    names_noise: bool = True,
    release: Callable[[], None] | None = None,
    errors: Sequence[Array | None] = (None, None),
    alignment: Alignment | None = None,
) -> Comparison:
    """Compare dtype, order, shape and, where the shapes are one, every element; NaN equals NaN, -0.0 is not 0.0.

    With a tolerance numbers are equal where they are close, as in `np.isclose`, -0.0 and 0.0 too.

    `a`: the array in the first file. `rtol`: relative tolerance, for floats and complex numbers. `most`: the largest
    number of differing elements that are named. `names_noise`: whether elements are named that differ by rounding
    alone. `release`: is called after each block, for arrays that are mapped. `errors`: of the elements of both whose
    cells cannot be read, which are listed apart.
    """
    a, b = to_rectangular(a), to_rectangular(b)
    comparison = Comparison(
        name, (dtype_name(a), dtype_name(b)), (_shape(a), _shape(b)), (_order(a), _order(b)), bool(rtol or atol)
    )
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        comparison.compared = are_alike(a, b)
        return comparison
    comparable = _are_comparable(a, b)
    if alignment is None and comparable and a.shape != b.shape:
        alignment = align_rows(a, b)
    if alignment is not None:
        comparison.alignment = alignment
        comparison.rows_gone = {row: np.take(a, row, alignment.axis).ravel() for row in alignment.deleted[:most]}
        comparison.rows_come = {row: np.take(b, row, alignment.axis).ravel() for row in alignment.inserted[:most]}
        a, b = (np.take(array, rows, alignment.axis) for array, rows in zip((a, b), alignment.pairs, strict=True))
        taken = zip(errors, alignment.pairs, strict=True)
        errors = [None if some is None else np.take(some, rows, alignment.axis) for some, rows in taken]
    elif a.shape != b.shape:
        return comparison
    comparison.compared = comparable
    if not comparable:
        return comparison
    comparison.elements = a.size
    hidden = [some.astype(np.bool_) for some in errors if some is not None]  # elements of no value
    left_out: Any = np.any(hidden, axis=0) if hidden else np.zeros((), np.bool_)
    sizes, places = np.empty(0), np.empty((0, a.ndim), np.int64)
    for block in cover_with_blocks(a.shape):
        if release is not None:
            release()
        x, y = a[*block, ...], b[*block, ...]  # of no axes too: arrays, not their elements
        unequal = find_unequal(x, y, rtol, atol)
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
        noise = np.zeros(len(x), np.bool_) if comparison.tolerant else find_noise(x, y)
        comparison.differing += len(x)
        comparison.noise += int(np.count_nonzero(noise))
        some = np.where(noise, -1, _measure(comparison, x, y))  # noise is listed last
        named = np.ones(len(x), np.bool_) if names_noise else ~noise
        sizes, places = np.concatenate([sizes, some[named]]), np.concatenate([places, at[named]])
        largest = np.argsort(-sizes, kind="stable")[:most]  # of equal ones those that come first
        sizes, places = sizes[largest], places[largest]

    def name_element(place: tuple[int, ...]) -> DifferingElement:
        pair = [
            array[place] if some is None or some[place] is None else some[place]
            for array, some in zip((a, b), errors, strict=True)
        ]
        indices = (place, place) if alignment is None else alignment.find_indices(place)
        return DifferingElement(*indices, *pair)

    comparison.first = [name_element(tuple(place)) for place in places.tolist()]
    comparison.unreadable = [name_element(tuple(place)) for place in np.argwhere(left_out).tolist()] if hidden else []
    if not comparison.tolerant and not hidden and comparison.differing - comparison.noise > a.size // 2:
        comparison.explanation = _explain(a, b)
    return comparison


def _explain(a: Array, b: Array) -> str | None:
    """Return a sentence on the change that all elements of B have undergone; None if no single one explains them."""
    if a.size > _MOST_EXPLAINED or dtype_name(a) != dtype_name(b) or a.ndim == 0:
        return None
    header = LinearArray.from_numpy(a).header
    order: Literal["C", "F"] = "F" if is_column_major(a) else "C"
    header = replace(header, strides=contiguous_strides(a.shape, header.order), offset=0, capacity=a.size)
    return explain_change(a.ravel(order), b.ravel(order), header)


def dtype_name(array: Any) -> str:
    """Return the exchange format's name of an array's dtype; of an awkward array its type."""
    return dtypes.from_numpy(array.dtype).name if isinstance(array, np.ndarray) else str(array.type)


def _shape(array: Any) -> tuple[int, ...]:
    return array.shape if isinstance(array, np.ndarray) else (len(array),)


def _order(array: Any) -> str | None:
    """Return the order of an array in memory, as a header would name it; that of one axis is always row-major."""
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


# Rows that belong together -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alignment:
    """The rows of two arrays that belong together."""

    axis: int  # along which the rows lie
    pairs: tuple[Positions, Positions]  # the rows of A, and of B, that are compared with one another; the first ascend
    deleted: list[int]  # the rows of A that B lacks
    inserted: list[int]  # the rows of B that A lacks

    @classmethod
    def of_sources(cls, axis: int, sources: Positions, count: int) -> Alignment:
        """Return the alignment, given for each row of B its row of A, -1 if A lacks it, and the number of rows of A."""
        second = np.flatnonzero(sources >= 0)
        second = second[np.argsort(sources[second])]
        deleted = np.setdiff1d(np.arange(count), sources).tolist()
        return cls(axis, (sources[second], second), deleted, np.flatnonzero(sources < 0).tolist())

    def find_indices(self, place: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return the indices in B and in A of an element, given its index among the rows that are compared."""
        row = place[self.axis]
        return tuple(
            (*place[: self.axis], int(rows[row]), *place[self.axis + 1 :]) for rows in (self.pairs[1], self.pairs[0])
        )


def align_rows(a: Array, b: Array) -> Alignment | None:
    """Return the pairs of rows that belong together; None if several axes changed, or no row of A is in B.

    Rows are those along the one axis whose length changed. One that stands elsewhere was deleted and inserted again.

    Example:
        >>> aligned = align_rows(np.array([1, 2, 3]), np.array([1, 7, 2, 3]))
        >>> aligned.inserted, aligned.deleted
        ([1], [])
    """
    axes = [axis for axis, sizes in enumerate(zip(a.shape, b.shape, strict=False)) if sizes[0] != sizes[1]]
    if a.ndim != b.ndim or len(axes) != 1 or a.dtype.kind + b.dtype.kind in ("UO", "OU"):
        return None
    if not a.size or not b.size:
        return None
    axis = axes[0]
    name, (before, now) = _to_one_dtype(to_rows(a, axis), to_rows(b, axis))
    dtype = dtypes.from_name(name)
    origins = align_tables([(before, dtype)], [(now, dtype)])
    sources = np.where(origins.moved, -1, origins.sources)
    return Alignment.of_sources(axis, sources, a.shape[axis]) if (sources >= 0).any() else None


_MOST_ALIGNED = 2 * 10**6  # elements of the arrays of a table that are looked at for rows that belong together


def align_tables_of(pairs: Mapping[str, tuple[Any, Any]]) -> tuple[list[SortedRows], dict[str, Alignment]]:
    """Return the tables whose rows stand in another order in B, and by array the rows that belong together.

    Arrays that have as many rows, in A and in B alike, are a table: what one of them does not tell, the others do.

    Example:
        >>> before, now = (np.array([3, 1, 2]), np.array([1, 3])), (np.array([7, 8, 7]), np.array([8, 7]))
        >>> tables, rows = align_tables_of({"t": before, "u": now})
        >>> tables[0].to_text(), rows["u"].deleted
        ('rows sorted by t (2 rows, 2 arrays)', [2])
    """
    tables: dict[tuple[int, int, int], list[str]] = {}
    for name, (a, b) in pairs.items():
        if not all(isinstance(array, np.ndarray) and array.ndim and array.size for array in (a, b)):
            continue
        axis = row_axis(a)
        alike = a.ndim == b.ndim and a.shape[:axis] + a.shape[axis + 1 :] == b.shape[:axis] + b.shape[axis + 1 :]
        if alike and dtype_name(a) == dtype_name(b) and (a.shape != b.shape or row_axis(b) == axis):
            tables.setdefault((axis, a.shape[axis], b.shape[axis]), []).append(name)
    found, alignments = list[SortedRows](), dict[str, Alignment]()
    for (axis, count, count_now), names in tables.items():
        if len(names) < 2 or sum(array.size for name in names for array in pairs[name]) > _MOST_ALIGNED:
            continue
        before, now = ([to_rows(pairs[name][side], axis) for name in names] for side in (0, 1))
        kinds = [dtypes.from_numpy(rows.dtype) for rows in before]
        sources = find_row_sources(list(zip(before, kinds, strict=True)), list(zip(now, kinds, strict=True)))
        if sources is None:
            continue
        kept = np.flatnonzero(sources >= 0)
        if count == count_now and bool((sources[kept] == kept).all()):
            continue  # elements were edited where they stand
        aligned = Alignment.of_sources(axis, sources, count)
        alignments |= dict.fromkeys(names, aligned)
        if not is_ascending(sources):
            by = find_sorted({name: rows[kept] for name, rows in zip(names, now, strict=True)})
            found.append(SortedRows(names, by, aligned.pairs[1]))
    return found, alignments


def _to_one_dtype(a: Array, b: Array) -> tuple[str, list[Any]]:
    """Return the name of a dtype that holds the elements of two arrays, and both arrays in it."""
    kinds = a.dtype.kind + b.dtype.kind
    if set(kinds) <= set("biu"):
        return "int64", [array.astype(np.int64) for array in (a, b)]
    if set(kinds) <= set("biufc"):
        if kinds == "ff":
            coarser = min(a.dtype, b.dtype, key=lambda dtype: dtype.itemsize)
            with np.errstate(over="ignore"):
                a, b = a.astype(coarser), b.astype(coarser)
        wide = np.complex128 if "c" in kinds else np.float64
        return np.dtype(wide).name, [array.astype(wide) for array in (a, b)]
    if kinds in ("MM", "mm"):
        unit = np.promote_types(a.dtype, b.dtype)
        return "int64", [array.astype(unit).view(np.int64) for array in (a, b)]
    texts = [[repr(cell) for cell in array.ravel().tolist()] for array in (a, b)]
    return "string", [np.array(some, object).reshape(array.shape) for some, array in zip(texts, (a, b), strict=True)]


def describe_rows(rows: list[int]) -> str:
    """Return rows as people say them: `row 30`, `rows 31 to 33`, or their number and the first if there are gaps."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if rows[-1] - rows[0] == len(rows) - 1:
        return f"rows {rows[0]} to {rows[-1]}"
    return f"{len(rows):,} rows from {rows[0]} to {rows[-1]}"


# By how much, and which differ most ----------------------------------------------------------------------------------


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


def _find_largest(before: float | None, found: Sequence[float]) -> float | None:
    largest = max(found) if before is None else max(before, *found)
    return None if largest < 0 else largest


def _measure_exactly(x: Array, y: Array) -> tuple[int | float, float]:
    """Return the largest difference, and the largest relative one, where doubles do not hold the integers; -1 if no
    numbers differ.
    """
    pairs = list(zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))
    if any(math.isinf(value) for pair in pairs for value in pair):
        return math.inf, -1
    numbers = [(Fraction(a), Fraction(b)) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    largest = max((abs(a - b) for a, b in numbers), default=Fraction(-1))
    ratio = max((abs(a - b) / abs(b) for a, b in numbers if b), default=Fraction(-1))
    absolute = int(largest) if largest.denominator == 1 else float(largest)
    return absolute, float(ratio) if ratio < 2**1023 else math.inf


# Labels --------------------------------------------------------------------------------------------------------------


def compare_labels(pair: Sequence[DatasetLabels | None], files: Sequence[str]) -> list[str]:
    """Return sentences on the differences between the labels of two files, given their names.

    Example:
        >>> compare_labels([DatasetLabels(attrs={"title": "a"}), DatasetLabels()], ["run.csv", "back.csv"])
        ["attribute title: 'a' -> none"]
    """
    first, second = pair
    if first is None or second is None:
        return [] if first is second else [f"dimension names and attributes only in {files[first is None]}"]
    texts = [f"attribute {text}" for text in _compare_attrs(first.attrs, second.attrs)]
    for name in [name for name in first.variables if name in second.variables]:
        one, other = first.variables[name], second.variables[name]
        if one.dims != other.dims:
            texts.append(f"{name}: dimensions {', '.join(one.dims)} -> {', '.join(other.dims)}")
        if (name in first.coords) != (name in second.coords):
            texts.append(f"{name}: a coordinate only in {files[name not in first.coords]}")
        texts += [f"{name}: attribute {text}" for text in _compare_attrs(one.attrs, other.attrs)]
    if repr(first.frame) != repr(second.frame):
        texts.append("the index, its names or categories differ")
    return texts


def _compare_attrs(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    texts = []
    for key in dict.fromkeys([*first, *second]):
        pair = [f"{attrs[key]!r:.60}" if key in attrs else "none" for attrs in (first, second)]
        if repr(first.get(key, ...)) != repr(second.get(key, ...)):
            texts.append(f"{key}: {' -> '.join(pair)}")
    return texts
