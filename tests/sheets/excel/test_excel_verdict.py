"""What is said of an array after something happened to its cells, by the fingerprint that was taken before."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from children import limited
from examples import examples
from fingerprints import (
    FIRST_ROW,
    Array,
    at_15,
    at_15_even,
    at_16,
    cell,
    findings,
    make_fingerprint,
    random_numbers,
    remembered,
    said,
    with_edits,
)
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sheetarray import LinearArray
from sheetarray.dtypes import from_name
from sheetarray.errors import Finding, FormatError
from sheetarray.header import Header
from sheetarray.sheets.excel.fingerprint.verdict import compare_with_fingerprint
from sheetarray.testing.cases import dtype_cases, objects, shape_cases

# Unchanged ---------------------------------------------------------------------------------------------------


def test_nothing_is_said_of_an_unchanged_array() -> None:
    said_of = {
        (name, blocks): result
        for name, array in {**dtype_cases(), **shape_cases()}.items()
        for blocks in (0, 1, 5, 64)
        if (result := findings(array, lambda buffer: buffer, blocks))
    }
    assert said_of == {}


def test_a_nan_of_other_bits_is_no_change() -> None:
    array = np.array([1.5, np.nan])
    assert not findings(array, lambda buffer: np.array([1.5, -np.nan]))


# Rounded -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [0, 5, 64])
def test_a_save_with_15_digits_is_a_warning_that_says_how_far_numbers_may_be_off(blocks: int) -> None:
    array = random_numbers(20, 30) * 10.0 ** np.arange(-15, 15)
    (finding,) = findings(array, at_15, blocks)
    assert (finding.severity, finding.location) == ("warning", "t")
    assert finding.message == (
        "re-saved by a program that keeps 15 digits: every number differs by at most 5e-15, relatively"
    )
    assert np.max(np.abs(at_15(array.ravel()) / array.ravel() - 1)) < 5e-15
    assert 'cells="text"' in finding.hint


def test_a_save_with_15_digits_changes_nothing_where_there_are_no_more() -> None:
    assert not findings(np.round(random_numbers(500), 4), at_15)


@pytest.mark.parametrize("blocks", [0, 5, 64])
def test_a_save_with_16_digits_is_told_from_one_with_15(blocks: int) -> None:
    array = random_numbers(500)
    (finding,) = findings(array, at_16, blocks)
    assert finding.severity == "warning"
    assert "keeps 16 digits: every number differs by at most 6.2e-16" in finding.message
    assert np.max(np.abs(at_16(array) / array - 1)) < 6.2e-16


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_lost_sign_of_zero_is_said(dtype: str) -> None:
    (finding,) = findings(np.array([1.5, -0.0, 2.0], dtype), lambda buffer: buffer + 0.0)
    assert finding.severity == "warning"
    assert "-0.0" in finding.message


@pytest.mark.parametrize("count", [60, 3000])
@pytest.mark.parametrize("blocks", [0, 5, 64])
@pytest.mark.parametrize(
    "change", [lambda x: at_15(at_16(x)), at_15_even, lambda x: np.nextafter(x, 0), lambda x: at_15_even(at_15(x))]
)
def test_rounding_of_another_kind_is_a_warning_too(count: int, blocks: int, change: Callable[[Array], Array]) -> None:
    (finding,) = findings(random_numbers(count, seed=3), change, blocks)
    assert finding.severity == "warning"
    assert finding.message.startswith("re-saved by a program that ")


def test_an_edit_that_rounding_would_hide_is_measured() -> None:
    array = random_numbers(20_000, seed=3)
    (finding,) = findings(array, lambda buffer: at_15(at_16(buffer)))
    match = re.search(r"an edit by less than (\S+) would not be noticed", finding.message)
    assert match
    assert 1e-14 < float(match[1]) < 1e-10
    result = findings(array, lambda buffer: at_15(at_16(buffer)) + 2 * float(match[1]) * (np.arange(20_000) == 7))
    assert [finding.severity for finding in result] == ["error"]


def test_generic_numbers_that_were_rounded_are_said() -> None:
    (finding,) = findings(objects("a", 0.1 + 0.2, None), lambda buffer: objects("a", 0.3, None))
    assert said([finding]) == [("warning", "t", "re-saved by a program that keeps 15 digits")]


# Edited ------------------------------------------------------------------------------------------------------


def other(element: Any) -> Any:
    """An element that is another."""
    if isinstance(element, str):
        return "y" if element != "y" else "z"
    if isinstance(element, (np.datetime64, np.timedelta64)):
        return element.dtype.type(int(element.view(np.int64)) ^ 1, np.datetime_data(element.dtype))
    if isinstance(element, (bool, np.bool_)):
        return not element
    return 3 if element != 3 else 4


@pytest.mark.parametrize("blocks", [0, 5, 64])
def test_the_one_element_that_was_edited_is_named(blocks: int) -> None:
    wrong = []
    for name, array in dtype_cases().items():
        record, linear = remembered(np.resize(array, (30, 7)), blocks)
        for index in (0, 100, 209):
            buffer = linear.buffer.copy()
            buffer[index] = other(buffer[index])
            result = said(list(compare_with_fingerprint(record, linear.header, buffer, "t", cell)))
            wanted = ("error", cell(index), f"t[{index // 7}, {index % 7}] was edited since it was written")
            if result != [wanted]:
                wrong.append((name, index, result))
    assert wrong == []


@cache
def rising(rounding: Callable[[Array], Array] = np.copy) -> Array:
    """5,000 numbers, as they are read after a program rounded them."""
    return rounding(np.linspace(1, 7, 5000) ** 0.5)


@cache
def remembered_rising() -> tuple[Any, LinearArray]:
    return remembered(rising())


def find_edits(rounding: Callable[[Array], Array], edits: Iterable[int]) -> list[Finding]:
    """Return what is said of 5,000 numbers after edits and rounding."""
    record, linear = remembered_rising()
    now = with_edits(*edits)(rising(rounding).copy())
    return list(compare_with_fingerprint(record, linear.header, now, "t", cell))


@given(st.sets(st.integers(0, 4999), min_size=1, max_size=12), st.booleans())
def test_every_one_of_several_edits_is_named_rounded_or_not(edits: set[int], rounds: bool) -> None:
    result = find_edits(at_15 if rounds else np.copy, edits)
    errors = [finding for finding in result if finding.severity == "error"]
    assert [finding.location for finding in errors] == [cell(index) for index in sorted(edits)]


@given(
    st.lists(st.booleans(), min_size=1, max_size=300),
    st.sets(st.integers(0, 299), max_size=12),
    st.sampled_from([0, 1, 4, 23, 64]),
)
@example([True, True, False], {0, 1, 2}, 64)
@example([True, False, False, True], {0, 1, 2, 3}, 0)
def test_in_an_array_of_two_values_no_edit_is_missed_and_none_is_made_up(
    mask: list[bool], edits: set[int], blocks: int
) -> None:
    edits = {index % len(mask) for index in edits}
    for values in (np.array([False, True]), np.array(["no", "yes"]), np.array([0.1, 0.2])):
        then = values[np.array(mask, dtype=int)]
        now = values[np.array([value ^ (number in edits) for number, value in enumerate(mask)], dtype=int)]
        result = findings(then, lambda _, now=now: now, blocks)
        assert bool(result) == bool(edits)
        assert all(finding.severity == "error" for finding in result)
        named = {int(finding.message[2:].partition("]")[0]) for finding in result if finding.message.startswith("t[")}
        assert named <= edits


def test_an_edit_and_rounding_are_both_said() -> None:
    result = findings(random_numbers(10, 10), lambda buffer: at_15(with_edits(17)(buffer)))
    assert [finding.severity for finding in result] == ["warning", "error"]
    assert "keeps 15 digits: every other number differs by at most" in result[0].message
    assert result[1].message == "t[1, 7] was edited since it was written"


def test_rounding_is_not_said_where_only_the_edit_took_the_digits() -> None:
    result = findings(np.array([0.1 + 0.2, 1.0, 2.0]), lambda buffer: np.array([5.0, 1.0, 2.0]))
    assert said(result) == [("error", cell(0), "t[0] was edited since it was written")]


def test_of_many_edits_the_first_are_named_and_the_rest_counted() -> None:
    result = findings(random_numbers(100, 100), with_edits(*range(500, 545)))
    assert len(result) == 21
    assert said(result)[-1] == ("error", "t", "25 elements more were edited, the last is t[5, 44] (B565)")


@pytest.mark.parametrize("edits", [range(3000, 5500), [*range(100, 300), *range(8000, 8200)]])
def test_where_edits_are_too_many_to_tell_the_cells_around_them_are_named(edits: Any) -> None:
    result = findings(random_numbers(10_000), with_edits(*edits))
    text = result[-1].message
    assert "edited between" in text
    rows = [int(row) - FIRST_ROW for row in re.findall(r"\(B(\d+)\)", text)]
    ranges = list(zip(rows[::2], rows[1::2], strict=True))
    named = [int(str(finding.location)[8:]) - FIRST_ROW for finding in result[:-1]]
    assert all(index in named or any(a <= index <= b for a, b in ranges) for index in edits)
    assert sum(b - a for a, b in ranges) < len(edits) + 700


def test_edits_everywhere_are_said_so() -> None:
    assert "edited throughout the array" in findings(random_numbers(10_000), lambda buffer: buffer**2)[-1].message
    (finding,) = findings(random_numbers(10_000), lambda buffer: buffer**2, 0)
    assert finding.message.startswith("elements were edited: more than one, and a workbook of so many arrays")


def test_an_element_that_the_view_skips_is_named_by_its_place_in_the_buffer() -> None:
    linear = LinearArray.from_numpy(np.arange(12.0)[::2], base=True)
    record = make_fingerprint(linear.buffer, linear.dtype_entry, blocks=4, header=linear.header)
    (finding,) = compare_with_fingerprint(record, linear.header, with_edits(5)(linear.buffer.copy()), "t", cell)
    assert finding.message == "t, buffer element 5 was edited since it was written"


ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "15 digits, half to even": at_15_even,
    "16 digits, then 15": lambda x: at_15(at_16(x)),
    "15 digits": at_15,
    "16 digits": at_16,
    "none": np.copy,
}


@pytest.mark.parametrize(
    ("rounding", "count"), [*((name, 100) for name in ROUNDINGS), *((name, 20_000) for name in [*ROUNDINGS][2:])]
)
def test_one_edit_beside_any_rounding_accuses_that_element_alone(rounding: str, count: int) -> None:
    numbers = random_numbers(count)
    rounded, place = ROUNDINGS[rounding](numbers), len(numbers) // 3
    for size in (1e-9, 1e-3, 5.0):
        edited = rounded.copy()
        edited[place] *= 1 + size
        result = findings(numbers, lambda _, edited=edited: edited)
        assert [finding.location for finding in result if finding.severity == "error"] == [cell(place)]


# Reordered ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", [np.copy, at_15, at_16])
@pytest.mark.parametrize("blocks", [0, 5, 64])
@pytest.mark.parametrize(
    "order", [np.sort, lambda x: x[::-1], lambda x: np.roll(x, 30), np.random.default_rng(1).permutation]
)
def test_another_order_is_said_and_rounding_with_it(
    blocks: int, order: Callable[[Array], Array], rounding: Callable[[Array], Array]
) -> None:
    """How it came about, a guard tells: sums only tell that the elements are the same."""
    array = random_numbers(40, 10)
    array[3, 3] = np.nan
    result = findings(array, lambda buffer: rounding(order(buffer)), blocks)
    reordered = "reordered: the elements are those that were written, but in another order"
    assert said(result)[-1] == ("error", "t", reordered)
    assert len(result) == 1 + (rounding is not np.copy)
    if rounding is not np.copy:
        assert f"keeps {15 if rounding is at_15 else 16} digits: every number differs by at most" in result[0].message


@pytest.mark.parametrize(
    "array", [np.array(["b", "a", "c"]), np.array([2, 1, 3]), np.array(["2020-01-02", "2020-01-01", "NaT"], "M8[D]")]
)
def test_another_order_of_anything_is_said(array: Array) -> None:
    (finding,) = findings(array, np.sort)
    assert finding.message.startswith("reordered: ")


def test_elements_that_changed_places_are_named() -> None:
    def swap(buffer: Array) -> Array:
        buffer[[3, 700]] = buffer[[700, 3]]
        return buffer

    (finding,) = findings(random_numbers(100, 10), swap)
    assert finding.message.endswith("but at other places: t[0, 3], t[70, 0]")


def test_a_sort_of_some_rows_names_where_they_are() -> None:
    def change(buffer: Array) -> Array:
        buffer[500:800] = np.roll(buffer[500:800], 7)
        return buffer

    (finding,) = findings(random_numbers(10_000), change)
    match = re.search(r"in another order between t\[(\d+)\] \(B\d+\) and t\[(\d+)\]", finding.message)
    assert match
    assert 340 < int(match[1]) <= 500
    assert 799 <= int(match[2]) < 960


# Of another length, moved ------------------------------------------------------------------------------------


def test_an_array_without_its_end_or_with_more_at_the_end_says_how_many_elements() -> None:
    (finding,) = findings(random_numbers(1000), lambda buffer: buffer[:900])
    assert finding.message == "truncated: 900 of 1000 elements are left"
    (finding,) = findings(random_numbers(1000), lambda buffer: buffer[:0])
    assert finding.message == "truncated: 0 of 1000 elements are left"
    (finding,) = findings(random_numbers(1000), lambda buffer: np.append(buffer, [1.0, 2.0]))
    assert finding.message == "2 elements more than the 1000 that were written"


@pytest.mark.parametrize("count", [150, 5000])
def test_an_array_of_another_length_is_told_up_to_where_elements_moved(count: int) -> None:
    array = random_numbers(count)
    for at, size in ((0, 1), (60, 1), (61, 40), (77, 3)):
        for change in (lambda x: np.delete(x, range(at, at + size)), lambda x: np.insert(x, at, [3.5] * size)):  # noqa: B023
            (finding,) = findings(array, change)
            assert finding.message.startswith(("truncated: ", f"{size} element"))
            match = re.search(r"from t\[(\d+)\] \(B\d+\) on elements moved or were edited", finding.message)
            assert match
            assert int(match[1]) <= at < int(match[1]) + (1 if count == 150 else 79)


# Changed alike -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [0, 5, 64])
@pytest.mark.parametrize("count", [5, 30, 300, 3000])
def test_a_change_of_all_elements_is_one_finding_that_names_no_kind(count: int, blocks: int) -> None:
    """Times 1000, cut to float32: only a guard tells which."""
    array = random_numbers(count)
    for change in (lambda x: x * 1000, lambda x: x.astype("f4").astype("f8"), np.negative):
        result = findings(array, change, blocks)
        assert all(finding.severity == "error" for finding in result)
        assert len(result) == 1
        text = str(result[0])
        assert "edited" in text
        assert not any(word in text for word in ("multiplied", "1000", "float32", "sign"))


def test_more_edits_than_are_named_are_one_finding_if_they_are_most_elements() -> None:
    for count, most in ((3, 3), (4, 1), (20, 1), (21, 1), (41, 1), (42, 21)):
        result = findings(random_numbers(count), with_edits(*range(min(count, 21))))
        assert len(result) == most, count
    assert said(result)[-1] == ("error", "t", "1 element more were edited, the last is t[20] (B41)")
    assert len(findings(random_numbers(21), with_edits(*range(20)))) == 20  # not all of them: each is named
    (finding,) = findings(random_numbers(41), with_edits(*range(21)))
    assert finding.message == "21 of 41 elements were edited, between t[0] (B21) and t[20] (B41)"


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


# The header --------------------------------------------------------------------------------------------------


def test_an_edited_header_is_said() -> None:
    record, linear = remembered(random_numbers(2, 3))
    turned = Header(linear.dtype_entry, (3, 2), (2, 1), 0, "row-major", 6)
    (finding,) = compare_with_fingerprint(record, turned, linear.buffer, "t", cell)
    assert (finding.severity, finding.location) == ("error", "t")
    assert "shape" in finding.message
    narrow = Header(from_name("float32"), (2, 3), (3, 1), 0, "row-major", 6)
    (finding,) = compare_with_fingerprint(record, narrow, linear.buffer.astype("float32"), "t", cell)
    assert finding.message == "written as float64, and its header says float32 now"


# Records that anybody may have made --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record", [None, 3, "x", [], {}, {"v": 1}, {"v": 2}, {"v": 3}, {"v": 1, "dtype": "float64", "count": 5}]
)
def test_what_is_no_record_says_nothing(record: Any) -> None:
    linear = LinearArray.from_numpy(random_numbers(5))
    assert not list(compare_with_fingerprint(record, linear.header, linear.buffer, "t", cell))


VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 3, 63, 64, 65, 10**9, 2**44, 2**44 + 1, 2**63, 10**400, 0.5, float("nan"), float("inf")),
    *(-1e-15, "", "float32", "é", "AAAAAAAAAAA", "=" * 11, "A" * 16, [], [1], {}, {"v": 1}),
]


@pytest.mark.parametrize("seed", range(6))
def test_records_edited_at_random_raise_nothing_but_of_a_version_to_come(seed: int) -> None:
    rng = random.Random(seed)
    samples = [
        remembered(array, blocks)
        for array in (random_numbers(300), dtype_cases()["string"], np.arange(9))
        for blocks in (0, 4, 64)
    ]
    with limited(seconds=60, megabytes=200):
        for _ in range(examples(400)):
            record, linear = rng.choice(samples)
            record = copy.deepcopy(record)
            for _ in range(rng.choice((1, 1, 2))):
                key = rng.choice(list(record) or ["v"])
                value = record.get(key)
                if isinstance(value, str) and value and rng.random() < 0.5:
                    at = rng.randrange(len(value))
                    record[key] = value[:at] + rng.choice("Ab/+=é ") + value[at + 1 :]
                else:
                    record[key] = rng.choice(VALUES)
            buffer = linear.buffer[: rng.choice((0, 1, 7, 300))]
            if isinstance(record.get("v"), int) and record["v"] > 4:
                with pytest.raises(FormatError, match="are of version"):
                    list(compare_with_fingerprint(record, linear.header, buffer, "t", cell))
                continue
            result = list(compare_with_fingerprint(record, linear.header, buffer, "t", cell))
            assert len(result) < 60
            assert all(len(str(finding)) < 3000 for finding in result)
