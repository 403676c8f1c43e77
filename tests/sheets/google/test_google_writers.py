"""Many writers and readers of one spreadsheet, some of them killed: a reader gets old arrays, new ones or an error."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from examples import cross, examples
from killed_writer import NEW, STAGED, killed_at, write_when_told
from services import at_each_request, dump, leave_stage, meanwhile

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import FormatError, LimitError, NotFoundError
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

OLD = {"t": np.full(400, 1.0), "other": np.array(["stays", ""])}


def settled(setting: str) -> tuple[SheetsServer, str]:
    """A spreadsheet without arrays, or with arrays."""
    server = SheetsServer()
    key = server.create(sheets=[("Sheet1", 5, 1)])
    if not setting.startswith("new worksheet"):
        write_gsheet(key, OLD, client=server.client())
    server.requests.clear()
    return server, key


def seen(server: SheetsServer, key: str) -> str:
    """What a reader gets: "old", "new", "none" or "error"; anything else fails."""
    try:
        result = read_gsheet(key, sheet="arrays", client=server.client())
    except NotFoundError:
        return "none"
    except FormatError:
        return "error"
    value = float(result["t"][0])
    assert_same(result["t"], {1.0: OLD, 2.0: NEW}[value]["t"])
    assert ("fresh" in result) == (value == 2.0)
    if "other" in result:
        assert_same(result["other"], OLD["other"])
    return "old" if value == 1.0 else "new"


SETTINGS = {
    "new worksheet": {"none", "new"},
    "arrays there": {"old", "new"},
    "new worksheet, staged": {"none", "new"},
    "arrays there, staged": {"old", "new"},
}
AT_ONCE = list(SETTINGS)[:2]


@pytest.mark.parametrize("setting", SETTINGS)
def test_at_every_moment_of_a_write_a_reader_gets_all_or_nothing_of_it(
    setting: str, request: pytest.FixtureRequest
) -> None:
    if setting not in AT_ONCE:
        request.getfixturevalue("staged")
    server, key = settled(setting)
    outcomes: list[str] = []
    with at_each_request(server, lambda: outcomes.append(seen(server, key))):
        write_gsheet(key, NEW, client=server.client())
    assert len(outcomes) >= (2 if setting in AT_ONCE else 6)
    assert seen(server, key) == "new"
    assert set(outcomes) | {"new"} == SETTINGS[setting]
    order = [outcome for index, outcome in enumerate(outcomes) if index == 0 or outcomes[index - 1] != outcome]
    assert len(order) == len(set(order))
    sent = b"".join(record.received for record in server.requests)
    assert (b"updateCells" in sent) == (setting in AT_ONCE)
    assert (b"copyPaste" in sent) == (setting == "arrays there, staged")
    server.close()


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("missing", [0, 1, 317])
def test_a_write_without_room_for_a_stage_is_refused_and_says_how_many_cells_are_missing(missing: int) -> None:
    rows = 419
    with SheetsServer(cells=5 + 2 * rows - missing) as server:  # Sheet1, the worksheet and the stage beside it
        key = server.create(sheets=[("Sheet1", 5, 1)])
        write_gsheet(key, {"t": np.full(400, 1.0)}, client=server.client())  # its stage becomes the worksheet
        before = dump(server, key)
        assert before["sheets"]["arrays"]["size"] == (rows, 1)
        server.requests.clear()
        if not missing:
            write_gsheet(key, {"t": np.full(400, 2.0)}, client=server.client())
            assert_same(read_gsheet(key, client=server.client())["t"], np.full(400, 2.0))
            return
        with pytest.raises(LimitError, match=rf"\b{missing} cells are missing"):
            write_gsheet(key, {"t": np.full(400, 2.0)}, client=server.client())
        assert dump(server, key) == before
        assert not any(record.writes and record.status == 200 for record in server.requests)


# Killed ------------------------------------------------------------------------------------------------------


# A writer that dies while it reads leaves what one leaves that dies before its next request that writes; and one whose
# request is applied leaves what one leaves whose next request is not.
@pytest.mark.fault("A writer is killed at any request.", "Readers get the old arrays or the new ones.")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "before"), [*((setting, True) for setting in SETTINGS), ("arrays there, staged", False)]
)
def test_a_killed_writer_leaves_the_old_arrays_or_the_new_ones(processes: Any, setting: str, before: bool) -> None:
    outcomes = []
    for index in range(100):
        server, key = settled(setting)
        reached = killed_at(processes, server, index, write_when_told, key, before=before, direct=setting in AT_ONCE)
        outcomes.append(seen(server, key))
        if reached:
            write_gsheet(key, NEW, client=server.client())
        assert seen(server, key) == "new"
        assert [title for title in dump(server, key)["sheets"] if title.startswith("sheetarray")] == []
        server.close()
        if not reached:
            break
    assert len(outcomes) >= (2 if setting in AT_ONCE else 4)
    assert outcomes[-1] == "new"
    assert set(outcomes) == SETTINGS[setting]


# Left behind -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def this_machine(server: SheetsServer) -> str:
    """What stages call the machine that these tests run on: a digest, as the title of one shows it."""
    server.requests.clear()
    write_gsheet(server.create(), STAGED, client=server.client())
    sent = b"".join(record.received for record in server.requests)
    found = re.search(rb"sheetarray write \w+ by ([0-9a-f]{8})-", sent)
    assert found is not None
    return found[1].decode()


@pytest.mark.fault("A writer that died left a stage.", "The next write removes it.")
@pytest.mark.parametrize(
    ("ago", "here", "process", "stays"),
    [
        (7260, False, 1, False),
        (60, False, 1, True),
        (60, True, 2**22 + 17, False),
        (60, True, 1, True),
        (60, True, 0, False),
    ],
    ids=["old", "young, on another machine", "of a dead process", "of a living process", "of this process, finished"],
)
def test_what_an_interrupted_write_has_left_is_removed_by_the_next_one(
    server: SheetsServer, this_machine: str, ago: float, here: bool, process: int, stays: bool
) -> None:
    key = server.create()
    process = process or os.getpid()
    title = leave_stage(server, key, ago, machine=this_machine if here else "00000000", process=process)
    write_gsheet(key, NEW, client=server.client())
    result = dump(server, key)
    assert (title in result["sheets"]) == stays
    assert ("sheetarray_77" in result["ranges"]) == stays
    assert list(read_gsheet(key, client=server.client())) == ["t", "fresh"]


def test_cells_of_what_is_left_behind_count_as_room() -> None:
    with SheetsServer(cells=30_000) as server:
        key = server.create(sheets=[("Sheet1", 5, 1)])
        leave_stage(server, key, 7260)
        assert server.snapshot(key).cells == 26_005
        write_gsheet(key, {"t": np.arange(5000)}, client=server.client())
        assert_same(read_gsheet(key, client=server.client())["t"], np.arange(5000))


@pytest.mark.usefixtures("staged")
def test_a_writer_whose_stage_was_taken_for_dead_makes_another_one(server: SheetsServer) -> None:
    key = server.create()
    removed = []

    def remove(record: Any) -> None:
        if record.method == "GET" and "values" in record.path and len(removed) < 2:
            stage = next(sheet for sheet in server.snapshot(key).sheets if sheet.title.startswith("sheetarray"))
            removed.append(stage.title)
            server.client().http_client.batch_update(key, {"requests": [{"deleteSheet": {"sheetId": stage.id}}]})

    server.on_request = remove
    write_gsheet(key, NEW, client=server.client())
    server.on_request = None
    assert len(removed) == 2
    assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]
    assert_same(read_gsheet(key, client=server.client())["t"], NEW["t"])


# Side by side ------------------------------------------------------------------------------------------------


def _race(server: SheetsServer, key: str, rounds: int, writers: int, sizes: Callable[[int, int], int]) -> list[str]:
    """Writers that fill arrays with one number each, readers that look for two; what went wrong."""
    wrong: list[str] = []
    running = threading.Event()
    running.set()

    def write(who: int) -> None:
        client = server.client()
        for turn in range(rounds):
            number = float(who * 1000 + turn + 1)
            arrays = {"a": np.full(sizes(who, turn), number), "b": np.full(3, number), f"own{who}": np.full(2, number)}
            try:
                write_gsheet(key, arrays, client=client)
            except Exception as error:
                wrong.append(f"writer {who}: {error!r}")

    def read() -> None:
        client = server.client()
        while running.is_set():
            with suppress(NotFoundError):
                try:
                    result = read_gsheet(key, sheet="arrays", client=client)
                except FormatError as error:
                    if not any(word in str(error) for word in ("changed whenever", "no array")):
                        wrong.append(f"reader: {error!r}")
                    continue
                numbers = set(result["a"].tolist()) | set(result["b"].tolist())
                if len(numbers) != 1:
                    wrong.append(f"a mixture: {sorted(numbers)}")
                for name, array in result.items():
                    if len(set(array.tolist())) != 1:
                        wrong.append(f"a mixture in {name}: {array.tolist()}")

    readers = [threading.Thread(target=read) for _ in range(2)]
    threads = [threading.Thread(target=write, args=(who,)) for who in range(writers)]
    for thread in (*readers, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    running.clear()
    for thread in readers:
        thread.join()
    return wrong


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses a hundred times as short."""
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds / 100))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("way", "who"),
    cross(("at once", "staged"), ("2, new worksheet", "4, new worksheet", "2, empty worksheet", "4, empty worksheet")),
    indirect=["way"],
)
def test_writers_at_once_never_mix(way: str, who: str) -> None:
    writers = int(who[0])
    with SheetsServer() as server:
        key = server.create(sheets=[("Sheet1", 1, 1), *([("arrays", 1, 1)] if "empty" in who else [])])
        wrong = _race(server, key, examples(18), writers, lambda who, turn: 3 + (7 * who + 13 * turn) % 90)
        assert wrong == []
        result = read_gsheet(key, client=server.client())
        assert {"a", "b", *(f"own{who}" for who in range(writers))} == set(result)
        assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]


