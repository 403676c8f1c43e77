"""The Google Sheets emulator's small Drive, as gspread and EZSheets use it: copies, texts, folders, owners."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

import gspread
import pytest
from gspread.utils import ExportFormat
from sheets_asking import Sheets, ask

from sheetarray.testing.sheets_server import SheetsServer


def test_a_copy_is_a_spreadsheet_of_its_own(server: SheetsServer) -> None:
    client = server.client()
    book = client.create("first", folder_id="reports")
    book.sheet1.update([["a", "=1+1"]], "A1", raw=False)
    book.share("reader@example.org", "user", "reader", notify=False)
    client.http_client.request(
        "post", f"https://www.googleapis.com/drive/v3/files/{book.id}/comments", json={"content": "nice"}
    )
    copied = client.copy(book.id, "second", copy_permissions=True, copy_comments=True)
    book.sheet1.update_acell("A1", "changed")
    assert copied.sheet1.get_all_values() == [["a", "2"]]
    assert [entry["emailAddress"] for entry in copied.list_permissions()] == ["reader@example.org", "owner@example.org"]
    assert {"first", "second"} <= {book.title for book in client.openall()}
    assert client.open("second", folder_id="reports").id == copied.id
    with pytest.raises(gspread.exceptions.SpreadsheetNotFound):
        client.open("second", folder_id="elsewhere")


def test_an_owner_is_made_and_accepts(gspread_client: gspread.Client) -> None:
    book = gspread_client.create("mine")
    book.share("heir@example.org", "user", "writer", notify=False)
    entry, owner = book.list_permissions()
    assert owner["role"] == "owner"
    with pytest.raises(gspread.exceptions.APIError, match="The owner of a file cannot be removed"):
        book.client.remove_permission(book.id, owner["id"])
    book.transfer_ownership(entry["id"])
    assert book.list_permissions()[0]["pendingOwner"] is True
    book.accept_ownership(entry["id"])
    assert {held["emailAddress"]: held["role"] for held in book.list_permissions()} == {
        "heir@example.org": "owner",
        "owner@example.org": "writer",
    }
    with pytest.raises(gspread.exceptions.APIError, match="Permission not found"):
        book.transfer_ownership("0")


def test_text_goes_in_and_out(gspread_client: gspread.Client) -> None:
    book = gspread_client.create("text")
    book.add_worksheet("more", 3, 3)
    gspread_client.import_csv(book.id, 'name,n\n"a, b",=1+1\nc,5%\n')
    assert [sheet.title for sheet in book.worksheets()] == ["Sheet1"]
    assert book.sheet1.get_all_values() == [["name", "n"], ["a, b", "2"], ["c", "5%"]]
    assert book.export(ExportFormat.CSV) == b'name,n\r\n"a, b",2\r\nc,5%'
    assert book.export(ExportFormat.TSV) == b"name\tn\r\na, b\t2\r\nc\t5%"
    with pytest.raises(gspread.exceptions.APIError, match="application/pdf is not supported by the emulator"):
        book.export()
    with pytest.raises(gspread.exceptions.APIError, match="not UTF-8"):
        gspread_client.import_csv(book.id, b"\xff")
    book.sheet1.clear()
    assert book.export(ExportFormat.CSV) == b""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it leaves its file open
def test_ezsheets_uploads_downloads_and_throws_away(ezsheets: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "up.csv", tmp_path / "down.tsv"
    source.write_text("é,2\n3,4\n", encoding="utf-8")
    book = ezsheets.upload(str(source))
    assert book[0].getRows()[:2] == [["é", "2"] + [""] * 24, ["3", "4"] + [""] * 24]
    book.downloadAsTSV(str(target))
    gc.collect()
    assert target.read_text(encoding="utf-8") == "é\t2\n3\t4"
    assert ezsheets.listSpreadsheets()[book.id] == "up.csv"
    book.delete()
    assert book.id in ezsheets.listSpreadsheets()  # in the bin, which its list does not leave out
    book.delete(permanent=True)
    assert book.id not in ezsheets.listSpreadsheets()


def test_a_key_of_the_api_reads_what_is_shared_with_everyone_and_writes_nothing(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 5, 5))
    sheets.put("S!A1", [[1]])
    assert ask(server, "GET", f"/{sheets.key}/values/S", key="k")[0] == 403
    server.client().open_by_key(sheets.key).share(None, perm_type="anyone", role="writer")
    assert ask(server, "GET", f"/{sheets.key}/values/S", key="k")[1]["values"] == [["1"]]
    status, answer = ask(server, "PUT", f"/{sheets.key}/values/S", {"values": [[2]]}, valueInputOption="RAW", key="k")
    assert (status, answer["error"]["status"]) == (401, "UNAUTHENTICATED")
    assert sheets.values("S") == [[1]]


def test_drive_knows_when_a_spreadsheet_was_written(server: SheetsServer) -> None:
    sheets = Sheets(server, ("S", 5, 5))
    book = server.client().open_by_key(sheets.key)
    before = book.get_lastUpdateTime()
    assert book.get_lastUpdateTime() == before
    time.sleep(0.002)  # a time has milliseconds
    sheets.put("S!A1", [[1]])
    assert before < book.get_lastUpdateTime()
