"""Clients of other people through cells, sheets and ranges of the emulator: EZSheets, gspread_asyncio, Google's own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google_clients import service

from sheetarray.testing.sheets_server import SheetsServer


def test_googles_own_client(shared_sheets_server: SheetsServer) -> None:
    sheets = service(shared_sheets_server, "sheets", "v4").spreadsheets()
    made = sheets.create(body={"properties": {"title": "made"}}).execute()
    key = made["spreadsheetId"]
    data = [{"range": "Sheet1!A1", "values": [["x", 1.5], ["y", "=B1*2"]]}]
    body = {"valueInputOption": "USER_ENTERED", "data": data}
    assert sheets.values().batchUpdate(spreadsheetId=key, body=body).execute()["totalUpdatedCells"] == 4
    sheets.values().append(
        spreadsheetId=key, range="Sheet1!A1", valueInputOption="RAW", body={"values": [["z", 7]]}
    ).execute()
    read = sheets.values().batchGet(
        spreadsheetId=key, ranges=["Sheet1!A1:B", "Sheet1!B2"], valueRenderOption="UNFORMATTED_VALUE"
    )
    assert [part["values"] for part in read.execute()["valueRanges"]] == [[["x", 1.5], ["y", 3], ["z", 7]], [[3]]]
    span = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 3, "startColumnIndex": 0, "endColumnIndex": 2}
    requests = [
        {"addSheet": {"properties": {"title": "more"}}},
        {"addNamedRange": {"namedRange": {"name": "all", "range": span}}},
        {"sortRange": {"range": span, "sortSpecs": [{"dimensionIndex": 1, "sortOrder": "DESCENDING"}]}},
        {"findReplace": {"find": "z", "replacement": "Z", "allSheets": True}},
    ]
    replies = sheets.batchUpdate(spreadsheetId=key, body={"requests": requests}).execute()["replies"]
    assert replies[3]["findReplace"]["occurrencesChanged"] == 1
    answer = sheets.values().get(spreadsheetId=key, range="all", majorDimension="COLUMNS").execute()
    assert answer["values"] == [["Z", "y", "x"], ["7", "14", "1.5"]]
    sheets.values().clear(spreadsheetId=key, range="all").execute()
    assert "values" not in sheets.values().get(spreadsheetId=key, range="all").execute()
    titles = [sheet["properties"]["title"] for sheet in sheets.get(spreadsheetId=key).execute()["sheets"]]
    assert titles == ["Sheet1", "more"]
    copied = sheets.sheets().copyTo(spreadsheetId=key, sheetId=0, body={"destinationSpreadsheetId": key}).execute()
    assert copied["title"] == "Copy of Sheet1"


def test_googles_own_client_asks_at_length_and_in_bundles(shared_sheets_server: SheetsServer) -> None:
    key = shared_sheets_server.create(sheets=[("S", 400, 2)])
    built = service(shared_sheets_server, "sheets", "v4")
    values = built.spreadsheets().values()
    body = {"values": [[row] for row in range(400)]}
    values.update(spreadsheetId=key, range="S!A1", valueInputOption="RAW", body=body).execute()
    ranges = [f"S!A{row}" for row in range(1, 401)]  # too many for a URL: they go as a form
    read = values.batchGet(spreadsheetId=key, ranges=ranges, valueRenderOption="UNFORMATTED_VALUE").execute()
    assert [part["values"] for part in read["valueRanges"]] == [[[row]] for row in range(400)]
    answers: dict[str, Any] = {}
    bundle = built.new_batch_http_request(callback=lambda name, answer, error: answers.update({name: answer or error}))
    bundle.add(values.get(spreadsheetId=key, range="S!A3"), request_id="good")
    bundle.add(values.get(spreadsheetId=key, range="S!ZZ1"), request_id="bad")
    clearing = values.clear(spreadsheetId=key, range="S!A1:A400", body={})
    bundle.add(clearing, request_id="clear")
    bundle.execute()
    assert answers["good"]["values"] == [["2"]]
    assert answers["bad"].status_code == 400
    assert answers["clear"]["clearedRange"] == "S!A1:A400"
    assert shared_sheets_server.cells(key, "S") == []
    assert [record.status for record in shared_sheets_server.requests[-4:]] == [200, 200, 400, 200]


@pytest.mark.parametrize("body", [b"", b"--x\r\n\r\nnothing\r\n--x--"])
def test_a_bundle_that_is_none_is_refused(shared_sheets_server: SheetsServer, body: bytes) -> None:
    import httplib2

    headers = {"Content-Type": "multipart/mixed; boundary=x"}
    answer, content = httplib2.Http().request(f"{shared_sheets_server.url}/batch", "POST", body, headers)
    assert (answer.status, b"Failed to parse batch request" in content) == (400, True)


def test_ezsheets(ezsheets: Any) -> None:
    book = ezsheets.createSpreadsheet("easy")
    assert book.title == "easy"
    sheet = book[0]
    sheet["A1"] = "name"
    sheet["B1"] = 5
    sheet.updateRow(2, ["x", "7"])
    sheet.updateColumn(3, ["=B1+B2", "z"])
    sheet.updateRows([["r3", "1"], ["r4", "2"]], startRow=3)
    sheet.refresh()
    assert (sheet["A1"], sheet["B1"], sheet["C1"]) == ("name", "5", "12")
    assert sheet.getRow(2)[:3] == ["x", "7", "z"]
    assert sheet.getColumn("A")[:4] == ["name", "x", "r3", "r4"]
    sheet.title = "first"
    sheet.resize(columnCount=5, rowCount=9)
    sheet.frozenRowCount = 1
    sheet.tabColor = "red"
    more = book.createSheet("more")
    more.index = 0
    sheet.copyTo(book)
    book.title = "easier"
    book.refresh()
    assert (book.title, book.sheetTitles) == ("easier", ("more", "first", "Copy of first"))
    assert (book["first"].columnCount, book["first"].rowCount, book["first"].frozenRowCount) == (5, 9, 1)
    assert book["Copy of first"]["C1"] == "12"
    book["first"].clear()
    book["Copy of first"].delete()
    book.refresh()
    assert (book.sheetTitles, book["first"]["A1"]) == (("more", "first"), "")


def test_gspread_asyncio(shared_sheets_server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    import gspread_asyncio

    monkeypatch.setattr("gspread.authorize", lambda *_, **__: shared_sheets_server.client())

    async def work() -> list[Any]:
        manager = gspread_asyncio.AsyncioGspreadClientManager(lambda: None, gspread_delay=0)
        client = await manager.authorize()
        book = await client.open_by_key(shared_sheets_server.create("asynchronous"))
        sheet = await book.add_worksheet("run", 5, 3)
        await sheet.update([["a", 1], ["b", 2]], "A1")
        await sheet.append_row(["c", 3])
        await sheet.insert_row(["head", "n"], 1)
        await sheet.delete_rows(3)
        answer = await sheet.find("c")
        await sheet.update_cell(answer.row, 3, "found")
        values = await sheet.get_values()
        titles = [one.title for one in await book.worksheets()]
        await book.del_worksheet(sheet)
        return [values, titles, len(await book.worksheets())]

    values, titles, left = asyncio.run(work())
    assert values == [["head", "n", ""], ["a", "1", ""], ["c", "3", "found"]]
    assert (titles, left) == (["Sheet1", "run"], 1)


def test_the_fixture_of_gspread_needs_nothing_else(gspread_client: Any) -> None:
    book = gspread_client.create("report")
    book.sheet1.update([["total", "=SUM(1,2)"]], "A1", raw=False)
    assert book.sheet1.acell("B1").value == "3"
    assert gspread_client.open("report").id == book.id
