"""Every code block of README.md and of the pages in docs/ runs; the console blocks of the command line too."""

from __future__ import annotations

import os
import re
import sys
import zlib
from pathlib import Path

import pytest
from adapters_deleted import DELETED, needing
from children import run_limited

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from docs.results import (  # noqa: E402
    GOOGLE,
    WIDTH,
    find_commands,
    find_examples,
    find_pages,
    run_commands,
    serving_google,
    show_commands,
    show_faults,
    show_results,
)

PAGES = {path.name: path.read_text(encoding="utf-8") for path in find_pages()}
TEXTS = PAGES | {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
BLOCKS = {
    f"{page} {number}": block for page, text in PAGES.items() for number, block in enumerate(find_examples(text), 1)
}
COMMANDS = {page: find_commands(text) for page, text in PAGES.items() if find_commands(text)}


@needing("csv", "json", "xlsx")
def test_there_is_something_to_run():
    assert len([name for name in BLOCKS if name.startswith("README")]) >= 3
    assert len([name for name in BLOCKS if name.startswith("formats")]) >= 4
    assert sum(map(len, COMMANDS.values())) >= 8


RUN_BLOCKS = """
    import contextlib, os, runpy, sys, warnings
    os.environ[sys.argv[1]] = sys.argv[2]
    for folder in sys.argv[3:]:
        os.chdir(folder)
        print("block", os.path.basename(folder), file=sys.stderr, flush=True)
        with warnings.catch_warnings(), open("printed", "w") as printed, contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            runpy.run_path("block.py", run_name="__main__")
"""
RUN_TESTS = """
    import os, sys, pytest
    os.chdir(sys.argv[1])
    plugin = ["-p", "no:cacheprovider", "-p", "sheets_emulator.pytest_plugin"]
    sys.exit(pytest.main(["-q", "-c", os.devnull, "--rootdir", sys.argv[1], *plugin, *sys.argv[1:]]))
"""


def test_python_blocks_run_and_print_what_stands_beneath_them(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", WIDTH)
    folders = []
    for name, block in BLOCKS.items():
        if "\ndef test_" not in block:
            folders.append(tmp_path / name)
            folders[-1].mkdir()
            (folders[-1] / "block.py").write_text(block, encoding="utf-8")
    with serving_google():  # one after the other in a child, each in a folder of its own
        run_limited(RUN_BLOCKS, GOOGLE, os.environ[GOOGLE], *folders, seconds=60)
    for page, text in PAGES.items():
        names = [f"{page} {number}" for number in range(1, len(find_examples(text)) + 1)]
        files = [tmp_path / name / "printed" for name in names]
        printed = [file.read_text() if file.exists() else "" for file in files]
        assert show_results(text, printed) == text, f"{page}: run python -m docs.results"


def test_blocks_of_tests_pass(tmp_path):
    tests = [block for block in BLOCKS.values() if "\ndef test_" in block]
    for number, block in enumerate(tests):
        (tmp_path / f"test_block{number}.py").write_text(block, encoding="utf-8")
    output = run_limited(RUN_TESTS, tmp_path, seconds=30.0).output
    assert f"{sum(block.count('def test_') for block in tests)} passed" in output, output


@pytest.mark.parametrize("page", COMMANDS)
def test_command_lines_run_and_print_what_stands_beneath_them(tmp_path, page):
    results = run_commands(COMMANDS[page], tmp_path)
    for command, (printed, status) in zip(COMMANDS[page], results, strict=True):
        wanted = 1 if "sample_sheets/damaged" in command or "sample_sheets/changed" in command else 0
        assert status == wanted, (command, printed)
        assert "Traceback" not in printed
    printed_by_all = [printed for printed, _ in results]
    assert show_commands(PAGES[page], printed_by_all) == PAGES[page], "run: python -m docs.results"


def test_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\$ make (\w+)|`make (\w+)`", "".join(TEXTS.values())):
        assert re.search(rf"^{''.join(target)}:", makefile, re.MULTILINE), target


def anchors(text: str) -> set[str]:
    """What links to headings of a page may end in."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    described = re.findall(r"^::: (\S+)$", text, re.MULTILINE)  # by mkdocstrings, under a heading of its name
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(described)


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page):
    folder = ROOT / "docs" if (ROOT / "docs" / page).exists() else ROOT
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", TEXTS[page])
    for link in filter(None, ("".join(pair) for pair in links)):
        if link.startswith(("https:", "http:")):
            continue
        file, _, anchor = link.partition("#")
        path = folder / file if file else folder / page
        assert path.exists(), link
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), link


# Pictures --------------------------------------------------------------------------------------------------------


def test_the_picture_of_a_sheet_is_of_a_file_that_is_written_today():
    from docs.pictures import sheet_svg

    assert (ROOT / "docs" / "sheet.svg").read_text(encoding="utf-8") == sheet_svg(), "run: python -m docs.pictures"


def test_the_heat_map_is_the_one_that_show_draws():
    from docs.pictures import elevation_png

    kept, drawn = ((png[:33], pixels(png)) for png in ((ROOT / "docs" / "elevation.png").read_bytes(), elevation_png()))
    assert kept == drawn, "run: python -m docs.pictures"


def pixels(png: bytes) -> bytes:
    size = int.from_bytes(png[33:37], "big")
    assert png[37:41] == b"IDAT"
    return zlib.decompress(png[41 : 41 + size])


@pytest.mark.skipif(bool(DELETED), reason="tests of a deleted adapter are gone")
def test_the_table_of_faults_lists_the_tests_that_are_marked():
    assert show_faults(PAGES["faults.md"]) == PAGES["faults.md"], "run: python -m docs.results"
