"""Finds integers beyond 2^53 that a program rounded, because it kept them as doubles or wrote 15 to 17 digits.

Such integers are written as text. If somebody has turned that text into numbers, they are rounded: if an integer was y
and is x now, then y was no further from x than half a unit of its last digit. The fingerprint tells by how much the
integer's code has changed, so every integer that near is tried. Where several elements of a stretch have changed, none
can be tried by itself; but if all large ones among them are doubles or short decimals, they count as rounded.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .edits import FingerprintComparison
from .sums import WIDTH

_EXACT = 2**53  # integers up to here are doubles
_DIGITS = (15, 16, 17)  # with which programs write a double
_MOST_TRIED_IN_ALL = 2**22

Magnitudes = np.ndarray[tuple[int], np.dtype[np.uint64]]


class RoundedIntegers(NamedTuple):
    """The changes in an array of integers.

    Attributes:
        rounded: the indices of elements that may only have been rounded.
        edited: the indices of elements that were not rounded, but edited.
        others: the stretches with changed elements whose indices are unknown, and which were not all rounded.
        doubtful: the stretches with changed elements whose indices are unknown, and which may all have been rounded.
    """

    rounded: list[int]
    edited: list[int]
    others: list[int]
    doubtful: list[int]


def find_rounded_integers(case: FingerprintComparison) -> RoundedIntegers | None:
    """Return the edits besides a rounding to doubles; None if there is no sign of such a rounding."""
    view = case.view
    if case.dtype.numpy not in (np.dtype(np.int64), np.dtype(np.uint64)) or view.grown:
        return None
    magnitudes = _magnitudes(case.buffer)
    units = _find_units(magnitudes)
    large = (magnitudes >= _EXACT) | (units > 0)  # rounded to 15 digits, 2^53 + 1 is less than 2^53
    short = large & (_are_doubles(magnitudes) | (units > 0))
    if not short.any():
        return None
    edited, others = view.edited_elements
    left = _MOST_TRIED_IN_ALL
    rounded = []
    for index in edited:
        if short[index]:
            half = 2 ** max(int(magnitudes[index]).bit_length() - 54, 0)  # of the distance to the next double
            unit = int(units[index]) or _unit_of_double(int(magnitudes[index]))
            left -= 2 * half + unit
            if left < 0 or _was_near(case, index, half, unit):
                rounded.append(index)
    size = view.partition.stretch
    doubtful = [
        stretch
        for stretch in others
        if (within := large[stretch * size : (stretch + 1) * size]).any()
        and short[stretch * size : (stretch + 1) * size][within].all()
    ]
    if not rounded and not doubtful:
        return None
    return RoundedIntegers(
        rounded,
        [index for index in edited if index not in set(rounded)],
        [stretch for stretch in others if stretch not in set(doubtful)],
        doubtful,
    )


def _magnitudes(buffer: np.ndarray[tuple[int], Any]) -> Magnitudes:
    """Return the integers without their signs, as unsigned ones, so that -2^63 has a magnitude too."""
    unsigned = buffer.astype(np.uint64)  # two's complement
    magnitudes: Magnitudes = np.where(buffer < 0, ~unsigned + np.uint64(1), unsigned)
    return magnitudes


def _are_doubles(magnitudes: Magnitudes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the integers that are doubles."""
    lowest = np.maximum(magnitudes & (~magnitudes + np.uint64(1)), 1)
    double: np.ndarray[Any, np.dtype[np.bool_]] = magnitudes // lowest <= _EXACT
    return double


def _find_units(magnitudes: Magnitudes) -> Magnitudes:
    """Return, for each integer, the unit of its 15th to 17th digit if all digits after that are zeros; else 0."""
    units = np.zeros(len(magnitudes), np.uint64)
    for length in range(16, 21):
        of_length = (magnitudes >= 10 ** (length - 1)) & ((magnitudes < 10**length) if length < 20 else True)
        for digits in sorted(_DIGITS, reverse=True):
            if digits < length:
                unit = np.uint64(10 ** (length - digits))
                units[of_length & (magnitudes % unit == 0)] = unit
    return units


def _unit_of_double(magnitude: int) -> int:
    """Return the unit of the last digit with which an integer may have been printed, before it became a double again.

    0 if no such printing gives it.
    """
    for digits in _DIGITS[:2]:
        more = len(str(magnitude)) - digits
        if more > 0 and int(float(f"{float(magnitude):.{digits - 1}e}")) == magnitude:
            return int(f"1{'0' * more}")
    return 0


def _was_near(case: FingerprintComparison, index: int, half: int, unit: int) -> bool:
    """Return whether an element may have been an integer that a program rounded to its present value.

    Args:
        case: the array and its fingerprint.
        index: of the element.
        half: half of the distance between doubles at the element.
        unit: of the last digit with which the element may have been printed; 0 if it was not, so that an integer that
            is a double was not rounded to another one.
    """
    limits = np.iinfo(case.dtype.numpy)
    now = int(case.buffer[index])
    span = half + unit // 2 if unit else half
    low, high = max(now - span, int(limits.min)), min(now + span, int(limits.max))
    near = np.arange(high - low + 1, dtype=np.uint64) + np.array([low % 2**64], dtype=np.uint64)
    candidates = np.append(near, np.array([now % 2**64], dtype=np.uint64)).view(case.dtype.numpy)
    if not unit:
        candidates = np.append(candidates[:-1][~_are_doubles(_magnitudes(candidates[:-1]))], candidates[-1])
    codes = case.view.codes(candidates)
    step = np.uint64(case.view.difference.steps[index])
    return bool((((codes[-1] - codes[:-1] - step) & np.uint64(2**WIDTH - 1)) == 0).any())
