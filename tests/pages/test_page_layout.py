"""Where things stand on a page, and how odd values look: long lists and texts, infinities, labels of an axis."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from children import GIVEN_UP_AFTER

import sheetarray as sa

LABELS: list[tuple[str, list[str], list[str]]] = [
    ("number", ["20260105", "20260106"], ["20260105", "20260106"]),  # days: every digit counts
    ("number", ["123456789012345", "7"], ["1.23457e14", "7"]),
    ("number", ["0.30000000000000004", "-9000000000000000000"], ["0.3", "-9e18"]),
    ("number", ["1000000000", "1000000000.25"], ["1000000000", "1000000000.25"]),
    ("number", ["123456789012345678", "123456789012345679"], ["123456789012345678", "123456789012345679"]),
    ("number", ["0.1", "0.1", "0.2"], ["0.1 [0]", "0.1 [7]", "0.2"]),
    ("date", ["2026-01-01T00:00:00.000000", "2026-01-02T00:00:00.000000"], ["2026-01-01", "2026-01-02"]),
    ("date", ["2026-01-01T00:00:00", "2026-01-01T00:15:00"], ["2026-01-01T00:00", "2026-01-01T00:15"]),
    ("date", ["2026-01-01T00:00:00.000", "2026-01-01T00:00:01.000"], ["2026-01-01T00:00:00", "2026-01-01T00:00:01"]),
    (
        "date",
        ["2026-01-01T00:00:00.250", "2026-01-01T00:00:00.500"],
        ["2026-01-01T00:00:00.25", "2026-01-01T00:00:00.5"],
    ),
    ("date", ["2026", "NaT"], ["2026", "NaT"]),
    ("text", ["Bern", "Zürich Flughafen"], ["Bern", "Zürich Flugha…"]),
    ("text", ["Zürich Flughafen A", "Zürich Flughafen B"], ["Zürich…hafen A", "Zürich…hafen B"]),
    ("text", ["x" * 30 + "a" + "y" * 30, "x" * 30 + "b" + "y" * 30], ["…xxxayyyyyyyy…", "…xxxbyyyyyyyy…"]),
    ("text", ["a", "b", "a"], ["a [0]", "b", "a [14]"]),
    ("text", ["x" * 14, "x" * 15], ["x" * 14, "x" * 13 + "…"]),
]
NUMBERS = {
    5e18: "5e18",
    -9.223372036854775e18: "-9.22337e18",
    123456.0: "123456",
    0.000125: "0.000125",
    1e11: "100000000000",
}


def test_labels_and_ticks_are_short_and_none_is_another_one() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    assets = Path(sa.__file__).parent / "pages" / "assets"
    program = "".join((assets / name).read_text(encoding="utf-8") for name in ("values.js", "ticks.js"))
    program += f"const labels = {json.dumps(LABELS)}, numbers = {json.dumps(list(NUMBERS))};"
    program += "const shorten = ([kind, texts]) => shortenLabels(texts, texts.map((_, place) => 7 * place), kind);"
    program += "console.log(JSON.stringify([labels.map(shorten), numbers.map((number) => roundNumber(number))]))"
    done = subprocess.run([node, "--eval", program], capture_output=True, timeout=GIVEN_UP_AFTER, check=True)
    assert json.loads(done.stdout) == [[texts for _, _, texts in LABELS], list(NUMBERS.values())]


def test_a_long_list_stands_beside_its_array_and_is_filtered(browser: Browser) -> None:
    browser.open(sa.page({f"sensor {number:03d}": np.arange(6).reshape(2, 3) for number in range(60)}).html)
    browser.run("window.scrollTo(0, document.body.scrollHeight)")
    browser.choose_array(59)
    top, height = browser.run("return [document.querySelector('#slice').getBoundingClientRect().top, innerHeight]")
    assert 0 <= top < height
    browser.find("#filter").send_keys("R 05")
    names = browser.run(
        "return [...document.querySelectorAll('#list li')].filter((row) => row.offsetParent)"
        ".map((row) => row.innerText)"
    )
    assert [name.split("\n")[0] for name in names] == [f"sensor {number:03d}" for number in range(50, 60)]
    browser.find("#filter").clear()
    browser.press("ESCAPE")
    browser.open(sa.page({"few": np.arange(3)}).html)
    assert not browser.find("#filter").is_displayed()


def test_a_long_text_is_scrolled_and_a_long_name_makes_nothing_wider(browser: Browser) -> None:
    browser.open(sa.page({"n" * 200: np.array(["x" * 3000, "short"])}).html, width=390, height=844)
    long, width, tall = browser.run(
        "const code = document.querySelector('#readout code.long');"
        "return [code.tabIndex, document.documentElement.scrollWidth, code.clientHeight]"
    )
    assert (long, width) == (0, 390)
    assert tall < 200
    assert browser.run("return document.querySelector('#list').clientHeight") < 100


def test_infinities_have_the_colours_of_the_ends(browser: Browser) -> None:
    browser.open(sa.page({"x": np.array([[np.inf, -np.inf], [2, 2]]), "nothing": np.full((3, 3), np.nan)}).html)
    colours = browser.run(
        "const canvas = document.querySelector('canvas.map'); const ratio = canvas.width / canvas.clientWidth;"
        "const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "return [[0.4, 12], [0.9, 12], [0.4, 80]].map(([share, y]) => {"
        "  const x = 76 + share * (canvas.clientWidth - 86);"
        "  const start = 4 * (Math.round(y * ratio) * canvas.width + Math.round(x * ratio));"
        "  return [...data.slice(start, start + 3)];"
        "})"
    )
    assert colours[0] == [253, 231, 37]
    assert colours[1] == [68, 1, 84]
    assert colours[2] not in colours[:2]
    browser.choose_array(1)
    assert browser.texts(".plain td")[1:4] == ["9", "9", "none"]
