"""Packages of our own: what zipfile reads of them, copies of parts, zip64, pipes, and failures on the way."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import sys
import threading
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from excel_packages import CENTRAL, LOCAL, TEXT, OnlyWrite, field, noise, parts, raw_members, rich, zipped
from excel_packages import survive_as_package as survive

import sheetarray as sa
from sheetarray.adapters import replacing
from sheetarray.sheets.excel.package.packing import PackageWriter
from sheetarray.sheets.excel.package.parts import Package


def write(writer: PackageWriter, members: dict[str, bytes], streamed: dict[str, bytes]) -> None:
    for name, content in members.items():
        writer.write_part(name, content)
    for name, content in streamed.items():
        with writer.stream_part(name, expected=len(content)) as sink:
            for start in range(0, len(content), 70_000):
                sink.write(content[start : start + 70_000])
    writer.write_part("last", b"end")
    writer.finish()


STREAMED = {"sheet1": b"<row/>" * 200_000, "nöise": noise(900_000), "none": b""}


@pytest.mark.parametrize("plain", [True, False])
def test_what_is_written_is_read_by_zipfile(tmp_path: Path, plain: bool) -> None:
    sink = OnlyWrite()
    path = tmp_path / "x.zip"
    if plain:
        with replacing(path, binary=True) as target:
            write(PackageWriter(target), TEXT, STREAMED)
        content = path.read_bytes()
    else:
        write(PackageWriter(sink), TEXT, STREAMED)
        content = bytes(sink.content)
    assert parts(content) == {**TEXT, **STREAMED, "last": b"end"}
    assert survive(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert (info.create_version, info.extract_version, info.flag_bits & 8) == (20, 20, 0)
            assert not info.extra


def test_a_plain_file_and_a_pipe_get_the_same_bytes(tmp_path: Path) -> None:
    sink, path = OnlyWrite(), tmp_path / "x.zip"
    write(PackageWriter(sink), TEXT, STREAMED)
    with replacing(path, binary=True) as target:
        write(PackageWriter(target), TEXT, STREAMED)
    assert path.read_bytes() == bytes(sink.content)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind")
def test_a_package_goes_through_a_pipe() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        with open(writing, "wb") as sink:
            write(PackageWriter(sink), TEXT, {"a": b"<row/>" * 100})
        assert parts(source.read()) == {**TEXT, "a": b"<row/>" * 100, "last": b"end"}


def test_copies_keep_their_packed_bytes_and_their_time(tmp_path: Path) -> None:
    content, path = rich(), tmp_path / "x.zip"
    package = Package(content)
    with replacing(path, binary=True) as sink:
        writer = PackageWriter(sink)
        for name in package.names():
            writer.copy_part(package, name)
        writer.finish()
    assert raw_members(path.read_bytes()) == raw_members(content)
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(path) as after:
        assert [info.date_time for info in before.infolist()] == [info.date_time for info in after.infolist()]


def test_a_copy_of_a_name_in_an_old_code_page_is_in_unicode() -> None:
    sink = OnlyWrite()
    old = zipped({"é": b"1"}).replace("é".encode(), b"\x82a")  # é in code page 437, and a letter
    old = field(field(old, LOCAL, 6, "<H", 0), CENTRAL, 8, "<H", 0)
    writer = PackageWriter(sink)
    writer.copy_part(Package(old), "éa")
    writer.finish()
    assert parts(bytes(sink.content)) == {"éa": b"1"}


@pytest.mark.parametrize("plain", [True, False])
def test_no_zip64_where_it_was_expected_and_not_needed(tmp_path: Path, plain: bool) -> None:
    path = tmp_path / "x.zip"
    sink = OnlyWrite()
    with replacing(path, binary=True) as target:
        writer = PackageWriter(target if plain else sink)
        with writer.stream_part("large", expected=5 * 10**9) as out:
            out.write(b"not so large after all" * 10)
        writer.write_part("small", b"1")
        writer.finish()
    content = path.read_bytes() if plain else bytes(sink.content)
    assert parts(content) == {"large": b"not so large after all" * 10, "small": b"1"}
    assert survive(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        large, small = archive.infolist()
        local = struct.unpack_from("<H", content, large.header_offset + 4)[0]
        assert (large.extract_version, local, small.extract_version) == (20, 20, 20)
        assert struct.unpack_from("<I", content, large.header_offset + 22) == (220,)


def test_a_part_beyond_four_gigabytes(tmp_path: Path) -> None:
    path, chunk = tmp_path / "x.zip", bytes(2**26)
    count = 65
    with replacing(path, binary=True) as target:
        writer = PackageWriter(target)
        with writer.stream_part("large", expected=count * len(chunk)) as out:
            for _ in range(count):
                out.write(chunk)
        writer.write_part("small", b"1")
        writer.finish()
    with zipfile.ZipFile(path) as archive:
        large = archive.getinfo("large")
        assert (large.file_size, large.CRC) == (count * len(chunk), 0x0C0B9A78)  # of as many zeros
        assert archive.read("small") == b"1"
    with pytest.raises(sa.FormatError, match="claims to inflate"):
        Package(path.read_bytes())


def test_a_part_that_outgrows_what_was_expected_is_refused(tmp_path: Path) -> None:
    path, chunk = tmp_path / "x.zip", bytes(2**26)

    def outgrow() -> None:
        with replacing(path, binary=True) as target, PackageWriter(target).stream_part("large", expected=1000) as out:
            for _ in range(65):
                out.write(chunk)

    with pytest.raises(sa.LimitError, match="large has 4362076160 bytes"):
        outgrow()
    assert list(tmp_path.iterdir()) == []


def test_equal_content_makes_equal_packages() -> None:
    made = []
    for _ in range(2):
        sink = OnlyWrite()
        write(PackageWriter(sink), TEXT, STREAMED)
        made.append(bytes(sink.content))
    assert made[0] == made[1]


@pytest.mark.fault("An error in the middle of a worksheet.", "The old workbook is whole. No other file is left.")
@pytest.mark.parametrize("plain", [True, False])
def test_a_failure_in_mid_stream_leaves_the_old_file_and_nothing_else(tmp_path: Path, plain: bool) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"old")

    def fail(target: Any) -> None:
        writer = PackageWriter(target if plain else OnlyWrite())
        writer.write_part("a", b"1")
        with writer.stream_part("b", expected=10**6) as out:
            out.write(noise(10**6))
            raise RuntimeError("in mid-stream")

    with pytest.raises(RuntimeError, match="in mid-stream"), replacing(path, binary=True) as target:
        fail(target)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_whose_stream_failed_makes_no_package() -> None:
    writer = PackageWriter(OnlyWrite())
    with contextlib.suppress(RuntimeError), writer.stream_part("b", expected=10) as out:
        out.write(b"1")
        raise RuntimeError
    with pytest.raises(AssertionError, match="failed"):
        writer.finish()


class Full(io.RawIOBase):
    """A disk that is full after some bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any, /) -> int:
        self.room -= len(chunk)
        if self.room < 0:
            raise OSError(28, "No space left on device")
        return len(chunk)


@pytest.mark.parametrize("room", [0, 40, 2000, 50_000])
def test_a_full_disk_is_an_error_of_the_system(room: int) -> None:
    with pytest.raises(OSError, match="No space"):
        write(PackageWriter(Full(room)), TEXT, {"a": noise(100_000)})


@pytest.mark.fault("The device is full.", "The error of the system is raised.")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_device_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No space"), replacing("/dev/full", binary=True) as sink:
        write(PackageWriter(sink), TEXT, {"a": noise(1_000_000)})


def test_no_thread_and_no_warning_are_left_behind() -> None:
    before = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(PackageWriter(OnlyWrite()), TEXT, STREAMED)
    assert threading.active_count() == before
