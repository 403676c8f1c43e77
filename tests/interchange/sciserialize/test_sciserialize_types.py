"""Times, DataFrames and extension types of sciserialize, both ways; and what others wrote."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sheetarray as sa
from sheetarray.interchange import sciserialize as sci
from sheetarray.testing.cases import assert_same, objects

# Times -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2015-02-18T21:40:23", datetime(2015, 2, 18, 21, 40, 23)),
        ("2015-02-18 21:40:23", datetime(2015, 2, 18, 21, 40, 23)),
        ("2015-02-18T21:40", datetime(2015, 2, 18, 21, 40)),
        ("2015-02-18T21:40:23.5", datetime(2015, 2, 18, 21, 40, 23, 500000)),
        ("2015-02-18T21:40:23.5117", datetime(2015, 2, 18, 21, 40, 23, 511700)),
        ("2015-02-18T21:40:23.511717000", datetime(2015, 2, 18, 21, 40, 23, 511717)),
        ("2015-02-18T21:40:23Z", datetime(2015, 2, 18, 21, 40, 23, tzinfo=UTC)),
        ("2015-02-18T21:40:23+00", datetime(2015, 2, 18, 21, 40, 23, tzinfo=UTC)),
        ("2015-02-18T21:40:23+0130", datetime(2015, 2, 18, 21, 40, 23, tzinfo=timezone(timedelta(minutes=90)))),
        ("2015-02-18T21:40:23.25-01:30", datetime(2015, 2, 18, 21, 40, 23, 250000, timezone(-timedelta(minutes=90)))),
        ("2015-02-18T21:40:23+01:30:15", datetime(2015, 2, 18, 21, 40, 23, tzinfo=timezone(timedelta(seconds=5415)))),
    ],
)
def test_times_of_every_form_are_read(text: str, expected: datetime) -> None:
    result = sci.decode_types({"__type__": "datetime", "isostr": text})
    assert result == expected
    assert result.utcoffset() == expected.utcoffset()


def test_digits_beyond_microseconds_are_cut_with_a_warning() -> None:
    with pytest.warns(sa.SheetArrayWarning, match="microseconds"):
        result = sci.decode_types({"__type__": "datetime", "isostr": "2015-02-18T21:40:23.123456789"})
    assert result.microsecond == 123456


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2015-02-30T00:00:00", "2015-02-18", "2015-02-18T24:00:00", "2015-02-18T00:00:60"),
        *("2015-02-18T00:00:00+24:00", "2015-02-18T00:00:00+01:60", "2015-02-18T00:00:00.", "0000-01-01T00:00:00"),
        *("2015-02-18T00:00:00.1234567890", "\uff12015-02-18T00:00:00", "2015-02-18T00:00:00Z "),
        *("2015-2-18T00:00:00", 5, None),
    ],
)
def test_times_that_cannot_be_are_refused(text: Any) -> None:
    with pytest.raises(sa.FormatError) as caught:
        sci.loads(json.dumps({"x": {"__type__": "datetime", "isostr": text}}))
    assert caught.value.location == "x.isostr"


@pytest.mark.parametrize(
    "change",
    [
        {"days": None},
        {"days": "1"},
        {"days": True},
        {"days": 1.5},
        {"days": 10**9},
        {"seconds": 10**400},
        {"microsec": float("nan")},
    ],
)
def test_differences_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    form = {"__type__": "timedelta", "days": 0, "seconds": 1, "microsec": 2}
    assert sci.decode_types({**form, "days": 3.0}) == timedelta(3, 1, 2)
    with pytest.raises(sa.FormatError):
        sci.loads(json.dumps({**form, **change}))
    del form["days"]
    with pytest.raises(sa.FormatError, match="NoneType"):
        sci.decode_types(form)


def test_pandas_times() -> None:
    assert sci.dumps(pd.Timestamp("2020-01-02T03:04:05.000006")) == sci.dumps(datetime(2020, 1, 2, 3, 4, 5, 6))
    assert "05.000000123" in sci.dumps(pd.Timestamp("2020-01-02T03:04:05.000000123"))
    assert sci.dumps(pd.Timedelta(1, "s")) == sci.dumps(timedelta(seconds=1))
    for value in (pd.NaT, pd.Timedelta(1, "ns")):
        with pytest.raises(sa.DTypeError):
            sci.dumps(value)


# DataFrames --------------------------------------------------------------------------------------------------


FRAMES = {
    "floats": pd.DataFrame({"a": [1.5, np.nan], "b": [-0.0, 2.0]}),
    "ints": pd.DataFrame({"a": [1, 2**62]}),
    "bools": pd.DataFrame({"a": [True], "b": [False]}),
    "labels of text": pd.DataFrame([[1.0, 2.0]], index=["x"], columns=["a", "ü"]),
    "labels of numbers": pd.DataFrame([[1.0, 2.0]], index=[7], columns=[0.5, 1.5]),
    "labels of times": pd.DataFrame({"a": [1.5]}, index=pd.DatetimeIndex(["2020-01-02T03:04:05.5"]).as_unit("us")),
    "labels in pairs": pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "no rows": pd.DataFrame({"a": np.empty(0)}),
    "nothing": pd.DataFrame(),
    "the same label twice": pd.DataFrame([[1, 2]], columns=["a", "a"]),
}
MIXED = {
    "numbers": pd.DataFrame({"i": [1, 2**62], "f": [0.5, np.nan], "b": [True, False]}),
    "text": pd.DataFrame({"s": ["a", "ü"], "i": [1, 2]}),
    "text alone": pd.DataFrame({"s": ["a", ""]}),
    "missing": pd.DataFrame({"s": ["a", None]}, dtype=object),
    "times": pd.DataFrame({"t": pd.DatetimeIndex(["2020-01-01"]).as_unit("us"), "i": [1]}),
}


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 makes nanoseconds of all times")
@pytest.mark.parametrize("case", FRAMES)
def test_frames_come_back(case: str) -> None:
    frame = FRAMES[case]
    for result in (sci.loads(sci.dumps(frame)), sci.unpackb(sci.packb({"x": frame}))["x"]):
        pd.testing.assert_frame_equal(result, frame, check_index_type="equiv", check_column_type="equiv")


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 makes nanoseconds of all times")
@pytest.mark.parametrize("case", MIXED)
def test_frames_of_several_dtypes_come_back_with_extensions(case: str) -> None:
    frame = MIXED[case]
    with pytest.raises(sa.DTypeError, match="extensions=True"):
        sci.dumps({"x": frame})
    for result in (sci.loads(sci.dumps(frame, extensions=True)), sci.unpackb(sci.packb(frame, extensions=True))):
        pd.testing.assert_frame_equal(result, frame)


def test_the_dict_of_a_frame() -> None:
    form = sci.encode_types(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]))
    assert list(form) == ["shape", "dtype", "bytes", "__type__", "columns", "rows"]
    assert (form["shape"], form["__type__"], form["columns"], form["rows"]) == ([2, 1], "dataframe", ["a"], ["x", "y"])


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"columns": ["a"]}, "x.columns"),
        ({"rows": None}, "x.rows"),
        ({"columns": 5}, "x.columns"),
        ({"columns": ["a", {"b": 1}]}, "x.columns[1]"),
        ({"rows": [["a"], [["b"]]]}, "x.rows[1]"),
        ({"shape": [4]}, "x.shape"),
        ({"dtype": "V8"}, "x.dtype"),
    ],
)
def test_frames_that_cannot_be_are_refused(change: dict[str, Any], location: str) -> None:
    form = {
        "__type__": "dataframe",
        "shape": [2, 2],
        "dtype": "int8",
        "bytes": b"abcd",
        "columns": ["a", "b"],
        "rows": [1, 2],
    }
    assert sci.decode_types(form).shape == (2, 2)
    with pytest.raises(sa.FormatError) as caught:
        sci.decode_types({"x": {**form, **change}})
    assert caught.value.location == location


# Extensions --------------------------------------------------------------------------------------------------


MASKED = {
    "some": np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]], fill_value=-1),
    "none": np.ma.masked_array([1, 2], fill_value=9),
    "text": np.ma.masked_array(["a", "bb"], mask=[False, True], fill_value="?"),
    "0-d": np.ma.masked_array(1.5, mask=True),
    "complex": np.ma.masked_array([1j], mask=[True]),
    "empty": np.ma.masked_array(np.empty((2, 0))),
}


@pytest.mark.parametrize("case", MASKED)
def test_masked_arrays_and_sets_are_written_only_as_extensions(case: str) -> None:
    array = MASKED[case]
    with pytest.raises(sa.DTypeError, match="fill it"):
        sci.dumps(array)
    for result in (sci.loads(sci.dumps(array, extensions=True)), sci.unpackb(sci.packb(array, extensions=True))):
        assert isinstance(result, np.ma.MaskedArray)
        assert result.dtype == array.dtype
        assert np.ma.getmaskarray(result).tolist() == np.ma.getmaskarray(array).tolist()
        assert result.filled().tolist() == array.filled().tolist()


def test_sets() -> None:
    with pytest.raises(sa.DTypeError, match="make it a list"):
        sci.dumps({1, 2})
    assert sci.loads(sci.dumps({1, "a"}, extensions=True)) == {1, "a"}
    for inner in ([[1]], None, [{}]):
        with pytest.raises(sa.FormatError):
            sci.decode_types({"__type__": "unique_set", "set": inner})


@pytest.mark.parametrize("mask", [b"", b"\0\0", b"\2\0\0\0", None, [0, 0, 0, 0]])
def test_masks_that_cannot_be_are_refused(mask: Any) -> None:
    form = {
        "__type__": "maskedarray",
        "shape": [4],
        "dtype": "int8",
        "bytes": b"abcd",
        "mask_bytes": b"\0",
        "fill_value": 1,
    }
    assert sci.decode_types(form).tolist() == [97, 98, 99, 100]
    with pytest.raises(sa.FormatError) as caught:
        sci.decode_types({**form, "mask_bytes": mask})
    assert caught.value.location == "mask_bytes"
    for fill in ("x", [1, 2], {}, 10**30):
        with pytest.raises(sa.FormatError):
            sci.decode_types({**form, "fill_value": fill})


def test_arrays_of_objects_hold_nested_data() -> None:
    array = objects([1, 2], {"a": None}, datetime(2020, 1, 1), np.arange(2)).reshape(2, 2)
    result = sci.loads(sci.dumps(array, extensions=True))
    assert result.shape == (2, 2)
    assert result[0, 0] == [1, 2]
    assert result[0, 1] == {"a": None}
    assert result[1, 0] == datetime(2020, 1, 1)
    assert result[1, 1].tolist() == [0, 1]
    flat = {"__type__": "ndarray", "dtype": "object", "shape": [2, 2], "bytes": [1, "a", None, 2.5]}
    assert sci.decode_types(flat).tolist() == [[1, "a"], [None, 2.5]]


# What others wrote -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [
        *("<i4", ">i4", "int32", ">f8", "<c16", "|u1", "|b1", "bool", ">U2", "<M8[s]", ">m8[25s]", "datetime64[ns]"),
        "float16",
    ],
)
def test_dtypes_of_every_spelling_are_read(dtype: str) -> None:
    array = np.array([[0, 1, 1]]).astype(np.dtype(dtype))
    result = sci.decode_types({"bytes": array.tobytes(), "__type__": "ndarray", "shape": [1, 3], "dtype": dtype})
    assert_same(result, array)


def test_what_matlab_and_older_versions_write_is_read() -> None:
    assert sci.loads(
        '{"__type__":"ndarray","bytes":{"__base64__":"AQI="},"dtype":"uint8","shape":[1.0,2.0]}'
    ).tolist() == [[1, 2]]
    assert sci.loads(
        '{"__type__":"ndarray","bytes":null,"dtype":"double","shape":[0,0]}'.replace("double", "float64")
    ).shape == (0, 0)
    assert sci.loads('{"~#type":"ndarray","bytes":{"~#base64":"AQI="},"dtype":"uint8","shape":2}').tolist() == [1, 2]
    assert sci.loads(b"\xef\xbb\xbf" + b'{"x": 1}') == {"x": 1}


def test_a_type_that_is_not_known_stays_a_dict() -> None:
    value = {
        "__type__": "quaternion",
        "q": {"__type__": "ndarray", "shape": [2], "dtype": "int8", "bytes": b"ab"},
        "b": b"x",
    }
    result = sci.decode_types(value)
    assert result["__type__"] == "quaternion"
    assert result["q"].tolist() == [97, 98]
    assert sci.decode_types({"__type__": 5}) == {"__type__": 5}


def test_pickles_are_never_read() -> None:
    with pytest.raises(sa.FormatError, match="pickle"):
        sci.decode_types([{"__type__": "pypickle", "b": b"cos\nsystem\n(S'true'\ntR."}])
