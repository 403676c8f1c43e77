"""The local header of a zip member, and whether it says the same of the member's bytes as the archive's directory.

Source: APPNOTE 6.3.10, 4.3.7 and 4.4.4.
"""

from __future__ import annotations

import struct

LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Mark, version, flags, method, time, date, CRC-32, compressed size, size, and the lengths of name and extra field."""

_SIZES_FOLLOW = 0x8  # the flag that says that the checksum and the sizes come after the bytes
_WIDE = 0xFFFFFFFF  # instead of a size of 64 bits, which the extra field holds


def agrees_with_directory(flags: int, local: tuple[int, int, int], directory: tuple[int, int, int]) -> bool:
    """Return whether a local header says the same of a member as the directory.

    Readers that go by either one would see different contents otherwise.

    Args:
        flags: of the local header and of the directory's entry together.
        local: the CRC-32, the compressed size and the size in the local header.
        directory: the same in the directory.
    """
    if flags & _SIZES_FOLLOW:
        return True
    (checksum, *sizes), (real_checksum, *real_sizes) = local, directory
    return checksum == real_checksum and (sizes == real_sizes or all(map(_may_be, sizes, real_sizes)))


def _may_be(size: int, real: int) -> bool:
    """Return whether the size in a header is the real one, or says that the size stands elsewhere."""
    return size in (_WIDE, real)
