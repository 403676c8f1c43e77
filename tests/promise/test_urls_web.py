"""Files under https:// are read by ranges, in few requests, of one version; servers without ranges are read through."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile
from functools import cache

import numpy as np
import pytest
from adapters_deleted import DELETED, needing
from command_line import run_command
from services import serve_web

import sheetarray as sa

LARGE = np.arange(80_000, dtype="float64").reshape(-1, 4) / 7


@pytest.fixture(scope="module")
def server():
    with serve_web() as web:
        yield web


@pytest.fixture
def web(server):
    server.ranges = server.sized = True
    server.after = None
    for shelf in (server.files, server.versions, server.statuses):
        shelf.clear()
    server.asked()
    return server


def as_bytes(arrays, format, **options):
    file = io.BytesIO()
    sa.write(file, arrays, format=format, **options)
    return file.getvalue()


@cache
def large(format):
    """Return the bytes of a large file, made once."""
    return gzip.compress(large("csv"), 1) if format == "csv.gz" else as_bytes({"t": LARGE}, format)


def test_scan_of_a_large_csv_asks_for_its_size_and_for_one_head(web):
    web.files["run.csv"] = large("csv")
    assert sa.scan(web.url("run.csv"))["t"].shape == LARGE.shape
    assert web.asked() == [("HEAD", "run.csv", 0), ("GET", "run.csv", 4096)]


@pytest.mark.parametrize(("ranges", "sized"), [(True, True), (False, True), (False, False)])
def test_every_server_gives_the_same_arrays(web, ranges, sized):
    web.ranges, web.sized = ranges, sized
    web.files |= {f"run.{suffix}": large(suffix) for suffix in ("csv", "csv.gz", "xlsx", "npz")}
    for path in web.files:
        url = web.url(path)
        assert sa.read(url)[next(iter(sa.scan(url)))].tobytes() == LARGE.tobytes(), path
        assert len(web.asked()) <= 16, path


def test_a_server_without_ranges_is_read_no_further_than_the_head(web):
    web.ranges = False
    web.files["run.csv"] = large("csv")
    assert list(sa.scan(web.url("run.csv"))) == ["t"]
    assert all(method in ("HEAD", "GET") for method, _, _ in web.asked())


def test_the_suffix_stands_before_query_and_fragment(web):
    web.files["run.csv"] = as_bytes({"t": [1.5]}, "csv")
    for url in (web.url("run.csv?format=x.json&sig=abc"), web.url("run.csv?a=/b.json#c.xlsx")):
        assert sa.read(url)["t"].tolist() == [1.5]
    with pytest.raises(sa.errors.NotFoundError, match="no suffix"):
        sa.read(web.url("download?name=run.csv"))
    web.files["download"] = web.files["run.csv"]
    assert sa.read(web.url("download?name=run.json"), format="csv")["t"].tolist() == [1.5]


def test_the_only_array_is_named_after_the_path(web):
    web.files["in/depth.npy"] = as_bytes({"x": [1.5]}, "npy")
    assert list(sa.read(web.url("in/depth.npy?sig=a/b.c"))) == ["depth"]


def test_of_a_workbook_only_the_sheets_that_are_asked_for_are_read(web, tmp_path):
    path = tmp_path / "two.xlsx"
    noise = np.random.default_rng(1).normal(size=200_000)
    sa.write(path, {"large": noise}, sheet="one")
    sa.write(path, {"small": [1.5, 2.5]}, sheet="two", mode="a")
    web.files["two.xlsx"] = path.read_bytes()
    assert sa.read(web.url("two.xlsx"), sheet="two")["small"].tolist() == [1.5, 2.5]
    requests = web.asked()
    assert sum(size for _, _, size in requests) < len(web.files["two.xlsx"]) / 3
    assert len(requests) < 12


def test_of_an_archive_only_the_members_that_are_asked_for_are_read(web):
    noise = np.random.default_rng(2).normal(size=400_000)
    web.files["two.npz"] = as_bytes({"large": noise, "small": [1.5]}, "npz")
    assert sa.read(web.url("two.npz"), ["small"])["small"].tolist() == [1.5]
    assert sum(size for _, _, size in web.asked()) < len(web.files["two.npz"]) / 5


@pytest.mark.parametrize("name", ["run.csv", "run.xlsx"])
def test_a_file_that_is_replaced_while_it_is_read_is_an_error(web, name):
    web.files[name] = large(name.removeprefix("run."))
    web.after = lambda path: web.versions.update({path: web.versions.get(path, 0) + 1})
    with pytest.raises(sa.FormatError, match="changed while it was read"):
        sa.read(web.url(name))
    findings = list(sa.check(web.url(name)))
    assert len(findings) == 1
    assert "changed" in findings[0].message


def test_a_file_that_shrinks_while_it_is_read_is_an_error(web):
    web.files["run.csv"] = large("csv")
    web.after = lambda path: web.files.update({path: large("csv")[:100_000]})
    with pytest.raises(sa.FormatError, match="changed while it was read"):
        sa.read(web.url("run.csv"))


@needing("csv")
def test_a_missing_file_names_the_url_without_its_signature(web):
    with pytest.raises(FileNotFoundError) as caught:
        sa.read(web.url("gone.csv?X-Signature=secret"))
    assert caught.value.filename == web.url("gone.csv?X-Signature=***")


@pytest.mark.parametrize(("status", "kind"), [(401, PermissionError), (403, PermissionError), (410, FileNotFoundError)])
def test_refusals_are_those_of_files(web, status, kind):
    web.statuses["run.csv"] = status
    with pytest.raises(kind) as caught:
        sa.scan(web.url("run.csv"))
    assert "run.csv" in str(caught.value)


@pytest.mark.fault("A web server breaks off, or does not answer.", "`RemoteError` names the server.")
def test_a_broken_server_and_none_at_all_are_remote_errors(web):
    web.statuses["run.csv"] = 500
    with pytest.raises(sa.errors.RemoteError) as caught:
        sa.scan(web.url("run.csv"))
    assert caught.value.status == 500
    assert str(caught.value) == f"{web.url('run.csv')}: the server answers 500, Internal Server Error"
    with pytest.raises(sa.errors.RemoteError, match=r"127\.0\.0\.1:9/run\.csv: \w*Error: .*[Cc]onnect"):
        sa.scan("http://127.0.0.1:9/run.csv")


def test_a_host_of_two_colons_is_no_chain_of_links():
    try:
        context = serve_web("::1")
        web = context.__enter__()
    except OSError:
        pytest.skip("this machine has no IPv6")
    try:
        web.files["run.csv"] = large("csv")
        assert web.url("run.csv").startswith("http://[::1]:")
        assert sa.read(web.url("run.csv"))["t"].tolist() == LARGE.tolist()
        assert run_command("check", web.url("run.csv")).exit_code == 0
    finally:
        context.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("url", "expanded"),
    [
        ("http://[::1]/run.csv", "http://[0:0:0:0:0:0:0:1]/run.csv"),
        ("https://me:pw@[2001:db8::7]:80/r.csv?a=[::2]", "https://me:pw@[2001:db8:0:0:0:0:0:7]:80/r.csv?a=[::2]"),
        ("zip://run.csv::http://[::1]/runs.zip", "zip://run.csv::http://[0:0:0:0:0:0:0:1]/runs.zip"),
        ("http://[::x]/run.csv", "http://[::x]/run.csv"),
        ("http://[::1::]/run.csv", "http://[::1::]/run.csv"),
        ("http://[1:2:3:4:5:6:7:8]/run.csv", "http://[1:2:3:4:5:6:7:8]/run.csv"),
    ],
)
def test_a_host_of_numbers_is_written_out(url, expanded):
    assert sa.files.RemoteFile(url).url == expanded


def test_what_is_no_file_under_a_url_says_so(web):
    with pytest.raises(sa.NotFoundError, match="a data: URL holds its file itself"):
        sa.read("data://text/csv;base64,dmVyc2lvbg==", format="csv")
    web.files["run.csv"] = large("csv")
    with pytest.raises(sa.RemoteError, match="has no storage option 'anon'"):
        sa.read(web.url("run.csv"), storage_options={"anon": True})


def test_storage_options_without_a_url_are_refused_by_every_command(tmp_path):
    sa.write(tmp_path / "run.csv", {"t": [1.5]})
    run = str(tmp_path / "run.csv")
    out = str(tmp_path / "out.json")
    service = "gsheets://1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"
    services = [] if "gsheet" in DELETED else [["info", service]]
    for arguments in (["info", run], ["diff", run, run], ["convert", run, out], ["check", run], *services):
        result = run_command(*arguments, "--storage-option", "anon=true")
        assert result.exit_code == 2
        assert "--storage-option is for a URL" in result.stderr
    assert run_command("info", run).exit_code == 0
    assert not (tmp_path / "out.json").exists()


def test_no_message_holds_a_secret(web):
    with pytest.raises(sa.errors.RemoteError) as caught:
        sa.scan(web.url("run.csv"), storage_options={"hunter2secret": 1, "headers": {"X-Key": "hunter2secret"}})
    assert "hunter2secret" not in str(caught.value).replace("'hunter2secret'", "")
    assert "hunter2secret" not in repr(sa.files.RemoteFile("s3://b/k.csv", {"secret": "hunter2secret"}))


def test_the_web_is_only_read(web):
    web.files["run.csv"] = b"old"
    with pytest.raises(sa.errors.NotFoundError, match="can only be read"):
        sa.write(web.url("run.csv"), {"t": [1.5]})
    assert web.files["run.csv"] == b"old"


def test_a_member_of_a_remote_zip_is_a_file(web):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("in/run.csv", as_bytes({"t": [1.5]}, "csv"))
    web.files["runs.zip"] = archive.getvalue()
    url = f"zip://in/run.csv::{web.url('runs.zip')}"
    assert sa.read(url)["t"].tolist() == [1.5]
    with pytest.raises(sa.errors.NotFoundError, match="can only be read"):
        sa.write(url, {"t": [2.5]})
    with pytest.raises(FileNotFoundError):
        sa.read(url.replace("run.csv", "gone.csv"))


def test_a_lazy_dataset_is_of_one_version(web):
    xr = pytest.importorskip("xarray")
    web.files["run.csv"] = large("csv")
    with xr.open_dataset(web.url("run.csv"), engine="sheetarray") as dataset:
        assert sum(size for _, _, size in web.asked()) <= 160_000
        assert pickle.loads(pickle.dumps(dataset))["t"].shape == LARGE.shape
        assert dataset["t"][3, 2].item() == LARGE[3, 2]
        web.versions["run.csv"] = 1
        dataset.close()
    with xr.open_dataset(web.url("run.csv"), engine="sheetarray") as dataset:
        web.versions["run.csv"] = 2
        with pytest.raises(sa.FormatError, match="changed"):
            dataset["t"].load()
