"""Parquet and Arrow: arrays come back as they were, tables are those of other programs, damage is an error."""

from __future__ import annotations

import io
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheetarray.testing.conformance import Conformance


class TestParquet(Conformance):
    suffix, format, text, progress_of = ".parquet", "parquet", False, ("write",)


class TestArrow(Conformance):
    suffix, format, text, progress_of = ".arrow", "arrow", False, ("write",)
    lacks = dict.fromkeys(("empty int", "empty string", "empty generic"), sa.LimitError)


SUFFIXES = (".parquet", ".arrow", ".feather")


def read_foreign(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_are_those_of_any_other_program(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    arrays = {"n": np.array([1, 2]), "s": np.array(["a", "ü"]), "t": np.array(["2020-01-01", "NaT"], "M8[us]")}
    sa.write(path, arrays)
    assert read_foreign(path).to_dict(as_series=False) == {
        "n": [1, 2],
        "s": ["a", "ü"],
        "t": [pl_time("2020-01-01"), None],
    }
    assert list(sa.read(path)) == ["n", "s", "t"]
    times = {
        "s": np.array([5, "NaT"], "M8[s]"),
        "h": np.array([1, 2], "m8[h]"),
        "m": np.array(["2020-01", "1969-12"], "M8[M]"),
    }
    sa.write(tmp_path / f"times{suffix}", times)
    theirs = read_foreign(tmp_path / f"times{suffix}")
    assert [str(theirs[name].dtype.base_type()) for name in times] == ["Datetime", "Duration", "Date"]
    for name, array in sa.read(tmp_path / f"times{suffix}").items():
        assert_same(array, times[name])
    assert list(sa.read_columns(path, ["t", "n"])) == ["t", "n"]


def pl_time(text: str) -> Any:
    return np.datetime64(text, "us").item()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_array_of_more_dimensions_is_a_table_with_coordinates(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    array = np.arange(6.0).reshape(2, 3)
    sa.write(path, {"t": array})
    table = read_foreign(path).drop("sheetarray.json", strict=False)
    assert table.columns == ["axis_0", "axis_1", "t"]
    assert table["axis_1"].to_list() == [0, 1, 2, 0, 1, 2]
    assert_same(sa.read(path)["t"], array)
    assert sa.scan(path)["t"].shape == (2, 3)
    assert sa.read_columns(path, ["t"])["t"].tolist() == array.ravel().tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_dataset_is_a_table_whose_coordinates_are_columns(suffix: str, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    path = tmp_path / f"t{suffix}"
    dataset = xr.Dataset(
        {"t": (("time", "lat"), np.arange(6, dtype="f4").reshape(3, 2), {"units": "K"}), "w": ("lat", [0.5, 1.5])},
        coords={
            "time": pd.date_range("2020", periods=3, tz="Europe/Berlin", unit="us"),
            "mask": (("lat", "time"), np.eye(2, 3) > 0),
        },
    )
    sa.write(path, dataset)
    xr.testing.assert_identical(sa.read_dataset(path), dataset)
    xr.testing.assert_identical(sa.read_dataset(path, ["w"]), dataset[["w"]])
    assert sa.scan(path)["t"].dims == ("time", "lat")
    assert list(sa.check(path)) == []
    table = read_foreign(path)
    assert table.height == 6
    assert table["lat"].to_list() == [0, 1] * 3
    assert str(table["time"].dtype) == "Datetime(time_unit='us', time_zone='Europe/Berlin')"


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_rows_that_were_sorted_or_changed_make_no_arrays(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    sa.write(path, {"t": np.arange(6.0).reshape(2, 3)})
    table = read_foreign(path)
    said = pl.read_parquet_metadata(path).get("sheetarray") if suffix == ".parquet" else None
    text = table["sheetarray.json"][0] if said is None else None

    def save(changed: pl.DataFrame) -> None:
        if said is not None:
            changed.write_parquet(path, metadata={"sheetarray": said})
            return
        column = pl.Series("sheetarray.json", [text, *[None] * (changed.height - 1)], dtype=pl.String)
        changed.with_columns(column).write_ipc(path)

    for changed in (table.reverse(), table.head(5), pl.concat([table, table])):
        save(changed)
        with pytest.raises(sa.FormatError, match="since the file was written"):
            sa.read(path)
        assert [finding.severity for finding in sa.check(path)].count("error") >= 1
        assert len(sa.read_columns(path)["t"]) == changed.height
    save(table.with_columns(pl.col("t") * 2, pl.lit(1).alias("new")))
    assert sa.read(path)["t"].tolist() == [[0, 2, 4], [6, 8, 10]]
    assert sa.read(path)["new"].tolist() == [1] * 6


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_arrays_of_several_lengths_are_refused_by_name(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match=r"'a' has the shape \(2,\), and 'b' \(3,\).*a file for each"):
        sa.write(tmp_path / f"t{suffix}", {"a": np.arange(2), "b": np.arange(3)})
    with pytest.raises(sa.LimitError, match="the same length"):
        sa.write_table(tmp_path / f"t{suffix}", {"a": np.zeros((2, 2))})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_columns_of_others_are_read_as_pandas_and_polars_hold_them(suffix: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame(
        {"n": [1, None], "s": [None, "a"], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "p": [{"a": 1}, {"a": 2}]}
    )
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    arrays = sa.read(path, ["n", "s", "c"])
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "n": [1, None],
        "s": [None, "a"],
        "c": ["x", "y"],
    }
    with pytest.raises(sa.FormatError, match=r"column 'p'.*Struct.*names=\['n', 's', 'c'\] reads the oth"):
        sa.read(path)
    (finding,) = sa.check(path)
    assert finding.array == "p"
    table = pa.table({"z": pa.array([1, 2], pa.timestamp("us", "UTC")), "d": pa.array([1, 2], pa.decimal128(5, 2))})
    if suffix == ".parquet":
        pa.parquet = pytest.importorskip("pyarrow.parquet")
        pa.parquet.write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    assert sa.read(path)["z"].dtype == "M8[us]"
    assert sa.read(path)["d"].tolist() == [1.0, 2.0]


def test_a_table_is_converted_and_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": pd.array([1, None], "Int64"), "t": [0.5, np.nan]}, index=pd.Index(["a", "b"], name="k"))
    for suffix in SUFFIXES:
        sa.write(tmp_path / f"t{suffix}", frame)
        pd.testing.assert_frame_equal(sa.read_frame(tmp_path / f"t{suffix}"), frame)
        sa.convert(tmp_path / f"t{suffix}", tmp_path / "t.csv")
        pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.csv"), frame)
        sa.write_table(tmp_path / f"table{suffix}", frame)
        assert "sheetarray.json" not in read_foreign(tmp_path / f"table{suffix}").columns
        assert sa.read_columns(tmp_path / f"table{suffix}")["id"].tolist() == [1, None]
    with pytest.raises(sa.LimitError, match="leave out header"):
        sa.read_columns(tmp_path / "t.parquet", header=2)
    assert sa.read_columns(tmp_path / "t.parquet", ["t"], dtype="float32")["t"].dtype == "float32"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("values", "dtype", "outcome"),
    [
        ([300, 1], "uint8", "n[0]: '300' is beyond the range of uint8"),
        ([-1, 1], np.uint64, "n[0]"),
        ([1, None], "int16", "n[1]"),
        ([1.5, 2.0], "int32", "n[0]: expected an integer, found '1.5'"),
        ([2.0, 7.0], "int32", [2, 7]),
        ([70000.0], "float16", "n[0]"),
        ([0.1], "float32", [np.float32(0.1).item()]),
        ([2**53 + 1], "float64", [2.0**53]),
        ([1, 0], "bool", [True, False]),
        ([3], "bool", "n[0]: expected TRUE or FALSE"),
        (["7", "x"], "int8", "n[1]"),
        (["007", None], str, ["007", ""]),
        ([True, False], "string", ["TRUE", "FALSE"]),
        ([300], "M8[s]", "n[0]"),
        ([datetime(2024, 1, 1)], "M8[D]", [date(2024, 1, 1)]),
        ([datetime(2024, 1, 1, 12)], "M8[D]", "n[0]"),
        ([1], ",", sa.DTypeError),
        ([1], "f4,i4", sa.DTypeError),
    ],
)
def test_a_given_dtype_never_wraps_or_cuts_a_value(
    tmp_path: Path, suffix: str, values: list[Any], dtype: Any, outcome: Any
) -> None:
    """It was NumPy's cast, which makes 44 of 300 and 1 of 1.5, and whatever it likes of a null."""
    frame = pl.DataFrame({"n": values})
    frame.write_parquet(tmp_path / "t.parquet") if suffix == ".parquet" else frame.write_ipc(tmp_path / f"t{suffix}")
    if isinstance(outcome, list):
        assert sa.read_columns(tmp_path / f"t{suffix}", dtype={"n": dtype})["n"].tolist() == outcome
        return
    error = sa.FormatError if isinstance(outcome, str) else outcome
    with pytest.raises(error, match=re.escape(outcome) if isinstance(outcome, str) else None):
        sa.read_columns(tmp_path / f"t{suffix}", dtype=dtype)
    with pytest.raises(sa.NotFoundError, match="'m'; there is 'n'"):
        sa.read_columns(tmp_path / f"t{suffix}", dtype={"m": dtype})


def test_a_layout_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"t": [1.5]})
    for text in ("", "{", "[]", "{}", '{"dims": [["x", -1]], "axes": [], "labels": "", "arrays": {}}', "[" * 5000):
        frame.write_parquet(path, metadata={"sheetarray": text})
        with pytest.raises(sa.FormatError):
            sa.read(path)
        assert len(list(sa.check(path))) == 1


def test_columns_are_chosen_of_more_than_is_read_at_once(tmp_path: Path) -> None:
    path, column = tmp_path / "t.parquet", pl.repeat(True, 2**26, eager=True)
    pl.DataFrame([column.alias(f"c{number}") for number in range(17)]).write_parquet(path)
    assert path.stat().st_size < 2**22
    assert len(sa.scan(path)) == 17
    assert sa.read(path, ["c7", "c3"])["c7"].all()  # a byte for each element
    with pytest.raises(sa.FormatError, match=r"67,108,864 rows of 17 .* more than is read at once .*names="):
        sa.read(path)


def test_an_arrow_file_without_rows_keeps_no_shapes(tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match=r"write \.parquet"):
        sa.write(tmp_path / "t.arrow", {"e": np.zeros((0, 3))})
    sa.write(tmp_path / "t.parquet", {"e": np.zeros((0, 3))})
    assert sa.read(tmp_path / "t.parquet")["e"].shape == (0, 3)
    file = io.BytesIO()
    sa.write(file, {"e": np.zeros(0)}, format="arrow")
    assert sa.read(io.BytesIO(file.getvalue()), format="arrow")["e"].shape == (0,)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_table_without_columns_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    (pl.DataFrame().write_parquet if suffix == ".parquet" else pl.DataFrame().write_ipc)(path)
    with pytest.raises(sa.FormatError, match="no columns"):
        sa.read(path)
    assert [finding.message for finding in sa.check(path)] == ["no columns"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("count", [1, 100])
def test_columns_that_no_array_holds_are_named_with_the_line_that_reads_the_others(
    suffix: str, count: int, tmp_path: Path
) -> None:
    """Nothing of the line is cut: it is run, with a hundred columns as with one."""
    path = tmp_path / f"t{suffix}"
    others = {f"column {number}": [number, 2] for number in range(count)}
    frame = pl.DataFrame({"l": [[1], [2, 3]], **others, "p": [{"a": 1}, {"a": 2}], "s": ["a", "b"]})
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    for read, option in ((sa.read, "names"), (sa.read_columns, "columns")):
        for name, kind in (("l", "a column of lists cannot be read as an array"), ("p", "Struct")):
            with pytest.raises(sa.FormatError, match=f"column '{name}': .*{kind}") as caught:
                read(path, **{option: [name, "s"]})
            line = str(caught.value.hint).removesuffix(" reads the others")
            arrays = eval(f"read(source, {line})", {"read": read, "source": path, "sheetarray": sa})
            assert list(arrays) == [*others, "s"]
            assert line.startswith(f"{option}=[")
