"""Every code block of README.md and of the pages in docs/ runs; the console blocks of the command line too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from adapters_deleted import needing
from children import run_limited

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
PAGES = {
    path.name: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
TEXTS = PAGES | {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
BLOCKS = {
    f"{page} {number}": block
    for page, text in PAGES.items()
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL), 1)
}
COMMANDS = [
    (page, line.removeprefix("$ ").partition("  #")[0].strip())
    for page, text in PAGES.items()
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    for line in block.splitlines()
    if line.startswith(("$ sheetarray", "$ cat"))
]


@needing("csv", "json", "xlsx")
def test_there_is_something_to_run() -> None:
    assert len([name for name in BLOCKS if name.startswith("README")]) >= 3
    assert len([name for name in BLOCKS if name.startswith("formats")]) >= 4
    assert len(COMMANDS) >= 8


RUN_BLOCKS = """
    import os, runpy, sys, warnings
    for folder in sys.argv[1:]:
        os.chdir(folder)
        print("block", os.path.basename(folder), file=sys.stderr, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path("block.py", run_name="__main__")
"""
RUN_TESTS = """
    import os, sys, pytest
    os.chdir(sys.argv[1])
    plugin = ["-p", "no:cacheprovider", "-p", "sheets_emulator.pytest_plugin"]
    sys.exit(pytest.main(["-q", "-c", os.devnull, "--rootdir", sys.argv[1], *plugin, *sys.argv[1:]]))
"""


def test_python_blocks_run(tmp_path: Path) -> None:
    folders = []
    for name, block in BLOCKS.items():
        if "\ndef test_" not in block:
            folders.append(tmp_path / name)
            folders[-1].mkdir()
            (folders[-1] / "block.py").write_text(block, encoding="utf-8")
    run_limited(RUN_BLOCKS, *folders, seconds=60)  # one after the other in a child, each in a folder of its own


def test_blocks_of_tests_pass(tmp_path: Path) -> None:
    tests = [block for block in BLOCKS.values() if "\ndef test_" in block]
    for number, block in enumerate(tests):
        (tmp_path / f"test_block{number}.py").write_text(block, encoding="utf-8")
    output = run_limited(RUN_TESTS, tmp_path, seconds=30.0).output
    assert f"{sum(block.count('def test_') for block in tests)} passed" in output, output


RUN_COMMAND = """
    import glob, os, shlex, sys
    from sheetarray.cli import main
    os.chdir(sys.argv[1])
    sys.argv = [word for pattern in shlex.split(sys.argv[2]) for word in sorted(glob.glob(pattern)) or [pattern]]
    try:
        main()
    except SystemExit as end:
        print("status", end.code)
"""


def test_command_lines_run(tmp_path: Path) -> None:
    (tmp_path / "sample_sheets").symlink_to(ROOT / "sample_sheets")
    on_path = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command, page in {command: page for page, command in COMMANDS}.items():
        wanted = 1 if shlex.split(command)[1] == "check" else 0  # the damaged samples have findings
        if command.startswith("sheetarray ") and not set("|<>$;&") & set(command):
            output = run_limited(RUN_COMMAND, tmp_path, command).output
            assert output.endswith(f"status {wanted}\n"), (page, command, output)
            continue
        run = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, env=on_path)
        assert run.returncode == wanted, (page, command, run.stdout, run.stderr)
        assert "Traceback" not in run.stderr


@pytest.mark.parametrize("page", TEXTS)
def test_make_targets_that_are_named_exist(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\$ make (\w+)|`make (\w+)`", TEXTS[page]):
        assert re.search(rf"^{''.join(target)}:", makefile, re.MULTILINE), target


def anchors(text: str) -> set[str]:
    """What links to headings of a page may end in."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page: str) -> None:
    folder = ROOT / "docs" if (ROOT / "docs" / page).exists() else ROOT
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", TEXTS[page])
    for link in filter(None, ("".join(pair) for pair in links)):
        if link.startswith(("https:", "http:")):
            continue
        file, _, anchor = link.partition("#")
        path = folder / file if file else folder / page
        assert path.exists(), link
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), link


def test_readme_stays_short() -> None:
    assert len(PAGES["README.md"]) < 9000


# Pictures --------------------------------------------------------------------------------------------------------


def test_the_picture_of_a_sheet_is_of_a_file_that_is_written_today() -> None:
    from docs.pictures import sheet_svg

    assert (ROOT / "docs" / "sheet.svg").read_text(encoding="utf-8") == sheet_svg(), "run: python -m docs.pictures"


def test_the_heat_map_is_the_one_that_show_draws() -> None:
    from docs.pictures import elevation_png

    kept, drawn = ((png[:33], pixels(png)) for png in ((ROOT / "docs" / "elevation.png").read_bytes(), elevation_png()))
    assert kept == drawn, "run: python -m docs.pictures"


def pixels(png: bytes) -> bytes:
    size = int.from_bytes(png[33:37], "big")
    assert png[37:41] == b"IDAT"
    return zlib.decompress(png[41 : 41 + size])
