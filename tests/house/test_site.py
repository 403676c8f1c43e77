"""The documentation site is built strictly: no page is left out, no link leads nowhere, each name is described."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from adapters_deleted import NAMES_DELETED
from browser import running_browser

import sheetarray as sa

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    pytest.importorskip("mkdocstrings", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    silent = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=silent)
    assert done.returncode == 0, done.stderr
    return folder


def page(site: Path, name: str) -> str:
    return (site / name).read_text(encoding="utf-8")


def test_every_page_of_the_documentation_is_on_the_site_and_in_its_list(site):
    links = page(site, "index.html").replace('href="./"', 'href="index.html"')
    for source in (ROOT / "docs").glob("*.md"):
        assert (site / f"{source.stem}.html").is_file()
        assert f'href="{source.stem}.html"' in links
    for elsewhere in ("security", "changes", "contributing", "figures", "samples"):
        assert "<h1" in page(site, f"{elsewhere}.html")


def test_the_first_level_of_the_site_has_at_most_twelve_pages():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    first_level = re.findall(r"^  - .*: (\S+\.md)$", text, re.MULTILINE)
    assert 8 <= len(first_level) <= 12


def test_every_public_name_is_described(site):
    pages = [path.read_text(encoding="utf-8") for path in site.glob("functions_*.html")]
    headings = set(re.findall(r'<h2 id="sheetarray\.(\w+)"', " ".join(pages)))
    assert headings == set(sa.__all__) - {"__version__"} - NAMES_DELETED


def test_links_to_pages_that_stand_elsewhere_lead_to_them(site):
    assert 'href="security.html"' in page(site, "architecture.html")
    assert 'href="architecture.html"' in page(site, "contributing.html")
    assert "example_adapter" not in " ".join(re.findall(r'href="([^"]*)"', page(site, "adapters.html")))
    for written in site.glob("*.html"):
        for link in re.findall(r'href="([^"#:?/]+\.html)', written.read_text(encoding="utf-8")):
            assert (site / link).is_file(), (written.name, link)


def test_nothing_of_another_host_is_loaded(site):
    for written in site.glob("*.html"):
        text = written.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="https?://(?!squidfunk)[^"]*"', text)


def test_the_search_finds_pages_also_in_a_folder_on_a_disk(site, tmp_path):
    with running_browser(tmp_path) as browser:
        browser.driver.get((site / "index.html").as_uri())
        browser.run("document.querySelector('[data-md-toggle=search]').click()")
        browser.wait_until("document.querySelector('.md-search__input').offsetParent !== null")
        browser.find(".md-search__input").send_keys("guard")
        browser.wait_until("document.querySelectorAll('.md-search-result__item').length > 2")
        assert any("excel.html" in link for link in browser.run(_LINKS))
        assert not [url for url in browser.requests() if url.startswith("http")]


_LINKS = "return [...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"


def test_the_page_on_installing_lists_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = set(
        re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "install.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert listed == set(project["optional-dependencies"]) - {"bench", "dev", "docs"}
