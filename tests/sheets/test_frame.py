"""The columns of a sheet as a pandas DataFrame, there and back, also through what pandas reads and writes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sheetarray as sa
from sheetarray.testing.cases import CASES, assert_same


@pytest.mark.parametrize("case", CASES)
def test_every_array_comes_back_from_a_frame(case: str) -> None:
    frame = sa.to_frame({"x": CASES[case]})
    assert frame["x"].tolist()[: len(sa.to_linear(CASES[case]))] == sa.to_linear(CASES[case])
    assert_same(sa.from_frame(frame)["x"], CASES[case])


def test_columns_are_named_and_padded_with_none() -> None:
    frame = sa.to_frame({"b": np.arange(3), "a": np.array("x")})
    assert list(frame.columns) == ["b", "a"]
    assert frame["a"].tolist()[-1] is None
    result = sa.from_frame(frame)
    assert list(result) == ["b", "a"]
    assert result["a"].shape == ()


@pytest.mark.parametrize(
    "read", [{}, {"dtype": str, "keep_default_na": False}, {"dtype": str}, {"header": None}], ids=str
)
def test_what_pandas_wrote_to_csv_and_read_from_it_comes_back(read: dict[str, Any]) -> None:
    arrays = {
        "t": np.array([[1.5, np.nan]]),
        "i": np.array([1, 2**60]),
        "s": np.array(["a", "b"]),
        "z": np.array(2 + 1j),
    }
    text = sa.to_frame(arrays).to_csv(index=False)
    result = sa.read_csv(io.StringIO(text))
    for name, array in arrays.items():
        assert_same(result[name], array)
    arrays.pop("t") if "keep_default_na" not in read else None  # pandas makes NaN of "NaN": a blank
    frame = pd.read_csv(io.StringIO(text), **read)
    result = sa.from_frame(frame, list(arrays))
    for name, array in arrays.items():
        assert_same(result[name], array)


def test_blanks_of_pandas_are_blanks() -> None:
    frame = sa.to_frame({"x": np.array([1.0, 2.0])})
    for blank in (np.nan, None, pd.NA, pd.NaT):
        frame.loc[len(frame) - 1, "x"] = blank
        with pytest.raises(sa.FormatError) as caught:
            sa.from_frame(frame)
        assert caught.value.location == f"A{len(frame) + 1}"
        assert np.isnan(sa.from_frame(frame, missing="nan")["x"]).tolist() == [False, True]


def test_an_edited_cell_is_named_by_its_address_in_a_sheet() -> None:
    frame = sa.to_frame({"a": np.arange(3), "b": np.arange(3)})
    frame.loc[len(frame) - 1, "b"] = 2.5
    with pytest.raises(sa.FormatError) as caught:
        sa.from_frame(frame)
    assert (caught.value.location, caught.value.element) == (f"B{len(frame) + 1}", "b[2]")


def test_names_select() -> None:
    frame = sa.to_frame({"a": np.arange(3), "b": np.arange(2)})
    assert list(sa.from_frame(frame, ["b"])) == ["b"]
    with pytest.raises(sa.NotFoundError, match="'a', 'b'"):
        sa.from_frame(frame, ["c"])


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(), pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": []})], ids=["nothing", "numbers", "empty"]
)
def test_a_frame_without_an_array_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(sa.FormatError):
        sa.from_frame(frame)


def test_names_that_start_like_formulas_are_no_formulas_in_a_frame() -> None:
    frame = sa.to_frame({"=x": np.arange(2), "'y": np.array(["=1", "'"])})
    assert list(frame.columns) == ["=x", "'y"]
    result = sa.from_frame(frame)
    assert list(result) == ["=x", "'y"]
    assert result["'y"].tolist() == ["=1", "'"]


# DataFrames and Datasets as what is written ------------------------------------------------------------------


def written(arrays: Any) -> dict[str, Any]:
    file = io.BytesIO()
    sa.write(file, arrays, format="csv")
    file.seek(0)
    return sa.read(file, format="csv")


def test_a_dataframe_is_written_column_by_column() -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2],
            "f": [0.5, np.nan],
            "s": ["a", "007"],
            "b": [True, False],
            "d": pd.to_datetime(["2020-01-01", None]),
            "n": pd.array([1, None], dtype="Int64"),
            "g": pd.array([True, None], dtype="boolean"),
            "m": ["a", None],
        }
    )
    result = written(frame)
    assert list(result) == list(frame.columns)
    assert_same(result["i"], np.array([1, 2]))
    assert_same(result["f"], np.array([0.5, np.nan]))
    assert_same(result["s"], np.array(["a", "007"]))
    assert_same(result["b"], np.array([True, False]))
    assert str(result["d"][0])[:10] == "2020-01-01"
    assert np.isnat(result["d"][1])
    for name, expected in {"n": [1, None], "g": [True, None], "m": ["a", None]}.items():
        assert result[name].dtype == object
        assert result[name].tolist() == expected


def test_an_index_with_a_name_comes_first_and_a_counter_does_not() -> None:
    frame = pd.DataFrame({"x": [1, 2]})
    assert list(written(frame)) == ["x"]
    assert list(written(frame.set_axis(["a", "b"], axis=0))) == ["index", "x"]
    assert list(written(frame.rename_axis("key"))) == ["key", "x"]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(sa.LimitError, match="'x'"):
        written(pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_times_with_a_zone_are_written_as_instants_in_utc() -> None:
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Berlin")})
    assert written(frame)["d"].tolist() == np.array(["2019-12-31T23:00"], frame["d"].dtype.base).tolist()


def test_a_series_is_one_array() -> None:
    assert_same(written(pd.Series([1.5, 2.5], name="s"))["s"], np.array([1.5, 2.5]))
    assert list(written(pd.Series([1.5]))) == ["array"]
    assert_same(written({"k": pd.Series(["a", "b"])})["k"], np.array(["a", "b"]))


def test_the_variables_of_an_xarray_dataset_are_written() -> None:
    xarray = pytest.importorskip("xarray")
    dataset = xarray.Dataset({"t": (("y", "x"), np.arange(6.0).reshape(2, 3))}, coords={"x": [10, 20, 30]})
    result = written(dataset)
    assert set(result) == {"t", "x"}
    assert_same(result["t"], np.arange(6.0).reshape(2, 3))
    assert set(written(dataset["t"])) == {"t", "x"}
    assert list(written(dataset["t"].drop_vars("x"))) == ["t"]


@pytest.mark.parametrize("value", [[[1, 2], [3, 4]], 1.5, True, (1, 2), np.float32(2)])
def test_what_numpy_makes_an_array_of_is_written(value: Any) -> None:
    assert_same(written({"x": value})["x"], np.asarray(value))
    assert_same(written(value)["array"], np.asarray(value))
    assert_same(written({"x": "text"})["x"], np.asarray("text"))


@pytest.mark.parametrize("value", [{}, {"x": {1, 2}}, {"x": object()}, {"x": lambda: 1}])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(sa.SheetArrayError):
        written(value)
