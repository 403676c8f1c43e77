"""`sa.diff`: what became of arrays, held against a model in plain Python, and as text, in a notebook, as JSON."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from adapters_deleted import needing
from command_line import run_command
from limits import set_limits

import sheetarray as sa

GRID = np.random.default_rng(0).normal(size=(4, 3))


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (GRID, GRID.astype("float32").astype("float64"), "explanation"),
        (GRID, GRID * 1000, "explanation"),
        (GRID, GRID.T, "reshaped"),
        (GRID, GRID.reshape(2, 6), "reshaped"),
        (GRID, GRID[:, :2].copy(), "rows"),
        (GRID, np.asfortranarray(GRID), "order"),
        (np.arange(5), np.arange(5.0), "dtype"),
        (np.arange(5), np.arange(5).astype("int32"), "dtype"),
        (np.array([0.0, 1.0]), np.array([-0.0, 1.0]), "edit"),
        (np.array([2**60]), np.array([2**60 + 1]), "edit"),
        (np.array([2**53 + 1]), np.array([2.0**53]), "edit"),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), "nothing"),
        (np.array(["a", "b"], object), np.array(["a", "b"], object), "nothing"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "nothing"),
    ],
)
def test_each_change_of_an_array_is_of_its_own_kind(before, after, what):
    changes = sa.diff({"t": before}, {"t": after})
    whole = {one.what for one in changes.arrays}
    assert bool(changes) == (what != "nothing")
    assert bool(changes.edited) == (what in ("edit", "explanation"))
    assert bool(changes.explanations) == (what in ("explanation", "reshaped"))
    assert bool(changes.rows) == (what == "rows")
    if what in ("reshaped", "order", "dtype"):
        assert what in whole
    assert not sa.diff({"t": before}, {"t": before.copy(order="K")})
    assert not changes.rounded


def test_arrays_that_came_and_went_and_have_another_name():
    before = {"a": np.arange(3), "b": np.arange(4), "c": np.arange(5), "d": np.array([])}
    after = {"a": np.arange(3), "e": np.arange(4), "f": np.arange(9), "g": np.array([])}
    changes = sa.diff(before, after)
    assert {(one.name, one.what) for one in changes.arrays} == {
        *{("e", "renamed"), ("f", "added"), ("g", "added"), ("c", "deleted"), ("d", "deleted")},
    }
    assert changes.to_dict()["renamed"] == {"b": "e"}
    twice = sa.diff({"a": np.arange(3)}, {"b": np.arange(3), "c": np.arange(3)})
    assert {one.what for one in twice.arrays} == {"added", "deleted"}  # nothing tells which one it is


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_arrays_that_are_the_same_are_found_so_at_any_size(more, monkeypatch):
    set_limits(monkeypatch, same_bytes=GRID.nbytes + more)
    assert not sa.diff({"t": GRID, "n": np.array(["a", "a"])}, {"t": GRID.copy(), "n": np.array(["a", "a"])})
    (edit,) = sa.diff({"t": GRID}, {"t": np.where(GRID[3, 2] == GRID, 9.0, GRID)}).edited
    assert (edit.index, edit.after) == ((3, 2), 9.0)


def test_nothing_is_no_change():
    assert not sa.diff({}, {})
    assert repr(sa.diff({}, {})) == "no differences (0 arrays)"
    arrays = {"t": np.arange(3.0)}
    assert repr(sa.diff(arrays, arrays)) == "no differences (1 array)"
    assert sa.diff(arrays, {}).arrays[0].what == "deleted"


@needing("csv", "xlsx", "json")
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".json"])
def test_files_and_arrays_are_compared_alike(suffix, tmp_path):
    before = {"t": np.arange(12.0).reshape(3, 4), "n": np.array(["x", "y", "z"], object)}
    after = {"t": before["t"].copy(), "n": before["n"]}
    after["t"][2, 1] = 99.5
    for name, arrays in (("a", before), ("b", after)):
        sa.write(tmp_path / f"{name}{suffix}", arrays)
    a, b = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for first, second in ((a, b), (before, b), (a, after), (before, after)):
        changes = sa.diff(first, second)
        (edit,) = changes.edited
        assert (edit.array, edit.index, edit.before, edit.after) == ("t", (2, 1), 9.0, 99.5)
        assert (edit.cell_after is not None) == ((second is b and suffix != ".json") or edit.cell_after is not None)
        assert not sa.diff(second, second)
    assert json.loads(run_command("diff", a, b, "--json").stdout) == json.loads(json.dumps(sa.diff(a, b).to_dict()))
    assert run_command("diff", a, b).exit_code == 1
    assert [edit.array for edit in sa.diff(a, b, "t").edited] == ["t"]
    assert not sa.diff(a, b, ["n"])


@needing("csv")
def test_an_open_file_is_read_from_where_it_stands():
    file = io.BytesIO()
    sa.write(file, {"t": np.arange(3.0)}, format="csv")
    file.seek(0)
    assert not sa.diff(file, {"t": np.arange(3.0)}, format="csv")
    assert file.tell() == 0
    with pytest.raises(sa.NotFoundError):
        sa.diff(file, {"t": np.arange(3.0)}, "nothing", format="csv")


CITIES = xr.Dataset(
    {"temperature": (("city", "year"), np.arange(6.0).reshape(2, 3))},
    coords={"city": ["Zürich", "Bern"], "year": [2020, 2021, 2022]},
)


@needing("xlsx", "csv")
def test_an_edit_has_its_labels_and_its_cells(tmp_path):
    edited = CITIES.copy(deep=True)
    edited["temperature"][0, 1] = 99.5
    sa.write(tmp_path / "a.xlsx", CITIES)
    sa.write(tmp_path / "b.csv", edited)
    changes = sa.diff(tmp_path / "a.xlsx", tmp_path / "b.csv")
    (edit,) = changes.edited
    assert edit.labels == {"city": "Zürich", "year": "2021"}
    sheet, _, cell = edit.cell_before.partition("!")
    assert openpyxl.load_workbook(tmp_path / "a.xlsx")[sheet][cell].value == 1.0
    assert f"temperature[0, 1] (Zürich, 2021), cell {edit.cell_after}: 1.0 -> 99.5" in repr(changes)
    assert "(Zürich, 2021)" in run_command("diff", tmp_path / "a.xlsx", tmp_path / "b.csv").stdout


def test_rows_belong_together_by_coordinates():
    other = CITIES.isel(city=[1, 0]).copy(deep=True)
    other["temperature"][:] = other["temperature"] * -7 + 0.5  # nothing of their content is left
    changes = sa.diff(CITIES, other)
    assert [(one.arrays, one.moved, one.sorted_by) for one in changes.rows] == [
        (["temperature", "city"], [0, 1], "city")
    ]
    assert {(edit.index, edit.index_before) for edit in changes.edited} == {
        ((row, column), (1 - row, column)) for row in range(2) for column in range(3)
    }


def test_rows_of_frames_belong_together_by_index():
    before = pd.DataFrame({"v": [1.0, 2, 3, 4], "w": [1, 2, 3, 4]}, index=pd.Index(list("abcd"), name="site"))
    after = before.loc[["d", "a", "b"]].copy()
    after.loc["b", "w"] = 20
    changes = sa.diff(before, after)
    (rows,) = changes.rows
    assert (rows.added, rows.deleted, rows.moved) == ([], [2], [0, 1, 2])
    assert [(e.index, e.labels, e.before, e.after) for e in changes.edited] == [((2,), {"site": "b"}, 2, 20)]


@pytest.mark.parametrize(("edits", "lines", "last"), [(18, 20, "->"), (19, 21, "->"), (20, 21, "and 2 more lines")])
def test_a_repr_has_one_line_and_at_most_twenty(edits, lines, last):
    before, after = np.zeros(100), np.zeros(100)
    after[:edits] = np.arange(1, edits + 1) ** 2 + 0.5
    shown = repr(sa.diff({"t": before}, {"t": after})).split("\n")
    assert len(shown) == lines
    assert last in shown[-1]
    assert shown[2].startswith(f"  t[{edits - 1}]")  # the largest first


def test_a_notebook_shows_texts_as_texts():
    evil = "<img src=x onerror=alert(1)>"
    page = sa.diff(
        {evil: np.array(["<b>", "a"], object)}, {evil: np.array(["</pre>\x1b[2J", "a"], object)}
    )._repr_html_()
    assert "<img" not in page
    assert page.count("<pre") == page.count("</pre>") == 1
    assert "\x1b" not in page


def test_what_cannot_be_asked_is_refused():
    arrays = {"id": np.array([1, 1]), "t": np.array([1.0, 2.0])}
    with pytest.raises(sa.FormatError, match="rows 0 and 1 have the same 'id'"):
        sa.diff(arrays, arrays, key="id")
    with pytest.raises(sa.FormatError, match="one dimension"):
        sa.diff({"id": GRID}, {"id": GRID}, key="id")
    with pytest.raises(sa.NotFoundError, match="'day'"):
        sa.diff(arrays, arrays, key="day")
    with pytest.raises(ValueError, match="rtol"):
        sa.diff(arrays, arrays, rtol=-1)
    with pytest.raises(TypeError, match="bogus"):
        sa.diff(arrays, arrays, bogus=1)
    with pytest.raises(FileNotFoundError):
        sa.diff(arrays, Path("absent.csv"))


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json", None])
@pytest.mark.parametrize("turned", [False, True])
def test_arrays_without_rows_got_rows_or_lost_them(suffix, turned, tmp_path):
    empty = {"t": np.zeros(0), "s": np.array([], "U2"), "g": np.zeros((0, 2))}
    filled = {"t": np.array([1.5, 2.5]), "s": np.array(["a", "b"]), "g": np.ones((2, 2))}
    sides: list[Any] = [filled, empty] if turned else [empty, filled]
    if suffix is not None:
        for number, arrays in enumerate(sides):
            sa.write(path := tmp_path / f"{number}.{suffix}", arrays)
            sides[number] = path
    changes = sa.diff(*sides)
    assert {name for rows in changes.rows for name in rows.arrays} == {"t", "s", "g"}
    assert all([rows.added, rows.deleted][turned] == [0, 1] for rows in changes.rows)
    assert "another shape" not in repr(changes)
    assert not changes.edited


def test_very_many_arrays_take_time_in_proportion():
    def take(count: int) -> float:
        arrays = {f"v{number}": np.zeros(2) for number in range(count)}
        times = []
        for _ in range(3):
            start = time.process_time()
            assert not sa.diff(arrays, dict(arrays))
            times.append(time.process_time() - start)
        return min(times)

    assert take(16_000) < 24 * take(2_000)
