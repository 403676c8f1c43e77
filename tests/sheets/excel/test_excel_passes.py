"""Passes over the cells of a worksheet: how often it is inflated, what is kept between two of them, threads."""

from __future__ import annotations

import io
import zipfile
from functools import partial
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.sheets.excel.reader import book as books
from sheetarray.sheets.excel.reader import worksheet


@pytest.fixture
def inflations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The worksheets that are inflated, each time that one is."""
    parts: list[str] = []
    inflate = worksheet.part_blocks

    def counted(package: Any, name: str, short: int) -> Any:
        parts.extend([name] if "worksheets" in name else [])
        return inflate(package, name, short)

    monkeypatch.setattr(worksheet, "part_blocks", counted)
    return parts


def book(**arrays: np.ndarray[Any, Any]) -> io.BytesIO:
    file = io.BytesIO()
    sa.write(file, arrays, format="xlsx")
    file.seek(0)
    return file


def doubles(count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).standard_normal(count)


@pytest.mark.parametrize("count", [5, 2_000, 60_000])
def test_a_workbook_is_inflated_once(count: int, inflations: list[str]) -> None:
    arrays = {"x": doubles(count), "y": np.arange(count), "z": doubles(count // 2)}
    file = book(**arrays)
    for name, array in sa.read(file, format="xlsx").items():
        assert array.tobytes() == arrays[name].tobytes()
    assert inflations == ["xl/worksheets/sheet1.xml"]
    inflations.clear()
    file.seek(0)
    assert list(sa.check(file, format="xlsx")) == []
    assert len(inflations) <= 2  # the second time for composites, which are asked for by themselves


def test_a_table_is_inflated_once(inflations: list[str]) -> None:
    from xlsxwriter import Workbook

    values = doubles(40_000).reshape(-1, 4)
    values[7, 1], values[9_000, 2] = -0.0, 2.0**60
    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["a", "b", "c", "d"])
        for number, row in enumerate(values.tolist(), 1):
            sheet.write_row(number, 0, row)
        sheet.write(9_999, 3, "text")
    file.seek(0)
    columns = sa.read_columns(file, format="xlsx")
    assert inflations == ["xl/worksheets/sheet1.xml"]
    assert np.signbit(columns["b"][7])
    assert columns["a"].dtype == columns["b"].dtype == columns["c"].dtype == float
    assert np.allclose(columns["a"], values[:, 0], rtol=1e-15)
    assert columns["d"].dtype.kind in "UT"
    assert columns["d"][9_998] == "text"
    assert float(columns["d"][0]) == pytest.approx(values[0, 3], rel=1e-15)


def test_what_does_not_fit_is_inflated_again(inflations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    array = doubles(60_000)
    file = book(x=array)
    monkeypatch.setattr(books, "Room", lambda: worksheet.Room(100))
    assert sa.read(file, format="xlsx")["x"].tobytes() == array.tobytes()
    assert len(inflations) == 3


def test_a_damaged_part_is_refused_though_all_of_it_was_read_already() -> None:
    content = bytearray(book(x=doubles(60_000)).getvalue())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 300_000
    content[place : place + 8] = bytes(8)
    for function in (sa.read, partial(sa.scan, thorough=True)):
        with pytest.raises(
            sa.FormatError, match=r"damaged|checksum|XML|breaks off|ends|inflates to more|value|reference|cell"
        ):
            function(io.BytesIO(content), format="xlsx")
