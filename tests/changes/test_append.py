"""Rows are appended to arrays and to ordinary tables: all of them or none, exact, and written as what is there."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from command_line import run_command

import sheetarray as sa

ARRAYS = {
    "t": np.array([1.5, 2.5]),
    "n": np.array([1, 2**60]),
    "s": np.array(["a", "=b"]),
    "w": np.arange(6.0).reshape(2, 3),
    "d": np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    "b": np.array([True, False]),
}
ROWS = {"t": [4], "n": [3.0], "s": ["long text"], "w": [[7, 8, 9]], "d": np.array(["NaT"], "M8[D]"), "b": [True]}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "xlsx", "json", "npz"])
def test_rows_follow_the_rows_of_arrays(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    sa.write(path, ARRAYS)
    assert sa.append(path, ROWS) == dict.fromkeys(ARRAYS, 3)
    read = sa.read(path)
    assert list(read) == list(ARRAYS)
    for name, before in ARRAYS.items():
        assert read[name].dtype.kind == before.dtype.kind
        assert read[name][:2].tolist() == before.tolist()
    assert read["t"].tolist() == [1.5, 2.5, 4.0]
    assert read["n"].tolist() == [1, 2**60, 3]
    assert read["s"].tolist() == ["a", "=b", "long text"]
    assert read["w"][2].tolist() == [7, 8, 9]
    assert np.isnat(read["d"][2])
    assert suffix == "npz" or list(sa.check(path)) == []


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ({"t": [4]}, sa.LimitError, "'n', 's'.* share the rows of 't'"),
        ({**ROWS, "n": [3.5]}, sa.DTypeError, "n: int64"),
        ({**ROWS, "s": [3]}, sa.DTypeError, "s: the array holds texts"),
        ({**ROWS, "w": [[1, 2]]}, sa.LimitError, "w: new rows have the shape rows x 3"),
        ({**ROWS, "t": [1, 2]}, sa.LimitError, "as many new ones"),
        ({**ROWS, "x": [1]}, sa.NotFoundError, "no array 'x'"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(tmp_path: Path, suffix: str, rows: Any, error: Any, text: str) -> None:
    path = tmp_path / f"t.{suffix}"
    sa.write(path, ARRAYS)
    before = path.read_bytes()
    with pytest.raises(error, match=text):
        sa.append(path, rows)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
def test_a_frame_brings_its_index_and_a_dataset_its_coordinates(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=pd.Index(["p", "q"], name="id"))
    more = pd.DataFrame({"a": [3], "b": ["z"]}, index=pd.Index(["r"], name="id"))
    sa.write(tmp_path / f"f.{suffix}", frame)
    assert sa.append(tmp_path / f"f.{suffix}", more) == {"id": 3, "a": 3, "b": 3}
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / f"f.{suffix}"), pd.concat([frame, more]), check_dtype=False)
    days = np.arange("2026-01-01", "2026-01-04", dtype="M8[D]")
    whole = xr.Dataset({"t": (("time", "x"), np.arange(6.0).reshape(3, 2))}, coords={"time": days})
    sa.write(tmp_path / f"d.{suffix}", whole.isel(time=[0, 1]))
    sa.append(tmp_path / f"d.{suffix}", {"t": whole["t"].values[2:], "time": days[2:]})
    xr.testing.assert_identical(sa.read_dataset(tmp_path / f"d.{suffix}"), whole)
    with pytest.raises(sa.LimitError, match="'time' shares the rows of 't'"):
        sa.append(tmp_path / f"d.{suffix}", {"t": whole["t"].values[2:]})
    assert list(sa.check(tmp_path / f"d.{suffix}")) == []


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
def test_a_dataset_may_bring_coordinates_that_do_not_grow(tmp_path: Path, suffix: str) -> None:
    path, days = tmp_path / f"d.{suffix}", np.arange("2026-01-01", "2026-01-05", dtype="M8[D]").astype("M8[s]")
    arrays = {"t": (("time", "site"), np.arange(8.0).reshape(4, 2) / 7), "height": ("site", [1.5, np.nan])}
    whole = xr.Dataset(arrays, coords={"time": days, "site": ["a", "b"], "run": 7})
    sa.write(path, whole.isel(time=slice(3)))
    before = path.read_bytes()
    for other in (whole.assign_coords(site=["a", "c"]), whole.isel(site=[0]), whole.assign_coords(run=8)):
        with pytest.raises(sa.LimitError, match=r"(site|height|run): its elements differ from those of the target"):
            sa.append(path, other.isel(time=[3]))
    assert path.read_bytes() == before
    assert sa.append(path, whole.isel(time=[3])) == {"t": 4, "time": 4}
    xr.testing.assert_identical(sa.read_dataset(path), whole)


@pytest.mark.parametrize("guard", [True, False])
def test_a_workbook_stays_as_it_is_but_for_the_rows(tmp_path: Path, guard: bool) -> None:
    path, values = tmp_path / "t.xlsx", np.random.default_rng(0).normal(size=(4, 3))
    sa.write(path, {"t": values}, guard=guard, views=True)
    book = openpyxl.load_workbook(path)
    book.create_sheet("notes")["B2"] = "=SUM(arrays!A1:A99)"
    book.save(path)
    sa.accept(path)
    for number in range(3):
        assert sa.append(path, {"t": np.full((1, 3), number)}) == {"t": 5 + number}
    read = sa.read(path, "t")
    assert read[4:].tolist() == [[0] * 3, [1] * 3, [2] * 3]
    if guard:
        assert read[:4].tobytes() == values.tobytes()
    else:  # openpyxl has rounded them
        np.testing.assert_allclose(read[:4], values, rtol=1e-14)
    assert list(sa.check(path)) == []
    after = openpyxl.load_workbook(path)
    assert after["notes"]["B2"].value == "=SUM(arrays!A1:A99)"
    assert after.defined_names["t"].attr_text.endswith(f"$A${22 + 20}")


TABLES = {
    "commas": (
        "id,t,ok,day,s\n1,1.5,True,2026-01-01,a\n2,2.25,False,2026-01-02,b\n",
        '3,0.5,True,2026-02-01,"x,""y"\n',
    ),
    "german": (
        "id;t;ok;day;s\r\n1;1,5;true;2026-01-01;ä\r\n2;2,25;false;2026-01-02;b\r\n",
        '3;0,5;true;2026-02-01;"x,""y"\r\n',
    ),
    "quoted": (
        '"id","t","ok","day","s"\n"1","1.5","true","2026-01-01","a"\n"2","2.25","false","2026-01-02","b"\n',
        '"3","0.5","true","2026-02-01","x,""y"\n',
    ),
    "not ended": ("id\tt\tok\tday\ts\n1\t1.5\tTRUE\t2026-01-01\ta\n2\t2.5\tFALSE\t2026-01-02\tb", None),
}
NEW = {"id": [3], "t": [0.5], "ok": [True], "day": np.array(["2026-02-01"], "M8[D]"), "s": ['x,"y']}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
def test_a_table_keeps_how_it_is_written(tmp_path: Path, case: str, encoding: str) -> None:
    text, added = TABLES[case]
    path = tmp_path / "log.csv"
    before = text.encode(encoding)
    path.write_bytes(before)
    assert sa.append(path, NEW) == dict.fromkeys(NEW, 3)
    after = path.read_bytes()
    assert after.startswith(before)
    whole = after.decode(encoding)
    if added is not None:
        assert whole == text + added
    else:
        assert whole == text + '\n3\t0.5\tTRUE\t2026-02-01\t"x,""y"\n'
    assert sa.read_columns(path)["s"].tolist()[-1] == 'x,"y'


@pytest.mark.parametrize("cut", ["3,4.", "3", '3,4.5,"c', '3,"4,""', '3,4.5,"c""'])
def test_a_row_that_was_cut_is_told_and_cut_off(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,t,s\n1,1.5,a\n2,2.5,b\n" + cut)
    (finding,) = sa.check(path)
    assert finding.location == "A4"
    if '"' not in cut:
        assert "row 4, the last one, is incomplete" in finding.message
    assert sa.append(path, {"id": [4], "t": [np.nan], "s": ["c"]}) == {"id": 3, "t": 3, "s": 3}
    assert path.read_text() == "id,t,s\n1,1.5,a\n2,2.5,b\n4,,c\n"
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("last", ["3,4.5,c", '3,4.5,"c ""d"""', '3,4.5,""', '3,4.5,5" pipe', '"3","4.5","c"'])
def test_a_row_without_a_line_end_stays(tmp_path: Path, last: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text('id,t,s\n1,1.5,"a,"\n2,2.5,b\n' + last)
    assert sa.append(path, {"id": [4], "t": [5], "s": ["e"]})["id"] == 4
    assert path.read_text().startswith('id,t,s\n1,1.5,"a,"\n2,2.5,b\n' + last + "\n")
    assert sa.read_columns(path)["id"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_rows_of_a_wide_encoding_are_counted(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.csv"
    text = "id,s\n" + "".join(f"{number},\u0a0a\u0a00\u0100\n" for number in range(3000))
    path.write_bytes(("\ufeff" + text).encode(encoding))
    assert sa.append(path, {"id": [3000], "s": ["x"]}) == {"id": 3001, "s": 3001}
    assert path.read_bytes().decode(encoding) == "\ufeff" + text + "3000,x\n"


@pytest.mark.parametrize("length", [2**16 - 9, 2**16, 2**18, 2**20])
def test_a_last_row_may_be_long(tmp_path: Path, length: int) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,s\n" + "".join(f"{number},a\n" for number in range(9)) + "9," + "x" * length + "\n\n\n")
    assert sa.append(path, {"id": [10], "s": ["y"]}) == {"id": 11, "s": 11}
    assert path.read_text().endswith("x\n10,y\n")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_many_rows_are_appended_again_and_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    count = 5000  # more than the beginning that tells the dialect
    text = "id,t\n" + "".join(f"{number},{number / 4}\n" for number in range(count))
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    for number in range(3):
        assert sa.append(path, {"id": [count + number], "t": [0.25]})["t"] == count + number + 1
    read = sa.read_columns(path)
    assert read["id"].tolist() == list(range(count + 3))


def test_an_append_that_fails_is_cut_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,t\n1,1.5\n2,2.5\n3,")
    before = path.read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        sa.append(path, {"id": [4], "t": [1.0]})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ({"id": [3]}, sa.LimitError, "they lack 't'"),
        ({"id": [3], "t": [1.5], "x": [1]}, sa.LimitError, "no column 'x'"),
        ({"id": [3.5], "t": [1.5]}, sa.DTypeError, "id: the column holds int64"),
        ({"id": [3, 4], "t": [1.5]}, sa.LimitError, "different lengths"),
    ],
)
def test_rows_that_no_table_holds_change_nothing(tmp_path: Path, rows: Any, error: Any, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,t\n1,1.5\n2,2.5\n")
    with pytest.raises(error, match=text):
        sa.append(path, rows)
    path.write_text("id,t\n1,1.5\n2,2.5\ntotal: 3 of 7\n")
    with pytest.raises(sa.LimitError, match="move what is below it"):
        sa.append(path, {"id": [3], "t": [1.5]})


def test_the_command_appends_arrays_and_tables(tmp_path: Path) -> None:
    sa.write(tmp_path / "run.csv", {"t": np.array([1.5])})
    sa.write(tmp_path / "more.json", {"t": np.array([2.5])})
    result = run_command("append", tmp_path / "run.csv", tmp_path / "more.json")
    assert result.exit_code == 0, result.output
    assert "t: 2 rows" in result.output
    (tmp_path / "log.csv").write_text("id,t\n1,1.5\n")
    (tmp_path / "new.csv").write_text("t;id\n2,5;2\n")
    assert run_command("append", tmp_path / "log.csv", tmp_path / "new.csv", "--json").exit_code == 0
    assert (tmp_path / "log.csv").read_text() == "id,t\n1,1.5\n2,2.5\n"
    assert run_command("append", tmp_path / "run.csv", tmp_path / "log.csv").exit_code == 2
    assert run_command("append", tmp_path / "absent.csv", tmp_path / "log.csv").exit_code == 2


def test_a_character_that_the_encoding_lacks_is_refused_and_the_table_stays(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,\xe9\n".encode("cp1252"))
    before = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        with pytest.raises(sa.DTypeError, match="the table is in cp1252, which has no 'Ω': save it as UTF-8 first"):
            sa.append(path, {"a": [7], "b": ["Ω"]})
    assert path.read_bytes() == before


def edit_cells(path: Path, cells: dict[str, Any]) -> None:
    book = openpyxl.load_workbook(path)
    for address, value in cells.items():
        book["arrays"][address] = value
    book.save(path)


def test_an_edit_before_rows_are_appended_goes_on_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.array([1.5, 2.5, 1 / 3]), "n": np.arange(3)})
    edit_cells(path, {"A22": 9})  # t[2]
    named = [finding.message for finding in sa.check(path)]
    assert sa.append(path, {"t": [4], "n": [3]}) == {"t": 4, "n": 4}
    assert [finding.message for finding in sa.check(path)] == named
    assert named
    assert sa.read(path, "t").tolist() == [1.5, 2.5, 9, 4]
    sa.restore(path, tmp_path / "restored.xlsx")
    assert sa.read(tmp_path / "restored.xlsx", "t").tolist() == [1.5, 2.5, 1 / 3, 4]


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float16", "uint64", "bool", "U1", "M8[D]", "m8[s]"])
def test_an_edit_goes_on_to_be_named_whatever_stands_beside(tmp_path: Path, dtype: str) -> None:
    path, more = tmp_path / "t.xlsx", np.array([1, 0, 1]).astype(dtype)
    sa.write(path, {"t": np.array([1.5, 2.5, 3.5]), "x": more})
    edit_cells(path, {"A22": 9})  # t[2]
    sa.append(path, {"t": [4], "x": more[:1]})
    assert [finding.array for finding in sa.check(path)] == ["t"]
    assert sa.read(path, "t").tolist() == [1.5, 2.5, 9, 4]
    back = sa.read(path, "x")
    assert back.dtype == more.dtype
    assert back.tolist() == [*more.tolist(), more.tolist()[0]]


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_arrays_without_elements_and_without_new_rows_are_appended_to(tmp_path: Path, suffix: str, guard: bool) -> None:
    path, options = tmp_path / f"t{suffix}", {"guard": guard} if suffix == ".xlsx" else {}
    sa.write(path, {"t": np.zeros(0), "u": np.arange(2.0)}, **options)
    assert sa.append(path, {"t": []}) == {"t": 0}
    assert sa.append(path, {"t": [1.5], "u": []}) == {"t": 1, "u": 2}
    assert sa.append(path, {"t": [], "u": [2.5]}) == {"t": 1, "u": 3}
    assert sa.append(path, {"t": [2.5]}) == {"t": 2}
    assert {name: array.tolist() for name, array in sa.read(path).items()} == {"t": [1.5, 2.5], "u": [0, 1, 2.5]}
    assert list(sa.check(path)) == []


def test_rows_go_to_the_sheet_that_is_named_where_several_have_arrays_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(
        path, {title: pd.DataFrame({"t": [1.5, 2.5]}, index=pd.Index(["a", "b"], name="k")) for title in ("n", "s")}
    )
    sa.append(path, pd.DataFrame({"t": [1 / 3]}, index=pd.Index(["c"], name="k")), sheet="s")
    assert sa.read(path, "t", sheet="s").tolist() == [1.5, 2.5, 1 / 3]
    assert sa.read_frame(path, sheet="s").index.tolist() == ["a", "b", "c"]
    assert sa.read(path, "t", sheet="n").tolist() == [1.5, 2.5]
    assert list(sa.check(path)) == []


def test_a_cell_that_cannot_be_read_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.array([1.5, 2.5, 3.5])})
    edit_cells(path, {"A22": "n/a"})
    assert sa.append(path, {"t": [4]}) == {"t": 4}
    assert [finding.location for finding in sa.check(path)] == ["arrays!A22"]


