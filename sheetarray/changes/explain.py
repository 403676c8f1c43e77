"""Explains what was done to all elements alike: another order, a factor, a constant, fewer digits.

The elements as they were are changed in each such way, and compared with those of today up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from math import prod
from typing import Any, Literal

import numpy as np

from ..dtypes import Array, Buffer, DType, from_numpy
from ..linear.array import LinearArray
from ..linear.buffers import is_column_major
from ..linear.header import Header
from ..linear.resizing import contiguous_strides
from .rounding import mark_kept
from .rows import content_key

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
            bool(mark_kept(np.asarray(elements[part]), buffer[part], dtype).all()) for part in (sample, np.s_[:])
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
    """Return a duration in days, hours or minutes, whichever is the largest unit that divides it."""
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
        for part in (np.s_[:_SAMPLE], np.s_[:]):
            computed = before[part] * factor + constant
            limits = error * (np.abs(computed) + (abs(constant) + np.abs(computed - constant) if constant else 0.0))
            if not (np.abs(now[part] - computed) <= limits).all():
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
