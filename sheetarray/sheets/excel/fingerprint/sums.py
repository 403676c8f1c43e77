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
from functools import cache, cached_property
from typing import Any

import numpy as np

from .codes import Codes
from .decimal15 import MOST

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
    def period(self) -> int:
        """The number of elements after which they are dealt as from the beginning on, or a multiple of it.

        At most MOST, and no larger than the array needs.
        """
        once = math.prod(self.primes)
        return min(MOST // once, -(-self.count // once)) * once

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

    `rows`: the number of arrays.
    """

    def __init__(self, partition: Partition, rows: int = 1) -> None:
        self.partition = partition
        self._stretches = np.zeros((2, rows, partition.stretches), np.uint64)
        self._dealt = np.zeros((2, rows, partition.period if partition.primes else 0), np.uint64)
        self._moments = np.empty(MOST, np.uint64)

    def add(self, codes: Matrix, weights: Codes, index: int) -> None:
        """Add the codes of successive elements, at most MOST in all rows.

        `weights`: of their indices, made by `Weights`. `index`: of the first of them.
        """
        taken = 0
        while taken < codes.shape[1]:
            start = (index + taken) % self.partition.period
            some = np.s_[taken : taken + self.partition.period - start]
            self._add(codes[:, some], weights[some], index + taken, start)
            taken += self.partition.period - start

    def _add(self, codes: Matrix, weights: Codes, index: int, start: int) -> None:
        moments = np.multiply(codes, weights, out=self._moments[: codes.size].reshape(codes.shape))
        stretch, count = self.partition.stretch, codes.shape[1]
        first, last = index // stretch, (index + count - 1) // stretch
        cuts = np.maximum(np.arange(first, last + 1) * stretch - index, 0)
        for sums, dealt, values in zip(self._stretches, self._dealt, (codes, moments), strict=True):
            sums[:, first : last + 1] += np.add.reduceat(values, cuts, axis=1)
            if self.partition.primes:
                dealt[:, start : start + count] += values

    def add_at(
        self, places: np.ndarray[tuple[int], np.dtype[np.int64]], codes: Codes, weights: Codes, index: int
    ) -> None:
        """Add the codes of some of the elements of the only array that the last `add` got, by their places among them.

        `weights`: of all elements that the last `add` got. `index`: of the first of them.
        """
        moments = codes * weights[places]
        where = places + index
        for sums, dealt, values in zip(self._stretches, self._dealt, (codes, moments), strict=True):
            np.add.at(sums[0], where // self.partition.stretch, values)
            if self.partition.primes:
                np.add.at(dealt[0], where % self.partition.period, values)

    @property
    def totals(self) -> tuple[Matrix, Matrix]:
        """For each array, in a row, the sums of codes of all groups, and those of codes times weights: 48 bits each."""
        first, second = (
            np.concatenate(
                [sums, *(dealt.reshape(len(sums), -1, prime).sum(axis=1) for prime in self.partition.primes)], axis=1
            )
            & np.uint64(KEPT)
            for sums, dealt in zip(self._stretches, self._dealt, strict=True)
        )
        return first, second

    @property
    def pair(self) -> Pair:
        """The sums of the only array."""
        first, second = self.totals
        return first[0], second[0]


# Weights -----------------------------------------------------------------------------------------------------


class Weights:
    """Computes the weights of runs of indices, in buffers of its own: for one thread."""

    def __init__(self) -> None:
        self._steps = np.arange(1, MOST + 1, dtype=np.uint64)
        self._numbers, self._spare = np.empty((2, MOST), np.uint64)

    def weights_of(self, index: int, count: int) -> Codes:
        """Return the weights of at most MOST indices, valid until the next call."""
        numbers = np.add(self._steps[:count], np.uint64(index), out=self._numbers[:count])
        return _hash_in_place(numbers, self._spare[:count])


def _hash_in_place(numbers: Codes, spare: Codes) -> Codes:
    """Return the weights of indices plus 1, computed in place; `spare` is overwritten.

    x + (x^2 | 5) is one to one on integers of n bits, and none of its bits depends on a higher bit of x: so the lower
    bits of a weight tell the lower bits of the index. After two rounds there is no pattern left that edits could have.
    """
    np.multiply(numbers, np.uint64(_ODD), out=numbers)
    for _ in range(2):
        np.multiply(numbers, numbers, out=spare)
        np.bitwise_or(spare, _FIVE, out=spare)
        np.add(numbers, spare, out=numbers)
    return numbers


def weight(index: int, bits: int = 64) -> int:
    """Return the lower bits of an index's weight."""
    number = (index + 1) * _ODD
    for _ in range(2):
        number = (number + (number * number | 5)) & ((1 << bits) - 1)
    return number


def _unhash(weighed: int, bits: int) -> int:
    """Return the index whose weight has the lower bits of `weighed`; both are known to `bits` bits."""
    index = -1
    for bit in range(bits):
        if (weight(index, bit + 1) ^ weighed) >> bit & 1:
            index += 1 << bit
    return index


# What changed ------------------------------------------------------------------------------------------------


class Difference:
    """The difference of two pairs of sums over the same groups.

    Attributes:
        steps: by how much the code of each element in `changed_elements` has changed.
        stretches: for each stretch, whether its sums have changed.
    """

    def __init__(self, partition: Partition, then: Pair, now: Pair) -> None:
        self.partition = partition
        first, second = ((after - before) & np.uint64(KEPT) for before, after in zip(then, now, strict=True))
        self._first: list[int] = first.tolist()
        self._second: list[int] = second.tolist()
        self.steps: dict[int, int] = {}
        self.stretches = ((first != 0) | (second != 0))[: partition.stretches].tolist()

    @property
    def is_empty(self) -> bool:
        """Whether the sums are the same."""
        return not any(self._first) and not any(self._second)

    @property
    def is_reordered(self) -> bool:
        """Whether the plain sums agree and only the weighted sums differ: same elements, other order."""
        return not self.is_empty and not sum(self._first[: self.partition.stretches]) & KEPT

    @cached_property
    def changed_elements(self) -> tuple[list[int], list[int]]:
        """The indices of the changed elements that can be found, and the stretches that hold changed ones besides."""
        first, second, elements = list(self._first), list(self._second), set[int]()
        waiting = [group for group in range(self.partition.groups) if first[group]]
        while waiting:
            group = waiting.pop()
            index = _single_change(first[group], second[group], self.partition.count)
            if index is None or index in elements or group not in (groups := self.partition.groups_of(index)):
                continue
            elements.add(index)
            step = self.steps[index] = first[group]
            for other in groups:
                first[other] = (first[other] - step) & KEPT
                second[other] = (second[other] - step * weight(index)) & KEPT
            waiting += [other for other in groups if first[other]]
        stretches = range(self.partition.stretches)
        return sorted(elements), [stretch for stretch in stretches if first[stretch] or second[stretch]]

    def single_element_in(self, stretch: int) -> int | None:
        """Return the index of the only element that changed in a stretch; None if there are several or none."""
        index = _single_change(self._first[stretch], self._second[stretch], self.partition.count)
        return index if index is not None and index // self.partition.stretch == stretch else None


def combine(one: Pair, other: Pair) -> Pair:
    """Return the sums of two sets of codes together, by the sums of each."""
    return (one[0] + other[0]) & np.uint64(KEPT), (one[1] + other[1]) & np.uint64(KEPT)


def stretch_matches(codes: Codes, stretch: int, partition: Partition, pair: Pair) -> bool:
    """Return whether some codes are those of a stretch, by the sums of the stretch in a pair."""
    begin = stretch * partition.stretch
    weights = _hash_in_place(np.arange(begin + 1, begin + len(codes) + 1, dtype=np.uint64), np.empty_like(codes))
    sums = int(codes.sum()) & KEPT, int(np.dot(codes, weights)) & KEPT
    return sums == (int(pair[0][stretch]), int(pair[1][stretch]))


def _single_change(first: int, second: int, count: int) -> int | None:
    """Return the index of the element that alone changed the sums of a group; None if there must be several.

    `first`: by how much the sum of codes has changed. `second`: by how much the sum of codes times weights has
    changed. `count`: the number of elements in the array.
    """
    twos = (first & -first).bit_length() - 1
    if not first or second & ((1 << twos) - 1) or 1 << (WIDTH - twos) < 256 * count:
        return None
    bits = WIDTH - twos
    index = _unhash((second >> twos) * pow(first >> twos, -1, 1 << bits), bits)
    return index if 0 <= index < count else None
