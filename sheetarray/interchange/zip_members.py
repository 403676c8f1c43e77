"""The members of zip archives from others: each is checked before it is read. And the way to write an archive."""

from __future__ import annotations

import io
import re
import zipfile
from typing import IO, cast

import numpy as np

from ..errors import FormatError
from ..files import Sink
from ..files.zip_headers import LOCAL_HEADER, agrees_with_directory

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
