"""Checksums of arrays: what `check` says by them without a guard, digits as programs round, and how they are stored."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from children import limited
from examples import STRIDE, examples
from hypothesis import example, given
from hypothesis import strategies as st
from mixtures import edited_sheet
from openpyxl.cell import WriteOnlyCell
from programs import resave
from roundings import Array, at_15, at_15_even, at_16, random_numbers, rounded

import sheetarray as sa
from sheetarray import Finding, LinearArray, dtypes
from sheetarray.sheets.excel.checksums.hashes import exact_hashes, rounded_hashes, sixteen_hashes
from sheetarray.sheets.excel.checksums.record import Checksums, count_blocks, read_many, take_checksums
from sheetarray.sheets.excel.checksums.verdict import compare_with_checksums
from sheetarray.testing.cases import dtype_cases, objects, shape_cases

FLOAT64 = dtypes.from_name("float64")
FIRST_ROW = 21


def cell(index: int) -> str:
    return f"arrays!B{index + FIRST_ROW}"


def remembered(array: Array, blocks: int = 64) -> tuple[Any, LinearArray]:
    """The checksums of an array, as a file would bring them back, and what a reader finds of the array."""
    linear = LinearArray.from_numpy(array)
    made = take_checksums(linear.buffer, linear.dtype_entry, blocks=blocks, header=linear.header)
    return json.loads(json.dumps(made.to_json())), linear


def said_of(record: Any, array: Any, edited: Any) -> list[Finding]:
    linear, checksums = LinearArray.from_numpy(array), Checksums.from_json(record)
    assert checksums is not None
    now = LinearArray.from_numpy(edited).buffer
    return list(compare_with_checksums(checksums, linear.header, now, "t", cell))


def findings(array: Array, change: Callable[[Array], Any], blocks: int = 64) -> list[Finding]:
    record, linear = remembered(array, blocks)
    checksums = Checksums.from_json(record)
    assert checksums is not None
    return list(compare_with_checksums(checksums, linear.header, change(linear.buffer.copy()), "t", cell))


# What `check` says of a workbook


def check_after(path: Path, arrays: dict[str, Array], cells: dict[str, Any]) -> list[Finding]:
    """Write arrays without a guard, change cells of the sheet, and return what `check` finds."""
    sa.write(path, arrays, guard=False)
    with edited_sheet(path) as sheet:
        for address, value in cells.items():
            sheet[address] = value
    return list(sa.check(path))


def test_an_edit_of_a_short_array_names_the_array(tmp_path: Path) -> None:
    for count in (2, 127):
        (finding,) = check_after(tmp_path / "t.xlsx", {"n": np.arange(count), "s": np.array(["a"])}, {"A21": 99})
        assert (finding.severity, finding.array, finding.index) == ("error", "n", None)
        assert finding.location == f"arrays!A20:A{19 + count}"
        assert finding.message == f"n: some of its {count} elements were edited"
        assert "guard=True" in finding.hint
        assert "sa.accept" in finding.hint


@pytest.mark.parametrize(("count", "end"), [(128, 63), (129, 64), (1000, 66), (4096, 63), (6400, 99)])
def test_an_edit_of_a_long_array_names_the_rows_around_it(tmp_path: Path, count: int, end: int) -> None:
    (finding,) = check_after(tmp_path / "t.xlsx", {"n": np.arange(count)}, {"A21": -5})
    assert (finding.severity, finding.location, finding.array) == ("error", "arrays!A20", "n")
    assert finding.message == f"elements were edited between n[0] (A20) and n[{end}] (A{20 + end})"


def test_stretches_that_are_side_by_side_are_one_and_the_last_may_be_short(tmp_path: Path) -> None:
    edits = {f"A{row}": -5 for row in (22 + 63, 22 + 67, 22 + 999)}
    (finding,) = check_after(tmp_path / "t.xlsx", {"n": np.arange(1000).reshape(50, 20)}, edits)
    first = "between n[0, 0] (A22) and n[6, 13] (A155)"  # two stretches of 67
    assert finding.message == f"elements were edited {first}, between n[46, 18] (A960) and n[49, 19] (A1021)"


def test_a_save_with_15_digits_is_a_warning_and_one_with_16_may_be_an_edit(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.xlsx", {"t": random_numbers(300), "n": np.arange(300)}, guard=False)
    (finding,) = sa.check(resave(tmp_path / "t.xlsx", "xlsx", tmp_path / "again"))
    assert (finding.severity, finding.array) == ("warning", "t")
    assert finding.message.startswith("only rounded: re-saved by a program that keeps 15 digits: every number differs")
    assert finding.location == "t"
    with edited_sheet(tmp_path / "t.xlsx"):
        pass
    (finding,) = sa.check(tmp_path / "t.xlsx")
    assert (finding.severity, finding.array) == ("error", "t")
    assert finding.message.endswith("or rounded in another way than to 15 digits, as openpyxl does")


@pytest.mark.parametrize("is_rounded", [False, True])
def test_rows_at_the_end_are_known_and_others_are_not(tmp_path: Path, is_rounded: bool) -> None:
    table = {"t": random_numbers(6) if is_rounded else np.arange(6) / 4, "n": np.arange(6)}
    sa.write(tmp_path / "t.xlsx", table, guard=False)
    path = tmp_path / "t.xlsx"
    if is_rounded:
        path = resave(path, "xlsx", tmp_path / "again")
    with edited_sheet(path) as sheet:
        sheet["A26"], sheet["B26"] = 9.5, 7
    *rounded, finding = sorted(sa.check(path), key=lambda one: one.severity, reverse=True)
    rest = "" if is_rounded else "; the rest exact"
    assert finding.message == f"row 6 appended in 2 arrays (row 26 of the sheet): 't' is 7, 'n' is 7{rest}"
    assert ["keeps 15 digits" in one.message for one in rounded] == [True] * is_rounded
    with edited_sheet(path) as sheet:
        sheet["A21"] = 4.5
    messages = [one.message for one in sa.check(path) if one.severity == "error"]
    doubt = "only a guard can tell which row, and whether elements were edited too: write(.., guard=True) keeps one"
    assert messages == [f"1 row added in 2 arrays, 6 before and 7 now: 't' is 7, 'n' is 7; {doubt}"]


def test_arrays_that_were_renamed_or_exchanged_are_found_by_what_they_hold(tmp_path: Path) -> None:
    arrays = {"a": np.arange(5.0), "b": np.arange(5) + 10, "c": np.arange(5) + 20}
    renamed, *others = check_after(tmp_path / "t.xlsx", arrays, {"A1": "z"})
    assert (renamed.array, renamed.message, others) == ("z", "was written under the name 'a', and renamed since", [])
    exchanged = check_after(tmp_path / "t.xlsx", arrays, {"B1": "c", "C1": "b"})
    assert [one.message.partition(":")[0] for one in exchanged] == ["exchanged with 'b'", "exchanged with 'c'"]


# What is said of an array by its checksums


@pytest.mark.parametrize("blocks", [0, 2, 5, 64])
def test_nothing_is_said_of_an_unchanged_array(blocks: int) -> None:
    arrays = {**dtype_cases(), **shape_cases(), "nan": np.array([1.5, np.nan])}
    said = {name: found for name, array in arrays.items() if (found := findings(array, np.copy, blocks))}
    assert said == {}
    assert not findings(np.array([1.5, np.nan]), lambda buffer: np.array([1.5, -np.nan]))  # a NaN of other bits


@pytest.mark.parametrize("blocks", [0, 5, 64])
def test_a_save_with_15_digits_is_a_warning_that_says_how_far_numbers_may_be_off(blocks: int) -> None:
    array = random_numbers(20, 30) * np.array([float(f"1e{power}") for power in range(-15, 15)])
    (finding,) = findings(array, at_15, blocks)
    assert (finding.severity, finding.location) == ("warning", "t")
    assert finding.message.endswith("keeps 15 digits: every number differs by at most 5e-15, relatively")
    assert np.max(np.abs(at_15(array.ravel()) / array.ravel() - 1)) < 5e-15
    assert 'cells="text"' in finding.hint
    for other in (at_16, at_15_even):
        (finding,) = findings(array, other, blocks)
        assert (finding.severity, "rounded in another way" in finding.message) == ("error", True)
    assert not findings(np.round(random_numbers(500), 4), at_15)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_lost_sign_of_zero_is_rounding(dtype: str) -> None:
    (finding,) = findings(np.array([1.5, -0.0, 2.0], dtype), lambda buffer: buffer + 0.0)
    assert finding.severity == "warning"


def test_generic_numbers_that_were_rounded_are_said() -> None:
    (finding,) = findings(objects("a", 0.1 + 0.2, None), lambda buffer: objects("a", 0.3, None))
    assert finding.message == "only rounded: re-saved by a program that keeps 15 digits"


@pytest.mark.parametrize("blocks", [0, 5, 64])
def test_an_edit_of_any_element_of_any_kind_is_an_error(blocks: int) -> None:
    for name, array in dtype_cases().items():
        for index in range(len(array)) if len(array) > 1 else ():
            edited = array.copy()
            edited[index] = next((one for one in array.tolist() if one != array.tolist()[index]), array[index])
            if edited.tobytes() == array.tobytes() and array.dtype.kind != "O":
                continue
            if array.dtype.kind == "O" and edited.tolist() == array.tolist():
                continue
            found = findings(array, lambda buffer, edited=edited: LinearArray.from_numpy(edited).buffer, blocks)
            assert found, (name, index)


@given(
    st.lists(st.booleans(), min_size=1, max_size=200), st.sets(st.integers(0, 199), min_size=1), st.sampled_from([0, 9])
)
@example([True, True, False], {0, 1, 2}, 0)
@example([True, False, False, True], {0, 1, 2, 3}, 0)
def test_edits_of_a_mask_that_undo_each_other_are_seen(mask: list[bool], edits: set[int], blocks: int) -> None:
    places = [index for index in edits if index < len(mask)]

    def change(buffer: Array) -> Array:
        buffer[places] = ~buffer[places]
        return buffer

    assert [one.severity for one in findings(np.array(mask), change, blocks)] == ["error"] * bool(places)


def test_a_stretch_between_two_that_changed_is_not_named_and_many_are_counted() -> None:
    def change(buffer: Array) -> Array:
        buffer[::200] += 1
        return buffer

    (finding,) = findings(np.arange(3200), change)  # 64 stretches of 50, of which each fourth has changed
    assert finding.message.count("between") == 5
    assert finding.message.endswith(", and at 11 more places")
    (finding,) = findings(np.arange(3200), lambda buffer: buffer + 1)
    assert finding.message == "t: elements were edited throughout the array, in each run of 50"


def test_an_element_that_the_view_skips_is_named_by_its_place_in_the_buffer() -> None:
    linear = LinearArray.from_numpy(np.arange(12.0)[::2], base=True)
    made = take_checksums(linear.buffer, linear.dtype_entry, blocks=4, header=linear.header)
    edited = linear.buffer.copy()
    edited[5] = 99
    (finding,) = compare_with_checksums(made, linear.header, edited, "t", cell)
    assert finding.message.startswith("elements were edited at t, buffer element 5 (B26)")


def test_an_array_without_its_end_or_with_more_at_the_end_says_how_many_elements() -> None:
    (finding,) = findings(np.arange(6), lambda buffer: buffer[:5])
    assert finding.message == "truncated: 5 of 6 elements are left"
    (finding,) = findings(np.arange(6), lambda buffer: np.append(buffer, 7))
    assert finding.message == "1 element more than the 6 that were written"


def test_an_edited_header_is_said() -> None:
    array = random_numbers(2, 3)
    record, linear = remembered(array)
    checksums = Checksums.from_json(record)
    assert checksums is not None
    turned = LinearArray.from_numpy(array.reshape(3, 2)).header
    (finding,) = compare_with_checksums(checksums, turned, linear.buffer, "t", cell)
    assert (finding.severity, finding.location, "shape" in finding.message) == ("error", "t", True)
    narrow = LinearArray.from_numpy(array.astype("f4"))
    (finding,) = compare_with_checksums(checksums, narrow.header, narrow.buffer, "t", cell)
    assert finding.message == "written as float64, and its header says float32 now"


# Digits


def families(count: int) -> Iterator[tuple[str, Array]]:
    rng = np.random.default_rng(20)
    many, fewer = rng.integers(10**15, 10**17, count).tolist(), rng.integers(10**14, 10**15, count).tolist()
    near, far = rng.integers(-40, 20, count).tolist(), rng.integers(-320, 290, count).tolist()
    middle = rng.integers(18 * 10**13, 36 * 10**13, count) * 100.0 + 50
    tens = np.array([float(f"1e{k}") for k in range(-307, 309)])
    twos = np.ldexp(1.0, np.arange(-1074, 1024))
    yield "random bits", rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    yield "uniform", rng.random(count)
    yield "normal", rng.standard_normal(count) * tens[rng.integers(295, 320, count)]
    yield "16 and 17 digits", np.array([float(f"{m}e{e}") for m, e in zip(many, near, strict=True)])
    yield "ties", np.array([float(f"{m}5e{e}") for m, e in zip(fewer, near, strict=True)])
    yield "ties of all sizes", np.array([float(f"{m}5e{e}") for m, e in zip(fewer, far, strict=True)])
    yield "15 digits", np.array([float(f"{m}e{e}") for m, e in zip(fewer, far, strict=True)])
    yield "halfway between two doubles", np.concatenate([np.nextafter(middle, 0), np.nextafter(middle, np.inf)])
    yield "halves and quarters", np.ldexp(rng.integers(0, 2**53, count).astype(float), -rng.integers(0, 60, count))
    yield "ties at 16 digits", rng.integers(1, 2**20, count) / 2**17
    yield "whole numbers", rng.integers(-(2**62), 2**62, count).astype(np.float64)
    yield "subnormal", np.ldexp(rng.integers(1, 2**52, count // 4).astype(float), -1074)
    yield "powers of two", np.concatenate([twos, np.nextafter(twos, 0), np.nextafter(twos, np.inf)])
    yield "powers of ten", np.concatenate([tens, np.nextafter(tens, 0), np.nextafter(tens, np.inf)])
    yield "edges", np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 2.0**-1022, np.finfo(float).max, 1e23, 8e307])


FAMILIES = dict(families(examples(8000)))


def at_fifteen(numbers: Array) -> Array:
    return rounded_hashes(numbers, FLOAT64, exact_hashes(numbers, FLOAT64))


def check_rounding(numbers: Array) -> None:
    """A program that rounds leaves the hash at so many digits, and numbers that it would tell apart have others."""
    left_15 = np.array([rounded(number) for number in numbers.tolist()])
    left_16 = np.array([float(f"{number:.16g}") for number in numbers.tolist()])
    pairs = [
        (left_15, at_fifteen(numbers), at_fifteen(left_15)),
        (left_16, sixteen_hashes(numbers, is_old=False), sixteen_hashes(left_16, is_old=False)),
        (left_16, sixteen_hashes(numbers, is_old=True), sixteen_hashes(left_16, is_old=True)),
    ]
    for place, (left, kept, again) in enumerate(pairs):
        differing = np.flatnonzero(kept != again)
        assert not len(differing), numbers[differing[:5]].tolist()
        if place < 2:  # the old ones take 9.999999999999999 for 10
            assert len(set(kept.tolist())) == len({repr(number + 0.0) for number in left.tolist()})


@pytest.mark.parametrize("family", FAMILIES)
def test_rounding_leaves_the_hash_at_so_many_digits(family: str) -> None:
    check_rounding(FAMILIES[family])
    check_rounding(-FAMILIES[family])


@given(st.lists(st.floats(), min_size=1, max_size=20))
@example([0.15, 4.35, 0.1 + 0.2, 1234567890123455.0, 0.12345678901234565])
@example([9.999999999999995, 999999999999999.9, 9.999999999999999e22, 1e23, 1.79769313486231549e308])
@example([2.0**-97, 2.0**-97 + 2.0**-149, 2.0**-705, 2.0**-788, 2.0**-1017])
@example([20000000000000048.0, 20000000000000052.0, 2251799813685248.5, 4503599627370495.5])
@example([np.nextafter(2.0**119, 0), -np.finfo(float).max])
def test_rounding_leaves_the_hash_of_any_double(numbers: list[float]) -> None:
    check_rounding(np.array(numbers))


def write_numbers(path: Path, numbers: list[float]) -> None:
    """A workbook with one column of numbers, as the shortest text that reads back the same."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("numbers")
    for number in numbers:
        cell = WriteOnlyCell(sheet, 0)
        cell._value = repr(number)  # openpyxl itself would keep 16 digits
        sheet.append([cell])
    book.save(path)


