"""Doubles as decimals of 15 digits, rounded as spreadsheet programs do it, and of 16 digits, as `%.16g` rounds.

Two more ways to 15 digits give other digits for a few numbers in a hundred, and only these numbers are noted: `%.15g`,
which rounds the double itself, and a tie to even; and the way by 16 digits, through one program and then another.

A program that keeps 15 digits takes the shortest text that reads back to the double and rounds that half away from
zero. Here it is done without text. A double x = y * 2^e, y in [1, 2), has the decimal exponent k, and
m = |x| * 10^(14 - k) lies in [10^14, 10^15): y times a power from a table, exact to about 2^-104 as an unevaluated sum
of two doubles. With f the fraction of m, the 16-digit text `..5` lies within half a unit in the last place of x (in
units of m: h), and is the nearest of its length, exactly where |f - 0.5| <= min(h, 0.05); it goes up, so the digits
are floor(m + 0.5 + min(h, 0.05)). Numbers nearer to that edge than the arithmetic can tell, six powers of two (whose
neighbours below are closer than those above), subnormal numbers and the last binade go through text, one by one.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]

EXPONENT = 340  # is added to decimal exponents, so that all of them are positive
NAN_EXPONENT, INFINITY_EXPONENT = 900, 901
FULL = 10**15
MOST = 16_384  # elements at a time: ten buffers of this size stay in a processor's cache
SHORT = 2.0**-53 * (1 + 1e-6)  # the largest relative distance of a double from 15 digits for which it stands

_MANTISSA, _ONE = (1 << 52) - 1, 1023 << 52
_UPPER = -(1 << 27)  # a mask: the upper 26 bits of a significand, whose products with another 26 are exact
_SNAP = 1.5 * 2.0**12  # added and taken away again, it rounds to a multiple of 2^-40
_EDGE = 1e-12  # nearer than this to the edge between two roundings, text decides
_NONE = np.empty(0, dtype=np.int64)
_LEAST = 2.0**-1000  # is added to a divisor that may be zero


class Digits(NamedTuple):
    """The decimal digits of a run of doubles x: |x| is about digits15 * 10^(exponent - EXPONENT - 14).

    The arrays are views, which the next call of `take_apart` overwrites.

    Attributes:
        sign: 1 or -1; 1 for NaN.
        exponent: the decimal exponent plus EXPONENT; 0 for zero; INFINITY_EXPONENT and NAN_EXPONENT for these.
        digits15: 10^14 to 10^15 - 1; 0 for zero, NaN and infinities.
        exponent16: like `exponent`, after rounding to 16 digits.
        digits16: 10^15 to 10^16 - 2, or 0; 9.999999999999999 counts as 10.
        errors: the relative distance of each number from its 15 digits.
        below: the indices of the numbers whose 15 digits are a unit less by `%.15g`.
        above: the indices of the numbers whose 15 digits are a unit more after rounding to 16 digits.
    """

    sign: Integers
    exponent: Integers
    digits15: Integers
    exponent16: Integers
    digits16: Integers
    errors: Floats
    below: Integers
    above: Integers


class _PowerTable(NamedTuple):
    """Tables of what doubles of one binary exponent have in common.

    The index is the eleven bits of that exponent times two; for all tables but `edge`, plus one if the significand lies
    below the edge, where the decimal exponent is one less. k and h are those of this module's first lines.
    """

    edge: Integers  # bits of the smallest significand whose number has the higher decimal exponent
    upper: Floats  # 26 bits of 10^(14 - k) * 2^e
    lower: Floats  # 27 more
    rest: Floats  # and what the two leave
    up: Floats  # 0.5 + min(h, 0.05)
    exponent: Integers
    odd: np.ndarray[tuple[int], np.dtype[np.bool_]]  # whether the power of two there is rounded in another way


@lru_cache(maxsize=1)
def _power_table() -> _PowerTable:
    edge = np.full(4096, _ONE, dtype=np.int64)
    upper, lower, rest, up = (np.zeros(4096) for _ in range(4))
    exponent, odd = np.zeros(4096, dtype=np.int64), np.zeros(4096, dtype=bool)
    up[:] = 1 - _EDGE / 2  # zeros, infinities, NaN, subnormal numbers and the last binade: at the edge, so to text
    edge[0], up[1] = _ONE + 1, 0.5  # but zero is plain
    for bits in range(1, 2046):
        low = _exact_power(2, bits - 1023)
        k = len(str(low[0] // low[1])) - 1 if low[0] >= low[1] else -len(str((low[1] - 1) // low[0]))
        tenfold = _exact_power(10, k + 1)  # the edge: the least significand / 2^52 with 2^e * it >= 10^(k + 1)
        least = -(-(tenfold[0] * low[1] << 52) // (tenfold[1] * low[0]))
        edge[2 * bits] = _ONE + min(least - (1 << 52), 1 << 52)
        for place, ten in ((2 * bits, k + 1), (2 * bits + 1, k)):
            power = _exact_power(10, 14 - ten)
            over, under = power[0] * low[0], power[1] * low[1]
            near = over / under
            exact = near.as_integer_ratio()
            rest[place] = (over * exact[1] - exact[0] * under) / (under * exact[1])
            upper[place] = (np.float64(near).view(np.int64) & _UPPER).view(np.float64)
            lower[place] = near - upper[place]
            up[place] = 0.5 + min(near * 2.0**-53, 0.05)
            exponent[place] = ten + EXPONENT
            step = up[place].item().as_integer_ratio()
            rounded = (over * step[1] + step[0] * under) // (under * step[1])
            odd[place] = ten == k and rounded != digits_from_text(2.0 ** (bits - 1023))[0]
    return _PowerTable(edge, upper, lower, rest, up, exponent, odd)


def _exact_power(base: int, exponent: int) -> tuple[int, int]:
    return (base**exponent, 1) if exponent >= 0 else (1, base**-exponent)


class Decimals:
    """Takes doubles apart into decimal digits, in buffers of its own: for one thread."""

    def __init__(self) -> None:
        self._floats = np.empty((6, MOST))
        self._integers = np.empty((7, MOST), dtype=np.int64)

    def take_apart(self, numbers: Floats, *, ways: bool = False) -> Digits:
        """Return the digits of at most MOST doubles, valid until the next call.

        `ways`: whether `below` and `above` are wanted; otherwise they are empty.
        """
        count = len(numbers)
        whole, fraction, up, spare = self._scale(numbers)
        sign, exponent, digits15, exponent16, digits16 = self._integers[2:, :count]
        bits = numbers.view(np.int64)
        np.right_shift(bits, 63, out=sign)
        np.bitwise_or(sign, 1, out=sign)

        np.add(fraction, up, out=up)
        rounded = np.floor(up, out=spare)
        np.subtract(up, 1.0, out=up)
        np.abs(up, out=up)
        self._mark_powers(up)
        unsure = np.flatnonzero(up < _EDGE) if np.min(up, initial=1.0) < _EDGE else None

        np.copyto(digits16, whole, casting="unsafe")
        np.copyto(exponent16, rounded, casting="unsafe")
        np.add(digits16, exponent16, out=digits15)
        np.multiply(digits16, 10, out=digits16)
        np.multiply(fraction, 10.0, out=up)
        np.add(up, _SNAP, out=up)
        np.subtract(up, _SNAP, out=up)
        np.rint(up, out=up)  # a tie to even, as C's printf
        np.copyto(exponent16, up, casting="unsafe")
        np.add(digits16, exponent16, out=digits16)
        np.copyto(exponent16, exponent)

        np.subtract(fraction, rounded, out=fraction)
        np.abs(fraction, out=fraction)
        below, above, ties = _find_ways(fraction, up, rounded) if ways else (_NONE, _NONE, _NONE)
        np.add(whole, _LEAST, out=whole)
        np.divide(fraction, whole, out=fraction)
        digits = Digits(sign, exponent, digits15, exponent16, digits16, fraction, _NONE, _NONE)
        if unsure is not None:
            fraction[unsure] = 0.0
            _correct_by_text(numbers, unsure, digits, fraction)
        _carry(digits15, exponent, FULL, FULL)
        _carry(digits16, exponent16, 10 * FULL - 1, 10 * FULL)
        if ways and (len(ties) or unsure is not None):
            ties = ties if unsure is None else np.union1d(ties, unsure)
            below, above = _otherwise_by_text(numbers, ties, below, above, digits)
        return digits._replace(below=below, above=above)

    def _mark_powers(self, distance: Floats) -> None:
        """Set the distance from the edge to 0 for powers of two of which the text is not the nearest of its length.

        The numbers below a power of two lie closer than those above.
        """
        significand, place = self._integers[:2, : len(distance)]
        powers = significand == _ONE
        if powers.any():
            distance[powers & _power_table().odd.take(place)] = 0.0

    def _scale(self, numbers: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return m as a whole number and a fraction, the number to be added before rounding down, and a free buffer.

        The exponents, and the places in the tables, are left in rows of `self._integers`.
        """
        table, count = _power_table(), len(numbers)
        bits = numbers.view(np.int64)
        significand, place, below, exponent = self._integers[:4, :count]
        y, power, product, tail, half, up = self._floats[:, :count]
        np.bitwise_and(bits, _MANTISSA, out=significand)
        np.bitwise_or(significand, _ONE, out=significand)
        np.right_shift(bits, 51, out=place)
        np.bitwise_and(place, 4094, out=place)
        table.edge.take(place, out=below, mode="wrap")
        np.subtract(significand, below, out=below)
        np.right_shift(below, 63, out=below)
        np.subtract(place, below, out=place)
        table.exponent.take(place, out=exponent, mode="wrap")

        # product + tail = y * power: Dekker's two halves of each, whose products are exact
        whole = significand.view(np.float64)
        table.upper.take(place, out=power, mode="wrap")
        table.lower.take(place, out=half, mode="wrap")
        np.add(power, half, out=product)
        np.multiply(product, whole, out=product)
        np.bitwise_and(significand, _UPPER, out=below)
        y_upper, y_lower = below.view(np.float64), np.subtract(whole, below.view(np.float64), out=y)
        np.multiply(y_upper, power, out=tail)
        np.subtract(tail, product, out=tail)
        np.multiply(y_upper, half, out=up)
        np.add(tail, up, out=tail)
        np.multiply(y_lower, power, out=power)
        np.add(tail, power, out=tail)
        np.multiply(y_lower, half, out=half)
        np.add(tail, half, out=tail)
        table.rest.take(place, out=half, mode="wrap")
        np.multiply(half, whole, out=half)
        np.add(tail, half, out=tail)
        table.up.take(place, out=up, mode="wrap")

        np.floor(product, out=half)
        np.subtract(product, half, out=product)
        np.add(product, tail, out=product)
        return half, product, up, tail


