"""Ranges of a remote file: the right bytes whatever is asked for, nothing twice; and which texts are URLs of what."""

from __future__ import annotations

import os
import pickle
import random
from itertools import pairwise

import fsspec
import pytest

import sheetarray as sa
from sheetarray.files import RemoteFile, is_url, locate, name_part
from sheetarray.files.remote import _AT_ONCE, _LEAST, HEAD, RangedBytes
from sheetarray.formats.contract import Source

SIZES = [0, 1, HEAD - 1, HEAD, HEAD + 1, _LEAST + HEAD, _AT_ONCE - 1, _AT_ONCE, _AT_ONCE + 1, 3 * _AT_ONCE + 7]


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture
def requests(monkeypatch):
    """Return the ranges that were asked for."""
    ranges = []
    read = RangedBytes._read_range

    def note(self, start, end):
        ranges.append((start, end))
        return read(self, start, end)

    monkeypatch.setattr(RangedBytes, "_read_range", note)
    return ranges


def remote(memory, size):
    content = random.Random(size).randbytes(size)
    memory.pipe_file("/x.bin", content)
    return RemoteFile("memory://x.bin"), content


@pytest.mark.parametrize("size", SIZES)
def test_every_range_is_right_and_nothing_is_asked_for_twice(memory, requests, size):
    file, content = remote(memory, size)
    draw = random.Random(1)
    opened = RangedBytes(file)
    for _ in range(60):
        start = draw.randrange(size + 1)
        end = min(size, start + draw.choice([0, 1, 22, HEAD, _LEAST, size])) if draw.random() < 0.9 else size + 5
        assert opened.read(start, end) == content[start:end]
    assert bytes(opened.map()) == content
    opened.close()
    taken = sorted(requests)
    assert all(end <= start for (_, end), (start, _) in pairwise(taken))
    assert sum(end - start for start, end in taken) == size


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_file_takes_few_requests(memory, requests, size):
    file, content = remote(memory, size)
    with Source(file) as source:
        assert bytes(source.whole()) == content
    assert requests == [part for part in [(0, min(HEAD, size)), (HEAD, size)] if part[0] < part[1]]


def test_slices_are_those_of_bytes(memory):
    file, content = remote(memory, 3 * _AT_ONCE)
    opened = ranged = RangedBytes(file)
    assert len(ranged) == len(content)
    for key in (slice(5), slice(-22, None), slice(7, 90, 3), slice(9, 2), slice(10**9, None), slice(-5, -9)):
        assert ranged[key] == content[key]
    opened.close()


def test_an_end_is_read_with_what_is_before_it(memory, requests):
    file, content = remote(memory, 3 * _AT_ONCE)
    opened = RangedBytes(file)
    for count in (22, 42, 300, _LEAST):
        assert opened.read(len(content) - count, len(content)) == content[-count:]
    assert len(requests) == 1
    opened.close()


def test_memory_that_may_be_written_to_changes_no_file(memory):
    for size in (10, 2 * _AT_ONCE):
        file, content = remote(memory, size)
        with Source(file) as source:
            own = source.own()
            own[0] ^= 255
            assert (own[0], bytes(own[1:])) == (content[0] ^ 255, content[1:])
        assert memory.cat("/x.bin") == content


def test_a_file_that_is_shorter_than_it_says_is_an_error(memory, monkeypatch):
    file, _ = remote(memory, 2 * HEAD)
    monkeypatch.setattr(type(memory), "info", lambda self, path, **_: {"size": 3 * HEAD, "type": "file"})
    with pytest.raises(sa.FormatError, match="changed while it was read"), Source(file) as source:
        source.whole()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("s3://bucket/in/run.csv.gz", "bucket/in/run.csv.gz"),
        ("s3://bucket/run.csv?versionId=x.y", "bucket/run.csv"),
        ("s3://bucket/a#b.csv", "bucket/a#b.csv"),
        ("https://host/run.csv?x=.json", "host/run.csv"),
        ("https://host/get?file=run.csv", "host/get"),
        ("simplecache::s3://bucket/run.csv", "bucket/run.csv"),
        ("zip://in/run.csv::simplecache::s3://bucket/runs.zip", "in/run.csv"),
    ],
)
def test_what_of_a_url_says_its_name(text, part):
    assert is_url(text)
    assert name_part(text) == part
    assert name_part(locate(text)) == part


@pytest.mark.parametrize(
    "text", ["run.csv", "C://run.csv", "a::b.csv", "://run.csv", "1://run.csv", "", "/data/run.csv"]
)
def test_what_is_no_url_is_a_path(text):
    assert not is_url(text)
    assert locate(text) == name_part(text) == text


def test_a_remote_file_keeps_its_version_and_its_options_where_it_is_sent(memory):
    file, content = remote(memory, 100)
    with Source(file) as source:
        source.prefix(3)
    again = pickle.loads(pickle.dumps(RemoteFile(file.url, {"a": "secret"})))
    assert (again.url, again.options, os.fspath(again)) == (file.url, {"a": "secret"}, "memory://x.bin")
    again = pickle.loads(pickle.dumps(file))
    assert (again.state, again.head) == (file.state, content)
    assert "secret" not in repr(RemoteFile("s3://me:secret@b/k?token=secret&n=1", {"key": "secret"}))


def test_values_of_storage_options_are_concealed_from_four_characters_on():
    options = {"key": "abc", "secret": "abcd", "client_kwargs": {"token": ["efghi"], "endpoint_url": "http://h"}}
    file = RemoteFile("s3://b/k", options)
    assert file.conceal("abc- abcd efghi http://h") == "abc- *** *** http://h"


@pytest.mark.parametrize("options", ["anon", [("anon", True)], {1: 2}, 5])
def test_storage_options_that_name_no_values_are_told(memory, options):
    memory.pipe_file("/run.csv", b"")
    for place in ("memory://run.csv", "run.csv"):
        with pytest.raises(TypeError, match=r"storage_options names values, such as \{'anon': True\}"):
            sa.read(place, storage_options=options)


def test_schemes_may_stand_in_capitals(memory):
    sa.write("MEMORY://Run.csv", {"a": [1, 2]})
    assert list(memory.store) == ["/Run.csv"]
    assert sa.read("SimpleCache::Memory://Run.csv")["a"].tolist() == [1, 2]


def test_a_folder_is_no_file_to_be_written(memory):
    memory.pipe_file("/run.csv/part", b"1")
    with pytest.raises(IsADirectoryError, match=r"memory://run\.csv"):
        sa.write("memory://run.csv", {"a": [1]})
    assert list(memory.store) == ["/run.csv/part"]


def test_two_colons_in_a_path_of_this_machine_begin_no_other_link(tmp_path):
    url = f"file://{tmp_path}/a::b.csv"
    sa.write(url, {"a": [1]})
    assert os.listdir(tmp_path) == ["a::b.csv"]
    assert sa.read(url)["a"].tolist() == [1]
