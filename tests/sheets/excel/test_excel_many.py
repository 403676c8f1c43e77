"""Very many arrays in a workbook: fingerprints that are taken together and stored in columns."""

from __future__ import annotations

import base64
import contextlib
import copy
import io
import json
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from cases import dtype_cases, shape_cases
from excel_packages import with_parts
from hostile import bounded_memory

import sheetarray as sa
from sheetarray.linear import LinearArray
from sheetarray.sheets.excel.fingerprint import many
from sheetarray.sheets.excel.fingerprint.maker import make_fingerprint, max_blocks
from sheetarray.sheets.excel.fingerprint.many import MOST_IN_FULL, MOST_TOGETHER, Written, make_fingerprints, read_many
from sheetarray.sheets.excel.fingerprint.record import Fingerprint
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import merge_properties, read_properties, read_record
from sheetarray.sheets.excel.reader import short_columns
from sheetarray.sheets.excel.reader.column import to_numbers

CUSTOM = "docProps/custom.xml"
MANY = MOST_IN_FULL + 1


def as_written(arrays: dict[str, Any]) -> dict[str, Written]:
    linear = {name: LinearArray.from_numpy(array) for name, array in arrays.items()}
    return {name: Written(array.buffer, array.dtype_entry, array.header) for name, array in linear.items()}


def plain(fingerprint: Fingerprint | None) -> dict[str, Any]:
    assert fingerprint is not None
    return fingerprint.to_json()


def workbook(count: int = MANY, size: int = 3) -> dict[str, Any]:
    numbers = np.random.default_rng(count).standard_normal((count, size))
    return {f"a{index}": row for index, row in enumerate(numbers)}


def test_taken_together_they_are_what_they_are_one_by_one() -> None:
    some = {**dtype_cases(), **shape_cases()}
    arrays = as_written({f"{name} {copy}": array for copy in range(3) for name, array in some.items()})
    numbers = np.random.default_rng(1).standard_normal((50, 2000)) * 10.0 ** np.arange(-150, 150, 6)[:, None]
    arrays |= as_written({f"numbers {index}": row[: 1 + index * 40] for index, row in enumerate(numbers)})
    arrays |= as_written({"special": np.array([0.0, -0.0, np.nan, np.inf, 5e-324, 1.7976931348623157e308])})
    record = json.loads(json.dumps(make_fingerprints(arrays, of=MANY)))
    together = read_many(record["many"])
    assert list(together) == [name for name, array in arrays.items() if 0 < len(array.buffer) <= MOST_TOGETHER]
    assert {*together, *record["arrays"]} == {*arrays}
    for name, (buffer, dtype, header) in arrays.items():
        alone = make_fingerprint(buffer, dtype, blocks=0, header=header, lean=True)
        assert plain(together.get(name) or Fingerprint.from_json(record["arrays"][name])) == alone, name


@pytest.mark.parametrize("count", [7, 40, 150, 250, MOST_IN_FULL])
def test_records_in_full_are_the_same_together_and_one_by_one(count: int) -> None:
    arrays = as_written({**dtype_cases(), **shape_cases()})
    numbers = np.random.default_rng(1).standard_normal((30, 2000)) * 10.0 ** np.arange(-150, 150, 10)[:, None]
    arrays |= as_written({f"numbers {index}": row[: 1 + index * 68] for index, row in enumerate(numbers)})
    arrays |= as_written({f"decimals {index}": np.round(numbers[15, :20], index) for index in range(20)})
    arrays |= as_written({f"large {index}": numbers[index + 10, :9] * 1e15 for index in range(9)})
    arrays |= as_written({"special": np.array([0.0, -0.0, np.nan, np.inf, 5e-324, 1.7976931348623157e308])})
    arrays |= as_written({"most": np.ones(MOST_TOGETHER), "more": np.ones(MOST_TOGETHER + 1)})
    together = make_fingerprints(arrays, of=count)["arrays"]
    assert list(together) == list(arrays)
    for name, (buffer, dtype, header) in arrays.items():
        alone = make_fingerprint(buffer, dtype, blocks=max_blocks(count), header=header)
        one, other = (record.pop("moments", None) for record in (together[name], alone))
        assert together[name] == alone, name
        assert (one is None) == (other is None), name
        if one is not None:  # sums of doubles, in another order
            with np.errstate(over="ignore"):
                sizes = (
                    np.abs(buffer[np.isfinite(buffer)].astype(float)).sum() if buffer.dtype.kind in "fiu" else np.inf
                )
            first, second = (np.frombuffer(base64.b64decode(text + "="), "<f8") for text in (one, other))
            assert not np.isfinite(sizes) or (np.abs(first - second) <= 1e-12 * sizes).all(), name


