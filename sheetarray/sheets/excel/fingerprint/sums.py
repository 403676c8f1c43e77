"""Sums of codes over groups of elements, from which it can be found out later which elements have changed.

An element belongs to several groups. Each group has the sum of its elements' codes, and the sum of codes times weights,
one weight for each index. An element that has changed alters the first sum by some d, and the second by d * weight: if
it is the only one in a group, the two tell its weight, and so its index. Once it is subtracted from its other groups,
another changed element may be the only one in one of these, and so on. The weights look like noise, because arrays of
few values (labels, masks) change by the same d here and by -d there: if the weights were the indices, three such edits
would look like one elsewhere, and four like none.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from .codes import MOST, Codes

WIDTH = 48  # bits of a sum that are kept
MOST_BLOCKS = 64
KEPT = (1 << WIDTH) - 1  # a mask of these bits
_ODD, _FIVE = 0x9E3779B97F4A7C15, np.uint64(5)

Pair = tuple[Codes, Codes]
Matrix = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True)
class Partition:
    """The groups over which the codes of an array's elements are summed.

    The first groups are stretches of neighbouring elements. Where a stretch has several elements, there are two more
    sets of groups, into which elements are dealt by the remainders of their indices by two primes. So every element
    belongs to three groups, and no two elements of a run no longer than the smaller prime share a group of a prime.

    Attributes:
        count: the number of elements in the array.
        blocks: the number of stretches, about, at most MOST_BLOCKS; below 2 there is one stretch and no other group.
    """

    count: int
    blocks: int

    @cached_property
    def stretch(self) -> int:
        """The number of elements in a stretch; the last stretch may have fewer."""
        if self.count <= 3 * self.blocks:
            return 1
        return max(1, -(-self.count // max(self.blocks, 1)))

    @cached_property
    def stretches(self) -> int:
        """The number of stretches."""
        return -(-self.count // self.stretch)

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """The primes by whose remainders elements are dealt into groups."""
        if self.stretch == 1 or self.blocks < 2:
            return ()
        below = max(number for number in range(2, self.blocks + 1) if _is_prime(number))
        return below, next(number for number in range(below + 1, 2 * below + 2) if _is_prime(number))

    @property
    def groups(self) -> int:
        """The number of groups: the stretches first, then those of the smaller prime, then those of the larger."""
        return self.stretches + sum(self.primes)

    def groups_of(self, index: int) -> list[int]:
        """Return the numbers of the groups to which an element belongs."""
        groups, first = [index // self.stretch], self.stretches
        for prime in self.primes:
            groups.append(first + index % prime)
            first += prime
        return groups


@cache
def _is_prime(number: int) -> bool:
    return all(number % factor for factor in range(2, math.isqrt(number) + 1))


class Sums:
    """Adds up the codes of arrays over the groups of a partition, piece by piece.

    `rows`: the number of arrays, of which each has these groups.
    """

    def __init__(self, partition: Partition, rows: int = 1) -> None:
        self.partition = partition
        self._totals = np.zeros((2, rows, partition.groups), np.uint64)

    def add(self, codes: Matrix, weights: Codes, index: int) -> None:
        """Add the codes of successive elements, a row for each array, and the weights of their indices.

        `index`: of the first element.
        """
        rows, count = codes.shape
        stretch, offset = self.partition.stretch, self.partition.stretches
        first, last = index // stretch, (index + count - 1) // stretch
        cuts = np.maximum(np.arange(first, last + 1) * stretch - index, 0)
        both = codes, codes * weights
        for totals, values in zip(self._totals, both, strict=True):
            totals[:, first : last + 1] += np.add.reduceat(values, cuts, axis=1)
        for prime in self.partition.primes:
            whole, groups = count // prime * prime, offset + (index + np.arange(prime)) % prime
            for totals, values in zip(self._totals, both, strict=True):
                dealt = values[:, :whole].reshape(rows, -1, prime).sum(axis=1)
                dealt[:, : count - whole] += values[:, whole:]
                totals[:, groups] += dealt
            offset += prime

    @property
    def totals(self) -> tuple[Matrix, Matrix]:
        """For each array, in a row, the sums of codes of all groups, and those of codes times weights: 48 bits each."""
        first, second = self._totals & np.uint64(KEPT)
        return first, second


# Weights -----------------------------------------------------------------------------------------------------


def weights_of(index: int, count: int) -> Codes:
    """Return the weights of successive indices.

    x + (x^2 | 5) is one to one on integers of n bits, and none of its bits depends on a higher bit of x: so the lower
    bits of a weight tell the lower bits of the index. After two rounds there is no pattern left that edits could have.
    """
    numbers = np.arange(index + 1, index + count + 1, dtype=np.uint64)
    numbers *= np.uint64(_ODD)
    for _ in range(2):
        numbers += numbers * numbers | _FIVE
    return numbers


def weight(index: int, bits: int = 64) -> int:
    """Return the lower bits of an index's weight."""
    number = (index + 1) * _ODD
    for _ in range(2):
        number = (number + (number * number | 5)) & ((1 << bits) - 1)
    return number


