"""Ordinary tables in several sheets of a workbook: scan, check, diff and merge take all of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from limits import set_limits

import sheetarray as sa

Sheets = dict[str, list[list[Any]]]
BASE: Sheets = {
    "Budget": [["id", "qty", "name"], ["a", 3, "desk"], ["b", 6, "chair"], ["c", 4, "lamp"]],
    "Staff": [["name", "hours"], ["Anna", 38.5], ["Beat", 40.0], ["Chloé", 20.0]],
}


def save(path: Path, sheets: Sheets) -> Path:
    """Write a workbook as another program does."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def edit(sheets: Sheets, *edits: tuple[str, int, int, Any]) -> Sheets:
    """Return sheets with other values in some cells: title, row, column, value."""
    copy = {title: [[*row] for row in rows] for title, rows in sheets.items()}
    for title, row, column, value in edits:
        copy[title][row][column] = value
    return copy


def load(path: Path) -> Sheets:
    """Return the cells of each sheet."""
    book = openpyxl.load_workbook(path)
    return {sheet.title: [[cell.value for cell in row] for row in sheet.rows] for sheet in book.worksheets}


def test_scan_lists_the_columns_of_all_sheets(tmp_path: Path) -> None:
    infos = sa.scan(save(tmp_path / "t.xlsx", BASE))
    places = {name: info.location for name, info in infos.items()}
    assert places == {
        "id": "Budget!A2",
        "qty": "Budget!B2",
        "Budget!name": "Budget!C2",
        "Staff!name": "Staff!A2",
        "hours": "Staff!B2",
    }
    assert [*sa.scan(tmp_path / "t.xlsx", sheet="Staff")] == ["name", "hours"]


@pytest.mark.parametrize(("title", "edits"), [("Budget", [(2, 1, 7)]), ("Staff", [(3, 1, 21.0)])])
def test_diff_names_edits_of_each_sheet(title: str, edits: list[tuple[int, int, Any]], tmp_path: Path) -> None:
    before = save(tmp_path / "a.xlsx", BASE)
    after = save(tmp_path / "b.xlsx", edit(BASE, *((title, *each) for each in edits)))
    changes = sa.diff(before, after)
    ((row, column, value),) = edits
    (change,) = changes.edited
    assert (change.cell_after, change.after) == (f"{title}!{'ABC'[column]}{row + 1}", value)
    assert not sa.diff(before, before)


def test_a_name_of_several_sheets_is_one_in_both_files(tmp_path: Path) -> None:
    before = save(tmp_path / "a.xlsx", {"Budget": BASE["Budget"]})
    after = save(tmp_path / "b.xlsx", BASE)
    changes = sa.diff(before, after)
    assert [(change.name, change.what) for change in changes.arrays] == [("Staff!name", "added"), ("hours", "added")]
    assert not changes.edited


def test_a_key_tells_the_rows_of_each_sheet_that_has_it(tmp_path: Path) -> None:
    more = {**BASE, "Depot": [["id", "boxes"], ["x", 1], ["y", 2]]}
    now = {**edit(more, ("Staff", 2, 1, 41.0), ("Depot", 1, 1, 3))}
    rows = now["Budget"]
    now["Budget"], now["Depot"] = [rows[0], rows[3], rows[1], ["b", 9, "chair"]], [now["Depot"][0], ["y", 2], ["x", 3]]
    changes = sa.diff(save(tmp_path / "a.xlsx", more), save(tmp_path / "b.xlsx", now), key="id")
    assert [(change.cell_after, change.after, change.labels) for change in changes.edited] == [
        ("Budget!B4", 9, {"id": "b"}),
        ("Staff!B3", 41.0, {}),
        ("Depot!B3", 3, {"id": "x"}),
    ]
    with pytest.raises(sa.NotFoundError, match="no array 'nr'"):
        sa.diff(tmp_path / "a.xlsx", tmp_path / "b.xlsx", key="nr")


