"""What pandas hands over: every dtype, index and label, exact or refused by the column's name."""

from __future__ import annotations

import datetime
import fractions
import importlib.util
import pathlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from examples import cross
from round_trips import SUFFIXES, Refused, check_handed, moments, spans

import sheetarray as sa
from sheetarray.testing.cases import objects

NOON = datetime.datetime(2020, 2, 29, 12)
BIG = 2**53 + 3


def of(values: Any, dtype: Any = None) -> Any:
    return pd.Series(values, dtype=dtype)


def sparse(values: Any, fill: Any) -> Any:
    return pd.Series(pd.arrays.SparseArray(values, fill_value=fill))


def undivided() -> Any:
    """Nullable floats with a NaN that is no NA."""
    column = pd.array([0.0, 1.0, 2.0], dtype="Float64")
    quotient = column / column
    quotient[2] = pd.NA
    return pd.Series(quotient)


COLUMNS: dict[str, tuple[Any, Any]] = {
    **{
        str(np.dtype(name)): (lambda name=name: of(np.array([0, 1, 2], name)), np.array([0, 1, 2], name))
        for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c16")
    },
    **{
        f"{sign}Int{bits}": (
            lambda name=f"{sign}Int{bits}": of([1, 2], name),
            np.array([1, 2], f"{sign}Int{bits}".lower()),
        )
        for sign in ("", "U")
        for bits in (8, 16, 32, 64)
    },
    "UInt64 with NA": (lambda: of([2**64 - 1, None], "UInt64"), objects(2**64 - 1, None)),
    "boolean": (lambda: of([True, False], "boolean"), np.array([True, False])),
    "empty str": (lambda: of([], "str"), np.array([], "<U1")),
    "empty Int64": (lambda: of([], "Int64"), np.array([], "i8")),
    "str ending with NUL": (lambda: of(["a\0"]), Refused("c: element 0", "strip it")),
    "categories of integers": (lambda: of([BIG, 2, BIG], "category"), np.array([BIG, 2, BIG])),
    "categories of integers with NaN": (
        lambda: pd.Series(pd.Categorical([BIG, None], categories=[BIG, 5])),
        objects(BIG, None),
    ),
    "categories of floats with NaN": (lambda: of([0.1, None], "category"), np.array([0.1, np.nan])),
    "categories of dates with NaT": (
        lambda: of(pd.Series(moments("s", "2020-01-01", "NaT")), "category"),
        moments("s", "2020-01-01", "NaT"),
    ),
    "categories that are not there": (lambda: pd.Series(pd.Categorical([None, None], ["a"])), objects(None, None)),
    "empty categories": (lambda: pd.Series(pd.Categorical([])), np.array([], dtype="<U1")),
    **{
        f"datetime64[{unit}]": (
            lambda unit=unit: of(moments(unit, "2020-02-29T12", "NaT")),
            moments(unit, "2020-02-29T12", "NaT"),
        )
        for unit in ("s", "ms", "us", "ns")
    },
    **{
        f"timedelta64[{unit}]": (lambda unit=unit: of(spans(unit, 5, "NaT", -1)), spans(unit, 5, "NaT", -1))
        for unit in ("s", "ms", "us", "ns")
    },
    "times of a zone without a name": (
        lambda: of(pd.date_range("2020", periods=2, tz="dateutil/Europe/Berlin")),
        Refused("c: times of the zone tzfile", "column.dt.tz_convert('UTC')"),
    ),
    "Sparse of floats": (lambda: sparse([0.0, 0.0, 1.5], 0.0), np.array([0.0, 0.0, 1.5])),
    "Sparse of integers": (lambda: sparse([0, BIG], 0), np.array([0, BIG])),
    "Sparse of booleans": (lambda: sparse([False, True], False), np.array([False, True])),
    "object of scalars": (
        lambda: of([1, "1", 1.5, True, None, 2**70], object),
        objects(1, "1", 1.5, True, None, 2**70),
    ),
    "object of NumPy's scalars": (
        lambda: of([np.int8(1), np.float32(0.5), np.bool_(True)], object),
        objects(1, 0.5, True),
    ),
    "object of Fraction": (lambda: of([fractions.Fraction(1, 3)]), Refused("c[0] is a Fraction", "str(value)")),
    "object of datetime of two zones": (
        lambda: of([NOON.replace(tzinfo=datetime.UTC), NOON], object),
        Refused("c: times of several zones", "t.astimezone(datetime.timezone.utc)"),
    ),
    "object of Timestamp": (lambda: of([pd.Timestamp(NOON)], object), moments("us", "2020-02-29T12")),
    "object of Timestamp in nanoseconds": (
        lambda: of([pd.Timestamp(5)], object),
        Refused("c[0] is a Timestamp", "to_datetime"),
    ),
    "object of Period": (lambda: of([pd.Period("2020"), "x"]), Refused("c[0] is a Period", "to_timestamp")),
    "object of Interval": (lambda: of([pd.Interval(0, 1), "x"]), Refused("c[0] is an Interval", ".left")),
    "object of bytes": (lambda: of(["a", b"a"]), Refused("c[1] is bytes", "decode")),
    "object of dicts": (lambda: of([{"a": 1}]), Refused("c: dictionaries in a column", "json_normalize")),
    "object of sets": (lambda: of([{1}]), Refused("c[0] is a set", "sorted")),
    "object of paths": (lambda: of([pathlib.PurePosixPath("a")]), Refused("c[0] is a PurePosixPath", "str(value)")),
    "object of infinity": (lambda: of(["a", np.inf], object), Refused("c[1] is inf", "float64")),
    "complex in objects": (lambda: of([1j, "a"]), Refused("c[0] is a complex", "complex128")),
}

