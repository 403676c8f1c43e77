"""The 15 and 16 digits of one double by way of its text, for numbers that the arithmetic of `decimal15` cannot decide.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import numpy as np

EXPONENT = 340  # is added to decimal exponents, so that all of them are positive
NAN_EXPONENT, INFINITY_EXPONENT = 900, 901
FULL = 10**15


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