def test_libreoffice_leaves_what_the_hash_at_15_digits_says(tmp_path: Path) -> None:
    numbers = np.concatenate([some[: examples(3000)] for some in FAMILIES.values()])
    numbers = numbers[np.isfinite(numbers) & (np.abs(numbers) < 1.7e308)]
    write_numbers(tmp_path / "numbers.xlsx", numbers.tolist())
    sheet = openpyxl.load_workbook(resave(tmp_path / "numbers.xlsx", "xlsx", tmp_path / "out")).worksheets[0]
    again = np.array([float(cell) for (cell,) in sheet.iter_rows(values_only=True)])
    assert (again != numbers).mean() > 0.5
    differing = np.flatnonzero(at_fifteen(numbers) != at_fifteen(again))
    assert not len(differing), [(numbers[i], again[i]) for i in differing[:5].tolist()]


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=8), min_size=1))
def test_the_width_of_a_string_array_is_no_matter(texts: list[str]) -> None:
    narrow, wide = np.array([*texts, ""]), np.array([*texts, "x" * 70_000 if len(texts) < 3 else "x" * 100])[:-1]
    assert remembered(wide, 2)[0] == remembered(narrow[:-1], 2)[0]


def test_generic_numbers_are_rounded_as_floats_are() -> None:
    generic = dtypes.from_name("generic")
    before = objects(0.1 + 0.2, 2**53 - 1, 2, -0.0, "0.30000000000000004", True, None, "")
    after = objects(0.3, 9007199254740990, 2.0, 0, "0.3", 1, "", None)
    one, other = exact_hashes(before, generic), exact_hashes(after, generic)
    same = (rounded_hashes(before, generic, one) == rounded_hashes(after, generic, other)).tolist()
    assert same == [True, True, True, True, False, False, False, False]
    assert (one == other)[:4].tolist() == [False, False, True, True]


