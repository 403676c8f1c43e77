"""What a workbook remembers of searches: `scan` passes over what is as it was; `read` and `check` search everything."""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from excel_packages import parts, put_record, record_of, sheets_looked_into, zipped
from limits import set_limits
from mixtures import edited_sheet

import sheetarray as sa
from sheetarray.sheets.excel.reader import ooxml as books
from sheetarray.sheets.excel.reader import worksheet

FLAT = ["version", "1.0.0", "ndarray", "shape", 2, "strides", 1, "offset", 0, "order", "row-major"]
FLAT += ["dtype", "float64", "length", 2, "capacity", 2, "data", 0.5, 1.5]


@pytest.fixture(autouse=True)
def _small_workbooks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, least_searched=0)


@pytest.fixture
def inflated() -> Iterator[list[str]]:
    """The worksheets that have been looked into, in the order in which that was begun."""
    with sheets_looked_into() as noted:
        yield noted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A workbook with an ordinary sheet of shared strings, and arrays beside it: sheet1.xml and sheet2.xml."""
    target = tmp_path / "report.xlsx"
    with xlsxwriter.Workbook(target) as book:
        sheet = book.add_worksheet("Sheet")
        for row in range(50):
            sheet.write_row(row, 0, [f"line {row}", row / 8, "data" if row == 7 else "other"])
    sa.write(target, {"t": np.arange(12.0).reshape(3, 4)}, mode="a", guard=False)
    return target


def change_parts(path: Path, change: Callable[[str, bytes], tuple[str, bytes]]) -> None:
    path.write_bytes(zipped(dict(change(name, content) for name, content in parts(path.read_bytes()).items())))


def change_record(path: Path, change: Callable[[Any], Any]) -> None:
    record = record_of(path)
    put_record(path, {**record, "searches": change(record["searches"])})


def flat_sheet(path: Path) -> tuple[bytes, tuple[int, int]]:
    """Put an array where the ordinary sheet is, by another program; returns the sheet and what it is."""
    book = openpyxl.load_workbook(path)
    del book["Sheet"]
    sheet = book.create_sheet("Sheet", 0)
    for row, cell in enumerate(["hidden", *FLAT], 1):
        sheet.cell(row, 2, cell)
    file = io.BytesIO()
    book.save(file)
    sheet = parts(file.getvalue())["xl/worksheets/sheet1.xml"]
    return sheet, (zlib.crc32(sheet), len(sheet))


def test_a_sheet_that_is_as_it_was_is_not_even_inflated(path: Path, inflated: list[str]) -> None:
    assert list(sa.scan(path)) == ["t"]
    assert set(inflated) == {"sheet2.xml"}
    inflated.clear()
    for function in (sa.read, lambda file: list(sa.check(file)), lambda file: sa.scan(file, thorough=True)):
        function(path)
        assert set(inflated) == {"sheet1.xml", "sheet2.xml"}
        inflated.clear()


@pytest.mark.parametrize("part", ["sheet", "strings"])
def test_a_sheet_that_was_changed_is_searched(path: Path, part: str, inflated: list[str]) -> None:
    """Also where only the shared strings are others: then its cells are, though the sheet has the same bytes."""
    ending = {"sheet": "sheet1.xml", "strings": "sharedStrings.xml"}[part]

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        old, new = {"sheet": (b"</worksheet>", b"\n</worksheet>"), "strings": (b"line 3<", b"line 4<")}[part]
        assert old in content or not name.endswith(ending)
        return name, content.replace(old, new) if name.endswith(ending) else content

    change_parts(path, change)
    sa.scan(path)
    assert any(name.endswith("sheet1.xml") for name in inflated)


def test_parts_and_titles_may_be_renamed(path: Path, inflated: list[str]) -> None:
    def change(name: str, content: bytes) -> tuple[str, bytes]:
        new = name.replace("sheet1.xml", "elsewhere.xml")
        if name.endswith((".rels", "[Content_Types].xml")):
            content = content.replace(b"sheet1.xml", b"elsewhere.xml")
        return new, content.replace(b'name="Sheet"', b'name="Renamed"') if name == "xl/workbook.xml" else content

    change_parts(path, change)
    assert list(sa.scan(path)) == ["t"]
    assert set(inflated) == {"sheet2.xml"}


def test_a_record_that_lies_hides_nothing_from_reading(path: Path) -> None:
    """Whoever forges a workbook can make `scan` pass over a sheet, but neither `read` nor `check` nor `convert`."""
    content, known = flat_sheet(path)
    change_parts(path, lambda name, old: (name, content if name.endswith("sheet1.xml") else old))
    assert sa.scan(path).keys() == {"hidden", "t"}
    change_record(path, lambda says: {**says, "sheets": [[*known, 0], *says["sheets"]]})
    assert sa.scan(path).keys() == {"t"}
    assert sa.scan(path, thorough=True).keys() == sa.read(path).keys() == {"hidden", "t"}
    assert any(finding.array == "hidden" for finding in sa.check(path))
    sa.convert(path, path.with_suffix(".npz"))
    assert sa.read(path.with_suffix(".npz")).keys() == {"hidden", "t"}


LIES = [None, [], "x", 5, {"strings": None}, {"strings": [1, 2], "sheets": []}, {"strings": None, "sheets": "x"}]


@pytest.mark.parametrize("lie", LIES)
def test_a_record_of_another_form_is_passed_over(path: Path, lie: Any) -> None:
    change_record(path, lambda _: lie)
    assert list(sa.scan(path)) == ["t"]


@pytest.mark.parametrize(
    ("rows", "is_known"), [(0, True), (2**20 + 1, False), (-1, False), (True, False), (1.0, False)]
)
def test_rows_of_a_record_are_a_number_that_a_sheet_may_have(
    path: Path, inflated: list[str], rows: Any, is_known: bool
) -> None:
    change_record(path, lambda says: {**says, "sheets": [[*sheet[:2], sheet[2] or rows] for sheet in says["sheets"]]})
    inflated.clear()
    assert list(sa.scan(path)) == ["t"]
    assert ("sheet1.xml" not in inflated) == is_known


def test_what_is_known_of_sheets_is_kept_by_further_writes(path: Path, inflated: list[str]) -> None:
    before = record_of(path)["searches"]
    inflated.clear()
    sa.write(path, {"u": np.arange(3)}, mode="a", sheet="more", guard=False)
    assert inflated == []  # nobody searches again what is known
    after = record_of(path)["searches"]
    assert after["strings"] == before["strings"]
    assert len(after["sheets"]) == 3
    assert all(entry in after["sheets"] for entry in before["sheets"])


@pytest.mark.parametrize("text", [False, True])
def test_a_table_of_text_may_hold_an_array(tmp_path: Path, text: bool) -> None:
    table = {"a": FLAT, "b": ["x"] * len(FLAT)} if text else {"a": np.arange(5), "b": np.arange(5) / 2}
    columns = {name: np.array(list(map(str, column))) if text else column for name, column in table.items()}
    path = tmp_path / "table.xlsx"
    sa.write(path, {"t": np.arange(3)})
    with pytest.warns(sa.SheetArrayWarning) if text else contextlib.nullcontext():
        sa.write_table(path, columns, mode="a", sheet="table")
    assert list(sa.scan(path)) == list(sa.read(path)) == (["t", "a"] if text else ["t", "a", "b"])
    assert len(record_of(path)["searches"]["sheets"]) == 2 - text


def test_accepting_and_restoring_renew_what_is_known(path: Path, inflated: list[str]) -> None:
    with edited_sheet(path) as sheet:
        for number in range(12, 16):
            sheet.append([float(number)])
    sa.accept(path)
    assert len(record_of(path)["searches"]["sheets"]) == 2
    inflated.clear()
    assert sa.scan(path)["t"].shape == (4, 4)
    assert len(set(inflated)) == 1
    sa.write(path, {"t": np.arange(6.0)}, guard=True)
    sa.restore(path, path.with_name("restored.xlsx"))
    assert len(record_of(path.with_name("restored.xlsx"))["searches"]["sheets"]) == 1


@pytest.mark.parametrize(("count", "room"), [(5, None), (60_000, None), (60_000, 100)])
def test_a_workbook_is_inflated_once_unless_its_cells_do_not_fit(
    tmp_path: Path, inflated: list[str], monkeypatch: pytest.MonkeyPatch, count: int, room: int | None
) -> None:
    arrays = {"x": np.random.default_rng(7).standard_normal(count), "y": np.arange(count), "z": np.arange(count // 2)}
    sa.write(tmp_path / "x.xlsx", arrays, guard=False)
    if room is not None:
        monkeypatch.setattr(books, "Room", lambda cells: worksheet.Room(cells, room))
    for name, array in sa.read(tmp_path / "x.xlsx").items():
        assert array.tobytes() == arrays[name].tobytes()
    assert (len(inflated) == 1) == (room is None)


def test_views_and_guards_beside_arrays(tmp_path: Path) -> None:
    path, arrays = tmp_path / "views.xlsx", {"t": np.arange(24.0).reshape(2, 3, 4), "z": np.arange(3) * 1j}
    for editable in (False, True):
        sa.write(path, arrays, views={"t": sa.View(editable=editable)}, guard=True)
        assert dict(sa.scan(path)) == dict(sa.scan(path, thorough=True))
        assert sa.scan(path, sheet="arrays").keys() == arrays.keys()


@pytest.mark.parametrize("seed", range(12))
def test_first_rows_tell_the_same_as_all_rows(tmp_path: Path, seed: int) -> None:
    """Elements of text and generic arrays that are words of headers, wherever they stand, are no headers."""
    rng = np.random.default_rng(seed)
    words = np.array(["version", "1.0.0", "ndarray", "shape", "data", "order", "dtype", "x", ""])
    arrays: dict[str, Any] = {}
    for name in rng.permutation(["version", "ndarray", "data", "a", "b", "c"])[: rng.integers(1, 7)].tolist():
        texts = words[rng.integers(0, len(words), rng.integers(0, 60))]
        kind = rng.integers(3)
        arrays[name] = texts if kind == 0 else texts.astype(object) if kind == 1 else np.arange(len(texts)) * (1 + 1j)
    path = tmp_path / "words.xlsx"
    sa.write(path, arrays)
    assert dict(sa.scan(path)) == dict(sa.scan(path, thorough=True))
