"""Guards of workbooks in memory: the saved file is checked, restored and accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from limits import set_limits

import sheetarray as sa
from sheetarray.testing.cases import assert_same

ARRAYS = {
    "t": np.array([[0.1, 1 / 3, 2 / 3], [-0.0, np.nan, 5e-324]]),
    "text": np.array(["=a", "{b", "sheetarray guard 1"]),
    "day": np.array(["2020-01-01", "2024-02-29"], "M8[D]"),
    "long": np.arange(5_000) / 7,
}
MORE = {"u": np.array([0.3, 1 / 7])}
Save = Callable[..., None]


def by_openpyxl(path: Path, *writes: tuple[Any, dict[str, Any]], **options: Any) -> None:
    book = openpyxl.Workbook(**options)
    for arrays, how in writes:
        sa.write(book, arrays, **how)
    book.save(path)


def by_xlsxwriter(path: Path, *writes: tuple[Any, dict[str, Any]], **options: Any) -> None:
    with xlsxwriter.Workbook(path, options) as book:
        for arrays, how in writes:
            sa.write(book, arrays, **how)


def by_pandas(path: Path, *writes: tuple[Any, dict[str, Any]]) -> None:
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        for arrays, how in writes:
            sa.write(book, arrays, **how)


LIBRARIES = pytest.mark.parametrize("save", [by_openpyxl, by_xlsxwriter, by_pandas])


def round_and_edit(path: Path) -> None:
    """Save a workbook as a program of 15 digits does, and with t[0, 1] edited."""
    book = openpyxl.load_workbook(path)
    cells = {cell.coordinate: cell for row in book["arrays"].iter_rows() for cell in row}
    for cell in cells.values():
        if isinstance(cell.value, float):
            cell.value = float(f"{cell.value:.15g}")
    _, column, row, *_ = book.defined_names["t"].attr_text.split("$")
    cells[f"{column}{int(row.strip(':')) + 1}"].value = 99.5
    book.save(path)


def assert_arrays(source: Any, expected: dict[str, Any], **options: Any) -> None:
    arrays = sa.read(source, **options)
    assert list(arrays) == list(expected)
    for name, array in expected.items():
        assert_same(arrays[name], array)


@LIBRARIES
def test_the_saved_file_is_checked_restored_and_accepted_by_its_guard(tmp_path: Path, save: Save) -> None:
    path, edited = tmp_path / "a.xlsx", {**ARRAYS, "t": ARRAYS["t"].copy()}
    edited["t"][0, 1] = 99.5
    save(path, (ARRAYS, {"guard": True}))
    assert openpyxl.load_workbook(path)["arrays guard"].sheet_state == "veryHidden"
    assert list(sa.check(path)) == []
    assert_arrays(path, ARRAYS)
    round_and_edit(path)
    assert_arrays(path, edited)
    assert not np.array_equal(sa.read(path, guard=False)["long"], ARRAYS["long"])
    (finding,) = sa.check(path)
    assert (finding.array, finding.index, finding.severity) == ("t", (0, 1), "error")
    sa.restore(path, tmp_path / "restored.xlsx")
    assert_arrays(tmp_path / "restored.xlsx", ARRAYS)
    sa.accept(path)
    assert list(sa.check(path)) == []
    assert_arrays(path, edited)


@LIBRARIES
@pytest.mark.parametrize("sheet", ["arrays", "other"])
def test_a_second_write_keeps_the_guard_and_a_first_one_has_none_unasked(
    tmp_path: Path, save: Save, sheet: str
) -> None:
    path = tmp_path / "a.xlsx"
    save(path, (ARRAYS, {}), (MORE, {"sheet": sheet}))
    assert not [title for title in openpyxl.load_workbook(path).sheetnames if "guard" in title]
    save(path, (ARRAYS, {"guard": True}), (MORE, {"sheet": sheet}))
    guards = [title for title in openpyxl.load_workbook(path).sheetnames if "guard" in title]
    assert guards == ["arrays guard", "other guard"][: 1 + (sheet == "other")]
    assert list(sa.check(path)) == []
    sa.restore(path, tmp_path / "restored.xlsx")
    assert_arrays(tmp_path / "restored.xlsx", ARRAYS | MORE)


@pytest.mark.parametrize(("save", "options"), [(by_openpyxl, "write_only"), (by_xlsxwriter, "constant_memory")])
def test_workbooks_that_are_written_row_by_row_have_guards(tmp_path: Path, save: Save, options: str) -> None:
    path = tmp_path / "a.xlsx"
    save(path, (ARRAYS, {"guard": True}), (MORE, {"sheet": "other", "guard": "auto"}), **{options: True})
    round_and_edit(path)
    sa.restore(path, tmp_path / "restored.xlsx")
    assert_arrays(tmp_path / "restored.xlsx", ARRAYS | MORE)


def test_numbers_that_xlsxwriter_rounds_are_read_exactly(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with pytest.warns(sa.SheetArrayWarning, match="rounded to 16 digits by XlsxWriter"):
        by_xlsxwriter(path, (ARRAYS, {"guard": True, "cells": "numeric"}))
    assert_arrays(path, ARRAYS)


def test_a_guard_of_arrays_that_were_deleted_is_made_anew(tmp_path: Path) -> None:
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    sa.write(book, ARRAYS, guard=True)
    for round_ in range(2):
        del book["arrays"]
        sa.write(book, {"t": ARRAYS["t"] + round_})
    sa.write(book, MORE)
    book.save(path)
    assert list(sa.check(path)) == []
    guard = [str(row[0].value) for row in book["arrays guard"].iter_rows()]
    assert [text.split('"')[3] for text in guard if text.startswith("{")] == ["t", "u"]
    del book["arrays"]
    sa.write(book, {"t": ARRAYS["t"] * 2, "u": MORE["u"] * 2}, guard=False)
    book.save(path)
    assert not [finding for finding in sa.check(path) if "guard" in finding.message]
    assert_arrays(path, {"t": ARRAYS["t"] * 2, "u": MORE["u"] * 2})


def test_an_array_that_stands_no_more_has_one_snapshot_after_it_is_written_again(tmp_path: Path) -> None:
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    sa.write(book, {**MORE, "t": ARRAYS["t"]}, guard=True)
    book["arrays"].delete_cols(2)  # t
    sa.write(book, {"t": ARRAYS["t"] + 1})
    book.save(path)
    assert list(sa.check(path)) == []
    assert_arrays(path, {**MORE, "t": ARRAYS["t"] + 1})


def test_each_frame_of_a_mapping_has_its_guard(tmp_path: Path) -> None:
    path, frame = tmp_path / "a.xlsx", pd.DataFrame({"x": [0.1, 0.2]})
    by_openpyxl(path, ({"north": frame, "south": frame + 1}, {"guard": True}))
    assert openpyxl.load_workbook(path).sheetnames == ["Sheet", "north", "south", "north guard", "south guard"]
    assert list(sa.check(path, sheet="south")) == []


@pytest.mark.parametrize("kind", ["openpyxl", "xlsxwriter"])
def test_a_worksheet_with_the_title_of_a_guard_is_never_overwritten(tmp_path: Path, kind: str) -> None:
    book = openpyxl.Workbook() if kind == "openpyxl" else xlsxwriter.Workbook(tmp_path / "a.xlsx")
    own = book.create_sheet("Arrays guard") if kind == "openpyxl" else book.add_worksheet("Arrays guard")
    with pytest.raises(sa.LimitError, match="'arrays guard' is no guard"):
        sa.write(book, ARRAYS, guard=True)
    two = {"a": pd.DataFrame({"x": [1]}), "a guard": pd.DataFrame({"y": [1]})}
    with pytest.raises(sa.LimitError, match="'a guard' is no guard"):
        sa.write(book, two, guard=True)
    assert [str(title).lower() for title in book.sheetnames] == ["sheet", "arrays guard"][kind != "openpyxl" :]
    sa.write(book, ARRAYS)  # "auto": it is no guard
    assert getattr(own, "sheet_state", "visible") == "visible"
    with pytest.raises(ValueError, match='guard is "auto", True or False'):
        sa.write(book, MORE, guard="always")


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("title", ["arrays", "other"])
def test_an_array_that_is_written_anew_is_no_edit_of_the_old_one(
    guard: bool, count: int, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workbook still has the checksums of the old array, which openpyxl keeps."""
    set_limits(monkeypatch, full_checksums=20)
    path = tmp_path / "x.xlsx"
    sa.write(path, {f"n{number}": np.arange(6.0) + number for number in range(count)}, sheet="arrays", guard=guard)
    book = openpyxl.load_workbook(path)
    del book["arrays"]
    sa.write(book, {"n1": np.arange(6.0) * 2}, sheet=title, guard=guard)
    book.save(path)
    about = [finding.message for finding in sa.check(path) if finding.array in (None, "n1")]
    assert not [message for message in about if "edited, or" in message or "another file" in message]
    if guard:
        sa.restore(path, tmp_path / "restored.xlsx")
        assert sa.read(tmp_path / "restored.xlsx", "n1", sheet=title).tolist() == [0, 2, 4, 6, 8, 10]
