"""What a served page says of whole arrays: statistics, histograms, searches, differences and findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from browser import Browser, PageReader, ask_page
from limits import set_limits

import sheetarray as sa

BIG = np.iinfo(np.int64)
FIELD = np.random.default_rng(4).normal(size=(9, 40, 50))
FIELD[0, 0, :3] = np.nan, np.inf, 1e300
MOVED = np.where(np.arange(FIELD.size).reshape(FIELD.shape) == 17_777, 55.5, FIELD)
TEXTS = np.array([f"Élan {number}" for number in range(10_001)])


def ask(page: Any, verb: str, **options: object) -> tuple[int, Any]:
    """Ask until all is said."""
    while True:
        status, content, _ = ask_page(page, f"{verb}?{urlencode(options)}")
        answer = json.loads(content)
        if status != 200 or answer["done"] >= answer["total"]:
            return status, answer


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any array is served, in blocks of a few elements."""
    set_limits(monkeypatch, page_at_once=0, page_block=7, page_text_block=5)


@pytest.mark.parametrize("shape", [(1,), (6,), (7,), (8,), (30,), (3, 7), (3, 8), (2, 3, 4), (5, 2, 3, 2), (4, 1, 9)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("small_blocks")
def test_every_element_is_found_where_it_stands(shape: tuple[int, ...], order: Any) -> None:
    array = np.array(np.arange(int(np.prod(shape))).reshape(shape), order=order)
    with sa.page(array, serve=True) as page:
        for place in range(array.size):
            answer = ask(page, "search", entry=0, query=place, start=array.size - 1 - place)[1]
            assert (answer["count"], answer["place"]) == (1, place)


@pytest.mark.parametrize(
    "array",
    [
        FIELD[0],
        np.full((3, 4), np.nan),
        np.array([1e308, -1e308, 1e308, 1.0]),
        np.array([BIG.min, BIG.max, BIG.max - 1, 5]),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.array([True, False, True]),
        np.array([3 + 4j, complex(np.nan, np.inf), 0]),
        np.array([5, "NaT", -7], "m8[s]"),
        np.arange(24, dtype="f2").reshape(2, 3, 4),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_a_summary_is_what_numpy_says_of_the_whole(array: np.ndarray[Any, Any]) -> None:
    with sa.page(array, serve=True) as page:
        summary = ask(page, "summary", entry=0)[1]
    flat = array.reshape(-1)
    missing = np.isnat(flat) if array.dtype.kind == "m" else flat != flat
    flat = flat.astype(np.int64) if array.dtype.kind == "m" else flat
    numbers = np.abs(flat[~missing]) if array.dtype.kind == "c" else flat[~missing]
    finite = numbers[np.isfinite(numbers)]
    assert (summary["count"], summary["missing"]) == (array.size, missing.sum())
    assert summary["infinite"] == len(numbers) - len(finite)
    if not len(finite):
        assert summary["least"] is summary["greatest"] is None
        return
    places = [summary["least"], summary["greatest"]]
    exact = np.abs(flat[places]) if array.dtype.kind == "c" else flat[places]
    assert exact.tolist() == [type(exact[0])(finite.min()), type(exact[0])(finite.max())]
    unit = float(max(abs(float(finite.min())), abs(float(finite.max())))) or 1.0
    assert summary["mean"] == pytest.approx(float((finite.astype(float) / unit).mean() * unit), rel=1e-9)
    with np.errstate(over="ignore"):
        deviation = float((finite.astype(float) / unit).std() * unit)
    if summary["deviation"] is None:
        assert deviation > 1e150
    else:
        assert summary["deviation"] == pytest.approx(deviation, rel=1e-9)
    full = summary["scales"]["full"]
    assert (full["low"], full["high"]) == (float(finite.min()), float(finite.max()))
    infinite = [int((numbers == -np.inf).sum()), int((numbers == np.inf).sum())]
    assert summary["bars"]["full"][-2:] == infinite
    assert sum(summary["bars"]["full"]) == sum(summary["bars"]["2"]) == len(numbers)


@pytest.mark.usefixtures("small_blocks")
def test_a_search_goes_on_from_an_element_and_around_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_patience=-1.0)  # one block a request
    array = np.zeros((6, 10), np.int8)
    wanted = [3, 4, 25, 59]
    array.reshape(-1)[wanted] = 9
    with sa.page(array, serve=True) as page:
        assert json.loads(ask_page(page, "search?entry=0&query=9")[1])["done"] == 1
        assert ask(page, "search", entry=0, query=9)[1]["count"] == 4
        for start in range(60):
            following = ask(page, "search", entry=0, query=9, start=start, back=0)[1]["place"]
            assert following == next((place for place in wanted if place > start), 3)
            before = ask(page, "search", entry=0, query=9, start=start, back=1)[1]["place"]
            assert before == next((place for place in wanted[::-1] if place < start), 59)
        nothing = ask(page, "search", entry=0, query=8)[1]
        assert (nothing["count"], nothing["place"]) == (0, -1)


@pytest.mark.parametrize(
    ("array", "query", "places"),
    [
        (np.array([1.5, np.nan, -2.0, 30.25]), "> 1.5", [3]),
        (np.array([1.5, np.nan, -2.0, 30.25]), ">=1.5", [0, 3]),
        (np.array([1.5, np.nan, -2.0, 30.25]), "<= -2", [2]),
        (np.array([1.5, np.nan, -2.0, 30.25]), "NaN", [1]),
        (np.array([np.inf, -np.inf, 1.0]), "-inf", [1]),
        (np.array([0.1, 0.2], "f4"), "0.1", [0]),
        (np.array([0.1, 0.2], "f2"), "= 0.2", [1]),
        (np.array([2**53, 2**53 + 1]), "9007199254740993", [1]),
        (np.array([5, 7]), "5.5", []),
        (np.array([5, 7]), "99999999999999999999999", []),
        (np.array([2**64 - 1], np.uint64), "-1", []),
        (np.array([5, 7], np.int8), "300", []),
        (np.array([True, False]), "true", [0]),
        (np.array([True, False]), "0", [1]),
        (np.array([3 + 4j, 5]), "3+4i", [0]),
        (np.array([3 + 4j, 5]), "5", [1]),
        (np.array([3 + 4j, 5]), "> 4.5", [0, 1]),
        (np.array(["Élan", "b"]), "éL", [0]),
        (np.array(["2024-01-05", "NaT"], "M8[D]"), "01-05", [0]),
        (np.array([None, "x", 2.5, True], object), "none", [0]),
        (np.array([None, "x", 2.5, True], object), "2.5", [2]),
        (np.array([5, "NaT"], "m8[s]"), "5", [0]),
        (np.array([5, "NaT"], "m8[s]"), "nat", [1]),
        *((np.array([5.0, 7.0]), query, []) for query in ("", " ", "x")),
        (np.array([5, 7]), "> x", []),
        (np.array([3 + 4j, 5]), "z", []),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_what_a_search_finds(array: np.ndarray[Any, Any], query: str, places: list[int]) -> None:
    with sa.page(array, serve=True) as page:
        answers = [ask(page, "search", entry=0, query=query, start=start)[1] for start in range(array.size)]
    assert {answer["count"] for answer in answers} == {len(places)}
    assert {answer["place"] for answer in answers} == set(places or [-1])


@pytest.mark.parametrize(
    ("first", "second", "away"),
    [
        (np.array([1.5, np.nan, np.nan, 0.0]), np.array([2.0, np.nan, 1.0, -0.0]), [0.5, 0.0, np.nan, 0.0]),
        (np.array([np.inf, np.inf]), np.array([np.inf, 1.0]), [0.0, -np.inf]),
        (np.array([BIG.min, 2**60, 7]), np.array([BIG.max, 2**60 + 1, 3]), [2.0**64, 1.0, -4.0]),
        (np.array([2**64 - 1], np.uint64), np.array([-1]), [-(2.0**64)]),
        (np.array([True, False]), np.array([True, True]), [0.0, 1.0]),
        (np.array([3 + 4j, 1]), np.array([0j, 1]), [5.0, 0.0]),
        (np.array(["a", "b"]), np.array(["a", "c"]), [0.0, 1.0]),
        (np.array([1, "NaT"], "m8[s]"), np.array([4, "NaT"], "m8[s]"), [3.0, 0.0]),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_differences_are_exact(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], away: list[float]) -> None:
    with sa.page(first, second, serve=True) as page:
        difference = PageReader(ask_page(page, "")[1].decode()).manifest["entries"][0]["difference"]
        content = ask_page(page, f"box?entry={difference}&box=0:{len(first)}:1")[1]
    np.testing.assert_array_equal(np.frombuffer(content), away)
    held = PageReader(sa.page(first, second).html)
    entries = held.manifest["entries"]
    np.testing.assert_array_equal(held.elements(entries[entries[0]["difference"]]), away)


# Asked over HTTP, and in a browser -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two files, the second with one element edited, one wrong cell and a damaged checksum of nothing else."""
    folder = tmp_path_factory.mktemp("whole")
    sa.write(folder / "run.xlsx", {"field": FIELD, "texts": TEXTS})
    sa.write(folder / "back.xlsx", {"field": FIELD, "texts": TEXTS})
    import openpyxl

    book = openpyxl.load_workbook(folder / "back.xlsx")
    sheet = book.worksheets[0]
    column = sa.scan(folder / "back.xlsx")["field"].data[0]
    sheet.cell(column.row + 1 + 17_777, column.column + 1).value = 55.5
    book.save(folder / "back.xlsx")
    with sa.page(folder / "run.xlsx", folder / "back.xlsx", serve=True) as page:
        yield page


def test_a_server_answers_for_whole_arrays(served: Any) -> None:
    status, summary = ask(served, "summary", entry=0)
    assert (status, summary["count"], summary["missing"], summary["infinite"]) == (200, FIELD.size, 1, 1)
    assert summary["greatest"] == 2
    assert ask(served, "search", entry=0, query="> 1e299", start=0, back=0)[1]["place"] == 1
    hits = ask(served, "search", entry=1, query="élan 9999", start=0)
    assert hits[1] == {"done": 1, "total": 1, "count": 1, "place": 9999}
    difference = PageReader(ask_page(served, "")[1].decode()).manifest["entries"][0]["difference"]
    assert ask(served, "search", entry=difference, query="> 0.5")[1]["place"] == 17_777
    findings = ask(served, "findings")[1]
    assert any("edited" in finding["message"] for finding in findings["findings"])
    assert {finding["file"] for finding in findings["findings"]} == {1}


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3)])
@pytest.mark.usefixtures("small_blocks")
def test_a_scalar_and_arrays_without_elements_stand_in_the_page(shape: tuple[int, ...]) -> None:
    with sa.page(np.full(shape, 1.5), serve=True) as page:
        assert ask(page, "summary", entry=0)[0] == 404
        assert "served" not in PageReader(ask_page(page, "")[1].decode()).entry("array")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("summary?entry=99", 404),
        ("summary?entry=-1", 400),
        ("summary?", 400),
        ("search?entry=0&query=" + "1" * 1001, 400),
        ("search?entry=0&query=1&start=x", 400),
        ("search?entry=0&query=1&start=999999999999999", 200),
        ("search?entry=0&a=1&b=2&c=3&d=4&e=5", 400),
        ("findings?x=1", 400),
        ("search?entry=%D9%A0&query=1", 400),
    ],
)
def test_a_hostile_question_is_refused(served: Any, query: str, status: int) -> None:
    assert ask_page(served, query)[0] == status


def test_only_some_searches_are_kept(served: Any) -> None:
    for number in range(20):
        ask(served, "search", entry=0, query=str(number))
    assert len(served._server.answers._searches) == 8


def test_a_page_asks_for_all_of_it(shared_browser: Browser, served: Any) -> None:
    browser = shared_browser
    browser.visit(served.url)
    browser.wait_until("document.querySelectorAll('#finding-list li').length > 0")
    assert any("edited" in text for text in browser.texts("#finding-list li"))
    browser.wait_until("document.querySelector('#statistics thead th:last-child').textContent === 'array'")
    table = dict(
        zip(browser.texts("#statistics tbody th"), browser.texts("#statistics tbody td:last-child"), strict=True)
    )
    assert (table["elements"], table["NaN"], table["greatest"]) == ("18,000", "1", "1e+300")
    assert browser.find("#histogram-array").get_attribute("aria-label").startswith("Histogram: 40 bars")
    assert browser.texts(".maps figcaption")[-1].startswith("difference (second")
    browser.press("/")
    browser.press(*"55.5", "ENTER")
    browser.wait_until("document.querySelector('#found').textContent !== ''")
    browser.wait_until("!document.querySelector('#found').textContent.includes('searching')")
    assert browser.texts("#found") == ["not in the array"]  # of the first file
    browser.select("#scale", "array 2")
    edited = next(n for n, text in enumerate(browser.texts("#finding-list li")) if "edited" in text)
    browser.run("document.querySelectorAll('#finding-list li')[arguments[0]].firstElementChild.click()", edited)
    index = [int(place) for place in np.unravel_index(17_777, FIELD.shape)]
    browser.wait_until(f"document.querySelector('#readout').textContent.includes('{str(index)[:-1]}')")
    browser.wait_until("document.querySelector('#readout').textContent.includes('55.5')")
    assert browser.violations() == []
    assert browser.messages() == []
