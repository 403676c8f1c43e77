"""`accept` and `restore` of one sheet of a workbook, and with options of reading; all other sheets stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from command_line import run_command
from limits import set_limits

import sheetarray as sa


def change(path: Path, edits: dict[tuple[str, Any], Any], appended: dict[str, tuple[Any, Any]] | None = None) -> None:
    """Type other values over cells, found by their sheets and values, and values below others; save by openpyxl."""
    book = openpyxl.load_workbook(path)
    for (title, value), new in edits.items():
        cell = next(cell for row in book[title].iter_rows() for cell in row if cell.value == value)
        cell.value = new
    for title, (value, new) in (appended or {}).items():
        cell = next(cell for row in book[title].iter_rows() for cell in row if cell.value == value)
        book[title].cell(cell.row + 1, cell.column).value = new
    book.save(path)


@pytest.fixture
def returned(tmp_path):
    """A workbook with arrays of one name in two sheets and with a table, in each of which somebody typed."""
    path = tmp_path / "returned.xlsx"
    sa.write(path, {"t": np.array([1.5, 2.5]), "u": np.array([1, 2])}, sheet="north", guard=True)
    sa.write(path, {"t": np.array([3.5, 4.5])}, sheet="south", mode="a", guard=True)
    table = {"k": np.array([3, 4]), "w": np.array([0.5, 1.0])}
    sa.write(path, table, sheet="table", layout="table", mode="a", guard=True)
    change(path, {("north", 2.5): 9.5, ("table", 4): 44}, {"south": (4.5, 7.5)})
    return path


def list_sheets(path: Path) -> set[str]:
    """Return the sheets in which `check` finds something."""
    return {str(finding).split("sheet ")[1].split(",")[0] for finding in sa.check(path)}


@pytest.mark.parametrize(("sheet", "title"), [("north", "north"), ("SOUTH", "south"), (2, "table")])
@pytest.mark.parametrize("in_place", [False, True])
def test_accept_of_a_sheet_leaves_the_findings_of_the_others(returned, tmp_path, sheet, title, in_place):
    target = returned if in_place else tmp_path / "accepted.xlsx"
    changes = sa.accept(returned, None if in_place else target, sheet=sheet)
    assert changes
    assert {change.array for change in changes.edited} <= {"t", "k"}
    assert list_sheets(target) == {"north", "south", "table"} - {title}
    rest = sa.accept(target)
    assert rest
    assert not list_sheets(target)


@pytest.mark.parametrize(
    ("sheet", "was", "now"), [("north", [1.5, 2.5], [1.5, 9.5]), ("south", [3.5, 4.5], [3.5, 4.5, 7.5])]
)
@pytest.mark.parametrize("in_place", [False, True])
def test_restore_of_a_sheet_leaves_what_was_typed_into_the_others(returned, tmp_path, sheet, was, now, in_place):
    target = returned if in_place else tmp_path / "restored.xlsx"
    assert sa.restore(returned, tmp_path / "edits.xlsx", sheet=sheet, keep_edits=True)[0] == "t"
    assert sa.read(tmp_path / "edits.xlsx", "t", sheet=sheet).tolist() == now
    assert sa.restore(returned, target, sheet=sheet)[0] == "t"
    assert sa.read(target, "t", sheet=sheet).tolist() == was
    assert list_sheets(target) == {"north", "south", "table"} - {sheet}


def test_a_table_alone_is_restored_into_another_workbook_and_never_over_the_other_sheets(returned, tmp_path):
    content = returned.read_bytes()
    with pytest.raises(sa.LimitError, match="name another target"):
        sa.restore(returned, returned, sheet="table")
    assert returned.read_bytes() == content
    assert sa.restore(returned, tmp_path / "table.xlsx", sheet="table") == ["k", "w"]
    assert sa.read(tmp_path / "table.xlsx", "k").tolist() == [3, 4]


def test_what_cannot_be_read_in_another_sheet_stops_neither(returned, tmp_path):
    change(returned, {("south", 3.5): "<oops>"})
    sa.accept(returned, tmp_path / "accepted.xlsx", sheet="north")
    assert sa.read(tmp_path / "accepted.xlsx", "t", sheet="north").tolist() == [1.5, 9.5]
    sa.restore(returned, tmp_path / "restored.xlsx", sheet="north")
    assert sa.read(tmp_path / "restored.xlsx", "t", sheet="north").tolist() == [1.5, 2.5]
    assert "<oops>" in "".join(map(str, sa.check(tmp_path / "restored.xlsx")))


def test_sheets_that_were_written_together_are_accepted_together(tmp_path, monkeypatch):
    set_limits(monkeypatch, worksheet_columns=2)
    path = tmp_path / "t.xlsx"
    sa.write(path, {f"a{number}": np.arange(3.0) + 100 * number + 0.25 for number in range(3)}, guard=True)
    change(path, {("arrays", 1.25): 1.5, ("arrays (2)", 201.25): 22.5})
    assert {edit.after for edit in sa.accept(path, sheet="arrays (2)").edited} == {1.5, 22.5}
    assert not list(sa.check(path))


def test_a_workbook_of_another_program_with_arrays_of_one_name(returned, tmp_path):
    book = openpyxl.load_workbook(returned)
    foreign = openpyxl.Workbook()
    foreign.remove(foreign.active)
    for title in ("north", "south"):
        sheet = foreign.create_sheet(title)
        for row in book[title].iter_rows():
            for cell in row:
                sheet.cell(cell.row, cell.column).value = cell.value
    foreign.save(path := tmp_path / "foreign.xlsx")
    with pytest.raises(sa.FormatError, match="two arrays have the name 't'"):
        sa.accept(path)
    assert sa.accept(path, sheet="south")
    assert sa.read(path, "t", sheet="south").tolist() == [3.5, 4.5, 7.5]


@pytest.mark.parametrize("verb", ["accept", "restore"])
def test_the_command_takes_the_sheet_and_other_options(returned, tmp_path, verb):
    out = ["-o", tmp_path / "out.xlsx"] if verb == "accept" else [tmp_path / "out.xlsx"]
    result = run_command(verb, returned, *out, "--read", "sheet=north")
    assert result.exit_code == 0, result.output
    assert list_sheets(tmp_path / "out.xlsx") == {"south", "table"}
    result = run_command(verb, returned, *out, "--read", "sheet=west")
    assert result.exit_code == 2
    assert "no sheet 'west'; there is 'north', 'south', 'table'" in result.output
    result = run_command(verb, returned, *out, "--read", "delimiter=;")
    assert result.exit_code == 2
    assert f"{verb} has no option 'delimiter' for" in result.output
    result = run_command(verb, returned, *out, "--read", "keep_edits=true")
    assert result.exit_code == 2
    assert f"{verb} has no option 'keep_edits' for" in result.output


@pytest.mark.parametrize("option", [{"sheets": "north"}, {"strict": True}, {"header": 1}])
def test_an_option_that_a_verb_does_not_have_is_named(returned, tmp_path, option):
    (name,) = option
    with pytest.raises(TypeError, match=f"accept has no option '{name}' for"):
        sa.accept(returned, **option)
    with pytest.raises(TypeError, match=f"restore has no option '{name}' for"):
        sa.restore(returned, tmp_path / "x.xlsx", **option)


@pytest.mark.parametrize("verb", ["accept", "restore"])
def test_missing_says_what_a_blank_means(tmp_path, verb):
    sa.write(path := tmp_path / "t.xlsx", {"t": np.array([1.5, 2.5, 3.5])}, guard=True)
    change(path, {("arrays", 2.5): None})
    if verb == "accept":
        with pytest.warns(sa.SheetArrayWarning, match="cannot be read"):
            sa.accept(path, tmp_path / "as.xlsx")
        result = run_command("accept", path, "-o", tmp_path / "out.xlsx", "--missing", "nan")
    else:
        result = run_command("restore", path, tmp_path / "out.xlsx", "--keep-edits", "--missing", "nan")
    assert result.exit_code == 0, result.output
    assert np.isnan(sa.read(tmp_path / "out.xlsx", "t", missing="nan")[1])


def test_a_csv_is_accepted_with_its_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    sa.write(path, {"t": np.array([1.5, 2.5])}, delimiter=";")
    path.write_text(path.read_text() + "3.5\n")
    assert run_command("accept", path, "--read", "delimiter=;").exit_code == 0
    assert sa.read(path, "t").tolist() == [1.5, 2.5, 3.5]
