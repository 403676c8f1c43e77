"""convert, of many files: each becomes one of its own, once, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import fsspec
import numpy as np
import psutil
import pytest
from children import GIVEN_UP_AFTER
from limits import set_limits

import sheetarray as sa
from sheetarray.scale.conversions.job import Job
from sheetarray.scale.conversions.manifest import Manifest
from sheetarray.scale.conversions.running import run_in_processes
from sheetarray.scale.conversions.templates import check_targets, check_template, fill_template


@pytest.fixture
def folder(tmp_path):
    for name in ("in", "out", "alone"):
        (tmp_path / name).mkdir()
    write_sources(tmp_path, 7)
    return tmp_path


def write_sources(folder, count):
    rng = np.random.default_rng(7)
    for number in range(count):
        sa.write(folder / "in" / f"{number:04}.csv", {"t": rng.random((4, 3)), "n": np.arange(number % 5)})


def convert_alone(folder):
    for path in (folder / "in").iterdir():
        sa.convert(path, folder / "alone" / f"{path.stem}.json")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def convert(folder, **options):
    return sa.convert(folder / "in" / "*.csv", folder / "out" / "{stem}.json", **options)


@pytest.mark.parametrize("workers", [1, 2])
def test_files_are_those_of_one_conversion_each(folder, workers, monkeypatch):
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    convert_alone(folder)
    (folder / "in" / "broken.csv").write_text("t\nversion\n")
    seen, settings = [], []

    def progress(now):
        seen.append(now.done + len(now.failed))
        settings.append("POLARS_MAX_THREADS" in os.environ)

    result = convert(folder, workers=workers, progress=progress)
    assert contents(folder / "out") == contents(folder / "alone")
    assert (result.total, result.done, result.already) == (8, 7, 0)
    assert [file.source for file in result.failed] == [str(folder / "in" / "broken.csv")]
    assert "no array" in result.failed[0].error
    assert seen == list(range(1, 9))
    assert not any(settings), "the environment of this process is its own"


def test_urls_are_converted_and_what_formats_lose_is_warned_of_once(folder):
    system = fsspec.filesystem("memory")
    system.store.clear()
    for number in range(3):
        sa.write(f"memory://in/{number}.csv", {"t": np.arange(3) + number})
    assert sa.convert("memory://in/*.csv", "memory://out/{index:02}-{name}.json").done == 3
    assert sa.read("memory://out/02-2.csv.json")["t"].tolist() == [2, 3, 4]
    with pytest.warns(sa.SheetArrayWarning, match="name") as record:
        sa.convert(folder / "in" / "*.csv", folder / "out" / "{stem}.npy", ["t"], workers=2)
    assert len(record) <= 7
    system.store.clear()


# Templates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "source", "target"),
    [
        ("{stem}.avro", "in/run.2024.csv.gz", "run.2024.avro"),
        ("{name}.avro", "s3://bucket/in/run.csv", "run.csv.avro"),
        ("{stem}-{index:03}{{}}.avro", "run.csv", "run-012{}.avro"),
        ("{stem}.avro", "https://host/in/run.csv?signature=a/b.c", "run.avro"),
        ("{stem}.avro", "in/.csv", ".csv.avro"),
        ("{index:99}", "a.csv", "0" * 97 + "12"),  # the widest that there is
    ],
)
def test_a_template_is_filled(template, source, target):
    check_template(template, 2)
    assert fill_template(template, source, 12) == target


def test_no_target_is_that_of_two_sources_or_a_source(folder):
    with pytest.raises(ValueError, match="a and b would both become x"):
        check_targets({"a": "x", "b": "x"})
    (folder / "more").mkdir()
    (folder / "more" / "0003.csv").write_bytes((folder / "in" / "0003.csv").read_bytes())
    with pytest.raises(ValueError, match=r"would both become .*0003\.json"):
        sa.convert(folder / "*" / "*.csv", folder / "out" / "{stem}.json")
    with pytest.raises(ValueError, match="which is one of the sources"):
        sa.convert(folder / "in" / "*.csv", f"{folder}/out/../in/{{name}}")
    with pytest.raises(ValueError, match="named twice"):
        sa.convert([folder / "in" / "0000.csv", folder / "in" / "0000.csv"], folder / "out" / "{index}.json")
    with pytest.raises(FileNotFoundError):
        sa.convert(folder / "in" / "*.csv", folder / "none" / "{stem}.json")
    with pytest.raises(sa.NotFoundError, match="no format"):
        sa.convert(folder / "in" / "*.csv", folder / "out" / "{stem}.jsn")
    for options in ({"workers": 0}, {"workers": 2, "scheduler": "tcp://127.0.0.1:1"}):
        with pytest.raises(ValueError, match="process"):
            convert(folder, **options)
    assert contents(folder / "out") == {}


# Manifests ---------------------------------------------------------------------------------------------------


def test_a_manifest_goes_on_where_it_was_left(folder):
    manifest, out = folder / "m.sqlite", folder / "out"
    broken = folder / "in" / "0007.csv"
    broken.write_text("no array")
    first = convert(folder, manifest=manifest)
    assert (first.done, len(first.failed)) == (7, 1)
    times = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    sa.write(broken, {"t": [1]})
    sa.write(folder / "in" / "0001.csv", {"t": [2, 3]})
    (out / "0002.json").unlink()
    second = convert(folder, manifest=manifest)
    assert (second.total, second.done, second.already, second.failed) == (8, 3, 5, [])
    unchanged = {name for name, at in times.items() if (out / name).stat().st_mtime_ns == at}
    assert unchanged == {f"000{number}.json" for number in (0, 3, 4, 5, 6)}
    assert sa.read(out / "0001.json")["t"].tolist() == [2, 3]
    assert convert(folder, manifest=manifest).already == 8


@pytest.mark.fault("A process is killed after it wrote a file, before it noted so.", "The file is not written again.")
def test_what_was_written_before_a_kill_could_be_noted_is_not_written_again(folder, monkeypatch):
    manifest, old = folder / "m.sqlite", folder / "out" / "0006.json"
    old.write_text("older than the work")
    noted = []

    def be_killed(self, number, error):
        noted.append(number)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "note", be_killed)
        with pytest.raises(KeyboardInterrupt):
            convert(folder, manifest=manifest)
    assert noted == [0]  # written, and not noted
    first = folder / "out" / "0000.json"
    written = first.stat()
    result = convert(folder, manifest=manifest)
    assert (result.already, result.done) == (1, 6)
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    convert_alone(folder)
    assert contents(folder / "out") == contents(folder / "alone")  # 0006.json is another one too


@pytest.mark.parametrize("harm", ["source", "target", "failed"])
def test_what_may_not_be_what_was_written_is_written_again(folder, harm):
    manifest = folder / "m.sqlite"
    convert(folder, manifest=manifest)
    with sqlite3.connect(manifest) as database:
        database.execute("UPDATE files SET state = 'waiting'")
        if harm == "failed":
            database.execute("UPDATE files SET state = 'failed' WHERE number = 3")
    database.close()
    if harm == "source":
        sa.write(folder / "in" / "0003.csv", {"t": [1.5]})
    if harm == "target":
        (folder / "out" / "0003.json").unlink()
    result = convert(folder, manifest=manifest)
    assert (result.already, result.done) == (6, 1)
    assert convert(folder, manifest=manifest).already == 7


def test_a_manifest_says_of_each_source_what_has_become_of_it(folder):
    (folder / "in" / "0003.csv").write_text("no array")
    convert(folder, manifest=folder / "m.sqlite")
    database = sqlite3.connect(folder / "m.sqlite")
    rows = database.execute("SELECT source, etag, target, state, error FROM files ORDER BY number").fetchall()
    database.close()
    assert [row[3] for row in rows] == ["done"] * 3 + ["failed"] + ["done"] * 3
    assert rows[3][0] == str(folder / "in" / "0003.csv")
    assert rows[3][2] == str(folder / "out" / "0003.json")
    assert "no array" in rows[3][4]
    assert all(row[1] for row in rows)


def test_a_number_stays_that_of_its_source(folder):
    options = {"manifest": folder / "m.sqlite"}
    template = folder / "out" / "{index}.json"
    sa.convert(folder / "in" / "*.csv", template, **options)
    sa.write(folder / "in" / "0000-new.csv", {"t": [17]})
    again = sa.convert(folder / "in" / "*.csv", template, **options)
    assert (again.done, again.already) == (1, 7)
    assert sa.read(folder / "out" / "7.json")["t"].tolist() == [17]


def test_a_manifest_of_something_else_is_refused(folder):
    manifest = folder / "m.sqlite"
    convert(folder, manifest=manifest)
    with pytest.raises(sa.LimitError, match="their template is"):
        sa.convert(folder / "in" / "*.csv", folder / "out" / "{name}.json", manifest=manifest)
    with pytest.raises(sa.LimitError, match="their options"):
        convert(folder, manifest=manifest, reading={"missing": "nan"})
    (folder / "text").write_text("no database" * 200)
    with pytest.raises(sa.FormatError, match="is not a manifest"):
        convert(folder, manifest=folder / "text")
    database = sqlite3.connect(folder / "other.sqlite")
    database.execute("CREATE TABLE files (x)")
    database.close()
    with pytest.raises(sa.FormatError, match="is a database, but not a manifest"):
        convert(folder, manifest=folder / "other.sqlite")
    later = sqlite3.connect(manifest)
    later.execute("ALTER TABLE files RENAME COLUMN etag TO version")
    later.close()
    with pytest.raises(sa.FormatError, match="no such column"):
        convert(folder, manifest=manifest)
    for place, error in [(folder, IsADirectoryError), (folder / "none" / "m.sqlite", FileNotFoundError)]:
        with pytest.raises(error, match=folder.name):
            convert(folder, manifest=place)
    with pytest.raises(ValueError, match="a file on this machine"):
        convert(folder, manifest="s3://bucket/m.sqlite")


def test_a_manifest_is_used_by_one_at_a_time(tmp_path, monkeypatch):
    set_limits(monkeypatch, manifest_patience=0.05)
    with Manifest(tmp_path / "m.sqlite", {"template": "x"}), pytest.raises(sa.LimitError, match="been using"):
        Manifest(tmp_path / "m.sqlite", {"template": "x"})
    with Manifest(tmp_path / "m.sqlite", {"template": "x"}) as manifest:
        assert manifest.entries() == {}


# Deaths ------------------------------------------------------------------------------------------------------


class Deadly:
    """What ends the process that it is sent to."""

    def __reduce__(self):
        return os._exit, (9,)


@pytest.mark.fault(
    "A process that converts one of many files dies.", "That file is reported as failed. All others are converted."
)
def test_a_process_that_dies_fails_its_file_alone(folder):
    jobs = [
        Job(number, str(path), str(folder / "out" / f"{path.stem}.json"), sa.files.file_version(path))
        for number, path in enumerate(sorted((folder / "in").iterdir())[:4])
    ]
    jobs[0] = Job(0, jobs[0].source, jobs[0].target, options={"reading": Deadly()})  # before any other is done
    outcomes = {job.number: outcome.error for job, outcome in run_in_processes(iter(jobs), 2)}
    assert sorted(outcomes) == [0, 1, 2, 3]
    assert "died" in outcomes.pop(0)
    assert set(outcomes.values()) == {None}


def start(folder, *options):
    command = [sys.executable, "-m", "sheetarray", "convert", "in/*.csv", "out/{stem}.json", "--manifest", "m.sqlite"]
    return subprocess.Popen([*command, *options], cwd=folder, stderr=subprocess.PIPE, text=True)


def kill_after(folder, count, *options):
    """Kill a conversion when there are so many files; return the names and times of those in the manifest."""
    process = start(folder, *options)
    try:
        while len(list((folder / "out").iterdir())) < count:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)  # until there are as many
        children = [] if "--scheduler" in options else psutil.Process(process.pid).children(recursive=True)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    for child in children:
        child.wait(GIVEN_UP_AFTER)  # it ends by itself
    with Manifest(folder / "m.sqlite", {}) as manifest:
        done = [os.path.basename(entry.target) for entry in manifest.entries().values() if entry.state == "done"]
    return {name: (folder / "out" / name).stat().st_mtime_ns for name in done}


def finish(folder, monkeypatch, **options):
    """Do in this process what is left to do: the manifest alone says what that is."""
    monkeypatch.chdir(folder)
    result = sa.convert("in/*.csv", "out/{stem}.json", manifest="m.sqlite", **options)
    assert result.done
    assert result.done + result.already == result.total


@pytest.mark.fault(
    "All processes of a conversion are killed.", "The same command goes on from there. No process is left."
)
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_processes_that_were_killed_are_resumed_and_leave_none_behind(folder, monkeypatch):
    write_sources(folder, 150)
    convert_alone(folder)
    done = kill_after(folder, 20, "--workers", "2")
    finish(folder, monkeypatch)
    out = {path.name: path.read_bytes() for path in (folder / "out").glob("*.json")}
    assert out == contents(folder / "alone")
    assert len(done) >= 5
    assert {name: (folder / "out" / name).stat().st_mtime_ns for name in done} == done  # not once more


@pytest.mark.fault("A conversion on a cluster is killed twice.", "The same command goes on from there.")
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_conversion_on_a_cluster_is_killed_twice_and_resumed(folder, monkeypatch):
    """`python -m benchmarks.many --objects 0` holds the same of 2,000 files."""
    distributed = pytest.importorskip("distributed")
    write_sources(folder, 140)
    convert_alone(folder)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False, protocol="tcp://"
    )  # what is killed is a process of its own, and talks to them as to those of another machine
    with cluster:
        first = kill_after(folder, 20, "--scheduler", cluster.scheduler_address)
        second = kill_after(folder, 70, "--scheduler", cluster.scheduler_address)
        finish(folder, monkeypatch, scheduler=cluster.scheduler_address)
    out = {path.name: path.read_bytes() for path in (folder / "out").glob("*.json")}
    assert out == contents(folder / "alone")
    assert set(first) < set(second)
    for done in (first, second):
        assert {name: (folder / "out" / name).stat().st_mtime_ns for name in done} == done


def test_a_scheduler_that_does_not_answer_is_an_error(folder, monkeypatch):
    pytest.importorskip("distributed")
    set_limits(monkeypatch, scheduler_patience="0.1s")
    with pytest.raises(sa.RemoteError, match="no scheduler answers"):
        convert(folder, scheduler="tcp://127.0.0.1:1")


# The command line --------------------------------------------------------------------------------------------


def test_a_pattern_of_urls_needs_no_suffix():
    with fsspec.open("memory://bare/one", "wb") as file:
        sa.write(file, {"t": [1]}, format="csv")
    assert sa.convert("memory://bare/*", "memory://bared/{name}.json", from_format="csv").done == 1


@pytest.mark.parametrize("name", ["...gz", "...zst", "..gz"])
def test_no_stem_leads_out_of_the_folder(folder, name):
    source = folder / name
    source.write_bytes(b"")
    with pytest.raises(ValueError, match="would lead out of the folder"):
        sa.convert([source], "out/{stem}/x.json")
    assert fill_template("out/{name}.json", source, 0) == f"out/{name}.json"
    assert fill_template("out/{stem}.json", "in/...a.gz", 0) == "out/...a.json"
    assert fill_template("out/{stem}.json", "in/a.2.CSV.GZ", 0) == "out/a.2.json"
