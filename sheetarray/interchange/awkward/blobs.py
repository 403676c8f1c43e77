"""Blobs: the named buffers that a schema reads, compressed or not; of each only as much is read as is asked for.

A compressed blob is inflated only when its length is known: to that length, and an error where it is another. The
decompressors that awkward0 allows are zlib, lzma, backports.lzma (the same format) and lz4.block, each of which takes
one argument; compression within compression is refused, as a few bytes of it could keep any reader busy.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import FormatError, NotFoundError
from ...files import fast_zlib
from .limits import MemoryBudget
from .packages import lz4_module

_DRIVE = re.compile(r"[A-Za-z]:/")
_LZMA_MEMORY = 2**27  # bytes for its dictionary
_STEP = 2**20  # bytes
_LZ4_SIZE = 4  # bytes before the data, which say how long it gets


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A buffer as it was stored.

    Attributes:
        name: in the container.
        content: its bytes; or an array, where the container keeps dtype and shape.
        packed: the name of its compression, such as "zlib"; None if it is not compressed.
    """

    name: str
    content: bytes | bytearray | memoryview | np.ndarray[Any, Any]
    packed: str | None = None

    def with_packing(self, packed: str) -> StoredBlob:
        """Return the same, to be inflated.

        Raises:
            FormatError: it already is.
        """
        if self.packed is not None:
            raise FormatError(f"the blob {self.name!r:.80} is compressed twice, which is not read")
        return replace(self, packed=packed)

    def inflate(self, size: int | None, budget: MemoryBudget) -> memoryview:
        """Return its bytes.

        Args:
            size: the number of bytes that there have to be; None for any number.
            budget: from which memory is taken if the blob is inflated.

        Raises:
            FormatError: there are more or fewer.
            MissingDependencyError: it is compressed by LZ4, which is not installed.
        """
        if isinstance(self.content, np.ndarray):
            stored = np.ascontiguousarray(self.content).reshape(-1).view(np.uint8).data
        else:
            stored = memoryview(self.content).cast("B")
        if self.packed is None:
            self._check(len(stored), size)
            return stored
        if size is not None:
            budget.take(size, f"the blob {self.name!r:.80}")
            content = _INFLATE[self.packed](self, stored, size)
            self._check(len(content), size)
        else:
            content = _INFLATE[self.packed](self, stored, budget.limit_uncounted(len(stored)))
            budget.take(len(content), f"the blob {self.name!r:.80}")
        return memoryview(content)

    def _check(self, size_inflated: int, size: int | None) -> None:
        if size is not None and size_inflated != size:
            raise FormatError(
                f"the blob {self.name!r:.80} has {size_inflated} bytes; its count and dtype need {size}",
                hint="awkward0 wrote records with padding between their fields wrongly"
                if size_inflated > size
                else None,
            )

    def damage_error(self, error: object) -> FormatError:
        """Return the error to raise for a blob that cannot be inflated."""
        return FormatError(f"the blob {self.name!r:.80} is damaged {self.packed} data ({error})")


def read_blob(storage: Mapping[str, Any], name: str, budget: MemoryBudget) -> StoredBlob:
    """Return the blob of a name.

    Args:
        storage: the container.
        name: in it.
        budget: which grows with it.

    Raises:
        FormatError: there is none, a name that leads out of a container, or content that is no bytes and no array.
    """
    check_name(name)
    try:
        content = storage[name]
    except (KeyError, NotFoundError) as error:
        raise FormatError(f"there is no blob named {name!r:.200}") from error
    if isinstance(content, np.ma.MaskedArray) or not isinstance(content, (bytes, bytearray, memoryview, np.ndarray)):
        raise FormatError(f"the blob {name!r:.80} is a {type(content).__name__}, neither bytes nor an array")
    if isinstance(content, np.ndarray) and content.dtype.hasobject and content.dtype.kind != "T":
        raise FormatError(f"the blob {name!r:.80} is an array of Python objects")
    budget.note_stored(name, content.nbytes if isinstance(content, np.ndarray) else len(memoryview(content).cast("B")))
    return StoredBlob(name, content)


def check_name(name: str) -> None:
    """Refuse a name that could lead out of a container: absolute, with `..`, a backslash or a NUL.

    Raises:
        FormatError: it is one.
    """
    steps = name.split("/")
    if name.startswith("/") or ".." in steps or "\\" in name or "\0" in name or _DRIVE.match(name):
        raise FormatError(f"the blob's name {name!r:.200} leads out of the container")


# Inflating: at most so many bytes, and a FormatError where there are more ------------------------------------------


def _too_long(blob: StoredBlob, most: int) -> FormatError:
    return FormatError(f"the blob {blob.name!r:.80} inflates to more than the {most} bytes that it may have")


def _zlib(blob: StoredBlob, stored: memoryview, most: int) -> bytearray:
    inflater = fast_zlib.decompressor(fast_zlib.ZLIB)
    content = bytearray()
    for start in range(0, len(stored), _STEP):
        piece: bytes | memoryview = stored[start : start + _STEP]
        while not inflater.eof:
            room = min(_STEP, most + 1 - len(content))
            try:
                chunk = inflater.decompress(piece, room)
            except fast_zlib.errors() as error:
                raise blob.damage_error(error) from error
            content += chunk
            if len(content) > most:
                raise _too_long(blob, most)
            piece = inflater.unconsumed_tail
            if not piece and len(chunk) < room:
                break
        if inflater.eof:
            return _check_end(blob, content, len(stored) - start - _STEP > 0 or bool(inflater.unused_data))
    raise blob.damage_error("it is cut off")


def _lzma(blob: StoredBlob, stored: memoryview, most: int) -> bytearray:
    inflater = lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)
    content = bytearray()
    for start in range(0, len(stored), _STEP):
        piece: bytes | memoryview = stored[start : start + _STEP]
        while not inflater.eof:
            try:
                content += inflater.decompress(piece, min(_STEP, most + 1 - len(content)))
            except (lzma.LZMAError, EOFError) as error:
                raise blob.damage_error(error) from error
            if len(content) > most:
                raise _too_long(blob, most)
            if inflater.needs_input:
                break
            piece = b""
        if inflater.eof:
            return _check_end(blob, content, len(stored) - start - _STEP > 0 or bool(inflater.unused_data))
    raise blob.damage_error("it is cut off")


def _check_end(blob: StoredBlob, content: bytearray, more: bool) -> bytearray:
    if more:
        raise blob.damage_error("something follows its end")
    return content


def _lz4(blob: StoredBlob, stored: memoryview, most: int) -> bytes:
    lz4 = lz4_module(blob.name)
    if int.from_bytes(stored[:_LZ4_SIZE], "little") > most:
        raise _too_long(blob, most)
    try:
        content: bytes = lz4.decompress(stored)
    except (lz4.LZ4BlockError, ValueError, OverflowError) as error:
        raise blob.damage_error(error) from error
    return content


_INFLATE: dict[str, Callable[[StoredBlob, memoryview, int], bytes | bytearray]] = {
    "zlib": _zlib,
    "lzma": _lzma,
    "LZ4": _lz4,
}
