"""`sa.merge` of ordinary tables: a model in plain Python, and what stays as it was in the base's file."""

from __future__ import annotations

import random
import re
import warnings
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from examples import ANEW
from openpyxl.worksheet.table import Table
from saved_tables import NAMES, Rows, make_row, save_table

import sheetarray as sa


def load(path: Path) -> Rows:
    columns = sa.read_columns(path)
    return {
        int(key): [float(price), int(count), str(name), day]
        for key, price, count, name, day in zip(*(columns[name] for name in NAMES), strict=True)
    }


@pytest.mark.parametrize("seed", range(300 if ANEW else 40))
def test_copies_are_merged_as_a_model_merges_them(seed, tmp_path):
    rng = random.Random(seed)
    base = {key: make_row(rng) for key in range(1, rng.randrange(5, 25))}
    copies, conflicts, added, deleted = [], set(), {}, {}
    changed: dict[tuple[int, int], list[Any]] = {}
    for number in range(rng.randrange(1, 5)):
        copy = {key: list(row) for key, row in base.items()}
        for _ in range(rng.randrange(4)):
            key, column = rng.choice([*base]), rng.randrange(4)
            copy[key][column] = make_row(rng)[column]
        for key in rng.sample([*base], rng.randrange(2)):
            del copy[key]
            deleted.setdefault(key, []).append(number)
        for _ in range(rng.randrange(3)):
            key = 1000 * (number + 1) + len(copy)
            copy[key] = added[key] = make_row(rng)
        for key, row in base.items():
            for column in range(4):
                if key in copy and copy[key][column] != row[column]:
                    changed.setdefault((key, column), []).append(copy[key][column])
        copies.append(copy)
    expected = {key: list(row) for key, row in base.items()}
    for (key, column), values in changed.items():
        if key in deleted or len({*values}) > 1:
            conflicts.add(key)
        else:
            expected[key][column] = values[0]
    for key in deleted:
        if not any(key == changed_key for changed_key, _ in changed):
            del expected[key]
    expected |= added
    written = [".csv", ".tsv", ".txt", ".xlsx"]
    suffixes = [rng.choice(written), *(rng.choice([*written, ".ods"]) for _ in copies)]
    sent = save_table(base, tmp_path / f"sent{suffixes[0]}")
    returned = [
        save_table(copy, tmp_path / f"copy{number}{suffix}")
        for number, (copy, suffix) in enumerate(zip(copies, suffixes[1:], strict=True))
    ]
    target = tmp_path / f"merged{suffixes[0]}"
    merged = sa.merge(sent, *returned, target=target, key="id")
    assert {int(one.labels["id"]) for one in merged.conflicts} == conflicts
    result = load(target)
    for key in conflicts:
        for column in range(4):
            if (key, column) not in changed:
                continue
            if key in deleted or len({*changed[key, column]}) > 1:
                expected[key][column] = base[key][column]
    assert result == expected


TEXT = 'sep=;\r\n"id";"price";name\r\n1;2,50;"apple"\r\n2;3,50;pear\r\n3;4,00;"a ""b"""\r\n'


def test_all_other_characters_of_a_text_stay(tmp_path):
    sent, copy, target = (tmp_path / name for name in ("sent.csv", "copy.csv", "merged.csv"))
    sent.write_bytes(TEXT.encode("cp1252"))
    copy.write_bytes(TEXT.replace("3,50", "9,75").replace("3;4,00", "3;4,0").encode("cp1252") + b"4;1;\xe4pfel\r\n")
    with pytest.warns(sa.SheetArrayWarning, match="cp1252"):
        merged = sa.merge(sent, copy, target=target, key="id")
    assert not merged.conflicts
    assert target.read_bytes().decode() == TEXT.replace("3,50", "9,75") + "4;1;äpfel\r\n"


def test_integers_stay_integers_and_one_that_became_a_fraction_is_taken(tmp_path):
    sent, copy, target = (tmp_path / name for name in ("sent.csv", "copy.csv", "merged.csv"))
    sent.write_text("id,t\n1,2\n2,3\n3,4\n")
    copy.write_text("id,t\n1,2\n2,3.5\n3,\n")
    sa.merge(sent, copy, target=target, key="id")
    assert target.read_text() == "id,t\n1,2\n2,3.5\n3,\n"


def merge_texts(folder: Path, sent: str, *copies: str, **options: Any) -> tuple[Any, str]:
    paths = [folder / "sent.csv", *(folder / f"copy{number}.csv" for number in range(len(copies)))]
    for path, text in zip(paths, (sent, *copies), strict=True):
        path.write_text(text)
    merged = sa.merge(*paths, target=folder / "merged.csv", **options)
    return merged, (folder / "merged.csv").read_text()


