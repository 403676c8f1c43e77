"""The record of a fingerprint: a small JSON object with sums in base64, which is read as untrusted input.

    {"v": 3, "dtype": "float64", "count": 1000, "blocks": 64, "exact": .., "fifteen": ..,
     "sixteen": .., "error": 4.5e-15, "longer": 990, "scale": .., "header": .., "even": .., "twice": .., "moments": ..}

`exact` is a checksum of 8 bytes; `fifteen` and `sixteen` are two sums of 6 bytes for each group of a `Partition`, of
the elements at that many digits; `scale` is for real numbers only, `sixteen`, `error` and `longer` for float64. `even`
and `twice` are like `fifteen`, for other ways to 15 digits, and stand in the finest records only; `moments` are four
doubles, of float64 only. Version 2 had none of `even`, `twice` and `moments`; older records of version 3 have
`decimals`, and moments of other numbers, which nobody reads. All numbers are little-endian.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

import numpy as np

from ....header import Header
from .moments import EQUATIONS, Moments
from .sums import MOST_BLOCKS, WIDTH, Pair, Partition

_VERSION = 3
_VERSIONS = (2, 3)
MOST_ELEMENTS = 1 << 44
MOST_ERROR = 1e-13  # of a record, relative
_BUDGET = 2**16  # characters for all arrays of a workbook
_FINEST = 10_900  # characters of the longest record
_PLAIN, _PER_BLOCK = 310, 60  # characters of the shortest record, and of each block: 3 groups, and a quarter of that
_SIZE = WIDTH // 8


def max_blocks(arrays: int) -> int:
    """Return the number of blocks of each fingerprint, about as many as its stretches, by the number of arrays.

    All records of a workbook together take about 65,000 characters at most. Up to 6 arrays have the finest records, of
    64 blocks; beyond 200 arrays all have the shortest, of 0 blocks and 100 to 300 characters. Those still tell whether
    an array is unchanged, and which element was edited if it was a single one.

    Example:
        >>> [max_blocks(arrays) for arrays in (1, 6, 7, 40, 100, 1000)]
        [64, 64, 63, 22, 5, 0]
    """
    if arrays * _FINEST <= _BUDGET:
        return MOST_BLOCKS
    return max(0, min(MOST_BLOCKS - 1, (_BUDGET // max(arrays, 1) - _PLAIN) // _PER_BLOCK))


def partitions_for(count: int, blocks: int) -> tuple[Partition, Partition]:
    """Return the partitions used for the sums at 15 digits and at 16 digits."""
    return Partition(count, blocks), Partition(count, blocks // 4)


@dataclass(slots=True)  # nobody changes one; a frozen one takes three times as long to make
class Fingerprint:
    """A few numbers that tell what has happened to an array since it was written, without the array itself.

    Attributes:
        dtype: the name of the dtype.
        count: the number of elements.
        blocks: the number of stretches, about; see `sums.Partition`.
        exact: the checksum of the elements.
        fifteen: the sums of the elements at 15 digits.
        sixteen: the sums of the elements at 16 digits.
        error: the largest relative error of rounding an element to 15 digits.
        longer: the number of elements that certainly have more than 15 digits.
        scale: the sums of digits and of exponents, times weights (`codes.ScaleSums`).
        header: the checksum of shape, strides, offset and order.
        even: the sums of the elements as `%.15g` rounds them.
        twice: the sums of the elements rounded to 16 digits, then to 15.
        moments: the four sums of the module `moments`.
    """

    dtype: str
    count: int
    blocks: int
    exact: int
    fifteen: Pair
    sixteen: Pair | None = None
    error: float | None = None
    longer: int = 0
    scale: tuple[int, int] | None = None
    header: str | None = None
    even: Pair | None = None
    twice: Pair | None = None
    moments: Moments | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as a JSON object of ASCII text."""
        record: dict[str, Any] = {"v": _VERSION, "dtype": self.dtype, "count": self.count, "blocks": self.blocks}
        record |= {"exact": _encode_numbers(self.exact), "fifteen": _encode_pair(self.fifteen)}
        if self.sixteen is not None:
            record |= {"sixteen": _encode_pair(self.sixteen)}
        if self.error is not None:
            record |= {"error": self.error, "longer": self.longer}
        if self.scale is not None:
            record["scale"] = _encode_numbers(*self.scale)
        if self.header is not None:
            record["header"] = self.header
        if self.even is not None and self.twice is not None:
            record |= {"even": _encode_pair(self.even), "twice": _encode_pair(self.twice)}
        if self.moments is not None:
            record["moments"] = _to_base64(self.moments.astype("<f8").tobytes())
        return record

    def fits(self, header: Header) -> bool:
        """Return whether a header has the dtype and the layout that the array was written with."""
        return self.dtype == header.dtype.name and self.header in (None, header_checksum(header))

    @classmethod
    def from_json(cls, stored: object) -> Fingerprint | None:
        """Return the fingerprint in a JSON object; a `Fingerprint` unchanged; None for any other object."""
        if isinstance(stored, Fingerprint):
            return stored
        if not isinstance(stored, Mapping) or stored.get("v") not in _VERSIONS:
            return None
        dtype, count, blocks = stored.get("dtype"), stored.get("count"), stored.get("blocks")
        if not isinstance(dtype, str) or not is_size(count, MOST_ELEMENTS) or not is_size(blocks, MOST_BLOCKS):
            return None
        fine, coarse = partitions_for(count, blocks)
        exact, fifteen = _decode_numbers(stored.get("exact"), 1), _decode_pair(stored.get("fifteen"), fine)
        error, longer, header = stored.get("error"), stored.get("longer", 0), stored.get("header")
        if exact is None or fifteen is None or not is_size(longer, MOST_ELEMENTS):
            return None
        scale = _decode_numbers(stored.get("scale"), 2)
        return cls(
            dtype,
            count,
            blocks,
            exact[0],
            fifteen,
            _decode_pair(stored.get("sixteen"), coarse),
            error if isinstance(error, float) and 0 <= error < MOST_ERROR else None,
            longer,
            (scale[0], scale[1]) if scale else None,
            header if isinstance(header, str) else None,
            _decode_pair(stored.get("even"), fine),
            _decode_pair(stored.get("twice"), fine),
            _decode_moments(stored.get("moments")),
        )


