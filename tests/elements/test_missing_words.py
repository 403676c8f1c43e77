"""Words for missing values: `missing="nan"` reads them as NaN in arrays of every container, and counts them once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from recorded import assert_same

import sheetarray as sa
from sheetarray.elements import MISSING_WORDS, SHEET_ERRORS

WORDS = sorted({*MISSING_WORDS, *SHEET_ERRORS} - {"nan"})


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


@pytest.mark.parametrize("word", [*WORDS, "N/A", " Null ", "None"])
def test_each_word_is_a_missing_value_of_arrays(word: str) -> None:
    cells = sa.to_linear(np.array([1.5, 2.5]))
    with pytest.warns(sa.SheetArrayWarning, match=r"1 cell holds a word for a missing value"):
        assert np.array_equal(sa.from_linear([*cells[:-1], word], missing="nan"), [1.5, np.nan], equal_nan=True)
    with pytest.raises(sa.FormatError) as error:
        sa.from_linear([*cells[:-1], word])
    assert error.value.hint == "missing='nan' reads words for missing values as NaN"


@pytest.mark.parametrize("word", ["x", "-1-", "n/b", "nothing", "????", "#", "a missing one"])
def test_other_words_are_errors(word: str) -> None:
    with pytest.raises(sa.FormatError):
        sa.from_linear([*sa.to_linear(np.array([1.5, 2.5]))[:-1], word], missing="nan")


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex128", "complex64"])
def test_words_in_floats_and_complex_numbers(dtype: str) -> None:
    with pytest.warns(sa.SheetArrayWarning):
        read = sa.from_linear([*sa.to_linear(np.array([1, 2], dtype))[:-1], "-"], missing="nan")
    assert read.dtype == dtype
    assert np.isnan(read).tolist() == [False, True]
    pairs = sa.to_linear(np.array([1 + 2j, 3 + 4j]), complex="interleaved")
    with pytest.warns(sa.SheetArrayWarning):
        read = sa.from_linear([*pairs[:-1], "n/a"], missing="nan")
    assert (read[0], read[1].real, np.isnan(read[1].imag)) == (1 + 2j, 3, True)


@pytest.mark.parametrize("array", [np.array([1, 2]), np.array([True, False])])
def test_a_dtype_without_nan_takes_no_word(array: Any) -> None:
    with pytest.raises(sa.FormatError):
        sa.from_linear([*sa.to_linear(array)[:-1], "n/a"], missing="nan")


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
