"""How time grows with cells, columns, arrays and files: what one of them takes, at each size.

Times are those of the processor, of all cores together: they do not depend on what else a machine does.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import sheetarray as sa

from .contenders import Arrays
from .targets import GROWTH

Say = Callable[[str], None]
_RUNS = 3
_LONG = 2.0  # seconds; what takes longer is done once


@dataclass
class Growth:
    """What one unit takes, at each size.

    Attributes:
        what: is done, to which kind of file.
        unit: that the sizes count.
        seconds: of the whole, by size.
    """

    what: str
    unit: str
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Time per unit at the largest size, beside that at the cheapest of the smaller ones; at most 1 is linear."""
        *smaller, largest = (seconds / size for size, seconds in self.seconds.items())
        return largest / min(smaller)

    @property
    def is_linear(self) -> bool:
        """Whether a unit of the largest size costs about what one of a smaller size does."""
        return self.ratio <= GROWTH


def _cells(count: int) -> Arrays:
    return {"x": np.random.default_rng(0).standard_normal(count)}


def _columns(count: int) -> Arrays:
    table = np.random.default_rng(0).standard_normal((count, 10))
    return {f"x{place}": column for place, column in enumerate(table)}


def _write_table(path: Path, arrays: Arrays) -> None:
    sa.write_table(path, arrays)


_SIZES: dict[str, tuple[Callable[[int], Arrays], tuple[int, ...]]] = {
    "cell": (_cells, (10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**7)),
    "column": (_columns, (1, 10, 100, 1000, 16_384)),
    "array": (_columns, (1, 10, 100, 1000, 10_000, 50_000)),
}
_WAYS: tuple[tuple[str, str, Callable[[Path, Arrays], object], Callable[[Path], object]], ...] = (
    ("cell", ".csv", sa.write, sa.read),
    ("cell", ".json", sa.write, sa.read),
    ("cell", ".xlsx", sa.write, sa.read),
    ("column", ".csv", _write_table, sa.read_columns),
    ("column", ".xlsx", _write_table, sa.read_columns),
    ("array", ".csv", sa.write, sa.read),
    ("array", ".json", sa.write, sa.read),
    ("array", ".npz", sa.write, sa.read),
    ("array", ".xlsx", sa.write, sa.read),
)
_XLSX_COLUMNS = 16_384
_FILES = 10, 100, 1000, 10_000, 100_000


def run_growth(folder: Path, *, quick: bool, say: Say) -> Iterator[Growth]:
    """Yield how writing and reading grow, for each kind of file."""
    for unit, suffix, write, read in _WAYS:
        make, sizes = _SIZES[unit]
        writing, reading = (
            Growth(f"{suffix} {write.__name__.strip('_')}", unit),
            Growth(f"{suffix} {read.__name__}", unit),
        )
        for size in sizes[: 2 if quick else None]:
            count = min(size, _XLSX_COLUMNS) if suffix == ".xlsx" and unit != "cell" else size
            say(f"growth: {suffix}, {count:,} {unit}s")
            arrays, path = make(count), folder / f"growth{suffix}"
            writing.seconds[count] = _least(lambda: write(path, arrays))  # noqa: B023  (called now)
            reading.seconds[count] = _least(lambda: read(path))  # noqa: B023
            path.unlink()
        yield writing
        yield reading
    yield _grow_files(folder / "files", _FILES[: 2 if quick else None], say)


def _grow_files(folder: Path, sizes: tuple[int, ...], say: Say) -> Growth:
    """Return how the opening of many files as one Dataset grows."""
    opening = Growth(".csv open_many", "file")
    folder.mkdir()
    sa.write(folder / "0.csv", _cells(4))
    content, count = (folder / "0.csv").read_bytes(), 1
    for size in sizes:
        say(f"growth: {size:,} files")
        for number in range(count, size):
            (folder / f"{number}.csv").write_bytes(content)
        count = size
        opening.seconds[size] = _least(lambda: sa.open_many(folder / "*.csv"))
    shutil.rmtree(folder)
    return opening


def _least(call: Callable[[], object]) -> float:
    """Return the least of some times; a call that takes long is timed once."""
    least = float("inf")
    for _ in range(_RUNS):
        start = time.process_time()
        call()
        least = min(least, time.process_time() - start)
        if least > _LONG:
            break
    return least
