"""The Google Sheets emulator holds bodies and queries against the schemas that the service publishes."""

from __future__ import annotations

from typing import Any

import pytest
from sheets_asking import Sheets, ask, message

from sheets_emulator import SheetsServer
from sheets_emulator.schema import MessageSchemas
from sheets_emulator.service import METHODS


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


SHEET = "requests[0].add_sheet.properties"
ROWS = f"{SHEET}.grid_properties.row_count"


def add(properties: Any) -> Any:
    return {"requests": [{"addSheet": {"properties": properties}}]}


TYPE = "type.googleapis.com/google.apps.sheets.v4"
UNKNOWN, LIST = "Cannot find field.", "Proto field is not repeating, cannot start list."


@pytest.mark.parametrize(
    ("path", "body", "field", "wrong"),
    [
        (":batchUpdate", {"requests": [], "x": 1}, None, ("x", UNKNOWN)),
        (":batchUpdate", {"requests": [{"addSheets": {}}]}, "requests[0]", ("addSheets", UNKNOWN)),
        (":batchUpdate", add({"gridProperties": {"rows": 5}}), f"{SHEET}.grid_properties", ("rows", UNKNOWN)),
        (":batchUpdate", add([]), "requests[0].add_sheet", ("properties", LIST)),
        (":batchUpdate", add({"title": ["x"]}), SHEET, ("title", LIST)),
        ("/values/S:append?valueInputOption=RAW", {"value": [[1]]}, "data", ("value", UNKNOWN)),
        (":batchUpdate", add({"gridProperties": {"rowCount": "abc"}}), ROWS, '(TYPE_INT32), "abc"'),
        (":batchUpdate", add({"gridProperties": {"rowCount": 2**31}}), ROWS, "(TYPE_INT32), 2147483648"),
        (":batchUpdate", add({"title": 5}), f"{SHEET}.title", "(TYPE_STRING), 5"),
        (":batchUpdate", add({"hidden": "yes"}), f"{SHEET}.hidden", '(TYPE_BOOL), "yes"'),
        (":batchUpdate", add({"tabColor": {"red": "Inf"}}), f"{SHEET}.tab_color.red", '(TYPE_FLOAT), "Inf"'),
        (":batchUpdate", add({"sheetType": "CUBE"}), f"{SHEET}.sheet_type", f'({TYPE}.SheetType), "CUBE"'),
        (":batchUpdate", {"requests": [{"addSheet": 5}]}, "requests[0].add_sheet", f"({TYPE}.AddSheetRequest), 5"),
        (
            "/values:batchUpdate",
            {"valueInputOption": "RAW", "data": [{"values": ["x"]}]},
            "data[0].values[0]",
            '(type.googleapis.com/google.protobuf.ListValue), "x"',
        ),
        ("/values:batchUpdate", {"valueInputOption": "raw"}, "value_input_option", f'({TYPE}.ValueInputOption), "raw"'),
    ],
)
def test_a_body_that_breaks_its_schema_is_refused(
    sheets: Sheets, path: str, body: Any, field: str | None, wrong: str | tuple[str, str]
) -> None:
    """`wrong`: of a value, its type and what it is; of a name that there is not, the name and the reason."""
    at = f" at '{field}'" if field else ""
    if isinstance(wrong, tuple):
        description = f'Invalid JSON payload received. Unknown name "{wrong[0]}"{at}: {wrong[1]}'
    else:
        description = f"Invalid value{at} {wrong}"
    status, answer = ask(sheets.server, "POST", f"/{sheets.key}{path}", body)
    assert status == 400
    error = answer["error"]
    assert (error["message"], error["status"]) == (description, "INVALID_ARGUMENT")
    violation = {"description": description} if field is None else {"field": field, "description": description}
    assert error["details"] == [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]


