"""Many dates and booleans of a column, made by the engine: as a few of them are, one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from limits import get_limit, set_limits

from sheetarray import dtypes
from sheetarray.cells.serials import serials_to_dates, serials_to_texts
from sheetarray.elements import Unreadable
from sheetarray.sheets.excel.reader.cells import BOOLEAN, SERIAL
from sheetarray.sheets.excel.reader.column import ColumnRun, ColumnTexts

DAYS = [1.0, 2.0, 59.0, 60.0, 60.5, 61.0, 25_569.0, 45_000.0, 2_958_465.0, 2_958_466.0, 0.0, -1.0]
PARTS = [0.0, 0.25, 0.5, 1 / 86_400, 1.001 / 86_400, 1 / 86_400_000, 0.999999999, 1 - 1e-12]
ODD = [np.nan, np.inf, -np.inf, 1e300, 1e-300]


@pytest.mark.parametrize("from_1904", [False, True])
@pytest.mark.parametrize("parts", [PARTS[:1], PARTS])
def test_texts_of_many_serial_dates_are_those_of_one(parts: list[float], from_1904: bool) -> None:
    rng = np.random.default_rng(1)
    random = rng.integers(-5, 3_000_000, 2000) + np.array(parts)[rng.integers(0, len(parts), 2000)]
    serials = np.array([*(day + part for day in DAYS for part in parts), *ODD, *random.tolist()])
    one_by_one = [serials_to_dates(serials[i : i + 1], from_1904=from_1904)[0] for i in range(len(serials))]
    assert serials_to_texts(serials, from_1904=from_1904).to_list() == one_by_one
    assert serials_to_texts(serials[:0], from_1904=from_1904).to_list() == []


def texts_of(values: list[str], kind: int, dtype: str | None, *, table: bool) -> tuple[list[object], list[int]]:
    places = np.arange(len(values)) * 2
    run = ColumnRun(places, np.full(len(values), kind, np.uint8), pl.Series(values, dtype=pl.String))
    texts = ColumnTexts(run, None if dtype is None else dtypes.from_name(dtype), from_1904=False, table=table)
    return [*texts.result()], texts.dated


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (BOOLEAN, ["1", "0", "true", "FALSE", " 1", "yes", "\x1c0", ""]),
        (SERIAL, ["45000", "45000.25", "60", "0.5", "-3", "text", "2958466", "1e5", "61.0000000116"]),
    ],
)
def test_many_cells_of_a_kind_are_what_a_few_are(
    kind: int, values: list[str], table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in (
        get_limit("few_values") - 1,
        get_limit("few_values"),
        get_limit("few_values") + 1,
        3 * get_limit("few_values"),
    ):
        cells = [values[index % len(values)] for index in range(count)]
        for dtype in (None, "string", "datetime64[D]", "datetime64[us]", "float64"):
            many = texts_of(cells, kind, dtype, table=table)
            with monkeypatch.context() as patch:
                set_limits(patch, few_values=10**9)
                assert many == texts_of(cells, kind, dtype, table=table), (count, dtype)
            assert any(isinstance(cell, Unreadable) for cell in many[0]) or table, (count, dtype)


def test_the_engine_is_asked_for_many_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    made = ColumnTexts._add_plain_booleans
    monkeypatch.setattr(
        ColumnTexts, "_add_plain_booleans", lambda self, places: asked.append(len(places)) or made(self, places)
    )
    for count in (get_limit("few_values") - 1, get_limit("few_values"), get_limit("few_values") + 1):
        texts_of(["1"] * count, BOOLEAN, None, table=True)
    assert asked == [get_limit("few_values") + 1]