def _find_ways(distance: Floats, sixteenth: Floats, rounded: Floats) -> tuple[Integers, Integers, Integers]:
    """Return the indices of `Digits.below` and of `Digits.above`, and of the ties, which text decides.

    `sixteenth`: the 16th digit of each number, with a fraction. `rounded`: 1 where m was rounded up, else 0.
    """
    middle = np.flatnonzero(distance >= 0.45 - _EDGE)
    above = middle[(sixteenth[middle] >= 5) & (rounded[middle] == 0)]
    distance = distance[middle]
    return middle[distance > 0.5 + _EDGE], above, middle[np.abs(distance - 0.5) <= _EDGE]


def _carry(digits: Integers, exponent: Integers, least: int, full: int) -> None:
    """Make 1.00 with the next exponent of digits that were rounded up to 10.00.

    `least`: digits from which on that is done; at 16 digits those of 9.99.., which `%.16g` makes of some powers of
    ten. `full`: the digits of 10.00.
    """
    if len(digits) and digits.max() >= least:
        over = np.flatnonzero(digits >= least)
        digits[over] = full // 10
        exponent[over] += 1


def _correct_by_text(numbers: Floats, unsure: np.ndarray[Any, Any], digits: Digits, errors: Floats) -> None:
    """Correct the digits and the errors of the numbers at the indices `unsure`, by their text."""
    digits.digits15[unsure] = digits.digits16[unsure] = 0
    unsure_numbers = numbers[unsure]
    nan, infinite = np.isnan(unsure_numbers), np.isinf(unsure_numbers)
    digits.sign[unsure[nan]] = 1
    for mask, constant in ((nan, NAN_EXPONENT), (infinite, INFINITY_EXPONENT)):
        digits.exponent[unsure[mask]] = digits.exponent16[unsure[mask]] = constant
    for index in unsure[~(nan | infinite)].tolist():
        number = abs(float(numbers[index]))
        digits.digits15[index], digits.exponent[index], errors[index] = digits_from_text(number)
        digits.digits16[index], digits.exponent16[index] = sixteen_digits(number)


