"""Open files without a name are recognised by what they begin with, and read from where they stand."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any, cast

import awkward as ak
import numpy as np
import pytest
import xarray as xr
from adapters_deleted import needing

import sheetarray as sa
from sheetarray.formats import FORMATS, format_of
from sheetarray.formats.row import Format
from sheetarray.testing.cases import assert_same

ARRAY = np.array([[0.5, 1.5], [2.5, -0.0]])
ROWS = [row for row in FORMATS.values() if row.suffixes and row.instead is None and row.name != "zarr"]  # a folder


def content_of(row: Format, folder: Path) -> bytes:
    path = folder / f"x{row.suffixes[0]}"
    sa.write(path, {"x": array_for(row)}, format=row.name)
    return path.read_bytes()


def array_for(row: Format) -> np.ndarray[Any, Any]:
    """The array of the tests, or its first row for a format whose files are columns."""
    return ARRAY[0] if row.keeps is not None and row.keeps.table else ARRAY


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_format_is_recognised_and_read_and_the_file_stands_where_it_stood(row: Format, tmp_path: Path) -> None:
    content = content_of(row, tmp_path)
    for before in (b"", b"other bytes"):
        file = io.BytesIO(before + content)
        file.seek(len(before))
        assert format_of(file, reading=True).module == row.module
        assert file.tell() == len(before)
        (array,) = sa.read(file).values()
        assert_same(np.asarray(array), array_for(row))
    (info,) = sa.scan(io.BytesIO(content)).values()
    assert info.shape == array_for(row).shape
    assert [finding.severity for finding in sa.check(io.BytesIO(content))] == []


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".json", ".npz"])
def test_uploads_are_read_whatever_they_are_called(suffix: str, tmp_path: Path) -> None:
    content = content_of(FORMATS[suffix[1:]], tmp_path)
    for name in (None, f"run{suffix}", "upload_0f3a", "run.dat"):  # of the user's
        upload: Any = io.BytesIO(content)
        upload.name = name
        (array,) = sa.read(upload).values()
        assert_same(array, ARRAY)
    for size in (1, 2**20):  # on the disk, and in memory
        with tempfile.SpooledTemporaryFile(size) as spooled:
            spooled.write(content)
            spooled.seek(0)
            (array,) = sa.read(cast("Any", spooled)).values()
            assert_same(array, ARRAY)
    with tempfile.TemporaryFile() as unnamed:  # its name is a number
        unnamed.write(content)
        unnamed.seek(0)
        (array,) = sa.read(unnamed).values()
        assert_same(array, ARRAY)


@needing("csv", "json")
def test_text_is_csv_or_json_in_any_encoding_and_compressed(tmp_path: Path) -> None:
    table = "id;gewicht\n007;1,5\n008;2,5\n"
    sources: list[Any] = [io.StringIO(table)]
    sources += [io.BytesIO(table.encode(encoding)) for encoding in ("utf-8", "utf-8-sig", "utf-16")]
    sources.append(io.BytesIO(gzip.compress(table.encode())))
    for source in sources:
        columns = sa.read_columns(source)
        assert columns["id"].tolist() == ["007", "008"]
        assert columns["gewicht"].tolist() == [1.5, 2.5]
    flat = io.StringIO('{"x": ["version", "1.0.0", "ndarray"]}')
    assert format_of(flat, reading=True).name == "json"
    cyrillic = io.BytesIO("Прибор,t\nЖ,1\n".encode())
    assert sa.read_columns(cyrillic)["t"].tolist() == [1]


def test_a_member_of_an_archive_and_a_resource_of_a_package_are_paths(tmp_path: Path) -> None:
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for suffix in (".csv", ".xlsx"):
            archive.writestr(f"in/run{suffix}", content_of(FORMATS[suffix[1:]], tmp_path))
        archive.writestr("in/nameless", content_of(FORMATS["npy"], tmp_path))
    for member in ("in/run.csv", "in/run.xlsx", "in/nameless"):
        place = cast("Any", zipfile.Path(str(path), member))
        (array,) = sa.read(place).values()
        assert_same(array, ARRAY)
        assert len(sa.scan(place)) == 1
        assert list(sa.check(place)) == []
        assert len(list(sa.iter_blocks(place, next(iter(sa.scan(place))), rows=1))) == 2
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("in/table.csv", "t,u\n1,2\n")
    assert sa.read_columns(cast("Any", zipfile.Path(str(path), "in/table.csv")))["u"].tolist() == [2]
    with pytest.raises((TypeError, sa.NotFoundError)):
        sa.write(cast("Any", zipfile.Path(str(path), "in/new")), {"x": ARRAY})
    assert sa.read(io.BytesIO(content_of(FORMATS["npz"], tmp_path))).keys() == {"x"}


def test_xarray_opens_files_that_are_in_memory(tmp_path: Path) -> None:
    data = xr.Dataset({"t": (("x", "y"), ARRAY)}, {"x": ["p", "q"]})
    for suffix in (".csv", ".xlsx"):
        sa.write(tmp_path / f"a{suffix}", data)
        content = (tmp_path / f"a{suffix}").read_bytes()
        xr.testing.assert_identical(xr.open_dataset(io.BytesIO(content), engine="sheetarray"), data)
        xr.testing.assert_identical(xr.open_dataset(io.BytesIO(content)), data)


def test_awkward_arrays_and_other_archives_are_told_apart(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.awkd", {"events": ak.Array([[1, 2], []])})
    content = (tmp_path / "a.awkd").read_bytes()
    assert sa.read(io.BytesIO(content))["events"].tolist() == [[1, 2], []]
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("notes.md", "no arrays")
    other.seek(0)
    with pytest.raises(sa.NotFoundError, match="without a name: say which format"):
        sa.read(other)


def test_what_nobody_recognises_asks_for_the_format() -> None:
    for content in (b"ORCx\0\0\0", b"\x00\x01\x88HDF\r\n\x1a\n\0", b"\x7fELF\0"):
        with pytest.raises(sa.NotFoundError, match="without a name: say which format"):
            sa.read(io.BytesIO(content))
    with pytest.raises(sa.NotFoundError, match="without a name: say which format"):
        sa.write(io.BytesIO(), {"x": ARRAY})


@needing("csv")  # which its thread writes
def test_a_pipe_is_not_looked_into() -> None:
    reading, writing = os.pipe()

    def feed() -> None:
        with open(writing, "wb") as sink:
            sa.write(sink, {"x": ARRAY}, format="csv")

    thread = threading.Thread(target=feed)
    thread.start()
    with open(reading, "rb") as source:
        with pytest.raises(sa.NotFoundError, match="without a name: say which format"):
            sa.read(source)
        assert_same(sa.read(source, format="csv")["x"], ARRAY)
    thread.join()


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"PK\x03\x04" + b"\0" * 500, b"Obj\x01", b"\xff\xfe", b"{", b"\x81"]
)
def test_beginnings_alone_are_errors_of_ours(content: bytes) -> None:
    with pytest.raises((sa.FormatError, sa.NotFoundError)):
        sa.read(io.BytesIO(content))
    assert isinstance(list(sa.check(io.BytesIO(content), format="csv")), list)
