"""The real thing: an image that other people made, a CSV that a spreadsheet saved, a file too big to read."""

from __future__ import annotations

import io
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
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


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".csv.gz"])
def test_a_4d_image_comes_back_bit_for_bit(image: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"image{suffix}"
    sa.write(path, {"image": image, "zooms": np.array([2.0, 2.0, 2.2, 2000.0], dtype="float32")})
    info = sa.scan(path)["image"]
    assert (info.shape, info.dtype, info.order) == ((128, 96, 24, 2), "int16", "column-major")
    result = sa.read(path)
    assert result["image"].dtype == np.int16
    assert result["image"].shape == image.shape
    assert result["image"].tobytes() == image.tobytes()
    assert_same(result["image"], image)
    assert list(sa.check(path)) == []


def test_a_4d_image_goes_through_every_text_format_on_the_command_line(
    image: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> int:
        return run_command(*words).exit_code

    sa.write(tmp_path / "image.csv", {"image": image})
    for source, target in pairwise(["image.csv", "image.tsv", "image.json", "image.txt.zst", "back.csv"]):
        assert run("convert", source, target) == 0
    assert run("diff", "image.json", "image.txt.zst") == 0
    result = sa.read(tmp_path / "back.csv")["image"]
    assert_same(result, image)
    assert (tmp_path / "back.csv").read_bytes() == (tmp_path / "image.csv").read_bytes()
    assert run("check", "back.csv", "image.json") == 0


def test_a_view_of_an_image_holds_nothing_else_of_it(image: Any, tmp_path: Path) -> None:
    view = image[40:60:3, ::-1, 12, 0]
    sa.write(tmp_path / "view.csv", {"view": view})
    assert_same(sa.read(tmp_path / "view.csv")["view"], view)
    assert sa.scan(tmp_path / "view.csv")["view"].capacity == view.size


def test_one_changed_voxel_is_named(image: Any, tmp_path: Path) -> None:
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
def test_a_csv_that_a_spreadsheet_saved_reads_the_same(options: dict[str, Any]) -> None:
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


def test_an_edited_cell_of_it_is_named() -> None:
    content = saved_by_a_spreadsheet().replace(b"-0,25", b"-0.25 m")
    with pytest.raises(sa.FormatError) as caught:
        sa.read(io.BytesIO(content), format="csv")
    assert (caught.value.location, caught.value.element) == ("A25", "t[0, 1]")
    (finding,) = sa.check(io.BytesIO(content), format="csv")
    assert finding.location == "A25"


def test_a_thousands_point_is_never_read_as_a_decimal_one() -> None:
    content = saved_by_a_spreadsheet().replace(b"-0,25", b"1.234,5")
    with pytest.raises(sa.FormatError) as caught:
        sa.read(io.BytesIO(content), format="csv")
    assert caught.value.location == "A25"


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
def test_scan_of_a_big_csv_reads_each_byte_once_at_most(options: dict[str, Any]) -> None:
    file = io.BytesIO()
    sa.write(
        file, {"a": np.arange(600_000.0).reshape(600, 1000), "s": np.array(["x"] * 300_000)}, format="csv", **options
    )
    counting = Counting(file.getvalue())
    infos = sa.scan(counting, format="csv")
    assert {name: info.shape for name, info in infos.items()} == {"a": (600, 1000), "s": (300_000,)}
    assert counting.count <= len(file.getvalue())  # an array may begin anywhere below, so all of it is searched


def test_scan_looks_at_no_element() -> None:
    file = io.BytesIO()
    sa.write(file, {"a": np.arange(3.0)}, format="csv")
    content = file.getvalue().replace(b"2.0", b"???")
    assert sa.scan(io.BytesIO(content), format="csv")["a"].shape == (3,)
