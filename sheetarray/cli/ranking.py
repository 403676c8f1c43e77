"""Which of the elements that differ, differ most."""

from __future__ import annotations

import numpy as np

from ..dtypes import Array, Mask


class Ranking:
    """The indices of the elements that differ most, so many as are wanted; earlier ones first where they are equal."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ranks, self._places = np.empty((0, 2)), np.empty((0, 0), np.int64)

    def add(self, ranks: Array, places: Array) -> None:
        """Take in elements: the rank of each, and its index; the lowest rank comes first."""
        if not self._most or not len(ranks):
            return
        ranks = np.concatenate([self._ranks, ranks])
        places = np.concatenate([self._places, places]) if len(self._places) else places
        order = np.lexsort((ranks[:, 1], ranks[:, 0]))[: self._most]
        self._ranks, self._places = ranks[order], places[order]

    def take(self) -> list[list[int]]:
        """Return the indices, the largest difference first."""
        places: list[list[int]] = self._places.tolist()
        return places


def rank_differences(x: Array, y: Array, noise: Mask) -> Array:
    """Return a rank for each pair of elements that differ: those that have no difference, large ones, zeros, noise."""
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
