"""Formulas of ordinary tables: those that nobody touched are no edits, and their results follow."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from examples import cross
from excel_packages import edit_part
from limits import set_limits
from programs import resave_all

import sheetarray as sa

Cells = dict[str, list[Any]]
PRICES = [0.25, 1.75, 3.25, 4.75]


def save(path: Path, *edits: tuple[str, Any], quantities: Sequence[int] = (1, 2, 3, 4)) -> Path:
    """Write a workbook as a spreadsheet program does, with results that are right before the edits of formulas."""
    values = dict(edits)
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Budget")
        sheet.write_row(0, 0, ["item", "qty", "price", "total"])
        for row, (quantity, price) in enumerate(zip(quantities, PRICES, strict=True), 1):
            number = values.get(f"B{row + 1}", quantity)
            sheet.write_row(row, 0, [f"i{row}", number, price])
            total = values.get(f"D{row + 1}", f"=B{row + 1}*C{row + 1}")
            if isinstance(total, str):
                sheet.write_formula(row, 3, total, None, number * price)
            else:
                sheet.write(row, 3, total)
        for address in ("A6", "B6", "C6", "D6"):
            if address in values:
                sheet.write(address, values[address])
        summary = book.add_worksheet("Sum")
        summary.write_row(0, 0, ["what", "value"])
        summary.write(1, 0, "all")
        result = sum(values.get(f"B{row}", q) * p for row, q, p in zip(range(2, 6), quantities, PRICES, strict=True))
        summary.write_formula(1, 1, "=SUM(Budget!D2:D5)", None, result)
    return path


def load(path: Path, *, results: bool = False) -> list[Any]:
    """Return the cells of the column of totals, and of the sum."""
    book = openpyxl.load_workbook(path, data_only=results)
    return [*(cell.value for cell in book["Budget"]["D"][1:]), book["Sum"]["B2"].value]


def test_diff_tells_formulas_that_changed_and_counts_other_results(tmp_path: Path) -> None:
    before = save(tmp_path / "a.xlsx")
    changes = sa.diff(before, save(tmp_path / "b.xlsx", ("B3", 20)))
    assert [(edit.array, edit.after) for edit in changes.edited] == [("qty", 20)]
    assert changes.recalculated == {"total": 1, "value": 1}
    assert changes.unreadable == []
    assert "total, value recalculated" in repr(changes)
    assert "1 formula as before, with another result" in repr(changes)
    changes = sa.diff(before, save(tmp_path / "c.xlsx", ("D3", 3.5), ("D4", "=B4*C4*2")))
    assert [(edit.before, edit.after, edit.cell_after) for edit in changes.edited] == [
        ("=B3*C3", 3.5, "Budget!D3"),
        ("=B4*C4", "=B4*C4*2", "Budget!D4"),
    ]
    assert "total[2], cell Budget!D4: =B4*C4 -> =B4*C4*2" in repr(changes)


def test_a_program_that_drops_results_changes_nothing(tmp_path: Path) -> None:
    before, after = save(tmp_path / "a.xlsx"), tmp_path / "b.xlsx"
    openpyxl.load_workbook(before).save(after)
    assert load(after, results=True) == [None] * 5
    assert not sa.diff(before, after)
    assert not sa.diff(after, before)
    merged = sa.merge(before, after)
    assert not merged.conflicts
    assert merged.unreadable == []
    assert not merged.files[0].elements


def test_merge_tells_conflicts_of_formulas_and_not_of_results(tmp_path: Path) -> None:
    base, ann = save(tmp_path / "base.xlsx"), save(tmp_path / "ann.xlsx", ("B2", 10), ("D3", 3.5))
    ben = save(tmp_path / "ben.xlsx", ("B3", 20), ("D3", "=B3*C3*2"), ("D4", "=B4+C4"))
    merged = sa.merge(base, ann, ben, target=tmp_path / "m.xlsx")
    (conflict,) = merged.conflicts
    assert (conflict.array, conflict.base, [*conflict.values.values()]) == ("total", "=B3*C3", [3.5, "=B3*C3*2"])
    assert "conflict: base.xlsx =B3*C3, ann.xlsx 3.5, ben.xlsx =B3*C3*2" in repr(merged)
    assert [file.elements for file in merged.files] == [{"qty": 1, "total": 1}, {"qty": 1, "total": 2}]
    assert load(tmp_path / "m.xlsx") == ["=B2*C2", "=B3*C3", "=B4+C4", "=B5*C5", "=SUM(Budget!D2:D5)"]
    assert load(tmp_path / "m.xlsx", results=True)[:3] == [None, None, None]
    assert load(tmp_path / "m.xlsx", results=True)[3] == 19
    assert b'fullCalcOnLoad="1"' in zipfile.ZipFile(tmp_path / "m.xlsx").read("xl/workbook.xml")
    sa.merge(base, ann, ben, target=tmp_path / "m.xlsx", prefer=ann)
    assert load(tmp_path / "m.xlsx")[1] == 3.5
    sa.merge(base, ann, ben, target=tmp_path / "m.xlsx", prefer=ben)
    assert load(tmp_path / "m.xlsx")[1] == "=B3*C3*2"


def test_results_of_the_only_edited_copy_are_right(tmp_path: Path) -> None:
    base, ann = save(tmp_path / "base.xlsx"), save(tmp_path / "ann.xlsx", ("B3", 20))
    merged = sa.merge(base, ann, save(tmp_path / "ben.xlsx"), target=tmp_path / "m.xlsx")
    assert merged.arrays["total"].tolist() == [0.25, 35.0, 9.75, 19.0]
    assert load(tmp_path / "m.xlsx") == load(base)
    assert load(tmp_path / "m.xlsx", results=True) == load(ann, results=True)


def test_formulas_move_with_their_rows(tmp_path: Path) -> None:
    base = save(tmp_path / "base.xlsx")
    for name, rows in (("ann", [2]), ("ben", [])):
        book = openpyxl.load_workbook(base)
        sheet = book["Budget"]
        kept = [
            [cell.value for cell in row]
            for number, row in enumerate(sheet.iter_rows(min_row=2), 2)
            if number not in rows
        ]
        kept += [["new", 7, 2.0, "=B2*C2"]] if name == "ben" else []
        sheet.delete_rows(2, 10)
        for number, row in enumerate(kept, 2):
            sheet.append([*row[:3], f"=B{number}*C{number}"])
        book.save(tmp_path / f"{name}.xlsx")
    merged = sa.merge(base, tmp_path / "ann.xlsx", tmp_path / "ben.xlsx", target=tmp_path / "m.xlsx")
    assert not merged.conflicts
    assert not merged.files[0].elements
    assert merged.arrays["item"].tolist() == ["i2", "i3", "i4", "new"]
    assert load(tmp_path / "m.xlsx")[:4] == [f"=B{row}*C{row}" for row in range(2, 6)]


def test_formulas_that_a_program_left_behind_when_it_deleted_a_row_are_no_edits(tmp_path: Path) -> None:
    base, ann = save(tmp_path / "base.xlsx"), tmp_path / "ann.xlsx"
    book = openpyxl.load_workbook(base)
    book["Budget"].delete_rows(3)
    book.save(ann)
    assert load(ann)[1] == "=B4*C4"  # in row 3
    assert not sa.diff(base, ann).edited
    merged = sa.merge(base, ann, target=tmp_path / "m.xlsx")
    assert not merged.files[0].elements
    assert load(tmp_path / "m.xlsx")[:3] == ["=B2*C2", "=B3*C3", "=B4*C4"]


def test_cells_that_share_a_formula_keep_it_when_the_first_one_is_typed_over(tmp_path: Path) -> None:
    def share(xml: str) -> str:
        xml = xml.replace("<f>B2*C2</f>", '<f t="shared" ref="D2:D5" si="0">B2*C2</f>')
        return re.sub(r"<f>B\d\*C\d</f>", '<f t="shared" si="0"/>', xml)

    plain = save(tmp_path / "plain.xlsx")
    base = edit_part(save(tmp_path / "base.xlsx"), "xl/worksheets/sheet1.xml", share)
    assert not sa.diff(plain, base)
    ann = save(tmp_path / "ann.xlsx", ("D2", 99.0))
    assert not sa.merge(base, ann, target=tmp_path / "m.xlsx").conflicts
    assert load(tmp_path / "m.xlsx") == [99, "=B3*C3", "=B4*C4", "=B5*C5", "=SUM(Budget!D2:D5)"]


def test_a_copy_without_formulas_changes_none(tmp_path: Path) -> None:
    base, ann = save(tmp_path / "base.xlsx"), tmp_path / "ann.csv"
    sa.write_table(ann, sa.read_columns(save(tmp_path / "edited.xlsx", ("B3", 20))))
    with pytest.warns(
        sa.SheetArrayWarning, match="results of formulas in 'total' are others, .* those of the base stand"
    ):
        merged = sa.merge(base, ann, sheet="Budget", target=tmp_path / "m.xlsx")
    assert [file.elements for file in merged.files] == [{"qty": 1}]
    assert load(tmp_path / "m.xlsx") == load(base)
    ben = save(tmp_path / "ben.xlsx", ("B2", 10))
    with pytest.warns(sa.SheetArrayWarning, match="2 results of formulas are blank in the target"):
        sa.merge(base, save(tmp_path / "edited.xlsx", ("B3", 20)), ben, sheet="Budget", target=tmp_path / "m.csv")
    assert [line.rpartition(",")[2] for line in (tmp_path / "m.csv").read_text().split()] == [
        "total",
        "",
        "",
        "9.75",
        "19.0",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_formulas_of_libreoffice_are_the_same(tmp_path: Path, suffix: str) -> None:
    base, ann = save(tmp_path / "base.xlsx"), save(tmp_path / "ann.xlsx", ("B3", 20), ("D4", "=ROUND( b4*1.50,1 )"))
    saved, edited = resave_all([base, ann], suffix, tmp_path / "again")
    assert not sa.diff(base, saved)
    assert not sa.diff(ann, edited)
    merged = sa.merge(base, edited, saved, target=tmp_path / "m.xlsx")
    assert [file.elements for file in merged.files] == [{"qty": 1, "total": 1}, {}]


@pytest.mark.slow
def test_booleans_that_libreoffice_saved_are_no_formulas(tmp_path: Path) -> None:
    base, edited = tmp_path / "base.xlsx", tmp_path / "edited.xlsx"
    for path, truths in ((base, [True, False, True]), (edited, [True, True, True])):
        book = openpyxl.Workbook()
        for row in [["id", "ok"], *enumerate(truths)]:
            book.active.append(row)  # type: ignore[union-attr]  (a worksheet)
        book.save(path)
    saved, saved_edited = resave_all([base, edited], "xlsx", tmp_path / "again")
    assert b"TRUE()" in zipfile.ZipFile(saved).read("xl/worksheets/sheet1.xml")
    assert not sa.diff(base, saved)
    for one, other in ((base, saved_edited), (saved, edited)):
        merged = sa.merge(one, other, target=tmp_path / "m.xlsx")
        assert [file.elements for file in merged.files] == [{"ok": 1}]
        assert sa.read_columns(tmp_path / "m.xlsx")["ok"].tolist() == [True, True, True]
        assert b"FALSE()" not in zipfile.ZipFile(tmp_path / "m.xlsx").read("xl/worksheets/sheet1.xml")
    assert sa.append(saved, {"id": [3], "ok": [False]}) == {"id": 4, "ok": 4}
    assert sa.read_columns(saved)["ok"].tolist() == [True, False, True, False]


def write_rows(path: Path, rows: list[list[Any]], total: str | None, summary: str, title: str = "Budget") -> Path:
    """Write a table of items with a formula in each row, perhaps a row of totals in it, and a sheet that sums it up."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet(title)
        sheet.write_row(0, 0, ["item", "qty", "price", "total"])
        for number, row in enumerate(rows, 1):
            sheet.write_row(number, 0, row)
            sheet.write_formula(number, 3, f"=B{number + 1}*C{number + 1}", None, row[1] * row[2])
        if total is not None:
            sheet.write_row(len(rows) + 1, 0, ["all", sum(row[1] for row in rows), 1.0])
            sheet.write_formula(len(rows) + 1, 3, total, None, 1.5)
        other = book.add_worksheet("Sum")
        other.write_row(0, 0, ["what", "value"])
        other.write(1, 0, "all")
        other.write_formula(1, 1, summary, None, 7.5)
    return path


