"""Open files that callers hand over: read as bytes, from their position on, and once more from there if need be."""

from __future__ import annotations

import io
from typing import IO, Any, cast

from ..errors import FormatError


class RejoinedStream(io.RawIOBase):
    """A stream of which the first bytes were read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` of the next bytes; all of them if `size` is negative."""
        if not self._head:
            return self._rest.read(size)
        chunk, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return chunk + self._rest.read() if size < 0 else chunk

    def readinto(self, target: Any) -> int:
        """Fill the buffer `target` with the next bytes, and return their number; 0 at the end."""
        chunk = self.read(len(target))
        target[: len(chunk)] = chunk
        return len(chunk)


def position_of(file: IO[bytes] | IO[str]) -> int:
    """Return the position of the next byte or character of an open file; 0 if it has no positions, as a pipe."""
    try:
        return file.tell() if file.seekable() else 0
    except (AttributeError, OSError):
        return 0


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
    return cast(IO[bytes], file)
