"""What a write to Google Sheets does to a worksheet: whose cells it takes, which it leaves, and what it refuses."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from children import limited
from limits import get_limit, set_limits
from services import Book, meanwhile

import sheetarray as sa
from sheetarray import write_gsheet
from sheetarray.testing.cases import assert_same, objects
from sheets_emulator import Fault, SheetsServer

# Where things go ---------------------------------------------------------------------------------------------


def test_a_new_worksheet_is_just_as_large_as_its_arrays_with_bold_frozen_names(book: Book) -> None:
    book.write({"t": np.arange(30.0).reshape(5, 6), "s": np.array("x")})
    assert book.size() == (1 + 20 + 30, 2)
    assert book.cells()[0] == ["t", "s"]
    snapshot = next(s for s in book.server.snapshot(book.key).sheets if s.title == "arrays")
    assert not snapshot.hidden
    assert snapshot.grid_properties == {"frozenRowCount": 21, "rowGroupControlAfter": True}
    fields = "sheets.data.rowData.values.userEnteredFormat.textFormat.bold"
    result = book.client.http_client.spreadsheets_get(book.key, {"ranges": "arrays!A1:B2", "fields": fields})
    bold = [[bool(cell) for cell in row.get("values", [])] for row in result["sheets"][0]["data"][0]["rowData"]]
    assert bold[0] == [True, True]
    assert not any(bold[1]) if len(bold) > 1 else True


def test_an_array_that_is_there_is_replaced_in_its_column_and_others_stay(book: Book) -> None:
    book.write({"a": np.arange(9.0), "b": np.arange(5), "c": np.array(["x", "y"])})
    rest = book.column(0), book.column(2)
    for new in (np.arange(3), np.arange(40.0).reshape(4, 10), np.array([""]), np.empty(0), np.array("only")):
        book.write({"b": new})
        result = book.read()
        assert list(result) == ["a", "b", "c"]
        assert_same(result["b"], new)
        assert_same(result["a"], np.arange(9.0))
        for was, column in zip(rest, (book.column(0), book.column(2)), strict=True):
            assert [cell for cell in column if cell is not None] == [cell for cell in was if cell is not None]
        assert book.check() == []
        assert list(book.scan()) == ["a", "b", "c"]


def test_new_arrays_go_to_free_columns_on_the_right_of_everything(book: Book) -> None:
    book.write({"a": np.arange(3)})
    book.sheet("arrays").add_cols(3)
    book.put("arrays", "C2", [["a note"]])
    book.write({"b": np.arange(4), "a": np.arange(2), "c": np.arange(5)})
    assert list(book.cells()[0]) == ["a", None, None, "b", "c"]
    assert book.cells()[1][2] == "a note"
    assert list(book.read()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("rows", "cell", "columns"),
    [(1000, "far below", 26), (1000, '=""', 27), (100_000, "far below", 27)],  # of the largest one only some is fetched
)
def test_cells_far_below_keep_their_columns_to_themselves(book: Book, rows: int, cell: str, columns: int) -> None:
    book.sheet("Sheet1").resize(rows, 26)
    place = f"A{rows // 2}" if cell == '=""' else f"B{rows - 100}"
    book.put("Sheet1", place, [[cell]], raw=False)
    book.write({"a": np.arange(3)}, sheet="Sheet1")
    assert book.size("Sheet1") == (rows, columns)
    assert book.sheet("Sheet1").acell(place, value_render_option="FORMULA").value == cell
    assert book.scan()["a"].location == f"Sheet1!{'C' if columns == 26 else 'AA'}2"


def flat(name: str, array: Any) -> list[list[Any]]:
    """An array as people copy it: one column of cells, the name first."""
    return [[name], *([cell] for cell in sa.to_linear(array))]


@pytest.mark.parametrize("cell", ["foreign", 0, False, '=""'])
def test_a_cell_below_an_array_that_grows_is_never_overwritten(book: Book, cell: Any) -> None:
    book.write({"a": np.arange(3.0), "b": np.arange(80)})
    book.put("arrays", "A60", [[cell]], raw=cell != '=""')
    refuse(book, {"a": np.arange(60.0), "new": np.arange(2)}, "in the way", "arrays!A60")
    book.write({"a": np.arange(20.0)})
    assert book.column(0)[59] == (cell if cell != '=""' else "")


def refuse(book: Book, arrays: Any, message: str, location: str | None = None, **options: Any) -> None:
    """A write is refused, for the cell at a location, and nothing is changed."""
    before = book.dump()
    book.server.requests.clear()
    with pytest.raises(sa.FormatError, match=message) as caught:
        book.write(arrays, **options)
    assert location in (None, caught.value.location)
    assert not book.wrote()
    assert book.dump() == before


def test_arrays_that_people_have_moved_are_replaced_where_they_are(book: Book) -> None:
    book.write({"a": np.arange(6.0), "b": np.arange(3)})
    sheet = book.sheet("arrays")
    sheet.insert_rows([["a title"], []], 1)
    sheet.insert_cols([[]], 1)
    book.write({"a": np.arange(4.0), "c": np.arange(2)})
    assert book.cells()[0][:1] == ["a title"] or book.cells()[0][1] == "a title"
    assert [cell for cell in book.cells()[2] if cell] == ["a", "b", "c"]
    result = book.read()
    assert {name: len(array) for name, array in result.items()} == {"a": 4, "b": 3, "c": 2}
    assert book.check() == []


def parts_of(name: str, array: Any) -> list[list[Any]]:
    """The rows of an array that continues in a second column."""
    file = io.BytesIO()
    sa.write_csv(file, {name: array}, max_rows=45)
    lines = [line.split(",") for line in file.getvalue().decode().splitlines()]
    return [[float(cell) if cell.isdigit() else cell for cell in line] for line in lines]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("r", [["r", *sa.to_linear(np.arange(60))]]),  # side by side
        ("long", parts_of("long", np.arange(60))),
        ("A", [[cell] for cell in sa.to_linear(np.arange(60))]),  # without a name, by the letter of its column
    ],
)
def test_an_array_that_people_have_laid_out_is_replaced_by_a_column(book: Book, name: str, rows: Any) -> None:
    book.sheet("Sheet1").resize(1000, 90)
    book.put("Sheet1", "A1", rows, raw=True)
    book.put("Sheet1", "Z100", flat("other", np.arange(3)), raw=True)
    assert_same(book.read()[name], np.arange(60))
    book.write({name: np.arange(50.0)}, sheet="Sheet1")
    result = book.read()
    assert set(result) == {name, "other"}
    assert_same(result[name], np.arange(50.0))
    assert_same(result["other"], np.arange(3))


def test_two_arrays_of_one_name_are_not_replaced(book: Book) -> None:
    book.put("Sheet1", "A1", [[*cells, *cells] for cells in flat("x", np.arange(4))], raw=True)
    refuse(book, {"x": np.arange(7)}, "A2 and B2", sheet="Sheet1")
    book.write({"y": np.arange(7)}, sheet="Sheet1")
    assert_same(book.read(["y"])["y"], np.arange(7))


@pytest.mark.parametrize("row", [0, 900])
@pytest.mark.parametrize("broken", [slice(1, 4), slice(5, 6)])  # the beginning of its header, or its shape
def test_an_array_with_a_broken_header_is_not_replaced(book: Book, row: int, broken: slice) -> None:
    cells = flat("x", np.arange(3.0))
    cells[broken] = [["?"]] * len(cells[broken])
    book.put("Sheet1", f"B{row + 1}", cells, raw=True)
    refuse(book, {"x": np.arange(7)}, "x cannot be replaced, its header is broken", sheet="Sheet1")
    book.write({"y": np.arange(9)}, sheet="Sheet1")
    assert_same(book.read(["y"])["y"], np.arange(9))


def test_merged_cells_are_in_the_way(book: Book) -> None:
    book.write({"x": np.arange(3)})
    book.sheet("arrays").resize(rows=60)
    book.sheet("arrays").merge_cells("A40:A41")
    refuse(book, {"x": np.arange(30)}, "merged", "arrays!A40")


def test_the_formats_of_cells_stay(book: Book) -> None:
    book.write({"x": np.arange(3.0)})
    book.sheet("arrays").format("A19:A40", {"numberFormat": {"type": "NUMBER", "pattern": "0.00"}})
    book.write({"x": np.linspace(0, 1, 5)})
    assert book.sheet("arrays").acell("A21").value == "0.25"
    assert_same(book.read()["x"], np.linspace(0, 1, 5))


# Which worksheet ---------------------------------------------------------------------------------------------


def test_the_target_may_be_a_url_a_key_or_an_object_of_gspread(book: Book) -> None:
    for target in (book.key, f"gsheets://{book.key}/two"):  # test_google_address.py has all others
        write_gsheet(target, {"x": np.arange(2)}, client=book.client)
    arrays = {"t": np.array([[0.1, np.nan]]), "n": np.array([1, 2**60])}
    sa.write(book.opened, arrays, sheet="fourth")
    sa.write(book.sheet("two"), arrays)
    for title in ("fourth", "two"):
        result = sa.read(book.sheet(title))
        assert list(result) == list(sa.scan(book.sheet(title))) == [*(["x"] if title == "two" else []), "t", "n"]
        assert_same(result["t"], arrays["t"])
        assert_same(result["n"], arrays["n"])
        assert list(sa.check(book.sheet(title))) == []
    own = book.opened.add_worksheet("own", 10, 3)
    sa.write_table(own, pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert sa.read_columns(own)["a"].tolist() == [1, 2]
    with pytest.raises(sa.FormatError, match="two arrays"):
        sa.read(book.opened)
    assert not [record for record in book.server.requests if "drive" in record.path]


@pytest.mark.parametrize("title", ["it's", "a!b", "A1", "R1C1", "1:2", "漢字 ü", "'", "x" * 100, "Sheet1!A1"])
def test_odd_titles_are_written_and_read(book: Book, title: str) -> None:
    book.write({"x": np.arange(3), "y": np.arange(2)}, sheet=title)
    book.write({"x": np.arange(5)}, sheet=title.upper())  # upper and lower case are the same
    assert list(book.dump()["sheets"]) == ["Sheet1", title]
    assert_same(book.read(sheet=title)["x"], np.arange(5))


# Names of ranges ---------------------------------------------------------------------------------------------


def test_each_array_has_a_named_range_over_its_elements(book: Book) -> None:
    arrays = {
        "temperature": np.arange(6.0).reshape(2, 3),
        "s": np.array(["a", "b"]),
        "e": np.empty(0),
        "T1": np.array(7),
    }
    book.write(arrays)
    assert book.ranges() == {"temperature": [0, 1, 2, 3, 4, 5], "s": ["a", "b"], "e": ["data"], "_T1": [7]}
    book.sheet("Sheet1").update([["=SUM(temperature)"]], "A1", raw=False)
    assert book.cells("Sheet1") == [[15]]
    ids = {n["name"]: n["namedRangeId"] for n in book.opened.list_named_ranges()}
    book.write({"temperature": np.arange(4.0), "e": np.array([2.5]), "s": np.array([], dtype="<U1")})
    assert book.ranges() == {"temperature": [0, 1, 2, 3], "s": ["data"], "e": [2.5], "_T1": [7]}
    assert book.cells("Sheet1") == [[6]]
    after = {n["name"]: n["namedRangeId"] for n in book.opened.list_named_ranges()}
    assert all(after[name] == ids[name] for name in ("temperature", "s", "e", "_T1"))


def test_ranges_that_somebody_has_renamed_or_cleared_are_taken_again(book: Book) -> None:
    book.write({"t": np.arange(3), "u": np.arange(2), "v": np.arange(2)})
    opened = book.sheet("arrays")
    ids = {named["name"]: named["namedRangeId"] for named in book.opened.list_named_ranges()}
    renaming = {"updateNamedRange": {"namedRange": {"namedRangeId": ids["t"], "name": "ours"}, "fields": "name"}}
    book.client.http_client.batch_update(book.key, {"requests": [renaming]})
    book.write({"t": np.arange(5)})
    assert book.ranges() == {"ours": [0, 1, 2, 3, 4], "u": [0, 1], "v": [0, 1]}
    opened.clear()
    opened.define_named_range("B20:B21", "foreign")
    book.write({"x": np.arange(5), "u": np.arange(4)})
    result = book.ranges()
    assert (result["x"], result["u"], result["foreign"]) == ([0, 1, 2, 3, 4], [0, 1, 2, 3], [0, 1])
    assert not [name for name in result if name.startswith("u_")]


def test_names_of_ranges_are_valid_and_unique(book: Book) -> None:
    names = [
        *("a b", "a_b", "A B", "R", "c", "R1C1", "true", "1x", "漢字", "größe", "x" * 300, "sheetarray_0", "AB12", "é")
    ]
    book.write({name: np.array([index]) for index, name in enumerate(names)})
    result = book.ranges()
    assert sorted(cell for cells in result.values() for cell in cells) == [n for n in range(14) if n != 11]
    assert len({name.lower() for name in result}) == len(result)
    assert "sheetarray_0" in book.dump()["ranges"]
    assert list(book.read()) == names


def test_a_worksheet_that_was_deleted_is_written_again_although_its_names_stay_taken(book: Book) -> None:
    arrays = {f"n{index}": np.arange(index) for index in range(60)}
    book.write(arrays)
    opened = book.opened
    opened.del_worksheet(opened.worksheet("arrays"))
    book.server.requests.clear()
    book.write(arrays)
    assert len(book.server.requests) < 60
    assert list(book.read()) == list(arrays)
    assert len(book.ranges()) == 60
    assert book.ranges()["_n7_2"] == list(range(7))


# Far below ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "row"), [(1000, 249), (20_000, 250), (1000, 251), (20_000, 768), (1000, 769), (20_000, 770), (1000, 900)]
)
def test_an_array_below_any_number_of_blank_rows_is_read_and_replaced(book: Book, row: int, rows: int) -> None:
    book.sheet("Sheet1").resize(rows, 26)
    book.put("Sheet1", "A1", flat("top", np.arange(2.0)))
    book.put("Sheet1", f"C{row + 1}", flat("deep", np.arange(3.0)))
    for options in ({}, {"sheet": "Sheet1"}):
        assert set(book.read(**options)) == {"top", "deep"}
    book.write({"deep": np.arange(5.0), "new": np.arange(2)}, sheet="Sheet1")
    arrays = book.read()
    assert set(arrays) == {"top", "deep", "new"}
    assert_same(arrays["deep"], np.arange(5.0))
    assert book.cells("Sheet1")[row][2] == "deep"
    assert book.check() == []


def test_an_array_below_a_long_one_is_replaced_where_it_stands(book: Book) -> None:
    book.sheet("Sheet1").resize(4000, 3)
    book.put("Sheet1", "A1", flat("long", np.arange(1500.0)))
    book.put("Sheet1", "A1700", flat("deep", np.arange(3.0)))
    book.write({"deep": np.arange(4)}, sheet="Sheet1")
    arrays = book.read()
    assert list(arrays) == ["long", "deep"]
    assert_same(arrays["deep"], np.arange(4))
    refuse(book, {"long": np.arange(1800.0)}, "the array deep is in the way of long", "Sheet1!A1701", sheet="Sheet1")


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"worksheet": "run"}, "it is called sheet"),
        ({"mode": "a"}, "write replaces what it wrote under the same names"),
    ],
)
def test_options_of_workbooks_say_what_to_do_instead(book: Book, option: dict[str, str], hint: str) -> None:
    with pytest.raises(TypeError, match=f"has no option {next(iter(option))!r} for Google Sheets; .*{hint}"):
        sa.write(book.url, {"x": [1.5]}, client=book.client, **option)


# The first cell that a caller chooses ----------------------------------------------------------------------------


def test_arrays_and_tables_stand_from_the_cell_that_is_chosen(book: Book) -> None:
    """Beside cells of somebody else, in a new worksheet, and beyond the grid; written again, they are replaced."""
    worksheet = book.sheet("Sheet1")
    worksheet.update([["mine", "x"], [1, 2]])
    arrays = {"t": np.array([[0.1, 1 / 3], [-0.0, np.nan]]), "day": np.array(["2020-01-01", "2024-02-29"], "M8[D]")}
    for _ in range(2):
        sa.write(worksheet, arrays, at="D5")
        assert {name: info.location for name, info in sa.scan(worksheet).items()} == {
            "t": "Sheet1!D6",
            "day": "Sheet1!E8",
        }
        for name, array in sa.read(worksheet).items():
            assert_same(array, arrays[name])
    assert worksheet.get("A1:E2") == [["mine", "x"], ["1", "2"]]
    assert worksheet.acell("E27").value == "2024-02-29"
    assert list(sa.check(worksheet)) == []
    sa.write(worksheet, {"below": np.arange(3.0)}, at="D30")  # right below t
    sa.write_table(worksheet, {"p": [1, 2], "s": ["a", "b"]}, at="G2")
    assert sa.read_columns(worksheet, range="G2:H4")["s"].tolist() == ["a", "b"]
    assert list(sa.read(worksheet)) == ["t", "below", "day", "p", "s"]
    for title, at in (("new", "C3"), ("far", "ZZ900")):
        sa.write(worksheet.spreadsheet, arrays, sheet=title, at=at)
        assert_same(sa.read(worksheet.spreadsheet, sheet=title)["t"], arrays["t"])
    sa.write_table(worksheet.spreadsheet, {"n": pd.DataFrame({"a": [1.5]}), "m": pd.DataFrame({"b": [2.5]})}, at="B3")
    assert book.sheet("m").get_all_values()[2:] == [["", "b"], ["", "2.5"]]


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("at", ["A1", "A4", "C1", "C3"])
def test_a_stage_becomes_a_worksheet_whose_cells_begin_at_the_cell_that_is_chosen(book: Book, at: str) -> None:
    """It was refused by the service, without end."""
    arrays = {"t": np.arange(6.0).reshape(2, 3), "n": np.arange(2)}
    for _ in range(2):
        sa.write(book.opened, arrays, sheet="new", at=at)
        assert sa.scan(book.opened, sheet="new")["t"].location == f"new!{at[0]}{int(at[1]) + 1}"
        assert_same(sa.read(book.opened, sheet="new")["t"], arrays["t"])
    sa.write_table(book.opened, {"a": [1.5]}, sheet="table", at=at)
    assert sa.read_columns(book.opened, sheet="table")["a"].tolist() == [1.5]
    assert book.check() == []


@pytest.mark.parametrize(
    ("at", "address", "what"),
    [
        ("D5", "D5", "a cell that holds something"),
        ("D4", "D5", "a cell that holds something"),
        ("C1", "D5", "a cell that holds something"),  # below an array, it would be an element
        ("H1", "H1", "a merged cell"),
        ("B9", "B8", "the array t"),
        ("B7", "B8", "the array t"),
        ("A1", "B8", "the array t"),
    ],
)
def test_cells_in_the_way_of_the_cell_that_is_chosen_are_named(book: Book, at: str, address: str, what: str) -> None:
    worksheet = book.sheet("Sheet1")
    worksheet.update([["x"]], "D5")
    worksheet.merge_cells("G1:H2")
    sa.write(worksheet, {"t": np.arange(3.0)}, at="B7")
    was = book.dump()
    with pytest.raises(sa.FormatError, match=f"{what} is in the way") as caught:
        sa.write(worksheet, {"a": np.array(1.5), "b": np.array(2.5)}, at=at)
    assert str(caught.value.location).endswith(address) or what == "a merged cell"
    assert book.dump() == was


def test_another_worksheet_than_the_object_that_is_given_is_refused(book: Book) -> None:
    """It was left out of account."""
    worksheet = book.sheet("Sheet1")
    sa.write(worksheet, {"t": np.arange(3.0)}, sheet="sheet1")
    was = book.dump()
    for call, *more in ((sa.write, {"u": [1, 2]}), (sa.write_table, {"u": [1, 2]}), (sa.read,), (sa.read_columns,)):
        with pytest.raises(ValueError, match="this is the worksheet 'Sheet1', 'run' is another: pass the spr"):
            call(worksheet, *more, sheet="run")  # type: ignore[operator]
    assert book.dump() == was


def test_what_cannot_stand_at_a_cell_is_refused(book: Book) -> None:
    worksheet = book.sheet("Sheet1")
    sa.write(worksheet, {"t": np.arange(3.0)}, at="B7")
    was = book.dump()
    for arrays, at, message in (
        ({"t": np.arange(2.0)}, "C7", "'t' is on the worksheet already: leave out at="),
        ({"t": np.arange(2.0), "u": np.arange(2.0)}, "B7", "'t' is on the worksheet already: leave out at="),
        ({"u": np.arange(2.0)}, "5", "at is the address of a cell"),
        ({"u": np.arange(2.0), "v": np.arange(2.0)}, "ZZZ1", "at is the address of a cell"),
    ):
        with pytest.raises(ValueError, match=message):
            sa.write(worksheet, arrays, at=at)
    with pytest.raises(sa.FormatError, match="array t above, which would take the cells for elements, is in the way"):
        sa.write_table(worksheet, {"p": [1, 2]}, at="B100")
    with pytest.raises(ValueError, match="give one"):
        sa.write_table(worksheet, {"p": [1, 2]}, at="D1", if_sheet_exists="replace")
    assert book.dump() == was


# Size --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_million_and_one_cells_are_refused_before_anything_is_written(book: Book) -> None:
    book.opened.worksheet("Sheet1").resize(rows=1, cols=1)
    room = 10_000_000 - 19
    book.server.requests.clear()
    with limited(seconds=1), pytest.raises(sa.LimitError, match="10,000,001 cells"):  # none becomes text
        book.write({"x": np.zeros(room, dtype=bool)}, sheet="new")
    assert not book.wrote()
    with pytest.raises(sa.LimitError, match="10,000,001 cells"):
        book.write({"x": np.zeros(10_000_001 - 19, dtype=bool)}, sheet="new")
    with pytest.raises(sa.LimitError, match=r"10,000,0\d\d cells"):
        book.write({"x": np.zeros(2_500_000 - 10), "y": 1, "z": 2, "t": 3})
    assert not book.wrote()


def test_the_grids_of_other_worksheets_count(book: Book) -> None:
    for index, title in enumerate(("p", "q", "r")):
        book.opened.add_worksheet(title, rows=1000, cols=3330 if index else 3300)
    book.server.requests.clear()
    with pytest.raises(sa.LimitError, match="of them in other worksheets"):
        book.write({"x": np.zeros(20_000)})
    assert not book.wrote()
    book.write({"x": np.arange(10_000.0)})
    assert_same(book.read(sheet="arrays")["x"], np.arange(10_000.0))


def test_more_columns_than_a_worksheet_has_are_refused(book: Book) -> None:
    with pytest.raises(sa.LimitError, match="18,278 columns"):
        book.write({f"n{index}": 1 for index in range(18_279)})
    assert not book.wrote()
    book.opened.add_worksheet("wide", rows=30, cols=18_278)
    book.put("wide", "ZZZ30", [["the last cell"]])
    book.server.requests.clear()
    with pytest.raises(sa.LimitError, match="18,279 columns"):
        book.write({"x": np.arange(3)}, sheet="wide")
    assert not book.wrote()


def test_text_of_fifty_thousand_characters_is_kept_and_one_more_is_refused(book: Book) -> None:
    book.write({"s": np.array(["x" * 50_000, "😀" * 25_000])})
    assert_same(book.read()["s"], np.array(["x" * 50_000, "😀" * 25_000]))
    book.server.requests.clear()
    for text in ("x" * 50_001, "😀" * 25_000 + "x"):
        for array in (np.array(["short", text]), objects(1, text)):
            with pytest.raises(sa.LimitError, match="50,001 characters"):
                book.write({"s": array})
    assert not book.server.requests


def test_a_blank_worksheet_gives_up_columns_before_its_rows_grow() -> None:
    with SheetsServer(cells=100_000) as server:
        book = Book(server, [("Sheet1", 1000, 26)])
        array = np.arange(4_000, dtype="int8")
        book.write({"x": array}, sheet="Sheet1")
        assert book.size("Sheet1") == (4_019, 1)
        assert_same(book.read(sheet="Sheet1")["x"], array)


def test_a_worksheet_with_other_cells_gives_up_none(book: Book) -> None:
    book.put("Sheet1", "A1", [["mine"]])
    before = book.dump()
    with pytest.raises(sa.LimitError, match="would have"):
        book.write({"x": np.arange(400_000, dtype="int8")}, sheet="Sheet1")
    assert book.dump() == before


def test_a_worksheet_of_ours_gives_up_rows_and_columns_that_no_array_needs() -> None:
    with SheetsServer(cells=30_000) as server:
        book = Book(server, [("Sheet1", 1, 1)])
        book.write({"x": np.arange(9_000)})
        book.write({"x": np.arange(5), "y": np.arange(6), "z": np.arange(7), "t": np.arange(8)})
        assert book.size() == (27, 4)
        assert {name: len(array) for name, array in book.read().items()} == {"x": 5, "y": 6, "z": 7, "t": 8}
        book.sheet("arrays").add_cols(20)
        book.write({"x": np.arange(5_000)})
        assert book.size() == (5_019, 4)
        book.sheet("arrays").update([["kept"]], "B4000")
        with pytest.raises(sa.LimitError):
            book.write({name: np.arange(5) for name in "xyztuvw"})
        assert book.cells()[3999][1] == "kept"


def test_a_stage_is_filled_by_few_requests_of_bounded_size(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small columns share requests, large ones are cut."""
    assert get_limit("google_request") == 2_000_000
    set_limits(monkeypatch, google_request=200_000, google_batch=0)
    arrays = {f"n{index}": np.full(index, index / 7) for index in range(100)}
    arrays["long text"] = np.array(["漢" * 4_900] * 40)
    arrays["doubles"] = np.random.default_rng(0).standard_normal(13_000)
    for _ in range(2):
        book.server.requests.clear()
        book.write(arrays)
        sizes = [len(record.received) for record in book.server.requests if record.method == "PUT"]
        assert max(sizes) <= 200_000
        assert 3 < len(sizes) <= math.ceil(sum(sizes) / 200_000) + 4
        got = [r for r in book.server.requests if r.method == "GET" and "values" in r.path and "sheetarray" in r.query]
        assert len(got) == len(sizes)
    result = book.read()
    for name, array in arrays.items():
        assert_same(result[name], array)


