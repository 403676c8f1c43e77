"""Files are replaced whole or not at all, and what is compressed is bounded."""

from __future__ import annotations

import errno
import gzip
import io
import mmap
import multiprocessing
import os
import stat
import subprocess
import sys
import tempfile
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from adapters_deleted import needing
from children import GIVEN_UP_AFTER
from limits import set_limits

import sheetarray as sa
from sheetarray.files import release_pages, writing
from sheetarray.formats.contract import Source, replacing

SUFFIXES = ["csv", "json.gz", "csv.zst"]


@pytest.fixture(params=SUFFIXES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"x.{request.param}"


def only(path: Path) -> bool:
    return os.listdir(path.parent) == [path.name]


class Full(io.BytesIO):
    """A disk with room for some bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, chunk: Any, /) -> int:
        self.room -= len(chunk)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(chunk)


@pytest.mark.fault("The disk is full.", "The old file is whole. No other file is left.")
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_full_disk_passes_through_with_the_old_file_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    sa.write(path, {"old": np.arange(3)})
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        sa.write(path, {"new": np.random.default_rng(0).normal(size=size)})
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert only(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("size", [10, 300_000])
def test_a_device_that_is_full_is_the_systems_error(format: str, size: int) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        sa.write("/dev/full", {"x": np.arange(float(size))}, format=format)
    assert caught.value.errno == errno.ENOSPC
    assert not isinstance(caught.value, sa.SheetArrayError)


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("room", [0, 100, 10_000])
def test_a_callers_file_that_is_full_is_the_callers_error(format: str, room: int) -> None:
    file = Full(room)
    with pytest.raises(OSError, match="No space left"):
        sa.write(file, {"x": np.arange(100_000.0), "s": np.array(["a"] * 10)}, format=format)
    assert not file.closed


@pytest.mark.fault("Ctrl-C while a file is written.", "The old file is whole. No other file is left.")
def test_an_interrupt_leaves_the_old_file(path: Path) -> None:
    sa.write(path, {"old": np.arange(3)})
    before = path.read_bytes()

    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sa.write(path, {"x": np.arange(300_000.0)}, progress=interrupt)
    assert path.read_bytes() == before
    assert only(path)


def test_an_error_while_writing_leaves_no_new_file(path: Path) -> None:
    with pytest.raises(TypeError, match="bytes"), replacing(path) as sink:
        sink.write("half")  # type: ignore[arg-type]
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o444 | 0o200])
def test_permissions_stay(path: Path, mode: int) -> None:
    sa.write(path, {"old": np.arange(3)})
    path.chmod(mode)
    sa.write(path, {"new": np.arange(3)})
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_that_open_gives(path: Path) -> None:
    sa.write(path, {"x": np.arange(3)})
    other = path.with_name("other")
    other.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_file_is_not_replaced(path: Path) -> None:
    sa.write(path, {"old": np.arange(3)})
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        sa.write(path, {"new": np.arange(3)})
    assert only(path)


def test_a_read_only_file_is_not_replaced_where_access_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sa.write(path, {"old": np.arange(3)})
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(PermissionError):
        sa.write(path, {"new": np.arange(3)})
    assert path.read_bytes() == before
    assert only(path)


def test_a_symbolic_link_stays_one_and_its_target_is_replaced(path: Path) -> None:
    folder = path.parent / "real"
    folder.mkdir()
    target = folder / path.name
    sa.write(target, {"old": np.arange(3)})
    path.symlink_to(target)
    sa.write(path, {"new": np.arange(2)})
    assert path.is_symlink()
    assert list(sa.read(target)) == ["new"] == list(sa.read(path))
    assert os.listdir(folder) == [path.name]


def test_a_dangling_link_makes_its_target(path: Path) -> None:
    target = path.parent / f"target.{path.name}"
    path.symlink_to(target)
    sa.write(path, {"new": np.arange(2)})
    assert path.is_symlink()
    assert target.is_file()


def test_a_folder_is_no_target_and_no_source(tmp_path: Path) -> None:
    folder = tmp_path / "x.csv"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        sa.write(folder, {"x": np.arange(2)})
    with pytest.raises(IsADirectoryError):
        sa.read(folder)
    assert os.listdir(tmp_path) == ["x.csv"]
    assert os.listdir(folder) == []


def test_a_long_file_name_has_room_for_the_temporary_one(tmp_path: Path) -> None:
    for path in (tmp_path / ("x" * 251 + ".csv"), tmp_path / ("ü" * 125 + ".csv")):
        sa.write(path, {"x": np.arange(2)})
        assert len(sa.read(path)) == 1


# Compression -------------------------------------------------------------------------------------------------


def test_compression_is_known_by_content_not_by_suffix(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.csv.gz", {"x": np.arange(3)})
    content = (tmp_path / "x.csv.gz").read_bytes()
    assert content[:2] == b"\x1f\x8b"
    (tmp_path / "y.csv").write_bytes(content)
    assert sa.read(tmp_path / "y.csv")["x"].tolist() == [0, 1, 2]
    (tmp_path / "z.csv.gz").write_bytes(gzip.decompress(content))
    assert sa.read(tmp_path / "z.csv.gz")["x"].tolist() == [0, 1, 2]
    assert sa.read(io.BytesIO(content), format="csv")["x"].tolist() == [0, 1, 2]


def test_gzip_and_zstandard_of_several_members_are_one_text() -> None:

    file = io.BytesIO()
    sa.write(file, {"x": np.arange(1000)}, format="csv")
    content = file.getvalue()
    for pack in (gzip.compress, zstandard.ZstdCompressor().compress):
        packed = pack(content[:500]) + pack(content[500:])
        assert sa.read(io.BytesIO(packed), format="csv")["x"].tolist() == list(range(1000))


def test_the_same_arrays_make_the_same_bytes(path: Path) -> None:
    sa.write(path, {"x": np.arange(1000.0)})
    before = path.read_bytes()
    sa.write(path, {"x": np.arange(1000.0)})
    assert path.read_bytes() == before


def test_a_source_reads_no_further_than_asked() -> None:
    class Counting(io.BytesIO):
        count = 0

        def read(self, size: int | None = -1, /) -> bytes:
            chunk = super().read(size)
            self.count += len(chunk)
            return chunk

    file = Counting(b"x" * 10_000_000)
    with Source(file) as source:
        assert source.prefix(10) == b"x" * 10
        assert file.count <= 10_000
        assert source.prefix(20_000) == b"x" * 20_000
        assert file.count <= 30_000
        assert len(source.whole()) == 10_000_000


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("lost", [1, 3, 20])
def test_text_cut_off_with_its_compressed_file_is_never_taken_for_trimmed_blanks(
    tmp_path: Path, suffix: str, lost: int
) -> None:
    path = tmp_path / f"text.csv{suffix}"
    sa.write(path, {"s": np.array([f"text {n}" for n in range(20_000)])})
    path.write_bytes(path.read_bytes()[:-lost])
    for verb in (sa.read, sa.scan):  # both search the whole sheet for arrays
        with pytest.raises(sa.FormatError, match="cut off"):
            verb(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]


def test_a_suffix_in_capitals_and_a_link_compress_too(tmp_path: Path) -> None:
    sa.write(tmp_path / "X.CSV.GZ", {"x": np.arange(3)})
    assert (tmp_path / "X.CSV.GZ").read_bytes().startswith(b"\x1f\x8b")
    (tmp_path / "kept").write_bytes(b"")
    (tmp_path / "link.csv.zst").symlink_to(tmp_path / "kept")
    sa.write(tmp_path / "link.csv.zst", {"x": np.arange(3)})
    assert (tmp_path / "kept").read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert sa.read(tmp_path / "link.csv.zst")["x"].tolist() == [0, 1, 2]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident memory of a process is told by Linux")
def test_pages_of_a_map_are_given_back_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, read_into_memory=2**20)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    path = tmp_path / "long"
    path.write_bytes(bytes(range(256)) * 2**18)
    with Source(path) as source:
        content = source.whole()
        assert sum(content[start] for start in range(0, len(content), 512)) == 0
        before = resident()
        release_pages(content, 1000, len(content))
        assert before - resident() > 2**25
        assert content[:256] == content[-256:] == bytes(range(256))
    release_pages(b"no map", 0, 6)


@pytest.mark.fault("The disk fails while a long file is flushed.", "The old file is whole, and the error is raised.")
def test_an_error_of_the_disk_while_more_is_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = tmp_path / "t", threading.Event()
    path.write_bytes(b"old")

    def refuse(descriptor: int) -> None:
        asked.set()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    set_limits(monkeypatch, flush_every=0.0)
    monkeypatch.setattr(writing, "_SYNC", refuse)

    def write() -> None:
        with replacing(path) as sink:
            sink.write(b"new")
            assert asked.wait(GIVEN_UP_AFTER)

    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["t"]


class Unbuffered(io.RawIOBase):
    """A file that takes and gives a few bytes at a time, as a pipe without a buffer may."""

    def __init__(self, content: bytes = b"", *, full: bool = False) -> None:
        self.content, self.full = bytearray(content), full

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any, /) -> int | None:
        self.content += bytes(chunk[:1000])
        return None if self.full else len(chunk[:1000])

    def read(self, size: int = -1) -> bytes:
        chunk = bytes(self.content[: max(1, min(size, 3))])
        del self.content[: len(chunk)]
        return chunk


@pytest.mark.parametrize("format", ["csv", "json", "npy", "npz", "avro", "xlsx"])
def test_an_unbuffered_file_takes_everything(format: str) -> None:
    array = np.random.default_rng(0).normal(size=5000)
    file = Unbuffered()
    sa.write(file, {"array": array}, format=format)  # type: ignore[arg-type]
    assert sa.read(io.BytesIO(file.content), format=format)["array"].tobytes() == array.tobytes()
    with pytest.raises(BlockingIOError):
        sa.write(Unbuffered(full=True), {"array": array}, format=format)  # type: ignore[arg-type]


def test_an_unbuffered_pipe_may_begin_with_one_byte() -> None:
    text = io.StringIO()
    sa.write(text, {"t": np.arange(3)}, format="csv")
    packed = gzip.compress(text.getvalue().encode())
    assert sa.read(Unbuffered(packed), format="csv")["t"].tolist() == [0, 1, 2]  # type: ignore[arg-type]


def test_without_zstandard_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sa.write(tmp_path / "x.csv.zst", [1.5])
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for call in (lambda: sa.read(tmp_path / "x.csv.zst"), lambda: sa.write(tmp_path / "y.csv.zst", [1.5])):
        with pytest.raises(sa.MissingDependencyError, match=r'pip install "sheetarray\[zstd\]"'):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv.zst"]


# Several processes --------------------------------------------------------------------------------------------

_FORKED = """
import os, sys, warnings
import numpy as np
import sheetarray as sa, sheetarray.files
sa.write(sys.argv[1], {"x": np.arange(3000.0)})  # short enough to be read without the engine
if sys.argv[2] != "missing":
    import polars
if sys.argv[2] == "used":
    polars.DataFrame({"x": [1.5] * 1000}).lazy().select(polars.col("x").sum()).collect()
if os.fork() == 0:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with sa.files.Source(sys.argv[1]) as source:
                source.prefix(4)
    print([(str(w.message)[:35], os.path.basename(w.filename)) for w in caught], flush=True)
    os._exit(0)
os.wait()
"""


TELLS = Path("/proc/self/task").is_dir()  # whether the system tells of threads


def total(path: Path) -> float:
    """The sum of a file's array, which the engine has parsed."""
    return float(sa.read(path)["x"].sum())


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_started_anew_read_alike(tmp_path: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    array = np.arange(100_000) / 7
    sa.write(tmp_path / "x.csv", {"x": array})
    assert total(tmp_path / "x.csv") == array.sum()  # the engine has its threads now
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(total, [tmp_path / "x.csv"] * 3)) == [array.sum()] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(("engine", "warned"), [("used", True), ("loaded", not TELLS), ("missing", False)])
def test_a_forked_process_warns_once(tmp_path: Path, engine: str, warned: bool) -> None:
    script = _FORKED if engine == "used" else _FORKED.replace("sa.write(sys", "open(sys.argv[1], 'w').close()  # (")
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "x.csv"), engine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=True)
    expected = [("this process was forked after polars", "<string>")] if warned else []
    assert done.stdout.strip() == str([(message[:35], place) for message, place in expected])


