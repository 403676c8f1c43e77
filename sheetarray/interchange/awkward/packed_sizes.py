"""The size of a layout in bytes once it is packed.

Lists may overlap, an index may name one element a million times, and one layout may stand in many places: a few bytes
can stand for any number of them. How many they become once they are packed is computed here, in time and memory linear
in what there is, before anything is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import LimitError
from .budget import BYTES_ALWAYS, BYTES_TIMES
from .package import AwkwardLayout, awkward_module

ElementSizes = Any  # of the elements of a layout in bytes: an array of float64, or a number where all have the same

_INDEX = 8  # bytes of an offset or an index
_TAG = 1  # of a mask or a tag


def packed_size(layout: AwkwardLayout) -> int:
    """Return the bytes of an array's buffers once it is packed, about.

    Example:
        >>> import awkward as ak
        >>> ends = ak.index.Index64(np.full(1000, 500))
        >>> starts = ak.index.Index64(np.zeros(1000, dtype="i8"))
        >>> packed_size(ak.contents.ListArray(starts, ends, ak.contents.NumpyArray(np.arange(500))))
        4008000
    """
    sizes = _PackedSizes()
    return int(sizes.total(layout) + sizes.categories)


def check_packed(layout: AwkwardLayout) -> None:
    """Refuse an array that would become out of proportion if it were packed."""
    packed = packed_size(layout)
    if packed > BYTES_ALWAYS and packed > BYTES_TIMES * (own := _size_of_buffers(layout)):
        raise LimitError(
            f"lists that overlap, or an index that repeats: {own} bytes in memory would become {packed}; where the "
            f"format has the option pack=False they are written as they are, else apply ak.to_packed first"
        )


class _PackedSizes:
    """The sizes of the elements of layouts, each layout looked through once.

    Attributes:
        categories: bytes of contents that stay whole, however often their elements are named.
    """

    def __init__(self) -> None:
        self.categories = 0.0
        self._sizes: dict[int, ElementSizes] = {}

    def total(self, layout: AwkwardLayout) -> float:
        """Return the bytes of all elements."""
        if hasattr(layout, "offsets") and not isinstance(inner := self.of(layout.content), np.ndarray):
            reached = int(layout.offsets.data[-1]) - int(layout.offsets.data[0])  # no array of sizes is made
            return float(_INDEX * layout.length + reached * inner)
        sizes = self.of(layout)
        return float(sizes.sum()) if isinstance(sizes, np.ndarray) else float(layout.length) * sizes

    def of(self, layout: AwkwardLayout) -> ElementSizes:
        """Return the bytes of each element."""
        if id(layout) not in self._sizes:
            self._sizes[id(layout)] = self._of(layout)
        return self._sizes[id(layout)]

    def _of(self, layout: AwkwardLayout) -> ElementSizes:
        if layout.is_numpy:
            return float(layout.data.itemsize * np.prod(layout.data.shape[1:], dtype=np.float64))
        if layout.is_unknown:
            return 0.0
        if layout.is_record:
            return sum((_first(self.of(content), layout.length) for content in layout.contents), 0.0)
        if layout.is_union:
            return self._of_union(layout)
        if layout.parameter("__array__") == "categorical":
            self.categories += self.total(layout.content)
            return float(_INDEX)
        inner = self.of(layout.content)
        if layout.is_indexed:
            return _INDEX * layout.is_option + _select_sizes(inner, layout.index.data)
        if layout.is_option:
            return _TAG + _first(inner, layout.length)
        if layout.is_regular:
            if not isinstance(inner, np.ndarray) or not layout.size:
                return layout.size * (inner if layout.size else 0.0)
            return inner[: layout.length * layout.size].reshape(layout.length, layout.size).sum(axis=1)
        starts = layout.starts.data.astype(np.int64, copy=False)
        stops = layout.stops.data[: len(starts)].astype(np.int64, copy=False)
        if not isinstance(inner, np.ndarray):
            return _INDEX + (stops - starts) * inner
        before = np.zeros(len(inner) + 1)
        np.cumsum(inner, out=before[1:])
        filled = stops > starts
        return _INDEX + np.where(filled, before[np.where(filled, stops, 0)] - before[np.where(filled, starts, 0)], 0.0)

    def _of_union(self, layout: AwkwardLayout) -> ElementSizes:
        tags = layout.tags.data
        index = layout.index.data[: len(tags)]
        sizes = np.full(len(tags), float(_INDEX + _TAG))
        for tag, content in enumerate(layout.contents):
            here = tags == tag
            sizes[here] += _select_sizes(self.of(content), index[here])
        return sizes


def _first(sizes: ElementSizes, length: int) -> ElementSizes:
    return sizes[:length] if isinstance(sizes, np.ndarray) else sizes


def _select_sizes(sizes: ElementSizes, index: np.ndarray[Any, Any]) -> ElementSizes:
    """Return the sizes at some indices. An index below 0 means a missing list."""
    if not isinstance(sizes, np.ndarray):
        return sizes if not (index < 0).any() else np.where(index < 0, 0.0, sizes)
    return np.append(sizes, 0.0)[np.maximum(index, -1).astype(np.int64, copy=False)]


def contents_of(layout: AwkwardLayout) -> list[AwkwardLayout]:
    """Return the layouts that stand directly within a layout."""
    if hasattr(layout, "contents"):
        return list(layout.contents)
    return [layout.content] if hasattr(layout, "content") else []


def _size_of_buffers(layout: AwkwardLayout) -> int:
    """Return the bytes of the buffers that a layout is made of, each counted once."""
    buffers = map(np.asarray, awkward_module().to_buffers(layout)[2].values())
    return sum({(buffer.__array_interface__["data"][0], buffer.nbytes): buffer.nbytes for buffer in buffers}.values())
