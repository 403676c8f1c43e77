"""Spreadsheets that are made: once, shared with whom they are for, and found again by title."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from services import ENDPOINT

import sheetarray as sa
from sheetarray import create_gsheet, read_gsheet, write_gsheet
from sheetarray.errors import RemoteError
from sheetarray.testing.cases import assert_same
from sheets_emulator import Fault, SheetsServer


def test_a_spreadsheet_is_made_shared_and_opened_by_its_title(sheets_server: SheetsServer) -> None:
    client = sheets_server.client()
    url = create_gsheet("readings", share=["me@example.org", "you@example.org"], client=client)
    opened = client.open("readings")
    assert opened.url == url
    shared = [(entry["emailAddress"], entry["role"]) for entry in opened.list_permissions() if entry["role"] != "owner"]
    assert shared == [("me@example.org", "writer"), ("you@example.org", "writer")]
    write_gsheet(opened, {"t": np.arange(3)})
    assert_same(read_gsheet(url, client=client)["t"], np.arange(3))


def test_a_write_to_a_new_spreadsheet_says_where_it_is(
    sheets_server: SheetsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sheets_server.client()
    url = write_gsheet("gsheets://new?title=run%2012", {"t": np.arange(3)}, client=client)
    assert client.open("run 12").url == url.partition("/edit")[0]
    gid = int(url.partition("#gid=")[2])
    assert client.open("run 12").worksheet("arrays").id == gid
    assert_same(read_gsheet(url, client=client)["t"], np.arange(3))
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    written = sa.write("gsheets://new?title=another", {"t": np.arange(4)})
    assert written is not None
    assert written.partition("/edit")[0] == client.open("another").url
    assert_same(sa.read(written)["t"], np.arange(4))
    assert sa.create_gsheet("third", share=["me@example.org"]) == client.open("third").url


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("layout", ["arrays", "table"])
def test_every_write_says_where_its_spreadsheet_is(sheets_server: SheetsServer, layout: str, verify: bool) -> None:
    client = sheets_server.client()
    frame = pd.DataFrame({"id": ["007", "b"], "t": [0.5, 1.5]})
    target = "gsheets://new?title=Measured"
    if layout == "arrays":
        url = sa.write(target, frame, client=client, layout="table", verify=verify)
    else:
        url = sa.write_table(target, frame, client=client, verify=verify)
    assert url is not None
    assert url.startswith(f"{client.open('Measured').url}/edit#gid=")
    assert sa.read_columns(url, client=client)["id"].tolist() == ["007", "b"]
    assert sa.write_table(url, frame, if_sheet_exists="replace", client=client) == url
    blocks = ({"t": np.full(2, number)} for number in range(3))
    assert sa.write(target, blocks, append_axis=0, client=client) not in (None, url)


def test_a_write_to_a_file_has_no_address(tmp_path: Path) -> None:
    assert sa.write(tmp_path / "t.csv", {"t": np.arange(3)}) is None
    assert sa.write_table(tmp_path / "t.xlsx", {"t": np.arange(3)}) is None


@pytest.mark.parametrize(
    "target", ["gsheets://new", "gsheets://new?title=", "gsheets://new?name=x", "gsheets://new/x?title=y"]
)
def test_a_new_spreadsheet_without_a_title_is_not_made(sheets_server: SheetsServer, target: str) -> None:
    with pytest.raises(sa.NotFoundError, match="title"):
        write_gsheet(target, {"t": np.arange(3)}, client=sheets_server.client())
    assert sheets_server.requests == []


def test_nothing_is_made_for_arrays_that_cannot_be_written(sheets_server: SheetsServer) -> None:
    for arrays in ({"t": np.array(["x" * 50_001])}, {"t": np.array(["\ud800"])}):
        with pytest.raises((sa.LimitError, sa.DTypeError)):
            write_gsheet("gsheets://new?title=x", arrays, client=sheets_server.client())
    assert sheets_server.requests == []


@pytest.mark.parametrize("title", ["", "  ", "x" * 1001, "\ud800"])
def test_an_impossible_title_of_a_spreadsheet_is_refused(sheets_server: SheetsServer, title: str) -> None:
    with pytest.raises(sa.LimitError, match="title"):
        create_gsheet(title, client=sheets_server.client())
    create_gsheet("x" * 1000, client=sheets_server.client())
    assert len(sheets_server.requests) == 1


@pytest.mark.parametrize("share", [["me"], ["a b@c"], ["@"], "me", ["a@\ud800"]])
def test_what_is_no_address_is_refused_before_anything_is_made(sheets_server: SheetsServer, share: Any) -> None:
    with pytest.raises(sa.LimitError, match="not an address"):
        create_gsheet("x", share=share, client=sheets_server.client())
    assert sheets_server.requests == []


@pytest.mark.fault("The answer to a request for a new spreadsheet is lost.", "There is no second spreadsheet.")
@pytest.mark.parametrize("fault", [{"status": "reset-after"}, {"status": 503}, {"status": "empty", "applied": True}])
def test_a_lost_answer_makes_no_second_spreadsheet(
    sheets_server: SheetsServer, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    sheets_server.faults.append(Fault(**fault))
    with pytest.raises(RemoteError, match="may have been made"):
        create_gsheet("once", client=sheets_server.client())
    assert len(sheets_server.requests) == 1
    sheets_server.faults.append(Fault("quota", times=2))
    create_gsheet("twice", client=sheets_server.client())
    assert len(sheets_server.client().openall("twice")) == 1


def test_a_spreadsheet_that_cannot_be_shared_is_named(sheets_server: SheetsServer) -> None:
    sheets_server.faults.append(Fault(400, path="permissions", times=None))
    client = sheets_server.client()
    with pytest.raises(RemoteError, match=r"was made, and could not be shared with me@example\.org") as caught:
        create_gsheet("alone", share=["me@example.org"], client=client)
    assert client.open("alone").url in str(caught.value)
