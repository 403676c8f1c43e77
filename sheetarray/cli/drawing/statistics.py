"""Statistics of the numbers of an array."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...dtypes import Array

NUMBERS = "biufc"


class Statistics(NamedTuple):
    """Statistics of the numbers of an array; of their magnitudes, if they are complex."""

    min: float | None  # of the finite elements; None if there are none. An int for integers
    mean: float | None  # of booleans the share that is true
    max: float | None
    nan: int
    infinite: int


def has_numbers(values: Array) -> bool:
    """Return whether statistics and a picture of an array make sense."""
    return values.dtype.kind in NUMBERS


def to_real(values: Array) -> Array:
    """Return numbers that can be put in order: magnitudes of complex ones, 0 and 1 for booleans."""
    if values.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.abs(values))
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def compute_statistics(values: Array) -> Statistics:
    """Return minimum, mean and maximum of the finite elements; NaN and infinities are counted."""
    numbers = to_real(values).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    infinite = numbers.size - finite.size - nan
    if not finite.size:
        return Statistics(None, None, None, nan, infinite)
    with np.errstate(over="ignore"):
        mean = float(finite.mean(dtype=np.float64))
    return Statistics(finite.min().item(), mean, finite.max().item(), nan, infinite)
