"""Finds numbers that a program rounded to 20 decimals, as LibreOffice does in .ods: small ones lose digits by that.

If an element was y and is x now, a multiple of 10^-20, then y was no further from x than half of 10^-20. The
fingerprint tells by how much the element's code has changed: so every decimal of 15 digits that near is tried. Where
there are too many, as below 10^-11, nothing can be proved, and nothing disproved.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .decimal15 import EXPONENT, digits_from_text
from .edits import FingerprintComparison
from .moments import find_hidden_edit
from .sums import WIDTH

_UNITS = 1e20  # units of the 20th decimal in 1, exactly
_SMALL = 1e-5  # from here on, 20 decimals hold 15 digits
_WITH_EXPONENT = 1e-14  # numbers below are written with an exponent, and lose nothing
_MOST_TRIED = 2**17  # decimals that are tried for one element
_MOST_TRIED_IN_ALL = 2**22
_PLAIN = 1e-5  # the largest edit that may stay unseen for rounding to be believed where no element proves it


class Cut(NamedTuple):
    """Elements that seem to have changed, and small numbers among them.

    Attributes:
        edited: the indices of elements that were not rounded, but edited.
        others: the stretches with changed elements whose indices are unknown, and with no small number.
        doubtful: the stretches with changed elements whose indices are unknown, and which may only have been rounded.
    """

    edited: list[int]
    others: list[int]
    doubtful: list[int]


def cut_at_20(case: FingerprintComparison) -> Cut | None:
    """Return the edits besides a rounding to 20 decimals; None if there is no sign of such a rounding."""
    view, record = case.view, case.record
    if case.dtype.numpy != np.float64 or record.sixteen is None or view.digits != 15 or view.grown:
        return None
    numbers: np.ndarray[Any, np.dtype[np.float64]] = case.buffer
    with np.errstate(invalid="ignore"):
        small = (np.abs(numbers) < _SMALL) & (np.abs(numbers) >= _WITH_EXPONENT)
    if not small.any() or (np.rint(numbers[small] * _UNITS) / _UNITS != numbers[small]).any():
        return None
    edited, others = view.edited_elements
    results = _compare_rounding(case, [index for index in edited if small[index]])
    hidden = None
    if record.moments is not None and case.moments is not None:
        hidden = find_hidden_edit(record.moments, case.moments, numbers)
    if not any(results.values()) and not (hidden is not None and hidden < _PLAIN):
        return None
    size = view.partition.stretch
    doubtful = [stretch for stretch in others if small[stretch * size : (stretch + 1) * size].any()]
    left = [index for index in edited if not small[index] or results.get(index) is False]
    if len(left) == len(edited) and not doubtful:
        return None
    return Cut(left, [stretch for stretch in others if stretch not in doubtful], doubtful)


def _compare_rounding(case: FingerprintComparison, edited: list[int]) -> dict[int, bool]:
    """Return, by their indices, whether elements were only rounded to 20 decimals; those not known are left out."""
    results: dict[int, bool] = {}
    left = _MOST_TRIED_IN_ALL
    for index in edited:
        count = _count_candidates(float(case.buffer[index]))
        if count <= min(_MOST_TRIED, left):
            left -= count
            if (result := _is_rounded(case, index)) is not None:
                results[index] = result
    return results


def _count_candidates(number: float) -> int:
    """Return the number of decimals of 15 digits that, rounded to 20 decimals, may have become a given number."""
    _, exponent, _ = digits_from_text(abs(number))
    return int(10 ** max(0, -6 - (exponent - EXPONENT))) + 3


def _is_rounded(case: FingerprintComparison, index: int) -> bool | None:
    """Return whether an element was only rounded to 20 decimals; None where that cannot be told."""
    number = float(case.buffer[index])
    count = _count_candidates(number)
    digits, exponent, _ = digits_from_text(abs(number))
    if digits - count // 2 < 10**14:  # the numbers below have another exponent: 15 digits of these are finer
        return None
    near = np.arange(digits - count // 2 - 1, digits + count // 2 + 2)
    candidates = np.array([float(f"{unit}e{exponent - EXPONENT - 14}") for unit in near.tolist()])
    codes = case.view.codes(np.copysign(np.append(candidates, abs(number)), number))
    step = np.uint64(case.view.difference.steps[index])
    return bool((((codes[-1] - codes[:-1] - step) & np.uint64(2**WIDTH - 1)) == 0).any())
