"""The words of headers in a delimited text: which cells hold one, and how long very many of them take to find."""

from __future__ import annotations

import csv
import io
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa
from sheetarray.adapters import Source
from sheetarray.columns import Words
from sheetarray.columns.words import WORDS
from sheetarray.header import normalize_key
from sheetarray.sheets.delimited import dialect
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


KEYS = WORDS[2:]


def test_every_header_holds_a_letter_that_the_search_of_bytes_looks_for() -> None:
    assert {*"dp"} & {*"ndarray"}
    for keys in combinations(KEYS, 4):
        assert {*"dp"} & {*"".join(keys)}


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("kind", ["array", "keys", "three keys"])
def test_what_begins_far_below_long_columns_is_found(kind: str, upper: bool) -> None:
    file = io.BytesIO()
    sa.write_csv(file, {"t": np.arange(50_000) / 7, "n": np.arange(50_000)})
    cells = list(map(str, sa.to_linear(np.arange(3, dtype="i8"))))
    below = {
        "array": ["late", *cells],
        "keys": ["offset", "0", "length", "1", "capacity", "3", "part", "1"],
        "three keys": ["length", "1", "capacity", "3", "part", "1"],
    }[kind]
    more = "".join(f",,{cell.upper() if upper and cell != 'row-major' else cell}\r\n" for cell in below)
    text = file.getvalue() + more.encode()
    if kind == "array":
        assert sa.read_csv(io.BytesIO(text))[below[0].upper() if upper else "late"].tolist() == [0, 1, 2]
        assert len(sa.scan(io.BytesIO(text), format="csv")) == 3
    elif kind == "keys":
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError, match="the key 'offset' and others of a header"):
                verb(io.BytesIO(text.replace(b"OFFSET", b"offset")), format="csv")
    else:
        assert list(sa.scan(io.BytesIO(text), format="csv")) == ["t", "n"]
