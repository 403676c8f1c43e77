"""Times, peaks and exact cells of a case; the time of a scan and of an import.

Times are those of the processor, of all threads and of processes that were waited for; the least of some runs counts.
All contenders take turns (A B C A B C), so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case
from .contenders import SHEETARRAY, Arrays, Contender, Verb
from .memory import peak_memory

_IO = Path("/proc/self/io")
SLOW = 2.0  # seconds; what takes longer is timed once, without a warm-up, and its memory is not taken
Say = Callable[[str], None]


@dataclass
class Result:
    """What one contender did in one case.

    Attributes:
        case: the case.
        contender: who.
        nbytes: of the arrays that it wrote.
        cells: elements that it wrote.
        columns: arrays that it wrote, and those that it left out.
        seconds: of each run.
        peak: bytes of memory above the baseline.
        size: bytes of the file.
        exact: cells that came back bit for bit, once cast to the dtype written.
        dtypes: columns that came back with their dtype.
    """

    case: Case
    contender: Contender
    nbytes: int
    cells: int
    columns: tuple[int, int]
    seconds: dict[Verb, list[float]] = field(default_factory=lambda: {"write": [], "read": []})
    peak: dict[Verb, int] = field(default_factory=dict)
    size: int = 0
    exact: int = 0
    dtypes: int = 0

    def time(self, verb: Verb) -> float:
        """The least, in seconds."""
        return min(self.seconds[verb])


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    start = _used()
    result = call()
    return _used() - start, result


def _used() -> float:
    """Return the seconds that the processor has worked for this process, and for those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run_case(case: Case, folder: Path, *, rows: int, runs: int, memory: bool, say: Say) -> list[Result]:
    """Every contender's result.

    Args:
        case: what to measure.
        folder: for the files.
        rows: elements in each array.
        runs: that count; one more warms up, and shows which cells come back. What takes seconds is timed once.
        memory: take peaks of memory too.
        say: told what is going on.
    """
    arrays = case.make(rows)
    results: list[Result] = []
    for contender in case.contenders:
        taken = contender.takes(arrays)
        nbytes = sum(array.nbytes for array in taken.values())
        cells = sum(array.size for array in taken.values())
        results.append(Result(case, contender, nbytes, cells, (len(taken), len(arrays) - len(taken))))
    files = [folder / f"{result.contender.label}{result.contender.suffix}" for result in results]
    pairs = list(zip(results, files, strict=True))
    for run in range(runs + 1):
        turn = run % len(pairs)  # whoever comes first finds the memory cold: let each be the first
        for verb in ("write", "read"):
            for result, file in [*pairs[turn:], *pairs[:turn]]:
                say(f"{case.title}: {result.contender.label} {verb}, run {run} of {runs}")
                _run_once(result, verb, file, arrays, first=not run)
    del arrays
    for result, file in zip(results, files, strict=True):
        for verb in result.contender.verbs if memory else ():
            wanted = case.memory or (result.contender.ours and verb == "write")
            if wanted and result.time(verb) <= SLOW:
                say(f"{case.title}: {result.contender.label} {verb}, memory")
                result.peak[verb] = peak_memory(case, result.contender, verb, rows, file)
    for file in files:
        file.unlink()
    return results


def _run_once(result: Result, verb: Verb, file: Path, arrays: Arrays, *, first: bool) -> None:
    """Time one call; the first only warms up, unless it takes long."""
    contender, seconds = result.contender, result.seconds[verb]
    if not first and (verb not in contender.verbs or (len(seconds) == 1 and seconds[0] > SLOW)):
        return
    taken = contender.takes(arrays)
    if verb == "write":
        time_taken, content = _timed(lambda: contender.write(file, taken))
    else:
        time_taken, content = _timed(lambda: contender.read(file))
    if not first or time_taken > SLOW:
        seconds.append(time_taken)
    if first and verb == "read":
        result.size = file.stat().st_size
        result.exact, result.dtypes = came_back(taken, contender.arrays(content))


# Exactness ---------------------------------------------------------------------------------------------------


