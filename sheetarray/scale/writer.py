"""open_writer: arrays that are larger than memory, written block by block; the target appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from .. import api
from ..errors import escape_controls
from ..formats import locate_place
from .spool import Spool


def open_writer(
    target: api.SourceOrTarget,
    *,
    append_axis: int = 0,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> ArrayWriter:
    """Return a context manager that takes arrays block by block, by `append` or `extend`, and then writes the target.

    Blocks wait in temporary files beside the target. If you join blocks along the first or last axis, memory does not
    grow with the arrays. Python objects and text of very different lengths stay in memory.

    The target is written whole when the `with` block ends, with labels and checksums. If the block raises an error,
    or the process is killed, the old target stays and nothing else is left.

    Args:
        target: a path, a URL, or an open file (then with `format`).
        append_axis: the axis along which blocks are joined; negative numbers count from the last axis.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL.
        **options: options of the format, as for `write`.

    Raises:
        NotFoundError: the format does not exist.
        TypeError: the format does not have one of the options.
        FileNotFoundError: the folder does not exist.
        IsADirectoryError: the target is a folder.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> with open_writer(file, format="csv") as writer:
        ...     writer.append({"t": np.array([[0, 0]])})
        ...     writer.extend({"t": np.full((1, 2), day)} for day in (1, 2))
        >>> from sheetarray import read
        >>> read(io.StringIO(file.getvalue()), format="csv")["t"].tolist()
        [[0, 0], [1, 1], [2, 2]]
    """
    target = locate_place(target, storage_options, format, options.get("client"))
    api.check_writable(target, format, options)
    return ArrayWriter(target, append_axis, format, options)


class ArrayWriter:
    """A writer of arrays, block by block, as `open_writer` returns it."""

    def __init__(self, target: api.SourceOrTarget, append_axis: int, format: str | None, options: Any) -> None:
        self._target, self._format, self._options = target, format, options
        self._spool = Spool(append_axis, api.folder_beside(target))
        self._closed = False
        self._url: str | None = None

    def __repr__(self) -> str:
        target = (
            self._target if isinstance(self._target, (str, os.PathLike)) else getattr(self._target, "name", "a file")
        )
        return escape_controls(f"<writer of {target}{', closed' if self._closed else ''}>")

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closed:
            return
        self._closed = True
        with self._spool:
            if error is None:
                self._url = api.write_releasing(
                    self._target, self._spool.join(), self._spool.release, self._format, self._options
                )

    def append(self, blocks: Any) -> None:
        """Add a block to each of some arrays.

        Args:
            blocks: arrays by name, as `write` takes them, or a Dataset of xarray. Arrays may be given in turns, and
                each have a length of their own; their other dimensions and their dtype are those of the first block.

        Raises:
            DTypeError: an array has another dtype than in the first block.
            ValueError: it has another shape beside the axis; nothing of the blocks is kept then.
            ValueError: the writer is closed.
        """
        if self._closed:
            raise ValueError("the writer is closed")
        self._spool.append(blocks)

    def extend(self, blocks: Iterable[Any]) -> None:
        """Add blocks one after the other, from an iterable such as a generator; each as `append` takes it.

        Raises:
            TypeError: this is no iterable of blocks.
        """
        if isinstance(blocks, (Mapping, np.ndarray, str, bytes)) or not isinstance(blocks, Iterable):
            raise TypeError(f"extend takes an iterable of blocks, such as a generator, not {type(blocks).__name__}")
        for block in blocks:
            self.append(block)

    def close(self) -> str | None:
        """Write the target, as the end of `with` does, and return the URL of a sheet in Google Sheets."""
        self.__exit__(None, None, None)
        return self._url
