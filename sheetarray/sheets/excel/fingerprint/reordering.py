"""Finds out how all elements of an array were reordered: reversed, turned over, transposed, or moved around.

Each guess is undone, and the result compared with the fingerprint: first one stretch, then everything, so that the
finding is proved.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from ....dtypes import Positions
from ....header import Header
from .edits import FingerprintComparison

_MOST_WORK = 2**24  # elements that are compared in all guesses
_MOST_AXES = 5
_ROWS = ("rows", "columns")  # of two axes


class Guess(NamedTuple):
    """A guess at how the elements were reordered.

    Attributes:
        message: the sentence that says it.
        back: for each element that was written, the index at which it stands now.
    """

    message: str
    back: Positions


def find_reordering(case: FingerprintComparison, header: Header) -> str | None:
    """Return a sentence that says how all elements were reordered; None if no guess is right."""
    count = case.record.count
    if len(case.buffer) != count or count < 2:
        return None
    work, stretch = 0, case.view.partition.stretch
    for guess in _iter_guesses(case, header):
        work += stretch
        if case.beginning_was(case.buffer[guess.back[:stretch]]):
            work += count
            if case.was(case.buffer[guess.back]):
                return guess.message
        if work > _MOST_WORK:
            return None
    return None


def _iter_guesses(case: FingerprintComparison, header: Header) -> Iterator[Guess]:
    count = case.record.count
    places = np.arange(count)
    yield Guess("reversed: the last element stands first, the first last", places[::-1])
    if _is_plain(header, count):
        yield from _iter_turned(places, header.shape, header)
    for step in case.view.steps_of(0):
        yield Guess(
            f"moved around: all elements have moved down by {step}, the last ones to the top", np.roll(places, -step)
        )


def _is_plain(header: Header, count: int) -> bool:
    """Return whether an array of two dimensions or more is contiguous, so that its axes can be turned and exchanged."""
    if len(header.shape) < 2 or prod(header.shape) != count or header.offset or len(header.shape) > _MOST_AXES:
        return False
    axes = range(len(header.shape)) if header.order == "column-major" else reversed(range(len(header.shape)))
    step = 1
    for axis in axes:
        if header.strides[axis] != step and header.shape[axis] > 1:
            return False
        step *= header.shape[axis]
    return True


def _iter_turned(places: Positions, shape: tuple[int, ...], header: Header) -> Iterator[Guess]:
    order: Literal["C", "F"] = "F" if header.order == "column-major" else "C"
    grid = places.reshape(shape, order=order)
    for axis, length in enumerate(shape):
        if 1 < length < len(places):
            what = _ROWS[axis] if len(shape) == 2 else f"elements along axis {axis}"
            yield Guess(f"reversed: the {what} stand in reverse order", np.flip(grid, axis).ravel(order))
    for axes in permutations(range(len(shape))):
        if list(axes) != sorted(axes):
            back = np.empty_like(places)
            back[grid.transpose(axes).ravel(order)] = places
            how = "transposed" if len(shape) == 2 else f"transposed, axes {axes}"
            yield Guess(f"{how}: the elements stand in the order of the array's transpose", back)
    for axis, length in enumerate(shape):
        for step in range(1, length) if 1 < length < len(places) else ():
            what = f"{_ROWS[axis]} have moved" if len(shape) == 2 else f"elements have moved along axis {axis}"
            yield Guess(
                f"moved around: all {what} on by {step}, the last ones to the front",
                np.roll(grid, -step, axis).ravel(order),
            )
