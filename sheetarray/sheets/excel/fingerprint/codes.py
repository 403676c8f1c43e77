"""Makes codes of elements, 64 bits each, whose sums are the fingerprint; different elements hardly ever have one code.

The exact code of an element is made of its bits (every NaN alike), whatever the byte order or the width of a string
array. The rounded code is made of what a program leaves of it that keeps 15 digits and knows no -0.0. Only floats and
generic elements have a rounded code other than their exact one.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer, DType
from ....elements import to_scalar
from .decimal15 import EXPONENT, MOST, Decimals, Digits, Integers, digits_from_text

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
        even: the numbers that `%.15g` rounds to other 15 digits; for float64 only, and only if asked for.
        twice: the numbers that get other 15 digits by way of 16 digits; for float64 only, and only if asked for.
        errors: the relative error of each element's rounding to 15 digits; for float64 only.
        parts: the signed digits and the decimal exponents of which `ScaleSums` are made; for real numbers only.
        numbers: the elements; for float64 only.
    """

    exact: Codes
    rounded: Codes
    sixteen: Codes | None = None
    even: OtherRounding | None = None
    twice: OtherRounding | None = None
    numbers: Buffer | None = None
    errors: Buffer | None = None
    parts: tuple[Buffer, Buffer] | None = None


Coder = Callable[[Buffer], Coded]

_FULL = 10**15
_SHORT_NUMBER = len("number ") + 15
_CHARACTERS = 65_536  # characters of strings that are weighed at a time


def mix(values: np.ndarray[tuple[int], Any], out: Codes, spare: Codes) -> Codes:
    """Return a code for each value of 64 bits, so mixed that every bit of the value changes about half of the code.

    `values`: of 64 bits each. `out`: where the codes are put. `spare`: an array of the same length, which is
    overwritten.
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


def coder_for(dtype: DType, *, ways: bool = False) -> Coder:
    """Return a coder, which takes at most MOST elements in native byte order.

    `ways`: whether `Coded.even` and `Coded.twice` are wanted.
    """
    match dtype.kind:
        case "float" if dtype.numpy.itemsize == 8:
            return _DoubleCoder(ways=ways)
        case "float":
            return _ShortFloatCoder(dtype.numpy.itemsize)
        case "int":
            return _IntegerCoder()
        case "complex":
            return _code_complexes
        case "string":
            return _code_strings
        case "generic":
            return _code_generic
        case "datetime" | "timedelta" | "bool":
            return _code_plain


def to_native(buffer: Buffer) -> Buffer:
    """Return the elements side by side in memory, in native byte order."""
    dtype = buffer.dtype if buffer.dtype.isnative else buffer.dtype.newbyteorder("=")
    contiguous: Buffer = np.ascontiguousarray(buffer, dtype=dtype)
    return contiguous


def exact_codes(buffer: Buffer, dtype: DType) -> Codes:
    """Return the code of each element's exact value, without the codes of its rounded digits."""
    if dtype.kind == "float":
        return mix_new(_float_bits(buffer).astype(np.uint64, copy=False))
    return _code_plain(buffer).exact if dtype.kind == "int" else coder_for(dtype)(buffer).exact