def test_columns_that_were_added_or_renamed_are_taken(tmp_path):
    sent = "id,t\n1,2.5\n2,3.5\n3,4.5\n"
    _, text = merge_texts(
        tmp_path, sent, "id,temp\n1,2.5\n2,3.5\n3,9.5\n", "id,t,u\n1,2.5,x\n2,3.5,\n3,4.5,z\n", key="id"
    )
    assert text == "id,temp,u\n1,2.5,x\n2,3.5,\n3,9.5,z\n"


def test_a_new_column_of_other_rows_is_left_out_with_a_warning(tmp_path):
    sent = "id,t\n1,2.5\n2,3.5\n3,4.5\n"
    with pytest.warns(sa.SheetArrayWarning, match="the new column 'u' is not merged"):
        _, text = merge_texts(tmp_path, sent, "id,t,u\n1,2.5,x\n3,4.5,z\n", key="id")
    assert text == "id,t\n1,2.5\n3,4.5\n"


def test_rows_that_were_inserted_stand_where_they_were_inserted(tmp_path):
    sent = "id,t\n1,2.5\n2,3.5\n3,4.5\n4,5.5"
    _, text = merge_texts(tmp_path, sent, "id,t\n1,2.5\n9,0.5\n2,3.5\n3,4.5\n4,5.5\n", sent + "\n5,6.5\n", key="id")
    assert text == "id,t\n1,2.5\n9,0.5\n2,3.5\n3,4.5\n4,5.5\n5,6.5"


def test_cells_are_spelled_as_those_of_their_column(tmp_path):
    sent = 'id,when,ok,note\n1,2024-01-02 10:00:00,yes,"x"\n2,2024-01-03 11:30:00,no,"y"\n'
    sent = sent.replace("yes", "TRUE").replace("no,", "FALSE,")
    copy = sent.replace("11:30:00,FALSE", "12:45:00,TRUE").replace('"y"', '"a, b"')
    _, text = merge_texts(tmp_path, sent, copy, key="id")
    assert text == copy


def test_formulas_of_a_workbook_stay(tmp_path):
    sent, copy, target = (tmp_path / name for name in ("sent.xlsx", "copy.csv", "merged.xlsx"))
    sa.write_table(sent, {"id": np.array([1, 2]), "t": np.array([2.5, 3.5]), "twice": np.array([5.0, 7.0])}, sheet="t")
    book = zipfile.ZipFile(sent)
    parts = {name: book.read(name) for name in book.namelist()}
    part = next(name for name in parts if "worksheets/sheet" in name and b"<v>7" in parts[name])
    parts[part] = parts[part].replace(b"<v>7", b"<f>B3*2</f><v>7")
    with zipfile.ZipFile(sent, "w") as changed:
        for name, content in parts.items():
            changed.writestr(name, content)
    copy.write_text("id,t,twice\n1,2.5,5\n2,4.5,9\n")
    with pytest.warns(sa.SheetArrayWarning, match="results of formulas in 'twice' are others"):
        sa.merge(sent, copy, target=target, key="id")
    assert openpyxl.load_workbook(target)["t"]["C3"].value == "=B3*2"
    assert openpyxl.load_workbook(target, data_only=True)["t"]["C3"].value == 9
    assert openpyxl.load_workbook(target)["t"]["B3"].value == 4.5


def test_the_range_of_an_excel_table_grows_and_shrinks(tmp_path):
    sent, copy, target = (tmp_path / name for name in ("sent.xlsx", "copy.csv", "merged.xlsx"))
    columns = {"id": np.array([1, 2, 3]), "t": np.array([2.5, 3.5, 4.5])}
    sa.write_table(sent, columns, sheet="t")
    for text, last in (("id,t\n1,2.5\n2,3.5\n3,4.5\n4,5.5\n", 5), ("id,t\n1,2.5\n2,3.5\n", 3)):
        copy.write_text(text)
        sa.merge(sent, copy, target=target, key="id")
        (table,) = openpyxl.load_workbook(target)["t"].tables.values()
        assert table.ref == f"A1:B{last}"
        assert len(sa.read_columns(target)["id"]) == last - 1


def test_cells_in_the_way_of_added_rows_are_an_error_that_changes_nothing(tmp_path):
    sent, copy, target = (tmp_path / name for name in ("sent.xlsx", "copy.xlsx", "merged.xlsx"))
    for path, count in ((sent, 3), (copy, 5)):
        book = openpyxl.Workbook()
        book.active.append(["id", "t"])
        for number in range(1, count + 1):
            book.active.append([number, number + 0.5])
        book.active.add_table(Table(displayName="T", ref=f"A1:B{count + 1}"))
        book.active[f"A{count + 3}"] = "made by hand"
        book.save(path)
    with pytest.raises(sa.LimitError, match="A6"):
        sa.merge(sent, copy, target=target, key="id", table="T")
    assert not target.exists()


