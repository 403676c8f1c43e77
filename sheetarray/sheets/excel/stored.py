"""Stores the elements of a workbook's arrays, which come piece by piece, in a file without a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np

from ...columns import ArrayColumn, ElementRestorer
from ...dtypes import Buffer
from ...elements import text_array
from ...header import Header
from ...spool import MOST_BYTES, NotInPiecesError, PiecedArrays
from .column_parts import ColumnPart
from .sheet import ExcelSheet

_TEXTUAL = frozenset({"string", "generic"})


class StoredArrays:
    """The stored arrays of a workbook: those of text in memory, all others mapped from a file.

    `sheets`: in which the arrays stand. `parts`: of each array, by its name. `buffers`: the elements of each array, by
    its name. `restore`: gives elements that were only rounded their exact bits; None to leave them.
    """

    def __init__(
        self,
        sheets: Sequence[ExcelSheet],
        parts: Mapping[str, Sequence[ColumnPart]],
        buffers: Mapping[str, Buffer],
        restore: ElementRestorer | None,
    ) -> None:
        self._sheets = {sheet.title: sheet for sheet in sheets}
        self._parts, self._buffers, self._restore = parts, buffers, restore

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def header(self, name: str) -> Header:
        """Return the header of an array."""
        return self._parts[name][0].header

    def column(self, name: str) -> ArrayColumn:
        """Return the cells of an array without their values, for the addresses of its elements."""
        group = self._parts[name]
        sheet = self._sheets[group[0].anchor.title]
        column = ArrayColumn([part.anchor for part in group], [([], []) for _ in group], sheet)
        column.starts = [0, *accumulate(part.count for part in group[:-1])]
        return column

    def buffer(self, name: str) -> Buffer:
        """Return the elements of an array."""
        buffer = self._buffers[name]
        return buffer if self._restore is None else self._restore.restore(name, buffer, self.column(name))


@contextmanager
def store_arrays(
    sheets: Sequence[ExcelSheet],
    parts: Mapping[str, Sequence[ColumnPart]],
    pieces: Iterable[tuple[str, Buffer]],
    restore: ElementRestorer | None = None,
) -> Iterator[tuple[StoredArrays, PiecedArrays]]:
    """Store arrays, and yield them with their spool, whose `release` frees the memory of elements that were read.

    Raises:
        NotInPiecesError: headers claim more than any workbook holds.
    """
    sizes: dict[str, tuple[np.dtype[Any], int]] = {}
    texts: dict[str, list[Buffer]] = {}
    for name, (first, *_) in parts.items():
        if first.header.dtype.kind in _TEXTUAL:
            texts[name] = []
        else:
            sizes[name] = first.header.dtype.numpy, first.header.capacity
    if sum(dtype.itemsize * count for dtype, count in sizes.values()) > MOST_BYTES:
        raise NotInPiecesError
    with PiecedArrays(sizes) as spool:
        for name, elements in pieces:
            if name in texts:
                texts[name].append(elements)
            else:
                spool.append(name, elements)
        buffers = spool.join() | {
            name: text_array([text for one in some for text in one.tolist()])
            if parts[name][0].header.dtype.kind == "string"
            else np.concatenate([np.empty(0, object), *some])
            for name, some in texts.items()
        }
        yield StoredArrays(sheets, parts, buffers, restore), spool
