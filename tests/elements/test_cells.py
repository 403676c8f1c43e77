"""What is written in bulk looks as the contract says; `test_scalar_and_bulk` holds it against single cells."""

from __future__ import annotations

import datetime
import io
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray import DTypeError, dtypes
from sheetarray.elements import (
    TextLook,
    buffer_from_text,
    buffer_from_typed,
    buffer_to_text,
    cast_dates,
    generic_from_text,
    generic_to_text,
)
from sheetarray.elements.engine import _MANY


def _texts(array: Any, **look: Any) -> list[str | None]:
    return (
        buffer_to_text(np.array(array), dtypes.from_numpy(np.array(array).dtype), TextLook(**look))
        .cast(pl.String)
        .to_list()
    )


@pytest.mark.parametrize("byte", [2, 255])
def test_booleans_of_other_bytes_are_still_true(byte: int) -> None:
    array = np.array([0, byte, 1], dtype=np.uint8).view(bool)
    assert _texts(array) == ["FALSE", "TRUE", "TRUE"]


def test_a_typed_column_is_given_up_at_the_slightest_doubt() -> None:
    dtype = dtypes.from_name("float64")
    assert buffer_from_typed(pl.Series([1.0, None]), dtype) is None
    assert buffer_from_typed(pl.Series([1.0, float("inf")]), dtype) is None
    assert buffer_from_typed(pl.Series(["1.0"]), dtype) is None
    result = buffer_from_typed(pl.Series([1.0, float("nan")]), dtype)
    assert result is not None
    assert result.flags.writeable


# Many rows are shared out among the cores ------------------------------------------------------------------------


@pytest.mark.parametrize("count", [_MANY - 1, _MANY, _MANY + 1])
def test_cells_of_many_rows_keep_their_order(count: int) -> None:
    waves = np.arange(2.0 * count).view(np.complex128) * (0.1 - 1e-17j)
    waves[[0, -1, count // 2]] = [complex(np.inf, -0.0), complex(np.nan, -np.inf), 3]
    dates = (np.arange(count) * 86_399_999).astype("datetime64[ms]")
    dates[5] = "NaT"
    for array, dtype in ((waves, "complex128"), (dates, "datetime64[ms]")):
        entry = dtypes.from_name(dtype)
        texts = buffer_to_text(array, entry, TextLook())
        few = [buffer_to_text(array[index : index + 1], entry, TextLook())[0] for index in range(0, count, count // 50)]
        assert texts.gather_every(count // 50).to_list() == few
        values, problems = buffer_from_text(texts, entry, TextLook())
        assert values.tobytes() == array.tobytes()
        assert not problems


@given(st.text("-+.,019eE'tTrRuUfFaAlLsS =", max_size=6))
def test_text_is_never_taken_for_another_kind_whatever_it_begins_with(text: str) -> None:
    for formulas in ("escape", "typed"):
        cell = generic_to_text(text, formulas=formulas)
        assert generic_from_text(cell, formulas=formulas) == text


@pytest.mark.parametrize("distinct", [1, 4, 5, 9, 10])
def test_generic_elements_are_alike_however_often_they_occur(distinct: int) -> None:
    cells = [["1", "1.0", "TRUE", "'1", "x", "'TRUE", "", "-0.0", "'x", "2"][index % distinct] for index in range(10)]
    buffer, problems = buffer_from_text(pl.Series(cells), dtypes.from_name("generic"), TextLook())
    assert [(type(cell), repr(cell)) for cell in buffer] == [
        (type(cell), repr(cell)) for cell in (generic_from_text(text, formulas="escape") for text in cells)
    ]
    assert not problems


@pytest.mark.parametrize("element", [np.inf, 10**300, -(10**300), "\ud800", [1], np.nan])
def test_what_no_generic_cell_holds_is_named_among_pythons_scalars(element: object) -> None:
    buffer = np.empty(5, dtype=object)
    buffer[:] = [1, 2.5, "a", element, None]
    with pytest.raises(DTypeError, match="generic element 3"):
        buffer_to_text(buffer, dtypes.from_name("generic"), TextLook())
    buffer[3] = 10**300 - 1
    assert buffer_to_text(buffer, dtypes.from_name("generic"), TextLook())[3] == "9" * 300


# Dates in bulk ------------------------------------------------------------------------------------------------


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
