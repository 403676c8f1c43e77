"""Every verb on an object store, with counted requests, and on the file systems that need no server."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any, ClassVar

import fsspec
import numpy as np
import pytest
from command_line import run_command
from fsspec.implementations.memory import MemoryFileSystem

import sheetarray as sa
from sheetarray.files.many_files import find_files, read_heads

KEYS = {"key": "AKIAEXAMPLE", "secret": "thesecretkey"}
ARRAYS = {"t": np.arange(6.0).reshape(2, 3) / 7, "n": np.array([3, 1])}
RNG = np.random.default_rng(5)
LARGE = RNG.normal(size=(40_000, 2))


@pytest.fixture(scope="module")
def endpoint():
    moto_server = pytest.importorskip("moto.server")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture(scope="module")
def options(endpoint):
    pytest.importorskip("s3fs")
    how = {**KEYS, "client_kwargs": {"endpoint_url": endpoint}}
    fsspec.filesystem("s3", **how).mkdir("runs")
    return how


@pytest.fixture
def store(options):
    return fsspec.filesystem("s3", **options)


@pytest.fixture
def calls(store, monkeypatch):
    """Return the names of the calls for objects that the store got, in their order.

    Listings are left out: versions of the file system differ in how they ask for them.
    """
    names = []
    send = type(store)._call_s3

    async def note(self, method, *arguments, **keywords):
        names.extend([method] if method != "list_objects_v2" else [])
        return await send(self, method, *arguments, **keywords)

    monkeypatch.setattr(type(store), "_call_s3", note)
    return names


def same(arrays, expected=ARRAYS):
    return list(arrays) == list(expected) and all(
        arrays[name].dtype == array.dtype and arrays[name].tobytes() == array.tobytes()
        for name, array in expected.items()
    )


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv.zst", ".json", ".xlsx", ".npz", ".msgpack", ".avro", ".awkd"]
)
def test_what_is_written_to_an_object_store_is_read_there(options, store, calls, suffix):
    url = f"s3://runs/all/run{suffix}"
    sa.write(url, ARRAYS, storage_options=options)
    assert calls == ["put_object"]
    calls.clear()
    assert same(sa.read(url, storage_options=options))
    assert calls.count("head_object") <= 2
    assert len(calls) <= 5
    assert set(sa.scan(url, storage_options=options)) == set(ARRAYS)
    assert list(sa.check(url, storage_options=options)) == []


def test_a_scan_is_one_question_and_one_head(options, calls):
    sa.write("s3://runs/large.csv", {"t": LARGE}, storage_options=options)
    calls.clear()
    assert sa.scan("s3://runs/large.csv", storage_options=options)["t"].shape == LARGE.shape
    assert calls == ["head_object", "get_object"]
    calls.clear()
    assert same(sa.read("s3://runs/large.csv", storage_options=options), {"t": LARGE})
    assert calls == ["head_object", "get_object", "get_object", "head_object"]


def test_tables_and_conversions(options, tmp_path):
    table, arrays = "s3://runs/table.csv", "s3://runs/table.json"
    sa.write_table(table, {"id": np.array(["a", "b"]), "t": np.array([1.5, 2.5])}, storage_options=options)
    assert sa.read_columns(table, storage_options=options)["t"].tolist() == [1.5, 2.5]
    sa.write("s3://runs/run.csv", ARRAYS, storage_options=options)
    sa.convert("s3://runs/run.csv", arrays, storage_options=options)
    assert same(sa.read(arrays, storage_options=options))
    sa.convert(arrays, tmp_path / "run.xlsx", storage_options=options)
    assert same(sa.read(tmp_path / "run.xlsx"))
    sa.convert(tmp_path / "run.xlsx", arrays, ["n"], writing={"storage_options": options})
    assert list(sa.read(arrays, storage_options=options)) == ["n"]


def test_labels_blocks_and_pages(options, tmp_path):
    xr = pytest.importorskip("xarray")
    url = "s3://runs/labelled.csv"
    given = xr.Dataset({"t": (("day", "x"), LARGE[:50])}, {"day": np.arange(50)}, {"title": "runs"})
    sa.write(url, given, storage_options=options)
    xr.testing.assert_identical(sa.read_dataset(url, storage_options=options), given)
    with xr.open_dataset(url, engine="sheetarray", storage_options=options) as opened:
        xr.testing.assert_identical(opened.load(), given)
    frame = given["t"][:, 0].to_series()
    sa.write("s3://runs/frame.csv", frame.to_frame(), storage_options=options)
    assert sa.read_frame("s3://runs/frame.csv", storage_options=options)["t"].tolist() == frame.tolist()
    with sa.open_writer("s3://runs/blocks.csv", storage_options=options) as writer:
        for start in range(0, len(LARGE), 16_000):
            writer.append({"t": LARGE[start : start + 16_000]})
    blocks = list(sa.iter_blocks("s3://runs/blocks.csv", "t", rows=12_000, storage_options=options))
    assert np.concatenate(blocks).tobytes() == LARGE.tobytes()
    assert "labelled.csv" in sa.page(url, storage_options=options).html


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx"])
def test_edited_files_are_accepted_in_their_place(options, suffix, tmp_path):
    url, path = f"s3://runs/accepted{suffix}", tmp_path / f"longer{suffix}"
    sa.write(url, {"t": np.arange(3.0)}, storage_options=options)
    assert not sa.accept(url, storage_options=options)
    sa.accept(url, path, storage_options=options)
    assert sa.read(path)["t"].tolist() == [0, 1, 2]


def test_workbooks_are_restored_and_get_more_sheets(options, store):
    url = "s3://runs/guarded.xlsx"
    sa.write(url, {"t": np.array([0.1 + 0.2])}, guard=True, storage_options=options)
    assert sa.restore(url, "s3://runs/restored.xlsx", storage_options=options) == ["t"]
    assert sa.read("s3://runs/restored.xlsx", "t", storage_options=options).tolist() == [0.1 + 0.2]
    assert list(sa.check("s3://runs/restored.xlsx", storage_options=options)) == []
    sa.write(url, {"u": [1.5]}, mode="a", sheet="more", storage_options=options)
    assert sa.read(url, sheet="more", storage_options=options)["u"].tolist() == [1.5]
    sa.write("s3://runs/new.xlsx", {"u": [1.5]}, mode="a", sheet="more", storage_options=options)
    assert list(sa.scan("s3://runs/new.xlsx", storage_options=options)) == ["u"]


def extend(url, blocks, options):
    with sa.open_writer(url, storage_options=options) as writer:
        writer.extend(blocks)


@pytest.mark.fault("An upload to S3 fails on the way.", "The old object is whole. No other object is left.")
def test_a_write_that_fails_leaves_the_old_object_and_nothing_else(options, store, monkeypatch):
    url = "s3://runs/kept/run.csv"
    sa.write(url, ARRAYS, storage_options=options)

    def blocks():
        yield {"t": LARGE}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        extend(url, blocks(), options)
    with pytest.raises(sa.DTypeError):
        sa.write(url, {"t": np.array([object()])}, storage_options=options)

    async def fail(self, *arguments, **keywords):
        raise OSError("thesecretkey was not taken")

    monkeypatch.setattr(type(store), "_upload_file_part_concurrent", fail)
    monkeypatch.setattr("s3fs.core.calculate_chunksize", lambda size, chunksize=None: 5)
    with pytest.raises(sa.errors.RemoteError) as caught:
        sa.write(url, ARRAYS, storage_options=options)
    assert "thesecretkey" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "runs/kept/run.csv" in str(caught.value)
    store.invalidate_cache()
    assert store.find("runs/kept") == ["runs/kept/run.csv"]
    assert same(sa.read(url, storage_options=options))
    assert not store.call_s3("list_multipart_uploads", Bucket="runs").get("Uploads")


@pytest.mark.fault("The process is killed while it uploads to S3.", "The old object is whole. No other object is left.")
def test_a_killed_writer_leaves_nothing(options, store, tmp_path):
    code = (
        "import os, json, sys, numpy as np, sheetarray as sa\n"
        "with sa.open_writer('s3://runs/killed/run.csv', storage_options=json.loads(sys.argv[1])) as writer:\n"
        "    writer.append({'t': np.arange(1e5)})\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, json.dumps(options)], check=False, capture_output=True)
    assert ended.returncode == -9
    code = code.replace("    os.kill(os.getpid(), 9)\n", "")
    code = code.replace(", storage_options", ", progress=lambda *_: os.kill(os.getpid(), 9), storage_options")
    environment = {**os.environ, "TMPDIR": os.fspath(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", code, json.dumps(options)], check=False, env=environment)
    assert ended.returncode == -9
    assert not hasattr(os, "O_TMPFILE") or list(tmp_path.iterdir()) == []
    store.invalidate_cache()
    assert store.find("runs/killed") == []


def test_an_object_that_is_replaced_while_it_is_read_is_an_error(options, store, monkeypatch):
    url = "s3://runs/changing.csv"
    sa.write(url, {"t": LARGE}, storage_options=options)
    read = sa.files.remote.RangedBytes.map

    def replace_and_map(self, **how):
        sa.write(url, {"t": -LARGE}, storage_options=options)
        return read(self, **how)

    monkeypatch.setattr(sa.files.remote.RangedBytes, "map", replace_and_map)
    with pytest.raises(sa.FormatError, match="changed while it was read"):
        sa.read(url, storage_options=options)


def test_a_missing_object_and_a_missing_bucket_name_the_url(options):
    for url in ("s3://runs/gone.csv", "s3://gone/run.csv"):
        with pytest.raises(FileNotFoundError) as caught:
            sa.read(url, storage_options=options)
        assert caught.value.filename == url
    with pytest.raises(FileNotFoundError):
        sa.write("s3://gone/run.csv", ARRAYS, storage_options=options)


def test_many_heads_are_one_request_each_and_a_changed_file_is_an_error(options, store, calls):
    for number in range(20):
        sa.write(f"s3://runs/many/{number:02}.csv", {"t": LARGE[: 500 + number]}, storage_options=options)
    calls.clear()
    files = find_files("s3://runs/many/*.csv", options)
    assert [str(file) for file in files] == [f"s3://runs/many/{number:02}.csv" for number in range(20)]
    store.rm("runs/many/19.csv")
    calls.clear()
    problems = read_heads(files)
    assert calls == ["get_object"] * 20
    assert problems[:19] == [None] * 19
    assert isinstance(problems[19], FileNotFoundError)
    assert "many/19.csv" in str(problems[19])
    assert [sa.scan(file)["t"].shape for file in files[:19]] == [(500 + number, 2) for number in range(19)]
    assert calls == ["get_object"] * 20
    assert sa.read(files[3])["t"].tobytes() == LARGE[:503].tobytes()
    sa.write(str(files[4]), {"t": -LARGE[:504]}, storage_options=options)
    with pytest.raises(sa.FormatError, match="changed"):
        sa.read(files[4])


# Other file systems --------------------------------------------------------------------------------------------


def clear(memory):
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    clear(system)  # of what other tests have left
    yield system
    clear(system)


def test_memory_is_written_under_another_name_first(memory, monkeypatch):
    url = "memory://in/run.csv"
    sa.write(url, ARRAYS)
    assert same(sa.read(url))
    assert memory.find("/in") == ["/in/run.csv"]

    def fail(*arguments, **keywords):
        raise OSError("full")

    monkeypatch.setattr(type(memory), "mv", fail)
    with pytest.raises(sa.errors.RemoteError, match="full"):
        sa.write(url, {"t": [9.5]})
    assert memory.find("/in") == ["/in/run.csv"]
    assert same(sa.read(url))


class HostedFiles(MemoryFileSystem):
    """Files of a host, as of an FTP or SSH server: the host is not a part of their paths, and uploads keep links."""

    protocol = "hosted"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    @classmethod
    def _strip_protocol(cls, path):
        rest = path.partition("://")[2]
        return "/" + rest.partition("/")[2].rstrip("/") if rest else super()._strip_protocol(path)

    def put_file(self, lpath, rpath, **options):
        assert not os.path.islink(lpath)
        super().put_file(lpath, rpath, **options)


def test_files_of_a_host_are_uploaded_whole_and_listed_with_the_host(tmp_path):
    fsspec.register_implementation("hosted", HostedFiles, clobber=True)
    for number in range(2):
        sa.write(f"hosted://me@host:21/in/{number}.csv", ARRAYS)
    files = find_files("hosted://me@host:21/in/*.csv")
    assert [str(file) for file in files] == [f"hosted://me@host:21/in/{number}.csv" for number in range(2)]
    assert all(same(sa.read(file)) for file in files)
    assert sorted(HostedFiles.store) == ["/in/0.csv", "/in/1.csv"]


def test_files_of_this_machine_are_paths(tmp_path):
    path = tmp_path / "run 1.csv"
    sa.write(path.as_uri(), ARRAYS)
    assert same(sa.read(path))
    assert same(sa.read(f"file://localhost{path}"))
    assert same(sa.read(f"file://{path}"))
    with pytest.raises(FileNotFoundError, match="gone"):
        sa.read("file:///gone/run.csv")
    with pytest.raises(sa.errors.NotFoundError, match="three slashes"):
        sa.read("file://host/run.csv")
    sa.write(path.with_suffix(".xlsx").as_uri(), ARRAYS)
    code = f"import sys, sheetarray as sa; sa.scan({path.as_uri()!r}); assert 'fsspec' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_heads_of_files_that_no_listing_told(memory):
    sa.write("memory://in/a.csv", {"t": LARGE})
    sa.write("memory://in/b.csv.gz", ARRAYS)
    memory.pipe_file("/in/c.csv", b"")
    files = [sa.files.RemoteFile(f"memory://in/{name}") for name in ("a.csv", "b.csv.gz", "c.csv", "gone.csv")]
    problems = read_heads([*files, sa.files.RemoteFile("nowhere://d.csv")])
    assert [type(problem) for problem in problems[:3]] == [type(None)] * 3
    assert isinstance(problems[3], FileNotFoundError)
    assert isinstance(problems[4], sa.errors.NotFoundError)
    assert same(sa.read(files[0]), {"t": LARGE})
    assert same(sa.read(files[1]))
    with pytest.raises(sa.FormatError, match="empty"):
        sa.scan(files[2])
    assert [file.url for file in find_files("memory://in/*.csv")] == ["memory://in/a.csv", "memory://in/c.csv"]


def test_a_folder_of_arrays_is_not_written_under_a_url(memory):
    with pytest.raises(sa.LimitError, match="holds one array, not 2"):
        sa.write("memory://runs.ra", ARRAYS)
    awkward = pytest.importorskip("sheetarray.interchange.awkward")
    with pytest.raises(ValueError, match="mode='w'"):
        awkward.save("memory://runs.awkd", ARRAYS["t"])
    assert memory.find("/") == []


def test_a_file_whose_name_looks_like_a_url_is_that_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("memory:")
    sa.write("memory:/run.csv", ARRAYS)
    assert same(sa.read("memory://run.csv"))


def test_a_member_of_a_zip_of_this_machine(tmp_path):
    import zipfile

    sa.write(tmp_path / "run.csv", ARRAYS)
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.write(tmp_path / "run.csv", "in/run.csv")
    assert same(sa.read(f"zip://in/run.csv::{tmp_path / 'runs.zip'}"))


def test_what_cannot_be_opened_says_what_to_do(monkeypatch):
    with pytest.raises(sa.errors.NotFoundError, match="no file system has URLs with this beginning"):
        sa.read("nowhere://run.csv")
    with pytest.raises(sa.errors.NotFoundError, match=r"such as zip://run\.csv::memory://runs\.zip"):
        sa.read("zip::memory://runs.zip")
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(sa.errors.MissingDependencyError, match=r'gcsfs.*pip install "sheetarray\[remote\]"'):
        sa.read("gs://runs/run.csv")
    for place in ("run.csv", "https://docs.google.com/spreadsheets/d/1", sys.stdin):
        with pytest.raises(ValueError, match="storage_options are for"):
            sa.read(place, format=None if isinstance(place, str) else "csv", storage_options={"anon": True})


# Storage options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "read", "suffix"),
    [
        (sa.write_csv, sa.read_csv, ".csv"),
        (sa.write_csv, sa.read_csv, ".csv.gz"),
        (sa.write_json, sa.read_json, ".json"),
        (sa.write_excel, sa.read_excel, ".xlsx"),
    ],
)
def test_functions_of_a_format_take_storage_options(write, read, suffix, tmp_path):
    options = {"skip_instance_cache": True}  # another file system than that of a call without them
    write(f"memory://named/run{suffix}", ARRAYS, storage_options=options)
    assert same(read(f"memory://named/run{suffix}", storage_options=options))
    if suffix == ".xlsx":
        write(f"memory://named/run{suffix}", ARRAYS, mode="a", sheet="more", storage_options=options)
        assert same(read(f"memory://named/run{suffix}", sheet="more", storage_options=options))
    with pytest.raises(ValueError, match="storage_options are for a URL"):
        write(tmp_path / f"run{suffix}", ARRAYS, storage_options=options)
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ValueError, match="storage_options are for a URL"):
        read(io.BytesIO(b""), storage_options=options)


class Asked(MemoryFileSystem):
    """The file system in memory, which takes nothing without a token."""

    protocol = "asked"
    cachable = False

    def __init__(self, token=None, **options):
        assert token == "secret token", "no token was given"
        super().__init__(**options)


def test_options_go_to_each_place_that_takes_them(tmp_path):
    fsspec.register_implementation("asked", Asked, clobber=True)
    options, here = {"token": "secret token"}, (tmp_path / "a.csv").as_uri()
    sa.write(here, ARRAYS)
    sa.convert(here, "asked://b.json", storage_options=options)
    sa.convert("asked://b.json", here.replace("a.csv", "c.csv"), storage_options=options)
    sa.convert("asked://b.json", str(tmp_path / "d.csv"), storage_options=options)
    sa.convert("asked://b.json", "asked://e.xlsx", storage_options=options)
    sa.convert("asked://e.xlsx", "memory://f.json", reading={"storage_options": options})
    for place in (tmp_path / "c.csv", tmp_path / "d.csv", "memory://f.json"):
        assert same(sa.read(place))
    sa.accept("asked://b.json", here.replace("a.csv", "g.csv"), storage_options=options)
    assert same(sa.read(tmp_path / "g.csv"))
    sa.convert([here], "asked://many/{stem}.json", storage_options=options)
    sa.convert(str(tmp_path / "d.*"), "asked://many/{stem}.json", storage_options=options)
    for stem in ("a", "d"):
        assert same(sa.read(f"asked://many/{stem}.json", storage_options=options))
    assert "t" in sa.page(here, "asked://b.json", storage_options=options).html


def test_options_without_a_place_that_takes_them_are_an_error(tmp_path):
    here = (tmp_path / "a.csv").as_uri()
    sa.write(here, ARRAYS)
    for convert in (
        lambda: sa.convert(here, tmp_path / "b.json", storage_options={"anon": True}),
        lambda: sa.convert(str(tmp_path / "*.csv"), str(tmp_path / "{stem}.json"), storage_options={"anon": True}),
        lambda: sa.read(here, storage_options={"anon": True}),
        lambda: sa.page(here, storage_options={"anon": True}),
    ):
        with pytest.raises(ValueError, match=r"storage_options are for a URL such as s3.*a\.csv|\*\.csv"):
            convert()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


# The command line ----------------------------------------------------------------------------------------------


def run(options, *arguments):
    pairs = [f"{key}={json.dumps(value) if isinstance(value, dict) else value}" for key, value in options.items()]
    given = [part for pair in pairs for part in ("--storage-option", pair)]
    return run_command(*arguments, *given)


def test_every_command_takes_urls_and_storage_options(options, tmp_path, monkeypatch):
    url, other = "s3://runs/cli/run.csv", "s3://runs/cli/run.xlsx"
    sa.write(tmp_path / "run.csv", ARRAYS)
    assert run(options, "convert", str(tmp_path / "run.csv"), url).exit_code == 0
    assert run(options, "convert", url, other, "--write", "guard=true").exit_code == 0
    assert "t" in run(options, "info", url).stdout
    assert json.loads(run(options, "info", url, "--json").stdout)["file"] == url
    assert "0.142857" in run(options, "show", url, "t").stdout
    assert run(options, "check", url, other).exit_code == 0
    assert run(options, "diff", url, other).exit_code == 0
    assert run(options, "accept", url).exit_code == 0
    assert run(options, "restore", other, "s3://runs/cli/restored.xlsx").exit_code == 0
    assert run(options, "page", url, "-o", str(tmp_path / "page.html")).exit_code == 0
    assert run(options, "page", url, "-o", "s3://runs/cli/page.html").exit_code == 0
    sa.write_table("s3://runs/cli/table.csv", {"t": np.array([1.5, 2.5])}, storage_options=options)
    assert run(options, "table", "s3://runs/cli/table.csv", "-o", "s3://runs/cli/columns.xlsx").exit_code == 0
    assert sa.read("s3://runs/cli/columns.xlsx", storage_options=options)["t"].tolist() == [1.5, 2.5]
    assert run({}, "info", (tmp_path / "run.csv").as_uri()).exit_code == 0
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    lost = run({"client_kwargs": options["client_kwargs"]}, "info", url)
    assert lost.exit_code == 2
    assert "pass credentials in --storage-option" in lost.stderr
    gone = run(options, "info", "s3://runs/cli/gone.csv")
    assert gone.exit_code == 2
    assert "s3://runs/cli/gone.csv" in gone.stderr
    assert "Traceback" not in gone.stderr
    wrong = run_command("info", url, "--storage-option", "thesecretkey")
    assert wrong.exit_code == 2
    assert "thesecretkey" not in wrong.stderr


def test_many_objects_are_opened_with_one_request_each_and_read_with_two(options, store, calls):
    pytest.importorskip("dask.array")
    for day in range(12):
        sa.write(f"s3://runs/days/{day:02}.csv", {"t": np.full((2, 3), day)}, storage_options=options)
    calls.clear()
    dataset = sa.open_many("s3://runs/days/*.csv", storage_options=options, files_per_chunk=5)
    assert calls == ["get_object"] * 12
    calls.clear()
    assert dataset["t"].values[:, 0, 0].tolist() == list(range(12))
    assert sorted(calls) == ["get_object"] * 12 + ["head_object"] * 12
    sa.write("s3://runs/days/07.csv", {"t": np.full((2, 3), 8)}, storage_options=options)
    with pytest.raises(sa.FormatError, match=r"s3://runs/days/07\.csv: the file was changed"):
        dataset["t"].compute()
    assert dataset["t"][3].values.tolist() == [[3] * 3] * 2


def test_many_objects_are_converted_once(options, store, calls, tmp_path):
    for day in range(3):
        sa.write(f"s3://runs/before/{day}.csv", {"t": np.arange(day + 1)}, storage_options=options)
    how = {"storage_options": options, "manifest": tmp_path / "m.sqlite"}
    assert sa.convert("s3://runs/before/*.csv", "s3://runs/after/{stem}.json", **how).done == 3
    assert sa.read("s3://runs/after/2.json", storage_options=options)["t"].tolist() == [0, 1, 2]
    calls.clear()
    assert sa.convert("s3://runs/before/*.csv", "s3://runs/after/{stem}.json", **how).already == 3
    assert calls == []
    sa.write("s3://runs/before/1.csv", {"t": [5]}, storage_options=options)
    assert sa.convert("s3://runs/before/*.csv", "s3://runs/after/{stem}.json", **how).done == 1
    assert b"thesecretkey" not in (tmp_path / "m.sqlite").read_bytes()
