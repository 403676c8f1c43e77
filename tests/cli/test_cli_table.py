"""`sheetarray table` and `sheetarray export`: ordinary tables on the command line, in and out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from click.testing import Result
from command_line import run_command

import sheetarray as sa

TEXT = "id;t;day;n\n007;1,5;2020-01-01;1\n008;;2020-01-02;2\n009;2,25;;3\n"


def run(*words: object, **options: object) -> Result:
    return run_command("table", *words, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text(TEXT)
    return tmp_path / "x.csv"


@pytest.mark.parametrize(
    "words", [["--to", "json"], ["-o", "-", "--to", "json"], ["-o", "/dev/stdout", "--to", "json"]]
)
def test_the_arrays_of_a_table_go_to_a_pipe(path: Path, words: list[str]) -> None:
    shown = run(path, *words)
    assert (shown.exit_code, list(json.loads(shown.stdout))) == (0, ["id", "t", "day", "n"])
    assert "stdout: 4 arrays, 3 rows" in shown.stderr


def export(*words: object, **options: object) -> Result:
    return run_command("export", *words, **options)


def test_arrays_are_exported_as_a_table_that_table_reads(tmp_path: Path) -> None:
    source, target = tmp_path / "run.npz", tmp_path / "run.xlsx"
    sa.write(source, {"t": np.array([1 / 3, 2.5]), "id": np.array(["007", "x"]), "field": np.zeros((2, 2))})
    shown = json.loads(export(source, target, "id", "t", "--write", "sheet=results", "--json").stdout)
    assert (shown["rows"], [column["name"] for column in shown["columns"]]) == (2, ["id", "t"])
    book = openpyxl.load_workbook(target)
    assert book.sheetnames == ["results", "results guard"]
    assert list(book["results"].values) == [("id", "t"), ("007", 1 / 3), ("x", 2.5)]
    assert "2 columns, 2 rows" in run(target).stdout
    assert export(source, "-", "t", "--to", "csv").stdout_bytes == b"t\r\n0.3333333333333333\r\n2.5\r\n"


def test_an_ordinary_table_is_exported_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("log of 2026\nday;site;t\n2026-01-01;007;1,5\n2026-01-02;008;\n")
    result = run_command("export", tmp_path / "log.csv", tmp_path / "log.xlsx", "--read", "skip_rows=1")
    assert result.exit_code == 0, result.output
    arrays = sa.read(tmp_path / "log.xlsx")
    assert [arrays["site"].tolist(), arrays["t"][0], str(arrays["day"].dtype)] == [["007", "008"], 1.5, "datetime64[D]"]
    assert run_command("export", tmp_path / "log.csv", tmp_path / "x.csv", "--read", "skip_row=1").exit_code == 2
    assert run_command("export", tmp_path / "log.csv", tmp_path / "x.csv", "--columns", "day").exit_code == 2


def test_labelled_arrays_are_exported_as_write_table_writes_them(tmp_path: Path) -> None:
    grid = make_grid()
    sa.write(tmp_path / "grid.csv", grid)
    for columns in (None, "city"):
        sa.write_table(tmp_path / "expected.csv", grid, columns=columns)
        more = [] if columns is None else ["--columns", columns]
        result = run_command("export", tmp_path / "grid.csv", tmp_path / "table.csv", *more)
        assert result.exit_code == 0, result.output
        assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    assert "a table of 3 columns, 3 rows" in result.output
    result = run_command("export", tmp_path / "grid.csv", tmp_path / "table.csv", "--columns", "planet")
    assert result.exit_code == 2
    assert "no dimension 'planet'; there is 'city', 'day'" in result.output


def make_grid() -> Any:
    import xarray as xr

    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]").astype("M8[s]")
    values = {"t": (("city", "day"), np.arange(6.0).reshape(2, 3) + 0.5)}
    return xr.Dataset(values, coords={"city": ["a", "b"], "day": days})


def test_whole_floats_of_a_table_are_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write_table(tmp_path / "x.xlsx", {"x": np.array([1.0, 54.0, 1e15]), "y": np.arange(3, dtype="f4")})
    with pytest.warns(sa.SheetArrayWarning, match="'x' does not come back"):
        sa.write_table(tmp_path / "x.csv", {"x": np.array(["1", "2"])})
