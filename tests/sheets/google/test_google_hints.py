"""Hints about Google Sheets work when they are followed; a bare key is a spreadsheet where a client is given."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import run_command
from services import ENDPOINT

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

ARRAYS = {"t": np.arange(6.0).reshape(2, 3), "n": np.array([1, 2])}


def test_two_arrays_of_one_name_are_read_one_sheet_at_a_time(
    sheets_server: SheetsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = sheets_server.client(), f"gsheets://{sheets_server.create()}"
    for number, title in enumerate(("north", "Süd 2")):
        sa.write(url, {"t": ARRAYS["t"] + number}, sheet=title, client=client)
    with pytest.raises(sa.FormatError, match="two arrays have the name 't'") as caught:
        sa.read(url, client=client)
    titles = re.findall(r"sheet='([^']*)'", caught.value.hint or "")
    assert titles == ["north", "Süd 2"]
    for number, title in enumerate(titles):
        assert_same(sa.read(url, "t", sheet=title, client=client), ARRAYS["t"] + number)
        assert list(sa.scan(url, sheet=title, client=client)) == ["t"]
        assert list(sa.check(url, sheet=title, client=client)) == []
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    said = run_command("show", url, "t").stderr
    (options,) = re.findall(r"read one sheet at a time, (--read sheet=north) or", said)
    assert run_command("show", url, "t", *options.split()).exit_code == 0


def test_a_bare_key_is_a_spreadsheet_where_a_client_is_given(sheets_server: SheetsServer, tmp_path: Path) -> None:
    """It is what `server.create()` of the emulator and gspread's `Spreadsheet.id` give."""
    client, key = sheets_server.client(), sheets_server.create()
    url = sa.write(key, ARRAYS, client=client)
    assert url is not None
    assert f"/d/{key}/edit" in url
    assert_same(sa.read(key, "t", client=client), ARRAYS["t"])
    assert list(sa.scan(key, client=client)) == list(ARRAYS)
    assert list(sa.check(key, client=client)) == []
    assert list(sa.read_dataset(key, client=client).data_vars) == list(ARRAYS)
    assert list(sa.read_frame(key, ["n"], client=client)) == ["n"]
    assert [block.shape for block in sa.iter_blocks(key, "t", rows=1, client=client)] == [(1, 3)] * 2
    assert "t" in sa.page(key, client=client).html
    assert not sa.accept(key, client=client)
    sa.convert(key, tmp_path / "t.csv", client=client)
    assert sa.convert(tmp_path / "t.csv", key, client=client) == url
    assert sa.convert(key, tmp_path / "u.csv", reading={"client": client}) is None
    with sa.open_writer(key, client=client) as writer:
        writer.append({"n": np.array([3])})
    assert sa.merge(key, tmp_path / "t.csv", client=client).unresolved == 0
    table = sa.write_table(key, {"id": np.array([7])}, client=client)
    assert table is not None
    assert sa.read_columns(key, client=client, sheet="table")["id"].tolist() == [7]


def test_a_bare_key_without_a_client_says_what_to_write(sheets_server: SheetsServer) -> None:
    key = sheets_server.create()
    with pytest.raises(sa.NotFoundError, match=f"if it is the key of a Google spreadsheet, write gsheets://{key}, or"):
        sa.read(key)
    assert sa.write(f"gsheets://{key}", ARRAYS, client=sheets_server.client()) is not None
    for path in ("run", "x" * 39, "x" * 51, "a.b" * 15):
        with pytest.raises(sa.NotFoundError) as caught:
            sa.read(path)
        assert "spreadsheet" not in str(caught.value)
    for path in ("run", "run.csv2", "a b" * 10):  # no keys, with a client or without one
        with pytest.raises(sa.NotFoundError, match="suffix"):
            sa.read(path, client=sheets_server.client())
