"""How a fingerprint is stored, and read though anybody may have made it: a small JSON object, whose sums are base64.

    {"v": 3, "dtype": "float64", "count": 1000, "blocks": 64, "exact": .., "fifteen": ..,
     "sixteen": .., "error": 4.5e-15, "longer": 990, "scale": .., "header": .., "even": .., "twice": .., "moments": ..,
     "decimals": 15}

`exact` is a checksum of 8 bytes; `fifteen` and `sixteen` are two sums of 6 bytes for each cell of a `Layout`, of the
elements at that many digits; `scale` is for real numbers only, `sixteen`, `error` and `longer` for float64. `even` and
`twice` are like `fifteen`, for other ways to 15 digits, and are there in the finest records only; `moments` are four
doubles. Version 2 had neither those nor `moments`. All numbers are little-endian.

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
from .moments import EQUATIONS, MANY, Moments
from .sums import MOST_BLOCKS, WIDTH, Pair, Partition

_VERSION = 3
_VERSIONS = (2, 3)
MOST_ELEMENTS = 1 << 44
MOST_ERROR = 1e-13  # of a record, relative
_BUDGET = 2**16  # characters for all arrays of a workbook
_FINEST = 10_900  # characters of the longest record
_PLAIN, _PER_BLOCK = 310, 60  # characters of the shortest record, and what a block adds: 3 cells, and a quarter of that
_SIZE = WIDTH // 8


def max_blocks(arrays: int) -> int:
    """Return the number of blocks for a fingerprint, by the number of arrays in the workbook; 0 for the shortest.

    All records together take about 65,000 characters, which up to 6 arrays do not need; beyond 200 arrays they are as
    short as can be, 100 to 300 characters each. Those still tell whether an array is unchanged, and name the element if
    a single one was edited.

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
        dtype: name of it.
        count: of elements.
        blocks: how fine it is.
        exact: checksum of the elements.
        fifteen: sums of the elements at 15 digits.
        sixteen: sums of the elements at 16 digits.
        error: the largest relative error that rounding to 15 digits makes.
        longer: how many numbers certainly have more than 15 digits.
        scale: sums of digits and of exponents, times weights.
        header: checksum of shape, strides, offset and order.
        even: sums of the elements as `%.15g` rounds them.
        twice: sums of the elements rounded to 16 digits, then to 15.
        moments: see `moments`.
        decimals: with how many all numbers can be written; of floats only.
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
    decimals: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as a JSON object of ASCII text."""
        record: dict[str, Any] = {"v": _VERSION, "dtype": self.dtype, "count": self.count, "blocks": self.blocks}
        record |= {"exact": _packed_dtype(self.exact), "fifteen": _encode_pair(self.fifteen)}
        if self.sixteen is not None:
            record |= {"sixteen": _encode_pair(self.sixteen)}
        if self.error is not None:
            record |= {"error": self.error, "longer": self.longer}
        if self.scale is not None:
            record["scale"] = _packed_dtype(*self.scale)
        if self.header is not None:
            record["header"] = self.header
        if self.even is not None and self.twice is not None:
            record |= {"even": _encode_pair(self.even), "twice": _encode_pair(self.twice)}
        if self.moments is not None:
            record["moments"] = _to_base64(self.moments.astype("<f8").tobytes())
        if self.decimals is not None:
            record["decimals"] = self.decimals
        return record

    def fits(self, header: Header) -> bool:
        """Return whether a header has the dtype and the layout that the array was written with."""
        return self.dtype == header.dtype.name and self.header in (None, header_checksum(header))

    @classmethod
    def from_json(cls, stored: object) -> Fingerprint | None:
        """Return the fingerprint that a JSON object is, or a fingerprint as it is; None for any other object."""
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
            _doubles(stored.get("moments")),
            decimals if is_size(decimals := stored.get("decimals"), MANY) else None,
        )


def header_checksum(header: Header) -> str:
    """Return a checksum of what a header says of the layout: shape, strides, offset, order."""
    return _layout_checksum(header.shape, header.strides, header.offset, header.order)


@lru_cache(maxsize=1024)  # very many arrays have few shapes
def _layout_checksum(*layout: object) -> str:
    said = repr(layout)
    return _to_base64(hashlib.blake2b(said.encode(), digest_size=6).digest())


def is_size(value: object, most: int) -> TypeGuard[int]:
    """Return whether a value is an integer from 0 to `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _encode_pair(pair: Pair) -> str:
    return _to_base64(np.concatenate(pair).astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)[:, :_SIZE].tobytes())


def _decode_pair(text: object, layout: Partition) -> Pair | None:
    packed = _from_base64(text, 2 * layout.cells * _SIZE)
    if packed is None:
        return None
    wide = np.zeros((2 * layout.cells, 8), np.uint8)
    wide[:, :_SIZE] = np.frombuffer(packed, np.uint8).reshape(-1, _SIZE)
    first, second = wide.view("<u8").astype(np.uint64).reshape(2, -1)
    return first, second


def _packed_dtype(*numbers: int) -> str:
    return _to_base64(b"".join([(number & (2**64 - 1)).to_bytes(8, "little") for number in numbers]))


def _decode_numbers(text: object, count: int) -> list[int] | None:
    numbers = _from_base64(text, 8 * count)
    return None if numbers is None else [int.from_bytes(numbers[8 * k : 8 * k + 8], "little") for k in range(count)]


def _doubles(text: object) -> Moments | None:
    packed = _from_base64(text, 8 * EQUATIONS)
    numbers = None if packed is None else np.frombuffer(packed, "<f8").astype(np.float64)
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _to_base64(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode("ascii").rstrip("=")


def _from_base64(text: object, size: int) -> bytes | None:
    """Return exactly so many bytes, or None."""
    if not isinstance(text, str) or len(text) != -(-size * 4 // 3) or not text.isascii():
        return None
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return None
    return content if len(content) == size else None
