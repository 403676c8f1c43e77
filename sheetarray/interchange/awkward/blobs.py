"""Blobs: the named buffers that a schema reads, inflated and checked.

A file chooses every length in it: each is compared with the limits, in Python's integers, before memory is taken. A
compressed blob is inflated only to the length that its count and dtype need, and an error where it has another. The
decompressors that awkward0 allows are zlib, lzma, backports.lzma (the same format) and lz4.block, each of which takes
one argument; compression within compression is refused, as a few bytes of it could keep any reader busy.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError, NotFoundError
from ...files import fast_zlib
from ..fed_stream import DICTIONARY, FedStream
from ..untrusted import damage_as_format_error, load_package
from .budget import Budget

_DRIVE = re.compile(r"[A-Za-z]:/")
_STEP = 2**20  # bytes
_LZ4_SIZE = 4  # bytes before the data, which say how long it gets


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A buffer as it was stored."""

    name: str  # in the container
    content: bytes | bytearray | memoryview | Array  # an array, where the container keeps dtype and shape
    packed: str | None = None  # the name of its compression, such as "zlib"

    def with_packing(self, packed: str) -> StoredBlob:
        """Return the same, to be inflated."""
        if self.packed is not None:
            raise FormatError(f"the blob {self.name!r:.80} is compressed twice, which cannot be read")
        return replace(self, packed=packed)

    def inflate(self, size: int | None, budget: Budget) -> memoryview:
        """Return the decompressed bytes of the blob. `size`: how many there must be; None for any number."""
        if isinstance(self.content, np.ndarray):
            stored = np.ascontiguousarray(self.content).reshape(-1).view(np.uint8).data
        else:
            stored = memoryview(self.content).cast("B")
        if self.packed is None:
            self._check(len(stored), size)
            return stored
        if size is not None:
            budget.take(size, f"the blob {self.name!r:.80}")
            content = self._inflate(stored, size)
            self._check(len(content), size)
        else:
            content = self._inflate(stored, budget.limit_uncounted(len(stored)))
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

    def _inflate(self, stored: memoryview, most: int) -> bytes | bytearray:
        """Return the inflated bytes, where there are no more than `most`."""
        if self.packed == "LZ4":
            lz4 = load_package("lz4.block", f"the blob {self.name!r:.80} is compressed by LZ4", "lz4")
            if int.from_bytes(stored[:_LZ4_SIZE], "little") > most:
                raise self._too_long(most)
            with damage_as_format_error(f"the blob {self.name!r:.80} is damaged LZ4 data"):
                return bytes(lz4.decompress(stored))
        inflater = lzma.LZMADecompressor(memlimit=DICTIONARY) if self.packed == "lzma" else None
        stream = FedStream(stored, inflater or fast_zlib.decompressor(fast_zlib.ZLIB))
        content = bytearray()
        with damage_as_format_error(f"the blob {self.name!r:.80} is damaged {self.packed} data"):
            while len(content) <= most and (chunk := stream.read(min(_STEP, most + 1 - len(content)))):
                content += chunk
        if len(content) > most:
            raise self._too_long(most)
        if not stream.is_complete:
            reason = "it is cut off, or followed by other bytes"
            raise FormatError(f"the blob {self.name!r:.80} is damaged {self.packed} data ({reason})")
        return content

    def _too_long(self, most: int) -> FormatError:
        return FormatError(f"the blob {self.name!r:.80} inflates to more than the {most} bytes that it may have")


def read_blob(storage: Mapping[str, Any], name: str, budget: Budget) -> StoredBlob:
    """Return the blob of a name."""
    check_member_name(name)
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


def check_member_name(name: str) -> None:
    """Refuse a name that could lead out of a container: absolute, with `..`, a backslash or a NUL."""
    steps = name.split("/")
    if name.startswith("/") or ".." in steps or "\\" in name or "\0" in name or _DRIVE.match(name):
        raise FormatError(f"the blob's name {name!r:.200} leads out of the container")
