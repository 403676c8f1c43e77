"""Child processes with limits on CPU time and memory, never on the time of a clock: tests run on busy machines."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from adapters_deleted import ASKED, find_missing_format
from command_line import has_compiled_loops

measured = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of a process's memory is told by Linux"
)
SECONDS, MEBIBYTES = 10.0, 1024  # what no input of 32 MB may exceed
_FIXED_SECONDS, _FIXED_MEBIBYTES = 2.0, 256  # what any input may take, however small it is
_A_MILLION_SQUARES = 0.075  # seconds of CPU time that Python 3.11 takes for them on the processor that is meant
_PLAIN = 30  # times as many seconds without the compiled loops, for which SECURITY.md promises the memory alone
GIVEN_UP_AFTER = 900  # seconds on a clock, for what waits for ever and uses no CPU time; no machine is so busy


@dataclass(frozen=True)
class Child:
    """What became of a child.

    Attributes:
        output: what it printed.
        seconds: of CPU time, of all its threads, without the start of the interpreter and the usual imports.
        mebibytes: of memory that it had at most.
        status: with which it ended; a negative one is that of a signal, after which nothing is known of its use.
        errors: what it wrote to standard error.
    """

    output: str
    seconds: float
    mebibytes: float
    status: int
    errors: str


@contextlib.contextmanager
def limited(*, seconds: float, megabytes: float | None = None) -> Iterator[None]:
    """Fail where the block takes more CPU time of this process, or more memory of Python's, than it may.

    Args:
        seconds: of CPU time.
        megabytes: of memory at its peak; None for any, which spares the time of counting.
    """
    started = time.process_time()
    if megabytes is not None:
        tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] if megabytes is not None else 0
    finally:
        if megabytes is not None:
            tracemalloc.stop()
    used = time.process_time() - started
    assert peak <= 1e6 * (megabytes or 0), f"{peak / 1e6:.0f} MB, of which {megabytes} are allowed"
    assert used <= seconds, f"{used:.1f} s of CPU time, of which {seconds} are allowed"


def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened, however long the machine takes for it."""
    for _ in range(100 * GIVEN_UP_AFTER):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it has not happened")


def _slowness() -> float:
    """How many times slower than the processor of which the limits speak this one is just now: between 1 and 2.

    Even CPU time grows where other programs use the same core's caches, or its clock is lower.
    """
    times = []
    for _ in range(3):
        start = time.process_time()
        sum(number * number for number in range(10**6))
        times.append(time.process_time() - start)
    return min(max(min(times) / _A_MILLION_SQUARES, 1.0), 2.0)


class ChildServer:
    """A process that forks off children, started for the first of them; see child_server.py.

    Args:
        program: of the process.
        environment: its variables.
    """

    def __init__(self, program: list[str], environment: dict[str, str]) -> None:
        self._program, self._environment = program, environment
        self._process: subprocess.Popen[str] | None = None

    def carry_out(self, order: dict[str, Any]) -> int:
        """Have a child carry out an order, and return its exit status; a negative one is that of a signal."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], GIVEN_UP_AFTER)[0]:
            self.stop()
            raise AssertionError(f"it has not ended after {GIVEN_UP_AFTER} s on a clock")
        answer = process.stdout.readline()
        assert answer, "the server of children has ended"
        return int(answer)

    def _start(self) -> subprocess.Popen[str]:
        """Return the process, started if it is not there or has ended."""
        if self._process is None or self._process.poll() is not None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            options = {"text": True, "start_new_session": True, "env": self._environment}
            self._process = subprocess.Popen(self._program, **pipes, **options)  # type: ignore[call-overload]
            atexit.register(self.stop)
        return self._process

    def stop(self) -> None:
        """Stop the process, and a child that it has."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


_SERVER = ChildServer(
    [sys.executable, str(Path(__file__).with_name("child_server.py"))],
    {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"},  # as users have it
)


def run_limited(
    code: str,
    *arguments: str | os.PathLike[str],
    seconds: float = SECONDS,
    mebibytes: float = MEBIBYTES,
    part: int = 1,
    calls: int = 1,
) -> Child:
    """Run Python code in a child, and fail where it fails or takes more CPU time or memory than it may.

    Args:
        code: the program, which finds the arguments in `sys.argv[1:]`.
        arguments: for it.
        seconds: of CPU time with the compiled loops; a child that goes on to twice as much is stopped.
        mebibytes: of memory, at its peak.
        part: how many times smaller the input is than the one that has these bounds, which shrink with it;
            not without the compiled loops, which take a block at once.
        calls: how many the program makes one after the other, each of which may take so many seconds.
    """
    seconds *= calls
    if not has_compiled_loops():
        seconds *= _PLAIN
    elif part > 1:
        seconds = _FIXED_SECONDS * calls + (seconds - _FIXED_SECONDS * calls) / part
        mebibytes = _FIXED_MEBIBYTES + (mebibytes - _FIXED_MEBIBYTES) / part
    stopped_after = int(seconds * 2) + 1
    child = run_child(code, *arguments, stopped_after=stopped_after)
    assert child.status >= 0, f"stopped after {stopped_after} s of CPU time, or by the system ({child.status})"
    assert child.status == 0, child.errors[-3000:]
    used = child.seconds
    allowed = seconds if used <= seconds else seconds * _slowness()
    assert used <= allowed, f"{used:.1f} s of CPU time, of which {allowed:.1f} are allowed: {child.output[-1000:]}"
    assert child.mebibytes <= mebibytes, f"{child.mebibytes:.0f} MiB, of which {mebibytes} are allowed"
    return child


def run_child(
    code: str,
    *arguments: str | os.PathLike[str],
    stopped_after: int = 60,
    output: str | None = None,
    server: ChildServer = _SERVER,
) -> Child:
    """Run Python code in a child, which imports nothing that its parent has imported, and return what became of it.

    Args:
        code: the program, which finds the arguments in `sys.argv[1:]`.
        arguments: for it.
        stopped_after: so many seconds of CPU time.
        output: the path of a device that takes what it prints, instead of `Child.output`.
        server: the process that forks it off, which has imported the package unless it is another.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("output", "errors", "report")}
        for file in files.values():
            file.touch()
        order = {
            "code": textwrap.dedent(code),
            "arguments": [os.fspath(argument) for argument in arguments],
            "stopped_after": stopped_after,
            **{name: str(file) for name, file in files.items()},
            **({} if output is None else {"output": output}),
        }
        status = server.carry_out(order)
        printed, errors, report = (file.read_text(encoding="utf-8") for file in files.values())
    ASKED.extend(filter(None, [find_missing_format(errors)]))
    used, kibibytes = json.loads(report) if report else (0.0, 0)
    return Child(printed, used, kibibytes / 1024, status, errors)


_TOGETHER = """
import os, sys
children = []
for number in range({count}):
    if (child := os.fork()) == 0:  # off a process that has imported what they need, so that they begin at once
        sys.argv.insert(1, str(number))
        exec({code!r})
        os._exit(0)
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def run_together(code: str, path: Path, *, count: int = 8) -> None:
    """Run a program in several processes at once; each gets its number and a path."""
    child = run_child(_TOGETHER.format(count=count, code=textwrap.dedent(code)), path)
    assert (child.status, child.errors) == (0, "")
