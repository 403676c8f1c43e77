"""One property over layouts: for each kind of value, each verb gives the same for a table as for arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
from recorded import KINDS, assert_same, labelled, write_quietly
from services import TableBook

import sheetarray as sa
from sheets_emulator import SheetsServer

LAYOUTS = ("arrays", "table")


def write(path: Path, content: xr.Dataset, layout: str) -> None:
    write_quietly(path, content) if layout == "table" else sa.write(path, content)


def places_of(values: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The places of two elements that differ and that every cell can hold, in row-major order."""
    texts = [repr(value) for value in values.tolist()]
    known = [place for place, text in enumerate(texts) if text not in ("''", "None", "nan", "nanj")]
    return next((a, b) for a in known for b in reversed(known) if texts[a] != texts[b] and values[a] != values[b])


def cell_of(sheet: Any, layout: str, place: int) -> Any:
    """The cell of an element of `v`, by its place in row-major order."""
    if layout == "table":
        column = [cell.value for cell in sheet[1]].index("v") + 1
        return sheet.cell(2 + place, column)
    column = [cell.value for cell in sheet[1]].index("v") + 1
    first = next(row for row in range(2, 60) if sheet.cell(row, column).value == "data") + 1
    i, j = divmod(place, 3)
    return sheet.cell(first + i + 2 * j, column)  # `labelled` makes it column-major


def copy_element(path: Path, layout: str, source: int, goal: int) -> None:
    """Do by hand what makes one element another: copy its cell, and save."""
    book = openpyxl.load_workbook(path)
    before, after = (cell_of(book[layout], layout, place) for place in (source, goal))
    after.value, after.number_format, after.data_type = before.value, before.number_format, before.data_type
    book.save(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_gives_the_same_for_a_table_and_for_arrays(kind: str, tmp_path: Path) -> None:
    values = KINDS[kind]
    content = labelled(values)
    source, goal = places_of(values)
    results: dict[str, dict[str, Any]] = {layout: {} for layout in LAYOUTS}
    for layout in LAYOUTS:
        base, path, third, made = (tmp_path / f"{layout}-{name}.xlsx" for name in ("base", "edited", "third", "made"))
        of_layout = results[layout]
        for file in (base, path, third):
            write(file, content, layout)
        of_layout["read"] = sa.read(base)
        of_layout["scan"] = {
            name: (info.shape, info.dtype, info.order, info.dims) for name, info in sa.scan(base).items()
        }
        copy_element(path, layout, source, goal)
        of_layout["check"] = [(finding.array, finding.index, finding.message) for finding in sa.check(path)]
        of_layout["diff"] = [re.sub(r"cell \w+!\w+", "cell", line) for line in repr(sa.diff(base, path)).splitlines()]
        of_layout["edited"] = sa.read(path)
        sa.restore(path, made)
        of_layout["restored"] = sa.read(made)
        merged = sa.merge(base, path, third, target=made)
        of_layout["merged"], of_layout["conflicts"] = sa.read(made), len(merged.conflicts)
        assert sa.accept(path)
        assert list(sa.check(path)) == []
        of_layout["accepted"] = sa.read(path)
        xr.testing.assert_identical(sa.read_dataset(base), sa.read_dataset(tmp_path / "arrays-base.xlsx"))
    arrays, table = results["arrays"], results["table"]
    assert table["scan"] == arrays["scan"]
    assert table["check"] == arrays["check"]
    assert table["check"]
    assert table["diff"] == arrays["diff"]
    for verb in ("read", "edited", "restored", "accepted", "merged"):
        assert_same(table[verb], arrays[verb])
    assert table["conflicts"] == arrays["conflicts"] == 0
    assert_same(table["merged"], table["edited"])
    assert_same(table["restored"], table["read"])


def cell_in_google(book: TableBook, layout: str, place: int) -> str:
    """The address of the cell of an element of `v`, by its place in row-major order."""
    rows = book.sheet(layout).get_all_values()
    column = rows[0].index("v") + 1
    row = 2 + place
    if layout == "arrays":
        i, j = divmod(place, 3)
        row = next(number for number, cells in enumerate(rows, 1) if cells[column - 1] == "data") + 1 + i + 2 * j
    return f"R{row}C{column}"


def write_google(book: TableBook, content: Any, layout: str) -> None:
    book.write(content) if layout == "table" else sa.write(book.url, content, client=book.client)


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_gives_the_same_in_google_sheets(kind: str, server: SheetsServer, tmp_path: Path) -> None:
    values = KINDS[kind]
    content = labelled(values)
    source, goal = places_of(values)
    results: dict[str, dict[str, Any]] = {layout: {} for layout in LAYOUTS}
    for layout in LAYOUTS:
        base, edited, third = books = [TableBook(server) for _ in range(3)]
        of_layout, client = results[layout], base.client
        for book in books:
            write_google(book, content, layout)
        how: dict[str, Any] = {"client": client}
        of_layout["read"] = sa.read(base.url, **how)
        of_layout["scan"] = {
            name: (info.shape, info.dtype, info.order, info.dims) for name, info in sa.scan(base.url, **how).items()
        }
        assert base.check() == []
        xr.testing.assert_identical(sa.read_dataset(base.url, **how), content)
        sheet, (before, after) = edited.sheet(layout), (cell_in_google(edited, layout, at) for at in (source, goal))
        ((value,),) = sheet.get(before, value_render_option="UNFORMATTED_VALUE")
        sheet.update([[value]], after, raw=True)
        assert edited.check() == []
        of_layout["edited"] = sa.read(edited.url, **how)
        lines = repr(sa.diff(base.url, edited.url, **how)).splitlines()
        of_layout["diff"] = [re.sub(r"cell \w+!\w+", "cell", line) for line in lines]
        sa.convert(edited.url, tmp_path / f"{layout}.json", client=client)
        of_layout["converted"] = sa.read(tmp_path / f"{layout}.json")
        assert not edited.accept()
        merged = sa.merge(base.url, edited.url, third.url, target=base.url, client=client)
        of_layout["merged"], of_layout["conflicts"] = sa.read(base.url, **how), len(merged.conflicts)
        sheet.update([["?"]], after, raw=True)
        of_layout["unreadable"] = [(finding.array, finding.index, finding.message) for finding in edited.check()]
        sa.page(edited.url, client=client)
    arrays, table = results["arrays"], results["table"]
    for verb in ("scan", "diff", "unreadable", "conflicts"):
        assert table[verb] == arrays[verb], verb
    for verb in ("read", "edited", "converted", "merged"):
        assert_same(table[verb], arrays[verb])
    assert_same(table["merged"], table["edited"])
    assert table["conflicts"] == 0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_appended_alike_in_google_sheets(kind: str, layout: str, server: SheetsServer) -> None:
    values = KINDS[kind]
    book = TableBook(server)
    write_google(book, {"v": values[:4], "k": np.arange(4)}, layout)
    assert sa.append(book.url, {"v": values[4:], "k": [4, 5]}, client=book.client) == {"v": 6, "k": 6}
    assert book.check() == []
    assert_same(sa.read(book.url, client=book.client), {"v": values, "k": np.arange(6)})


UNITS = {
    f"{kind}8[{unit}]": np.array(values, "M8[D]" if kind == "M" else "i8").astype(f"{kind}8[{unit}]")
    for kind, values in (
        ("M", ["2020-01-01", "1850-05-05", "NaT", "2020-12-31", "2020-02-29", "1950-03-01"]),
        ("m", range(6)),
    )
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
}
DIGITS = {"digits": np.array(["007", "1e5", "1,5", "0x1F", "2020-01-01", "-0"])}
BEYOND = {"beyond 2^53": np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, 1, 2, 3])}


