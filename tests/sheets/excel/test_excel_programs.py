"""What `check` says after real programs saved a workbook of ours again, with an edit and without."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from children import run_limited
from examples import cross, examples
from excel_packages import parts, record_of, rich, with_parts
from limits import set_limits
from mixtures import edit_cells
from programs import read_by_node, resave, resave_by_node, schema_errors

import sheetarray as sa
from sheetarray.testing.cases import CASES, assert_same, dtype_cases, shape_cases

RANDOM = np.random.default_rng(11)
ARRAYS = {
    "f": RANDOM.standard_normal(200)
    * np.array([float(f"1e{power}") for power in RANDOM.integers(-4, 9, 200).tolist()]),
    "i": RANDOM.integers(-(10**9), 10**9, 100),
    "s": np.array([f"t{number}" for number in range(50)]),
    "d": np.datetime64("2020-01-01") + np.arange(50),
}
EDITED = "A70"  # f[50], below the name and 18 cells of the header


def by_openpyxl(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    return edit_cells(path, edits, target=folder / "openpyxl.xlsx")


def by_pandas(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    frame = pd.read_excel(path, header=None, dtype=object, engine="openpyxl")
    for cell, value in edits.items():
        frame.iloc[int(cell[1:]) - 1, 0] = value
    frame.to_excel(folder / "pandas.xlsx", header=False, index=False)
    return folder / "pandas.xlsx"


def by_sheetjs(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    return resave_by_node("sheetjs", path, folder / "sheetjs.xlsx", edits)


def by_exceljs(path: Path, folder: Path, edits: dict[str, float]) -> Path:
    return resave_by_node("exceljs", path, folder / "exceljs.xlsx", edits)


def by_libreoffice(suffix: str) -> Callable[[Path, Path, dict[str, float]], Path]:
    def save(path: Path, folder: Path, edits: dict[str, float]) -> Path:
        if edits:  # LibreOffice saves what SheetJS, which keeps every digit, has edited
            path = by_sheetjs(path, folder, edits)
        return resave(path, suffix, folder / suffix)

    return save


# by program: whether it keeps the record, whether it keeps the guard, and what the only finding says of rounding
KEEPS: dict[str, tuple[Callable[[Path, Path, dict[str, float]], Path], bool, bool, str]] = {
    "openpyxl": (by_openpyxl, True, True, "or rounded in another way than to 15 digits"),
    "pandas": (by_pandas, False, False, ""),
    "sheetjs": (by_sheetjs, True, True, ""),
    "exceljs": (by_exceljs, False, True, ""),
    "libreoffice xlsx": (by_libreoffice("xlsx"), True, True, "keeps 15 digits: every number differs by at most"),
    "libreoffice ods": (by_libreoffice("ods"), True, True, "keeps 15 digits: every number differs by at most"),
    "libreoffice xls": (by_libreoffice("xls"), False, True, ""),
}


@pytest.fixture(scope="module", params=[True, False], ids=["guard", "checksums"])
def book(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    path = tmp_path_factory.mktemp("book") / f"{'guarded' if request.param else 'plain'}.xlsx"
    sa.write(path, ARRAYS, guard=request.param)
    assert sa.scan(path)["f"].capacity == 200
    return path


def findings(path: Path) -> list[Any]:
    return list(sa.check(path))


@pytest.mark.slow
@pytest.mark.parametrize("program", KEEPS)
def test_a_program_that_saved_a_workbook_without_an_edit(program: str, book: Path, tmp_path: Path) -> None:
    save, has_record, has_guard, rounding = KEEPS[program]
    result = findings(save(book, tmp_path, {}))
    if book.stem == "guarded" and has_guard:
        assert not result
    elif not has_record:
        assert [finding.location for finding in result] == [None]
        assert "the workbook has no record of its arrays" in result[0].message
    elif rounding:
        assert [finding.array for finding in result] == ["f"]
        assert rounding in result[0].message
        assert result[0].severity == ("error" if program == "openpyxl" else "warning")
    else:
        assert not result


@pytest.mark.slow
@pytest.mark.parametrize(("program", "size"), cross(KEEPS, ["1e-9", "0.5"], "1e-9"))  # a small edit is hard to see
def test_a_program_that_saved_a_workbook_with_an_edit(program: str, size: str, book: Path, tmp_path: Path) -> None:
    save, has_record, has_guard, _ = KEEPS[program]
    result = findings(save(book, tmp_path, {EDITED: float(ARRAYS["f"][50]) * (1 + float(size))}))
    errors = [finding for finding in result if finding.severity == "error"]
    if book.stem == "guarded" and has_guard:
        assert [finding.location for finding in errors] == [f"arrays!{EDITED}"]
        assert errors[0].message.startswith("f[50]")
    elif has_record:
        (error,) = errors
        assert error.array == "f"
        stretches = "elements were edited between f[0] (A20) and f[66] (A86)"
        assert error.message.startswith(
            ("f: elements were edited", "elements were edited") if program == "openpyxl" else stretches
        )
    else:
        assert not errors
        assert "cannot be found" in result[0].message


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 1e-9])
def test_two_programs_one_after_the_other(size: float, book: Path, tmp_path: Path) -> None:
    edits = {EDITED: float(ARRAYS["f"][50]) * (1 + size)} if size else {}
    saved = by_libreoffice("xlsx")(by_openpyxl(book, tmp_path, edits), tmp_path, {})
    result = findings(saved)
    if book.stem == "guarded":
        assert [finding.location for finding in result] == [f"arrays!{EDITED}"] * bool(size)
    else:
        assert [(finding.severity, finding.array) for finding in result] == [("error", "f")]
    again = by_sheetjs(saved, tmp_path, {})
    assert [finding.message for finding in findings(again)] == [finding.message for finding in result]


# Numbers of any size --------------------------------------------------------------------------------------------

WIDE = RANDOM.standard_normal(100) * np.array([float(f"1e{power}") for power in RANDOM.integers(-14, 9, 100).tolist()])
WIDE[:12] = 1e-300, 1e300, 5e-324, -2.5e-310, -0.0, 0.0, -1e-7, 1e-20, 4e-21, -1.7976931348623157e308, 1e-5, 9.99e-6
SIZES = {"small": WIDE[12:], "wide": WIDE, "few": np.array([1.5, 1e-300, 2.0]), "tiny": WIDE[12:] * 1e-8}


@pytest.mark.slow
@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_numbers_of_any_size_that_libreoffice_rounded(suffix: str, guard: bool, tmp_path: Path) -> None:
    """Checksums are of 15 digits, and .ods has 20 decimals: only a guard tells its rounding of small numbers."""
    sa.write(tmp_path / "wide.xlsx", SIZES, guard=guard)
    result = findings(resave(tmp_path / "wide.xlsx", suffix, tmp_path / "again"))
    expected = {} if guard else dict.fromkeys(("small", "wide", "tiny"), "error" if suffix == "ods" else "warning")
    assert {finding.array: finding.severity for finding in result} == expected


@pytest.mark.slow
def test_an_edit_beside_numbers_that_lost_digits_is_named(tmp_path: Path) -> None:
    sa.write(tmp_path / "wide.xlsx", {"f": SIZES["small"]})
    place = int(np.argmax(np.abs(SIZES["small"])))
    content = (tmp_path / "wide.xlsx").read_bytes()
    xml = parts(content)[(part := "xl/worksheets/sheet1.xml")].decode()
    xml = re.sub(f'(<c r="A{20 + place}"[^>]*>)<v>[^<]*', r"\1<v>3.75", xml)
    edited = tmp_path / "edited.xlsx"
    edited.write_bytes(with_parts(content, {part: xml.encode()}))
    result = findings(resave(edited, "ods", tmp_path / "again"))
    assert [finding.location for finding in result] == [f"arrays!A{20 + place}"]


# New and extended workbooks under the Open XML SDK's validator, which knows the schemas that Excel opens files by ---


@pytest.mark.parametrize(("suffix", "cells"), [("xlsx", "numeric"), ("xlsm", "text")])
def test_a_new_workbook_of_every_dtype_and_shape_is_valid(tmp_path: Path, suffix: str, cells: str) -> None:
    path = tmp_path / f"x.{suffix}"
    sa.write(path, {**dtype_cases(), **shape_cases(), "A1": np.zeros(2), 'q"<&>': np.ones(1)}, cells=cells)
    assert not schema_errors(path)


def test_many_arrays_sheets_and_parts_are_valid_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_rows=40, worksheet_columns=50, full_checksums=100)
    arrays = {f"t {number}": np.linspace(0, 1, 50 if number < 6 else 2) for number in range(150)}
    sa.write(tmp_path / "x.xlsx", arrays, sheet="Größe & <co>")
    assert len(openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames) > 3
    assert "many" in next(iter(record_of(tmp_path / "x.xlsx")["sheets"].values()))
    assert not schema_errors(tmp_path / "x.xlsx")
    result = sa.read(tmp_path / "x.xlsx")
    assert list(result) == list(arrays)
    for name, array in arrays.items():
        assert_same(result[name], array)
    assert list(sa.check(tmp_path / "x.xlsx")) == []


def original(kind: str, folder: Path) -> Path:
    """A workbook that another program made."""
    path = folder / f"{kind}.xlsx"
    match kind:
        case "openpyxl":
            book = openpyxl.Workbook()
            book.active["B2"] = "text"
            book.save(path)
        case "rich":
            path.write_bytes(rich())
        case "libreoffice":
            return resave(original("openpyxl", folder), "xlsx", folder / "saved")
        case _:
            sa.write(path, {"first": np.arange(4.0)}, sheet="one")
    return path


@pytest.mark.parametrize("kind", ["openpyxl", "rich", "libreoffice", "ours"])
def test_sheets_put_into_a_workbook_bring_no_error_that_was_not_in_it(tmp_path: Path, kind: str) -> None:
    path = original(kind, tmp_path)
    before = shutil.copy(path, tmp_path / "before.xlsx")
    arrays = dtype_cases()
    sa.write(
        path, {name: arrays[name] for name in list(arrays)[:: 1 if kind == "rich" else 5]}, mode="a", sheet="of dtypes"
    )
    sa.write(path, {"r": np.arange(3)}, mode="a", sheet="to be replaced")
    sa.write(path, {"t": np.arange(5.0)}, mode="a", sheet="to be replaced", if_sheet_exists="replace")
    errors = set(schema_errors(path))
    assert not errors or errors <= set(schema_errors(before))
    assert sa.read(path, ["t"])["t"].tolist() == [0, 1, 2, 3, 4]


def test_writing_imports_no_other_library_of_workbooks(tmp_path: Path) -> None:
    code = """
    import sys, numpy as np, sheetarray as sa
    for mode in ("w", "a"):
        sa.write(sys.argv[1], {"t": np.arange(3.5)}, mode=mode, sheet=mode)
    assert not {"openpyxl", "xlsxwriter"} & set(sys.modules)
    """
    run_limited(code, tmp_path / "x.xlsx")


# Workbooks of ours as others read them ------------------------------------------------------------------------

Cells = list[Any]
READ_ARRAYS = {
    f"n{index} {case}": array for index, (case, array) in enumerate(CASES.items()) if array.dtype.kind != "O"
}


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
        READ_ARRAYS.update({f"{name} {index}": part for index, part in enumerate(numbers.reshape(10, -1))})
    sa.write(path, READ_ARRAYS, dates="text")  # dates as each package shows them are no cells of a flat list
    return path


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__.strip("_"))
def test_other_readers_find_every_element_bit_for_bit(workbook: Path, read: Callable[[Path], list[Cells]]) -> None:
    columns = read(workbook)
    assert len(columns) == len(READ_ARRAYS)
    for cells, (name, array) in zip(columns, READ_ARRAYS.items(), strict=True):
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
    sa.write(path, arrays, guard=False)
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
