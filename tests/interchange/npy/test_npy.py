"""NumPy's files: the shared suite, byte for byte what NumPy writes, and what is refused."""

from __future__ import annotations

import io
import string
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import examples
from hostile import HostileSamples
from numpy.lib import format as numpy_format

import sheetarray as sa
from sheetarray.interchange import npy
from sheetarray.testing.cases import CASES, assert_same, objects
from sheetarray.testing.conformance import Conformance
from sheetarray.testing.hostile import Content

GENERIC = ("dtype generic", "0-d generic", "empty generic", "generic blanks", "generic header words")
HELD = {case: array for case, array in CASES.items() if case not in GENERIC}


class _Npy(Conformance):
    keeps_buffers = False
    text = False
    lacks = dict.fromkeys(GENERIC, sa.DTypeError)
    holds_too = frozenset({"void", "lone surrogates"})

    def cells(self, array: Any) -> int:
        return int(array.size)


class TestNpy(_Npy):
    suffix, format = ".npy", "npy"
    holds_several = False
    progress_of = ("write",)

    def name(self, index: int, name: str) -> str:
        return "file"


class TestNpyGzip(TestNpy):
    every_case = False
    suffix = ".npy.gz"


class TestNpz(_Npy):
    suffix, format = ".npz", "npz"


class TestNpzCompressed(TestNpz):
    every_case = False
    writing = {"compress": True}  # noqa: RUF012


def only(arrays: dict[str, Any]) -> Any:
    """The one array that was read."""
    (array,) = arrays.values()
    return array


def header(text: str, version: tuple[int, int] = (1, 0)) -> bytes:
    """A header with this text."""
    layout = "<H" if version == (1, 0) else "<I"
    return b"\x93NUMPY" + bytes(version) + struct.pack(layout, len(text)) + text.encode("latin-1")


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as zipped:
        for name, content in members:
            zipped.writestr(name, content)
    file.seek(0)
    return file


def saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


# What NumPy writes and reads ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", HELD)
def test_files_are_byte_for_byte_what_numpy_writes(tmp_path: Path, case: str) -> None:
    array = HELD[case]
    native = array.astype(array.dtype.newbyteorder("="), order="A")
    native = native if native.flags.forc else np.ascontiguousarray(native)
    sa.write(tmp_path / "ours.npy", array)
    assert (tmp_path / "ours.npy").read_bytes() == saved(native)
    sa.write(tmp_path / "ours.npz", {"x": array})
    np.savez(tmp_path / "theirs.npz", x=native)
    assert (tmp_path / "ours.npz").read_bytes() == (tmp_path / "theirs.npz").read_bytes()


def test_archives_that_numpy_compresses_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", **HELD)
    result = sa.read(tmp_path / "x.npz")
    assert list(result) == list(HELD)
    for case, array in HELD.items():
        assert_same(result[case], array)


def test_numpy_reads_what_is_written_to_an_open_file() -> None:
    for options in ({}, {"compress": True}):
        file = io.BytesIO(b"")
        sa.write(file, {"a/b": np.arange(5.0), "ü": np.array(["x", "yy"])}, format="npz", **options)
        file.seek(0)
        result = np.load(file)
        assert result.files == ["a/b", "ü"]
        assert result["a/b"].tolist() == [0, 1, 2, 3, 4]
        assert result["ü"].tolist() == ["x", "yy"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_is_read(version: tuple[int, int]) -> None:
    file = io.BytesIO()
    numpy_format.write_array(file, np.asfortranarray([[1, 2], [3, 4]]), version=version)
    file.seek(0)
    array = only(npy.read_npy(file))
    assert array.tolist() == [[1, 2], [3, 4]]
    assert array.flags.f_contiguous


def test_headers_of_python_2_are_read_without_a_warning() -> None:
    text = '{"shape":(2L,),"fortran_order":False,"descr":"<i2"}'
    assert only(npy.read_npy(io.BytesIO(header(text) + b"\x01\x00\x02\x00"))).tolist() == [1, 2]


def test_arrays_of_large_files_can_be_changed_and_files_never_change(tmp_path: Path) -> None:
    path, array = tmp_path / "x.npy", np.arange(300_000.0).reshape(300, 1000)
    npy.write_npy(path, {"array": array})
    before = path.read_bytes()
    for mapped in (False, True):
        result = only(npy.read_npy(path, mmap=mapped))
        assert_same(result, array)
        result[:] = 7
        assert path.read_bytes() == before
    path.unlink()
    assert result.sum() == 7 * 300_000


def test_scan_says_where_the_data_lie(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6, dtype="int16").reshape(2, 3))
    sa.write(tmp_path / "x.npy", array)
    sa.write(tmp_path / "x.npz", {"t": array})
    info = sa.scan(tmp_path / "x.npy")["x"]
    assert (info.location, info.cells, info.order, info.strides) == ("byte 128", 6, "column-major", (1, 2))
    assert sa.scan(tmp_path / "x.npz")["t"].location == "t.npy, byte 128"


