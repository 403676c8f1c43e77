"""A table that write_table put into a workbook is the arrays: read and read_dataset need no option, and lose no bit."""

from __future__ import annotations

import io
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from excel_packages import parts, zipped
from limits import set_limits
from recorded import (
    GRID,
    KINDS,
    assert_same,
    change_record,
    edit,
    labelled,
    plain,
    put_rows,
    rows_of,
    write_arrays,
    write_quietly,
)
from services import Book

import sheetarray as sa
from sheets_emulator import SheetsServer


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_with_columns_to_the_right_is_the_same_arrays_as_arrays(kind: str, tmp_path: Path) -> None:
    table, arrays = tmp_path / "table.xlsx", tmp_path / "arrays.xlsx"
    content = labelled(KINDS[kind])
    write_arrays(arrays, content)
    write_quietly(table, content, columns="y")
    assert_same(sa.read(table), sa.read(arrays))
    assert_same({"v": sa.read(table, "v")}, {"v": sa.read(arrays, "v")})
    xr.testing.assert_identical(sa.read_dataset(table, ["v"]), sa.read_dataset(arrays, ["v"]))


def test_rows_may_be_sorted_and_columns_added_and_moved(tmp_path: Path) -> None:
    grid = labelled(np.arange(6.0))
    write_quietly(tmp_path / "t.xlsx", grid)

    def change(book: Any) -> None:
        sheet = book["table"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
        for number, row in enumerate([rows[0], *reversed(rows[1:])], 1):
            order = [1, 0, *range(2, len(row))]
            for place, column in enumerate(order, 1):
                sheet.cell(number, place).value = row[column]
            sheet.cell(number, len(row) + 1).value = "note" if number == 1 else f"n{number}"
        sheet.tables["table"].ref = f"A1:E{len(rows)}"
        table = sheet.tables["table"]
        table.autoFilter.ref = table.ref
        table.tableColumns = []
        table._initialise_columns()
        for column, name in zip(table.tableColumns, [cell.value for cell in sheet[1]], strict=True):
            column.name = name

    edit(tmp_path / "t.xlsx", change)
    again = sa.read_dataset(tmp_path / "t.xlsx")
    xr.testing.assert_equal(again["v"].sortby("x").sortby("y"), grid["v"].sortby("x").sortby("y"))
    assert again["note"].sizes == {"x": 2, "y": 3}


def test_a_row_of_totals_is_no_row(tmp_path: Path) -> None:
    write_quietly(tmp_path / "t.xlsx", plain(np.arange(6.0)))

    def change(book: Any) -> None:
        sheet = book["table"]
        sheet["A8"] = 15
        table = sheet.tables["table"]
        table.ref, table.totalsRowCount = "A1:B8", 1

    edit(tmp_path / "t.xlsx", change)
    assert_same(sa.read(tmp_path / "t.xlsx"), plain(np.arange(6.0)))


def test_several_tables_are_read_together_unless_a_name_is_in_two(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"a": np.arange(2)})
    write_quietly(path, {"b": np.arange(3, dtype=np.int8)}, mode="a", sheet="other")
    assert_same(sa.read(path), {"a": np.arange(2), "b": np.arange(3, dtype=np.int8)})
    write_quietly(path, {"b": np.arange(4)}, mode="a", sheet="third")
    with pytest.raises(sa.FormatError, match="two arrays have the name 'b', in the sheets 'other' and 'third'"):
        sa.read(path)
    assert_same(sa.read(path, sheet="third"), {"b": np.arange(4)})


def test_a_table_whose_record_is_lost_is_an_ordinary_table(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, plain(np.arange(6.0)))

    def change(book: Any) -> None:
        for name in [entry.name for entry in book.custom_doc_props.props]:
            del book.custom_doc_props[name]

    edit(path, change)
    with pytest.raises(sa.FormatError, match="no array of the exchange format here"):
        sa.read(path)
    assert sa.read_columns(path)["k"].tolist() == list(range(6))


