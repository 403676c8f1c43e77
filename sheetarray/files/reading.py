"""What is read: a path or an open file, decompressed within bounds, and only as far as asked."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from ..errors import FormatError

PathLike = str | os.PathLike[str]
Readable = PathLike | IO[bytes] | IO[str]
Bytes = bytes | mmap.mmap

_INFLATED_ALWAYS = 2**30  # a compressed file may always inflate to this many bytes
_INFLATED_TIMES = 100  # and to this many times its size
_PIECE = 1024  # bytes of Zstandard, which inflate to 32 MiB at most
_MAPPED_FROM = 2**20  # smaller files are read: a map keeps the file open


def inflated_limit(size: int) -> int:
    """The bytes to which a compressed file of `size` bytes may inflate, before it is taken for a bomb."""
    return max(_INFLATED_ALWAYS, _INFLATED_TIMES * size)


def give_back(content: Bytes, start: int, end: int) -> None:
    """Bytes that are not needed for now: the pages of a map, which is only read, stay with the system alone."""
    if isinstance(content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = start - start % mmap.PAGESIZE
        content.madvise(mmap.MADV_DONTNEED, first, end - first)


class Source:
    """What is read: a path or an open file, decompressed, from the beginning and only as far as asked.

    Attributes:
        name: for messages; None for a nameless file object.
        path: where the bytes lie as they are, uncompressed, for a reader that wants to map the file itself.

    Example:
        >>> with Source(io.BytesIO(b"version,1.0.0")) as source:
        ...     source.prefix(7)
        b'version'
    """

    def __init__(self, source: Readable) -> None:
        self.name: str | None
        self.path: Path | None = None
        self._own = False
        self._opened: list[IO[bytes]] = []
        self._limit: int | None = None
        if isinstance(source, (str, os.PathLike)):
            self.name = os.fspath(source)
            self._file: IO[bytes] = open(source, "rb")  # noqa: SIM115  (closed by __exit__)
            self._own = True
            self._opened.append(self._file)
        else:
            name = getattr(source, "name", None)
            self.name = name if isinstance(name, str) else None
            self._file = _as_binary(source)
        self._head = b""
        self._ended = False
        self._whole: Bytes | None = None
        try:
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._whole, mmap.mmap):
            with suppress(BufferError):  # a view on it lives on; the map goes with the view
                self._whole.close()
        for file in self._opened:
            file.close()

    def _begin(self) -> None:
        self._head = self._file.read(4096)
        opened: Any = None
        size = os.fstat(self._file.fileno()).st_size if self._own else 0
        if self._head.startswith(b"\x1f\x8b"):
            opened = gzip.GzipFile(fileobj=_Rejoined(self._head, self._file))
        elif self._head.startswith(b"\x28\xb5\x2f\xfd"):
            opened = _Zstandard(_Rejoined(self._head, self._file))
        elif self._own and stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self.path = Path(self.name or "")
        if opened is not None:
            self._limit = inflated_limit(size)
            self._file = opened
            self._opened.insert(0, opened)
            self._head = b""

    def prefix(self, count: int) -> bytes:
        """The first `count` bytes, or all where there are fewer."""
        if self._whole is None and len(self._head) < count and not self._ended:
            self._head = b"".join([self._head, *self._chunks(count - len(self._head))])
        return self._head[:count] if self._whole is None else self._whole[:count]

    @property
    def ended(self) -> bool:
        """Whether `prefix` has come to the end already."""
        return self._ended

    def whole(self) -> Bytes:
        """Everything; a plain file is mapped, not read.

        As with any map, a program that cuts the file short meanwhile ends this process; replacing it does no harm.
        """
        if self._whole is None:
            if self.path is not None and (size := os.fstat(self._file.fileno()).st_size):
                self._whole = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
            else:
                self._whole = b"".join([self._head, *self._chunks(None)])
        return self._whole

    def own(self) -> bytearray | mmap.mmap:
        """Everything, as bytes that the caller may change, and that live as long as a view on them.

        A large plain file is mapped, not read: a page of it is copied when it is first written to, and the file never
        changes. Where the system has no room for such a map, it cannot be written to.
        """
        if self.path is not None and os.fstat(self._file.fileno()).st_size >= _MAPPED_FROM:
            try:
                return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
            except OSError:
                return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._whole is not None:
            return bytearray(self._whole)
        content = bytearray(self._head)
        for chunk in self._chunks(None):
            content += chunk
        self._head, self._ended = bytes(content[:4096]), True
        return content

    def _chunks(self, count: int | None) -> Iterator[bytes]:
        read = len(self._head)
        while count is None or count > 0:
            try:
                chunk = self._file.read(2**20 if count is None else min(count, 2**20))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise FormatError(f"damaged or cut off compressed data ({error})", source=self.name) from error
            if not chunk:
                self._ended = True
                return
            read += len(chunk)
            if self._limit is not None and read > self._limit:
                raise FormatError(f"inflates to more than {self._limit} bytes", source=self.name,
                                  hint="decompress it first, if that is meant")  # fmt: skip
            count = None if count is None else count - len(chunk)
            yield chunk


class _Rejoined(io.RawIOBase):
    """A stream of which the first bytes were read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._rest.read(size)
        chunk, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return chunk + self._rest.read() if size < 0 else chunk

    def readinto(self, target: Any) -> int:
        chunk = self.read(len(target))
        target[: len(chunk)] = chunk
        return len(chunk)


class _Zstandard(io.RawIOBase):
    """What Zstandard frames inflate to; unlike the package's own reader it notices where the last one is cut off.

    Raises:
        EOFError: the data end within a frame.
        zlib.error: they are damaged.
    """

    def __init__(self, packed: io.RawIOBase) -> None:
        import zstandard

        self._packed, self._error = packed, zstandard.ZstdError
        self._frame = zstandard.ZstdDecompressor().decompressobj
        self._current = self._frame()
        self._within = False
        self._waiting, self._ready = b"", b""

    def read(self, size: int = -1) -> bytes:
        while not self._ready:
            piece = self._waiting or self._packed.read(_PIECE) or b""
            if not piece and self._within:
                raise EOFError("the last frame does not end")
            if not piece:
                return b""
            try:
                self._ready = self._current.decompress(piece)
            except self._error as error:
                raise zlib.error(str(error)) from error
            self._waiting, self._within = b"", not self._current.eof
            if self._current.eof:
                self._waiting, self._current = self._current.unused_data, self._frame()
        chunk, self._ready = (self._ready, b"") if size < 0 else (self._ready[:size], self._ready[size:])
        return chunk


def _as_binary(file: IO[bytes] | IO[str]) -> IO[bytes]:
    if not hasattr(file, "read"):
        raise TypeError(f"expected a path or an open file, not {type(file).__name__}")
    if isinstance(file, io.TextIOBase):
        return io.BytesIO(file.read().encode("utf-8", "surrogatepass"))
    return cast(IO[bytes], file)
