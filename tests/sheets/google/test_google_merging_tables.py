"""Tables in Google Sheets are merged where they stand: only changed cells are sent, all of them or none."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import set_limits
from merge_model import draw_trial, merge_plainly
from recorded import GRID, write_arrays, write_quietly
from services import TableBook, meanwhile

import sheetarray as sa
from sheets_emulator import Fault, SheetsServer


class Books:
    """A base and two copies of it, each a spreadsheet."""

    def __init__(self, server: SheetsServer) -> None:
        self.base, self.ann, self.ben = (TableBook(server) for _ in range(3))
        self.bodies: list[Any] = []
        self.base.change_requests(self._note)

    def _note(self, method: str, body: bytes) -> bytes:
        self.bodies += json.loads(body)["requests"] if method == "post" else []
        return body

    def merge(self, *more: Any, target: Any = None, **options: Any) -> sa.Merged:
        self.bodies.clear()
        goal = self.base.url if target is None else target
        places = [self.base.url, self.ann.url, self.ben.url, *more]
        return sa.merge(*places, target=goal, client=self.base.client, **options)

    def sent(self) -> list[Any]:
        """The cells that the last merge sent: row, column and values."""
        updates = [request["updateCells"] for request in self.bodies if "updateCells" in request]
        return [
            (
                update["start"]["rowIndex"],
                update["start"]["columnIndex"],
                [
                    next(iter(cell.get("userEnteredValue", {"": ""}).values()))
                    for row in update["rows"]
                    for cell in row["values"]
                ],
            )
            for update in updates
        ]


@pytest.fixture
def books(server: SheetsServer) -> Books:
    return Books(server)


@pytest.fixture(params=["metadata", "hidden"])
def grids(request: pytest.FixtureRequest, books: Books, monkeypatch: pytest.MonkeyPatch) -> Books:
    """Copies of a recorded table that two people have edited; one has added a label."""
    if request.param == "hidden":
        set_limits(monkeypatch, google_record=0)
    for book in (books.base, books.ann, books.ben):
        book.write(GRID)
    books.ann.table.update([[99.5]], "C3", raw=True)
    books.ann.table.add_rows(1)
    books.ann.table.update([["Genf", 43832, 7.5, 4.0]], "A14", raw=True)
    books.ben.table.update([[-1.5], [7.25]], "C3", raw=True)
    return books


def merged_grid(conflict: float) -> xr.Dataset:
    grid = GRID.reindex(site=[*GRID["site"].values, "Genf"])
    grid["t"].values[0, 1:3] = conflict, 7.25
    grid["t"].values[3, 1] = 7.5
    grid["height"].values[3] = 4.0
    return grid.assign_coords(site=grid["site"].values.astype("<U6"))


def test_a_recorded_table_is_merged_where_it_stands(grids: Books) -> None:
    base = grids.base
    base.table.format("A1:D1", {"backgroundColor": {"red": 1}})
    base.sheet("Sheet1").update([["mine"]], "A1")
    with pytest.warns(sa.SheetArrayWarning, match="there is no sheet 'Sheet1', and the base's stays as it is"):
        (conflict,) = grids.merge().conflicts
    assert (conflict.array, conflict.base, sorted(conflict.values.values())) == (
        "t",
        GRID["t"].values[0, 1],
        [-1.5, 99.5],
    )
    assert sorted(grids.sent())[:2] == [(3, 2, [7.25]), (13, 0, ["Genf"])] or len(base.sheets("record")) == 1
    grid = sa.read_dataset(base.url, client=base.client)
    xr.testing.assert_identical(grid.assign_coords(site=grid["site"].values.astype("<U6")), merged_grid(1 / 7))
    assert base.check() == []
    assert base.sheet("Sheet1").acell("A1").value == "mine"
    assert len(base.sheets("sheetarray record")) <= 1


@pytest.mark.parametrize("how", ["prefer", "choices"])
def test_conflicts_of_a_table_are_decided(grids: Books, how: str) -> None:
    ben = grids.ben.url
    (conflict,) = grids.merge().conflicts
    grids.base.write(GRID, if_sheet_exists="replace")
    choice = {"array": conflict.array, "index": list(conflict.index or ()), "of": conflict.place.file, "choose": ben}
    merged = grids.merge(**({"prefer": ben} if how == "prefer" else {"choices": [choice]}))
    assert merged.unresolved == 0
    assert sa.read(grids.base.url, "t", client=grids.base.client)[0, 1] == -1.5


@pytest.mark.parametrize("suffix", ["xlsx", "google"])
def test_a_merged_table_that_goes_elsewhere_keeps_its_labels(grids: Books, tmp_path: Path, suffix: str) -> None:
    other = TableBook(grids.base.server)
    target = other.url if suffix == "google" else tmp_path / "merged.xlsx"
    grids.merge(target=target)
    grid = sa.read_dataset(target, **({"client": other.client} if suffix == "google" else {}))
    xr.testing.assert_identical(grid.assign_coords(site=grid["site"].values.astype("<U6")), merged_grid(1 / 7))
    xr.testing.assert_identical(sa.read_dataset(grids.base.url, client=grids.base.client), GRID)


def test_copies_of_other_kinds_are_merged_into_a_table(books: Books, tmp_path: Path) -> None:
    books.base.write(GRID)
    edited = GRID.copy(deep=True)
    edited["t"].values[1, 1] = 5.5
    write_arrays(tmp_path / "arrays.xlsx", edited)
    edited["t"].values[2, 3] = 6.5
    write_quietly(tmp_path / "table.xlsx", edited)
    books.ann.write(edited)
    places = [books.base.url, str(tmp_path / "arrays.xlsx"), str(tmp_path / "table.xlsx"), books.ann.url]
    assert not sa.merge(*places, target=books.base.url, client=books.base.client).conflicts
    xr.testing.assert_identical(sa.read_dataset(books.base.url, client=books.base.client), edited)


ROWS = [
    ["id", "day", "price", "n", "note", "double"],
    *([f"{i:03d}", f"2024-05-0{i}", 1.5 * i, i, f"n{i}" if i % 2 else "", f"=C{i + 1}*2"] for i in range(1, 7)),
]


@pytest.fixture
def ordinary(books: Books) -> Books:
    """Copies of a table that nobody here wrote: dates of a format, a column of formulas, ids with zeros."""
    for book in (books.base, books.ann, books.ben):
        sheet = book.sheet("Sheet1")
        sheet.update(ROWS, "A1", value_input_option="USER_ENTERED")
        sheet.update([[row[0]] for row in ROWS], "A1", raw=True)
        sheet.format("B2:B7", {"numberFormat": {"type": "DATE", "pattern": "dd.mm.yyyy"}})
    return books


def formulas_of(book: TableBook) -> list[list[Any]]:
    rows: list[list[Any]] = book.sheet("Sheet1").get("A1:G9", value_render_option="FORMULA")
    return rows


def test_an_ordinary_table_is_merged_where_it_stands(ordinary: Books) -> None:
    base, ann, ben = ordinary.base, ordinary.ann, ordinary.ben
    ann.put("Sheet1", "C3", [[100]], raw=True)
    ann.put("Sheet1", "B4", [["2025-01-01"]], value_input_option="USER_ENTERED")
    ben.put("Sheet1", "E3", [["hello"]], raw=True)
    ben.put("Sheet1", "C5", [[""]], raw=True)
    ben.put("Sheet1", "B8", [["2024-06-01", 9.5, 7, "new", 19]], value_input_option="USER_ENTERED")
    ben.put("Sheet1", "A8", [["007"]], raw=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not ordinary.merge(key="id").conflicts
    assert (2, 2, [100]) in ordinary.sent()
    assert len([place for place in ordinary.sent() if place[0] < 7]) == 4
    rows = base.sheet("Sheet1").get_all_values()
    assert rows[2] == ["002", "02.05.2024", "100", "2", "hello", "200"]
    assert [rows[3][1], rows[4][2]] == ["01.01.2025", ""]
    assert rows[7] == ["007", "01.06.2024", "9.5", "7", "new", "19"]
    assert [row[5] for row in formulas_of(base)[1:7]] == [row[5] for row in ROWS[1:]]


def test_rows_that_are_deleted_and_names_that_change_are_merged(ordinary: Books) -> None:
    ordinary.ann.sheet("Sheet1").delete_rows(4)
    ordinary.ben.put("Sheet1", "C1", [["cost"]], raw=True)
    ordinary.ben.put("Sheet1", "C7", [[77]], raw=True)
    ordinary.merge()
    rows = ordinary.base.sheet("Sheet1").get_all_values()
    assert rows[0] == ["id", "day", "cost", "n", "note", "double"]
    assert [row[0] for row in rows[1:]] == ["001", "002", "004", "005", "006"]
    assert [row[5] for row in rows[1:]] == ["3", "6", "12", "15", "154"]


def test_formulas_are_compared_and_not_their_results(ordinary: Books) -> None:
    base, ann, ben = ordinary.base, ordinary.ann, ordinary.ben
    for book in (base, ann, ben):
        book.put("Sheet1", "E6", [["=no formula"]], raw=True)
    ann.put("Sheet1", "C3", [[100]])  # its formula has another result
    ann.put("Sheet1", "F4:F5", [["=C4*3"], ["= c5 * 2.0"]], value_input_option="USER_ENTERED")
    ben.put("Sheet1", "F4", [[77]])
    ben.put("Sheet1", "D7", [["=C7+1"]], value_input_option="USER_ENTERED")
    changes = sa.diff(base.url, ann.url, client=base.client)
    assert "Sheet1!F4: =C4*2 -> =C4*3" in repr(changes)
    assert "1 formula as before, with another result" in repr(changes)
    (conflict,) = ordinary.merge(prefer=ann.url).conflicts
    assert {*map(str, conflict.values.values())} == {"=C4*3", "77"}
    rows = formulas_of(base)
    assert [rows[row][5] for row in range(1, 7)] == ["=C2*2", "=C3*2", "=C4*3", "=C5*2", "=C6*2", "=C7*2"]
    assert [rows[2][2], rows[5][4], rows[6][3]] == [100, "=no formula", "=C7+1"]
    assert len(ordinary.sent()) == 3
    ann.put("Sheet1", "F3", [[1000]], raw=True)
    ordinary.merge(prefer=ann.url)
    assert formulas_of(base)[2][5] == 1000


def test_formulas_go_with_the_rows_that_are_added_and_deleted(ordinary: Books) -> None:
    ordinary.ann.sheet("Sheet1").delete_rows(3)
    ordinary.ben.put("Sheet1", "A8", [["x7", "2024-06-01", 9.5, 7, "new", "=C8*2+$C$1"]], raw=False)
    ordinary.merge()
    rows = formulas_of(ordinary.base)
    assert [row[5] for row in rows[1:]] == [*(f"=C{row}*2" for row in range(2, 7)), "=C7*2+$C$1"]
    assert [row[0] for row in rows[1:]] == ["001", "003", "004", "005", "006", "x7"]


def test_a_copy_without_formulas_changes_none(ordinary: Books, tmp_path: Path) -> None:
    rows = ordinary.base.sheet("Sheet1").get_all_values()
    rows[2][2:4] = "100", "9"
    (tmp_path / "copy.csv").write_text("\n".join(map(",".join, rows)))
    sa.merge(ordinary.base.url, tmp_path / "copy.csv", target=ordinary.base.url, client=ordinary.base.client)
    assert formulas_of(ordinary.base)[2][2:] == [100, 9, "", "=C3*2"]


@pytest.mark.parametrize("kind", ["formula", "value", "row"])
def test_formulas_that_do_not_belong_to_the_values_are_refused(ordinary: Books, kind: str) -> None:
    """Somebody writes to the base between its values and its formulas, or between its formulas and the write."""
    sheet = ordinary.base.sheet("Sheet1")
    ordinary.ann.put("Sheet1", "C3", [[100]], raw=True)
    edits = {
        "formula": lambda: sheet.update([["=C4*5"]], "F4", raw=False),
        "value": lambda: sheet.update([["by hand"]], "E2", raw=True),
        "row": lambda: sheet.insert_row([], 2),
    }

    def strikes(record: Any) -> bool:
        key, word = (ordinary.ben.key, "") if kind == "formula" else (ordinary.base.key, "=FORMULA")
        return key in record.path and word in record.query

    with (
        meanwhile(ordinary.base.server, strikes, edits[kind]),
        pytest.raises(sa.FormatError, match="changed since it was read"),
    ):
        ordinary.merge()


def test_a_formula_that_the_service_does_not_keep_leaves_the_old_cells(ordinary: Books) -> None:
    base = ordinary.base
    ordinary.ann.put("Sheet1", "F4", [["=C4*3"]], raw=False)
    ordinary.ann.put("Sheet1", "C3", [[100]], raw=True)
    base.change_requests(lambda _, body: body.replace(b'"numberValue":100', b'"numberValue":101'))
    before = formulas_of(base)
    with pytest.raises(sa.DTypeError, match="keeps 100"):
        ordinary.merge()
    assert formulas_of(base) == before


def test_what_others_change_while_a_table_is_merged_is_never_lost(ordinary: Books) -> None:
    base = ordinary.base
    ordinary.ann.put("Sheet1", "C3", [[100]], raw=True)

    def is_of_last_copy(record: Any) -> bool:
        return ordinary.ben.key in record.path

    def edit() -> None:
        base.put("Sheet1", "E2", [["by hand"]], raw=True)

    with (
        meanwhile(base.server, is_of_last_copy, edit),
        pytest.raises(sa.FormatError, match="the table has changed since it was read"),
    ):
        ordinary.merge()
    assert [base.sheet("Sheet1").acell(cell).value for cell in ("C3", "E2")] == ["3", "by hand"]


def test_cells_in_the_way_of_added_rows_are_refused(books: Books) -> None:
    table = {"a": np.arange(3), "b": np.arange(3.0)}
    for book in (books.base, books.ann, books.ben):
        book.write(table)
    sa.append(books.ann.url, {"a": [3], "b": [3.5]}, client=books.ann.client)
    books.base.table.add_rows(5)
    books.base.table.update([["total", ""]], "A7", raw=True)
    sa.append(books.ben.url, {"a": [4, 5], "b": [4.5, 5.5]}, client=books.ben.client)
    before = books.base.dump()
    with pytest.raises(sa.FormatError, match="a cell beside the table is in the way"):
        books.merge()
    assert books.base.dump() == before


@pytest.mark.fault(
    "The service fails, or changes a cell, while tables are merged.", "The base is the old or merged one."
)
@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("fault", [503, "reset-after", "empty", 403, "odd cell"])
def test_a_merge_of_tables_is_whole_or_absent(grids: Books, fault: Any) -> None:
    base = grids.base
    if fault == "odd cell":
        base.change_requests(lambda _, body: body.replace(b'"numberValue":7.25', b'"numberValue":7.5'))
        with pytest.raises(sa.DTypeError, match=r"keeps 7\.25 as 7\.5"):
            grids.merge()
    else:
        base.server.faults.append(Fault(status=fault, method="POST"))
        try:
            grids.merge()
        except sa.RemoteError:
            assert fault == 403
    wanted = GRID if fault in (403, "odd cell") else merged_grid(1 / 7)
    grid = sa.read_dataset(base.url, client=base.client)
    xr.testing.assert_identical(
        grid.assign_coords(site=grid["site"].values.astype("<U6")), wanted.assign_coords(site=wanted["site"].values)
    )
    assert base.check() == []


def test_tables_of_several_worksheets_are_merged_by_one_batch(books: Books) -> None:
    for book in (books.base, books.ann, books.ben):
        for title in ("north", "south"):
            book.write({"site": np.array(["a", "b"]), "t": np.array([0.1, 0.2])}, sheet=title)
    books.ann.sheet("north").update([[5.5]], "B2", raw=True)
    books.ben.sheet("south").update([[6.5]], "B3", raw=True)
    books.base.server.requests.clear()
    assert not books.merge().conflicts
    assert len([request for request in books.base.server.requests if request.method == "POST"]) == 1
    client = books.base.client
    assert sa.read(books.base.url, "t", sheet="north", client=client).tolist() == [5.5, 0.2]
    assert sa.read(books.base.url, "t", sheet="south", client=client).tolist() == [0.1, 6.5]


@pytest.fixture
def side_by_side(books: Books) -> Books:
    """Two recorded tables on one worksheet, which have a column of one name."""
    for book in (books.base, books.ann, books.ben):
        sheet = book.sheet("Sheet1")
        sa.write_table(sheet, {"day": np.arange(3), "t": np.array([0.1, 0.2, 0.3])})
        sa.write_table(sheet, {"day": np.arange(5), "kind": np.array(list("abcde"))}, at="D1")
    return books


def columns_of(book: TableBook) -> list[list[Any]]:
    return [[cell for cell in column if cell is not None] for column in zip(*book.cells("Sheet1"), strict=True)]


@pytest.mark.parametrize("place", ["spreadsheet", "worksheet", "sheet"])
def test_tables_on_one_worksheet_are_merged_each_by_itself(side_by_side: Books, place: str) -> None:
    base, ann, ben = side_by_side.base, side_by_side.ann, side_by_side.ben
    sa.append(ann.url, {"day": [7], "t": [7.5]}, client=ann.client)
    ann.sheet("Sheet1").update([[9.5]], "B3", raw=True)
    ben.sheet("Sheet1").update([["", ""]], "D6:E6", raw=True)
    sa.append(ann.url, {"day": [8], "kind": ["z"]}, client=ann.client)
    ben.put("Sheet1", "H3", [["why?"]], raw=True)
    urls = [f"{book.url}/Sheet1" if place == "worksheet" else book.url for book in (base, ann, ben)]
    options = {"sheet": "Sheet1"} if place == "sheet" else {}
    merged = sa.merge(*urls, target=urls[0], client=base.client, **options)
    assert [[(remark.cell, remark.text) for remark in file.remarks] for file in merged.files] == [
        [],
        [("Sheet1!H3", "why?")],
    ]
    assert {*merged.arrays} == {"Sheet1!day", "t", "Sheet1 (2)!day", "kind"}
    assert columns_of(base) == [
        ["day", 0, 1, 2, 7],
        ["t", 0.1, 9.5, 0.3, 7.5],
        [],
        ["day", 0, 1, 2, 3, 8],
        ["kind", "a", "b", "c", "d", "z"],
    ]
    assert base.check() == []


def test_a_table_that_a_copy_lacks_stays_and_one_in_another_place_is_found(side_by_side: Books) -> None:
    side_by_side.ann.sheet("Sheet1").update([[""] * 2] * 4, "A1:B4", raw=True)
    ben = side_by_side.ben.sheet("Sheet1")
    ben.insert_cols([[]], 1)
    ben.update([[5.5]], "C2", raw=True)
    ben.update_title("Data")
    with pytest.warns(sa.SheetArrayWarning) as told:
        assert not side_by_side.merge().conflicts
    texts = [str(warning.message) for warning in told]
    assert [text.partition(": ")[2] for text in texts] == [
        "there is no table 'Sheet1 (day, t)', and the base's stays as it is",
        "the sheet 'Sheet1' is called 'Data' there, and keeps its title",
    ]
    assert [len(column) for column in columns_of(side_by_side.base)] == [4, 4, 0, 6, 6]
    assert columns_of(side_by_side.base)[1] == ["t", 5.5, 0.2, 0.3]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_tables_on_one_worksheet_are_one_where_a_copy_keeps_no_record(
    books: Books, tmp_path: Path, suffix: str
) -> None:
    for book in (books.base, books.ann):
        sa.write_table(book.sheet("Sheet1"), {"a": np.arange(3), "b": np.array([0.1, 0.2, 0.3])})
        sa.write_table(book.sheet("Sheet1"), {"c": np.arange(5), "d": np.array(list("xyzuv"))}, at="D1")
    books.ann.sheet("Sheet1").update([[9.5]], "B3", raw=True)
    rows = books.base.cells("Sheet1")
    rows[5][4] = "edited"
    path = tmp_path / f"Sheet1.{suffix}"
    pd.DataFrame(rows).to_csv(path, header=False, index=False) if suffix == "csv" else pd.DataFrame(rows).to_excel(
        path, sheet_name="Sheet1", header=False, index=False
    )
    with pytest.warns(sa.SheetArrayWarning, match="does a second table begin here"):
        merged = sa.merge(books.base.url, path, books.ann.url, target=books.base.url, client=books.base.client)
    assert not merged.conflicts
    assert books.base.cells("Sheet1")[2:6:3] == [[1, 9.5, None, 1, "y"], [None, None, None, 4, "edited"]]


def test_tables_on_one_worksheet_go_to_sheets_of_their_own(side_by_side: Books, tmp_path: Path) -> None:
    side_by_side.ann.sheet("Sheet1").update([["q"]], "E2", raw=True)
    side_by_side.merge(target=tmp_path / "merged.xlsx")
    assert sa.read(tmp_path / "merged.xlsx", "t", sheet="Sheet1").tolist() == [0.1, 0.2, 0.3]
    assert sa.read(tmp_path / "merged.xlsx", "kind", sheet="Sheet1 (2)").tolist() == list("qbcde")


def test_a_column_between_two_tables_is_of_the_left_one(side_by_side: Books) -> None:
    side_by_side.ann.put("Sheet1", "C1", [["more"], [1], [2], [3]], raw=True)
    side_by_side.merge()
    assert columns_of(side_by_side.base)[2] == ["more", 1, 2, 3]
    assert side_by_side.base.check() == []
    client = side_by_side.base.client
    assert sa.read(side_by_side.base.url, "more", client=client).tolist() == [1, 2, 3]


PLACES = ["google", "xlsx", "csv"]


@settings(max_examples=examples(48))
@given(seed=st.integers(0, 2**20), copies=st.lists(st.sampled_from(PLACES), min_size=2, max_size=4))
def test_tables_of_all_places_are_merged_as_the_model_says(
    server: SheetsServer, tmp_path_factory: pytest.TempPathFactory, seed: int, copies: list[str]
) -> None:
    trial = draw_trial(seed, kinds=["float64", "int64", "<U8"], copies=len(copies))
    folder = tmp_path_factory.mktemp("merging")
    tables = [trial.base, *([values for _, values in copy.rows] for copy in trial.copies)]
    client = server.client()
    files = []
    for number, (place, rows) in enumerate(zip(["google", *copies], tables, strict=True)):
        target = f"gsheets://{server.create()}" if place == "google" else str(folder / f"{number}.{place}")
        options = {"client": client} if place == "google" else {}
        write_quietly(target, pd.DataFrame(trial.arrays(rows)), **options)
        files.append(target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        merged = sa.merge(*files, target=files[0], client=client, key="c0")
    rows, conflicts = merge_plainly(trial)
    read = sa.read(files[0], client=client)
    for name, array in trial.arrays(rows).items():
        assert read[name].tolist() == array.tolist(), (name, files)
    found = {(one.index[0], int(one.array[1:])): [*one.values] for one in merged.conflicts if one.index is not None}
    assert found == {key: [files[1 + int(file[1:])] for file in values] for key, values in conflicts.items()}
    assert [*sa.check(files[0], client=client)] == []
