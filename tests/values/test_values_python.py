"""What Python, NumPy and xarray hand over: exact, or refused by name; never what `np.array` makes of it in silence."""

from __future__ import annotations

import datetime
import enum
import pathlib
import types
import uuid
from array import array as typed_array
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import cross, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import SUFFIXES, Refused, check_handed, moments, spans

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

BIG = 2**53 + 3
FAR = np.datetime64(2**62, "Y")


class Colour(enum.IntEnum):
    RED = 1


class Word(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another"


VALUES: dict[str, tuple[Any, Any]] = {
    "integers": ([1, 2], np.array([1, 2])),
    "integers of two kinds": ([2**63, -1], objects(2**63, -1)),
    "NumPy's integers of two kinds": ([np.uint64(2**63), np.int64(-1)], objects(2**63, -1)),
    "integers up to uint64": ([2**64 - 1, 1], np.array([2**64 - 1, 1], "u8")),
    "integers beyond uint64": ([2**64, 1], objects(2**64, 1)),
    "an integer beyond uint64": (2**70, np.array(2**70, dtype=object)),
    "integers with None": ([1, None], objects(1, None)),
    "integers and floats": ([1, 2.5], np.array([1, 2.5])),
    "large integers and floats": ([BIG, 0.5], objects(BIG, 0.5)),
    "large NumPy integers and floats": ([np.int64(BIG), 0.5], objects(BIG, 0.5)),
    "2^53 and floats": ([2**53, 0.5], np.array([2.0**53, 0.5])),
    "booleans": ([True, False], np.array([True, False])),
    "booleans and integers": ([True, 2], objects(True, 2)),
    "booleans and text": ([True, "a"], objects(True, "a")),
    "integers and text": ([1, "a"], objects(1, "a")),
    "floats and text": ([1.5, "x"], objects(1.5, "x")),
    "nested integers and text": ([[1, "a"], [2, "b"]], objects(1, "a", 2, "b").reshape(2, 2)),
    "text": (["a", "007", "ü"], np.array(["a", "007", "ü"])),
    "text and None": (["a", None], objects("a", None)),
    "text ending with NUL": (["a\0"], Refused("x: element 0 ends with NUL", "strip")),
    "text alone ending with NUL": ("a\0", Refused("x: element 0 ends with NUL", "strip")),
    "one text": ("text", np.array("text")),
    "NumPy's text": (np.str_("text"), np.array("text")),
    "None": (None, np.array(None, dtype=object)),
    "complex": ([1j, 2], np.array([1j, 2])),
    "large integers and complex": ([1j, BIG], Refused("x[0] is a complex", "complex128")),
    "floats and NaN": ([1.5, float("nan")], np.array([1.5, np.nan])),
    "floats, None and NaN": ([None, float("nan")], Refused("x[1] is nan", "None")),
    "float32 and floats": ([np.float32(0.1), 0.1], np.array([np.float32(0.1), 0.1], "f8")),
    "nothing": ([], np.array([])),
    "lists of nothing": ([[], []], np.zeros((2, 0))),
    "a tuple of tuples": (((1, 2), (3, 4)), np.array([[1, 2], [3, 4]])),
    "lists of two lengths and kinds": ([[1], ["a", 2]], Refused("x: lists of different lengths", "awkward.Array")),
    "lists of two lengths, of doubles and what they round": ([[0.5], [BIG, 2]], Refused("x: lists", "awkward.Array")),
    "arrays of two lengths": ([np.arange(2), np.arange(3)], Refused("x: no array", "")),
    "arrays of one dtype": ([np.arange(2, dtype="i2")] * 2, np.array([[0, 1], [0, 1]], "i2")),
    "arrays of two dtypes": ([np.array([BIG]), np.array([0.5])], objects(BIG, 0.5).reshape(2, 1)),
    "masked arrays": ([np.ma.array([1], mask=[True])], Refused("x: a list of masked arrays", "np.ma.stack(value)")),
    "bytes": (b"abc", Refused("x: ", "decode")),
    "a list of bytes": ([b"abc"], Refused("x[0] is bytes", "decode")),
    "text and bytes": (["a", b"b"], Refused("x[1] is bytes", "decode")),
    "a bytearray": (bytearray(b"ab"), Refused("x: a bytearray", "frombuffer")),
    "a memoryview": (memoryview(b"ab"), np.array([97, 98], "u1")),
    "an array.array": (typed_array("h", [1, 2]), np.array([1, 2], "i2")),
    "a dict": ({"a": 1}, Refused("x: a dict", "each key")),
    "a mapping proxy": (types.MappingProxyType({}), Refused("x: a mappingproxy", "")),
    "a set": ({1, 2}, Refused("x: a set", "sorted")),
    "a range": (range(3), Refused("x: a range", "list(value)")),
    "a generator": ((n for n in (1, 2)), Refused("x: a generator", "list(value)")),
    "an iterator": (iter([1, 2]), Refused("x: a list_iterator", "list(value)")),
    "a path": (pathlib.PurePosixPath("a"), Refused("x: a PurePosixPath", "str(value)")),
    "a Fraction": (Fraction(1, 3), Refused("x: a Fraction", "str(value)")),
    "Fractions": ([Fraction(1, 3)], Refused("x[0] is a Fraction", "str(value)")),
    "a Decimal": (Decimal("1.10"), np.array(1.1)),
    "Decimals and floats": ([Decimal("1.10"), 1.5], Refused("x[0] is a Decimal", "every digit")),
    "dates": ([datetime.date(2020, 1, 1)], moments("D", "2020-01-01")),
    "datetimes": ([datetime.datetime(2020, 1, 1)], moments("us", "2020-01-01")),
    "dates in lists of lists": ([[datetime.date(2020, 1, 1), None]], moments("D", "2020-01-01", "NaT").reshape(1, 2)),
    "dates and datetimes": (
        [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)],
        Refused("x[0] is a date", "datetime64[D]"),
    ),
    "times": ([datetime.time(1)], np.array(["01:00:00"])),
    "timedeltas": ([datetime.timedelta(1)], spans("us", 86_400_000_000)),
    "a UUID": (uuid.UUID(int=1), np.array("00000000-0000-0000-0000-000000000001")),
    "a function": (len, Refused("x: a builtin_function_or_method", "")),
    "a class": (int, Refused("x: a type", "")),
    "an integer with a name": ([Colour.RED, 2], np.array([1, 2])),
    "an integer with a name and text": ([Colour.RED, "a"], objects(1, "a")),
    "text of a class of its own": ([Word("mine")], np.array(["mine"])),
    "text of a class of its own and None": ([Word("mine"), None], objects("mine", None)),
    "moments": ([np.datetime64("2020-01-01"), np.datetime64("2021-01-01")], moments("D", "2020-01-01", "2021-01-01")),
    "moments of two units": (
        [np.datetime64("2020-01-01"), np.datetime64("2020-01-01T01")],
        moments("h", "2020-01-01T00", "2020-01-01T01"),
    ),
    "moments that overflow": ([FAR, np.datetime64("2020-01-01T00:00:00")], Refused("x: ", "each unit")),
    "moments and None": ([np.datetime64("2020-01-01", "ns"), None], Refused("x[0] is a datetime64", "np.array")),
    "durations": ([np.timedelta64(5, "s"), np.timedelta64("NaT", "s")], spans("s", 5, "NaT")),
    "durations and integers": ([np.timedelta64(1, "s"), 5], Refused("x[0] is a timedelta64", "np.array")),
    # NumPy
    "a scalar": (np.float32(0.1), np.array(0.1, "f4")),
    "a moment": (np.datetime64("2020-01-01"), np.array("2020-01-01", "M8[D]")),
    "a moment without a unit": (np.full(1, -(2**63)).view("M8"), Refused("x: ", "cast it first")),
    "a duration without a unit": (np.array(5).view("m8")[()], Refused("x: ", "cast it first")),
    "a masked array": (np.ma.array([1, 2], mask=[0, 1]), objects(1, None)),
    "a masked array of floats": (np.ma.array([1.5, 2], mask=[0, 1]), np.array([1.5, np.nan])),
    "a masked array without masked elements": (np.ma.array([1, 2], "i2"), np.array([1, 2], "i2")),
    "a masked array of dates": (np.ma.array(moments("D", "2020", "2021"), mask=[0, 1]), moments("D", "2020", "NaT")),
    "a masked array with NaN": (
        np.ma.array([np.nan, 2], mask=[0, 1]),
        Refused("x: has masked elements and NaN", "value.filled(np.nan)"),
    ),
    "objects that are dates": (objects(datetime.date(2020, 1, 1), None), moments("D", "2020-01-01", "NaT")),
    "a matrix": (np.asarray([[1, 2]]).view(np.matrix), np.array([[1, 2]])),
    "void": (np.zeros(2, "V3"), Refused("x: ", "uint8")),
    "byte strings": (np.array([b"a"]), Refused("x: ", "decode")),
    "longdouble": (np.array([1], "longdouble"), Refused("x: ", "float64")),
    "longdouble in objects": (objects(np.longdouble(1)), Refused("x[0] is a longdouble", "str(value)")),
    "clongdouble": (np.array([1], "clongdouble"), Refused("x: ", "complex128")),
    "objects": (objects(1, "a", None, 0.5, True), objects(1, "a", None, 0.5, True)),
    "objects of NumPy": (objects(np.int8(1), np.str_("a"), np.bool_(True)), objects(1, "a", True)),
    "moments in nanoseconds in objects": (objects(np.datetime64(5, "ns")), Refused("x[0] is a datetime64", "np.array")),
    "durations in objects": (objects(np.timedelta64(5, "ns")), Refused("x[0] is a timedelta64", "np.array")),
    "bytes in objects": (objects(b"a"), Refused("x[0] is bytes", "decode")),
    "dicts in objects": (objects({}), Refused("x[0] is a dict", "each key")),
    "NaN in objects": (objects(1, float("nan")), Refused("x[1] is nan", "None")),
    "masked in objects": (objects(np.ma.masked), Refused("x[0] is a MaskedConstant", "None")),
    "a number with a name in objects": (objects(Colour.RED), objects(1)),
    "text of variable width": (np.array(["a", "bb"], np.dtypes.StringDType()), np.array(["a", "bb"])),
    "text with missing values": (
        np.array(["a", None], np.dtypes.StringDType(na_object=None)),
        objects("a", None),
    ),
    "text with NaN": (np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)), objects("a", None)),
    "text with a name for what is missing": (
        np.array(["a", "none"], np.dtypes.StringDType(na_object="none")),
        np.array(["a", "none"]),
    ),
    "0-d": (np.array(5), np.array(5)),
}


