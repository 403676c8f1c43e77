"""Avro passes the shared suite; its data are byte for byte those of fastavro and yaq, both ways."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest
from avro.datafile import DataFileReader
from avro.io import DatumReader
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst
from yaqd_core.avrorpc import avro_numpy  # registers its hooks with fastavro  # noqa: F401

import sheetarray as sa
from sheetarray.interchange import avro
from sheetarray.testing.conformance import Conformance

PLAIN = {**avro.SCHEMA, "logicalType": None}  # without yaq's hooks
DTYPES = ["|b1"] + [
    ("|" if code[1:] == "1" else order) + code
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
    for order in "<>"
]


class TestAvro(Conformance):
    suffix, format = ".avro", "avro"
    text = False
    sample = np.array([[1 + 2j, np.nan]])

    def read(self, place: Any, names: Any = None, **options: Any) -> dict[str, Any]:
        result = super().read(place, names, **options)
        return {name: array.astype(array.dtype.newbyteorder("=")) for name, array in result.items()}


class TestAvroDeflate(TestAvro):
    every_case = False
    writing = {"codec": "deflate"}  # noqa: RUF012


class TestAvroGzip(TestAvro):
    every_case = False
    suffix = ".avro.gz"


# The same bytes as fastavro and yaq --------------------------------------------------------------------------


def as_yaq_sends(array: Any) -> bytes:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, avro.SCHEMA, array)
    return file.getvalue()


def as_yaq_reads(data: bytes) -> Any:
    return fastavro.schemaless_reader(io.BytesIO(data), avro.SCHEMA, None)


@given(nst.arrays(st.sampled_from(DTYPES).map(np.dtype), nst.array_shapes(min_dims=0, min_side=0), fill=st.nothing()))
def test_any_array_is_what_yaq_sends(array: Any) -> None:
    data = avro.pack(array)
    assert data == as_yaq_sends(array)
    for result in (avro.unpack(data), as_yaq_reads(data)):
        assert (result.dtype.str, result.shape, result.tobytes()) == (array.dtype.str, array.shape, array.tobytes())


def test_the_schema_is_the_specifications_and_parses() -> None:
    parsed = fastavro.parse_schema(json.loads(json.dumps(avro.SCHEMA)))
    assert (
        fastavro.schema.fingerprint(fastavro.schema.to_parsing_canonical_form(parsed), "CRC-64-AVRO")
        == "63eb523120520328"
    )
    assert [field["name"] for field in avro.SCHEMA["fields"]] == ["shape", "typestr", "data", "version"]
    assert avro.SCHEMA["logicalType"] == "ndarray"


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_fastavro_and_apaches_avro_read_a_file_and_find_the_names(tmp_path: Path, codec: Any) -> None:
    square = np.asfortranarray(np.eye(3))
    arrays = {"t": np.arange(5, dtype=">i4"), "ü": np.zeros((2, 0)), "z": np.array(1j), "f": square}
    avro.write_avro(tmp_path / "x.avro", arrays, codec=codec)
    with open(tmp_path / "x.avro", "rb") as file:
        reader = fastavro.reader(file)
        assert reader.metadata["avro.codec"] == codec
        assert json.loads(reader.metadata["sheetarray.names"]) == list(arrays)
        ndarrays: list[Any] = list(reader)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Unknown ndarray, using record")  # yaq's logical type
        with open(tmp_path / "x.avro", "rb") as file, DataFileReader(file, DatumReader()) as apache:
            assert json.loads(apache.get_meta("sheetarray.names")) == list(arrays)
            records: list[Any] = list(apache)
    assert {record["version"] for record in records} == {3}
    ndarrays += [np.frombuffer(each["data"], each["typestr"]).reshape(each["shape"]) for each in records]
    for array, expected in zip(ndarrays, [*arrays.values()] * 2, strict=True):
        assert (array.dtype, array.shape, array.tolist()) == (expected.dtype, expected.shape, expected.tolist())


@pytest.mark.parametrize("codec", ["null", "deflate"])
@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_elements_are_written_in_pieces(codec: Any, size: int) -> None:
    array = np.random.default_rng(size).integers(0, 4, size, dtype="u1")
    file, progress = io.BytesIO(), list[tuple[int, int]]()
    sa.write(file, {"a": array, "b": array}, format="avro", codec=codec, progress=lambda *args: progress.append(args))
    result = avro.read_avro(io.BytesIO(file.getvalue()))
    assert result["a"].tobytes() == result["b"].tobytes() == array.tobytes()
    assert [array.tobytes() for array in fastavro.reader(io.BytesIO(file.getvalue()))] == [array.tobytes()] * 2  # type: ignore[union-attr]
    assert progress[0] == (0, 2 * size)
    assert progress[-1] == (2 * size, 2 * size)
    assert progress == sorted(progress)


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_writing_makes_no_copy_of_the_elements(codec: Any, tmp_path: Path) -> None:
    array = np.zeros(4_000_000)
    sa.write(tmp_path / "first.avro", array[:9], codec=codec)  # whatever is loaded or made once
    tracemalloc.start()
    try:
        sa.write(tmp_path / "x.avro", array, codec=codec)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < array.nbytes / 4


def container(*records: Any, codec: str = "null", schema: Any = avro.SCHEMA, **options: Any) -> bytes:
    """What fastavro writes."""
    file = io.BytesIO()
    fastavro.writer(file, schema, records, codec=codec, **options)
    return file.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz", "zstandard", "snappy"])
@pytest.mark.parametrize("sync_interval", [1, 16000])
def test_files_of_fastavro_are_read(codec: str, sync_interval: int) -> None:
    arrays = [np.arange(n, dtype="<f4") for n in range(40)]
    content = container(*arrays, codec=codec, sync_interval=sync_interval)
    result = avro.read_avro(io.BytesIO(content))
    assert list(result)[:3] + list(result)[-1:] == ["A", "B", "C", "AN"]
    assert [array.tolist() for array in result.values()] == [array.tolist() for array in arrays]
    assert [info.shape for info in avro.scan_avro(io.BytesIO(content)).values()] == [(n,) for n in range(40)]
    assert list(avro.check_avro(io.BytesIO(content))) == []
    selection = avro.read_avro(io.BytesIO(content), ["AN", "B"])
    assert {name: array.tolist() for name, array in selection.items()} == {"AN": arrays[39].tolist(), "B": [0.0]}
    assert list(selection) == ["AN", "B"]


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "zstandard", "snappy"])
@pytest.mark.parametrize("noise", [False, True])
def test_large_blocks_of_every_codec_are_read(codec: str, noise: bool) -> None:
    array = np.random.default_rng(1).integers(0, 2**62 if noise else 3, 150_000)  # more than a megabyte
    content = container(array, array[:5], codec=codec, sync_interval=10**9)
    result = avro.read_avro(io.BytesIO(content))
    assert result["A"].tobytes() == array.tobytes()
    assert result["B"].tolist() == array[:5].tolist()
    assert list(avro.check_avro(io.BytesIO(content))) == []


def test_without_cramjam_snappy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    content = container(np.arange(3), codec="snappy")
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(sa.MissingDependencyError, match=r"pip install 'sheetarray\[avro\]'"):
        avro.read_avro(io.BytesIO(content))


def test_the_only_array_of_a_file_without_names_has_its_stem(tmp_path: Path) -> None:
    for index, content in enumerate((container(np.arange(3)), avro.pack(np.arange(3)))):
        path = tmp_path / f"run{index}.old.avro"
        path.write_bytes(content)
        assert {name: array.tolist() for name, array in sa.read(path).items()} == {f"run{index}.old": [0, 1, 2]}
        assert list(sa.scan(path)) == [f"run{index}.old"]
        assert list(sa.check(path)) == []
    assert list(sa.read(io.BytesIO(avro.pack(np.arange(3))), format="avro")) == ["array"]


def test_a_schema_with_a_namespace_and_documentation_is_the_same(tmp_path: Path) -> None:
    schema = {**PLAIN, "namespace": "org.yaq", "doc": "an array", "name": "nd"}
    del schema["logicalType"]
    schema["fields"] = [{**field, "doc": "a field"} for field in avro.SCHEMA["fields"]]
    schema["fields"][3]["type"] = {"type": "int"}
    record = {"shape": [2], "typestr": "<i2", "data": b"\1\0\2\0", "version": 3}
    assert avro.read_avro(io.BytesIO(container(record, schema=schema)))["array"].tolist() == [1, 2]


# What it refuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "instead"),
    [
        (np.zeros(2, np.longdouble), "float64"),
        (np.zeros(2, np.clongdouble), "complex128"),
        (np.array(["a"]), "np.char.encode"),
        (np.array([b"a"]), "view it as uint8"),
        (np.array([None]), "cast"),
        (np.array(["2020-01-01"], "M8[D]"), "int64"),
        (np.zeros(2, "m8[s]"), "int64"),
        (np.zeros(2, [("a", "i4")]), "per field"),
        (np.ma.masked_array([1.0, np.nan], mask=[True, False]), "filled"),
    ],
)
def test_other_dtypes_are_refused_with_what_to_do(array: Any, instead: str) -> None:
    with pytest.raises(sa.DTypeError, match=instead):
        avro.pack(array)


def test_a_dimension_beyond_avros_int_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    wide = np.broadcast_to(np.uint8(1), (2**31,))
    with pytest.raises(sa.LimitError, match="2147483647"):
        avro.pack(wide)
    assert avro.unpack(avro.pack(np.empty((2**31 - 1, 0)))).shape == (2**31 - 1, 0)
    path = tmp_path / "x.avro"
    with pytest.raises(sa.LimitError, match="wide: dimension 0"):
        sa.write(path, {"fine": np.zeros(2), "wide": wide})
    assert not path.exists()


def test_an_unknown_codec_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="deflate"):
        sa.write(tmp_path / "x.avro", np.zeros(2), codec="snappy")
    assert not (tmp_path / "x.avro").exists()


def test_no_other_package_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("fastavro", "cramjam", "isal", "avro")]:
        monkeypatch.setitem(sys.modules, name, None)
    for codec in ("null", "deflate"):
        sa.write(tmp_path / "x.avro", {"x": np.arange(3)}, codec=codec)
        assert sa.read(tmp_path / "x.avro")["x"].tolist() == [0, 1, 2]
