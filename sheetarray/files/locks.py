"""Locks of open files: the system gives them back when the process that holds them ends, however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file or folder until it is closed; False if another holds it, None if the system has no such locks.

    A lock is one of the open file: two that the same process opened exclude each other, too.
    """
    lock = _find_lock()
    if lock is None:
        return None
    try:
        lock(descriptor)
    except OSError as error:
        return False if error.errno in _BUSY else None
    return True


@cache
def _find_lock() -> Callable[[int], None] | None:
    """Return the function of this system that locks an open file, or raises an OSError."""
    module: Any
    try:
        module = import_module("fcntl")
    except ImportError:
        return _find_lock_of_windows()
    return lambda descriptor: module.flock(descriptor, module.LOCK_EX | module.LOCK_NB)


def _find_lock_of_windows() -> Callable[[int], None] | None:
    module: Any
    try:
        module = import_module("msvcrt")
    except ImportError:
        return None

    def lock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        module.locking(descriptor, module.LK_NBLCK, 1)

    return lock
