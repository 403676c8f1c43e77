"""Deflate with isal, or with Python's zlib where it is not installed; and Zstandard.

Both make and read the same formats. `RAW` is a stream without a header, as zip archives and Avro hold it;
`ZLIB` is one with zlib's header and checksum.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ..errors import MissingDependencyError

RAW = -15
RAW_NEAR = -12  # repetitions are sought in the 4 KiB before: rows of numbers take a third less time, and less room
ZLIB = 15
_LEVEL = 1


def compressor(wbits: int) -> Any:
    """Make a compressor that prefers speed to size: `isal` takes a tenth of the time of zlib's own level."""
    return _library().compressobj(_LEVEL, wbits=wbits)


def decompressor(wbits: int) -> Any:
    """Make a decompressor with the methods and attributes of `zlib.decompressobj`; it raises one of `errors()`."""
    return _library().decompressobj(wbits)


def crc32() -> Callable[[Any, int], int]:
    """Return the library's CRC-32."""
    function: Callable[[Any, int], int] = _library().crc32
    return function


def errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that a decompressor raises for damaged data."""
    return (_library().error, zlib.error)


def compress(content: Any, wbits: int = ZLIB) -> bytes:
    """Compress bytes at once; to a zlib stream, which `zlib.decompress` reads, unless it is to be a raw one.

    Example:
        >>> zlib.decompress(compress(b"abc" * 100)) == b"abc" * 100
        True
    """
    maker = compressor(wbits)
    packed: bytes = maker.compress(content) + maker.flush()
    return packed


@cache
def _library() -> ModuleType:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def load_zstandard() -> Any:
    """Return the package zstandard.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        return import_module("zstandard")
    except ImportError as error:
        hint = 'pip install "sheetarray[zstd]"'
        raise MissingDependencyError(f"Zstandard needs the package zstandard: {hint}", name="zstandard") from error
