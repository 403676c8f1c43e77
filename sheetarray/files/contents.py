"""The content of a file on this machine, as no other program can change it any more.

A map of a file hangs on it: who saves the file in place changes what was read, and who cuts it short ends this process.
So a file is read. A large one is copied to an unnamed temporary file, which is mapped instead.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from typing import IO, Any, TypeVar

import numpy as np

from ..errors import FormatError

BytesLike = bytes | mmap.mmap
Content = TypeVar("Content", bytes, mmap.mmap, memoryview)

_IN_MEMORY = 2**25  # bytes that are read; a larger file is copied, so that blocks of it leave the memory again
_BLOCK = 2**26
_LINE = 64  # bytes of a cache's line: to a place that begins one, the system copies a third faster
_ATTEMPTS = 3  # to read a file that others change meanwhile


class FileContent:
    """The bytes of an open file of this machine; what else is read from the file is not disturbed.

    `name`: for messages. `state`: of the file, before anything was read.

    Attributes:
        size: the number of bytes.
    """

    def __init__(self, file: IO[bytes], name: str | None, state: os.stat_result) -> None:
        self._file, self._name = file, name
        self.size, self._time = state.st_size, state.st_mtime_ns

    def read(self, head: bytes) -> BytesLike:
        """Return all bytes; those of a large file are mapped from a temporary file.

        `head`: the first bytes, as they were read before.

        Raises:
            FormatError: the file was changed meanwhile, again and again.
        """
        for _ in range(_ATTEMPTS):
            if self.size <= _IN_MEMORY:
                content = self._read_at(0, self.size)
                if len(content) == self.size and self.is_same():
                    return self._check_head(content, head)
                continue
            with tempfile.TemporaryFile(prefix=".sheetarray-") as copy:
                if self._copy(copy) and self.is_same():
                    return self._check_head(mmap.mmap(copy.fileno(), self.size, access=mmap.ACCESS_READ), head)
        raise self._changed_error()

    def is_same(self) -> bool:
        """Return whether the file is as it was; if not, remember how it is now."""
        before = self.size, self._time
        self.size, self._time = self._read_state()
        return before == (self.size, self._time)

    def read_owned(self, head: bytes) -> memoryview:
        """Return all bytes in memory of their own, which the caller may modify; `head` and errors are as for `read`."""
        for _ in range(_ATTEMPTS):
            memory = np.empty(self.size + _LINE, np.uint8)  # unlike a bytearray, not filled with zeros first
            first = -memory.__array_interface__["data"][0] % _LINE
            content = memory[first : first + self.size].data
            if self._read_into(content) and self.is_same():
                return self._check_head(content, head)
        raise self._changed_error()

    def map(self) -> mmap.mmap:
        """Map the file into memory. The map can be modified, unless the system has no room for a copy."""
        try:
            return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
        except OSError:
            return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    # Slices ----------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: slice) -> bytes:
        start, stop, step = key.indices(self.size)
        content = self._read_at(start, max(stop - start, 0))
        if len(content) < stop - start:
            raise self._changed_error()
        return content[::step]

    def check_unchanged(self) -> None:
        """Refuse slices of a file that was changed since it was opened, as they may be of two versions.

        Raises:
            FormatError: it was.
        """
        if self._read_state() != (self.size, self._time):
            raise self._changed_error()

    # The file --------------------------------------------------------------------------------------------------------

    def _read_state(self) -> tuple[int, int]:
        """Return the number of bytes, and when they were changed."""
        state = os.fstat(self._file.fileno())
        return state.st_size, state.st_mtime_ns

    def _read_at(self, start: int, count: int) -> bytes:
        """Return some bytes; fewer where the file has no more."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), count, start)
        content = bytearray(count)
        return bytes(content) if self._read_into(memoryview(content), start) else b""

    def _read_into(self, content: memoryview, start: int = 0) -> bool:
        """Fill memory with bytes of the file, and return whether the file has enough of them."""
        done = 0
        while done < len(content):
            block, at = content[done : done + _BLOCK], start + done
            if hasattr(os, "preadv"):
                count = os.preadv(self._file.fileno(), [block], at)
            else:
                count = self._seek_and_read(block, at)
            if not count:
                return False
            done += count
        return True

    def _seek_and_read(self, block: memoryview, at: int) -> int:
        """Read into memory on a system without `preadv`, and move the file back to its position."""
        raw: Any = self._file.raw  # type: ignore[attr-defined]  # of a BufferedReader
        here = raw.tell()
        try:
            raw.seek(at)
            return int(raw.readinto(block) or 0)
        finally:
            raw.seek(here)

    def _copy(self, target: IO[bytes]) -> bool:
        """Copy the file, by the system where it can; return whether all bytes were there."""
        done = 0
        if hasattr(os, "copy_file_range"):
            with suppress(OSError):  # between these two file systems, the system cannot
                while done < self.size and (
                    count := os.copy_file_range(self._file.fileno(), target.fileno(), self.size - done, done, done)
                ):
                    done += count
        target.seek(done)
        while done < self.size and (block := self._read_at(done, min(_BLOCK, self.size - done))):
            target.write(block)
            done += len(block)
        target.flush()
        return done == self.size

    def _check_head(self, content: Content, head: bytes) -> Content:
        if content[: len(head)] != head:
            raise self._changed_error()
        return content

    def _changed_error(self) -> FormatError:
        return FormatError("the file was changed while it was read", source=self._name, hint="read it again")