def write(server: SheetsServer, key: str, **lengths: int) -> None:
    write_gsheet(key, {name: np.arange(float(length)) for name, length in lengths.items()}, client=server.client())


def lengths_of(server: SheetsServer, key: str) -> dict[str, int]:
    return {name: len(array) for name, array in read_gsheet(key, client=server.client()).items()}


@pytest.mark.usefixtures("staged")
def test_of_two_commits_that_have_seen_the_same_generation_one_plans_again(server: SheetsServer) -> None:
    key = server.create()
    write(server, key, a=3)
    with meanwhile(server, lambda record: b"copyPaste" in record.received, lambda: write(server, key, b=4, a=5)):
        write(server, key, c=6, a=2)
    refused = [json.loads(record.sent)["error"]["message"] for record in server.requests if record.status == 400]
    assert len(refused) == 1
    assert "updateNamedRange" in refused[0]
    assert lengths_of(server, key) == {"a": 2, "b": 4, "c": 6}
    assert list(dump(server, key)["ranges"]) != []


def test_a_worksheet_that_another_writer_makes_first_is_written_into(server: SheetsServer) -> None:
    key = server.create()
    with meanwhile(server, lambda record: b'"title":"arrays"' in record.received, lambda: write(server, key, b=4)):
        write(server, key, a=6)
    assert lengths_of(server, key) == {"b": 4, "a": 6}
    assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]


