"""The Google Sheets emulator as a server: how it starts and ends, whom it answers, its limits, and real gspread."""

from __future__ import annotations

import gc
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import gspread
import pytest
import requests
from examples import PART
from sheets_asking import GIVEN_UP_AFTER, Sheets, ask, message, until

from sheets_emulator import Record, SheetsServer
from sheets_emulator.__main__ import main

PROJECT = Path(__file__).parents[1]


@pytest.fixture
def server(sheets_server: SheetsServer) -> SheetsServer:
    return sheets_server


def port(server: SheetsServer) -> int:
    return int(server.url.rpartition(":")[2])


def test_it_serves_on_the_loopback_address_only(server: SheetsServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    socket.create_connection(("127.0.0.1", port(server))).close()
    with pytest.raises(OSError, match=r"refused|unreachable|assign|timed out"):  # open where it serves on all addresses
        socket.create_connection(("127.0.0.2", port(server)), timeout=GIVEN_UP_AFTER).close()


def test_a_request_for_another_host_is_refused(server: SheetsServer) -> None:
    key = server.create()
    connection = http.client.HTTPConnection("127.0.0.1", port(server))
    connection.request("GET", f"/v4/spreadsheets/{key}", headers={"Host": "sheets.example.com"})
    assert connection.getresponse().status == 403
    connection.close()


def test_a_connection_stays_for_the_next_request_where_the_client_asks_for_that(server: SheetsServer) -> None:
    path = f"/v4/spreadsheets/{server.create()}"
    connection = http.client.HTTPConnection("127.0.0.1", port(server))
    for method, status in (("GET", 200), ("POST", 404), ("GET", 200)):
        connection.request(method, path, b"{}" if method == "POST" else None, headers={"Connection": "keep-alive"})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Connection")) == (status, None)
        answer.read()
        if method == "GET" and len(server.requests) == 1:
            first = connection.sock
    assert connection.sock is first is not None
    first.sendall(f"HEAD {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n".encode())
    assert first.recv(100_000).endswith(b"\r\n\r\n")  # no body, which would be taken for the next answer
    connection.request("GET", path)
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Connection")) == (200, "close")
    connection.close()


def test_a_client_that_nobody_has_any_more_leaves_no_connection(server: SheetsServer) -> None:
    def handling() -> int:
        return sum("process_request" in thread.name for thread in threading.enumerate())

    before, client = handling(), server.client()
    book = client.open_by_key(server.create())
    book.sheet1.get("A1")
    assert handling() == before + 1
    del client, book
    gc.collect()
    until(lambda: handling() == before)


def test_a_port_that_is_taken_is_an_error(server: SheetsServer) -> None:
    with pytest.raises(OSError, match="in use"):
        SheetsServer(port=port(server))


def test_it_ends_with_its_block_and_leaves_nothing_open() -> None:
    threads = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with SheetsServer() as server:
            server.client().open_by_key(server.create())
            idle = socket.create_connection(("127.0.0.1", port(server)))
        idle.close()
    assert threading.active_count() == threads
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port(server))).close()


def test_a_bug_of_the_emulator_is_not_taken_for_an_answer() -> None:
    def broken(record: Record) -> None:
        raise ZeroDivisionError(record.path)

    server = SheetsServer()
    server.on_request = broken
    assert ask(server, "GET", f"/{server.create()}")[0] == 500
    with pytest.raises(RuntimeError, match="failed at a request"):
        server.close()


def test_every_request_is_recorded(server: SheetsServer) -> None:
    sheets = Sheets(server)
    seen: list[tuple[str, int]] = []
    server.on_request = lambda record: seen.append((record.method, record.status))
    sheets.put("S!A1", [[1]])
    sheets.get("S!A1")
    ask(server, "GET", "/unknown")
    written, read, lost = server.requests
    assert (written.method, written.writes, written.status, written.received) == (
        "PUT",
        True,
        200,
        b'{"values": [[1]]}',
    )
    assert written.path == f"/v4/spreadsheets/{sheets.key}/values/S%21A1"
    assert written.query == "valueInputOption=RAW"
    assert (read.method, read.writes, read.received) == ("GET", False, b"")
    assert json.loads(read.sent)["values"] == [["1"]]
    assert lost.status == 404
    assert seen == [("PUT", 0), ("GET", 0), ("GET", 0)]


def test_what_no_method_answers_is_not_found(server: SheetsServer) -> None:
    assert "no method DELETE" in message(ask(server, "DELETE", f"/{server.create()}"), 404)
    assert "no method POST" in message(ask(server, "POST", f"/{server.create()}:getByName", {}), 404)


def test_a_spreadsheet_may_be_forbidden(server: SheetsServer) -> None:
    sheets = Sheets(server)
    server.forbid(sheets.key)
    assert message(ask(server, "GET", f"/{sheets.key}"), 403) == "The caller does not have permission"
    assert ask(server, "GET", f"/{sheets.key}")[1]["error"]["status"] == "PERMISSION_DENIED"
    server.forbid(sheets.key, writes_only=True)
    assert ask(server, "GET", f"/{sheets.key}")[0] == 200
    message(sheets.put_raw("S!A1", {"values": [[1]]}, valueInputOption="RAW"), 403)
    server.allow(sheets.key)
    sheets.put("S!A1", [[1]])