# What cells hold ---------------------------------------------------------------------------------------------


def test_what_a_double_would_lose_is_text_and_the_rest_is_numbers(book: Book) -> None:
    book.write(
        {
            "f": np.array([0.5, -0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324]),
            "i": np.array([2**53, 2**53 + 1, -(2**63)]),
            "b": np.array([True, False]),
            "c": np.array([3 - 4j]),
            "d": np.array(["2024-02-29"], dtype="M8[D]"),
            "s": np.array(["=1+1", "'x", "007", "TRUE", "1.5"]),
            "g": objects(None, 2, 2.0, "2", -0.0, True, "", "x"),
        }
    )
    columns = {column[0]: column[column.index("data") + 1 :] for column in map(book.column, range(7))}
    assert columns["f"][:7] == [0.5, "-0", 0.0, "NaN", "Infinity", "-Infinity", 5e-324]
    assert columns["i"][:3] == [str(2**53), str(2**53 + 1), str(-(2**63))]
    assert columns["b"][:2] == [True, False]
    assert columns["c"][:1] == ["3-4i"]
    assert columns["d"][:1] == [45351]
    assert columns["s"][:5] == ["=1+1", "'x", "007", "TRUE", "1.5"]
    assert columns["g"][:8] == [None, 2.0, "2.0", "'2", "-0.0", True, "'", "x"]