@lru_cache(maxsize=1)
def scale_weights() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the weights in `ScaleSums`, integers of 16 bits, for indices modulo MOST."""
    return (make_noise(MOST) >> np.uint64(48)).view(np.int64)


class _DoubleCoder:
    """The coder of float64, with buffers of its own: for one thread."""

    def __init__(self, *, ways: bool = False) -> None:
        self.decimals = Decimals()
        self._ways = ways
        self._codes = np.empty((4, MOST), np.uint64)
        self._sign_decimals = np.empty((2, MOST), np.int64)

    def __call__(self, buffer: Buffer) -> Coded:
        exact, rounded, sixteen, spare = self._codes[:, : len(buffer)]
        signed, powers = self._sign_decimals[:, : len(buffer)]
        mix(_float_bits(buffer), exact, spare)
        digits = self.decimals.take_apart(buffer, ways=self._ways)
        np.multiply(digits.digits15, digits.sign, out=signed)
        for exponent, fifteen in ((digits.exponent16, False), (digits.exponent, True)):
            np.left_shift(exponent, 53, out=powers)
            if fifteen:
                np.multiply(powers, digits.sign, out=powers)
                np.add(powers, signed, out=powers)
                mix(powers.view(np.uint64), rounded, spare)
            else:
                np.add(powers, digits.digits16, out=powers)
                np.multiply(powers, digits.sign, out=powers)
                mix(powers.view(np.uint64), sixteen, spare)
        even = self._find_other(digits, digits.below, -1, rounded) if self._ways else None
        twice = self._find_other(digits, digits.above, 1, rounded) if self._ways else None
        parts = signed, digits.exponent
        return Coded(exact, rounded, sixteen, even, twice, buffer, digits.errors, parts)

    def _find_other(self, digits: Digits, places: Integers, unit: int, rounded: Codes) -> OtherRounding:
        """Return the numbers at some places, whose 15 digits another way of rounding leaves a unit more, or less.

        `places`: the indices of these numbers. `unit`: 1 for a unit more, -1 for a unit less.
        """
        fifteen, exponent = digits.digits15[places] + unit, digits.exponent[places]
        for over, full in ((fifteen < _FULL // 10, _FULL - 1), (fifteen == _FULL, _FULL // 10)):
            exponent[over] += unit
            fifteen[over] = full
        codes = mix_new(_sign_decimals(digits.sign[places], exponent, fifteen))
        return OtherRounding(places, codes - rounded[places])


def _sign_decimals(sign: Integers, exponent: Integers, digits: Integers) -> Codes:
    """Return decimals as values of 64 bits, by their signs, exponents and 15 or 16 digits."""
    return ((exponent << 53) * sign + digits * sign).view(np.uint64)


class _ShortFloatCoder:
    """The coder of float16 and float32, which 15 digits hold exactly.

    `ScaleSums` are made of their first 3 or 7 digits, which a multiplication by a power of ten does not change.
    """

    def __init__(self, size: int) -> None:
        self.decimals = Decimals()
        self._size = size
        self._unit, self._above = (10**8, 1 + 2.0**-23) if size == 4 else (10**12, 1 + 2.0**-10)

    def __call__(self, buffer: Buffer) -> Coded:
        bits = _float_bits(buffer).astype(np.uint64)
        exact = mix_new(bits)
        negative_zero = bits == np.uint64(1 << (8 * self._size - 1))
        rounded = np.where(negative_zero, mix_new(np.zeros(1, np.uint64)), exact) if negative_zero.any() else exact
        # 0.01 as a float32 lies below 0.01: no such number may be taken for one of the next lower exponent
        with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
            numbers = buffer.astype(np.float64)
            digits = self.decimals.take_apart(numbers * self._above)
        signed = (digits.digits15 + self._unit // 2) // self._unit * digits.sign
        parts = signed, digits.exponent
        return Coded(exact, rounded, parts=parts)


class _IntegerCoder:
    """The coder of integers."""

    def __init__(self) -> None:
        self.decimals = Decimals()

    def __call__(self, buffer: Buffer) -> Coded:
        codes = _code_plain(buffer)
        numbers = buffer.astype(np.float64)
        digits = self.decimals.take_apart(numbers)
        parts = digits.digits15 * digits.sign, digits.exponent
        return codes._replace(parts=parts)


def _float_bits(buffer: Buffer) -> Buffer:
    """Return the bits of floats as unsigned integers; every NaN has the same bits."""
    bits: Buffer = buffer.view(f"u{buffer.dtype.itemsize}")
    nan = np.isnan(buffer)
    if nan.any():
        return np.where(nan, np.array([np.nan], buffer.dtype).view(bits.dtype), bits)
    return bits


def _code_plain(buffer: Buffer) -> Coded:
    """Return the codes of integers, booleans, dates and durations, without what else integers have."""
    if buffer.dtype.kind in "mM":
        buffer = buffer.view(np.int64)
    wide = buffer.astype(np.uint64 if buffer.dtype.kind in "bu" else np.int64, copy=False).view(np.uint64)
    codes = mix_new(wide)
    return Coded(codes, codes)


def _code_complexes(buffer: Buffer) -> Coded:
    parts = _float_bits(buffer.view(f"f{buffer.dtype.itemsize // 2}")).astype(np.uint64)
    codes = mix_new(mix_new(parts[0::2]) + parts[1::2])
    return Coded(codes, codes)


def _code_strings(buffer: Buffer) -> Coded:
    """Return the codes of strings: mixed sums of their characters times noise. Padding adds nothing to them."""
    if buffer.dtype.kind == "T":
        return _code_variable_strings(buffer)
    width = buffer.dtype.itemsize // 4
    codes = np.zeros(len(buffer), np.uint64)
    for first in range(0, width, _CHARACTERS):
        weighing = make_noise(min(width, first + _CHARACTERS))[first:]
        rows = max(1, _CHARACTERS // len(weighing))
        for row in range(0, len(buffer), rows):
            characters = buffer[row : row + rows].view(np.uint32).reshape(-1, width)[:, first : first + len(weighing)]
            codes[row : row + rows] += (characters * weighing).sum(axis=1, dtype=np.uint64)
    codes = mix_new(codes)
    return Coded(codes, codes)


def _code_variable_strings(buffer: Buffer) -> Coded:
    """Return the codes of variable-width strings, those of about one length at a time, so that padding takes little."""
    texts = buffer.tolist()
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    by_length = np.argsort(lengths, kind="stable")
    ends = np.searchsorted(lengths[by_length], 2 ** np.arange(33), side="right")  # up to 1, 2, 4, .. characters
    codes = np.zeros(len(buffer), np.uint64)
    for first, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        places = by_length[first:end]
        if len(places):
            codes[places] = _code_strings(np.array([texts[place] for place in places.tolist()])).exact
    return Coded(codes, codes)


def _code_generic(buffer: Buffer) -> Coded:
    exact, rounded = np.empty((2, len(buffer)), np.uint64)
    for index, element in enumerate(buffer.tolist()):
        value = to_scalar(element)
        text = _describe_generic(value)
        exact[index] = rounded[index] = _text_code(text)
        if type(value) in (int, float) and len(text) > _SHORT_NUMBER:
            rounded[index] = _text_code(_describe_generic(_round_to_fifteen(value)))
    return Coded(exact, rounded)


def _text_code(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _describe_generic(value: object) -> str:
    """Return a generic element as text, with its type; 2 and 2.0 give one text, and 0 and -0.0, as in a cell."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    kind = "number" if type(value) in (int, float) else type(value).__name__
    return f"{kind} {value!r}"


def _round_to_fifteen(value: float) -> float:
    """Return a number rounded to 15 digits."""
    try:
        digits, exponent, _ = digits_from_text(abs(float(value)))
    except OverflowError:
        return value
    return math.copysign(float(f"{digits}e{exponent - EXPONENT - 14}") if digits else math.inf, value)
