"""Zip archives that contradict themselves: members that share bytes, hold the archive, or are described in two ways."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_CRC, _PACKED, _SIZE, _METHOD, _NAME = 14, 18, 22, 8, 30  # positions in a local header


def contradict(parts: Mapping[str, bytes], *, name: str = "held.bin") -> dict[str, bytes]:
    """Return damaged archives, made of the members of an intact one, by what is wrong with them.

    `parts`: the members' contents by name. `name`: of a member that is added.
    """
    last = list(parts)[-1]
    rest = {part: parts[part] for part in parts if part != last}
    whole = _Archive(parts)
    archives = {"a directory that names one member twice": whole.closed([*whole.entries, whole.entries[-1]])}

    held = _Archive(rest)
    inner = held.member(last, parts[last])
    held.put(name, inner)
    offset = held.entries[-1][-1] + _LOCAL.size + len(name.encode())
    entry = (last, zlib.crc32(parts[last]), len(parts[last]), offset)
    archives["a member that holds another one"] = held.closed([*held.entries, entry])

    shared = _Archive(parts)
    at = shared.entries[-1][-1]
    entries = [*shared.entries, *((f"{number}{name}", *shared.entries[-1][1:3], at) for number in range(3))]
    archives["names that share a member"] = shared.closed(entries)

    quine = _Archive(parts)
    quine.put(name, b"")
    size = 200 + sum(_ENTRY.size + len(part) for part in parts)  # beyond the directory's beginning
    struct.pack_into("<2I", quine.content, quine.entries[-1][-1] + _PACKED, size, size)
    archives["a member that holds the directory"] = quine.closed(
        [*quine.entries[:-1], (name, 0, size, quine.entries[-1][-1])]
    )

    largest = max(parts, key=lambda part: len(parts[part]))
    changes = {"checksum": (_CRC, b"\1\2\3\4"), "name": (_NAME, b"\x01"), "method": (_METHOD, b"\x08\0")}
    for word, position in (("compressed size", _PACKED), ("size", _SIZE)):
        changes[word] = (position, struct.pack("<I", len(parts[largest]) + 1))
    for word, (position, change) in changes.items():
        changed = _Archive(parts)
        start = next(entry[-1] for entry in changed.entries if entry[0] == largest) + position
        changed.content[start : start + len(change)] = change
        archives[f"a local header with another {word}"] = changed.closed(changed.entries)
    return archives


def nest(parts: Mapping[str, bytes], *, levels: int = 20) -> bytes:
    """Return an archive whose largest member is an archive of the same members, and so on."""
    largest = max(parts, key=lambda part: len(parts[part]))
    content = parts[largest]
    for _ in range(levels):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for part in parts:
                archive.writestr(part, content if part == largest else parts[part])
        content = file.getvalue()
    return content


class _Archive:
    """An archive of stored members without its directory, which may say something else.

    Attributes:
        content: of the file so far.
        entries: of a directory that tells the truth: name, CRC-32, size and position.
    """

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self.content = bytearray()
        self.entries: list[tuple[str, int, int, int]] = []
        for part, piece in parts.items():
            self.put(part, piece)

    def member(self, name: str, piece: bytes) -> bytes:
        """Return a local header and the bytes after it."""
        sizes = (zlib.crc32(piece), len(piece), len(piece))
        return _LOCAL.pack(b"PK\3\4", 20, 0x800, 0, 0, 33, *sizes, len(name.encode()), 0) + name.encode() + piece

    def put(self, name: str, piece: bytes) -> None:
        """Add a member."""
        self.entries.append((name, zlib.crc32(piece), len(piece), len(self.content)))
        self.content += self.member(name, piece)

    def closed(self, entries: list[tuple[str, int, int, int]]) -> bytes:
        """Return the file with a directory."""
        directory = b"".join(
            _ENTRY.pack(b"PK\1\2", 20, 20, 0x800, 0, 0, 33, crc, size, size, len(name.encode()), 0, 0, 0, 0, 0, offset)
            + name.encode()
            for name, crc, size, offset in entries
        )
        end = _END.pack(b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), len(self.content), 0)
        return bytes(self.content) + directory + end
