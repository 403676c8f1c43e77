"""The one road for whoever changes a file in place: lock, state, read, change, state again, exchange of names.

Processes of sheetarray wait for each other at a lock, which is a file in the user's cache folder. Another program knows
no such lock. So the file's state is compared before the new content takes its name, and once more afterwards: the
exchange of names shows what was there. If another program saved the file meanwhile, its file is put back, and the
change is refused.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import LimitError
from .exchanging import exchange_names, rename_to_free
from .locks import try_lock
from .places import RemoteFile, file_version, is_url

PATIENCE = 60.0  # seconds that a process waits for another one that changes the same file
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1  # seconds between two tries


class OvertakenError(LimitError):
    """Another program saved or removed a file while it was being changed."""


@dataclass
class _Held:
    """A file that is being changed: `version`, as `file_version` gives it, before anything of it was read."""

    version: tuple[Any, ...] | None


_held: ContextVar[Mapping[str, _Held]] = ContextVar("_held", default=MappingProxyType({}))


@contextmanager
def changing(place: Any) -> Iterator[None]:
    """Hold a file from before it is read until it is written; `replacing` within refuses if another program saved it.

    A file that this thread holds already is not held twice. An open file has no name to be held by.

    Raises:
        LimitError: another process has been changing the file for a minute.
    """
    key = _key_of(place)
    if key is None or key in _held.get():
        yield
        return
    with locking(key, remote=isinstance(place, RemoteFile)):
        token = _held.set({**_held.get(), key: _Held(file_version(place))})
        try:
            yield
        finally:
            _held.reset(token)


def _key_of(place: Any) -> str | None:
    """Return what a file is held by: its path without links, or its URL; None for an open file and for a service."""
    if isinstance(place, RemoteFile):
        return place.url
    if not isinstance(place, (str, os.PathLike)) or is_url(place):
        return None
    return os.path.realpath(place)


@dataclass(frozen=True)
class Beginning:
    """A file that is being changed, at the moment when its new content is begun: the `version` that it must keep."""

    held: _Held
    version: tuple[Any, ...] | None


def begin_writing(place: Any) -> Beginning | None:
    """Refuse if a file that this thread is changing was saved meanwhile; None for a file that it is not changing.

    Raises:
        LimitError: another program saved, made or removed it.
    """
    key = _key_of(place) if _held.get() else None
    held = None if key is None else _held.get().get(key)
    if held is None:
        return None
    beginning = Beginning(held, held.version)
    check_unchanged(place, beginning)
    return beginning


def check_unchanged(place: Any, beginning: Beginning | None) -> None:
    """Refuse if a file is another one than when its new content was begun.

    Raises:
        LimitError: another program saved, made or removed it.
    """
    if beginning is not None and file_version(place) != beginning.version:
        raise _overtaken(place)


def note_written(place: Any, beginning: Beginning | None) -> None:
    """Note that a file which this thread is changing was written, so that it may be written once more."""
    if beginning is not None:
        beginning.held.version = file_version(place)


def take_name(temporary: Path, path: Path, beginning: Beginning) -> None:
    """Rename a written file to its target, which is changed in place and must be as it was before.

    Raises:
        LimitError: another program saved, made or removed the target meanwhile. The target is as that program left it.
    """
    check_unchanged(path, beginning)
    if beginning.version is None:
        try:
            rename_to_free(temporary, path)
        except FileExistsError:
            raise _overtaken(path) from None
    elif not _exchange(temporary, path):
        temporary.replace(path)  # what another program saves between the two lines is lost
    elif file_version(temporary) != beginning.version:
        _put_back(temporary, path)
        raise _overtaken(path)
    else:
        temporary.unlink()
    note_written(path, beginning)


def _exchange(temporary: Path, path: Path) -> bool:
    try:
        return exchange_names(temporary, path)
    except FileNotFoundError:
        raise _overtaken(path) from None


def _put_back(temporary: Path, path: Path) -> None:
    """Exchange names until the target is the file that another program saved last."""
    ours = os.stat(path).st_ino if path.exists() else None
    while exchange_names(temporary, path) and ours is not None and os.stat(temporary).st_ino != ours:
        ours = os.stat(path).st_ino  # it was saved once more: what was just put back is older


def _overtaken(place: Any) -> OvertakenError:
    name = os.fspath(place)
    return OvertakenError(
        f"{name}: another program saved or removed the file meanwhile. It stays as that program left it; try again"
    )


@contextmanager
def locking(key: str, *, remote: bool = False) -> Iterator[None]:
    """Hold the lock of a file, once no other process has it.

    It is a file of its own, as one that is renamed could not be a lock itself.

    `key`: the path of the file, without links. `remote`: whether it is a URL, for which there is no lock.

    Raises:
        LimitError: another process has held it for a minute.
    """
    descriptor = None if remote else _wait_for_lock(key)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):  # Windows removes no open file
                os.unlink(_lock_of(key))
            os.close(descriptor)


def _wait_for_lock(key: str) -> int | None:
    """Return a descriptor that holds the lock; None where there can be no lock, such as without a folder for it."""
    path, pause = _lock_of(key), _FIRST_PAUSE
    until = time.monotonic() + PATIENCE
    while time.monotonic() <= until:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError:
            if os.name == "posix" or not path.parent.is_dir():
                return None
        else:  # on Windows an error says that the lock is being removed
            state = try_lock(descriptor)
            with suppress(OSError):
                if state is None or (state and os.path.samestat(os.fstat(descriptor), path.lstat())):
                    return descriptor
            os.close(descriptor)  # another has it, or has just removed it
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise LimitError(f"{key}: another process has been changing the file for {PATIENCE:g} seconds; try again")


def _lock_of(key: str) -> Path:
    return _find_cache() / "locks" / f"{hashlib.sha256(os.fsencode(key)).hexdigest()}.lock"


def _find_cache() -> Path:
    """Return the folder in which this user's programs keep what can be made anew."""
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder, "sheetarray")
    if sys.platform == "win32" and (folder := os.environ.get("LOCALAPPDATA")):
        return Path(folder, "sheetarray", "Cache")
    return Path(os.path.expanduser("~"), "Library/Caches" if sys.platform == "darwin" else ".cache", "sheetarray")