def test_a_table_without_its_row_of_names_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, {"p": np.array([1.5, 2.5, 3.5]), "q": np.array(["u", "v", "w"])})

    def clear_names(book: Any) -> None:
        for cell in book.active[1]:
            cell.value = None

    before = shutil.copy(path, tmp_path / "before.xlsx")
    edit(path, clear_names)
    with pytest.warns(sa.SheetArrayWarning, match="'p', 'q' any more: their names stood in A1:B1"):
        sa.read(path)
    with pytest.warns(sa.SheetArrayWarning, match="'p', 'q' any more: their names stood in A1:B1"):
        assert sa.read(path, "1.5").tolist()[:2] == [2.5, 3.5]  # as `read` and `scan` call it
    with pytest.warns(sa.SheetArrayWarning, match="'p', 'q' any more: their names stood in A1:B1"):
        changes = sa.diff(before, path)
    assert [(array.name, array.what) for array in changes.arrays] == [
        ("1.5", "added"),
        ("u", "added"),
        ("p", "deleted"),
        ("q", "deleted"),
    ]


def test_columns_that_lost_their_names_are_read_by_the_names_that_they_have_now(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, {"p": np.arange(3.0), "q": np.array([5, 6, 7]), "r": np.arange(3) > 0})

    def change_names(book: Any) -> None:
        book.active["B1"] = None
        book.active["C1"] = "p"

    before = shutil.copy(path, tmp_path / "before.xlsx")
    edit(path, change_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        arrays = sa.read(path)
        assert [*arrays] == ["p", "B", "p_2"]
        for name, array in arrays.items():
            assert sa.read(path, name).tolist() == array.tolist()
        changes = sa.diff(before, path)
    assert {array.after for array in changes.arrays if array.what == "renamed"} == {"B", "p_2"}


@pytest.mark.parametrize("count", [1, 3])
def test_rows_that_openpyxl_inserts_above_a_table_move_it(count: int, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, {"p": np.array([1, 2, 3], "int8"), "q": np.array(["u", "v", "w"])})
    edit(path, lambda book: book.active.insert_rows(1, count))  # the range of its Excel Table stays
    arrays = sa.read(path)
    assert arrays["p"].dtype == "int8"
    assert arrays["p"].tolist() == [1, 2, 3]
    assert sa.read(path, "q").tolist() == ["u", "v", "w"]
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("zero", [-0.0, 0.0])
def test_a_given_dtype_keeps_the_sign_of_zero_in_a_workbook(zero: float, tmp_path: Path) -> None:
    sa.write_table(tmp_path / "t.xlsx", {"v": np.array([zero, 3.0])})
    for dtype in ("float64", "float32"):
        values = sa.read_columns(tmp_path / "t.xlsx", dtype=dtype)["v"]
        assert np.signbit(values[0]) == np.signbit(zero)
    assert sa.read_columns(tmp_path / "t.xlsx", dtype="int64")["v"].tolist() == [0, 3]


def test_a_table_has_a_snapshot_that_gives_rounded_numbers_their_bits(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    edit(
        path,
        lambda book: put_rows(book, [[round(v, 12) if isinstance(v, float) else v for v in r] for r in rows_of(book)]),
    )
    xr.testing.assert_identical(sa.read_dataset(path, guard=False).round(9), GRID.round(9))
    assert not sa.read_dataset(path, guard=False).identical(GRID)
    write_quietly(path, GRID)
    edit(
        path,
        lambda book: put_rows(
            book, [[float(f"{v:.15g}") if isinstance(v, float) else v for v in r] for r in rows_of(book)]
        ),
    )
    xr.testing.assert_identical(sa.read_dataset(path), GRID)
    assert not sa.read_dataset(path, guard=False).identical(GRID)
    assert list(sa.check(path)) == []


def test_check_names_an_edited_element_by_its_labels_and_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    assert list(sa.check(path)) == []
    edit(path, lambda book: book["table"].__setitem__("C3", 99.5))
    (finding,) = sa.check(path)
    assert (finding.location, finding.array, finding.index) == ("table!C3", "t", (0, 1))
    assert finding.message == "t[0, 1] (Zürich, 2020-01-02): 0.142857 -> 99.5"
    assert sa.read_dataset(path)["t"].values[0, 1] == 99.5
    assert [finding.array for finding in sa.check(path, guard=False) if finding.severity == "error"] == ["t"]


def test_a_new_label_extends_its_dimension(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    day = GRID["day"].values[1].item()
    edit(path, lambda book: book["table"].append(["Genf", day, 7.5, 4.0]))
    with pytest.raises(sa.FormatError, match=r"13 rows of data, but 12 were written \(resize=True"):
        sa.read_dataset(path)
    grid = sa.read_dataset(path, resize=True)
    assert grid["site"].values.tolist() == ["Zürich", "Bern", "Chur", "Genf"]
    xr.testing.assert_identical(grid.isel(site=slice(3)), GRID)
    np.testing.assert_array_equal(grid["t"].values[3], [np.nan, 7.5, np.nan, np.nan])
    assert any("Genf" in finding.message for finding in sa.check(path))


def test_combinations_without_a_row_are_refused_where_the_dtype_has_no_missing_value(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID.assign(n=(("site", "day"), np.arange(12).reshape(3, 4))))
    edit(path, lambda book: book["table"].delete_rows(6))
    with pytest.raises(sa.FormatError, match=r"'n': 1 of 12 .* site=Bern, day=2020-01-01.*int64 has no missing value"):
        sa.read(path, resize=True)


def test_a_combination_given_twice_is_an_error_with_both_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    edit(path, lambda book: put_rows(book, [rows_of(book)[0], rows_of(book)[2], *rows_of(book)[2:]]))
    with pytest.raises(sa.FormatError, match="rows 1 and 2 of the table have the same"):
        sa.read(path)
    assert "rows 1 and 2" in next(iter(sa.check(path))).message


def test_tables_stand_beside_arrays_and_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"a": np.arange(3.0)})
    write_quietly(path, GRID, mode="a")
    write_quietly(path, pd.DataFrame({"x": [1.5, 2.5]}), sheet="more", mode="a")
    arrays = sa.read(path)
    assert list(arrays) == ["a", "t", "height", "site", "day", "x"]
    assert list(sa.read(path, ["x", "a"])) == ["x", "a"]
    assert list(sa.check(path)) == []
    np.testing.assert_array_equal(arrays["t"], GRID["t"].values)
    edit(path, lambda book: book["arrays"].__setitem__("A20", 5))
    sa.accept(path)
    np.testing.assert_array_equal(sa.read(path, "t"), GRID["t"].values)
    edit(path, lambda book: book["table"].__setitem__("C3", 99.5))
    assert [finding.location for finding in sa.check(path)] == ["table!C3"]


def add_genf(book: Any) -> None:
    book["table"].append(["Genf", GRID["day"].values[1].item(), 7.5, 4.0])


def test_accept_leaves_a_cell_that_cannot_be_read_and_keeps_its_last_value(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    edit(path, lambda book: (book["table"].__setitem__("C3", "n/a"), book["table"].__setitem__("C5", 5)))
    with pytest.warns(sa.SheetArrayWarning, match="C3"):
        sa.accept(path)
    (finding,) = sa.check(path)
    assert (finding.location, finding.array, finding.index) == ("table!C3", "t", (0, 1))
    sa.restore(path, tmp_path / "restored.xlsx")
    restored = sa.read_dataset(tmp_path / "restored.xlsx")["t"].values
    assert (restored[0, 1], restored[0, 3]) == (GRID["t"].values[0, 1], 5)


def test_a_cell_that_cannot_be_read_blocks_nothing_but_reading_its_array(tmp_path: Path) -> None:
    before, path = tmp_path / "a.xlsx", tmp_path / "t.xlsx"
    write_quietly(before, GRID)
    write_quietly(path, GRID)
    edit(path, lambda book: (book["table"].__setitem__("C3", "n/a"), book["table"].__setitem__("C5", 5)))
    assert sa.scan(path)["t"].shape == (3, 4)
    assert "t[0, 1] (Zürich, 2020-01-02)" in repr(sa.diff(before, path))
    assert "t[0, 3] (Zürich, 2020-01-04)" in repr(sa.diff(before, path))
    np.testing.assert_array_equal(sa.read(path, "height"), GRID["height"].values)
    with pytest.raises(sa.FormatError, match=r"C3 \(t\[0, 1\]\)"):
        sa.read(path, "t")


def test_a_label_that_cannot_be_read_stops_accept_at_its_table_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, GRID)
    write_quietly(path, pd.DataFrame({"x": [1.5, 2.5]}), sheet="more", mode="a")
    sa.write(path, {"a": np.arange(3.0)}, sheet="arrays", mode="a")

    def change(book: Any) -> None:
        book["table"]["B3"], book["more"]["A2"], book["more"]["A4"] = "soon", 7, 8
        book["arrays"]["A" + str(book["arrays"].max_row)] = 9

    edit(path, change)
    with pytest.warns(sa.SheetArrayWarning, match="1 cell cannot be read, and stays as it is: .*B3"):
        assert sa.accept(path)
    assert [finding.location for finding in sa.check(path)] == ["table!B3"]
    assert sa.read(path, "x").tolist() == [7, 2.5, 8]
    assert sa.read(path, "a").tolist() == [0, 1, 9]
    edit(path, lambda book: book["table"].__setitem__("B3", GRID["day"].values[1].item()))
    xr.testing.assert_identical(sa.read_dataset(path, ["t"])["t"], GRID["t"])


@pytest.mark.parametrize("count", [63, 64, 65, 5000])
def test_rows_below_the_range_of_a_table_are_its_rows(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"k": np.arange(2), "v": np.array([0.5, 1.5])})
    edit(path, lambda book: [book["table"].append([number, 2.5]) for number in range(count)])
    assert len(sa.read(path, "v", resize=True)) == 2 + count
    with pytest.raises(sa.FormatError, match=f"{2 + count:,} rows of data, but 2 were written"):
        sa.read(path)


