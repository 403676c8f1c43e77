"""Python's search for cycles, paused while a request is answered: a million cells are many objects, and no cycle."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses: list[bool] = []  # whether collection was on when each request that is being answered began


@contextmanager
def without_collection() -> Iterator[None]:
    """Let nothing be collected meanwhile; several threads may do so at once."""
    with _lock:
        _pauses.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            was_on = _pauses[0]
            _pauses.pop()
            if was_on and not _pauses:
                gc.enable()
