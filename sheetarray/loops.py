"""The compiled loops of `_scan.cpp`, and loops over doubles, which Python does where the compiled ones are missing.

Whoever has a compiled and a plain way asks `COMPILED` and calls functions of `scan`. The plain way is right on every
input. The compiled way gives the same, or says where it met anything odd, and the plain way takes over from there.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

LOOPS = "The compiled loops of sheetarray, 6"  # those that this package calls
PLAIN = "SHEETARRAY_PLAIN"  # in the environment: `1` switches the compiled loops off

scan: Any = None  # the module `_scan`, or None
if os.environ.get(PLAIN, "0") in ("", "0"):
    with suppress(ImportError):  # installed without a compiler
        scan = import_module("._scan", __package__)
if scan is not None and scan.__doc__ != LOOPS:  # built of older sources, as after `git pull` alone
    scan = None
COMPILED = scan is not None

_FEW = 1000  # texts that Python makes before the engine has begun
_SHORT = 2**16  # bytes of texts that are copied for a few of them
_FIXED = 1e-4, 1e15  # doubles from here to there are written without an exponent, by Python and by the engine
Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


def describe() -> str:
    """Return `compiled` or `plain`: which loops are in use."""
    return "compiled" if COMPILED else "plain"


def texts_to_series(texts: tuple[Any, Any, Any], places: Integers | None = None) -> pl.Series:
    """Return texts that a compiled loop has made as a Series, which copies them.

    `texts`: what keeps them alive, where each one ends, and all of them one after the other. `places`: the indices of
    those that are wanted; None for all.
    """
    import polars as pl

    _, ends, joined = texts
    ends = np.frombuffer(ends, np.int64)
    starts, ends = ends[:-1], ends[1:]
    if places is not None:
        starts, ends = starts[places], ends[places]
    if len(starts) < _FEW:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        if len(joined) <= _SHORT and (whole := bytes(joined)).isascii():  # a slice of a str takes a third of the time
            text = whole.decode()
            return pl.Series([text[start:end] for start, end in spans], dtype=pl.String)
        return pl.Series([str(joined[start:end], "utf-8") for start, end in spans], dtype=pl.String)
    cells = pl.DataFrame({"start": starts, "size": ends - starts})
    return cells.select(pl.lit(bytes(joined)).bin.slice("start", "size").cast(pl.String)).to_series().rename("")


def round_doubles(numbers: Doubles, digits: int, *, half_up: bool) -> Doubles:
    """Return doubles rounded to 15, 16 or 17 digits; infinity where the digits are beyond all doubles.

    `numbers`: the doubles; NaN, infinities and zeros stay as they are. `digits`: how many are kept. `half_up`: round
    the shortest text that reads back as the double, a tie away from zero, as LibreOffice does; otherwise round the
    double itself, a tie to the even digit, as C's `%.15g` does.

    Example:
        >>> round_doubles(np.array([0.1 + 0.2, 0.1]), 15, half_up=True).tolist()
        [0.3, 0.1]
    """
    if COMPILED:
        return np.frombuffer(_round(numbers, digits, half_up)[0], np.float64)
    rounded: list[float] = []
    for number in numbers.tolist():
        if digits >= 17 or not math.isfinite(number) or number == 0:
            rounded.append(number)
        else:
            first_digits, exponent = _digits_of(abs(number), digits, half_up)
            rounded.append(math.copysign(float(f"{first_digits}e{exponent - digits + 1}"), number))
    return np.array(rounded, np.float64)


def digits_of_doubles(numbers: Doubles, digits: int, *, half_up: bool) -> tuple[Integers, Integers]:
    """Return the digits of |x| as integers, and decimal exponents: |x| is about digits * 10^(exponent - count + 1).

    Both are 0 for zero, NaN and infinities.

    `digits`: how many digits each integer has, 15 to 17.

    Example:
        >>> [part.tolist() for part in digits_of_doubles(np.array([-0.3]), 15, half_up=True)]
        [[300000000000000], [-1]]
    """
    if COMPILED:
        _, packed, powers = _round(numbers, digits, half_up)
        return np.frombuffer(packed, np.int64), np.frombuffer(powers, np.int64)
    sizes = np.abs(numbers)
    first_digits, exponents = np.zeros((2, len(sizes)), np.int64)
    usual = (sizes >= _FIXED[0]) & (sizes < _FIXED[1]) & half_up
    first_digits[usual], exponents[usual] = _digits_of_texts(sizes[usual], digits)
    for index in np.flatnonzero(~usual & np.isfinite(sizes) & (sizes > 0)).tolist():
        first_digits[index], exponents[index] = _digits_of(float(sizes[index]), digits, half_up)
    return first_digits, exponents


def _digits_of_texts(sizes: Doubles, count: int) -> tuple[Integers, Integers]:
    """Return the digits and exponents of positive doubles that the engine writes without an exponent, rounded half up.

    The engine's texts are the shortest that read back, as Python's are.
    """
    import polars as pl

    texts = pl.Series(sizes).cast(pl.String)
    digits = texts.str.replace(".", "", literal=True).str.strip_chars_start("0")
    first_digits = digits.str.pad_end(17, "0").cast(pl.Int64).to_numpy()
    lengths, point = texts.str.len_bytes().to_numpy().astype(np.int64), texts.str.find(".", literal=True).to_numpy()
    zeros = lengths - 2 - digits.str.len_bytes().to_numpy()  # after the point, before the first digit
    exponents = np.where(sizes >= 1, point.astype(np.int64) - 1, -zeros - 1)
    unit = 10 ** (17 - count)
    first_digits = (first_digits + unit // 2) // unit
    carried = first_digits == 10**count
    return np.where(carried, first_digits // 10, first_digits), exponents + carried


def _digits_of(number: float, count: int, half_up: bool) -> tuple[int, int]:
    """Return the digits of a positive finite double as an integer of `count` digits, and its decimal exponent."""
    text = repr(number) if half_up else f"{number:.{count - 1}e}"
    mantissa, _, power = text.partition("e")
    before, _, after = mantissa.partition(".")
    all_digits = (before + after).lstrip("0")
    exponent = len(all_digits) - len(after) - 1 + int(power or 0)
    first_digits = int(all_digits[:count].ljust(count, "0")) + (all_digits[count : count + 1] >= "5")
    return (first_digits // 10, exponent + 1) if first_digits == 10**count else (first_digits, exponent)


def _round(numbers: Doubles, digits: int, half_up: bool) -> tuple[bytes, bytes, bytes]:
    """Return rounded doubles, the digits of each and its exponent, as bytes of eight each."""
    rounded: tuple[bytes, bytes, bytes] = scan.round_doubles(np.ascontiguousarray(numbers, np.float64), digits, half_up)
    return rounded
