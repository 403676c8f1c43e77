"""Gives each reader changed files, and prints how many: `make fuzz` runs it after the compiled loops.

    make fuzz READERS=10000   so many files of each format, by the shipped suite of hostile files
    python tests/fuzz/readers_fuzz.py 10000 csv xlsx   only of these formats

Each file is read, scanned and checked. Arrays or an error of sheetarray must come out, within ten seconds and 256 MiB.
`check` must find an error exactly where `read` raises one.
"""

from __future__ import annotations

import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from sheetarray.testing.hostile import HostileConformance, claim_more, mutate

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "helpers"), str(TESTS / "testing")]
suites = import_module("test_hostile_formats")
LEFT_OUT = ("netcdf", "parquet")  # HDF5 hangs on one changed file in some thousand, polars aborts: SECURITY.md says so


def find_suites() -> dict[str, type[HostileConformance]]:
    """Return the suite of each format by its name in the table."""
    found = [value for name, value in vars(suites).items() if name.startswith("Test")]
    return {name_of(suite): suite for suite in found}


def name_of(suite: type[HostileConformance]) -> str:
    """Return what a suite is called in the table."""
    if suite is suites.TestOldWorkbooks:
        return ".ods, .xls, .xlsb"
    return "text in other dialects" if suite is suites.TestDialects else str(suite.format)


def try_reader(suite: type[HostileConformance], files: int, place: Path) -> tuple[int, int]:
    """Put changed files through a reader, and return how many there were, and how many of them could be read."""
    tried = read = 0

    class Counted(suite):  # type: ignore[valid-type,misc]
        def _survives(self, *args: Any, **options: Any) -> bool:
            nonlocal tried, read
            is_read = bool(super()._survives(*args, **options))
            tried, read = tried + 1, read + is_read
            return is_read

    counted = Counted()
    changes = {
        "changed": lambda content, source: mutate(content, source, counted.words),
        "heads": lambda content, source: mutate(content, source, counted.words, header=96),
        "claims": claim_more,
    }
    counted.tries = -(-files // (len(changes) * len(counted.samples(place))))
    for seed, change in changes.items():
        counted._try_changes(place, f"fuzz {seed}", change)
    return tried, read


def main(files: int, *names: str) -> None:
    """Try so many files on each reader, or on those of some names, and print a table."""
    print("| reader | changed files | read | refused | seconds |\n|---|---|---|---|---|")  # noqa: T201
    for name, suite in find_suites().items():
        if name in LEFT_OUT if not names else name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            started = time.process_time()
            tried, read = try_reader(suite, files, Path(folder, f"file{suite.suffix}"))
            seconds = time.process_time() - started
        print(f"| {name} | {tried:,} | {read:,} | {tried - read:,} | {seconds:.0f} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