ROWS = [["a", 1, 0.25], ["b", 2, 1.75], ["c", 3, 3.25], ["d", 4, 4.75]]
NEW = ["x", 9, 2.5]
MOVED = {  # rows of a copy, its total if that is in the table, and its summary, as spreadsheet programs rewrite them
    "appended": ([*ROWS, NEW], "=SUM(D2:D6)", "=SUM(Budget!D2:D6)"),
    "first": ([NEW, *ROWS], "=SUM(D2:D6)", "=SUM(Budget!D2:D6)"),
    "shifted": ([NEW, *ROWS], "=SUM(D3:D6)", "=SUM(Budget!D3:D6)"),
    "inserted": ([*ROWS[:2], NEW, *ROWS[2:]], "=SUM(D2:D6)", "=SUM(Budget!D2:D6)"),
    "deleted": (ROWS[1:], "=SUM(D2:D4)", "=SUM(Budget!D2:D4)"),
    "last deleted": (ROWS[:3], "=SUM(D2:D4)", "=SUM(Budget!D2:D4)"),
    "several": ([ROWS[0], NEW, *ROWS[2:], ["y", 8, 2.25]], "=SUM(D2:D6)", "=SUM(Budget!D2:D6)"),
}


@pytest.mark.parametrize(("what", "has_total"), cross(MOVED, [False, True], "appended", "deleted"))
def test_ranges_that_follow_added_and_deleted_rows_are_no_edits(tmp_path: Path, what: str, has_total: bool) -> None:
    rows, total, summary = MOVED[what]
    base_total = "=SUM(D2:D5)" if has_total else None
    base = write_rows(tmp_path / "base.xlsx", ROWS, base_total, "=SUM(Budget!D2:D5)")
    ann = write_rows(tmp_path / "ann.xlsx", rows, total if has_total else None, summary)
    for key in ({}, {"key": "item"}):
        changes = sa.diff(base, ann, **key)
        assert changes.rows
        assert [edit for edit in changes.edited if edit.array in ("total", "value")] == []
        merged = sa.merge(base, ann, target=tmp_path / "m.xlsx", **key)
        assert not merged.conflicts
        assert not {"total", "value"} & {*merged.files[0].elements}
        assert load(tmp_path / "m.xlsx")[-1] == summary
        assert not sa.diff(ann, tmp_path / "m.xlsx", key="item").edited


