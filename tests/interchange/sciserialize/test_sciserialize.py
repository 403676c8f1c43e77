"""SciSerialize passes the shared suite, gives the specification's examples byte for byte, reads what others write."""

from __future__ import annotations

import base64
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst
from round_trips import OneWay

import sheetarray as sa
from sheetarray.formats.contract import Keeps
from sheetarray.interchange import sciserialize as sci
from sheetarray.testing.cases import CASES, assert_same, objects
from sheetarray.testing.conformance import Conformance

PLAIN = {case: array for case, array in CASES.items() if np.asarray(array).dtype.kind in "biufc"}

# The bytes of the array in the specification's example, 3 x 4 x 5 doubles.
BASE64 = (
    "K4Ik5eza8D93oqobd82dP4eaOm9ogdg/HsiHwAFl778bk4x2cRjUP80XhMIBm+c/hzvqq7/8AECOCQBxaVsAwBeBeE2WEdU/IdaoXUa+5T+D"
    "jjkUwnb/v8iSkm9uBv2/lKZJzqmm7r/bimhng/f6vw0bRx+T2us/jQ1cWGLo5j/yvhL4tR35vxgOZ9mU9fu/sC35c+zp8D8boDejr1byPw7c"
    "5Azf8/S/6Lk/vi+79r/X9Sd+WcDOP0W7jA1CweU/ApkfUoehvL8Gfj/cENDqv+TZvOWAq6a/sgWPbIHHxz8k7B6rkyu/vxDCJVGKNNY/Slfh"
    "l6MS7j+Kh3t5aSPxv5bfTwYvJLA/Zs6hiYJw6r8erJlkE+sAwJCckI/2LrW/geMkCFhJxz8Qp5m5wYfCvwn5pF4D2vO/A1dRDMOV8D8R84I5"
    "xYjwP8SViXH1osI/LkXgVgYy5r9E1wNy5L3yP5husAAB6vM/H7iWUnRL6j+36B/Ed2fyP7c1PAfsFOa/TiUpNugf6r8btp/rZVDqP/SpZqUH"
    "fPi/YzIcUmWt8D9bQeP9Ttzjvxnopv0KawJAZ6ZECMFK8D95WPSlTqiov5B2NUSU3OE/wTz9X+Sgsz/aEcI9Umfqv3UCWDRKa9w/"
)


class TestMessagePack(Conformance):
    every_case = False
    suffix, format, text = ".msgpack", "sciserialize", False


class TestMessagePackExtensions(TestMessagePack):
    every_case = True
    writing = {"extensions": True}  # noqa: RUF012
    keeps = Keeps(order=False)  # text and objects too


class TestMessagePackZstandard(TestMessagePackExtensions):
    every_case = False
    suffix = ".msgpack.zst"


class TestJson(Conformance):
    suffix, format, keeps_buffers = ".json", "sciserialize-json", False
    writing = {"extensions": True}  # noqa: RUF012
    keeps = Keeps(order=False)

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        super().write(place, arrays, **{"format": "sciserialize-json", **options})


class TestJsonGzip(TestJson):
    every_case = False
    suffix = ".json.gz"


# The specification's examples --------------------------------------------------------------------------------


EXAMPLE = np.frombuffer(base64.b64decode(BASE64)).reshape(3, 4, 5)
STORED = [
    (
        datetime(2015, 2, 18, 21, 40, 23, 511717),
        '{"isostr": "2015-02-18T21:40:23.511717", "__type__": "datetime"}',
        b"\x82\xa6isostr\xba2015-02-18T21:40:23.511717\xa8__type__\xa8datetime",
    ),
    (
        timedelta(0, 11, 626512),
        '{"microsec": 626512, "seconds": 11, "__type__": "timedelta", "days": 0}',
        b"\x84\xa8microsec\xce\x00\t\x8fP\xa7seconds\x0b\xa8__type__\xa9timedelta\xa4days\x00",
    ),
    (
        EXAMPLE,
        f'{{"shape": [3, 4, 5], "dtype": "float64", "bytes": {{"__base64__": "{BASE64}"}}, "__type__": "ndarray"}}',
        b"\x84\xa5shape\x93\x03\x04\x05\xa5dtype\xa7float64\xa5bytes\xc5\x01\xe0"
        + EXAMPLE.tobytes()
        + b"\xa8__type__\xa7ndarray",
    ),
]