@pytest.mark.parametrize(("kind", "suffix"), cross(VALUES, SUFFIXES, SUFFIXES[0]))
def test_a_value_comes_back_or_is_refused_by_name(kind: str, suffix: str, tmp_path: Path) -> None:
    value, expected = VALUES[kind]
    if kind in ("a generator", "an iterator"):
        value = iter([1, 2]) if kind == "an iterator" else (n for n in (1, 2))
    check_handed({"x": value}, expected if isinstance(expected, Refused) else {"x": expected}, suffix, tmp_path)


@pytest.mark.parametrize("kind", VALUES)
def test_flat_lists_take_the_same(kind: str) -> None:
    value, expected = VALUES[kind]
    if isinstance(expected, Refused):
        with pytest.raises(sa.DTypeError):
            sa.to_linear(value)
    elif expected.dtype != object or all(type(x) is not int or abs(x) <= 2**53 for x in expected.ravel().tolist()):
        assert_same(sa.from_linear(sa.to_linear(value)), expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Refused("None is not an array", "a mapping of names")),
        ("text", Refused("a str is not an array", "a mapping of names")),
        (np.str_("text"), Refused("a str_ is not an array", "a mapping of names")),
        (b"bytes", Refused("bytes is not an array", "a mapping of names")),
        (pathlib.Path("t.csv"), Refused("a PosixPath is not an array", "a mapping of names")),
        ({1, 2}, Refused("array: a set", "sorted")),
        (object(), Refused("array: an object", "")),
        (iter([1]), Refused("array: a list_iterator", "list(value)")),
        ([1, 2], {"array": np.array([1, 2])}),
        (1.5, {"array": np.array(1.5)}),
        (np.array("t"), {"array": np.array("t")}),
        ({}, Refused("no array to write", "", sa.LimitError)),
        ({1: [1], 2.5: [2]}, {"1": np.array([1]), "2.5": np.array([2])}),
        ({1: [1], "1": [2]}, Refused("two arrays", "'1'", sa.LimitError)),
        ({Word("mine"): [1]}, {"mine": np.array([1])}),
        ({("a", 1): [1]}, {"a 1": np.array([1])}),
        (np.zeros(2, [("a", "i4"), ("b", [("c", "f8", 2)])]), {"a": np.zeros(2, "i4"), "b.c": np.zeros((2, 2))}),
        ({"x": np.rec.array([(1,)], dtype=[("a", "i4")])}, {"x.a": np.array([1], "i4")}),
        (
            [{"a": 1, "b": "x"}, {"b": "y", "c": 2**70}],
            {"a": objects(1, None), "b": np.array(["x", "y"]), "c": objects(None, 2**70)},
        ),
        ([{"a": {"b": 1}}], Refused("a: rows within rows", "json_normalize(rows)")),
        ({"x": [{"a": 1}]}, Refused("x[0] is a dict", "each key")),
        ({None: [1]}, Refused("None", "names are text")),
        ({b"a": [1]}, Refused("b'a'", "names are text")),
        (types.MappingProxyType({"a": [1]}), {"a": np.array([1])}),
    ],
)
def test_what_write_takes_at_the_top(value: Any, expected: Any, tmp_path: Path) -> None:
    check_handed(value, expected, "csv", tmp_path)


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
    check_handed({"k": dataset["n"]}, {"k": objects(BIG, None)}, "csv", tmp_path)
    check_handed(dataset[["t"]].drop_vars("time").coords, {"x": np.array([10, 20, 30])}, "csv", tmp_path)


