"""`gsheets://new?title=..&share=..` makes a spreadsheet, writes, shares, and says where it is, and what fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
import pytest
from command_line import run_command
from services import ENDPOINT

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import RemoteError
from sheetarray.testing.cases import assert_same
from sheets_emulator import Fault, SheetsServer

ARRAYS = {"t": np.arange(3)}
SERVICE = "https://docs.google.com/spreadsheets/d/"


def shared(opened: Any) -> list[tuple[str, str]]:
    return [(entry["emailAddress"], entry["role"]) for entry in opened.list_permissions() if entry["role"] != "owner"]


def test_a_write_to_a_new_spreadsheet_says_where_it_is(
    sheets_server: SheetsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sheets_server.client()
    url = write_gsheet("gsheets://new?title=run%2012", ARRAYS, client=client)
    assert client.open("run 12").url == url.partition("/edit")[0]
    gid = int(url.partition("#gid=")[2])
    assert client.open("run 12").worksheet("arrays").id == gid
    assert_same(read_gsheet(url, client=client)["t"], np.arange(3))
    assert shared(client.open("run 12")) == []
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    written = sa.write("gsheets://new?title=another&share=me@example.org", {"t": np.arange(4)})
    assert written is not None
    assert written.partition("/edit")[0] == client.open("another").url
    assert_same(sa.read(written)["t"], np.arange(4))
    assert shared(client.open("another")) == [("me@example.org", "writer")]


@pytest.mark.parametrize(
    ("query", "title", "people"),
    [
        (
            "title=readings&share=me@example.org&share=you%40example.org",
            "readings",
            ["me@example.org", "you@example.org"],
        ),
        ("share=me@example.org&title=readings", "readings", ["me@example.org"]),
        ("title=t&share=me%2Blab@example.org&share=a+b@example.org", "t", ["me+lab@example.org", "a+b@example.org"]),
        ("title=t&share=me@example.org&share=me@example.org", "t", ["me@example.org"]),
        ("title=run+12", "run 12", []),
        ("title=C%2B%2B", "C++", []),
        ("title=run #3", "run #3", []),
        ("title=why?", "why?", []),
        ("title=a=b", "a=b", []),
        ("title=gr%C3%B6%C3%9Fe/1", "größe/1", []),
        ("title=größe 100%", "größe 100%", []),
        (f"title={quote('R&D {50 %}')}", "R&D {50 %}", []),
        (
            urlencode({"title": "ünï & co", "share": ["me@example.org", "x@y"]}, doseq=True),
            "ünï & co",
            ["me@example.org", "x@y"],
        ),
        (f"title={'x' * 1000}", "x" * 1000, []),
    ],
)
def test_titles_and_addresses_are_taken_as_they_are(
    sheets_server: SheetsServer, query: str, title: str, people: list[str]
) -> None:
    client = sheets_server.client()
    url = sa.write(f"gsheets://new?{query}", ARRAYS, client=client)
    opened = client.open(title)
    assert url is not None
    assert url.startswith(f"{opened.url}/edit#gid=")
    assert shared(opened) == [(address, "writer") for address in people]


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
    with sa.open_writer("gsheets://new?title=Blocks", client=client) as writer:
        writer.extend({"t": np.full(2, number)} for number in range(3))
    assert writer.close() == f"{client.open('Blocks').url}/edit#gid={client.open('Blocks').worksheet('arrays').id}"


def test_convert_makes_a_spreadsheet_and_returns_its_url(sheets_server: SheetsServer, tmp_path: Path) -> None:
    client = sheets_server.client()
    sa.write(tmp_path / "run.csv", ARRAYS)
    url = sa.convert(tmp_path / "run.csv", "gsheets://new?title=run&share=me@example.org", client=client)
    assert url.startswith(f"{client.open('run').url}/edit#gid=")
    assert_same(sa.read(url, client=client)["t"], ARRAYS["t"])
    assert sa.convert(tmp_path / "run.csv", url, client=client) == url
    assert sa.convert(url, tmp_path / "back.csv", client=client) is None
    assert (tmp_path / "back.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()


def test_the_command_line_prints_the_url(
    sheets_server: SheetsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sheets_server.client()
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    monkeypatch.chdir(tmp_path)
    sa.write("run.csv", ARRAYS)
    (tmp_path / "table.csv").write_text("id,x\n007,1.5\n")
    for title, command in {
        "one": ["convert", "run.csv"],
        "two": ["export", "run.csv"],
        "three": ["table", "table.csv", "-o"],
    }.items():
        target = f"gsheets://new?title={title}&share=me@example.org"
        result = run_command(*command, target)
        assert result.exit_code == 0, result.output
        assert result.stdout == f"{client.open(title).url}/edit#gid={client.open(title).worksheets()[-1].id}\n"
        assert "Google Sheets" in result.stderr
        assert shared(client.open(title)) == [("me@example.org", "writer")]
        answer = json.loads(run_command(*command, f"gsheets://new?title={title}-json", "--json").stdout)
        assert answer["url"].startswith(f"{client.open(f'{title}-json').url}/edit#gid=")
        assert answer["target"] == f"gsheets://new?title={title}-json"
    assert json.loads(run_command("convert", "run.csv", "o.json", "--json").stdout)["url"] is None


def test_merge_says_where_the_new_spreadsheet_is(
    sheets_server: SheetsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sheets_server.client()
    for name in ("base", "returned"):
        sa.write(tmp_path / f"{name}.csv", ARRAYS)
    files = [tmp_path / "base.csv", tmp_path / "returned.csv"]
    merged = sa.merge(*files, target="gsheets://new?title=merged", client=client)
    assert (merged.url or "").startswith(f"{client.open('merged').url}/edit#gid=")
    assert sa.merge(*files).url is None
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    result = run_command("merge", *files, "-o", "gsheets://new?title=printed")
    assert f"{client.open('printed').url}/edit#gid=" in result.stdout
    answer = json.loads(run_command("merge", *files, "-o", "gsheets://new?title=json", "--json").stdout)
    assert answer["url"].startswith(client.open("json").url)


def test_a_write_to_a_file_has_no_address(tmp_path: Path) -> None:
    assert sa.write(tmp_path / "t.csv", {"t": np.arange(3)}) is None
    assert sa.write_table(tmp_path / "t.xlsx", {"t": np.arange(3)}) is None
    with sa.open_writer(tmp_path / "t.csv") as writer:
        writer.append({"t": np.arange(3)})
    assert writer.close() is None


# What is refused before anything is made ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "arrays", "message"),
    [
        *((f"gsheets://new{end}", [1.5], "a new spreadsheet is") for end in ("", "?title=", "?title", "/x?title=y")),
        *((f"gsheets://new{end}", [1.5], "a new spreadsheet is") for end in ("#", "#title=x", "?share=me@example.org")),
        *(
            (f"gsheets://new?{end}", [1.5], "title= and share=, not")
            for end in ("", "name=x", "title=R&D", "title=x&", "Title=x")
        ),
        ("gsheets://new?title=x&sheet=y", [1.5], "not 'sheet'"),
        ("gsheets://new?title=x&title=y", [1.5], "a new spreadsheet is"),
        ("gsheets://new?title=%FF", [1.5], "not UTF-8"),
        ("gsheets://new?title=x&share=%FF@x", [1.5], "not UTF-8"),
        *((f"gsheets://new?title={title}", [1.5], "title") for title in ("%20", "x" * 1001, "\ud800")),
        *(
            (f"gsheets://new?title=x&share={share}", [1.5], "no address to share with")
            for share in ("", "me", "a b@c", "@", "a@\ud800", "a@b,c@d", "a@b@c", "me@")
        ),
        ("gsheets://new?title=x&share=me@example.org&share=you", [1.5], "'you' is no address"),
        ("gsheets://new?title=x", ["x" * 50_001], "50,001 characters"),
        ("gsheets://new?title=x", ["\ud800"], "not valid Unicode"),
    ],
)
def test_no_spreadsheet_is_made_for_what_cannot_be_written(
    sheets_server: SheetsServer, target: str, arrays: list[Any], message: str
) -> None:
    for write in (write_gsheet, sa.write, sa.write_table):
        with pytest.raises((sa.NotFoundError, sa.DTypeError, ValueError), match=message):
            write(target, {"t": np.array(arrays)}, client=sheets_server.client())  # type: ignore[operator]
    assert sheets_server.requests == []


@pytest.mark.parametrize(
    "verb", [sa.read, sa.scan, sa.read_columns, lambda place, **more: list(sa.check(place, **more))]
)
def test_only_a_write_makes_a_spreadsheet(sheets_server: SheetsServer, verb: Any) -> None:
    with pytest.raises(sa.NotFoundError, match="only a write makes a spreadsheet"):
        verb("gsheets://new?title=x", client=sheets_server.client())
    assert sheets_server.requests == []


# What fails after it was made ---------------------------------------------------------------------------------


@pytest.mark.fault("The answer to a request for a new spreadsheet is lost.", "There is no second spreadsheet.")
@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("fault", [{"status": "reset-after"}, {"status": 503}, {"status": "empty", "applied": True}])
def test_a_lost_answer_makes_no_second_spreadsheet(sheets_server: SheetsServer, fault: Any) -> None:
    sheets_server.faults.append(Fault(**fault))
    with pytest.raises(RemoteError, match="may have been made"):
        write_gsheet("gsheets://new?title=once", ARRAYS, client=sheets_server.client())
    assert len(sheets_server.requests) == 1
    sheets_server.faults.append(Fault("quota", times=2))
    write_gsheet("gsheets://new?title=twice", ARRAYS, client=sheets_server.client())
    assert len(sheets_server.client().openall("twice")) == 1


@pytest.mark.parametrize("status", [403, 500])
@pytest.mark.usefixtures("pauses")
@pytest.mark.fault(
    "Google makes a spreadsheet, and then refuses the write.", "The error names the new spreadsheet by its URL."
)
def test_a_write_that_fails_names_the_new_spreadsheet(
    sheets_server: SheetsServer, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sheets_server.client()
    sheets_server.faults.append(Fault(status, path="batchUpdate", times=None))
    with pytest.raises(RemoteError) as caught:
        sa.write("gsheets://new?title=alone&share=me@example.org", ARRAYS, client=client)
    url = client.open("alone").url
    assert f"the new spreadsheet {url} was made all the same" in str(caught.value)
    assert shared(client.open("alone")) == []
    sa.write(tmp_path / "run.csv", ARRAYS)
    monkeypatch.setenv(ENDPOINT, sheets_server.url)
    result = run_command("convert", tmp_path / "run.csv", "gsheets://new?title=lonely")
    assert (result.exit_code, result.stdout) == (2, "")
    assert client.open("lonely").url in result.stderr


def test_an_interruption_names_the_new_spreadsheet(sheets_server: SheetsServer) -> None:
    def interrupt(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        pytest.warns(sa.SheetArrayWarning, match=f"the new spreadsheet {SERVICE}.* was made all the same"),
    ):
        sa.write("gsheets://new?title=broken off", ARRAYS, client=sheets_server.client(), progress=interrupt)
    assert len(sheets_server.client().openall("broken off")) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_a_spreadsheet_that_cannot_be_shared_is_named(sheets_server: SheetsServer, first: int) -> None:
    """The arrays stand in it all the same, as where the credentials have no scope of Drive."""
    sheets_server.faults.append(Fault(403, path="permissions", times=None, after=first))
    client = sheets_server.client()
    people = ["me@example.org", "you@example.org", "her@example.org"]
    with pytest.raises(RemoteError) as caught:
        sa.write(f"gsheets://new?title=alone&{urlencode({'share': people}, doseq=True)}", ARRAYS, client=client)
    opened = client.open("alone")
    assert f"{opened.url} was made and written, and could not be shared with " in str(caught.value)
    assert f"shared with {', '.join(people[first:])}:" in str(caught.value)
    assert "drive.file" in (caught.value.hint or "")
    assert caught.value.status == 403
    assert_same(sa.read(opened)["t"], ARRAYS["t"])
    sheets_server.faults.clear()
    assert [address for address, _ in shared(opened)] == people[:first]
