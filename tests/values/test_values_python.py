"""What Python, NumPy and xarray hand over: exact, or refused by name; tests/transcripts/handed.txt has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import Refused, check_handed, moments

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

BIG = 2**53 + 3


class Quantity:
    """A number with a unit, as astropy has it."""

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.array([1.5])

    unit = "m"


def test_quantities_of_astropy_are_refused_as_their_unit_would_be_lost(tmp_path: Path) -> None:
    quantity = type("Quantity", (Quantity,), {"__module__": "astropy.units"})()
    check_handed({"x": quantity}, Refused("x: a Quantity", "value.value"), "csv", tmp_path)
    check_handed({"x": Quantity()}, {"x": np.array([1.5])}, "csv", tmp_path)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=4),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32),
)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(SCALARS, max_size=6))
def test_whatever_stands_in_a_list_equals_what_comes_back(values: list[Any]) -> None:
    array = sa.LinearArray.from_numpy(values).to_numpy()
    assert array.shape == (len(values),)
    for element, value in zip(array.tolist(), values, strict=True):
        plain = value.item() if isinstance(value, np.generic) else value
        element = element.item() if isinstance(element, np.generic) else element
        assert element == plain
        assert isinstance(element, bool) == isinstance(plain, bool)
        assert isinstance(element, str) == isinstance(plain, str)


# xarray ------------------------------------------------------------------------------------------------------


def test_datasets_arrays_and_variables(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pd = pytest.importorskip("pandas")
    values = np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3))
    dataset = xr.Dataset(
        {
            "t": (("y", "x"), values),
            "s": ("y", np.array(["a", "b"])),
            "n": ("y", pd.array([BIG, None], dtype="Int64")),
            "k": ("y", pd.Categorical(["a", None])),
            "o": ("y", objects("a", None)),
        },
        coords={"x": [10, 20, 30], "time": ("y", moments("ns", "2020-01-01", "NaT"))},
    )
    expected = {
        "t": values,
        "s": np.array(["a", "b"]),
        "n": objects(BIG, None),
        "k": objects("a", None),
        "o": objects("a", None),
        "x": np.array([10, 20, 30]),
        "time": moments("ns", "2020-01-01", "NaT"),
    }
    sa.write(tmp_path / "t.csv", dataset)
    arrays = sa.read(tmp_path / "t.csv")
    assert set(arrays) == set(expected)
    for name, array in expected.items():
        assert_same(arrays[name], array)
    bare = dataset["t"].drop_vars(["x", "time"])
    for value, name in ((bare, "t"), (bare.rename(None), "array"), (dataset["t"].variable, "array")):
        check_handed(value, {name: values}, "csv", tmp_path)
    check_handed({"k": dataset["n"]}, {"k": objects(BIG, None), "time": expected["time"]}, "csv", tmp_path)
    check_handed(dataset[["t"]].drop_vars("time").coords, {"x": np.array([10, 20, 30])}, "csv", tmp_path)
