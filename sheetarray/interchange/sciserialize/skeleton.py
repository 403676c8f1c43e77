"""Where values begin and end in MessagePack bytes, found without building them.

Source: https://github.com/msgpack/msgpack/blob/master/spec.md. A reader that builds lists as long as a count says takes
memory on the file's word; so every count is compared here with the bytes that are left, before msgpack sees them.
"""

from __future__ import annotations

from ...errors import FormatError
from .keys import DEEPEST, MOST_VALUES

_LENGTHS = {  # of what begins with a length: the bytes of the length, and of what follows it beside the content
    0xC4: (1, 0),
    0xC5: (2, 0),
    0xC6: (4, 0),
    0xD9: (1, 0),
    0xDA: (2, 0),
    0xDB: (4, 0),
    0xC7: (1, 1),
    0xC8: (2, 1),
    0xC9: (4, 1),
}
_COUNTS = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}  # bytes of the count, values each
_BIN, _STR = (0xC4, 0xC5, 0xC6), (0xD9, 0xDA, 0xDB)
_WINDOW = 16, 2**16  # elements looked at ahead: at first, and at most
_FEW = 4  # of which looking ahead takes longer than looking at one after another
_LONG = 2**12  # bytes of a list or map whose end is remembered


def _sizes() -> bytes:
    """Return the number of bytes of the whole value for each first byte; 0 where they vary."""
    sizes = bytearray(256)
    for byte in (*range(0x80), 0x80, 0x90, 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)):  # an empty map and list too
        sizes[byte] = 1
    for byte in range(0xA0, 0xC0):  # short text
        sizes[byte] = 1 + (byte & 31)
    for byte, size in zip(range(0xCA, 0xD4), (5, 9, 2, 3, 5, 9, 2, 3, 5, 9), strict=True):
        sizes[byte] = size
    for byte, size in zip(range(0xD4, 0xD9), (3, 4, 6, 10, 18), strict=True):
        sizes[byte] = size
    return bytes(sizes)


_SIZES = _sizes()
_INNER = bytes(
    (byte & 15) * (2 if byte < 0x90 else 1) if 0x80 <= byte <= 0x9F else 0 for byte in range(256)
)  # values within a map or a list that is no longer than its first byte can say


class MessageSkeleton:
    """The structure of a MessagePack text.

    Raises:
        FormatError: from every method, with the byte as location.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._ends: dict[int, int] = {}  # of long lists and maps, by their first byte: they are asked for again

    def __len__(self) -> int:
        return len(self._data)

    def find_end(self, at: int) -> int:
        """Return the byte after the value that begins at `at`, all within it looked through."""
        if end := self._ends.get(at):
            return end
        data, sizes, length = self._data, _SIZES, len(self._data)
        left, due, total = 1, 1, 1  # values to come in the innermost list or map, in all of them, and counted in all
        outer: list[tuple[int, int]] = []  # of each list and map around: the values to come after it, its first byte
        window = _WINDOW[0]
        while left or outer:
            if not left:
                left, start = outer.pop()
                if at - start >= _LONG:
                    self._ends[start] = at
                continue
            if due > length - at:
                raise FormatError(f"cut off: {due} values are to come in {length - at} bytes", location=f"byte {at}")
            if size := sizes[data[at]]:
                run = 1
                if left > _FEW and at + size < length and sizes[data[at + size]] == size:
                    run, window = self._run(at, size, min(left, window), window)
                left -= run
                due -= run
                at = at + 1 if size == 1 == run else self._skip_within(at, run * size)
                continue
            start = at
            count, size = (_INNER[data[at]], 1) if _INNER[data[at]] else self._count(at)
            left -= 1
            due += count - 1
            at = at + 1 if size == 1 else self._skip_within(at, size)
            if count:
                total += count
                if total > MOST_VALUES and due <= length - at:
                    reason = f"{total:,} values; at most {MOST_VALUES:,} are read, besides the elements of arrays"
                    raise FormatError(reason, location=f"byte {at}")
                outer.append((left, start))
                left = count
                if len(outer) > DEEPEST:
                    raise FormatError(f"nested more than {DEEPEST} deep", location=f"byte {at}")
        return at

    def _run(self, at: int, size: int, most: int, window: int) -> tuple[int, int]:
        """Return the number of values of one size that follow each other, and the number to look at next time."""
        firsts = bytes(self._data[at : at + size * most : size]).translate(_SIZES)
        run = len(firsts) - len(firsts.lstrip(bytes([size])))
        return run, min(2 * window, _WINDOW[1]) if run == window else _WINDOW[0]

    def _skip_within(self, at: int, size: int) -> int:
        if size > len(self._data) - at:
            raise FormatError(f"cut off: {size} bytes needed, {len(self._data) - at} left", location=f"byte {at}")
        return at + size

    def _count(self, at: int) -> tuple[int, int]:
        """Return the number of values within a value of varying size, and the number of bytes before those."""
        byte = self._data[at]
        if 0x80 <= byte <= 0x9F:
            return _INNER[byte], 1
        if byte in _COUNTS:
            width, values_per_member = _COUNTS[byte]
            return values_per_member * self._number(at, width), 1 + width
        if byte in _LENGTHS:
            width, more = _LENGTHS[byte]
            return 0, 1 + width + more + self._number(at, width)
        raise FormatError(f"no value begins with the byte {byte:#x}", location=f"byte {at}")

    def _number(self, at: int, width: int) -> int:
        self._skip_within(at, 1 + width)
        return int.from_bytes(self._data[at + 1 : at + 1 + width], "big")

    def text(self, at: int) -> tuple[int, int] | None:
        """Return the first byte of a text and the one after it; None if the value is no text, or is cut off."""
        byte = self._data[at]
        if 0xA0 <= byte <= 0xBF:
            start, size = at + 1, byte & 31
        elif byte in _STR:
            width = _LENGTHS[byte][0]
            start, size = at + 1 + width, int.from_bytes(self._data[at + 1 : at + 1 + width], "big")
        else:
            return None
        return (start, start + size) if start + size <= len(self._data) else None

    def map_size(self, at: int) -> tuple[int, int] | None:
        """Return the number of a map's members, and the first byte of its first key; None if it is no map."""
        if not (0x80 <= self._data[at] <= 0x8F or self._data[at] in (0xDE, 0xDF)):
            return None
        count, size = self._count(at)
        return count // 2, at + size

    def binary(self, at: int, end: int) -> memoryview | None:
        """Return the content of binary data, uncopied; None where the value is none."""
        if self._data[at] not in _BIN:
            return None
        return self._data[at + 1 + _LENGTHS[self._data[at]][0] : end]