def test_ranges_that_grew_in_two_copies_hold_the_rows_of_both(tmp_path: Path) -> None:
    base = write_rows(tmp_path / "base.xlsx", ROWS, "=SUM(D2:D5)", "=SUM(Budget!D2:D5)")
    copies = [
        write_rows(tmp_path / f"{name}.xlsx", [*ROWS, [name, 9, 2.5]], "=SUM(D2:D6)", "=SUM(Budget!D2:D6)")
        for name in ("ann", "ben")
    ]
    merged = sa.merge(base, *copies, target=tmp_path / "m.xlsx", key="item")
    assert not merged.conflicts
    assert load(tmp_path / "m.xlsx")[-2:] == ["=SUM(D2:D7)", "=SUM(Budget!D2:D7)"]
    ben = write_rows(tmp_path / "ben.xlsx", [*ROWS, NEW], "=SUM(D2:D6)", "=MAX(Budget!D2:D6)")
    changes = sa.diff(base, ben)
    assert [(edit.array, edit.after) for edit in changes.edited] == [("qty", 19), ("value", "=MAX(Budget!D2:D6)")]
    assert [*sa.merge(base, ben).files[0].elements] == ["qty", "value"]
    ben = write_rows(tmp_path / "ben.xlsx", ROWS, "=SUM(D2:D4)", "=SUM(Budget!D2:D5)")
    assert [edit.after for edit in sa.diff(base, ben).edited] == ["=SUM(D2:D4)"]  # no row explains it