# Records


def test_all_records_of_a_workbook_together_are_short() -> None:
    numbers = random_numbers(5000)
    for arrays in (*range(1, 9), *range(9, 520, 8 * STRIDE)):
        text = json.dumps(remembered(numbers, count_blocks(arrays, 5000))[0], separators=(",", ":"), allow_nan=False)
        assert text.isascii()
        assert len(text) * arrays < 70_000 or not count_blocks(arrays, 5000)
    assert [count_blocks(1, count) for count in (127, 128, 191, 192, 4095, 4096, 10**9)] == [0, 2, 2, 3, 63, 64, 64]


GOLDEN = json.loads(Path(__file__).with_name("golden_checksums.json").read_text())  # of versions 1 to 3
_N = np.arange(1, 301)
# Powers of ten from 1e-11 to 1e11 as they were when the records were made: 10.0**-5 was one bit too large
_TENS = [1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, float.fromhex("0x1.4f8b588e368f0p-17"), 1e-4, 1e-3, 1e-2, 0.1, 1.0]
_TENS += [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11]
_COMPLEX = np.zeros(300, np.complex128)
_COMPLEX.real, _COMPLEX.imag = np.sqrt(_N), 1 / _N
GOLDEN_ARRAYS: dict[str, Any] = {
    "float64": np.sqrt(_N) * np.where(_N % 2, 1, -1) * np.array(_TENS)[_N % 23],
    "float32": np.sqrt(_N).astype("f4"),
    "complex128": _COMPLEX,
    "int64": _N * _N * _N * _N * _N,
    "bool": _N % 3 == 0,
    "string": np.array([f"t{k}" for k in _N.tolist()]),
    "datetime64[D]": np.datetime64("2020-01-01") + _N,
    "generic": np.array([k if k % 2 else k / 7 for k in _N.tolist()], object),
}


