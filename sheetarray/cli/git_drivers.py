"""The drivers that git calls for one file: its differences, its merge, and the choices of its conflicts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import api
from ..api import shorten
from ..api.conflicts_json import conflict_to_json
from ..api.differing import diff
from ..changes.wording import count_noun
from ..errors import FormatError, escape_controls
from ..files import replacing
from .arguments import MOST_LINES, UsageProblem
from .console import print_line
from .program import EXPECTED

_SIDES = ("base", "ours", "theirs")
_MAX_SHOWN = 200  # characters of a problem that is told
_SUFFIX = ".conflicts.json"
_UNREADABLE = (*EXPECTED, ValueError, TypeError)  # what git then does in its own way


def call_git(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, the working folder if none is given, and return its output and its exit status."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603  (no shell reads it)


def diff_blobs(old: str, new: str, path: str, path_now: str) -> None:
    """Print what became of a file; of one that cannot be read what git itself says.

    `old`, `new`: the files that hold it before and now; the null device where there is none. `path`, `path_now`: its
    names in the repository.
    """
    sys.stdout.flush()
    missing = [os.path.samefile(file, os.devnull) if os.path.exists(file) else True for file in (old, new)]
    try:
        with _named_copies([None if gone else file for file, gone in zip((old, new), missing, strict=True)], path) as (
            before,
            after,
        ):
            if before is None or after is None:
                lines = _describe_whole(before or after)
            else:
                lines = _describe_changes(before, after)
    except _UNREADABLE:
        _diff_as_git(old, new, path, path_now)
        return
    print_line(escape_controls(f"diff --sheetarray a/{path} b/{path_now}"), bold=True)
    if any(missing):
        print_line("deleted file" if missing[1] else "new file", bold=True)
    for line in lines:
        print_line(escape_controls(line))


def _describe_whole(file: str | None) -> list[str]:
    """Return lines on the arrays, or the table, of a file that has nothing to be compared with."""
    infos = api.scan(file or "")
    return repr(infos).splitlines()[: MOST_LINES + 1]


def _describe_changes(before: str, after: str) -> list[str]:
    changes = diff(before, after)
    if not changes:
        same = Path(before).read_bytes() == Path(after).read_bytes()
        return [] if same else ["no value differs; only how they are written"]
    return repr(changes).splitlines()


def _diff_as_git(old: str, new: str, path: str, path_now: str) -> None:
    """Print the difference of two files as git does without a driver."""
    done = call_git("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--", old, new)
    head, mark, rest = done.stdout.partition(b"\n@@")
    for file, name in ((old, path), (new, path_now)):
        head = head.replace(os.fsencode(file).lstrip(b"/"), os.fsencode(name))
    sys.stdout.flush()
    sys.stdout.buffer.write(head + mark + rest)
    sys.stdout.buffer.flush()


def merge_blobs(base: str, ours: str, theirs: str, path: str) -> bool:
    """Merge a file into `ours`, and return whether no conflict is left.

    With conflicts our values stand, and a file beside `path` lists them. A file that cannot be read is merged by git.
    """
    try:
        with _named_copies([base, ours, theirs], path) as copies, tempfile.TemporaryDirectory() as folder:
            merged_file = os.path.join(folder, f"merged{Path(path).suffix}")
            merged = _merge(copies, merged_file, None)
            conflicts = [conflict_to_json(conflict) for conflict in merged.conflicts]
            shutil.copyfile(merged_file, ours)
    except _UNREADABLE as error:
        print_line(f"{path}: left to git: {shorten(str(error), _MAX_SHOWN)}", err=True)
        labels = ["-L", "ours", "-L", "base", "-L", "theirs"]
        return call_git("merge-file", *labels, ours, base, theirs).returncode == 0
    if conflicts:
        listed = [_to_choice(conflict) for conflict in conflicts]
        with replacing(f"{path}{_SUFFIX}", binary=True) as file:
            file.write(json.dumps({"choices": listed}, indent=1, ensure_ascii=False).encode())
        count = count_noun(len(listed), "conflict")
        print_line(f"{path}: {count}, listed in {path}{_SUFFIX}; our values stand", err=True)
    return not conflicts


def _merge(copies: Sequence[str | None], target: str, choices: Any) -> Any:
    base, ours, theirs = (str(copy) for copy in copies)
    merged = api.merge(base, ours, theirs, target=target, prefer=ours, choices=choices)
    for unreadable in merged.unreadable:
        raise FormatError(unreadable.text, location=unreadable.cell, source=unreadable.file)
    return merged


def _to_choice(conflict: dict[str, Any]) -> dict[str, Any]:
    """Return a conflict as `merge --choices` takes it: sides are `base.csv`, `ours.csv`, `theirs.csv`."""
    values = {os.path.basename(file): value for file, value in conflict["values"].items()}
    of = os.path.basename(conflict["of"])
    return {
        "array": conflict["array"],
        "index": conflict["index"],
        "of": of,
        "labels": conflict["labels"],
        "base": conflict["base"],
        **values,
        "cells": {os.path.basename(file): cell for file, cell in conflict["cells"].items()},
        "choose": f"ours{Path(of).suffix}",
    }


def resolve_conflicts(top: Path, file: str) -> None:
    """Write a file with the choices of its conflicts.

    Raises:
        FormatError: the list of choices is damaged.
        NotFoundError: a choice is none of the three sides.
        UsageProblem: git knows of no conflict of this file, or there is no list of choices.
    """
    listed = Path(f"{file}{_SUFFIX}")
    if not listed.exists():
        raise UsageProblem(f"there is no {listed}", "`git merge` writes it if people changed a cell differently")
    relative = os.path.relpath(os.path.realpath(file), os.path.realpath(top))
    with tempfile.TemporaryDirectory() as folder:
        blobs = []
        for stage, side in enumerate(_SIDES, 1):
            name = os.path.join(folder, side)
            done = call_git("show", f":{stage}:{relative}", folder=top)
            if done.returncode:
                raise UsageProblem(f"git knows of no conflict in {file}", "was it resolved, or the merge ended?")
            Path(name).write_bytes(done.stdout)
            blobs.append(name)
        with _named_copies(blobs, file) as copies:
            merged_file = os.path.join(folder, f"merged{Path(file).suffix}")
            _merge(copies, merged_file, listed)
            with replacing(file, binary=True) as target, open(merged_file, "rb") as source:
                shutil.copyfileobj(source, target)
    listed.unlink()


@contextmanager
def _named_copies(files: Sequence[str | None], path: str) -> Iterator[list[str | None]]:
    """Yield copies of files with the suffix that the path has, as git gives them any name."""
    suffix = "".join(Path(path).suffixes[-1:])
    with tempfile.TemporaryDirectory() as folder:
        copies: list[str | None] = []
        sides = _SIDES if len(files) == len(_SIDES) else ("before", "after")
        for file, side in zip(files, sides, strict=True):
            copy = os.path.join(folder, f"{side}{suffix}")
            if file is not None:
                shutil.copyfile(file, copy)
            copies.append(None if file is None else copy)
        yield copies
