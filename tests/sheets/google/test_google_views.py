"""Views in Google Sheets: each choice shows its slice, arrays stay whole whatever becomes of their views."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from limits import set_limits
from services import Book, meanwhile

import sheetarray as sa
from sheetarray.errors import LimitError, NotFoundError
from sheets_emulator import Fault

RANDOM = np.random.default_rng(5)
GRID = RANDOM.normal(size=(4, 3, 5))
LABELLED = {
    "t": (("time", "lat", "lon"), GRID),
    "time": (("time",), np.array(["2024-02-28", "2024-02-29", "2024-03-01", "9999-12-31"], "M8[D]")),
    "lat": (("lat",), np.array(["007", "north=1", "TRUE"])),
}


def view_of(book: Book, name: str = "t") -> Any:
    return book.sheet(f"{name} view")


def titles(book: Book) -> list[str]:
    return [sheet.title for sheet in book.opened.worksheets()]


def choose(view: Any, caption: str, choice: Any) -> None:
    """Choose from the list beside a caption, as people do: what they pick is as if it were typed."""
    row = view.col_values(1).index(caption) + 1
    view.update([[choice]], f"B{row}", value_input_option="USER_ENTERED")


def grid_of(view: Any, corner: str, height: int, width: int) -> list[list[Any]]:
    """What stands right of the labels and below them."""
    row = view.col_values(1).index(corner) + 2
    cells = view.get(f"R{row}C2:R{row + height - 1}C{width + 1}", value_render_option="UNFORMATTED_VALUE")
    return [[*line, *[""] * (width - len(line))] for line in cells]


def labelled() -> Any:
    xarray = pytest.importorskip("xarray")
    arrays = {name: value for name, value in LABELLED.items() if name == "t"}
    coordinates = {name: value for name, value in LABELLED.items() if name != "t"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # xarray of what it makes of days
        return xarray.Dataset(arrays, coordinates)


def test_each_label_shows_its_slice(book: Book) -> None:
    book.write(labelled(), views=True)
    assert titles(book) == ["Sheet1", "arrays", "t view"]
    view = view_of(book)
    for index, day in enumerate(LABELLED["time"][1].astype(str).tolist()):
        choose(view, "time:", day)
        assert grid_of(view, "lat \\ lon", 3, 5) == GRID[index].tolist()
    choose(view, "colours over:", "slice")
    assert float(view.acell("G1", value_render_option="UNFORMATTED_VALUE").value) == GRID[3].min()
    for row, label in enumerate(LABELLED["lat"][1].tolist()):
        view.update([[label]], "B4", value_input_option="RAW")
        line = view.get("B15:F15", value_render_option="UNFORMATTED_VALUE")
        assert line == [GRID[3, row].tolist()]
        assert view.acell("A15").value == f"t at {label}, 9999-12-31"  # the name of the line, above the chart


def test_the_sheet_has_choices_colours_a_chart_and_panes(book: Book) -> None:
    book.write(labelled(), views={"t": sa.View(rows="lat", columns="time")})
    sheet = book.resource("t view")
    pane = sheet["properties"]["gridProperties"]
    assert (pane["frozenRowCount"], pane["frozenColumnCount"], pane["rowCount"], pane["columnCount"]) == (16, 1, 19, 6)
    rules = [
        (row, cell["dataValidation"]["condition"])
        for row, line in enumerate(sheet["data"][0]["rowData"], 1)
        for cell in line.get("values", [])
        if "dataValidation" in cell
    ]
    assert [(row, rule["type"]) for row, rule in rules] == [(2, "ONE_OF_LIST"), (3, "ONE_OF_LIST"), (4, "ONE_OF_RANGE")]
    assert [value["userEnteredValue"] for value in rules[0][1]["values"]] == list("01234")
    (rule,) = sheet["conditionalFormats"]
    assert rule["gradientRule"]["midpoint"]["value"] == "=$F$3"
    (chart,) = sheet["charts"]
    (series,) = chart["spec"]["basicChart"]["series"]
    source = series["series"]["sourceRange"]["sources"][0]
    assert (source["startRowIndex"], source["startColumnIndex"]) == (14, 0)
    basic = chart["spec"]["basicChart"]
    assert (basic["legendPosition"], basic["headerCount"], "title" in chart["spec"]) == ("TOP_LEGEND", 1, False)
    hidden = [row for row, line in enumerate(sheet["data"][0]["rowMetadata"], 1) if line.get("hiddenByUser")]
    assert hidden == [14, 15]
    top = [cell.get("formattedValue") for cell in sheet["data"][0]["rowData"][15]["values"]]
    assert top[:3] == ["lat \\ time", "2024-02-28", "2024-02-29"]


@pytest.mark.parametrize(
    "array",
    [
        RANDOM.integers(-5, 5, (3, 2, 4)).astype(np.int8),
        np.asfortranarray(RANDOM.normal(size=(3, 2, 4)))[::-1, :, ::2],
        np.broadcast_to(np.array([[["a", "", "1e5"]]]), (2, 2, 3)),
        RANDOM.random((2, 3, 2, 1, 3)) > 0.5,
        np.array([[2**53 + 1, -(2**60)], [3, 4]]),
        np.arange("2024-01-01", "2024-01-13", dtype="M8[D]").reshape(3, 4),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_indices_choose_slices_of_any_order_and_dtype(book: Book, array: np.ndarray[Any, Any]) -> None:
    book.write({"a": array}, views=True)
    view, rank = view_of(book, "a"), array.ndim
    for index in np.ndindex(array.shape[:-2]):
        for axis, place in enumerate(index):
            choose(view, f"a_{axis}:", place)
        part = array[index]
        cells = grid_of(view, f"a_{rank - 2} \\ a_{rank - 1}", *part.shape)
        wanted: Any = part.tolist()
        if array.dtype.kind == "M":
            wanted = (part - np.datetime64("1899-12-30")).astype(int).tolist()
        elif array.dtype == np.int64:
            wanted = [[str(value) if abs(value) >= 2**53 else value for value in line] for line in wanted]
        assert cells == wanted
    assert set(book.scan()) == {"a"}


def test_a_window_is_moved(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, view_formulas=200, view_window=5)
    array = RANDOM.normal(size=(40, 30))
    book.write({"a": array}, views=True)
    view = view_of(book, "a")
    height = len(view.col_values(1)) - 16
    assert 5 < height < 40
    formulas = view.get("A16:G60", value_render_option="FORMULA")
    assert sum(str(cell).startswith("=") for line in formulas for cell in line) <= 200
    for first_row, first_column, step in ((0, 0, 1), (7, 3, 2), (38, 29, 1)):
        for caption, value in (("first a_0:", first_row), ("first a_1:", first_column), ("step:", step)):
            choose(view, caption, value)
        part = array[first_row::step, first_column::step][:height, :5]
        wanted = [[*line, *[""] * (5 - len(line))] for line in part.tolist()]
        wanted += [[""] * 5] * (height - len(wanted))
        cells = grid_of(view, "a_0 \\ a_1", height, 5)
        assert cells + [[""] * 5] * (height - len(cells)) == wanted


def test_one_formula_makes_the_grid_of_the_largest_view(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, view_formulas=12_000)
    array = np.zeros((2, 100, 110), np.int8)
    book.server.requests.clear()
    book.write({"a": array}, views=True)
    sent = [len(record.received) for record in book.server.requests if b"addChart" in record.received]
    assert len(sent) == 1
    assert sent[0] < 60_000
    ((last,),) = view_of(book, "a").get("R116C111", value_render_option="FORMULA")
    assert last == "=INDEX(a,$DH$14+$DH116*110+DG$14)"


def test_views_are_renewed_kept_and_taken_away_with_their_arrays(book: Book) -> None:
    book.write({"t": GRID, "u": GRID, "v": np.arange(3.0)}, views=["t", "u"])
    first = {name: view_of(book, name).id for name in "tu"}
    choose(view_of(book), "t_0:", 2)
    book.write({"t": GRID + 1})
    assert view_of(book).id == first["t"]  # with what people have chosen in it
    assert grid_of(view_of(book), "t_1 \\ t_2", 3, 5) == (GRID[2] + 1).tolist()
    view_of(book).update_title("my look")
    book.write({"t": GRID[:, :2]})
    assert titles(book) == ["Sheet1", "arrays", "my look", "u view"]
    renewed = book.opened.worksheet("my look")
    assert grid_of(renewed, "t_1 \\ t_2", 2, 5) == GRID[0, :2].tolist()
    book.write({"t": GRID[:, :2]}, views={"t": sa.View(rows=0, columns=1)})
    assert book.opened.worksheet("my look").id != renewed.id
    assert grid_of(book.opened.worksheet("my look"), "t_0 \\ t_1", 4, 2) == GRID[:, :2, 0].tolist()
    book.write({"t": GRID[0, 0]})
    assert titles(book) == ["Sheet1", "arrays", "u view"]
    assert view_of(book, "u").id == first["u"]
    assert book.check() == []


def test_nobody_looks_for_arrays_in_a_view(book: Book) -> None:
    book.write({"t": GRID, "u": GRID}, views=True)
    view_of(book).update([["a"], ["version"], ["9.9.9"], ["ndarray"]], "A1")  # as if one of a broken header stood there
    assert book.check() == []
    book.server.requests.clear()
    assert set(book.scan()) == {"t", "u"}
    assert set(book.read()) == {"t", "u"}
    assert any("arrays" in record.query for record in book.server.requests)
    assert not any("view%27" in record.query for record in book.server.requests)
    with pytest.raises(LimitError, match="'t view' is a view of 't'"):
        book.write({"w": GRID}, sheet="t view")


def test_a_view_that_cannot_be_is_refused_before_anything_is_written(book: Book) -> None:
    book.server.requests.clear()
    for views, error in (
        ({"t": sa.View(editable=True)}, "edited in Google Sheets"),
        ({"t": sa.View(rows="depth")}, "no 'depth'"),
        ({"t": sa.View(rows=1, columns=1)}, "down and across"),
    ):
        with pytest.raises(ValueError, match=error):
            book.write({"t": GRID}, views=views)
    with pytest.raises(NotFoundError):
        book.write({"t": GRID}, views=["x"])
    assert not any(record.method == "POST" for record in book.server.requests)


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("status", [400, "reset-after", "empty"])
def test_arrays_stand_whatever_becomes_of_their_views(book: Book, status: Any) -> None:
    times = None if status == 400 else 1
    book.server.faults.append(Fault(status, path=":batchUpdate", after=1, times=times, applied=status == "empty"))
    if status == 400:
        with pytest.warns(match="arrays were written, but not their views"):
            book.write({"t": GRID}, views=True)
    else:
        book.write({"t": GRID}, views=True)
    assert titles(book).count("t view") == (status != 400)
    book.server.faults.clear()
    assert np.array_equal(book.read()["t"], GRID)


def test_views_of_a_worksheet_that_is_renamed_meanwhile_are_said_to_be_missing(book: Book) -> None:
    def rename() -> None:
        book.sheet("arrays").update_title("mine")

    with (
        meanwhile(book.server, lambda record: record.method == "GET" and book.wrote(), rename),
        pytest.warns(match="but not their views: somebody has deleted or renamed their worksheet"),
    ):
        book.write({"t": GRID}, views=True)
    assert titles(book) == ["Sheet1", "mine"]
    book.write({"t": GRID}, views=True, sheet="mine")
    assert titles(book) == ["Sheet1", "mine", "t view"]


def test_accepted_arrays_have_true_views(book: Book) -> None:
    book.write({"t": GRID[0]}, views=True)
    arrays = book.opened.worksheet("arrays")
    arrays.append_rows([[value] for value in (1.5, 2.5, 3.5, 4.5, 5.5)], table_range=f"A{len(arrays.col_values(1))}")
    assert [one.after for one in book.accept().arrays] == [(4, 5)]
    cells = grid_of(view_of(book), "t_0 \\ t_1", 4, 5)
    assert cells == [*GRID[0].tolist(), [1.5, 2.5, 3.5, 4.5, 5.5]]


def test_rows_that_are_appended_are_in_view(book: Book) -> None:
    book.write({"t": GRID[0], "u": GRID}, views=True)
    other = view_of(book, "u").id
    book.server.requests.clear()
    book.append({"t": GRID[1]})
    assert grid_of(view_of(book), "t_0 \\ t_1", 6, 5) == GRID[:2].reshape(6, 5).tolist()
    assert view_of(book, "u").id == other
    book.opened.del_worksheet(view_of(book))
    book.server.requests.clear()
    book.append({"t": GRID[1]})
    assert len(book.server.requests) == 3  # as where there are no views


def test_a_record_that_is_none_of_ours_makes_no_view(book: Book) -> None:
    book.write({"t": GRID})
    gid = book.opened.worksheet("arrays").id
    for value in ("", "[]", "{}", '{"of": -1}', json.dumps({"of": 1e400}), "[" * 20_000):
        noted = {"metadataKey": "sheetarray_view", "metadataValue": value, "visibility": "DOCUMENT"}
        noted["location"] = {"sheetId": gid}  # type: ignore[assignment]
        book.client.http_client.batch_update(
            book.key, {"requests": [{"createDeveloperMetadata": {"developerMetadata": noted}}]}
        )
        assert set(book.scan()) == {"t"}


def test_what_people_type_over_a_formula_is_said_with_its_labels(book: Book) -> None:
    book.write(labelled(), views=True)
    view = view_of(book)
    choose(view, "time:", "2024-02-29")
    choose(view, "colours over:", "slice")
    assert book.check() == []
    row = view.col_values(1).index("lat \\ lon") + 2
    view.update([[7.5]], f"C{row}", value_input_option="USER_ENTERED")
    view.batch_clear([f"E{row + 1}"])
    typed, blank = book.check()
    assert (typed.severity, typed.location, typed.array, typed.index) == ("warning", f"t view!C{row}", "t", (1, 0, 1))
    assert "holds 7.5 instead of a formula that showed t[1, 0, 1] (time: 2024-02-29, lat: 007, lon: 1)" in typed.message
    assert (blank.location, blank.index) == (f"t view!E{row + 1}", (1, 1, 3))
    assert (book.read()["t"] == GRID).all()


def test_check_looks_again_where_somebody_deletes_a_view_meanwhile(book: Book) -> None:
    book.write({"t": GRID[0]}, views=True)
    view = view_of(book)
    with meanwhile(book.server, lambda record: "view" in record.query, lambda: book.opened.del_worksheet(view)):
        assert book.check() == []
    assert titles(book) == ["Sheet1", "arrays"]


@pytest.mark.parametrize("accepts", [True, False])
def test_new_rows_stand_though_somebody_deletes_their_view_meanwhile(book: Book, accepts: bool) -> None:
    """It was an error of ours that no caller knows, and `accept` returned nothing of what it had changed."""
    book.write({"t": GRID[0]}, views=True)
    view, rows = view_of(book), np.full((1, GRID.shape[2]), 0.5)
    if accepts:
        book.opened.worksheet("arrays").append_rows([[0.5]] * rows.size, table_range="A1")
    looks = lambda record: "FORMULA" in record.query and "view" in record.query  # noqa: E731
    with (
        meanwhile(book.server, looks, lambda: book.opened.del_worksheet(view)),
        pytest.warns(sa.errors.SheetArrayWarning, match="have new rows, but views do not show them"),
    ):
        assert [one.after for one in book.accept().arrays] == [(4, 5)] if accepts else book.append({"t": rows})
    assert book.read()["t"].shape == (4, 5)


def test_accept_leaves_a_view_that_was_typed_over(book: Book) -> None:
    book.write({"t": GRID[0]}, views=True)
    view = view_of(book)
    row = view.col_values(1).index("t_0 \\ t_1") + 2
    view.update([[7.5]], f"C{row}", value_input_option="USER_ENTERED")
    book.opened.worksheet("arrays").append_rows([[0.5]] * 5, table_range="A1")
    with pytest.warns(sa.errors.SheetArrayWarning, match="'t view': not written again"):
        book.accept()
    assert view_of(book).acell(f"C{row}").value == "7.5"
    assert book.read()["t"].shape == (4, 5)