@pytest.mark.parametrize(
    ("cells", "error", "location", "text"),
    [
        ({"A22": None}, sa.FormatError, "arrays!A22", "the last element of the array is missing"),
        ({"A23": 7}, sa.LimitError, "", "arrays!A23: a new row needs this cell, which is not empty"),
    ],
)
def test_rows_that_people_added_or_deleted_are_not_guessed_at(
    tmp_path: Path, cells: Any, error: Any, location: str, text: str
) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.array([1.5, 2.5, 3.5]), "n": np.arange(3)})
    edit_cells(path, cells | {cell.replace("A", "B"): value for cell, value in cells.items()})
    before = path.read_bytes()
    with pytest.raises(error, match=text) as raised:
        sa.append(path, {"t": [4], "n": [3]})
    assert (getattr(raised.value, "location", None) or "") == location
    assert path.read_bytes() == before
    sa.accept(path)
    assert sa.append(path, {"t": [4], "n": [4]}).keys() == {"t", "n"}
    assert sa.read(path, "t")[-1] == 4
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("options", [{}, {"cells": "text"}, {"dates": "text"}])
@pytest.mark.parametrize("rows", [0, 1, 3, 200])
def test_rows_follow_one_another_in_a_workbook(tmp_path: Path, options: Any, rows: int) -> None:
    guard = (len(str(options)) + rows) % 2 == 0  # each option, and each number of rows, with and without one
    rng = np.random.default_rng(rows)
    arrays = {
        "t": rng.normal(size=rows),
        "w": np.asfortranarray(rng.normal(size=(2, rows))) if rows > 1 else rng.normal(size=(rows, 2)),
        "s": np.array([f"text {number} <&" for number in range(rows)], "U20"),
        "d": np.arange(rows).astype("M8[D]"),
        "g": np.array([None, 2**70, "x"] * rows, object)[:rows],
        "z": rng.normal(size=rows) + 1j,
    }
    sa.write(tmp_path / "t.xlsx", arrays, guard=guard, **options)
    before = sa.read(tmp_path / "t.xlsx")
    more = {
        "t": np.array([0.1, np.nan]),
        "w": rng.normal(size=(2, 2)),
        "s": np.array(["", "a longer text than all the others"]),
        "d": np.array(["2026-01-01", "NaT"], "M8[D]"),
        "g": np.array([1.5, None], object),
        "z": np.array([1 + 2j, -0.0 - 1j]),
    }
    grown = dict.fromkeys(arrays, rows + 2)
    assert sa.append(tmp_path / "t.xlsx", more) == grown
    read = sa.read(tmp_path / "t.xlsx")
    for name, array in before.items():
        axis = 1 if name == "w" and rows > 1 else 0
        whole = np.concatenate([array, more[name]], axis=axis)
        assert read[name].shape == whole.shape
        assert repr(read[name].tolist()) == repr(whole.tolist())
    assert list(sa.check(tmp_path / "t.xlsx")) == []
    (data,) = sa.scan(tmp_path / "t.xlsx")["t"].data
    if rows:
        book = openpyxl.load_workbook(tmp_path / "t.xlsx")
        assert book.defined_names["t"].attr_text.endswith(f"$A${data.row + 1}:$A${data.row + rows + 2}")