if importlib.util.find_spec("pyarrow") is not None:
    COLUMNS["int64[pyarrow]"] = (lambda: of([BIG, None], "int64[pyarrow]"), objects(BIG, None))
    COLUMNS["uint8[pyarrow]"] = (lambda: of([1, 2], "uint8[pyarrow]"), np.array([1, 2], "u1"))


@pytest.mark.parametrize(("kind", "suffix"), cross(COLUMNS, SUFFIXES, SUFFIXES[0]))
def test_a_column_of_a_frame_comes_back_or_is_refused_by_name(kind: str, suffix: str, tmp_path: Path) -> None:
    make, expected = COLUMNS[kind]
    column = make()
    expected = expected if isinstance(expected, Refused) else {"first": np.arange(len(column)), "c": expected}
    check_handed(pd.DataFrame({"first": range(len(column)), "c": column}), expected, suffix, tmp_path)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_series_and_its_array_are_the_column(kind: str, tmp_path: Path) -> None:
    make, expected = COLUMNS[kind]
    if isinstance(expected, Refused):
        check_handed(make().rename("c"), expected, "csv", tmp_path)
        check_handed({"c": make().array}, expected, "csv", tmp_path)
        return
    check_handed(make().rename("c"), {"c": expected}, "csv", tmp_path)
    check_handed({"c": make().array, "d": make()}, {"c": expected, "d": expected}, "csv", tmp_path)


INDICES: dict[str, tuple[Any, Any]] = {
    "a counter": (lambda: pd.RangeIndex(2), {}),
    "a counter with a name": (lambda: pd.RangeIndex(2, name="row"), {"row": np.array([0, 1])}),
    "a counter from 5": (lambda: pd.RangeIndex(5, 7), {"index": np.array([5, 6])}),
    "every other row": (lambda: pd.RangeIndex(0, 4, 2), {"index": np.array([0, 2])}),
    "text": (lambda: pd.Index(["a", "b"]), {"index": np.array(["a", "b"])}),
    "a named index": (lambda: pd.Index([BIG, 2], name="id"), {"id": np.array([BIG, 2])}),
    "dates": (
        lambda: pd.DatetimeIndex(["2020", "2021"], name="t").as_unit("s"),
        {"t": moments("s", "2020-01-01", "2021-01-01")},
    ),
    "times with a zone": (
        lambda: pd.date_range("2020", periods=2, tz="UTC", name="t", unit="us"),
        {"t": moments("us", "2020-01-01", "2020-01-02")},
    ),
    "categories": (lambda: pd.CategoricalIndex(["b", "a"]), {"index": np.array(["b", "a"])}),
    "intervals": (lambda: pd.interval_range(0, 2), {"index": np.array(["(0, 1]", "(1, 2]"])}),
    "two levels": (
        lambda: pd.MultiIndex.from_tuples([("a", 1), ("b", BIG)], names=["k", None]),
        {"k": np.array(["a", "b"]), "level_1": np.array([1, BIG])},
    ),
    "a name of a column": (lambda: pd.Index([1, 2], name="c"), Refused("two arrays", "'c'", sa.LimitError)),
    "a tuple for a name": (lambda: pd.Index([1, 2], name=("a", "b")), {"a b": np.array([1, 2])}),
}


@pytest.mark.parametrize("kind", INDICES)
def test_an_index_stands_before_the_columns(kind: str, tmp_path: Path) -> None:
    make, expected = INDICES[kind]
    frame = pd.DataFrame({"c": [1.5, 2.5]}, index=make())
    expected = expected if isinstance(expected, Refused) else {**expected, "c": np.array([1.5, 2.5])}
    check_handed(frame, expected, "csv", tmp_path)


