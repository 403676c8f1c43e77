"""Finds cells that hold a number as spreadsheet programs round it: to 15, 16 or 17 digits, in several ways.

LibreOffice takes the shortest text that reads back as the double and rounds this text, a tie away from zero (half up);
`%.15g` rounds the double itself, a tie to the even digit. 17 digits give back every double.

Rounding in bulk comes to the same as rounding each number by its text. The digits come from `decimal15`, which is
exact. One multiplication or division of two exact doubles, which rounds once, makes them a double; or else text does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np

from ....dtypes import Mask, Positions
from ..fingerprint.decimal15 import EXPONENT, INFINITY_EXPONENT, MOST, Decimals, Floats, Integers

# The greatest relative distance between a number and any rounding of it to 15 digits or more, also once and again
NEAR = 1.2e-14
_SMALL, _WITH_EXPONENT = 1e-5, 1e-14  # numbers between them LibreOffice writes into .ods with 20 decimals
LEAST_CHAINS = 3  # cells that suffice as proof that two programs rounded one after the other
_UNIT = Decimal("1e-20")
_LEAST = 1e-300  # smaller doubles have fewer digits, so that their relative distance says nothing
_LEAST_DIGITS = 10**14  # the least integer of 15 digits
_EXACT = 22  # powers of ten up to this one are exact as doubles
_POWERS = 10.0 ** np.arange(_EXACT + 1)
_HALF_UP = {digits: Context(prec=digits, rounding=ROUND_HALF_UP) for digits in (15, 16)}


def roundings_of(number: float) -> set[float]:
    """Return the doubles that programs make of a finite double when they round to 15, 16 or 17 digits.

    Example:
        >>> sorted(roundings_of(0.1 + 0.2))
        [0.3, 0.30000000000000004]
    """
    exact = Decimal(repr(number))
    half_up = {float(context.plus(exact)) for context in _HALF_UP.values()}
    return {number, float(f"{number:.14e}"), float(f"{number:.15e}"), *half_up}


def decimals_of(number: float) -> set[Decimal]:
    """Return the decimals of 15 and 16 digits whose doubles `roundings_of` returns; the largest may be no doubles."""
    exact = Decimal(repr(number))
    even = {Decimal(f"{number:.14e}"), Decimal(f"{number:.15e}")}
    return even | {context.plus(exact) for context in _HALF_UP.values()}


def mark_roundings(numbers: Floats, cells: Floats) -> Mask:
    """Return a mask of the cells that equal their number, or a rounding of it, to the bit.

    0 and -0 count as equal here, and so do all NaN.

    Args:
        numbers: as they were written.
        cells: as they stand now.
    """
    marks: Mask = numbers.view(np.int64) == cells.view(np.int64)
    with np.errstate(invalid="ignore", over="ignore"):
        marks |= (numbers == 0) & (cells == 0)
        marks |= np.isnan(numbers) & np.isnan(cells)
        near = np.abs(cells - numbers) <= NEAR * np.abs(numbers)
        near |= np.isfinite(numbers) & ((np.abs(numbers) < _LEAST) | np.isinf(cells))
    places = np.flatnonzero(near & ~marks)
    decimals = Decimals()
    for start in range(0, len(places), MOST):
        some = places[start : start + MOST]
        marks[some] = _mark_some(numbers[some], cells[some], decimals)
    return marks


def mark_chains(numbers: Floats, cells: Floats, marks: Mask, elsewhere: Callable[[], bool] | None = None) -> Mask:
    """Return the marks, with those of cells whose numbers were rounded to 16 digits first and then to 15.

    For a few numbers in a hundred, rounding twice comes to another last digit than rounding to 15 digits at once. Two
    programs that saved a file one after the other have rounded all of its numbers twice. So cells are marked only if no
    cell of the array shows that it was rounded at once.

    Args:
        numbers: as they were written.
        cells: as they stand now.
        marks: a mask of the cells that are known to be equal or rounded; it is changed.
        elsewhere: called where this array has fewer than `LEAST_CHAINS` such cells; returns whether other arrays have
            them.
    """
    if marks.all():
        return marks
    chains = find_chains(numbers, cells)
    if chains is None or not len(chains):
        return marks
    if len(chains) >= LEAST_CHAINS or (elsewhere is not None and elsewhere()):
        marks[chains] = True
    return marks


def find_chains(numbers: Floats, cells: Floats) -> Positions | None:
    """Return the indices of cells that show that their numbers were rounded to 16 digits first and then to 15.

    None if any cell shows that its number was rounded to 15 digits at once, where this comes to other digits.
    """
    decimals, chains = Decimals(), [np.zeros(0, np.int64)]
    places = np.flatnonzero(np.isfinite(numbers) & (numbers != cells))
    for start in range(0, len(places), MOST):
        some = places[start : start + MOST]
        digits = decimals.take_apart(numbers[some], ways=True)
        above = digits.above
        sign, digits15, power = digits.sign[above], digits.digits15[above], digits.exponent[above] - 14
        straight, twice = _to_doubles(sign, digits15, power), _to_doubles(sign, digits15 + 1, power)
        if (straight == cells[some[above]]).any():
            return None
        chains.append(some[above[twice == cells[some[above]]]])
    return np.concatenate(chains)


def mark_twenty_decimals(numbers: Floats, cells: Floats, marks: Mask) -> Mask:
    """Return the marks, with those of small cells that are their numbers rounded to 20 decimals.

    Cells are marked only if no small cell of the array has more decimals.

    Args:
        numbers: as they were written.
        cells: as they stand now.
        marks: a mask of the cells that are known to be equal or rounded; it is changed.
    """
    with np.errstate(invalid="ignore"):
        small = (np.abs(cells) < _SMALL) & ((np.abs(cells) >= _WITH_EXPONENT) | (cells == 0))
        places = np.flatnonzero(small & ~marks & (np.abs(numbers) < _SMALL))
    if not len(places) or not all(map(_has_twenty_decimals, cells[small].tolist())):
        return marks
    for place in places.tolist():
        marks[place] = float(cells[place]) in _twenty_decimals_of(float(numbers[place]))
    return marks


def _has_twenty_decimals(number: float) -> bool:
    """Return whether a double is one of a decimal with 20 decimals at most."""
    return float(f"{round(number * 1e20)}e-20") == number


def _twenty_decimals_of(number: float) -> set[float]:
    """Return the doubles of a number rounded half up to 20 decimals: from its shortest text, and from its 15 digits."""
    exact = Decimal(repr(number))
    return {float(digits.quantize(_UNIT, ROUND_HALF_UP)) for digits in (exact, _HALF_UP[15].plus(exact))}


def _mark_some(numbers: Floats, cells: Floats, decimals: Decimals) -> Mask:
    """Return a mask of the cells that are roundings of their numbers, which are all finite and few."""
    marks = np.zeros(len(numbers), np.bool_)
    for rounded in _roundings(numbers, decimals):
        marks |= rounded.view(np.int64) == cells.view(np.int64)
        if marks.all():
            return marks
    for place in np.flatnonzero(~marks).tolist():  # 16 digits half up, and whatever could not be told in bulk
        marks[place] = float(cells[place]) in roundings_of(float(numbers[place]))
    return marks


def _roundings(numbers: Floats, decimals: Decimals) -> Iterator[Floats]:
    """Yield the numbers rounded to 15 digits half up, to 15 half to even, and to 16 half to even."""
    digits = decimals.take_apart(numbers, ways=True)
    yield _to_doubles(digits.sign, digits.digits15, digits.exponent - 14)
    if len(digits.below):
        less = digits.digits15.copy()
        less[digits.below] -= 1
        less[less < _LEAST_DIGITS] = 0  # another exponent: such numbers are rounded by text
        yield _to_doubles(digits.sign, less, digits.exponent - 14)
    yield _to_doubles(digits.sign, digits.digits16, digits.exponent16 - 15)


def _to_doubles(sign: Integers, digits: Integers, power: Integers) -> Floats:
    """Return the doubles nearest to sign * digits * 10^(power - EXPONENT); NaN for those that are left to text."""
    power = power - EXPONENT
    plain = (digits < 2**53) & (np.abs(power) <= _EXACT)
    whole = digits.astype(np.float64)
    factor = _POWERS[np.minimum(np.abs(power), _EXACT)]
    made = np.where(power < 0, whole / factor, whole * factor)
    rest = np.flatnonzero(~plain)
    texts = zip(digits[rest].tolist(), power[rest].tolist(), strict=True)
    made[rest] = [_parse(number, exponent) for number, exponent in texts]
    return np.where(sign < 0, -made, made)


def _parse(digits: int, exponent: int) -> float:
    """Return the double nearest to digits * 10^exponent; NaN if that is 0 or not finite."""
    return float(f"{digits}e{exponent}") if digits and exponent < INFINITY_EXPONENT - EXPONENT - 20 else float("nan")