def header_checksum(header: Header) -> str:
    """Return a checksum of what a header says of the layout: shape, strides, offset, order."""
    return _layout_checksum(header.shape, header.strides, header.offset, header.order)


@lru_cache(maxsize=1024)  # very many arrays have few shapes
def _layout_checksum(*layout: object) -> str:
    return _to_base64(hashlib.blake2b(repr(layout).encode(), digest_size=6).digest())


def is_size(value: object, most: int) -> TypeGuard[int]:
    """Return whether a value is an integer from 0 to `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _encode_pair(pair: Pair) -> str:
    return _to_base64(np.concatenate(pair).astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)[:, :_SIZE].tobytes())


def _decode_pair(text: object, partition: Partition) -> Pair | None:
    packed = _from_base64(text, 2 * partition.groups * _SIZE)
    if packed is None:
        return None
    wide = np.zeros((2 * partition.groups, 8), np.uint8)
    wide[:, :_SIZE] = np.frombuffer(packed, np.uint8).reshape(-1, _SIZE)
    first, second = wide.view("<u8").astype(np.uint64).reshape(2, -1)
    return first, second


def _encode_numbers(*numbers: int) -> str:
    return _to_base64(b"".join([(number & (2**64 - 1)).to_bytes(8, "little") for number in numbers]))


def _decode_numbers(text: object, count: int) -> list[int] | None:
    numbers = _from_base64(text, 8 * count)
    return None if numbers is None else [int.from_bytes(numbers[8 * k : 8 * k + 8], "little") for k in range(count)]


def _decode_moments(text: object) -> Moments | None:
    packed = _from_base64(text, 8 * EQUATIONS)
    numbers = None if packed is None else np.frombuffer(packed, "<f8").astype(np.float64)
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _to_base64(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode("ascii").rstrip("=")


def _from_base64(text: object, size: int) -> bytes | None:
    """Return the `size` bytes that a text stands for; None if it is no base64 of exactly so many."""
    if not isinstance(text, str) or len(text) != -(-size * 4 // 3) or not text.isascii():
        return None
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return None
    return content if len(content) == size else None
