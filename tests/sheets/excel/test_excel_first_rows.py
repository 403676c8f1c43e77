"""The first rows of a sheet: cut from the rows of numbers below them, and looked at for words of headers, in bulk."""

from __future__ import annotations

import io
from itertools import product
from typing import Any

import numpy as np
import openpyxl
import pytest

import sheetarray as sa
from sheetarray.sheets.excel.reader import kept
from sheetarray.sheets.excel.reader.cutting import PAD, _is_plain
from sheetarray.sheets.excel.reader.picking import find_end_of_texts
from sheetarray.sheets.excel.sheet import ExcelSheet

HEAD = '<row r="{0}"><c r="A{0}" t="s"><v>0</v></c></row>'
NUMBERS = '<row r="{0}"><c r="A{0}"><v>1.5</v></c><c r="B{0}"><v>-2</v></c></row>'


def block(heads: int, numbers: int, *, between: str = "") -> bytes:
    texts = [HEAD.format(row) for row in range(1, heads + 1)]
    texts += [NUMBERS.format(row) for row in range(heads + 1, heads + 1 + numbers)]
    return between.join(texts).encode() + PAD


@pytest.mark.parametrize("between", ["", "\n  "])
@pytest.mark.parametrize("heads", [1, 2, 100])
def test_rows_without_texts_begin_after_the_heads(heads: int, between: str) -> None:
    content = block(heads, 3, between=between)
    place = find_end_of_texts(content)
    assert content[place:].startswith(f'<row r="{heads + 1}"><c r="A{heads + 1}"><v>'.encode())


@pytest.mark.parametrize("kind", ["s", "str", "inlineStr", "b", "e", "d"])
def test_no_cell_of_any_other_kind_stands_behind_the_cut(kind: str) -> None:
    texts = block(1, 3).decode() + HEAD.format(5).replace('"s"', f'"{kind}"')
    assert find_end_of_texts(texts.encode() + PAD) == 0
    more = texts + NUMBERS.format(6)
    assert more[find_end_of_texts(more.encode()) :] == NUMBERS.format(6)


@pytest.mark.parametrize("content", [block(0, 3), block(2, 0), PAD, b"<row", b"<row r='1'/></row></row>"])
def test_other_blocks_are_not_cut(content: bytes) -> None:
    assert find_end_of_texts(content) == 0


@pytest.mark.parametrize("more", [-1, 0])
def test_a_block_at_the_bound_is_cut(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = block(1, 5)
    place = find_end_of_texts(content)
    monkeypatch.setattr(kept, "_FEWEST_BYTES", len(content) - place - more)
    cut = list(kept._cut_first(iter([content, b"other"])))
    whole = [content, b"other"] if more < 0 else [content[:place] + PAD, content[place:], b"other"]
    assert cut == whole
    assert not list(kept._cut_first(iter(())))


def workbook(rows: list[list[Any]]) -> io.BytesIO:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    return file


@pytest.mark.parametrize("heads", [1, 3, 20])
def test_a_cut_table_has_the_cells_of_a_whole_one(heads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(heads).standard_normal((400, 3)).round(6)
    file = workbook([*([f"x{head}", "y", "z"] for head in range(heads)), *numbers.tolist(), ["end", 1, 2]])
    options: dict[str, Any] = {"format": "xlsx", "missing": "nan"}
    cut = sa.read_columns(file, **options)
    monkeypatch.setattr(kept, "_FEWEST_BYTES", 2**40)
    file.seek(0)
    whole = sa.read_columns(file, **options)
    assert list(cut) == list(whole)
    assert all(cut[name].tolist() == whole[name].tolist() for name in cut)


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were made one by one, to look for an array in them."""
    made: list[int] = []
    head_of = ExcelSheet.head_of
    monkeypatch.setattr(
        ExcelSheet, "head_of", lambda self, runs, budget: made.append(budget) or head_of(self, runs, budget)
    )
    return made


def test_rows_without_words_are_not_made_one_by_one(heads: list[int]) -> None:
    table = [["data", "name"], *([index + 0.5, f"n{index}"] for index in range(300))]
    assert len(sa.read_columns(workbook(table), format="xlsx")["data"]) == 300
    assert heads == []


@pytest.mark.parametrize("rows", [0, 400])
def test_an_array_below_a_table_is_refused_as_before(rows: int, heads: list[int]) -> None:
    array = sa.LinearArray.from_numpy(np.arange(3.0)).to_cells()
    table: list[list[Any]] = [
        ["x", "y"],
        *([index, index] for index in range(rows)),
        ["t"],
        *([cell] for cell in array),
    ]
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 't'"):
        sa.read_columns(workbook(table), format="xlsx")
    assert heads


def test_an_array_in_a_very_wide_sheet_is_refused() -> None:
    # more cells than are looked at first, in fewer rows than an array has
    table: list[list[Any]] = [[1.0] * 6000 for _ in range(4)]
    table += [["t"], *([cell] for cell in sa.LinearArray.from_numpy(np.arange(3.0)).to_cells())]
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 't'"):
        sa.read_columns(workbook(table), format="xlsx")


def test_tags_that_are_none_are_seen_wherever_they_stand() -> None:
    for pair, before, after in product((b"<!", b"<?"), range(5), range(3)):
        assert _is_plain(b"!?<x m"[:before] + b"'!?" + b"<x mlns"[:after])
        assert not _is_plain(b"!<a?"[:before] + pair + b">!"[:after]), (pair, before, after)
        assert not _is_plain(b"xa m"[:before] + b"xmlns" + b">!"[:after])
        assert _is_plain(b"xa m"[:before] + b"xmln" + b">!"[:after])
