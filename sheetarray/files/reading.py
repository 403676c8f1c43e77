"""Sources of bytes: a path, a URL or an open file, decompressed within bounds, and read only as far as asked."""

from __future__ import annotations

import io
import mmap
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from types import TracebackType
from typing import IO, Any, cast

from ..errors import FormatError, warn_if_forked
from .compressed import DAMAGE, PROMISED, InflatedStream, ValueCount, inflater_of, max_inflated_size, max_values
from .contents import BytesLike, FileContent
from .places import PathLike, RemoteFile, locate
from .remote import RangedBytes
from .remote_stream import RemoteStream

Readable = PathLike | IO[bytes] | IO[str]

FileSlices = BytesLike | RangedBytes | FileContent  # whose slices are bytes

_ROOM, _ROOM_TIMES = 2**29, 100  # bytes of the arrays of a file, and more for each byte beyond `PROMISED`
_MAGIC = 4  # bytes that tell a compressed file
_INFLATED_IN_MEMORY = 2**26  # bytes; more goes into a file
_INTENDED = "if this is intended, decompress it first"
_LARGE = 2**20  # bytes; a larger file is not read whole where slices of it will do


def room_of(size: int) -> int:
    """Return the bytes that the arrays of a file of `size` bytes may take, if a library makes them of compressed data.

    With the copies that it makes, and those of ours, a file of 32 MB stays below 1 GiB.
    """
    return _ROOM + _ROOM_TIMES * max(0, size - PROMISED)


