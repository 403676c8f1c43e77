"""Decimals of floats: how many of them a number format shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Positions

if TYPE_CHECKING:
    pass

MOST_DECIMALS = 6  # of numbers in a column, unless a caller chooses their format
_PLAIN_CODES = ("0", *(f"0.{'0' * count}" for count in range(1, MOST_DECIMALS + 1)))
FLOAT_CODES = (*_PLAIN_CODES, *(f"{code}E+00" for code in _PLAIN_CODES))
GENERAL_DIGITS = 10**11  # from here on a number without a format is shown as 1.23E+11


_FEWEST_SAMPLED, _MOST_SAMPLED = 16, 2**15  # elements of a column, and of all columns, from which decimals are counted
_FEWEST_DECIMALS = 2  # of floats that have more than `MOST_DECIMALS`
_SHOWN_DIGITS = 15  # that spreadsheet programs show of a number
_SMALLEST = 10.0**-3  # where no number is larger, 1.23E-05 says more than six decimals
_NOISE = {2: 2.0**-11, 4: 2.0**-24, 8: 1e-15}  # of the largest number, by the bytes of an element: what rounding leaves

Rows = np.ndarray[Any, np.dtype[np.float64]]


def choose_formats(columns: Sequence[np.ndarray[Any, Any]]) -> list[str | None]:
    """Return the code of the format of each of some columns of floats; None for the general one.

    A column is shown with as many decimals as its numbers have, if that is at most six; else with as many as tell its
    numbers from each other and from zero. Where that takes more than six, and for numbers of more than 11 digits that
    have decimals, there is a power of ten, with as many decimals before it by the same rule. Whole numbers of up to 11
    digits have the general format.

    Example:
        >>> choose_formats([np.array([0.1, 2.25]), np.array([1 / 3, 1000 / 3]), np.array([1.0, 1e-9 / 3])])
        ['0.00', '0.00', '0.00E+00']
    """
    if not columns:
        return []
    most = max(_FEWEST_SAMPLED, _MOST_SAMPLED // len(columns))
    samples = [column[:: max(1, -(-len(column) // most))] for column in columns]
    values = np.zeros((len(columns), max(map(len, samples)) + 1))  # zeros have no decimals: each row has one at least
    for row, sample in zip(values, samples, strict=True):
        row[: len(sample)] = sample
    values[~np.isfinite(values)] = 0
    values.sort(axis=1)
    largest = np.maximum(-values[:, 0], values[:, -1])
    for place, column in enumerate(columns):
        if len(column) > most:
            largest[place] = _find_largest(column)
    precision = np.array([[_NOISE[column.dtype.itemsize]] for column in columns])
    noise, fits = largest[:, None] * precision, largest < 10.0**_SHOWN_DIGITS
    plain = np.where(fits[:, None] & (np.abs(values) > noise), values, 0)
    exact, told = _count_decimals(plain, np.ones(1), noise)
    digits = np.floor(np.log10(np.maximum(largest, 1))).astype(np.int64) + 1
    is_exact = (exact <= MOST_DECIMALS) & ((exact == 0) | (digits + exact < _SHOWN_DIGITS))
    decimals = np.where(is_exact, exact, told)
    fits &= is_exact | ((largest >= _SMALLEST) & (largest < GENERAL_DIGITS))
    fits &= ~((plain != 0) & (np.rint(plain * 10.0 ** decimals[:, None]) == 0)).any(axis=1)
    is_long = (largest >= GENERAL_DIGITS) & (values == np.rint(values)).all(axis=1)
    is_general = fits & (decimals == 0) & ~is_long
    misfits = np.flatnonzero(~fits)
    if len(misfits):
        rest = values[misfits]
        powers = np.floor(np.log10(np.abs(np.where(rest == 0, 1, rest))))
        exact, told = _count_decimals(rest, 10.0 ** np.maximum(powers, -300), np.abs(rest) * precision[misfits])
        decimals[misfits] = np.where(exact <= MOST_DECIMALS, exact, told) + len(_PLAIN_CODES)
    pairs = zip(decimals.tolist(), is_general.tolist(), strict=True)
    return [None if general else FLOAT_CODES[count] for count, general in pairs]


def _count_decimals(values: Rows, units: Rows, noise: Rows) -> tuple[Positions, Positions]:
    """Return for each row of ascending numbers how many decimals they have, and how many tell them from each other.

    The first is one more than `MOST_DECIMALS` for numbers with more. `units`: of which the decimals are counted.
    `noise`: what rounding leaves of the numbers.
    """
    exact, told = (np.full(len(values), most) for most in (MOST_DECIMALS + 1, MOST_DECIMALS))
    beside = np.broadcast_to(noise, values.shape)[:, 1:]
    differ = np.diff(values, axis=1) > beside
    for count in range(MOST_DECIMALS, -1, -1):
        with np.errstate(over="ignore", invalid="ignore"):  # the largest doubles become infinite, two of them alike
            rounded = np.rint(values / units * 10.0**count) / 10.0**count * units
            is_told = ~(differ & ~(np.diff(rounded, axis=1) > beside / 2)).any(axis=1)
        is_exact = ~(np.abs(rounded - values) > noise).any(axis=1)
        exact[is_exact] = count
        told[is_told] = max(count, _FEWEST_DECIMALS)
        if not (is_exact | is_told).any():
            break
    return exact, told


def _find_largest(numbers: np.ndarray[Any, Any]) -> float:
    """Return the largest finite magnitude among some numbers; 0 if there is none."""
    with np.errstate(invalid="ignore"):
        largest = max(-float(np.fmin.reduce(numbers, initial=0)), float(np.fmax.reduce(numbers, initial=0)))
    return largest if np.isfinite(largest) else float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0))


def count_shown(code: str, numbers: np.ndarray[Any, Any]) -> int:
    """Return the number of characters that the largest of some numbers takes in a format, with a sign.

    Example:
        >>> count_shown("0.00", np.array([1.5, 123.25])), count_shown("#,##0", np.array([-1234.0]))
        (7, 6)
    """
    largest = _find_largest(numbers)
    code, power, _ = code.partition(";")[0].upper().partition("E+")
    whole, point, decimals = code.partition(".")
    digits = len(f"{largest * (100 if '%' in code else 1):.0f}") if not power else 1
    digits = max(digits, sum(map(whole.count, "0#?")) if power else whole.count("0"))
    commas = (digits - 1) // 3 if "," in whole else 0
    exponent = len("E+000") if power else 0
    return digits + commas + sum([mark not in "0#?," for mark in whole]) + len(point + decimals) + exponent + 1
