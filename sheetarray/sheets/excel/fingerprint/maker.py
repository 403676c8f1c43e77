"""Makes the fingerprint of an array, which a workbook keeps to tell later what has become of the elements.

It answers two questions exactly: are the elements what they were, bit for bit, and are they when rounded to 15 digits?
Further sums say which elements have changed, whether they only stand elsewhere, and whether a program rounded them in a
way of its own; `verdict` puts that in words. Arrays of one dtype and length are the rows of a matrix, of which the
columns are taken piece by piece: so a long array takes little memory, and thousands of short ones few calls of NumPy.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Context
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer, DType
from ....header import Header
from .codes import Coded, Coder, Codes, ScaleSums, coder_for, exact_codes, make_noise, scale_weights, to_native
from .decimal15 import MOST, SHORT
from .moments import EQUATIONS, moments_of
from .record import Fingerprint, header_checksum, max_blocks, partitions_for
from .sums import MOST_BLOCKS, Sums, Weights, combine, weight

__all__ = ["Fingerprinter", "Tools", "Written", "exact_checksum", "exact_checksums", "make_fingerprint", "max_blocks"]

MOST_FINELY = 2**18  # elements of an array; if it has more, the sums of other ways to 15 digits are left out
_ALL = 2**64 - 1
_TWO_DIGITS = Context(prec=2, rounding=ROUND_CEILING)
_ROUNDING = 2.0**-53  # the relative error of a double that stands for a decimal, at most


class Written(NamedTuple):
    """An array as it is written: its elements, their dtype, and its header."""

    buffer: Buffer
    dtype: DType
    header: Header


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
    """Computes the fingerprint of one array, piece by piece, while its buffer is written; or of several short ones.

    `count`: the number of elements that each array will have. `blocks`: the number of stretches into which an array is
    cut, from 0 to 64; see `max_blocks`. `lean`: keep only what tells that the array is unchanged or rounded, or which
    single element was edited. `rows`: the number of arrays; if there are several, all elements are added at once, and
    they are few. `tools`: buffers that other fingerprints have used; None for new ones.

    Attributes:
        seen: the number of elements of each array that were added.
        exact: the checksum of each array.
        errors: the largest relative error of rounding an element to 15 digits, of each array; 0 but for float64.
        longer: the number of elements that certainly have more than 15 digits, of each array.
        fifteen: the sums of the elements at 15 digits.

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
        self, dtype: DType, count: int, *, blocks: int, lean: bool = False, rows: int = 1, tools: Tools | None = None
    ) -> None:
        assert 0 <= blocks <= MOST_BLOCKS
        assert rows == 1 or rows * count <= MOST
        self.dtype, self.count, self.blocks = dtype, count, blocks
        self._lean, self._rows = lean, rows
        self.seen = 0
        self.exact = np.zeros(rows, np.uint64)
        self.errors, self.longer = np.zeros(rows), np.zeros(rows, np.int64)
        self._ways = blocks == MOST_BLOCKS and count <= MOST_FINELY and rows == 1
        tools = Tools() if tools is None else tools
        self._code = tools.coder(dtype, ways=self._ways)
        self._weights = tools.weights
        self.fifteen, self._sixteen = (Sums(partition, rows) for partition in partitions_for(count, blocks))
        self._has_sixteen = False
        self._even, self._twice = (Sums(partitions_for(count, blocks)[0]) if self._ways else None for _ in range(2))
        self._moments: np.ndarray[Any, Any] | None = None
        self._scale: np.ndarray[Any, Any] | None = None  # signed digits and exponents, each times weights

    def add(self, buffer: Buffer) -> None:
        """Add the next elements: 1-D, of the dtype, and no more in all than `count`; those of all rows together."""
        assert self._rows * self.seen + len(buffer) <= self._rows * self.count
        if self._rows > 1:
            self._add_codes(self._code(to_native(buffer)))
            return
        taken = 0
        while taken < len(buffer):
            piece = buffer[taken : taken + MOST - self.seen % MOST]
            self._add_codes(self._code(to_native(piece)))
            taken += len(piece)

    def _add_codes(self, coded: Coded) -> None:
        count = len(coded.exact) // self._rows
        shape = self._rows, count
        weights = self._weights.weights_of(self.seen, count)
        self.exact += _checksums(coded.exact.reshape(shape), self.seen)
        self.fifteen.add(coded.rounded.reshape(shape), weights, self.seen)
        if coded.errors is not None:
            errors = coded.errors.reshape(shape)
            np.maximum(self.errors, errors.max(axis=1, initial=0.0), out=self.errors)
            self.longer += np.count_nonzero(errors > SHORT, axis=1)
        if not self._lean:
            self._add_more_sums(coded, shape, weights)
        self.seen += count

    def _add_more_sums(self, coded: Coded, shape: tuple[int, int], weights: Codes) -> None:
        if coded.sixteen is not None:
            self._sixteen.add(coded.sixteen.reshape(shape), weights, self.seen)
            self._has_sixteen = True
        for sums, otherwise in ((self._even, coded.even), (self._twice, coded.twice)):
            if sums is not None and otherwise is not None and len(otherwise.places):
                sums.add_at(otherwise.places, otherwise.steps, weights, self.seen)
        if coded.numbers is not None:
            with np.errstate(invalid="ignore"):  # the numbers may be too large to be added up
                moments = moments_of(coded.numbers.reshape(shape), self.seen)
                self._moments = moments if self._moments is None else self._moments + moments
        if coded.parts is not None:
            start = self.seen % MOST
            scaling = scale_weights()[start : start + shape[1]]
            signed, exponents = (part.reshape(shape) for part in coded.parts)
            sums_now = np.stack([signed @ scaling, exponents @ scaling, (signed != 0) @ scaling])
            self._scale = sums_now if self._scale is None else self._scale + sums_now

    @property
    def scale(self) -> ScaleSums | None:
        """The sums of the first array that show by which power of ten all numbers were multiplied."""
        return None if self._scale is None else ScaleSums(*self._scale[:, 0].tolist())

    def to_fingerprints(self, headers: Sequence[Header | None]) -> Iterator[Fingerprint]:
        """Yield the fingerprint of each array, and of the layout that its header says, if given."""
        first, second = self.fifteen.totals
        sixteen = self._sixteen.totals if self._has_sixteen else None
        moments = np.zeros((self._rows, EQUATIONS)) if self._moments is None else self._moments
        has_moments = [self._moments is not None and bool(np.isfinite(sums).all()) for sums in moments]
        exact, longer = self.exact.tolist(), self.longer.tolist()
        for row, header in enumerate(headers):
            fifteen = first[row], second[row]
            yield Fingerprint(
                self.dtype.name,
                self.count,
                self.blocks,
                exact[row],
                fifteen,
                None if sixteen is None else (sixteen[0][row], sixteen[1][row]),
                round_error_up(float(self.errors[row])) if self.dtype.numpy == np.float64 else None,
                longer[row],
                None if self._scale is None else (int(self._scale[0, row]) & _ALL, int(self._scale[1, row]) & _ALL),
                header_checksum(header) if header is not None else None,
                combine(fifteen, self._even.pair) if self._even and self._has_sixteen else None,
                combine(fifteen, self._twice.pair) if self._twice and self._has_sixteen else None,
                moments[row] if has_moments[row] else None,
            )

    def to_fingerprint(self, header: Header | None = None) -> Fingerprint:
        """Return the fingerprint of the elements that were added, and of the layout that a header says, if given."""
        return next(self.to_fingerprints([header]))

    def to_json(self, header: Header | None = None) -> dict[str, Any]:
        """Return the fingerprint, ready to be stored as JSON; call it when all elements were added.

        `header`: of the array; an edit of shape, strides, offset or order will then be found out too.
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

    `blocks`: see `Fingerprinter`. `lean`: see `Fingerprinter`. `tools`: see `Fingerprinter`.
    """
    taker = Fingerprinter(dtype, len(buffer), blocks=blocks, lean=lean, tools=tools)
    taker.add(buffer)
    return taker.to_json(header)