def test_a_sheet_with_another_title_is_compared_with_what_it_was(tmp_path: Path) -> None:
    now = edit(BASE, ("Staff", 2, 1, 41.0))
    before, after = (
        save(tmp_path / "a.xlsx", BASE),
        save(tmp_path / "b.xlsx", {"New": [["x"], [1]], "People": now["Staff"], "Budget": now["Budget"]}),
    )
    changes = sa.diff(before, after)
    assert [(change.array, change.cell_after) for change in changes.edited] == [("hours", "People!B3")]
    assert [change.name for change in changes.arrays] == ["x"]
    assert "the sheet 'Staff' is called 'People' now" in repr(changes)
    assert sa.diff(before, save(tmp_path / "c.xlsx", {"People": BASE["Staff"], "Budget": BASE["Budget"]}))


def test_beside_a_file_without_sheets_the_first_one_counts(tmp_path: Path) -> None:
    book, text = save(tmp_path / "a.xlsx", BASE), tmp_path / "b.csv"
    text.write_text("id,qty,name\na,3,desk\nb,6,chair\nc,5,lamp\n")
    with pytest.warns(sa.SheetArrayWarning, match=r"a.xlsx: sheet 'Staff' is not compared, as the other file has no"):
        assert [change.cell_after for change in sa.diff(book, text).edited] == ["B4"]
    with pytest.warns(sa.SheetArrayWarning, match=r"a.xlsx: sheet 'Staff' is not merged, as .*b.csv has no sheets"):
        assert sa.merge(text, book).files[0].elements == {"qty": 1}
    merged = sa.merge(book, text, target=tmp_path / "merged.xlsx")
    assert not merged.conflicts
    assert load(tmp_path / "merged.xlsx") == edit(BASE, ("Budget", 3, 1, 5))


def test_merge_takes_what_people_changed_in_any_sheet(tmp_path: Path) -> None:
    base = save(tmp_path / "base.xlsx", BASE)
    anna = save(tmp_path / "anna.xlsx", edit(BASE, ("Budget", 2, 1, 7), ("Staff", 2, 1, 42.0)))
    beat = save(tmp_path / "beat.xlsx", edit(BASE, ("Budget", 3, 2, "lamps"), ("Staff", 3, 0, "Chloe")))
    cara = edit(BASE, ("Staff", 2, 1, 41.0))
    cara["Staff"].append(["Dora", 30.0])
    merged = sa.merge(base, anna, beat, save(tmp_path / "cara.xlsx", cara), target=tmp_path / "merged.xlsx")
    (conflict,) = merged.conflicts
    assert (conflict.array, conflict.cells[str(anna)]) == ("hours", "Staff!B3")
    expected = edit(BASE, ("Budget", 2, 1, 7), ("Budget", 3, 2, "lamps"), ("Staff", 3, 0, "Chloe"))
    expected["Staff"].append(["Dora", 30.0])
    assert load(tmp_path / "merged.xlsx") == expected
    assert {"Budget!name", "Staff!name"} <= {*merged.arrays}


OTHER_SHEETS = {  # by what was done: the sheets of a copy in which Staff was edited, and what is told
    "renamed": (lambda now: {"Budget": now["Budget"], "People": now["Staff"]}, ["'Staff' is called 'People' there"]),
    "reordered": (lambda now: {"Staff": now["Staff"], "Budget": now["Budget"]}, []),
    "added": (lambda now: {"New": [["x"], [1]], **now}, ["the base has no sheet 'New'"]),
    "deleted": (lambda now: {"Staff": now["Staff"]}, ["no sheet 'Budget', and the base's stays as it is"]),
    "all": (
        lambda now: {"New": [["x"], [1]], "People": now["Staff"]},
        ["'Staff' is called 'People'", "no sheet 'Budget'", "the base has no sheet 'New'"],
    ),
}