# Refusals ----------------------------------------------------------------------------------------------------


def test_several_arrays_in_a_npy_file_are_pointed_to_npz(tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match=r"\.npz"):
        sa.write(tmp_path / "x.npy", {"a": np.zeros(1), "b": np.zeros(1)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a\\b", "C:/a", "a\0b", "\ud800", "x" * 70_000]
)
def test_names_that_no_archive_should_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(sa.LimitError, match="rename it"):
        sa.write(tmp_path / "x.npz", {"fine": np.zeros(1), name: np.zeros(1)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "C:/x"])
def test_members_that_lead_out_of_the_archive_are_refused(name: str) -> None:
    file = archive((f"{name}.npy", saved(np.zeros(1))))
    with pytest.raises(sa.FormatError, match="member"):
        sa.read(file, format="npz")


@pytest.mark.filterwarnings("ignore:.*format 2.0.*:UserWarning")
@pytest.mark.parametrize(
    ("array", "said"),
    [
        (objects(1, None), "pickle"),
        (np.array([b"ab"]), "np.char.decode"),
        (np.zeros(2, [("a", "i4"), ("b", "f8")]), "one array per field"),
        (np.zeros(2, [("a", "i4", (2,))]), "one array per field"),
        (np.zeros(2, np.longdouble), "float64"),
        (np.zeros(2, np.clongdouble), "complex128"),
        (np.zeros(2, "M8"), "datetime64"),
        (np.zeros(2, "m8"), "timedelta64"),
    ],
)
def test_elements_without_a_dtype_of_the_package_are_refused_with_what_to_do(array: Any, said: str) -> None:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    for content, kind in ((file, "npy"), (archive(("x.npy", file.getvalue())), "npz")):
        content.seek(0)
        with pytest.raises(sa.FormatError, match=said) as caught:
            sa.read(content, format=kind)
        assert caught.value.location
        content.seek(0)
        (finding,) = sa.check(content, format=kind)
        assert finding.location == caught.value.location


def test_other_members_of_an_archive_are_read_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", fine=np.arange(3), objects=objects(1, None))
    assert sa.read(tmp_path / "x.npz", ["fine"])["fine"].tolist() == [0, 1, 2]
    with pytest.raises(sa.FormatError, match=r"objects\.npy, byte 10"):
        sa.read(tmp_path / "x.npz")


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (open, (str(tmp_path / "sprung"), "w"))

    file = io.BytesIO()
    np.save(file, np.array([Trap()], dtype=object), allow_pickle=True)
    for content, kind in ((file, "npy"), (archive(("x.npy", file.getvalue())), "npz")):
        content.seek(0)
        with pytest.raises(sa.FormatError):
            sa.read(content, format=kind)
    assert not (tmp_path / "sprung").exists()


# Archives ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize("second", ["x.npy", "x"])
def test_two_members_of_one_name_are_refused(second: str) -> None:
    file = archive(("x.npy", saved(np.zeros(1))), (second, saved(np.ones(1))))
    with pytest.raises(sa.FormatError, match="two members"):
        sa.read(file, format="npz")
    file.seek(0)
    assert len(list(sa.check(file, format="npz"))) == 1


def test_members_without_a_suffix_and_folders() -> None:
    file = archive(("folder/", b""), ("folder/x", saved(np.arange(2))))
    assert sa.read(file, format="npz")["folder/x"].tolist() == [0, 1]


def test_a_member_that_is_no_array_is_named() -> None:
    file = archive(("x.npy", saved(np.zeros(1))), ("README", b"hello"))
    with pytest.raises(sa.FormatError, match="README, byte 0"):
        sa.read(file, format="npz")
    file.seek(0)
    assert list(sa.read(file, ["x"], format="npz")) == ["x"]


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.npz", {"a": np.arange(100), "b": np.arange(100)})
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[400] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(sa.FormatError, match=r"a\.npy: .*CRC"):
        sa.read(tmp_path / "x.npz")
    assert [finding.location for finding in sa.check(tmp_path / "x.npz")] == ["a.npy"]
    assert sa.read(tmp_path / "x.npz", ["b"])["b"].sum() == 4950


def test_a_bomb_is_refused_before_memory_is_taken() -> None:
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }"
    for member in (header(text), header(text) + b"\0" * 10_000):
        with pytest.raises(sa.FormatError):
            sa.read(archive(("x.npy", member), method=zipfile.ZIP_DEFLATED), format="npz")
    content = bytearray(archive(("x.npy", header(text) + b"\0" * 10_000), method=zipfile.ZIP_DEFLATED).getvalue())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 2**29)
    with pytest.raises(sa.FormatError, match="claims 536870912 bytes"):
        sa.read(io.BytesIO(content), format="npz")


