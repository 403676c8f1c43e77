"""Several arrays in a workbook: exchanged, copied, unknown; and very many, whose checksums are taken together."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from excel_packages import lose_record, put_record, record_of, with_parts
from hostile import bounded_memory
from limits import get_limit, set_limits
from mixtures import edited_sheet

import sheetarray as sa
from sheetarray import LinearArray
from sheetarray.sheets.excel.checksums import record as records
from sheetarray.sheets.excel.checksums.record import (
    MOST_TOGETHER,
    Checksums,
    Written,
    count_blocks,
    make_checksums,
    read_many,
    take_checksums,
)
from sheetarray.sheets.excel.package.package import Package
from sheetarray.testing.cases import dtype_cases, shape_cases

MANY = get_limit("full_checksums") + 1


def as_written(arrays: dict[str, Any]) -> dict[str, Written]:
    linear = {name: LinearArray.from_numpy(array) for name, array in arrays.items()}
    return {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in linear.items()}


def workbook(count: int = MANY, size: int = 3) -> dict[str, Any]:
    numbers = np.random.default_rng(count).standard_normal((count, size))
    return {f"a{index}": row for index, row in enumerate(numbers)}


@pytest.mark.parametrize("count", [7, 40, 150, 250, get_limit("full_checksums"), MANY])
def test_records_are_the_same_together_and_one_by_one(count: int) -> None:
    arrays = as_written({**dtype_cases(), **shape_cases()})
    numbers = np.ldexp(np.random.default_rng(1).standard_normal((30, 2000)), np.arange(-450, 450, 30)[:, None])
    arrays |= as_written({f"numbers {index}": row[: 1 + index * 68] for index, row in enumerate(numbers)})
    arrays |= as_written({f"like them {index}": row[: 1 + index * 68] for index, row in enumerate(numbers)})
    arrays |= as_written({"special": np.array([0.0, -0.0, np.nan, np.inf, 5e-324, 1.7976931348623157e308])})
    arrays |= as_written({"most": np.ones(MOST_TOGETHER), "more": np.ones(MOST_TOGETHER + 1)})
    stored = json.loads(json.dumps(make_checksums(arrays, of=count)))
    one_by_one = {name: Checksums.from_json(record) for name, record in stored["arrays"].items()}
    together = one_by_one | (read_many(stored["many"]) if count == MANY else {})
    assert {*together} == {*arrays}
    for name, (buffer, dtype, header) in arrays.items():
        alone = take_checksums(buffer, dtype, blocks=count_blocks(count, len(buffer)), header=header)
        checksums = together[name]
        assert checksums is not None
        assert checksums.to_json() == alone.to_json(), name


@pytest.fixture
def hundred(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Arrays of a workbook that remembers a hundred of them as it would very many."""
    set_limits(monkeypatch, full_checksums=99)
    return workbook(100)


def test_what_became_of_one_of_very_many_arrays_is_said(hundred: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, hundred, guard=False)
    record = record_of(path)
    assert "many" in record["sheets"]["arrays"]
    assert not list(sa.check(path))
    with zipfile.ZipFile(path) as package:
        (sheet,) = (name for name in package.namelist() if name.startswith("xl/worksheets/"))
        xml = package.read(sheet).decode()
    last = max(map(int, re.findall(r'<row r="(\d+)"', xml)))
    edited = re.sub(rf'(<c r="B{last}"[^>t]*><v>)[^<]*', r"\g<1>7.25", xml)
    edited = re.sub(r'(<c r="C\d+"[^>t]*><v>-?\d\.\d{3})\d+', r"\1", edited)
    path.write_bytes(with_parts(path.read_bytes(), {sheet: edited.encode()}))
    said = list(sa.check(path))
    assert [finding.array for finding in said] == ["a1", "a2"]
    assert said[0].message.startswith("a1: some of its 3 elements were edited")


def test_the_record_of_very_many_arrays_takes_few_properties() -> None:
    for count in (MANY, 3 * MANY):
        file = io.BytesIO()
        sa.write(file, workbook(count), format="xlsx")
        assert Package(file.getvalue()).read("docProps/custom.xml").count(b"<property") <= count / 6


def test_accepting_very_many_arrays_remembers_them_in_columns_again(hundred: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, hundred, guard=False)
    before = record_of(path)
    assert "many" in before["sheets"]["arrays"]
    sa.accept(path)
    assert record_of(path) == before
    assert not list(sa.check(path))


# Damaged and hostile -----------------------------------------------------------------------------------------


def damaged(stored: Any, chance: random.Random) -> Any:
    stored = copy.deepcopy(stored)
    key = chance.choice([*stored])
    value = stored[key]
    if isinstance(value, str):
        at = chance.randrange(len(value))
        stored[key] = chance.choice(
            [value[:at], value + "AAAA", value[:at] + chance.choice('A/="\u00e9 ') + value[at + 1 :], None, 5, ""]
        )
    elif isinstance(value, list):
        other = chance.choice([None, "x", -1, 2**70, 1e300, [], ["float64", -1, ""], ["x", 2**60, "y"], [1, 2, 3], {}])
        stored[key] = chance.choice([value[:-1], [*value, other], [other] * len(value), value * 2, None, "x"])
    else:
        stored[key] = chance.choice([0, 2, "1", None, 1.5])
    return stored


