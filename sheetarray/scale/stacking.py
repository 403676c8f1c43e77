"""Arrays of many files as one lazy array of dask: one layer, whose blocks read some files, or some rows of them."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import FormatError
from ..files import RemoteFile, is_url
from .reader import ArrayReader

_THREADS = 16  # that wait for the remote files of a block


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a block; a class of its own, so that dask does not look into the tuple for tasks."""

    files: tuple[ArrayReader, ...]


@dataclass(frozen=True)
class StackReader:
    """A reader of the blocks of one array."""

    name: str  # of the array
    shape: tuple[int, ...]  # of it in each file
    dtype: np.dtype[Any]  # of its elements
    # of the coordinates along its dimensions, by name; those of each file are compared with them
    digests: Mapping[str, str]
    named: bool  # whether the formats keep the names of arrays
    parts: bool  # whether only the rows of a block are read, if the file allows that

    def __call__(self, group: FileGroup, rows: range | None = None) -> Array:
        """Return a block: the arrays of some files, or some rows of them.

        Raises:
            FormatError: as `sheetarray.read`, or a file is another one than when it was opened.
        """
        rows = range(*self.shape[:1] or (1,)) if rows is None else rows
        beside = (rows.stop - rows.start, *self.shape[1:]) if self.shape else ()
        block: Array = np.empty((len(group.files), *beside), self.dtype)
        is_remote = len(group.files) > 1 and any(is_url(file.path) for file in group.files)
        if not is_remote:
            for index, file in enumerate(group.files):
                block[index] = self._read(file, rows)
            return block
        with ThreadPoolExecutor(min(_THREADS, len(group.files)), "sheetarray-read") as threads:
            for index, array in enumerate(threads.map(lambda file: self._read(file, rows), group.files)):
                block[index] = array
        return block

    def _read(self, file: ArrayReader, rows: range) -> Array:
        """Return the rows of one file, if it did not change since it was opened."""
        if isinstance(file.path, RemoteFile):
            file = replace(file, path=copy.copy(file.path))  # so that the bytes read are not kept in the graph
        array = file.read_rows(self.name, self.shape, rows.start, rows.stop) if self.parts else None
        if array is None:
            array = self._read_whole(file)
            array = array[rows.start : rows.stop] if self.shape else array
        file.check_unchanged()
        return array

    def _read_whole(self, file: ArrayReader) -> Array:
        arrays = file.read([self.name, *self.digests] if self.named else None)
        array = arrays[self.name] if self.named else next(iter(arrays.values()))
        label = os.fspath(file.path)
        if array.shape != self.shape:
            raise FormatError(
                f"has the shape {array.shape} now, but had {self.shape} before", array=self.name, source=label
            )
        for name, digest in self.digests.items():
            if digest_of(arrays[name]) != digest:
                raise FormatError(
                    f"the coordinate {name!r:.80} differs from the one in the first file",
                    array=name,
                    source=label,
                    hint="open files of one grid together",
                )
        return array


def digest_of(array: Array) -> str:
    """Return a short text that is equal for two arrays if their elements are equal, and differs otherwise."""
    content = repr(array.tolist()).encode() if array.dtype.kind in "OUT" else np.ascontiguousarray(array).tobytes()
    kind = "text" if array.dtype.kind in "OUT" else array.dtype.str
    return hashlib.sha256(f"{kind}{array.shape}".encode() + content).hexdigest()


def stack_arrays(reader: StackReader, files: Sequence[ArrayReader], files_per_block: int, rows: int | None) -> Any:
    """Return the arrays of files, one after the other along a new first dimension, as one lazy array of dask.

    `files_per_block`: how many are read together. `rows`: of a block; None for all.
    """
    import dask.array
    from dask.base import tokenize
    from dask.blockwise import BlockwiseDepDict
    from dask.blockwise import blockwise as make_blockwise
    from dask.highlevelgraph import HighLevelGraph

    bounds = list(_cut(len(files), files_per_block))
    groups = {(number,): FileGroup(tuple(files[start:stop])) for number, (start, stop) in enumerate(bounds)}
    chunks: list[tuple[int, ...]] = [tuple(stop - start for start, stop in bounds)]
    pairs: list[Any] = [BlockwiseDepDict(groups), "0"]
    rest: list[tuple[int, ...]] = [(size,) for size in reader.shape]
    new_axes: dict[str, int] = {str(axis + 1): 1 for axis in range(len(rest))}
    if rows is not None:
        cuts = list(_cut(reader.shape[0], rows))
        ranges = {(number,): range(start, stop) for number, (start, stop) in enumerate(cuts)}
        pairs += [BlockwiseDepDict(ranges), "1"]
        del new_axes["1"]
        rest[0] = tuple(stop - start for start, stop in cuts)
    chunks += rest
    states = [(os.fspath(file.path), repr(file.state or getattr(file.path, "state", None))) for file in files]
    described = (reader.name, reader.shape, reader.dtype.str, sorted(reader.digests.items()), reader.parts)
    options = [(file.format, repr(file.options)) for file in files[:1]]
    name = f"sheetarray-{tokenize(states, described, options, chunks)}"
    axes = tuple(str(axis) for axis in range(len(chunks)))
    make_layer: Any = make_blockwise
    make_array: Any = dask.array.Array
    layer = make_layer(reader, name, axes, *pairs, numblocks={}, new_axes=new_axes)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[])
    return make_array(graph, name, tuple(chunks), dtype=reader.dtype)


def _cut(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of parts of the same size; the last one may be smaller."""
    return pairwise([*range(0, count, size), count]) if count else iter([(0, 0)])
