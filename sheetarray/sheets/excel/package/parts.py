"""Reads the parts of a zip package, and checks their names, sizes and checksums.

Source: ECMA-376 part 2 (names of parts, stored or deflated content).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace

from ....errors import FormatError
from ....files import BytesLike, RangedBytes, max_inflated_size, release_pages
from .directory import STORED, Member, read_members

DOCTYPE_REFUSED = "the part has a document type definition, which no workbook has"  # of a FormatError
_BLOCK = 2**20  # compressed bytes of a part that are read at once


class Package:
    """The parts of a zip package.

    Args:
        content: the whole package: bytes, a file mapped into memory, or ranges of a file. Only the bytes needed are
            read.

    Raises:
        FormatError: the content is no zip package, is cut off, or is encrypted; members overlap, or claim to inflate to
            far more bytes than the package has; their names are absolute, have ".." in them, or differ only in case.

    Example:
        >>> import io, zipfile
        >>> file = io.BytesIO()
        >>> with zipfile.ZipFile(file, "w") as archive:
        ...     archive.writestr("xl/workbook.xml", b"<workbook/>")
        >>> Package(file.getvalue()).read("xl/workbook.xml")
        b'<workbook/>'
    """

    def __init__(self, content: BytesLike | RangedBytes) -> None:
        self._content = content
        self._limit = max_inflated_size(len(content))
        self._members: dict[str, Member] = {}
        for member in read_members(content):
            if "\\" in member.name:  # some older programs separate folders so
                member = replace(member, name=member.name.replace("\\", "/"))
            if member.name.endswith("/") and not member.size:
                continue  # a folder, which is no part
            if problem := _name_problem(member.name):
                raise FormatError(f"the name of the part {member.name!r:.80} {problem}")
            key = member.name.lower()
            if key in self._members:
                raise FormatError(
                    f"two parts have one name: {self._members[key].name!r:.80} and {member.name!r:.80}",
                    hint="names of parts are compared without case",
                )
            self._members[key] = member
        total = sum(member.size for member in self._members.values())
        if total > self._limit:
            raise FormatError(f"claims to inflate to {total} bytes, of which {self._limit} are read at most")

    def names(self) -> list[str]:
        """Return the names of the parts, in the directory's order."""
        return [member.name for member in self._members.values()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._members

    def member(self, name: str) -> Member:
        """Return the entry of a part in the directory; names are compared without case.

        Raises:
            FormatError: the package has no part of this name.
        """
        try:
            return self._members[name.lower()]
        except KeyError:
            raise FormatError(f"the package has no part {name!r:.80}") from None

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        """Return the content of a part, checked against its size and its CRC-32.

        Args:
            name: of the part.
            limit: the bytes that its content may have; None for no limit.

        Raises:
            FormatError: the package has no such part, the part has more bytes than the limit, or it is damaged.
        """
        member = self.member(name)
        if limit is not None and member.size > limit:
            raise FormatError(f"the part has {member.size} bytes, of which {limit} are read", location=member.name)
        content = b"".join(self._inflate(member, member.size))
        if zlib.crc32(content) != member.crc:
            raise FormatError("the part is damaged: its checksum is another one", location=member.name)
        return content

    def head(self, name: str, count: int) -> bytes:
        """Return the first `count` bytes of a part, or all where it has fewer; they are not checked against the CRC-32.

        Raises:
            FormatError: the package has no such part, or the part is damaged.
        """
        member = self.member(name)
        return b"".join(self._inflate(member, min(count, member.size)))

    def iter_packed(self, name: str) -> Iterator[bytes]:
        """Yield the compressed bytes of a part as they stand in the package, in blocks.

        Raises:
            FormatError: the package has no such part.
        """
        member = self.member(name)
        end = member.start + member.packed
        for start in range(member.start, end, _BLOCK):
            yield self._content[start : min(start + _BLOCK, end)]
            release_pages(self._content, start, min(start + _BLOCK, end))

    def _inflate(self, member: Member, count: int) -> Iterator[bytes]:
        """Yield the first `count` bytes of a member's content; if `count` is its size, no byte may follow these."""
        if member.method == STORED:
            yield self._content[member.start : member.start + count]
            return
        inflater, left = zlib.decompressobj(-15), count
        for block in self.iter_packed(member.name):
            waiting = block
            while waiting and not inflater.eof:
                try:
                    chunk = inflater.decompress(waiting, left + 1)
                except zlib.error as error:
                    raise FormatError(f"the part is damaged ({error})", location=member.name) from error
                waiting = inflater.unconsumed_tail
                yield chunk[:left]
                if len(chunk) > left:
                    if count == member.size:
                        raise FormatError(
                            f"the part inflates to more than its {member.size} bytes", location=member.name
                        )
                    return
                left -= len(chunk)
        if left or not inflater.eof:
            raise FormatError(f"the part ends before its {member.size} bytes", location=member.name)


def _name_problem(name: str) -> str | None:
    """Return the words for what is wrong with the name of a part; None for a name that a part may have."""
    parts = name.split("/")
    if not all(parts) or re.match(r"[A-Za-z]:", parts[0]):
        return "is empty or absolute, or has an empty segment"
    if "." in parts or ".." in parts:
        return "has '.' or '..' in it"
    return "has '\\x00' in it" if "\0" in name else None