def many_members(*, apart: bool) -> bytes:
    """An archive of fifty members of 30 MB each, which have one record for all of them, or one each."""
    member = header("{'descr': '|u1', 'fortran_order': False, 'shape': (30000000,), }") + b"\0" * 30_000_000
    content = archive(("x.npy", member), method=zipfile.ZIP_DEFLATED).getvalue()
    at, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    record, entries, records = content[:at], b"", b""
    for letter in string.ascii_letters.encode()[:50]:
        entry = bytearray(content[at:end].replace(b"x.npy", b"%c.npy" % letter))
        if apart:
            entry[42:46] = struct.pack("<I", len(records))
            records += record.replace(b"x.npy", b"%c.npy" % letter)
        entries += entry
    records = records or record
    tail = bytearray(content[end:])
    tail[8:20] = struct.pack("<HHII", 50, 50, len(entries), len(records))
    return records + entries + tail


def test_members_that_inflate_to_too_much_together_are_refused() -> None:
    with pytest.raises(sa.FormatError, match="inflates"):
        sa.read(io.BytesIO(many_members(apart=True)), format="npz")
    (finding,) = sa.check(io.BytesIO(many_members(apart=True)), format="npz")
    assert "names=" in finding.hint


def test_members_that_overlap_are_refused() -> None:
    with pytest.raises(sa.FormatError, match="overlaps"):
        sa.read(io.BytesIO(many_members(apart=False)), format="npz")


# Damaged files -----------------------------------------------------------------------------------------------

TEXT = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"
VALID = {
    "floats": saved(np.arange(24.0).reshape(2, 3, 4)),
    "compact": header(TEXT) + bytes(48),
    "version 3": header(TEXT, (3, 0)) + bytes(48),
    "text": saved(np.array(["a", "ü", "漢字"])),
    "big-endian": saved(np.array([1, 2], ">M8[25s]")),
    "bool": saved(np.array([[True], [False]])),
    "opaque": saved(np.zeros(3, "V5")),
    "empty": saved(np.zeros((0, 3), "c16")),
}


class TestHostileArrays(HostileSamples):
    suffix, format = ".npy", "npy"
    tries = examples(400)
    words = (
        *(b"'descr'", b"'shape'", b"'|O'", b"'<U3'", b"'>M8[ns]'", b"'V8'", b"(2, 3)", b"()", b"9" * 20, b"True"),
        b"L",
    )

    def samples(self, place: Path) -> Mapping[str, Content]:
        return VALID


class TestHostileArchives(HostileSamples):
    suffix, format = ".npz", "npz"

    def samples(self, place: Path) -> Mapping[str, Content]:
        arrays = {"t": np.arange(40.0).reshape(5, 8), "s": np.array(["a", "ü"]), "b": np.array(True)}
        result = {}
        for name, compress in (("stored", False), ("deflated", True)):
            sa.write(file := io.BytesIO(), arrays, format="npz", compress=compress)
            result[name] = file.getvalue()
        return result


def test_an_awkward_array_of_records_is_refused_with_a_line_that_works(tmp_path: Path) -> None:
    array = pytest.importorskip("awkward").Array([{"x": 1, "y": 2.5}])
    with pytest.raises(sa.DTypeError, match=r"^t: an awkward array of records: .*a\[name\] for each name in a\.fields"):
        sa.write(tmp_path / "t.npz", {"t": array})
    sa.write(tmp_path / "t.npz", {name: array[name] for name in array.fields})
    assert sa.read(tmp_path / "t.npz")["y"].tolist() == [2.5]
