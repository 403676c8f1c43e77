"""A transcript: commands and lines of Python, each with what it prints, as a text file that is run and compared.

    # A comment says what the transcript shows.
    $ sheetarray check edited.csv
    edited.csv: 1 error in 1 array
    ! hint: a line on standard error begins with an exclamation mark
    [1]

    >>> sa.read("edited.csv")
    ! FormatError: edited.csv, cell A30 (sst[0, 8]): expected a number, found 'five'

`[1]` is an exit status other than 0. In Python, errors and warnings are lines that begin with `!`; `np`, `sa` and
`Path` are there. Lines that begin with `> ` go on with a command, and `... ` with a statement. A line of output that
could be taken for one of these, or is the last and blank, begins with a backslash. All of a file runs in one new folder
that has copies of sample_sheets/ and of tests/golden/ as `golden`, if the file names them.

In what is printed, the folder is `FOLDER`, the home folder `HOME`, the version of sheetarray `VERSION (LOOPS)`, an
object's address `0x...`, a temporary name `.sheetarray-...`, and a rate `N a second`. A command that begins with
`sheetarray` and needs no shell runs in this process.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from command_line import run_command

import sheetarray as sa

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "transcripts"
_PROMPTS = {"$ ": "> ", ">>> ": "... "}  # what begins a command and a statement, and what its further lines
_MEANT = re.compile(r"\$ |>>> |(>|\.\.\.|#|!)( |$)|\\|\[\d+\]$")  # output that begins so has a backslash before it
_SHELL = re.compile(r"[|&;<>()$`~{}*?\[\]\n]")


def list_transcripts() -> list[str]:
    """Return the names of the transcripts."""
    return sorted(path.name for path in FOLDER.glob("*.txt"))


@dataclass
class Step:
    """A command or statement of a transcript."""

    line: int  # its number in the file
    before: list[str]  # comments and blank lines above it
    source: list[str]  # its lines, with their prompts
    output: list[str]  # the lines beneath it

    @property
    def prompt(self) -> str:
        """What its first line begins with: `$ ` or `>>> `."""
        return next(prompt for prompt in _PROMPTS if self.source[0].startswith(prompt))

    @property
    def code(self) -> str:
        """The command or statement, without prompts."""
        more = _PROMPTS[self.prompt]
        lines = [self.source[0].removeprefix(self.prompt)]
        return "\n".join([*lines, *(line.removeprefix(more).removeprefix(more.strip()) for line in self.source[1:])])


def parse(text: str) -> tuple[list[Step], list[str]]:
    """Return the steps of a transcript, and the lines below the last."""
    steps: list[Step] = []
    before: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(tuple(_PROMPTS)):
            steps.append(Step(number, before, [line], []))
            before = []
        elif line.startswith("# ") or line in ("#", "") or not steps or before[-1:] not in ([], [""]):
            before.append(line)
        elif not steps[-1].output and not before and _goes_on(steps[-1], line):
            steps[-1].source.append(line)
        else:
            steps[-1].output += [*before, line]  # blank lines between others are printed
            before = []
    return steps, before


def _goes_on(step: Step, line: str) -> bool:
    more = _PROMPTS[step.prompt]
    return line.startswith(more) or line == more.strip()


def render(steps: list[Step], after: list[str]) -> str:
    """Return the text of a transcript."""
    lines = [line for step in steps for line in (*step.before, *step.source, *step.output)]
    return "\n".join([*lines, *after]) + "\n"


def run(steps: list[Step], folder: Path, patch: Any, *, in_shell: bool = False) -> list[Step]:
    """Return the steps with what they print now.

    Args:
        steps: the steps of one transcript.
        folder: where they run, empty before.
        patch: pytest's `monkeypatch`.
        in_shell: whether each command runs in a process of its own.
    """
    work, home = folder / "work", folder / "home"
    work.mkdir()
    home.mkdir()
    text = render(steps, [])
    for name, source in {"sample_sheets": ROOT / "sample_sheets", "golden": ROOT / "tests" / "golden"}.items():
        if name in text:
            shutil.copytree(source, work / name)
    _fix_environment(patch, home)
    patch.chdir(work)
    names: dict[str, Any] = {"sa": sa, "np": np, "Path": Path, "__name__": "__main__"}
    done = []
    for step in steps:
        if step.prompt == "$ ":
            printed, status = _run_command(step.code, in_shell=in_shell)
        else:
            printed, status = _run_statement(step.code, names), 0
        lines = [_normalise(line, folder) for line in printed]
        done.append(Step(step.line, step.before, step.source, [*lines, *([f"[{status}]"] if status else [])]))
    return done


def _fix_environment(patch: Any, home: Path) -> None:
    """Give all machines one terminal, one home and one language."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "SHEETARRAY_", "LC_", "GOOGLE_")) or name in ("FORCE_COLOR", "LANGUAGE", "CI"):
            patch.delenv(name)
    scripts = str(Path(sys.executable).parent)
    fixed = {"HOME": str(home), "COLUMNS": "100", "LINES": "40", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
    fixed |= {"LANG": "C.UTF-8", "PATH": os.pathsep.join([scripts, os.defpath])}
    for name, value in fixed.items():
        patch.setenv(name, value)


def _run_command(code: str, *, in_shell: bool) -> tuple[list[str], int]:
    """Return the lines that a command prints, and its exit status."""
    code, _, source = code.partition(" < ") if re.search(r" < [\w./]+$", code) else (code, "", "")
    bare = re.sub(r"'[^']*'|\"[^\"$`]*\"", "", code)
    if code.startswith("sheetarray ") and not in_shell and not _SHELL.search(bare):
        content = Path(source).read_bytes() if source else None
        result = run_command(*shlex.split(code)[1:], input=content, color=False)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return _join(result.stdout, result.stderr), result.exit_code
    code = f"{code} < {source}" if source else code
    done = subprocess.run(code, shell=True, capture_output=True, encoding="utf-8", check=False)
    return _join(done.stdout, done.stderr), done.returncode


def _run_statement(code: str, names: dict[str, Any]) -> list[str]:
    """Return the lines that a statement prints as Python's prompt does, and its warnings and its error in one line."""
    told = []
    stdout = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(stdout):
        warnings.simplefilter("always")
        try:
            exec(compile(code + "\n", "<transcript>", "single"), names)
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    said = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return _join(stdout.getvalue(), "\n".join([*said, *told]))


def _join(stdout: str, stderr: str) -> list[str]:
    lines = [f"\\{line}" if _MEANT.match(line) else line for line in stdout.splitlines()]
    if lines[-1:] == [""]:
        lines[-1] = "\\"
    return [*lines, *(f"! {line}".rstrip() for line in stderr.splitlines())]


def _normalise(line: str, folder: Path) -> str:
    line = line.replace(str(folder / "work"), "FOLDER").replace(str(folder / "home"), "HOME")
    line = re.sub(rf"\bsheetarray {re.escape(sa.__version__)} \(.*\)", "sheetarray VERSION (LOOPS)", line)
    line = re.sub(r"\.sheetarray-[0-9a-f]{16}", ".sheetarray-...", line)
    line = re.sub(r"(?<![\d,.])[\d,]+(?:\.\d+)? a second\b", "N a second", line)
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x...", line)


def find_difference(name: str, steps: list[Step], done: list[Step]) -> str | None:
    """Return the first step that prints something else, and all differences below it; None if there are none."""
    for step, now in zip(steps, done, strict=True):
        if step.output != now.output:
            told = f"{name}:{step.line}: {_name_part(step, now)} differs: {step.source[0]}"
            return f"{told}\n\n{_diff(name, steps, done)}"
    return None


def _name_part(step: Step, now: Step) -> str:
    """Return which part of the output differs."""
    parts = {"the exit status": r"\[\d+\]$", "standard error": "!"}
    for part, pattern in parts.items():
        if [line for line in step.output if re.match(pattern, line)] != [
            line for line in now.output if re.match(pattern, line)
        ]:
            return part
    return "standard output"


def _diff(name: str, steps: list[Step], done: list[Step]) -> str:
    before, after = render(steps, []).splitlines(), render(done, []).splitlines()
    return "\n".join(difflib.unified_diff(before, after, f"{name}, as it is", f"{name}, as it runs", lineterm=""))
