"""Parquet and Arrow: columns come back as they were, other arrays are refused, damage is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sheetarray as sa
from sheetarray.testing.cases import CASES
from sheetarray.testing.conformance import Conformance

_UNITS = {"datetime64": ("D", "ms", "us", "ns"), "timedelta64": ("ms", "us", "ns")}


def refused() -> dict[str, type[Exception]]:
    """The cases that no column of Arrow holds as they are, with their errors."""
    lacks: dict[str, type[Exception]] = {}
    for name, array in CASES.items():
        dtype = sa.LinearArray.from_numpy(array).dtype
        unit = dtype.partition("[")[2].rstrip("]")
        if array.ndim != 1:
            lacks[name] = sa.LimitError
        if array.dtype.kind == "c" or (unit and unit not in _UNITS[dtype.partition("[")[0]]):
            lacks[name] = sa.DTypeError if array.ndim == 1 else sa.LimitError
    return lacks | dict.fromkeys(("dtype generic", "empty generic", "generic header words"), sa.DTypeError)


class TestParquet(Conformance):
    suffix, format, text, progress_of = ".parquet", "parquet", False, ("write",)
    lacks = refused()
    test_an_array_alone_is_written_without_a_mapping = None  # it has two dimensions


class TestArrow(Conformance):
    suffix, format, text, progress_of = ".arrow", "arrow", False, ("write",)
    lacks = refused()
    test_an_array_alone_is_written_without_a_mapping = None  # it has two dimensions


SUFFIXES = (".parquet", ".arrow", ".feather")


def read_foreign(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_are_those_of_any_other_program(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    arrays = {"n": np.array([1, 2]), "s": np.array(["a", "ü"]), "t": np.array(["2020-01-01", "NaT"], "M8[us]")}
    sa.write(path, arrays)
    assert read_foreign(path).to_dict(as_series=False) == {
        "n": [1, 2],
        "s": ["a", "ü"],
        "t": [pl_time("2020-01-01"), None],
    }
    assert list(sa.read(path)) == ["n", "s", "t"]
    assert list(sa.read_columns(path, ["t", "n"])) == ["t", "n"]


def pl_time(text: str) -> Any:
    return np.datetime64(text, "us").item()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_columns_of_others_are_read_as_pandas_and_polars_hold_them(suffix: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame(
        {"n": [1, None], "s": [None, "a"], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "p": [{"a": 1}, {"a": 2}]}
    )
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    arrays = sa.read(path, ["n", "s", "c"])
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "n": [1, None],
        "s": [None, "a"],
        "c": ["x", "y"],
    }
    with pytest.raises(sa.FormatError, match=r"column 'p'.*Struct.*names=\['n', 's', 'c'\] reads the oth"):
        sa.read(path)
    (finding,) = sa.check(path)
    assert finding.array == "p"
    table = pa.table({"z": pa.array([1, 2], pa.timestamp("us", "UTC")), "d": pa.array([1, 2], pa.decimal128(5, 2))})
    if suffix == ".parquet":
        pa.parquet = pytest.importorskip("pyarrow.parquet")
        pa.parquet.write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    assert sa.read(path)["z"].dtype == "M8[us]"
    assert sa.read(path)["d"].tolist() == [1.0, 2.0]


def test_a_table_is_converted_and_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": pd.array([1, None], "Int64"), "t": [0.5, np.nan]}, index=pd.Index(["a", "b"], name="k"))
    for suffix in SUFFIXES:
        path = tmp_path / f"t{suffix}"
        sa.write_table(path, frame)
        assert read_foreign(path).columns == ["k", "id", "t"]
        assert sa.read_columns(path)["id"].tolist() == [1, None]
        sa.convert(path, tmp_path / "t.csv")
        assert sa.read(tmp_path / "t.csv")["id"].tolist() == [1, None]
        sa.write(path, frame.reset_index(drop=True))
        assert sa.read_frame(path)["id"].tolist() == [1, None]
    with pytest.raises(sa.LimitError, match="leave out header"):
        sa.read_columns(tmp_path / "t.parquet", header=2)
    assert sa.read_columns(tmp_path / "t.parquet", ["t"], dtype="float32")["t"].dtype == "float32"


def test_columns_are_chosen_of_more_than_is_read_at_once(tmp_path: Path) -> None:
    path, column = tmp_path / "t.parquet", pl.repeat(True, 2**26, eager=True)
    pl.DataFrame([column.alias(f"c{number}") for number in range(17)]).write_parquet(path)
    assert path.stat().st_size < 2**22
    assert len(sa.scan(path)) == 17
    assert sa.read(path, ["c7", "c3"])["c7"].all()  # a byte for each element
    with pytest.raises(sa.FormatError, match=r"67,108,864 rows of 17 .*more than is read at once.*names="):
        sa.read(path)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("count", [1, 100])
def test_columns_that_no_array_holds_are_named_with_the_line_that_reads_the_others(
    suffix: str, count: int, tmp_path: Path
) -> None:
    """Nothing of the line is cut: it is run, with a hundred columns as with one."""
    path = tmp_path / f"t{suffix}"
    others = {f"column {number}": [number, 2] for number in range(count)}
    frame = pl.DataFrame({"l": [[1], [2, 3]], **others, "p": [{"a": 1}, {"a": 2}], "s": ["a", "b"]})
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    for read, option in ((sa.read, "names"), (sa.read_columns, "columns")):
        for name, kind in (("l", "a column of lists cannot be read as an array"), ("p", "Struct")):
            with pytest.raises(sa.FormatError, match=f"column '{name}': .*{kind}") as caught:
                read(path, **{option: [name, "s"]})
            line = str(caught.value.hint).removesuffix(" reads the others")
            arrays = eval(f"read(source, {line})", {"read": read, "source": path, "sheetarray": sa})
            assert list(arrays) == [*others, "s"]
            assert line.startswith(f"{option}=[")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_a_table_keeps_comes_back_bit_for_bit(suffix: str, tmp_path: Path) -> None:
    """NaN with any payload, all of float16, missing values of every kind, NUL in text, dates of each unit."""
    bits = np.arange(2**16, dtype=np.uint16)
    wide = np.random.default_rng(0).integers(0, 2**64 - 1, 2**16, dtype=np.uint64, endpoint=True)
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "half": bits.view(np.float16),
        "single": wide.astype(np.uint32).view(np.float32),
        "double": wide.view(np.float64),
        "days": np.append(np.arange(2**16 - 1) - 40_000, np.iinfo(np.int64).min).view("M8[D]"),
        **{f"{kind}{unit}": wide.view(f"{kind}[{unit}]") for kind in ("M8", "m8") for unit in ("ms", "us", "ns")},
        "text": np.array(["\0a", "", "ü", "a\0b"] * 2**14),
    }
    missing = {"n": [2**63, None], "b": [None, True], "s": ["", None], "none": [None, None]}
    sa.write(tmp_path / f"t{suffix}", arrays)
    for name, array in sa.read(tmp_path / f"t{suffix}").items():
        assert array.dtype == arrays[name].dtype
        assert array.tobytes() == arrays[name].tobytes()
        assert array.flags.writeable
    sa.write(tmp_path / f"m{suffix}", {name: np.array(values, dtype=object) for name, values in missing.items()})
    assert {name: array.tolist() for name, array in sa.read(tmp_path / f"m{suffix}").items()} == missing
    assert list(sa.check(tmp_path / f"m{suffix}")) == []
    with pytest.raises(sa.FormatError, match="missing value"):
        sa.read_columns(tmp_path / f"m{suffix}", missing="error")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_zones_are_those_of_the_file(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": pd.date_range("2020", periods=2, tz="Europe/Berlin", unit="us"), "n": [1, 2]})
    sa.write(tmp_path / f"t{suffix}", frame)
    assert str(read_foreign(tmp_path / f"t{suffix}")["t"].dtype) == (
        "Datetime(time_unit='us', time_zone='Europe/Berlin')"
    )
    assert sa.read(tmp_path / f"t{suffix}")["t"].dtype == "M8[us]"
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / f"t{suffix}"), frame)


def test_what_version_1_wrote_beside_the_columns_is_not_read_but_told(tmp_path: Path) -> None:
    """Arrays of more dimensions stood in a table with coordinates; the layout in metadata, or in a column."""
    grid = pl.DataFrame({"axis_0": [0, 0, 1, 1], "axis_1": [0, 1, 0, 1], "t": [1.5, 2.5, 3.5, 4.5]})
    layout = '{"dims": [["axis_0", 2], ["axis_1", 2]], "axes": ["axis_0", "axis_1"], "labels": "", "arrays": {}}'
    grid.write_parquet(tmp_path / "t.parquet", metadata={"sheetarray": layout})
    column = pl.Series("sheetarray.json", [layout, None, None, None])
    grid.with_columns(column).write_ipc(tmp_path / "t.arrow")
    grid.with_columns(column).head(0).write_ipc(tmp_path / "empty.arrow")
    for suffix in (".parquet", ".arrow"):
        with pytest.warns(sa.SheetArrayWarning, match="an earlier version wrote shapes"):
            arrays = sa.read(tmp_path / f"t{suffix}")
        assert {name: array.tolist() for name, array in arrays.items()} == grid.to_dict(as_series=False)
        (finding,) = sa.check(tmp_path / f"t{suffix}")
        assert (finding.severity, finding.location) == ("warning", "the metadata")
        with pytest.warns(sa.SheetArrayWarning):
            assert list(sa.scan(tmp_path / f"t{suffix}")) == grid.columns
    own = pl.DataFrame({"sheetarray.json": ["{}", "mine"]})
    own.write_ipc(tmp_path / "own.arrow")
    assert sa.read(tmp_path / "own.arrow")["sheetarray.json"].tolist() == ["{}", "mine"]
    assert sa.read(tmp_path / "empty.arrow")["sheetarray.json"].shape == (0,)


# Files that claim, or repeat, more than they hold --------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_small_file_takes_at_most_512_mib_for_its_columns(suffix: str, tmp_path: Path) -> None:
    """One number is repeated: at the limit it is read, one row above it is refused. 778 bytes took 941 MB."""
    for more in (0, 1):
        path = tmp_path / f"t{more}{suffix}"
        frame = pl.DataFrame([pl.repeat(1.5, 2**25 + more, eager=True).alias("a")])
        frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path, compression="zstd")
        if not more:
            assert sa.read(path)["a"].shape == (2**25 + more,)
            continue
        with pytest.raises(sa.FormatError, match=r"33,554,433 rows of 1 columns take 536,870,928 bytes"):
            sa.read(path)
        assert sa.scan(path)["a"].shape == (2**25 + 1,)
        assert "more than is read at once" in next(sa.check(path)).message


def test_what_a_column_repeats_is_counted_before_objects_are_made_of_it(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def repeat(value: Any, count: int) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, "i4")), pa.array([value]))

    bombs = {
        "text": repeat("x" * 50_000, 4_000),
        "nulls": pa.array([1] + [None] * 13_500_000),
        "none": pa.nulls(13_500_000),
        "decimals": pa.array([1] * 900_000, pa.decimal128(5, 2)),
        "clock": pa.array([1] * 900_000, pa.time64("us")),
    }
    for name, column in bombs.items():
        for store in (True, False):
            pq.write_table(pa.table({"a": column}), tmp_path / f"{name}.parquet", store_schema=store)
            assert (tmp_path / f"{name}.parquet").stat().st_size < 2**20
            with pytest.raises(sa.FormatError, match="more than is read at once"):
                sa.read(tmp_path / f"{name}.parquet")


def test_batches_of_an_arrow_file_do_not_overlap_and_hold_what_they_claim(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    pl.DataFrame({"a": np.arange(100.0)}).write_ipc(path, compression="lz4")
    whole = path.read_bytes()
    footer = len(whole) - 10 - int.from_bytes(whole[-10:-6], "little")
    for change in (b"\xff" * 8, (2**40).to_bytes(8, "little"), (len(whole)).to_bytes(8, "little")):
        for place in range(footer, len(whole) - 10, 8):
            changed = whole[:place] + change + whole[place + 8 :]
            path.write_bytes(changed)
            assert all(isinstance(finding, sa.Finding) for finding in sa.check(path))
