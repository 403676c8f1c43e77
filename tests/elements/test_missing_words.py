"""Words for missing values, of `missing="nan"` and of `na_values=`: read alike in every container, and counted once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from command_line import run_command
from recorded import assert_same

import sheetarray as sa


def write_words(path: Path, name: str, words: list[Any], array: Any) -> None:
    """Write an array, then put words into its first cells by hand."""
    sa.write(path, {name: array, "other": np.arange(len(array)) + 0.5}, guard=False)
    book = openpyxl.load_workbook(path)
    sheet = book.active
    assert sheet is not None
    first = next(row for row in range(1, 60) if sheet.cell(row, 1).value == "data") + 1
    for row, word in enumerate(words, first):
        sheet.cell(row, 1).value = word
    book.save(path)


@pytest.mark.parametrize("kind", ["xlsx", "csv", "json", "openpyxl"])
def test_every_container_takes_words_with_one_warning(kind: str, tmp_path: Path) -> None:
    book = tmp_path / "a.xlsx"
    write_words(book, "t", ["n/a", "#DIV/0!", None, 4.5, "-"], np.arange(6.0))
    source: Any = book
    if kind in ("csv", "json"):
        source = tmp_path / f"a.{kind}"
        arrays = {"t": np.arange(6.0), "other": np.arange(6) + 0.5}
        sa.write(source, arrays)
        text = source.read_text()
        if kind == "json":
            text = text.replace("0.0,1.0,2.0,3.0,4.0,5.0", '"n/a","#DIV/0!",null,4.5,"-",5.0').replace(
                "[0, 1, 2, 3, 4, 5]", "[]"
            )
        else:
            lines = text.splitlines()
            for row, word in enumerate(("n/a", "#DIV/0!", "", "4.5", "-"), len(lines) - 6):
                lines[row] = f"{word},{lines[row].split(',')[1]}"
            text = "\n".join(lines) + "\n"
        source.write_text(text)
    elif kind == "openpyxl":
        source = openpyxl.load_workbook(book)
    with pytest.warns(sa.SheetArrayWarning) as warned:
        read = sa.read(source, missing="nan")
    assert_same({"t": read["t"]}, {"t": np.array([np.nan, np.nan, np.nan, 4.5, np.nan, 5])})
    assert len([one for one in warned if "words for missing values" in str(one.message)]) == 1
    assert "3 cells hold words for missing values" in str(warned[0].message)
    with pytest.raises(sa.FormatError):
        sa.read(source)


def test_one_warning_counts_the_words_of_all_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_words(path, "t", ["n/a"], np.arange(3.0))
    book = openpyxl.load_workbook(path)
    sheet = book.active
    assert sheet is not None
    sheet.cell(sheet.max_row, 2).value = "?"
    book.save(path)
    with pytest.warns(sa.SheetArrayWarning) as warned:
        sa.read(path, missing="nan")
    (message,) = [str(one.message) for one in warned]
    assert "'t', 'other': 2 cells hold words for missing values" in message


def test_very_many_words_are_all_read() -> None:
    cells = sa.to_linear(np.zeros(5000))
    with pytest.warns(sa.SheetArrayWarning, match=r"5,000 cells"):
        read = sa.from_linear([*cells[:-5000], *["n/a"] * 5000], missing="nan")
    assert np.isnan(read).all()


NAMED = ["k.A.", -999]
ARRAYS = {
    "t": np.array([1.5, 2.5, 3.5]),
    "day": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[D]"),
    "z": np.array([1j, 2j, -999 + 1j]),
    "note": np.array(["a", "b", "c"]),
    "n": np.array([1, -999, 3]),
}
WITHOUT = ARRAYS | {
    "t": np.array([np.nan, np.nan, 3.5]),
    "day": np.array(["2026-01-01", "NaT", "2026-01-03"], "M8[D]"),
    "z": np.array([1j, np.nan, -999 + 1j]),
    "note": np.array(["a", "b", ""]),
}  # integers have no missing value, so that -999 stays


def type_words(path: Path, layout: str) -> Path:
    """Write arrays, and return a copy in which somebody has typed words for missing values into cells."""
    if layout == "table":
        sa.write_table(path, ARRAYS, verify=False)
    else:
        sa.write(path, ARRAYS)
    typed = path.with_stem("typed")
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        first = next(row for row in range(1, 60) if sheet.cell(row, 1).value == 1.5)
        for row, column, word in ((0, 1, "k.A."), (1, 1, -999), (1, 2, "k.A."), (1, 3, "k.A."), (2, 4, "k.A.")):
            sheet.cell(first + row, column).value = word
        book.save(typed)
        return typed
    text = path.read_text()
    if path.suffix == ".json":
        text = text.replace("1.5", '"1.5"').replace('"0+2i"', "0+2i").replace("0+2i", '"0+2i"')
    for cell, word in (("1.5", "k.A."), ("2.5", "-999"), ("2026-01-02", "k.A."), ("0+2i", "k.A.")):
        text = text.replace(cell, word)
    typed.write_text(text.replace('"c"', '"k.A."').replace(",c,", ",k.A.,"))
    return typed


@pytest.mark.parametrize(
    ("suffix", "layout"), [("csv", ""), ("tsv", ""), ("json", ""), ("xlsx", ""), ("xlsx", "table"), ("object", "")]
)
def test_what_a_caller_names_is_missing_for_every_verb(suffix: str, layout: str, tmp_path: Path) -> None:
    sent = tmp_path / f"sent.{'xlsx' if suffix == 'object' else suffix}"
    typed = type_words(sent, layout)
    counted = layout != "table"
    if suffix == "tsv":
        typed.write_text(typed.read_text().replace("\tc\t", "\tk.A.\t"))
    source: Any = openpyxl.load_workbook(typed) if suffix == "object" else typed
    with pytest.raises(sa.FormatError, match=r"k\.A\."):
        sa.read(source, missing="nan")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert_same(dict(sa.read(source, na_values=NAMED)), WITHOUT)
    assert [str(one.message).partition("; ")[0].rpartition(": ")[2] for one in warned] == (
        ["5 cells hold words for missing values, and are read as missing"] if counted else []
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not any("expected" in finding.message for finding in sa.check(source, na_values=NAMED))
        if suffix != "object":
            assert len(sa.diff(sent, typed, na_values=NAMED).edited) == 5
            assert not sa.diff(sent, typed, na_values=NAMED).unreadable
            sa.merge(sent, typed, target=tmp_path / f"merged{sent.suffix}", na_values=NAMED)
            assert_same(dict(sa.read(tmp_path / f"merged{sent.suffix}")), WITHOUT)
            sa.accept(typed, na_values=NAMED)
            assert np.isnan(next(iter(sa.iter_blocks(typed, "t", rows=2, na_values=NAMED)))).all()


def test_a_spreadsheet_of_google_takes_what_a_caller_names(sheets_server: Any) -> None:
    client = sheets_server.client()
    key = client.create("named").id
    sa.write(key, {"t": np.array([1.5, 2.5, 3.5])}, client=client)
    sheet = client.open_by_key(key).worksheet("arrays")
    (cell,) = sheet.findall("2.5")
    sheet.update([["k.A."], [-999]], f"A{cell.row}", raw=True)
    with pytest.warns(sa.SheetArrayWarning, match="2 cells hold words"):
        assert_same(sa.read(key, client=client, na_values=NAMED), {"t": np.array([1.5, np.nan, np.nan])})
    with pytest.warns(sa.SheetArrayWarning, match="1 cell holds a word"):
        rows = sa.read(key, client=client, slices={"t": slice(1, 2)}, na_values=NAMED)["t"]
    assert np.isnan(rows).all()


@pytest.mark.parametrize("values", [{"t": "x"}, [None], [object()]])
def test_na_values_that_are_none_are_refused(values: Any, tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", {"t": [1.5]})
    with pytest.raises(ValueError, match="na_values are texts or numbers"):
        sa.read(tmp_path / "t.csv", na_values=values)


def test_very_many_named_words_are_all_read_and_other_words_stay_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, {"t": np.full(5000, 1.5)})
    path.write_text(path.read_text().replace("1.5", "k.A."))
    with pytest.warns(sa.SheetArrayWarning, match="5,000 cells"):
        assert np.isnan(sa.read(path, "t", na_values="k.A.")).all()
    path.write_text(path.read_text().replace("k.A.", "n/a", 1))
    with pytest.raises(sa.FormatError, match="n/a"):
        sa.read(path, na_values="k.A.")


def test_the_command_line_takes_several_words(tmp_path: Path) -> None:
    path = type_words(tmp_path / "sent.csv", "")
    for given in (
        ["--na-value", "k.A.", "--na-value", "-999"],
        ["--read", "na_values=k.A.", "--read", "na_values=-999"],
    ):
        done = run_command("check", str(path), *given)
        assert "hold words for missing values" in done.output
        assert "expected" not in done.output
    assert (
        "decimal is given twice" in run_command("check", str(path), "--read", "decimal=,", "--read", "decimal=.").output
    )
