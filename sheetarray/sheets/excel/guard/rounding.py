"""Finds cells that hold a number as spreadsheet programs round it: to 15, 16 or 17 digits, in several ways.

LibreOffice takes the shortest text that reads back as the double and rounds this text, a tie away from zero (half up);
`%.15g` rounds the double itself, a tie to the even digit. 17 digits give back every double.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np

from ....dtypes import Mask, Positions
from ....loops import Doubles, round_doubles

# The greatest relative distance between a number and any rounding of it to 15 digits or more, also once and again
NEAR = 1.2e-14
_SMALL, _WITH_EXPONENT = 1e-5, 1e-14  # numbers between them LibreOffice writes into .ods with 20 decimals
LEAST_CHAINS = 3  # cells that suffice as proof that two programs rounded one after the other
_UNIT = Decimal("1e-20")
_LEAST = 1e-300  # smaller doubles have fewer digits, so that their relative distance says nothing
_MOST = 2**18  # numbers that are rounded at a time
_WAYS = ((15, True), (15, False), (16, False), (16, True))  # digits, and whether a tie goes up; the likeliest first
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


def mark_roundings(numbers: Doubles, cells: Doubles) -> Mask:
    """Return a mask of the cells that equal their number, or a rounding of it, to the bit.

    0 and -0 count as equal here, and so do all NaN.
    """
    marks: Mask = numbers.view(np.int64) == cells.view(np.int64)
    with np.errstate(invalid="ignore", over="ignore"):
        marks |= (numbers == 0) & (cells == 0)
        marks |= np.isnan(numbers) & np.isnan(cells)
        near = np.abs(cells - numbers) <= NEAR * np.abs(numbers)
        near |= np.isfinite(numbers) & ((np.abs(numbers) < _LEAST) | np.isinf(cells))
    places = np.flatnonzero(near & ~marks)
    for start in range(0, len(places), _MOST):
        left = places[start : start + _MOST]
        for digits, half_up in _WAYS:
            rounded = round_doubles(numbers[left], digits, half_up=half_up)
            is_so = rounded.view(np.int64) == cells[left].view(np.int64)
            marks[left[is_so]] = True
            left = left[~is_so]
            if not len(left):
                break
    return marks


def mark_chains(numbers: Doubles, cells: Doubles, marks: Mask, elsewhere: Callable[[], bool] | None = None) -> Mask:
    """Return the marks, with those of cells whose numbers were rounded to 16 digits first and then to 15.

    For a few numbers in a hundred, rounding twice comes to another last digit than rounding to 15 digits at once. Two
    programs that saved a file one after the other have rounded all of its numbers twice. So cells are marked only if no
    cell of the array shows that it was rounded at once.

    `marks`: a mask of the cells that are known to be equal or rounded; it is changed. `elsewhere`: called where this
    array has fewer than `LEAST_CHAINS` such cells; returns whether other arrays have them.
    """
    left = np.flatnonzero(~marks)
    if not len(left) or not _mark_chains(numbers[left], cells[left])[0].any():
        return marks
    chains = find_chains(numbers, cells)
    if chains is None or not len(chains):
        return marks
    if len(chains) >= LEAST_CHAINS or (elsewhere is not None and elsewhere()):
        marks[chains] = True
    return marks


def find_chains(numbers: Doubles, cells: Doubles) -> Positions | None:
    """Return the indices of cells that show that their numbers were rounded to 16 digits first and then to 15.

    None if any cell shows that its number was rounded to 15 digits at once, where this comes to other digits.
    """
    chains = [np.zeros(0, np.int64)]
    places = np.flatnonzero(numbers != cells)
    for start in range(0, len(places), _MOST):
        some = places[start : start + _MOST]
        chained, straight = _mark_chains(numbers[some], cells[some])
        if straight.any():
            return None
        chains.append(some[chained])
    return np.concatenate(chains)


def _mark_chains(numbers: Doubles, cells: Doubles) -> tuple[Mask, Mask]:
    """Return a mask of the cells that were rounded to 16 digits and then to 15, and of those that went straight to 15.

    Neither marks a cell for which both ways come to the same.
    """
    straight = round_doubles(numbers, 15, half_up=True)
    twice = round_doubles(round_doubles(numbers, 16, half_up=False), 15, half_up=True)
    differs = np.isfinite(numbers) & (straight != twice)
    return differs & (twice == cells), differs & (straight == cells)


def mark_twenty_decimals(numbers: Doubles, cells: Doubles, marks: Mask) -> Mask:
    """Return the marks, with those of small cells that are their numbers rounded to 20 decimals.

    Cells are marked only if no small cell of the array has more decimals.

    `marks`: a mask of the cells that are known to be equal or rounded; it is changed.
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