@pytest.mark.parametrize("place", range(len(GOLDEN["records"])))
def test_records_that_older_versions_wrote_are_understood(place: int) -> None:
    name, record = GOLDEN["records"][place]
    array = GOLDEN_ARRAYS[name]
    assert said_of(record, array, array) == []
    for index in (0, 17, 299):
        edited = array.copy()
        edited[index] = array[index - 1]
        (finding,) = said_of(record, array, edited)
        assert (finding.severity, "edited" in finding.message) == ("error", True)
        if record["blocks"]:
            first = index // -(-300 // record["blocks"]) * -(-300 // record["blocks"])
            assert finding.location == cell(first)
    (finding,) = said_of(record, array, array[::-1])
    assert finding.severity == "error"
    for digits, rounding in ((15, at_15), (16, at_16)):
        if name == "float64":
            (finding,) = said_of(record, array, rounding(array))
            assert f"re-saved by a program that keeps {digits} digits: every number" in finding.message
            assert finding.severity == "warning"


def test_a_record_of_many_arrays_that_an_older_version_wrote_is_understood() -> None:
    known = read_many(GOLDEN["many"])
    assert list(known) == [f"{name} 0" for name in GOLDEN_ARRAYS]
    for name, array in GOLDEN_ARRAYS.items():
        some = LinearArray.from_numpy(array[:20])

        def said(edited: Any, some: LinearArray = some, name: str = name) -> list[Finding]:
            buffer = LinearArray.from_numpy(edited).buffer
            return list(compare_with_checksums(known[f"{name} 0"], some.header, buffer, "t", cell))

        assert said(array[:20]) == []
        (finding,) = said(np.append(array[:19], array[2:3]))
        assert finding.message.startswith("t: some of its 20 elements were edited")
        if name == "float64":
            assert "keeps 15 digits" in said(at_15(array[:20]))[0].message