def test_copies_are_merged_and_the_target_is_the_arrays(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.xlsx" for name in ("base", "a", "b", "merged")]
    for path in paths[:3]:
        write_quietly(path, GRID)
    edit(paths[1], lambda book: book["table"].__setitem__("C3", 99.5))
    edit(paths[2], add_genf)
    merged = sa.merge(*paths[:3], target=paths[3])
    assert not merged.conflicts
    assert list(sa.check(paths[3])) == []
    grid = sa.read_dataset(paths[3])
    assert grid["t"].values[0, 1] == 99.5
    assert grid["site"].values.tolist() == ["Zürich", "Bern", "Chur", "Genf"]
    xr.testing.assert_identical(grid["height"].isel(site=slice(3)), GRID["height"])


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        (
            "labels",
            lambda text: text.replace(',"day"]', "]").replace(",4]", "]"),
            "'t' is damaged: its columns do not fit",
        ),
        ("dtypes", lambda _: {}, "no array of the exchange format"),
    ],
)
def test_a_record_that_does_not_fit_its_table_is_told(key: str, change: Any, message: str) -> None:
    book = openpyxl.Workbook()
    write_quietly(book, GRID, columns="day")
    del book["table"].tables["table"]
    change_record(book, lambda note: note.update({key: change(note[key])}))
    with pytest.raises(sa.FormatError, match=message):
        sa.read(book)