def iter_fingerprinters(
    arrays: Sequence[Written], *, blocks: int, lean: bool, tools: Tools
) -> Iterator[tuple[list[int], Fingerprinter]]:
    """Yield the sums of arrays of one dtype and length, as many at a time as a coder takes elements.

    `arrays`: of 1 to MOST elements each. `blocks`: see `Fingerprinter`; from 0 to 63, since the finest records have
    sums that are not made together. `lean`: see `Fingerprinter`. `tools`: see `Fingerprinter`.

    Yields:
        The indices of these arrays, and a fingerprinter that has seen them.
    """
    for count, places in _group_alike([(buffer, dtype) for buffer, dtype, _ in arrays]):
        for first in range(0, len(places), MOST // count):
            some = places[first : first + MOST // count]
            dtype = arrays[some[0]].dtype
            taker = Fingerprinter(dtype, count, blocks=blocks, lean=lean, rows=len(some), tools=tools)
            taker.add(np.concatenate([to_native(arrays[place].buffer) for place in some]))
            yield some, taker


def _group_alike(arrays: Sequence[tuple[Buffer, DType]]) -> list[tuple[int, list[int]]]:
    """Return the indices of arrays in groups of one dtype and length, after that length."""
    groups: dict[tuple[str, Any, int], list[int]] = {}
    for place, (buffer, dtype) in enumerate(arrays):
        groups.setdefault((dtype.name, buffer.dtype, len(buffer)), []).append(place)
    return [(count, places) for (_, _, count), places in groups.items()]


def exact_checksum(buffer: Buffer, dtype: DType, *, first: int = 0) -> int:
    """Return the checksum `Fingerprint.exact` of a buffer, without the rest: in a tenth of the time.

    `first`: the index of the first element; the checksums of the pieces of a buffer add up to its own, modulo 2^64.
    """
    checksum = taken = 0
    while taken < len(buffer):
        piece = buffer[taken : taken + MOST - (first + taken) % MOST]
        checksum += int(_checksums(exact_codes(to_native(piece), dtype).reshape(1, -1), first + taken)[0])
        taken += len(piece)
    return checksum & _ALL


def exact_checksums(arrays: Sequence[tuple[Buffer, DType]]) -> list[int]:
    """Return the checksum of each array, as `exact_checksum` gives it: those of one dtype and length at once."""
    checksums = [0] * len(arrays)
    for count, places in _group_alike(arrays):
        if len(places) == 1 or not 0 < count <= MOST:
            for place in places:
                checksums[place] = exact_checksum(*arrays[place])
            continue
        dtype, step = arrays[places[0]][1], MOST // count
        for first in range(0, len(places), step):
            some = places[first : first + step]
            codes = exact_codes(np.concatenate([to_native(arrays[place][0]) for place in some]), dtype)
            for place, checksum in zip(some, _checksums(codes.reshape(-1, count), 0).tolist(), strict=True):
                checksums[place] = checksum
    return checksums


def _checksums(codes: np.ndarray[Any, np.dtype[np.uint64]], index: int) -> Codes:
    """Return, for each row, the sum of codes times noise that belongs to their indices.

    In a plain sum of codes, edits of a mask that undo each other would not be seen; nor always in one of codes times
    indices.

    `codes`: of successive elements in each row, all within one run of MOST. `index`: of the first of them.
    """
    run, start = divmod(index, MOST)
    sums: Codes = codes @ make_noise(MOST)[start : start + codes.shape[1]]
    return sums * np.uint64(weight(run) | 1)


def round_error_up(error: float) -> float:
    """Return the largest relative error with two digits, rounded up, the error of reading a decimal included."""
    return float(_TWO_DIGITS.create_decimal_from_float(error + _ROUNDING))
