"""Child processes with limits on CPU time and memory, never on the time of a clock: tests run on busy machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

measured = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of a process's memory is told by Linux"
)
SECONDS, MEBIBYTES = 10.0, 1024  # what no input of 32 MB may exceed
_A_MILLION_SQUARES = 0.075  # seconds of CPU time that Python 3.11 takes for them on the processor that is meant
GIVEN_UP_AFTER = 900  # seconds on a clock, for what waits for ever and uses no CPU time; no machine is so busy

_AROUND = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1]) + 1))
report, code = int(sys.argv[2]), sys.argv[3]
sys.argv[1:4] = []
def _usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return used.ru_utime + used.ru_stime, int(peak.split()[1])
try:
    exec(compile(code, "<child>", "exec"), {"__name__": "__main__"})
finally:
    with open(report, "w") as file:
        json.dump(_usage(), file)
"""


@dataclass(frozen=True)
class Child:
    """What became of a child.

    Attributes:
        output: what it printed.
        seconds: of CPU time, of all its threads, the start of the interpreter included.
        mebibytes: of memory that it had at most.
    """

    output: str
    seconds: float
    mebibytes: float


@contextmanager
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


def run_limited(
    code: str, *arguments: str | os.PathLike[str], seconds: float = SECONDS, mebibytes: float = MEBIBYTES
) -> Child:
    """Run Python code in a child, and fail where it fails or takes more CPU time or memory than it may.

    Args:
        code: the program, which finds the arguments in `sys.argv[1:]`.
        arguments: for it.
        seconds: of CPU time; a child that goes on to twice as much is stopped.
        mebibytes: of memory, at its peak.
    """
    reading, writing = os.pipe()
    command = [sys.executable, "-c", _AROUND, str(int(seconds * 2) + 1), str(writing), textwrap.dedent(code)]
    with open(reading) as report:
        try:
            done = subprocess.run(
                [*command, *arguments],
                capture_output=True,
                text=True,
                check=False,
                pass_fds=[writing],
                timeout=GIVEN_UP_AFTER,
            )
        finally:
            os.close(writing)
        told = report.read()
    assert told, f"stopped after {int(seconds * 2) + 1} s of CPU time, or by the system ({done.returncode})"
    used, kibibytes = json.loads(told)
    assert done.returncode == 0, done.stderr[-3000:]
    allowed = seconds if used <= seconds else seconds * _slowness()
    assert used <= allowed, f"{used:.1f} s of CPU time, of which {allowed:.1f} are allowed: {done.stdout[-1000:]}"
    assert kibibytes / 1024 <= mebibytes, f"{kibibytes / 1024:.0f} MiB, of which {mebibytes} are allowed"
    return Child(done.stdout, used, kibibytes / 1024)
