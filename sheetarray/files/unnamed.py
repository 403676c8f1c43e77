"""Files that have no name while they are written, so that a process that is killed leaves none of them behind.

Only Linux has such files, and not on all of its file systems.
"""

from __future__ import annotations

import os
import shutil
from typing import IO

from .places import PathLike


def open_unnamed(folder: PathLike) -> IO[bytes] | None:
    """Return a new file in a folder that has no name yet; None if the system, or the file system, has no such files."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "wb")
    except OSError:  # if it is the folder's fault, opening a file in it by name will raise the error
        return None


def path_of(file: IO[bytes]) -> str:
    """Return a path that leads to an open file of this process."""
    return f"/proc/self/fd/{file.fileno()}"


def give_name(file: IO[bytes], path: PathLike) -> None:
    """Give a file without a name one, in its own folder; where the system refuses, a copy of it gets the name.

    Raises:
        OSError: the copy cannot be written.
    """
    try:
        os.link(path_of(file), path, src_dir_fd=file.fileno(), follow_symlinks=True)
    except OSError:
        with open(os.dup(file.fileno()), "rb") as whole, open(path, "xb") as copy:
            whole.seek(0)
            shutil.copyfileobj(whole, copy)
            copy.flush()
            os.fsync(copy.fileno())
