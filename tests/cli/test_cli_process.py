"""The command line as a process: pipes, exit statuses, signals, what is imported."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from adapters_deleted import needing
from children import GIVEN_UP_AFTER, run_child
from command_line import run_command

import sheetarray as sa

PROGRAM = [sys.executable, "-m", "sheetarray"]


def run_forked(*args, output=None, encoding="utf-8", environment=None):
    """Run the program in a process whose environment says of colours what is given, and nothing else."""
    code = f"""
        import json, os, sys
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM"):
            os.environ.pop(name, None)
        os.environ |= {environment or {}!r}
        sys.stdout.reconfigure(encoding={encoding!r})
        import runpy
        runpy.run_module("sheetarray", run_name="__main__", alter_sys=True)
    """
    return run_child(code, *args, output=output)


@pytest.fixture
def path(tmp_path):
    sa.write(tmp_path / "run.csv", {"t": np.arange(60_000.0).reshape(300, 200)})
    return tmp_path / "run.csv"


@needing("json")
def test_a_chain_of_pipes(path, tmp_path):
    command = (
        f"cat {path} | {sys.executable} -m sheetarray convert - - --from csv --to json"
        f" | {sys.executable} -m sheetarray diff - {path} --from json"
    )
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, timeout=GIVEN_UP_AFTER)
    assert (done.returncode, done.stdout) == (0, b"no differences (1 array)\n")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_shell_substitution_is_a_pipe_too(path):
    """What a shell puts in place of `<(cat run.csv)` is the path of a pipe."""
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as process:
        done = run_command("diff", path, f"/dev/fd/{process.stdout.fileno()}")
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_by_its_path(tmp_path):
    """A pipe gets the bytes; so does a file to which the shell appends, and what stands in it stays."""
    sa.write(tmp_path / "t.csv", {"t": np.arange(3.0)})
    command = f"{sys.executable} -m sheetarray convert {tmp_path}/t.csv /dev/stdout --to csv"
    piped = subprocess.run(["bash", "-o", "pipefail", "-c", f"{command} | cat"], capture_output=True, check=True)
    (tmp_path / "out").write_text("before\n")
    subprocess.run(["bash", "-c", f"{command} >> {tmp_path}/out"], check=True, capture_output=True)
    through = subprocess.run(["bash", "-c", f"{command.replace('/dev/stdout', '>(cat)')} | cat"], capture_output=True)
    assert piped.stdout.startswith(b"t\r\n")
    assert (tmp_path / "out").read_bytes() == b"before\n" + piped.stdout
    assert through.stdout == piped.stdout
    exported = subprocess.run(["bash", "-c", f"{command.replace('convert', 'export')} | cat"], capture_output=True)
    assert exported.stdout.startswith(b"t\r\n0")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs a shell that closes streams")
@needing("json")
def test_closed_streams_are_no_error(path, tmp_path):
    """As daemons start programs: the target is opened when no standard stream has its number."""
    command = f"{sys.executable} -m sheetarray convert {path} {tmp_path}/out.json <&- >&- 2>&-"
    assert subprocess.run(["bash", "-c", command]).returncode == 0
    assert sa.scan(tmp_path / "out.json").keys() == sa.scan(path).keys()


def test_a_shell_completes_commands_formats_and_paths(path):
    """What the scripts of docs/command_line.md ask for: click's own answers."""

    def complete(words, mode="bash_complete"):
        cwords = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = run_command(prog_name="sheetarray", env={"_SHEETARRAY_COMPLETE": mode, **cwords})
        assert done.exit_code == 0, done.output
        return done.stdout.split()

    assert {"plain,check", "plain,convert"} <= set(complete("sheetarray c"))
    assert complete("sheetarray convert --to cs") == ["plain,csv"]
    assert complete(f"sheetarray info {path.parent}/r") == [f"file,{path.parent}/r"]
    assert "complete" in complete("", "bash_source")


def test_a_reader_that_goes_away_is_no_error(path):
    process = subprocess.Popen(
        [*PROGRAM, "convert", path, "-", "--to", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(GIVEN_UP_AFTER) == 141


@pytest.mark.fault("The disk is full while a command prints.", "One line on standard error, and exit status 2.")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("args", [["info", "{}"], ["show", "{}", "--json"], ["convert", "{}", "-", "--to", "json"]])
@needing("json")
def test_a_full_disk_is_one_line(path, args):
    done = run_forked(*(arg.format(path) for arg in args), output="/dev/full")
    assert done.status == 2
    where = "stdout: " if "convert" in args else ""
    assert done.errors == f"error: {where}No space left on device\n"


@pytest.mark.fault("Ctrl-C in a command.", "Exit status 130, no traceback.")
@needing("csv")
def test_an_interrupt_ends_with_130():
    process = subprocess.Popen(
        [*PROGRAM, "info", "-", "--from", "csv"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    assert process.stdin is not None
    process.stdin.write(b"a\n" * 40_000)  # more than a pipe holds: once it is taken, the program reads, and wants more
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=GIVEN_UP_AFTER)
    assert process.returncode == 130
    assert errors.strip() == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(path):
    path.chmod(0)
    done = run_forked("info", path)
    assert done.status == 2
    assert done.errors.endswith("Permission denied\n")


def test_info_imports_no_engine(path):
    code = (
        "import sys, runpy; path = sys.argv[1]\n"
        "for sys.argv[1:] in (['--help'], ['info', path]):\n"
        "    try: runpy.run_module('sheetarray', run_name='__main__')\n"
        "    except SystemExit as end: assert not end.code\n"
        "    print(sorted({'polars', 'pandas', 'openpyxl', 'gspread', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, timeout=GIVEN_UP_AFTER)
    imported = [line for line in done.stdout.splitlines() if line.startswith(b"[")]
    assert imported == [b"[]", b"['rich']"]


@pytest.mark.parametrize(
    ("environment", "codes"),
    [
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "truecolor"}, "38;2;"),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, None),
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, "38;5;"),  # which claims few colours
        ({"FORCE_COLOR": "1", "TERM": "screen"}, "38;5;"),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, "38;5;"),
        ({"FORCE_COLOR": "1", "TERM": "linux"}, None),
    ],
)
def test_a_heat_map_has_colours_only_where_they_are_wanted_and_seen(path, environment, codes):
    done = run_forked("show", path, environment=environment)
    assert done.status == 0, done.errors
    assert ("▀" in done.output) is (codes is not None)
    assert codes is None or f"\x1b[{codes}" in done.output


def test_a_terminal_that_has_only_ascii(path):
    done = run_forked("show", path, encoding="ascii")
    assert done.status == 0
    assert "300 x 200" in done.output
    assert done.output.isascii()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("show", b"300 x 200"),
        ("show --columns 40", b" 199"),  # no more of them than there is room for, the last one among them
        ("check", b"ok (1 array)"),
    ],
)
def test_no_color_on_a_terminal_means_no_escape_codes(path, command, said):
    pty = pytest.importorskip("pty")
    inner, outer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "80"}
    process = subprocess.Popen(
        [*PROGRAM, *command.split(), path.name],
        stdout=outer,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=path.parent,
    )
    os.close(outer)
    seen = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while chunk := os.read(inner, 4096):
            seen += chunk
    os.close(inner)
    assert process.wait(GIVEN_UP_AFTER) == 0
    assert said in seen
    assert b"\x1b" not in seen
    assert max(map(len, seen.decode().splitlines())) <= 80
