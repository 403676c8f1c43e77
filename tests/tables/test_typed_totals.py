"""Rows of totals that people type below recorded tables: they are no rows of data, and check tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from programs import FILTERS, open_office
from recorded import GRID, edit, write_quietly
from services import TableBook

import sheetarray as sa
from sheets_emulator import SheetsServer

TABLE = {"site": np.array(["a", "b", "c"]), "n": np.array([1, 2, 3]), "t": np.array([1.5, 2.5, 4.25])}
SUMS = ["=SUM(B2:B4)", "=SUM(C2:C4)"]


def type_row(*cells: Any, row: int = 5) -> Any:
    def change(book: Any) -> None:
        for column, cell in enumerate(cells, 1):
            book["table"].cell(row, column).value = cell

    return change


def told(source: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(finding.severity, finding.location) for finding in sa.check(source, **options)]


@pytest.mark.parametrize(
    ("cells", "is_total"),
    [
        (["Total", 6, 8.25], True),
        (["SUMME:", 6, 8.25], True),
        (["Total", 6, None], True),
        (["Total", 6, 8.3], True),  # rounded
        (["mean", 2, 2.75], True),
        (["Total", 6, 99.5], True),  # the other number is of before an edit
        (["Total", 7, 99.5], False),
        (["Total", 2, 2.75], False),  # the means
        (["d", 6, 8.25], False),
    ],
)
def test_a_row_of_totals_below_a_table_is_left_out_and_told(cells: list[Any], is_total: bool, tmp_path: Path) -> None:
    base, path, merged = (tmp_path / f"{stem}.xlsx" for stem in ("base", "copy", "merged"))
    for file in (base, path):
        write_quietly(file, TABLE)
    edit(path, type_row(*cells))
    if not is_total:
        with pytest.raises(sa.FormatError, match="4 rows of data, but 3 were written"):
            sa.read(path)
        return
    assert told(path) == [("warning", "table!A5")]
    for resize in (False, True):
        assert sa.read(path, resize=resize)["n"].tolist() == [1, 2, 3]
    assert not sa.diff(base, path)
    sa.merge(base, path, target=merged)
    assert openpyxl.load_workbook(merged)["table"].max_row == 4
    assert not sa.accept(path)
    assert sa.read(path)["t"].tolist() == [1.5, 2.5, 4.25]


@pytest.mark.parametrize("guard", [True, False])
def test_a_table_that_was_written_with_totals_keeps_them(guard: bool, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"site": np.array(["a", "b", "Total"]), "n": np.array([1, 2, 3])}, guard=guard)
    edit(path, lambda book: (book["table"].insert_rows(2), type_row("q", 4, row=2)(book), type_row("Total", 7)(book)))
    assert sa.read(path, resize=True)["n"].tolist() == [4, 1, 2, 7]


def test_copies_with_totals_of_formulas_are_merged_above_them(tmp_path: Path) -> None:
    base, ann, ben, merged = (tmp_path / f"{stem}.xlsx" for stem in ("base", "ann", "ben", "merged"))
    write_quietly(base, TABLE)
    edit(base, type_row("Total", *SUMS))
    for path in (ann, ben):
        path.write_bytes(base.read_bytes())
    edit(ann, lambda book: book["table"].__setitem__("C3", 9.5))

    def add(book: Any) -> None:
        type_row("d", 4, 0.5)(book)
        type_row("Total", "=SUM(B2:B5)", "=SUM(C2:C5)", row=6)(book)

    edit(ben, add)
    sa.merge(base, ann, ben, target=merged)
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(merged)["table"].iter_rows()]
    assert rows[2:] == [["b", 2, 9.5], ["c", 3, 4.25], ["d", 4, 0.5], ["Total", "=SUM(B2:B5)", "=SUM(C2:C5)"]]
    assert list(sa.check(merged)) == []
    assert sa.read(merged)["n"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("cells", [[6, 8.25], SUMS], ids=["values", "formulas"])
@pytest.mark.parametrize("suffix", ["ods", "xlsx"])
def test_totals_that_were_typed_in_libreoffice_are_left_out(suffix: str, cells: list[Any], tmp_path: Path) -> None:
    path, saved = tmp_path / "t.xlsx", tmp_path / f"saved.{suffix}"
    write_quietly(path, TABLE)
    verb = "formula" if cells is SUMS else "set"
    verb = "formula" if cells is SUMS else "set"
    steps = [["set", "table", "A5", "Total"], *([verb, "table", f"{'BC'[at]}5", cell] for at, cell in enumerate(cells))]
    open_office().work_on(path, *steps, ["save", str(saved), *FILTERS[suffix]])
    assert sa.read(saved)["t"].tolist() == [1.5, 2.5, 4.25]
    assert [location for _, location in told(saved)] in ([], ["table!A5"])


def test_totals_below_a_table_with_labels_and_in_google_sheets(tmp_path: Path, server: SheetsServer) -> None:
    path, book = tmp_path / "t.xlsx", TableBook(server)
    total = ["Total", None, float(GRID["t"].sum())]
    write_quietly(path, GRID)
    edit(path, type_row(*total, row=14))
    assert told(path) == [("warning", "table!A14")]
    assert sa.read_dataset(path).identical(GRID)
    book.write(GRID)
    book.table.add_rows(2)
    for value in (total[2], "=SUM(C2:C13)"):
        book.table.update([["Total", "", value]], "A14", raw=False)
        assert sa.read_dataset(book.url, client=book.client).identical(GRID)
        assert told(book.url, client=book.client) == [("warning", "table!A14")]
    memory = openpyxl.Workbook()
    write_quietly(memory, TABLE)
    type_row("Total", 6, 8.25)(memory)
    assert sa.read(memory)["n"].tolist() == [1, 2, 3]
    assert told(memory) == [("warning", "table!A5")]
    type_row("Total", *SUMS)(memory)
    assert sa.read(memory)["n"].tolist() == [1, 2, 3]
