"""Times with and without the compiled loops, each in processes of their own, since a process has them or not.

`python -m benchmarks.plain CASE ROWS` prints the seconds of the processor that writing and reading take in its process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cases import CASES

KEYS = ("1M", "many", "xlsx-wide", "xlsx-100k", "xlsx-small", "xlsx-table", "ods-16")
HEADINGS = ("case", "verb", "compiled", "plain", "plain / compiled")


def measure_plain(*, quick: bool, say: Callable[[str], None]) -> list[list[str]]:
    """Return a row under `HEADINGS` for each case and verb: the fastest of two calls after a warm-up."""
    rows = []
    for case in CASES:
        if case.key not in KEYS:
            continue
        count = max(case.rows // 100, min(case.rows, 10)) if quick else case.rows
        seconds = {}
        for plain in ("", "1"):
            say(f"{case.title}: {'plain' if plain else 'compiled'}")
            command = [sys.executable, "-m", "benchmarks.plain", case.key, str(count)]
            environment = {**os.environ, "SHEETARRAY_PLAIN": plain}
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            seconds[plain] = json.loads(done.stdout)
        for verb, compiled in seconds[""].items():
            slower = seconds["1"][verb]
            times = [f"{1000 * taken:,.1f} ms" for taken in (compiled, slower)]
            rows.append([case.title, verb, *times, f"{slower / compiled:.1f}"])
    return rows


def _time_case(key: str, count: int) -> dict[str, float]:
    case = next(case for case in CASES if case.key == key)
    ours = next(contender for contender in case.contenders if contender.ours or contender.label == "sheetarray")
    arrays = ours.takes(case.make(count))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"plain{ours.suffix}"
        calls: dict[str, Callable[[], Any]] = {
            "write": lambda: ours.write(file, arrays),
            "read": lambda: ours.read(file),
        }
        fastest = {verb: _time_fastest(call) for verb, call in calls.items()}
    return {verb: taken for verb, taken in fastest.items() if verb in ours.verbs}


def _time_fastest(call: Callable[[], Any]) -> float:
    call()
    taken = []
    for _ in range(2):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


if __name__ == "__main__":
    print(json.dumps(_time_case(sys.argv[1], int(sys.argv[2]))))
