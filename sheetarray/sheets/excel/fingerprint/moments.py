"""Moments: sums of numbers times pseudo-random weights, which show that no number was changed by more than rounding.

There are four: the plain sum, and three whose weights belong to the indices and lie between 0.5 and 1, or between -1
and -0.5. Rounding moves a moment by no more than the sum of its errors.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .decimal15 import MOST

Moments = np.ndarray[tuple[int], np.dtype[np.float64]]
Numbers = np.ndarray[tuple[int], np.dtype[Any]]

EQUATIONS = 4
_ERROR = 5e-15  # relative, of numbers rounded once more
_SUMMING = 16 * 2.0**-53  # the error of a sum, relative to the sum of sizes
_SIGMAS = 6.0  # standard deviations by which a moment may differ
_LEAST_WEIGHT = 0.5  # the smallest weight of a number in a moment, without its sign
_RUN = 2048  # numbers at a time: a product of this size stays in one thread


def moments_of(rows: np.ndarray[Any, np.dtype[Any]], index: int) -> np.ndarray[Any, Any]:
    """Return the moments of the doubles in each row, of which `index` is the first; NaN and infinities count as 0."""
    total, taken = np.zeros((len(rows), EQUATIONS)), 0
    with np.errstate(over="ignore", invalid="ignore"):
        while taken < rows.shape[1]:
            run, start = divmod(index + taken, _RUN)
            piece = rows[:, taken : taken + _RUN - start]
            weights = _weights()[:, start : start + piece.shape[1]].T
            moments = piece @ weights
            if not np.isfinite(moments).all():
                moments = np.where(np.isfinite(piece), piece, 0.0) @ weights
            moments[:, 1:] *= _factors(run)
            total += moments
            taken += piece.shape[1]
    return total


def sizes_of(numbers: Numbers) -> tuple[Moments, Moments]:
    """Return, for each moment, the sum of |weight * number|, and the root of the sum of their squares.

    If each number has an error in proportion to its size, the first says how far the moment moves at most, the second
    how far it moves as a rule.
    """
    sizes, squares = np.zeros(EQUATIONS), np.zeros(EQUATIONS)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(numbers), _RUN):
            piece = np.abs(numbers[start : start + _RUN])
            weights = np.abs(_weights()[:, : len(piece)])
            sizes += weights @ piece
            squares += (weights * weights) @ (piece * piece)
    return sizes, np.sqrt(squares)


def find_hidden_edit(then: Moments, now: Moments, numbers: Numbers) -> float | None:
    """Return the largest edit of a single double that would not be seen beside rounding; None if more has happened."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes, squares = sizes_of(np.where(np.isfinite(numbers), numbers, 0.0))
        slack = _SUMMING * sizes + _SIGMAS * _ERROR * squares
        is_same = bool(np.isfinite(slack).all() and (np.abs(now - then) <= slack).all())
    return float(slack.max()) / _LEAST_WEIGHT if is_same else None


@lru_cache(maxsize=1)
def _weights() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    noise = _noise(np.arange((EQUATIONS - 1) * _RUN, dtype=np.uint64)).reshape(EQUATIONS - 1, _RUN)
    return np.concatenate([np.ones((1, _RUN)), noise])


@lru_cache(maxsize=MOST)
def _factors(run: int) -> Moments:
    """Return the factors, 1 or -1, for the weights of a run of 2,048 indices, so that runs differ in their weights."""
    if run == 0:
        return np.ones(EQUATIONS - 1)
    signs: Moments = np.sign(_noise((np.arange(1, EQUATIONS, dtype=np.uint64) << np.uint64(40)) + np.uint64(run)))
    return signs


def _noise(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a pseudo-random number for each integer: between 0.5 and 1, or between -1 and -0.5."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    size = 0.5 + (mixed >> np.uint64(12)) * 2.0**-53
    return np.where(mixed & np.uint64(1), size, -size)