def test_what_no_array_holds_of_xarray(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    dataset = xr.Dataset({"t": ("x", [1.5])})
    tree = xr.DataTree.from_dict({"/": dataset, "/child": dataset})
    check_handed(tree, Refused("a tree", "to_dataset"), "csv", tmp_path)
    check_handed({"k": tree}, Refused("k: a tree", "to_dataset"), "csv", tmp_path)
    check_handed({"k": dataset}, Refused("k: a Dataset", "an entry for each column"), "csv", tmp_path)
    check_handed([dataset["t"]], Refused("array: a list with a DataArray", "mapping"), "csv", tmp_path)
    check_handed(dataset.groupby("t"), Refused("array: a DatasetGroupBy", ""), "csv", tmp_path)
    objects_inside = xr.Dataset({"o": ("x", objects(Decimal(1), None))})
    check_handed(objects_inside, {"o": np.array([1.0, np.nan])}, "csv", tmp_path)
    check_handed(xr.DataArray([1], name=("a", 1)), {"a 1": np.array([1])}, "json", tmp_path)


def test_dates_of_another_calendar_are_refused_with_advice(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    cftime = pytest.importorskip("cftime")
    dates = objects(cftime.DatetimeNoLeap(2000, 1, 1), cftime.DatetimeNoLeap(2001, 1, 1))
    check_handed(
        xr.Dataset({"t": ("t", dates)}), Refused("t[0] is a DatetimeNoLeap", "convert_calendar"), "csv", tmp_path
    )
    check_handed({"t": dates}, Refused("t[0] is a DatetimeNoLeap", "convert_calendar"), "json", tmp_path)
