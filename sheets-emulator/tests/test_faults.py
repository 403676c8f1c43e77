"""The Google Sheets emulator fails on purpose: which requests, how often, and what is applied all the same."""

from __future__ import annotations

import http.client
import socket
import threading
from typing import Any

import pytest
import requests
from sheets_asking import GIVEN_UP_AFTER, Sheets, ask, message, until

from sheets_emulator import Fault, Record, SheetsServer


@pytest.fixture
def server(sheets_server: SheetsServer) -> SheetsServer:
    return sheets_server


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server)


def write(sheets: Sheets, value: Any) -> tuple[int, Any]:
    return sheets.put_raw("S!A1", {"values": [[value]]}, valueInputOption="RAW")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (500, "INTERNAL"),
        (502, "UNAVAILABLE"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
        (403, "PERMISSION_DENIED"),
    ],
)
def test_an_error_is_answered_so_often_and_nothing_is_applied(
    server: SheetsServer, sheets: Sheets, code: int, status: str
) -> None:
    server.faults.append(Fault(code, times=2))
    for _ in range(2):
        answered, answer = write(sheets, "lost")
        assert (answered, answer["error"]["code"], answer["error"]["status"]) == (code, code, status)
    assert sheets.cells() == []
    assert write(sheets, "kept")[0] == 200


def test_an_error_may_hide_that_the_request_was_applied(server: SheetsServer, sheets: Sheets) -> None:
    server.faults.append(Fault(503, applied=True))
    message(write(sheets, "applied"), 503)
    assert sheets.cells() == [["applied"]]


@pytest.mark.parametrize("status", [429, "quota"])
def test_a_quota_may_seem_used_up(server: SheetsServer, sheets: Sheets, status: int | str) -> None:
    server.faults.append(Fault(status, retry_after=7))
    answer = requests.get(f"{server.url}/v4/spreadsheets/{sheets.key}", timeout=GIVEN_UP_AFTER)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    assert answer.json()["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert "Read requests" in answer.json()["error"]["message"]
    server.faults.append(Fault(status))
    answer = requests.put(f"{server.url}/v4/spreadsheets/{sheets.key}/values/S", json={}, timeout=GIVEN_UP_AFTER)
    assert "Retry-After" not in answer.headers
    assert "Write requests" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("status", "cells"), [("reset-before", []), ("reset-after", [["x"]])])
def test_a_connection_is_reset_before_or_after_the_request_is_applied(
    server: SheetsServer, sheets: Sheets, status: str, cells: Any
) -> None:
    server.faults.append(Fault(status))
    with pytest.raises(ConnectionResetError):
        write(sheets, "x")
    assert sheets.cells() == cells
    assert server.requests[-1].status == 0
    assert write(sheets, "y")[0] == 200


def test_an_answer_is_cut_short(server: SheetsServer, sheets: Sheets) -> None:
    server.faults.append(Fault("truncated"))
    with pytest.raises(http.client.IncompleteRead):
        write(sheets, "x")
    assert sheets.cells() == [["x"]]
    cut = server.requests[-1].sent
    assert cut
    write(sheets, "x")
    assert server.requests[-1].sent.startswith(cut)
    assert len(server.requests[-1].sent) // 2 == len(cut)


def test_a_slow_answer_comes_after_the_client_has_gone(server: SheetsServer, sheets: Sheets) -> None:
    server.faults.append(Fault("slow", seconds=30))
    client = server.client()
    client.set_timeout(0.2)
    with pytest.raises(requests.exceptions.ReadTimeout):
        client.open_by_key(sheets.key)
    server.faults.append(Fault("slow", seconds=30))
    with pytest.raises(requests.exceptions.ReadTimeout):
        requests.put(
            f"{server.url}/v4/spreadsheets/{sheets.key}/values/S!A1",
            params={"valueInputOption": "RAW"},
            json={"values": [["applied"]]},
            timeout=0.5,
        )
    until(lambda: sheets.cells() == [["applied"]])


