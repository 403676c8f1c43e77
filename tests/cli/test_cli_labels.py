"""Labels on the command line: `info`, `show --slice` by label, `convert` and `diff`."""

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


def test_info_names_dimensions(path: Path) -> None:
    assert "time, lat, place" in " ".join(run("info", path).output.split())
    arrays = json.loads(run("info", path, "--json").output)["arrays"]
    assert {array["name"]: array["dims"] for array in arrays}["t"] == ["time", "lat", "place"]
    sa.write(path, {"a": [1, 2]})
    assert "dims" not in run("info", path).output
    assert "dims" not in json.loads(run("info", path, "--json").output)["arrays"][0]


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
    ("text", "reason"),
    [
        ("lat=47.6", "no label '47.6' along 'lat': near are 47.5, 48.0"),
        ("time=2025-01", "near are 2026-07-01"),
        ("place=Ulmm", "near are Ulm"),
        ("place=?", "the first are Bern"),
        ("time=tomorrow", "'tomorrow' is not a label along 'time', the first are 2026-07-01"),
        ("lat=north", "'north' is not a label along 'lat'"),
        ("depth=1", "no dimension 'depth'; there is 'time', 'lat', 'place'"),
        ("lat=47.5,lat=48.1", "twice"),
    ],
)
def test_a_label_that_is_not_there(text: str, reason: str, path: Path) -> None:
    result = run("show", path, "t", "--slice", text)
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())


def test_dimensions_without_names_and_without_labels(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.csv", {"a": [1, 2]})
    assert "have no names" in run("show", tmp_path / "a.csv", "a", "--slice", "x=1").output
    sa.write(tmp_path / "a.csv", xr.Dataset({"a": ("x", [1, 2])}))
    assert "'x' has no labels" in " ".join(run("show", tmp_path / "a.csv", "a", "--slice", "x=1").output.split())


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


def test_diff_names_labels_that_differ(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    grid = sa.read_dataset(path)
    sa.write(other, grid)
    assert run("diff", path, other).exit_code == 0
    changed = grid.rename(place="town").assign_attrs(title="another")
    changed["t"].attrs["units"] = "degC"
    sa.write(other, changed.rename_vars(town="place"))
    result = run("diff", path, other)
    assert result.exit_code == 1
    assert "attribute title: 'a grid' -> 'another'" in result.output
    assert "t: dimensions time, lat, place -> time, lat, town" in result.output
    assert "t: attribute units: 'K' -> 'degC'" in result.output
    assert len(json.loads(run("diff", path, other, "--json").output)["labels"]) >= 3
    sa.write(other, {name: variable.values for name, variable in grid.variables.items()})
    result = run("diff", path, other)
    assert result.exit_code == 0
    assert f"only in {path}" in result.output


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


def test_words_stand_at_the_left_and_numbers_at_the_right(tmp_path: Path) -> None:
    sa.write(
        tmp_path / "d.csv", {"s": np.array([["a", "日本"], ["long word", "b"]]), "n": np.array([[1, 20], [300, 4]])}
    )
    lines = run_command("show", tmp_path / "d.csv", "s").stdout.splitlines()
    assert lines[2:] == ["     0            1", "  0  'a'          '日本'", "  1  'long word'  'b'"]
    lines = run_command("show", tmp_path / "d.csv", "n", "--no-picture").stdout.splitlines()
    assert lines[2:5] == ["       0    1", "  0    1   20", "  1  300    4"]


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


def show_grid(*arguments: object) -> list[list[str]]:
    """Return the words of the lines between the heading and the statistics that `show` prints."""
    result = run_command("show", *arguments, "--no-picture")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()[2:]]
    return lines[: lines.index([])] if [] in lines else lines


def test_the_values_are_headed_by_their_labels_or_else_by_their_indices(tmp_path):
    values = np.arange(12.0).reshape(3, 4) + 0.5
    cities = ["Zürich", "東京", "a\x1bb", "Bern"]
    coords = {"day": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[ns]"), "city": cities}
    variables = {"t": (("day", "city"), values), "one": (("day",), values[:, 0]), "bare": (("u", "v"), values)}
    sa.write(path := tmp_path / "t.xlsx", xr.Dataset(variables, coords))
    assert show_grid(path, "t") == [
        ["Zürich", "東京", "a\\x1bb", "Bern"],
        ["2026-01-01", "0.5", "1.5", "2.5", "3.5"],
        ["2026-01-02", "4.5", "5.5", "6.5", "7.5"],
        ["2026-01-03", "8.5", "9.5", "10.5", "11.5"],
    ]
    assert show_grid(path, "t", "--slice", "[::2, 1:3]", "--columns", 2) == [
        ["東京", "a\\x1bb"],
        ["2026-01-01", "1.5", "2.5"],
        ["2026-01-03", "9.5", "10.5"],
    ]
    assert show_grid(path, "t", "--slice", "[1]")[:2] == [["Zürich", "4.5"], ["東京", "5.5"]]
    assert show_grid(path, "one", "--rows", 2) == [["2026-01-01", "0.5"], ["…"], ["2026-01-03", "8.5"]]
    assert show_grid(path, "bare", "--slice", "[1:, 2:]") == [
        ["2", "3"],
        ["1", "6.5", "7.5"],
        ["2", "10.5", "11.5"],
    ]


def test_the_lines_of_a_slice_begin_with_the_indices_in_the_array(tmp_path):
    sa.write(path := tmp_path / "t.csv", {"x": np.arange(30)})
    assert show_grid(path, "x", "--slice", "[4::2]", "--columns", 5)[:3] == [
        ["+0", "+2", "+4", "+6", "+8"],
        ["4", "4", "6", "8", "10", "12"],
        ["14", "14", "16", "18", "20", "22"],
    ]
    assert show_grid(path, "x", "--slice", "[9::-1]", "--columns", 5) == [
        ["+0", "-1", "-2", "-3", "-4"],
        ["9", "9", "8", "7", "6", "5"],
        ["4", "4", "3", "2", "1", "0"],
    ]
    assert show_grid(path, "x", "--slice", "[7:8]") == [["7", "7"]]
