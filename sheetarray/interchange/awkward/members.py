"""The members of a zip archive: looked at before they are read, and copied as they are where others are added."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

from ...errors import FormatError, NotFoundError
from ...file_array import in_member
from ...files import Readable, Sink, Source, is_url, refuse_empty
from ..zip_members import damage_as_format_error, name_problem

_INFLATED_ALWAYS = 2**26  # a container may always inflate to this many bytes
_INFLATED_TIMES = 20  # and to this many times those that are stored; no writer of the protocol compresses like this
_DEFLATED_TIMES = 1032  # a byte of deflated data stands for no more
_ZIP64 = 2**31  # bytes; members from there on need the larger header


def check_inflated(total: int, stored: int) -> None:
    """Refuse what a container's own compression makes larger than any use of the protocol does.

    Args:
        total: bytes that are to be read.
        stored: bytes that stand for them.

    Raises:
        FormatError: that is a bomb, or might be one.
    """
    if total > (limit := max(_INFLATED_ALWAYS, _INFLATED_TIMES * stored)):
        raise FormatError(
            f"inflates to {total} bytes, of which {limit} are read",
            hint="if that is meant, store it without the container's compression",
        )


class Members(Mapping[str, bytes]):
    """The members of a zip archive, by their names.

    Args:
        file: a path or a file opened for bytes.

    Raises:
        FormatError: no archive, or one with names or sizes that no archive should have.
    """

    def __init__(self, file: Readable) -> None:
        self._source = Source(file) if is_url(file) else None
        archive = _seekable(file) if self._source is None else self._source.open_again()
        refuse_empty(_first_byte(archive))
        with damage_as_format_error("no .awkd file"):
            self._archive = zipfile.ZipFile(archive)
        try:
            assert self._archive.fp is not None
            self._bytes = size_of(self._archive.fp)
            self._members = self._read_directory()
        except BaseException:
            self._archive.close()
            raise

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive.

        Raises:
            FormatError: it lies under a URL, and was changed while it was read.
        """
        self._archive.close()
        if self._source is not None:
            self._source.__exit__(None, None, None)

    def _read_directory(self) -> dict[str, zipfile.ZipInfo]:
        members: dict[str, zipfile.ZipInfo] = {}
        for member in self._archive.infolist():
            name = member.orig_filename
            if name.endswith("/"):
                continue
            if problem := name_problem(name):
                raise FormatError(f"the name of the member {name!r:.80} {problem}")
            if name in members:
                raise FormatError(f"two members have the name {name!r:.80}")
            members[name] = member
        check_inflated(sum(member.file_size for member in members.values()), self._bytes)
        return members

    def __getitem__(self, name: str) -> bytes:
        if name not in self._members:
            raise NotFoundError(f"no member {name!r}")
        if self._archive.fp is None:
            raise ValueError("the archive is closed")
        member = self._members[name]
        with in_member(name):
            self._check(member)
            with damage_as_format_error("damaged member"):
                return self._archive.read(member)

    def _check(self, member: zipfile.ZipInfo) -> None:
        stored, taken, held = member.compress_type == zipfile.ZIP_STORED, member.compress_size, member.file_size
        if member.flag_bits & 1:
            raise FormatError("the member is encrypted")
        if not stored and member.compress_type != zipfile.ZIP_DEFLATED:
            raise FormatError(f"the member is compressed by the method {member.compress_type}, which is not read")
        if taken > self._bytes or (stored and taken != held) or held > taken * _DEFLATED_TIMES + 1024:
            raise FormatError(f"the member claims {held} bytes out of {taken}, in an archive of {self._bytes}")

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def stored(self) -> int:
        """The bytes of the archive."""
        return self._bytes

    @property
    def end(self) -> int:
        """The byte after the last member, where the archive's directory begins."""
        return self._archive.start_dir

    def copy_into(self, file: IO[bytes]) -> zipfile.ZipFile:
        """Return an archive in which these members, copied to `file` already, stand before those that are to come."""
        archive = zipfile.ZipFile(file, "w")
        archive.filelist.extend(self._archive.infolist())
        archive.NameToInfo.update(self._archive.NameToInfo)
        archive.comment = self._archive.comment
        return archive


def _seekable(file: Readable) -> Any:
    if isinstance(file, (str, os.PathLike)):
        return file
    if getattr(file, "seekable", bool)() and not isinstance(file, io.TextIOBase):
        return file
    with Source(file) as source:
        return io.BytesIO(source.whole(text=False))


def _first_byte(file: Any) -> bytes:
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return opened.read(1)
    file.seek(0)
    first: bytes = file.read(1)
    return first


def size_of(file: IO[bytes]) -> int:
    """Return the bytes of a file that can be sought in."""
    return file.seek(0, io.SEEK_END)


# Writing -----------------------------------------------------------------------------------------------------


def new_member(archive: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    """Return a member to be written, of so many bytes; not compressed."""
    info = zipfile.ZipInfo(name)
    info.file_size = size
    return archive.open(info, "w", force_zip64=size >= _ZIP64)


class MemberStream:
    """A sink to which zipfile writes without going back.

    Args:
        sink: where the bytes go.
        start: how many are before them.
    """

    def __init__(self, sink: Sink, start: int = 0) -> None:
        self._sink, self._at = sink, start

    def write(self, chunk: bytes) -> int:
        """Write it all."""
        self._sink.write(chunk)
        self._at += len(chunk)
        return len(chunk)

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._at

    def flush(self) -> None:
        """Do nothing: there is nothing to flush."""
