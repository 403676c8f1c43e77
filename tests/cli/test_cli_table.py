"""`sheetarray table` and `sheetarray export`: ordinary tables on the command line, in and out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from adapters_deleted import WITHOUT_TABLES
from click.testing import Result
from command_line import run_command
from openpyxl.worksheet.table import Table

import sheetarray as sa

TEXT = "id;t;day;n\n007;1,5;2020-01-01;1\n008;;2020-01-02;2\n009;2,25;;3\n"


def run(*words: object, **options: object) -> Result:
    return run_command("table", *words, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text(TEXT)
    return tmp_path / "x.csv"


def test_a_table_is_shown_with_its_dtypes_and_first_rows(path: Path) -> None:
    shown = run(path, "--rows", 2)
    assert shown.exit_code == 0
    assert "4 columns, 3 rows" in shown.stdout
    for words in (
        ["id", "string", "3"],
        ["t", "float64", "2", "1"],
        ["day", "datetime64[D]", "2", "1"],
        ["007", "1.5", "2020-01-01", "1"],
        ["008", "2020-01-02", "2"],
    ):
        assert words in [line.split() for line in shown.stdout.splitlines()]
    assert "009" not in shown.stdout
    assert "1 more row" in shown.stdout


def test_a_table_as_json(path: Path) -> None:
    shown = json.loads(run(path, "--json", "--columns", "t,A").stdout)
    assert (shown["rows"], [column["name"] for column in shown["columns"]]) == (3, ["t", "id"])
    assert shown["columns"][0] == {"name": "t", "dtype": "float64", "missing": 1, "first": [1.5, "NaN", 2.25]}


def test_options_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("title\na|b\nm|s\n1.234,5|n/a\n#|\n2,5|7\nsum|8\n")
    words = [
        *("--skip-rows", "1", "--header", "2", "--delimiter", "|", "--decimal", ",", "--thousands", ".", "--comment"),
        *("#", "--skip-footer", "1"),
    ]
    words += ["--na-value", "n/a", "--json"]
    shown = json.loads(run(path, *words).stdout)
    assert [(column["name"], column["first"]) for column in shown["columns"]] == [
        ("a m", [1234.5, 2.5]),
        ("b s", ["NaN", 7.0]),
    ]
    shown = json.loads(run(path, "--skip-rows", "0,2,3,4,6", "--dtype", "string", "--json").stdout)
    assert [column["first"] for column in shown["columns"]] == [["2,5"], ["7"]]


def test_a_sheet_of_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("second").append(["a"])
    book["second"].append([1])
    book.save(tmp_path / "x.xlsx")
    shown = json.loads(run(tmp_path / "x.xlsx", "--sheet", "Second", "--json").stdout)
    assert shown["columns"] == [{"name": "a", "dtype": "int64", "missing": 0, "first": [1]}]


def test_a_pipe_is_a_table(path: Path) -> None:
    assert json.loads(run("-", "--from", "csv", "--json", input=TEXT).stdout)["rows"] == 3


@pytest.mark.parametrize(
    "words", [["--to", "json"], ["-o", "-", "--to", "json"], ["-o", "/dev/stdout", "--to", "json"]]
)
def test_the_arrays_of_a_table_go_to_a_pipe(path: Path, words: list[str]) -> None:
    shown = run(path, *words)
    assert (shown.exit_code, list(json.loads(shown.stdout))) == (0, ["id", "t", "day", "n"])
    assert "stdout: 4 arrays, 3 rows" in shown.stderr


def test_the_format_and_the_options_of_the_output_are_given(path: Path, tmp_path: Path) -> None:
    assert run(path, "-o", tmp_path / "out", "--to", "csv", "--write", "delimiter=;").exit_code == 0
    assert (tmp_path / "out").read_text().startswith("id;t;day;n")
    assert sa.read(tmp_path / "out", format="csv")["id"].tolist() == ["007", "008", "009"]


def test_what_cannot_be_is_said_in_two_lines(path: Path) -> None:
    for words, piece in (
        (["--skip-rows", "x"], "--skip-rows"),
        (["--sheet", "x"], "no option 'sheet'"),
        (["--columns", "z"], "no column 'z'"),
        (["--missing", "error"], "cell B3"),
        (["-o", "-"], "name its format with --to"),
        (["--to", "json", "--json"], "both write to standard output"),
        (["--write", "bom=true"], "-o names"),
        (["-o", "x.unknown"], "suffix"),
        (["--header", "-1"], "header"),
        (["--dtype", "float7"], "float7"),
    ):
        shown = run(path, *words)
        assert shown.exit_code == 2, words
        assert piece in shown.stderr
        assert len(shown.stderr.splitlines()) <= 2
    array = path.with_name("array.csv")
    sa.write(array, {"t": np.arange(3)})
    assert "sheetarray info" in run(array).stderr


def export(*words: object, **options: object) -> Result:
    return run_command("export", *words, **options)


def test_arrays_are_exported_as_a_table_that_table_reads(tmp_path: Path) -> None:
    source, target = tmp_path / "run.npz", tmp_path / "run.xlsx"
    sa.write(source, {"t": np.array([1 / 3, 2.5]), "id": np.array(["007", "x"]), "field": np.zeros((2, 2))})
    refused = export(source, target)
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[0].endswith(
        "field has the shape (2, 2), and a column of a table has one dimension"
    )
    assert refused.stderr.splitlines()[1].endswith("t, id")
    assert not target.exists()
    shown = json.loads(export(source, target, "id", "t", "--write", "sheet=results", "--json").stdout)
    assert (shown["rows"], [column["name"] for column in shown["columns"]]) == (2, ["id", "t"])
    book = openpyxl.load_workbook(target)
    assert book.sheetnames == ["results", "results guard"]
    assert [[cell.value for cell in row] for row in book["results"].iter_rows()] == [
        ["id", "t"],
        ["007", 1 / 3],
        ["x", 2.5],
    ]
    assert "2 columns, 2 rows" in run(target).stdout
    piped = export(source, "-", "t", "--to", "csv")
    assert piped.stdout_bytes == b"t\r\n0.3333333333333333\r\n2.5\r\n"
    assert piped.stderr.strip() == "stdout: a table of 1 column, 2 rows (comma-separated values)"


def test_an_export_says_what_is_lost_and_what_cannot_be(tmp_path: Path) -> None:
    source = tmp_path / "run.csv"
    sa.write(source, {"n": np.array(["a", None, "b"], object), "t": np.arange(4)})
    lost = export(source, tmp_path / "out.csv", "n")
    assert (lost.exit_code, "'n'" in lost.stderr, "a null" in lost.stderr) == (0, True, True)
    for words, piece in (
        ([source, tmp_path / "x.csv"], "n has 3 rows, and t has 4"),
        ([source, tmp_path / f"x{WITHOUT_TABLES}", "t"], "there is no write_table"),
        ([source, tmp_path / "x.csv", "t", "--write", "sheet=a"], "no option 'sheet'"),
        ([source, "-", "t", "--to", "csv", "--json"], "standard output"),
        ([tmp_path / "out.csv", tmp_path / "x.csv"], "sheetarray table"),
        ([source, tmp_path / "x.csv", "z"], "no array 'z'"),
    ):
        shown = export(*words)
        assert (shown.exit_code, len(shown.stderr.splitlines()) <= 2) == (2, True), words
        assert piece in shown.stderr, words
    assert not (tmp_path / "x.csv").exists()


def test_a_range_and_an_excel_table_are_read_by_their_names(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["title", None], ["id", "t"], ["007", 0.5], ["sum", 0.5]):
        book.active.append(row)
    book.active.add_table(Table(displayName="Sales", ref="A2:B4", totalsRowCount=1))
    book.save(tmp_path / "a.xlsx")
    for options in (["--table", "sales"], ["--range", "A2:B3"]):
        target = tmp_path / f"{options[0][2:]}.npz"
        done = run(tmp_path / "a.xlsx", *options, "-o", target)
        assert done.exit_code == 0, done.output
        assert sa.read(target)["id"].tolist() == ["007"]


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ("54.0\n3.25", ["54.0", "3.25"]),
        ("54.0\n55.0", ["54.0", "55.0"]),
        ("1e22\n5.0", ["1e+22", "5.0"]),
        ("1e22", ["1e+22"]),
        ("-0.0\n1.5", ["-0.0", "1.5"]),
        ("nan\n54.0", ["", "54.0"]),
        ("inf\n2.0", ["inf", "2.0"]),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_whole_floats_are_shown_with_a_digit_behind_the_point(
    numbers: str, shown: list[str], dtype: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"x\n{numbers}\n")
    output = run_command("table", path, "--dtype", dtype).output
    rows = [line.strip() for line in output.splitlines()]
    assert rows[-len(shown) :] == shown


def test_the_parts_of_complex_numbers_too(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.npy", np.array([1 + 2j, 3.5 + 4j]))
    assert "1.0+2.0j  3.5+4.0j" in run_command("show", tmp_path / "x.npy", "x").output
    sa.write(tmp_path / "x.npy", np.array([1e10 + 2j, 3.5 - 4j]))
    assert "1e+10+2.0j" in run_command("show", tmp_path / "x.npy", "x").output


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