def test_a_column_in_which_one_copy_has_text_and_another_a_row_more_is_compared_as_text(tmp_path):
    sent = "id,t\n1,2\n2,3\n3,4\n"
    copies = [sent.replace(",2\n", ",2 EUR\n").replace(",3\n", ",3 EUR\n").replace(",4\n", ",4 EUR\n"), sent + "4,6\n"]
    merged, text = merge_texts(tmp_path, sent, *copies, key="id")
    assert text == "id,t\n1,2 EUR\n2,3 EUR\n3,4 EUR\n4,6\n"
    assert not merged.conflicts


def test_dates_that_a_copy_spells_otherwise_become_its_texts(tmp_path):
    book = openpyxl.Workbook()
    for row in (["day", "v"], [datetime(2024, 5, 1), 1], [datetime(2024, 5, 2), 2]):
        book.active.append(row)
    book.save(tmp_path / "base.xlsx")
    (tmp_path / "copy.csv").write_text("day,v\n01.05.2024,1\n02.05.2024,3\n")
    sa.merge(tmp_path / "base.xlsx", tmp_path / "copy.csv", target=tmp_path / "merged.xlsx")
    rows = openpyxl.load_workbook(tmp_path / "merged.xlsx").active.values
    assert [*rows] == [("day", "v"), ("01.05.2024", 1), ("02.05.2024", 3)]


def test_a_column_that_a_copy_lacks_stays_and_its_new_rows_are_blank_there(tmp_path):
    sent = "id,t,u\n1,2,x\n2,3,\n"
    merged, text = merge_texts(tmp_path, sent, "id,t\n1,2\n2,4\n3,9\n", key="id")
    assert text == "id,t,u\n1,2,x\n2,4,\n3,9,\n"
    assert merged.files[0].absent == ["u"]
    assert not merged.unreadable
    _, text = merge_texts(tmp_path, sent, "id,u\n1,x\n2,z\n3,y\n", "id,t,u\n1,2,x\n2,5,\n", key="id")
    assert text == "id,t,u\n1,2,x\n2,5,z\n3,,y\n"


def test_a_key_with_a_blank_or_without_a_column_is_refused(tmp_path):
    sent = "id,t\n1,2\n2,3\n3,5\n"
    with pytest.raises(sa.FormatError, match="identifies no row") as raised:
        merge_texts(tmp_path, sent, "id,t\n1,2\n,7\n3,5\n", key="id")
    assert raised.value.location == "A3"
    with pytest.raises(sa.NotFoundError, match=r"copy0\.csv: no array 'id'"):
        merge_texts(tmp_path, sent, "t\n1\n", key="id")
    with pytest.raises(sa.FormatError, match="identifies no row"):
        sa.diff(
            {"id": np.array([1.0, np.nan]), "t": np.arange(2)},
            {"id": np.array([1.0, 2.0]), "t": np.arange(2)},
            key="id",
        )