@pytest.mark.parametrize(("value", "text", "packed"), STORED)
def test_the_specifications_examples_byte_for_byte(value: Any, text: str, packed: bytes) -> None:
    assert sci.dumps(value) == text
    assert sci.packb(value) == packed
    for result in (sci.loads(text), sci.loads(text.encode()), sci.unpackb(packed), sci.unpackb(bytearray(packed))):
        assert np.array_equal(result, value)
        assert type(result) is type(value)
    assert EXAMPLE[0, 0, 0].round(8) == 1.05344858


# Nested data -------------------------------------------------------------------------------------------------


def test_numpy_scalars_become_numbers_and_tuples_lists() -> None:
    value = [
        np.int8(-1),
        np.uint64(2**64 - 1),
        np.float32(0.5),
        np.float64(0.1),
        np.bool_(True),
        np.str_("a"),
        (1, (2,)),
        bytearray(b"x"),
    ]
    plain = sci.encode_types(value)
    assert plain == [-1, 2**64 - 1, 0.5, 0.1, True, "a", [1, [2]], b"x"]
    assert [type(item) for item in plain] == [int, int, float, float, bool, str, list, bytes]
    assert sci.loads(sci.dumps(np.complex64(1 - 2j))).dtype == "complex64"
    assert sci.loads(sci.dumps(3j)).tolist() == 3j


def test_nan_and_infinities() -> None:
    value = [float("inf"), float("-inf"), -0.0]
    assert sci.dumps([*value, float("nan")]) == "[Infinity, -Infinity, -0.0, NaN]"
    for result in (sci.loads(sci.dumps(value)), sci.unpackb(sci.packb(value))):
        assert repr(result) == repr(value)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats()
        | st.text()
        | st.binary()
        | st.datetimes(timezones=st.none() | st.just(UTC))
        | st.timedeltas()
        | nst.arrays(st.sampled_from(["i2", "?", "c8"]), nst.array_shapes(max_side=2)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_nested_data_come_back(value: Any) -> None:
    plain = sci.encode_types(value)
    for result in (sci.loads(sci.dumps(value)), sci.unpackb(sci.packb(value)), sci.decode_types(plain)):
        assert repr(sci.encode_types(result)) == repr(plain)


# What cannot be written --------------------------------------------------------------------------------------


def test_depth_is_bounded_both_ways() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    assert sci.loads(sci.dumps(deep)) == sci.unpackb(sci.packb(deep)) == deep
    for write in (sci.encode_types, sci.dumps, sci.packb):
        with pytest.raises(sa.LimitError, match="100 deep"):
            write([deep])
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(sa.LimitError):
        sci.packb(circle)


# Files -------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* keeps no :sheetarray.SheetArrayWarning")
def test_a_file_is_what_dumps_and_packb_give(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"n{n} ü": array for n, array in enumerate(PLAIN.values())} | {"long": rng.random(200_001)}
    for index in range(0, 17, 8):
        selection = dict(list(arrays.items())[index : index + 18])
        sa.write(tmp_path / "x.msgpack", selection)
        assert (tmp_path / "x.msgpack").read_bytes() == sci.packb(selection)
    sa.write(tmp_path / "x.json", arrays, format="sciserialize-json")
    assert (tmp_path / "x.json").read_text("ascii") == sci.dumps(arrays)


def _written(path: Path, arrays: Any, **options: Any) -> Path:
    sa.write(path, arrays, **options)
    return path


def test_json_of_both_kinds_is_told_apart_by_content(tmp_path: Path) -> None:
    array = np.array([[1.5, np.nan]])
    for suffix in (".json", ".json.gz", ".json.zst"):
        flat = _written(tmp_path / f"flat{suffix}", {"x": array})
        typed = _written(tmp_path / f"typed{suffix}", {"x": array}, format="sciserialize-json")
        for path in (flat, typed):
            assert_same(sa.read(path)["x"], array)
            assert_same(sa.read(path, format="json")["x"], array)
            assert sa.scan(path)["x"].shape == (1, 2)
            assert list(sa.check(path)) == []
            with open(path, "rb") as file:
                assert_same(sa.read(file)["x"], array)
        sa.convert(typed, tmp_path / f"back{suffix}")
        assert (tmp_path / f"back{suffix}").read_bytes() == flat.read_bytes()
    with open(tmp_path / "typed.json", encoding="utf-8") as file:
        assert_same(sa.read(file)["x"], array)
    with pytest.raises(TypeError, match="strict"):
        sa.read(tmp_path / "typed.json", strict=True)


def test_a_stream_that_cannot_be_sought_in_is_left_to_the_suffix() -> None:
    flat = json.dumps({"x": sa.to_linear(np.arange(3))}).encode()
    typed = sci.dumps({"x": np.arange(3)}).encode()
    assert sa.read(OneWay(flat), format="json")["x"].tolist() == [0, 1, 2]  # type: ignore[arg-type]
    assert sa.read(OneWay(typed), format="sciserialize-json")["x"].tolist() == [0, 1, 2]  # type: ignore[arg-type]
    with pytest.raises(sa.FormatError, match="flat list"):
        sa.read(OneWay(typed), format="json")  # type: ignore[arg-type]


def test_text_that_looks_like_a_key_does_not_change_the_kind(tmp_path: Path) -> None:
    words = np.array(["__type__", '"__type__": "', "{", '{"x": {'])
    path = _written(tmp_path / "x.json", {"__base64__": np.arange(2), '{"a": {': words})
    result = sa.read(path)
    assert result["__base64__"].tolist() == [0, 1]
    assert result['{"a": {'].tolist() == words.tolist()


def test_a_lone_array_has_the_stem_and_a_frame_gives_its_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}, index=["x", "y"])
    for name, write in (("run.json", lambda value: sci.dumps(value).encode()), ("run.msgpack", sci.packb)):
        path = tmp_path / name
        path.write_bytes(write(np.arange(3)))
        assert {key: array.tolist() for key, array in sa.read(path).items()} == {"run": [0, 1, 2]}
        assert list(sa.scan(path)) == ["run"]
        path.write_bytes(write(frame))
        assert {key: array.tolist() for key, array in sa.read(path).items()} == {
            "index": ["x", "y"],
            "a": [1.5, 2.5],
            "b": [3.5, 4.5],
        }
        path.write_bytes(write({"t": frame, "n": 3, "s": "ü", "f": 0.5, "b": True}))
        result = sa.read(path)
        assert list(result) == list(sa.scan(path)) == ["t.index", "t.a", "t.b", "n", "s", "f", "b"]
        assert [str(result[key].dtype) for key in "nsfb"] == ["int64", "<U1", "float64", "bool"]
        assert sa.read(path, ["t.b"])["t.b"].tolist() == [3.5, 4.5]
        assert list(sa.check(path)) == []


