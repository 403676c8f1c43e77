"""A table that write_table put into Google Sheets is the arrays: every verb takes it, exactly, without an option."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from limits import set_limits
from recorded import GRID, KINDS, assert_same, plain, write_quietly
from services import TableBook, meanwhile

import sheetarray as sa
from sheets_emulator import SheetsServer


@pytest.fixture
def book(server: SheetsServer) -> TableBook:
    return TableBook(server)


def test_a_write_and_a_read_take_two_requests_each(book: TableBook) -> None:
    url, count = book.counted(lambda: book.write(GRID, verify=False))
    assert count == 2
    grid, count = book.counted(lambda: sa.read_dataset(url, client=book.client))
    xr.testing.assert_identical(grid, GRID)
    assert count == 2
    infos, count = book.counted(lambda: sa.scan(url, client=book.client))
    assert {name: info.dims for name, info in infos.items()} == {
        "t": ("site", "day"),
        "height": ("site",),
        "site": ("site",),
        "day": ("day",),
    }
    assert count == 2


def test_people_may_sort_rows_and_insert_rows_and_columns(book: TableBook) -> None:
    url = book.write(GRID)
    rows = book.table.get_all_values(value_render_option="UNFORMATTED_VALUE")
    book.table.update([rows[0], *reversed(rows[1:])], "A1", raw=True)
    again = sa.read_dataset(url, client=book.client)
    xr.testing.assert_identical(again.sortby("site").sortby("day"), GRID.sortby("site").sortby("day"))
    book.table.insert_rows([["Our measurements"], []], 1)
    book.table.insert_cols([[]], 2)
    again = sa.read_dataset(url, client=book.client)
    xr.testing.assert_identical(again.sortby("site").sortby("day"), GRID.sortby("site").sortby("day"))


def test_rows_that_people_add_are_accepted(book: TableBook) -> None:
    url = book.write(GRID)
    day = book.table.get("B3", value_render_option="UNFORMATTED_VALUE")[0][0]
    book.table.add_rows(1)
    book.table.update([["Genf", day, 7.5, 4.0]], "A14", raw=True)
    book.table.update([["n/a"]], "C4", raw=True)
    found = list(sa.check(url, client=book.client))
    assert [(finding.location, finding.index) for finding in found] == [("table!C4", (0, 2)), ("sheet table", None)]
    assert "13 rows of data, but 12 were written" in found[1].message
    with pytest.raises(sa.FormatError, match="13 rows of data"):
        sa.read(url, "height", client=book.client)
    with pytest.warns(sa.SheetArrayWarning, match="C4"):
        assert sa.accept(url, client=book.client)
    book.table.update([[GRID["t"].values[0, 2].item()]], "C4", raw=True)
    assert list(sa.check(url, client=book.client)) == []
    grid = sa.read_dataset(url, client=book.client)
    xr.testing.assert_identical(grid.isel(site=slice(3)), GRID)
    np.testing.assert_array_equal(grid["t"].values[3], [np.nan, 7.5, np.nan, np.nan])
    assert not sa.accept(url, client=book.client)


def test_a_record_that_is_lost_leaves_an_ordinary_table(book: TableBook) -> None:
    url = book.write(plain(np.arange(6.0)))
    book.table.update([["other", "names"]], "A1", raw=True)
    with pytest.warns(sa.SheetArrayWarning, match="no columns 'v', 'k' any more, and is read as any other sheet"):  # noqa: SIM117
        with pytest.raises(sa.FormatError, match="no array"):
            sa.read(url, client=book.client)


def test_a_large_table_is_the_arrays(book: TableBook, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, google_batch=30_000)
    table = {"day": np.datetime64("2000-01-01") + np.arange(5000), "x": np.arange(5000) / 7}
    url = book.write(table, verify=False)
    set_limits(monkeypatch, google_cells_of_a_read=1000)
    set_limits(monkeypatch, google_cells_at_once=1000)
    assert_same(sa.read(url, client=book.client), table)
    blocks = [*sa.iter_blocks(url, "x", rows=1700, client=book.client)]
    np.testing.assert_array_equal(np.concatenate(blocks), table["x"])


def test_rows_are_appended_by_three_requests(book: TableBook) -> None:
    frame = pd.DataFrame({name: values[:4] for name, values in KINDS.items()}, pd.Index(list("abcd"), name="letter"))
    url = book.write(frame, verify=False)
    rows = {"letter": np.array(["e", "f"]), **{name: values[4:] for name, values in KINDS.items()}}
    lengths, count = book.counted(lambda: sa.append(url, rows, client=book.client))
    assert (lengths, count) == (dict.fromkeys(rows, 6), 3)
    assert list(sa.check(url, client=book.client)) == []
    for name, values in KINDS.items():
        dtype = values.dtype if values.dtype.kind != "M" else frame[name].dtype  # pandas has no days
        assert_same({name: sa.read(url, name, client=book.client)}, {name: values.astype(dtype)})
    assert sa.read_frame(url, client=book.client).index.tolist() == list("abcdef")


def test_a_new_label_is_appended_to_a_tidy_table(book: TableBook) -> None:
    url = book.write(GRID)
    row = {"site": ["Genf"], "day": GRID["day"].values[1:2], "t": [7.5], "height": [4.0]}
    sa.append(url, row, client=book.client)
    grid = sa.read_dataset(url, client=book.client)
    xr.testing.assert_identical(grid.isel(site=slice(3)), GRID)
    assert grid["t"].values[3, 1] == 7.5
    before = book.dump()
    for wrong, error, message in (
        (row, sa.FormatError, "rows 13 and 14 of the table have the same"),
        ({**row, "site": ["Lugano"], "t": ["warm"]}, sa.DTypeError, "t"),
        ({"site": ["Lugano"], "t": [1.5]}, sa.LimitError, "shares? the rows"),
    ):
        with pytest.raises(error, match=message):
            sa.append(url, wrong, client=book.client)
    assert book.dump() == before


def test_of_eight_who_append_at_once_nobody_loses_a_row(book: TableBook) -> None:
    url = book.write({"who": np.arange(1), "v": np.array([0.1 + 0.2])}, verify=False)
    failures: list[BaseException] = []

    def add(number: int) -> None:
        try:
            sa.append(url, {"who": np.array([number]), "v": np.array([number / 7])}, client=book.server.client())
        except sa.SheetArrayError as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    arrays = sa.read(url, client=book.client)
    assert len(arrays["who"]) == 9 - len(failures)
    assert not failures
    assert sorted(arrays["who"].tolist()) == list(range(9))
    assert sorted(arrays["v"].tolist()) == sorted([0.1 + 0.2, *(number / 7 for number in range(1, 9))])


def test_tables_stand_beside_each_other_and_beside_arrays(book: TableBook) -> None:
    """None of them has a blank column between it and the next one."""
    url = book.write({"k": np.arange(3), "v": np.array([0.5, np.nan, 1.5])}, sheet="s")
    book.write({"a": np.array(["x", ""]), "b": np.arange(2, dtype=np.uint8)}, sheet="s", at="C1")
    book.write({"d": np.arange(4.0), "c": np.arange(4)}, sheet="s", at="E1")
    sa.write(url, {"z": np.arange(3.0), "y": np.arange(2)}, client=book.client)
    written = {name: array.tolist() for name, array in sa.read(url, client=book.client).items()}
    assert (written["v"][2], written["a"]) == (1.5, ["x", ""])
    assert list(written) == [*"zykvabdc"]
    assert [len(array) for array in written.values()] == [3, 2, 3, 3, 2, 2, 4, 4]
    assert list(sa.check(url, client=book.client)) == []
    sheet = book.opened.worksheet("s")
    sheet.insert_rows([["Notes"]], 1)
    sheet.insert_cols([[]], 3)
    _, count = book.counted(lambda: sa.append(url, {"c": [4], "d": [4.0]}, client=book.client))
    assert count == 3
    sheet.update([[9, 9.5]], "A6", raw=True)
    assert sa.accept(url, client=book.client)
    arrays = sa.read(url, client=book.client)
    assert (arrays["k"].tolist(), arrays["c"].tolist(), arrays["b"].dtype) == ([0, 1, 2, 9], [0, 1, 2, 3, 4], np.uint8)
    assert list(sa.check(url, client=book.client)) == []


def test_tables_of_one_worksheet_that_share_a_name_are_read_by_the_other_names(book: TableBook) -> None:
    url = book.write({"a": np.arange(2), "b": np.arange(2.0)}, sheet="s")
    book.write({"a": np.arange(4.0), "c": np.arange(4)}, sheet="s", at="C1")
    assert sa.read(url, ["b", "c"], client=book.client)["c"].tolist() == [0, 1, 2, 3]
    with pytest.raises(sa.FormatError, match=r"two arrays have the name 'a', in two tables of the sheet 's' \(names="):
        sa.read(url, client=book.client)
    before = book.dump()
    for wrong in ({"b": np.arange(2)}, {"b": np.arange(2), "a": np.arange(2)}):
        with pytest.raises(sa.LimitError, match="a table with these columns stands there already"):
            book.write(wrong, sheet="s", at="M1")
    assert book.dump() == before


def test_a_table_that_people_have_cleared_leaves_its_record_to_none(book: TableBook) -> None:
    url = book.write({"k": np.arange(3)}, sheet="s")
    book.write({"b": np.arange(2)}, sheet="s", at="C1")
    book.opened.worksheet("s").batch_clear(["A1:A4"])
    with pytest.warns(sa.SheetArrayWarning, match="no columns 'k' any more"):
        assert_same(sa.read(url, client=book.client), {"b": np.arange(2)})
    book.write({"k": np.arange(2.0)}, sheet="s", at="A10")
    assert_same(sa.read(url, client=book.client), {"b": np.arange(2), "k": np.arange(2.0)})


@pytest.mark.parametrize("na_rep", ["", "NaN", "-", "k.A."])
def test_missing_values_are_blank_cells_or_a_word(book: TableBook, na_rep: str) -> None:
    table = {
        "x": np.array([0.5, np.nan, 1.5]),
        "day": np.array(["2020-01-01", "NaT", "2020-01-03"], "M8[D]"),
        "text": np.array(["a", "b", "n/a"]),
    }
    url = book.write(table, na_rep=na_rep)
    assert book.table.row_values(3) == [na_rep, na_rep, "b"]
    assert_same(sa.read(url, client=book.client), table)
    assert list(sa.check(url, client=book.client)) == []
    rows = {"x": np.array([np.nan, 2.5]), "day": np.array(["NaT", "2020-01-05"], "M8[D]"), "text": ["b", ""]}
    sa.append(url, rows, client=book.client)
    arrays = sa.read(url, client=book.client)
    np.testing.assert_array_equal(arrays["x"], [0.5, np.nan, 1.5, np.nan, 2.5])
    assert (np.isnat(arrays["day"]).tolist(), arrays["text"].tolist()[3:]) == (
        [False, True, False, True, False],
        ["b", ""],
    )


@pytest.mark.parametrize("layout", ["arrays", "table"])
def test_words_that_people_type_for_missing_values(book: TableBook, layout: str) -> None:
    content = {"x": np.arange(4.0), "n": np.arange(4), "s": np.array(list("abcd"))}
    sa.write(book.url, content, layout=layout, client=book.client, **({"verify": False} if layout == "table" else {}))
    sheet = book.opened.worksheet(layout)
    rows = sheet.get_all_values()
    column = rows[0].index("x") + 1
    first = 2 if layout == "table" else next(at for at, row in enumerate(rows, 1) if row[column - 1] == "data") + 1
    sheet.update([["n/a"], ["k.A."], [""]], f"R{first + 1}C{column}", raw=True)
    sheet.update([["n/a"]], f"R{first}C{rows[0].index('s') + 1}", raw=True)
    how: dict[str, Any] = {"client": book.client, "missing": "nan"}
    with pytest.raises(sa.FormatError, match=r"found 'k\.A\.'"):
        sa.read(book.url, **how)
    with pytest.warns(sa.SheetArrayWarning, match=r"'x': . cells? holds? .* for (a )?missing value"):
        arrays = sa.read(book.url, na_values=["k.A."], **how)
    np.testing.assert_array_equal(arrays["x"], [0, np.nan, np.nan, np.nan])
    assert (arrays["n"].tolist(), arrays["s"].tolist()) == ([0, 1, 2, 3], ["n/a", "b", "c", "d"])


def test_a_cell_that_cannot_be_read_hinders_no_append(book: TableBook) -> None:
    url = book.write(GRID)
    book.table.update([["n/a"]], "C4", raw=True)
    sa.append(url, {"site": ["Genf"], "day": GRID["day"].values[1:2], "t": [7.5], "height": [4.0]}, client=book.client)
    assert [finding.location for finding in sa.check(url, client=book.client)] == ["table!C4"]
    with pytest.warns(sa.SheetArrayWarning, match="read as NaN"):
        values = sa.read(url, "t", client=book.client, missing="nan")
    assert (np.isnan(values[0, 2]), values[3, 1]) == (True, 7.5)
    book.table.update([["?"]], "B4", raw=True)
    with pytest.raises(sa.FormatError, match="B4"):
        sa.append(url, {"site": ["Sion"], "day": GRID["day"].values[:1], "t": [1], "height": [4.0]}, client=book.client)


@pytest.mark.parametrize("limit", [100_000, 0])
def test_a_table_that_is_replaced_while_it_is_read_is_read_anew(
    book: TableBook, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """The new one has the names of the old one, but other dtypes, rows and labels."""
    set_limits(monkeypatch, google_cells_of_all=limit)
    url = book.write(GRID)
    other = GRID.isel(site=slice(2)).assign(t=GRID["t"].isel(site=slice(2)).round() * 2)
    other["t"].attrs["units"] = "K"
    reads = 0

    def is_of_cells(record: Any) -> bool:
        nonlocal reads
        reads += record.method == "GET"
        return reads == 2

    client = book.server.client()
    with meanwhile(
        book.server,
        is_of_cells,
        lambda: write_quietly(url, other, if_sheet_exists="replace", client=client, verify=False),
    ):
        xr.testing.assert_identical(sa.read_dataset(url, client=book.client), other)
    row = {"site": ["Genf"], "day": GRID["day"].values[1:2], "t": [8.0], "height": [4.0]}
    reads = 0
    with meanwhile(book.server, is_of_cells, lambda: sa.append(url, row, client=client)):
        assert sa.read(url, "t", client=book.client).shape == (3, 4)
