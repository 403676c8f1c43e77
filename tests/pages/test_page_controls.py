"""Every control of a page, by mouse and keyboard, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser

import sheetarray as sa

FIELD = np.random.default_rng(1).normal(15, 8, size=(6, 10, 20))


@pytest.fixture(scope="module")
def climate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with labels."""
    xr = pytest.importorskip("xarray")
    path = tmp_path_factory.mktemp("climate") / "climate.csv"
    dataset = xr.Dataset(
        {
            "t": (("time", "lat", "lon"), FIELD, {"units": "K"}),
            "name": ("lat", np.array([f"row {n}" for n in range(10)])),
        },
        {
            "time": np.arange("2026-01", "2026-07", dtype="M8[M]").astype("M8[ns]"),
            "lat": np.linspace(-45, 45, 10),
            "lon": np.arange(0, 360, 18.0),
        },
    )
    sa.write(path, dataset)
    return path


def readout(browser: Browser) -> list[str]:
    return browser.texts("#readout > *")


def first_cell(browser: Browser) -> float:
    return float(browser.texts("#table tbody td bdi")[0])


def address_of(path: Path, index: tuple[int, ...]) -> str:
    info = sa.scan(path)["t"]
    return info.data[0].address(sum(i * stride for i, stride in zip(index, info.strides, strict=True)))


# Dimensions ----------------------------------------------------------------------------------------------------------


