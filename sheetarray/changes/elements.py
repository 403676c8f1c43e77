"""Which elements of two arrays differ, which of those by a program's rounding, and what was done to all alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from math import prod
from typing import Any, Literal
from unicodedata import combining, normalize

import numpy as np

from ..dtypes import Array, Buffer, DType, Mask, Positions, from_numpy
from ..elements.equality import find_unequal
from ..linear.array import LinearArray
from ..linear.buffers import is_column_major
from ..linear.header import Header
from ..linear.resizing import contiguous_strides
from ..loops import round_doubles
from .rounding import NEAR, WAYS, mark_kept
from .rows import content_key
from .wording import count_noun


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
        apart = np.abs(a - b) <= NEAR * np.maximum(np.abs(a), np.abs(b))
    if a.dtype == np.float64:
        places = np.flatnonzero(apart & ~near & (a != b) & np.isfinite(a) & np.isfinite(b))
        for digits, half_up in WAYS:
            one, other = (round_doubles(numbers[places], digits, half_up=half_up) for numbers in (a, b))
            near[places] |= one == other
    return near


# Changes that people made --------------------------------------------------------------------------------------------


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
            made = array.astype(dtype)
        return None if find_unequal(array, made, 0, 0).any() else made
    except (TypeError, ValueError, OverflowError):
        return None


# Rows that stand in another order ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Arrays of as many rows that stand in another order now, the same for all of them."""

    names: Sequence[str]  # of the arrays
    by: str | None  # the array by which the rows are sorted now; None if by none
    order: Positions  # for each row as it was written its number now

    def to_text(self) -> str:
        """Return a sentence that describes the sort, such as `rows sorted by t (12 rows, 5 arrays)`."""
        what = "rows in another order" if self.by is None else f"rows sorted by {self.by}"
        arrays = self.names[0] if len(self.names) == 1 else count_noun(len(self.names), "array")
        return f"{what} ({count_noun(len(self.order), 'row')}, {arrays})"


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
    """Return whether values rise or fall as programs sort them: blanks and NaN at an end, text also without case."""
    known = [place for place, value in enumerate(values) if value not in (None, "") and value == value]
    values = values[known[0] : known[-1] + 1] if known else ()
    if not values or values[0] == values[-1]:
        return False
    if isinstance(values[0], str) and _is_sorted_by(values, _fold):
        return True
    return _is_sorted_by(values, lambda value: value)


def _is_sorted_by(values: Sequence[Any], key: Callable[[Any], Any]) -> bool:
    try:
        pairs = list(pairwise(map(key, values)))
        return all(x <= y for x, y in pairs) or all(x >= y for x, y in pairs)
    except (TypeError, AttributeError):
        return False


def _fold(text: str) -> str:
    """Return a text without case and accents."""
    return "".join(char for char in normalize("NFD", text.casefold()) if not combining(char))


# What was done to all elements alike: another order, a factor, a constant, fewer digits. The elements as they
# were are changed in each such way, and compared with those of today up to rounding.
MOST_EXPLAINED = 10**7  # elements of arrays in which one change of all elements is looked for
_FEW = 3  # edits that need no other explanation
_MOST_AXES = 5
_LONGEST = 12  # digits of a factor or a constant that somebody typed
_SAMPLE = 1000  # elements that rule a guess out before all are compared
_ERRORS = {8: 2e-14, 4: 1e-6, 2: 2e-3}  # relative, of numbers that were computed and rounded; by bytes
_PARTS_OF_DAYS = ("D", "h", "m", "s", "ms", "us", "ns")


def explain_change(written: Buffer, buffer: Buffer, header: Header) -> str | None:
    """Return a sentence on the change that all elements have undergone; None if no single one explains them all.

    Example:
        >>> from sheetarray.linear.array import LinearArray
        >>> array = np.array([1.5, 2.5, 4.0, 8.0])
        >>> explain_change(array, array * 1000, LinearArray.from_numpy(array).header)
        'every number was multiplied by 1000'
    """
    if len(written) != len(buffer) or len(buffer) <= _FEW:
        return None
    dtype, sample = header.dtype, np.unique(np.linspace(0, len(buffer) - 1, _SAMPLE).astype(np.int64))

    def fits(elements: Buffer) -> bool:
        return all(
            bool(mark_kept(np.asarray(elements[some]), buffer[some], dtype).all()) for some in (sample, np.s_[:])
        )

    if content_key(written, dtype) == content_key(buffer, dtype):
        places = np.arange(len(written))
        orders = (message for message, order in _iter_orders(places, header) if fits(written[order]))
        if (message := next(orders, None) or _find_sort(written, fits)) is not None:
            return message
    with np.errstate(all="ignore"):
        return next((message for message, is_it in _iter_changes(written, buffer, dtype, fits) if is_it), None)