def test_formulas_follow_a_sheet_that_was_renamed(tmp_path: Path) -> None:
    base = write_rows(tmp_path / "base.xlsx", ROWS, None, "=SUM(Budget!D2:D5)")
    ann = write_rows(tmp_path / "ann.xlsx", ROWS, None, "=SUM('My plan'!D2:D5)", title="My plan")
    assert not sa.diff(base, ann).edited
    with pytest.warns(sa.SheetArrayWarning, match="is called 'My plan' there, and keeps its title"):
        assert not sa.merge(base, ann, target=tmp_path / "m.xlsx").files[0].elements
    assert load(tmp_path / "m.xlsx")[-1] == "=SUM(Budget!D2:D5)"


def test_shares_of_a_total_follow_it_in_any_number(tmp_path: Path) -> None:
    paths = []
    for count in (2000, 2001):
        paths.append(tmp_path / f"{count}.xlsx")
        with xlsxwriter.Workbook(paths[-1]) as book:
            sheet = book.add_worksheet("s")
            sheet.write_row(0, 0, ["id", "n", "share"])
            for row in range(1, count + 1):
                sheet.write_row(row, 0, [f"i{row}", row * 3 % 7])
                sheet.write_formula(row, 2, f"=B{row + 1}/SUM(B$2:B${count + 1})", None, row)
    changes = sa.diff(*paths)
    assert [rows.added for rows in changes.rows] == [[2000]]
    assert not changes.edited
    assert not sa.merge(*paths).files[0].elements


