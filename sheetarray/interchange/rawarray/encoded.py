"""Data of a RawArray file that do not lie there as in memory: the encodings that programs mark by flag bits 1 and 2.

The specification reserves the bits. Bit 1 is, in Julia's code, integers as LEB128 (signed ones in zigzag), where `size`
counts the bytes before; in C's code all data as one LZ4 block, where `size` counts the bytes of the block. Bits 1 and
2 are Julia's BitArray: bits from the lowest of 64-bit chunks. All of it is read, none of it written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FormatError
from ...file_array import FileBytes

_BLOCK = 2**20  # bytes of LEB128 at a time
_LZ4_TIMES = 255  # a byte of an LZ4 block stands for no more

Flat = np.ndarray[tuple[int], np.dtype[Any]]


def decode_leb128(content: FileBytes, at: int, count: int, dtype: np.dtype[Any]) -> tuple[Flat, int]:
    """Return integers of seven bits a byte, the lowest first, bit 7 set in all bytes but the last.

    Returns:
        The integers, and the byte after the last.

    Raises:
        FormatError: they end early, or one is too large for the dtype.
    """
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
    """Return booleans of one bit each, from the lowest bit of each chunk of 8 bytes.

    Raises:
        FormatError: there are more or fewer chunks than they take.
    """
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
    """Return the content of one LZ4 block (https://github.com/lz4/lz4, "LZ4 Block Format Description").

    Args:
        content: of the file.
        at: the first byte of the block.
        length: of the block, in bytes.
        size: of what it holds, in bytes.

    Raises:
        FormatError: the block holds something else.
    """
    if len(content) - at < length:
        raise FormatError(
            f"the LZ4 block ends at byte {at + length}, but there are only {len(content)}",
            location=f"byte {len(content)}",
        )
    if size > _LZ4_TIMES * length:
        raise FormatError(f"an LZ4 block of {length} bytes cannot hold {size}", location="byte 32")
    block = bytes(content[at : at + length])
    try:
        return _inflate_block(block, size)
    except IndexError as error:
        raise FormatError("the LZ4 block breaks off within a sequence", location=f"byte {at + length}") from error
    except ValueError as error:
        reason, position = error.args
        raise FormatError(f"damaged LZ4 block: {reason}", location=f"byte {at + position}") from error


def _inflate_block(block: bytes, size: int) -> bytearray:
    """Follow the sequences of a block: literals, then a copy of what was written before.

    Raises:
        IndexError: the block ends within a sequence.
        ValueError: (reason, byte) where it cannot be.
    """
    out = bytearray()
    position, end = 0, len(block)
    while position < end:
        start = position
        token = block[position]
        count, position = _length(block, position + 1, token >> 4)
        if position + count > end:
            raise ValueError("literals beyond its end", start)
        out += block[position : position + count]
        position += count
        if position == end or len(out) > size:
            break
        back = block[position] | block[position + 1] << 8
        count, position = _length(block, position + 2, token & 15)
        count += 4
        if not 0 < back <= len(out):
            raise ValueError(f"a copy from {back} bytes back, after {len(out)}", start)
        if len(out) + count > size:
            raise ValueError(f"more than the {size} bytes of the array", start)
        begin = len(out) - back
        out += out[begin : begin + count] if count <= back else (out[begin:] * (count // back + 1))[:count]
    if len(out) != size:
        raise ValueError(f"{len(out)} bytes, where the array has {size}", max(0, position - 1))
    return out


def _length(block: bytes, position: int, count: int) -> tuple[int, int]:
    """Return a length, of which 15 means that bytes follow, the last of them below 255; and where they end."""
    if count == 15:
        while True:
            more = block[position]
            position += 1
            count += more
            if more < 255:
                break
    return count, position
