"""Changes of whole arrays without a guard: other orders, arrays that were exchanged or copied, and none made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import cross
from fingerprints import at_15, at_15_even, at_16, cell, findings, random_numbers, with_edits
from hypothesis import assume, given
from hypothesis import strategies as st

import sheetarray as sa

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("step", [7, 30, 1000])
def test_a_column_that_was_moved_around_or_pushed_down_is_named(step: int) -> None:
    array = random_numbers(5000)
    (finding,) = findings(array, lambda x: np.roll(x, step))
    assert finding.message == "reordered: the elements are those that were written, but in another order"
    (finding,) = findings(array, lambda x: np.concatenate([np.zeros(step), x])[:5000])
    assert finding.message.startswith(f"{step} elements were inserted before t[0]")
    (finding,) = findings(array.reshape(-1, 5), lambda x: np.concatenate([np.zeros(10 * 5), x])[:5000])
    assert finding.message.startswith("50 elements (10 rows of 5) were inserted before t[0, 0]")


def test_numbers_typed_over_nan_are_named() -> None:
    array = np.where(np.arange(60) % 3, np.nan, np.inf)

    def change(buffer: Array) -> Array:
        buffer[[2, 5]] = 7.25
        return buffer

    result = findings(array, change)
    assert [finding.location for finding in result] == [cell(2), cell(5)]


ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "15 digits, half to even": at_15_even,
    "16 digits, then 15": lambda x: at_15(at_16(x)),
    "15 digits": at_15,
    "16 digits": at_16,
    "none": np.copy,
}


@pytest.mark.parametrize(("rounding", "count"), cross(ROUNDINGS, ("100", "20000"), "100"))
def test_one_edit_beside_any_rounding_accuses_that_element_alone(rounding: str, count: str) -> None:
    numbers = random_numbers(int(count))
    rounded, place = ROUNDINGS[rounding](numbers), len(numbers) // 3
    for size in (1e-9, 1e-3, 5.0):
        edited = rounded.copy()
        edited[place] *= 1 + size
        result = findings(numbers, lambda _, edited=edited: edited)
        assert [finding.location for finding in result if finding.severity == "error"] == [cell(place)]


def test_a_record_without_other_ways_of_rounding_accuses_no_element_of_a_last_digit() -> None:
    """Records of older versions, and of many arrays, have fewer sums."""
    array = random_numbers(100)
    for blocks in (63, 20):
        result = findings(array, lambda x: with_edits(40)(at_15_even(x)), blocks)
        assert [finding.location for finding in result if finding.severity == "error"] == [cell(40)]


# Never an untrue claim -----------------------------------------------------------------------------------------


CHANGES: list[Callable[[Array], Array]] = [
    np.negative,
    np.sort,
    np.copy,
    at_15,
    at_16,
    at_15_even,
    lambda x: x[::-1],
    lambda x: np.roll(x, 3),
    lambda x: np.round(x, 2),
    lambda x: x * 3,
    lambda x: x + 1,
    lambda x: np.full_like(x, x[0]),
    np.abs,
    lambda x: np.random.default_rng(2).permutation(x),
    lambda x: np.where(x > 0, x, 0.0),
    lambda x: x**2,
]
NUMBERS = st.one_of(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=60),
    st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0]), min_size=1, max_size=60),
    st.integers(0, 1000).map(lambda seed: (random_numbers(200, seed=seed) * 10).tolist()),
    st.integers(0, 1000).map(lambda seed: np.round(random_numbers(200, seed=seed) * 10, 1).tolist()),
)


@given(NUMBERS, st.lists(st.sampled_from(range(len(CHANGES))), min_size=1, max_size=2), st.sampled_from([0, 6, 64]))
def test_whatever_was_done_no_element_is_named_that_is_as_written(
    numbers: list[float], chain: list[int], blocks: int
) -> None:
    before = np.array(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        after = before
        for number in chain:
            after = np.asarray(CHANGES[number](after), dtype=float)
    assume(np.isfinite(after).all())
    result = findings(before, lambda _: after, blocks)
    assert bool(result) == (before.tobytes() != after.tobytes())
    for finding in result:
        if (finding.location or "").startswith("arrays!"):
            index = int(str(finding.location)[8:]) - 21
            assert before[index] != after[index] or before.tobytes() != after.tobytes()
            assert before[index] != after[index]
        said = finding.message
        if "elements are those that were written" in said:
            assert np.allclose(np.sort(before), np.sort(after), rtol=1e-14, atol=0)
        if "re-saved" in said and len(result) == 1:
            assert np.allclose(after, before, rtol=1e-14, atol=0)


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_numbers_with_few_decimals_that_were_edited_are_not_said_to_be_rounded(seed: int, edits: int) -> None:
    prices = np.round(np.abs(random_numbers(300, seed=seed)) * 50, 2)
    places = np.random.default_rng(seed).choice(300, edits, replace=False)

    def change(buffer: Array) -> Array:
        buffer[places] = np.round(buffer[places] + 0.01, 2)
        return buffer

    result = findings(prices, change)
    assert result
    assert not any("rounded or cut" in finding.message for finding in result)


# Several arrays, and arrays of which nothing is known ------------------------------------------------------------


def edited(path: Path, how: Callable[[Any], None]) -> list[str]:
    book = openpyxl.load_workbook(path)
    how(book["arrays"])
    book.save(path)
    return [str(finding) for finding in sa.check(path)]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    whole = np.random.default_rng(3).integers(0, 1000, 30)
    sa.write(tmp_path / "x.xlsx", {"a": whole, "b": whole * 2 + 1, "c": whole[:20]})
    return tmp_path / "x.xlsx"


def test_two_arrays_that_were_exchanged_are_named(book: Path) -> None:
    def exchange(sheet: Any) -> None:
        for row in range(20, 50):
            sheet.cell(row, 1).value, sheet.cell(row, 2).value = sheet.cell(row, 2).value, sheet.cell(row, 1).value

    result = edited(book, exchange)
    assert [line.partition(":  ")[0].split(" (")[0] for line in result] == [
        "error: a: exchanged with 'b': its elements are those that were written there",
        "error: b: exchanged with 'a': its elements are those that were written there",
    ]


@pytest.mark.parametrize("count", [6, 3000])
def test_a_cell_put_in_at_the_top_is_told_by_its_address(tmp_path: Path, count: int) -> None:
    sa.write(tmp_path / "t.xlsx", {"t": random_numbers(count).round(3)})
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    column = [cell.value for cell in book["arrays"]["A"]]
    begin = column.index("data") + 2
    for row, value in enumerate([9.5, *column[begin - 1 : -1]], begin):
        book["arrays"].cell(row, 1).value = value
    book.save(tmp_path / "t.xlsx")
    (message,) = (finding.message for finding in sa.check(tmp_path / "t.xlsx") if finding.severity == "error")
    assert message.startswith(f"1 element was inserted before t[0] (A{begin}); what follows")


def test_an_array_copied_over_another_is_named(book: Path) -> None:
    def copy(sheet: Any) -> None:
        for row in range(20, 50):
            sheet.cell(row, 1).value = sheet.cell(row, 2).value

    (line,) = edited(book, copy)
    assert line.startswith("error: a: its elements are those that were written as 'b'")


def test_an_array_of_which_nothing_is_known_beside_others_is_named(book: Path) -> None:
    def add(sheet: Any) -> None:
        for row in range(1, 40):
            sheet.cell(row, 4).value = sheet.cell(row, 3).value
        sheet["D1"].value, sheet["D25"].value = "new", 5000

    result = edited(book, add)
    assert [line.split(":")[:3] for line in result] == [
        ["warning", " new", " no record of 'new', as of the other arrays"]
    ]


def test_a_workbook_without_any_record_is_told_once(book: Path) -> None:
    opened = openpyxl.load_workbook(book)
    for name in list(opened.custom_doc_props.names):
        del opened.custom_doc_props[name]
    opened.save(book)
    (finding,) = sa.check(book)
    assert (finding.severity, finding.location) == ("warning", None)
    assert finding.message.startswith("no record of what was written: cannot tell")
    assert finding.hint


def test_a_record_of_a_version_to_come_is_no_record(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sheetarray.sheets.excel.fingerprint import record

    monkeypatch.setattr(record, "_VERSION", 4)
    sa.write(book, {"a": np.arange(5)})
    (finding,) = sa.check(book)
    assert "no record of 'a'" in finding.message