def rounding(book: Book, methods: Sequence[str]) -> None:
    """Have a spreadsheet keep 0.1 as another number, where it comes by one of these methods."""

    def change(method: str, body: bytes) -> bytes:
        return re.sub(rb"\b0\.1\b", b"0.10000000000000002", body) if method in methods else body

    book.change_requests(change)


@pytest.mark.parametrize("arrays", [("old",), ("x", "old"), ("x",), ("old", "x", "y")])
@pytest.mark.parametrize("blank", [False, True])
def test_an_element_that_the_service_changes_is_refused_and_nothing_is_left(
    book: Book, arrays: tuple[str, ...], blank: bool
) -> None:
    if not blank:
        book.write({"old": np.arange(3), "other": np.arange(30)})
        book.put("arrays", "A20", [["=1-1"]], raw=False)
    before = book.dump()
    rounding(book, ["put", "post"])
    for title in ("arrays", "Sheet1"):
        with pytest.raises(
            sa.DTypeError, match=r"x|old, buffer element 1: the service keeps 0\.1 as 0\.10000000000000002"
        ):
            book.write({name: np.array([0.5, 0.1, 0.2, *[7.0] * 10]) for name in arrays}, sheet=title)
        assert book.dump() == before
    shown = {"fields": "sheets(properties,data,rowGroups)"}
    sheets = book.client.http_client.spreadsheets_get(book.key, shown)["sheets"]
    cells = [cell for row in sheets[0]["data"][0].get("rowData", []) for cell in row.get("values", [])]
    assert sheets[0]["properties"]["gridProperties"].get("frozenRowCount") is None
    assert not any(cell.get("userEnteredFormat") for cell in cells)
    assert all("rowGroups" not in sheet for sheet in sheets[: 1 + blank])
    formulas = [
        cell.get("userEnteredValue") for row in sheets[-1]["data"][0].get("rowData", []) for cell in row["values"]
    ]
    assert ({"formulaValue": "=1-1"} in formulas) != blank


