"""Names beside a target for what is being written, and what dead writers left under them.

A writer keeps the lock of its file (`locks`) for as long as it writes. So the next writer of the same target
knows what a killed one left, and removes it. A target has its own names, so no folder has to be searched.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .locks import try_lock

_SLOTS = 100  # names of a target: as many writers of it at once leave nothing behind
_STEM = ".sheetarray-"


def create_beside(target: Path, mode: int) -> tuple[Path, int]:
    """Create a file beside a target, and return its path and its descriptor, which holds its lock.

    `mode`: the permissions of the file, before the umask.

    Raises:
        OSError: of the system; it names the new file.
    """

    for path in iter_names(target):
        remove_leftover(path)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), mode)
            if try_lock(descriptor) is not False and _is_at(descriptor, path):
                return path, descriptor
            os.close(descriptor)  # another writer took it for a leftover before it was locked
    raise AssertionError("the last name is random")


def is_beside(name: object, target: Path) -> bool:
    """Return whether a path is a temporary name beside a target, as this module makes them."""
    if not isinstance(name, (str, os.PathLike)):
        return False
    path = Path(name)
    return path.parent == target.parent and path.name.startswith(_STEM)


def iter_names(target: Path) -> Iterator[Path]:
    """Yield temporary names beside a target: the same few every time, and at the end a random one."""
    own = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    for slot in range(_SLOTS):
        yield target.with_name(f"{_STEM}{own}-{slot}.tmp")
    yield target.with_name(f"{_STEM}{own}-{secrets.token_hex(8)}.tmp")


def remove_leftover(path: Path) -> None:
    """Remove the temporary file at a path, unless a running writer still holds its lock."""
    with suppress(OSError):  # none is there; or it goes, is not ours, or cannot be opened: then another name is taken
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if try_lock(descriptor) and _is_at(descriptor, path):
                path.unlink()
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False
