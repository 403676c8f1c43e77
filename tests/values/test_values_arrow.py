"""What Arrow hands over: every type of pyarrow, tables, batches, streams of others, with pyarrow and without it."""

from __future__ import annotations

import datetime
import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from examples import cross
from round_trips import SUFFIXES, Refused, check_handed, moments, spans

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects
from sheetarray.values import arrow

NOON = datetime.datetime(2020, 2, 29, 12, 0, 0, 123456)
BIG = 2**53 + 3
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
ENDS = [-(2**63) + 1, 2**63 - 1]

ARRAYS: dict[str, tuple[Any, Any]] = {
    **{name: (pa.array([0, np.iinfo(name).max], name), np.array([0, np.iinfo(name).max], name)) for name in INTEGERS},
    **{
        f"{name} with nulls": (pa.array([None, np.iinfo(name).max], name), objects(None, int(np.iinfo(name).max)))
        for name in INTEGERS
    },
    "float16": (pa.array([np.float16(1.5)], pa.float16()), np.array([1.5], "f2")),
    "float16 with nulls": (pa.array([np.float16(1.5), None], pa.float16()), np.array([1.5, np.nan], "f2")),
    "float32 with nulls": (pa.array([0.1, None], pa.float32()), np.array([0.1, np.nan], "f4")),
    "float64": (pa.array([0.1, np.nan, -np.inf]), np.array([0.1, np.nan, -np.inf])),
    "float64 with nulls": (pa.array([0.1, None]), np.array([0.1, np.nan])),
    "float64 with nulls and NaN": (pa.array([np.nan, None]), Refused("c: has nulls and NaN", "fill either")),
    "bool": (pa.array([True, False]), np.array([True, False])),
    "bool with nulls": (pa.array([True, None]), objects(True, None)),
    "string": (pa.array(["a", "=1", ""]), np.array(["a", "=1", ""])),
    "string with nulls": (pa.array(["a", None]), objects("a", None)),
    "large_string": (pa.array(["a", "ü"], pa.large_string()), np.array(["a", "ü"])),
    "string_view": (pa.array(["a", "b" * 20], pa.string_view()), np.array(["a", "b" * 20])),
    "string ending with NUL": (pa.array(["a\0"]), Refused("c: element 0 ends with NUL", "strip")),
    "binary": (pa.array([b"a"]), Refused("c: ", "pa.string()")),
    "binary_view": (pa.array([b"a"], pa.binary_view()), Refused("c: ", "pa.string()")),
    "fixed_size_binary": (pa.array([b"a"], pa.binary(1)), Refused("c: ", "pa.string()")),
    "dictionary of text": (pa.array(["a", None, "a"]).dictionary_encode(), objects("a", None, "a")),
    "dictionary of integers": (pa.array([BIG, 5, BIG]).dictionary_encode(), np.array([BIG, 5, BIG])),
    "run-end encoded": (pa.RunEndEncodedArray.from_arrays([2, 3], [7, 8]), np.array([7, 7, 8])),
    "null": (pa.nulls(2), objects(None, None)),
    "date32": (pa.array([NOON.date(), None]), moments("D", "2020-02-29", "NaT")),
    "date64": (pa.array([NOON.date(), None], pa.date64()), moments("ms", "2020-02-29", "NaT")),
    **{
        f"timestamp in {unit}": (
            pa.array([5, None, *ENDS], pa.int64()).cast(pa.timestamp(unit)),
            np.array([5, -(2**63), *ENDS]).view(f"M8[{unit}]"),
        )
        for unit in ("s", "ms", "us", "ns")
    },
    **{
        f"duration in {unit}": (
            pa.array([5, None, *ENDS], pa.int64()).cast(pa.duration(unit)),
            spans(unit, 5, "NaT", *ENDS),
        )
        for unit in ("s", "ms", "us", "ns")
    },
    "timestamp that is NaT": (pa.array([-(2**63)]).cast(pa.timestamp("s")), Refused("c: ", "make it null")),
    "timestamp in UTC": (pa.array([NOON], pa.timestamp("us", "UTC")), moments("us", "2020-02-29T12:00:00.123456")),
    "timestamp in Berlin": (pa.array([NOON], pa.timestamp("s", "Europe/Berlin")), moments("s", "2020-02-29T12")),
    "time32": (pa.array([5], pa.time32("s")), np.array(["00:00:05"])),
    "time64": (pa.array([5], pa.time64("ns")), np.array(["00:00:00.000000005"])),
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), Refused("c: ", "columns of their own")),
    "decimal128": (pa.array([Decimal("1.10")]), np.array([1.1])),
    "decimal256": (pa.array([Decimal("1.10")], pa.decimal256(50, 2)), np.array([1.1])),
    "fixed_size_list": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), np.array([[1, 2], [3, 4]], "i1")),
    "fixed_size_list of them": (
        pa.array([[[1], [2]], [[3], [4]]], pa.list_(pa.list_(pa.float32(), 1), 2)),
        np.array([[[1], [2]], [[3], [4]]], "f4"),
    ),
    "fixed_size_list sliced": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))[1:], np.array([[3, 4]], "i1")),
    "fixed_size_list with nulls": (pa.array([[1], None], pa.list_(pa.int8(), 1)), Refused("c: ", "fill them")),
    "fixed_size_list with nulls in it": (
        pa.array([[1, None]], pa.list_(pa.int8(), 2)),
        np.array([[1, None]], dtype=object),
    ),
    "tensors": (
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(6.0).reshape(3, 2)),
        np.arange(6.0).reshape(3, 2),
    ),
    "uuid": (pa.array([b"x" * 16], pa.uuid()), Refused("c: ", "storage")),
    "map": (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), Refused("c: ", "awkward")),
    "struct": (pa.array([{"a": 1}]), Refused("c: ", "flatten")),
    "union": (
        pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]),
        Refused("c: ", "each kind"),
    ),
    "empty integers": (pa.array([], pa.uint16()), np.array([], "u2")),
    "empty text": (pa.array([], pa.string()), np.array([], "<U1")),
    "empty dates": (pa.array([], pa.timestamp("ms")), np.array([], "M8[ms]")),
    "a slice": (pa.array([1, None, BIG, 4])[1:3], objects(None, BIG)),
}


