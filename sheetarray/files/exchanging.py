"""Renames that lose no file of another program: two names exchanged at once, and a name taken only if it is free."""

from __future__ import annotations

import errno
import os
from functools import cache
from typing import Any

from .places import PathLike

_FROM_HERE = -100  # AT_FDCWD: paths begin in the folder of the process
_EXCHANGE = 2  # RENAME_EXCHANGE
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)  # of the system, or of the file system


def exchange_names(path: PathLike, other: PathLike) -> bool:
    """Give each of two files or folders the name of the other, and return whether that was possible.

    Only Linux can, and not on all of its file systems. Where it returns False, nothing has changed.

    Raises:
        OSError: the system can, but refuses; or one of the two is not there.
    """
    rename = _load_rename()
    if rename is None:
        return False
    if rename(_FROM_HERE, os.fsencode(path), _FROM_HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), os.fspath(path), None, os.fspath(other))


@cache
def _load_rename() -> Any:
    """Return the C library's `renameat2`; None where it has none."""
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):  # TypeError: Windows wants a name
        return None
    rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    rename.restype = ctypes.c_int
    return rename


def rename_to_free(source: PathLike, target: PathLike) -> None:
    """Rename a file to a name that nobody has.

    Raises:
        FileExistsError: somebody has it.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links: what comes in these microseconds is lost
        if os.path.lexists(target):
            raise FileExistsError(os.fspath(target)) from None
        os.rename(source, target)
    else:
        os.unlink(source)
