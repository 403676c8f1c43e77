"""What a page hands over: the values of a slice as TSV, and its picture as PNG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from browser import Browser
from children import until

import sheetarray as sa


def copied(browser: Browser, button: str) -> str:
    """Click a button, and return what it puts into the clipboard."""
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    browser.click(button)
    browser.wait_until("window.copied !== undefined")
    text: str = browser.run("return window.copied")
    return text


def test_a_slice_is_copied_as_a_spreadsheet_takes_it(browser: Browser) -> None:
    values = np.arange(24.0).reshape(2, 3, 4) / 7
    browser.open(sa.view({"t": values}).html)
    browser.press("1", "ARROW_RIGHT")
    rows = [line.split("\t") for line in copied(browser, "#copy-tsv").split("\n")]
    assert [[float(cell) for cell in row] for row in rows] == values[1].tolist()
    assert browser.texts("#message")[0].split()[::2] == ["Copied:", "\N{MULTIPLICATION SIGN}", "values"]
    browser.open(sa.view({"s": np.array([["a\tb", 'c"d'], ["e\nf", "g"]])}).html)
    assert copied(browser, "#copy-tsv") == '"a\tb"\t"c""d"\n"e\nf"\tg'


def test_a_picture_is_saved(browser: Browser, tmp_path: Path) -> None:
    how = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", how)
    browser.open(sa.view({"t": np.arange(12.0).reshape(3, 4)}).html)
    browser.click("#save-picture")
    until((tmp_path / "picture.png").exists)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert browser.messages() == []
