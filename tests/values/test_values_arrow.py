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
from adapters_deleted import needing
from round_trips import Refused, moments, spans

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

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
    "float16 with nulls": (pa.array([np.float16(1.5), None], pa.float16()), np.array([1.5, np.nan], "f2")),
    "float64": (pa.array([0.1, np.nan, -np.inf]), np.array([0.1, np.nan, -np.inf])),
    "float64 with nulls": (pa.array([0.1, None]), np.array([0.1, np.nan])),
    "float64 with nulls and NaN": (pa.array([np.nan, None]), Refused("c: has nulls and NaN", "fill either")),
    "bool with nulls": (pa.array([True, None]), objects(True, None)),
    "string with nulls": (pa.array(["a", None]), objects("a", None)),
    "large_string": (pa.array(["a", "ü"], pa.large_string()), np.array(["a", "ü"])),
    "string_view": (pa.array(["a", "b" * 20], pa.string_view()), np.array(["a", "b" * 20])),
    "string ending with NUL": (pa.array(["a\0"]), Refused("c: element 0 ends with NUL", "strip")),
    "binary": (pa.array([b"a"]), Refused("c: ", "pa.string()")),
    "dictionary of text": (pa.array(["a", None, "a"]).dictionary_encode(), objects("a", None, "a")),
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
    "timestamp in UTC": (pa.array([NOON], pa.timestamp("us", "UTC")), moments("us", "2020-02-29T12:00:00.123456")),
    "time64": (pa.array([5], pa.time64("ns")), np.array(["00:00:00.000000005"])),
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), Refused("c: ", "columns of their own")),
    "decimal128": (pa.array([Decimal("1.10")]), np.array([1.1])),
    "fixed_size_list": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), np.array([[1, 2], [3, 4]], "i1")),
    "fixed_size_list of them": (
        pa.array([[[1], [2]], [[3], [4]]], pa.list_(pa.list_(pa.float32(), 1), 2)),
        np.array([[[1], [2]], [[3], [4]]], "f4"),
    ),
    "fixed_size_list with nulls": (pa.array([[1], None], pa.list_(pa.int8(), 1)), Refused("c: ", "fill them")),
    "map": (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), Refused("c: ", "awkward")),
    "struct": (pa.array([{"a": 1}]), Refused("c: ", "flatten")),
    "empty text": (pa.array([], pa.string()), np.array([], "<U1")),
    "a slice": (pa.array([1, None, BIG, 4])[1:3], objects(None, BIG)),
}


class Stream:
    """An object of some other package that hands out an Arrow stream."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.content.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", ARRAYS)
def test_streams_without_pyarrow_are_read_by_polars(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array, expected = ARRAYS[kind]
    if kind.endswith(" in s") or kind in ("timestamp that is NaT", "timestamp in Berlin", "tensors", "decimal256"):
        pytest.skip("polars counts milliseconds, and knows no tensors and no 256 bits")
    stream = Stream(pa.table({"c": array}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.csv"
    if isinstance(expected, Refused) or kind == "run-end encoded":
        with pytest.raises(sa.DTypeError):
            sa.write(path, stream)
        assert not path.exists()
        return
    sa.write(path, stream)
    assert_same(sa.read(path)["c"], expected)


@needing("json")
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
