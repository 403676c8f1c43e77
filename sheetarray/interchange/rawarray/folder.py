"""A folder of RawArray files: replacing it whole or not at all, and the names that may be files in it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import LimitError
from ...files import PathLike, naming_target

SUFFIX = ".ra"

_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # Windows opens these instead
_LONGEST = 255 - len(SUFFIX)  # bytes of a name


@contextmanager
def replacing_folder(target: PathLike) -> Iterator[Path]:
    """Fill a folder; it takes the place of `target` when the block ends well, which else stays as it was.

    Args:
        target: a path, of a folder or a file or of nothing yet; an old folder is replaced only where everything in it
            is an array's file.

    Yields:
        An empty folder beside it.

    Raises:
        LimitError: the old folder holds something else.
        OSError: of the system, as it is; nothing temporary is left.
    """
    path = Path(os.path.realpath(target))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(target))
    if path.exists() and not path.is_dir() and not path.is_file():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(target))
    for old in sorted(path.iterdir()) if path.is_dir() else ():
        if old.suffix.lower() != SUFFIX or old.is_symlink() or not old.is_file():
            raise LimitError(f"{path.name} is a folder that would be replaced, but it holds {old.name}: move that away")
    aside = path.with_name(f".sheetarray-{secrets.token_hex(8)}.old")
    temporary = aside.with_suffix(".tmp")
    try:
        with naming_target(target, temporary):
            temporary.mkdir()
        yield temporary
        if path.exists():
            if path.is_dir():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            path.rename(aside)
        try:
            temporary.rename(path)
        except BaseException:
            if aside.exists():
                aside.rename(path)
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    if aside.is_dir():
        shutil.rmtree(aside)
    else:
        aside.unlink(missing_ok=True)


def check_names(names: Iterable[str]) -> None:
    """Refuse names that are none for a file on every system.

    Raises:
        LimitError: names it, and what is wrong with it.
    """
    taken: dict[str, str] = {}
    for name in names:
        if problem := _problem(name):
            raise LimitError(f"the name {name!r:.80} {problem}, and each array is a file of its name: rename it")
        same = unicodedata.normalize("NFC", name).casefold()
        if same in taken:
            raise LimitError(f"the names {taken[same]!r} and {name!r} are one file on some systems: rename one")
        taken[same] = name


def _problem(name: str) -> str | None:
    if not name or name.startswith((".", " ")) or name != name.strip():
        return "is empty, or begins with a dot or with white space, or ends with it"
    if wrong := next((mark for mark in name if mark in '/\\:*?"<>|' or not mark.isprintable()), None):
        return f"has {wrong!r} in it"
    if _DEVICES.fullmatch(name):
        return "is that of a device"
    return f"is longer than {_LONGEST} bytes" if len(name.encode()) > _LONGEST else None
