"""Pauses Python's garbage collection while very many objects are made that are in no cycle, such as headers."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TypeVar

MANY_OBJECTS = 10_000  # from here on the search, which looks at all of them again and again, costs a third of the time
_lock = threading.Lock()
_AT_ONCE = 2**10
_pauses: list[bool] = []  # whether collection was on when each pause began that has not ended

Item = TypeVar("Item")


class _Hold(threading.local):
    """The state of `hold_pauses` in this thread: the stack whose end ends the pause, and whether one has begun."""

    stack: ExitStack | None = None
    begun = False


_hold = _Hold()


@contextmanager
def without_collection(objects: int = MANY_OBJECTS) -> Iterator[None]:
    """Pause garbage collection within the context if many objects are to be made; several threads may do so at once."""
    if objects < MANY_OBJECTS or _hold.begun:
        yield
    elif _hold.stack is not None:
        _hold.stack.enter_context(_pause())
        _hold.begun = True
        yield
    else:
        with _pause():
            yield


@contextmanager
def hold_pauses() -> Iterator[None]:
    """Let the first pause that this thread begins within last until the end.

    After every one all that was made is looked at once. Nothing may be yielded within: see `iter_without_collection`.
    """
    if _hold.stack is not None:
        yield
        return
    with ExitStack() as stack:
        _hold.stack = stack
        try:
            yield
        finally:
            _hold.stack, _hold.begun = None, False


@contextmanager
def _pause() -> Iterator[None]:
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
    """Yield items; where there are many, they are made in batches, each while collection is paused.

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
