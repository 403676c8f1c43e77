"""Keeps the texts of a guard's sheet until they are decoded: in memory, or in an unnamed file if they are long."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from ....elements import Cell
from ....files import release_pages

IN_MEMORY = 2**24  # characters; more of them are kept in a file
_MAPPED = 2**22  # bytes of the file that are read before the system is told that it may drop them from memory


class StoredTexts(Sequence[str]):
    """Texts in a file that is mapped into memory.

    `content`: the file: all texts in UTF-8, one right after the other. `bounds`: where each text begins and where it
    ends, in bytes.
    """

    def __init__(self, content: mmap.mmap, bounds: Sequence[tuple[int, int]]) -> None:
        self._content, self._bounds = content, bounds

    def __len__(self) -> int:
        return len(self._bounds)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return StoredTexts(self._content, self._bounds[index])
        start, end = self._bounds[index]
        return self._content[start:end].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        done = 0
        for start, end in self._bounds:
            yield self._content[start:end].decode("utf-8", "surrogatepass")
            if (
                end - done >= _MAPPED
            ):  # all bytes from the first on, since the system also keeps neighbours of those read
                release_pages(self._content, 0, end)
                done = end
        release_pages(self._content, 0, len(self._content))


def store_texts(cells: Iterable[Cell]) -> Sequence[str]:
    """Return the texts of cells, empty for a blank: a list, or a file if they have more than `IN_MEMORY` characters.

    Raises:
        OSError: the disk has no room for the file.
    """
    texts: list[str] = []
    size, rest = 0, iter(cells)
    for cell in rest:
        texts.append("" if cell is None else str(cell))
        size += len(texts[-1])
        if size > IN_MEMORY:
            return _store_in_file(texts, rest)
    return texts


def _store_in_file(texts: list[str], rest: Iterator[Cell]) -> StoredTexts:
    """Write texts and the rest of the cells to an unnamed file, and return all of them; the list is emptied."""
    with tempfile.TemporaryFile(prefix=".sheetarray-") as file:
        sizes = [file.write(_to_bytes(text)) for text in texts]
        texts.clear()
        sizes.extend(file.write(_to_bytes(cell)) for cell in rest)
        file.flush()
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    ends = list(accumulate(sizes))
    return StoredTexts(content, list(zip([0, *ends[:-1]], ends, strict=True)))


def _to_bytes(cell: Cell) -> bytes:
    """Return the text of a cell in UTF-8."""
    return ("" if cell is None else str(cell)).encode("utf-8", "surrogatepass")