def test_rows_are_merged_by_their_coordinates(tmp_path: Path) -> None:
    base, sorted_path, edited = (tmp_path / f"{name}.xlsx" for name in ("base", "sorted", "edited"))
    for path in (base, sorted_path, edited):
        write_quietly(path, GRID)
    rows = rows_of(openpyxl.load_workbook(base))
    changed = [[*row[:2], 70 + number, 1.0] for number, row in enumerate(rows[1:])]  # no row has its content any more
    edit(sorted_path, lambda book: put_rows(book, [rows[0], *reversed(changed)]))
    edit(edited, lambda book: book["table"].__setitem__("C3", 99.5))
    merged = sa.merge(base, sorted_path, edited, target=base)
    (conflict,) = merged.conflicts
    assert (conflict.array, conflict.labels) == ("t", {"site": "Zürich", "day": "2020-01-02"})
    assert conflict.values == {str(sorted_path): 71.0, str(edited): 99.5}
    expected = np.arange(70.0, 82.0).reshape(3, 4)
    expected[0, 1] = GRID["t"].values[0, 1]
    np.testing.assert_array_equal(sa.read(base, "t"), expected)


def test_two_tables_are_compared_by_their_labels(tmp_path: Path) -> None:
    before, after = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    write_quietly(before, GRID)
    write_quietly(after, GRID)
    edit(after, lambda book: put_rows(book, [rows_of(book)[0], *reversed(rows_of(book)[1:])]))
    assert not sa.diff(before, after)
    edit(after, lambda book: book["table"].__setitem__("C13", 99.5))
    assert "t[0, 0] (Zürich, 2020-01-01)" in repr(sa.diff(before, after))
    arrays = tmp_path / "arrays.xlsx"
    sa.write(arrays, GRID)
    assert not sa.diff(arrays, before)


