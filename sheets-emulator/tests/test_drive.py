"""The part of Drive that gspread uses: spreadsheets are made, copied, listed, shared and deleted."""

from __future__ import annotations

import gspread
import pytest

from sheets_emulator import SheetsServer


def test_a_copy_is_a_spreadsheet_of_its_own(gspread_client: gspread.Client) -> None:
    book = gspread_client.create("first")
    book.sheet1.update([["a", "=1+1"]], "A1", raw=False)
    book.share("reader@example.org", "user", "reader", notify=False)
    copied = gspread_client.copy(book.id, "second", copy_permissions=True, copy_comments=True)
    book.sheet1.update_acell("A1", "changed")
    assert copied.sheet1.get_all_values() == [["a", "2"]]
    assert [entry["emailAddress"] for entry in copied.list_permissions()] == ["reader@example.org", "owner@example.org"]
    assert [opened.title for opened in gspread_client.openall()] == ["first", "second"]
    assert gspread_client.open("second").id == copied.id
    gspread_client.del_spreadsheet(copied.id)
    with pytest.raises(gspread.exceptions.SpreadsheetNotFound):
        gspread_client.open("second")


def test_the_owner_stays(gspread_client: gspread.Client) -> None:
    book = gspread_client.create("mine")
    book.share("reader@example.org", "user", "reader", notify=False)
    book.remove_permissions("reader@example.org")
    (owner,) = book.list_permissions()
    assert owner["role"] == "owner"
    with pytest.raises(gspread.exceptions.APIError, match="The owner of a file cannot be removed"):
        book.client.remove_permission(book.id, owner["id"])
    with pytest.raises(gspread.exceptions.APIError, match="Permission not found"):
        book.client.remove_permission(book.id, "0")


def test_a_write_is_noted(gspread_client: gspread.Client) -> None:
    book = gspread_client.create("noted")
    made = book.get_lastUpdateTime()
    book.sheet1.update_acell("A1", "x")
    assert book.get_lastUpdateTime() >= made
    assert book.creationTime <= made


def test_a_folder_is_refused(sheets_server: SheetsServer) -> None:
    client = sheets_server.client()
    with pytest.raises(gspread.exceptions.APIError, match="A folder is not supported by the emulator"):
        client.create("in a folder", folder_id="reports")
    with pytest.raises(gspread.exceptions.APIError, match="A folder is not supported by the emulator"):
        client.open("elsewhere", folder_id="reports")
