"""Dates that a serial number gives back exactly are real dates in a workbook, whatever their unit; others are text."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest
from adapters_deleted import needing

import sheetarray as sa

openpyxl = pytest.importorskip("openpyxl")
pytestmark = needing("xlsx")

EDGES = {  # moment -> whether a serial date gives it back
    "1900-02-28T23:59:59.999": False,
    "1900-03-01T00:00:00.000": True,
    "2026-07-01T12:30:15.001": True,
    "2026-07-01T12:30:15.001001": False,
    "2026-07-01T12:30:15.000999": False,
    "9999-12-31T23:59:59.999": True,
    "9999-12-31T23:59:59.999001": False,
    "10000-01-01T00:00:00.000": False,
    "NaT": False,
}


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_whole_milliseconds_are_real_dates_and_others_text(tmp_path: Path, unit: str) -> None:
    moments = {text: real for text, real in EDGES.items() if unit == "us" or text[:4] not in ("9999", "1000")}
    array = np.array(list(moments), f"M8[{unit}]")
    sa.write(tmp_path / "dates.xlsx", {"t": array})
    back = sa.read(tmp_path / "dates.xlsx")["t"]
    assert (back.dtype, back.tobytes()) == (array.dtype, array.tobytes())
    assert list(sa.check(tmp_path / "dates.xlsx")) == []
    cells = openpyxl.load_workbook(tmp_path / "dates.xlsx").worksheets[0]["A"][-len(array) :]
    assert [isinstance(cell.value, datetime.datetime) for cell in cells] == list(moments.values())


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["2026-07-01", "2026-07-02"], "yyyy-mm-dd"),
        (["2026-07-01T12:30", "2026-07-02"], "yyyy-mm-dd hh:mm"),
        (["2026-07-01T12:30:15", "NaT"], "yyyy-mm-dd hh:mm:ss"),
        (["2026-07-01T12:30:15.5", "2026-07-01T12:30:15.0000005"], "yyyy-mm-dd hh:mm:ss.000"),
    ],
)
def test_a_column_is_shown_as_finely_as_it_needs(tmp_path: Path, texts: list[str], code: str) -> None:
    sa.write(tmp_path / "dates.xlsx", {"t": np.array(texts, "M8[ns]")})
    cell = openpyxl.load_workbook(tmp_path / "dates.xlsx").worksheets[0]["A"][-2]
    assert cell.number_format == code


def test_an_edited_date_is_read_under_its_unit(tmp_path: Path) -> None:
    sa.write(tmp_path / "dates.xlsx", {"t": np.array(["2026-07-01", "2026-07-02"], "M8[ns]")})
    book = openpyxl.load_workbook(tmp_path / "dates.xlsx")
    book.worksheets[0]["A"][-1].value = datetime.datetime(2026, 7, 3, 6)
    book.save(tmp_path / "dates.xlsx")
    assert (
        sa.read(tmp_path / "dates.xlsx")["t"].tolist() == np.array(["2026-07-01", "2026-07-03T06"], "M8[ns]").tolist()
    )
