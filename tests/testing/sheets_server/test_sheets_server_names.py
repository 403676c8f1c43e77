"""The Google Sheets emulator's named ranges, protected ranges, filters and developer metadata."""

from __future__ import annotations

from typing import Any

import gspread
import pytest
from sheets_asking import Sheets, ask, message

from sheetarray.testing.sheets_server import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


SPAN = {"startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 1, "endColumnIndex": 2}


def name(text: str, span: Any = SPAN, **more: Any) -> dict[str, Any]:
    return {"addNamedRange": {"namedRange": {"name": text, "range": span, **more}}}


def metadata(key: str, location: Any, value: str = "", **more: Any) -> dict[str, Any]:
    entry = {"metadataKey": key, "metadataValue": value, "location": location, "visibility": "DOCUMENT", **more}
    return {"createDeveloperMetadata": {"developerMetadata": entry}}


def find_ids(sheets: Sheets, **lookup: Any) -> list[int]:
    body = {"dataFilters": [{"developerMetadataLookup": lookup}]}
    answer = sheets.post("/developerMetadata:search", body)
    return [match["developerMetadata"]["metadataId"] for match in answer.get("matchedDeveloperMetadata", [])]


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


def test_ranges_are_protected(sheets: Sheets) -> None:
    wanted = {"range": SPAN, "description": "ours", "warningOnly": True}
    (reply,) = sheets.batch({"addProtectedRange": {"protectedRange": wanted}})
    protected = reply["addProtectedRange"]["protectedRange"]
    assert protected == wanted | {
        "protectedRangeId": protected["protectedRangeId"],
        "requestingUserCanEdit": True,
        "editors": {},
    }
    change = {"protectedRangeId": protected["protectedRangeId"], "description": "theirs", "range": {"endRowIndex": 9}}
    sheets.batch({"updateProtectedRange": {"protectedRange": change, "fields": "description,range"}})
    assert sheets.resource()["sheets"][0]["protectedRanges"] == [protected | change]
    again = {"protectedRange": {"range": SPAN, "protectedRangeId": protected["protectedRangeId"]}}
    assert "already exists" in sheets.refused({"addProtectedRange": again})
    sheets.batch({"deleteProtectedRange": {"protectedRangeId": protected["protectedRangeId"]}})
    assert "protectedRanges" not in sheets.resource()["sheets"][0]
    assert "No protected range with id: 5" in sheets.refused({"deleteProtectedRange": {"protectedRangeId": 5}})


def test_a_filter_is_set_and_cleared(sheets: Sheets) -> None:
    sheets.batch({"setBasicFilter": {"filter": {"range": {}}}})
    whole = {"startRowIndex": 0, "endRowIndex": 1000, "startColumnIndex": 0, "endColumnIndex": 26}
    assert sheets.resource()["sheets"][0]["basicFilter"] == {"range": whole}
    sheets.batch({"clearBasicFilter": {"sheetId": 0}})
    assert "basicFilter" not in sheets.resource()["sheets"][0]


# Developer metadata.


def test_metadata_are_put_on_the_spreadsheet_a_sheet_a_row_and_a_column(sheets: Sheets) -> None:
    row = {"dimension": "ROWS", "startIndex": 2, "endIndex": 3}
    column = {"dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}
    replies = sheets.batch(
        metadata("a", {"spreadsheet": True}, "1", metadataId=1),
        metadata("a", {"sheetId": 0}, "2", metadataId=2),
        metadata("b", {"dimensionRange": row}, metadataId=3),
        metadata("b", {"dimensionRange": column}, metadataId=4, visibility="PROJECT"),
    )
    entries = [reply["createDeveloperMetadata"]["developerMetadata"] for reply in replies]
    assert entries[0] == {
        "metadataId": 1,
        "metadataKey": "a",
        "metadataValue": "1",
        "location": {"locationType": "SPREADSHEET", "spreadsheet": True},
        "visibility": "DOCUMENT",
    }
    assert [entry["location"]["locationType"] for entry in entries] == ["SPREADSHEET", "SHEET", "ROW", "COLUMN"]
    assert "metadataValue" not in entries[2]
    resource = sheets.resource(includeGridData="true")
    assert resource["developerMetadata"] == entries[:1]
    assert resource["sheets"][0]["developerMetadata"] == entries[1:2]
    (data,) = resource["sheets"][0]["data"]
    assert data["rowMetadata"][2] == {"pixelSize": 21, "developerMetadata": entries[2:3]}
    assert data["columnMetadata"][1] == {"pixelSize": 100, "developerMetadata": entries[3:]}
    assert ask(sheets.server, "GET", f"/{sheets.key}/developerMetadata/4") == (200, entries[3])
    message(ask(sheets.server, "GET", f"/{sheets.key}/developerMetadata/5"), 404)
    message(ask(sheets.server, "GET", f"/{sheets.key}/developerMetadata/x"), 404)


def test_metadata_are_searched_for(sheets: Sheets) -> None:
    row = {"dimension": "ROWS", "startIndex": 2, "endIndex": 3}
    column = {"dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}
    sheets.batch(
        {"addSheet": {"properties": {"sheetId": 9, "title": "T"}}},
        metadata("a", {"spreadsheet": True}, "1", metadataId=1),
        metadata("a", {"sheetId": 0}, "2", metadataId=2),
        metadata("b", {"dimensionRange": row}, metadataId=3),
        metadata("b", {"dimensionRange": column}, metadataId=4, visibility="PROJECT"),
        metadata("a", {"sheetId": 9}, "1", metadataId=5),
    )
    assert find_ids(sheets, metadataKey="a") == [1, 2, 5]
    assert find_ids(sheets, metadataKey="a", metadataValue="1") == [1, 5]
    assert find_ids(sheets, metadataId=3) == [3]
    assert find_ids(sheets, visibility="PROJECT") == [4]
    assert find_ids(sheets, locationType="SHEET") == [2, 5]
    assert find_ids(sheets, metadataLocation={"sheetId": 0}) == [2, 3, 4]
    exact = {"locationMatchingStrategy": "EXACT_LOCATION"}
    assert find_ids(sheets, metadataLocation={"sheetId": 0}, **exact) == [2]
    assert find_ids(sheets, metadataLocation={"spreadsheet": True}) == [1, 2, 3, 4, 5]
    assert find_ids(sheets, metadataLocation={"spreadsheet": True}, **exact) == [1]
    assert find_ids(sheets, metadataLocation={"dimensionRange": {"dimension": "ROWS", "endIndex": 9}}) == [3]
    assert find_ids(sheets, metadataLocation={"dimensionRange": column}, **exact) == [4]
    assert find_ids(sheets, metadataKey="nothing") == []
    row_filter: Any = {"a1Range": "S!A3:B3"}
    sheet_filter: Any = {"gridRange": {"sheetId": 9}}
    body = {"dataFilters": [row_filter, sheet_filter]}
    answer = sheets.post("/developerMetadata:search", body)["matchedDeveloperMetadata"]
    assert [match["developerMetadata"]["metadataId"] for match in answer] == [3, 4, 5]
    assert [match["dataFilters"] for match in answer] == [[{"a1Range": "S!A3:B3"}]] * 2 + [
        [{"gridRange": {"sheetId": 9}}]
    ]
    for filters, expected in (([], "Must specify at least one data filter."), ([{}], "A data filter must have one")):
        refused = ask(sheets.server, "POST", f"/{sheets.key}/developerMetadata:search", {"dataFilters": filters})
        assert message(refused).startswith(expected)


def test_metadata_are_changed_and_deleted(sheets: Sheets) -> None:
    sheets.batch(
        metadata("a", {"spreadsheet": True}, "1", metadataId=1),
        metadata("a", {"sheetId": 0}, "2", metadataId=2),
        metadata("b", {"sheetId": 0}, "3", metadataId=3),
    )
    by_key = {"developerMetadataLookup": {"metadataKey": "a"}}
    new = {"metadataValue": "new", "metadataKey": "unused"}
    update = {"dataFilters": [by_key], "developerMetadata": new, "fields": "metadataValue"}
    (reply,) = sheets.batch({"updateDeveloperMetadata": update})
    changed = reply["updateDeveloperMetadata"]["developerMetadata"]
    assert [(entry["metadataId"], entry["metadataKey"], entry["metadataValue"]) for entry in changed] == [
        (1, "a", "new"),
        (2, "a", "new"),
    ]
    assert find_ids(sheets, metadataValue="new") == [1, 2]
    (reply,) = sheets.batch({"deleteDeveloperMetadata": {"dataFilter": by_key}})
    assert [entry["metadataId"] for entry in reply["deleteDeveloperMetadata"]["deletedDeveloperMetadata"]] == [1, 2]
    assert sheets.batch({"deleteDeveloperMetadata": {"dataFilter": by_key}}) == [{"deleteDeveloperMetadata": {}}]
    assert find_ids(sheets, visibility="DOCUMENT") == [3]
    assert "metadataId cannot be updated" in sheets.refused(
        {"updateDeveloperMetadata": update | {"fields": "metadataId"}}
    )


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (metadata("", {"spreadsheet": True}), "metadataKey must be specified"),
        (metadata("a", {"spreadsheet": True}, visibility=None), "visibility must be specified"),
        (metadata("a", {}), "location must be specified"),
        (metadata("a", {"sheetId": 8}), "No sheet with id: 8"),
        (
            metadata("a", {"dimensionRange": {"dimension": "ROWS", "startIndex": 2, "endIndex": 4}}),
            "must be a single row or column",
        ),
        (metadata("a", {"spreadsheet": True}, metadataId=-3), "must be positive"),
    ],
)
def test_metadata_that_cannot_be_are_refused(sheets: Sheets, request_: Any, expected: str) -> None:
    assert expected in sheets.refused(request_)


def test_an_id_is_given_once(sheets: Sheets) -> None:
    sheets.batch(metadata("a", {"spreadsheet": True}, metadataId=6))
    assert "already exists" in sheets.refused(metadata("b", {"spreadsheet": True}, metadataId=6))


def test_metadata_go_with_what_they_are_on(sheets: Sheets) -> None:
    row = {"sheetId": 9, "dimension": "ROWS", "startIndex": 2, "endIndex": 3}
    sheets.batch(
        {"addSheet": {"properties": {"sheetId": 9, "title": "T"}}},
        metadata("a", {"spreadsheet": True}, metadataId=1),
        metadata("a", {"sheetId": 9}, metadataId=2),
        metadata("a", {"dimensionRange": row}, metadataId=3),
        metadata("a", {"dimensionRange": row | {"startIndex": 5, "endIndex": 6}}, metadataId=4),
        {"insertDimension": {"range": row | {"startIndex": 0, "endIndex": 2}}},
        {"deleteDimension": {"range": row | {"startIndex": 7, "endIndex": 8}}},
    )
    (reply,) = sheets.batch(
        {
            "updateDeveloperMetadata": {
                "dataFilters": [{"developerMetadataLookup": {"metadataId": 3}}],
                "developerMetadata": {"metadataValue": "moved"},
                "fields": "metadataValue",
            }
        }
    )
    (moved,) = reply["updateDeveloperMetadata"]["developerMetadata"]
    assert moved["location"]["dimensionRange"] == row | {"startIndex": 4, "endIndex": 5}
    assert find_ids(sheets, metadataKey="a") == [1, 2, 3]
    sheets.batch({"deleteSheet": {"sheetId": 9}})
    assert find_ids(sheets, metadataKey="a") == [1]


def test_protected_ranges_hold_those_who_are_not_among_their_editors(sheets: Sheets) -> None:
    sheets.put("S!A1", [["kept", "free"], ["=B1", 2]], "USER_ENTERED")
    span = {"startRowIndex": 0, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 1}
    editors = {"users": ["editor@example.org"]}
    sheets.batch({"addProtectedRange": {"protectedRange": {"range": span, "editors": editors}}})
    books = {
        user: sheets.server.client(user=user).open_by_key(sheets.key) for user in ("a@example.org", *editors["users"])
    }
    stranger, editor = (book.sheet1 for book in books.values())
    before = sheets.resource(includeGridData="true")
    delete = {"deleteDimension": {"range": {"dimension": "COLUMNS", "startIndex": 0, "endIndex": 1}}}
    protected_id = sheets.resource()["sheets"][0]["protectedRanges"][0]["protectedRangeId"]
    for change in (
        lambda: stranger.update([["x"]], "A1"),
        lambda: stranger.batch_clear(["A2"]),
        lambda: stranger.format("A1:B1", {"textFormat": {"bold": True}}),
        lambda: stranger.spreadsheet.batch_update({"requests": [delete]}),
        lambda: stranger.insert_row(["y"], 2),
        lambda: stranger.delete_protected_range(protected_id),
    ):
        with pytest.raises(gspread.exceptions.APIError, match="protected cell or object"):
            change()
        assert sheets.resource(includeGridData="true") == before
    seen = stranger.spreadsheet.fetch_sheet_metadata()["sheets"][0]["protectedRanges"][0]
    assert seen["requestingUserCanEdit"] is False
    stranger.update([["mine"]], "B1")
    stranger.insert_row(["above"], 1)
    assert sheets.values("S") == [["above"], ["kept", "mine"], ["mine", 2]]
    editor.update([["changed"]], "A2")
    sheets.put("S!A3", [["the owner's"]])
    assert sheets.values("S!A2:A3") == [["changed"], ["the owner's"]]
