"""Workbooks of ours as others read them: openpyxl, python-calamine, SheetJS, exceljs and LibreOffice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import examples
from limits import set_limits
from programs import read_by_node, resave

import sheetarray as sa
from sheetarray.testing.cases import CASES, assert_same

Cells = list[Any]
ARRAYS = {f"n{index} {case}": array for index, (case, array) in enumerate(CASES.items()) if array.dtype.kind != "O"}


def _openpyxl(path: Path) -> list[Cells]:
    sheet = openpyxl.load_workbook(path)["arrays"]
    assert not any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)
    return [[_unescaped(value) for value in column] for column in sheet.iter_cols(values_only=True)]


def _unescaped(value: Any) -> Any:
    """openpyxl and exceljs leave the escapes of characters that XML lacks to their caller."""
    return openpyxl.utils.escape.unescape(value) if isinstance(value, str) else value


def _openpyxl_read_only(path: Path) -> list[Cells]:
    book = openpyxl.load_workbook(path, read_only=True)
    rows = [[_unescaped(value) for value in row] for row in book["arrays"].iter_rows(values_only=True)]
    book.close()
    return list(map(list, zip_longest(*rows)))


def _calamine(path: Path) -> list[Cells]:
    import python_calamine

    return list(map(list, zip_longest(*python_calamine.load_workbook(path).get_sheet_by_index(0).to_python())))


def _sheetjs(path: Path) -> list[Cells]:
    return list(map(list, zip_longest(*read_by_node("sheetjs", path)["arrays"])))


def _exceljs(path: Path) -> list[Cells]:
    rows = [[_unescaped(value) for value in row] for row in read_by_node("exceljs", path)["arrays"]]
    return list(map(list, zip_longest(*rows)))


READERS = [_openpyxl, _openpyxl_read_only, _calamine, _sheetjs, _exceljs]


@pytest.fixture(scope="module")
def workbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readers") / "all.xlsx"
    random, count = np.random.default_rng(0), examples(20_000)
    bits = random.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    normal = random.standard_normal(count)
    for name, numbers in (("bits", bits), ("normal", normal)):  # in columns of a length, of which readers make a block
        ARRAYS.update({f"{name} {index}": part for index, part in enumerate(numbers.reshape(10, -1))})
    sa.write(path, ARRAYS, dates="text")  # dates as each package shows them are no cells of a flat list
    return path


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__.strip("_"))
def test_other_readers_find_every_element_bit_for_bit(workbook: Path, read: Callable[[Path], list[Cells]]) -> None:
    columns = read(workbook)
    assert len(columns) == len(ARRAYS)
    for cells, (name, array) in zip(columns, ARRAYS.items(), strict=True):
        assert cells[0] == name
        result = sa.from_linear([None if cell == "" else cell for cell in cells[1:]])
        assert_same(result, array)


# LibreOffice -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_libreoffice_keeps_text_and_rounds_numbers_to_fifteen_digits_and_check_says_so(
    tmp_path: Path, suffix: str
) -> None:
    random = np.random.default_rng(1)
    arrays = {
        "f": random.standard_normal((50, 40)),
        "g": random.integers(-1000, 1000, 500),
        "big": np.array([2**63 - 1, 10**15, 10**15 - 1]),
        "c": random.standard_normal(200).view(np.complex128),
        "d": np.array(["2026-01-05T12:00", "NaT"], dtype="datetime64[s]"),
        "s": np.array(["007", "=1+1", "TRUE", " padded ", "1+2i", "ü", "a\nb", "NaN"]),
        "b": np.array([True, False, True]),
        "n": np.array([np.nan, np.inf, -np.inf, 0.5]),
    }
    path = tmp_path / "x.xlsx"
    sa.write(path, arrays)
    saved = resave(path, suffix, tmp_path / "saved")
    result = sa.read(saved)
    assert list(result) == list(arrays)
    for name, array in arrays.items():
        if name != "f":
            assert_same(result[name], array)
    error = np.abs(result["f"] / arrays["f"] - 1).max()
    assert 0 < error <= 5.2e-15
    (finding,) = sa.check(saved)
    assert finding.severity == "warning"
    assert "15 digits" in finding.message
    assert "f" in finding.message
    assert list(sa.check(path)) == []


@pytest.mark.slow
def test_text_cells_survive_libreoffice_bit_for_bit(tmp_path: Path) -> None:
    arrays = {
        "f": np.random.default_rng(1).standard_normal((50, 40)),
        "i": np.array([2**62, -1]),
        "b": np.array([True]),
    }
    path = tmp_path / "x.xlsx"
    sa.write(path, arrays, cells="text")
    for suffix in ("xlsx", "ods"):
        saved = resave(path, suffix, tmp_path / "saved")
        for name, array in sa.read(saved).items():
            assert_same(array, arrays[name])
        assert list(sa.check(saved)) == []


@pytest.mark.slow
def test_libreoffice_computes_over_the_names_of_arrays_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, worksheet_rows=60, worksheet_columns=4)
    arrays = {"long": np.arange(100.0), "longer": np.arange(150.0) / 8}
    path = tmp_path / "x.xlsx"
    sa.write(path, arrays)
    book = openpyxl.load_workbook(path)
    assert {name: len(list(defined.destinations)) for name, defined in book.defined_names.items()} == {
        "long": 3,
        "longer_1": 1,
        "longer_2": 3,
    }
    sheet = book.create_sheet("sums", 0)
    sheet.append(["=SUM(long)", "=SUM(longer_1,longer_2)"])
    book.save(path)
    saved = resave(path, "csv", tmp_path / "saved").read_text("utf-8")
    assert list(map(float, saved.split(","))) == [array.sum() for array in arrays.values()]