def test_damaged_records_of_many_are_a_finding() -> None:
    made = make_checksums(as_written(workbook(5)), of=MANY)["many"]
    for seed in range(60):
        stored = damaged(made, random.Random(seed))
        with contextlib.suppress(sa.FormatError):
            assert all(isinstance(checksums, Checksums) for checksums in read_many(stored).values()), seed


@pytest.mark.parametrize("wrong", [None, [], "x", {}, {"v": 1}, {"v": 2, "names": []}])
def test_a_workbook_with_a_damaged_record_of_many_is_read_and_told(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, {"a": np.arange(3.0)}, guard=False)
    put_record(path, {"sheets": {"arrays": {"many": wrong}}})
    assert sa.read(path)["a"].tolist() == [0, 1, 2]
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location) == ("warning", "custom properties")
    assert "record of many arrays is damaged" in finding.message


def test_a_record_of_many_takes_no_memory_that_it_does_not_fill() -> None:
    stored = make_checksums(as_written(workbook(5)), of=MANY)["many"]
    stored["kinds"] = [["float64", 2**44, ""]] * len(stored["kinds"])
    with bounded_memory():
        assert {checksums.count for checksums in read_many(stored).values()} == {2**44}
    stored["kinds"] = [["float64", 2**44 + 1, ""]] * len(stored["kinds"])
    with pytest.raises(sa.FormatError):
        read_many(stored)


# Several arrays, and arrays of which nothing is known ------------------------------------------------------------


def saved_with(path: Path, how: Callable[[Any], None]) -> list[str]:
    with edited_sheet(path) as sheet:
        how(sheet)
    return [str(finding) for finding in sa.check(path)]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    whole = np.random.default_rng(3).integers(0, 1000, 30)
    sa.write(tmp_path / "x.xlsx", {"a": whole, "b": whole * 2 + 1, "c": whole[:20]}, guard=False)
    return tmp_path / "x.xlsx"


def test_an_array_copied_over_another_is_named(book: Path) -> None:
    def copy(sheet: Any) -> None:
        for row in range(20, 50):
            sheet.cell(row, 1).value = sheet.cell(row, 2).value

    (line,) = saved_with(book, copy)
    assert line.startswith("error: a: has the elements that were written as 'b'")


def test_an_array_of_which_nothing_is_known_beside_others_is_named(book: Path) -> None:
    def add(sheet: Any) -> None:
        for row in range(1, 40):
            sheet.cell(row, 4).value = sheet.cell(row, 3).value
        sheet["D1"].value, sheet["D25"].value = "new", 5000

    result = saved_with(book, add)
    assert [line.split(":")[:3] for line in result] == [
        ["warning", " new", " the workbook has no record of 'new', only of other arrays"]
    ]


def test_a_workbook_without_any_record_is_told_once(book: Path) -> None:
    (finding,) = sa.check(lose_record(book))
    assert (finding.severity, finding.location) == ("warning", None)
    assert finding.message.startswith("the workbook has no record of its arrays")
    assert finding.hint


def test_a_record_of_a_version_to_come_is_named_as_such(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_VERSION", 6)
    sa.write(book, {"a": np.arange(5)}, guard=False)
    (finding,) = sa.check(book)
    assert "are of version 6" in finding.message
    assert "upgrade" in finding.hint


@pytest.fixture
def mixed_book(tmp_path: Path) -> Path:
    sa.write(
        tmp_path / "x.xlsx",
        {
            "f": np.random.default_rng(1).standard_normal(200).round(6),
            "i": np.arange(40) * 7,
            "s": np.array([f"t{k}" for k in range(40)]),
        },
        guard=False,
    )
    return tmp_path / "x.xlsx"


def test_an_array_that_was_deleted_or_renamed_is_missed(mixed_book: Path) -> None:
    result = saved_with(mixed_book, lambda sheet: sheet.delete_cols(2))
    assert any(line.startswith("warning: i: is gone: it was written to the sheet 'arrays'") for line in result)
    result = saved_with(mixed_book, lambda sheet: setattr(sheet["A1"], "value", "temperature"))
    assert [line.partition(": it was")[0].partition(", and")[0] for line in result] == [
        "warning: temperature: was written under the name 'f'",
        "warning: i: is gone",
    ]
    assert list(sa.read(mixed_book)) == ["temperature", "s"]


def test_an_array_that_is_broken_is_not_said_to_be_gone(mixed_book: Path) -> None:
    result = saved_with(mixed_book, lambda sheet: setattr(sheet["B15"], "value", "many"))
    assert any("cell B" in line for line in result)
    assert not any("is gone" in line for line in result)


def test_one_sheet_is_checked_without_the_arrays_of_others(mixed_book: Path) -> None:
    sa.write(mixed_book, {"t": np.arange(3)}, mode="a", sheet="two")
    assert not list(sa.check(mixed_book, sheet="two"))
    assert not list(sa.check(mixed_book))
