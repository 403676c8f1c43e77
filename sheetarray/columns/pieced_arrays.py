"""Arrays of known lengths that come piece by piece, behind each other in one file without a name.

When all pieces are there they are mapped: what reads them needs no more memory than it looks at. However many
arrays there are, it is one file, which vanishes with the process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dtypes import Buffer
from ..files import release_pages

MOST_BYTES = 2**43
"""The largest size of all arrays together; for a header that claims more no file is made before its cells were read."""
_ALIGNMENT = 64  # bytes


class NotInPiecesError(Exception):
    """Says that a file has to be read as a whole: an ordinary read raises the right error, or does not need pieces."""


class PiecedArrays:
    """Arrays of known dtypes and lengths, whose elements come in pieces.

    `sizes`: the dtype and the number of elements of each array, by name. `folder`: for the file; None for the system's
    temporary folder.

    Example:
        >>> with PiecedArrays({"t": (np.dtype("int16"), 3)}) as arrays:
        ...     arrays.append("t", np.array([1, 2], "int16"))
        ...     arrays.append("t", np.array([3], "int16"))
        ...     arrays.join()["t"].tolist()
        [1, 2, 3]
    """

    def __init__(
        self, sizes: Mapping[str, tuple[np.dtype[Any], int]], folder: str | os.PathLike[str] | None = None
    ) -> None:
        self._sizes = dict(sizes)
        self._starts: dict[str, int] = {}
        end = 0
        for name, (dtype, count) in self._sizes.items():
            self._starts[name] = end
            end += -(-dtype.itemsize * count // _ALIGNMENT) * _ALIGNMENT
        self._end = end
        self._counts = dict.fromkeys(self._sizes, 0)
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".sheetarray-")  # noqa: SIM115  (closed by __exit__)
        self._map: mmap.mmap | None = None

    def __enter__(self) -> PiecedArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # the map is closed when the last array that is a view on it is deleted

    def append(self, name: str, elements: Buffer) -> None:
        """Keep the next elements of an array.

        Raises:
            ValueError: they are of another dtype, or more than the array has.
            OSError: the system refuses.
        """
        dtype, count = self._sizes[name]
        done = self._counts[name]
        if elements.dtype != dtype or done + len(elements) > count:
            raise ValueError(f"{name}: {len(elements)} elements of {elements.dtype} after {done} of {count} of {dtype}")
        self._file.seek(self._starts[name] + done * dtype.itemsize)
        self._file.write(np.ascontiguousarray(elements).view(np.uint8).data)
        self._counts[name] = done + len(elements)

    def replace(self, name: str, elements: Buffer) -> None:
        """Replace all elements of an array by others of the same dtype. Its memory map shows them."""
        dtype, count = self._sizes[name]
        assert (elements.dtype, len(elements)) == (dtype, count)
        self._file.seek(self._starts[name])
        self._file.write(np.ascontiguousarray(elements).view(np.uint8).data)
        self._file.flush()

    def join(self) -> dict[str, Buffer]:
        """Return the arrays, which are mapped and read-only.

        Raises:
            ValueError: elements are missing.
        """
        for name, (_, count) in self._sizes.items():
            if self._counts[name] != count:
                raise ValueError(f"{name}: {self._counts[name]} of {count} elements have come")
        if not self._end:
            return {name: np.zeros(0, dtype) for name, (dtype, _) in self._sizes.items()}
        self._file.truncate(self._end)  # up to the end of the last array's room
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), self._end, access=mmap.ACCESS_READ)
        return {
            name: np.frombuffer(self._map, dtype, count, self._starts[name])
            for name, (dtype, count) in self._sizes.items()
        }

    def release(self) -> None:
        """Tell the system that what was mapped need not stay in memory."""
        if self._map is not None:
            release_pages(self._map, 0, len(self._map))
