"""Arrays that are read block by block into a file without a name, so that each can be looked at by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ...dtypes import Buffer
from ...elements import Missing, text_array
from ..column import ArrayColumn
from ..pieced_arrays import MOST_BYTES, NotInPiecesError, PiecedArrays
from ..reading import ElementRestorer
from ..sheet import Sheet
from .parts import ColumnPart, column_of_parts
from .reading import iter_arrays


class StoredArrays:
    """The stored arrays of some sheets: those of text in memory, all others mapped from a file.

    `parts`: of each array, by its name. `buffers`: the elements of each array, by its name. `restore`: gives elements
    that were only rounded their exact bits; None to leave them.
    """

    def __init__(
        self,
        sheets: Sequence[Sheet],
        parts: Mapping[str, Sequence[ColumnPart]],
        buffers: Mapping[str, Buffer],
        restore: ElementRestorer | None,
    ) -> None:
        self._sheets = sheets
        self._parts, self._buffers, self._restore = parts, buffers, restore

    def column(self, name: str) -> ArrayColumn:
        """Return the cells of an array without their values, for the addresses of its elements."""
        return column_of_parts(self._sheets, self._parts[name])

    def read(self, name: str) -> Buffer:
        """Return the elements of an array, as the cells have them."""
        return self._buffers[name]

    def buffer(self, name: str) -> Buffer:
        """Return the elements of an array, those that were only rounded with their exact bits."""
        buffer = self._buffers[name]
        return buffer if self._restore is None else self._restore.restore(name, buffer, self.column(name))


@contextmanager
def store_arrays(
    sheets: Sequence[Sheet],
    parts: Mapping[str, Sequence[ColumnPart]],
    missing: Missing,
    restore: ElementRestorer | None,
) -> Iterator[tuple[StoredArrays, PiecedArrays]]:
    """Store arrays, and yield them with their spool, whose `release` frees the memory of elements that were read.

    Raises:
        NotInPiecesError: headers claim more than any workbook holds; or as `iter_arrays`.
    """
    headers = {name: first.header for name, (first, *_) in parts.items()}
    texts: dict[str, list[Buffer]] = {
        name: [] for name, header in headers.items() if header.dtype.kind in ("string", "generic")
    }
    sizes = {name: (header.dtype.numpy, header.capacity) for name, header in headers.items() if name not in texts}
    if sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        raise NotInPiecesError
    with PiecedArrays(sizes) as spool:
        for name, elements in iter_arrays(sheets, parts, missing):
            if name in texts:
                texts[name].append(elements)
            else:
                spool.append(name, elements)
        buffers = spool.join()
        for name, pieces in texts.items():
            joined = np.concatenate([np.empty(0, object), *pieces])
            buffers[name] = text_array(joined.tolist()) if headers[name].dtype.kind == "string" else joined
        yield StoredArrays(sheets, parts, buffers, restore), spool
