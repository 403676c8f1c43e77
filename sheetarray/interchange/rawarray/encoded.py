"""Data that do not lie in the file as in memory: LEB128, bits, LZ4.

The specification reserves flag bits 1 and 2. Bit 1 is, in Julia's code, integers as LEB128 (signed ones in zigzag),
where `size` counts the bytes before; in C's code all data as one LZ4 block, where `size` counts the bytes of the block.
Bits 1 and 2 are Julia's BitArray: bits from the lowest of 64-bit chunks. All of this is read (LZ4 by the package lz4),
none of it is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FormatError
from ..file_array import FileBytes
from ..untrusted import damage_as_format_error, load_package

_BLOCK = 2**20  # bytes of LEB128 at a time
_LZ4_TIMES = 255  # a byte of an LZ4 block stands for no more

Flat = np.ndarray[tuple[int], np.dtype[Any]]


def decode_leb128(content: FileBytes, at: int, count: int, dtype: np.dtype[Any]) -> tuple[Flat, int]:
    """Return integers of seven bits a byte, the lowest first, bit 7 set in all bytes but the last."""
    if count > len(content) - at:
        raise FormatError(f"{count} integers in LEB128 take more than {len(content) - at} bytes", location=f"byte {at}")
    numbers = np.empty(count, dtype)
    done = 0
    while done < count:
        block = np.frombuffer(content, np.uint8, min(_BLOCK, len(content) - at), at)
        lasts = np.flatnonzero(block < 0x80)[: count - done]
        if not len(lasts):
            raise FormatError("an integer in LEB128 that does not end", location=f"byte {at}")
        numbers[done : done + len(lasts)] = _integers(block, lasts, dtype, at)
        at += int(lasts[-1]) + 1
        done += len(lasts)
    return numbers, at


def _integers(block: Flat, lasts: Flat, dtype: np.dtype[Any], at: int) -> Flat:
    firsts = np.concatenate(([0], lasts[:-1] + 1))
    lengths = lasts - firsts
    bits = 8 * dtype.itemsize
    most = (bits - 1) // 7  # bytes before the last
    values = np.zeros(len(lasts), np.uint64)
    for position in range(min(int(lengths.max()), most) + 1):
        longer = np.flatnonzero(lengths >= position)
        values[longer] |= (block[firsts[longer] + position] & np.uint64(0x7F)) << np.uint64(7 * position)
    final = (lengths == most) & (block[lasts] >> (bits - 7 * most) != 0)
    if (wrong := (lengths > most) | final).any():
        first = int(firsts[np.argmax(wrong)])
        raise FormatError(f"an integer in LEB128 that is too large for {dtype}", location=f"byte {at + first}")
    if dtype.kind == "u":
        return values.astype(dtype)
    return ((values >> np.uint64(1)) ^ (np.uint64(0) - (values & np.uint64(1)))).view(np.int64).astype(dtype)


def decode_bits(content: FileBytes, at: int, count: int, size: int, *, big_endian: bool) -> Flat:
    """Return booleans of one bit each, from the lowest bit of each chunk of 8 bytes."""
    chunks = -(-count // 64)
    if size != 8 * chunks:
        raise FormatError(f"the size is {size}, but {count} bits take {8 * chunks} bytes", location="byte 32")
    if len(content) - at < size:
        raise FormatError(
            f"the data end at byte {at + size}, but there are only {len(content)}", location=f"byte {len(content)}"
        )
    words = np.frombuffer(content, ">u8" if big_endian else "<u8", chunks, at) if chunks else np.empty(0, "<u8")
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=count, bitorder="little").view(np.bool_)


def decode_lz4(content: FileBytes, at: int, length: int, size: int) -> bytearray:
    """Return the content of one LZ4 block."""
    if len(content) - at < length:
        raise FormatError(
            f"the LZ4 block ends at byte {at + length}, but there are only {len(content)}",
            location=f"byte {len(content)}",
        )
    if size > _LZ4_TIMES * length:
        raise FormatError(f"an LZ4 block of {length} bytes cannot hold {size}", location="byte 32")
    lz4 = load_package("lz4.block", "LZ4 blocks of RawArray files are read by lz4", "lz4")
    with damage_as_format_error("damaged LZ4 block", f"byte {at}"):
        out: bytearray = lz4.decompress(content[at : at + length], uncompressed_size=size, return_bytearray=True)
    if len(out) != size:
        raise FormatError(f"damaged LZ4 block: {len(out)} bytes, where the array has {size}", location=f"byte {at}")
    return out
