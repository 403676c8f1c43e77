"""Where values of MessagePack begin and end, looked through before a library parses them.

The package msgpack takes memory for as many values as a list claims. So each count is compared first with the number
of bytes that are left.
"""

from __future__ import annotations

from ...errors import FormatError
from . import words
from .words import DEEPEST

# What the first byte of a value says: the number of values within it, the bytes before its content, and those of it.
_HEADS = {
    **dict.fromkeys((*range(0x80), 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)), (0, 1, 0)),  # small integers, None, booleans
    **{byte: (2 * (byte & 15), 1, 0) for byte in range(0x80, 0x90)},  # short maps
    **{byte: (byte & 15, 1, 0) for byte in range(0x90, 0xA0)},  # short lists
    **{byte: (0, 1, byte & 31) for byte in range(0xA0, 0xC0)},  # short texts
    **{byte: (0, size, 0) for byte, size in enumerate((5, 9, 2, 3, 5, 9, 2, 3, 5, 9), 0xCA)},  # floats, integers
}
# The bytes of the length or count that follows a first byte: of binary data, text, lists and maps.
_WIDTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
LARGE, LARGE_HEAD = 2**16, 5  # bytes of binary data from which on its head takes five, and it is not copied
_TEXTS = frozenset((*range(0xA0, 0xC0), 0xD9, 0xDA, 0xDB))
_MAPS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))


def look_through(data: memoryview) -> tuple[int, list[slice]]:
    """Return the byte after the first value, and where large binary values stand in it, with their heads."""
    at, size, large = 0, len(data), list[slice]()
    due, total = 1, 1  # values to come, and counted in all
    left, is_map = 1, False  # values to come in the innermost list or map, and which of the two it is
    around: list[tuple[int, bool]] = []  # the same of those around it
    while left or around:
        if not left:
            left, is_map = around.pop()
            continue
        if due > size - at:
            raise FormatError(f"cut off: {due} values are to come in {size - at} bytes", location=f"byte {at}")
        byte = data[at]
        inner, head, content = _HEADS.get(byte) or _read_head(data, at)
        if head + content > size - at:
            reason = f"cut off: {head + content} bytes needed, {size - at} left"
            raise FormatError(reason, location=f"byte {at}")
        if byte in _TEXTS:
            if content:
                _check_utf8(data[at + head : at + head + content], at)
        elif is_map and left % 2 == 0:
            raise FormatError("a key that is not text", location=f"byte {at}")
        elif content >= LARGE:
            large.append(slice(at, at + head + content))
        at += head + content
        left -= 1
        due -= 1
        if inner:
            due += inner
            total += inner
            if total > words.MOST_VALUES and due <= size - at:
                reason = f"{total:,} values; at most {words.MOST_VALUES:,} are read, besides the elements of arrays"
                raise FormatError(reason, location=f"byte {at}")
            around.append((left, is_map))
            left, is_map = inner, byte in _MAPS
            if len(around) > DEEPEST:
                raise FormatError(f"nested more than {DEEPEST} deep", location=f"byte {at}")
    return at, large


def _read_head(data: memoryview, at: int) -> tuple[int, int, int]:
    """Return what `_HEADS` does for a value whose length or count follows its first byte."""
    byte = data[at]
    if byte not in _WIDTHS:
        raise FormatError(f"no value of SciSerialize begins with the byte {byte:#x}", location=f"byte {at}")
    head = 1 + _WIDTHS[byte]
    count = int.from_bytes(data[at + 1 : at + head], "big")
    if byte < 0xDC:
        return 0, head, count
    return count * (2 if byte in _MAPS else 1), head, 0


def _check_utf8(text: memoryview, at: int) -> None:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("text that is not UTF-8", location=f"byte {at}") from error
