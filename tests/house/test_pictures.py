"""The pictures of workbooks in the documentation: drawn by a script, which runs wherever LibreOffice is."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser import running_browser

import sheetarray as sa

ROOT = Path(__file__).parents[2]


def load_script(name: str) -> Any:
    """Return the module of a script of docs/, which is not a part of the package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_a_picture_of_arrays_does_not_show_rows_as_records(tmp_path):
    script = load_script("workbooks")
    arrays = script.make_arrays()
    lengths = [array.size for array in arrays.values()]
    assert len({*lengths}) == len(lengths)  # no two columns of one length
    sa.write(tmp_path / "arrays.xlsx", arrays)
    script.show_headers(tmp_path / "arrays.xlsx")
    if absent := script.absent_programs():
        pytest.skip(f"not installed: {', '.join(absent)}")
    pdf = script.print_workbook(tmp_path / "arrays.xlsx", tmp_path)
    script.draw_page(pdf, tmp_path / "arrays.png")
    assert (tmp_path / "arrays.png").read_bytes().startswith(b"\x89PNG")
    if shutil.which("pdftotext") is None:
        return
    page = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in page.split("\n")]
    assert lines[0] == [*arrays]
    assert ["version", "version"] in lines  # headers are seen
    assert ["data"] * len(arrays) in lines


def test_the_pictures_of_the_recipe_for_ten_people_are_drawn_by_running_it(tmp_path, monkeypatch):
    script = load_script("workbooks")
    if absent := script.absent_programs():
        pytest.skip(f"not installed: {', '.join(absent)}")
    monkeypatch.syspath_prepend(ROOT)
    script.draw_merge(tmp_path, tmp_path)
    for name in ("sent", "returned", "merged"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_pages_show_each_picture_that_is_there_and_no_other():
    shown = {name for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
             for name in re.findall(r"pictures/([\w-]+\.png)", page.read_text(encoding="utf-8"))}  # fmt: skip
    assert shown == {picture.name for picture in (ROOT / "docs" / "pictures").glob("*.png")}


def test_pages_are_drawn_as_a_browser_shows_them(tmp_path):
    with running_browser(tmp_path) as browser:
        load_script("page_pictures").draw_all(browser, tmp_path, tmp_path)
    for name in ("dark", "phone", "difference", "merge"):
        assert (tmp_path / f"page-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (ROOT / "docs" / "pictures" / f"page-{name}.png").exists()
