"""Rows that people add or delete: `resize=True` gives what the cells say, and `check` says it once."""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import Edit, edit_rows, edited_sheet, get_columns, put_columns, written

import sheetarray as sa

Rows = list[list[list[Any]]]  # of each array the cells in the row


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, np.ndarray[Any, Any]], Edit]:
    """Arrays with as many rows, and an edit of them all."""
    rows, seed = draw(st.integers(1, 12)), draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True)):
        rest = draw(st.lists(st.integers(1, 3), max_size=2))
        column_major = draw(st.booleans()) and rows > 1 and max(rest, default=1) > 1  # else it is row-major too
        shape = (*rest, rows) if column_major else (rows, *rest)
        kind = draw(st.sampled_from("fiub"))
        array = (random.normal(size=shape) * 100).astype({"f": "f4", "i": "i4", "u": "u1", "b": "?"}[kind])
        arrays[name] = np.asfortranarray(array) if column_major else array
    kind = draw(st.sampled_from(["insert", "delete"]))
    first = draw(st.integers(0, rows if kind == "insert" else rows - 1))
    count = draw(st.integers(1, 3 if kind == "insert" else rows - first))
    return arrays, Edit(kind, first, count)


def assert_resized(path: Path, arrays: dict[str, np.ndarray[Any, Any]], edit: Edit):
    """Everything is what the cells say, by every door."""
    result = sa.read(path, resize=True)
    infos = sa.scan(path, resize=True)
    assert list(result) == list(arrays)
    for name, array in arrays.items():
        expected = edit.of_array(array)
        assert result[name].dtype == array.dtype
        np.testing.assert_array_equal(result[name], expected, strict=True)
        assert infos[name].shape == expected.shape
        assert result[name].flags.f_contiguous == expected.flags.f_contiguous
        np.testing.assert_array_equal(sa.read(path, [name], resize=True)[name], expected, strict=True)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@settings(max_examples=examples(50), deadline=None)
@given(table=tables())
def test_resize_gives_what_the_cells_say(tmp_path_factory, suffix, table):
    arrays, edit = table
    path = written(tmp_path_factory.mktemp("edited") / f"t.{suffix}", arrays)
    edit_rows(path, arrays, edit)
    assert_resized(path, arrays, edit)
    with pytest.raises(sa.FormatError, match="resize=True"):
        sa.read(path)
    errors = [finding for finding in sa.check(path) if finding.severity == "error"]
    assert len(errors) == 1
    assert f"in {len(arrays)} array" in errors[0].message or (suffix, len(arrays)) == ("xlsx", 1)
    for name in arrays if suffix == "csv" else ():
        assert f"{name!r} is {' x '.join(map(str, edit.of_array(arrays[name]).shape))}" in errors[0].message


