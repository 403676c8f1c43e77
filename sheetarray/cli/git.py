"""`sheetarray git`: has git compare and merge spreadsheets cell by cell in a repository."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from .arguments import UsageProblem
from .console import print_line
from .git_drivers import call_git, diff_blobs, merge_blobs, resolve_conflicts
from .program import FINDINGS, FINE

_NAME = "sheetarray"  # of both drivers in git's configuration
_ATTRIBUTES = {
    "*.csv": ("diff", "merge"),
    "*.tsv": ("diff", "merge"),
    "*.xlsx": ("diff", "merge"),
    "*.ods": ("diff",),  # cannot be written, so git merges it in its own way
}
"""The drivers of each pattern of files."""


@click.group("git", short_help="Have git compare and merge spreadsheets.", invoke_without_command=True)
@click.option("--remove", "removes", is_flag=True, help="Take the drivers out of this repository again.")
@click.pass_context
def run_git(ctx: click.Context, removes: bool) -> int | None:
    """Have git compare and merge the spreadsheets of this repository cell by cell.

    The command sets a diff driver and a merge driver for .csv, .tsv and .xlsx files, and a diff driver for .ods. It
    writes lines to .gitattributes, which you commit, and commands to the configuration of this repository. Each clone
    needs the command once.

    `git diff` then shows what became of rows, columns and cells. `git merge` and `git rebase` merge cell by cell. In a
    conflict the file keeps our values, and FILE.conflicts.json beside it lists each conflict. Set "choose" in it, and
    run `sheetarray git resolve FILE`. A file that cannot be read is left to git.

    \b
    Examples:
      sheetarray git
      git diff prices.csv
      sheetarray git resolve prices.csv
      sheetarray git --remove
    """
    if ctx.invoked_subcommand is not None:
        return None
    top = _find_repository()
    attributes = top / ".gitattributes"
    changed = _drop_lines(attributes) if removes else _add_lines(attributes)
    for key, value in _list_settings().items():
        if removes:
            _run_git(top, "config", "--local", "--unset-all", key, may_fail=True)
        else:
            _run_git(top, "config", "--local", key, value)
    patterns = ", ".join(_ATTRIBUTES)
    if removes:
        print_line(f"git compares and merges {patterns} in its own way again")
    else:
        print_line(f"git compares and merges {patterns} with sheetarray in this repository")
        print_line("  .gitattributes: " + ("lines added; commit the file" if changed else "nothing to add"))
    return FINE


@run_git.command("diff", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def run_diff_driver(arguments: tuple[str, ...]) -> int:
    """Show what became of one file, as git asks for it: path, old file, its id and mode, new file, its id and mode."""
    if len(arguments) < 7:  # of a path with a conflict git gives nothing else
        print_line(f"* Unmerged path {arguments[0] if arguments else ''}")
        return FINE
    path, old, _, _, new, *_ = arguments
    diff_blobs(old, new, path, arguments[7] if len(arguments) > 7 else path)
    return FINE


@run_git.command("merge", hidden=True)
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.argument("path")
def run_merge_driver(base: str, ours: str, theirs: str, path: str) -> int:
    """Merge one file, as git asks for it: the result takes the place of OURS."""
    return FINE if merge_blobs(base, ours, theirs, path) else FINDINGS


@run_git.command("resolve", short_help="Write a file with the choices of its conflicts.")
@click.argument("file", type=click.Path())
def run_resolve(file: str) -> int:
    """Write FILE anew, with the choices in FILE.conflicts.json, which is then deleted. Add FILE to git afterwards.

    In FILE.conflicts.json, each conflict has "choose": the file whose value stands, such as "theirs.csv".
    """
    resolve_conflicts(_find_repository(), file)
    print_line(f"{file}: written with your choices; `git add {shlex.quote(file)}` marks the conflict as resolved")
    return FINE


def _find_repository() -> Path:
    """Return the top folder of the working tree."""
    if shutil.which("git") is None:
        raise UsageProblem("git is not installed", "install git")
    done = call_git("rev-parse", "--show-toplevel")
    if done.returncode or not done.stdout.strip():
        raise UsageProblem("this is no working tree of git", "go to one, or begin one with `git init`")
    return Path(os.fsdecode(done.stdout.rstrip(b"\n")))


def _list_settings() -> dict[str, str]:
    """Return the settings of both drivers."""
    program = _find_program()
    return {
        f"diff.{_NAME}.command": f"{program} git diff",
        f"merge.{_NAME}.name": "sheetarray: merges cells",
        f"merge.{_NAME}.recursive": "binary",  # of several common ancestors one is taken, without a merge of them
        f"merge.{_NAME}.driver": f"{program} git merge %O %A %B %P",
    }


def _find_program() -> str:
    """Return the command for git's shell: by its name if that finds this program, else with Python's path."""
    beside = Path(sys.executable).with_name("sheetarray")
    on_path = shutil.which("sheetarray")
    if on_path is not None and beside.exists() and os.path.samefile(on_path, beside):
        return "sheetarray"
    return f"{shlex.quote(sys.executable)} -m sheetarray"


def _run_git(top: Path, *arguments: str, may_fail: bool = False) -> None:
    done = call_git(*arguments, folder=top)
    if done.returncode and not may_fail:
        raise UsageProblem(f"git {arguments[0]} failed: {os.fsdecode(done.stderr).strip():.200}")


def _list_lines() -> list[str]:
    return [f"{pattern} {' '.join(f'{what}={_NAME}' for what in drivers)}" for pattern, drivers in _ATTRIBUTES.items()]


def _add_lines(attributes: Path) -> bool:
    """Add the lines that are missing, and return whether any was; others of the same pattern stay, and ours win."""
    text = attributes.read_text("utf-8") if attributes.exists() else ""
    present = {" ".join(line.split()) for line in text.splitlines()}
    missing = [line for line in _list_lines() if line not in present]
    if missing:
        begin = "" if not text or text.endswith("\n") else "\n"
        _write(attributes, f"{text}{begin}{chr(10).join(missing)}\n")
    return bool(missing)


def _drop_lines(attributes: Path) -> bool:
    """Remove our lines, and the file if it has no others; return whether there were any."""
    if not attributes.exists():
        return False
    lines = attributes.read_text("utf-8").splitlines(keepends=True)
    ours = set(_list_lines())
    left = [line for line in lines if " ".join(line.split()) not in ours]
    if not left:
        attributes.unlink()
    elif len(left) < len(lines):
        _write(attributes, "".join(left))
    return len(left) < len(lines)


def _write(path: Path, text: str) -> None:
    from ..files import replacing

    with replacing(path, binary=True) as file:
        file.write(text.encode())
