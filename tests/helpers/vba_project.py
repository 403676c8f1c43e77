"""A macro project, made byte by byte: a compound file with the streams that MS-OVBA asks for.

Sources: [MS-CFB] (compound files, version 3), [MS-OVBA] 2.3 (streams of a project) and 2.4.1 (their compression).
"""

from __future__ import annotations

import struct

_SECTOR, _MINI = 512, 64
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_NONE = 0xFFFFFFFF
_SMALL = 4096  # streams below this lie in the mini stream


def project(modules: dict[str, str], documents: tuple[str, ...] = ("ThisWorkbook", "Sheet1")) -> bytes:
    """A `vbaProject.bin` with modules by name, and an empty module for each document."""
    sources = {
        **{
            name: f'Attribute VB_Name = "{name}"\r\nAttribute VB_Base = "0{{00020820-0000-0000-C000-000000000046}}"\r\n'
            "Attribute VB_PredeclaredId = True\r\nAttribute VB_Exposed = True\r\n"
            for name in documents
        },
        **{name: f'Attribute VB_Name = "{name}"\r\n{text}' for name, text in modules.items()},
    }
    listed = [f"Document={name}/&H00000000" for name in documents] + [f"Module={name}" for name in modules]
    text = "\r\n".join(
        [
            'ID="{00000000-0000-0000-0000-000000000000}"',
            *listed,
            'Name="VBAProject"',
            'HelpContextID="0"',
            'VersionCompatible32="393222000"',
            "",
            "[Host Extender Info]",
            "&H00000001={3832D640-CF90-11CF-8E43-00A0C911005A};VBE;&H00000000",
            "",
        ]
    )
    streams = {
        "VBA/dir": _compressed(_dir(sources, set(documents))),
        "VBA/_VBA_PROJECT": bytes.fromhex("cc61ffff000000"),
        **{f"VBA/{name}": _compressed(source.encode("cp1252")) for name, source in sources.items()},
        "PROJECT": text.encode("cp1252"),
    }
    return _compound(streams)


def _dir(sources: dict[str, str], documents: set[str]) -> bytes:
    """The stream that lists the modules."""

    def record(id_: int, content: bytes = b"") -> bytes:
        return struct.pack("<HI", id_, len(content)) + content

    def both(id_: int, wide: int, content: str) -> bytes:
        return record(id_, content.encode("cp1252")) + record(wide, content.encode("utf-16-le"))

    long, short = struct.Struct("<I").pack, struct.Struct("<H").pack
    made = [
        record(0x01, long(1)),
        record(0x02, long(0x409)),
        record(0x14, long(0x409)),
        record(0x03, short(1252)),
        record(0x04, b"VBAProject"),
        both(0x05, 0x40, ""),
        both(0x06, 0x3D, ""),
        record(0x07, long(0)),
        record(0x08, long(0)),
        struct.pack("<HIIH", 0x09, 4, 1, 1),
        both(0x0C, 0x3C, ""),
        record(0x0F, short(len(sources))),
        record(0x13, short(0xFFFF)),
    ]
    for name in sources:
        made += [
            both(0x19, 0x47, name),
            both(0x1A, 0x32, name),
            both(0x1C, 0x48, ""),
            record(0x31, long(0)),
            record(0x1E, long(0)),
            record(0x2C, short(0xFFFF)),
            record(0x22 if name in documents else 0x21),
            record(0x2B),
        ]
    return b"".join([*made, record(0x10)])


def _compressed(content: bytes) -> bytes:
    """MS-OVBA's container, with literals only."""
    made = [b"\1"]
    for start in range(0, len(content), 3500):
        piece = content[start : start + 3500]
        tokens = b"".join(b"\0" + piece[at : at + 8] for at in range(0, len(piece), 8))
        made += [struct.pack("<H", len(tokens) + 2 - 3 | 0xB000), tokens]
    return b"".join(made)


def _compound(streams: dict[str, bytes]) -> bytes:
    """A compound file with the storage VBA and these streams, all in the mini stream."""
    assert all(len(content) < _SMALL for content in streams.values())
    mini, chain, firsts = b"", [], {}
    for name, content in streams.items():
        count = -(-len(content) // _MINI)
        firsts[name] = len(chain)
        chain += [*range(len(chain) + 1, len(chain) + count), _END]
        mini += content.ljust(count * _MINI, b"\0")
    inner = [name for name in streams if "/" in name]
    outer = [name for name in streams if "/" not in name]
    order = ["", "VBA", *inner, *outer]
    entries = []
    for index, name in enumerate(order):
        beside = _next_sibling(index, order, inner)
        if index == 0:
            entries.append(_entry("Root Entry", 5, _NONE, 1, 0, len(mini)))
        elif index == 1:
            entries.append(_entry("VBA", 1, beside, 2, 0, 0))
        else:
            entries.append(_entry(name.rpartition("/")[2], 2, beside, _NONE, firsts[name], len(streams[name])))
    entries += [bytes(68) + struct.pack("<3I", _NONE, _NONE, _NONE) + bytes(48)] * (-len(entries) % 4)
    directory = b"".join(entries)
    mini = mini.ljust(-(-len(mini) // _SECTOR) * _SECTOR, b"\0")
    mini_fat = struct.pack(f"<{len(chain)}I", *chain)
    mini_fat = mini_fat.ljust(-(-len(mini_fat) // _SECTOR) * _SECTOR, b"\xff")
    # sectors: the FAT, the mini stream, the directory, the mini FAT
    fat, starts = [_FAT], []
    for part in (mini, directory, mini_fat):
        starts.append(len(fat))
        count = len(part) // _SECTOR
        fat += [*range(len(fat) + 1, len(fat) + count), _END]
    assert len(fat) <= _SECTOR // 4
    fat += [_FREE] * (_SECTOR // 4 - len(fat))
    directory = directory[:116] + struct.pack("<I", starts[0]) + directory[120:]
    header = struct.pack(
        "<8s16s5H6s9I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        bytes(6),
        0,
        1,
        starts[1],
        0,
        _SMALL,
        starts[2],
        len(mini_fat) // _SECTOR,
        _END,
        0,
    ) + struct.pack("<109I", 0, *[_FREE] * 108)
    return header + struct.pack(f"<{len(fat)}I", *fat) + mini + directory + mini_fat


def _next_sibling(index: int, order: list[str], inner: list[str]) -> int:
    """The tree of siblings, drawn as a list: each entry's right one is the next of the same storage."""
    if index == 0:
        return _NONE
    last = 1 + len(inner)
    if index == 1:
        return last + 1 if last + 1 < len(order) else _NONE
    return index + 1 if index not in (last, len(order) - 1) else _NONE


def _entry(name: str, kind: int, right: int, child: int, first: int, size: int) -> bytes:
    wide = (name + "\0").encode("utf-16-le")
    return struct.pack(
        "<64sHBB3I16sI8s8sIQ",
        wide.ljust(64, b"\0"),
        len(wide),
        kind,
        1,
        _NONE,
        right,
        child,
        bytes(16),
        0,
        bytes(8),
        bytes(8),
        first,
        size,
    )
