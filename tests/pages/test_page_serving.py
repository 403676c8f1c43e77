"""A page that is served: who may ask, what is answered, what it costs, and what a browser shows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser import Browser
from browser import ask_page as ask
from children import run_limited
from limits import set_limits

import sheetarray as sa
from sheetarray.errors import LimitError
from sheetarray.pages import ServedPage
from sheetarray.pages.served import MOST_AT_ONCE, MOST_IN_BOX, ServedArray, serve_large

FIELD = np.random.default_rng(4).normal(size=(9, 40, 50))
WHOLE = np.arange(-(2**62), -(2**62) + 10_001)
TEXTS = np.array([f"é{number}" for number in range(10_001)])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    path = tmp_path_factory.mktemp("served") / "run.csv"
    sa.write(path, {"field": FIELD, "whole": WHOLE, "texts": TEXTS, "few": np.arange(3)})
    with sa.page(path, serve=True) as page:
        yield page


def test_boxes_are_what_read_gives(served: ServedPage) -> None:
    status, content, headers = ask(served, "box?entry=0&box=2:9:3,0:40:1,5:50:7")
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    assert content == FIELD[2:9:3, :, 5:50:7].tobytes()
    assert ask(served, "box?entry=1&box=9999:10001:1")[1] == WHOLE[9999:].tobytes()
    _, content, headers = ask(served, "box?entry=2&box=10000:10001:1")
    assert headers["Sheetarray-Lengths"] == "4,12"
    assert content[4:].decode("utf-16-le") == "é10000"
    assert ask(served, "box?entry=3&box=0:3:1")[0] == 404  # it stands in the page


def test_only_this_page_may_ask(served: ServedPage) -> None:
    host = urlsplit(served.url).netloc
    assert host.startswith("127.0.0.1:")
    assert ask(served, "")[0] == 200
    assert ask(served, "", Origin=f"http://{host}", Sec_Fetch_Site="same-origin")[0] == 200
    token = urlsplit(served.url).path.strip("/")
    assert len(token) == 43
    for path in ("/", "//", "/x/", f"/{token}", f"/{token[:-1]}/", f"/{token}x/", f"/x/{token}/", "/%2e%2e/", "/é/"):
        if path.isascii():
            assert ask(served, path)[:2] == (404, b'{"error": "no such page"}')
    for name in ("evil.example", "localhost", f"{host}.evil.example", "127.0.0.1", ""):
        assert ask(served, "", Host=name)[0] == 403
    for origin in ("https://evil.example", "null", f"https://{host}", "http://127.0.0.1:1", ""):
        assert ask(served, "box?entry=1&box=0:1:1", Origin=origin)[0] == 403
        assert ask(served, "closed", "POST", Origin=origin)[0] == 403
    for site in ("cross-site", "same-site"):
        assert ask(served, "", Sec_Fetch_Site=site)[0] == 403
    assert ask(served, "closed")[0] == 404  # a link does not close it
    assert ask(served, "", "PUT")[0] == 501


def test_nothing_is_kept_and_nothing_else_is_asked(served: ServedPage) -> None:
    for path in ("", "box?entry=1&box=0:1:1", "box", "open"):
        headers = ask(served, path)[2]
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in headers
    policy = ask(served, "")[2]["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.endswith("connect-src 'self'; frame-ancestors 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "query",
    [
        *("", "entry=1", "box=0:1:1", "entry=1&box=", "entry=1&box=0:1", "entry=1&box=0:1:1,", "entry=1&box=0:1:0"),
        *("entry=1&box=0:1:1,0:1:1", "entry=1&box=-1:1:1", "entry=1&box=0:10002:1", "entry=1&box=5:5:1"),
        *("entry=1&box=5:4:1", "entry=1&box=a:b:c", "entry=1&box=0:1:1&x=1", "entry=x&box=0:1:1", "entry=1;box=0:1:1"),
        *("entry=1&box=%D9%A0:1:1", "entry=1&box=0:9999999999999999:1", "entry=1&box=" + "0:1:1," * 5000),
        *("entry=" + "9" * 5000 + "&box=0:1:1", "entry=1&box=0:1:1%0a", "entry=%00&box=0:1:1"),
    ],
)
def test_a_hostile_query_is_refused(served: ServedPage, query: str) -> None:
    status, content, _ = ask(served, f"box?{query}")
    assert status == 400
    assert json.loads(content)["error"]


def test_a_box_has_a_limit() -> None:
    array = ServedArray.from_array(np.zeros((2, MOST_IN_BOX), np.int8))
    assert array.take((slice(1, 2, 1), slice(0, MOST_IN_BOX - 1, 1))).size == MOST_IN_BOX - 1
    assert array.take((slice(1, 2, 1), slice(0, MOST_IN_BOX, 1))).size == MOST_IN_BOX
    with pytest.raises(LimitError, match="1,048,578"):
        ServedArray.from_array(np.zeros((2, MOST_IN_BOX // 2 + 1), np.int8)).take(
            (slice(0, 2, 1), slice(0, MOST_IN_BOX // 2 + 1, 1))
        )
    sizes = (MOST_AT_ONCE - 1, MOST_AT_ONCE, MOST_AT_ONCE + 1)
    large = serve_large({str(size): np.zeros(size, np.int8) for size in sizes}, None)
    assert [isinstance(value, ServedArray) for value in large.values()] == [False, False, True]


def test_a_changed_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.npy"
    np.save(path, FIELD)
    with sa.page(path, serve=True) as page:
        assert ask(page, "box?entry=0&box=0:1:1,0:40:1,0:50:1")[1] == FIELD[0].tobytes()
        np.save(path, FIELD[1:])
        status, content, _ = ask(page, "box?entry=0&box=0:1:1,0:40:1,0:50:1")
    assert status == 409
    assert "has changed since the page was opened" in json.loads(content)["error"]


def test_a_page_that_is_closed_ends_its_server(served: ServedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, silence=0.0)
    server = served._server
    assert not server.is_left()
    assert ask(served, "closed", "POST")[0] == 204
    assert server.is_left()
    served.wait()  # returns
    assert ask(served, "open")[0] == 204  # it was loaded again, or another one is open
    assert not server.is_left()


@pytest.mark.slow
def test_a_large_csv_is_never_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with sa.open_writer(path) as writer:
        for _ in range(16):
            writer.append({"t": np.random.default_rng(0).normal(size=(400, 1000))})
    run_limited(
        """
        import resource, sys, http.client, urllib.parse
        import numpy as np, polars, sheetarray as sa
        from sheetarray.pages import page as page_of
        polars.DataFrame({"a": ["1"]}).select(polars.col("a").cast(float))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with page_of(sys.argv[1], serve=True) as page:
            parts = urllib.parse.urlsplit(page.url)
            connection = http.client.HTTPConnection(parts.netloc)
            connection.request("GET", parts.path + "box?entry=0&box=6399:6400:1,0:1000:1")
            row = np.frombuffer(connection.getresponse().read())
        assert (row == np.random.default_rng(0).normal(size=(400, 1000))[-1]).all()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert grown < 120, grown
        """,
        path,
        seconds=60,
    )


# In a browser --------------------------------------------------------------------------------------------------------


def first_texts(browser: Browser, count: int) -> list[str]:
    return browser.texts("#table tbody tr:first-child td bdi")[:count]


def wait_for_cell(browser: Browser, text: str) -> None:
    browser.wait_until(f"document.querySelector('#table tbody td bdi')?.textContent === {json.dumps(text)}")


def test_sliders_show_what_read_gives(shared_browser: Browser, served: ServedPage, tmp_path: Path) -> None:
    browser = shared_browser
    browser.visit(served.url)
    assert browser.texts("#slice") == ["field[0, :, :]"]
    for step in range(1, 4):
        browser.press("1", "ARROW_RIGHT") if step == 1 else browser.press("ARROW_RIGHT")
        wait_for_cell(browser, repr(float(FIELD[step, 0, 0])))
        shown = [float(text) for text in first_texts(browser, 4)]
        assert shown == FIELD[step, 0, : len(shown)].tolist()
    browser.select("#rows", "0")
    wait_for_cell(browser, repr(float(FIELD[0, 0, 0])))
    assert browser.texts("#slice") == ["field[:, 0, :]"]
    assert float(browser.texts("#statistics tbody td:nth-child(2)")[2]) == FIELD[:, 0].min()
    browser.choose_array(1)
    wait_for_cell(browser, str(WHOLE[0]))
    browser.choose_array(2)
    wait_for_cell(browser, "é0")
    assert browser.violations() == []
    assert browser.messages() == []
    host = urlsplit(served.url).netloc
    assert {urlsplit(url).netloc for url in browser.requests()} <= {host, ""}


def test_a_slice_that_is_larger_than_a_box_is_sampled_and_its_table_exact(shared_browser: Browser) -> None:
    browser = shared_browser
    plane = np.arange(1050.0 * 1000).reshape(1050, 1000) + 0.25
    assert MOST_IN_BOX < plane.size < 1.01 * MOST_IN_BOX
    with sa.page({"wide": plane}, serve=True) as page:
        browser.visit(page.url)
        wait_for_cell(browser, "0.25")
        assert browser.texts("#statistics thead th")[0] == "sample of the slice"
        browser.focus(".map")
        browser.press("CONTROL+END")
        browser.wait_until("document.querySelector('#readout').textContent.includes('1049999.25')")
        assert browser.texts("#table td.cursor bdi") == ["1049999.25"]
        assert browser.messages() == []
    browser.press("HOME")
    browser.wait_until("document.querySelector('#message').textContent.includes('the server has ended')")
    assert all("ERR_CONNECTION" in message for message in itertools.chain(browser.messages()))
