"""The results that stand beneath the examples of README and docs/: `python -m docs.results` runs all and renews them.

It renews the table of faults in docs/faults.md, too, which lists what the tests with the mark `fault` try.

A block of Python that prints is followed by a block `output`; in a block `console` each command is followed by what it
prints. Both are cut after 20 lines. The size of a page changes with each version, so nothing is shown for `page`. An
example that writes to Google Sheets reaches an emulator on this machine. The tests run the same examples, and fail
where a page shows anything else.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = 20
WIDTH = "100"  # characters of a line, of what is printed as a table
GOOGLE = "SHEETARRAY_SHEETS_ENDPOINT"
_EXAMPLE = re.compile(r"(```python\n(.*?)```\n)(?:\n```output\n.*?```\n)?", re.DOTALL)
_CONSOLE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_SHELL = re.compile(r"[|&;<>()$`~{}*?\[\]\n]")
_RUN = ("sheetarray ", "cat ")  # what commands begin with; others, such as make, are only shown


def find_pages() -> list[Path]:
    """Return README and the pages in docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def find_examples(text: str) -> list[str]:
    """Return the blocks of Python in a page."""
    return [match[2] for match in _EXAMPLE.finditer(text)]


def find_commands(text: str) -> list[str]:
    """Return the commands of the blocks `console` in a page, without comments."""
    lines = [line for match in _CONSOLE.finditer(text) for line in match[0].splitlines()]
    return [_command(line) for line in lines if _is_run(line)]


def _is_run(line: str) -> bool:
    return line.startswith("$ ") and _command(line).startswith(_RUN)


def _command(line: str) -> str:
    return line.removeprefix("$ ").partition("  #")[0].strip()


def show_results(text: str, printed: Iterable[str]) -> str:
    """Return a page with what its examples have printed beneath them."""
    outputs = iter(printed)

    def show(match: re.Match[str]) -> str:
        lines = _cut(next(outputs))
        return match[1] + ("\n".join(["", "```output", *lines, "```", ""]) if lines else "")

    return _EXAMPLE.sub(show, text)


def show_commands(text: str, printed: Iterable[str]) -> str:
    """Return a page with what its commands have printed beneath them."""
    outputs = iter(printed)

    def show(match: re.Match[str]) -> str:
        commands = [line for line in match[0].splitlines() if line.startswith("$ ")]
        shown = [[line, *(_cut(next(outputs)) if _is_run(line) else [])] for line in commands]
        shown = [lines[:1] if " page " in lines[0] else lines for lines in shown]
        return "".join(f"{line}\n" for lines in shown for line in lines)

    return _CONSOLE.sub(show, text)


def _cut(printed: str) -> list[str]:
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    return lines if len(lines) <= LINES else [*lines[:LINES], "..."]


def run_example(code: str) -> str:
    """Return what an example prints, in a folder and a process of its own; tests of pytest print nothing."""
    if "\ndef test_" in code:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def run_commands(commands: Iterable[str], folder: Path) -> list[tuple[str, int]]:
    """Return what the commands of a page print, and their exit statuses; they share a folder with the samples."""
    (folder / "sample_sheets").symlink_to(ROOT / "sample_sheets")
    environment = _environment()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    results = []
    for command in commands:
        if command.startswith("sheetarray ") and not _SHELL.search(command):
            results.append(_run_here(command, folder))
            continue
        done = subprocess.run(  # noqa: S602 (as a reader types it)
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        results.append((done.stdout, done.returncode))
    return results


def _run_here(command: str, folder: Path) -> tuple[str, int]:
    """Return what a command without pipes prints, and its exit status, run in this process."""
    from click.testing import CliRunner

    from sheetarray.cli import main

    with chdir(folder):
        result = CliRunner(env={"COLUMNS": WIDTH}).invoke(main, shlex.split(command)[1:])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output, result.exit_code


@contextmanager
def serving_google() -> Iterator[None]:
    """Send the requests of examples to an emulator of Google Sheets, as if you had logged in."""
    from sheets_emulator import SheetsServer

    with SheetsServer() as server:
        os.environ[GOOGLE] = server.url
        try:
            yield
        finally:
            del os.environ[GOOGLE]


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "sheets-emulator"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "COLUMNS": WIDTH, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def list_faults() -> list[str]:
    """Return the table of faults, from the marks `fault` of the tests: what goes wrong, what stays, and which test."""
    lines = ["| what goes wrong | what stays | test |", "|---|---|---|"]
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.fault(" not in text:
            continue
        for node in ast.parse(text).body:
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
                    fault, outcome = map(ast.literal_eval, mark.args)
                    name = node.name.removeprefix("test_").replace("_", " ")
                    lines.append(f"| {fault} | {outcome} | `{path.relative_to(ROOT / 'tests')}`: {name} |")
    return lines


def show_faults(text: str) -> str:
    """Return the page on faults with its table renewed."""
    return text[: text.index("| what goes wrong")] + "\n".join(list_faults()) + "\n"


def main() -> None:
    """Renew the results on every page."""
    faults = ROOT / "docs" / "faults.md"
    faults.write_text(show_faults(faults.read_text(encoding="utf-8")), encoding="utf-8")
    for page in find_pages():
        text = page.read_text(encoding="utf-8")
        with serving_google():
            text = show_results(text, map(run_example, find_examples(text)))
        with tempfile.TemporaryDirectory() as folder:
            printed = [output for output, _ in run_commands(find_commands(text), Path(folder))]
        page.write_text(show_commands(text, printed), encoding="utf-8")


if __name__ == "__main__":
    main()
