"""What several formats here do with the bytes of others, and the packages of others: damage becomes an error of ours,
members of zip archives are looked at before they are read, compressed data are inflated no further than asked, and a
package that is not installed is named.
"""

from __future__ import annotations

import errno
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any, cast

import numpy as np

from ..dtypes import Array
from ..errors import FormatError, MissingDependencyError, SheetArrayError, is_panic
from ..files import Sink
from ..files.zip_headers import LOCAL_HEADER, agrees_with_directory
from ..values import to_objects

# Numbers of errors that content makes, such as a seek to where no file reaches; all others are the system's.
_OF_CONTENT = (None, 0, errno.EINVAL, errno.EFAULT, errno.EFBIG)


@contextmanager
def damage_as_format_error(what: str, location: str | None = None) -> Iterator[None]:
    """Raise whatever a library says of bad content as a `FormatError`; errors of ours and of the system pass through.

    `what`: is wrong, for the message, such as "not a Parquet file, or damaged".
    """
    try:
        yield
    except SheetArrayError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        if isinstance(error, OSError) and error.errno not in _OF_CONTENT:
            raise
        raise FormatError(f"{what} ({str(error) or type(error).__name__:.200})", location=location) from error


def parse_values(texts: Iterable[str | None]) -> Array:
    """Return the values of a generic array, each from its JSON text; None stays None."""
    try:
        values = [None if text is None else json.loads(text) for text in texts]
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"a value that is not JSON: {error!s:.80}") from error
    if not {*map(type, values)} <= {type(None), bool, int, float, str}:
        raise FormatError("a value that no generic array holds")
    return to_objects(values)


def load_package(name: str, sentence: str, install: str) -> Any:
    """Return a module of a package that not everybody has; where it is absent, the sentence says what needs it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingDependencyError(f"{sentence}: pip install {install}", name=package) from error


# Zip archives ---------------------------------------------------------------------------------------------------------

_DEFLATED_TIMES = 1032  # a byte of deflated data stands for no more
_LONGEST = 65_000  # bytes; a zip archive has room for 65,535
_BLOCK = 2**20  # bytes that are read at once


def file_name_problem(name: str) -> str | None:
    """Return a phrase that says what is wrong with a member's name in an archive or a folder; None if nothing is.

    Example:
        >>> file_name_problem("events-1.raw"), file_name_problem("../events.json")
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


def open_file_size(file: IO[bytes] | None) -> int:
    """Return the bytes of a file that can be sought in."""
    assert file is not None
    return file.seek(0, io.SEEK_END)


def members_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by their names; folders are left out.

    Raises:
        FormatError: a name leads elsewhere or occurs twice, or members share bytes: so a small archive could inflate
            to any number of bytes, or hold itself.
    """
    _refuse_overlaps(archive)
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.orig_filename  # zipfile's own ends at a NUL
        if name.endswith("/"):
            continue
        if problem := file_name_problem(name):
            raise FormatError(f"the name of the member {name!r:.80} {problem}")
        if name in members:
            raise FormatError(f"two members have the name {name!r:.80}")
        members[name] = member
    return members


def _refuse_overlaps(archive: zipfile.ZipFile) -> None:
    """Refuse members that share bytes with each other, or with the directory; not all versions of zipfile do."""
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    if not members:
        return
    if members[0].header_offset < 0:
        raise FormatError("the directory claims more bytes than stand before it")
    starts = [*(member.header_offset for member in members[1:]), archive.start_dir]
    for member, following in zip(members, starts, strict=True):
        if member.header_offset + LOCAL_HEADER.size + len(member.orig_filename) + member.compress_size > following:
            raise FormatError(f"the member {member.orig_filename!r:.80} overlaps with what follows it")


def check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a member that is encrypted, compressed in another way than by deflate, or larger than it can be.

    What stands before its bytes must say the same of it as the directory does.
    """
    stored, taken, held = member.compress_type == zipfile.ZIP_STORED, member.compress_size, member.file_size
    if member.flag_bits & 1:
        raise FormatError("the member is encrypted")
    if not stored and member.compress_type != zipfile.ZIP_DEFLATED:
        raise FormatError(f"the member is compressed by the method {member.compress_type}, which is not read")
    size = open_file_size(archive.fp)
    if taken > size or (stored and taken != held) or held > taken * _DEFLATED_TIMES + 1024:
        raise FormatError(f"the member claims {held} bytes out of {taken}, in an archive of {size}")
    assert archive.fp is not None
    archive.fp.seek(member.header_offset)
    local = archive.fp.read(LOCAL_HEADER.size)
    if len(local) < LOCAL_HEADER.size or local[:4] != b"PK\3\4":
        raise FormatError(f"there is no member at byte {member.header_offset}")
    _, _, flags, method, _, _, crc, packed, unpacked, _, _ = LOCAL_HEADER.unpack(local)
    if method != member.compress_type or not agrees_with_directory(
        flags | member.flag_bits, (crc, packed, unpacked), (member.CRC, taken, held)
    ):
        raise FormatError("the member's own header contradicts the directory")


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> memoryview:
    """Return the content of a member that was checked, in memory of its own, which may be written to."""
    content, filled = np.empty(member.file_size, np.uint8).data, 0
    with archive.open(member) as stream:
        while chunk := stream.read(_BLOCK):
            content[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
    return content[:filled]


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


# Inflating piece by piece ---------------------------------------------------------------------------------------------

DICTIONARY = 2**27  # bytes of memory that xz and Zstandard may take for what they refer back to
_FED = 2**16  # bytes that are handed to a decompressor at once


class FedStream:
    """A stream out of a decompressor that is fed piece by piece, such as those of bz2, lzma and zlib."""

    def __init__(self, data: memoryview, decompressor: Any) -> None:
        self._data, self._decompressor = data, decompressor
        self._position = 0

    @property
    def is_complete(self) -> bool:
        """Whether the data have come to their end, and nothing follows it."""
        return self._decompressor.eof and not self._decompressor.unused_data and self._position == len(self._data)

    def read(self, most: int, /) -> bytes:
        """Return some more bytes, at most `most`; none at the end. What is damaged raises the decompressor's errors."""
        while self._data and not self._decompressor.eof:
            piece: bytes = getattr(self._decompressor, "unconsumed_tail", b"")  # what zlib had no room for
            if not piece and getattr(self._decompressor, "needs_input", True):
                piece = bytes(self._data[self._position : self._position + _FED])
                self._position += len(piece)
            content: bytes = self._decompressor.decompress(piece, most)
            if content:
                return content
            if not piece:
                raise EOFError("they break off")
        return b""
