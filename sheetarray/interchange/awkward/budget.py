"""The limits of what a file may take: sizes of schemas and blobs, steps, and memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...errors import FormatError, LimitError
from ...linear.json_text import count_values

MOST_SCHEMA_BYTES = 2**24  # of a schema's JSON
MOST_SCHEMA_PARTS = 500_000  # values in schemas: JSON objects, lists, and what is in them
DEEPEST_JSON = 400  # JSON objects and lists within each other
DEEPEST_EXPRESSION = 200  # expressions within each other, references followed
DEEPEST_ARRAY = 64  # arrays within each other
MOST_ARRAYS = 100_000  # arrays within one; an array that is referred to counts each time

MOST_STEPS = 40_000  # schemas, calls and blobs that are read, of all arrays together; each takes some 80 microseconds

BYTES_ALWAYS = 2**28  # bytes of memory that arrays may take, however small the file is
BYTES_TIMES = 64  # arrays may also take so many times the bytes of the blobs that were read
_SMALL, _ROOM = 2**25, 3 * 2**28  # bytes of a file, and of what its arrays may take; larger files may have more
BYTES_UNCOUNTED = 2**24  # bytes to which a blob may always inflate if the schema does not say its length


def room_of_file(size: int) -> int:
    """Return the bytes that the arrays of a file of `size` bytes may take together: below 1 GiB for 32 MB."""
    return max(BYTES_ALWAYS, min(BYTES_TIMES * size, _ROOM)) + BYTES_TIMES * max(0, size - _SMALL)


class Budget:
    """What the arrays that are read together may take: memory, which grows with their blobs, and steps.

    Views on a blob count as well: what is looked through costs time.
    """

    def __init__(self, most: int | None = None) -> None:
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0):
            raise TypeError(f"max_bytes is a number of bytes, not {most!r}")
        self._most = most
        self._blobs: dict[str, int] = {}
        self._stored = 0
        self._taken = 0
        self._steps = 0
        self._values = 0

    @property
    def limit(self) -> int:
        """The number of bytes that may be taken in total."""
        return max(BYTES_ALWAYS, BYTES_TIMES * self._stored) if self._most is None else self._most

    @property
    def remaining(self) -> int:
        """The number of bytes that may still be taken."""
        return self.limit - self._taken

    @property
    def has_steps(self) -> bool:
        """Whether there may be more schemas, calls and blobs, and values in schemas."""
        return self._steps <= MOST_STEPS and self._values <= MOST_SCHEMA_PARTS

    def limit_uncounted(self, size: int) -> int:
        """Return the largest size, in bytes, of a compressed blob's content whose length the schema does not say."""
        most = self.remaining if self._most is not None else max(BYTES_UNCOUNTED, BYTES_TIMES * size)
        return min(self.remaining, most)

    def note_stored(self, name: str, size: int) -> None:
        """Note the size of a blob that was read. From the second time on it is memory that is taken."""
        if name in self._blobs:
            self.take(size, f"the blob {name!r:.80}, read again,")
            return
        self._blobs[name] = size
        self._stored += size

    def take(self, size: int, what: str) -> None:
        """Take bytes from what may still be spent."""
        if size > self.remaining:
            raise FormatError(
                f"{what} of {size} bytes: more than the {self.limit} bytes that the arrays of this file may take",
                hint="max_bytes= allows more",
            )
        self._taken += size

    def step(self) -> None:
        """Count a schema, a call or a blob."""
        self._steps += 1
        self._refuse_too_many()

    def note_schema(self, schema: bytes) -> None:
        """Count the values of a schema."""
        self._values += count_values(schema)
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if not self.has_steps:
            raise FormatError(
                f"awkward arrays of more than {MOST_STEPS:,} schemas, calls and blobs, or {MOST_SCHEMA_PARTS:,} values "
                "in schemas, the most that are read together"
            )


def check_steps(schemas: Iterable[bytes]) -> None:
    """Refuse to write arrays that take more steps, or more values in schemas, than are read together."""
    steps = values = 0
    for schema in schemas:
        steps += 1 + schema.count(b'"call":') + schema.count(b'"read":')
        values += count_values(schema)
    if steps > MOST_STEPS or values > MOST_SCHEMA_PARTS:
        raise LimitError(
            f"arrays of {steps:,} schemas, calls and blobs, and {values:,} values in schemas, but at most "
            f"{MOST_STEPS:,} and {MOST_SCHEMA_PARTS:,} can be read together: write several files"
        )
