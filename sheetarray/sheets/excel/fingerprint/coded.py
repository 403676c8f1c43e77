"""What is computed from a run of elements: their codes and more (`Coded`), and the mixing of bits that makes codes.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer

Codes = np.ndarray[tuple[int], np.dtype[np.uint64]]
_FIRST, _SECOND, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), 0x9E3779B97F4A7C15
_HALF = np.uint64(32)


class ScaleSums(NamedTuple):
    """Sums over the elements that show by which power of ten they were multiplied, as integers of any size.

    Attributes:
        digits: the sum of signed digits times weights.
        exponents: the sum of decimal exponents times weights.
        weight: the sum of the weights of all elements except zeros, NaN and infinities.
    """

    digits: int
    exponents: int
    weight: int


class OtherRounding(NamedTuple):
    """The numbers of a run that another way of rounding to 15 digits rounds to another decimal.

    Attributes:
        places: their indices in the run.
        steps: their codes after that rounding, minus their usual codes at 15 digits.
    """

    places: np.ndarray[tuple[int], np.dtype[np.int64]]
    steps: Codes


class Coded(NamedTuple):
    """The codes of a run of elements; the arrays may be overwritten by the coder's next call.

    Attributes:
        exact: the code of each element as it is.
        rounded: the code of each element at 15 digits.
        sixteen: the code of each element at 16 digits, as `%.16g` rounds; for float64 only.
        error: the largest relative error of the rounding to 15 digits.
        longer: the number of elements that certainly have more than 15 digits.
        scale: the sums that show a power of ten; for real numbers only.
        even: the numbers that `%.15g` rounds to other 15 digits; for float64 only, and only if asked for.
        twice: the numbers that get other 15 digits by way of 16 digits; for float64 only, and only if asked for.
        errors: the relative error of each element's rounding to 15 digits; for float64 only.
        parts: the signed digits and the decimal exponents of which `scale` is made; for real numbers only.
        numbers: the elements; for float64 only.
    """

    exact: Codes
    rounded: Codes
    sixteen: Codes | None = None
    error: float = 0.0
    longer: int = 0
    scale: ScaleSums | None = None
    even: OtherRounding | None = None
    twice: OtherRounding | None = None
    numbers: Buffer | None = None
    errors: Buffer | None = None
    parts: tuple[Buffer, Buffer] | None = None


def mix(values: np.ndarray[tuple[int], Any], out: Codes, spare: Codes) -> Codes:
    """Return a code for each value of 64 bits, so mixed that every bit of the value changes about half of the code.

    Args:
        values: of 64 bits each.
        out: where the codes are put.
        spare: an array of the same length, which is overwritten.
    """
    np.multiply(values, _FIRST, out=out)
    np.right_shift(out, _HALF, out=spare)
    np.bitwise_xor(out, spare, out=out)
    np.multiply(out, _SECOND, out=out)
    np.right_shift(out, _HALF, out=spare)
    return np.bitwise_xor(out, spare, out=out)


def mix_new(values: np.ndarray[tuple[int], Any]) -> Codes:
    """Return the codes that `mix` makes, in a new array."""
    return mix(values, np.empty(len(values), np.uint64), np.empty(len(values), np.uint64))


@lru_cache(maxsize=8)
def make_noise(count: int) -> Codes:
    """Return `count` odd pseudo-random numbers, the same in every call."""
    numbers = mix_new(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)) | np.uint64(1)
    numbers.flags.writeable = False
    return numbers
