"""Functions for all formats that are archives: they check names of members, and translate errors of zipfile."""

from __future__ import annotations

import errno
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from ..errors import FormatError
from ..files import Sink

_DEFLATED_TIMES = 1032  # a byte of deflated data stands for no more
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
        return "is not valid Unicode"
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


def size_of(file: IO[bytes] | None) -> int:
    """Return the bytes of a file that can be sought in."""
    assert file is not None
    return file.seek(0, io.SEEK_END)


def check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a member that is encrypted, compressed in another way than by deflate, or larger than it can be."""
    stored, taken, held = member.compress_type == zipfile.ZIP_STORED, member.compress_size, member.file_size
    if member.flag_bits & 1:
        raise FormatError("the member is encrypted")
    if not stored and member.compress_type != zipfile.ZIP_DEFLATED:
        raise FormatError(f"the member is compressed by the method {member.compress_type}, which is not read")
    size = size_of(archive.fp)
    if taken > size or (stored and taken != held) or held > taken * _DEFLATED_TIMES + 1024:
        raise FormatError(f"the member claims {held} bytes out of {taken}, in an archive of {size}")


class _ZipStream:
    """A sink to which zipfile writes without going back; `start` bytes are before it."""

    def __init__(self, sink: Sink, start: int) -> None:
        self._sink, self._at = sink, start

    def write(self, chunk: bytes) -> int:
        self._sink.write(chunk)
        self._at += len(chunk)
        return len(chunk)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        pass


def zip_stream(sink: Sink, start: int | None = None) -> IO[bytes]:
    """Return a file for zipfile to write to, in which it seeks only if the target is a plain file.

    `start` is how many bytes of the archive are there already.
    """
    plain = start is None and isinstance(sink, io.BufferedWriter)
    return cast("IO[bytes]", sink if plain else _ZipStream(sink, start or 0))
