"""A remote file as an open one."""

from __future__ import annotations

import io
import os
from typing import Any

from .remote import RangedBytes


class RemoteStream(io.RawIOBase):
    """A remote file as an open one: it is read from any position, and in larger requests the longer it is read on."""

    def __init__(self, content: RangedBytes) -> None:
        self._content, self._at = content, 0

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: it can be read from any position."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a byte of the file, and return its place."""
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
