"""The runs of a sheet, kept for the next pass over it: a read goes over a sheet three times."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Literal

from .cells import CellRun

Wanted = Literal["text", "numbers", "table"]

_MOST_CELLS = 2**20  # of a sheet that are kept


class KeptRuns:
    """The runs of the sheet that was last read to its end, if it has no more than `_MOST_CELLS` cells."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, Wanted], list[CellRun]] = {}

    def read(self, title: str, make: Callable[[], Iterator[CellRun]], wanted: Wanted) -> Generator[CellRun]:
        """Yield the runs of a sheet, made anew where they are not kept.

        `make`: reads the sheet and yields its runs. `wanted`: the form of the values in these runs; runs of another
        form are kept beside them.
        """
        key = title, wanted
        if key in self._runs:
            yield from self._runs[key]
            return
        runs: list[CellRun] = []
        count = 0
        for run in make():
            count += len(run)
            if count <= _MOST_CELLS:
                runs.append(run)
            else:
                runs.clear()
            yield run
        self._runs = {other: kept for other, kept in self._runs.items() if other[0] == title}  # of one sheet alone
        if count <= _MOST_CELLS:
            self._runs[key] = runs