@pytest.mark.usefixtures("staged")
def test_a_worksheet_that_somebody_deletes_meanwhile_is_made_again(server: SheetsServer) -> None:
    key = server.create()
    write(server, key, t=3, other=2)

    def delete() -> None:
        book = server.client().open_by_key(key)
        book.del_worksheet(book.worksheet("arrays"))

    with meanwhile(server, lambda record: b"copyPaste" in record.received, delete):
        write(server, key, t=5, fresh=2)
    assert lengths_of(server, key) == {"t": 5, "fresh": 2}


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """Leave no thread but those of the service, one for each connection that a client has still open."""
    before = set(threading.enumerate())
    yield
    left = [thread.name for thread in set(threading.enumerate()) - before if "process_request" not in thread.name]
    assert len(left) <= 1, left


# What dead writers leave in a spreadsheet ---------------------------------------------------------------------

GIVEN_UP_AFTER = 7200  # seconds


def delete_hidden(server: SheetsServer, key: str) -> None:
    """Delete the hidden sheets, as somebody does in the browser."""
    opened = server.client().open_by_key(key)
    for sheet in opened.worksheets(exclude_hidden=False):
        if sheet.isSheetHidden:
            opened.del_worksheet(sheet)


def test_a_stage_is_a_finding_that_says_whose_it_is_and_what_to_do(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    write_gsheet(key, OLD, client=client)
    ages = {
        GIVEN_UP_AFTER + 900: "began 2.2 hours ago and is dead",
        GIVEN_UP_AFTER + 30: "began 2.0 hours ago and is dead",
        GIVEN_UP_AFTER - 30: "has been writing for 2.0 hours",
        600: "has been writing for 10 minutes",
        62: "has been writing for 1 minute",
    }
    left = [leave_stage(server, key, ago, gid=77 + number, process=number) for number, ago in enumerate(ages)]
    findings = list(sa.check(key, client=client, format="gsheet"))
    assert [(finding.severity, finding.location) for finding in findings] == [("warning", title) for title in left]
    for number, (finding, said) in enumerate(zip(findings, ages.values(), strict=True)):
        assert finding.message.endswith(f"process {number} on another machine (00000000) {said}")
        assert ("the next write removes it" if said.endswith("dead") else "delete this sheet") in finding.hint
    write_gsheet(key, {"more": np.arange(3)}, client=client)
    assert [finding.location for finding in sa.check(key, client=client, format="gsheet")] == left[2:]
    delete_hidden(server, key)
    assert list(dump(server, key)["sheets"]) == ["Sheet1", "arrays"]
    assert list(sa.check(key, client=client, format="gsheet")) == []


def test_a_write_says_which_stage_leaves_it_no_room(way: str) -> None:
    with SheetsServer(cells=30_000) as server:
        key = server.create(sheets=[("Sheet1", 5, 1)])
        leave_stage(server, key, 60, process=5)
        if way == "staged":
            write(server, key, t=2_100)
        with pytest.raises(sa.LimitError, match="process 5 on another machine") as caught:
            write(server, key, t=2_100 if way == "staged" else 5_000)
        assert "delete this sheet in the browser" in str(caught.value)
        assert "cells" in str(caught.value)
        delete_hidden(server, key)
        write(server, key, t=5_000)
