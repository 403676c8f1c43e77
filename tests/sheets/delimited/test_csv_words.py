"""The words of headers in a delimited text: which cells hold one, and how long very many of them take to find."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa
from sheetarray import loops
from sheetarray.adapters import Source
from sheetarray.columns import Words
from sheetarray.columns.words import WORDS, code_of
from sheetarray.header import normalize_key
from sheetarray.sheets.delimited import dialect, records
from sheetarray.sheets.delimited.sheet import CsvSheet

AROUND = ["", " ", "\t", "\n", "\u00a0", "\x85", ",", ";", '""', "x", " \n", "\u00a0 ", "\u2003"]


def find_words(text: str, delimiter: str) -> set[tuple[int, int, str]]:
    with Source(io.BytesIO(text.encode())) as source:
        words: Words = CsvSheet(source, delimiter, ".", "utf-8", "keep").words()
    cells = zip(words.rows.tolist(), words.columns.tolist(), words.codes.tolist(), strict=True)
    return {(row, column, WORDS[code]) for row, column, code in cells}


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_cell_is_a_word_where_it_is_one_when_it_is_trimmed(quoted: bool, delimiter: str) -> None:
    quote = '"' if quoted else ""
    cells = [
        f"{quote}{before}{word}{after}{quote}"
        for word in ("version", "Data")
        for before in AROUND
        for after in AROUND
        if quoted or not {delimiter, "\n", '""'} & {*before, *after, before, after}
    ]
    text = "\n".join(delimiter.join(["a", cell, "b"]) for cell in cells) + "\n"
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    wanted = {(row, 1, key) for row, (_, cell, _) in enumerate(rows) if (key := normalize_key(cell)) in WORDS}
    assert len(wanted) > 20
    assert find_words(text, delimiter) == wanted


@pytest.mark.parametrize(
    "cell", ['"version"', '",version,"', '" version"', '"\u00a0version"', '"version\n"', "\u00a0version"], ids=ascii
)
@pytest.mark.skipif(not loops.COMPILED, reason="the plain way looks at each cell")
def test_very_many_words_are_looked_at_together(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def count(cell: Any) -> int:
        calls.append(cell)
        return code_of(cell)

    monkeypatch.setattr(records, "code_of", count)
    find_words(",".join([cell] * 20_000), ",")
    assert len(calls) == (0 if cell.isascii() or '"v' in cell else 20_000)  # what is not ASCII is looked at closer


@pytest.mark.parametrize("above", ["", "\n".join(["t", *map(str, sa.to_linear(np.arange(3)))]) + "\n"])
def test_a_long_row_of_words_is_not_searched_for_a_delimiter_again_and_again(
    above: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    anchors_of_grid = dialect.anchors_of_grid

    def count(grid: Any, **options: Any) -> Any:
        seen.append(sum(map(len, grid)))
        return anchors_of_grid(grid, **options)

    set_limits(monkeypatch, csv_window=2**12, csv_seen=2**14)
    monkeypatch.setattr(dialect, "anchors_of_grid", count)
    text = (above + ",".join(["ndarray"] * 20_000)).encode()
    dialect.find_delimiter(text, 0)
    dialect.find_delimiter_beside(text, 0)
    assert 0 < sum(seen) < 20_000
