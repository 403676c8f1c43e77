"""Files that have no name while they are written: whoever kills the process finds none of them.

Of the systems Linux alone has them, and not all of its file systems do.
"""

from __future__ import annotations

import os
import shutil
from typing import IO

from .places import PathLike


def open_unnamed(folder: PathLike) -> IO[bytes] | None:
    """Return a new file of a folder that has no name yet; None where every file needs one."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "wb")
    except OSError:  # what is wrong with the folder is said by whoever opens a file in it by name
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
