"""A remote file as a sequence of bytes, and as an open file, of which only those ranges are read that are asked for."""

from __future__ import annotations

import io
import os
from typing import Any, overload

from .remote import RemoteContent


class RangedBytes:
    """The bytes of a remote file, of which a slice is read when it is asked for."""

    def __init__(self, content: RemoteContent) -> None:
        self._content, self._size = content, content.whole_size()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, key: int) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> bytes: ...

    def __getitem__(self, key: int | slice) -> int | bytes:
        if isinstance(key, slice):
            start, stop, step = key.indices(self._size)
            return self._content.read(start, stop)[::step]
        return self._content.read(range(self._size)[key], range(self._size)[key] + 1)[0]


class RemoteStream(io.RawIOBase):
    """A remote file as an open one: it is read from any position, and in larger requests the longer it is read on."""

    def __init__(self, content: RemoteContent) -> None:
        self._content, self._at = content, 0

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: it can be read from any position."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte."""
        if whence == os.SEEK_END:
            offset += self._content.whole_size()
        self._at = max(0, offset + (self._at if whence == os.SEEK_CUR else 0))
        return self._at

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._at

    def readinto(self, target: Any) -> int:
        """Fill the buffer `target` with the next bytes, and return their number; 0 at the end."""
        chunk = self._content.read(self._at, self._at + len(target))
        target[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)