# Records that anybody may have made


@pytest.mark.parametrize(
    "record", [None, 3, "x", [], {}, {"v": 1}, {"v": 2}, {"v": 5}, {"v": 1, "dtype": "float64", "count": 5}]
)
def test_what_is_no_record_is_none(record: Any) -> None:
    assert Checksums.from_json(record) is None


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
    samples += [(record, LinearArray.from_numpy(GOLDEN_ARRAYS[name])) for name, record in GOLDEN["records"]]
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
            if isinstance(record.get("v"), int) and record["v"] > 5:
                with pytest.raises(sa.FormatError, match="are of version"):
                    Checksums.from_json(record)
                continue
            checksums = Checksums.from_json(record)
            if checksums is not None:
                found = list(compare_with_checksums(checksums, linear.header, buffer, "t", cell))
                assert len(found) < 3
                assert all(len(str(finding)) < 3000 for finding in found)


@pytest.mark.parametrize("count", [2, 127, 128, 129])
@pytest.mark.parametrize(("factor", "severity"), [(1 + 2e-15, "warning"), (1 + 1.2e-14, "error"), (1 + 1e-12, "error")])
def test_an_edit_counts_as_rounding_as_far_as_15_digits_stay(count, factor, severity, tmp_path):
    array = np.arange(count) + 1.25
    sa.write(path := tmp_path / "t.xlsx", {"t": array}, guard=False)
    book = openpyxl.load_workbook(path)
    last = next(cell for row in book["arrays"].iter_rows() for cell in row if cell.value == array[-1])
    last.value = array[-1] * factor
    book.save(path)
    findings = [finding for finding in sa.check(path) if finding.severity != "info"]
    assert [finding.severity for finding in findings] == [severity]


@pytest.mark.parametrize("count", [3, 127, 128, 1000])
def test_two_elements_that_exchanged_their_places_are_an_edit(count, tmp_path):
    array = np.arange(count) + 0.25
    array[[0, -1]] = array[[-1, 0]]
    sa.write(path := tmp_path / "t.xlsx", {"t": np.sort(array)}, guard=False)
    book = openpyxl.load_workbook(path)
    cells = {cell.value: cell for row in book["arrays"].iter_rows() for cell in row if isinstance(cell.value, float)}
    cells[array[0]].value, cells[array[-1]].value = array[-1], array[0]
    book.save(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]
