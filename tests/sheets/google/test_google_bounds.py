"""What a call to Google Sheets costs at most, whatever answers: time, redirects, depth of JSON; no secret is shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from services import ENDPOINT

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import RemoteError
from sheets_emulator import Fault, SheetsServer

PAUSE = 0.01  # seconds between two bytes
KEY = "1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcde"
VERBS: list[Any] = [
    read_gsheet,
    partial(sa.scan, format="gsheet"),
    partial(sa.read_columns, format="gsheet"),
    lambda *args, **more: list(sa.check(*args, **more, format="gsheet")),
    lambda *args, **more: write_gsheet(*args, {"x": np.arange(3)}, **more),
]


class Odd(BaseHTTPRequestHandler):
    """Answers every request in one odd way."""

    server: Any

    def do_GET(self) -> None:
        self.server.taken.append(self.path)
        getattr(self, self.server.way)()

    do_POST = do_PUT = do_GET  # noqa: N815

    def slowly(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while not self.server.closing.wait(PAUSE):
            self.wfile.write(b" ")
            self.wfile.flush()

    def round_and_round(self) -> None:
        self.send_response(302)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/{len(self.server.taken)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def deeply(self) -> None:
        self.send_response(200)
        body = b"[" * 200_000
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def deeply_wrong(self) -> None:
        self.send_response(400)
        body = b'{"error":' * 200_000
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        odd: Any = server
        odd.taken, odd.closing = [], threading.Event()
        odd.handle_error = lambda *_: None
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_port}")
        yield odd
        odd.closing.set()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("verb", VERBS)
def test_an_answer_of_a_byte_now_and_then_is_given_up_in_time(odd: Any, verb: Any) -> None:
    odd.way = "slowly"
    with pytest.raises(RemoteError, match=r"given up after .* timeout= allows"):
        verb(KEY, timeout=0.2)
    assert len(odd.taken) == 1


@pytest.mark.parametrize("verb", VERBS)
def test_redirects_in_a_circle_end_it(odd: Any, verb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    odd.way = "round_and_round"
    with pytest.raises(RemoteError, match="circle of redirects"):
        verb(KEY)
    assert len(odd.taken) <= 31


@pytest.mark.parametrize("way", ["deeply", "deeply_wrong"])
@pytest.mark.parametrize("verb", VERBS)
def test_json_of_any_depth_is_a_remote_error(odd: Any, verb: Any, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    odd.way = way
    with pytest.raises(RemoteError):
        verb(KEY)
    assert len(odd.taken) <= 10


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "x", [1], b"60"])
def test_a_timeout_is_a_time(timeout: Any) -> None:
    with pytest.raises(ValueError, match="timeout"):
        read_gsheet(KEY, timeout=timeout, client=SheetsServer)


@pytest.mark.parametrize("timeout", [float("inf"), 1e10])
def test_a_timeout_may_be_longer_than_any_wait(server: SheetsServer, timeout: float) -> None:
    with pytest.raises(sa.FormatError, match="no array"):
        read_gsheet(server.create(), timeout=timeout, client=server.client())


def test_a_quota_is_no_part_of_the_timeout_and_other_waiting_is(
    monkeypatch: pytest.MonkeyPatch, server: SheetsServer
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    key, client = server.create(), server.client()
    server.faults.append(Fault("quota", retry_after=500, times=2))
    write_gsheet(key, {"x": np.arange(3)}, client=client, timeout=60)
    assert sum(pauses) >= 1000
    pauses.clear()
    server.faults.append(Fault(503, retry_after=25, times=3))
    with pytest.raises(RemoteError, match="timeout="):
        write_gsheet(key, {"x": np.arange(4)}, client=client, timeout=60)
    assert 50 <= sum(pauses) <= 60
    server.faults.clear()
    assert read_gsheet(key, client=client)["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("seconds", "tries"), [(10, 2), (60, 1)])
def test_a_pause_that_would_outlast_the_time_is_not_taken(
    seconds: float, tries: int, monkeypatch: pytest.MonkeyPatch, server: SheetsServer
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    key, client = server.create(), server.client()
    server.requests.clear()
    server.faults.append(Fault(503, retry_after=seconds))
    server.faults.append(Fault(503, retry_after=60, times=None))
    with pytest.raises(RemoteError, match="timeout="):
        read_gsheet(key, client=client, timeout=60)
    assert len(server.requests) == tries
