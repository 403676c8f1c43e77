"""How single values look in a cell, and what a cell of text can mean."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import set_limits

import sheetarray as sa
from sheetarray import dtypes, elements
from sheetarray.elements import TextLook, buffer_from_text, buffer_to_text, generics
from sheetarray.elements import scalars as scalar_text
from sheetarray.elements.dates import find_dates_without_text, iso_limits
from sheetarray.testing.cases import assert_same


def test_problems_name_every_bad_cell_in_order() -> None:
    _, problems = elements.decode([1, "x", None, 300, 2.5, 4], dtypes.from_name("uint8"))
    assert [problem.index for problem in problems] == [1, 2, 3, 4]
    assert "300 is beyond the range of uint8" in problems[2].reason


@pytest.mark.parametrize(
    ("cell", "text"),
    [(1, "1"), (1.0, "1"), (True, "TRUE"), (False, "FALSE"), (None, ""), (1e300, "1e+300"), (0.1, "0.1"), ("x", "x")],
)
def test_what_a_program_made_of_text_is_turned_back(cell: Any, text: str) -> None:
    assert scalar_text.parse_string(cell) == text


@pytest.mark.parametrize(
    ("unit", "text", "same"),
    [
        ("D", "2020-01-01", "2020-01-01"),
        ("s", "2020-01-01", "2020-01-01T00:00:00"),
        ("s", "2020-01-01 10:20:30", "2020-01-01T10:20:30"),
        ("D", "2020-01-01T00:00:00", "2020-01-01"),
        ("ms", "2020-01-01T10:20:30.5", "2020-01-01T10:20:30.500"),
        ("Y", "2020-01-01", "2020"),
        ("s", "nat", "NaT"),
        ("s", "NAT", "NaT"),
        ("ns", "2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000001"),
        ("Y", "-0005", "-0005"),
        ("Y", "12345", "12345"),
        ("M", "2020-02", "2020-02"),
        ("s", "2020-01-01T10:20:30.000", "2020-01-01T10:20:30"),
    ],
)
def test_dates_are_iso_text(unit: str, text: str, same: str) -> None:
    buffer, problems = elements.decode([text], dtypes.from_name(f"datetime64[{unit}]"))
    assert problems == []
    assert elements.dates_to_iso(buffer) == [same]


def test_found_is_short_whatever_a_cell_holds() -> None:
    for cell in ["x" * 10**6, 10**5000, [1] * 10**6, {"a": 1}, object(), float("nan"), None, ""]:
        assert len(scalar_text.describe_cell(cell)) <= 60


def test_a_giant_numeral_takes_no_quadratic_time() -> None:
    for kind in ("int64", "float64", "bool", "complex128", "datetime64[s]", "generic"):
        _, problems = elements.decode(["1" * 500_000], dtypes.from_name(kind))
        assert len(problems) == (kind != "generic")
    assert generics.generic_from_text("1" * 500_000, formulas="escape") == "1" * 500_000


@pytest.mark.parametrize("wrong", [2, 3, 4])
@pytest.mark.parametrize(
    ("dtype", "sound", "value"),
    [
        ("float64", "1.5", 1.5),
        ("complex64", "1+2i", 1 + 2j),
        ("complex128", "1+2i", 1 + 2j),
        ("bool", "TRUE", True),
        ("int8", "1", 1),
    ],
)
def test_after_very_many_wrong_cells_no_other_is_taken_for_read(
    dtype: str, sound: str, value: Any, wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, explained_problems=3)
    buffer, refusals = elements.decode(["x"] * wrong + [sound, None], dtypes.from_name(dtype))
    positions = [(problem.index, problem.rest) for problem in refusals]
    if wrong == 2:
        assert positions == [(0, False), (1, False), (3, False)]
        assert buffer[wrong] == value
    else:
        assert positions == [(0, False), (1, False), (2, False), (3, True)]


def test_blanks_that_may_be_missing_are_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, explained_problems=3)
    buffer, refusals = elements.decode([None] * 5 + ["1.5"], dtypes.from_name("float32"), missing="nan")
    assert refusals == []
    assert np.isnan(buffer[:5]).all()
    assert buffer[5] == 1.5


# Moments and durations of every unit and multiple, up to the ends of int64 ------------------------------------
#
# The texts are held against a calendar of Python's own integers, which cannot overflow.

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
MULTIPLES = [1, 7, 25, 1000, 2**31 - 1]
A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
LEAST, MOST, NAT = -(2**63) + 1, 2**63 - 1, -(2**63)


def day(days: int) -> str:
    """The date of a day counted from 1970-01-01 in the proleptic Gregorian calendar."""
    era, rest = divmod(days + 719468, 146097)
    year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    of_year = rest - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    number = month + 3 if month < 10 else month - 9
    return f"{spelt(era * 400 + year + (number <= 2))}-{number:02d}-{of_year - (153 * month + 2) // 5 + 1:02d}"


def spelt(year: int) -> str:
    return f"{year:04d}" if year >= 0 else f"-{-year:04d}"


def iso(count: int, unit: str, multiple: int) -> str:
    """The ISO text of a moment, in integers of any size."""
    if count == NAT:
        return "NaT"
    count *= multiple
    if unit == "Y":
        return spelt(1970 + count)
    if unit == "M":
        return f"{spelt(1970 + count // 12)}-{count % 12 + 1:02d}"
    if unit in "WD":
        return day(count * (7 if unit == "W" else 1))
    if unit == "h":
        return f"{day(count // 24)}T{count % 24:02d}"
    if unit == "m":
        return f"{day(count // 1440)}T{count % 1440 // 60:02d}:{count % 60:02d}"
    seconds, fraction = divmod(count, A_SECOND[unit])
    digits = len(str(A_SECOND[unit])) - 1
    text = f"{day(seconds // 86400)}T{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:0{digits}d}" if digits else text


def notable(dtype: np.dtype[Any]) -> list[int]:
    """Counts about the limits, the epoch, and the years that a calendar stumbles over."""
    least, most = iso_limits(dtype)
    years = [
        *("-1000000", "-10000", "-9999", "-0400", "-0001", "0000", "0001", "1677", "1900", "1969", "2262", "9999"),
        *("10000", "12345", "1000000"),
    ]
    counts = {least, least + 1, most - 1, most, 0, 1, -1, NAT}
    coarse = dtype if np.datetime_data(dtype)[0] in UNITS[:7] else np.dtype("M8[s]")
    for year in years:
        about = int(np.array(year, "M8[Y]").astype(coarse).astype(np.int64))
        counts |= {min(max(about + step, least), most) for step in (-1, 0, 1)}
    return sorted(counts)


def written(format: str, array: Any, **options: Any) -> Any:
    file = io.BytesIO()
    sa.write(file, {"t": array}, format=format, **options)
    return sa.read(io.BytesIO(file.getvalue()), format=format)["t"]


@pytest.mark.parametrize("multiple", MULTIPLES)
@pytest.mark.parametrize("unit", UNITS)
def test_a_moment_beyond_the_limits_is_refused_by_element(unit: str, multiple: int) -> None:
    dtype = np.dtype(f"M8[{multiple}{unit}]")
    least, most = iso_limits(dtype)
    for count in {max(least - 1, LEAST), min(most + 1, MOST), LEAST, MOST} - {least, most}:
        array = np.array([[0, 1], [count, 2]], dtype=np.int64).view(dtype)
        if least <= count <= most:
            continue
        with pytest.raises(sa.DTypeError, match=r"t\[1, 0\] .*int64"):
            written("csv", array)
        with pytest.raises(sa.DTypeError, match=r"element 2 .*int64"):
            sa.to_linear(array)


@pytest.mark.parametrize(
    "options",
    [
        {"format": "csv"},
        {"format": "csv", "orient": "rows"},
        {"format": "json"},
        {"format": "xlsx"},
        {"format": "xlsx", "cells": "text"},
    ],
)
@pytest.mark.parametrize("base", ["M8", "m8"])
def test_every_container_keeps_them_or_refuses_them(base: str, options: dict[str, Any], tmp_path: Path) -> None:
    arrays, beyond = {}, {}
    for unit in UNITS:
        for multiple in (1, 2, 7, 15, 25):
            dtype = np.dtype(f"{base}[{multiple}{unit}]")
            counts = notable(np.dtype(f"M8[{multiple}{unit}]")) if base == "M8" else [LEAST, MOST, NAT, 0, 2**53 + 1]
            arrays[str(dtype)] = np.array(counts, dtype=np.int64).view(dtype)
            edge = np.array([0, LEAST, MOST], dtype=np.int64).view(dtype)
            if base == "M8" and len(find_dates_without_text(edge)):
                beyond[str(dtype)] = edge
    path = tmp_path / f"t.{options['format']}"
    options = {key: value for key, value in options.items() if key != "format"}
    sa.write(path, arrays, **options)
    read = sa.read(path)
    assert list(sa.check(path)) == []
    for name, array in arrays.items():
        assert_same(read[name], array)
    before = path.read_bytes()
    for name, array in beyond.items():
        with pytest.raises(sa.DTypeError) as caught:
            sa.write(path, {name: array}, **options)
        assert name + "[" in str(caught.value)
    assert path.read_bytes() == before
    assert base == "m8" or {"datetime64[W]", "datetime64[7D]", "datetime64[25W]"} <= set(beyond)


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_scalar_and_bulk_and_calendar_agree(unit: str, data: Any) -> None:
    multiple = data.draw(st.sampled_from(MULTIPLES))
    dtype = np.dtype(f"M8[{multiple}{unit}]")
    least, most = iso_limits(dtype)
    anywhere = st.integers(least, most) | st.integers(max(least, -(10**6)), min(most, 10**6)) | st.just(NAT)
    check_agree(data.draw(st.lists(anywhere, min_size=1, max_size=6)), dtype)


@pytest.mark.parametrize("multiple", MULTIPLES)
@pytest.mark.parametrize("unit", UNITS)
def test_scalar_and_bulk_and_calendar_agree_at_the_limits(unit: str, multiple: int) -> None:
    dtype = np.dtype(f"M8[{multiple}{unit}]")
    check_agree(notable(dtype), dtype)


def check_agree(counts: list[int], dtype: np.dtype[Any]) -> None:
    """Compare what elements and whole columns make of moments, and of their texts, with the calendar."""
    unit, multiple = np.datetime_data(dtype)
    moments = np.array(counts, dtype=np.int64).view(dtype)
    texts = [iso(count, unit, multiple) for count in counts]
    assert elements.dates_to_iso(moments) == texts
    assert buffer_to_text(moments, dtypes.from_numpy(dtype), TextLook()).to_list() == texts
    buffer, problems = elements.decode(texts, dtypes.from_numpy(dtype))
    assert problems == []
    assert_same(buffer, moments)
    bulk, problems = buffer_from_text(pl.Series(texts), dtypes.from_numpy(dtype), TextLook())
    assert problems == []
    assert_same(bulk, moments)


@pytest.mark.parametrize("unit", UNITS)
def test_text_of_a_moment_that_the_unit_cannot_count_is_an_error_never_another_moment(unit: str) -> None:
    for multiple in (1, 7, 25):
        dtype = np.dtype(f"M8[{multiple}{unit}]")
        least, most = iso_limits(dtype)
        for count in (least - 1, most + 1, 3 * least, 3 * most, 2**63 * 2 + 5, -(2**64) - 7):
            text = iso(count, unit, multiple)
            for decode in (elements.decode, lambda cells, kind: buffer_from_text(pl.Series(cells), kind, TextLook())):
                buffer, problems = decode([text], dtypes.from_numpy(dtype))
                if problems:
                    assert [problem.index for problem in problems] == [0]
                else:  # NumPy may read a few more than it prints
                    assert int(buffer.view(np.int64)[0]) == count


@pytest.mark.parametrize("multiple", [1, 999_999_999, 1_000_000_000, 2**31 - 1])
def test_multiples_of_a_unit_are_read_as_far_as_they_are_written(multiple: int) -> None:
    array = np.array([0, 1], dtype=np.int64).view(f"M8[{multiple}s]")
    assert_same(written("csv", array), array)
    assert_same(written("csv", array.view(f"m8[{multiple}s]")), array.view(f"m8[{multiple}s]"))
    with pytest.raises(sa.FormatError):
        dtypes.from_name(f"datetime64[{2**31}s]")