# Uploads of web frameworks are open files without a path ------------------------------------------------------

FORMATS = ["csv", "json", "xlsx", "npz", "parquet"]


def written(name: str) -> bytes:
    file = io.BytesIO()
    sa.write(file, {"t": np.array([0.1, np.nan])}, format=name)
    return file.getvalue()


def check_read(file: Any) -> None:
    assert sa.scan(file)["t"].shape == (2,)
    file.seek(0)
    assert list(sa.check(file)) == []
    file.seek(0)
    assert sa.read(file)["t"].tolist()[0] == 0.1


@needing(*FORMATS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("held", [10, 2**20])
def test_an_upload_of_starlette_is_read_by_its_file(name: str, held: int) -> None:
    datastructures = pytest.importorskip("starlette.datastructures")
    file = tempfile.SpooledTemporaryFile(max_size=held)  # noqa: SIM115  (as Starlette makes it)
    file.write(written(name))
    file.seek(0)
    upload = datastructures.UploadFile(file, filename=f"t.{name}")
    check_read(upload.file)
    with pytest.raises(TypeError, match=r"coroutines: give the file in it, such as UploadFile\.file"):
        sa.read(upload)
    file.close()


@needing(*FORMATS)
@pytest.mark.parametrize("name", FORMATS)
def test_uploads_of_django_are_read(name: str) -> None:
    conf = pytest.importorskip("django.conf")
    uploads = pytest.importorskip("django.core.files.uploadedfile")
    if not conf.settings.configured:
        conf.settings.configure()
    content = written(name)
    check_read(uploads.InMemoryUploadedFile(io.BytesIO(content), "file", f"t.{name}", None, len(content), None))
    check_read(uploads.SimpleUploadedFile(f"t.{name}", content))
    with uploads.TemporaryUploadedFile(f"t.{name}", None, len(content), None) as upload:
        upload.write(content)
        upload.seek(0)
        check_read(upload)


@needing("csv", "xlsx")
def test_a_file_at_its_end_and_a_path_in_an_archive_say_what_to_do() -> None:
    file = io.BytesIO()
    sa.write(file, {"t": [1.5]}, format="xlsx")
    with pytest.raises(sa.NotFoundError, match=r"file\.seek\(0\) goes to its start"):
        sa.read(file)
    file.seek(0)
    assert sa.read(file)["t"].tolist() == [1.5]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        path = zipfile.Path(archive, "a.csv")
        with pytest.raises(TypeError, match=r"with path.open") as caught:
            sa.write(path, {"t": [1.5]})
        exec(str(caught.value).partition("; ")[2], {"path": path, "sheetarray": sa, "arrays": {"t": [1.5]}})
    assert sa.read(zipfile.Path(made, "a.csv"))["t"].tolist() == [1.5]
