"""The Google Sheets emulator's `values.*`: what goes in, what comes out, which cells are touched, what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sheets_asking import Sheets, ask, message

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


def refused(sheets: Sheets, text: str, values: Any, option: str = "RAW", **body: Any) -> str:
    """The message with which a write is refused; no cell has changed."""
    before = sheets.cells()
    answer = sheets.put_raw(text, {"values": values, **body}, valueInputOption=option)
    assert sheets.cells() == before
    return message(answer)


# Out: trimming, dimensions, echo.


@pytest.mark.parametrize(
    ("asked", "echoed"),
    [
        ("S", "S!A1:Z1000"),
        ("'S'", "S!A1:Z1000"),
        ("s!a1", "S!A1"),
        ("S!A1:A1", "S!A1"),
        ("S!D4:A1", "S!A1:D4"),
        ("S!A4:D1", "S!A1:D4"),
        ("S!$B$2:C3", "S!B2:C3"),
        ("S!B:C", "S!B1:C1000"),
        ("S!2:3", "S!A2:Z3"),
        ("S!B2:C", "S!B2:C1000"),
        ("S!B2:3", "S!B2:Z3"),
        ("S!Y999:AB2000", "S!Y999:Z1000"),
        ("S!R2C3:R4C5", "S!C2:E4"),
        ("A1", "S!A1"),
        ("'it''s'!A1", "'it''s'!A1"),
        ("my data!A1", "'my data'!A1"),
        ("MY DATA", "'my data'!A1:B3"),
        ("'D3'!A1", "'D3'!A1"),
        ("'D3'", "'D3'!A1:B3"),
        ("D3", "S!D3"),
        ("_under_1!B2", "_under_1!B2"),
        ("'1st'!B2", "'1st'!B2"),
        ("größe!B2", "'größe'!B2"),
    ],
)
def test_a_range_is_answered_in_its_canonical_form(server: SheetsServer, asked: str, echoed: str) -> None:
    titles = ["it's", "my data", "D3", "_under_1", "1st", "größe"]
    sheets = Sheets(server, ("S", 1000, 26), *((title, 3, 2) for title in titles))
    assert sheets.get(asked)["range"] == echoed


@pytest.mark.parametrize(
    "text", ["T!A1", "S!", "S!A0", "S!A", "S!5", "S!1A", "S!AAAA1", "nothing", "S!A1:B2:C3", "''!A1"]
)
def test_a_range_that_means_nothing_is_refused(sheets: Sheets, text: str) -> None:
    answer = ask(sheets.server, "GET", f"/{sheets.key}/values:batchGet", ranges=[text])
    assert message(answer) == f"Unable to parse range: {text}"


@pytest.mark.parametrize(
    ("text", "named"),
    [("A1001", "A1001"), ("AA1:AB2", "AA1:AB2"), ("A1001:B", "A1001:B"), ("A1200:1300", "A1200:1300")],
)
def test_reading_outside_the_grid_is_refused(sheets: Sheets, text: str, named: str) -> None:
    answer = ask(sheets.server, "GET", f"/{sheets.key}/values/S!{text}")
    assert message(answer) == f"Range (S!{named}) exceeds grid limits. Max rows: 1000, max columns: 26"


# In: values as they are.


@pytest.mark.parametrize(
    ("sent", "shown", "back"),
    [
        ("=1+1", "=1+1", "=1+1"),
        ("'quoted", "'quoted", "'quoted"),
        ("007", "007", "007"),
        ("TRUE", "TRUE", "TRUE"),
        (" a\tb\nc ", " a\tb\nc ", " a\tb\nc "),
        ("héllo 🌵", "héllo 🌵", "héllo 🌵"),
        ("NaN", "NaN", "NaN"),
        (True, "TRUE", True),
        (False, "FALSE", False),
        (0, "0", 0),
        (2.0, "2", 2),
        (-7, "-7", -7),
        (0.1, "0.1", 0.1),
        (1 / 3, "0.3333333333", 1 / 3),
        (5e-324, "4.94066E-324", 5e-324),
        (1.7976931348623157e308, "1.79769E+308", 1.7976931348623157e308),
        (123456789.123456, "123456789.1", 123456789.123456),
        (0.00001234, "0.00001234", 0.00001234),
        (1e15, "1E+15", 1_000_000_000_000_000),
        (2**53 + 1, "9.0072E+15", 2**53),
        (2**55, "3.60288E+16", 36028797018963970),
        (1e22, "1E+22", 1e22),
    ],
)
def test_a_raw_value_is_kept_as_it_is(sheets: Sheets, sent: Any, shown: str, back: Any) -> None:
    sheets.put("S!A1", [[sent]])
    assert sheets.get("S!A1")["values"] == [[shown]]
    (read,) = sheets.values("S!A1")[0]
    assert (read, type(read)) == (back, type(back))
    assert sheets.values("S!A1", valueRenderOption="FORMULA") == [[back]]


def test_minus_zero_comes_back_as_zero(sheets: Sheets) -> None:
    sheets.put("S!A1", [[-0.0]])
    (read,) = sheets.values("S!A1")[0]
    assert isinstance(read, int)
    assert math.copysign(1, sheets.cells()[0][0]) == 1


def test_null_leaves_a_cell_and_an_empty_text_clears_it(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]])
    answer = sheets.put("S!A1:C3", [[None, "", "C"], ["D"], [None, None, None]])
    assert sheets.values("S") == [["a", "", "C"], ["D", "e", "f"], ["g", "h", "i"]]
    assert answer == {
        "spreadsheetId": sheets.key,
        "updatedRange": "S!A1:C3",
        "updatedRows": 2,
        "updatedColumns": 3,
        "updatedCells": 3,
    }


def test_a_write_may_answer_what_it_wrote(sheets: Sheets) -> None:
    answer = sheets.put_raw(
        "S!A1",
        {"values": [["=1+1", "2"]]},
        valueInputOption="USER_ENTERED",
        includeValuesInResponse="true",
        responseValueRenderOption="UNFORMATTED_VALUE",
    )[1]
    assert answer["updatedData"] == {"range": "S!A1:B1", "majorDimension": "ROWS", "values": [[2, 2]]}


# Where it goes, and where it does not.


@pytest.mark.parametrize("text", ["S!B2", "S!B2:B2", "S!B2:C3", "S!B2:Z", "S!B2:9"])
def test_a_block_starts_at_its_range_and_may_be_smaller(sheets: Sheets, text: str) -> None:
    assert sheets.put(text, [[1, 2], [3, 4]])["updatedRange"] == "S!B2:C3"
    assert sheets.cells() == [[], [None, 1, 2], [None, 3, 4]]


@pytest.mark.parametrize(
    ("text", "values", "beyond"),
    [
        ("S!A1:B1", [[1, 2, 3]], "column [C]"),
        ("S!A1:B1", [[1], [2]], "row [2]"),
        ("S!A1:B1", [[1, 2, 3], [4]], "row [2]"),
        ("S!B2:C", [[1, 2, 3]], "column [D]"),
        ("S!2:3", [[1], [2], [3]], "row [4]"),
        ("S!A999", [[1], [2], [3]], "row [1001]"),
        ("S!Y1", [[1, 2, 3]], "column [AA]"),
        ("S!A1:A2000", [[1]] * 1001, "row [1001]"),
    ],
)
def test_a_block_larger_than_its_range_is_refused(sheets: Sheets, text: str, values: Any, beyond: str) -> None:
    assert refused(sheets, text, values) == f"Requested writing within range [{text}], but tried writing to {beyond}"


def test_a_write_does_not_grow_the_grid(sheets: Sheets) -> None:
    expected = "Range (S!A1001) exceeds grid limits. Max rows: 1000, max columns: 26"
    assert refused(sheets, "S!A1001", [[1]]) == expected
    sheets.put("S!Z1000", [[1]])


def test_a_named_range_is_written_to_and_read(sheets: Sheets) -> None:
    span = {"sheetId": 0, "startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 1, "endColumnIndex": 2}
    sheets.batch({"addNamedRange": {"namedRange": {"name": "both", "range": span}}})
    sheets.put("both", [[1], [2]])
    assert sheets.get("BOTH") == {"range": "S!B2:B3", "majorDimension": "ROWS", "values": [["1"], ["2"]]}
    assert sheets.get("S!both")["range"] == "S!B2:B3"
    assert "row [4]" in refused(sheets, "both", [[1], [2], [3]])


def test_a_text_may_have_50000_characters_and_no_more(sheets: Sheets) -> None:
    sheets.put("S!A1", [["x" * 50_000, "🌵" * 25_000]])
    assert sheets.values("S!A1:B1") == [["x" * 50_000, "🌵" * 25_000]]
    for text in ("x" * 50_001, "🌵" * 25_001):
        for option in ("RAW", "USER_ENTERED"):
            expected = "Your input contains more than the maximum of 50000 characters in a single cell."
            assert refused(sheets, "S!A2", [["fine", text]], option) == expected


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([[1], [2, [3]]], "Invalid values[1][1]: list_value"),
        ([[{"a": 1}]], "Invalid values[0][0]: struct_value"),
    ],
)
def test_a_value_is_a_scalar(sheets: Sheets, values: Any, place: str) -> None:
    assert refused(sheets, "S!A1", values).startswith(place)


def test_a_number_beyond_a_double_is_refused(sheets: Sheets) -> None:
    assert "range of a double" in refused(sheets, "S!A1", [[10**400]])
    assert "range of a double" in message(sheets.put_raw("S!A1", b'{"values": [[1e999]]}', valueInputOption="RAW"))


def test_how_values_are_read_must_be_said(sheets: Sheets) -> None:
    for query in ({}, {"valueInputOption": "INPUT_VALUE_OPTION_UNSPECIFIED"}):
        answer = sheets.put_raw("S!A1", {"values": [[1]]}, **query)
        assert message(answer) == "'valueInputOption' is required but not specified"


def test_a_range_in_the_body_must_be_the_one_in_the_url(sheets: Sheets) -> None:
    sheets.put("S!A1:B1", [[1, 2]], range="'S'!A1:B1")
    assert "data.range is [S!A2]" in refused(sheets, "S!A1", [[1]], range="S!A2")


# Several at once.


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"range": "S!A1001", "values": [[1]]}, "Invalid data[1]: Range (S!A1001) exceeds grid limits."),
        ({"range": "T!A1", "values": [[1]]}, "Invalid data[1]: Unable to parse range: T!A1"),
        ({"range": "S!A1:B1", "values": [[1], [2]]}, "Invalid data[1]: Requested writing within range [S!A1:B1]"),
        ({"range": "S!A1", "values": [["x" * 50_001]]}, "Invalid data[1]: Your input contains more than the maximum"),
        ({"range": "S!A1", "values": [[{}]]}, "Invalid data[1]: Invalid values[0][0]: struct_value"),
    ],
)
def test_of_several_blocks_all_are_written_or_none(sheets: Sheets, data: Any, expected: str) -> None:
    body = {"valueInputOption": "RAW", "data": [{"range": "S!A1", "values": [["first"]]}, data]}
    answer = ask(sheets.server, "POST", f"/{sheets.key}/values:batchUpdate", body)
    assert message(answer).startswith(expected)
    assert sheets.cells() == []


def test_cells_are_cleared_and_their_formats_stay(sheets: Sheets) -> None:
    sheets.put("S!A1", [["2020-01-01", "b"], ["c", "d"]], "USER_ENTERED")
    assert sheets.post("/values/S!A1:A2:clear", None) == {"spreadsheetId": sheets.key, "clearedRange": "S!A1:A2"}
    assert sheets.cells() == [[None, "b"], [None, "d"]]
    sheets.put("S!A1", [[43831]])
    assert sheets.get("S!A1")["values"] == [["2020-01-01"]]
    assert sheets.post("/values/S:clear", {})["clearedRange"] == "S!A1:Z1000"
    assert sheets.cells() == []


def test_several_ranges_are_cleared_or_none(sheets: Sheets) -> None:
    sheets.put("S!A1", [[1, 2, 3]])
    answer = ask(sheets.server, "POST", f"/{sheets.key}/values:batchClear", {"ranges": ["S!A1", "S!A2000:ZZ"]})
    assert (
        message(answer) == "Invalid range[1]: Range (S!A2000:ZZ) exceeds grid limits. Max rows: 1000, max columns: 26"
    )
    assert sheets.cells() == [[1, 2, 3]]
    answer = sheets.post("/values:batchClear", {"ranges": ["S!A1", "S!C:C"]})
    assert answer == {"spreadsheetId": sheets.key, "clearedRanges": ["S!A1", "S!C1:C1000"]}
    assert sheets.cells() == [[None, 2]]


# Appending.


@pytest.mark.parametrize(
    ("text", "table", "place"),
    [
        ("S", "S!B4:D6", "S!B7"),
        ("S!B4", "S!B4:D6", "S!B7"),
        ("S!C5:D5", "S!B4:D6", "S!B7"),
        ("S!B2:D4", "S!B4:D6", "S!B7"),
        ("S!A3:G10", "S!B4:D6", "S!B7"),
        ("S!A1", "S!A1:C2", "S!A3"),
        ("S!E4", None, "S!E4"),
        ("S!A4", None, "S!A4"),
    ],
)
def test_rows_are_appended_to_the_last_table_that_a_range_meets(
    sheets: Sheets, text: str, table: str | None, place: str
) -> None:
    sheets.put("S!A1:C2", [["x", "y", "z"]] * 2)
    sheets.put("S!B4:D6", [["x", "y", "z"]] * 3)
    answer = sheets.append(text, [["new"]])
    assert (answer.get("tableRange"), answer["updates"]["updatedRange"]) == (table, place)
    assert sheets.values(place) == [["new"]]


def test_appending_grows_the_grid(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 2, 2))
    sheets.put("S!A1", [[1, 2], [3, 4]])
    assert sheets.append("S", [[5, 6, 7], [8]])["updates"]["updatedRange"] == "S!A3:C4"
    assert sheets.resource()["sheets"][0]["properties"]["gridProperties"] == {"rowCount": 4, "columnCount": 3}
    assert sheets.values("S") == [[1, 2], [3, 4], [5, 6, 7], [8]]


def test_appended_rows_overwrite_or_are_inserted(sheets: Sheets) -> None:
    sheets.put("S!A1", [["table"], [""], ["below"]])
    sheets.append("S!A1", [["inserted"], ["too"]], insertDataOption="INSERT_ROWS")
    assert sheets.cells() == [["table"], ["inserted"], ["too"], [], ["below"]]
    sheets.append("S!A1", [["over"], ["the"], ["rest"]])
    assert sheets.cells() == [["table"], ["inserted"], ["too"], ["over"], ["the"], ["rest"]]


def test_appending_beyond_the_limit_of_cells_is_refused() -> None:
    with SheetsServer(cells=10) as server:
        sheets = Sheets(server, ("S", 5, 2))
        sheets.put("S!A5", [[1]])
        path = f"/{sheets.key}/values/S:append"
        answer = ask(server, "POST", path, {"values": [[1]]}, valueInputOption="RAW")
        assert message(answer).endswith("above the limit of 10 cells.")
        assert sheets.cells() == [[], [], [], [], [1]]
