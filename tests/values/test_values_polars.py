"""What polars hands over: every dtype, with and without nulls, exact or refused by the column's name."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples import cross
from round_trips import SUFFIXES, Refused, check_handed, moments, spans

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

INTEGERS = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
NOON = datetime.datetime(2020, 2, 29, 12, 0, 0, 123456)

SERIES: dict[str, tuple[Any, Any]] = {
    **{
        name: (
            lambda name=name: pl.Series("c", [0, 1, np.iinfo(name.lower()).max], dtype=getattr(pl, name)),
            np.array([0, 1, np.iinfo(name.lower()).max], name.lower()),
        )
        for name in INTEGERS
    },
    **{
        f"{name} with nulls": (
            lambda name=name: pl.Series("c", [None, np.iinfo(name.lower()).max], dtype=getattr(pl, name)),
            objects(None, int(np.iinfo(name.lower()).max)),
        )
        for name in INTEGERS
    },
    "Int128": (lambda: pl.Series("c", [1], dtype=pl.Int128), Refused("c: ", ".cast(pl.Int64)")),
    "UInt128": (lambda: pl.Series("c", [1], dtype=pl.UInt128), Refused("c: ", ".cast(pl.String)")),
    "Float16": (lambda: pl.Series("c", [1.5, -0.0], dtype=pl.Float16), np.array([1.5, -0.0], "f2")),
    "Float32": (lambda: pl.Series("c", [0.1, np.inf], dtype=pl.Float32), np.array([0.1, np.inf], "f4")),
    "Float64": (lambda: pl.Series("c", [0.1, np.nan]), np.array([0.1, np.nan])),
    "Float32 with nulls": (lambda: pl.Series("c", [0.1, None], dtype=pl.Float32), np.array([0.1, np.nan], "f4")),
    "Float64 with nulls": (lambda: pl.Series("c", [None, 0.1]), np.array([np.nan, 0.1])),
    "Float64 with nulls and NaN": (lambda: pl.Series("c", [None, np.nan]), Refused("c: ", "fill either")),
    "Boolean": (lambda: pl.Series("c", [True, False]), np.array([True, False])),
    "Boolean with nulls": (lambda: pl.Series("c", [True, None]), objects(True, None)),
    "String": (lambda: pl.Series("c", ["007", "", "=1+1"]), np.array(["007", "", "=1+1"])),
    "String with nulls": (lambda: pl.Series("c", ["007", None, ""]), objects("007", None, "")),
    "String ending with NUL": (lambda: pl.Series("c", ["a", "b\0"]), Refused("c: element 1", "strip it")),
    "Categorical": (lambda: pl.Series("c", ["a", "b", "a"], dtype=pl.Categorical), np.array(["a", "b", "a"])),
    "Categorical with nulls": (lambda: pl.Series("c", ["a", None], dtype=pl.Categorical), objects("a", None)),
    "Enum": (lambda: pl.Series("c", ["b"], dtype=pl.Enum(["a", "b"])), np.array(["b"])),
    "Date": (lambda: pl.Series("c", [NOON.date(), None]), moments("D", "2020-02-29", "NaT")),
    "Date far away": (
        lambda: pl.Series("c", [2**31 - 1, -(2**31)], dtype=pl.Int32).cast(pl.Date),
        np.array([2**31 - 1, -(2**31)]).view("M8[D]"),
    ),
    **{
        f"Datetime in {unit}": (
            lambda unit=unit: pl.Series("c", [NOON, None], dtype=pl.Datetime(unit)),
            moments(unit, "2020-02-29T12:00:00.123" + ("" if unit == "ms" else "456"), "NaT"),
        )
        for unit in ("ms", "us", "ns")
    },
    "Datetime that is NaT": (lambda: pl.Series("c", [-(2**63), None], dtype=pl.Datetime("us")), Refused("c: ", "null")),
    "Datetime in UTC": (
        lambda: pl.Series("c", [NOON], dtype=pl.Datetime("us", "UTC")),
        moments("us", "2020-02-29T12:00:00.123456"),
    ),
    "Datetime in Berlin": (
        lambda: pl.Series("c", [NOON]).dt.replace_time_zone("Europe/Berlin"),
        moments("us", "2020-02-29T11:00:00.123456"),
    ),
    **{
        f"Duration in {unit}": (
            lambda unit=unit: pl.Series("c", [5, None, -1], dtype=pl.Duration(unit)),
            spans(unit, 5, "NaT", -1),
        )
        for unit in ("ms", "us", "ns")
    },
    "Time": (lambda: pl.Series("c", [NOON.time()]), np.array(["12:00:00.123456"])),
    "Decimal": (lambda: pl.Series("c", [Decimal("1.10")]), np.array([1.1])),
    "Struct": (lambda: pl.Series("c", [{"a": 1, "b": 2.5}]), Refused("c: ", "unnest")),
    "Binary": (lambda: pl.Series("c", [b"a"]), Refused("c: ", "encode")),
    "Null": (lambda: pl.Series("c", [None, None]), objects(None, None)),
    "Object of scalars": (lambda: pl.Series("c", [1, "a", None], dtype=pl.Object), objects(1, "a", None)),
    "Object of others": (lambda: pl.Series("c", [1, {2}], dtype=pl.Object), Refused("c[1] is a set", "sorted")),
    "Array": (lambda: pl.Series("c", [[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), np.array([[1, 2], [3, 4]])),
    "Array of arrays": (
        lambda: pl.Series("c", [[[1, 2]], [[3, 4]]], dtype=pl.Array(pl.Array(pl.Float32, 2), 1)),
        np.array([[[1, 2]], [[3, 4]]], "f4"),
    ),
    "Array of text": (lambda: pl.Series("c", [["a", "bb"]], dtype=pl.Array(pl.String, 2)), np.array([["a", "bb"]])),
    "Array with nulls in it": (
        lambda: pl.Series("c", [[1, None]], dtype=pl.Array(pl.Int64, 2)),
        np.array([[1, None]], dtype=object),
    ),
    "Array with nulls": (lambda: pl.Series("c", [[1], None], dtype=pl.Array(pl.Int64, 1)), Refused("c: ", "fill them")),
    "Array of structs": (
        lambda: pl.Series("c", [[{"a": 1}]], dtype=pl.Array(pl.Struct({"a": pl.Int8}), 1)),
        Refused("c: ", "unnest"),
    ),
    "empty integers": (lambda: pl.Series("c", [], dtype=pl.UInt16), np.array([], "u2")),
    "empty text": (lambda: pl.Series("c", [], dtype=pl.String), np.array([], "<U1")),
    "empty dates": (lambda: pl.Series("c", [], dtype=pl.Datetime("ms")), np.array([], "M8[ms]")),
    "empty Array": (lambda: pl.Series("c", [], dtype=pl.Array(pl.Int8, 3)), np.zeros((0, 3), "i1")),
    "Array of nothing": (lambda: pl.Series("c", [[], []], dtype=pl.Array(pl.Int8, 0)), np.zeros((2, 0), "i1")),
    "in chunks": (lambda: pl.concat([pl.Series("c", [1, 2]), pl.Series("c", [3])], rechunk=False), np.array([1, 2, 3])),
    "a slice": (lambda: pl.Series("c", [1, None, 2**60, 4])[1:3], objects(None, 2**60)),
}


@pytest.mark.parametrize(("kind", "suffix"), cross(SERIES, SUFFIXES, SUFFIXES[0]))
def test_a_series_is_its_column(kind: str, suffix: str, tmp_path: Path) -> None:
    make, expected = SERIES[kind]
    expected = expected if isinstance(expected, Refused) else {"c": expected}
    check_handed(make(), expected, suffix, tmp_path)


@pytest.mark.parametrize("kind", SERIES)
def test_a_column_of_a_frame_is_the_series(kind: str, tmp_path: Path) -> None:
    make, expected = SERIES[kind]
    series = make()
    frame = pl.DataFrame([pl.Series("first", range(len(series))), series])
    expected = expected if isinstance(expected, Refused) else {"first": np.arange(len(series)), "c": expected}
    check_handed(frame, expected, "csv", tmp_path)


@pytest.mark.parametrize("kind", ["Int64", "Int64 with nulls", "Array", "Struct", "Datetime in UTC", "String"])
def test_a_series_in_a_mapping_has_the_name_there(kind: str, tmp_path: Path) -> None:
    make, expected = SERIES[kind]
    expected = Refused("k: ", expected.advice) if isinstance(expected, Refused) else {"k": expected}
    check_handed({"k": make()}, expected, "csv", tmp_path)
    if isinstance(expected, dict) and expected["k"].dtype != object:
        assert_same(sa.from_linear(sa.to_linear(make())), expected["k"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pl.Series([1, 2]), {"array": np.array([1, 2])}),
        (pl.DataFrame({"version": [1], "": [2]}).rename({"": "b"}).select("b"), {"b": np.array([2])}),
        (pl.LazyFrame({"a": [1]}), {"a": np.array([1])}),
        ({"k": pl.LazyFrame({"a": [1]})}, Refused("k: a LazyFrame", "an entry for each column")),
        (pl.col("a") + 1, Refused("an expression", "df.select")),
        ({"k": pl.lit(1)}, Refused("k: an expression", "df.select")),
        ({"k": pl.DataFrame({"a": [1]})}, Refused("k: a DataFrame", "an entry for each column")),
        ([pl.Series([1]), pl.Series([2])], Refused("array: a list with a Series", "mapping")),
        (pl.DataFrame({"a": [1]}).group_by("a"), Refused("array: a GroupBy is not an array", "make numbers")),
        (pl.DataFrame(), Refused("no array to write", "", sa.LimitError)),
    ],
)
def test_other_objects_of_polars(value: Any, expected: Any, tmp_path: Path) -> None:
    check_handed(value, expected, "csv", tmp_path)


def test_the_issues_example() -> None:
    frame = pl.DataFrame({"id": [2**53 + 1, None]})
    assert sa.to_linear(frame["id"].fill_null(0))[-2] == str(2**53 + 1)
    with pytest.raises(sa.DTypeError, match="2\\^53"):
        sa.to_linear(frame["id"])
