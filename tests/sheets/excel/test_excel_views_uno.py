"""Views in LibreOffice, driven through its UNO interface: choices, and edits typed into the column and the grid."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xarray as xr
from programs import Office, open_office

import sheetarray as sa
from sheetarray.testing.cases import assert_same

RNG = np.random.default_rng(41)
EDITABLE = sa.View(editable=True)
_EPOCH = np.datetime64("1899-12-30")


@pytest.fixture(scope="module")
def office() -> Office:
    """One LibreOffice for all tests of this file."""
    return open_office()


def make_dataset() -> xr.Dataset:
    """Temperatures by month, place and height; one is missing."""
    values = RNG.normal(15, 8, (4, 3, 5))
    values[1, 2, 3] = np.nan
    months = np.array(["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"], "M8[s]")
    labels = {"month": months, "place": ["Basel", "Bern", "007"], "height": [0.5, 1.0, 2.0, 4.0, 10.0]}
    return xr.Dataset({"temperature": (("month", "place", "height"), values, {"units": "degC"})}, labels)


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_edits_of_column_and_grid_come_back_and_all_else_is_exact(office: Office, tmp_path: Path, suffix: str) -> None:
    dataset = make_dataset()
    twice = np.array([["", " b", "007"], ["=1", "d\ne", "TRUE"]])
    wanted = {
        "temperature": dataset.temperature.to_numpy().copy(),
        "plain": RNG.normal(size=(6, 7)),
        "when": np.array([["2026-01-01", "2026-05-04"], ["1999-12-31", "2000-02-29"]], "M8[s]"),
        "text": twice,
        "large": RNG.integers(-(2**62), 2**62, (3, 4)),
        "truth": RNG.random((3, 3)) < 0.5,
    }
    arrays = {**wanted, **{name: dataset[name].to_numpy() for name in ("month", "place", "height")}}
    path = tmp_path / "edited.xlsx"
    views = dict.fromkeys(wanted, EDITABLE) | {"plain": sa.View()}
    labelled = dataset.assign({name: ((f"{name}_r", f"{name}_c"), wanted[name]) for name in list(wanted)[1:]})
    sa.write(path, labelled, views=views, guard=True)
    assert [finding for finding in sa.check(path) if finding.severity == "error"] == []
    column = sa.scan(path)["plain"].location.partition("!")[2].rstrip("0123456789")
    last = openpyxl.load_workbook(path)["arrays"]
    row = next(row for row in range(1, 99) if last[f"{column}{row}"].value == "data") + 1
    edits: dict[tuple[str, str], float | str | None] = {
        ("arrays", f"{column}{row + 8}"): 1.25,
        ("temperature view", "C4"): -3.5,
        ("temperature view", "F23"): 99.0,
        ("when view", "B3"): 46023.0,
        ("text view", "C3"): "typed",
    }
    wanted["plain"][1, 1] = 1.25
    wanted["temperature"][0, 1, 1], wanted["temperature"][3, 2, 4] = -3.5, 99.0
    wanted["when"][1, 0] = np.datetime64(46023, "D") + (_EPOCH - np.datetime64(0, "D"))
    wanted["text"] = wanted["text"].astype("U5")
    wanted["text"][1, 1] = "typed"
    saved = office.edit(path, edits, suffix, tmp_path / "saved")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        actual = sa.read(saved)
    for name, array in {**arrays, **wanted}.items():
        assert_same(actual[name], array.astype(actual[name].dtype) if array.dtype.kind == "U" else array)
    edited = {(finding.array, finding.index) for finding in sa.check(saved) if " -> " in finding.message}
    places = {("temperature", (0, 1, 1)), ("temperature", (3, 2, 4)), ("plain", (1, 1)), ("when", (1, 0))}
    assert edited == places | {("text", (1, 1))}
    assert not [finding for finding in sa.check(saved) if "formula" in finding.message]


@pytest.mark.parametrize("mode", ["w", "a"])
def test_only_choosers_and_the_grids_of_views_for_editing_can_be_changed(
    office: Office, tmp_path: Path, mode: str
) -> None:
    path, grid = tmp_path / "locked.xlsx", np.arange(12.0).reshape(2, 3, 2)
    if mode == "a":
        openpyxl.Workbook().save(path)  # in which choosers have no style of their own
    text = np.array([["", "b"], ["c", "d"]])
    holes = np.array([[np.nan, 1.5], [np.inf, 2.5]])
    editable = dict.fromkeys(("e", "text", "holes"), EDITABLE)
    sa.write(path, {"t": grid, "e": grid, "text": text, "holes": holes}, views={"t": sa.View(), **editable}, mode=mode)
    locked = [("t view", "A1"), ("t view", "A2"), ("t view", "C18"), ("e view", "A3")]
    opened = [("t view", "B2"), ("e view", "B3"), ("e view", "C10"), ("text view", "B3"), ("holes view", "B2")]
    opened += [("holes view", "C2"), ("holes view", "B3")]
    look = [["values", title, f"{address}:{address}"] for title, address in (*locked, *opened)]
    clear = [["set", title, address, None] for title, address in (*locked, *opened)]  # refused where cells are locked
    seen = [result[0][0] for result in office.work_on(path, *look, *clear, *look) if result is not None]
    before, after = seen[: len(look)], seen[len(look) :]
    assert "" not in before
    assert after == before[: len(locked)] + [""] * len(opened)
    assert list(sa.check(path)) == []


def test_views_look_unlocked_where_they_are_to_programs_that_know_styles_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    arrays = {
        "t": np.arange(12.0).reshape(2, 3, 2) + 0.25,
        "d": np.array([["2026-01-01", "NaT"]], "M8[s]"),
        "b": np.array([[True, False]]),
        "i": np.array([[2**40, 1]]),
        "s": np.array([["", "b"]]),
    }
    sa.write(path, arrays, views={"t": sa.View(), **dict.fromkeys("dbis", EDITABLE)})
    book = openpyxl.load_workbook(path)
    for name in arrays:
        sheet = book[f"{name} view"]
        assert sheet.protection.sheet
        assert not sheet.protection.password
        unlocked = {cell.coordinate for row in sheet.iter_rows() for cell in row if not cell.protection.locked}
        assert unlocked == ({"B2", "B3", "B4"} if name == "t" else {"B2", "C2"})
    assert book["d view"]["B2"].is_date


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_views_that_were_saved_again_differ_by_what_people_typed_into_them(
    office: Office, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / "t.xlsx"
    grid = xr.DataArray(np.arange(24.0).reshape(2, 3, 4), {"site": ["a", "b", "c"]}, ("day", "site", "z"), "t")
    sa.write(path, grid, views=True)
    assert not sa.diff(path, office.edit(path, {}, suffix, tmp_path / "saved"))
    notes = {("t view", "D2"): "look here", ("t view", "A99"): 7.0}
    changes = sa.diff(path, office.edit(path, {**notes, ("t view", "B2"): 1.0}, suffix, tmp_path / "noted"))
    assert [(remark.cell, remark.text) for remark in changes.remarks] == [
        ("t view!D2", "look here"),
        ("t view!A99", "7"),
    ]
    assert not changes.edited
