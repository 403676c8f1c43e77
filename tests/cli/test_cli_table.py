"""`sheetarray table` and `sheetarray export`: ordinary tables on the command line, in and out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from adapters_deleted import needing
from click.testing import Result
from command_line import run_command

import sheetarray as sa


def run(*words: object, **options: object) -> Result:
    return run_command("table", *words, **options)


def export(*words: object, **options: object) -> Result:
    return run_command("export", *words, **options)


@needing("csv")
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


def test_whole_floats_of_a_table_are_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write_table(tmp_path / "x.xlsx", {"x": np.array([1.0, 54.0, 1e15]), "y": np.arange(3, dtype="f4")})
    with pytest.warns(sa.SheetArrayWarning, match="'x' does not come back"):
        sa.write_table(tmp_path / "x.csv", {"x": np.array(["1", "2"])})
