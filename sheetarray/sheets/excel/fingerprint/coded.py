"""The codes of a run of elements as a record, and the mixing of 64 bits that makes them; see docs/fingerprint.md."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer

Codes = np.ndarray[tuple[int], np.dtype[np.uint64]]
_FIRST, _SECOND, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), 0x9E3779B97F4A7C15
_HALF = np.uint64(32)


class ScaleSums(NamedTuple):
    """Sums over the elements that show by which power of ten they were multiplied; of integers, without bounds.

    Attributes:
        digits: of signed digits times weights.
        exponents: of decimal exponents times weights.
        weight: of the weights of all elements but zeros, NaN and infinities.
    """

    digits: int
    exponents: int
    weight: int


class OtherRounding(NamedTuple):
    """Numbers that another way of rounding to 15 digits leaves elsewhere.

    Attributes:
        places: their indices in the run.
        steps: their codes then, less the codes at 15 digits.
    """

    places: np.ndarray[tuple[int], np.dtype[np.int64]]
    steps: Codes


class Coded(NamedTuple):
    """The codes of a run of elements; the arrays may be reused by the next call.

    Attributes:
        exact: of the elements as they are.
        rounded: of the elements at 15 digits.
        sixteen: of the elements at 16 digits, as `%.16g` rounds; for float64 only.
        error: the largest relative error of the rounding to 15 digits.
        longer: how many numbers certainly have more than 15 digits.
        scale: for real numbers only.
        even: what `%.15g` leaves otherwise; for float64 only.
        twice: what rounding to 16 digits and then to 15 leaves otherwise; for float64 only.
        errors: the relative error of the rounding of each to 15 digits; for float64 only.
        parts: the signed digits and the decimal exponents of which `scale` is made; for real numbers only.
        numbers: the elements as doubles, for real numbers, dates and times; NaT is NaN.
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
    """Return values of 64 bits mixed, so that each bit counts in every bit of the code (`spare` is overwritten)."""
    np.multiply(values, _FIRST, out=out)
    np.right_shift(out, _HALF, out=spare)
    np.bitwise_xor(out, spare, out=out)
    np.multiply(out, _SECOND, out=out)
    np.right_shift(out, _HALF, out=spare)
    return np.bitwise_xor(out, spare, out=out)


def mix_new(values: np.ndarray[tuple[int], Any]) -> Codes:
    """Return values of 64 bits mixed, in new arrays."""
    return mix(values, np.empty(len(values), np.uint64), np.empty(len(values), np.uint64))


@lru_cache(maxsize=8)
def make_noise(count: int) -> Codes:
    """Return odd pseudo-random numbers, always the same."""
    numbers = mix_new(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)) | np.uint64(1)
    numbers.flags.writeable = False
    return numbers