def test_a_few_arrays_and_long_ones_have_records_of_their_own() -> None:
    arrays = as_written({"empty": np.zeros(0), "short": np.zeros(MOST_TOGETHER), "long": np.zeros(MOST_TOGETHER + 1)})
    assert "many" not in make_fingerprints(arrays, of=MOST_IN_FULL)
    record = make_fingerprints(arrays, of=MOST_IN_FULL + 1)
    assert [*record["arrays"]] == ["empty", "long"]
    assert record["many"]["names"] == ["short"]


@pytest.fixture
def hundred(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Arrays of a workbook that remembers a hundred of them as it would very many."""
    monkeypatch.setattr(many, "MOST_IN_FULL", 99)
    monkeypatch.setattr(many, "max_blocks", lambda count: max_blocks(10 * count))
    return workbook(100)


def test_what_became_of_one_of_very_many_arrays_is_said_as_by_older_records(
    hundred: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for most in (MOST_TOGETHER, 0):
        monkeypatch.setattr(many, "MOST_TOGETHER", most)
        path = tmp_path / f"{most}.xlsx"
        sa.write(path, hundred)
        record = read_record(Package(path.read_bytes()))
        assert record is not None
        assert ("many" in record["sheets"]["arrays"]) == (most > 0)
        assert not list(sa.check(path))
        with zipfile.ZipFile(path) as package:
            (sheet,) = (name for name in package.namelist() if name.startswith("xl/worksheets/"))
            xml = package.read(sheet).decode()
        last = max(map(int, re.findall(r'<row r="(\d+)"', xml)))
        edited = re.sub(rf'(<c r="B{last}"><v>)[^<]*', r"\g<1>7.25", xml)
        edited = re.sub(r'(<c r="C\d+"><v>-?\d\.\d{3})\d+', r"\1", edited)
        path.write_bytes(with_parts(path.read_bytes(), {sheet: edited.encode()}))
        said.append(list(sa.check(path)))
    assert said[0] == said[1]
    assert any(finding.location == f"arrays!B{last}" and "was edited" in finding.message for finding in said[0])


def test_an_exchange_and_a_missing_array_are_said_of_very_many(hundred: dict[str, Any], tmp_path: Path) -> None:
    path, arrays = tmp_path / "many.xlsx", hundred
    sa.write(path, arrays)
    record = read_record(Package(path.read_bytes()))
    assert record is not None
    arrays["a1"], arrays["a2"] = arrays["a2"], arrays["a1"]
    del arrays["a5"]
    sa.write(path, arrays)
    content = path.read_bytes()
    part = merge_properties(Package(content).read(CUSTOM), record, location=CUSTOM)
    path.write_bytes(with_parts(content, {CUSTOM: part}))
    messages = {(finding.array or finding.location): finding.message for finding in sa.check(path)}
    assert "exchanged with 'a2'" in messages["a1"]
    assert "exchanged with 'a1'" in messages["a2"]
    assert "is gone" in messages["a5"]
    assert len(messages) == 3


def test_openpyxl_keeps_the_record_of_very_many_arrays(hundred: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, {name: array.round(3) for name, array in hundred.items()})  # it keeps 16 digits
    before = read_record(Package(path.read_bytes()))
    assert before is not None
    assert "many" in before["sheets"]["arrays"]
    book = openpyxl.load_workbook(path)
    book.save(path)
    assert read_record(Package(path.read_bytes())) == before
    assert not list(sa.check(path))


def test_the_record_of_very_many_arrays_takes_few_properties() -> None:
    for count in (MANY, 3 * MANY):
        file = io.BytesIO()
        sa.write(file, workbook(count), format="xlsx")
        assert len(read_properties(Package(file.getvalue()))) <= count / 6


def test_adopting_very_many_arrays_remembers_them_in_columns_again(hundred: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, hundred)
    before = read_record(Package(path.read_bytes()))
    assert before is not None
    assert "many" in before["sheets"]["arrays"]
    sa.adopt(path)
    assert read_record(Package(path.read_bytes())) == before
    assert not list(sa.check(path))


# Reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "size", "most"), [(7, 3, 0), (8, 3, 1), (40, 10, 1), (40, 11, 0), (40, 0, 0)])
def test_short_columns_of_one_dtype_are_converted_together(
    count: int, size: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def counted(run: Any, dtype: Any, **options: Any) -> Any:
        calls.append(len(run))
        return to_numbers(run, dtype, **options)

    monkeypatch.setattr(short_columns, "to_numbers", counted)
    monkeypatch.setattr(short_columns, "LONGEST", 10)
    arrays = workbook(count, size) | {f"i{index}": np.arange(index, index + 3) for index in range(20)}
    file = io.BytesIO()
    sa.write(file, arrays, format="xlsx")
    result = sa.read(io.BytesIO(file.getvalue()), format="xlsx")
    assert list(result) == list(arrays)
    assert len(calls) == most + 1
    for name, array in arrays.items():
        assert result[name].dtype == array.dtype
        assert result[name].tobytes() == array.tobytes(), name
        assert result[name].base is None or result[name].base.nbytes == array.nbytes


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "x", "", "1e999", "0.1"])
def test_one_column_in_doubt_among_very_many_is_read_as_ever(odd: str) -> None:
    file = io.BytesIO()
    sa.write(file, workbook(40), format="xlsx")
    book = openpyxl.load_workbook(io.BytesIO(file.getvalue()))
    book["arrays"].cell(book["arrays"].max_row, 20).value = odd or None
    book.save(file := io.BytesIO())
    if odd in ("x", "", "1e999"):
        with pytest.raises(sa.FormatError, match=r"a19|T") as caught:
            sa.read(io.BytesIO(file.getvalue()), format="xlsx")
        assert "T" in str(caught.value.location)
        return
    result = sa.read(io.BytesIO(file.getvalue()), format="xlsx")
    np.testing.assert_array_equal(result["a19"][2], float(odd))
    assert all(np.isfinite(array).all() for name, array in result.items() if name != "a19")


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
    made = make_fingerprints(as_written(workbook(5)), of=MANY)["many"]
    for seed in range(60):
        stored = damaged(made, random.Random(seed))
        with contextlib.suppress(sa.FormatError):
            assert all(isinstance(fingerprint, Fingerprint) for fingerprint in read_many(stored).values()), seed


@pytest.mark.parametrize("wrong", [None, [], "x", {}, {"v": 1}, {"v": 2, "names": []}])
def test_a_workbook_with_a_damaged_record_of_many_is_read_and_told(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "many.xlsx"
    sa.write(path, {"a": np.arange(3.0)})
    content = path.read_bytes()
    record = {"sheets": {"arrays": {"many": wrong}}}
    part = merge_properties(Package(content).read(CUSTOM), record, location=CUSTOM)
    path.write_bytes(with_parts(content, {CUSTOM: part}))
    assert sa.read(path)["a"].tolist() == [0, 1, 2]
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location) == ("warning", "custom properties")
    assert "record of many arrays is damaged" in finding.message


def test_a_record_of_many_takes_no_memory_that_it_does_not_fill() -> None:
    stored = make_fingerprints(as_written(workbook(5)), of=MANY)["many"]
    stored["kinds"] = [["float64", 2**44, ""]] * len(stored["kinds"])
    with bounded_memory():
        assert {fingerprint.count for fingerprint in read_many(stored).values()} == {2**44}
    stored["kinds"] = [["float64", 2**44 + 1, ""]] * len(stored["kinds"])
    with pytest.raises(sa.FormatError):
        read_many(stored)
