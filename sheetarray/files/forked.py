"""Processes that were forked off one whose columnar engine has threads: these are gone there, and waiting for them
never ends.
"""

from __future__ import annotations

import os
import sys

from ..errors import warn_caller

_ENGINE = "polars"
_forked_with_engine = False


def warn_if_forked() -> None:
    """Warn, once a process, where this one was forked after the engine had been loaded: the next call may hang.

    Example:
        >>> warn_if_forked()  # nothing is said in a process that was started in another way
    """
    global _forked_with_engine
    if _forked_with_engine:
        _forked_with_engine = False
        warn_caller(
            "this process was forked after polars had been loaded, whose threads are missing here: reading and writing "
            "may hang. Start processes with multiprocessing.get_context('spawn') or 'forkserver'"
        )


def _note_fork() -> None:
    global _forked_with_engine
    _forked_with_engine = _ENGINE in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