def test_a_character_that_the_encoding_of_the_base_lacks_is_refused_and_nothing_is_written(tmp_path):
    (tmp_path / "sent.csv").write_bytes("id,t\n1,\xe9\n2,b\n".encode("cp1252"))
    (tmp_path / "copy.csv").write_text("id,t\n1,\xe9\n2,Ω\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        with pytest.raises(sa.DTypeError, match="has no 'Ω'"):
            sa.merge(tmp_path / "sent.csv", tmp_path / "copy.csv", target=tmp_path / "merged.csv", key="id")
    assert not (tmp_path / "merged.csv").exists()


def test_ten_copies_of_a_workbook_with_charts_are_merged_and_all_else_stays(tmp_path, sheets_server):
    sent, target, client = tmp_path / "sent.xlsx", tmp_path / "merged.xlsx", sheets_server.client()
    days = [np.datetime64("2024-01-01") + np.timedelta64(number, "D") for number in range(40)]
    table: Rows = {key: [key / 8, key, f"name {key}", days[key]] for key in range(1, 31)}
    with xlsxwriter.Workbook(sent) as book:
        bold, date, money = (
            book.add_format(look) for look in ({"bold": 1}, {"num_format": "d mmm yy"}, {"num_format": 7})
        )
        sheet = book.add_worksheet("prices")
        sheet.write_row(0, 0, NAMES, bold)
        for row, (key, (price, count, name, day)) in enumerate(table.items(), 1):
            sheet.write_number(row, 0, key)
            sheet.write_number(row, 1, price, money)
            sheet.write_number(row, 2, count)
            sheet.write_string(row, 3, name)
            sheet.write_datetime(row, 4, day.item(), date)
        sheet.conditional_format("B2:B31", {"type": "3_color_scale"})
        sheet.data_validation("C2:C31", {"validate": "integer", "criteria": ">=", "value": 0})
        sheet.freeze_panes(1, 1)
        sheet.autofilter("A1:E31")
        chart = book.add_chart({"type": "line"})
        chart.add_series({"categories": "=prices!$A$2:$A$31", "values": "=prices!$B$2:$B$31"})
        sheet.insert_chart("H2", chart)
        notes = book.add_worksheet("notes")
        notes.write_formula("A1", "=SUM(prices!B2:B31)", None, 58.125)
        notes.write_comment("A1", "by hand")
    copies, expected = [], {key: list(row) for key, row in table.items()}
    for number, suffix in enumerate([".csv", ".xlsx", ".ods", ".tsv", ".txt", ".xlsx", ".ods", ".csv", ".xlsx"]):
        copy = {key: list(row) for key, row in table.items()}
        copy[3 * number + 1][number % 2] = expected[3 * number + 1][number % 2] = 1000 + number
        copies.append(save_table(copy, tmp_path / f"copy{number}{suffix}"))
    url = f"gsheets://{sheets_server.create()}"
    online = {key: list(row) for key, row in table.items()}
    online[30][2] = expected[30][2] = "of Google"
    rows = [[key, *row[:3], str(row[3])] for key, row in online.items()]
    client.open_by_url(url.replace("gsheets://", "https://docs.google.com/spreadsheets/d/")).sheet1.update(
        [NAMES, *rows]
    )
    merged = sa.merge(sent, *copies, url, target=target, key="id", client=client)
    assert not merged.conflicts
    assert load(target) == expected
    with zipfile.ZipFile(sent) as before, zipfile.ZipFile(target) as after:
        assert before.namelist() == after.namelist()
        differing = [name for name in before.namelist() if before.read(name) != after.read(name)]
        assert differing == ["xl/worksheets/sheet1.xml"]
        old, new = (
            re.findall("<c [^>]*?(?:/>|>.*?</c>)", book.read(differing[0]).decode()) for book in (before, after)
        )
        outside = [re.sub("<c [^>]*?(?:/>|>.*?</c>)", "", book.read(differing[0]).decode()) for book in (before, after)]
    assert sum(one != other for one, other in zip(old, new, strict=True)) == 10
    assert outside[0].split("<sheetData>")[0] == outside[1].split("<sheetData>")[0]
    assert outside[0].split("</sheetData>")[1] == outside[1].split("</sheetData>")[1]


@pytest.mark.parametrize("typed", [None, "n/a", 300, 1.5])
@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_what_a_recorded_dtype_does_not_take_is_listed_and_the_base_stands(
    tmp_path: Path, suffix: str, typed: Any
) -> None:
    base, ann, target = tmp_path / "base.xlsx", tmp_path / f"ann.{suffix}", tmp_path / "m.xlsx"
    arrays = {"id": np.array(["a", "b", "c"]), "n": np.array([1, 2, 3], np.int8), "ok": np.array([True, False, True])}
    sa.write_table(base, arrays)
    sa.write_table(ann, arrays)
    if suffix == "xlsx":
        book = openpyxl.load_workbook(ann)
        book.worksheets[0]["B3"] = typed
        book.save(ann)
    else:
        ann.write_text(ann.read_text().replace("b,2,", f"b,{'' if typed is None else typed},"))
    merged = sa.merge(base, ann, target=target, key="id")
    assert [(entry.array, entry.index) for entry in merged.unreadable] == [("n", (1,))]
    assert sa.read(target, "n").tolist() == [1, 2, 3]
    assert [*sa.check(target)] == []


def test_a_blank_that_the_base_holds_in_whole_numbers_stays_and_the_others_are_merged(tmp_path: Path) -> None:
    base, ann = tmp_path / "base.xlsx", tmp_path / "ann.xlsx"
    sa.write_table(base, {"id": np.array(["a", "b", "c"]), "n": np.array([1, 2, 3])})
    for path, cells in ((base, {"B3": None}), (ann, {"B3": None, "B4": 30})):
        book = openpyxl.load_workbook(base)
        for cell, value in cells.items():
            book.worksheets[0][cell] = value
        book.save(path)
    merged = sa.merge(base, ann, target=tmp_path / "m.xlsx", key="id")
    assert not merged.unreadable
    sheet = openpyxl.load_workbook(tmp_path / "m.xlsx").worksheets[0]
    assert [cell.value for cell in sheet["B"]] == ["n", 1, None, 30]
