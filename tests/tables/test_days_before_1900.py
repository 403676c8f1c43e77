"""Numbers with a format of dates that are no dates stay what they are, with a warning, in both systems of dates."""

from __future__ import annotations

import io
import warnings
from typing import Any

import openpyxl
import pytest
from openpyxl.utils.datetime import MAC_EPOCH

import sheetarray as sa


def make_workbook(days: list[float], *, from_1904: bool, names: list[str] | None) -> io.BytesIO:
    """Return a workbook with a column of days, and one of numbers."""
    book = openpyxl.Workbook()
    if from_1904:
        book.epoch = MAC_EPOCH
    sheet = book.active
    for row in [names] * (names is not None) + [[day, index] for index, day in enumerate(days)]:
        sheet.append(row)
    for row in range(1 + (names is not None), sheet.max_row + 1):
        sheet.cell(row, 1).number_format = "yyyy-mm-dd"
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    return file


def read(file: io.BytesIO) -> tuple[dict[str, Any], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(file, format="xlsx")
    return columns, [str(each.message) for each in caught if each.category is sa.SheetArrayWarning]


@pytest.mark.parametrize("from_1904", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize(("day", "text"), [(-5, "-5"), (-0.5, "-0.5"), (-1, "-1")])
def test_a_negative_day_stays_its_number(*, from_1904: bool, place: int, day: float, text: str) -> None:
    days: list[float] = [40000, 40001, 40002]
    days.insert(place, day)
    columns, (told,) = read(make_workbook(days, from_1904=from_1904, names=["day", "n"]))
    assert columns["n"].tolist() == [0, 1, 2, 3]
    assert columns["day"][place] == text
    rest = [value for index, value in enumerate(columns["day"].tolist()) if index != place]
    first = "2013-07-07" if from_1904 else "2009-07-06"
    assert rest[0] == first
    assert f"A{place + 2}" in told
    assert f"{text} has a format of dates and is none" in told


@pytest.mark.parametrize("from_1904", [False, True])
def test_only_negative_days_are_numbers(*, from_1904: bool) -> None:
    columns, (told,) = read(make_workbook([-5, -6, -7], from_1904=from_1904, names=["day", "n"]))
    assert columns["day"].tolist() == [-5, -6, -7]
    assert "the column is numbers (2 more are alike)" in told


@pytest.mark.parametrize(("day", "read_as"), [(0, "00:00:00"), (60, "60"), (2958466, "2958466")])
def test_other_numbers_that_are_no_dates_are_told(day: float, read_as: str) -> None:
    columns, (told,) = read(make_workbook([59, day, 61], from_1904=False, names=["day", "n"]))
    assert columns["day"].tolist() == ["1900-02-28", read_as, "1900-03-01"]
    assert f"read as {read_as!r}" in told


@pytest.mark.parametrize("days", [[0, 0.25, 0.5], [1, 59, 61]])
def test_times_of_day_and_dates_are_not_told(days: list[float]) -> None:
    assert read(make_workbook(days, from_1904=False, names=["day", "n"]))[1] == []


def test_days_from_0_on_are_dates_where_days_are_counted_from_1904() -> None:
    columns, told = read(make_workbook([0, 59, 60], from_1904=True, names=["day", "n"]))
    assert columns["day"].astype(str).tolist() == ["1904-01-01", "1904-02-29", "1904-03-01"]
    assert told == []
