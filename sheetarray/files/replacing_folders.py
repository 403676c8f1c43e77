"""Folders that are replaced whole or not at all; what a killed writer left beside them, the next write removes.

A folder is filled in a hidden folder beside the target, which then gets its name: at once where the system exchanges
names. Elsewhere the old folder is moved aside first, and a writer that is killed right then leaves it there; the next
write puts it back. The hidden folder is locked while its writer lives.

    .sheetarray-0123456789abcdef/new/run.zarr       what is being written
    .sheetarray-0123456789abcdef/old/run.zarr       what was there, for a moment
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import system_error, warn_if_forked
from .exchanging import exchange_names
from .locks import try_lock
from .places import PathLike
from .writing import naming_target

_HIDDEN = re.compile(r"\.sheetarray-[0-9a-f]{16}")
_TRIES, _PAUSE = 20, 0.05  # threads of a library may write for a moment after its error


@contextmanager
def replacing_folder(target: PathLike) -> Iterator[Path]:
    """Fill a folder; it takes the place of `target` when the block ends well, which else stays as it was.

    Yields:
        An empty folder beside it.
    """
    warn_if_forked()
    path = Path(os.path.realpath(target))
    if not path.parent.is_dir():
        raise system_error(errno.ENOENT, target)
    _remove_leftovers(path.parent)
    beside, lock = _make_hidden(path, target)
    new, old = beside / "new" / path.name, beside / "old" / path.name
    try:
        new.mkdir(parents=True)
        old.parent.mkdir()
        yield new
        if path.is_dir():
            new.chmod(stat.S_IMODE(path.stat().st_mode))
        _place(new, path, old)
    finally:
        _put_back(beside)  # whatever came between, Ctrl-C too; where this fails, the old folder stays beside
        _remove(beside)
        if lock is not None:
            os.close(lock)


def _place(new: Path, path: Path, old: Path) -> None:
    """Give a new folder its name; what has the name now is moved to `old`, or to where the new folder was."""
    if not path.exists():
        try:
            new.rename(path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # of another writer, who came first
                raise
        else:
            return
    if not exchange_names(new, path):
        path.rename(old)
        new.rename(path)


def _make_hidden(path: Path, target: PathLike) -> tuple[Path, int | None]:
    """Return a new hidden folder beside a path, and its lock."""
    while True:
        beside = path.with_name(f".sheetarray-{secrets.token_hex(8)}")
        with naming_target(target, beside):
            beside.mkdir(0o700)
        with suppress(BlockingIOError, FileNotFoundError):  # another writer came first, and takes it for a leftover
            lock = _lock(beside)
            if lock is None or os.path.samestat(os.fstat(lock), os.stat(beside)):
                return beside, lock


def _lock(folder: Path) -> int | None:
    """Lock a folder for as long as this process lives, and return the lock; None where folders have none.

    Raises:
        BlockingIOError: another writer has locked it.
    """
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    state = try_lock(descriptor)
    if state:
        return descriptor
    os.close(descriptor)
    if state is False:
        raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK), os.fspath(folder))
    return None


def _remove_leftovers(parent: Path) -> None:
    """Remove the hidden folders of writers that are dead, and give back the folders that these had moved aside."""
    with suppress(OSError):  # a folder that cannot be listed may still be written to
        for entry in os.scandir(parent):
            if not _HIDDEN.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError):  # of another user, or removed by another writer meanwhile
                lock = _lock(Path(entry.path))
                if lock is None:
                    continue
                try:
                    _put_back(Path(entry.path))
                    _remove(Path(entry.path))
                finally:
                    os.close(lock)


def _put_back(beside: Path) -> None:
    """Give a folder that was moved aside its name again, if nothing has it."""
    for old in (beside / "old").iterdir() if (beside / "old").is_dir() else ():
        place = beside.parent / old.name
        if not place.exists():
            old.rename(place)


def _remove(beside: Path) -> None:
    """Remove a hidden folder, but not one that still holds a folder that was moved aside and could not be put back."""
    with suppress(OSError):
        if any(not (beside.parent / old.name).exists() for old in (beside / "old").iterdir()):
            return
    for _ in range(_TRIES):
        shutil.rmtree(beside, ignore_errors=True)
        if not beside.exists():
            return
        time.sleep(_PAUSE)
