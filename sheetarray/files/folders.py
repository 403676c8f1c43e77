"""A folder that is read as one thing: only the files that lie in it are read, and no symbolic link leads out of it.

Each part of a path is opened from the folder before it, without following links. So a link that somebody puts there
while the folder is read leads nowhere either.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from types import TracebackType
from typing import IO

from ..errors import FormatError
from .places import PathLike

_LINKS = getattr(os, "O_NOFOLLOW", 0)
_FROM_FOLDER = _LINKS and os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd  # Windows has neither
_WAITS_FOR_NOBODY = getattr(os, "O_NONBLOCK", 0)  # as opening a pipe would


class ReadFolder:
    """A folder whose files are read; a context manager.

    `path`: of the folder, which may itself be a link that the caller names.

    Attributes:
        sizes: the bytes of each file, by the path in the folder (with `/`), sorted.
        folders: the paths of the folders in it.

    Raises:
        FormatError: a symbolic link, or anything that is neither a file nor a folder, lies in it.
        OSError: it cannot be read.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = os.path.realpath(path)
        self._folder = os.open(self._path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)) if _FROM_FOLDER else -1
        self.folders: list[str] = []
        try:
            self.sizes = dict(sorted(self._list()))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ReadFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder; files that were opened stay open."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _list(self) -> Iterator[tuple[str, int]]:
        """Yield the path of each file, and its size."""
        for folder, folders, files in os.walk(self._path, onerror=_raise):
            inner = os.path.relpath(folder, self._path).replace(os.sep, "/")
            for name in (*folders, *files):
                path = name if inner == "." else f"{inner}/{name}"
                status = os.lstat(os.path.join(folder, name))
                if stat.S_ISLNK(status.st_mode):
                    raise _refuse(path, "is a symbolic link, and links are not followed")
                if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
                    raise _refuse(path, "is neither a file nor a folder")
                if stat.S_ISREG(status.st_mode):
                    yield path, status.st_size
                else:
                    self.folders.append(path)

    def open(self, path: str) -> IO[bytes]:
        """Open a file by its path in the folder.

        Raises:
            FormatError: the path leads out of the folder, through a link, or to no file.
            FileNotFoundError: there is no such file.
        """
        parts = path.split("/")
        if not all(parts) or {".", ".."} & {*parts} or any("\0" in part or os.sep in part for part in parts):
            raise _refuse(path, "leads out of the folder")
        if not _FROM_FOLDER:
            whole = os.path.join(self._path, *parts)
            if os.path.realpath(whole) != whole:
                raise _refuse(path, "is a symbolic link, and links are not followed")
            return open(whole, "rb")
        folders: list[int] = [self._folder]
        try:
            for part in parts[:-1]:
                folders.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | _LINKS, dir_fd=folders[-1]))
            descriptor = os.open(parts[-1], os.O_RDONLY | _LINKS | _WAITS_FOR_NOBODY, dir_fd=folders[-1])
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
                raise _refuse(path, "does not lie in the folder itself, and links are not followed") from error
            raise
        finally:
            for folder in folders[1:]:
                os.close(folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _refuse(path, "is no file")
        return open(descriptor, "rb")


def _raise(error: OSError) -> None:
    raise error


def _refuse(path: str, reason: str) -> FormatError:
    return FormatError(f"{path!r:.200} {reason}", location=f"{path:.200}")
