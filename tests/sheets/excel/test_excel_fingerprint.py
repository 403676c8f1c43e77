"""The fingerprint of an array: digits as spreadsheet programs round them, codes, sums, and how they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import STRIDE, examples
from fingerprints import at_15, at_16, cell, make_fingerprint, rounded
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl.cell import WriteOnlyCell
from programs import resave

from sheetarray import Finding, LinearArray, dtypes
from sheetarray.sheets.excel.fingerprint.codes import Coded, code_elements
from sheetarray.sheets.excel.fingerprint.record import (
    max_blocks,
    read_many,
)
from sheetarray.sheets.excel.fingerprint.verdict import compare_with_fingerprint
from sheetarray.testing.cases import objects

FLOAT64 = dtypes.from_name("float64")


def families(count: int) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(20)
    many, fewer = rng.integers(10**15, 10**17, count).tolist(), rng.integers(10**14, 10**15, count).tolist()
    near, far = rng.integers(-40, 20, count).tolist(), rng.integers(-320, 290, count).tolist()
    middle = rng.integers(18 * 10**13, 36 * 10**13, count) * 100.0 + 50
    yield "random bits", rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    yield "uniform", rng.random(count)
    yield "normal", rng.standard_normal(count) * 10.0 ** rng.integers(-12, 12, count)
    yield "16 and 17 digits", np.array([float(f"{m}e{e}") for m, e in zip(many, near, strict=True)])
    yield "ties", np.array([float(f"{m}5e{e}") for m, e in zip(fewer, near, strict=True)])
    yield "ties of all sizes", np.array([float(f"{m}5e{e}") for m, e in zip(fewer, far, strict=True)])
    yield "15 digits", np.array([float(f"{m}e{e}") for m, e in zip(fewer, far, strict=True)])
    yield "halfway between two doubles", np.concatenate([np.nextafter(middle, 0), np.nextafter(middle, np.inf)])
    yield "halves and quarters", rng.integers(0, 2**53, count) / 2.0 ** rng.integers(0, 60, count)
    yield "ties at 16 digits", rng.integers(1, 2**20, count) / 2.0**17
    yield "whole numbers", rng.integers(-(2**62), 2**62, count).astype(np.float64)
    yield "subnormal", rng.integers(1, 2**52, count // 4) * 2.0**-1074
    twos = np.array([2.0**k for k in range(-1074, 1024)])
    yield "powers of two", np.concatenate([twos, np.nextafter(twos, 0), np.nextafter(twos, np.inf)])
    tens = np.array([10.0**k for k in range(-307, 309)])
    yield "powers of ten", np.concatenate([tens, np.nextafter(tens, 0), np.nextafter(tens, np.inf)])
    yield "edges", np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 2.0**-1022, np.finfo(float).max, 1e23, 8e307])


FAMILIES = dict(families(examples(8000)))


# Doubles -----------------------------------------------------------------------------------------------------


def codes(numbers: np.ndarray[Any, Any], **options: Any) -> Coded:
    return code_elements(np.asarray(numbers, np.float64), FLOAT64, **options)


def check_rounding(numbers: np.ndarray[Any, Any]) -> None:
    """A program that rounds leaves the code at so many digits, and numbers that it would tell apart have others."""
    at_15 = np.array([rounded(number) for number in numbers.tolist()])
    at_16 = np.array([float(f"{number:.16g}") for number in numbers.tolist()])
    before, old = codes(numbers), codes(numbers, is_old=True)
    for left, kept, again in (
        (at_15, before.fifteen, codes(at_15).fifteen),
        (at_16, before.sixteen, codes(at_16).sixteen),
        (at_16, old.sixteen, codes(at_16, is_old=True).sixteen),
    ):
        assert kept is not None
        assert again is not None
        differing = np.flatnonzero(kept != again)
        assert not len(differing), numbers[differing[:5]].tolist()
        if kept is not old.sixteen:  # which takes 9.999999999999999 for 10
            assert len(set(kept.tolist())) == len({repr(number + 0.0) for number in left.tolist()})


@pytest.mark.parametrize("family", FAMILIES)
def test_rounding_leaves_the_code_at_so_many_digits(family: str) -> None:
    check_rounding(FAMILIES[family])
    check_rounding(-FAMILIES[family])


@given(st.lists(st.floats(), min_size=1, max_size=20))
@example([0.15, 4.35, 0.1 + 0.2, 1234567890123455.0, 0.12345678901234565])
@example([9.999999999999995, 999999999999999.9, 9.999999999999999e22, 1e23, 1.79769313486231549e308])
@example([2.0**-97, 2.0**-97 + 2.0**-149, 2.0**-705, 2.0**-788, 2.0**-1017])
@example([20000000000000048.0, 20000000000000052.0, 2251799813685248.5, 4503599627370495.5])
@example([np.nextafter(2.0**119, 0), -np.finfo(float).max])
def test_rounding_leaves_the_code_of_any_double(numbers: list[float]) -> None:
    check_rounding(np.array(numbers))


# Codes -------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=8), min_size=1))
def test_the_width_of_a_string_array_is_no_matter(texts: list[str]) -> None:
    narrow, wide = np.array([*texts, ""]), np.array([*texts, "x" * 70_000 if len(texts) < 3 else "x" * 100])[:-1]
    expected = make_fingerprint(narrow[:-1], dtypes.from_name("string"), blocks=2)
    assert make_fingerprint(wide, dtypes.from_name("string"), blocks=2) == expected


def test_generic_numbers_are_rounded_as_floats_are() -> None:
    generic = dtypes.from_name("generic")
    before = code_elements(objects(0.1 + 0.2, 2**53 - 1, 2, -0.0, "0.30000000000000004", True, None, ""), generic)
    after = code_elements(objects(0.3, 9007199254740990, 2.0, 0, "0.3", 1, "", None), generic)
    same = (before.fifteen == after.fifteen).tolist()
    assert same == [True, True, True, True, False, False, False, False]
    assert not (before.exact == after.exact)[:2].any()
    assert (before.exact == after.exact)[2:4].all()


# Records ----------------------------------------------------------------------------------------


def test_all_fingerprints_of_a_workbook_together_are_short() -> None:
    numbers = np.random.default_rng(0).standard_normal(5000)
    for arrays in (*range(1, 9), *range(9, 250, STRIDE)):
        record = make_fingerprint(numbers, FLOAT64, blocks=max_blocks(arrays))
        text = json.dumps(record, separators=(",", ":"), allow_nan=False)
        assert text.isascii()
        assert len(text) * arrays < 70_000
    assert max_blocks(1) == 64
    assert max_blocks(16_384) == 0


# Records of older versions -----------------------------------------------------------------------------------

GOLDEN = json.loads(Path(__file__).with_name("golden_fingerprints.json").read_text())
_N = np.arange(1, 301)
GOLDEN_ARRAYS: dict[str, Any] = {
    "float64": np.sqrt(_N) * np.where(_N % 2, 1, -1) * 10.0 ** (_N % 23 - 11),
    "float32": np.sqrt(_N).astype("f4"),
    "complex128": np.sqrt(_N) + 1j / _N,
    "int64": _N**5,
    "bool": _N % 3 == 0,
    "string": np.array([f"t{k}" for k in _N.tolist()]),
    "datetime64[D]": np.datetime64("2020-01-01") + _N,
    "generic": np.array([k if k % 2 else k / 7 for k in _N.tolist()], object),
}


def said_of(record: Any, array: Any, edited: Any) -> list[Finding]:
    header = LinearArray.from_numpy(array).header
    return list(compare_with_fingerprint(record, header, LinearArray.from_numpy(edited).buffer, "t", cell))


@pytest.mark.parametrize("place", range(len(GOLDEN["records"])))
def test_records_that_older_versions_wrote_are_understood(place: int) -> None:
    name, record = GOLDEN["records"][place]
    array = GOLDEN_ARRAYS[name]
    assert said_of(record, array, array) == []
    for index in (0, 17, 299):
        edited = array.copy()
        edited[index] = array[index - 1]
        (finding,) = said_of(record, array, edited)
        assert (finding.severity, finding.location) == ("error", cell(index))
    (finding,) = said_of(record, array, array[::-1])
    assert finding.message.startswith("reordered: ")
    for digits, rounding in ((15, at_15), (16, at_16)):
        if name == "float64":
            (finding,) = said_of(record, array, rounding(array))
            assert finding.message.startswith(f"re-saved by a program that keeps {digits} digits: every number")


def test_a_record_of_many_arrays_that_an_older_version_wrote_is_understood() -> None:
    known = read_many(GOLDEN["many"])
    assert list(known) == [f"{name} 0" for name in GOLDEN_ARRAYS]
    for name, array in GOLDEN_ARRAYS.items():
        assert said_of(known[f"{name} 0"], array[:20], array[:20]) == []
        (finding,) = said_of(known[f"{name} 0"], array[:20], np.append(array[:19], array[2:3]))
        assert finding.location == cell(19)
    (finding,) = said_of(known["float64 0"], GOLDEN_ARRAYS["float64"][:20], at_15(GOLDEN_ARRAYS["float64"][:20]))
    assert "keeps 15 digits" in finding.message


# Real programs -----------------------------------------------------------------------------------------------


def write_numbers(path: Path, numbers: list[float]) -> None:
    """A workbook with one column of numbers, as the shortest text that reads back the same."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("numbers")
    for number in numbers:
        cell = WriteOnlyCell(sheet, 0)
        cell._value = repr(number)  # openpyxl itself would keep 16 digits
        sheet.append([cell])
    book.save(path)


def read_numbers(path: Path) -> np.ndarray[Any, Any]:
    sheet = openpyxl.load_workbook(path).worksheets[0]
    return np.array([float(cell) for (cell,) in sheet.iter_rows(values_only=True)])


def finite(count: int) -> np.ndarray[Any, Any]:
    result = np.concatenate([numbers[:count] for numbers in FAMILIES.values()])
    return result[np.isfinite(result) & (np.abs(result) < 1.7e308)]


def test_libreoffice_leaves_what_the_code_at_15_digits_says(tmp_path: Path) -> None:
    numbers = finite(examples(3000))
    write_numbers(tmp_path / "numbers.xlsx", numbers.tolist())
    again = read_numbers(resave(tmp_path / "numbers.xlsx", "xlsx", tmp_path / "out"))
    assert (again != numbers).mean() > 0.5
    then, now = codes(numbers).fifteen, codes(again).fifteen
    differing = np.flatnonzero(then != now)
    assert not len(differing), [(numbers[i], again[i]) for i in differing[:5].tolist()]