def came_back(written: Arrays, result: Arrays) -> tuple[int, int]:
    """How many cells are the same bit for bit, cast to the dtype written; and how many columns kept their dtype."""
    exact = kept = 0
    for place, (name, array) in enumerate(written.items()):
        other = result.get(name, result.get(str(place)))
        if other is None or other.shape != array.shape:
            continue
        if array.dtype.kind == "O":
            exact += sum(map(_is_same, array.tolist(), other.tolist()))
            kept += other.dtype == array.dtype
            continue
        text = array.dtype.kind == "U"
        kept += other.dtype.kind in "UO" if text else other.dtype == array.dtype
        if (other.dtype.kind in "biuf") != (array.dtype.kind in "biuf"):
            continue  # text or dates where there were numbers, or the other way round
        if array.dtype.kind in "cM" and other.dtype.kind != array.dtype.kind:
            continue
        exact += int(np.count_nonzero(array == other)) if text else _same_bits(array, other)
    return exact, kept


def _is_same(element: object, other: object) -> bool:
    return type(element) is type(other) and element == other


def _same_bits(array: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> int:
    raw = f"V{array.dtype.itemsize}"
    cast = np.ascontiguousarray(other.astype(array.dtype))
    return int(np.count_nonzero(np.ascontiguousarray(array).view(raw) == cast.view(raw)))


# A scan, an import -------------------------------------------------------------------------------------------


@dataclass
class Scan:
    """How long a scan of a large file takes, and how much of it is read (None where the system does not say)."""

    size: int
    seconds: float
    bytes_read: int | None


def run_scan(folder: Path, *, size: int, runs: int, say: Say) -> Scan:
    """Write a CSV of about `size` bytes, scan it, and delete it."""
    import sheetarray

    say(f"scan: writing {size / 1e9:.2f} GB")
    file = folder / "large.csv"
    rng = np.random.default_rng(20240229)
    columns = 4
    rows = int(size / 19.6 / columns) + 1  # a normally distributed double and its delimiter take about 19.6 bytes
    SHEETARRAY.write(file, {f"x{column}": rng.standard_normal(rows) for column in range(columns)})
    say("scan")
    sheetarray.scan(file)
    seconds = [_timed(lambda: sheetarray.scan(file))[0] for _ in range(runs)]
    before = _characters_read()
    sheetarray.scan(file)
    after = _characters_read()
    overhead = _characters_read() - after if after is not None else 0
    result = Scan(
        file.stat().st_size,
        min(seconds),
        None if after is None or before is None else after - before - overhead,
    )
    file.unlink()
    return result


def _characters_read() -> int | None:
    if not _IO.exists():
        return None
    return int(_IO.read_text().splitlines()[0].split()[1])


def run_imports(runs: int, say: Say) -> dict[str, float]:
    """Seconds that a fresh interpreter takes longer for an import, and until `read` can be called."""
    ours = "import sheetarray"
    statements = {"": "pass", "numpy": "import numpy", "sheetarray": ours, "read": f"{ours}; sheetarray.read"}
    seconds: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(runs + 1):
        for name, statement in statements.items():
            say(f"import {name}")
            command = [sys.executable, "-c", statement]
            seconds[name].append(_timed(lambda: subprocess.run(command, check=True))[0])  # noqa: B023
    least = {name: min(taken[1:]) for name, taken in seconds.items()}
    return {name: taken - least[""] for name, taken in least.items() if name}


def run_processes(folder: Path, *, count: int, say: Say) -> dict[int, tuple[float, float]]:
    """Seconds that one and two processes take to convert small files of CSV to JSON, and the last half of them.

    When the first half is done all processes have started, and what they import is imported.
    """
    import sheetarray

    source = folder / "processes"
    source.mkdir()
    rng = np.random.default_rng(2)
    for index in range(count):
        sheetarray.write(source / f"{index:06}.csv", {"t": rng.random((200, 8)), "n": np.arange(200)})
    seconds = {}
    for workers in (1, 2):
        say(f"{count:,} files, {workers} processes")
        target = folder / f"processes{workers}"
        target.mkdir()
        ends = [time.perf_counter()]
        note = lambda _, ends=ends: ends.append(time.perf_counter())  # noqa: E731
        sheetarray.convert(source / "*.csv", target / "{stem}.json", workers=workers, progress=note)
        seconds[workers] = ends[-1] - ends[0], ends[-1] - ends[count // 2]
    return seconds