def explain_arrays(a: Array, b: Array) -> str | None:
    """Return a sentence on the change that all elements of an array have undergone; None if no single one does."""
    if a.size > MOST_EXPLAINED or from_numpy(a.dtype).name != from_numpy(b.dtype).name or a.ndim == 0:
        return None
    header = LinearArray.from_numpy(a).header
    order: Literal["C", "F"] = "F" if is_column_major(a) else "C"
    header = replace(header, strides=contiguous_strides(a.shape, header.order), offset=0, capacity=a.size)
    return explain_change(a.ravel(order), b.ravel(order), header)


# Orders --------------------------------------------------------------------------------------------------------


def _find_sort(written: Buffer, fits: Callable[[Buffer], bool]) -> str | None:
    if written.dtype.kind in "cO":
        return None
    ascending = np.sort(written)
    for direction, order in (("ascending", ascending), ("descending", ascending[::-1])):
        if fits(order):
            return f"sorted: the elements are those that were written, but in {direction} order"
    return None


def _iter_orders(places: Buffer, header: Header) -> Iterator[tuple[str, Buffer]]:
    """Yield orders of all elements: a sentence, and for each element of today the index at which it was written."""
    shape, order = header.shape, header.order
    plain = header.strides == contiguous_strides(shape, order) and not header.offset and prod(shape) == len(places)
    if plain and 1 < len(shape) <= _MOST_AXES:
        layout: Literal["C", "F"] = "F" if order == "column-major" else "C"
        grid = places.reshape(shape, order=layout)
        for axes in permutations(range(len(shape))):
            if list(axes) != sorted(axes):
                how = "transposed" if len(shape) == 2 else f"transposed, axes {axes}"
                transpose = grid.transpose(axes).ravel(layout)
                yield f"{how}: the elements stand in the order of the array's transpose", transpose


# Values --------------------------------------------------------------------------------------------------------


def _iter_changes(
    written: Buffer, buffer: Buffer, dtype: DType, fits: Callable[[Buffer], bool]
) -> Iterator[tuple[str, bool]]:
    """Yield changes of values: a sentence, and whether it is true."""
    kind = dtype.kind
    if kind != "generic":
        first = buffer[0].item() if kind not in ("datetime", "timedelta", "string") else str(buffer[0])
        alike = bool(np.all((buffer == buffer[0]) | ((buffer != buffer) & (buffer[0] != buffer[0]))))
        shown = f"{first!r:.60}" if kind == "string" else f"{first!s:.60}"
        yield f"filled with one value: all {len(buffer)} elements are {shown} now", alike
    match kind:
        case "datetime" | "timedelta":
            yield from _iter_shifts(written, buffer, is_date=kind == "datetime")
        case "int" | "float":
            yield from _iter_linear(written, buffer)
            if kind == "float":
                yield from _iter_shorter(written, buffer, fits)


def _iter_shifts(written: Buffer, buffer: Buffer, *, is_date: bool) -> Iterator[tuple[str, bool]]:
    missing = np.isnat(written)
    if missing.all() or (missing != np.isnat(buffer)).any():
        return
    steps = buffer.view(np.int64)[~missing] - written.view(np.int64)[~missing]
    size = _say_duration(abs(int(steps[0])), written.dtype)
    words = ("later", "earlier") if is_date else ("longer", "shorter")
    what = "date" if is_date else "duration"
    yield f"every {what} is {size} {words[int(steps[0]) < 0]}", bool(steps[0] and (steps == steps[0]).all())


