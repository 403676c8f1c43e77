"""What a page opens with, and how it is drawn: north up, labels told apart, the largest difference, links, any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from browser import Browser, PageReader
from roundings import rounded as round_half_up

import sheetarray as sa

# In a heat map of short labels, in pixels from its corner; the same as in the program of the page.
LEFT, TOP, RIGHT, BELOW = 76, 6, 10, 88
LOWEST, GREATEST = (68, 1, 84), (253, 231, 37)


def colour_at(browser: Browser, x: float, y: float) -> tuple[int, ...]:
    """Return the colour of the first heat map at shares of its width and height, as it is seen."""
    left, top, width, height, pixels = browser.run(
        "const box = document.querySelector('canvas.map').getBoundingClientRect();"
        "return [box.left + scrollX, box.top + scrollY, box.width, box.height, devicePixelRatio]"
    )
    place = left + LEFT + x * (width - LEFT - RIGHT), top + TOP + y * (height - TOP - BELOW)
    (colour,) = browser.colours(browser.picture(whole=True), [(place[0] * pixels, place[1] * pixels)])
    return tuple(colour[:3])


def readout(browser: Browser) -> list[str]:
    return browser.texts("#readout > *")


# The last two dimensions, north up ------------------------------------------------------------------------------------


def make_globe(name: str, attrs: dict[str, str], latitudes: Any, dims: tuple[str, ...]) -> Any:
    """A dataset whose elements rise to the north, and stay the same to the east."""
    xr = pytest.importorskip("xarray")
    sizes = {"time": 9, name: len(latitudes), "lon": 7}
    field = xr.DataArray(np.asarray(latitudes, float), dims=name).expand_dims(time=9, lon=7)
    assert set(sizes) == set(field.dims)
    coords = {name: (name, latitudes, attrs), "lon": np.arange(7.0)}
    return xr.Dataset({"t": field.transpose(*dims)}, coords)


RISING, FALLING = [-60.0, -20.0, 20.0, 60.0], [60.0, 20.0, -20.0, -60.0]


@pytest.mark.parametrize(
    ("name", "attrs"),
    [
        *(("lat", {}), ("Latitude", {}), ("y", {"units": "degrees_north"}), ("y", {"units": "degree_N"})),
        ("y", {"standard_name": "latitude", "units": "degrees"}),
    ],
)
def test_latitudes_are_known_by_their_names_and_units(name: str, attrs: dict[str, str]) -> None:
    for latitudes, north in ((RISING, "last"), (FALLING, "first")):
        page = PageReader(sa.page(make_globe(name, attrs, latitudes, ("time", name, "lon"))).html)
        assert page.entry("t")["north"] == ["", north, ""]


@pytest.mark.parametrize(("name", "attrs", "latitudes"), [("lat", {}, RISING), ("y", {"units": "degree_N"}, FALLING)])
def test_north_is_up(browser: Browser, name: str, attrs: dict[str, str], latitudes: list[float]) -> None:
    browser.open(sa.page(make_globe(name, attrs, latitudes, ("time", name, "lon"))).html)
    assert browser.texts("#slice") == ["t[0, :, :]"]
    assert (colour_at(browser, 0.95, 0.05), colour_at(browser, 0.95, 0.95)) == (GREATEST, LOWEST)
    browser.focus("canvas.map")
    browser.press("CONTROL+ARROW_UP")
    assert float(readout(browser)[1]) == 60
    browser.press("ARROW_DOWN")
    assert float(readout(browser)[1]) == 20
    height = browser.find("canvas.map").size["height"]
    browser.click_at("canvas.map", LEFT + 20, height - BELOW - 5)
    assert float(readout(browser)[1]) == -60


def test_a_latitude_that_stands_last_goes_down(browser: Browser) -> None:
    browser.open(sa.page(make_globe("lat", {}, [-60.0, 0.0, 60.0], ("time", "lon", "lat"))).html)
    assert [browser.find(f"#{which}").get_attribute("value") for which in ("rows", "columns")] == ["2", "1"]
    assert (colour_at(browser, 0.95, 0.05), colour_at(browser, 0.95, 0.95)) == (GREATEST, LOWEST)
    browser.select("#rows", "1")  # and as somebody chooses
    assert (colour_at(browser, 0.05, 0.95), colour_at(browser, 0.95, 0.95)) == (LOWEST, GREATEST)


@pytest.mark.parametrize(
    ("name", "attrs", "values"),
    [("depth", {"units": "m"}, [1.0, 2.0, 3.0]), ("lat", {}, [1.0, 3.0, 2.0]), ("plate", {}, [1.0, 2.0, 3.0])],
)
def test_all_else_stands_as_in_the_array(browser: Browser, name: str, attrs: dict[str, str], values: Any) -> None:
    browser.open(sa.page(make_globe(name, attrs, values, ("time", name, "lon"))).html)
    assert colour_at(browser, 0.95, 0.05) == LOWEST


def test_dimensions_of_one_element_are_not_shown(browser: Browser) -> None:
    browser.open(sa.page({"t": np.zeros((3, 4, 5, 1)), "one": np.zeros((1, 1, 1))}).html)
    assert browser.texts("#slice") == ["t[0, :, :, 0]"]
    browser.choose_array(1)
    assert browser.texts("#slice") == ["one[0, :, :]"]


# Labels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_of_an_axis_are_told_apart_and_not_cut(browser: Browser, width: int) -> None:
    xr = pytest.importorskip("xarray")
    quarters = np.datetime64("2026-01-01T00:00", "us") + np.arange(6) * np.timedelta64(15, "m")
    field = np.add.outer(np.arange(8.0), np.arange(6.0)) / 64 + 1e9
    stations = [f"Meteorological station of Zürich, {letter}" for letter in "abcdefgh"]
    for coords in ({"y": 1e9 + np.arange(8) / 4, "x": quarters}, {"y": stations, "x": ["a", "b", "a", "a", "c", "c"]}):
        browser.open(sa.page(xr.Dataset({"t": (("y", "x"), field)}, coords)).html, width=width)
        texts = browser.drawn_texts()
        texts = texts[next(place for place, text in enumerate(texts) if text.startswith("how often")) + 1 :]
        rows = texts[: texts.index("x")]  # the rows, then the columns, then the title of the columns
        assert len(rows) > 8
        assert len(set(rows)) == len(rows)
        if "1000000000.25" not in rows:
            assert [text for text in rows if text.endswith(("a", "h"))][:2] == ["Meteor…rich, a", "Meteor…rich, h"]
            assert width < 600 or {"a [0]", "a [2]"} <= set(rows)
        else:
            assert {"1000000000", "2026-01-01T00:00"} <= set(rows)
        legend = texts.index("y") + 1
        assert len(set(texts[legend : legend + 2])) == 2


# Two files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [15, 16, 17])
@pytest.mark.parametrize("half_up", [True, False])
def test_what_a_re_save_rounds_is_no_difference(browser: Browser, digits: int, half_up: bool, tmp_path: Path) -> None:
    field = np.random.default_rng(0).normal(size=(3, 40, 50))
    back = [round_half_up(x, digits) if half_up else float(f"{x:.{digits}g}") for x in field.ravel().tolist()]
    back = np.array(back).reshape(field.shape)
    back[2, 30, 7] += 1e-3
    sa.write(tmp_path / "a.csv", {"other": field, "t": field})
    sa.write(tmp_path / "b.csv", {"other": np.nextafter(field, 9), "t": back})
    browser.open(sa.page(tmp_path / "a.csv", tmp_path / "b.csv").html)
    assert browser.texts("#slice") == ["t[2, :, :]"]
    assert readout(browser)[0] == "t[2, 30, 7]"
    assert float(browser.texts("#readout code")[2]) == pytest.approx(1e-3)
    rounded = np.count_nonzero(back != field) - 1
    assert (f"; {rounded:,} only rounded" in browser.texts("figcaption")[2]) == bool(rounded)
    browser.choose_array(0)
    browser.select("#panel", "2")
    assert set(browser.texts("#table tbody td bdi")) == {"0"}


@pytest.mark.parametrize(
    ("first", "second", "opened"),
    [
        ({"a": [1.0, 2.0], "b": [[5, 6], [7, 8]]}, {"a": [1.0, 2.5], "b": [[5, 6], [1, 8]]}, "b[1, 0]"),
        ({"a": [1.0, 2.0], "b": ["x", "y"]}, {"a": [1.0, 2.0], "b": ["x", "z"]}, "b[1]"),
        ({"a": [1.0, 2.0, 3.0]}, {"a": [np.nan, 2.0, 3.5]}, "a[2]"),
        ({"a": [1.0, 2.0, 3.0]}, {"a": [1.0, np.nan, 3.0]}, "a[1]"),
        ({"a": [1.0, 2.0], "b": [3.0]}, {"a": [1.0, np.inf], "b": [1e300]}, "a[1]"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, np.nextafter(2, 3)]}, "a[0]"),
        ({"a": [1.0], "b": 2.5}, {"a": [1.5], "b": 7.5}, "b[()]"),
        ({"a": [1.0], "b": 2.5, "c": []}, {"a": [1.0], "b": np.nan, "c": []}, "b[()]"),
        ({"a": [1.0, -0.0], "b": [1, 2]}, {"a": [1.0, 0.0], "b": [1, 2, 3]}, "a[0]"),
    ],
)
def test_it_opens_at_the_largest_difference(browser: Browser, first: Any, second: Any, opened: str) -> None:
    files = [{name: np.array(values) for name, values in arrays.items()} for arrays in (first, second)]
    browser.open(sa.page(*files).html)
    assert readout(browser)[0] == opened
    assert len(browser.texts("#table td.cursor")) == 1
    assert browser.run("return location.hash") == ""


# Links ----------------------------------------------------------------------------------------------------------------

ARRAYS = {"a&b=#ü": np.arange(24.0).reshape(2, 3, 4), "line": np.arange(5.0), "one": np.array(1.5)}


def test_the_address_leads_back_to_what_is_shown(browser: Browser) -> None:
    html = sa.page(ARRAYS).html
    browser.open(html)
    assert browser.run("return location.hash") == ""
    browser.select("#rows", "0")
    browser.select("#scale", "slice full")
    browser.focus("canvas.map")
    browser.press("ARROW_DOWN", "ARROW_RIGHT", "ARROW_RIGHT")
    browser.wait_until("location.hash.includes('index=1,0,2')")
    fragment = browser.run("return location.hash")
    shown = (readout(browser), browser.texts("#slice"), browser.texts("#table tbody bdi"))
    browser.open(html, fragment=fragment)
    assert (readout(browser), browser.texts("#slice"), browser.texts("#table tbody bdi")) == shown
    assert browser.find("#scale").get_attribute("value") == "slice full"
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    browser.click("#copy-link")
    browser.wait_until("window.copied !== undefined")
    assert browser.run("return window.copied") == browser.run("return location.href")
    browser.run("location.hash = '#array=line&index=3'")
    browser.wait_until("document.querySelector('#readout b').textContent === 'line[3]'")


def test_a_link_says_which_table_and_which_of_two_arrays(browser: Browser) -> None:
    first, second = ({"t": np.zeros((2, size)), "u": np.arange(4.0).reshape(2, 2) * size} for size in (3, 4))
    html = sa.page(first, second).html
    browser.open(html)
    browser.choose_array(2)
    browser.wait_until("location.hash === '#array=t&number=1&index=0,0&axes=0,1&colours=array+2'")
    browser.open(html, fragment=browser.run("return location.hash"))
    assert browser.texts("#list [aria-current] small")[0].startswith("float64  ·  2 \N{MULTIPLICATION SIGN} 4")
    browser.open(html, fragment="#array=u&index=1,1&table=2")
    assert browser.find("#panel").get_attribute("value") == "2"
    assert browser.texts("td.cursor bdi") == ["3"]


@pytest.mark.parametrize(
    ("fragment", "opened"),
    [
        ("#main", "a&b=#ü[0, 0, 0]"),
        ("#array=none&index=1", "a&b=#ü[0, 0, 0]"),
        ("#array=", "a&b=#ü[0, 0, 0]"),
        ("#array=line&number=1", "a&b=#ü[0, 0, 0]"),
        ("#array=line&number=x", "a&b=#ü[0, 0, 0]"),
        ("#%E0%A4%A&&=", "a&b=#ü[0, 0, 0]"),
        ("#array=line&index=4", "line[4]"),
        ("#array=line&index=5", "line[0]"),
        ("#array=line&index=-1", "line[0]"),
        ("#array=line&index=1.5", "line[0]"),
        ("#array=line&index=1,1&axes=0,1&colours=x&table=9&addresses=x", "line[0]"),
        (f"#array={quote('a&b=#ü')}&index=1,2,3&axes=1,1", "a&b=#ü[1, 2, 3]"),
        (f"#array={quote('a&b=#ü')}&index=1,2,3&axes=0,3", "a&b=#ü[1, 2, 3]"),
        ("#array=one&index=", "one[()]"),
        ("#array=line&index=<script>", "line[0]"),
    ],
)
def test_what_makes_no_sense_in_a_link_is_left_out(browser: Browser, fragment: str, opened: str) -> None:
    browser.open(sa.page(ARRAYS).html, fragment=fragment)
    assert readout(browser)[0] == opened
    assert browser.texts("#message") == [""]


# Windows of any size --------------------------------------------------------------------------------------------------


def canvases(browser: Browser) -> list[list[float]]:
    """For each picture its width and height in the page, its pixels across and down, and the room that it has."""
    sizes: list[list[float]] = browser.run(
        "return [...document.querySelectorAll('canvas')].map((canvas) => [canvas.clientWidth, canvas.clientHeight,"
        " canvas.width, canvas.height, canvas.parentElement.clientWidth])"
    )
    return sizes


def test_pictures_are_drawn_anew_in_another_size(browser: Browser) -> None:
    chess = np.indices((12, 12)).sum(axis=0) % 2.0
    browser.open(sa.page({"t": chess, "line": np.arange(9.0)}).html)
    for width, height, pixels in ((1500, 700, 2), (390, 800, 3), (1280, 900, 1)):
        browser.resize(width, height, pixels=pixels)
        browser.picture()  # the browser tells a page of other pixels when it next draws a frame
        browser.wait_until(
            f"innerWidth === {width} && devicePixelRatio === {pixels} && "
            "[...document.querySelectorAll('canvas')].every((canvas) =>"
            " canvas.width === Math.round(canvas.parentElement.clientWidth * devicePixelRatio))"
        )
        for wide, tall, across, down, room in canvases(browser):
            assert wide == room
            assert abs(across / wide - pixels) < 0.01
            assert abs(down / tall - pixels) < 0.02
        squares = [
            colour_at(browser, (column + 0.5) / 12, (row + 0.5) / 12) for row, column in ((2, 3), (2, 4), (9, 9))
        ]
        assert squares == [GREATEST, LOWEST, LOWEST]


def test_a_picture_is_never_out_of_proportion_before_it_is_drawn_anew(browser: Browser) -> None:
    browser.open(sa.page({"t": np.arange(12.0).reshape(3, 4)}).html)
    sizes = browser.run(
        "document.querySelector('#main').style.width = '420px';"  # measured before the page notices
        "return [...document.querySelectorAll('canvas')].map((canvas) => {"
        "  const box = canvas.getBoundingClientRect();"
        "  return [box.width, box.width / box.height, canvas.width / canvas.height, canvas.parentElement.clientWidth];"
        "})"
    )
    for width, seen, drawn, room in sizes:
        assert width <= room + 0.5  # which is in whole pixels
        assert seen == pytest.approx(drawn, rel=0.01)


def test_the_table_of_an_awkward_array_fills_another_window(browser: Browser) -> None:
    ak = pytest.importorskip("awkward")
    browser.open(sa.page({"ev": ak.Array([{f"field{number}": number for number in range(30)}])}).html, width=700)
    few = len(browser.texts("#table thead th"))
    browser.resize(1600, 900)
    browser.picture()
    browser.wait_until(f"document.querySelectorAll('#table thead th').length > {few}")