def _index_of(weighed: int, bits: int) -> int:
    """Return the index whose weight has the lower bits of `weighed`; both are known to `bits` bits."""
    index = -1
    for bit in range(bits):
        if (weight(index, bit + 1) ^ weighed) >> bit & 1:
            index += 1 << bit
    return index


def single_change(first: int, second: int, count: int) -> int | None:
    """Return the index of the element that alone changed the sums of a group; None if there must be several.

    `first`: by how much the sum of codes has changed. `second`: that of codes times weights. `count`: the number of
    elements in the array.
    """
    twos = (first & -first).bit_length() - 1
    if not first or second & ((1 << twos) - 1) or 1 << (WIDTH - twos) < 256 * count:
        return None
    bits = WIDTH - twos
    index = _index_of((second >> twos) * pow(first >> twos, -1, 1 << bits), bits)
    return index if 0 <= index < count else None


# Moments: sums of the numbers themselves -----------------------------------------------------------------------
#
# There are four: the plain sum, and three whose weights belong to the indices and lie between 0.5 and 1, or between -1
# and -0.5. Rounding moves a moment by no more than the sum of its errors, however a program rounds.

Moments = np.ndarray[tuple[int], np.dtype[np.float64]]

EQUATIONS = 4
_ERROR = 5e-15  # relative, of numbers rounded once more
_SUMMING = 16 * 2.0**-53  # the error of a sum, relative to the sum of sizes
_SIGMAS = 6.0  # standard deviations by which a moment may differ
_LEAST_WEIGHT = 0.5  # the smallest weight of a number in a moment, without its sign
_RUN = 2048  # numbers at a time: a product of this size stays in one thread


def moments_of(rows: np.ndarray[Any, np.dtype[Any]], index: int) -> np.ndarray[Any, Any]:
    """Return the moments of the doubles in each row, of which `index` is the first; NaN and infinities count as 0."""
    total, taken = np.zeros((len(rows), EQUATIONS)), 0
    with np.errstate(over="ignore", invalid="ignore"):
        while taken < rows.shape[1]:
            run, start = divmod(index + taken, _RUN)
            piece = rows[:, taken : taken + _RUN - start]
            weights = _weights()[:, start : start + piece.shape[1]].T
            moments = piece @ weights
            if not np.isfinite(moments).all():
                moments = np.where(np.isfinite(piece), piece, 0.0) @ weights
            moments[:, 1:] *= _signs(run)
            total += moments
            taken += piece.shape[1]
    return total


def find_hidden_edit(then: Moments, now: Moments, numbers: np.ndarray[tuple[int], np.dtype[Any]]) -> float | None:
    """Return the largest edit of a single double that would not be seen beside rounding; None if more has happened.

    `then`: the moments when the array was written. `now`: those of today. `numbers`: the elements of today.
    """
    sizes, squares = np.zeros(EQUATIONS), np.zeros(EQUATIONS)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(numbers), _RUN):
            piece = np.abs(np.where(np.isfinite(some := numbers[start : start + _RUN]), some, 0.0))
            weights = np.abs(_weights()[:, : len(piece)])
            sizes += weights @ piece
            squares += (weights * weights) @ (piece * piece)
        slack = _SUMMING * sizes + _SIGMAS * _ERROR * np.sqrt(squares)
        is_same = bool(np.isfinite(slack).all() and (np.abs(now - then) <= slack).all())
    return float(slack.max()) / _LEAST_WEIGHT if is_same else None


@lru_cache(maxsize=1)
def _weights() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    noise = _noise(np.arange((EQUATIONS - 1) * _RUN, dtype=np.uint64)).reshape(EQUATIONS - 1, _RUN)
    return np.concatenate([np.ones((1, _RUN)), noise])


@lru_cache(maxsize=MOST)
def _signs(run: int) -> Moments:
    """Return the factors, 1 or -1, for the weights of a run of 2,048 indices, so that runs differ in their weights."""
    if run == 0:
        return np.ones(EQUATIONS - 1)
    signs: Moments = np.sign(_noise((np.arange(1, EQUATIONS, dtype=np.uint64) << np.uint64(40)) + np.uint64(run)))
    return signs


def _noise(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a pseudo-random number for each integer: between 0.5 and 1, or between -1 and -0.5."""
    mixed = (numbers + np.uint64(1)) * np.uint64(_ODD)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    size = 0.5 + (mixed >> np.uint64(12)) * 2.0**-53
    return np.where(mixed & np.uint64(1), size, -size)
