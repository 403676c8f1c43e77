"""One name as text gives that array alone, by every door; a list of one name gives a mapping."""

from __future__ import annotations

import io
import typing
from inspect import signature
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import openpyxl
import pytest
from adapters_deleted import needing

import sheetarray as sa
from sheetarray.formats import FORMATS
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

T = np.arange(6.0).reshape(2, 3) / 7
ARRAYS = {"t": T, "n": np.array([1, 2]), "a b": np.array(["x", ""])}
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".txt", ".json", ".xlsx", ".npz", ".avro", ".msgpack", ".nc", ".zarr")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_one_name_gives_the_array_alone(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    sa.write(path, {"t": T, "n": ARRAYS["n"]}, **({"extensions": True} if suffix == ".msgpack" else {}))
    assert_same(sa.read(path, "t"), T)
    assert_same(sa.read(path, names="n"), ARRAYS["n"])
    for names in (["t"], ("t",), iter(["t"])):
        assert list(sa.read(path, names)) == ["t"]  # type: ignore[arg-type]
    for absent in ("q", "", "T"):
        with pytest.raises(sa.NotFoundError, match=f"{absent!r}"):
            sa.read(path, absent)


@pytest.mark.parametrize(("suffix", "array"), [(".npy", T), (".ra", T), (".parquet", np.arange(3))])
def test_an_array_without_a_name_is_called_like_its_file(suffix: str, array: Any, tmp_path: Path) -> None:
    for stem in ("run", "run.2", "2.0.0"):
        for packed in ("", ".gz") if suffix != ".parquet" else ("",):
            path = tmp_path / f"{stem}{suffix}{packed}"
            sa.write(path, {stem: array})
            assert_same(sa.read(path, stem), array)
    path = tmp_path / f"run{suffix}"
    if suffix != ".parquet":
        file = io.BytesIO(path.read_bytes())
        assert_same(sa.read(file, "array", format=suffix[1:]), array)


@needing("workbook")
def test_every_door_takes_one_name(tmp_path: Path, sheets_server: SheetsServer) -> None:
    client, key = sheets_server.client(), sheets_server.create()
    sa.write_gsheet(key, ARRAYS, client=client)
    book = openpyxl.Workbook()
    sa.write(book, ARRAYS)
    sa.write_csv(tmp_path / "t.csv", ARRAYS)
    sa.write_excel(tmp_path / "t.xlsx", ARRAYS)
    sa.write_json(tmp_path / "t.json", ARRAYS)
    for name, array in ARRAYS.items():
        assert_same(sa.read_csv(tmp_path / "t.csv", name, encoding="utf-8"), array)
        assert_same(sa.read_excel(tmp_path / "t.xlsx", name, sheet="arrays"), array)
        assert_same(sa.read_json(tmp_path / "t.json", name), array)
        assert_same(sa.read_gsheet(key, name, client=client), array)
        assert_same(sa.read(f"gsheets://{key}", name, client=client), array)
        assert_same(sa.read(book, name), array)
    assert_same(sa.read_gsheet(key, "t", slices={"t": slice(1)}, client=client), T[:1])
    assert list(sa.read_dataset(tmp_path / "t.csv", "t").data_vars) == ["t"]
    assert list(sa.read_frame(tmp_path / "t.csv", "n")) == ["n"]
    assert list(sa.read_columns(io.StringIO("a,b\n1,2\n"), "b", format="csv")) == ["b"]
    assert [block.shape for block in sa.iter_blocks(tmp_path / "t.csv", "t", rows=1)] == [(1, 3)] * 2


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx", ".awkd"])
def test_an_awkward_array_comes_as_one(suffix: str, tmp_path: Path) -> None:
    events = ak.Array([[1.5, 2.5], [], [3.5]])
    sa.write(tmp_path / f"e{suffix}", {"events": events, "n": np.arange(3)})
    back = sa.read(tmp_path / f"e{suffix}", "events")
    assert isinstance(back, ak.Array)
    assert back.to_list() == events.to_list()


def test_what_is_no_name_is_a_type_error(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", ARRAYS)
    for names in (5, b"t", [["t"]], np.array(5)):
        with pytest.raises((TypeError, sa.NotFoundError)):
            sa.read(tmp_path / "t.csv", names)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["csv", "xlsx", "json", "gsheet"])
def test_the_types_that_readers_declare_have_every_option(name: str) -> None:
    """For mypy, the options stand a second time in a `TypedDict`."""
    read = FORMATS[name].function("read")
    kinds = typing.get_overloads(getattr(read, "__wrapped__", read))
    assert len(kinds) == 2
    for kind in kinds:
        declared = kind.__globals__[kind.__annotations__["options"].removeprefix("Unpack[").removesuffix("]")]
        known = [each.name for each in signature(read).parameters.values() if each.kind is each.KEYWORD_ONLY]
        assert list(declared.__annotations__) == known
