"""Requests to the Google Sheets emulator as they go over the wire, without a client in between."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from sheets_emulator import SheetsServer

GIVEN_UP_AFTER = 900  # seconds on a clock, for what waits for ever; no machine is so busy


def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened, however long the machine takes for it."""
    for _ in range(100 * GIVEN_UP_AFTER):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it has not happened")


def ask(server: SheetsServer, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
    """The status and the JSON of an answer; `path` is what follows /v4/spreadsheets."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        target = f"/v4/spreadsheets{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        connection.request(method, target, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class Sheets:
    """One spreadsheet of a server, by the methods of the service."""

    def __init__(self, server: SheetsServer, *sheets: tuple[str, int, int]) -> None:
        self.server = server
        self.key = server.create(sheets=sheets or [("S", 1000, 26)])

    def get(self, text: str, **query: Any) -> Any:
        return self.done(*ask(self.server, "GET", f"/{self.key}/values/{quote(text, safe='')}", **query))

    def values(self, text: str, **query: Any) -> Any:
        return self.get(text, **{"valueRenderOption": "UNFORMATTED_VALUE", **query}).get("values")

    def put(self, text: str, values: Any, option: str = "RAW", **body: Any) -> Any:
        answer = self.put_raw(text, {"values": values, **body}, valueInputOption=option)
        return self.done(*answer)

    def put_raw(self, text: str, body: Any, **query: Any) -> tuple[int, Any]:
        return ask(self.server, "PUT", f"/{self.key}/values/{quote(text, safe='')}", body, **query)

    def append(self, text: str, values: Any, **query: Any) -> Any:
        path = f"/{self.key}/values/{quote(text, safe='')}:append"
        return self.done(*ask(self.server, "POST", path, {"values": values}, **{"valueInputOption": "RAW", **query}))

    def post(self, method: str, body: Any, **query: Any) -> Any:
        return self.done(*ask(self.server, "POST", f"/{self.key}{method}", body, **query))

    def batch(self, *requests: Any) -> list[Any]:
        answer = self.post(":batchUpdate", {"requests": list(requests)})
        replies: list[Any] = answer["replies"]
        return replies

    def refused(self, *requests: Any) -> str:
        """The message with which a batch is refused; nothing has changed."""
        before = self.resource()
        status, answer = ask(self.server, "POST", f"/{self.key}:batchUpdate", {"requests": list(requests)})
        assert status == 400, answer
        assert self.resource() == before
        return str(answer["error"]["message"])

    def resource(self, **query: Any) -> Any:
        return self.done(*ask(self.server, "GET", f"/{self.key}", **query))

    def cells(self, title: str = "S") -> list[list[Any]]:
        return self.server.cells(self.key, title)

    @staticmethod
    def done(status: int, answer: Any) -> Any:
        assert status == 200, answer
        return answer


def message(status_and_answer: tuple[int, Any], status: int = 400) -> str:
    """What an error says."""
    assert status_and_answer[0] == status, status_and_answer
    error = status_and_answer[1]["error"]
    assert error["code"] == status
    return str(error["message"])
