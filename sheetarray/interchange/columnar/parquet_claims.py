"""Sizes that the pages of a Parquet file claim, added up before polars takes that memory.

polars takes the memory that the head of a page claims before it inflates the page, but for Zstandard. The metadata and
the heads of pages are structs in Thrift's compact form, of which only what says sizes is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import SEEK_END
from typing import IO

from ...errors import FormatError

_CHECKED = {1, 2, 4, 5, 7}  # codecs: Snappy, gzip, Brotli, LZ4 in two forms
_MOST_VALUES = 4_000_000  # in the metadata and the heads of pages, or
_BYTES_A_VALUE = 8  # of a larger file
_HEADS = {2**10: 8, 2**16: 256, 2**20: 4096}  # bytes that are read for the head of a page, and for how many values
MAGIC = b"PAR1"  # at both ends of a file
_DEEPEST = 16
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12  # types of Thrift
_NUMBERS = (4, _I32, _I64)
_TEXTS = {3: 1, 7: 8}  # types whose values have a fixed size in bytes


class _Thrift:
    """Some bytes in Thrift's compact form, read from the first to the last. `budget`: values that may be read."""

    def __init__(self, content: bytes, budget: list[int]) -> None:
        self.content, self.at, self._budget = content, 0, budget

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def count(self) -> int:
        """Return the next number without a sign."""
        if (number := self.byte()) < 128:
            return number
        number, shift = number & 127, 7
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise IndexError("a number of too many bytes")

    def number(self) -> int:
        """Return the next number with a sign."""
        number = self.count()
        return number >> 1 ^ -(number & 1)

    def read_struct(self, readers: dict[tuple[int, int], Callable[[], None]], depth: int = 0) -> None:
        """Call the reader of each field that has one, by its number and type, and pass over the others."""
        content, field = self.content, 0
        while head := content[self.at]:
            self.at += 1
            field = field + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            if (reader := readers.get((field, kind))) is not None:
                self.spend(1)
                reader()
            elif kind > 2:  # a boolean is its type
                self.skip(kind, depth)
        self.at += 1

    def each(self, read: Callable[[], None]) -> None:
        """Call a function for each struct of a list."""
        for _ in range(self._list_head()[0]):
            self.spend(1)
            read()

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value of a type."""
        self.spend(1)
        if depth > _DEEPEST:
            raise IndexError("nested too deep")
        if kind in _NUMBERS:
            content, at = self.content, self.at
            while content[at] > 127:
                at += 1
            self.at = at + 1
        elif kind == _BINARY:
            size = self.count()
            self.at += size
        elif kind == _STRUCT:
            self.read_struct({}, depth + 1)
        elif kind in (_LIST, 10):
            count, inner = self._list_head()
            for _ in range(count):
                self.skip(inner if inner > 2 else 3, depth + 1)
        elif kind == 11:
            count = self.count()
            kinds = self.byte() if count else 0
            for _ in range(count):
                self.skip(kinds >> 4, depth + 1)
                self.skip(kinds & 15, depth + 1)
        elif kind in _TEXTS:
            self.at += _TEXTS[kind]
        else:
            raise IndexError(f"the type {kind}")

    def _list_head(self) -> tuple[int, int]:
        head = self.byte()
        return (head >> 4 if head >> 4 < 15 else self.count()), head & 15

    def spend(self, count: int) -> None:
        """Take some values from the budget.

        Raises:
            FormatError: there are too many.
        """
        self._budget[0] -= count
        if self._budget[0] < 0:
            raise FormatError(f"more than {_MOST_VALUES:,} values in its metadata")


class PageClaims:
    """The bytes to which the pages of columns claim to inflate, where polars relies on that.

    `open_file`: opens the file, each time from its beginning.

    Raises:
        FormatError: the metadata are damaged, or have too many values for a file of this size.
    """

    def __init__(self, open_file: Callable[[], IO[bytes]]) -> None:
        self._open = open_file
        with open_file() as file, _damage_as_format_error():
            size = file.seek(0, SEEK_END)
            self._budget = [max(_MOST_VALUES, size // _BYTES_A_VALUE)]
            file.seek(max(0, size - 8))
            length, magic = struct.unpack("<I4s", file.read(8))
            if magic != MAGIC or length > size - 12:
                raise FormatError("not a Parquet file, or cut off: the metadata at its end are missing")
            file.seek(size - 8 - length)
            self._chunks: dict[str, list[tuple[int, int]]] = {}
            for name, start, end in _list_chunks(_Thrift(file.read(length), self._budget)):
                self._chunks.setdefault(name, []).append((start, min(end, size)))
        self._claims: dict[str, int] = {}

    def add(self, names: Iterable[str]) -> int:
        """Return the bytes of some columns; the pages of the others are not looked at."""
        new = [name for name in names if name in self._chunks and name not in self._claims]
        if new:
            with self._open() as file, _damage_as_format_error():
                for name in new:
                    self._claims[name] = sum(_add_pages(file, *chunk, self._budget) for chunk in self._chunks[name])
        return sum(self._claims.get(name, 0) for name in names)


@contextmanager
def _damage_as_format_error() -> Iterator[None]:
    try:
        yield
    except (struct.error, IndexError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"not a Parquet file, or damaged: {error}") from error


def _list_chunks(metadata: _Thrift) -> list[tuple[str, int, int]]:
    """Return the name, the first byte and the end of each chunk of a column whose pages are to be looked at."""
    chunks = list[tuple[str, int, int]]()
    names, numbers = list[str](), dict[int, int]()

    def read_name() -> None:
        size = metadata.count()
        names.append(metadata.content[metadata.at : metadata.at + size].decode())
        metadata.at += size

    fields = ((4, _I32), (7, _I64), (9, _I64), (11, _I64))  # codec, compressed size, first page, first dictionary
    of_chunk = {(field, kind): _keep(metadata, numbers, field) for field, kind in fields}
    of_chunk[3, _LIST] = lambda: metadata.each(read_name)
    of_column = {(3, _STRUCT): lambda: metadata.read_struct(of_chunk)}

    def read_column() -> None:
        names.clear()
        numbers.clear()
        metadata.read_struct(of_column)
        if names and numbers.get(4) in _CHECKED:
            start = min([place for place in (numbers.get(11, 0), numbers.get(9, 0)) if place > 0], default=0)
            chunks.append((names[0], start, start + max(0, numbers.get(7, 0))))

    of_group = {(1, _LIST): lambda: metadata.each(read_column)}
    metadata.read_struct({(4, _LIST): lambda: metadata.each(lambda: metadata.read_struct(of_group))})
    return chunks


def _add_pages(file: IO[bytes], start: int, end: int, budget: list[int]) -> int:
    """Return the bytes to which the pages of a chunk claim to inflate."""
    total = 0
    while start < end:
        for most, values in _HEADS.items():
            file.seek(start)
            head, sizes = _Thrift(file.read(most), budget), dict[int, int]()
            head.spend(values)
            try:
                head.read_struct({(2, _I32): _keep(head, sizes, 2), (3, _I32): _keep(head, sizes, 3)})
                break
            except IndexError:
                if most == max(_HEADS):
                    raise
        total += max(0, sizes.get(2, 0))
        start += head.at + max(0, sizes.get(3, 0))
    return total


def _keep(source: _Thrift, numbers: dict[int, int], field: int) -> Callable[[], None]:
    """Return a function that reads a number and stores it under a field."""
    return lambda: numbers.update({field: source.number()})