@pytest.mark.parametrize(
    ("values", "description"),
    [
        ("X", "Invalid value at 'data.values' (type.googleapis.com/google.protobuf.ListValue), \"X\""),
        ([[1], 2], "Invalid value at 'data.values[1]' (type.googleapis.com/google.protobuf.ListValue), 2"),
    ],
)
def test_values_are_lists_of_lists(sheets: Sheets, values: Any, description: str) -> None:
    assert message(sheets.put_raw("S!A1", {"values": values}, valueInputOption="RAW")) == description


@pytest.mark.parametrize(
    ("query", "description"),
    [
        (
            {"valueInputOptions": "RAW"},
            'Invalid JSON payload received. Unknown name "valueInputOptions": Cannot bind query parameter. '
            "Field 'valueInputOptions' could not be found in request message.",
        ),
        (
            {"valueInputOption": "raw"},
            "Invalid value at 'value_input_option' "
            '(type.googleapis.com/google.apps.sheets.v4.ValueInputOption), "raw"',
        ),
        (
            {"valueInputOption": "RAW", "includeValuesInResponse": "1"},
            "Invalid value at 'include_values_in_response' (TYPE_BOOL), \"1\"",
        ),
        (
            {"valueInputOption": "RAW", "fields": "updatedRange,cells"},
            "Error expanding 'fields' parameter. Cannot find matching fields for path 'cells'.",
        ),
    ],
)
def test_a_query_that_the_method_does_not_have_is_refused(sheets: Sheets, query: Any, description: str) -> None:
    assert message(sheets.put_raw("S!A1", {"values": [[1]]}, **query)) == description
    assert sheets.cells() == []


def test_a_mask_must_name_fields_of_the_answer(sheets: Sheets) -> None:
    answer = ask(sheets.server, "GET", f"/{sheets.key}", fields="sheets(properties(title,rows))")
    path = "sheets.properties.rows"
    assert message(answer) == f"Error expanding 'fields' parameter. Cannot find matching fields for path '{path}'."


def test_parameters_of_every_method_pass(sheets: Sheets) -> None:
    query = {"prettyPrint": "false", "alt": "json", "quotaUser": "me", "fields": "updatedCells"}
    answer = sheets.put_raw("S!A1", {"values": [[1, 2]]}, valueInputOption="RAW", **query)
    assert answer == (200, {"updatedCells": 2})


def test_nulls_other_spellings_and_numbers_as_text_are_taken(sheets: Sheets) -> None:
    body = {
        "requests": {
            "add_sheet": {
                "properties": {"title": "x", "hidden": None, "grid_properties": {"row_count": "3", "columnCount": 2.0}}
            }
        }
    }
    (reply,) = sheets.post(":batchUpdate", body)["replies"]
    assert reply["addSheet"]["properties"]["gridProperties"] == {"rowCount": 3, "columnCount": 2}


def test_null_is_a_value_among_values_only(sheets: Sheets) -> None:
    sheets.put("S!A1", [["a", "b"]])
    sheets.put("S!A1", [[None, "c"]], majorDimension=None)
    assert sheets.cells() == [["a", "c"]]


def test_every_method_of_the_emulator_is_in_the_document() -> None:
    known = MessageSchemas.load()._methods
    assert {method.name for method in METHODS if not method.name.startswith("drive.")} <= known.keys()


def test_every_request_of_a_batch_is_in_the_document(sheets: Sheets) -> None:
    from sheets_emulator.batch import REQUESTS

    for name in REQUESTS:
        answer = ask(sheets.server, "POST", f"/{sheets.key}:batchUpdate", {"requests": [{name: {}}]})
        assert "Unknown name" not in str(answer)


@pytest.mark.parametrize("body", [b"[]", b"5", b'"x"', b"null", b"true", b'{"requests": 5}', b'{"requests": [[]]}'])
def test_a_body_of_another_kind_is_refused(body: bytes) -> None:
    with SheetsServer() as server:
        sheets = Sheets(server)
        message(ask(server, "POST", f"/{sheets.key}:batchUpdate", body))