def test_what_is_no_array_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.msgpack"
    for other in ([1, 2], {"a": 1}, None, b"x", datetime(2020, 1, 1), 2**70):
        path.write_bytes(
            sci.packb({"x": np.arange(3), "y": other})
            if other != 2**70
            else sci.dumps({"x": np.arange(3), "y": other}).encode()
        )
        with pytest.raises(sa.FormatError) as caught:
            sa.read(path)
        assert caught.value.location == "y"
        assert [finding.location for finding in sa.check(path)] == ["y"]
        assert sa.read(path, ["x"])["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["__type__", "__base64__", "~#type", "~#base64", "\ud800"])
@pytest.mark.parametrize("format", ["sciserialize", "sciserialize-json"])
def test_a_name_with_a_meaning_of_its_own_is_refused(tmp_path: Path, name: str, format: str) -> None:
    with pytest.raises(sa.LimitError, match="name"):
        sa.write(tmp_path / "x", {name: np.arange(2)}, format=format)
    assert not list(tmp_path.iterdir())


def test_more_than_messagepack_holds_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    huge = sa.LinearArray("uint8", (2**32,), (0,), 0, "row-major", np.zeros(1, "u1"))
    with pytest.raises(sa.LimitError, match="huge: 4294967296 bytes"):
        sa.write(tmp_path / "x.msgpack", {"x": np.arange(2), "huge": huge})
    assert not list(tmp_path.iterdir())


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="msgpack"):
        sa.write(tmp_path / "x.msgpack", {"x": np.arange(2)}, form="bson")


def test_without_msgpack_json_works_and_messagepack_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "x.msgpack", {"x": np.arange(3)})
    monkeypatch.setitem(sys.modules, "msgpack", None)
    for call in (
        lambda: sa.read(path),
        lambda: sa.write(path, {"x": np.arange(3)}),
        lambda: sci.packb(1),
        lambda: sci.unpackb(b"\1"),
    ):
        with pytest.raises(sa.MissingDependencyError, match=r"pip install 'sheetarray\[sciserialize\]'"):
            call()
    assert sci.loads(sci.dumps({"x": np.arange(3)}))["x"].tolist() == [0, 1, 2]


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