def test_an_index_without_a_name_keeps_away_from_a_column_named_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"index": [1, 2]}, index=["a", "b"])
    check_handed(frame, {"level_0": np.array(["a", "b"]), "index": np.array([1, 2])}, "csv", tmp_path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pd.Index([BIG, 2]), {"array": np.array([BIG, 2])}),
        (pd.Index(["a", "b"], name="k"), {"k": np.array(["a", "b"])}),
        (pd.RangeIndex(3), {"array": np.arange(3)}),
        (pd.date_range("2020", periods=1, tz="UTC", unit="us"), {"array": moments("us", "2020-01-01")}),
        (pd.MultiIndex.from_tuples([("a", 1)]), {"level_0": np.array(["a"]), "level_1": np.array([1])}),
        ({"k": pd.Index([1, 2])}, {"k": np.array([1, 2])}),
        ({"k": pd.MultiIndex.from_tuples([("a", 1)])}, Refused("k: a MultiIndex", "an entry for each column")),
        ({"k": pd.DataFrame({"a": [1]})}, Refused("k: a DataFrame", "an entry for each column")),
        ([pd.Series([1]), pd.Series([2])], Refused("array: a list with a Series", "mapping")),
        ([pd.DataFrame({"a": [1]})], Refused("array: a list with a DataFrame", "mapping")),
        (pd.Series([1, 2], index=["a", "b"], name="s"), {"index": np.array(["a", "b"]), "s": np.array([1, 2])}),
        (pd.array([1, None], dtype="Int64"), {"array": objects(1, None)}),
        ({"k": pd.array([True, None], dtype="boolean")}, {"k": objects(True, None)}),
        (pd.Timestamp("2020").as_unit("us"), {"array": np.array("2020-01-01", "M8[us]")}),
        ({"k": pd.Timestamp("2020").as_unit("us")}, {"k": np.array("2020-01-01", "M8[us]")}),
        ({"k": pd.NA}, Refused("k: NA", "None")),
        (pd.DataFrame({"a": [1]}).groupby("a"), Refused("array: a DataFrameGroupBy is not an array", "")),
        (pd.DataFrame(), Refused("no array to write", "", sa.LimitError)),
        (pd.DataFrame([[1, 2]], columns=[2019, 2020]), {"2019": np.array([1]), "2020": np.array([2])}),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), Refused("two arrays", "'1'", sa.LimitError)),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), Refused("two arrays", "'x'", sa.LimitError)),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
            {"a 1": np.array([1]), "a 2": np.array([2])},
        ),
        (pd.DataFrame([[1]], columns=pd.DatetimeIndex(["2020-01-01"])), {"2020-01-01 00:00:00": np.array([1])}),
        (pd.DataFrame([[1]], columns=pd.Index([None], dtype=object)), Refused("None", "names are text")),
    ],
)
def test_other_objects_of_pandas(value: Any, expected: Any, tmp_path: Path) -> None:
    check_handed(value, expected, "csv", tmp_path)


def test_a_null_and_a_nan_among_nullable_floats_are_told_apart_or_refused(tmp_path: Path) -> None:
    column = undivided()
    if column.isna().all() or not np.isnan(column.to_numpy(dtype=float, na_value=7.0)).any():
        pytest.skip("this pandas makes NA of 0 / 0")
    check_handed(pd.DataFrame({"c": column}), Refused("c: has nulls and NaN", "fill either"), "csv", tmp_path)


def test_frames_of_classes_derived_from_pandas_are_frames(tmp_path: Path) -> None:
    class Derived(pd.DataFrame):
        @property
        def _constructor(self) -> Any:
            return Derived

    Derived.__module__ = "elsewhere"
    check_handed(Derived({"c": [1, 2]}), {"c": np.array([1, 2])}, "csv", tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.5, None, np.nan], r"NaN in .* is written as None \(astype"),
        ([True, np.nan], r"NaN in .* is written as None \(astype"),
        ([1, "a", np.nan], r"NaN in .* is written as None \(astype"),
        (["a", np.nan, None], r"NaN in .* is written as None \(column.where"),
        (["a", pd.NaT], r"NaT in .* is written as None \(column.where"),
        (["a", pd.NaT, np.nan], r"NaN and NaT in .* is written as None \(column.where"),
        ([np.nan, np.nan], r"NaN in .* is written as None \(column.where"),
    ],
)
def test_nan_in_a_column_of_objects_is_told(values: list[Any], message: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"first": range(len(values)), "c": of(values, object)})
    with pytest.warns(sa.SheetArrayWarning, match=f"^c: {message}"):
        sa.write(tmp_path / "t.json", frame)
    assert sa.read(tmp_path / "t.json")["c"].tolist() == [None if pd.isna(value) else value for value in values]
