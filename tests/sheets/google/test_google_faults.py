"""Whatever goes wrong on the way to Google Sheets, an array comes through exactly, or the write ends with an error.

Each kind of fault strikes each request of a staged write, and of some others; nothing that reads as data is ever
anything but the old arrays or the new ones. No test waits: pauses are recorded instead.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from examples import STRIDE, cross, examples
from limits import set_limits
from requests.exceptions import ReadTimeout
from services import dump

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import FormatError, NotFoundError, RemoteError
from sheetarray.testing.cases import assert_same
from sheets_emulator import Fault, SheetsServer

OLD = {"t": np.arange(64.0).reshape(8, 8), "other": np.array(["stays", ""])}
NEW = {"t": np.linspace(-1, 1, 48), "fresh": np.array([True, False])}
BOTH = {"t": NEW["t"], "other": OLD["other"], "fresh": NEW["fresh"]}

KINDS: dict[str, dict[str, Any]] = {
    "500": {"status": 500},
    "502": {"status": 502},
    "503": {"status": 503},
    "503 with Retry-After": {"status": 503, "retry_after": 7},
    "503 though it was applied": {"status": 503, "applied": True},
    "504 though it was applied": {"status": 504, "applied": True},
    "429": {"status": "quota"},
    "429 with Retry-After": {"status": "quota", "retry_after": 30},
    "reset before": {"status": "reset-before"},
    "reset after": {"status": "reset-after"},
    "truncated": {"status": "truncated"},
    "slow": {"status": "slow", "seconds": 0.4},
    "empty": {"status": "empty"},
    "empty though it was applied": {"status": "empty", "applied": True},
    "of another kind": {"status": "wrong"},
    "of another kind though it was applied": {"status": "wrong", "applied": True},
    "the answer before": {"status": "repeated"},
    "the answer before though it was applied": {"status": "repeated", "applied": True},
}
# To a request that only reads it makes no difference whether it was carried out before the answer was lost.
APPLIED = {"reset after", *(kind for kind, options in KINDS.items() if options.get("applied"))}
TIMEOUT = 0.25  # seconds that a client waits where answers are slow; any other that is, is repeated as well
SETTINGS = ("new worksheet", "arrays there", "new worksheet, staged", "arrays there, staged")


class Scene:
    """A spreadsheet in one of the settings, and writes to it that are disturbed."""

    def __init__(self, setting: str) -> None:
        self.setting = setting
        self.writing: list[bool] = []  # of each request of a write that nothing disturbs, whether it writes
        self.server = SheetsServer()
        self.key = self.server.create(sheets=[("Sheet1", 5, 1)])
        if not setting.startswith("new worksheet"):
            write_gsheet(self.key, OLD, client=self.server.client())
        self.beginning = self.server.snapshot(self.key)
        self.start()

    def start(self) -> None:
        self.server.faults.clear()
        self.key = self.server.create(sheets=[("Sheet1", 5, 1)])
        self.server._spreadsheet(self.key).become(replace(self.beginning.copy(), key=self.key))
        self.client = self.server.client()
        self.before = dump(self.server, self.key)
        self.server.requests.clear()

    def write(self, timeout: float | None = None, late: Late | None = None) -> None:
        client = self.server.client()
        client.set_timeout(timeout)
        if late is not None:
            client.http_client.session.send = late.give_up(client.http_client.session.send)  # type: ignore[method-assign]
        write_gsheet(self.key, NEW, client=client)

    def outcome(self) -> str:
        """Whether a reader sees the old arrays, the new ones, or an error."""
        try:
            result = read_gsheet(self.key, sheet="arrays", client=self.client)
        except (FormatError, NotFoundError):
            return "old" if self.setting.startswith("new worksheet") else "error"
        wanted = [NEW] if self.setting.startswith("new worksheet") else [OLD, BOTH]
        for index, arrays in enumerate(wanted):
            if list(arrays) == list(result) and all(np.array_equal(result[n], a) for n, a in arrays.items()):
                for name, array in arrays.items():
                    assert_same(result[name], array)
                return "new" if index == len(wanted) - 1 else "old"
        raise AssertionError(f"neither old nor new, but {result}")

    def leftovers(self) -> list[str]:
        return [title for title in dump(self.server, self.key)["sheets"] if title.startswith("sheetarray")]


@pytest.fixture(scope="module")
def scenes() -> Iterator[dict[str, Scene]]:
    """The scenes of the module by their settings, in whatever order the tests come."""
    made: dict[str, Scene] = {}
    yield made
    for scene in made.values():
        scene.server.close()


@pytest.fixture(params=SETTINGS)
def scene(request: pytest.FixtureRequest, scenes: dict[str, Scene], monkeypatch: pytest.MonkeyPatch) -> Scene:
    if request.param in SETTINGS[2:]:
        set_limits(monkeypatch, google_batch=0)
    if request.param not in scenes:
        scenes[request.param] = Scene(request.param)
    scene = scenes[request.param]
    scene.start()
    return scene


def count(scene: Scene) -> int:
    """The requests of a write that nothing disturbs."""
    if not scene.writing:
        scene.write()
        scene.writing = [record.writes for record in scene.server.requests]
        assert scene.outcome() == "new"
        scene.start()
    return len(scene.writing)


def struck(kind: str, total: int, *, lasts: bool = False) -> list[int]:
    """The requests that a kind of fault strikes; other kinds strike those between.

    All strike all of them if all examples are asked for. One that lasts always strikes the first.
    """
    step = STRIDE if kind == "slow" or lasts else min(STRIDE, 3)
    return sorted({*range(list(KINDS).index(kind) % min(step, total), total, step), *([0] if lasts else [])})


def written_late(scene: Scene) -> list[int]:
    """The requests that are held back: the first, and those that write."""
    return [0, *(index for index, writes in enumerate(scene.writing) if writes)]


# A write to this setting makes every kind of request that there is.
EVERY_REQUEST = "arrays there, staged"


@pytest.mark.fault(
    "A fault at any request: errors 429 and 5xx, cut connections, lost answers.",
    "The write succeeds with the exact arrays.",
)
@pytest.mark.parametrize(("kind", "scene"), cross(KINDS, SETTINGS, EVERY_REQUEST), indirect=["scene"])
def test_a_fault_at_any_request_is_survived_with_the_exact_arrays(scene: Scene, kind: str, pauses: list[float]) -> None:
    total = count(scene)
    assert total >= {"new worksheet": 2, "arrays there": 3}.get(scene.setting, 6)
    indices = struck(kind, total)
    for index in indices:
        fault = Fault(after=index, **KINDS[kind])
        scene.server.faults.append(fault)
        scene.write(timeout=TIMEOUT if kind == "slow" else None)
        assert fault.seen > index
        assert len(scene.server.requests) <= total + 25, index
        scene.server.faults.clear()
        assert scene.outcome() == "new", index
        assert scene.leftovers() == [], index
        scene.start()
    assert kind in APPLIED or len(pauses) >= len(indices)  # what was applied all the same is seen without a pause
    if "retry_after" in KINDS[kind]:
        assert len([pause for pause in pauses if pause >= KINDS[kind]["retry_after"]]) >= len(indices)


class Late:
    """Holds one request back: it takes effect when the client has given it up, which it does as soon as it is held."""

    def __init__(self, server: SheetsServer, index: int, *, until_the_next: bool) -> None:
        self.index, self.until_the_next = index, until_the_next
        self.count = 0
        self.held: Any = None
        self.go, self.answered_or_held = threading.Event(), threading.Event()
        server.on_request = self

    def __call__(self, record: Any) -> None:
        index, self.count = self.count, self.count + 1
        if index == self.index:
            self.held = record
            self.answered_or_held.set()
            self.go.wait()
        elif index == self.index + 1 and self.until_the_next:
            self.let_go()

    def give_up(self, send: Callable[..., Any]) -> Callable[..., Any]:
        """A way of sending requests by which the one that is held times out."""

        def send_or_give_up(request: Any, **options: Any) -> Any:
            self.answered_or_held = event = threading.Event()
            answer: Future[Any] = Future()

            def wait() -> None:
                try:
                    answer.set_result(send(request, **options))
                except Exception as error:
                    answer.set_exception(error)
                event.set()

            threading.Thread(target=wait).start()
            event.wait()
            if not answer.done():
                raise ReadTimeout("held back")
            return answer.result()

        return send_or_give_up

    def let_go(self) -> None:
        """Have it take effect now."""
        self.go.set()
        while not self.held.status:
            threading.Event().wait(0.001)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["with the next request", "after the end"])
def test_a_request_that_takes_effect_late_does_no_harm(scene: Scene, when: str, pauses: list[float]) -> None:
    count(scene)
    for index in written_late(scene):
        late = Late(scene.server, index, until_the_next=when == "with the next request")
        scene.write(late=late)
        scene.server.on_request = None
        late.let_go()
        assert scene.outcome() == "new", index
        if when == "after the end":
            scene.write()  # removes a stage that was made too late
            assert scene.outcome() == "new", index
        assert scene.leftovers() == [], index
        scene.start()
    assert pauses


@pytest.mark.fault(
    "A fault that lasts.",
    "The write ends with `RemoteError` after a limited number of requests. The old arrays are whole.",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "scene"),
    cross([kind for kind in KINDS if kind != "slow"], SETTINGS, "503 though it was applied"),
    indirect=["scene"],
)
def test_a_fault_that_lasts_ends_the_write_in_bounded_requests_and_time(
    scene: Scene, kind: str, pauses: list[float]
) -> None:
    total = count(scene)
    outcomes = set()
    for index in struck(kind, total, lasts=True):
        pauses.clear()
        scene.server.faults.append(Fault(after=index, times=None, **KINDS[kind]))
        with pytest.raises(RemoteError) as caught:
            scene.write()
        assert len(scene.server.requests) <= total + 80
        assert sum(pauses) <= 1800 + 10
        assert caught.value.hint
        scene.server.faults.clear()
        outcomes.add(scene.outcome())
        write_gsheet(scene.key, NEW, client=scene.client)
        assert scene.outcome() == "new", index
        assert scene.leftovers() == [], index
        scene.start()
    assert "old" in outcomes
    assert "error" not in outcomes


@pytest.mark.fault("Many random faults.", "The write succeeds, or it fails and can be repeated.")
@pytest.mark.parametrize("seed", range(examples(12)))
def test_storms_of_faults_are_survived_or_given_up_and_then_repeated(
    scene: Scene, seed: int, pauses: list[float]
) -> None:
    source = random.Random(seed)
    statuses = ["quota", 503, 500, "reset-before", "reset-after", "truncated"]
    for _ in range(source.randint(3, 25)):
        scene.server.faults.append(
            Fault(source.choice(statuses), times=source.randint(1, 3), after=source.randint(0, 6))
        )
    try:
        scene.write()
    except RemoteError:
        scene.server.faults.clear()
        scene.outcome()
        scene.write()
    scene.server.faults.clear()
    assert scene.outcome() == "new"
    assert scene.leftovers() == []


@pytest.mark.fault("The quota of requests is used up.", "The write waits, then succeeds.")
def test_a_quota_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty small writes a minute stay within the quota of a user."""
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    with SheetsServer(quota=(60, 60)) as server:
        server.clock = lambda: passed[0]
        key, client = server.create(), server.client()
        for index in range(60):
            write_gsheet(key, {"t": np.arange(float(index + 5))}, client=client)
            if index == 29:
                assert passed[0] == 0
        assert 60 <= passed[0] <= 130
        assert any(record.status == 429 for record in server.requests)
        assert_same(read_gsheet(key, client=client)["t"], np.arange(64.0))


