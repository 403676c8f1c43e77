"""The pictures of workbooks in the documentation: drawn by a script, which runs wherever LibreOffice is."""

from __future__ import annotations

import importlib.util
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


def test_a_dataset_is_drawn_as_people_see_it(tmp_path):
    script = load_script("workbooks")
    if absent := script.absent_programs():
        pytest.skip(f"not installed: {', '.join(absent)}")
    sa.write(tmp_path / "dataset.xlsx", script.make_dataset())
    pdf = script.print_workbook(tmp_path / "dataset.xlsx", tmp_path)
    script.draw_page(pdf, tmp_path / "dataset.png")
    assert (tmp_path / "dataset.png").read_bytes().startswith(b"\x89PNG")
    if shutil.which("pdftotext") is None:
        return
    page = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    first, second, *_ = page.split("\n")
    assert first.split() == ["temperature", "wet", "day", "station", "height"]
    assert second.split() == ["17.8", "TRUE", "2026-07-01", "Basel", "317"]
    assert "version" not in page
    assert "float64" not in page


def test_pages_are_drawn_as_a_browser_shows_them(tmp_path):
    with running_browser(tmp_path) as browser:
        load_script("page_pictures").draw_all(browser, tmp_path, tmp_path)
    for name in ("dark", "phone", "difference", "merge"):
        assert (tmp_path / f"page-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (ROOT / "docs" / "pictures" / f"page-{name}.png").exists()
