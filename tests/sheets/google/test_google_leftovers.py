"""What dead writers leave in a spreadsheet: who they were, how old it is, and how it is removed."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from command_line import run_command
from limits import set_limits
from services import ENDPOINT, dump, leave_stage

import sheetarray as sa
from sheetarray import write_gsheet
from sheets_emulator import SheetsServer

clean = sa.registry.FORMATS["gsheet"].function("clean")
OLD = {"t": np.full(400, 1.0), "other": np.array(["stays", ""])}


GIVEN_UP_AFTER = 7200  # seconds


def test_a_stage_is_a_finding_that_says_whose_it_is_and_what_to_do(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    write_gsheet(key, OLD, client=client)
    assert list(sa.check(key, client=client, format="gsheet")) == []
    dead = leave_stage(server, key, GIVEN_UP_AFTER + 900, process=5)
    living = leave_stage(server, key, 600, gid=78, process=6)
    first, second = sa.check(key, client=client, format="gsheet")
    assert (first.severity, first.location, second.location) == ("warning", dead, living)
    assert "process 5 on another machine (00000000) began 2.2 hours ago and is dead" in first.message
    assert "gsheets clean URL" in first.hint
    assert "process 6 on another machine (00000000) has been writing for 10 minutes" in second.message
    assert "clean --all" in second.hint
    assert [left.location for left in clean(key, client=client)] == [dead]
    assert [left.location for left in clean(key, everything=True, client=client)] == [living]
    assert clean(key, everything=True, client=client) == []
    assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]
    assert list(sa.check(key, client=client, format="gsheet")) == []


@pytest.mark.parametrize("staged", [False, True])
def test_a_write_says_which_stage_leaves_it_no_room(staged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with SheetsServer(cells=30_000) as server:
        key = server.create(sheets=[("Sheet1", 5, 1)])
        leave_stage(server, key, 60, process=5)
        if staged:
            write_gsheet(key, {"t": np.arange(2_100)}, client=server.client())
            set_limits(monkeypatch, google_batch=0)
        with pytest.raises(sa.LimitError, match="process 5 on another machine") as caught:
            write_gsheet(key, {"t": np.arange(2_100 if staged else 5_000)}, client=server.client())
        assert "clean --all" in str(caught.value)
        assert "cells" in str(caught.value)
        clean(key, everything=True, client=server.client())
        write_gsheet(key, {"t": np.arange(5_000)}, client=server.client())


def test_the_command_line_cleans_as_its_hints_say(server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"gsheets://{server.create()}"
    key = url.removeprefix("gsheets://")
    monkeypatch.setenv(ENDPOINT, server.url)
    sa.write_gsheet(key, OLD, client=server.client())
    for number, since in ((77, GIVEN_UP_AFTER + 900), (78, 600)):
        leave_stage(server, key, since, gid=number, process=number)
        said = run_command("check", url)
        named = re.search(r"sheetarray (gsheets clean(?: --all)?) URL", said.output)
        assert named is not None, said.output
        result = run_command(*named[1].split(), url)
        assert (result.exit_code, result.output.splitlines()[-1]) == (0, "1 hidden sheet removed")
        assert f"process {number}" in result.output
    assert run_command("check", url).exit_code == 0
    result = run_command("gsheets", "clean", url)
    assert (result.exit_code, result.output) == (0, "nothing to be removed\n")
    stage = leave_stage(server, key, 60, process=77)
    (removed,) = json.loads(run_command("gsheets", "clean", "--all", "--json", url).output)["removed"]
    assert removed["sheet"] == stage
    result = run_command("gsheets", "clean", "gsheets://x")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (62, "has been writing for 1 minute"),
        (GIVEN_UP_AFTER - 30, "has been writing for 2.0 hours"),
        (GIVEN_UP_AFTER + 30, "began 2.0 hours ago and is dead"),
    ],
)
def test_a_writer_is_described(server: SheetsServer, ago: float, text: str) -> None:
    key, client = server.create(), server.client()
    write_gsheet(key, OLD, client=client)
    leave_stage(server, key, ago, process=3)
    (finding,) = sa.check(key, client=client, format="gsheet")
    assert text in finding.message
    assert not finding.message.endswith("minutes")
