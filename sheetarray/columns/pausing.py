"""Python's search for cycles, paused while very many objects are made that belong to none, such as headers."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MANY_OBJECTS = 10_000  # from here on the search, which looks at all of them again and again, costs a third of the time
_lock = threading.Lock()
_pauses: list[bool] = []  # whether collection was on when each pause began that has not ended


@contextmanager
def without_collection(objects: int = MANY_OBJECTS) -> Iterator[None]:
    """Let nothing be collected meanwhile, where many objects are to be made; several threads may do so at once."""
    if objects < MANY_OBJECTS:
        yield
        return
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
