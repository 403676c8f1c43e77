"""The limits of a file: on nesting, on the number of expressions and of arrays, and on bytes of memory.

A file chooses every length in it. Each is compared with these limits, in Python's integers, before memory is taken.
"""

from __future__ import annotations

import numpy as np

from ...errors import FormatError

MOST_SCHEMA_BYTES = 2**24  # of a schema's JSON
MOST_SCHEMA_PARTS = 1_000_000  # values in it: JSON objects, lists, and what is in them
DEEPEST_JSON = 400  # JSON objects and lists within each other
DEEPEST_EXPRESSION = 200  # expressions within each other, references followed
DEEPEST_ARRAY = 64  # arrays within each other
MOST_ARRAYS = 100_000  # arrays within one; an array that is referred to counts each time

BYTES_ALWAYS = 2**28  # bytes of memory that arrays may take, however small the file is
BYTES_TIMES = 64  # arrays may also take so many times the bytes of the blobs that were read
BYTES_UNCOUNTED = 2**24  # bytes to which a blob may always inflate if the schema does not say its length


class MemoryBudget:
    """The memory that the arrays of one file may take; it grows with the blobs that are read.

    Views on a blob count as well: what is looked through costs time.

    Args:
        most: bytes; None for 256 MiB, or 64 times the bytes of the blobs, whichever is more.

    Raises:
        TypeError: `most` is no number of bytes.
    """

    def __init__(self, most: int | None = None) -> None:
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0):
            raise TypeError(f"max_bytes is a number of bytes, not {most!r}")
        self._most = most
        self._blobs: dict[str, int] = {}
        self._stored = 0
        self._taken = 0

    @property
    def limit(self) -> int:
        """The number of bytes that may be taken in all."""
        return max(BYTES_ALWAYS, BYTES_TIMES * self._stored) if self._most is None else self._most

    @property
    def remaining(self) -> int:
        """The number of bytes that may still be taken."""
        return self.limit - self._taken

    def limit_uncounted(self, size: int) -> int:
        """Return the largest size, in bytes, of a compressed blob's content whose length the schema does not say."""
        return (
            self.remaining if self._most is not None else min(self.remaining, max(BYTES_UNCOUNTED, BYTES_TIMES * size))
        )

    def note_stored(self, name: str, size: int) -> None:
        """Note the size of a blob that was read; it counts once."""
        if name not in self._blobs:
            self._blobs[name] = size
            self._stored += size

    def take(self, size: int, what: str) -> None:
        """Take bytes from what may still be spent.

        Args:
            size: bytes.
            what: they are for.

        Raises:
            FormatError: that is more than is left.
        """
        if size > self.remaining:
            raise FormatError(
                f"{what} of {size} bytes: more than the {self.limit} bytes that the arrays of this file may take",
                hint="max_bytes= allows more",
            )
        self._taken += size
