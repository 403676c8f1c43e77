"""`sa.diff` of ordinary tables: what became of cells, rows and columns, in any container."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import run_command
from examples import ANEW
from limits import set_limits
from saved_tables import NAMES, Rows, make_row, save_table

import sheetarray as sa


def change(rng: random.Random, table: Rows) -> Rows:
    """Return a table after some edits: typed, inserted, deleted, appended, sorted, in any order."""
    rows = [(key, list(row)) for key, row in table.items()]
    for _ in range(rng.randrange(5)):
        match rng.choice(["edit", "edit", "insert", "delete", "append", "sort", "shuffle"]):
            case "edit":
                column = rng.randrange(4)
                rng.choice(rows)[1][column] = make_row(rng)[column]
            case "insert" | "append" as how:
                at = len(rows) if how == "append" else rng.randrange(len(rows))
                rows.insert(at, (1000 + max(key for key, _ in rows), make_row(rng)))
            case "delete" if len(rows) > 3:
                del rows[rng.randrange(len(rows))]
            case "sort":
                rows.sort(key=lambda row: row[1][0])
            case "shuffle":
                rng.shuffle(rows)
    return dict(rows)


@pytest.mark.parametrize("seed", range(300 if ANEW else 40))
def test_a_key_finds_what_a_model_finds_in_any_two_containers(seed, tmp_path):
    rng = random.Random(seed)
    before = {key: make_row(rng) for key in range(1, rng.randrange(4, 20))}
    after = change(rng, before)
    suffixes = [rng.choice([".csv", ".tsv", ".txt", ".xlsx", ".ods"]) for _ in range(2)]
    paths = [
        save_table(table, tmp_path / f"{name}{suffix}")
        for table, name, suffix in zip((before, after), ("before", "after"), suffixes, strict=True)
    ]
    changes = sa.diff(*paths, key="id")
    expected = set()
    for key in before.keys() & after.keys():
        for letter, name, old, new in zip("BCDE", NAMES[1:], before[key], after[key], strict=True):
            if old != new:
                cells = [f"{letter}{2 + [*table].index(key)}" for table in (before, after)]
                expected.add((name, str(key), old, new, *cells))
    assert {
        (edit.array, edit.labels["id"], edit.before, edit.after, *(str(cell).split("!")[-1] for cell in cells))
        for edit in changes.edited
        for cells in [(edit.cell_before, edit.cell_after)]
    } == expected
    rows = changes.rows[0] if changes.rows else None
    assert [[*after][row] for row in (rows.added if rows else [])] == [key for key in after if key not in before]
    assert [[*before][row] for row in (rows.deleted if rows else [])] == [key for key in before if key not in after]
    assert not changes.unreadable
    assert not changes.arrays
    assert bool(changes) == ([*before.items()] != [*after.items()])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".xlsx", ".ods"])
def test_a_table_does_not_differ_from_itself_in_another_container(suffix, tmp_path):
    rng = random.Random(7)
    table = {key: make_row(rng) for key in range(50)}
    assert not sa.diff(save_table(table, tmp_path / "a.csv"), save_table(table, tmp_path / f"b{suffix}"))


def test_without_a_key_inserted_and_deleted_rows_are_found_by_content(tmp_path):
    rng = random.Random(3)
    before = {key: make_row(rng) for key in range(40)}
    after = {key: row for key, row in before.items() if key not in (5, 6)} | {99: make_row(rng)}
    changes = sa.diff(save_table(before, tmp_path / "a.csv"), save_table(after, tmp_path / "b.csv"))
    assert changes.rows[0].deleted == [5, 6]
    assert changes.rows[0].added == [38]
    assert not changes.edited


def diff_texts(before: str, after: str, **options: Any) -> Any:
    return sa.diff(io.StringIO(before), io.StringIO(after), format="csv", **options)


def test_the_first_table_decides_that_lost_zeros_are_an_edit():
    changes = diff_texts("id,n\n007,1\n008,2\n", "id,n\n7,1\n008,2\n")
    assert [(edit.array, edit.before, edit.after) for edit in changes.edited] == [("id", "007", "7")]


def test_a_cell_that_is_no_number_is_a_change_of_its_own_and_hides_no_other():
    changes = diff_texts("id,t\n1,2.5\n2,3.5\n3,4.5\n", "id,t\n1,2.5\n2,soon\n3,9.5\n", key="id")
    assert [(cell.array, cell.index, cell.cell, cell.side) for cell in changes.unreadable] == [
        ("t", (1,), "B3", "after")
    ]
    assert "soon" in changes.unreadable[0].text
    assert [(edit.index, edit.after) for edit in changes.edited] == [((2,), 9.5)]


def test_an_error_cell_is_a_change_and_the_same_error_in_both_is_none(tmp_path):
    paths = [tmp_path / "a.xlsx", tmp_path / "b.xlsx"]
    for path, first in zip(paths, (1.5, "#DIV/0!"), strict=True):
        book = openpyxl.Workbook()
        for row in (["t", "u"], [first, 1], ["#N/A", 2], [2.5, 3]):
            book.active.append(row)
        book.save(path)
    changes = sa.diff(*paths)
    assert [(cell.array, cell.index, cell.cell) for cell in changes.unreadable] == [("t", (0,), "Sheet!A2")]
    assert not sa.diff(paths[1], paths[1])


def test_a_column_that_became_text_is_compared_as_text():
    changes = diff_texts("a,b\nx,1.5\ny,2.5\n", "a,b\nx,1.5 EUR\ny,2.5 EUR\n")
    assert {(edit.before, edit.after) for edit in changes.edited} == {("1.5", "1.5 EUR"), ("2.5", "2.5 EUR")}
    assert not changes.unreadable


def test_numbers_are_compared_whatever_kinds_the_cells_look_like():
    assert not diff_texts("a,b\nx,1.5\ny,2.0\n", "b,a\n1.50,x\n2,y\n")
    changes = diff_texts("a,b\nx,1\ny,2\n", "a,b\nx,1\ny,2.5\n")
    assert [(edit.before, edit.after) for edit in changes.edited] == [(2, 2.5)]
    assert not changes.arrays
    (edit,) = diff_texts("a,b\nx,1\ny,2\n", "a,b\nx,1\ny,\n").edited
    assert edit.before == 2
    assert np.isnan(edit.after)


def test_integers_beyond_doubles_are_told_apart():
    changes = diff_texts("a,b\nx,9007199254740993\ny,1\n", "a,b\nx,9007199254740992\ny,1\n")
    assert [(edit.before, edit.after) for edit in changes.edited] == [(2**53 + 1, 2**53)]


def test_columns_that_were_added_deleted_or_renamed():
    changes = diff_texts("id,t,u\n1,5,x\n2,6,y\n", "id,temp,v\n1,5,0.5\n2,6,0.75\n")
    assert {(one.name, one.what, one.before) for one in changes.arrays} == {
        ("v", "added", None),
        ("u", "deleted", None),
        ("temp", "renamed", "t"),
    }


def test_a_table_against_a_frame_in_memory_and_against_arrays_of_the_exchange_format(tmp_path):
    frame = pd.DataFrame({"id": [1, 2, 3], "name": ["Ann", "007", "Cyd"], "t": [0.5, 1.5, 2.5]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert not sa.diff(tmp_path / "t.csv", frame)
    assert not sa.diff(frame, tmp_path / "t.csv")
    sa.write(tmp_path / "t.xlsx", {name: column.to_numpy() for name, column in frame.items()})
    assert not sa.diff(tmp_path / "t.xlsx", tmp_path / "t.csv")
    frame.loc[1, "t"] = 9.0
    (edit,) = sa.diff(tmp_path / "t.csv", frame, key="id").edited
    assert (edit.array, edit.labels, edit.cell_before) == ("t", {"id": "2"}, "C3")


def test_rows_above_and_comments_move_the_addresses():
    before = "a;b\n1;2,5\n# checked\n3;4,5\n"
    changes = diff_texts(before, "a;b\n1;2,5\n3;4,75\n", comment="#")
    assert [(edit.cell_before, edit.cell_after) for edit in changes.edited] == [("B4", "B3")]
    infos = sa.scan(io.StringIO(before), format="csv")
    assert infos["b"].location == "B2"


def test_what_is_doubtful_is_told_with_the_name_of_the_source(tmp_path):
    (tmp_path / "a.csv").write_text("Report,\n,\nname,b\nx,2\ny,4\nz,6\nx,8\n")
    (tmp_path / "b.csv").write_text("name,b\nx,2\ny,5\nz,6\nx,8\n")
    with pytest.warns(sa.SheetArrayWarning, match=r"a\.csv, .*skip_rows="):
        changes = sa.diff(tmp_path / "a.csv", tmp_path / "b.csv")
    assert [(edit.cell_before, edit.cell_after) for edit in changes.edited] == [("B5", "B3")]


def test_sheets_of_a_workbook_are_chosen(tmp_path):
    path = tmp_path / "two.xlsx"
    book = openpyxl.Workbook()
    for title, last in (("north", 2), ("south", 3)):
        sheet = book.create_sheet(title)
        for row in (["a", "b"], [1, 1.5], [2, last]):
            sheet.append(row)
    del book["Sheet"]
    book.save(path)
    (tmp_path / "south.csv").write_text("a,b\n1,1.5\n2,3\n")
    with pytest.warns(sa.SheetArrayWarning, match="sheet 'south' is not compared"):
        assert sa.diff(path, tmp_path / "south.csv")
    assert not sa.diff(path, tmp_path / "south.csv", sheet="south")
    assert not sa.diff(path, tmp_path / "south.csv", sheet=1)


def test_a_key_that_is_none_is_refused_with_its_cell():
    with pytest.raises(sa.FormatError, match="so it is no key") as raised:
        diff_texts("id,t\n1,2\n2,3\n", "id,t\n1,2\n1,3\n", key="id")
    assert raised.value.location == "A3"
    with pytest.raises(sa.FormatError, match="tells no row apart") as raised:
        diff_texts("id,t\n1,2\n2,3\n3,4\n", "id,t\n1,2\nx,3\n3,4\n", key="id")
    assert raised.value.location == "A3"
    with pytest.raises(sa.NotFoundError):
        diff_texts("id,t\n1,2\n", "id,t\n1,2\n", key="no")


def test_an_option_that_no_table_has_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TypeError, match="headr"):
        sa.diff(tmp_path / "a.csv", tmp_path / "a.csv", headr=1)
    assert not sa.diff(tmp_path / "a.csv", tmp_path / "a.csv", header=0, delimiter=",")


def test_the_command_compares_tables(tmp_path):
    (tmp_path / "a.csv").write_text("id;t\n1;2,5\n2;3,5\n")
    (tmp_path / "b.csv").write_text("id;t\n2;3,75\n1;2,5\n")
    result = run_command("diff", "--key", "id", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    assert result.exit_code == 1
    assert "t[0] (2) (was [1]), cell B2: 3.5 -> 3.75" in result.stdout
    assert run_command("diff", str(tmp_path / "a.csv"), str(tmp_path / "a.csv")).exit_code == 0
    result = run_command("diff", "--read", "header=0", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    assert result.exit_code == 1
    assert run_command("diff", "--read", "headr=0", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")).exit_code == 2


def test_a_file_that_holds_nothing_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(sa.FormatError):
        sa.diff(tmp_path / "a.csv", tmp_path / "b.csv")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".ods"])
def test_a_worksheet_of_google_is_compared_with_a_file(suffix, tmp_path, sheets_server):
    rng, client = random.Random(suffix), sheets_server.client()
    before = {key: make_row(rng) for key in range(1, 12)}
    after = {key: list(row) for key, row in before.items()}
    after[3][0], after[5][2] = 1.25, "another"
    del after[9]
    url = f"gsheets://{sheets_server.create()}"
    rows = [[key, *row[:3], str(row[3])] for key, row in after.items()]
    client.open_by_url(url.replace("gsheets://", "https://docs.google.com/spreadsheets/d/")).sheet1.update(
        [NAMES, *rows]
    )
    changes = sa.diff(save_table(before, tmp_path / f"before{suffix}"), url, key="id", client=client)
    assert [(edit.array, edit.labels["id"], edit.after) for edit in changes.edited] == [
        ("price", "3", 1.25),
        ("name", "5", "another"),
    ]
    assert str(changes.edited[0].cell_after).endswith("B4")
    assert changes.rows[0].deleted == [8]
    assert not changes.arrays


def list_records(count: int) -> list[list[Any]]:
    """Return rows of a table: a number, a text, a price."""
    return [[number, f"n{number}", number * 1.5] for number in range(count)]


def save_records(rows: list[list[Any]], path: Any) -> Any:
    """Write a table of `list_records` to .csv, .xlsx or .ods as other programs do, and return its path."""
    frame = pd.DataFrame(rows, columns=["id", "name", "price"])
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_excel(path, index=False)
    return path


def insert(rows: list[list[Any]]) -> list[list[Any]]:
    return [*rows[:5], [77, "new", 3.25], *rows[5:]]


def delete(rows: list[list[Any]]) -> list[list[Any]]:
    return [*rows[:3], *rows[5:]]


def sort(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=lambda row: row[2])


def move_all(rows: list[list[Any]]) -> list[list[Any]]:
    return insert(delete(sort(rows)))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".ods"])
@pytest.mark.parametrize("move", [insert, delete, sort, move_all])
@pytest.mark.parametrize("count", [12, 900])
def test_rows_of_a_table_stay_together_where_all_of_them_were_edited(suffix, move, count, tmp_path):
    rows = list_records(count)
    rng = random.Random(count)
    edited = [[number, name, round(rng.random() * 1e6, 2)] for number, name, _ in rows]
    moved = move(edited)
    paths = [save_records(table, tmp_path / f"{name}{suffix}") for table, name in ((rows, "a"), (moved, "b"))]
    changes = sa.diff(*paths)
    assert len(changes.rows) == 1
    assert changes.rows[0].arrays == ["id", "name", "price"]
    assert changes.rows[0].added == [row for row, (number, *_) in enumerate(moved) if number == 77 and row == 5]
    assert [row[0] for row in rows if row[0] in changes.rows[0].deleted] == changes.rows[0].deleted
    assert {(edit.before, edit.after) for edit in changes.edited} <= {
        (rows[number][2], price) for number, _, price in moved if number < count
    }
    assert {edit.array for edit in changes.edited} == {"price"}


@pytest.mark.parametrize("is_frame", [False, True])
def test_a_recorded_table_and_a_frame_are_one_group_of_rows(is_frame, tmp_path):
    rows = list_records(12)
    other = insert([[number, name, price * price + 1] for number, name, price in rows])
    sides: list[Any] = [pd.DataFrame(table, columns=["id", "name", "price"]) for table in (rows, other)]
    if not is_frame:
        for number, frame in enumerate(sides):
            arrays = {name: np.array(frame[name].tolist()) for name in frame}
            sa.write(path := tmp_path / f"{number}.xlsx", arrays, layout="table")
            sides[number] = path
    changes = sa.diff(*sides)
    assert [(rows.arrays, rows.added) for rows in changes.rows] == [(["id", "name", "price"], [5])]
    assert len(changes.edited) == 12


def test_check_and_accept_tell_one_inserted_row_of_a_recorded_table_whose_prices_are_all_others(tmp_path):
    rows = list_records(12)
    frame = pd.DataFrame(rows, columns=["id", "name", "price"])
    arrays = {name: np.array(frame[name].tolist()) for name in frame}
    sa.write(path := tmp_path / "t.xlsx", arrays, layout="table")
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    other = insert([[number, name, price * price + 1] for number, name, price in rows])
    for row, cells in enumerate(other, 2):
        for column, cell in enumerate(cells, 1):
            sheet.cell(row, column).value = cell
    book.save(path)
    assert "row 5 inserted in 3 arrays" in str(next(iter(sa.check(path))))
    changes = sa.accept(path)
    assert [(rows.arrays, rows.added) for rows in changes.rows] == [(["id", "name", "price"], [5])]
    assert len(changes.edited) == 12
    assert not list(sa.check(path))


def test_a_column_of_another_kind_has_the_rows_of_its_table(tmp_path):
    rows = list_records(8)
    other = insert([[number, name, f"{price} EUR"] for number, name, price in rows])
    changes = sa.diff(save_records(rows, tmp_path / "a.xlsx"), save_records(other, tmp_path / "b.xlsx"))
    assert [(rows.arrays, rows.added) for rows in changes.rows] == [(["id", "name", "price"], [5])]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_table_without_rows_got_rows_or_lost_them(suffix, turned, tmp_path):
    tables = [list_records(count)[::-1] for count in (0, 3)][:: -1 if turned else 1]
    paths = [save_records(rows, tmp_path / f"{number}{suffix}") for number, rows in enumerate(tables)]
    changes = sa.diff(*paths)
    assert len(changes.rows) == 1
    assert [changes.rows[0].added, changes.rows[0].deleted] == [[0, 1, 2], []][:: -1 if turned else 1]
    assert not changes.edited


def test_every_number_of_two_columns_was_changed_alike_and_no_row_is_told_to_have_moved(tmp_path):
    before = pd.DataFrame({"x": [row % 3 for row in range(12)], "y": [row % 4 for row in range(12)]})
    before.to_csv(tmp_path / "a.csv", index=False)
    before.add([1, 2]).to_csv(tmp_path / "b.csv", index=False)
    changes = sa.diff(tmp_path / "a.csv", tmp_path / "b.csv")
    assert not changes.rows
    assert changes.explanations == {"x": "1 was added to every number", "y": "2 was added to every number"}


@pytest.mark.parametrize("margin", [-1, 0, 1])
def test_a_table_too_large_to_look_for_each_row_keeps_its_columns_together(margin, tmp_path, monkeypatch):
    rows = list_records(30)
    other = insert(rows)
    other[20] = [*other[20][:2], 0.125]
    elements = 3 * (len(rows) + len(other))
    set_limits(monkeypatch, aligned_elements=elements + margin)
    changes = sa.diff(save_records(rows, tmp_path / "a.csv"), save_records(other, tmp_path / "b.csv"))
    assert len(changes.rows) == 1
    assert changes.rows[0].arrays == ["id", "name", "price"]
    assert len(changes.rows[0].added) == 1
    if margin >= 0:
        assert changes.rows[0].added == [5]
        assert [(edit.array, edit.before, edit.after) for edit in changes.edited] == [("price", 28.5, 0.125)]
