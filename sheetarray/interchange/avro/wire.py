"""Integers, bytes and texts as Avro stores them, read from bytes and turned into bytes.

Every size is a Python int that is compared with the number of bytes before memory is taken.
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import FormatError

INT = range(-(2**31), 2**31)  # Avro's int; long is twice as wide
_MOST_BYTES = 10  # of a long


def encode_varint(number: int) -> bytes:
    """Return an int or a long: zigzag, seven bits a byte, the lowest first.

    Example:
        >>> encode_varint(-3).hex(), encode_varint(64).hex()
        ('05', '8001')
    """
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


class Wire:
    """Encoded bytes, taken one value after the other.

    Attributes:
        at: the offset of the next byte, from the beginning of `data`.
        end: the offset where they end.
    """

    def __init__(self, data: memoryview, at: int = 0, end: int | None = None) -> None:
        self._data, self.at = data, at
        self.end = len(data) if end is None else end

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at}"

    def read(self, count: int, what: str) -> memoryview | bytearray:
        """Return the next bytes: a view where they lie in memory, else a buffer of their own."""
        if not 0 <= count <= self.end - self.at:
            raise FormatError(f"{what} of {count} bytes, but {self.end - self.at} are left", location=self.location())
        self.at += count
        return self._data[self.at - count : self.at]

    def skip(self, count: int, what: str) -> None:
        """Pass over bytes."""
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether nothing is left."""
        return self.at == self.end

    def check_finished(self) -> None:
        """Refuse bytes after the last array."""
        if not self.is_at_end():
            raise FormatError("bytes after the end of the array", location=self.location())

    def read_long(self, what: str, within: range | None = None) -> int:
        """Return an int or a long."""
        location, number = self.location(), 0
        for index in range(_MOST_BYTES):
            byte = self.read(1, what)[0]
            number |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        else:
            raise FormatError(f"{what} is an integer of more than {_MOST_BYTES} bytes", location=location)
        if number >= 2**64:
            raise FormatError(f"{what} is an integer of more than 64 bits", location=location)
        value = number >> 1 if number & 1 == 0 else -(number >> 1) - 1
        if within is not None and value not in within:
            raise FormatError(f"{what} is {value}; it lies in {within[0]} to {within[-1]}", location=location)
        return value

    def read_text(self, what: str, most: int) -> str:
        """Return a string of at most `most` bytes."""
        location = self.location()
        count = self.read_long(f"the length of {what}", range(most + 1))
        try:
            return bytes(self.read(count, what)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"{what} is not UTF-8", location=location) from error

    def read_blocks(self, what: str, read_item: Callable[[], None], most: int) -> None:
        """Read an array or a map: blocks of items, each with its count, the last with none.

        A negative count is followed by the bytes that the block takes.
        """
        read = 0
        while True:
            location = self.location()
            count = self.read_long(f"the number of items of {what}")
            if count == 0:
                return
            size = self.read_long(f"the size of a block of {what}") if count < 0 else None
            start = self.at
            read += abs(count)
            if read > most:
                raise FormatError(f"{what} with {read} items; at most {most} are possible", location=location)
            for _ in range(abs(count)):
                read_item()
            if size is not None and self.at - start != size:
                raise FormatError(f"a block of {what} says {size} bytes and takes {self.at - start}", location=location)
