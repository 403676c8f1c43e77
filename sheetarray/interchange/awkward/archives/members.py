"""Members of a zip archive, as a mapping of names to bytes that is bounded in what it inflates."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

from ....errors import FormatError, NotFoundError
from ....files import Readable, Source, is_url, refuse_empty
from ...file_array import in_member
from ...untrusted import damage_as_format_error
from ...zip_members import check_member, members_of, open_file_size, read_member

_INFLATED_ALWAYS = 2**26  # a container may always inflate to this many bytes
_INFLATED_TIMES = 20  # and to this many times those that are stored; no writer of the protocol compresses like this
ZIP64 = 2**31  # bytes; members from there on need the larger header


def check_inflated(total: int, stored: int) -> None:
    """Refuse what a container's own compression makes larger than any use of the protocol does."""
    if total > (limit := max(_INFLATED_ALWAYS, _INFLATED_TIMES * stored)):
        raise FormatError(
            f"inflates to {total} bytes; at most {limit} are read",
            hint="if this is intended, store it without the container's compression",
        )


class Members(Mapping[str, memoryview]):
    """The members of a zip archive, by their names; `stored` is the bytes of the archive."""

    def __init__(self, file: Readable) -> None:
        with contextlib.ExitStack() as opened:
            archive = opened.enter_context(Source(file)).open_again() if is_url(file) else _seekable(file)
            refuse_empty(_first_byte(archive))
            with damage_as_format_error("not an .awkd file"):
                self._archive = opened.enter_context(zipfile.ZipFile(archive))
            self.stored = open_file_size(self._archive.fp)
            self._members = members_of(self._archive)
            check_inflated(sum(member.file_size for member in self._members.values()), self.stored)
            self._opened = opened.pop_all()

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive."""
        self._opened.close()

    def __getitem__(self, name: str) -> memoryview:
        if name not in self._members:
            raise NotFoundError(f"no member {name!r}")
        if self._archive.fp is None:
            raise ValueError("the archive is closed")
        member = self._members[name]
        with in_member(name):
            check_member(self._archive, member)
            with damage_as_format_error("damaged member"):
                return read_member(self._archive, member)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

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