def _otherwise_by_text(
    numbers: Floats, unsure: Integers, below: Integers, above: Integers, digits: Digits
) -> tuple[Integers, Integers]:
    """Return `below` and `above`, corrected by text for the numbers at the indices `unsure`; `digits` are right."""
    less, more = [], []
    for index in unsure[np.isfinite(numbers[unsure]) & (numbers[unsure] != 0)].tolist():
        number, half_up = abs(float(numbers[index])), (int(digits.digits15[index]), int(digits.exponent[index]))
        if half_up[0] and digits_to_even(number) != half_up:
            less.append(index)
        if half_up[0] and digits_from_text(float(f"{number:.15e}"))[:2] != half_up:
            more.append(index)
    below, above = (sure[~np.isin(sure, unsure)] for sure in (below, above))
    return np.union1d(below, np.array(less, np.int64)), np.union1d(above, np.array(more, np.int64))


# By text -------------------------------------------------------------------------------------------------------


def digits_to_even(number: float) -> tuple[int, int]:
    """Return the digits of `%.15g` and the exponent plus EXPONENT."""
    digits, _, power = f"{number:.14e}".partition("e")
    return int(digits.replace(".", "")), int(power) + EXPONENT


def digits_from_text(number: float) -> tuple[int, int, float]:
    """Return the 15 digits of a positive finite double, its exponent plus EXPONENT, and the digits' relative error.

    The digits are those of its shortest text, rounded half away from zero.

    Example:
        >>> digits_from_text(0.1 + 0.2)[:2]
        (300000000000000, 339)
    """
    text, _, power = repr(number).partition("e")
    before, _, after = text.partition(".")
    after = "" if after == "0" else after
    digits = (before + after).lstrip("0")
    exponent = len(digits) - len(after) - 1 + int(power or 0)
    kept = int(digits[:15].ljust(15, "0"))
    if len(digits) <= 15:
        return kept, exponent + EXPONENT, 0.0
    kept += digits[15] >= "5"
    if kept == FULL:
        kept, exponent = FULL // 10, exponent + 1
    left = float(f"{kept}e{exponent - 14}")
    if left == np.inf:
        return 0, INFINITY_EXPONENT, 0.0
    return kept, exponent + EXPONENT, abs(left - number) / number


def sixteen_digits(number: float) -> tuple[int, int]:
    """Return the digits of `%.16g` and the exponent plus EXPONENT."""
    text = f"{number:.15e}"
    if float(text) == np.inf:
        return 0, INFINITY_EXPONENT
    digits, _, power = text.partition("e")
    return int(digits.replace(".", "")), int(power) + EXPONENT
