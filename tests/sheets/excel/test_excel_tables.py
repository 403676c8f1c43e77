"""Tables of other programs that are read column by column: the same as cell by cell, and when it is done."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import cross
from foreign_books import book, boolean, shared, styles

import sheetarray as sa
from sheetarray.sheets.excel.reader import ooxml
from sheetarray.sheets.excel.reader.regular_columns import regular_columns

PAD = b" " * 64
ROWS = 4000  # which make a sheet of more than 256 KiB
SHARED = ["Paris", " Rome ", "a &amp; b", "ndarray?"]
COLUMNS: dict[str, Callable[[int], str]] = {
    "double": lambda row: f"<v>{row / 7!r}</v>",
    "integer": lambda row: f"<v>{row}</v>",
    "day": lambda row: f"<v>{row + 30_000}.0</v>",
    "truth": lambda row: f"<v>{row % 2}</v>",
    "shared": lambda row: f"<v>{row % 4}</v>",
    "inline": lambda row: f"<is><t>city {row % 9}, &#252;ber &lt;_x0041_</t></is>",
}
TYPES = {"day": ' s="1"', "truth": ' t="b"', "shared": ' t="s"', "inline": ' t="inlineStr"'}


def rows(count: int, **changed: tuple[int, str]) -> str:
    """Rows of a table, from row 2 on; some columns have another value in a row."""
    made = []
    for row in range(2, count + 2):
        cells = ""
        for letter, (name, value) in zip("ABCDEF", COLUMNS.items(), strict=True):
            other = changed.get(name, (0, ""))
            text = other[1] if other[0] == row else value(row)
            cells += f'<c r="{letter}{row}"{TYPES.get(name, "")}>{text}</c>'
        made.append(f'<row r="{row}">{cells}</row>')
    return "".join(made)


def table(count: int = ROWS, **changed: tuple[int, str]) -> bytes:
    """A workbook of another program's table."""
    names = "".join(
        f'<c r="{letter}1" t="inlineStr"><is><t>{name}</t></is></c>'
        for letter, name in zip("ABCDEF", COLUMNS, strict=True)
    )
    strings = shared(*(f'<t xml:space="preserve">{text}</t>' for text in SHARED))
    return book(f'<row r="1">{names}</row>{rows(count, **changed)}', strings=strings, formats=styles("yyyy-mm-dd"))


def outcome(content: bytes) -> str:
    """What comes of a table: dtypes and values, or the error."""
    try:
        return repr(
            {
                name: (array.dtype, array.tolist())
                for name, array in sa.read_columns(io.BytesIO(content), format="xlsx").items()
            }
        )
    except sa.SheetArrayError as error:
        return repr(error) + str(error)


CHANGED = 150  # a row of the only block that is long enough to be read by columns
CHANGES = {
    "nothing": "",
    "large": "<v>9007199254740993</v>",
    "negative zero": "<v>-0</v>",
    "no number": "<v>12a</v>",
    "white": "<v> 1</v>",
    "empty": "<v></v>",
    "control code": "<v>1\x01</v>",
    "infinite": "<v>1e400</v>",
}


@pytest.fixture
def read_by_columns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each block that is read by columns has; blocks are shorter than usual."""
    rows: list[int] = []

    def noted(block: bytes) -> Any:
        if (columns := regular_columns(block)) is not None:
            rows.append(columns.count)
        return columns

    monkeypatch.setattr(ooxml, "regular_columns", noted)
    monkeypatch.setattr("sheetarray.sheets.excel.reader.kept.SHORT", 2**14)
    return rows


NAMES = ["double", "day", "truth", "shared"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "change"), cross(NAMES, list(CHANGES), "double", "nothing", "no number"))
def test_columns_are_what_cells_are(
    name: str, change: str, read_by_columns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = table(330, **{name: (CHANGED if CHANGES[change] else 0, CHANGES[change])})
    by_column = outcome(content)
    assert bool(read_by_columns) == (change == "nothing")
    with monkeypatch.context() as patch:
        patch.setattr(ooxml, "regular_columns", lambda _: None)
        by_cell = outcome(content)
        patch.setattr(ooxml, "regular_rows", lambda _, **__: None)
        by_text = outcome(content)
    assert by_column == by_cell == by_text


@pytest.mark.parametrize(
    "value", ["<is><t> a</t></is>", "<is><t>a\n</t></is>", "<is><t>a]]&gt;</t></is>", "<is><t></t></is>"]
)
def test_texts_with_white_space_or_none(
    value: str, read_by_columns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = table(330, inline=(CHANGED, value))
    by_column = outcome(content)
    assert bool(read_by_columns) == ("]]" in value)
    monkeypatch.setattr(ooxml, "regular_columns", lambda _: None)
    assert by_column == outcome(content)


def test_every_kind_of_column_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []

    def noted(block: bytes) -> object:
        columns = regular_columns(block)
        calls.append(columns is not None)
        return columns

    monkeypatch.setattr(ooxml, "regular_columns", noted)
    columns = sa.read_columns(io.BytesIO(table()), format="xlsx")
    assert sum(calls) > len(calls) // 2, "only the row of names and short blocks are none"
    assert [array.dtype.str for array in columns.values()] == ["<f8", "<i8", "<M8[D]", "|b1", "<U8", "<U15"]
    assert columns["integer"].tolist() == list(range(2, ROWS + 2))
    assert columns["day"][0] == np.datetime64("1982-02-20")
    assert columns["shared"][:4].tolist() == ["a & b", "ndarray?", "Paris", " Rome "]
    assert columns["inline"][0] == "city 2, über <A"


@pytest.mark.parametrize(("count", "is_one"), [(255, False), (256, True), (257, True)])
def test_fewest_rows_of_columns(count: int, is_one: bool) -> None:
    columns = regular_columns(rows(count).encode() + PAD)
    assert (columns is not None) == is_one
    if columns is not None:
        assert (columns.first, columns.count, columns.columns.tolist()) == (1, count, [0, 1, 2, 3, 4, 5])
        assert columns.values[1].to_list() == list(range(2, count + 2))


@pytest.mark.parametrize("last", ["ndarray", "ndarrays"])
def test_array_among_rows_that_are_alike(last: str) -> None:
    text = rows(ROWS)
    for row, word in enumerate(("version", "1.0.0", last), 600):
        text = re.sub(rf'(<c r="F{row}"[^>]*><is><t>)[^<]*', rf"\g<1>{word}", text)
    content = book(text, strings=shared(*(f"<t>{item}</t>" for item in SHARED)))
    if last == "ndarray":
        with pytest.raises(sa.FormatError, match="an array of the exchange format"):
            sa.read_columns(io.BytesIO(content), format="xlsx")
    else:
        assert len(sa.read_columns(io.BytesIO(content), format="xlsx", header=False)) == 6


@pytest.mark.parametrize("shape", ["yyyy-mm-dd", "[h]:mm:ss", "General"])
@pytest.mark.parametrize("text", ["12a", "NaN", "INF"])
def test_cell_of_a_number_that_holds_none(shape: str, text: str) -> None:
    content = book(
        {(1, 0): f' s="1"><v>{text}</v></c>', (2, 0): ' s="1"><v>45000</v></c>', (3, 0): boolean(True)},
        formats=styles(shape),
    )
    with pytest.raises(sa.FormatError, match=f"a number that is none, {text}") as caught:
        sa.read_columns(io.BytesIO(content), format="xlsx", header=False)
    assert caught.value.location == "arrays!A1"