@pytest.mark.parametrize("count", [1024, 1025])
def test_labels_that_are_all_others_take_no_more_memory_than_rows_allow(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, xr.Dataset({"t": (("x", "y"), np.zeros((1, count)))}, {"x": [0], "y": np.arange(count)}))
    edit(path, lambda book: put_rows(book, [["x", "y", "t"], *([n, n, 0.5] for n in range(count))]))
    if count == 1024:
        assert np.count_nonzero(~np.isnan(sa.read(path, "t", resize=True))) == count
        return
    with pytest.raises(sa.FormatError, match=r"only 1,025 rows for 1,050,625 combinations of 'x', 'y'"):
        sa.read(path, resize=True)
    (finding,) = sa.check(path)
    assert finding.severity == "error"


@pytest.mark.parametrize("count", [2, 3, 4])
def test_recorded_tables_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {f"sheet {number}": pd.DataFrame({f"v{number}": [0.5, 1.5]}) for number in range(count)})
    set_limits(monkeypatch, recorded_tables=3)
    if count <= 3:
        assert len(sa.read(path)) == count
        return
    with pytest.warns(sa.SheetArrayWarning, match="more than 3 recorded tables"), pytest.raises(sa.FormatError):
        sa.read(path)
    assert list(sa.read(path, sheet="sheet 2")) == ["v2"]


@pytest.mark.parametrize("layout", ["arrays", "table"])
@pytest.mark.parametrize("name", ["t", None])
def test_a_dataarray_comes_back_by_its_name(tmp_path: Path, layout: Any, name: str | None) -> None:
    array = xr.DataArray(np.arange(6.0).reshape(2, 3) / 7, {"x": [2, 1]}, ("x", "y"), name, {"units": "K"})
    sa.write(tmp_path / "t.xlsx", array, layout=layout)
    xr.testing.assert_identical(sa.read_dataset(tmp_path / "t.xlsx")[name or "array"].rename(name), array)