def test_a_slider_moves_by_key_and_says_its_label(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    assert browser.texts("#slice") == ["t[0, :, :]"]
    assert first_cell(browser) == FIELD[0, 0, 0]
    browser.press("1", "ARROW_RIGHT", "ARROW_RIGHT")
    assert browser.texts("#slice") == ["t[2, :, :]"]
    assert browser.texts("#slider-0-text") == ["2026-03-01  [2]  of 6"]
    assert browser.find("#slider-0").get_attribute("aria-valuetext") == "2026-03-01  [2]"
    assert first_cell(browser) == FIELD[2, 0, 0]
    browser.press("END")
    assert first_cell(browser) == FIELD[5, 0, 0]


def test_a_slider_moves_by_mouse(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    width = browser.find("#slider-0").size["width"]
    browser.click_at("#slider-0", width - 4, 10)
    assert browser.texts("#slice") == ["t[5, :, :]"]
    assert first_cell(browser) == FIELD[5, 0, 0]


def test_any_two_axes_are_shown(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    browser.select("#rows", "0")
    assert browser.texts("#slice") == ["t[:, 0, :]"]
    browser.select("#columns", "0")  # they change places
    assert (browser.find("#rows").get_attribute("value"), browser.find("#columns").get_attribute("value")) == ("2", "0")
    browser.focus("#main")
    browser.press("1", "ARROW_RIGHT")
    assert browser.texts("#slice") == ["t[:, 1, :]"]
    assert browser.texts("#table tbody tr:nth-child(2) td bdi")[0] == str(FIELD[0, 1, 1])


def test_arrays_are_chosen_from_the_list(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    assert browser.texts("#list strong") == ["t", "name", "time", "lat", "lon"]
    browser.focus("#list li:nth-child(2) button")
    browser.press("ENTER")
    browser.wait_until("document.querySelector('#slice').textContent.startsWith('name')")
    assert browser.texts("#table tbody tr:nth-child(4) bdi") == ["-15  [3]", "row 3", address_of_name(climate, 3)]


def address_of_name(path: Path, index: int) -> str:
    return sa.scan(path)["name"].data[0].address(index)


# The cursor ----------------------------------------------------------------------------------------------------------


def test_the_mouse_and_the_arrow_keys_move_the_cursor(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    size = browser.find("canvas.map").size
    width, height = size["width"] - 86, size["height"] - 94
    browser.click_at("canvas.map", 76 + 7.5 * width / 20, 6 + 6.5 * height / 10)  # north is up
    expected = ["t[0, 3, 7]", str(FIELD[0, 3, 7]), f"cell {address_of(climate, (0, 3, 7))}"]
    assert readout(browser) == [*expected, "time 2026-01-01", "lat -15", "lon 126"]
    assert browser.texts("td.cursor bdi") == [str(FIELD[0, 3, 7])]
    browser.focus("canvas.map")
    browser.press("ARROW_UP", "ARROW_LEFT")
    assert readout(browser)[:2] == ["t[0, 4, 6]", str(FIELD[0, 4, 6])]
    browser.press("CONTROL+END")
    assert readout(browser)[:2] == ["t[0, 0, 19]", str(FIELD[0, 0, 19])]
    browser.press("ARROW_DOWN", "ARROW_RIGHT")  # there is nothing beyond
    assert readout(browser)[0] == "t[0, 0, 19]"


def test_the_table_follows_and_leads(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    browser.click("#table tbody tr:nth-child(2) td:nth-child(3)")
    assert readout(browser)[:2] == ["t[0, 1, 1]", str(FIELD[0, 1, 1])]
    browser.focus("#table")
    browser.press("ARROW_DOWN", "END")
    assert readout(browser)[:2] == ["t[0, 2, 19]", str(FIELD[0, 2, 19])]
    assert browser.texts("td.cursor bdi") == [str(FIELD[0, 2, 19])]
    browser.click("#addresses")
    assert browser.texts("td.cursor small") == [address_of(climate, (0, 2, 19))]


def test_a_line_is_drawn_along_both_axes_and_leads_to_an_element(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html)
    labels = [browser.find(f"#line-{n}").get_attribute("aria-label") for n in (0, 1)]
    assert labels == ["Line along lat, 10 elements", "Line along lon, 20 elements"]
    width = browser.run("return document.querySelector('#line-1').clientWidth") - 76
    browser.click_at("#line-1", 64 + width * 5 / 19, 60)
    assert readout(browser)[0] == "t[0, 0, 5]"


@pytest.mark.parametrize("rows", [1_000, 300_000])  # in pixels: fewer than TALLEST of table.js, and more
def test_a_long_table_is_reached_to_its_end(browser: Browser, rows: int) -> None:
    array = np.arange(rows, dtype="i4")
    browser.open(sa.page(array).html)
    assert len(browser.texts("#table tbody tr")) < 40
    browser.focus("#table")
    browser.press("CONTROL+ARROW_DOWN")
    assert browser.texts("td.cursor bdi") == [str(rows - 1)]
    browser.press("ARROW_UP")
    assert browser.texts("td.cursor bdi") == [str(rows - 2)]
    browser.run("document.querySelector('#table').scrollTop = 0")
    browser.wait_until("document.querySelector('#table tbody td bdi').textContent === '0'")
    browser.run("const t = document.querySelector('#table'); t.scrollTop = t.scrollHeight")
    browser.wait_until(f"document.querySelector('#table tbody tr:last-child td bdi').textContent === '{rows - 1}'")


def test_a_wide_table_is_reached_to_its_end(browser: Browser) -> None:
    browser.open(sa.page(np.arange(200_000).reshape(2, 100_000)).html)
    browser.focus("#table")
    browser.press("CONTROL+END")
    assert browser.texts("td.cursor bdi") == ["199999"]
    assert len(browser.texts("#table tbody td")) < 60


# Search --------------------------------------------------------------------------------------------------------------


def search(browser: Browser, text: str) -> None:
    browser.run("const s = document.querySelector('#search'); s.value = ''; s.focus()")
    browser.press(*text, "ENTER")


def test_a_number_is_found_in_any_slice(browser: Browser) -> None:
    array = np.zeros((3, 4, 5))
    array[1, 2, 3] = array[2, 0, 0] = 0.1
    array[2, 3, 4] = np.nan
    browser.open(sa.page({"t": array}).html)
    browser.press("/")
    browser.press(*"0.1", "ENTER")
    assert readout(browser)[0] == "t[1, 2, 3]"
    assert browser.texts("#found") == ["2 elements"]
    browser.click("#find")
    assert readout(browser)[0] == "t[2, 0, 0]"
    browser.click("#find")  # from the beginning again
    assert readout(browser)[0] == "t[1, 2, 3]"
    browser.click("#find-back")
    assert readout(browser)[0] == "t[2, 0, 0]"
    search(browser, "NaN")
    assert readout(browser)[:2] == ["t[2, 3, 4]", "NaN"]
    search(browser, "> 0.05")
    assert browser.texts("#found") == ["2 elements"]
    search(browser, "7")
    assert browser.texts("#found") == ["not in the array"]
    assert readout(browser)[0] == "t[1, 2, 3]"


def test_any_kind_of_element_is_found(browser: Browser) -> None:
    searches: list[tuple[Any, str]] = [
        (np.array([2**53, 2**53 + 1]), str(2**53 + 1)),
        (np.float32([0.5, 0.1]), "0.1"),
        (np.float16([0.5, 0.1]), "0.1"),
        (np.array([0.0, -np.inf]), "-inf"),
        (np.array([True, False]), "false"),
        (np.array([1j, 3 + 4j]), "3+4i"),
        (np.array(["Bern", "Zürich"]), "zür"),
        (np.array(["2026-01-01", "2026-07-01"], "M8[D]"), "2026-07"),
        (np.array([5, "NaT"], "m8[s]"), "nat"),
        (np.array(["x", None], object), "none"),
    ]
    browser.open(sa.page({f"a{number}": array for number, (array, _) in enumerate(searches)}).html)
    for number, (_, text) in enumerate(searches):
        browser.choose_array(number)
        search(browser, text)
        assert readout(browser)[0] == f"a{number}[1]", text


# Findings, files side by side, awkward arrays ------------------------------------------------------------------------


def test_findings_lead_to_their_elements(browser: Browser, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "f.xlsx"
    sa.write(path, {"s": np.array(["a"]), "t": np.arange(24.0).reshape(2, 3, 4), "n": np.arange(3)})
    infos, book = sa.scan(path), openpyxl.load_workbook(path)
    for name, element, value in (("t", 23, 99.5), ("n", 1, "x")):
        sheet, _, cell = infos[name].data[0].address(element).rpartition("!")
        book[sheet][cell] = value
    book.save(path)
    browser.open(sa.page(path).html)
    findings = browser.texts("#finding-list li")
    assert browser.texts("#findings-title") == [f"Findings ({len(findings)})"]
    assert any("'x'" in finding for finding in findings)
    edited = next(number for number, finding in enumerate(findings) if "t[1, 2, 3]" in finding)
    browser.click(f"#finding-list li:nth-child({edited + 1}) button")
    browser.wait_until("document.querySelector('#slice').textContent.startsWith('t')")
    assert readout(browser)[:2] == ["t[1, 2, 3]", "99.5"]
    assert browser.texts("td.marked bdi") == ["99.5"]
    assert "23.0 -> 99.5" in browser.texts("td.marked")[0]
    assert "23.0 -> 99.5" in readout(browser)[-1]


def test_two_files_stand_side_by_side_with_their_difference(browser: Browser, tmp_path: Path) -> None:
    first = np.arange(12.0).reshape(3, 4)
    second = first.copy()
    second[1, 2] += 0.5
    second[2, 3] = np.nan
    sa.write(tmp_path / "a.csv", {"t": first, "only": np.zeros(2)})
    sa.write(tmp_path / "b.csv", {"t": second, "only": np.zeros(3)})
    browser.open(sa.page(tmp_path / "a.csv", tmp_path / "b.csv").html)
    assert browser.texts("#list strong") == ["t", "only", "only"]
    assert browser.texts("figcaption") == ["a.csv", "b.csv", "difference (second \N{MINUS SIGN} first)"]
    browser.select("#panel", "2")
    cells = browser.texts("#table tbody td bdi")
    assert cells == ["0", "0", "0", "0", "0", "0", "0.5", "0", "0", "0", "0", "NaN"]
    browser.click("#table tbody tr:nth-child(2) td:nth-child(4)")
    assert readout(browser)[1:4] == ["a.csv 6", "b.csv 6.5", "difference 0.5"]


def test_what_cannot_be_read_says_why(browser: Browser, tmp_path: Path) -> None:
    sa.write(tmp_path / "a.csv", {"t": np.array([1.5, 2.5]), "n": np.arange(2)})
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace("2.5", "2.5 m"))
    browser.open(sa.page(tmp_path / "a.csv").html)
    browser.choose_array(1)
    assert browser.texts("main .error")[0].endswith("cell A21: t[1]: expected a number, found '2.5 m'")


# Safety --------------------------------------------------------------------------------------------------------------

HOSTILE = [
    *("</script><script>window.hit = 1</script>", "<img src=x onerror='window.hit = 1'>", "<!-- <script>"),
    *("\"quotes' & <b>tags</b>", "\u202eright to left", "שלום 👩\u200d🔬", "\u2028\u2029", "${window.hit = 1}"),
]


def test_names_and_texts_stay_texts(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / f"{HOSTILE[1]}.csv"
    bad = HOSTILE[1] + "!"
    names = [name for name in HOSTILE if name.strip()]
    sa.write(path, {name: np.array(HOSTILE) for name in names} | {bad: np.array([0.25])})
    path.write_text(path.read_text().replace("0.25", HOSTILE[0]))
    browser.open(sa.page(path).html)
    assert browser.texts("#title") == [path.name]
    assert sorted(browser.texts("#list strong")) == sorted([*names, bad])
    assert HOSTILE[0] in browser.texts("#finding-list li")[0]
    for number, name in enumerate(browser.texts("#list strong")):
        browser.choose_array(number)
        if name == bad:
            assert HOSTILE[0] in browser.texts("main .error")[0]
        else:
            assert browser.texts("#table tbody tr td:first-of-type bdi") == HOSTILE
    assert browser.run("return typeof window.hit") == "undefined"
    assert browser.run("return document.querySelectorAll('img, td b, li b b').length") == 0


def test_an_injected_script_would_not_run(browser: Browser) -> None:
    html = sa.page(np.arange(3.0)).html.replace("</body>", "<script>window.hit = 1</script></body>")
    browser.open(html)
    assert browser.run("return typeof window.hit") == "undefined"
    assert any("Content Security Policy" in message for message in browser.messages())


def test_a_page_in_a_notebook_is_ready_in_its_frame(browser: Browser) -> None:
    frame = sa.page({"t": np.arange(6.0).reshape(2, 3)})._repr_html_()
    ready = "<script>document.documentElement.dataset.ready = 'true'</script>"
    browser.open(f"<!doctype html><html lang=en><meta charset=utf-8><title>n</title><body>{frame}{ready}</body></html>")
    browser.driver.switch_to.frame(0)
    try:
        browser.wait_until("document.documentElement.dataset.ready === 'true'")
        assert browser.texts("#table tbody td bdi") == ["0", "1", "2", "3", "4", "5"]
    finally:
        browser.driver.switch_to.default_content()


# Themes, phones, paper, accessibility --------------------------------------------------------------------------------


def test_the_theme_is_the_readers_and_can_be_changed(browser: Browser) -> None:
    html = sa.page(np.arange(3.0)).html
    papers = []
    for dark in (False, True):
        browser.open(html, dark=dark)
        for _ in range(2):
            papers.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
            browser.click("#theme")
    assert papers == ["rgb(255, 255, 255)", "rgb(18, 22, 29)", "rgb(18, 22, 29)", "rgb(255, 255, 255)"]


def test_a_phone_shows_it_without_scrolling_sideways(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html, width=380, height=800)
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.find("canvas.map").size["width"] > 300


def test_paper_has_the_pictures_and_no_controls(browser: Browser, climate: Path) -> None:
    browser.open(sa.page(climate).html, dark=True)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = browser.run(
        "return ['nav', '.controls', '#theme'].map((s) => getComputedStyle(document.querySelector(s)).display)"
    )
    assert hidden == ["none", "none", "none"]
    assert browser.find("canvas.map").is_displayed()
    assert len(browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000


@pytest.mark.parametrize(("dark", "width"), [(False, 380), (True, 1280)])  # colours and sizes do not meet
def test_pages_are_accessible(browser: Browser, climate: Path, tmp_path: Path, dark: bool, width: int) -> None:
    ak = pytest.importorskip("awkward")
    damaged, lists = tmp_path / "f.csv", {"ev": ak.Array([[1], []])}
    sa.write(damaged, {"x": np.array([1.5, np.nan]), "g": np.array(["a", None], object), "bad": np.array([0.25])})
    damaged.write_text(damaged.read_text().replace("0.25", "y"))
    pages = [sa.page(climate), sa.page(climate, climate), sa.page(damaged), sa.page(lists)]
    for page, most in zip(
        pages, (1, 1, 2, 1) if dark else (3, 2, 3, 2), strict=True
    ):  # colours are the same in all arrays
        browser.open(page.html, dark=dark, width=width)
        for number in range(min(len(browser.texts("#list button")), most)):
            browser.choose_array(number)
            assert browser.violations(rules=("color-contrast",) if dark else ()) == []  # names and roles are the same
