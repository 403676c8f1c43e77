"""A progress bar on standard error while a file is read or written: only on a terminal, and if it takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .arguments import takes_progress
from .console import escape_controls, format_size

if TYPE_CHECKING:
    from rich.progress import Progress

    from .endpoints import Endpoint

_PATIENCE = 0.4  # seconds before a bar appears


@contextmanager
def watching(place: Endpoint, verb: str, *, quiet: bool = False) -> Iterator[dict[str, Callable[[int, int], None]]]:
    """Show the progress of an adapter.

    Args:
        place: what is read or written.
        verb: of the adapter: read, write, scan or check.
        quiet: show nothing.

    Yields:
        The option `progress` for the adapter; an empty dict if the adapter does not have it, or nothing is shown.
    """
    if quiet or not sys.stderr.isatty() or not takes_progress(place.row, verb):
        yield {}
        return
    bar = _Bar(place, verb)
    try:
        yield {"progress": bar}
    finally:
        if bar.shown is not None:
            bar.shown.stop()


def make_bar(*columns: Any) -> Progress:
    """Return a progress bar on standard error that leaves the terminal as it was: a text, the bar, and more columns."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    text = TextColumn("{task.description}", markup=False)
    return Progress(text, BarColumn(), *columns, console=Console(stderr=True), transient=True)


class _Bar:
    """A bar that appears with the first report after a moment, so that short work shows none."""

    def __init__(self, place: Endpoint, verb: str) -> None:
        doing = {"write": "writing", "write_table": "writing", "check": "checking"}.get(verb, "reading")
        size = place.size if doing != "writing" else None
        self._title = f"{doing} {escape_controls(place.label)}" + (f" ({format_size(size)})" if size else "")
        self._began = time.monotonic()
        self._done = self._total = 0
        self.shown: Progress | None = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Take note of how many cells are done: the adapter calls it."""
        self._done, self._total = done, total
        self._show(self._title)

    def waiting(self, seconds: float, why: str) -> None:
        """Show that the adapter waits, and why."""
        self._show(f"{self._title}: {escape_controls(why)}, waiting {seconds:.0f} s")

    def _show(self, text: str) -> None:
        if self.shown is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            from rich.progress import TextColumn, TimeElapsedColumn, TimeRemainingColumn

            left = TimeRemainingColumn(compact=True)
            self.shown = make_bar(TextColumn("{task.fields[cells]}"), TimeElapsedColumn(), TextColumn("elapsed,"), left)
            self._task = self.shown.add_task(text, total=None, cells="")
            self.shown.start()
        cells = (
            f"{self._done:,} of {self._total:,} cells" if self._done else f"{self._total:,} cells" * bool(self._total)
        )
        self.shown.update(
            self._task, description=text, completed=self._done, total=self._total if self._done else None, cells=cells
        )
