"""Files that have no name while they are written, so that a process that is killed leaves none of them behind.

Only Linux has such files, and not on all of its file systems.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from .beside import create_beside, iter_names, remove_leftover
from .locks import try_lock
from .places import PathLike


def open_unnamed(folder: PathLike, mode: int = 0o666) -> IO[bytes] | None:
    """Return a new file in a folder that has no name yet; None if the system, or the file system, has no such files.

    `mode`: its permissions, before the umask.
    """
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, mode), "wb")
    except OSError:  # if it is the folder's fault, opening a file in it by name will raise the error
        return None


def path_of(file: IO[bytes]) -> str:
    """Return a path that leads to an open file of this process."""
    return f"/proc/self/fd/{file.fileno()}"


def give_name(file: IO[bytes], target: Path) -> tuple[Path, int]:
    """Give a file without a name one beside a target; where the system refuses, a copy of it gets the name.

    It returns the path, and a descriptor that holds the lock of what is there.
    """
    with suppress(OSError):
        try_lock(file.fileno())
        for path in iter_names(target):
            remove_leftover(path)
            with suppress(FileExistsError):
                os.link(path_of(file), path, src_dir_fd=file.fileno(), follow_symlinks=True)
                return path, os.dup(file.fileno())
    return _copy_beside(file, target)


def _copy_beside(file: IO[bytes], target: Path) -> tuple[Path, int]:
    mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    path, descriptor = create_beside(target, mode)
    try:
        with open(os.dup(file.fileno()), "rb") as whole, open(os.dup(descriptor), "wb") as copy:
            set_mode(copy, mode)
            whole.seek(0)
            shutil.copyfileobj(whole, copy)
            copy.flush()
            os.fsync(copy.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        raise
    return path, descriptor


def set_mode(file: IO[bytes], mode: int | None) -> None:
    """Give an open file permissions, whatever the umask is; none for None, and on Windows."""
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode)
