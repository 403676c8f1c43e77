"""Tables of other programs in worksheets: columns of each kind, cells that are unlike the others, arrays among them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from foreign_books import book, boolean, document, shared, styles, table_cell, table_row

import sheetarray as sa

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


def table(count: int = ROWS) -> bytes:
    """A workbook of another program's table."""
    made = "".join(
        f'<c r="{a}1" t="inlineStr"><is><t>{name}</t></is></c>' for a, name in zip("ABCDEF", COLUMNS, strict=True)
    )
    made = f'<row r="1">{made}</row>'
    for row in range(2, count + 2):
        cells = zip("ABCDEF", COLUMNS.items(), strict=True)
        made += f'<row r="{row}">'
        made += (
            "".join(f'<c r="{a}{row}"{TYPES.get(name, "")}>{value(row)}</c>' for a, (name, value) in cells) + "</row>"
        )
    strings = shared(*(f'<t xml:space="preserve">{text}</t>' for text in SHARED))
    return book(made, strings=strings, formats=styles("yyyy-mm-dd"))


def test_every_kind_of_column() -> None:
    columns = sa.read_columns(io.BytesIO(table()), format="xlsx")
    assert [array.dtype.str for array in columns.values()] == ["<f8", "<i8", "<M8[D]", "|b1", "<U8", "<U15"]
    assert columns["integer"].tolist() == list(range(2, ROWS + 2))
    assert columns["day"][0] == np.datetime64("1982-02-20")
    assert columns["shared"][:4].tolist() == ["a & b", "ndarray?", "Paris", " Rome "]
    assert columns["inline"][0] == "city 2, über <A"


@pytest.mark.parametrize("shape", ["yyyy-mm-dd", "[h]:mm:ss", "General"])
@pytest.mark.parametrize("text", ["12a", "NaN", "INF"])
def test_cell_of_a_number_that_holds_none(shape: str, text: str) -> None:
    content = book(
        {(1, 0): f' s="1"><v>{text}</v></c>', (2, 0): ' s="1"><v>45000</v></c>', (3, 0): boolean(True)},
        formats=styles(shape),
    )
    with pytest.raises(sa.FormatError, match=f"a number cell without a number, {text}") as caught:
        sa.read_columns(io.BytesIO(content), format="xlsx", header=False)
    assert caught.value.location == "arrays!A1"


# The first rows, in which an array may stand ------------------------------------------------------------


def workbook(rows: list[list[Any]]) -> io.BytesIO:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    return file


@pytest.mark.parametrize("rows", [0, 400])
def test_an_array_below_a_table_is_refused(rows: int) -> None:
    array = sa.LinearArray.from_numpy(np.arange(3.0)).to_cells()
    table: list[list[Any]] = [
        ["x", "y"],
        *([index, index] for index in range(rows)),
        ["t"],
        *([cell] for cell in array),
    ]
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 't'"):
        sa.read_columns(workbook(table), format="xlsx")


@pytest.mark.parametrize("row", [0, 9000, 10_800])
def test_an_array_is_refused_beside_a_cell_far_to_the_right(row: int) -> None:
    array = sa.LinearArray.from_numpy(np.arange(12_000.0)).to_cells()
    table: list[list[Any]] = [["t"] * 3, *([cell] * 3 for cell in array)]
    table[row] = [*table[row], *[None] * 26, 5.5]
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 't'"):
        sa.read_columns(workbook(table), format="xlsx")


@pytest.mark.parametrize("row", [0, 14, 20])
def test_an_array_below_a_table_is_refused_beside_a_cell_in_the_last_column(row: int) -> None:
    array = sa.LinearArray.from_numpy(np.arange(3.0)).to_cells()
    table: list[list[Any]] = [["x", "y"], *([index, index] for index in range(10)), ["t"], *([cell] for cell in array)]
    table[row] = [*table[row], *[None] * (16_383 - len(table[row])), 5.5]
    with pytest.raises(sa.FormatError, match="an array of the exchange format, 't'"):
        sa.read_columns(workbook(table), format="xlsx")


# Far down ----------------------------------------------------------------------------------------------------


LAST = 2**20  # rows of a sheet


def table_at(suffix: str, rows: int, columns: int, last: int, above: int | None = None) -> io.BytesIO:
    """A table whose last row is given (counted from 1), and perhaps a note in a row above."""
    if suffix == "ods":
        lines = [table_row(table_cell(None), repeated=last - rows)] if above is None else []
        if above is not None:
            lines += [table_row(table_cell(None), repeated=above - 1)] if above > 1 else []
            lines += [table_row(table_cell("note")), table_row(table_cell(None), repeated=last - rows - above)]
        lines.append(table_row(*(table_cell(f"n{column}") for column in range(columns))))
        lines += [table_row(*(table_cell(row + column / 2) for column in range(columns))) for row in range(1, rows)]
        return io.BytesIO(document({"Sheet": "".join(lines)}))
    book = openpyxl.Workbook()
    sheet: Any = book.active
    if above is not None:
        sheet.cell(above, 1).value = "note"
    for row in range(rows):
        for column in range(columns):
            sheet.cell(last - rows + row + 1, column + 1).value = f"n{column}" if row == 0 else row + column / 2
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    return file


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
@pytest.mark.parametrize(("rows", "columns"), [(8, 11), (2, 100), (11, 8)])
@pytest.mark.parametrize("last", [LAST, LAST - 1, LAST // 2, 200])
def test_a_small_table_is_read_wherever_it_stands(suffix: Any, rows: int, columns: int, last: int) -> None:
    arrays = sa.read_columns(table_at(suffix, rows, columns, last), format=suffix)
    assert list(arrays) == [f"n{column}" for column in range(columns)]
    for column, array in enumerate(arrays.values()):
        assert array.tolist() == [row + column / 2 for row in range(1, rows)]


@pytest.mark.filterwarnings("ignore:.*(beside the table|second table):sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_cells_are_bounded_and_not_their_distance(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(table_at(suffix, 8, 11, LAST, above=3).getvalue())
    with pytest.raises(sa.FormatError, match=r"cell A3: 89 cells, so far apart .*1,048,573 rows.*skip_rows="):
        sa.read_columns(path)
    for skip_rows in (3, 1000, LAST - 8, [2]):
        assert sa.read_columns(path, skip_rows=skip_rows)["n10"].tolist() == [row + 5 for row in range(1, 8)]
    with pytest.raises(sa.FormatError, match=f"cell B{LAST - 6} .*expected an integer, found"):
        sa.read_columns(path, skip_rows=3, dtype="uint8")
    some = sa.read_columns(path, ["K"])["K"]
    assert (len(some), some[-1]) == (LAST - 3, "12")  # every row counts from the note on
