"""Pages, and `sheetarray show`, of ordinary tables: their columns, where they stand, and what is doubtful."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest
from browser import PageReader
from command_line import run_command

import sheetarray as sa

TABLE = "# checked\nid;price;name;day\n1;2,5;Ann;2024-01-01\n2;3,5;Bob;2024-01-02\n\n3;4,5;Cyd;2024-01-03\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_a_page_shows_the_columns_of_a_table_with_their_cells(table: Path) -> None:
    page = PageReader(sa.page(table, comment="#").html)
    assert [entry["name"] for entry in page.manifest["entries"]] == ["id", "price", "name", "day"]
    entry = page.entry("price")
    assert page.elements(entry) == [2.5, 3.5, 4.5]
    assert entry["location"] == "B3"
    assert [(run["row"], run["column"], run["first"]) for run in entry["cells"]["runs"]] == [(2, 1, 0), (5, 1, 2)]
    page = PageReader(sa.page(table, names=["price"], comment="#").html)
    assert [entry["name"] for entry in page.manifest["entries"]] == ["price"]


def test_a_page_of_two_tables_shows_their_difference(table: Path, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "price"], [1, 2.5], [2, 9.5], [3, 4.5]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    page = PageReader(sa.page(table, tmp_path / "t.xlsx").html)
    names = [(entry["name"], entry.get("location")) for entry in page.manifest["entries"]]
    assert ("price", "B3") in names
    assert ("price", "Sheet!B2") in names


def test_what_is_doubtful_is_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Prices,\n,\nname,b\nx,2\ny,4\nz,6\nx,8\n")
    page = PageReader(sa.page(path).html)
    assert any("above" in finding["message"] for finding in page.manifest["findings"])


def test_the_command_shows_a_column(table: Path) -> None:
    result = run_command("show", str(table), "price", "--json")
    assert json.loads(result.stdout)["values"] == [2.5, 3.5, 4.5]
    result = run_command("show", str(table), "price", "--slice", "[1:]", "--json")
    assert json.loads(result.stdout)["values"] == [3.5, 4.5]
    assert run_command("show", str(table), "no").exit_code == 2
    assert run_command("page", str(table), "-o", str(table.with_suffix(".html"))).exit_code == 0
