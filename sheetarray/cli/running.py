"""A verb that runs for a command: its progress, its warnings, and the errors that it turns into messages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import NotFoundError, escape_controls, locating
from .arguments import UsageProblem, to_cli_options
from .console import format_size
from .program import EXPECTED

if TYPE_CHECKING:
    from rich.progress import Progress

    from .endpoints import Endpoint


_PATIENCE = 0.4  # seconds before a bar of progress appears


@contextmanager
def running(place: Endpoint, verb: str, *, quiet: bool = False) -> Iterator[dict[str, Callable[[int, int], None]]]:
    """Run a verb of an adapter: its errors name the place, and a terminal shows the progress.

    It yields the option `progress` for the adapter; an empty dict if the adapter does not have it, or nothing is shown.

    Raises:
        UsageProblem: the adapter refuses the value of an option, such as a number that is too small.
    """
    side = "--write" if verb.startswith("write") else "--read"
    with locating(source=place.label), refusing_values(side), _watching(place, verb, quiet=quiet) as progress:
        yield progress


@contextmanager
def refusing_values(side: str = "--read") -> Iterator[None]:
    """Make an error of Python's about the value of an option one of the command line.

    `side`: the option, --read or --write, that takes what a source and a target both have.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if isinstance(error, EXPECTED):
            raise
        raise UsageProblem(to_cli_options(str(error), side)) from error


@contextmanager
def _watching(place: Endpoint, verb: str, *, quiet: bool) -> Iterator[dict[str, Callable[[int, int], None]]]:
    takes_progress = False
    with suppress(NotFoundError):  # the adapter has no such verb: the call says it better
        takes_progress = "progress" in place.row.options(verb)
    if quiet or not takes_progress or not sys.stderr.isatty():
        yield {}
        return
    doing = {"write": "writing", "write_table": "writing", "check": "checking"}.get(verb, "reading")
    size = place.size if doing != "writing" else None
    title = f"{doing} {escape_controls(place.label)}" + (f" ({format_size(size)})" if size else "")
    with closing(Bar(title)) as bar:
        yield {"progress": bar}


class Bar:
    """A bar of progress on a terminal that appears after a moment, so that short work shows none.

    An adapter calls it with the number of cells that are done, and of all.
    """

    def __init__(self, title: str = "") -> None:
        self._title, self._done, self._total = title, 0, 0
        self._began = time.monotonic()
        self._shown: Progress | None = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show how many cells are done, and of how many."""
        self._done, self._total = done, total
        self._show_cells(self._title)

    def waiting(self, seconds: float, why: str) -> None:
        """Show that the adapter waits, and why."""
        self._show_cells(f"{self._title}: {escape_controls(why)}, waiting {seconds:.0f} s")

    def _show_cells(self, text: str) -> None:
        done, total = self._done, self._total
        count = f"{done:,} of {total:,} cells" if done else f"{total:,} cells" * bool(total)
        self.update(text, done, total if done else 0, count)

    def update(self, text: str, done: int, total: int, count: str = "") -> None:
        """Show a text, how much is done, and what is counted; nothing of a total that is 0."""
        if self._shown is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._shown = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[count]}"),
                TimeRemainingColumn(compact=True),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._shown.add_task(text, total=None, count="")
            self._shown.start()
        self._shown.update(self._task, description=text, completed=done, total=total or None, count=count)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._shown is not None:
            self._shown.stop()
