"""Makes codes of elements, 64 bits each, whose sums are the fingerprint; different elements hardly ever have one code.

The exact code of an element is made of its bits (every NaN alike), whatever the byte order or the width of a string
array. The code at 15 digits is made of what a program leaves of it that keeps 15 digits and knows no -0.0. Only floats
and generic elements have a code at 15 digits other than their exact one, and only float64 one at 16 digits.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ....dtypes import Buffer, DType, Mask
from ....elements import to_scalar
from ....loops import Doubles, Integers, digits_of_doubles, round_doubles

Codes = np.ndarray[tuple[int], np.dtype[np.uint64]]

MOST = 16_384  # elements at a time: the buffers of a few steps stay in a processor's cache
_FIRST, _SECOND, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), 0x9E3779B97F4A7C15
_HALF = np.uint64(32)
_EXPONENT = 340  # is added to decimal exponents, so that all of them are positive
_NAN_EXPONENT, _INFINITY_EXPONENT = 900, 901
_LARGE = 1e308  # larger doubles may be rounded to what no double is
_MANTISSA, _ONE = np.uint64((1 << 52) - 1), np.uint64(1)
_SHORT_NUMBER = len("number ") + 15
_CHARACTERS = 65_536  # characters of strings that are weighed at a time


class Coded(NamedTuple):
    """The codes of a run of elements.

    Attributes:
        exact: the code of each element as it is.
        fifteen: the code of each element at 15 digits.
        sixteen: the code of each element at 16 digits, as `%.16g` rounds; for float64 only.
        longer: a mask of the elements whose shortest text has more than 15 digits; for float64 only.
    """

    exact: Codes
    fifteen: Codes
    sixteen: Codes | None = None
    longer: Mask | None = None


def mix(values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Codes:
    """Return a code for each value of 64 bits, so mixed that every bit of the value changes about half of the code."""
    codes = values * _FIRST
    codes ^= codes >> _HALF
    codes *= _SECOND
    codes ^= codes >> _HALF
    return codes


@lru_cache(maxsize=8)
def make_noise(count: int) -> Codes:
    """Return `count` odd pseudo-random numbers, the same in every call."""
    numbers = mix(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)) | np.uint64(1)
    numbers.flags.writeable = False
    return numbers


def to_native(buffer: Buffer) -> Buffer:
    """Return the elements side by side in memory, in native byte order."""
    dtype = buffer.dtype if buffer.dtype.isnative else buffer.dtype.newbyteorder("=")
    contiguous: Buffer = np.ascontiguousarray(buffer, dtype=dtype)
    return contiguous


def exact_codes(buffer: Buffer, dtype: DType) -> Codes:
    """Return the exact code of each element; `buffer` is what `to_native` returns."""
    match dtype.kind:
        case "float":
            return mix(_float_bits(buffer).astype(np.uint64, copy=False))
        case "complex":
            parts = _float_bits(buffer.view(f"f{buffer.dtype.itemsize // 2}")).astype(np.uint64)
            return mix(mix(parts[0::2]) + parts[1::2])
        case "string":
            return _code_variable_strings(buffer) if buffer.dtype.kind == "T" else _code_strings(buffer)
        case "generic":
            return _code_generic(buffer).exact
        case _:
            if buffer.dtype.kind in "mM":
                buffer = buffer.view(np.int64)
            return mix(buffer.astype(np.uint64 if buffer.dtype.kind in "bu" else np.int64).view(np.uint64))


def code_elements(buffer: Buffer, dtype: DType, *, is_old: bool = False) -> Coded:
    """Return the codes of elements; `buffer` is what `to_native` returns.

    `is_old`: make the codes at 16 digits as records up to version 3 have them.
    """
    if dtype.kind == "generic":
        return _code_generic(buffer)
    exact = exact_codes(buffer, dtype)
    if dtype.kind != "float":
        return Coded(exact, exact)
    if dtype.numpy.itemsize < 8:  # 15 digits hold it exactly, but a cell knows no -0.0
        return Coded(exact, np.where(buffer == 0, mix(np.zeros(1, np.uint64)), exact))
    return _code_doubles(buffer, exact, is_old=is_old)


# Doubles -------------------------------------------------------------------------------------------------------


def _code_doubles(numbers: Doubles, exact: Codes, *, is_old: bool) -> Coded:
    digits, exponents = digits_of_doubles(numbers, 17, half_up=True)  # all digits of the shortest text
    decimals = _Decimals(numbers)
    to_fifteen = (digits + 50) // 100
    fifteen = decimals.code(to_fifteen, exponents, 15)
    longer = digits != to_fifteen * 100
    if is_old:
        digits, exponents = digits_of_doubles(numbers, 16, half_up=False)
        nearly_ten = digits == 10**16 - 1  # as which `%.16g` prints some powers of ten
        return Coded(exact, fifteen, decimals.code(digits + nearly_ten, exponents, 16), longer)
    to_sixteen = (digits + 5) // 10
    # A double lies above or below the tie that its text says; and the doubles below a power of two are closer than
    # those above. These few are rounded as `%.16g` does it, and what is left has a shortest text of 16 digits
    ties = np.flatnonzero((to_sixteen * 10 - digits == 5) | ((numbers.view(np.uint64) + _ONE) & _MANTISSA <= _ONE))
    if len(ties):
        left = round_doubles(numbers[ties], 16, half_up=False)
        exponents = exponents.copy()
        to_sixteen[ties], exponents[ties] = digits_of_doubles(left, 16, half_up=True)
    return Coded(exact, fifteen, decimals.code(to_sixteen, exponents, 16), longer)


class _Decimals:
    """Makes the codes of decimals, which some doubles were rounded to."""

    def __init__(self, numbers: Doubles) -> None:
        self._size = np.abs(numbers)
        is_usual = self._size.min(initial=1) > 0 and self._size.max(initial=1) < _LARGE
        self._odd = None if is_usual else ~((self._size > 0) & (self._size < _LARGE))
        self._signs = (numbers if is_usual else np.where(np.isnan(numbers), 1.0, numbers)).view(np.int64) >> 63 | 1

    def code(self, digits: Integers, exponents: Integers, count: int) -> Codes:
        """Return the codes of decimals of `count` digits, or of 10^count."""
        values = (exponents + _EXPONENT) << 53
        values += digits
        if self._odd is not None or digits.max(initial=0) == 10**count:
            odd = digits == 10**count if self._odd is None else self._odd | (digits == 10**count)
            for index in np.flatnonzero(odd).tolist():
                values[index] = _odd_decimal(float(self._size[index]), int(digits[index]), int(exponents[index]), count)
        values *= self._signs
        return mix(values.view(np.uint64))


def _odd_decimal(size: float, digits: int, exponent: int, count: int) -> int:
    """Return the value of the code of 0, NaN, infinity, 10.00, or of what is rounded beyond all doubles."""
    if size == 0:
        return 0
    if size != size:
        return _NAN_EXPONENT << 53
    if not digits or np.isinf(float(f"{digits}e{exponent - count + 1}")):
        return _INFINITY_EXPONENT << 53
    if digits == 10**count:
        digits, exponent = digits // 10, exponent + 1
    return ((exponent + _EXPONENT) << 53) + digits


def _float_bits(buffer: Buffer) -> Buffer:
    """Return the bits of floats as unsigned integers; every NaN has the same bits."""
    bits: Buffer = buffer.view(f"u{buffer.dtype.itemsize}")
    nan = np.isnan(buffer)
    if nan.any():
        return np.where(nan, np.array([np.nan], buffer.dtype).view(bits.dtype), bits)
    return bits


# Text ----------------------------------------------------------------------------------------------------------


def _code_strings(buffer: Buffer) -> Codes:
    """Return the codes of strings: mixed sums of their characters times noise. Padding adds nothing to them."""
    width = buffer.dtype.itemsize // 4
    codes = np.zeros(len(buffer), np.uint64)
    for first in range(0, width, _CHARACTERS):
        weighing = make_noise(min(width, first + _CHARACTERS))[first:]
        rows = max(1, _CHARACTERS // len(weighing))
        for row in range(0, len(buffer), rows):
            characters = buffer[row : row + rows].view(np.uint32).reshape(-1, width)[:, first : first + len(weighing)]
            codes[row : row + rows] += (characters * weighing).sum(axis=1, dtype=np.uint64)
    return mix(codes)


def _code_variable_strings(buffer: Buffer) -> Codes:
    """Return the codes of variable-width strings, those of about one length at a time, so that padding takes little."""
    texts = buffer.tolist()
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    by_length = np.argsort(lengths, kind="stable")
    ends = np.searchsorted(lengths[by_length], 2 ** np.arange(33), side="right")  # up to 1, 2, 4, .. characters
    codes = np.zeros(len(buffer), np.uint64)
    for first, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        places = by_length[first:end]
        if len(places):
            codes[places] = _code_strings(np.array([texts[place] for place in places.tolist()]))
    return codes


def _code_generic(buffer: Buffer) -> Coded:
    exact, fifteen = np.empty((2, len(buffer)), np.uint64)
    for index, element in enumerate(buffer.tolist()):
        value = to_scalar(element)
        text = _describe_generic(value)
        exact[index] = fifteen[index] = _text_code(text)
        if type(value) in (int, float) and len(text) > _SHORT_NUMBER:
            fifteen[index] = _text_code(_describe_generic(_round_to_fifteen(value)))
    return Coded(exact, fifteen)


def _text_code(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _describe_generic(value: object) -> str:
    """Return a generic element as text, with its type; 2 and 2.0 give one text, and 0 and -0.0, as in a cell."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    kind = "number" if type(value) in (int, float) else type(value).__name__
    return f"{kind} {value!r}"


def _round_to_fifteen(value: float) -> float:
    try:
        return float(round_doubles(np.array([float(value)]), 15, half_up=True)[0])
    except OverflowError:
        return value