@pytest.mark.usefixtures("pauses")
def test_waiting_is_told_to_a_progress_that_wants_to_know(server: SheetsServer) -> None:
    class Bar:
        def __init__(self) -> None:
            self.pauses: list[tuple[float, str]] = []
            self.calls = 0

        def __call__(self, done: int, total: int) -> None:
            self.calls += 1

        def waiting(self, seconds: float, why: str) -> None:
            self.pauses.append((seconds, why))

    scan = partial(sa.scan, format="gsheet")
    key, client, bar = server.create(), server.client(), Bar()
    server.faults.append(Fault("quota", method="POST", retry_after=45))
    write_gsheet(key, NEW, client=client, progress=bar)
    for verb in (read_gsheet, scan, lambda *args, **more: list(sa.check(*args, **more, format="gsheet"))):
        server.faults.append(Fault("quota", retry_after=45))
        calls = bar.calls
        verb(key, client=client, progress=bar)  # type: ignore[operator]
        assert bar.calls >= calls + (2 if verb is not scan else 0)
    assert [why for _, why in bar.pauses] == ["the quota of requests is used up"] * 4
    assert all(45 <= seconds <= 50 for seconds, _ in bar.pauses)


@pytest.mark.parametrize("retry_after", [1_801, 86_400, 999_999])
def test_a_pause_longer_than_half_an_hour_is_not_taken(
    retry_after: float, pauses: list[float], server: SheetsServer
) -> None:
    key, client = server.create(), server.client()
    server.faults.append(Fault("quota", times=None, retry_after=retry_after))
    with pytest.raises(RemoteError, match="quota") as caught:
        write_gsheet(key, NEW, client=client)
    assert caught.value.status == 429
    assert not pauses
    assert len(server.requests) == 1


def test_backing_off_of_gspread_itself_does_not_multiply_ours(pauses: list[float], server: SheetsServer) -> None:
    import gspread
    from gspread.http_client import BackOffHTTPClient

    key = server.create()
    session = server.client().http_client.session
    client = gspread.Client(auth=None, session=session, http_client=BackOffHTTPClient)  # type: ignore[arg-type]
    seen = []

    def reroute(method: str, url: str, **options: Any) -> Any:
        seen.append(url)
        return type(session).request(
            session, method, url.replace("https://sheets.googleapis.com", server.url), **options
        )

    session.request = reroute
    server.faults.append(Fault(503, times=None))
    with pytest.raises(RemoteError, match="unavailable"):
        sa.scan(f"gsheets://{key}/arrays", client=client, format="gsheet")
    assert 5 <= len(seen) == len(server.requests) <= 10


def test_no_connection_is_given_up_after_a_few_attempts(pauses: list[float]) -> None:
    with SheetsServer() as server:
        key, client = server.create(), server.client()
    with pytest.raises(RemoteError, match="reached") as caught:
        read_gsheet(key, client=client)
    assert "internet" in str(caught.value)
    assert sum(pauses) < 15
