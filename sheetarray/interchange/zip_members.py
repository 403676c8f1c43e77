"""Functions for all formats that are archives: they check names of members, and translate errors of zipfile."""

from __future__ import annotations

import errno
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import FormatError

_LONGEST = 65_000  # bytes; a zip archive has room for 65,535
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError, LookupError)


def name_problem(name: str) -> str | None:
    """Return a phrase that says what is wrong with a member's name in an archive or a folder; None if nothing is.

    Example:
        >>> name_problem("events-1.raw"), name_problem("../events.json")
        (None, "has '.' or '..' in it")
    """
    parts = name.split("/")
    if not all(parts) or re.fullmatch(r"[A-Za-z]:", parts[0]):
        return "is empty or absolute, or has an empty part"
    if ".." in parts or "." in parts:
        return "has '.' or '..' in it"
    if wrong := next((mark for mark in "\\\0" if mark in name), None):
        return f"has {wrong!r} in it"
    if any("\ud800" <= mark <= "\udfff" for mark in name):
        return "is no valid Unicode"
    return f"is longer than {_LONGEST} bytes" if len(name.encode()) > _LONGEST else None


@contextmanager
def damage_as_format_error(what: str) -> Iterator[None]:
    """Raise the errors that zipfile has for bad content as `FormatError`."""
    try:
        yield
    except FormatError:
        raise
    except _DAMAGE as error:
        raise FormatError(f"{what} ({error or type(error).__name__})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a seek to where no file reaches
            raise
        raise FormatError(f"{what} (an offset beyond any file)") from error
