"""Which spreadsheet and which worksheet an address means, and what is refused before anything is sent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from services import ENDPOINT, Book

import sheetarray as sa
from sheetarray import read_gsheet
from sheets_emulator import SheetsServer

KEY = "1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcde"
WEB = "https://docs.google.com/spreadsheets"
TITLES = ["first", "given", "run 1", "a/b", "run #1", "why?", 'Bob\'s "größe"', "größe 100%"]


@pytest.fixture(scope="module")
def book(server: SheetsServer) -> Book:
    """A spreadsheet in which each worksheet has an array of its title."""
    book = Book(server, [(title, 30, 2) for title in TITLES])
    for title in TITLES:
        book.put(title, "A1", [[cell] for cell in (title, *sa.to_linear([1.5]))], raw=True)
    return book


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"{WEB}/d/KEY", None),
        (f"{WEB}/d/KEY/edit", None),
        (f"{WEB}/d/KEY/edit#gid=0", "first"),
        (f"{WEB}/d/KEY/edit?gid=GID#gid=GID", "run 1"),
        (f"{WEB}/d/KEY/edit?gid=GID", "run 1"),
        (f"{WEB}/d/KEY/edit?usp=sharing", None),
        (f"{WEB}/d/KEY/edit#gid=GID&range=A1:B2", "run 1"),
        (f"{WEB}/u/1/d/KEY/htmlview", None),
        ("https://docs.google.com/a/example.org/spreadsheets/d/KEY/edit", None),
        ("https://spreadsheets.google.com/ccc?key=KEY#gid=GID", "run 1"),
        ("gsheets://KEY", None),
        ("gsheets://KEY/", None),
        ("gsheets://KEY/run 1", "run 1"),
        ("gsheets://KEY/a%2Fb", "a/b"),
        ("gsheets://KEY/a/b", "a/b"),
        ("gsheets://KEY/run #1", "run #1"),
        ("gsheets://KEY/run%20%231", "run #1"),
        ("gsheets://KEY/why?", "why?"),
        ('gsheets://KEY/Bob\'s "größe"', 'Bob\'s "größe"'),
        ("gsheets://KEY/gr%C3%B6%C3%9Fe 100%", "größe 100%"),
        ("gsheets://KEY#gid=GID", "run 1"),
        ("gsheets://KEY?gid=GID", "run 1"),
        ("gsheets://KEY/?gid=GID", "run 1"),
        ("KEY", None),
    ],
)
def test_addresses_are_understood(book: Book, text: str, title: str | None) -> None:
    address = text.replace("KEY", book.key).replace("GID", str(book.sheet("run 1").id))
    assert list(read_gsheet(address, client=book.client)) == (TITLES if title is None else [title])
    sheet = title or "given"
    assert list(read_gsheet(address, sheet=sheet, client=book.client)) == [sheet]
    if title is not None:
        for verb in (read_gsheet, lambda *args, **more: sa.write_gsheet(*args, {"x": [1]}, **more)):
            with pytest.raises(sa.NotFoundError, match="sheet='given' another"):
                verb(address, sheet="given", client=book.client)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, r"Google Sheets|published") for text in ("", "x", "run.csv", "gsheets://", "gsheets://short/x")),
        ("https://example.org/spreadsheets", "Google Sheets"),
        ("gsheets:///arrays", "Google Sheets"),
        (f"https://example.org/?key={KEY}", "Google Sheets"),
        (f"{WEB}/", "Google Sheets"),
        ("https://docs.google.com/document/d/x", "Google Sheets"),
        (f"{WEB}/d/e/2PACX-1vSomething/pubhtml", "published"),
        (f"{KEY}/../x", "Google Sheets"),
        (f"{KEY}?x", "Google Sheets"),
        (f"gsheets://{KEY}:x", "Google Sheets"),
        (f"gsheets://{KEY}#x", "Google Sheets"),
        ("https://[::1/x", "Google Sheets"),
        (f"{WEB}/d/{KEY}/edit#gid=x", "no worksheet has the id 'x'"),  # and no other worksheet is taken instead
        (f"{WEB}/d/{KEY}/edit?gid=-1", "no worksheet has the id '-1'"),
        (f"gsheets://{KEY}#gid=99999999999", "no worksheet has the id '99999999999'"),
        (f"gsheets://{KEY}/x#gid=5", "two worksheets"),
        (f"gsheets://{KEY}/a%FFb", "not UTF-8"),
        (f"gsheets://{KEY}/%20", "not 0"),
        (f"gsheets://{KEY}/{'x' * 101}", "not 101"),
        (f"gsheets://{KEY}/\ud800", "valid Unicode"),
    ],
)
def test_other_text_is_refused_and_nothing_is_sent(book: Book, text: str, message: str) -> None:
    book.server.requests.clear()
    for verb in (read_gsheet, lambda *args, **more: sa.write_gsheet(*args, {"x": [1]}, **more)):
        with pytest.raises((sa.NotFoundError, sa.LimitError), match=message):
            verb(text, client=book.client)  # type: ignore[operator]
    assert not book.server.requests


@pytest.mark.parametrize("thing", [None, 5, Path("run.csv"), object(), b"x", {"key": KEY}])
def test_other_things_are_a_type_error(thing: Any) -> None:
    with pytest.raises(TypeError, match="gspread"):
        read_gsheet(thing)


# The command line on Google Sheets ----------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[3] / "sample_sheets"


def run(server: SheetsServer, *arguments: str, status: int = 0) -> str:
    command = [sys.executable, "-W", "error", "-m", "sheetarray", *arguments]
    environment = {ENDPOINT: server.url, "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def run_here(*arguments: str, status: int = 0) -> str:
    """Run a command in this process, which need not start."""
    done = run_command(*arguments)
    assert done.exit_code == status, done.output
    return done.output


def test_a_grid_of_elevations_goes_there_and_comes_back_byte_for_byte(server: SheetsServer, tmp_path: Path) -> None:
    url = f"https://docs.google.com/spreadsheets/d/{server.create()}/edit"
    grid, back = tmp_path / "elevation.csv", tmp_path / "back.csv"
    sa.write(grid, {"elevation": sa.read(SAMPLES / "elevation.csv")["elevation"][-12:, -15:]})
    assert "180 elements (Google Sheets)" in run(server, "convert", str(grid), url, "--views")
    (result,) = json.loads(run(server, "info", "--json", url))["arrays"]
    assert (result["name"], result["dtype"], result["shape"]) == ("elevation", "int16", [12, 15])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENDPOINT, server.url)
        assert "ok (1 array)" in run_here("check", url)
        assert "no differences" in run_here("diff", str(grid), url)
        assert run_here("show", url, "elevation", "--slice", "0,0").split()[-1] == "331"
        run_here("convert", url, str(back))
        assert back.read_bytes() == grid.read_bytes()
        run_here("convert", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")
        assert "no differences" in run_here("diff", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")


def test_what_goes_wrong_is_said_in_a_line_or_two(server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    key = server.create()
    absent = run(server, "info", f"gsheets://1{'x' * 40}", status=2)
    assert "no spreadsheet" in absent
    monkeypatch.setenv(ENDPOINT, server.url)
    assert "'Sheet1'" in run_here("info", f"gsheets://{key}/nope", status=2)
    assert len(absent.splitlines()) <= 2
    server.forbid(key)
    assert "share it" in run_here("info", f"gsheets://{key}", status=2)
