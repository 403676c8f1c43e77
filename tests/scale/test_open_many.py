"""open_many: many files as one Dataset of lazy arrays, whose headers agree and whose blocks are those of the files."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from limits import set_limits

import sheetarray as sa
from sheetarray.sheets.delimited import read_elements_csv, rows_by_bytes

pytest.importorskip("dask.array")

ARRAYS = [np.arange(6.0).reshape(2, 3) + 10 * day for day in range(5)]


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def write_days(folder, suffix=".csv", arrays=ARRAYS):
    for day, array in enumerate(arrays):
        sa.write(f"{folder}/{day}{suffix}", {"t": array})
    return f"{folder}/*{suffix}"


@pytest.mark.filterwarnings("ignore:.* keep:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npy", ".ra", ".xlsx", ".json"])
@pytest.mark.parametrize("files_per_chunk", [1, 2, 5, 6])
def test_blocks_are_the_arrays_of_the_files(tmp_path, suffix, files_per_chunk):
    dataset = sa.open_many(write_days(tmp_path, suffix), files_per_chunk=files_per_chunk)
    array = dataset["array" if suffix in (".npy", ".ra") else "t"]
    assert array.data.chunks[0] == {1: (1,) * 5, 2: (2, 2, 1)}.get(files_per_chunk, (5,))
    assert array.dtype == float
    assert array.values.tobytes() == np.stack(ARRAYS).tobytes()
    assert array[3, 1].values.tolist() == ARRAYS[3][1].tolist()
    assert [name.rpartition("/")[2] for name in dataset["file"].values] == [f"{day}{suffix}" for day in range(5)]


def test_a_changed_file_is_an_error_whenever_it_is_computed(tmp_path, memory):
    for pattern in (write_days(tmp_path), write_days("memory://days")):
        dataset = sa.open_many(pattern)
        assert dataset["t"].values.tolist() == np.stack(ARRAYS).tolist()
        sa.write(pattern.replace("*", "2"), {"t": ARRAYS[3]})
        with pytest.raises(sa.FormatError, match=r"2\.csv: the file (has|was) changed"):
            dataset["t"].compute()
        assert dataset["t"][1].values.tolist() == ARRAYS[1].tolist()


@pytest.mark.filterwarnings("ignore:.* keep:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("how", ["cut", "emptied", "grown", "another", "removed"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npy", ".ra", ".json", ".xlsx"])
def test_a_file_that_is_changed_before_its_block_is_computed_is_an_error(suffix, how, tmp_path):
    dataset = sa.open_many(write_days(tmp_path, suffix))
    array = dataset["array" if suffix in (".npy", ".ra") else "t"]
    path = tmp_path / f"2{suffix}"
    content = path.read_bytes()
    if how == "removed":
        path.unlink()
    else:
        other = (tmp_path / f"3{suffix}").read_bytes()
        path.write_bytes({"cut": content[:-9], "emptied": b"", "grown": content * 2, "another": other}[how])
    with pytest.raises(FileNotFoundError if how == "removed" else sa.FormatError, match=f"2{suffix}"):
        array.compute()
    assert array[1].values.tolist() == ARRAYS[1].tolist()


def test_paths_mean_the_same_files_wherever_blocks_are_read(tmp_path, monkeypatch):
    write_days(tmp_path)
    monkeypatch.chdir(tmp_path)
    many, one = sa.open_many("*.csv"), xr.open_dataset("3.csv", engine="sheetarray")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert many["file"].values.tolist() == [f"{day}.csv" for day in range(5)]
    assert many["t"].values.tolist() == np.stack(ARRAYS).tolist()
    assert one["t"][0].values.tolist() == ARRAYS[3][0].tolist()
    (tmp_path / "3.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"3\.csv"):
        many["t"].compute()
    with pytest.raises(FileNotFoundError, match=r"3\.csv"):
        one["t"].load()


def test_heads_are_asked_for_once_and_kept_no_longer(memory, monkeypatch):
    asked = []
    cat_file = type(memory).cat_file
    opened = type(memory)._open
    monkeypatch.setattr(type(memory), "cat_file", lambda *a, **k: (asked.append("head"), cat_file(*a, **k))[1])
    monkeypatch.setattr(type(memory), "_open", lambda *a, **k: (asked.append("open"), opened(*a, **k))[1])
    pattern = write_days("memory://days")
    asked.clear()
    dataset = sa.open_many(pattern)
    assert asked.count("head") == 5
    assert asked.count("open") <= 5  # which memory:// does for a head
    assert b"1.0.0" not in pickle.dumps(dataset["t"].data)


def test_very_many_files_are_one_layer_and_a_short_graph(tmp_path, monkeypatch):
    set_limits(monkeypatch, heads_at_once=64)  # files whose heads are in memory
    arrays = [np.array([day]) for day in range(150)]
    pattern = write_days(tmp_path, arrays=arrays)
    dataset = sa.open_many(pattern, chunks=1)
    assert len(dataset["t"].data.dask.layers) == 1
    few = sa.open_many([tmp_path / f"{day}.csv" for day in range(50)], chunks=1)
    assert len(pickle.dumps(dataset["t"].data)) - len(pickle.dumps(few["t"].data)) < 250 * 100
    assert sorted(dataset["t"].values.ravel().tolist()) == list(range(150))
    sa.write(tmp_path / "99.csv", {"t": [1, 2]})  # the last of them, in their order
    with pytest.raises(sa.FormatError, match=r"99\.csv: 't' has the shape \(2,\), not \(1,\)"):
        sa.open_many(pattern)


# Rows of large files -----------------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path, monkeypatch):
    set_limits(monkeypatch, csv_rows_piece=2**12)
    rng = np.random.default_rng(5)
    arrays = {"t": rng.random((900, 4)), "n": np.arange(4000), "b": np.arange(4003) % 3 == 0}
    for number in range(2):
        sa.write(tmp_path / f"{number}.csv", arrays)
    return arrays


def test_rows_of_a_large_text_are_read_alone(tmp_path, large, monkeypatch):
    dataset = sa.open_many(tmp_path / "*.csv", chunks=250, files_per_chunk=2)
    assert dataset["t"].data.chunks[1] == (250, 250, 250, 150)
    monkeypatch.setattr(sa.api, "read", None)  # which would read it whole
    for name, array in large.items():
        assert dataset[name].values.tobytes() == np.stack([array] * 2).tobytes()
    assert dataset["n"][1, 3990:].values.tolist() == list(range(3990, 4000))


def test_bytes_above_are_counted_once(memory, large, tmp_path, monkeypatch):
    memory.pipe("/large/0.csv", (tmp_path / "0.csv").read_bytes())
    starts = []
    find = rows_by_bytes._Rows._take_rows
    monkeypatch.setattr(rows_by_bytes._Rows, "_take_rows", lambda *a: (starts.append(a[1]), find(*a))[1])
    dataset = sa.open_many("memory://large/*.csv", chunks={"n_0": 500})
    assert dataset["t"].data.chunks[1] == (900,)
    starts.clear()
    for block in range(8):
        assert dataset["n"][0, block * 500].values == block * 500
    assert len(starts) < 3 * len(set(starts))
    assert len(set(starts)) > 20


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 1), (3599, 3600), (17, 18), (1, 3600), (0, 3600), (200, 3000)])
def test_some_elements_are_those_of_the_whole(tmp_path, large, start, stop):
    path = tmp_path / "0.csv"
    assert read_elements_csv(path, "t", start, stop).tobytes() == large["t"].ravel()[start:stop].tobytes()
    unended = io.BytesIO(path.read_bytes().replace(b"\r\n", b"\n").rstrip(b"\n"))
    assert read_elements_csv(unended, "t", start, stop).tobytes() == large["t"].ravel()[start:stop].tobytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n,,FALSE\r", b'\n,,"FALSE"\r'),
        (b"\n,,FALSE\r", b"\n,17,FALSE\r"),
        (b"\n,3998,", b"\n,word,"),
        (b"\n,3999,", b"\n,,"),
        (b"\n,3998,", b"\r,3998,"),
        (b",20,", b',"20",'),
    ],
)
def test_what_people_have_changed_is_read_whole(tmp_path, large, old, new):
    content = (tmp_path / "0.csv").read_bytes()
    assert content.count(old) >= 1
    edited = content.replace(old, new, 1)
    assert read_elements_csv(io.BytesIO(edited), "n", 3900, 4000) is None


def test_a_column_of_text_or_a_small_text_is_read_whole(tmp_path, large):
    sa.write(tmp_path / "0.csv", {"n": np.arange(4000), "s": np.array(["a\nb"] * 3)})
    assert read_elements_csv(tmp_path / "0.csv", "n", 5, 10) is None
    assert sa.open_many(tmp_path / "0.csv", ["n"], chunks=100)["n"][0, 5:8].values.tolist() == [5, 6, 7]
    sa.write(tmp_path / "1.csv", {"n": np.arange(4)})
    assert read_elements_csv(tmp_path / "1.csv", "n", 0, 1) is None
    assert sa.open_many(tmp_path / "1.csv", chunks=1)["n"].values.tolist() == [[0, 1, 2, 3]]


def test_an_ordinary_table_is_refused_before_a_dataset_is_opened(tmp_path: Path) -> None:
    for day in "12":
        (tmp_path / f"{day}.csv").write_text(f"day,t\n2026-01-0{day},1.5\n2026-02-0{day},2.5\n")
    pd.DataFrame({"t": [1, 2]}).to_excel(tmp_path / "1.xlsx", index=False)
    for name in ("1.csv", "1.xlsx"):
        with pytest.raises(sa.FormatError, match=f"{name}: no array of the exchange format"):
            xr.open_dataset(tmp_path / name, engine="sheetarray")
    with pytest.raises(sa.FormatError, match=r"1\.csv: no array of the exchange format"):
        sa.open_many(str(tmp_path / "*.csv"))
