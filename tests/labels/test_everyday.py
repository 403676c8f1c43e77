"""Frames of everyday columns: what `read_frame` gives equals what `write` took, and tables hold what cells can say."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from adapters_deleted import needing
from examples import cross

import sheetarray as sa

NOON = dt.datetime(2020, 2, 29, 12, 30, 0, 5)
LONG = Decimal("0.12345678901234567890")
BERLIN = pd.date_range("2020-06-01", periods=3, tz="Europe/Berlin")


def of(values: Any, dtype: Any = None) -> Any:
    return pd.Series(values, dtype=dtype)


def utc(times: Any) -> Any:
    return pd.Series(pd.DatetimeIndex(times).tz_convert("UTC").tz_localize(None))


# ruff: noqa: E501
# Each kind: a column, and the column that `read_columns` gives of its table where that is another one.
KINDS: dict[str, tuple[Any, Any]] = {
    "integers": (of([1, -2, 2**53 + 1]), None),
    "small integers": (of([1, 2, 3], "int8"), of([1, 2, 3])),
    "floats": (of([0.1, np.nan, -0.0]), None),
    "small floats": (of([0.5, 1.5, np.nan], "float32"), of([0.5, 1.5, np.nan])),
    "booleans": (of([True, False, True]), None),
    "text": (of(["a", "b c", "ü"]), None),
    "text with blanks": (of(["a", None, "ü"]), of(["a", "", "ü"])),
    "datetime64": (of(np.array(["2020-01-01T01", "NaT", "2021-01-01"], "M8[s]")), None),
    "nanoseconds": (of(pd.to_datetime([1, 2, None], unit="ns")), None),
    "timedelta64": (of(np.array([1, 2, 3], "m8[s]")), of([1, 2, 3])),
    "complex": (of([1 + 2j, 0, -1j]), of(["1+2i", "0+0i", "-0-1i"])),
    "Int64": (of([1, None, 2**60], "Int64"), of([1, None, 2**60], object)),
    "Int64 without blanks": (of([1, 2, 3], "Int64"), of([1, 2, 3])),
    "UInt8": (of([1, None, 255], "UInt8"), of([1, np.nan, 255])),
    "Float32": (of([0.1, None, -0.0], "Float32"), of([np.float64(np.float32(0.1)), np.nan, -0.0])),
    "Float64": (of([1.5, None, 0.1], "Float64"), of([1.5, np.nan, 0.1])),
    "boolean": (of([True, None, False], "boolean"), of([True, None, False], object)),
    "string": (of(["a", "b", "c"], "string"), of(["a", "b", "c"])),
    "string with blanks": (of(["a", None, ""], "string"), of(["a", "", ""])),
    "string[python]": (of(["a", None, "c"], pd.StringDtype("python")), of(["a", "", "c"])),
    "objects that are text": (of(["a", "b", "c"], object), of(["a", "b", "c"])),
    "objects": (of([1, "a", None], object), of(["1", "a", ""])),
    "category": (of(["b", "a", "b"], "category"), of(["b", "a", "b"])),
    "category that is not there": (of(pd.Categorical(["v", None, "u"], ["u", "v", "w"], ordered=True)), of(["v", "", "u"])),
    "category with an order": (of(pd.Categorical([3, 1, 3], [3, 1], ordered=True)), of([3, 1, 3])),
    "date": (of([NOON.date(), None, dt.date(1, 1, 1)], object), of(np.array(["2020-02-29", "NaT", "0001-01-01"], "M8[s]"))),
    "datetime": (of([NOON, None, NOON], object), of(np.array([NOON, None, NOON], "M8[us]"))),
    "datetime of UTC": (of([NOON.replace(tzinfo=dt.UTC), None, None], object), of(np.array([NOON, None, None], "M8[us]"))),
    "time": (of([NOON.time(), dt.time(1), None], object), of(["12:30:00.000005", "01:00:00", ""])),
    "timedelta": (of([dt.timedelta(1), dt.timedelta(0, 1), dt.timedelta(-1)], object), of([86_400_000_000, 1_000_000, -86_400_000_000])),
    "Decimal": (of([Decimal("1.10"), None, Decimal("2.25")]), of([1.1, np.nan, 2.25])),
    "Decimal of many digits": (of([LONG, LONG, LONG]), of([str(LONG)] * 3)),
    "Decimal of several digits": (of([Decimal("1.10"), Decimal(2), Decimal("1E+3")]), of([1.1, 2.0, 1000.0])),
    "Decimal that is none": (of([Decimal("Infinity"), Decimal("NaN"), Decimal(1)]), of([np.inf, np.nan, 1.0])),
    "UUID": (of([uuid.UUID(int=n) for n in (1, 2, 3)]), of([str(uuid.UUID(int=n)) for n in (1, 2, 3)])),
    "zone": (of(BERLIN), utc(BERLIN)),
    "zone with NaT": (of(BERLIN).where([True, False, True]), utc(of(BERLIN).where([True, False, True]))),
    "UTC": (of(pd.date_range("2020", periods=3, tz="UTC")), utc(pd.date_range("2020", periods=3, tz="UTC"))),
    "UTC+02:00": (of(BERLIN.tz_convert("UTC+02:00")), utc(BERLIN)),
    "months": (of(pd.period_range("2020", periods=3, freq="M")), of(np.array(["2020-01-01", "2020-02-01", "2020-03-01"], "M8[s]"))),
    "quarters with NaT": (of(pd.PeriodIndex(["2020Q1", None, "1500Q4"], freq="Q-DEC")), of(np.array(["2020-01-01", "NaT", "1500-10-01"], "M8[s]"))),
    "weeks": (of(pd.period_range("2020-01-06", periods=3, freq="W-SUN")), of(np.array(["2020-01-06", "2020-01-13", "2020-01-20"], "M8[s]"))),
    "two hours": (of(pd.period_range("2020", periods=3, freq="2h")), of(np.array(["2020-01-01T00", "2020-01-01T02", "2020-01-01T04"], "M8[s]"))),
    "intervals": (of(pd.interval_range(0, 3)), of(["(0, 1]", "(1, 2]", "(2, 3]"])),
    "intervals of floats": (of(pd.arrays.IntervalArray.from_breaks([0.1, 1 / 3, 2, np.inf], closed="left")), of(["[0.1, 0.3333333333333333)", "[0.3333333333333333, 2.0)", "[2.0, inf)"])),
    "intervals with blanks": (of(pd.arrays.IntervalArray.from_arrays([0.5, np.nan, 1], [1.5, np.nan, 2])), of(["(0.5, 1.5]", "", "(1.0, 2.0]"])),
    "intervals of a zone": (of(pd.IntervalIndex.from_arrays(BERLIN, BERLIN + pd.Timedelta(1, "h"))), of([f"({t}, {t + pd.Timedelta(1, 'h')}]" for t in BERLIN])),
    "intervals of durations": (of(pd.interval_range(pd.Timedelta(0), periods=3)), of([f"({n} days 00:00:00, {n + 1} days 00:00:00]" for n in range(3)])),
    "pd.cut": (pd.cut(of([1, 5, 50]), [0, 4, 8]), of(["(0, 4]", "(4, 8]", ""])),
    "pd.cut with an order of its own": (pd.cut(of([1, 5, 9]), 3), of(["(0.992, 3.667]", "(3.667, 6.333]", "(6.333, 9.0]"])),
    "categories of dates": (of([NOON.date(), None, NOON.date()], object).astype("category"), of(np.array([NOON.date(), None, NOON.date()], "M8[s]"))),
    "categories of a zone": (of(BERLIN).astype("category"), utc(BERLIN)),
}  # fmt: skip
ARROW = {
    "timestamp[us, tz=Europe/Berlin][pyarrow]": ([NOON, None, NOON], None),
    "decimal128(10, 2)[pyarrow]": ([Decimal("1.10"), None, Decimal("2.25")], of([1.1, np.nan, 2.25])),
    "decimal128(30, 20)[pyarrow]": ([LONG, None, LONG], of([str(LONG), "", str(LONG)])),
    "time64[us][pyarrow]": ([NOON.time(), None, dt.time(1)], of(["12:30:00.000005", "", "01:00:00.000000"])),
    "time32[s][pyarrow]": ([dt.time(1, 2, 3), None, dt.time(1)], of(["01:02:03", "", "01:00:00"])),
    "date32[day][pyarrow]": ([NOON.date(), None, NOON.date()], of(np.array(["2020-02-29", "NaT", "2020-02-29"], "M8[s]"))),
    "duration[ns][pyarrow]": ([dt.timedelta(0, 1)] * 3, of([10**9] * 3)),
    "int8[pyarrow]": ([1, None, 3], of([1, np.nan, 3])),
    "double[pyarrow]": ([0.5, None, 3], of([0.5, np.nan, 3])),
    "bool[pyarrow]": ([True, None, False], of([True, None, False], object)),
    "string[pyarrow]": (["a", "b", "c"], of(["a", "b", "c"])),
}  # fmt: skip


def arrow_column(kind: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    dtype: Any = kind
    if kind.startswith("decimal"):
        dtype = pd.ArrowDtype(pa.decimal128(*map(int, kind.partition(")")[0].split("(")[1].split(","))))
    return of(ARROW[kind][0], pd.ArrowDtype(pa.string()) if kind == "string[pyarrow]" else dtype)


def column_of(kind: str) -> Any:
    return arrow_column(kind) if kind in ARROW else KINDS[kind][0]


@pytest.mark.parametrize(("kind", "suffix"), cross({**KINDS, **ARROW}, ("csv", "json", "xlsx"), "csv"))
@pytest.mark.filterwarnings("ignore:Dtype inference on a pandas object")  # set_index of pandas 2
def test_a_column_and_an_index_come_back_as_they_were(kind: str, suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"first": range(3), "c": column_of(kind)})
    path = tmp_path / f"t.{suffix}"
    if suffix == "json" and kind == "Int64":
        return  # JSON has no such integers beside None
    sa.write(path, frame)
    again = sa.read_frame(path)
    pd.testing.assert_frame_equal(again, frame)
    assert list(map(type, again["c"])) == list(map(type, frame["c"]))
    assert list(sa.check(path)) == []
    assert "dataset.json" not in sa.read(path)
    sa.write(path, frame[:0])
    pd.testing.assert_frame_equal(sa.read_frame(path), frame[:0], check_freq=False)
    if frame["c"].isna().any():
        return
    sa.write(path, frame.set_index("c"))
    pd.testing.assert_frame_equal(sa.read_frame(path), frame.set_index("c"))


@pytest.mark.parametrize(("kind", "suffix"), cross({**KINDS, **ARROW}, ("csv", "xlsx"), "csv"))
@pytest.mark.filterwarnings("ignore:'c'")  # tests/tables has them
@pytest.mark.filterwarnings("ignore:.*more digits than a double holds")
def test_a_table_holds_what_its_cells_say(kind: str, suffix: str, tmp_path: Path) -> None:
    column = column_of(kind)
    plain = (ARROW if kind in ARROW else KINDS)[kind][1]
    if plain is None:
        plain = utc(column.dt.tz_convert("UTC")) if kind.startswith("timestamp") else column
    path = tmp_path / f"t.{suffix}"
    sa.write_table(path, pd.DataFrame({"first": range(3), "c": column}))
    arrays = sa.read_columns(path)
    frame = pd.DataFrame({"first": arrays["first"], "c": pd.Series(arrays["c"])})
    expected = pd.DataFrame({"first": range(3), "c": plain})
    if plain.dtype.kind == "M":
        expected["c"] = plain.astype(frame["c"].dtype)  # in the unit that the cells need
    pd.testing.assert_frame_equal(frame, expected, check_dtype=expected["c"].dtype.kind in "iufbc")


def test_times_of_a_zone_in_a_table_are_told(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": BERLIN, "u": BERLIN.tz_convert("UTC")})
    with pytest.warns(sa.SheetArrayWarning, match="^'t': times of Europe/Berlin are written in UTC") as caught:
        sa.write_table(tmp_path / "t.csv", frame)
    assert len(caught) == 1


def test_a_dataset_keeps_everyday_variables(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    kinds = ("months", "pd.cut", "UTC+02:00", "Int64", "category that is not there")
    columns = {kind.replace(" ", "_"): ("x", column_of(kind).array) for kind in kinds}
    dates = np.array([[NOON.date(), None], [None, dt.date(1, 1, 1)]], dtype=object)
    dataset = xr.Dataset(columns | {"dates": (("y", "z"), dates)}, coords={"x": BERLIN})
    sa.write(tmp_path / "t.csv", dataset)
    again = sa.read_dataset(tmp_path / "t.csv")
    for name, variable in dataset.variables.items():
        assert again[name].dtype == variable.dtype, name
    assert again["dates"].values.tolist() == dates.tolist()
    xr.testing.assert_identical(again.drop_vars("dates"), dataset.drop_vars("dates"))


# What is no frame ----------------------------------------------------------------------------------------------------


def test_lists_of_rows_and_mappings_keep_their_kinds(tmp_path: Path) -> None:
    rows = [{"t": NOON.replace(tzinfo=dt.UTC), "p": Decimal("1.10"), "n": 1}, {"t": None, "p": LONG, "more": "x"}]
    sa.write(tmp_path / "t.csv", rows)
    expected = pd.DataFrame(
        {
            "t": pd.DatetimeIndex([NOON, None]).as_unit("us").tz_localize("UTC"),
            "p": of([Decimal("1.10"), LONG]),
            "n": of([1, None], object),
            "more": of([None, "x"], object),
        }
    )
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), expected)
    sa.write(tmp_path / "m.csv", {"p": [Decimal("1.10"), LONG], "x": [1.5, 2.5]})
    again = sa.read_frame(tmp_path / "m.csv")
    assert again["p"].tolist() == [Decimal("1.10"), LONG]
    assert again["x"].tolist() == [1.5, 2.5]


def test_lazy_and_zoned_frames_of_polars(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "t": pl.Series([NOON, None]).dt.replace_time_zone("Europe/Berlin"),
            "time": [NOON.time(), None],
            "price": pl.Series([Decimal("1.10"), None], dtype=pl.Decimal(10, 2)),
            "n": [1, 2],
        }
    )
    sa.write(tmp_path / "t.xlsx", frame.lazy())
    again = sa.read_frame(tmp_path / "t.xlsx")
    assert again["t"].dtype == "datetime64[us, Europe/Berlin]"
    assert again["t"][0] == pd.Timestamp(NOON, tz="Europe/Berlin")
    assert again["time"].tolist() == [NOON.time(), None]
    assert str(again["price"].tolist()) == "[Decimal('1.10'), None]"
    pd.testing.assert_series_equal(again["n"], of([1, 2]).rename("n"))


def test_levels_of_columns_and_their_names(tmp_path: Path) -> None:
    long = pd.DataFrame({"k": ["x", "y", "x"], "a": [1, 2, 3], "b": [1.5, 2.5, 3.5]})
    frame = long.groupby("k").agg(["mean", "max"])
    frame.columns.names = ["column", None]
    sa.write(tmp_path / "t.csv", frame)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), frame)
    assert list(sa.read(tmp_path / "t.csv")) == ["k", "a mean", "a max", "b mean", "b max"]
    dated = pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_product([pd.DatetimeIndex(["2020-01-01", "2020-02-05"]), [0]])
    )
    sa.write(tmp_path / "t.csv", dated)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), dated)
    sa.write_table(tmp_path / "table.csv", frame)
    assert list(sa.read_columns(tmp_path / "table.csv")) == ["k", "a mean", "a max", "b mean", "b max"]


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (pd.DataFrame({"x": [1]}, index=pd.Index([3], name="x")), "df.index.names = ["),
        (pd.DataFrame({"x": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)], names=["n", "n"])), "df.index.names = ["),
        (pd.DataFrame([[1.5]], columns=pd.period_range("2020", periods=1, freq="M")), "df.columns = df.columns.map("),
        (pd.DataFrame([[1.5]], columns=pd.interval_range(0, 1)), "df.columns = df.columns.map("),
        (pd.DataFrame([[1.5]], columns=[None]), "df.columns = df.columns.map("),
        (pd.DataFrame([[1.5]], columns=pd.date_range("2020", periods=1, tz="UTC")), "df.columns = df.columns.map("),
    ],
)
def test_labels_that_are_no_names_are_refused_with_a_line_that_helps(frame: Any, line: str, tmp_path: Path) -> None:
    with pytest.raises((sa.LimitError, sa.DTypeError)) as caught:
        sa.write(tmp_path / "t.csv", frame)
    start = str(caught.value).index(line)
    advice = str(caught.value)[start:].partition(" renames")[0].partition(" makes")[0]
    exec(advice, {"df": frame})
    sa.write(tmp_path / "t.csv", frame)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), frame)


@pytest.mark.parametrize(
    "values",
    [
        [NOON.time().replace(tzinfo=dt.UTC), None],
        [Decimal(1), 2],
        [None, Fraction(1, 2)],
        [b"a\xff", None],
        [b"a", "b"],
        [{1, 2}, frozenset()],
    ],
)
def test_objects_that_no_cell_holds_are_refused_with_a_line_that_helps(values: list[Any], tmp_path: Path) -> None:
    places = {
        "x": pd.DataFrame({"x": of(values, object)}),
        "y": pd.DataFrame({"y": of(values, object), "x": [1, 2]}).set_index("y"),
        "7": pd.DataFrame({7: of(values, object)}),
    }
    for name, df in places.items():
        with pytest.raises(sa.DTypeError, match=rf"^{name}\[[01]\] is .*: df") as caught:
            sa.write(tmp_path / "t.csv", df)
        exec(str(caught.value).partition(": ")[2].partition(" makes text of all")[0], {"df": df})
        sa.write(tmp_path / "t.csv", df)
        pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), df)


@needing("awkd")
@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([(1, 2), (3, 4)], "tuples"),
        ([(1, 2), None], "tuples"),
        ([np.array([1, 2]), np.array([[3, 4]])[0]], "arrays"),
        ([[1], np.array([1, 2])], "arrays"),
        ([[(1, 2)], [(3, 4)]], "tuples"),
    ],
)
def test_tuples_and_arrays_that_come_back_as_lists_are_told(values: list[Any], names: str, tmp_path: Path) -> None:
    pytest.importorskip("awkward")
    df = pd.DataFrame({"x": pd.Series(dict(enumerate(values)), dtype=object)})
    with pytest.warns(sa.SheetArrayWarning, match=f"^x: {names} in a column of objects are written as lists") as caught:
        sa.write(tmp_path / "t.csv", df)
    assert len(caught) == 1
    line = str(caught[0].message).partition("as lists: ")[2].removesuffix(" makes lists without this warning")
    if line:
        exec(line, {"df": df})
        sa.write(tmp_path / "t.csv", df)
        again = sa.read_frame(tmp_path / "t.csv")
        assert again["x"].tolist() == df["x"].tolist()
    else:
        assert isinstance(values[0][0], tuple)


def test_what_no_file_can_tell_apart_is_told(tmp_path: Path) -> None:
    with pytest.warns(sa.SheetArrayWarning, match=r"^v: pd\.NA in a column of objects is written as None"):
        sa.write(tmp_path / "t.csv", pd.DataFrame({"v": of([pd.NA, "a"], object)}))
    with pytest.raises(sa.DTypeError, match=r"^v: a signalling NaN of Decimal"):
        sa.write(tmp_path / "t.csv", pd.DataFrame({"v": of([Decimal("sNaN"), Decimal(1)], object)}))


@pytest.mark.parametrize("kind", ["list", "large_list", "lists of two", "dictionary", "dictionary of integers"])
def test_lists_and_dictionaries_of_arrow_come_back(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("awkward")
    values, dtype = {
        "list": ([[1, 2], None, []], pa.list_(pa.int64())),
        "large_list": ([["a"], [], None], pa.large_list(pa.string())),
        "lists of two": ([[1.5, 2.5], [3.5, 4.5], None], pa.list_(pa.float64(), 2)),
        "dictionary": (["a", None, "a"], pa.dictionary(pa.int32(), pa.string())),
        "dictionary of integers": ([5, 7, 5], pa.dictionary(pa.int8(), pa.int64())),
    }[kind]
    frame = pd.DataFrame({"k": range(3), "v": pd.Series(values, dtype=pd.ArrowDtype(dtype))})
    sa.write(tmp_path / "t.xlsx", frame)
    assert list(sa.check(tmp_path / "t.xlsx")) == []
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.xlsx"), frame)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "nc", "zarr"])
def test_files_of_columns_refuse_lists_and_take_objects(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("awkward")
    if suffix in ("nc", "zarr"):
        pytest.importorskip({"nc": "h5netcdf", "zarr": "zarr"}[suffix])
    df = pd.DataFrame({"k": [1, 2], "v": of([[1, 2], [3, 4]], object)})
    with pytest.raises(sa.DTypeError, match=r"^v: lists in a column: ") as caught:
        sa.write(tmp_path / f"t.{suffix}", df)
    exec(str(caught.value)[len("v: lists in a column: ") :].partition(" makes")[0], {"df": df})
    df["n"] = of([np.float32(0.5), np.int8(3)], object)
    df["none"] = of([None, None], object)
    if suffix in ("parquet", "arrow"):
        del df["n"]
    sa.write(tmp_path / f"t.{suffix}", df)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / f"t.{suffix}"), df)
    with pytest.raises(sa.LimitError, match="cannot have the name ''"):
        sa.write(tmp_path / f"t.{suffix}", pd.DataFrame({"": [1]}))


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Mixed(enum.Enum):
    ONE = 1
    TWO = (2, 2)


def test_members_are_their_values_and_this_is_told(tmp_path: Path) -> None:
    with pytest.warns(sa.SheetArrayWarning, match="^c: members of Colour are written as their values: Colour"):
        sa.write(tmp_path / "t.csv", {"c": [Colour.RED, None]})
    assert sa.read(tmp_path / "t.csv")["c"].tolist() == ["red", None]
    with pytest.warns(sa.SheetArrayWarning, match=r"^c: .* names: Mixed\[value\]"):
        sa.write(tmp_path / "t.csv", pd.DataFrame({"c": [Mixed.ONE, Mixed.TWO]}))
    assert [Mixed[name] for name in sa.read_frame(tmp_path / "t.csv")["c"]] == [Mixed.ONE, Mixed.TWO]


def test_quantities_keep_their_units(tmp_path: Path) -> None:
    pint = pytest.importorskip("pint")
    xr = pytest.importorskip("xarray")
    units = pint.UnitRegistry()
    sa.write(tmp_path / "t.csv", {"v": [1.5, 2.5] * units.meter / units.second, "n": [1, 2]})
    dataset = sa.read_dataset(tmp_path / "t.csv")
    assert dataset["v"].attrs == {"units": "meter / second"}
    assert dataset["v"].values.tolist() == [1.5, 2.5]
    assert units.Quantity(dataset["v"].values, dataset["v"].attrs["units"])[1] == 2.5 * units.meter / units.second
    array = xr.DataArray([1, 2] * units.kelvin, dims="x", name="t", attrs={"long_name": "heat"})
    sa.write(tmp_path / "t.csv", array)
    assert sa.read_dataset(tmp_path / "t.csv")["t"].attrs == {"units": "kelvin", "long_name": "heat"}


def test_ragged_lists_are_awkward_arrays(tmp_path: Path) -> None:
    pytest.importorskip("awkward")
    sa.write(tmp_path / "t.csv", {"e": [[1, 2], [], [3]], "s": [["a"], ["b", "c"]], "x": [1.5]})
    arrays = sa.read(tmp_path / "t.csv")
    assert arrays["e"].to_list() == [[1, 2], [], [3]]
    assert arrays["s"].to_list() == [["a"], ["b", "c"]]
    assert arrays["x"].tolist() == [1.5]


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (np.ma.array([1.5, np.nan], mask=[True, False]), "value.filled(np.nan)"),
        ([np.ma.array([1, 2], mask=[0, 1]), np.ma.array([3, 4])], "np.ma.stack(value)"),
        (pd.Series(pd.date_range("2020", periods=1, tz="dateutil/Europe/Berlin")), "column.dt.tz_convert('UTC')"),
        ([NOON.replace(tzinfo=dt.UTC), NOON.astimezone(dt.timezone(dt.timedelta(hours=1)))], "[t.astimezone("),
    ],
)
def test_the_line_of_advice_works_when_it_is_pasted(array: Any, line: str, tmp_path: Path) -> None:
    with pytest.raises(sa.DTypeError) as caught:
        sa.write(tmp_path / "t.csv", {"x": array})
    assert line in str(caught.value)
    if line.startswith("["):
        line = "[t.astimezone(datetime.timezone.utc) for t in values]"
        assert line in str(caught.value)
    given = {"np": np, "datetime": dt, "value": array, "values": array, "column": array}
    sa.write(tmp_path / "t.csv", {"x": eval(line, given)})
    assert list(sa.check(tmp_path / "t.csv")) == []


# Descriptions that others have written -------------------------------------------------------------------------------


LISTS = {
    "lists": pd.DataFrame({"l": [[1, 2], [3], []], "n": [1, 2, 3]}),
    "one missing": pd.DataFrame({"l": [[1, 2], None, []]}),
    "of one length, with an index": pd.DataFrame({"l": [[1, 2], [3, 4]]}, index=["a", "b"]),
    "text": pd.DataFrame({"l": [["a"], ["b", "ü"]], "x": [1.5, 2.5]}, index=pd.Index([5, 6], name="k")),
    "lists of lists": pd.DataFrame({"l": [[[1], [2, 3]], []]}),
    "booleans": pd.DataFrame({"l": [[True, False], []]}),
}


@needing("awkd")
@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx"])
@pytest.mark.parametrize("kind", LISTS)
def test_a_column_of_lists_comes_back(kind: str, suffix: str, tmp_path: Path) -> None:
    ak = pytest.importorskip("awkward")
    path, frame = tmp_path / f"t.{suffix}", LISTS[kind]
    sa.write(path, frame)
    pd.testing.assert_frame_equal(sa.read_frame(path), frame)
    assert isinstance(sa.read(path, ["l"])["l"], ak.Array)
    assert list(sa.check(path)) == []
    if suffix != "json":
        with pytest.raises(sa.DTypeError, match=r"l: .*(cannot hold lists|not rectangular)"):
            sa.write_table(path, frame)


def test_lists_of_polars_and_arrow_are_awkward_arrays(tmp_path: Path) -> None:
    pytest.importorskip("awkward")
    pa = pytest.importorskip("pyarrow")
    lists = [[1, 2], None, [], [3]]
    for column in (pl.DataFrame({"l": lists}), pa.table({"l": lists}), pl.Series("l", lists)):
        sa.write(tmp_path / "t.csv", column)
        assert sa.read(tmp_path / "t.csv")["l"].to_list() == lists
        assert sa.read_frame(tmp_path / "t.csv")["l"].tolist() == lists
    for wrong in ([[1, "a"]], [[dt.date(2020, 1, 1)]], [[2**53 + 1, 0.5]]):
        with pytest.raises(sa.DTypeError, match="l: lists in a column are kept where"):
            sa.write(tmp_path / "u.csv", pd.DataFrame({"l": wrong}))
        sa.write(tmp_path / "u.csv", pd.DataFrame({"l": pd.Series(wrong).map(str)}))


@pytest.mark.parametrize("package", ["pandas", "pandas with Arrow", "polars", "arrow"])
def test_the_line_for_a_column_of_fields_works_when_it_is_pasted(package: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    table: Any = pl.DataFrame({"s": rows, "n": [5, 6]})
    if package == "pandas":
        table = pd.DataFrame({"s": rows, "n": [5, 6]}, index=[7, 8])
    elif package != "polars":
        table = table.to_arrow()
    if package == "pandas with Arrow":
        table = table.to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(sa.DTypeError, match=r"^s: ") as refused:
        sa.write(tmp_path / "t.csv", table)
    line = str(refused.value).replace("a column, ", ": ").rpartition(": ")[2]
    sa.write(tmp_path / "t.csv", eval(line, {"df": table, "table": table, "pd": pd}))
    frame = sa.read_frame(tmp_path / "t.csv")
    assert frame[next(name for name in frame if name.endswith("b"))].tolist() == ["x", "y"]
