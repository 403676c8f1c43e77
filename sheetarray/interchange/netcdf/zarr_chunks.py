"""The chunks of a Zarr array: how far each inflates is found out before a codec takes memory for it.

A chunk holds no more than its elements. Of Zstandard, LZ4 and Blosc a header says the size; what other codecs make is
counted, block by block. One codec of an array may compress, and nothing but CRC-32C may follow it.
"""

from __future__ import annotations

import bz2
import lzma
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FormatError
from ...files.fast_zlib import load_zstandard

_COUNTED: dict[str, Callable[[], Any]] = {
    "zlib": zlib.decompressobj,
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "lzma": lzma.LZMADecompressor,
}
_COMPRESSING = {*_COUNTED, "zstd", "lz4", "blosc"}
_SPARE = 2**16  # bytes that a codec may add
_BLOCK = 2**20
_DEFLATE_TIMES = 1032  # a byte of deflated data stands for no more
_ABSENT = 2**64 - 1  # in the index of a shard: there is no such chunk
_CHECKSUM = 4  # bytes of CRC-32C


@dataclass(frozen=True, slots=True)
class ChunkCheck:
    """What a chunk, or each chunk in a shard, must be like.

    Attributes:
        codec: the one that compresses; None for none.
        most: the bytes to which a chunk may inflate.
        checksum: the bytes after it.
        shard: the number of chunks in a shard, and whether its index stands at the end; None for no shards.
    """

    codec: str | None
    most: int
    checksum: int = 0
    shard: tuple[int, bool] | None = None

    def check(self, content: bytes) -> None:
        """Refuse a chunk, or a shard, that inflates to more than its elements, or ends before its header says."""
        if self.shard is None:
            self._check_one(memoryview(content)[: len(content) - self.checksum])
            return
        count, at_end = self.shard
        size = 16 * count + _CHECKSUM
        if len(content) < size:
            raise FormatError("a shard that is cut short")
        index = np.frombuffer(content, "<u8", 2 * count, len(content) - size if at_end else 0).reshape(-1, 2)
        for start, length in index.tolist():
            if (start, length) == (_ABSENT, _ABSENT):
                continue
            if start + length > len(content):
                raise FormatError("a shard whose index points beyond its end")
            self._check_one(memoryview(content)[start : start + length - min(self.checksum, length)])

    def _check_one(self, chunk: memoryview) -> None:
        if self.codec in _COUNTED:
            times = _DEFLATE_TIMES if self.codec in ("zlib", "gzip") else math.inf
            size = _count_inflated(_COUNTED[self.codec](), chunk, self.most) if len(chunk) * times > self.most else 0
        elif self.codec == "zstd":
            size = _read_zstandard(chunk, self.most)
        elif self.codec == "lz4":
            size = int.from_bytes(chunk[:4], "little", signed=True)
        elif self.codec == "blosc":
            size = int.from_bytes(chunk[4:8], "little")
            if len(chunk) < 16 or int.from_bytes(chunk[12:16], "little") != len(chunk):  # it would read beyond the end
                raise FormatError("a chunk that is cut short, or damaged")
        else:
            return
        if not 0 <= size <= self.most:
            raise FormatError(f"a chunk inflates to more than its elements, which take {self.most:,} bytes at most")


def _count_inflated(decompressor: Any, chunk: memoryview, most: int) -> int:
    """Return the bytes to which a chunk inflates, or a number beyond `most`; damage is left to the codec."""
    size, piece = 0, bytes(chunk)
    try:
        while not decompressor.eof and size <= most:
            block = decompressor.decompress(piece, _BLOCK)
            size += len(block)
            piece = getattr(decompressor, "unconsumed_tail", b"")
            if not block and not piece:
                break
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
        return size
    return size


def _read_zstandard(chunk: memoryview, most: int) -> int:
    """Return the bytes to which a frame of Zstandard inflates: by its header, else by counting."""
    if bytes(chunk[:4]) != b"\x28\xb5\x2f\xfd" or len(chunk) < 6:
        return 0  # which the codec refuses
    flags = chunk[4]
    single, code = flags >> 5 & 1, flags >> 6
    width = (1 if single else 0, 2, 4, 8)[code]
    start = 5 + (0 if single else 1) + (0, 1, 2, 4)[flags & 3]
    if width:
        return int.from_bytes(chunk[start : start + width], "little") + (256 if width == 2 else 0)
    zstandard, size = load_zstandard(), 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(bytes(chunk)) as stream:
            while size <= most and (block := stream.read(_BLOCK)):
                size += len(block)
    except zstandard.ZstdError:
        return size  # which the codec refuses
    return size


def make_check(tree: Mapping[str, Any], room: int, path: str) -> ChunkCheck:
    """Return the check of the chunks of an array.

    `tree`: its metadata, whose codecs are known to be allowed. `room`: bytes that no chunk may exceed.

    Raises:
        FormatError: its codecs make chunks that cannot be checked.
    """
    if "codecs" in tree:
        grid = tree.get("chunk_grid")
        shape = _item(_item(grid, "configuration"), "chunk_shape")
        codecs, dtype = _named(tree["codecs"]), tree.get("data_type")
    else:
        shape, dtype = tree.get("chunks"), tree.get("dtype")
        codecs = [*_named(tree.get("filters")), *_named(tree.get("compressor"))]
    shard = None
    if "sharding_indexed" in [name for name, _ in codecs]:
        if len(codecs) > 1:
            raise FormatError("codecs around shards are not read", location=path)
        settings, outer = codecs[0][1], shape
        index = [name for name, _ in _named(settings.get("index_codecs"))]
        shape, codecs = settings.get("chunk_shape"), _named(settings.get("codecs"))
        if index != ["bytes", "crc32c"] or "sharding_indexed" in [name for name, _ in codecs]:
            raise FormatError("shards within shards, or with an index in another form, are not read", location=path)
        shard = (_count(outer) // max(1, _count(shape)), settings.get("index_location", "end") == "end")
    names = [name for name, _ in codecs]
    checksum = _CHECKSUM if names[-1:] == ["crc32c"] and "codecs" in tree else 0
    names = names[:-1] if checksum else names
    compressing = [name for name in names if name in _COMPRESSING]
    if len(compressing) > 1 or (compressing and names[-1] != compressing[0]):
        raise FormatError(f"the codecs {', '.join(names):.200} one after the other are not read", location=path)
    try:
        itemsize = np.dtype(dtype).itemsize if isinstance(dtype, str) and np.dtype(dtype).kind != "O" else 0
    except TypeError:
        itemsize = 0
    own = 2 * _count(shape) * max(itemsize, 8) + _SPARE if itemsize else room
    return ChunkCheck(compressing[0] if compressing else None, min(own, room), checksum, shard)


def _item(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, dict) else None


def _count(shape: Any) -> int:
    """Return the number of elements of a chunk; 0 where the metadata do not say it, which zarr refuses."""
    is_shape = isinstance(shape, list) and all(isinstance(size, int) and size >= 0 for size in shape)
    return math.prod(shape) if is_shape else 0


def _named(codecs: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the names of codecs, without the package's name, and their settings."""
    listed: Sequence[Any] = codecs if isinstance(codecs, list) else [codecs]
    named = []
    for codec in listed:
        if isinstance(codec, dict):
            settings = codec.get("configuration", codec)
            named.append((str(codec.get("name", codec.get("id"))), settings if isinstance(settings, dict) else {}))
        elif isinstance(codec, str):
            named.append((codec, {}))
    return [(name.removeprefix("numcodecs."), settings) for name, settings in named]