@pytest.mark.parametrize(("rows", "guard"), [(3, True), (3, False), (1002, True)])
@pytest.mark.parametrize("dtype", ["f8", "c16", "M8[D]", "M8[ns]", "m8[ns]"])
def test_a_blank_is_the_missing_value_of_its_column(dtype: str, guard: bool, rows: int, tmp_path: Path) -> None:
    missing = "NaT" if dtype[0] in "Mm" else np.nan
    values = np.arange(1, rows + 1).astype(dtype)
    values[1] = missing
    write_quietly(tmp_path / "t.xlsx", {"v": values, "k": np.arange(rows)}, guard=guard)
    edit(tmp_path / "t.xlsx", lambda book: book["table"].__setitem__("A3", None))
    assert_same({"v": sa.read(tmp_path / "t.xlsx")["v"]}, {"v": values})
    assert list(sa.check(tmp_path / "t.xlsx")) == []
    edit(tmp_path / "t.xlsx", lambda book: book["table"].__setitem__("A2", None))
    values[0] = missing
    assert_same({"v": sa.read(tmp_path / "t.xlsx")["v"]}, {"v": values})
    assert len(list(sa.check(tmp_path / "t.xlsx"))) == 1


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_a_blank_is_an_error_where_no_value_is_missing(dtype: str, tmp_path: Path) -> None:
    write_quietly(tmp_path / "t.xlsx", {"v": np.ones(3, dtype), "k": np.arange(3)})
    edit(tmp_path / "t.xlsx", lambda book: book["table"].__setitem__("A3", None))
    with pytest.raises(sa.FormatError, match=r"A3 \(v\[1\]\)"):
        sa.read(tmp_path / "t.xlsx")


@pytest.mark.parametrize("elements", [[], [np.nan], [np.nan, np.nan]])
@pytest.mark.parametrize("dtype", ["f8", "f4", "M8[D]", "m8[s]"])
def test_new_rows_have_the_recorded_dtype_where_no_cell_has_a_value(
    tmp_path: Path, dtype: str, elements: list[float]
) -> None:
    path = tmp_path / "t.xlsx"
    column = np.array(elements if dtype[0] == "f" else ["NaT"] * len(elements), dtype)
    new = np.array([0.1], dtype) if dtype[0] == "f" else np.array([7]).astype(dtype)
    sa.write_table(path, {"a": column, "n": np.arange(len(elements))}, verify=False)
    before = path.read_bytes()
    with pytest.raises(sa.DTypeError, match="a: the column holds"):
        sa.append(path, {"a": ["x"], "n": [7]})
    assert path.read_bytes() == before
    sa.append(path, {"a": new, "n": [7]})
    read = sa.read(path)["a"]
    assert read.dtype == column.dtype
    assert read.tobytes() == np.concatenate([column, new]).tobytes()
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("names", [[0, 1, 2], ["2.5", "1", "x"], [2019, 2020]])
def test_names_that_are_numbers_are_names(names: list[Any], tmp_path: Path, server: SheetsServer) -> None:
    frame = pd.DataFrame({name: np.arange(3.0) + number for number, name in enumerate(names)})
    path, texts = tmp_path / "a.xlsx", [str(name) for name in names]
    sa.write_table(path, frame)  # without a warning
    pd.testing.assert_frame_equal(sa.read_frame(path), frame)
    assert list(sa.read_columns(path)) == texts
    assert not sa.diff(path, path)
    book = openpyxl.Workbook()
    sa.write_table(book, frame)
    assert list(sa.read_columns(book, sheet="table")) == texts
    sheets = Book(server)
    url = str(sa.write_table(sheets.url, frame, client=sheets.client))
    assert list(sa.read_columns(url, client=sheets.client)) == texts


def test_a_boolean_cell_that_is_neither_0_nor_1_in_a_large_table() -> None:
    file = io.BytesIO()
    sa.write_table(file, {"a": np.ones(8000, bool), "x": np.arange(8000) / 7}, format="xlsx")
    members = parts(file.getvalue())
    sheet = members["xl/worksheets/sheet1.xml"]
    assert len(sheet) > 2**19  # so that of rows of numbers nothing but these is kept
    members["xl/worksheets/sheet1.xml"] = re.sub(rb'(r="A6000"[^>]*><v>)1', rb"\g<1>2", sheet)
    (finding,) = sa.check(io.BytesIO(zipped(members)), format="xlsx")
    assert (finding.array, finding.index) == ("a", (5998,))
