"""Ranks elements by how much they differ, and keeps those that differ most."""

from __future__ import annotations

import numpy as np

from ..dtypes import Array, Mask


class Ranking:
    """The indices of the `most` elements that differ most; of equal ones those that come first in the array."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ranks, self._indices = np.empty((0, 2)), np.empty((0, 0), np.int64)

    def add(self, ranks: Array, indices: Array) -> None:
        """Take in elements: the rank of each, and its index; the lowest rank comes first."""
        if not self._most or not len(ranks):
            return
        ranks = np.concatenate([self._ranks, ranks])
        indices = np.concatenate([self._indices, indices]) if len(self._indices) else indices
        order = np.lexsort((ranks[:, 1], ranks[:, 0]))[: self._most]
        self._ranks, self._indices = ranks[order], indices[order]

    def take(self) -> list[list[int]]:
        """Return the indices, the largest difference first."""
        indices: list[list[int]] = self._indices.tolist()
        return indices


def rank_differences(x: Array, y: Array, noise: Mask) -> Array:
    """Return a rank for each pair of elements that differ; lower ranks are listed first.

    First come pairs that cannot be subtracted, such as texts, then numbers, the largest difference first, then zeros
    that differ in their sign, and at last rounding noise.
    """
    ranks = np.zeros((len(x), 2))
    if set(x.dtype.kind + y.dtype.kind) <= set("iufc"):
        with np.errstate(all="ignore"):
            if x.dtype == y.dtype and x.dtype.kind in "iu":
                apart = (np.maximum(x, y).astype(np.uint64) - np.minimum(x, y).astype(np.uint64)).astype(np.float64)
            else:
                apart = np.abs(to_double(x) - to_double(y))
        known = np.isfinite(apart)
        ranks[:, 0] = np.where(known, np.where(apart == 0, 2, 1), 0)
        ranks[:, 1] = np.where(known, -apart, 0)
    ranks[noise, 0] = 3
    return ranks


def to_double(array: Array) -> Array:
    """Return numbers as doubles, or as complex ones."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