class Stream:
    """An object of some other package that hands out an Arrow stream."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.content.__arrow_c_stream__(requested_schema)


class Once:
    """The same for one array."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.content.__arrow_c_array__(requested_schema)


def as_named(expected: Any, name: str) -> Any:
    if isinstance(expected, Refused):
        return Refused(expected.name.replace("c", name, 1), expected.advice)
    return {name: expected}


@pytest.mark.parametrize(("kind", "suffix"), cross(ARRAYS, SUFFIXES, SUFFIXES[0]))
def test_a_column_of_a_table_comes_back_or_is_refused_by_name(kind: str, suffix: str, tmp_path: Path) -> None:
    array, expected = ARRAYS[kind]
    table = pa.table({"first": np.arange(len(array)), "c": array})
    expected = expected if isinstance(expected, Refused) else {"first": np.arange(len(array)), "c": expected}
    check_handed(table, expected, suffix, tmp_path)


FORMS: dict[str, Any] = {
    "batch": pa.RecordBatch.from_pydict,
    "table": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "stream": lambda columns: Stream(pa.table(columns)),
    "array": lambda columns: Once(pa.RecordBatch.from_pydict(columns)),
}


@pytest.mark.parametrize(("kind", "form"), cross(ARRAYS, list(FORMS), "stream"))
def test_batches_readers_and_streams_are_tables(kind: str, form: str, tmp_path: Path) -> None:
    array, expected = ARRAYS[kind]
    check_handed(FORMS[form]({"c": array}), as_named(expected, "c"), "csv", tmp_path)


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_and_its_chunks_are_the_column(kind: str, tmp_path: Path) -> None:
    array, expected = ARRAYS[kind]
    chunks = pa.chunked_array([array[:1], array[1:]]) if len(array) else pa.chunked_array([array])
    for value in (array, chunks, Stream(chunks), Once(array)):
        if kind == "struct":  # on its own, a table
            continue
        check_handed({"k": value}, as_named(expected, "k"), "csv", tmp_path)
        check_handed(value, as_named(expected, "array"), "csv", tmp_path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pa.table([[1], [2]], names=["x", "x"]), Refused("two arrays", "'x'", sa.LimitError)),
        (pa.table({}), Refused("no array to write", "", sa.LimitError)),
        ({"k": pa.table({"a": [1]})}, Refused("k: a Table", "an entry for each column")),
        ({"k": Stream(pa.table({"a": [1]}))}, Refused("k: a Stream", "an entry for each column")),
        (pa.scalar(5), Refused("a scalar of Arrow", "as_py")),
        ({"k": pa.scalar(5)}, Refused("k: a scalar of Arrow", "as_py")),
        ([pa.array([1]), pa.array([2])], Refused("array: a list with an Int64Array", "mapping")),
        (pa.schema([("a", pa.int8())]), Refused("", "not an array")),
        (pa.Tensor.from_numpy(np.arange(4.0).reshape(2, 2)), {"array": np.arange(4.0).reshape(2, 2)}),
    ],
)
def test_other_objects_of_arrow(value: Any, expected: Any, tmp_path: Path) -> None:
    check_handed(value, expected, "csv", tmp_path)


@pytest.mark.parametrize("kind", ARRAYS)
def test_streams_without_pyarrow_are_read_by_polars(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array, expected = ARRAYS[kind]
    if kind.endswith(" in s") or kind in ("timestamp that is NaT", "timestamp in Berlin", "tensors", "decimal256"):
        pytest.skip("polars counts milliseconds, and knows no tensors and no 256 bits")
    stream = Stream(pa.table({"c": array}))

    def without_pyarrow(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(arrow, "import_module", without_pyarrow)
    path = tmp_path / "t.csv"
    if isinstance(expected, Refused) or kind == "run-end encoded":
        with pytest.raises(sa.DTypeError):
            sa.write(path, stream)
        assert not path.exists()
        return
    sa.write(path, stream)
    assert_same(sa.read(path)["c"], expected)


def test_nothing_is_imported_to_know_an_object() -> None:
    code = """
        import io, sys
        import numpy as np
        import sheetarray as sa
        class Anything:
            pass
        for value in (np.arange(3), {"a": [1, 2], "b": "text"}, [1.5], Anything(), {"k": Anything()}, None, {1}):
            try:
                sa.write(io.BytesIO(), value, format="json")
            except sa.DTypeError:
                pass
        print(sorted({"pandas", "polars", "pyarrow", "xarray", "awkward", "cftime"} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