@pytest.mark.parametrize("what", OTHER_SHEETS)
def test_merge_loses_no_edit_of_sheets_that_were_renamed_added_or_deleted(what: str, tmp_path: Path) -> None:
    change, told = OTHER_SHEETS[what]
    base = save(tmp_path / "base.xlsx", BASE)
    ann = save(tmp_path / "ann.xlsx", edit(BASE, ("Staff", 2, 1, 44.0), ("Budget", 1, 1, 30)))
    ben = save(tmp_path / "ben.xlsx", change(edit(BASE, ("Staff", 1, 1, 39.0))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        merged = sa.merge(base, ben, ann, target=tmp_path / "merged.xlsx")
    texts = [str(entry.message) for entry in caught]
    assert len(texts) == len(told)
    assert all(any(part in text for text in texts) for part in told)
    assert not merged.conflicts
    assert load(tmp_path / "merged.xlsx") == edit(
        BASE, ("Staff", 1, 1, 39.0), ("Staff", 2, 1, 44.0), ("Budget", 1, 1, 30)
    )


def test_a_sheet_that_a_copy_has_more_is_no_column_of_the_only_sheet(tmp_path: Path) -> None:
    one = {"Budget": BASE["Budget"]}
    base = save(tmp_path / "base.xlsx", one)
    more = save(tmp_path / "more.xlsx", {"Notes": [["note"], ["a"], ["b"], ["c"]], **edit(one, ("Budget", 1, 1, 30))})
    with pytest.warns(sa.SheetArrayWarning, match="the base has no sheet 'Notes'"):
        sa.merge(base, more, target=tmp_path / "merged.xlsx")
    assert load(tmp_path / "merged.xlsx") == edit(one, ("Budget", 1, 1, 30))
    text = tmp_path / "base.csv"
    text.write_text("id,qty,name\na,3,desk\nb,6,chair\nc,4,lamp\n")
    with pytest.warns(sa.SheetArrayWarning, match="'Notes' is not merged"):
        sa.merge(text, more, target=tmp_path / "merged.csv")
    assert (tmp_path / "merged.csv").read_text().splitlines()[1] == "a,30,desk"


def test_merge_uses_the_key_in_the_sheets_that_have_it(tmp_path: Path) -> None:
    base = save(tmp_path / "base.xlsx", BASE)
    rows = edit(BASE, ("Budget", 1, 1, 30))["Budget"]
    sorted_copy = save(tmp_path / "sorted.xlsx", {**BASE, "Budget": [rows[0], rows[3], rows[2], rows[1]]})
    staff = save(tmp_path / "staff.xlsx", edit(BASE, ("Staff", 1, 1, 39.0)))
    sa.merge(base, sorted_copy, staff, target=tmp_path / "merged.xlsx", key="id")
    assert load(tmp_path / "merged.xlsx") == edit(BASE, ("Budget", 1, 1, 30), ("Staff", 1, 1, 39.0))
    with pytest.raises(sa.NotFoundError, match="no array 'nr'"):
        sa.merge(base, staff, key="nr")


def test_merged_tables_of_several_sheets_need_a_target_with_sheets(tmp_path: Path) -> None:
    base = save(tmp_path / "base.xlsx", BASE)
    copy = save(tmp_path / "copy.xlsx", edit(BASE, ("Staff", 1, 1, 39.0)))
    with pytest.raises(sa.LimitError, match="has no sheets"):
        sa.merge(base, copy, target=tmp_path / "merged.csv")
    sa.merge(base, copy, target=tmp_path / "staff.csv", sheet="Staff")
    assert (tmp_path / "staff.csv").read_text().splitlines()[1] == "Anna,39.0"


def test_check_tells_of_each_sheet_and_of_formulas_without_a_value(tmp_path: Path) -> None:
    numbers = [["n", "m"], *([number, number] for number in range(20))]
    sheets = {"one": numbers, "two": edit({"two": numbers}, ("two", 5, 0, "n.n."))["two"]}
    path = save(tmp_path / "t.xlsx", sheets)
    assert [finding.location for finding in sa.check(path)] == ["two!A6"]
    sheets["one"][3] = ["=A2+1", 2]
    findings = {finding.location: finding for finding in sa.check(save(path, sheets))}
    assert [*findings] == ["one!A4", "two!A6"]
    assert (findings["one!A4"].severity, findings["one!A4"].message) == ("error", "n[2]: a formula without a value")
    for row in range(4, 9):
        sheets["one"][row] = [f"=A{row}+1", 2]
    findings = {finding.location: finding for finding in sa.check(save(path, sheets))}
    assert [*findings] == ["one!A4", "two!A6"]
    assert findings["one!A4"].message == "n[2] and 5 more cells of the column: a formula without a value"
    assert [*sa.scan(path)] == ["one!n", "one!m", "two!n", "two!m"]


@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_first_sheets_of_very_many_are_looked_at(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, sheets_of_tables=4)
    path = save(tmp_path / "t.xlsx", {f"s{number}": [[f"n{number}"], [1]] for number in range(count)})
    findings = [str(finding) for finding in sa.check(path)]
    told = "warning: only the first 4 of 5 sheets are looked at as tables (sheet= chooses another)"
    assert findings == [told] * (count > 4)
    assert len(sa.scan(path)) == min(count, 4)
    assert [*sa.read_columns(path, sheet=None)] == [f"s{number}" for number in range(count)]
    assert [*sa.scan(path, sheet=f"s{count - 1}")] == [f"n{count - 1}"]


@pytest.mark.parametrize("title", ["A far", "Z far"])  # before and behind the others
def test_a_sheet_that_is_no_table_is_told_and_hides_no_other(title: str, tmp_path: Path) -> None:
    paths = [tmp_path / "a.xlsx", tmp_path / "b.xlsx"]
    for path, sheets in zip(paths, (BASE, edit(BASE, ("Staff", 1, 1, 39.0))), strict=True):
        book = openpyxl.load_workbook(save(path, sheets))
        far = book.create_sheet(title, 0 if title < "B" else None)
        for number in range(1, 40):
            far.cell(1, number * 400, f"n{number}")
        far.cell(1_048_000, 16_000, 2)
        book.save(path)
    with pytest.warns(sa.SheetArrayWarning, match="is not read as a table: 40 cells, so far apart"):
        changes = sa.diff(*paths)
    assert [(change.cell_after, change.after) for change in changes.edited] == [("Staff!B2", 39.0)]
    assert len(sa.scan(paths[0])) == 5
    (finding,) = sa.check(paths[0])
    assert finding.severity == "warning"
    assert str(finding.location).startswith(title)
    with pytest.warns(sa.SheetArrayWarning, match="is not read as a table"):
        sa.merge(*paths, target=tmp_path / "merged.xlsx")
    assert sa.read_columns(tmp_path / "merged.xlsx", sheet="Staff")["hours"].tolist() == [39.0, 40.0, 20.0]


def test_cells_above_a_table_that_somebody_changed_are_told(tmp_path: Path) -> None:
    above = [["Orders 2026", None, None], ["draft", None, None], [None] * 3]
    sheets = {"Budget": [*above, *BASE["Budget"]], "Staff": BASE["Staff"]}
    base = save(tmp_path / "base.xlsx", sheets)
    ann = save(tmp_path / "ann.xlsx", edit(sheets, ("Budget", 1, 0, "final"), ("Budget", 4, 1, 30)))
    ben = edit(sheets, ("Staff", 1, 1, 39.0), ("Budget", 5, 0, "z"))
    ben["Budget"][4].append("please check")
    del ben["Budget"][6]
    with pytest.warns(sa.SheetArrayWarning) as caught:
        merged = sa.merge(base, ann, save(tmp_path / "ben.xlsx", ben))
    texts = [str(entry.message) for entry in caught]
    assert sum("rows 1 to 3 are above the table" in text for text in texts) == 1
    assert any("is not merged" in text and "Budget!D5 'please check'" in text for text in texts)
    assert [[(remark.cell, remark.text) for remark in file.remarks] for file in merged.files] == [
        [("Budget!A2", "final")],
        [],
    ]


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")  # on the rows above the table
def test_diff_tells_cells_above_a_table(tmp_path: Path) -> None:
    above = [["Orders 2026", None, None], ["draft", None, None], [None] * 3]
    sheets = {"Budget": [*above, *BASE["Budget"]], "Staff": BASE["Staff"]}
    base, ann = (
        save(tmp_path / "base.xlsx", sheets),
        save(tmp_path / "ann.xlsx", edit(sheets, ("Budget", 1, 0, "final"))),
    )
    changes = sa.diff(base, ann)
    assert [(remark.cell, remark.text) for remark in changes.remarks] == [("Budget!A2", "final")]
    assert "Budget!A2, beside the arrays: final" in repr(changes)
    assert changes.to_dict()["remarks"] == [{"cell": "Budget!A2", "text": "final"}]
    only_above = save(tmp_path / "only.xlsx", edit(sheets, ("Budget", 1, 0, None)))
    assert [(remark.cell, remark.text) for remark in sa.diff(base, only_above).remarks] == [("Budget!A2", "")]
    assert sa.diff(base, only_above)
    assert not sa.diff(base, base)


AROUND = [  # a suffix, options of tables, and the texts that are told
    ("xlsx", {}, ["Orders 2026"]),
    ("xlsx", {"skip_rows": 2, "skip_footer": 1}, ["Orders 2026", "Source: ERP"]),
    ("xlsx", {"range": "A3:B6"}, ["Orders 2026", "note", "Source: ERP"]),
    ("csv", {"skip_rows": 2, "skip_footer": 1}, ["Orders 2026", "Source: ERP"]),
]


@pytest.mark.parametrize(("suffix", "options", "texts"), AROUND)
@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")  # on the rows above the table
def test_diff_and_merge_tell_the_same_cells_around_a_table(
    tmp_path: Path, suffix: str, options: dict[str, Any], texts: list[str]
) -> None:
    rows = [["Orders", None], [None, None], *BASE["Staff"], ["Source: HR", None]]
    now = [["Orders 2026", None], [None, None], *BASE["Staff"], ["Source: ERP", None]]
    now[3] = [*now[3], "note"] if "range" in options else now[3]
    paths = [tmp_path / f"{name}.{suffix}" for name in ("base", "ann")]
    for path, cells in zip(paths, (rows, now), strict=True):
        if suffix == "xlsx":
            save(path, {"Staff": cells})
        else:
            path.write_text("".join(",".join(str(cell or "") for cell in row) + "\n" for row in cells))
    told = sa.diff(*paths, **options).remarks
    assert [remark.text for remark in told] == texts
    assert told == sa.merge(*paths, **options).files[0].remarks


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")  # on the rows above the table
def test_formulas_above_a_table_are_told_and_not_their_results(tmp_path: Path) -> None:
    base, same, other = (tmp_path / f"{name}.xlsx" for name in ("base", "same", "other"))
    for path, formula, result in ((base, "=SUM(B5:B7)", 3), (same, "=SUM(B5:B7)", 4), (other, "=MAX(B5:B7)", 3)):
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("s")
            sheet.write(0, 0, "Orders 2026")
            sheet.write_formula(1, 0, formula, None, result)
            for row, cells in enumerate(BASE["Budget"], 3):
                sheet.write_row(row, 0, cells)
    assert not sa.diff(base, same).remarks
    assert [(remark.cell, remark.text) for remark in sa.diff(base, other).remarks] == [("s!A2", "=MAX(B5:B7)")]
