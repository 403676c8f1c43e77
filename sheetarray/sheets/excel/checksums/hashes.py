"""Makes hashes of elements, 64 bits each, which checksums add up; different elements hardly ever have one hash.

The exact hash of an element is made of its bits (every NaN alike), whatever the byte order or the width of a string
array. The hash at 15 digits is made of what a program leaves of it that keeps 15 digits and knows no -0.0: of the
shortest text of a double, rounded half up. Only floats and generic elements have another one than their exact hash.

docs/checksums.md explains how they are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ....dtypes import Buffer, DType
from ....elements import to_scalar
from ....loops import Doubles, Integers, digits_of_doubles, round_doubles

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

MOST = 16_384  # elements at a time: the buffers of a few steps stay in a processor's cache
_FIRST, _SECOND, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), 0x9E3779B97F4A7C15
_HALF = np.uint64(32)
_EXPONENT = 340  # is added to decimal exponents, so that all of them are positive
_NAN_EXPONENT, _INFINITY_EXPONENT = 900, 901
_LARGE = 1e308  # larger doubles may be rounded to what no double is
_MANTISSA, _ONE = np.uint64((1 << 52) - 1), np.uint64(1)
_SHORT_NUMBER = len("number ") + 15
_CHARACTERS = 65_536  # characters of strings that are weighed at a time


def mix(values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Hashes:
    """Return a hash for each value of 64 bits: every bit of the value changes about half of the bits of its hash."""
    hashes = values * _FIRST
    hashes ^= hashes >> _HALF
    hashes *= _SECOND
    hashes ^= hashes >> _HALF
    return hashes


@lru_cache(maxsize=8)
def make_noise(count: int) -> Hashes:
    """Return `count` odd pseudo-random numbers, the same in every call."""
    numbers = mix(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)) | np.uint64(1)
    numbers.flags.writeable = False
    return numbers


def to_native(buffer: Buffer) -> Buffer:
    """Return the elements side by side in memory, in native byte order."""
    dtype = buffer.dtype if buffer.dtype.isnative else buffer.dtype.newbyteorder("=")
    contiguous: Buffer = np.ascontiguousarray(buffer, dtype=dtype)
    return contiguous


def exact_hashes(buffer: Buffer, dtype: DType) -> Hashes:
    """Return the exact hash of each element; `buffer` is what `to_native` returns."""
    match dtype.kind:
        case "float":
            return mix(_float_bits(buffer).astype(np.uint64, copy=False))
        case "complex":
            parts = _float_bits(buffer.view(f"f{buffer.dtype.itemsize // 2}")).astype(np.uint64)
            return mix(mix(parts[0::2]) + parts[1::2])
        case "string":
            return mix(_weigh_variable_strings(buffer) if buffer.dtype.kind == "T" else _weigh_strings(buffer))
        case "generic":
            return _hash_each(buffer.tolist())
        case _:
            if buffer.dtype.kind in "mM":
                buffer = buffer.view(np.int64)
            return mix(buffer.astype(np.uint64 if buffer.dtype.kind in "bu" else np.int64).view(np.uint64))


def rounded_hashes(buffer: Buffer, dtype: DType, exact: Hashes) -> Hashes:
    """Return the hash of each element at 15 digits; `buffer` is what `to_native` returns, `exact` its exact hashes."""
    if dtype.kind == "generic":
        return _hash_generic(buffer, exact)
    if dtype.kind != "float":
        return exact
    if dtype.numpy.itemsize < 8:  # 15 digits hold it exactly, but a cell knows no -0.0
        return np.where(buffer == 0, mix(np.zeros(1, np.uint64)), exact)
    return _hash_decimals(buffer, *digits_of_doubles(buffer, 15, half_up=True), 15)


def sixteen_hashes(numbers: Doubles, *, is_old: bool) -> Hashes:
    """Return the hash of each double at 16 digits, as `%.16g` rounds; records up to version 4 have sums of them.

    `is_old`: make them as records up to version 3 have them.
    """
    if is_old:
        digits, exponents = digits_of_doubles(numbers, 16, half_up=False)
        nearly_ten = digits == 10**16 - 1  # as which `%.16g` prints some powers of ten
        return _hash_decimals(numbers, digits + nearly_ten, exponents, 16)
    digits, exponents = digits_of_doubles(numbers, 17, half_up=True)  # all digits of the shortest text
    to_sixteen = (digits + 5) // 10
    # A double lies above or below the tie that its text says; and the doubles below a power of two are closer than
    # those above. These few are rounded as `%.16g` does it, and what is left has a shortest text of 16 digits
    ties = np.flatnonzero((to_sixteen * 10 - digits == 5) | ((numbers.view(np.uint64) + _ONE) & _MANTISSA <= _ONE))
    if len(ties):
        left = round_doubles(numbers[ties], 16, half_up=False)
        exponents = exponents.copy()
        to_sixteen[ties], exponents[ties] = digits_of_doubles(left, 16, half_up=True)
    return _hash_decimals(numbers, to_sixteen, exponents, 16)


def _hash_decimals(numbers: Doubles, digits: Integers, exponents: Integers, count: int) -> Hashes:
    """Return the hashes of the decimals of `count` digits, or of 10^count, that doubles were rounded to."""
    size = np.abs(numbers)
    is_usual = size.min(initial=1) > 0 and size.max(initial=1) < _LARGE
    signs = (numbers if is_usual else np.where(np.isnan(numbers), 1.0, numbers)).view(np.int64) >> 63 | 1
    values = (exponents + _EXPONENT) << 53
    values += digits
    if not is_usual or digits.max(initial=0) == 10**count:
        is_odd = digits == 10**count if is_usual else ~((size > 0) & (size < _LARGE)) | (digits == 10**count)
        for index in np.flatnonzero(is_odd).tolist():
            values[index] = _odd_decimal(float(size[index]), int(digits[index]), int(exponents[index]), count)
    values *= signs
    return mix(values.view(np.uint64))


def _odd_decimal(size: float, digits: int, exponent: int, count: int) -> int:
    """Return the text to hash for 0, NaN, infinity, 10.00, or a number that rounds to more than any double."""
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


def _weigh_strings(buffer: Buffer) -> Hashes:
    """Return the sum of the characters of each string, each times a weight of its position. Padding adds nothing."""
    width = buffer.dtype.itemsize // 4
    sums = np.zeros(len(buffer), np.uint64)
    for first in range(0, width, _CHARACTERS):
        weighing = make_noise(min(width, first + _CHARACTERS))[first:]
        rows = max(1, _CHARACTERS // len(weighing))
        for row in range(0, len(buffer), rows):
            characters = buffer[row : row + rows].view(np.uint32).reshape(-1, width)[:, first : first + len(weighing)]
            sums[row : row + rows] += (characters * weighing).sum(axis=1, dtype=np.uint64)
    return sums


def _weigh_variable_strings(buffer: Buffer) -> Hashes:
    """Return the same of variable-width strings, those of one length at a time, so that padding takes little."""
    texts = buffer.tolist()
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    by_length = np.argsort(lengths, kind="stable")
    ends = np.searchsorted(lengths[by_length], 2 ** np.arange(33), side="right")  # up to 1, 2, 4, .. characters
    sums = np.zeros(len(buffer), np.uint64)
    for first, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        places = by_length[first:end]
        if len(places):
            sums[places] = _weigh_strings(np.array([texts[place] for place in places.tolist()]))
    return sums


def _hash_generic(buffer: Buffer, exact: Hashes) -> Hashes:
    """Return the hashes of generic elements at 15 digits, given their exact ones."""
    values = [to_scalar(element) for element in buffer.tolist()]
    is_long = [type(value) in (int, float) and len(_describe_generic(value)) > _SHORT_NUMBER for value in values]
    places = np.flatnonzero(is_long)
    hashes = exact.copy()
    hashes[places] = _hash_each([_round_to_fifteen(values[place]) for place in places.tolist()])
    return hashes


def _hash_each(elements: Sequence[Any]) -> Hashes:
    texts = (_describe_generic(to_scalar(element)).encode("utf-8", "surrogatepass") for element in elements)
    digests = b"".join([hashlib.blake2b(text, digest_size=8).digest() for text in texts])
    return np.frombuffer(digests, "<u8").astype(np.uint64)


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