@pytest.mark.parametrize("kind", [*KINDS, *UNITS, *DIGITS, *BEYOND])
def test_rows_are_appended_to_a_table_of_a_workbook_as_to_arrays(kind: str, tmp_path: Path) -> None:
    values = {**KINDS, **UNITS, **DIGITS, **BEYOND}[kind]
    expected = {"v": values, "k": np.arange(6)}
    for layout in LAYOUTS:
        path = tmp_path / f"{layout}.xlsx"
        content = {"v": values[:4], "k": np.arange(4)}
        write_quietly(path, content) if layout == "table" else sa.write(path, content)
        assert sa.append(path, {"v": values[4:], "k": [4, 5]}) == {"v": 6, "k": 6}
        assert list(sa.check(path)) == []
        assert_same(sa.read(path), expected)
        assert "v" in repr(sa.scan(path))
        sa.page(path)


def test_values_of_several_kinds_below_a_recorded_column(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    values = KINDS["mixed"].tolist()
    write_quietly(path, {"v": KINDS["mixed"], "k": np.arange(6)})
    more = ["2", 2, None, "", 1.0, 2**60, "'q", "TRUE", True, 0.1 + 0.2, "nan"]
    sa.append(path, {"v": np.array(more, object), "k": np.arange(11)})
    assert list(sa.check(path)) == []
    assert_same(sa.read(path), {"v": np.array(values + more, object), "k": np.append(np.arange(6), np.arange(11))})


def test_text_and_none_below_a_recorded_column_of_text(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"v": np.array(["a", None, "1"], object), "k": np.arange(3)})
    sa.append(path, {"v": [None, "007"], "k": [3, 4]})
    sa.append(path, {"v": [None], "k": [5]})
    assert sa.read(path)["v"].tolist() == ["a", None, "1", None, "007", None]
    before = path.read_bytes()
    with pytest.raises(sa.DTypeError, match="v: the column holds text, and a new row does not"):
        sa.append(path, {"v": [1, "x"], "k": [6, 7]})
    assert path.read_bytes() == before
