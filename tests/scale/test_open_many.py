"""open_many: many files as one Dataset of lazy arrays, whose headers agree and whose blocks are those of the files."""

from __future__ import annotations

import io
import pickle

import fsspec
import numpy as np
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


def labelled(day, grid=(0.5, 1.5, 2.5), unit="m"):
    coords = {"x": list(grid), "time": np.datetime64(day, "s"), "height": ("x", [7, 8, 9])}
    attrs = {"title": "trial", "made": day}
    return xr.Dataset({"t": (("y", "x"), ARRAYS[day], {"unit": unit})}, coords=coords, attrs=attrs)


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


@pytest.mark.parametrize("array", [np.float32(2.5), np.array(["a", "é"]), np.zeros((0, 2), np.int8), np.array([True])])
def test_arrays_of_any_kind_and_shape_are_stacked(tmp_path, array):
    dataset = sa.open_many(write_days(tmp_path, arrays=[np.asarray(array)] * 3), along="day", chunks=1)
    assert dataset["t"].values.tolist() == np.stack([array] * 3).tolist()
    assert dataset["t"].dims[0] == "day"


def test_labels_come_along_and_scalar_coordinates_are_stacked(tmp_path):
    for day in range(4):
        sa.write(tmp_path / f"{day}.csv", labelled(day))
    dataset = sa.open_many(tmp_path / "*.csv", ["t"])
    assert dataset["t"].dims == ("file", "y", "x")
    assert dataset["t"].attrs == {"unit": "m"}
    assert dataset.attrs == {"title": "trial"}  # `made` is another one in each file
    assert dataset["x"].values.tolist() == [0.5, 1.5, 2.5]
    assert dataset["height"].dims == ("x",)
    assert dataset.sel(x=1.5)["t"].values.tolist() == [ARRAYS[day][:, 1].tolist() for day in range(4)]
    alone = sa.open_many(tmp_path / "*.csv")
    assert alone["time"].values.tolist() == np.arange(4).astype("M8[s]").tolist()


def test_another_coordinate_is_an_error_when_its_block_is_computed(tmp_path):
    sa.write(tmp_path / "0.csv", labelled(0))
    sa.write(tmp_path / "1.csv", labelled(1, grid=(0.5, 1.5, 2.6)))
    dataset = sa.open_many(tmp_path / "*.csv")
    assert dataset["t"][0].values.tolist() == ARRAYS[0].tolist()
    with pytest.raises(sa.FormatError, match=r"1\.csv: the coordinate 'x' differs from the one in the first file"):
        dataset["t"].compute()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"t": np.zeros((2, 4))}, r"has the shape \(2, 4\), not \(2, 3\)"),
        ({"t": np.zeros((2, 3), np.float32)}, "has the dtype float32, not float64"),
        ({"t": ARRAYS[0], "u": np.zeros(2)}, "has one array more, 'u'"),
        ({"u": ARRAYS[0]}, "has no array 't'"),
        (b"t\nversion\n1.0.0\nndarray\n", "3.csv"),
        (b"", "the file is empty"),
    ],
)
def test_a_file_that_differs_is_named_or_left_out(tmp_path, other, message):
    pattern = write_days(tmp_path)
    if isinstance(other, bytes):
        (tmp_path / "3.csv").write_bytes(other)
    else:
        sa.write(tmp_path / "3.csv", other)
    with pytest.raises(sa.FormatError, match=message) as raised:
        sa.open_many(pattern)
    assert raised.value.source == str(tmp_path / "3.csv")
    with pytest.warns(sa.SheetArrayWarning, match=f"1 of 5 files are left out: .*{message}"):
        dataset = sa.open_many(pattern, compat="skip")
    assert dataset["t"].values.tolist() == [ARRAYS[day].tolist() for day in (0, 1, 2, 4)]


def test_what_most_files_say_counts_where_others_are_left_out(tmp_path):
    pattern = write_days(tmp_path)
    sa.write(tmp_path / "0.csv", {"t": [1]})
    with pytest.warns(sa.SheetArrayWarning, match=r"0\.csv: 't' has the shape \(1,\), not \(2, 3\)"):
        assert sa.open_many(pattern, compat="skip").sizes["file"] == 4


def test_other_labels_are_a_difference(tmp_path):
    sa.write(tmp_path / "0.csv", labelled(0))
    sa.write(tmp_path / "1.csv", labelled(1, unit="km"))
    with pytest.raises(sa.FormatError, match=r"1\.csv: 't' has other labels: .*km"):
        sa.open_many(tmp_path / "*.csv")


def test_what_cannot_be_opened_is_said_at_once(tmp_path, memory):
    pattern = write_days(tmp_path)
    for nothing in (tmp_path / "*.tsv", "memory://none/*.csv", []):
        with pytest.raises(FileNotFoundError, match=r"no file matches|list of files is empty"):
            sa.open_many(nothing)
    for absent in (tmp_path / "5.csv", ["memory://none/5.csv"]):
        with pytest.raises(FileNotFoundError, match=r"5\.csv"):
            sa.open_many(absent)
    with pytest.raises(sa.NotFoundError, match=r"0\.csv: no array 'u'; there is 't'"):
        sa.open_many(pattern, ["u"])
    for along in ("t", "t_0"):
        with pytest.raises(ValueError, match=f"along='{along}' is the name"):
            sa.open_many(pattern, along=along)
    for options in ({"files_per_chunk": 0}, {"chunks": 0}, {"chunks": {"t_0": -1}}):
        with pytest.raises(ValueError, match="at least"):
            sa.open_many(pattern, **options)
    with pytest.raises(ValueError, match="'t_1' is not an array's first dimension"):
        sa.open_many(pattern, chunks={"t_1": 1})
    with pytest.raises(ValueError, match="compat"):
        sa.open_many(pattern, compat="override")
    with pytest.raises(TypeError, match="sources is a list of paths and URLs"):
        sa.open_many([io.BytesIO()])


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
