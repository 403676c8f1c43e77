"""Large texts that other programs saved, or in which cells are wrong, are read piece by piece with the same results."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import cross

import sheetarray as sa
from sheetarray.files import Source
from sheetarray.sheets.delimited import pieces, reading, reported, restating
from sheetarray.sheets.delimited.reported import ReportingText

DIALECTS: dict[str, dict[str, Any]] = {
    "ours": {},
    "quoted": {"quoting": csv.QUOTE_ALL},
    "semicolons": {"delimiter": ";"},
    "tabs in quotes": {"delimiter": "\t", "quoting": csv.QUOTE_ALL},
    "commas in quotes": {"delimiter": ","},
}


def make_arrays() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 5)) * 10.0 ** rng.integers(-9, 9, (60, 5))
    values[3, 2], values[40] = np.nan, [np.inf, -np.inf, 0.0, -0.0, 5e-324]
    return {
        "t": values,
        "n": np.arange(50) - 2**62,
        "when": np.arange(40).astype("M8[s]"),
        "flag": np.arange(30) % 3 == 0,
        "word": np.array(["plain", "a,b", 'with "quotes"', "two\nlines", "3,14", "", "2;5"] * 6),
        "cube": rng.normal(size=(2, 3, 4)).astype("f4"),
    }


def save_as(path: Path, arrays: dict[str, Any], dialect: str, edit: Callable[[list[list[str]]], Any] = len) -> None:
    """Write arrays as another program saves them, with decimal commas where that is usual, and somebody's edits."""
    text = io.StringIO(newline="")
    sa.write(text, arrays, format="csv")
    rows = list(csv.reader(io.StringIO(text.getvalue(), newline="")))
    if dialect not in ("ours", "quoted"):
        floats = [place for place, name in enumerate(arrays) if getattr(arrays[name], "dtype", None) in ("f8", "f4")]
        for row in rows[4:]:
            for place in floats:
                row[place] = row[place].replace(".", ",")
    edit(rows)
    with path.open("w", newline="") as file:
        csv.writer(file, **DIALECTS[dialect]).writerows(rows)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restating, "LARGE_TEXT", 1)
    for module in (restating, pieces):
        monkeypatch.setattr(module, "_PIECE", 3000)
    monkeypatch.setattr(reported, "PIECE", 4000)


def whole_findings(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[sa.Finding]:
    with monkeypatch.context() as patch:
        for name in ("find_written", "find_restated"):
            patch.setattr(reading, name, lambda *_: None)
        return list(sa.check(path))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_of_any_dialect_comes_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_pieces: None, dialect: str
) -> None:
    path, arrays = tmp_path / "run.csv", make_arrays()
    save_as(path, arrays, dialect)
    monkeypatch.setattr(pieces, "read_csv", None)  # which would read it whole
    for name, array in arrays.items():
        assert np.concatenate(list(sa.iter_blocks(path, name, rows=7))).tobytes() == array.tobytes()
    monkeypatch.setattr(reading, "check_sheets", None)
    assert list(sa.check(path)) == []
    with Source(path) as source:
        assert restating.find_restated(ReportingText, source, None, None, "utf-8", "escape") is None
        for limit in (-1, 0, 1):
            monkeypatch.setattr(restating, "LARGE_TEXT", path.stat().st_size + limit)
            restated = restating.find_restated(ReportingText, source, None, None, None, "escape")
            assert (restated is not None) == (limit < 1 and dialect != "ours")


WRONG: dict[str, dict[int, str]] = {
    "a word": {40: "x"},
    "several": {21: "1.5.5", 300: "abc", 301: ""},
    "too large": {30: "1e999"},
    "a unit": {312: "7 m"},
}


@pytest.mark.parametrize(("wrong", "dialect"), cross(WRONG, ["ours", "quoted", "semicolons"], "several"))
def test_wrong_cells_are_those_of_reading_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_pieces: None, dialect: str, wrong: str
) -> None:
    path, cells = tmp_path / "run.csv", WRONG[wrong]
    save_as(path, make_arrays(), dialect, lambda rows: [rows[row].__setitem__(0, cells[row]) for row in cells])
    expected = whole_findings(path, monkeypatch)
    assert len(expected) == len(cells)
    with pytest.raises(sa.FormatError) as whole:
        sa.read(path)
    if 21 not in cells:  # which stands beside a longer header
        monkeypatch.setattr(pieces, "read_csv", None)
        monkeypatch.setattr(reading, "check_sheets", None)
    assert list(sa.check(path)) == expected
    with pytest.raises(sa.FormatError) as first:
        list(sa.iter_blocks(path, "t", rows=5))
    assert str(first.value) == str(whole.value)


@pytest.mark.parametrize("count", [20, 21, 4096, 4097])
def test_very_many_wrong_cells_have_the_findings_of_reading_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_pieces: None, count: int
) -> None:
    monkeypatch.setattr(reported, "PIECE", 9000)
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(5000.0), "n": np.arange(3)})
    lines = path.read_text().split("\n")
    path.write_text("\n".join([*lines[:30], *[f"x{line}" for line in lines[30 : 30 + count]], *lines[30 + count :]]))
    expected = whole_findings(path, monkeypatch)
    assert len(expected) == min(count, 21)
    if count <= 4096:
        monkeypatch.setattr(reading, "check_sheets", None)
    assert list(sa.check(path)) == expected


EDITS: dict[str, Any] = {
    "a cell below": lambda rows: rows.append(["1,5"]),
    "a row twice": lambda rows: rows.insert(100, list(rows[100])),
    "a row less": lambda rows: rows.pop(200),
    "a cell beside": lambda rows: rows[100].append("7"),
    "a header's word": lambda rows: rows[100].__setitem__(0, "version"),
    "thousands": lambda rows: rows[100].__setitem__(0, "1.234,5"),
    "a blank at the end": lambda rows: rows[-1].__setitem__(0, ""),
    "a title": lambda rows: rows.insert(0, ["a title"]),
    "a column before": lambda rows: [row.insert(0, "") for row in rows],
    "a dtype": lambda rows: rows[14].__setitem__(0, "float46"),
}


@pytest.mark.parametrize(("edit", "dialect"), cross(EDITS, ["ours", "quoted", "semicolons"], "thousands"))
def test_what_else_people_do_has_the_findings_of_reading_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_pieces: None, edit: str, dialect: str
) -> None:
    path = tmp_path / "run.csv"
    save_as(path, make_arrays(), dialect, EDITS[edit])
    assert list(sa.check(path)) == whole_findings(path, monkeypatch)
