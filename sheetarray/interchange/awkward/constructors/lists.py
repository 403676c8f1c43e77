"""JaggedArray -> lists of any length, by their starts and stops, counts or offsets.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/jagged.py. Starts and stops may have more
than one dimension; lists of one size are then put around. Counts, and starts that are the stops before, become offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import FormatError
from ..builder import Builder
from ..package import AwkwardLayout
from ..utf8_texts import offsets_of

Shape = tuple[int, ...]  # of the array whose elements are lists: starts, stops and counts may have several dimensions


def lists_by_counts(build: Builder, counts: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists side by side, by the number of elements of each."""
    numbers = build.to_integers(counts, "counts", content.length + 1)
    build.budget.take(8 * numbers.size + 8, "offsets")
    offsets = offsets_of(numbers.reshape(-1))
    if int(offsets[-1]) > content.length:
        raise FormatError(f"counts add up to {offsets[-1]}, but the content has {content.length} elements")
    return build.ak.contents.ListOffsetArray(build.to_index(offsets), content), numbers.shape


def lists_by_offsets(build: Builder, offsets: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists, each of which begins where the one before ends."""
    numbers = build.to_integers(offsets, "offsets", content.length + 1, dimensions=1)
    if not len(numbers):
        raise FormatError("offsets are empty; there must be one offset more than lists")
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("offsets must not decrease")
    return build.ak.contents.ListOffsetArray(build.to_index(numbers), content), (len(numbers) - 1,)


def lists_by_starts(build: Builder, starts: Any, stops: Any, content: AwkwardLayout) -> tuple[AwkwardLayout, Shape]:
    """Return lists that may lie anywhere in the content, in any order."""
    first = build.to_integers(starts, "starts")
    last = build.to_integers(stops, "stops")
    if len(last) < len(first) or last.shape[1:] != first.shape[1:]:
        raise FormatError(f"the starts have the shape {first.shape}, but the stops have {last.shape}")
    shape, first, last = first.shape, first.reshape(-1), last[: len(first)].reshape(-1)
    if (last < first).any():
        raise FormatError("lists stop before they start")
    empty = first == last
    if empty.any():  # wherever they are: nothing is there
        build.budget.take(first.nbytes + last.nbytes, "starts and stops")
        first, last = np.where(empty, 0, first), np.where(empty, 0, last)
    if len(last) and int(last.max()) > content.length:
        raise FormatError(f"a stop at {last.max()}, but the content has {content.length} elements")
    if len(first) and not empty.any() and np.array_equal(first[1:], last[:-1]):
        build.budget.take(first.nbytes + 8, "offsets")
        offsets = build.to_index(np.append(first, last[-1]))
        return build.ak.contents.ListOffsetArray(offsets, content), shape
    return build.ak.contents.ListArray(build.to_index(first), build.to_index(last), content), shape


def in_shape(build: Builder, lists: AwkwardLayout, shape: Shape) -> AwkwardLayout:
    """Return lists as lists of lists, in the shape of their starts, if they are within the limits."""
    return build.check_measured(build.to_regular(lists, shape))


def jagged_array(build: Builder, starts: Any, stops: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray(starts, stops, content)`."""
    return in_shape(build, *lists_by_starts(build, starts, stops, build.to_layout(content, "content")))


def jagged_array_from_counts(build: Builder, counts: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromcounts(counts, content)`."""
    return in_shape(build, *lists_by_counts(build, counts, build.to_layout(content, "content")))


def jagged_array_from_offsets(build: Builder, offsets: Any, content: Any) -> AwkwardLayout:
    """`JaggedArray.fromoffsets(offsets, content)`."""
    return in_shape(build, *lists_by_offsets(build, offsets, build.to_layout(content, "content")))
