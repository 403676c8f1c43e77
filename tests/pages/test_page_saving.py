"""What a page hands over: the values of a slice as TSV, and its picture as PNG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browser import Browser

import sheetarray as sa


def copied(browser: Browser, button: str) -> str:
    """Click a button, and return what it puts into the clipboard."""
    browser.run("delete window.copied")
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    browser.click(button)
    browser.wait_until("window.copied !== undefined")
    text: str = browser.run("return window.copied")
    return text


def test_a_slice_is_copied_as_a_spreadsheet_takes_it(browser: Browser) -> None:
    values = np.arange(24.0).reshape(2, 3, 4) / 7
    browser.open(sa.page({"t": values}).html)
    browser.press("1", "ARROW_RIGHT")
    rows = [line.split("\t") for line in copied(browser, "#copy-tsv").split("\n")]
    assert [[float(cell) for cell in row] for row in rows] == values[1].tolist()
    assert browser.texts("#message")[0].split()[::2] == ["Copied:", "\N{MULTIPLICATION SIGN}", "values"]
    browser.open(sa.page({"s": np.array([["a\tb", 'c"d'], ["e\nf", "g"]])}).html)
    assert copied(browser, "#copy-tsv") == '"a\tb"\t"c""d"\n"e\nf"\tg'


def test_the_table_that_is_seen_is_copied(browser: Browser, tmp_path: Path) -> None:
    sa.write(tmp_path / "a.csv", {"line": np.array([1.5, 2.5]), "t": np.eye(2)})
    sa.write(tmp_path / "b.csv", {"line": np.array([1.5, 4.5]), "t": np.eye(2) / 4})
    browser.open(sa.page(tmp_path / "a.csv", tmp_path / "b.csv").html)  # it opens with the line, which differs most
    assert copied(browser, "#copy-tsv") == "1.5\t1.5\t0\n2.5\t4.5\t2"
    browser.choose_array(1)
    for panel, text in (("0", "1\t0\n0\t1"), ("1", "0.25\t0\n0\t0.25"), ("2", "-0.75\t0\n0\t-0.75")):
        browser.select("#panel", panel)
        assert copied(browser, "#copy-tsv") == text
    browser.select("#panel", "0")
    browser.open(sa.page({"t": np.arange(6).reshape(2, 3)}).html)
    browser.click("#turn")
    assert copied(browser, "#copy-tsv") == "0\t3\n1\t4\n2\t5"
    ak = pytest.importorskip("awkward")
    browser.open(sa.page({"ev": ak.Array([{"run": 1, "pt": [1.5]}, {"run": 2, "pt": []}])}).html)
    assert copied(browser, "#copy-tsv") == "0\t1\t1\n1\t2\t0"


def test_a_picture_is_saved(browser: Browser, tmp_path: Path) -> None:
    browser.open(sa.page({"t": np.arange(12.0).reshape(3, 4)}).html)
    assert browser.save("#save-picture", tmp_path, "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_of_two_files_has_both_and_their_difference(browser: Browser, tmp_path: Path, dark: bool) -> None:
    browser.open(sa.page(np.zeros((4, 4)), np.eye(4)).html, dark=dark)
    picture = browser.save("#save-picture", tmp_path, "picture.png").read_bytes()
    sizes = browser.run("return [...document.querySelectorAll('canvas.map')].map((c) => [c.width, c.height])")
    assert len(sizes) == 3
    lefts = [12 + sum(width + 12 for width, _ in sizes[:number]) for number in range(3)]
    places = [
        (left + 76 + (column + 0.3) / 4 * (width - 86), 48 + 6 + (column + 0.3) / 4 * (height - 94))
        for left, (width, height) in zip(lefts, sizes, strict=True)
        for column in (1, 2)
    ]
    paper, *squares = (tuple(colour) for colour in browser.colours(picture, [(2, 2), *places]))
    assert paper == ((18, 22, 29, 255) if dark else (255, 255, 255, 255))
    assert squares == [(68, 1, 84, 255)] * 2 + [(253, 231, 37, 255)] * 2 + [(127, 46, 4, 255)] * 2