def test_a_sheet_is_full(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    room = 1_048_576 - 19
    sa.write(path, {"t": np.zeros(room - 1, np.int8)})
    assert sa.append(path, {"t": [1]}) == {"t": room}
    before = path.read_bytes()
    with pytest.raises(sa.LimitError, match="1,048,576 rows"):
        sa.append(path, {"t": [1]})
    assert path.read_bytes() == before


def test_arrays_in_rows_and_in_several_sheets_grow(tmp_path: Path) -> None:
    path, words = tmp_path / "t.xlsx", "version 1.0.0 ndarray shape 2 strides 1 offset 0 order row-major dtype float64"
    book = openpyxl.Workbook()
    book.active.append(["t", *words.split(), "length", 2, "capacity", 2, "data", 1.5, 2.5])
    book.save(path)
    sa.accept(path)
    sa.write(path, {"u": np.array([1.5])}, sheet="second", mode="a")
    assert sa.append(path, {"t": [3.5]}) == {"t": 3}
    assert sa.append(path, {"u": [3.5]}, sheet="second") == {"u": 2}
    assert sa.append(path, {"u": [4.5], "t": [4.5]}) == {"u": 3, "t": 4}
    assert {name: array.tolist() for name, array in sa.read(path).items()} == {
        "t": [1.5, 2.5, 3.5, 4.5],
        "u": [1.5, 3.5, 4.5],
    }
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("kind", ["table.csv", "arrays.xlsx"])
def test_writers_at_once_lose_no_row(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    (sa.write_table if kind.startswith("table") else sa.write)(path, {"id": np.array([-1]), "t": np.array([0.5])})
    code = "import sys, sheetarray as sa\n"
    code += "for n in map(int, sys.argv[2:]): sa.append(sys.argv[1], {'id': [n], 't': [n / 4]})"
    numbers = [range(start, start + 6) for start in (0, 100)]
    writers = [subprocess.Popen([sys.executable, "-c", code, path, *map(str, some)]) for some in numbers]
    assert [writer.wait() for writer in writers] == [0, 0]
    columns = sa.read(path) if kind != "table.csv" else sa.read_columns(path)
    assert sorted(columns["id"].tolist()) == [-1, *numbers[0], *numbers[1]]
    assert sorted(columns["t"].tolist())[1:3] == [0.25, 0.5]
    for some in numbers:
        assert [number for number in columns["id"].tolist() if number in some] == [*some]
    assert list(sa.check(path)) == []
