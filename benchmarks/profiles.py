"""Profiles of ordinary calls: ten arrays of a few kinds, and a table, of few rows and of many.

`python -m benchmarks.profiles [ROWS ...]` prints the time of the processor of each call (the least of many), the calls
of Python that it takes, and the rooms in which the time is spent.
"""

from __future__ import annotations

import cProfile
import pstats
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROWS = (10, 1_000, 10_000)
_SECONDS = 0.4  # that the calls of one row take together, at most, beyond the first ones
_LEAST, _MOST = 3, 30  # calls
_SHOWN = 4  # rooms

Call = Callable[[], Any]


def make_arrays(rows: int) -> dict[str, Any]:
    """Return ten arrays of a few kinds, with so many rows."""
    rng = np.random.default_rng(20240229)
    words = np.array(["north", "south", "", "Zürich", "a longer text"])
    return {
        **{f"float{place}": rng.standard_normal(rows) for place in range(4)},
        "count": rng.integers(0, 1000, rows),
        "id": np.arange(rows),
        "word": words[rng.integers(0, len(words), rows)],
        "answer": rng.integers(0, 2, rows).astype(bool),
        "day": np.datetime64("2024-01-01", "D") + rng.integers(0, 3650, rows),
        "moment": np.datetime64("2024-01-01", "ms") + rng.integers(0, 10**11, rows),
    }


def list_calls(folder: Path, rows: int) -> Iterator[tuple[str, Call]]:
    """Yield the name of each call, and what does it; files are made before."""
    import sheetarray as sa
    from sheets_emulator import SheetsServer

    arrays = make_arrays(rows)
    for suffix in ("csv", "xlsx", "json"):
        path = folder / f"arrays{rows}.{suffix}"
        yield f"write, {suffix}", lambda path=path: sa.write(path, arrays)
        yield f"read, {suffix}", lambda path=path: sa.read(path)
    table, book = folder / f"table{rows}.csv", folder / f"table{rows}.xlsx"
    for path in (table, book):
        _write_table(path, arrays)
        yield f"read_columns, {path.suffix[1:]}", lambda path=path: sa.read_columns(path)
    written, edited = folder / f"arrays{rows}.xlsx", folder / f"edited{rows}.xlsx"
    sa.write(edited, {**arrays, "count": arrays["count"] + (np.arange(rows) == 3)})
    yield "check, xlsx", lambda: list(sa.check(written))
    yield "diff, xlsx", lambda: bool(sa.diff(written, edited))
    more = {name: array[:5] for name, array in arrays.items()}
    yield "append of 5 rows, csv", lambda: _append_to_copy(folder / f"arrays{rows}.csv", more)
    with SheetsServer() as server:
        url = f"https://docs.google.com/spreadsheets/d/{server.create(sheets=[('Sheet1', 1000, 26)])}"
        yield "write, Google, with the emulator", lambda: sa.write(url, arrays, client=server.client())


def _append_to_copy(path: Path, more: dict[str, Any]) -> None:
    """Append rows to a copy of a file, so that each call finds the same."""
    import sheetarray as sa

    sa.append(shutil.copy(path, path.with_stem("copy")), more)


def _write_table(path: Path, arrays: dict[str, Any]) -> None:
    """Write columns as another program does."""
    import polars as pl

    frame = pl.DataFrame(arrays)
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_excel(path)


def measure_call(call: Call) -> tuple[float, int, str]:
    """Return the least time of a call in seconds, the calls of Python in it, and the rooms in which it is spent."""
    call()
    best, spent, count = float("inf"), 0.0, 0
    while count < _LEAST or (spent < _SECONDS and count < _MOST):
        begin = time.process_time()
        call()
        taken = time.process_time() - begin
        best, spent, count = min(best, taken), spent + taken, count + 1
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(call)
    stats: Any = pstats.Stats(profile)
    rooms = Counter[str]()
    for (file, _, _), (_, _, own, _, _) in stats.stats.items():
        rooms[_room_of(file)] += own
    top = ", ".join(f"{room} {own / stats.total_tt:.0%}" for room, own in rooms.most_common(_SHOWN))
    return best, stats.total_calls, top


def _room_of(file: str) -> str:
    """Return the room of the package in which a function stands, or the package that has it."""
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1]
    if "sheetarray" not in parts:
        return "Python"
    inside = parts[len(parts) - parts[::-1].index("sheetarray") :]
    return "/".join(inside[:-1][:2]) or inside[-1].removesuffix(".py")


def main(sizes: list[int]) -> None:
    """Print a row for each call and size."""
    print("| call | rows | ms | calls of Python | where |", "|---|---|---|---|---|", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            for name, call in list_calls(Path(folder), rows):
                seconds, calls, top = measure_call(call)
                print(f"| {name} | {rows:,} | {seconds * 1000:.2f} | {calls:,} | {top} |", flush=True)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or [*ROWS])
