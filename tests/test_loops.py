"""Loops over digits, compiled and plain, beside Python's own; an installation without a compiler."""

import io
import os
import subprocess
import sys
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
from exact_powers import powers_of_two
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
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
    values = np.array([*EDGES, *numbers, *(powers_of_two(np.arange(-1074, 1024, 97)))])
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


HALF = str(2**53 + 1)  # between two doubles
TEXTS = [
    *("0", "-0", "-0.0", "0.000", "00012.50", "1E5", "1e+05", "1.5e-7", "123456789012345678", "1234567890123456789"),
    *("12345678901234567890", "0.1234567890123456789", "0.00012345678901234567", "99999999999999999999999e-20"),
    *(HALF, f"{HALF}e0", f"{HALF}.0", f"{HALF}.00000000000000000001", f"-{HALF}e-10", f"{HALF}e22", f"{HALF}e23"),
    *("2.2250738585072011e-308", "2.2250738585072014e-308", "5e-324", "4.35e-310", "1.7976931348623157e308"),
    *(f"0.{'0' * 320}1e321", f"0.{'0' * 700}1e701", f"{'9' * 400}e-400", f"1{'0' * 300}", "1e0000000005", "8.5e22"),
]
DECIMALS = st.builds(
    "{}{}{}".format,
    st.integers(-(10**20), 10**20),
    st.just("")
    | st.integers(0, 10**20).map(".{}".format)
    | st.text("01259", min_size=1, max_size=24).map(".{}".format),
    st.just("") | st.integers(-280, 280).map("e{}".format),
)


@pytest.mark.parametrize("compiled", WAYS)
@given(texts=st.lists(DECIMALS | DOUBLES.filter(np.isfinite).map(repr), max_size=20))
def test_decimals_are_read_as_the_nearest_doubles(compiled: bool, texts: list[str]) -> None:
    texts = [*TEXTS, *texts]
    head = io.StringIO()
    sa.write_csv(head, {"t": np.zeros(len(texts))})
    lines = head.getvalue().splitlines()[: -len(texts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", compiled)
        numbers = sa.read_csv(io.StringIO("\n".join([*lines, *texts])))["t"]
    assert list(map(repr, numbers.tolist())) == [repr(float(text)) for text in texts]


EDGE_INTEGERS = [2**63 - 1, -(2**63), 10**18, -(10**18), 10**18 - 1, 0, 2**63 - 2, 1 - 2**63]


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("odd", ["9223372036854775808", "-9223372036854775809", "18446744073709551616"])
def test_integers_are_read_up_to_the_ends_of_their_range(compiled: bool, odd: str) -> None:
    file = io.StringIO()
    sa.write_csv(file, {"n": np.array(EDGE_INTEGERS)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", compiled)
        assert sa.read_csv(io.StringIO(file.getvalue()))["n"].tolist() == EDGE_INTEGERS
        with pytest.raises(sa.FormatError, match="range of int64"):
            sa.read_csv(io.StringIO(file.getvalue().replace("9223372036854775806", odd)))


@pytest.mark.parametrize("compiled", WAYS)
def test_points_between_cells_are_no_decimal_points(compiled: bool) -> None:
    file = io.StringIO()
    arrays = {"n": np.array([5, 70, -2]), "m": np.array([5, 7, 2], np.uint64), "x": np.array([1.5, 2.0, 3e300])}
    sa.write_csv(file, arrays, delimiter=".", decimal=",")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", compiled)
        again = sa.read_csv(io.StringIO(file.getvalue()), delimiter=".", decimal=",")
    assert {name: array.tolist() for name, array in again.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


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
