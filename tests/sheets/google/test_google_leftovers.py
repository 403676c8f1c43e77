"""What dead writers leave in a spreadsheet: who they were, how old it is, and how to take over."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from cases import assert_same
from click.testing import CliRunner
from spreadsheets import ENDPOINT, dump

from sheetarray.cli import main
from sheetarray.errors import FormatError, RemoteError
from sheetarray.sheets.google import check_gsheet, clean_gsheet, read_gsheet, unlock_gsheet, write_gsheet
from sheetarray.sheets.google.holder import GIVEN_UP_AFTER, Holder
from sheets_emulator import Fault, SheetsServer

OLD = {"t": np.full(400, 1.0), "other": np.array(["stays", ""])}
NEW = {"t": np.full(300, 2.0)}


def add_stage(server: SheetsServer, key: str, gid: int, holder: Holder) -> str:
    title = f"sheetarray write {holder} 1"
    requests = [
        {"addSheet": {"properties": {"sheetId": gid, "title": title, "hidden": True}}},
        {"addNamedRange": {"namedRange": {"name": f"sheetarray_{gid}", "range": {"sheetId": gid}}}},
    ]
    server.client().http_client.batch_update(key, {"requests": requests})
    return title


def age(server: SheetsServer, key: str, holder: Holder) -> None:
    """Have the arrays of a spreadsheet be written in place by somebody, for so long already."""
    client = server.client()
    server.faults.append(Fault(400, path=":batchUpdate", after=2, times=None))
    with pytest.raises(RemoteError):
        write_gsheet(key, NEW, client=client)
    server.faults.clear()
    column = [row[0] if row else None for row in server.cells(key, "arrays")]
    at = next(index for index, cell in enumerate(column) if "not whole" in str(cell))
    text = str(column[at]).split("since ")[0] + f"since {holder}"
    client.open_by_key(key).worksheet("arrays").update([[text]], f"A{at + 1}", raw=True)


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server, and a spreadsheet that somebody on another machine writes to, for half an hour already."""
    monkeypatch.setattr("sheetarray.sheets.google.body.MOST_DIRECT_BYTES", 0)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with SheetsServer(cells=1100) as server:
        key = server.create(sheets=[("Sheet1", 5, 1)])
        write_gsheet(key, OLD, client=server.client())
        age(server, key, Holder(time.time() - 1800, machine="00000000", process=77))
        yield server, key


def test_a_stage_is_a_finding_that_says_whose_it_is_and_what_to_do(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    write_gsheet(key, OLD, client=client)
    assert list(check_gsheet(key, client=client)) == []
    dead = add_stage(server, key, 77, Holder(time.time() - GIVEN_UP_AFTER - 900, machine="00000000", process=5))
    living = add_stage(server, key, 78, Holder(time.time() - 600, machine="00000000", process=6))
    first, second = check_gsheet(key, client=client)
    assert (first.severity, first.location, second.location) == ("warning", dead, living)
    assert "process 5 on another machine (00000000) began 2.2 hours ago and is dead" in first.message
    assert "gsheets clean URL" in first.hint
    assert "process 6 on another machine (00000000) has been writing for 10 minutes" in second.message
    assert "clean --all" in second.hint
    assert [left.location for left in clean_gsheet(key, client=client)] == [dead]
    assert [left.location for left in clean_gsheet(key, everything=True, client=client)] == [living]
    assert clean_gsheet(key, everything=True, client=client) == []
    assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]
    assert list(check_gsheet(key, client=client)) == []


def test_the_stage_of_a_writer_that_may_be_alive_costs_two_minutes_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with SheetsServer(cells=30_000) as server:
        key = server.create(sheets=[("Sheet1", 5, 1)])
        add_stage(server, key, 77, Holder(time.time() - 60, machine="00000000", process=5))
        with pytest.raises(RemoteError, match="process 5 on another machine") as caught:
            write_gsheet(key, {"t": np.arange(5000)}, client=server.client())
        assert "clean --all" in str(caught.value)
        assert 30 <= sum(pauses) <= 120


def test_who_writes_in_place_is_named_with_its_age_and_what_to_do(locked: Any) -> None:
    server, key = locked
    for verb in (read_gsheet, lambda *args, **more: write_gsheet(*args, NEW, **more)):
        with pytest.raises((FormatError, RemoteError), match=r"process 77 on another machine .* 30 minutes") as caught:
            verb(key, client=server.client())  # type: ignore[operator]
        assert "gsheets unlock URL" in str(caught.value)
    (finding,) = check_gsheet(key, client=server.client())
    assert "process 77" in finding.message
    assert "unlock" in finding.hint


def test_a_worksheet_is_taken_over_from_a_writer_that_is_dead(locked: Any) -> None:
    server, key = locked
    generation = [named for named in server.snapshot(key).named.values() if named.name.startswith("sheetarray_")]
    (left,) = unlock_gsheet(key, client=server.client())
    assert left.location.startswith("arrays!A")
    assert "process 77" in left.message
    after = [named for named in server.snapshot(key).named.values() if named.name.startswith("sheetarray_")]
    assert {named.name for named in after} == {named.name for named in generation}
    assert not {named.id for named in after} & {named.id for named in generation}  # what it still sends is refused
    write_gsheet(key, NEW, client=server.client())
    assert_same(read_gsheet(key, client=server.client())["t"], NEW["t"])
    assert unlock_gsheet(f"gsheets://{key}/arrays", client=server.client()) == []


def test_the_command_line_cleans_and_unlocks(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server, key = locked
    monkeypatch.setenv(ENDPOINT, server.url)
    result = CliRunner().invoke(main, ["gsheets", "unlock", f"gsheets://{key}"])
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "1 array unlocked")
    assert "process 77" in result.output
    result = CliRunner().invoke(main, ["gsheets", "clean", f"gsheets://{key}"])
    assert (result.exit_code, result.output) == (0, "nothing to be removed\n")
    result = CliRunner().invoke(main, ["gsheets", "clean", "gsheets://x"])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("holder", "seconds", "text"),
    [
        (Holder(0.0, machine="a" * 8, process=3), 500.0, "process 3 has stopped writing"),
        (Holder(100.0, machine="a" * 8, process=3), 159.0, "for 1 minute"),
        (Holder(100.0, machine="a" * 8, process=3), 100.0 + GIVEN_UP_AFTER, "has been writing for 2.0 hours"),
        (Holder(100.0, machine="a" * 8, process=3), 101.0 + GIVEN_UP_AFTER, "2.0 hours ago and is dead"),
    ],
)
def test_a_holder_is_described(holder: Holder, seconds: float, text: str) -> None:
    assert text in holder.describe(seconds)