def _say_duration(steps: int, dtype: np.dtype[Any]) -> str:
    """Return a number of steps of a dtype in the largest unit of which they are a whole number."""
    unit, step = np.datetime_data(dtype)
    duration = np.timedelta64(steps * step, unit)  # type: ignore[call-overload]
    for larger, word in (("D", "day"), ("h", "hour"), ("m", "minute")):
        if unit in _PARTS_OF_DAYS and duration and not duration % np.timedelta64(1, larger):  # type: ignore[call-overload]
            count = int(duration / np.timedelta64(1, larger))  # type: ignore[call-overload]
            return f"{count} {word}{'' if count == 1 else 's'}"
    return str(duration)


def _iter_linear(written: Buffer, buffer: Buffer) -> Iterator[tuple[str, bool]]:
    """Yield changes by a factor and a constant."""
    before, now = written.astype(np.float64), buffer.astype(np.float64)
    finite = np.isfinite(before)
    if (finite != np.isfinite(now)).any() or np.count_nonzero(finite) <= _FEW:
        return
    before, now = before[finite], now[finite]
    error = _ERRORS[min(written.dtype.itemsize, 8) if written.dtype.kind == "f" else 8]

    def is_so(factor: float, constant: float) -> bool:
        for some in (np.s_[:_SAMPLE], np.s_[:]):
            made = before[some] * factor + constant
            limits = error * (np.abs(made) + (abs(constant) + np.abs(made - constant) if constant else 0.0))
            if not (np.abs(now[some] - made) <= limits).all():
                return False
        return True

    low, high = int(np.argmin(before)), int(np.argmax(before))
    largest = int(np.argmax(np.abs(before)))
    for factor in _iter_typed(float(now[largest] / before[largest])):
        yield _say_multiplied(factor), factor != 1 and is_so(factor, 0.0)
    for constant in _iter_typed(float(now[largest] - before[largest])):
        how = "added to" if constant > 0 else "taken from"
        yield f"{abs(constant):.12g} was {how} every number", is_so(1.0, constant)
    slope = float((now[high] - now[low]) / (before[high] - before[low])) if before[high] != before[low] else 0.0
    for factor in _iter_typed(slope):
        for constant in _iter_typed(float(now[largest] - factor * before[largest])):
            how = "added" if constant > 0 else "taken away"
            yield f"{_say_multiplied(factor)}, and {abs(constant):.12g} {how}", is_so(factor, constant)


def _iter_shorter(written: Buffer, buffer: Buffer, fits: Callable[[Buffer], bool]) -> Iterator[tuple[str, bool]]:
    """Yield changes to fewer digits."""
    sizes: dict[str, Any] = {"single": np.float32, "half": np.float16}
    for name, size in sizes.items():
        if np.dtype(size).itemsize < written.dtype.itemsize:
            cut = written.astype(size)
            yield f"all numbers were cut to {name} precision ({cut.dtype})", fits(cut.astype(written.dtype))
    sample = buffer[np.isfinite(buffer)][:_SAMPLE]
    for decimals in range(15):
        if (np.abs(np.round(sample, decimals) - sample) > _ERRORS[written.dtype.itemsize] * np.abs(sample)).any():
            continue
        many = f"{decimals} decimal{'' if decimals == 1 else 's'}" if decimals else "whole numbers"
        ten = written.dtype.type(10.0**decimals)
        shorter = (np.round(written, decimals), np.trunc(written * ten) / ten, np.floor(written * ten) / ten)
        yield f"all numbers were rounded or cut to {many}", any(map(fits, shorter))


def _say_multiplied(factor: float) -> str:
    multiplier, divisor = f"{factor:.12g}", f"{1 / factor:.12g}"
    if abs(factor) < 1 and len(divisor.lstrip("-0.")) < len(multiplier.lstrip("-0.")):
        return f"every number was divided by {divisor}"
    return f"every number was multiplied by {multiplier}"


def _iter_typed(number: float) -> Iterator[float]:
    """Yield numbers of few digits near a number, and such whose inverse has few, as somebody may have typed them."""
    if not np.isfinite(number) or not number:
        return
    for digits in range(1, _LONGEST + 1):
        near = float(f"{number:.{digits}g}")
        if near and abs(near - number) < 1e-4 * abs(number):
            yield near
        inverse = float(f"{1 / number:.{digits}g}")
        if inverse and np.isfinite(inverse) and abs(1 / inverse - number) < 1e-4 * abs(number):
            yield 1 / inverse
