"""The parts of a workbook's zip package: its directory, where each part lies, and how it is packed.

Source: APPNOTE 6.3.10. It is read here and not by `zipfile`, because copying a part needs its compressed bytes,
and because two readers that understand one damaged directory differently would show two different workbooks: what
is damaged is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from ....errors import FormatError
from ....files import FileSlices
from ....files.zip_headers import LOCAL_HEADER, agrees_with_directory

STORED, DEFLATED = 0, 8  # the methods of compression that packages of workbooks use
UTF8_NAME = 0x800  # the flag that says how the name is encoded
_PART_MARK, _MARK = b"PK\3\4", b"PK\5\6"  # with which the header before a part begins, and the end of the directory
ZIP64 = 0xFFFFFFFF  # instead of a size or an offset of 64 bits, which the extra field holds

_END = struct.Struct("<4s4H2IH")
_END64_LOCATOR = struct.Struct("<4sIQI")
_END64 = struct.Struct("<4sQ2H2I4Q")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # begins a file of files, as an .xls is
_WIDE_MARKS = (*[0xFFFF] * 4, ZIP64, ZIP64)  # instead of numbers that the zip64 end of the directory holds
_MOST_PARTS = 100_000
_LONGEST_COMMENT = 65_535  # bytes after the end of the directory
_DEFLATED_TIMES = 1032  # one compressed byte stands for no more bytes of content
_ENCRYPTED = 0x2041  # the flags that say that the content, or the directory, is encrypted


@dataclass(frozen=True, slots=True)
class Member:
    """The entry of a part in the directory."""

    name: str  # of the part, without a leading slash
    method: int  # of compression: 0 stored, 8 deflated
    flags: int  # the general purpose bits of the zip format
    crc: int  # the CRC-32 of the content
    packed: int  # the number of its compressed bytes
    size: int  # the number of bytes of the content
    start: int  # where its compressed bytes begin in the package, in bytes
    when: int  # date and time in the format of DOS: the date in the upper 16 bits


class _Directory(NamedTuple):
    """Where the entries of a directory begin and end, their number, and the bytes that stand before the package."""

    start: int
    end: int
    parts: int
    before: int


def read_members(content: FileSlices) -> list[Member]:
    """Return the members of a package, in the directory's order; a FormatError as `Package` says."""
    located = _members(content, _find_directory(content))
    for (_, member), (offset, other) in pairwise(sorted(located, key=itemgetter(0))):
        # with bytes that belong to two parts a small package could inflate to any number of bytes
        if member.start + member.packed > offset:
            raise FormatError(f"the parts {member.name!r:.80} and {other.name!r:.80} overlap")
    return [member for _, member in located]


def _end(content: FileSlices) -> int | None:
    """Return the position of the last end of a directory in a file; None if the file has none.

    A comment may follow it, but most files have none. So the end is looked for at the very end of the file first.
    """
    first = max(0, len(content) - _END.size - _LONGEST_COMMENT)
    last = content[first:]
    position = last.rfind(_MARK, max(0, len(last) - _END.size))
    if position < 0:
        position = last.rfind(_MARK)
    return first + position if position >= 0 else None


def has_directory(content: FileSlices) -> bool:
    """Return whether some bytes may end with a zip package, whatever stands before it."""
    return _end(content) is not None


def _find_directory(content: FileSlices) -> _Directory:
    """Return the place of the directory of a package.

    A comment may follow its end. Bytes that do not look like a package may stand before the package; the offsets in it
    then count from where the package begins, or from the beginning of the file.
    """
    end, magic = _end(content), content[:8]
    if end is None or len(content) - end < _END.size or magic == _COMPOUND:
        raise _no_package_error(magic, has_end=end is not None)
    _, *fields, comment = _END.unpack(content[end : end + _END.size])
    if len(content) - end - _END.size < comment:
        raise FormatError("the package does not end where its directory says: it is cut off")
    shift = None
    if content[max(0, end - _END64_LOCATOR.size) : end][:4] == b"PK\6\7":
        end, shift, fields = _end64(content, end, fields)
    disk, its_disk, here, count, size, start = fields
    if disk or its_disk or here != count:
        raise FormatError("the package is one of several volumes")
    before = end - start - size
    if before < 0 or (shift is not None and shift != before) or (before and magic.startswith(b"PK")):
        raise FormatError(f"the directory of {size} bytes at byte {start} does not end at byte {end}")
    if count > _MOST_PARTS or count * _ENTRY.size > size:
        raise FormatError(f"the directory of {size} bytes claims {count} parts; at most {_MOST_PARTS} are read")
    return _Directory(start + before, end, count, before)


def _no_package_error(magic: bytes, *, has_end: bool) -> FormatError:
    """Return the error for content that is no whole zip package, given its first bytes."""
    if magic == _COMPOUND:
        return FormatError(
            "not a zip package but a compound file: an .xls, or a workbook that is encrypted",
            hint="remove the password, or save it as .xlsx",
        )
    if not has_end and not magic.startswith(b"PK"):
        return FormatError("not a zip package: it does not begin with PK")
    return FormatError("the package has no directory at its end: it is cut off")