def make_arrays(rows: int, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Five arrays with as many rows."""
    random = np.random.default_rng(seed)
    return {
        "t": random.normal(size=(rows, 3)),
        "p": random.normal(size=rows),
        "n": np.arange(rows),
        "s": np.array([f"a{row}" for row in range(rows)]),
        "f": np.asfortranarray(random.integers(0, 9, (2, rows))),
    }


def errors_after(path: Path, arrays: dict[str, Any], change: Callable[[Rows], Rows], **options: Any) -> list[str]:
    """Return what `check` says when the rows of a new workbook were changed: each a list of the cells of each array."""
    sa.write(path, arrays, **options)
    columns, count = get_columns(path), len(next(iter(arrays.values())))
    first = columns[0].index("data") + 1
    split = [np.array(column[first:], dtype=object).reshape(count, -1).tolist() for column in columns]
    rows = change([list(row) for row in zip(*split, strict=True)])
    for number, column in enumerate(columns):
        column[first:] = (cell for row in rows for cell in row[number])
    put_columns(path, columns)
    return [finding.message for finding in sa.check(path) if finding.severity == "error"]


@pytest.mark.parametrize("edit", [Edit("delete", 300, 1), Edit("delete", 300, 3), Edit("insert", 300, 1)], ids=str)
def test_rows_among_others_that_are_alike_are_one_edit(tmp_path, edit):
    arrays = make_arrays(1000) | {"flag": np.arange(1000) == 700, "all": np.full((1000, 2), True)}
    sa.write(tmp_path / "t.xlsx", arrays)
    edit_rows(tmp_path / "t.xlsx", arrays, edit)
    (error,) = (finding for finding in sa.check(tmp_path / "t.xlsx") if finding.severity == "error")
    rows = "row 300" if edit.count == 1 else "rows 300 to 302"
    assert error.message.startswith(f"{rows} {edit.kind.removesuffix('e')}ed in 7 arrays (")


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_a_single_column_that_differs_stays_an_error_with_its_address(tmp_path, suffix):
    arrays = {name: array for name, array in make_arrays(6).items() if name in "pn"}
    path = written(tmp_path / f"t.{suffix}", arrays)
    if suffix == "csv":
        columns = get_columns(path)
        columns[1].append("7")
        put_columns(path, columns)
    else:
        lists = json.loads(path.read_text())
        lists["n"].append(7)
        path.write_text(json.dumps(lists))
    (finding,) = sa.check(path)
    assert (finding.array, finding.location) == ("n", "B26" if suffix == "csv" else "n[24]")
    assert "resize=True" in finding.hint
    assert "clear" not in finding.hint
    assert "delete" not in finding.hint.replace("deleted?", "")
    for names in (None, ["n"]):
        with pytest.warns(sa.SheetArrayWarning, match=f"{UNEVEN}6 in 'p', 7 in 'n'"):
            assert sa.read(path, names, resize=True)["n"].tolist() == [0, 1, 2, 3, 4, 5, 7]
    with pytest.warns(sa.SheetArrayWarning, match=UNEVEN):
        assert sa.scan(path, resize=True)["n"].shape == (7,)
    with pytest.warns(sa.SheetArrayWarning, match=UNEVEN):
        assert sa.accept(path)
    assert list(sa.check(path)) == []


UNEVEN = "arrays that had 6 rows each have different numbers of rows now: "
NAMES = ["f", "g", "s"]


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize(
    ("added", "said"),
    [
        ((1, 0, 0), "6 in 'g', 's', 7 in 'f'"),
        ((0, 1, 0), "6 in 'f', 's', 7 in 'g'"),
        ((0, 0, 1), "6 in 'f', 'g', 7 in 's'"),
        ((1, 0, 1), "6 in 'g', 7 in 'f', 's'"),
        ((1, 2, 0), "6 in 's', 7 in 'f', 8 in 'g'"),
        ((-1, 0, 0), "5 in 'f', 6 in 'g', 's'"),
        ((1, 1, 0), None),  # an appended row whose text is blank
        ((2, 2, 2), None),
        ((-2, -2, -2), None),
        ((0, 0, 0), None),
    ],
)
def test_arrays_that_grew_differently_are_named_with_their_rows(added, said, orient, tmp_path):
    """A total typed below one column is no element without a word, whichever array is asked for."""
    arrays = {"f": np.arange(6.0), "g": np.arange(6), "s": np.array(list("abcdef")), "other": np.arange(8)}
    path = written(tmp_path / "t.csv", arrays)
    columns = get_columns(path)
    for column, more in zip(columns, added, strict=False):
        column[len(column) + min(more, 0) :] = ["7"] * more
    put_columns(path, columns if orient == "columns" else list(zip_longest(*columns, fillvalue="")))
    verbs: list[Any] = [sa.read, sa.scan, lambda path, **options: sa.read(path, ["g"], **options), sa.read_frame]
    for verb in verbs[: 3 if len({*added}) > 1 else 4]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if verb is sa.read_frame:
                verb(path, NAMES, resize=True)
            else:
                verb(path, resize=True)
        texts = [str(warning.message) for warning in caught]
        assert len(texts) == (said is not None)
        if said is not None:
            named = "".join(sorted(texts[0].partition(UNEVEN)[2].partition(" (")[0]))
            assert named == "".join(sorted(said)), texts[0]  # names stand in the order in which they were asked for
    assert bool(list(sa.check(path))) == any(added)


def test_what_is_no_row_stays_an_error(tmp_path):
    path = written(tmp_path / "t.csv", {"t": np.zeros((4, 3))})
    columns = get_columns(path)
    put_columns(path, [[*columns[0], "1", "2"]])
    with pytest.raises(sa.FormatError, match=r"expected no more than 12 data cells.*whole rows of 3 elements") as error:
        sa.read(path, resize=True)
    assert error.value.location == "A34"
    put_columns(path, [[*columns[0], "mean", "of", "it"]])
    (finding,) = sa.check(path)
    assert finding.message.startswith("expected no more than 12 data cells")


@pytest.mark.parametrize(
    ("array", "base"),
    [(np.arange(12).reshape(3, 4)[:, ::2], True), (np.array(1.5), False), (np.arange(9)[3:], True)],
)
def test_strides_offsets_and_no_dimensions_are_not_resized(tmp_path, array, base):
    cells = sa.to_linear(array, base=base)
    with pytest.raises(sa.FormatError, match=r"expected no more than .*another column"):
        sa.from_linear([*cells, *cells[-1:]], resize=True)


def test_text_is_as_long_as_its_neighbours(tmp_path):
    arrays = {"n": np.arange(4), "s": np.array(["a", "b", "", ""])}
    path = written(tmp_path / "t.csv", arrays)
    assert sa.read(path, ["s"], resize=True)["s"].tolist() == ["a", "b", "", ""]
    edit_rows(path, arrays, Edit("delete", 3, 1))
    assert sa.read(path, ["s"], resize=True)["s"].tolist() == ["a", "b", ""]
    assert sa.read(path, resize=True)["s"].tolist() == ["a", "b", ""]
    (finding,) = sa.check(path)
    assert "1 row deleted in 2 arrays" in finding.message


def test_blanks_are_nan_where_neighbours_are_longer(tmp_path):
    path = written(tmp_path / "t.csv", {"n": np.arange(2), "x": np.array([0.5, 1.5])})
    columns = get_columns(path)
    put_columns(path, [[*columns[0], "2"], columns[1]])
    with pytest.warns(sa.SheetArrayWarning, match="2 in 'x', 3 in 'n'"):
        x = sa.read(path, resize=True, missing="nan")["x"]
    assert x.tolist()[:2] == [0.5, 1.5]
    assert np.isnan(x[2])
    with pytest.warns(sa.SheetArrayWarning, match="2 in 'x', 3 in 'n'"):
        assert sa.read(path, resize=True)["x"].tolist() == [0.5, 1.5]


def test_arrays_in_rows_grow_to_the_right(tmp_path):
    path = tmp_path / "t.csv"
    sa.write(path, {"t": np.arange(6).reshape(3, 2), "p": np.arange(3)}, orient="rows")
    lines = [line.rstrip(",") for line in path.read_text().splitlines()]
    path.write_text(f"{lines[0]},6,7\n{lines[1]},3\n")
    result = sa.read(path, resize=True)
    assert result["t"].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert result["p"].tolist() == [0, 1, 2, 3]
    (finding,) = sa.check(path)
    assert finding.message.startswith("1 row added in 2 arrays")


def test_complex_numbers_grow_as_text_and_interleaved():
    array = np.array([1 + 2j, 3 - 4j])
    for way in ("text", "interleaved"):
        cells = sa.to_linear(array, complex=way)  # type: ignore[arg-type]
        more = ["5+6i"] if way == "text" else [5.0, 6.0]
        assert sa.from_linear([*cells, *more], resize=True).tolist() == [1 + 2j, 3 - 4j, 5 + 6j]


def test_labels_follow_the_arrays(tmp_path):
    xr = pytest.importorskip("xarray")
    data = xr.Dataset({"t": (("time", "x"), np.arange(6.0).reshape(3, 2))}, {"time": [10, 20, 30], "x": [0.5, 1.5]})
    path = tmp_path / "t.xlsx"
    sa.write(path, data)
    with edited_sheet(path) as sheet:
        columns = {cell.value: cell.column for cell in sheet[1]}
        first = [cell.value for cell in sheet["A"]].index("data") + 2
        sheet.cell(first + 6, columns["t"]).value = 6.0
        sheet.cell(first + 7, columns["t"]).value = 7.0
        sheet.cell(first + 3, columns["time"]).value = 40
    result = sa.read_dataset(path, resize=True)
    assert dict(result.sizes) == {"time": 4, "x": 2}
    assert result["time"].values.tolist() == [10, 20, 30, 40]
    lazy = xr.open_dataset(path, engine="sheetarray", resize=True)
    assert lazy["t"].shape == (4, 2)
    xr.testing.assert_identical(lazy.load(), result)
    (error,) = (finding for finding in sa.check(path) if finding.severity == "error")
    assert error.message.startswith("row 3 appended in 2 arrays")
    with edited_sheet(path) as sheet:
        sheet.cell(first + 3, columns["time"]).value = None
    uneven = pytest.warns(sa.SheetArrayWarning, match="3 in 'time', 4 in 't'")
    with uneven, pytest.raises(sa.FormatError, match="the dimension 'time' has 4 in 't', and 3 in 'time'"):
        sa.read_dataset(path, resize=True)


def test_columns_of_awkward_arrays_are_not_resized(tmp_path):
    ak = pytest.importorskip("awkward")
    path = tmp_path / "t.csv"
    sa.write(path, {"e": ak.Array([[1.0, 2.0], [3.0]]), "n": np.arange(3)})
    columns = get_columns(path)
    put_columns(path, [[*columns[0], "5"], *columns[1:]])
    with pytest.raises(sa.FormatError, match="belongs to several whose lengths"):
        sa.read(path, resize=True)
    assert any("belongs to several whose lengths" in finding.hint for finding in sa.check(path))


def test_where_more_was_edited_it_is_said_that_it_cannot_be_told(tmp_path):
    def change(rows: Rows) -> Rows:
        del rows[1000]
        for place in (180, 880, 1480, 2480):
            rows[place][0] = [1]
        return rows

    arrays = {"n": np.arange(3000) * 7, "s": np.array([f"a{row}" for row in range(3000)])}
    (error,) = errors_after(tmp_path / "t.xlsx", arrays, change, guard=False)
    assert error.startswith("1 row deleted in 2 arrays, 3000 before and 2999 now: ")
    unsure = "only a guard can tell which row, and whether elements were edited too: write(.., guard=True) keeps one"
    assert error.endswith(f"; {unsure}")


@pytest.mark.parametrize(("gap", "added"), [(0, True), (1, True), (2, False), (3, False), (1000, False)])
def test_cells_beyond_a_gap_are_no_rows_that_were_added(gap, added):
    """A cell below blanks is one that somebody typed: as soon as more cells are blank than not."""
    file = io.StringIO(newline="")
    sa.write_csv(file, {"t": np.arange(3.0), "n": np.arange(3.0)})
    text = file.getvalue() + ",\r\n" * gap + "7,8\r\n"
    findings = list(sa.check(io.StringIO(text, newline=""), format="csv"))
    assert any("added in 2 arrays" in finding.message for finding in findings) == added
    assert any("expected no more than 3 data cells" in finding.message for finding in findings) != added
    if not added:
        assert {finding.hint for finding in findings} == {"move what stands below to another column"}
        with pytest.raises(sa.FormatError, match="move what stands below to another column"):
            sa.read(io.StringIO(text, newline=""), format="csv", resize=True)


def make_table(count: int) -> dict[str, np.ndarray[Any, Any]]:
    """A number, a day and a word in each row."""
    days = np.datetime64("2026-03-01") + np.arange(count)
    return {"n": np.arange(float(count)), "day": days, "s": np.array([f"a{row}" for row in range(count)])}


def without(*gone: int) -> Callable[[Rows], Rows]:
    """Return a change that deletes rows."""
    return lambda rows: [row for place, row in enumerate(rows) if place not in gone]


@pytest.mark.parametrize(
    ("place", "count", "said"),
    [
        (12, 1, "row 12 appended in 3 arrays (row 32 of the sheet, 2026-04-01)"),
        (12, 2, "rows 12 to 13 appended in 3 arrays (rows 32 to 33 of the sheet, 2026-04-01 to 2026-04-02)"),
        (0, 1, "row 0 inserted in 3 arrays (row 20 of the sheet, 2026-04-01)"),
        (5, -1, "row 5 deleted in 3 arrays (row 25 of the sheet, 2026-03-06)"),
        (0, -1, "row 0 deleted in 3 arrays (row 20 of the sheet, 2026-03-01)"),
    ],
)
@pytest.mark.parametrize("width", [1, 2])
def test_rows_are_named_as_people_see_them(tmp_path, place, count, said, width):
    """By their row of the sheet and their date; by the date alone where arrays lie in different rows of the sheet."""
    arrays = make_table(12) | {"n": np.arange(12.0 * width).reshape(12, width)[:, slice(None) if width > 1 else 0]}
    new = [[[7.5] * width, [dt.datetime(2026, 4, 1)], ["x"]], [[8.5] * width, [dt.datetime(2026, 4, 2)], ["y"]]]
    change = lambda rows: rows[:place] + new[: max(count, 0)] + rows[place - min(count, 0) :]  # noqa: E731
    (error,) = errors_after(tmp_path / "t.xlsx", arrays, change)
    assert error.startswith(said if width == 1 else said.partition(" (")[0])
    assert ("of the sheet" in error) == (width == 1)


SEVENTHS = {"n": np.arange(12.0) / 7, "t": np.arange(24).reshape(12, 2)}
ALIKE = {"f": np.full(12, True)}  # whose rows do not tell by themselves which of them are gone


@pytest.mark.parametrize(
    ("arrays", "gone", "said"),
    [
        (
            make_table(12) | ALIKE,
            [5],
            "row 5 deleted in 4 arrays (row 25 of the sheet, 2026-03-06): it was n 5.0, s 'a5', f True",
        ),
        (
            make_table(12) | ALIKE,
            [5, 6],
            "rows 5 to 6 deleted in 4 arrays (rows 25 to 26 of the sheet, 2026-03-06 to 2026-03-07): "
            "row 5 was n 5.0, s 'a5', f True; "
            "row 6 was n 6.0, s 'a6', f True",
        ),
        (
            make_table(12) | ALIKE,
            [1, 2, 3, 4, 5],
            "rows 1 to 5 deleted in 4 arrays (rows 21 to 25 of the sheet, 2026-03-02 to 2026-03-06): "
            "row 1 was n 1.0, s 'a1', f True; "
            "row 2 was n 2.0, s 'a2', f True; row 3 was n 3.0, s 'a3', f True; and 2 more rows",
        ),
        (
            SEVENTHS,
            [3, 7],
            f"rows 3, 7 deleted in 2 arrays: row 3 was n {3 / 7}, t 6 7; row 7 was n 1.0, t 14 15",
        ),
    ],
)
def test_deleted_rows_have_their_labels_and_values_by_the_guard(tmp_path, arrays, gone, said):
    assert errors_after(tmp_path / "t.xlsx", arrays, without(*gone), guard=True) == [said]


@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_a_sort_of_whole_rows_moves_the_description_of_labels_too(tmp_path, suffix):
    frame = pd.DataFrame({"n": [5, 3, 4, 1, 2]}, index=pd.Index([*"vwxyz"], name="key"))
    path = tmp_path / f"t.{suffix}"
    sa.write(path, frame)
    columns = get_columns(path)
    rows = sorted(zip_longest(*(column[19:] for column in columns)), key=lambda row: int(row[1]))
    put_columns(path, [[*column[:19], *cells] for column, cells in zip(columns, zip(*rows, strict=True), strict=True)])
    if suffix == "xlsx":
        assert [finding.message for finding in sa.check(path)] == ["rows sorted by n (5 rows, 2 arrays)"]
        sa.accept(path)
    assert list(sa.check(path)) == []
    for options in ({}, {"resize": True}):
        pd.testing.assert_frame_equal(sa.read_frame(path, **options), frame.iloc[[3, 4, 1, 2, 0]])


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            {"A32": "Total", "B32": 99.5},
            "row 32 of the sheet stands below 's', 't': expected no more than 12 data cells in each",
        ),
        ({"B32": 99.5}, "expected no more than 12 data cells, found another"),
        ({"B25": None, "C25": None}, "row 25 of the sheet is blank in 2 arrays: t[5], n[5]"),
        ({"C25": None}, "n[5]: expected int64, found a blank cell"),
    ],
)
def test_a_row_of_totals_and_a_blank_row_are_one_finding(tmp_path, cells, said, guard):
    table = {"s": np.array([*"abcdefghijkl"]), "t": np.arange(12.0), "n": np.arange(12)}
    sa.write(tmp_path / "t.xlsx", table, guard=guard)
    with edited_sheet(tmp_path / "t.xlsx") as sheet:
        for address, value in cells.items():
            sheet[address] = value
    (finding,) = sa.check(tmp_path / "t.xlsx")
    assert (finding.message, finding.location) == (said, f"arrays!{min(cells)}")
