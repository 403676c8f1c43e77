"""Labels on the command line: `show --slice` by label, pictures with labels; tests/transcripts/show.txt shows more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import Result
from command_line import run_command

import sheetarray as sa
from sheetarray.cli.drawing import heat_maps
from sheetarray.cli.drawing.statistics import compute_statistics
from sheetarray.pages.slices import SliceError, find_indices


def run(*arguments: object) -> Result:
    return run_command(*arguments)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    grid = xr.Dataset(
        {"t": (("time", "lat", "place"), np.arange(62 * 2 * 2.0).reshape(62, 2, 2), {"units": "K"})},
        coords={
            "time": pd.date_range("2026-07-01", periods=62),
            "lat": np.array([47.5, 48.1], "f4"),
            "place": ["Bern, Kirchenfeld", "Ulm"],
        },
        attrs={"title": "a grid"},
    )
    sa.write(tmp_path / "run.csv", grid)
    return tmp_path / "run.csv"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("time=2026-07-03,lat=48.1,place=Ulm", "[2, 1, 1]"),
        ("time=2026-07, lat=47.5", "[0:31, 0]"),
        ("[time=2026-08]", "[31:]"),
        ("place=Bern, Kirchenfeld,time=2026-08-31", "[61, :, 0]"),
    ],
)
def test_a_slice_by_labels(text: str, same: str, path: Path) -> None:
    shown, expected = (json.loads(run("show", path, "t", "--slice", t, "--json").output) for t in (text, same))
    assert shown["values"] == expected["values"]
    assert run("show", path, "t", "--slice", text).exit_code == 0


@pytest.mark.parametrize(
    ("coordinate", "label", "index"),
    [
        (np.array([True, False]), "false", 1),
        (np.array([2**63, 2**63 + 1], "u8"), str(2**63 + 1), 1),
        (np.array([1, 2], "i2"), "2.0", 1),
        (np.array([0.1, np.nan], "f4"), "nan", 1),
        (np.array([0.1, 0.2], "f4"), "0.2", 1),
        (np.array(["2020-01-01T12", "NaT"], "M8[h]"), "NaT", 1),
        (np.array(["2020-01-01T12", "2020-01-01T13"], "M8[h]"), "2020-01-01T13:00", 1),
        (np.array(["1969-12-31", "1970-01-01"], "M8[ns]"), "1970", 1),
        (np.array([b"", b"x"], dtype=object), "b'x'", 1),
        (np.array(["a", "b", "b"]), "b", slice(1, 3)),
    ],
)
def test_labels_of_every_kind(coordinate: np.ndarray, label: str, index: int | slice) -> None:
    assert find_indices({"x": label}, ("x",), {"x": coordinate}) == (index,)


def test_labels_that_are_not_side_by_side_and_none_at_all() -> None:
    with pytest.raises(SliceError, match="2 elements along 'x' have the label 'a', but are not side by side"):
        find_indices({"x": "a"}, ("x",), {"x": np.array(["a", "b", "a"])})
    with pytest.raises(SliceError, match="there are none"):
        find_indices({"x": "1"}, ("x",), {"x": np.array([], "f8")})


# Pictures in characters ---------------------------------------------------------------------------------------


def draw(values: Any, width: int = 20) -> list[str]:
    array = np.asarray(values)
    lines = heat_maps.draw_line(array, compute_statistics(array), width, colours=False, blocks=True)
    return [line.plain for line in lines]


def dots(lines: list[str]) -> np.ndarray[Any, Any]:
    """The picture as booleans: four dots high and two wide for each character."""
    codes = np.array([[ord(mark) - 0x2800 for mark in line] for line in lines])
    bits = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
    grid = (codes[:, np.newaxis, :, np.newaxis] & bits[np.newaxis, :, np.newaxis, :]) > 0
    return grid.reshape(4 * len(lines), -1)


def test_a_line_goes_from_the_least_to_the_greatest() -> None:
    picture = dots(draw(np.arange(40.0)))
    assert picture.shape == (24, 40)
    assert picture[-1, 0]
    assert picture[0, -1]
    assert picture.any(axis=0).all()
    assert picture.any(axis=1).all()  # no gap


@pytest.mark.parametrize("count", [39, 40, 41, 4000])
def test_no_extreme_is_missed_however_many_elements_there_are(count: int) -> None:
    values = np.zeros(count)
    values[count // 2] = 1
    picture = dots(draw(values))
    assert picture[0].any()
    assert picture.any(axis=1).all()  # the way up has no gap
    assert picture[0].sum() <= 2


def test_missing_elements_are_a_gap_with_a_mark() -> None:
    values = np.arange(40.0)
    values[10:20] = np.nan
    *lines, marks = draw(values)
    assert marks.strip() == "?????"
    assert not dots(lines)[:, 10:20].any()


def test_axes_have_labels() -> None:
    values = np.arange(80.0).reshape(8, 10)
    drawn = heat_maps.draw_heat_map(values, compute_statistics(values), 40, colours=False, blocks=False)
    lines = [
        line.plain for line in heat_maps.add_axes(drawn, [f"r{n}" for n in range(8)], [f"c{n}" for n in range(10)])
    ]
    assert len({len(line) for line in lines[:-1]}) == 1
    assert [line[:2].strip() for line in lines[:-1:4]] == [
        f"r{8 * n // (len(lines) - 1)}" for n in range(0, len(lines) - 1, 4)
    ]
    width = len(lines[0]) - 3
    for label in lines[-1].split():
        place = lines[-1].index(label) - 3
        assert f"c{place * 10 // width}" == label


def test_show_takes_the_labels_of_dimensions(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    time = np.arange("2026-01", "2026-05", dtype="M8[M]").astype("M8[ns]")
    dataset = xr.Dataset({"t": (("time", "x"), np.arange(12.0).reshape(4, 3))}, {"time": time, "x": [0.1, 0.2, 0.3]})
    sa.write(tmp_path / "d.csv", dataset)
    shown = run_command("show", tmp_path / "d.csv", "t").stdout
    assert "  2026-01-01 " in shown
    assert "0.1" in shown.splitlines()[-4]
    sliced = run_command("show", tmp_path / "d.csv", "t", "--slice", "1, :").stdout
    assert "0.2" in sliced.splitlines()[-4]


def test_a_damaged_label_does_not_hide_the_array(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    sa.write(tmp_path / "d.csv", xr.Dataset({"t": ("x", [1.5, 2.5])}, {"x": [1000.25, 1000.75]}))
    (tmp_path / "d.csv").write_text((tmp_path / "d.csv").read_text().replace("1000.25", "?"))
    result = run_command("show", tmp_path / "d.csv", "t")
    assert result.exit_code == 0
    assert "2.5" in result.stdout