def test_one_request_too_many_is_answered_with_429_until_the_minute_is_over() -> None:
    now = 1000.0
    with SheetsServer(quota=(3, 2)) as server:
        server.clock = lambda: now
        sheets = Sheets(server)
        for _ in range(3):
            sheets.get("S!A1")
        status, answer = ask(server, "GET", f"/{sheets.key}")
        assert status == 429
        assert answer["error"]["status"] == "RESOURCE_EXHAUSTED"
        assert answer["error"]["message"].startswith("Quota exceeded for quota metric 'Read requests'")
        assert answer["error"]["details"][0]["reason"] == "RATE_LIMIT_EXCEEDED"
        sheets.put("S!A1", [[1]])
        sheets.put("S!A1", [[2]])
        assert "Write requests" in message(sheets.put_raw("S!A1", {"values": [[3]]}, valueInputOption="RAW"), 429)
        now += 59.9
        message(ask(server, "GET", f"/{sheets.key}"), 429)
        now += 0.2
        assert sheets.values("S!A1") == [[2]]


def test_a_body_beyond_the_payload_limit_is_refused() -> None:
    with SheetsServer(payload=1000) as server:
        sheets = Sheets(server)
        room = 1000 - len(b'{"values": [[""]]}')
        sheets.put("S!A1", [["x" * room]])
        refused = sheets.put_raw("S!A1", {"values": [["x" * (room + 1)]]}, valueInputOption="RAW")
        assert message(refused) == "Request payload size exceeds the limit: 1000 bytes."
        assert len(sheets.values("S!A1")[0][0]) == room


@pytest.mark.parametrize("body", [b"{", b'{"values": [[NaN]]}', b'{"values": [["\\ud800"]]}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_refused(server: SheetsServer, body: bytes) -> None:
    sheets = Sheets(server)
    refused = sheets.put_raw("S!A1", body, valueInputOption="RAW")
    assert message(refused).startswith("Invalid JSON payload received.")
    assert sheets.cells() == []


def test_a_snapshot_stays_as_it_was(server: SheetsServer) -> None:
    sheets = Sheets(server)
    sheets.put("S!A1", [["before"]])
    taken = server.snapshot(sheets.key)
    sheets.put("S!A1", [["after"]])
    sheets.batch({"addSheet": {"properties": {"title": "more"}}})
    assert taken.sheets[0].grid.cell(0, 0) == "before"
    assert [sheet.title for sheet in taken.sheets] == ["S"]


def test_cells_names_the_sheets_that_there_are(server: SheetsServer) -> None:
    with pytest.raises(KeyError, match=r"no sheet 'T'.*'S'"):
        Sheets(server).cells("T")


def test_its_client_goes_nowhere_else(server: SheetsServer) -> None:
    client = server.client()
    with pytest.raises(ValueError, match="not served by the emulator"):
        client.http_client.request("get", "https://www.googleapis.com/oauth2/v3/userinfo")
    with pytest.raises(gspread.exceptions.SpreadsheetNotFound):
        client.open_by_key("nothing")
    assert client.http_client.session.trust_env is False


def test_very_many_numbers_go_in_and_out_as_they_were(server: SheetsServer) -> None:
    draw, count = random.Random(7), 1_000_000 // min(PART, 4)
    numbers = [draw.gauss(0, 1) * 10 ** draw.randint(-300, 300) for _ in range(count)]
    sheets = Sheets(server, ("S", count, 2))
    for start in range(0, count, 90_000):
        part = numbers[start : start + 90_000]
        sheets.put(f"S!B{start + 1}:B{start + len(part)}", [part], majorDimension="COLUMNS")
    back = sheets.values("S!B1:B", majorDimension="COLUMNS")[0]
    assert list(map(float, back)) == numbers
    assert sheets.resource()["sheets"][0]["properties"]["gridProperties"]["rowCount"] == count


def started(*options: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "sheets_emulator", *options],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = dict(process.stdout.readline().strip().split(maxsplit=1) for _ in range(4))
    return process, said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_from_a_terminal_it_prints_where_it_serves_until_it_is_interrupted(how: signal.Signals) -> None:
    process, said = started("--key", "mine", "--quota", "2", "60")
    try:
        url = f"{said['serving']}/v4/spreadsheets/mine"
        assert [requests.get(url, timeout=GIVEN_UP_AFTER).status_code for _ in range(3)] == [200, 200, 429]
        assert (said["key"], said["url"]) == ("mine", "https://docs.google.com/spreadsheets/d/mine/edit")
    finally:
        os.kill(process.pid, how)
        _, err = process.communicate(timeout=GIVEN_UP_AFTER)
    assert (process.returncode, err) == (0, "")


def test_from_a_terminal_a_port_that_is_taken_is_an_error_of_one_line(server: SheetsServer) -> None:
    command = [sys.executable, "-m", "sheets_emulator", "--port", str(port(server))]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: port {port(server)}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--port x", "invalid int"),
        ("--quota 1", "expected 2"),
        ("--key a/b", "letters, digits"),
    ],
)
def test_from_a_terminal_options_that_cannot_be_are_misuse(
    options: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.raises(SystemExit) as caught:
        main(options.split())
    for number, handler in handlers.items():
        signal.signal(number, handler)
    said = capsys.readouterr()
    assert (caught.value.code, said.out) == (2, "")
    assert message in said.err


def test_a_spreadsheet_that_cannot_be_is_refused_with_the_reason(server: SheetsServer) -> None:
    key = server.create(key="mine")
    with pytest.raises(ValueError, match="already"):
        server.create(key=key)
    with pytest.raises(ValueError, match="letters, digits"):
        server.create(key="a b")
    for rows, columns in ((0, 5), (5, -1)):
        with pytest.raises(ValueError, match="at least one row"):
            server.create(sheets=[("Sheet1", rows, columns)])
    with pytest.raises(ValueError, match="18278 columns"):
        server.create(sheets=[("Sheet1", 1, 20_000)])
    with pytest.raises(KeyError, match="no spreadsheet 'other'; there are"):
        server.cells("other", "Sheet1")
    with pytest.raises(KeyError, match="no spreadsheet 'other'; there are"):
        server.snapshot("other")
