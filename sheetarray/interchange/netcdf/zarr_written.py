"""A Zarr folder as a store that zarr fills: after an error nothing more is written to it.

zarr writes chunks at the same time, and raises the first error while others are still on their way. Whoever removes the
folder then would find files in it again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

_TRIES, _PAUSE = 1000, 0.01  # how long to wait for writes that have begun


class WrittenFolder(LocalStore):
    """A folder that zarr fills while `filled` runs."""

    def __init__(self, root: Path | str, *, read_only: bool = False) -> None:
        super().__init__(root, read_only=read_only)
        self._stopped = False
        self._running = 0

    async def set(self, key: str, value: Buffer) -> None:
        """Write a file, unless writing has been stopped."""
        self._running += 1  # before the look, so that whoever stops also waits for this one
        try:
            if not self._stopped:
                await super().set(key, value)
        finally:
            self._running -= 1

    @contextmanager
    def filled(self) -> Iterator[None]:
        """After an error of the block, write nothing more, and wait for the writes that have begun."""
        try:
            yield
        except BaseException:
            self._stopped = True
            for _ in range(_TRIES):
                if not self._running:
                    break
                time.sleep(_PAUSE)
            raise
