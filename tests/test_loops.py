"""Loops over doubles, compiled and plain, beside Python's own decimals; an installation without a compiler."""

import os
import subprocess
import sys
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetarray import loops

WAYS = [True, False] if loops.COMPILED else [False]
EDGES = [
    *(0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.5, 2.5, 1e15),
    1e23,
]
EDGES += [9.999999999999999e22, 0.1 + 0.2, 999999999999999.5, 9999999999999995.0, 1.0000000000000005, 2.0**-1022]
DOUBLES = st.floats() | st.integers(0, 2**64 - 1).map(lambda bits: float(np.uint64(bits).view(np.float64)))


def by_decimals(number: float, digits: int, half_up: bool) -> float:
    if not np.isfinite(number) or number == 0:
        return number
    if not half_up:
        return float(f"{number:.{digits - 1}e}")
    return float(Context(prec=digits, rounding=ROUND_HALF_UP).plus(Decimal(repr(number))))


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("digits", [15, 16, 17])
@pytest.mark.parametrize("half_up", [True, False])
@given(numbers=st.lists(DOUBLES, max_size=20))
def test_doubles_are_rounded_as_decimals_are(compiled: bool, digits: int, half_up: bool, numbers: list[float]) -> None:
    values = np.array([*EDGES, *numbers, *(2.0 ** np.arange(-1074, 1024, 97))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", compiled)
        rounded = loops.round_doubles(values, digits, half_up=half_up)
        kept, exponents = loops.digits_of_doubles(values, digits, half_up=half_up)
    wanted = np.array([by_decimals(number, digits, half_up) for number in values.tolist()])
    assert (rounded.view(np.int64) == wanted.view(np.int64)).all() or np.array_equal(rounded, wanted, equal_nan=True)
    finite = np.isfinite(values) & (values != 0)
    assert not kept[~finite].any()
    assert not exponents[~finite].any()
    for number, count, exponent in zip(wanted[finite], kept[finite].tolist(), exponents[finite].tolist(), strict=True):
        assert len(str(count)) == digits
        assert float(f"{count}e{exponent - digits + 1}") == abs(number)


@pytest.mark.skipif(not loops.COMPILED, reason="the compiled loops were not built, or are switched off")
def test_the_compiled_loops_refuse_other_numbers_of_digits() -> None:
    from sheetarray import _scan

    for digits in (0, -1, 18, 2**40):
        with pytest.raises((ValueError, OverflowError)):
            _scan.round_doubles(b"\0" * 8, digits, True)
    assert _scan.round_doubles(b"", 15, True) == (b"", b"", b"")


def test_the_plain_way_is_chosen_by_the_environment() -> None:
    command = [sys.executable, "-m", "sheetarray", "--version"]
    said = subprocess.run(command, env={**os.environ, loops.PLAIN: "1"}, capture_output=True, text=True, check=True)
    assert said.stdout.endswith("(plain)\n")
