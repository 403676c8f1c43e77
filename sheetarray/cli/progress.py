"""A progress bar on standard error while a file is read or written: only on a terminal, and if it takes a while."""

from __future__ import annotations

import sys
import threading
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
    bar.timer.start()
    try:
        yield {"progress": bar}
    finally:
        bar.close()


class _Bar:
    """A bar that appears only after a moment, so that short work shows none."""

    def __init__(self, place: Endpoint, verb: str) -> None:
        doing = {"write": "writing", "write_table": "writing", "check": "checking"}.get(verb, "reading")
        size = place.size if doing != "writing" else None
        self.title = f"{doing} {escape_controls(place.label)}" + (f" ({format_size(size)})" if size else "")
        self.words = self.title
        self.lock = threading.Lock()
        self.state: tuple[int, int] = (0, 0)
        self.shown: Progress | None = None
        self.task: Any = None
        self.closed = False
        self.timer = threading.Timer(_PATIENCE, self.show)
        self.timer.daemon = True

    def __call__(self, done: int, total: int) -> None:
        """Take note of how many cells are done: the adapter calls it."""
        with self.lock:
            self.state, self.words = (done, total), self.title
            self._show()

    def waiting(self, seconds: float, why: str) -> None:
        """Show that the adapter waits, and why."""
        with self.lock:
            self.words = f"{self.title}: {escape_controls(why)}, waiting {seconds:.0f} s"
            self._show()

    def _show(self) -> None:
        if self.shown is not None:
            self.shown.update(self.task, description=self.words, **_progress_state(*self.state))

    def show(self) -> None:
        """Draw the bar: the timer calls it, in its own thread."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            Task,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class TimeLeft(TimeRemainingColumn):
            """The time that is left; empty until the adapter has reported cells done."""

            def render(self, task: Task) -> Text:
                left = super().render(task)
                return Text.assemble(left, " left") if task.total is not None and task.time_remaining else Text()

        with self.lock:
            if self.closed:
                return
            self.shown = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[cells]}"),
                TimeElapsedColumn(),
                TextColumn("elapsed"),
                TimeLeft(compact=True),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.shown.add_task(self.words, **_progress_state(*self.state))
            self.shown.start()

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.timer.cancel()
        with self.lock:
            self.closed = True
            if self.shown is not None:
                self.shown.stop()


def _progress_state(done: int, total: int) -> dict[str, Any]:
    """Return the fields of a progress bar; until the first report of cells done it only moves."""
    cells = f"{done:,} of {total:,} cells" if done else f"{total:,} cells" if total else ""
    return {"completed": done, "total": total if done else None, "cells": cells}
