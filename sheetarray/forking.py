"""A warning in processes that were forked off one in which the columnar engine had threads.

A forked process does not have those threads, and the engine waits for them forever. `import sheetarray` imports this
module, so that it knows of every fork from then on.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from .errors import warn_caller

_ENGINE = "polars"
_WORKER = re.compile(rf"{_ENGINE}-[0-9]+")  # as its threads are called, once it has been used
_forked_with_engine = _has_threads = False


def warn_if_forked() -> None:
    """Warn, once a process, where this one was forked after the engine had started its threads: the next call may hang.

    Example:
        >>> warn_if_forked()  # nothing is said in a process that was started in another way
    """
    global _forked_with_engine
    if _forked_with_engine:
        _forked_with_engine = False
        warn_caller(
            "this process was forked after polars had been used, whose threads are missing here: reading and writing "
            "may hang. Start processes with multiprocessing.get_context('spawn') or 'forkserver'"
        )


def _note_threads() -> None:
    """Note whether the process that is about to fork has the threads of the engine."""
    global _has_threads
    _has_threads = _ENGINE in sys.modules and any(map(_WORKER.fullmatch, _thread_names()))


def _thread_names() -> list[str]:
    """Return the names of the threads of this process; the name of a thread of the engine if the system has no list."""
    try:
        return [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return [f"{_ENGINE}-0"]


def _note_fork() -> None:
    global _forked_with_engine
    _forked_with_engine = _has_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_threads, after_in_child=_note_fork)
