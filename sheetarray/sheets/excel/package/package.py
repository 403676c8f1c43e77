"""Reads the parts of a zip package, and checks their names, sizes and checksums.

Source: ECMA-376 part 2 (names of parts, stored or deflated content).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from ....errors import FormatError
from ....files import FileSlices, fast_zlib, max_inflated_size, max_values, release_pages
from .parts import STORED, Member, read_members

DOCTYPE_REFUSED = "the part has a document type definition, which no workbook has"  # of a FormatError
_BLOCK = 2**20  # compressed bytes of a part that are read at once
_USUAL_NAME = re.compile(r"(?:\.?[A-Za-z0-9_\[][A-Za-z0-9_.\]-]*(?:/(?!$)|$))+")  # that needs no `_with_usual_name`


class Package:
    """The parts of a zip package.

    `content`: the whole package: bytes, a temporary file mapped into memory, or ranges of a file. Only the bytes
    needed are read.

    Attributes:
        most_cells: that its worksheets may have together, weighed as numbers are (`CellRun.weigh`).

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

    def __init__(self, content: FileSlices) -> None:
        self._content = content
        self._limit = max_inflated_size(len(content))
        self.most_cells = max_values(len(content))
        self._members: dict[str, Member] = {}
        for member in read_members(content):
            if not _USUAL_NAME.fullmatch(member.name):
                member = _with_usual_name(member)
                if member.name.endswith("/"):
                    continue  # a folder, which is no part
            key = member.name.lower()
            if key in self._members:
                raise FormatError(
                    f"two parts have one name: {self._members[key].name!r:.80} and {member.name!r:.80}",
                    hint="names of parts are compared without case",
                )
            self._members[key] = member
        total = sum(map(attrgetter("size"), self._members.values()))
        if total > self._limit:
            raise FormatError(f"claims to inflate to {total} bytes; at most {self._limit} are read")

    def names(self) -> list[str]:
        """Return the names of the parts, in the directory's order."""
        return [member.name for member in self._members.values()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._members

    def find(self, name: str) -> Member | None:
        """Return the entry of a part in the directory; None if the package has no part of this name."""
        return self._members.get(name.lower())

    def member(self, name: str) -> Member:
        """Return the entry of a part in the directory; names are compared without case."""
        try:
            return self._members[name.lower()]
        except KeyError:
            raise FormatError(f"the package has no part {name!r:.80}") from None

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        """Return the content of a part, checked against its size and its CRC-32.

        `limit`: the bytes that its content may have; None for no limit.

        Raises:
            FormatError: the package has no such part, the part has more bytes than the limit, or it is damaged.
        """
        member = self.member(name)
        if limit is not None and member.size > limit:
            raise FormatError(f"the part has {member.size} bytes; at most {limit} are read", location=member.name)
        content = self._inflate(member, member.packed, member.size)
        if fast_zlib.crc32()(content, 0) != member.crc:
            raise FormatError("the part is damaged: its checksum is wrong", location=member.name)
        return content

    def head(self, name: str, count: int) -> bytes:
        """Return the first `count` bytes of a part, or all where it has fewer; not checked against the CRC-32."""
        member = self.member(name)
        most = 2 * count + _BLOCK  # compressed bytes: the content may hardly be compressed at all
        return self._inflate(member, min(most, member.packed), min(count, member.size))

    def iter_packed(self, name: str) -> Iterator[bytes]:
        """Yield the compressed bytes of a part as they stand in the package, in blocks."""
        member = self.member(name)
        end = member.start + member.packed
        for start in range(member.start, end, _BLOCK):
            yield self._content[start : min(start + _BLOCK, end)]
            release_pages(self._content, start, min(start + _BLOCK, end))

    def _inflate(self, member: Member, most: int, count: int) -> bytes:
        """Return the first `count` bytes of a member's content; if `count` is its size, no byte may follow these.

        `most`: the compressed bytes that are taken for them.
        """
        packed = self._content[member.start : member.start + most]
        if member.method == STORED:
            return bytes(packed[:count])
        inflater = fast_zlib.decompressor(fast_zlib.RAW)
        try:
            content = inflater.decompress(packed, count + 1)
        except fast_zlib.errors() as error:
            raise FormatError(f"the part is damaged ({error})", location=member.name) from error
        if len(content) > count == member.size:
            raise FormatError(f"the part inflates to more than its {count} bytes", location=member.name)
        if len(content) < count or (count == member.size and not inflater.eof):
            raise FormatError(f"the part ends before its {member.size} bytes", location=member.name)
        return bytes(content[:count])


def _with_usual_name(member: Member) -> Member:
    """Return a member whose name has slashes between folders, or is that of an empty folder; refuse any other name."""
    name = member.name.replace("\\", "/")  # some older programs separate folders so
    parts, problem = name.split("/"), ""
    if name.endswith("/") and not member.size:
        return replace(member, name=name)
    if not all(parts) or re.match(r"[A-Za-z]:", parts[0]):
        problem = "is empty or absolute, or has an empty segment"
    elif "." in parts or ".." in parts:
        problem = "has '.' or '..' in it"
    elif "\0" in name:
        problem = "has '\\x00' in it"
    if problem:
        raise FormatError(f"the name of the part {name!r:.80} {problem}")
    return replace(member, name=name)
