"""How much a write to Google Sheets takes: cells of the grid, what a cell holds, requests of how many bytes."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from children import limited
from examples import examples
from limits import get_limit, set_limits
from services import Book, dump

import sheetarray as sa
from sheetarray.errors import RemoteError
from sheetarray.testing.cases import assert_same, objects
from sheets_emulator import Fault, SheetsServer

# Size --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_million_and_one_cells_are_refused_before_anything_is_written(book: Book) -> None:
    book.opened.worksheet("Sheet1").resize(rows=1, cols=1)
    room = 10_000_000 - 19
    book.server.requests.clear()
    with limited(seconds=1), pytest.raises(sa.LimitError, match="10,000,001 cells"):  # none becomes text
        book.write({"x": np.zeros(room, dtype=bool)}, worksheet="new")
    assert not book.wrote()
    with pytest.raises(sa.LimitError, match="10,000,001 cells"):
        book.write({"x": np.zeros(10_000_001 - 19, dtype=bool)}, worksheet="new")
    with pytest.raises(sa.LimitError, match=r"10,000,0\d\d cells"):
        book.write({"x": np.zeros(2_500_000 - 10), "y": 1, "z": 2, "t": 3})
    assert not book.wrote()


def test_the_grids_of_other_worksheets_count(book: Book) -> None:
    for index, title in enumerate(("p", "q", "r")):
        book.opened.add_worksheet(title, rows=1000, cols=3330 if index else 3300)
    book.server.requests.clear()
    with pytest.raises(sa.LimitError, match="of them in other worksheets"):
        book.write({"x": np.zeros(20_000)})
    assert not book.wrote()
    book.write({"x": np.arange(10_000.0)})
    assert_same(book.read(worksheet="arrays")["x"], np.arange(10_000.0))


def test_more_columns_than_a_worksheet_has_are_refused(book: Book) -> None:
    with pytest.raises(sa.LimitError, match="18,278 columns"):
        book.write({f"n{index}": 1 for index in range(18_279)})
    assert not book.wrote()
    book.opened.add_worksheet("wide", rows=30, cols=18_278)
    book.put("wide", "ZZZ30", [["the last cell"]])
    book.server.requests.clear()
    with pytest.raises(sa.LimitError, match="18,279 columns"):
        book.write({"x": np.arange(3)}, worksheet="wide")
    assert not book.wrote()


def test_text_of_fifty_thousand_characters_is_kept_and_one_more_is_refused(book: Book) -> None:
    book.write({"s": np.array(["x" * 50_000, "😀" * 25_000])})
    assert_same(book.read()["s"], np.array(["x" * 50_000, "😀" * 25_000]))
    book.server.requests.clear()
    for text in ("x" * 50_001, "😀" * 25_000 + "x"):
        for array in (np.array(["short", text]), objects(1, text)):
            with pytest.raises(sa.LimitError, match="50,001 characters"):
                book.write({"s": array})
    assert not book.server.requests


def test_a_blank_worksheet_gives_up_columns_before_its_rows_grow() -> None:
    with SheetsServer(cells=100_000) as server:
        book = Book(server, [("Sheet1", 1000, 26)])
        array = np.arange(4_000, dtype="int8")
        book.write({"x": array}, worksheet="Sheet1")
        assert book.size("Sheet1") == (4_019, 1)
        assert_same(book.read(worksheet="Sheet1")["x"], array)


def test_a_worksheet_with_other_cells_gives_up_none(book: Book) -> None:
    book.put("Sheet1", "A1", [["mine"]])
    before = book.dump()
    with pytest.raises(sa.LimitError, match="would have"):
        book.write({"x": np.arange(400_000, dtype="int8")}, worksheet="Sheet1")
    assert book.dump() == before


def test_a_worksheet_of_ours_gives_up_rows_that_no_array_needs() -> None:
    with SheetsServer(cells=30_000) as server:
        book = Book(server, [("Sheet1", 1, 1)])
        book.write({"x": np.arange(9_000)})
        book.write({"x": np.arange(5), "y": np.arange(6), "z": np.arange(7), "t": np.arange(8)})
        assert book.size() == (27, 4)
        assert {name: len(array) for name, array in book.read().items()} == {"x": 5, "y": 6, "z": 7, "t": 8}
        book.write({"x": np.arange(5_000)})
        book.sheet("arrays").update([["kept"]], "B4000")
        with pytest.raises(sa.LimitError):
            book.write({name: np.arange(5) for name in "xyztuvw"})
        assert book.cells()[3999][1] == "kept"


@pytest.mark.slow
def test_many_doubles_take_few_requests_of_two_megabytes(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_limit("google_request") == 2_000_000
    set_limits(monkeypatch, google_request=200_000, google_batch=0)  # half a megabyte of them goes by a stage
    array = np.random.default_rng(0).standard_normal(13_000)
    for _ in range(2):
        book.server.requests.clear()
        book.write({"x": array})
        sizes = [len(record.received) for record in book.server.requests if record.method == "PUT"]
        assert len(sizes) > 1
        assert max(sizes) <= 200_000
        assert len(book.server.requests) <= 2 * math.ceil(sum(sizes) / 200_000) + 20  # what was copied is read back
        got = [r for r in book.server.requests if r.method == "GET" and "values" in r.path and "sheetarray" in r.query]
        assert len(got) == len(sizes)
    book.server.requests.clear()
    assert_same(book.read()["x"], array)
    assert len(book.server.requests) <= 8


def test_small_columns_share_requests_and_large_ones_are_cut(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, google_request=200_000, google_batch=0)
    arrays = {f"n{index}": np.full(index, index / 7) for index in range(100)}
    arrays["long text"] = np.array(["漢" * 4_900] * 40)
    arrays["last"] = np.array([1])
    book.write(arrays)
    puts = [record for record in book.server.requests if record.method == "PUT"]
    assert len(puts) > 3
    assert all(len(record.received) <= 200_000 for record in puts)
    assert len(puts) <= math.ceil(sum(len(record.received) for record in puts) / 200_000) + 3
    result = book.read()
    for name, array in arrays.items():
        assert_same(result[name], array)


# What cells hold ---------------------------------------------------------------------------------------------


def test_what_a_double_would_lose_is_text_and_the_rest_is_numbers(book: Book) -> None:
    book.write(
        {
            "f": np.array([0.5, -0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324]),
            "i": np.array([2**53, 2**53 + 1, -(2**63)]),
            "b": np.array([True, False]),
            "c": np.array([3 - 4j]),
            "d": np.array(["2024-02-29"], dtype="M8[D]"),
            "s": np.array(["=1+1", "'x", "007", "TRUE", "1.5"]),
            "g": objects(None, 2, 2.0, "2", -0.0, True, "", "x"),
        }
    )
    columns = {column[0]: column[column.index("data") + 1 :] for column in map(book.column, range(7))}
    assert columns["f"][:7] == [0.5, "-0", 0.0, "NaN", "Infinity", "-Infinity", 5e-324]
    assert columns["i"][:3] == [str(2**53), str(2**53 + 1), str(-(2**63))]
    assert columns["b"][:2] == [True, False]
    assert columns["c"][:1] == ["3-4i"]
    assert columns["d"][:1] == [45351]
    assert columns["s"][:5] == ["=1+1", "'x", "007", "TRUE", "1.5"]
    assert columns["g"][:8] == [None, 2.0, "2.0", "'2", "-0.0", True, "'", "x"]


def rounding(book: Book, methods: Sequence[str]) -> None:
    """Have a spreadsheet keep 0.1 as another number, where it comes by one of these methods."""

    def change(method: str, body: bytes) -> bytes:
        return re.sub(rb"\b0\.1\b", b"0.10000000000000002", body) if method in methods else body

    book.change_requests(change)


@pytest.mark.parametrize("arrays", [("old",), ("x", "old"), ("x",), ("old", "x", "y")])
@pytest.mark.parametrize("blank", [False, True])
def test_an_element_that_the_service_changes_is_refused_and_nothing_is_left(
    book: Book, arrays: tuple[str, ...], blank: bool
) -> None:
    if not blank:
        book.write({"old": np.arange(3), "other": np.arange(30)})
        book.put("arrays", "A20", [["=1-1"]], raw=False)
    before = book.dump()
    rounding(book, ["put", "post"])
    for title in ("arrays", "Sheet1"):
        with pytest.raises(
            sa.DTypeError, match=r"x|old, buffer element 1: the service keeps 0\.1 as 0\.10000000000000002"
        ):
            book.write({name: np.array([0.5, 0.1, 0.2, *[7.0] * 10]) for name in arrays}, worksheet=title)
        assert book.dump() == before
    shown = {"fields": "sheets(properties,data,rowGroups)"}
    sheets = book.client.http_client.spreadsheets_get(book.key, shown)["sheets"]
    cells = [cell for row in sheets[0]["data"][0].get("rowData", []) for cell in row.get("values", [])]
    assert sheets[0]["properties"]["gridProperties"].get("frozenRowCount") is None
    assert not any(cell.get("userEnteredFormat") for cell in cells)
    assert all("rowGroups" not in sheet for sheet in sheets[: 1 + blank])
    formulas = [
        cell.get("userEnteredValue") for row in sheets[-1]["data"][0].get("rowData", []) for cell in row["values"]
    ]
    assert ({"formulaValue": "=1-1"} in formulas) != blank


def test_an_element_that_only_one_way_of_writing_changes_is_written_the_other_way(book: Book) -> None:
    book.write({"old": np.arange(3)})
    rounding(book, ["post"])
    book.write({"x": np.array([0.5, 0.1, 0.2]), "old": np.arange(30)})
    assert any(record.method == "PUT" for record in book.server.requests)
    assert_same(book.read()["x"], np.array([0.5, 0.1, 0.2]))
    assert_same(book.read()["old"], np.arange(30))


# How many requests -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 1000, 4000])
def test_a_small_write_takes_three_requests_and_a_read_of_it_two(book: Book, count: int) -> None:
    values = np.random.default_rng(count).standard_normal(count)
    several = [{"a": values, "b": np.array(["=1", "'x", "é\n"])}, {"a": values}, {"a": values[:3]}]
    for arrays in several[: 1 if count > 1000 else 3]:
        book.server.requests.clear()
        book.write(arrays)
        assert len(book.server.requests) <= 3
        assert sum(record.writes for record in book.server.requests) == 1
        for options in ({}, {"worksheet": "arrays"}):
            book.server.requests.clear()
            result = book.read(**options)
            assert len(book.server.requests) <= 2
            for name, array in arrays.items():
                assert_same(result[name], array)


def test_thirty_small_writes_a_minute_stay_within_the_quota_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    with SheetsServer(quota=(60, 60)) as server:
        server.clock = lambda: passed[0]
        book = Book(server)
        for index in range(60):
            book.write({"t": np.arange(float(index + 5))})
            if index == 29:
                assert passed[0] == 0
        assert passed[0] <= 130
        assert_same(book.read()["t"], np.arange(64.0))


def test_text_that_a_service_may_tidy_up_is_tried_on_a_stage(book: Book) -> None:
    for text, staged in [
        ("a\tb\nc", False),
        ("a\rb", True),
        ("\x00", True),
        ("\u2028", True),
        ("\x7f", True),
        ("é", False),
    ]:
        book.server.requests.clear()
        book.write({"s": np.array([text + "."])})
        assert any(record.method == "PUT" for record in book.server.requests) == staged
        assert_same(book.read()["s"], np.array([text + "."]))


def test_a_service_that_fails_at_large_requests_gets_small_ones(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    values = np.random.default_rng(0).standard_normal(4_000)
    for status in (413, 503):
        book.server.faults.append(Fault(status, path=":batchUpdate[?].*updatedSpreadsheet", times=None))
        book.write({"x": values})
        book.server.faults.clear()
        assert_same(book.read()["x"], values)
        assert list(book.dump()["sheets"]) == ["Sheet1", "arrays"]


def test_what_is_copied_into_its_place_is_read_back(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, google_batch=0)
    book.write({"x": np.arange(5.0)})

    def spoil(record: Any) -> None:
        if b"copyPaste" in record.received:
            book.server.on_request = None
            record.received = record.received.replace(b"PASTE_VALUES", b"PASTE_FORMAT")

    book.server.on_request = spoil
    with pytest.raises(sa.DTypeError, match="write it again"):
        book.write({"x": np.arange(7.0)})
    book.write({"x": np.arange(7.0)})
    assert_same(book.read()["x"], np.arange(7.0))


def test_a_protected_or_read_only_spreadsheet_is_a_remote_error(book: Book) -> None:
    book.server.forbid(book.key, writes_only=True)
    with pytest.raises(RemoteError, match="permission") as caught:
        book.write({"x": np.arange(3)})
    assert caught.value.status == 403
    assert "share it" in (caught.value.hint or "")


@pytest.mark.parametrize("seed", range(examples(8)))
def test_any_sequence_of_writes_leaves_what_a_mapping_would_hold(seed: int) -> None:
    random = np.random.default_rng(seed)
    known: dict[str, Any] = {}
    with SheetsServer(cells=1200 if seed % 2 else 10_000_000) as server:
        book = Book(server, [("Sheet1", 1, 1)])
        for _ in range(12):
            names = random.choice(list("abcdef"), random.integers(1, 4), replace=False).tolist()
            arrays = {str(name): random.integers(0, 9, random.integers(0, 60)) for name in names}
            try:
                book.write(arrays)
            except sa.LimitError:
                continue
            known.update(arrays)
            result = book.read()
            assert set(result) == set(known)
            for name, array in known.items():
                assert_same(result[name], array)
        assert book.check() == []
        assert list(dump(server, book.key)["sheets"]) == ["Sheet1", "arrays"]
