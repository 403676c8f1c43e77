"""The Google Sheets emulator's named ranges, protected ranges, filters and developer metadata."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets, ask, message

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


SPAN = {"startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 1, "endColumnIndex": 2}


def name(text: str, span: Any = SPAN, **more: Any) -> dict[str, Any]:
    return {"addNamedRange": {"namedRange": {"name": text, "range": span, **more}}}


def metadata(key: str, location: Any, value: str = "", **more: Any) -> dict[str, Any]:
    entry = {"metadataKey": key, "metadataValue": value, "location": location, "visibility": "DOCUMENT", **more}
    return {"createDeveloperMetadata": {"developerMetadata": entry}}


# Named ranges.


def test_names_are_given_changed_and_taken_away(sheets: Sheets) -> None:
    (reply,) = sheets.batch(name("first"))
    named = reply["addNamedRange"]["namedRange"]
    assert named == {"namedRangeId": named["namedRangeId"], "name": "first", "range": SPAN}
    change = {"namedRangeId": named["namedRangeId"], "name": "second", "range": {"endRowIndex": 4}}
    sheets.batch({"updateNamedRange": {"namedRange": change, "fields": "range"}})
    assert sheets.resource()["namedRanges"] == [named | {"range": {"endRowIndex": 4}}]
    sheets.batch({"updateNamedRange": {"namedRange": change, "fields": "*"}})
    assert sheets.resource()["namedRanges"] == [change]
    sheets.batch({"deleteNamedRange": {"namedRangeId": named["namedRangeId"]}})
    assert "namedRanges" not in sheets.resource()


def test_a_name_belongs_to_one_range_in_any_case(sheets: Sheets) -> None:
    sheets.batch(name("ours", namedRangeId="a"), name("other", namedRangeId="b"))
    assert sheets.refused(name("OURS")) == (
        "Invalid requests[0].addNamedRange: Cannot add named range with name: OURS, "
        "a named range with that name already exists."
    )
    rename = {"namedRange": {"namedRangeId": "b", "name": "ours"}, "fields": "name"}
    assert "already exists" in sheets.refused({"updateNamedRange": rename})
    assert "already exists" in sheets.refused(name("third", namedRangeId="a"))
    rename["namedRange"] = {"namedRangeId": "a", "name": "OURS"}
    sheets.batch({"updateNamedRange": rename})


@pytest.mark.parametrize(
    "text", ["", "1st", "a b", "a-b", "A1", "zz99", "R1C1", "TRUE", "false", "x" * 251, "a!b", "ä b"]
)
def test_a_name_that_could_be_something_else_is_refused(sheets: Sheets, text: str) -> None:
    assert "The name of the named range is invalid" in sheets.refused(name(text))


@pytest.mark.parametrize("text", ["_", "größe", "a1b", "AAAA1", "x" * 250, "sum"])
def test_other_names_are_fine(sheets: Sheets, text: str) -> None:
    sheets.batch(name(text))
    sheets.put(text, [[1]])
    assert sheets.values(text) == [[1]]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (name("x", SPAN | {"sheetId": 3}), "No grid with id: 3"),
        (name("x", SPAN | {"startRowIndex": 5}), "range.endRowIndex must not be before range.startRowIndex"),
        (name("x", SPAN | {"startRowIndex": -1}), "range.endRowIndex must not be before range.startRowIndex"),
        (name("x", {"startRowIndex": 1000}), "Range (S!A1001) exceeds grid limits."),
        ({"deleteNamedRange": {"namedRangeId": "7"}}, "No named range with id: 7"),
        ({"updateNamedRange": {"namedRange": {"namedRangeId": "7"}, "fields": "name"}}, "No named range with id: 7"),
    ],
)
def test_ranges_that_cannot_be_named_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert sheets.refused(request_).partition(": ")[2].startswith(expected)


@pytest.mark.parametrize("how", ["sheet", "rows", "columns"])
def test_a_name_whose_cells_are_deleted_is_listed_no_more_but_stays_taken(sheets: Sheets, how: str) -> None:
    (reply,) = sheets.batch(
        {"addSheet": {"properties": {"sheetId": 4, "title": "T"}}}, name("ours", SPAN | {"sheetId": 4})
    )[1:]
    named = reply["addNamedRange"]["namedRange"]
    dimension = {"sheetId": 4, "dimension": how.upper(), "startIndex": 1, "endIndex": 5}
    gone = {"deleteSheet": {"sheetId": 4}} if how == "sheet" else {"deleteDimension": {"range": dimension}}
    sheets.batch(gone)
    assert "namedRanges" not in sheets.resource()
    assert message(ask(sheets.server, "GET", f"/{sheets.key}/values/ours")) == "Unable to parse range: ours"
    assert "a named range with that name already exists" in sheets.refused(name("ours"))
    again = {"namedRange": {"namedRangeId": named["namedRangeId"], "range": SPAN}, "fields": "range"}
    sheets.batch({"updateNamedRange": again})
    assert sheets.resource()["namedRanges"] == [named | {"range": SPAN}]


# Protected ranges, filters.


# Developer metadata.


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (metadata("a", {"spreadsheet": True}, visibility=None), "visibility must be specified"),
        (metadata("a", {"sheetId": 8}), "No sheet with id: 8"),
    ],
)
def test_metadata_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert expected in sheets.refused(request_)


def test_an_id_is_given_once(sheets: Sheets) -> None:
    sheets.batch(metadata("a", {"spreadsheet": True}, metadataId=6))
    assert "already exists" in sheets.refused(metadata("b", {"spreadsheet": True}, metadataId=6))


@pytest.mark.parametrize(("length", "fits"), [(29_998, True), (29_999, True), (30_000, False)])
def test_metadata_of_one_place_have_a_limit(sheets: Sheets, length: int, fits: bool) -> None:
    entry = metadata("k", {"sheetId": 0}, "x" * length)
    if not fits:
        assert "have at most 30000 characters" in sheets.refused(entry)
        return
    sheets.batch(entry, metadata("k", {"spreadsheet": True}, "x" * length))
    lookup = {"dataFilters": [{"developerMetadataLookup": {"metadataKey": "k"}}], "fields": "metadataValue"}
    longer = {"developerMetadata": {"metadataValue": "x" * 30_000}}
    assert "have at most 30000 characters" in sheets.refused({"updateDeveloperMetadata": lookup | longer})


def test_metadata_of_a_sheet_and_the_spreadsheet_are_changed_and_go_with_the_sheet(sheets: Sheets) -> None:
    of_sheet = {"metadataKey": "k", "metadataValue": "1", "location": {"sheetId": 0}, "visibility": "DOCUMENT"}
    of_all = {"metadataKey": "k", "location": {"spreadsheet": True}, "visibility": "PROJECT"}
    replies = sheets.batch(*({"createDeveloperMetadata": {"developerMetadata": entry}} for entry in (of_sheet, of_all)))
    first = replies[0]["createDeveloperMetadata"]["developerMetadata"]
    assert first["location"] == {"locationType": "SHEET", "sheetId": 0}
    lookup = {"metadataKey": "k", "visibility": "DOCUMENT"}
    change = {
        "dataFilters": [{"developerMetadataLookup": lookup}],
        "developerMetadata": {"metadataValue": "2"},
        "fields": "metadataValue",
    }
    (reply,) = sheets.batch({"updateDeveloperMetadata": change})
    assert reply["updateDeveloperMetadata"]["developerMetadata"] == [first | {"metadataValue": "2"}]
    assert sheets.resource()["developerMetadata"][0]["metadataKey"] == "k"
    assert sheets.resource()["sheets"][0]["developerMetadata"] == [first | {"metadataValue": "2"}]
    sheets.batch({"addSheet": {"properties": {"sheetId": 9}}}, {"deleteSheet": {"sheetId": 0}})
    assert sheets.resource()["sheets"][0].get("developerMetadata") is None
    elsewhere = of_sheet | {"location": {"dimensionRange": {"dimension": "ROWS", "endIndex": 1}}}
    request = {"createDeveloperMetadata": {"developerMetadata": elsewhere}}
    assert "not supported by the emulator" in sheets.refused(request)