def test_a_late_request_is_applied_when_nobody_waits_any_more(
    server: SheetsServer, sheets: Sheets, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = threading.Event()  # the seconds of the fault, however long everything else takes
    monkeypatch.setattr(server._closing, "wait", lambda seconds: passed.wait(GIVEN_UP_AFTER if seconds else 0))
    server.faults.append(Fault("late", seconds=0.5))
    with pytest.raises(requests.exceptions.ReadTimeout):
        requests.put(
            f"{server.url}/v4/spreadsheets/{sheets.key}/values/S!A1",
            params={"valueInputOption": "RAW"},
            json={"values": [["late"]]},
            timeout=0.1,
        )
    assert write(sheets, "early")[0] == 200
    assert sheets.cells() == [["early"]]
    passed.set()
    until(lambda: sheets.cells() == [["late"]])


def test_a_server_that_closes_waits_for_no_fault() -> None:
    with SheetsServer() as server:
        sheets = Sheets(server)
        server.faults.append(Fault("slow", seconds=3600))
        with pytest.raises(requests.exceptions.ReadTimeout):
            requests.get(f"{server.url}/v4/spreadsheets/{sheets.key}", timeout=0.1)
    assert len(server.requests) == 1


def test_faults_choose_their_requests(server: SheetsServer, sheets: Sheets) -> None:
    server.faults += [Fault(503, method="put", path=r"values/S!B", times=None), Fault(500, path="fields=", after=1)]
    assert write(sheets, 1)[0] == 200
    message(sheets.put_raw("S!B1", {"values": [[1]]}, valueInputOption="RAW"), 503)
    message(sheets.put_raw("S!B2:C9", {"values": [[1]]}, valueInputOption="RAW"), 503)
    assert ask(server, "GET", f"/{sheets.key}/values/S!B1")[0] == 200
    answers = [ask(server, "GET", f"/{sheets.key}", fields="spreadsheetId")[0] for _ in range(3)]
    assert answers == [200, 500, 200]
    server.faults.clear()
    assert sheets.put_raw("S!B1", {"values": [[1]]}, valueInputOption="RAW")[0] == 200


def test_a_fault_behind_another_waits_for_its_turn(server: SheetsServer, sheets: Sheets) -> None:
    server.faults += [Fault(503), Fault(500)]
    assert [ask(server, "GET", f"/{sheets.key}")[0] for _ in range(3)] == [503, 500, 200]


@pytest.mark.parametrize("status", [200, 600, "reset", ""])
def test_a_fault_is_one_that_there_is(status: int | str) -> None:
    with pytest.raises(ValueError, match="neither an HTTP status"):
        Fault(status)


def test_a_client_that_goes_away_in_the_middle_of_its_request_changes_nothing(
    server: SheetsServer, sheets: Sheets
) -> None:
    body = b'{"values": [["half"]]}'
    head = f"PUT /v4/spreadsheets/{sheets.key}/values/S!A1?valueInputOption=RAW HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as connection:
        connection.sendall(head.encode() + b"Content-Length: 1000\r\n\r\n" + body)
    assert ask(server, "GET", f"/{sheets.key}")[0] == 200
    assert [record.method for record in server.requests] == ["GET"]
    assert sheets.cells() == []


def test_a_request_can_be_held_until_something_else_has_happened(server: SheetsServer, sheets: Sheets) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def hold(record: Record) -> None:
        if record.method == "PUT" and not arrived.is_set():
            arrived.set()
            assert go_on.wait(GIVEN_UP_AFTER)

    server.on_request = hold
    held = threading.Thread(target=write, args=(sheets, "held"))
    held.start()
    assert arrived.wait(GIVEN_UP_AFTER)
    assert sheets.cells() == []
    assert write(sheets, "first")[0] == 200
    go_on.set()
    held.join()
    assert sheets.cells() == [["held"]]


def test_requests_at_once_are_applied_one_after_the_other(server: SheetsServer, sheets: Sheets) -> None:
    def fill(letter: str) -> None:
        for _ in range(10):
            sheets.put("S!A1:C3", [[letter] * 3] * 3)

    writers = [threading.Thread(target=fill, args=(letter,)) for letter in "abcd"]
    for writer in writers:
        writer.start()
    seen = {str(sheets.values("S!A1:C3")) for _ in range(30)}
    for writer in writers:
        writer.join()
    assert seen <= {str([[letter] * 3] * 3) for letter in "abcd"} | {"None"}
