"""Keeps the blocks of one array one after the other in a file without a name, in the order in which it will be written.

So the array can be mapped and written like any other without ever being in memory. The file vanishes with the
process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from ..dtypes import Array
from ..elements import blank_missing, is_mostly_padding, to_variable_width
from ..errors import DTypeError, escape_controls
from ..files import release_pages

_TEXTS_AT_ONCE = 2**16


class SpooledArray:
    """An array whose blocks are kept in a file.

    `first`: a block whose dtype and shape the others have to fit; it is not kept yet. `axis`: along which blocks are
    joined; negative ones count from the last. `folder`: for the file; None for the system's temporary folder.

    Raises:
        ValueError: blocks have no such axis.

    Example:
        >>> t = SpooledArray("t", np.zeros((1, 2)), 0, None)
        >>> t.append(np.zeros((1, 2)))
        >>> t.append(np.ones((2, 2)))
        >>> t.join().shape
        (3, 2)
        >>> t.close()
    """

    def __init__(self, name: str, first: Array, axis: int, folder: str | os.PathLike[str] | None) -> None:
        if not -first.ndim <= axis < first.ndim:
            message = f"{name}: a block of {first.ndim} dimensions has no axis {axis} (append_axis=)"
            raise ValueError(escape_controls(message))
        self.name = name
        self._axis = axis % first.ndim
        self._dtype = first.dtype
        self._beside = self._shape_beside(first)
        self._count = 0  # along the axis
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._texts: list[tuple[int, int]] = []  # of text: elements, and characters of each, block by block
        self._objects: list[Array] = []
        self._maps: list[mmap.mmap] = []

    @property
    def _last(self) -> bool:
        """Whether the array is joined along its last axis, and so lies in column-major order."""
        return self._axis > 0 and self._axis == len(self._beside)

    def _shape_beside(self, block: Array) -> tuple[int, ...]:
        shape: tuple[int, ...] = block.shape
        return shape[: self._axis] + shape[self._axis + 1 :]

    def check(self, block: Array) -> None:
        """Refuse a block that does not fit to the first one.

        Raises:
            DTypeError: its dtype is another one.
            ValueError: its shape is.
        """
        if self._dtype.kind in "UT":
            fits = block.dtype.kind in "UT"
        else:
            fits = block.dtype.newbyteorder("=") == self._dtype.newbyteorder("=")
        if not fits:
            raise DTypeError(f"{self.name}: a block of {block.dtype}, and the first one was of {self._dtype}")
        if block.ndim != len(self._beside) + 1 or self._shape_beside(block) != self._beside:
            shape = (*self._beside[: self._axis], "any", *self._beside[self._axis :])
            expected = f"({', '.join(map(str, shape))})"
            message = f"{self.name}: a block of the shape {block.shape}, and {expected} is expected"
            raise ValueError(escape_controls(message))

    def append(self, block: Array) -> None:
        """Keep a block."""
        self._count += block.shape[self._axis]
        slowest = block.T if self._last else np.moveaxis(block, self._axis, 0)
        if block.dtype.kind == "O":
            self._objects.append(slowest.copy())
            return
        if block.dtype.kind == "T":
            slowest = blank_missing(slowest)
            if slowest.dtype.kind == "T":
                slowest = slowest.astype(f"<U{max(map(len, slowest.ravel().tolist()), default=1) or 1}")
        native = np.ascontiguousarray(slowest, dtype=slowest.dtype.newbyteorder("="))
        if native.dtype.kind == "U":
            self._texts.append((native.size, native.dtype.itemsize // 4))
        self._file = self._file or self._new_file()
        self._file.write(native.reshape(-1).view(np.uint8).data)

    def _new_file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder, prefix=".sheetarray-")

    def join(self) -> Array:
        """Return the array that the blocks make up."""
        if self._dtype.kind == "O":
            joined = np.concatenate(self._objects)
        elif self._dtype.kind in "UT":
            joined = self._join_texts()
        else:
            joined = self._map(self._dtype.newbyteorder("="))
        slowest = (self._count, *(self._beside[::-1] if self._last else self._beside))
        whole = joined.reshape(slowest)
        return whole.T if self._last else np.moveaxis(whole, 0, self._axis)

    def _map(self, dtype: np.dtype[Any]) -> Array:
        if self._file is None or not self._file.tell():
            return np.zeros(0, dtype)
        self._file.flush()
        mapped = np.memmap(self._file, dtype=dtype, mode="r")
        self._maps.append(mapped._mmap)  # type: ignore[attr-defined]  # documented in numpy.memmap, but for its type
        return mapped

    def _join_texts(self) -> Array:
        """Return the texts of all blocks, as wide as the longest needs, or of variable width."""
        width = max((characters for _, characters in self._texts), default=1)
        raw = self._map(np.dtype(np.uint8))
        if all(characters == width for _, characters in self._texts):
            return raw.view(f"<U{width}")
        count = sum(count for count, _ in self._texts)
        if is_mostly_padding(count, width, len(raw) // 4):
            return to_variable_width([text for block in self._blocks_of_text(raw) for text in block.tolist()])
        with self._new_file() as widened:
            for block in self._blocks_of_text(raw):
                widened.write(block.astype(f"<U{width}").view(np.uint8).data)
            widened.flush()
            mapped = np.memmap(widened, dtype=f"<U{width}", mode="r")
        self._maps.append(mapped._mmap)  # type: ignore[attr-defined]  # as above
        return mapped

    def _blocks_of_text(self, raw: Array) -> Iterable[Array]:
        start = 0
        for count, characters in self._texts:
            for first in range(0, count, _TEXTS_AT_ONCE):
                size = 4 * characters * min(_TEXTS_AT_ONCE, count - first)
                yield raw[start : start + size].view(f"<U{characters}")
                start += size

    def release(self) -> None:
        """Tell the system that what was mapped need not stay in memory."""
        for mapped in self._maps:
            release_pages(mapped, 0, len(mapped))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
