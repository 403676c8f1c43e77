"""Dates in bulk: every day that there is, none that there is not, and no crash where NumPy has one."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.cells import cast_dates


def is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("year", [1600, 1900, 2000, 2023, 2024, 9999])
@pytest.mark.parametrize("more", ["", "T23:59:59", " 00:00:00.001"])
def test_days_are_those_of_the_calendar(year: int, more: str) -> None:
    texts = [f"{year}-{month:02}-{day:02}" for month in range(14) for day in range(34)]
    for text in texts:
        rows = np.frombuffer((text + more).encode(), np.uint8)[None, :]
        dates = cast_dates(rows, np.dtype("datetime64[ms]"))
        assert (dates is not None) == is_day(text)
        assert dates is None or dates[0] == np.datetime64(text + more, "ms")
    days = [(text + more).encode() for text in texts if is_day(text)]
    dates = cast_dates(np.frombuffer(b"".join(days), np.uint8).reshape(len(days), -1), np.dtype("datetime64[ms]"))
    assert dates is not None
    assert dates.tolist() == [np.datetime64(text.decode(), "ms").item() for text in days]


@pytest.mark.parametrize(
    ("day", "count"),
    [
        *(("2023-02-29", count) for count in (499, 500, 501, 2_000)),
        *((day, 500) for day in ("2024-13-01", "2024-04-31", "2024-00-10")),
    ],
)
def test_columns_of_days_that_there_are_not(day: str, count: int) -> None:
    table = "\n".join(["d", *["2024-02-29"] * count, day]).encode()
    texts = sa.read_columns(io.BytesIO(table), format="csv")["d"]
    assert texts.tolist() == ["2024-02-29"] * count + [day]
    with pytest.raises(sa.FormatError, match=day):
        sa.read_columns(io.BytesIO(table), format="csv", dtype="datetime64[D]")
    file = io.BytesIO()
    sa.write(file, {"d": np.full(count, "2024-02-29", "datetime64[ms]")}, format="csv")
    wrong = file.getvalue().replace(b"2024-02-29", day.encode())
    with pytest.raises(sa.FormatError, match=day) as raised:
        sa.read(io.BytesIO(wrong), format="csv")
    assert "delimiter" not in str(raised.value)  # the colons are those of a time of day
    assert len(list(sa.check(io.BytesIO(wrong), format="csv"))) > 20
