"""The roundings that programs do when they save a file again."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np

WIDE = Context(prec=60, Emin=-9999, Emax=9999)

Array = np.ndarray[Any, Any]


def rounded(number: float, digits: int = 15) -> float:
    """The double that a program leaves which keeps so many digits of the shortest text, half away from zero."""
    decimal = Decimal(repr(number))
    if not decimal.is_finite() or not decimal:
        return number
    unit = Decimal((0, (1,), decimal.adjusted() - digits + 1))
    return float(decimal.quantize(unit, ROUND_HALF_UP, WIDE))


def at_15(buffer: Array) -> Array:
    return np.array([rounded(number) for number in buffer.tolist()])


def at_15_even(buffer: Array) -> Array:
    return np.array([float(f"{number:.15g}") for number in buffer.tolist()])


def at_16(buffer: Array) -> Array:
    return np.array([float(f"{number:.16g}") for number in buffer.tolist()])


def random_numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)
