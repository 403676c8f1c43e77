"""Sums of elements' codes, over parts of an array: small, order counts, and one that changed can be told from its sums.

An element stands in several cells. Each has the sum of its elements' codes, and the sum of codes times weights, one for
each index. An element that is another changes the first by some d and the second by d * weight: where it is the only
one in a cell, the two tell its weight, and so its index. Taken out of its other cells, it may leave another one alone
there, and so on. The weights look like noise, since arrays of few values (labels, masks) change by the same d here and
by -d there: were they the indices, three such edits would look like one elsewhere, and four like none.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from .coded import Codes
from .decimal15 import MOST

WIDTH = 48  # bits of a sum that are kept
MOST_BLOCKS = 64
KEPT = (1 << WIDTH) - 1
_ODD, _FIVE = 0x9E3779B97F4A7C15, np.uint64(5)

Pair = tuple[Codes, Codes]


@dataclass(frozen=True)
class Partition:
    """The cells among which the elements of an array are summed: every element has one in each of its partitions.

    The first partition cuts the buffer into stretches; two more, where it has many elements, deal them out in turn,
    by the remainders of two primes. So any element, and any run of them no longer than a prime, has some cell that it
    shares with none of the run.

    Attributes:
        count: elements of the array.
        blocks: how many stretches, about, at most MOST_BLOCKS; below 2 there is one and nothing else.
    """

    count: int
    blocks: int

    @cached_property
    def stretch(self) -> int:
        """Elements of a stretch; the last may have fewer."""
        if self.count <= 3 * self.blocks:
            return 1
        return max(1, -(-self.count // max(self.blocks, 1)))

    @cached_property
    def stretches(self) -> int:
        """The number of stretches."""
        return -(-self.count // self.stretch)

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """The primes by which elements are dealt out."""
        if self.stretch == 1 or self.blocks < 2:
            return ()
        below = max(number for number in range(2, self.blocks + 1) if _is_prime(number))
        return below, next(number for number in range(below + 1, 2 * below + 2) if _is_prime(number))

    @property
    def period(self) -> int:
        """Elements after which they are dealt out as at the beginning; at most MOST, and no more than are needed."""
        once = math.prod(self.primes)
        return min(MOST // once, -(-self.count // once)) * once

    @property
    def cells(self) -> int:
        """The number of cells in all partitions."""
        return self.stretches + sum(self.primes)

    def cells_of(self, index: int) -> list[int]:
        """Return the cells in which an element is counted."""
        cells, first = [index // self.stretch], self.stretches
        for prime in self.primes:
            cells.append(first + index % prime)
            first += prime
        return cells


@cache
def _is_prime(number: int) -> bool:
    return all(number % factor for factor in range(2, math.isqrt(number) + 1))


class Sums:
    """Adds codes up, piece by piece."""

    def __init__(self, layout: Partition) -> None:
        self.layout = layout
        self._stretches = np.zeros((2, layout.stretches), np.uint64)
        self._dealt = np.zeros((2, layout.period if layout.primes else 0), np.uint64)
        self._moments = np.empty(MOST, np.uint64)

    def add(self, codes: Codes, weights: Codes, index: int) -> None:
        """Add the codes of at most MOST elements, of which `index` is the first; the weights are those of `Weights`."""
        while len(codes):
            start = index % self.layout.period
            count = min(len(codes), self.layout.period - start)
            self._add(codes[:count], weights[:count], index, start)
            codes, weights, index = codes[count:], weights[count:], index + count

    def _add(self, codes: Codes, weights: Codes, index: int, start: int) -> None:
        moments = np.multiply(codes, weights, out=self._moments[: len(codes)])
        stretch = self.layout.stretch
        first, last = index // stretch, (index + len(codes) - 1) // stretch
        cuts = np.maximum(np.arange(first, last + 1) * stretch - index, 0)
        for sums, dealt, values in zip(self._stretches, self._dealt, (codes, moments), strict=True):
            sums[first : last + 1] += np.add.reduceat(values, cuts)
            if self.layout.primes:
                dealt[start : start + len(codes)] += values

    def add_at(self, places: np.ndarray[Any, np.dtype[np.int64]], codes: Codes, weights: Codes, index: int) -> None:
        """Add the codes of some of those elements, by their places among them."""
        moments = codes * weights[places]
        where = places + index
        for sums, dealt, values in zip(self._stretches, self._dealt, (codes, moments), strict=True):
            np.add.at(sums, where // self.layout.stretch, values)
            if self.layout.primes:
                np.add.at(dealt, where % self.layout.period, values)

    @property
    def totals(self) -> Pair:
        """For each cell the sum of codes, and that of codes times weights, as far as they are kept."""
        first, second = (
            np.concatenate([sums, *(dealt.reshape(-1, prime).sum(axis=0) for prime in self.layout.primes)])
            & np.uint64(KEPT)
            for sums, dealt in zip(self._stretches, self._dealt, strict=True)
        )
        return first, second


# Weights -----------------------------------------------------------------------------------------------------


class Weights:
    """The weights of runs of indices, in buffers of its own: for one thread."""

    def __init__(self) -> None:
        self._steps = np.arange(1, MOST + 1, dtype=np.uint64)
        self._numbers, self._spare = np.empty((2, MOST), np.uint64)

    def weights_of(self, index: int, count: int) -> Codes:
        """Return the weights of at most MOST indices, valid until the next call."""
        numbers = np.add(self._steps[:count], np.uint64(index), out=self._numbers[:count])
        return _hash_in_place(numbers, self._spare[:count])


def _hash_in_place(numbers: Codes, spare: Codes) -> Codes:
    """Return the weights of indices from 1, made in place (`spare` is overwritten).

    x + (x^2 | 5) takes every integer of n bits to another one, and a bit of it depends on none that is higher: so the
    lower bits of a weight tell the lower bits of the index. Twice, it leaves no pattern that edits could have.
    """
    np.multiply(numbers, np.uint64(_ODD), out=numbers)
    for _ in range(2):
        np.multiply(numbers, numbers, out=spare)
        np.bitwise_or(spare, _FIVE, out=spare)
        np.add(numbers, spare, out=numbers)
    return numbers


def weight(index: int, bits: int = 64) -> int:
    """Return the weight of an index, or as many of its lower bits."""
    number = (index + 1) * _ODD
    for _ in range(2):
        number = (number + (number * number | 5)) & ((1 << bits) - 1)
    return number


def _unhash(weighed: int, bits: int) -> int:
    """Return the index, of so many bits, whose weight ends in so many."""
    index = -1
    for bit in range(bits):
        if (weight(index, bit + 1) ^ weighed) >> bit & 1:
            index += 1 << bit
    return index


# What changed ------------------------------------------------------------------------------------------------


class Difference:
    """The difference of two pairs of sums of one layout.

    Args:
        layout: of both.
        then: before.
        now: after.
    """

    def __init__(self, layout: Partition, then: Pair, now: Pair) -> None:
        self.layout = layout
        first, second = ((after - before) & np.uint64(KEPT) for before, after in zip(then, now, strict=True))
        self._first: list[int] = first.tolist()
        self._second: list[int] = second.tolist()
        self.steps: dict[int, int] = {}
        self.stretches = ((first != 0) | (second != 0))[: layout.stretches].tolist()

    @property
    def is_empty(self) -> bool:
        """Whether the sums are the same."""
        return not any(self._first) and not any(self._second)

    @property
    def is_reordered(self) -> bool:
        """Return whether the plain sums agree and only the weighted sums differ: same elements, other order."""
        return not self.is_empty and not sum(self._first[: self.layout.stretches]) & KEPT

    @cached_property
    def changed_elements(self) -> tuple[list[int], list[int]]:
        """The elements that changed, as far as they can be told, and the stretches that hold still others."""
        first, second, elements = list(self._first), list(self._second), set[int]()
        waiting = [cell for cell in range(self.layout.cells) if first[cell]]
        while waiting:
            cell = waiting.pop()
            index = _single_change(first[cell], second[cell], self.layout.count)
            if index is None or index in elements or cell not in (cells := self.layout.cells_of(index)):
                continue
            elements.add(index)
            step = self.steps[index] = first[cell]
            for other in cells:
                first[other] = (first[other] - step) & KEPT
                second[other] = (second[other] - step * weight(index)) & KEPT
            waiting += [other for other in cells if first[other]]
        return sorted(elements), [cell for cell in range(self.layout.stretches) if first[cell] or second[cell]]

    def single_element_in(self, stretch: int) -> int | None:
        """Return the element that changed in a stretch, if it is the only one there."""
        index = _single_change(self._first[stretch], self._second[stretch], self.layout.count)
        return index if index is not None and index // self.layout.stretch == stretch else None


def combine(one: Pair, other: Pair) -> Pair:
    """Return the sums of two sets of codes."""
    return (one[0] + other[0]) & np.uint64(KEPT), (one[1] + other[1]) & np.uint64(KEPT)


def stretch_matches(codes: Codes, stretch: int, layout: Partition, pair: Pair) -> bool:
    """Return whether these are the codes of a stretch, by its sums."""
    begin = stretch * layout.stretch
    weights = _hash_in_place(np.arange(begin + 1, begin + len(codes) + 1, dtype=np.uint64), np.empty_like(codes))
    sums = int(codes.sum()) & KEPT, int(np.dot(codes, weights)) & KEPT
    return sums == (int(pair[0][stretch]), int(pair[1][stretch]))


def _single_change(first: int, second: int, count: int) -> int | None:
    """Return the index of the only element that changed a cell by these sums; None where there must be several."""
    twos = (first & -first).bit_length() - 1
    if not first or second & ((1 << twos) - 1) or 1 << (WIDTH - twos) < 256 * count:
        return None
    bits = WIDTH - twos
    index = _unhash((second >> twos) * pow(first >> twos, -1, 1 << bits), bits)
    return index if 0 <= index < count else None
