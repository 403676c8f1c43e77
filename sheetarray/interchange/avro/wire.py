"""The few primitives of Avro's binary encoding that an ndarray needs: long, bytes, string.

They are taken from memory, or from a block that is inflated as far as it is asked for.

Source: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding. Every size is a Python int that is compared
with what there is before anything is taken.
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import FormatError, locating
from .codecs import CODECS

INT = range(-(2**31), 2**31)  # Avro's int; long is twice as wide
_MOST_BYTES = 10  # of a long
_LEAST = 4096  # bytes that are inflated at once


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

    Raises:
        FormatError: from every method, with the byte as location, where the bytes end too early.
    """

    def __init__(self, data: memoryview, at: int = 0, end: int | None = None) -> None:
        self._data = data
        self.at = at
        self.end = len(data) if end is None else end

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at}"

    @property
    def inflated(self) -> int:
        """The bytes that were inflated so far; none where the bytes lie in memory."""
        return 0

    def max_left(self) -> int:
        """Return the largest number of bytes that can be left."""
        return self.end - self.at

    def read(self, count: int, what: str) -> memoryview | bytearray:
        """Return the next bytes: a view where they lie in memory, else a buffer of their own."""
        if not 0 <= count <= self.max_left():
            raise FormatError(f"{what} of {count} bytes, but {self.max_left()} are left", location=self.location())
        self.at += count
        return self._data[self.at - count : self.at]

    def skip(self, count: int, what: str) -> None:
        """Pass over bytes."""
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether nothing is left."""
        return self.at == self.end

    def read_long(self, what: str, within: range | None = None) -> int:
        """Return an int or a long.

        Args:
            what: it is, for the message.
            within: the values that it may have.
        """
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
            raise FormatError(f"{what} is no UTF-8", location=location) from error

    def read_blocks(self, what: str, read_item: Callable[[], None], most: int) -> None:
        """Read an array or a map: blocks of items, each with its count, the last with none.

        A negative count is followed by the bytes that the block takes.

        Args:
            what: it is, for the message.
            read_item: reads one item.
            most: items that there may be in all.
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


class PackedWire(Wire):
    """The bytes of a compressed block, taken one value after the other: inflated as far as asked, never further.

    Locations count the inflated bytes, `byte 50 of the block at byte 200`.

    Args:
        data: the block.
        block: where it begins in the file, for locations.
        codec: that it was compressed by, one of `CODECS`.
        most: bytes that it may inflate to.
    """

    def __init__(self, data: memoryview, block: int, codec: str, most: int) -> None:
        super().__init__(data, 0, most)
        self._block = block
        self._inflated = 0
        self._waiting = bytearray()
        with locating(location=self.location()):
            self._stream = CODECS[codec](data)

    @property
    def inflated(self) -> int:
        """The bytes that were inflated so far, taken or not."""
        return self._inflated

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at} of the block at byte {self._block}"

    def read(self, count: int, what: str) -> memoryview | bytearray:
        """Return the next bytes, in a buffer of their own."""
        if not 0 <= count <= self.max_left():
            raise FormatError(
                f"{what} of {count} bytes, of which {self.max_left()} are read at once",
                location=self.location(),
                hint="if that is meant, read fewer arrays at a time with names=",
            )
        taken, self._waiting = self._waiting, bytearray()
        while len(taken) < count:
            more = self._inflate(count - len(taken))
            if not more:
                raise FormatError(f"{what} of {count} bytes, but {len(taken)} are left", location=self.location())
            taken += more
        if len(taken) > count:
            self._waiting = taken[count:]
            del taken[count:]
        self.at += count
        return taken

    def skip(self, count: int, what: str) -> None:
        """Inflate bytes, and forget them."""
        while count > 2**20:
            self.read(2**20, what)
            count -= 2**20
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether nothing is left."""
        if not self._waiting:
            self._waiting = bytearray(self._inflate(1))
        return not self._waiting

    def _inflate(self, most: int) -> bytes:
        """Return some more bytes, at most so many (a few at least, to spare calls); none at the end."""
        with locating(location=self.location()):
            more = self._stream.read(max(most, _LEAST))
        self._inflated += len(more)
        return more
