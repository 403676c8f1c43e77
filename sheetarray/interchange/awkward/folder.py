"""A folder as a container of blobs: a file for each, and nothing outside of it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from ...errors import FormatError, LimitError, NotFoundError
from ...files import PathLike, replacing
from ..zip_members import name_problem


class Folder(MutableMapping[str, bytes]):
    """The files of a folder and of those in it, by their paths with slashes; what `serialize` and `deserialize` take.

    A file is replaced as a whole. Links are not followed.

    Args:
        path: of a folder that is there.

    Raises:
        OSError: there is no such folder.

    Example:
        >>> import tempfile
        >>> blobs = Folder(tempfile.mkdtemp())
        >>> blobs["events/1.raw"] = b"123"
        >>> list(blobs), blobs["events/1.raw"]
        (['events/1.raw'], b'123')
    """

    def __init__(self, path: PathLike) -> None:
        self._root = Path(os.path.realpath(path))
        os.listdir(self._root)  # says what there is to say

    def __getitem__(self, name: str) -> bytes:
        if problem := name_problem(name):
            raise FormatError(f"the name {name!r:.80} {problem}")
        path = self._inside(name)
        if path is None:
            raise NotFoundError(f"no file {name!r}")
        return path.read_bytes()

    def __setitem__(self, name: str, content: bytes) -> None:
        """Write a file, and the folders that it needs.

        Raises:
            LimitError: a name that no file should have, or that leads through a link.
            OSError: the system refuses; an old file is whole.
        """
        if problem := name_problem(name):
            raise LimitError(f"the name {name!r:.80} {problem}, and each blob is a file: rename it")
        path = self._root
        for step in name.split("/"):
            path.mkdir(exist_ok=True)
            path = path / step
            if path.is_symlink():
                raise LimitError(f"the name {name!r:.80} leads through a link, {step}")
        with replacing(path, binary=True) as sink:
            sink.write(content)

    def __delitem__(self, name: str) -> None:
        path = None if name_problem(name) else self._inside(name)
        if path is None:
            raise NotFoundError(f"no file {name!r}")
        path.unlink()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name_problem(name) is None and self._inside(name) is not None

    def __iter__(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self._root):
            folders.sort()
            for file in sorted(files):
                path = Path(folder, file)
                if not path.is_symlink():
                    yield path.relative_to(self._root).as_posix()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Folder({os.fspath(self._root)!r})"

    def _inside(self, name: str) -> Path | None:
        """Return the regular file of a name; None if the folder has no such file, or only a link to it."""
        path = self._root
        with contextlib.suppress(OSError, ValueError):
            for step in name.split("/"):
                path = path / step
                if path.is_symlink():
                    return None
            if stat.S_ISREG(path.stat().st_mode):
                return path
        return None