def test_an_element_that_only_one_way_of_writing_changes_is_written_the_other_way(book: Book) -> None:
    book.write({"old": np.arange(3)})
    rounding(book, ["post"])
    book.write({"x": np.array([0.5, 0.1, 0.2]), "old": np.arange(30)})
    assert any(record.method == "PUT" for record in book.server.requests)
    assert_same(book.read()["x"], np.array([0.5, 0.1, 0.2]))
    assert_same(book.read()["old"], np.arange(30))


# How many requests -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 1000, 4000])
def test_a_small_write_takes_three_requests_and_a_read_of_it_two(book: Book, count: int) -> None:
    values = np.random.default_rng(count).standard_normal(count)
    several = [{"a": values, "b": np.array(["=1", "'x", "é\n"])}, {"a": values}, {"a": values[:3]}]
    for arrays in several[: 1 if count > 1000 else 3]:
        book.server.requests.clear()
        book.write(arrays)
        assert len(book.server.requests) <= 3
        assert sum(record.writes for record in book.server.requests) == 1
        for options in ({}, {"sheet": "arrays"}):
            book.server.requests.clear()
            result = book.read(**options)
            assert len(book.server.requests) <= 2
            for name, array in arrays.items():
                assert_same(result[name], array)


def test_text_that_a_service_may_tidy_up_is_tried_on_a_stage(book: Book) -> None:
    for text, staged in [
        ("a\tb\nc", False),
        ("a\rb", True),
        ("\x00", True),
        ("\u2028", True),
        ("\x7f", True),
        ("é", False),
    ]:
        book.server.requests.clear()
        book.write({"s": np.array([text + "."])})
        assert any(record.method == "PUT" for record in book.server.requests) == staged
        assert_same(book.read()["s"], np.array([text + "."]))


@pytest.mark.usefixtures("pauses")
def test_a_service_that_fails_at_large_requests_gets_small_ones(book: Book) -> None:
    values = np.random.default_rng(0).standard_normal(4_000)
    for status in (413, 503):
        book.server.faults.append(Fault(status, path=":batchUpdate[?].*updatedSpreadsheet", times=None))
        book.write({"x": values})
        book.server.faults.clear()
        assert_same(book.read()["x"], values)
        assert list(book.dump()["sheets"]) == ["Sheet1", "arrays"]


@pytest.mark.usefixtures("staged")
def test_what_is_copied_into_its_place_is_read_back(book: Book) -> None:
    book.write({"x": np.arange(5.0)})

    def spoil(record: Any) -> bool:
        record.received = record.received.replace(b"PASTE_VALUES", b"PASTE_FORMAT")
        return b"PASTE_FORMAT" in record.received

    with meanwhile(book.server, spoil, lambda: None), pytest.raises(sa.DTypeError, match="write it again"):
        book.write({"x": np.arange(7.0)})
    book.write({"x": np.arange(7.0)})
    assert_same(book.read()["x"], np.arange(7.0))
