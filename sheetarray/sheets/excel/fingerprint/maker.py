"""Makes the fingerprint of an array, which a workbook keeps to tell later what has become of the elements.

It answers two questions exactly: are the elements what they were, bit for bit, and are they when rounded to 15 digits?
Further sums say which elements have changed, whether they only stand elsewhere, and whether all were multiplied by a
power of ten; `verdict` puts that in words. Memory is bounded, and an element of float64 takes about 40 ns.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

from ....dtypes import Buffer, DType
from ....header import Header
from .coded import Coded, Codes, ScaleSums, make_noise
from .codes import Coder, coder_for, exact_codes, to_native
from .decimal15 import MOST
from .moments import Moments, moments_of
from .record import Fingerprint, header_checksum, max_blocks, partitions_for
from .sums import MOST_BLOCKS, Sums, Weights, combine, weight

__all__ = ["Fingerprinter", "Tools", "exact_checksum", "make_fingerprint", "max_blocks"]

MOST_IN_FULL = 1000  # arrays of a workbook; if it has more, their fingerprints are lean
MOST_FINELY = 2**18  # elements of an array; if it has more, the sums of other ways to 15 digits are left out
_ALL = 2**64 - 1
_TWO_DIGITS = Context(prec=2, rounding=ROUND_CEILING)
_ROUNDING = 2.0**-53  # the relative error of a double that stands for a decimal, at most


class Tools:
    """The buffers in which fingerprints are computed, one array after the other: for one thread.

    They take some megabytes, so all arrays of a write share them.
    """

    def __init__(self) -> None:
        self.weights = Weights()
        self._coders: dict[tuple[str, bool], Coder] = {}

    def coder(self, dtype: DType, *, ways: bool) -> Coder:
        """Return the function that codes elements of a dtype."""
        key = dtype.name, ways
        if key not in self._coders:
            self._coders[key] = coder_for(dtype, ways=ways)
        return self._coders[key]


class Fingerprinter:
    """Computes the fingerprint of one array, piece by piece, while its buffer is written.

    Args:
        dtype: of the elements.
        count: the number of elements that the array will have.
        blocks: the number of stretches into which the array is cut, from 0 to 64; see `max_blocks`.
        lean: keep only what tells that the array is unchanged or rounded, or which single element was edited.
        tools: buffers that other fingerprints have used; None for new ones.

    Example:
        >>> from sheetarray import dtypes
        >>> taker = Fingerprinter(dtypes.from_name("int8"), 3, blocks=1)
        >>> taker.add(np.array([1, 2], dtype="int8"))
        >>> taker.add(np.array([3], dtype="int8"))
        >>> whole = make_fingerprint(np.array([1, 2, 3], dtype="int8"), dtypes.from_name("int8"), blocks=1)
        >>> taker.to_json()["exact"] == whole["exact"]  # moments are sums of doubles, which pieces change a little
        True
    """

    def __init__(
        self, dtype: DType, count: int, *, blocks: int, lean: bool = False, tools: Tools | None = None
    ) -> None:
        assert 0 <= blocks <= MOST_BLOCKS
        self.dtype, self.count, self.blocks = dtype, count, blocks
        self._lean = lean
        self.seen = 0
        self.error, self.longer = 0.0, 0
        self._ways = blocks == MOST_BLOCKS and count <= MOST_FINELY
        tools = Tools() if tools is None else tools
        self._code = tools.coder(dtype, ways=self._ways)
        self._exact = 0
        self._weights = tools.weights
        self._fifteen, self._sixteen = map(Sums, partitions_for(count, blocks))
        self._has_sixteen = False
        self._even, self._twice = (Sums(partitions_for(count, blocks)[0]) if self._ways else None for _ in range(2))
        self._moments: Moments | None = None
        self.scale: ScaleSums | None = None

    def add(self, buffer: Buffer) -> None:
        """Add the next elements: 1-D, of the dtype, and no more in all than `count`."""
        assert self.seen + len(buffer) <= self.count
        taken = 0
        while taken < len(buffer):
            start = self.seen % MOST
            piece = buffer[taken : taken + MOST - start]
            self._add_codes(self._code(to_native(piece), start))
            taken += len(piece)

    def _add_codes(self, coded: Coded) -> None:
        weights = self._weights.weights_of(self.seen, len(coded.exact))
        self._exact += _weighted_sum(coded.exact, self.seen)
        self._fifteen.add(coded.rounded, weights, self.seen)
        self.error, self.longer = max(self.error, coded.error), self.longer + coded.longer
        if not self._lean:
            self._add_more_sums(coded, weights)
        self.seen += len(coded.exact)

    def _add_more_sums(self, coded: Coded, weights: Codes) -> None:
        if coded.sixteen is not None:
            self._sixteen.add(coded.sixteen, weights, self.seen)
            self._has_sixteen = True
        for sums, otherwise in ((self._even, coded.even), (self._twice, coded.twice)):
            if sums is not None and otherwise is not None and len(otherwise.places):
                sums.add_at(otherwise.places, otherwise.steps, weights, self.seen)
        if coded.numbers is not None:
            moments = moments_of(coded.numbers, self.seen)
            with np.errstate(invalid="ignore"):  # the numbers may be too large to be added up
                self._moments = moments if self._moments is None else self._moments + moments
        if coded.scale is not None:
            self.scale = ScaleSums(*map(sum, zip(self.scale or (0, 0, 0), coded.scale, strict=True)))

    def to_fingerprint(self, header: Header | None = None) -> Fingerprint:
        """Return the fingerprint of the elements that were added, and of the layout that a header says, if given."""
        fifteen = self._fifteen.totals
        return Fingerprint(
            self.dtype.name,
            self.count,
            self.blocks,
            self._exact & _ALL,
            fifteen,
            self._sixteen.totals if self._has_sixteen else None,
            round_error_up(self.error) if self.dtype.numpy == np.float64 else None,
            self.longer,
            (self.scale.digits & _ALL, self.scale.exponents & _ALL) if self.scale else None,
            header_checksum(header) if header is not None else None,
            combine(fifteen, self._even.totals) if self._even and self._has_sixteen else None,
            combine(fifteen, self._twice.totals) if self._twice and self._has_sixteen else None,
            self._moments if self._moments is not None and np.isfinite(self._moments).all() else None,
        )

    def to_json(self, header: Header | None = None) -> dict[str, Any]:
        """Return the fingerprint, ready to be stored as JSON; call it when all elements were added.

        Args:
            header: of the array; an edit of shape, strides, offset or order will then be found out too.
        """
        assert self.seen == self.count
        return self.to_fingerprint(header).to_json()


def make_fingerprint(
    buffer: Buffer,
    dtype: DType,
    *,
    blocks: int,
    header: Header | None = None,
    lean: bool = False,
    tools: Tools | None = None,
) -> dict[str, Any]:
    """Return the fingerprint of a whole buffer, as `Fingerprinter` takes it piece by piece.

    Args:
        buffer: the elements.
        dtype: of the elements.
        blocks: see `Fingerprinter`.
        header: of the array.
        lean: see `Fingerprinter`.
        tools: see `Fingerprinter`.
    """
    taker = Fingerprinter(dtype, len(buffer), blocks=blocks, lean=lean, tools=tools)
    taker.add(buffer)
    return taker.to_json(header)


def exact_checksum(buffer: Buffer, dtype: DType, *, first: int = 0) -> int:
    """Return the checksum `Fingerprint.exact` of a buffer, without the rest: in a tenth of the time.

    Args:
        buffer: the elements.
        dtype: of the elements.
        first: the index of the first element; the checksums of the pieces of a buffer add up to its own, modulo 2^64.
    """
    checksum = taken = 0
    while taken < len(buffer):
        piece = buffer[taken : taken + MOST - (first + taken) % MOST]
        checksum += _weighted_sum(exact_codes(to_native(piece), dtype), first + taken)
        taken += len(piece)
    return checksum & _ALL


def _weighted_sum(codes: Codes, index: int) -> int:
    """Return the sum of codes times noise that belongs to their indices.

    In a plain sum of codes, edits of a mask that undo each other would not be seen; nor always in one of codes times
    indices.

    Args:
        codes: of successive elements, all within one run of MOST.
        index: of the first of them.
    """
    run, start = divmod(index, MOST)
    return int(np.dot(codes, make_noise(MOST)[start : start + len(codes)])) * (weight(run) | 1)


def round_error_up(error: float) -> float:
    """Return the largest relative error with two digits, rounded up, the error of reading a decimal included."""
    return float(_TWO_DIGITS.create_decimal_from_float(error + _ROUNDING))