@pytest.mark.parametrize(("length", "count", "are_compared"), [(8192, 2, True), (8193, 2, False), (30, 10, False)])
def test_formulas_that_are_too_long_or_many_are_compared_by_their_results(
    length: int, count: int, are_compared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if count > 2:
        set_limits(monkeypatch, formula_work=10 * (64 + length) - 1)
    paths = [tmp_path / "a.xlsx", tmp_path / "b.xlsx"]
    for path, digit in zip(paths, "12", strict=True):
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("s")
            sheet.write_row(0, 0, ["id", "n"])
            for row in range(1, count + 1):
                sheet.write_row(row, 0, [f"i{row}"])
                sheet.write_formula(row, 1, "=" + f"A{digit}+".ljust(length - 1, "1") + digit, None, row)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        changes = sa.diff(*paths)
    assert bool(changes.edited) == are_compared
    assert any("their results are compared" in str(each.message) for each in caught) != are_compared


COLUMNS = {"item": "AABB", "qty": [1, 2, 3, 4], "price": PRICES}


def write_columns(path: Path, names: str, formulas: dict[str, Any], total: str) -> Path:
    """Write a table with columns in any order, some of formulas for the row `@`, and a sheet that refers to them."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Budget")
        for column, name in enumerate(names.split()):
            sheet.write(0, column, name)
            for row in range(4):
                formula = formulas[name][row] if isinstance(formulas.get(name), list) else formulas.get(name)
                if formula is not None:
                    sheet.write_formula(row + 1, column, formula.replace("@", str(row + 2)), None, row * 1.5)
                else:
                    sheet.write(row + 1, column, COLUMNS.get(name, "pqrs")[row])
        other = book.add_worksheet("Sum")
        other.write_row(0, 0, ["what", "value"])
        other.write(1, 0, "all")
        other.write_formula(1, 1, total, None, 7.5)
    return path


TOTALS = "=B@*C@+SUM($B@:C@)"
SUM = "=SUM(Budget!D2:D5)+SUM(Budget!D:D)"
MOVED_COLUMNS = {  # the columns of a copy, its formulas, and its sum, as spreadsheet programs rewrite them
    "inserted": ("item qty note price total", "=B@*D@+SUM($B@:D@)", "=SUM(Budget!E2:E5)+SUM(Budget!E:E)"),
    "first": ("note item qty price total", "=C@*D@+SUM($C@:D@)", "=SUM(Budget!E2:E5)+SUM(Budget!E:E)"),
    "last": ("item qty price total note", TOTALS, SUM),
    "moved": ("total item qty price", "=C@*D@+SUM($C@:D@)", "=SUM(Budget!A2:A5)+SUM(Budget!A:A)"),
    "deleted": ("item qty total", "=B@*#REF!+SUM($B@:B@)", "=SUM(Budget!C2:C5)+SUM(Budget!C:C)"),
    "by a program that moves no formulas": ("item qty note price total", TOTALS, SUM),
}


@pytest.mark.parametrize("what", MOVED_COLUMNS)
def test_formulas_that_followed_columns_are_no_edits(tmp_path: Path, what: str) -> None:
    base = write_columns(tmp_path / "base.xlsx", "item qty price total", {"total": TOTALS}, SUM)
    names, formula, total = MOVED_COLUMNS[what]
    ann = write_columns(tmp_path / "ann.xlsx", names, {"total": formula}, total)
    assert not sa.diff(base, ann).edited
    ben = write_columns(tmp_path / "ben.xlsx", "item qty price total", {"total": [TOTALS] * 3 + ["=B5*9"]}, SUM)
    merged = sa.merge(base, ann, ben, target=tmp_path / "m.xlsx")
    assert not merged.conflicts
    assert [file.elements for file in merged.files] == [{}, {"total": 1}]
    assert load(tmp_path / "m.xlsx") == [*(TOTALS.replace("@", str(row)) for row in (2, 3, 4)), "=B5*9", SUM]


def test_formulas_of_and_beside_an_inserted_column_name_the_columns_of_the_target(tmp_path: Path) -> None:
    base = write_columns(tmp_path / "base.xlsx", "item qty price total", {"total": TOTALS}, SUM)
    followed = "=B@*D@+SUM($B@:D@)"
    formulas = {"twice": "=B@*2+$H$1", "total": [followed, "=C3+D3", followed, followed]}
    ann = write_columns(tmp_path / "ann.xlsx", "item qty twice price total", formulas, SUM.replace("D", "E"))
    (edit,) = sa.diff(base, ann).edited
    assert (edit.index, edit.before, edit.after, edit.cell_after) == ((1,), "=B3*C3+SUM($B3:C3)", "=C3+D3", "Budget!E3")
    merged = sa.merge(base, ann, target=tmp_path / "m.xlsx")
    assert merged.files[0].elements == {"total": 1}
    assert load(tmp_path / "m.xlsx")[1] == "=E3+C3"
    sheet = openpyxl.load_workbook(tmp_path / "m.xlsx")["Budget"]
    assert [sheet["E1"].value, sheet["E2"].value] == ["twice", "=B2*2+$G$1"]