def release_pages(content: FileSlices | bytearray, start: int, end: int) -> None:
    """Tell the system that a range of a memory map is not needed for now, so that its pages leave our memory."""
    if isinstance(content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = start - start % mmap.PAGESIZE
        content.madvise(mmap.MADV_DONTNEED, first, end - first)


def refuse_empty(start: BytesLike | bytearray, location: str | None = None) -> None:
    """Refuse a file whose first bytes are none: whatever its format is, it was cut off or never written."""
    if not len(start):
        raise FormatError("the file is empty: 0 bytes", location=location)


def as_binary(file: IO[bytes] | IO[str]) -> IO[bytes]:
    """Return an open file as one of bytes.

    Raises:
        FormatError: it was opened as text of an encoding that it is not in.
        TypeError: it is no open file.
        ValueError: it is closed.
    """
    if not hasattr(file, "read"):
        raise TypeError(f"expected a path or an open file, not {type(file).__name__}")
    name = getattr(file, "name", None)
    if getattr(file, "closed", False):
        raise ValueError(f"{name or 'the source'}: the file is closed: open it again, or give its path")
    if isinstance(file, io.TextIOBase):
        try:
            return io.BytesIO(file.read().encode("utf-8", "surrogatepass"))
        except UnicodeDecodeError as error:
            raise FormatError(
                f"the file was opened as {error.encoding} text, which it is not",
                source=name if isinstance(name, str) else None,
                hint="open it with mode 'rb'",
            ) from error
    return cast("IO[bytes]", file)


class Source:
    """A path, a URL or an open file that is read: decompressed, from the beginning and only as far as asked.

    `plain`: whether an open file is a file of this machine, opened by this package, of which nothing was read.
    `storage_options`: of the file system of a URL.

    Attributes:
        name: for messages; None for a nameless file object.
        path: the path of a file of this machine that is not compressed, for a reader that opens the file itself; None
            for any other source.

    Example:
        >>> with Source(io.BytesIO(b"version,1.0.0")) as source:
        ...     source.prefix(7)
        b'version'
    """

    name: str | None = None
    path: Path | None = None
    _own = _inflates = _ended = False
    _given: IO[bytes] | IO[str] | None = None  # the open file, as the caller gave it
    _remote: RangedBytes | None = None
    _local: FileContent | None = None
    _slices = False  # whether slices of a local file may have been read, at several times
    _packed_size: int | None = None
    _whole: BytesLike | None = None
    _values: ValueCount | None = None  # in what was inflated as text

    def __init__(
        self, source: Readable, *, plain: bool = False, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        warn_if_forked()
        self._opened: list[IO[bytes]] = []
        source = locate(source, storage_options)
        if isinstance(source, (str, PurePath)):
            self.name, self._own = os.fspath(source), True
            self._file: IO[bytes] = open(source, "rb")  # noqa: SIM115  (closed by __exit__)
            self._opened.append(self._file)
        else:
            self._file = self._open_other(source, plain=plain)
        try:
            state = os.fstat(self._file.fileno()) if self._own else None  # how it is before anything is read
            local = FileContent(self._file, self.name, state) if state and stat.S_ISREG(state.st_mode) else None
            self._head = self._file.read(4096)
            while 0 < len(self._head) < _MAGIC and (more := self._file.read(4096)):  # a pipe gives what it has
                self._head += more
            if not self._head:
                self._refuse_end()
            if (inflater := inflater_of(self._head)) is not None:
                self._inflate(InflatedStream(self._head, self._file, inflater))
            elif local is not None:
                self.path = None if self._given is not None else Path(self.name or "")
                self._local, self._ended = local, local.size == len(self._head)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _open_other(self, source: Any, *, plain: bool) -> IO[bytes]:
        """Return the bytes of a file under a URL, of an open file, or of another object that stands for a file."""
        if isinstance(source, RemoteFile):
            self.name = os.fspath(source)
            self._remote = RangedBytes(source)
            return cast("IO[bytes]", RemoteStream(self._remote))
        if isinstance(source, os.PathLike):
            self.name, self._own = os.fspath(source), True
            self._opened.append(open(source, "rb"))  # noqa: SIM115  (closed by __exit__)
            return self._opened[-1]
        name = getattr(source, "name", None)
        self.name = name if isinstance(name, str) else None
        if hasattr(source, "open") and not hasattr(source, "read"):  # a zipfile.Path, or a package's resource
            self._opened.append(source.open("rb"))
            return self._opened[-1]
        self._given, self._own = source, plain
        return as_binary(source)

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._whole, mmap.mmap):
            with suppress(BufferError):  # a view on it lives on; the map goes with the view
                self._whole.close()
        verifies = error is None or isinstance(error, FormatError)
        try:
            if self._slices and verifies and self._local is not None:
                self._local.check_unchanged()
        finally:
            for file in self._opened:
                file.close()
        if self._remote is not None:
            self._remote.close(verify=verifies)

    def _inflate(self, stream: Any) -> None:
        """Read a compressed file through a stream that inflates it."""
        self._packed_size = os.fstat(self._file.fileno()).st_size if self._own else 0
        if self._remote is not None:
            self._packed_size = self._remote.size or 0
        self._file, self._inflates, self._head = stream, True, b""
        self._opened.insert(0, stream)

    def _refuse_end(self) -> None:
        """Refuse an open file that was read before; a pipe has no positions."""
        try:
            stands_at_end = self._given is not None and self._given.seekable() and self._given.tell() > 0
        except (AttributeError, OSError):
            return
        if stands_at_end:
            hint = "file.seek(0) goes back to its beginning"
            raise FormatError("nothing to read: the open file is at its end", source=self.name, hint=hint)

    def prefix(self, count: int) -> bytes:
        """Return the first `count` bytes, or all where there are fewer."""
        if self._whole is None and len(self._head) < count and not self._ended:
            self._head = self._join(count - len(self._head), text=True)
        return self._head[:count] if self._whole is None else self._whole[:count]

    @property
    def is_remote(self) -> bool:
        """Return whether the source lies under a URL, so that each byte of it is a transfer."""
        return self._remote is not None

    def whole(self, *, text: bool = True) -> BytesLike:
        """Return the content; a large file is copied, or inflated, to an unnamed file.

        Args:
            text: as for `max_inflated_size`.
        """
        if self._whole is None:
            if self._remote is not None and not self._inflates:
                if text:
                    self._remote.limit_text()
                self._whole = self._remote.map()
            elif self._local is not None and self._local.size >= len(self._head) > 0:
                is_read = self._local.size == len(self._head) and self._local.is_same()
                self._whole = self._head if is_read else self._local.read(self._head)
            else:
                self._whole = self._inflate_all(text=text) if self._inflates else self._join(None, text=text)
        return self._whole

    def _inflate_all(self, *, text: bool) -> BytesLike:
        """Return everything inflated; large content is written to a temporary file and mapped."""
        content = io.BytesIO()  # gives its bytes away without a copy
        content.write(self._head)
        chunks = self._read_chunks(None, text=text)
        for chunk in chunks:
            content.write(chunk)
            if content.tell() > _INFLATED_IN_MEMORY:
                break
        else:
            return content.getvalue()
        with tempfile.TemporaryFile(prefix=".sheetarray-") as file:
            file.write(content.getbuffer())
            del content
            file.writelines(chunks)
            file.flush()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def ranges(self, *, text: bool = True) -> FileSlices:
        """Return the whole content; of a remote or a large file each part is read only when it is asked for.

        Args:
            text: as for `max_inflated_size`.
        """
        if self._local is not None and self._local.size >= _LARGE and self._whole is None:
            self._slices = True
            return self._local
        if self._remote is None or self._inflates or self._whole is not None:
            return self.whole(text=text)
        if text:
            self._remote.limit_text()
        return self._remote

    def open_again(self) -> IO[bytes]:
        """Return the content as another open file, in which one can seek; it is to be closed before this source."""
        if self.path is not None:
            return open(self.path, "rb")
        if self._remote is None or self._inflates:
            return io.BytesIO(self.whole(text=False))
        return io.BufferedReader(RemoteStream(self._remote))

    def own(self, *, mapped: bool = False) -> bytearray | memoryview | mmap.mmap:
        """Return the whole content in memory of its own, which the caller may modify; the file never changes.

        `mapped`: map a plain file of this machine instead of reading it. The map hangs on the file: a change of the
        file changes the map, and a file that is cut short ends this process.
        """
        if self._local is not None and self._local.size >= len(self._head) > 0:
            return self._local.map() if mapped else self._local.read_owned(self._head)
        if self._remote is not None and not self._inflates:
            spooled = self._remote.map(writable=(self._remote.size or 0) >= _LARGE)
            return bytearray(spooled) if isinstance(spooled, bytes) else spooled
        if self._whole is not None:
            return bytearray(self._whole)
        content = bytearray(self._head)
        for chunk in self._read_chunks(None, text=False):
            content += chunk
        self._head, self._ended = bytes(content[:4096]), True
        return content

    def _join(self, count: int | None, *, text: bool) -> bytes:
        """Return the bytes read so far and `count` more, all of them if it is None; no second copy is in memory."""
        content = io.BytesIO()  # gives its bytes away without a copy
        content.write(self._head)
        for chunk in self._read_chunks(count, text=text):
            content.write(chunk)
        return content.getvalue()

    def _read_chunks(self, count: int | None, *, text: bool) -> Iterator[bytes]:
        read = len(self._head)
        limit = None if self._packed_size is None else max_inflated_size(self._packed_size, text=text)
        while count is None or count > 0:
            try:
                chunk = self._file.read(2**20 if count is None else min(count, 2**20))
            except DAMAGE as error:
                raise FormatError(f"damaged or cut off compressed data ({error})", source=self.name) from error
            if not chunk:
                self._ended = True
                return
            read += len(chunk)
            if limit is not None and read > limit:
                raise FormatError(
                    f"inflates to more than {limit:,} bytes",
                    source=self.name,
                    hint=_INTENDED,
                )
            if text and self._packed_size is not None:
                self._values = self._values or ValueCount()
                self._values.add(chunk)
                if self._values.total > (most := max_values(self._packed_size)):
                    raise FormatError(f"inflates to more than {most:,} values", source=self.name, hint=_INTENDED)
            count = None if count is None else count - len(chunk)
            yield chunk
