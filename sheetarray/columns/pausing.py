"""Python's search for cycles, paused while very many objects are made that belong to none, such as headers."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

MANY_OBJECTS = 10_000  # from here on the search, which looks at all of them again and again, costs a third of the time
_lock = threading.Lock()
_AT_ONCE = 2**10
_pauses: list[bool] = []  # whether collection was on when each pause began that has not ended

Item = TypeVar("Item")


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


def iter_without_collection(items: Iterable[Item], count: int) -> Iterator[Item]:
    """Yield items, where they are many so many at once that nothing is collected while they are made.

    Collection is on again whenever one is yielded: nobody knows when, or whether, the next one is asked for.

    Args:
        items: what is made one by one.
        count: how many there are.
    """
    if count < MANY_OBJECTS:
        yield from items
        return
    rest = iter(items)
    while True:
        with without_collection():
            batch = list(islice(rest, _AT_ONCE))
        if not batch:
            return
        yield from batch
