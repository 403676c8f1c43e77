"""Maps large arrays from a temporary file while they are read, if a context around the call asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from ...dtypes import Buffer
from ...errors import FormatError
from ...linear.header import Header
from ..pieced_arrays import MOST_BYTES, NotInPiecesError, PiecedArrays
from .plain_arrays import is_mappable

MANY_ELEMENTS = 2**20  # of all arrays; fewer are read into memory
PathLike = str | os.PathLike[str]
_mapping: ContextVar[MappedArrays | None] = ContextVar("_mapping", default=None)


class MappedArrays:
    """The files of arrays that were mapped as they were read; the caller closes them.

    `folder`: for the files; None for the system's temporary folder.
    """

    def __init__(self, folder: PathLike | None = None) -> None:
        self._folder = folder
        self._spools: list[PiecedArrays] = []

    def __enter__(self) -> MappedArrays:
        return self

    def __exit__(self, *error: object) -> None:
        for spool in self._spools:
            spool.__exit__(*error)

    @property
    def exist(self) -> bool:
        """Whether an array was mapped."""
        return bool(self._spools)

    @contextmanager
    def mapping(self) -> Iterator[None]:
        """Map large arrays of numbers that are read in this context, so that memory does not grow with them."""
        token = _mapping.set(self)
        try:
            yield
        finally:
            _mapping.reset(token)

    def release(self) -> None:
        """Release the memory of the elements that were read; they stay in the file."""
        for spool in self._spools:
            spool.release()

    def map(
        self,
        headers: Mapping[str, Header],
        elements: Iterator[tuple[str, Buffer]],
        restore: Callable[[str, Buffer], Buffer] | None,
    ) -> dict[str, Buffer]:
        """Write the pieces of arrays to one file, and return the elements of each array mapped from it.

        `elements`: yields names of arrays, each with its next elements. `restore`: returns the elements of one array
        with the bits that they were written with.

        Raises:
            FormatError: as the elements come.
            NotInPiecesError: as the elements come.
        """
        sizes = {name: (header.dtype.numpy, header.capacity) for name, header in headers.items()}
        try:
            spool = PiecedArrays(sizes, self._folder)
        except OSError:  # the folder takes no files, as `/dev` does not
            spool = PiecedArrays(sizes)
        try:
            for name, piece in elements:
                spool.append(name, piece)
            buffers = spool.join()
            for name, buffer in buffers.items():
                if restore is not None and (restored := restore(name, buffer)) is not buffer:
                    spool.replace(name, restored)
                spool.release()
        except BaseException:
            spool.__exit__()
            raise
        self._spools.append(spool)
        spool.release()
        return buffers


def are_mapped(bytes_of_text: int | None = None) -> bool:
    """Return whether a context around the call asks for large arrays to be mapped, and a text may hold any."""
    is_large = bytes_of_text is None or bytes_of_text >= 2 * MANY_ELEMENTS  # an item and a comma take two
    return is_large and _mapping.get() is not None


def map_large(
    headers: Mapping[str, Header],
    iterate: Callable[[Collection[str]], Iterator[tuple[str, Buffer]]],
    restore: Callable[[str, Buffer], Buffer] | None = None,
) -> dict[str, Buffer]:
    """Return the elements of large arrays of numbers by name, mapped from a file; none to read all arrays as usual.

    That is so if no context asks for it, if the arrays are small, or if a cell, or the number of cells, is wrong.

    `headers`: of all arrays that are read. `iterate`: yields names of arrays, of those that it is given, each with its
    next elements. `restore`: as for `MappedArrays.map`.
    """
    if (mapped := _mapping.get()) is None:
        return {}
    plain = {name: header for name, header in headers.items() if is_mappable(header)}
    size = sum(header.dtype.numpy.itemsize * header.capacity for header in plain.values())
    if sum(header.capacity for header in plain.values()) < MANY_ELEMENTS or size > MOST_BYTES:
        return {}
    try:
        return mapped.map(plain, iterate(plain), restore)
    except (NotInPiecesError, FormatError):  # reading all at once says what is wrong
        return {}