def _end64(content: FileSlices, end: int, narrow: Sequence[int]) -> tuple[int, int, list[int]]:
    """Return the position of the zip64 end, the number of bytes before the package, and the fields of the zip64 end.

    `narrow`: the same fields of the end of the directory, which have room for less.
    """
    at = end - _END64_LOCATOR.size
    _, disk, start, disks = _END64_LOCATOR.unpack(content[at:end])
    place = start if content[start : start + 4] == b"PK\6\6" else at - _END64.size
    if disk or disks > 1 or start > place or content[place : place + 4] != b"PK\6\6":
        raise FormatError("the zip64 end of the directory is not where its locator says")
    _, size, _, _, *fields = _END64.unpack(content[place : place + _END64.size])
    if place + 12 + size != at:
        raise FormatError(f"the zip64 end of the directory claims {size} bytes")
    if any(value not in (mark, wide) for value, mark, wide in zip(narrow, _WIDE_MARKS, fields, strict=True)):
        raise FormatError("the two ends of the directory contradict each other")
    return place, place - start, fields


def _members(content: FileSlices, directory: _Directory) -> list[tuple[int, Member]]:
    """Return pairs of the position where the local header of a member begins, and the member."""
    members = []
    entries, at = content[directory.start : directory.end], 0
    for index in range(directory.parts):
        if at + _ENTRY.size > len(entries) or entries[at : at + 4] != b"PK\1\2":
            raise FormatError(f"the directory breaks off at entry {index} of {directory.parts}")
        _, _, _, flags, method, time, date, crc, packed, size, named, extra, comment, disk, _, _, offset = (
            _ENTRY.unpack_from(entries, at)
        )
        same = entries[at + 8 : at + 30]  # flags to the length of the name, which stand before the part too
        at += _ENTRY.size
        after = at + named + extra + comment
        if after > len(entries):
            raise FormatError(f"the directory breaks off within entry {index}")
        raw = entries[at : at + named]
        name = raw.decode() if raw.isascii() else _decode_name(raw, flags)
        if ZIP64 in (size, packed, offset):
            size, packed, offset = _read_zip64_extra(
                entries[at + named : at + named + extra], (size, packed, offset), name
            )
        at = after
        if disk:
            raise FormatError("the part lies on another volume", location=name)
        offset += directory.before
        place = offset + LOCAL_HEADER.size
        header = content[offset : place + named] if place <= directory.start else b""
        start, agrees = place + named + int.from_bytes(header[28:30], "little"), True
        if header[:4] != _PART_MARK or header[6:28] != same or header[LOCAL_HEADER.size :] != raw:
            start, agrees = _compare_header(content, offset, header, raw, name, (flags, method, crc, packed, size))
        if flags & _ENCRYPTED:
            raise FormatError("the part is encrypted", location=name, hint="remove the password")
        if method not in (STORED, DEFLATED):
            reason = f"the part is packed by the method {method}; a workbook's are stored or deflated"
            raise FormatError(reason, location=name)
        if packed != size if method == STORED else size > packed * _DEFLATED_TIMES:
            raise FormatError(f"the part claims {size} bytes out of {packed}", location=name)
        if start + packed > directory.start:
            raise FormatError(f"the part's {packed} bytes reach into the directory", location=name)
        if not agrees:
            raise FormatError("the part's own header contradicts the directory", location=name)
        members.append((offset, Member(name, method, flags, crc, packed, size, start, date << 16 | time)))
    if at != len(entries):
        raise FormatError(f"the directory goes on after its {directory.parts} entries")
    return members


def _read_zip64_extra(extra: bytes, values: tuple[int, int, int], name: str) -> list[int]:
    """Return two sizes and an offset; those that need 64 bits are read from the extra field."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        field = extra[at + 4 : at + 4 + size]
        if kind == 1:
            wide = struct.iter_unpack("<Q", field[: len(field) // 8 * 8])
            widened = [next(wide, (value,))[0] if value == ZIP64 else value for value in values]
            if ZIP64 not in widened:
                return widened
        at += 4 + size
    raise FormatError("the part's zip64 sizes are missing", location=name)


def _compare_header(
    content: FileSlices, offset: int, header: bytes, raw: bytes, name: str, entry: tuple[int, int, int, int, int]
) -> tuple[int, bool]:
    """Return the position of a part's compressed bytes, and whether the header before them agrees with the directory,
    though it is not the same.

    `entry`: what the directory says: flags, method, CRC-32, compressed size and size.
    """
    if header[:4] != _PART_MARK:
        raise FormatError(f"there is no part at byte {offset}", location=name)
    _, _, flags, packing, _, _, crc, packed, size, named, extra = LOCAL_HEADER.unpack(header[: LOCAL_HEADER.size])
    at = offset + LOCAL_HEADER.size
    its_name = content[at : at + named]
    is_same = its_name == raw and its_name.isascii()
    if not (is_same or _decode_name(its_name, flags) == name) or packing != entry[1]:
        raise FormatError(f"the part at byte {offset} is another one than the directory says", location=name)
    return int(at + named + extra), agrees_with_directory(flags | entry[0], (crc, packed, size), entry[2:])


def _decode_name(raw: bytes, flags: int) -> str:
    try:
        return raw.decode("utf-8" if flags & UTF8_NAME else "cp437")
    except UnicodeDecodeError:
        raise FormatError(f"the name of the part {raw!r:.80} is not UTF-8") from None
