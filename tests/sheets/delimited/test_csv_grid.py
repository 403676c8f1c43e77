"""`layout="grid"`: arrays as tables for people, slice by slice, which nothing reads again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from command_line import run_command

import sheetarray as sa
from sheetarray.testing.cases import dtype_cases, shape_cases

GRID = """\
temperature (degC),month = 2026-01-01T00:00:00
place \\ height,0.5,1.0,2.0
Basel,0.0,0.25,0.5
'=1+1,0.75,1.0,1.25

temperature (degC),month = 2026-02-01T00:00:00
place \\ height,0.5,1.0,2.0
Basel,1.5,1.75,2.0
'=1+1,2.25,2.5,2.75

place,wet
Basel,TRUE
'=1+1,FALSE

n,7

"""


def make_dataset() -> xr.Dataset:
    months = np.array(["2026-01-01", "2026-02-01"], "M8[s]")
    values = np.arange(12).reshape(2, 2, 3) / 4
    return xr.Dataset(
        {
            "temperature": (("month", "place", "height"), values, {"units": "degC"}),
            "wet": ("place", [True, False]),
            "n": ((), 7),
        },
        {"month": months, "place": ["Basel", "=1+1"], "height": [0.5, 1, 2]},
    )


def write_grid(arrays: Any, **options: Any) -> str:
    file = io.StringIO()
    sa.write(file, arrays, format="csv", layout="grid", **options)
    return file.getvalue()


def test_slices_stand_one_under_the_other_with_labels(tmp_path: Path) -> None:
    sa.write(tmp_path / "grid.csv", make_dataset(), layout="grid")
    assert (tmp_path / "grid.csv").read_bytes().decode().replace("\r\n", "\n") == GRID
    with pytest.raises(sa.FormatError):
        sa.read(tmp_path / "grid.csv")


def test_marks_and_quotes_are_those_of_any_csv() -> None:
    arrays = {"a;1": np.array([[1.5, -0.0], [np.nan, 2]]), "b": np.array(["x;y", 'q"'])}
    lines = write_grid(arrays, delimiter=";", decimal=",").splitlines()
    assert lines == ['"a;1"', '"a;1_0 \\ a;1_1";0;1', "0;1,5;-0,0", "1;NaN;2,0", "", "b_0;b", '0;"x;y"', '1;"q"""', ""]


def test_every_element_stands_once_in_the_grid() -> None:
    for name, array in {**dtype_cases(), **shape_cases()}.items():
        counts: list[int] = []
        text = write_grid({"t": array}, progress=lambda done, _, counts=counts: counts.append(done))
        assert counts[-1] == array.size, name
        assert len(text.splitlines()) >= array.size // max(array.shape[-1] if array.ndim > 1 else 1, 1), name


@pytest.mark.parametrize("options", [{"names": False}, {"orient": "rows"}, {"max_rows": 10}, {"layout": "sheet"}])
def test_options_that_no_grid_has_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="layout"):
        sa.write(tmp_path / "grid.csv", {"t": np.eye(2)}, **({"layout": "grid"} | options))
    assert not (tmp_path / "grid.csv").exists()


def test_convert_writes_a_grid(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.json", {"t": np.arange(4.0).reshape(2, 2)})
    command = ["convert", str(tmp_path / "a.json"), str(tmp_path / "a.csv"), "--write", "layout=grid"]
    done = run_command(*command)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.csv").read_text().split() == ["t", "t_0", "\\", "t_1,0,1", "0,0.0,1.0", "1,2.0,3.0"]
