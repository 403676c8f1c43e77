"""The emulator beside the real service: gspread's recordings of it, played again, and the answers compared.

A recording is a list of requests and answers in their order. What went to Drive is not the emulator's business: a
spreadsheet that Drive made is made anew, empty, under the same key; ids that the real service drew at random are
asked for, so that later requests mean the same sheet.

Comparable are all calls of `values.*` on a spreadsheet that the recording itself made, but for those on one whose
cells came through Drive afterwards (an imported file). They are the same where the HTTP status and the whole JSON
body are: every key, every value, and whether a number is whole. Calls of `spreadsheets.get` and `batchUpdate` are
compared too, without the theme of colours that every new spreadsheet has.
"""

from __future__ import annotations

import gzip
import http.client
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sheets_emulator import SheetsServer

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "gspread-recordings" / "recordings.jsonl.gz"
SHEETS = "https://sheets.googleapis.com/v4/spreadsheets/"
RANDOM = {"addSheet": ("properties", "sheetId"), "addNamedRange": ("namedRange", "namedRangeId")}
RANDOM |= {"addProtectedRange": ("protectedRange", "protectedRangeId")}


class Replay:
    """One server, all recordings, and what came of them."""

    def __init__(self, server: SheetsServer) -> None:
        self.server = server
        self.calls: Counter[str] = Counter()
        self.same: Counter[str] = Counter()
        self.different: list[str] = []
        self.left_out: Counter[str] = Counter()

    def play(self, recording: dict[str, Any]) -> None:
        made: set[str] = set()
        imported: set[str] = set()
        for index, call in enumerate(recording["interactions"]):
            uri = call["uri"]
            if not uri.startswith(SHEETS):
                self._drive(call, made, imported)
                continue
            kind = _kind(call["method"], uri)
            key = re.split(r"[/:?]", uri.removeprefix(SHEETS))[0]
            if key not in made or key in imported:
                self.left_out[kind] += 1
                continue
            status, body = self._send(call, _with_ids(call))
            self.calls[kind] += 1
            if status == call["status"] and _exact(body) == _exact(_settled(kind, call["response"])):
                self.same[kind] += 1
            else:
                self.different.append(
                    f"{recording['recording']} {index}: {call['method']} {uri}\n  {call['body']}\n"
                    f"  recorded {call['status']} {call['response']}\n  answered {status} {json.dumps(body)}"
                )

    def _drive(self, call: dict[str, Any], made: set[str], imported: set[str]) -> None:
        if call["method"] == "POST" and call["status"] == 200 and "/files/" not in call["uri"]:
            answer = json.loads(call["response"])
            self.server.create(answer["name"], key=answer["id"])
            made.add(answer["id"])
        elif call["method"] == "PUT":
            imported.add(urlsplit(call["uri"]).path.rpartition("/")[2])

    def _send(self, call: dict[str, Any], body: str | None) -> tuple[int, Any]:
        host = self.server.url.removeprefix("http://")
        parts = urlsplit(call["uri"])
        connection = http.client.HTTPConnection(host)
        try:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(call["method"], path, body and body.encode(), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, _settled(_kind(call["method"], call["uri"]), answer.read().decode())
        finally:
            connection.close()


def _kind(method: str, uri: str) -> str:
    path = urlsplit(uri).path
    if "/values" not in path:
        return "batchUpdate" if path.endswith(":batchUpdate") else "get"
    matches = re.search(r":(append|clear|batchGet|batchUpdate|batchClear)$", path)
    return f"values.{matches[1] if matches else {'GET': 'get', 'PUT': 'update'}[method]}"


def _with_ids(call: dict[str, Any]) -> str | None:
    """The body, asking for the ids that the real service drew."""
    if call["status"] != 200 or not call["body"] or not urlsplit(call["uri"]).path.endswith(":batchUpdate"):
        return call["body"]
    body, answer = json.loads(call["body"]), json.loads(call["response"])
    for request, reply in zip(body.get("requests", []), answer.get("replies", []), strict=False):
        for name, (resource, field) in RANDOM.items():
            if name in request:
                request[name][resource][field] = reply[name][resource][field]
    return json.dumps(body)


def _settled(kind: str, text: str) -> Any:
    """An answer without the theme of a new spreadsheet, which the emulator does not model."""
    answer = json.loads(text)
    if kind == "get" and isinstance(answer, dict):
        answer.get("properties", {}).pop("spreadsheetTheme", None)
    return answer


def _exact(answer: Any) -> str:
    return json.dumps(answer, sort_keys=True)


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    if not RECORDINGS.is_file():
        pytest.skip("the folder ../shared/gspread-recordings is not there")
    with SheetsServer() as server, gzip.open(RECORDINGS, "rt", encoding="utf-8") as lines:
        played = Replay(server)
        for line in lines:
            played.play(json.loads(line))
        yield played


def counted(replay: Replay, kind: str) -> tuple[int, int]:
    """How many calls of a kind could be compared, and how many of them were answered the same."""
    calls = sum(count for name, count in replay.calls.items() if name.startswith(kind))
    return calls, sum(count for name, count in replay.same.items() if name.startswith(kind))


def different(replay: Replay) -> str:
    return "\n".join(replay.different)


def test_calls_of_values_and_changes_are_answered_as_the_service_did(replay: Replay) -> None:
    for kind, at_least in (("values.", 570), ("batchUpdate", 230)):
        calls, same = counted(replay, kind)
        assert same == calls >= at_least, different(replay)
    assert {kind: count for kind, count in replay.left_out.items() if kind != "get"} == {"values.get": 2}
    methods = ("append", "batchClear", "batchGet", "batchUpdate", "clear", "get", "update")
    assert {kind for kind in replay.calls if "." in kind} == {f"values.{method}" for method in methods}


def test_spreadsheets_are_shown_as_the_service_does_but_for_protected_ranges_and_widths(replay: Replay) -> None:
    calls, same = counted(replay, "get")
    assert calls > 550
    assert calls - same <= 5, different(replay)
